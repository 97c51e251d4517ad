use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{ModModule, PySourceType};
use ruff_python_parser::{Mode, ParseOptions, parse_cells_unchecked, parse_unchecked};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::nesting::Nesting;

/// A syntax tree with its syntax errors.
pub(crate) struct Parsed {
    pub module: ModModule,
    pub issues: Vec<ParseIssue>,
    /// Every comment, from its `#` to the end of its line, in order.
    pub comments: Vec<TextRange>,
}

/// A syntax error with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParseIssue {
    pub range: TextRange,
    pub message: String,
}

/// Parses a module; `notebook` allows IPython's magics and shell escapes.
pub(crate) fn parse(text: &str, notebook: bool) -> Parsed {
    if let Some(refused) = refuse(text) {
        return refused;
    }
    let parsed = parse_unchecked(text, options(notebook));
    let mut parsed = parsed.try_into_module().map_or_else(Parsed::empty, Parsed::from_ruff);
    if notebook {
        parsed.issues.retain(|issue| !is_of_ipython(text, issue.range));
    }
    parsed
}

/// Reads only the comments of a text that is not Python. A comment is assumed to extend from the
/// first `#` of a line to the end of this line.
pub(crate) fn parse_comments(text: &str) -> Parsed {
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

/// Parses each cell of a notebook separately, so that an open bracket in one cell does not affect
/// the next one. The cells are in `text` in order, separated by a newline.
pub(crate) fn parse_cells(text: &str, cells: &[TextRange]) -> Parsed {
    if let Some(refused) = refuse(text) {
        return refused;
    }
    let mut parsed = Parsed::from_ruff(parse_cells_unchecked(text, cells.iter().copied(), &options(true)));
    let rewritten: Vec<TextRange> = cells.iter().copied().filter(|cell| is_rewritten(text, *cell)).collect();
    parsed.issues.retain(|issue| {
        !is_of_ipython(text, issue.range) && !rewritten.iter().any(|cell| cell.contains_inclusive(issue.range.start()))
    });
    parsed
}

/// Whether IPython changes the text of a cell before it parses the cell. It removes the indentation
/// of the first line from all lines. If the cell is a copied session, it removes the prompts.
fn is_rewritten(text: &str, cell: TextRange) -> bool {
    let source = text.get(cell.start().to_usize()..cell.end().to_usize()).unwrap_or_default();
    let first = source.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    first.starts_with([' ', '\t']) || first.starts_with(">>> ") || first.starts_with("In [")
}

/// Whether a place is in a line that IPython accepts and the parser does not. There are two kinds:
/// `torch.*Tensor?` lists names (the parser accepts `?` only without a wildcard), and `ls data`
/// uses IPython's alias for a shell command.
fn is_of_ipython(text: &str, place: TextRange) -> bool {
    let at = place.start().to_usize();
    let (Some(before), Some(after)) = (text.get(..at), text.get(at..)) else { return false };
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let end = at + after.find('\n').unwrap_or(after.len());
    let line = text.get(start..end).unwrap_or_default().trim();
    let lists_names = line.strip_suffix('?').is_some_and(|names| {
        let names = names.strip_suffix('?').unwrap_or(names);
        names.contains('*') && names.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '*'))
    });
    lists_names || line.split_once(' ').is_some_and(|(command, _)| ALIASES.contains(&command))
}

/// The shell commands that IPython accepts without `!` on Linux and macOS: its aliases, and the
/// pagers `less`, `man` and `more`.
const ALIASES: &[&str] =
    &["cat", "cp", "ldir", "less", "lf", "lk", "ll", "ln", "ls", "lx", "man", "mkdir", "more", "mv", "rm", "rmdir"];

fn options(notebook: bool) -> ParseOptions {
    if notebook { ParseOptions::from(Mode::Ipython) } else { ParseOptions::from(PySourceType::Python) }
}

/// The result for a source whose tree would be too deep: an empty tree with an error.
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
