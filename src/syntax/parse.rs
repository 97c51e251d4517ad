use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{ModModule, PySourceType};
use ruff_python_parser::{Mode, ParseOptions, parse_cells_unchecked, parse_unchecked};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::nesting::Nesting;

/// A syntax tree with what the parser complained about.
pub struct Parsed {
    pub module: ModModule,
    pub issues: Vec<ParseIssue>,
    /// Every comment, from its `#` to the end of its line, in order.
    pub comments: Vec<TextRange>,
}

/// One syntax error, at its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseIssue {
    pub range: TextRange,
    pub message: String,
}

/// Parses a module; `notebook` lets IPython's magics and shell escapes pass.
pub fn parse(text: &str, notebook: bool) -> Parsed {
    if let Some(refused) = refuse(text) {
        return refused;
    }
    let parsed = parse_unchecked(text, options(notebook));
    parsed.try_into_module().map_or_else(Parsed::empty, Parsed::from_ruff)
}

/// A text that is no Python, of which only the comments are read: each from a `#` to the end
/// of its line.
pub fn parse_comments(text: &str) -> Parsed {
    let mut comments = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.trim_end_matches(['\n', '\r']).len();
        if let Some(hash) = line.find('#') {
            let offset = |n: usize| TextSize::try_from(n).unwrap_or_default();
            comments.push(TextRange::new(offset(at + hash), offset(end)));
        }
        at += line.len();
    }
    Parsed { comments, ..Parsed::empty() }
}

/// Parses a notebook's cells each on its own, so that an open bracket in one does not
/// swallow the next. The cells lie in `text` in order, one newline apart.
pub fn parse_cells(text: &str, cells: &[TextRange]) -> Parsed {
    if let Some(refused) = refuse(text) {
        return refused;
    }
    Parsed::from_ruff(parse_cells_unchecked(text, cells.iter().copied(), &options(true)))
}

fn options(notebook: bool) -> ParseOptions {
    if notebook { ParseOptions::from(Mode::Ipython) } else { ParseOptions::from(PySourceType::Python) }
}

/// What takes the place of a tree that would be too deep to build.
fn refuse(text: &str) -> Option<Parsed> {
    let (range, message) = Nesting::too_deep(text)?;
    let issues = vec![ParseIssue { range, message: message.to_owned() }];
    Some(Parsed { issues, ..Parsed::empty() })
}

impl Parsed {
    fn empty() -> Self {
        let module =
            ModModule { node_index: Default::default(), range: TextRange::default(), body: Default::default() };
        Parsed { module, issues: Vec::new(), comments: Vec::new() }
    }

    fn from_ruff(parsed: ruff_python_parser::Parsed<ModModule>) -> Self {
        let issues = parsed
            .errors()
            .iter()
            .map(|error| ParseIssue { range: error.range(), message: error.error.to_string() })
            .collect();
        let comments =
            parsed.tokens().iter().filter(|token| token.kind() == TokenKind::Comment).map(Ranged::range).collect();
        Parsed { module: parsed.into_syntax(), issues, comments }
    }
}
