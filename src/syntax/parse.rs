use ruff_python_ast::{ModModule, PySourceType};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::{Ranged, TextRange, TextSize};

/// A syntax tree with what the parser complained about.
pub struct Parsed {
    pub module: ModModule,
    pub issues: Vec<ParseIssue>,
}

/// One syntax error, at its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseIssue {
    pub range: TextRange,
    pub message: String,
}

/// CPython refuses more than 200 nested brackets ("too many nested parentheses"); a file
/// beyond that is no program, and a recursive parser would overflow its stack on it.
const MAX_BRACKETS: u32 = 200;

/// How deeply a source nests its brackets, or where it goes beyond what Python accepts.
pub struct Nesting;

impl Nesting {
    /// The offset of the bracket that is nested too deeply, if any. Strings and comments
    /// are skipped only as far as a quick scan can tell.
    pub fn too_deep(text: &str) -> Option<TextSize> {
        let bytes = text.as_bytes();
        let (mut depth, mut i) = (0u32, 0usize);
        let mut deepest_ok = true;
        let mut at = 0usize;
        while let Some(&byte) = bytes.get(i) {
            match byte {
                b'(' | b'[' | b'{' => {
                    depth += 1;
                    if depth > MAX_BRACKETS && deepest_ok {
                        deepest_ok = false;
                        at = i;
                    }
                }
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                b'#' => {
                    while bytes.get(i + 1).is_some_and(|&b| b != b'\n') {
                        i += 1
                    }
                }
                quote @ (b'"' | b'\'') => i = skip_string(bytes, i, quote),
                _ => {}
            }
            i += 1;
        }
        (!deepest_ok).then(|| TextSize::new(u32::try_from(at).unwrap_or(u32::MAX)))
    }
}

/// The index of the last byte of the string literal that opens at `start`.
fn skip_string(bytes: &[u8], start: usize, quote: u8) -> usize {
    let triple = bytes.get(start + 1) == Some(&quote) && bytes.get(start + 2) == Some(&quote);
    let mut i = if triple { start + 3 } else { start + 1 };
    while let Some(&byte) = bytes.get(i) {
        if byte == b'\\' {
            i += 2;
            continue;
        }
        if byte == quote {
            if !triple {
                return i;
            }
            if bytes.get(i + 1) == Some(&quote) && bytes.get(i + 2) == Some(&quote) {
                return i + 2;
            }
        }
        if byte == b'\n' && !triple {
            return i;
        }
        i += 1;
    }
    i
}

/// Parses a module; `notebook` lets IPython's magics and shell escapes pass.
pub fn parse(text: &str, notebook: bool) -> Parsed {
    if let Some(at) = Nesting::too_deep(text) {
        return Parsed {
            module: empty_module(),
            issues: vec![ParseIssue {
                range: TextRange::new(at, at + TextSize::new(1)),
                message: "too many nested brackets (Python accepts 200)".to_owned(),
            }],
        };
    }
    let options = if notebook { ParseOptions::from(Mode::Ipython) } else { ParseOptions::from(PySourceType::Python) };
    let Some(parsed) = parse_unchecked(text, options).try_into_module() else {
        return Parsed { module: empty_module(), issues: Vec::new() };
    };
    let issues = parsed
        .errors()
        .iter()
        .map(|error| ParseIssue { range: error.range(), message: error.error.to_string() })
        .collect();
    Parsed { module: parsed.into_syntax(), issues }
}

fn empty_module() -> ModModule {
    ModModule { node_index: Default::default(), range: TextRange::default(), body: Default::default() }
}
