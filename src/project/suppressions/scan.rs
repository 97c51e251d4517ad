//! The search for comments that suppress findings.

use std::cell::Cell;

use super::{Code, Directive, Kind};
use crate::project::SourceFile;
use crate::syntax::{TextRange, TextSize};

/// The suppressing comments of a file, in order.
pub(super) fn directives(file: &SourceFile) -> Vec<Directive> {
    let mut found = Vec::new();
    for &comment in &file.parsed().comments {
        scan_comment(file, comment, &mut found);
    }
    found
}

/// Reads the directives of a comment, which may contain several (`# type: ignore # noqa`).
fn scan_comment(file: &SourceFile, comment: TextRange, out: &mut Vec<Directive>) {
    let text = file.slice(comment);
    let mut hash = 0usize;
    while let Some(body) = text.get(hash + 1..) {
        let end = body.find('#').map_or(text.len(), |next| hash + 1 + next);
        if let Some(part) = text.get(hash..end)
            && let Some(directive) = parse(file, comment, hash, part)
        {
            out.push(directive);
        }
        if end >= text.len() {
            break;
        }
        hash = end;
    }
}

/// Reads one `#…` part of a comment. The part begins `at` bytes after the start of the comment.
fn parse(file: &SourceFile, comment: TextRange, at: usize, part: &str) -> Option<Directive> {
    let inner = part.trim_start_matches('#').trim_start();
    let (kind, rest) = if let Some(rest) = inner.strip_prefix("torchvet:") {
        let rest = rest.trim_start().strip_prefix("ignore")?;
        match rest.strip_prefix("-file") {
            Some(rest) => (Kind::File, rest),
            None => (Kind::Line, rest),
        }
    } else {
        let head = inner.get(..4).filter(|head| head.eq_ignore_ascii_case("noqa"))?;
        (Kind::Noqa, inner.get(head.len()..)?)
    };
    let start = comment.start() + size(at);
    let (mut codes, mut listed_at) = (Vec::new(), Vec::new());
    let mut foreign = false;
    let listed = if kind == Kind::Noqa {
        rest.trim_start().strip_prefix(':')
    } else {
        let list = rest.trim_start().strip_prefix('[');
        list.map(|list| list.split_once(']').map_or(list, |(list, _)| list))
    };
    match listed {
        Some(list) => {
            let base = list.as_ptr() as usize - part.as_ptr() as usize;
            for word in list.split([',', ' ', '\t']).filter(|word| !word.is_empty()) {
                if kind == Kind::Noqa && !looks_like_code(word) {
                    break;
                }
                let within = word.as_ptr() as usize - list.as_ptr() as usize;
                let range = TextRange::at(start + size(base + within), TextSize::of(word));
                listed_at.push(range);
                if kind == Kind::Noqa && !word.to_ascii_uppercase().starts_with("TV") {
                    foreign = true;
                    continue;
                }
                codes.push(Code { text: word.to_owned(), range, used: Cell::new(false) });
            }
            if codes.is_empty() {
                return None;
            }
        }
        // `# torchvet: ignored` is ordinary text, not a directive.
        None if rest.starts_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_') => {
            return None;
        }
        None => foreign = kind == Kind::Noqa,
    }
    let range = TextRange::at(start, TextSize::of(part));
    let line = line_of(file, comment, kind);
    Some(Directive { kind, range, comment, line, codes, listed: listed_at, foreign, used: Cell::new(false) })
}

/// The line to which a comment applies: its own line or, for an `ignore` comment that is alone on
/// its line, the next line of code.
fn line_of(file: &SourceFile, comment: TextRange, kind: Kind) -> usize {
    let own = file.line_of(comment.start().to_u32());
    let before = TextRange::new(file.line_range(own).start(), comment.start());
    if kind != Kind::Line || !file.slice(before).trim().is_empty() {
        return own;
    }
    let is_code = |line: &usize| {
        let text = file.slice(file.line_range(*line)).trim();
        !text.is_empty() && !text.starts_with('#')
    };
    (own + 1..=file.line_count()).find(is_code).unwrap_or(own)
}

/// `TV103`, `F401`: letters, then digits.
fn looks_like_code(word: &str) -> bool {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    digits.len() < word.len() && !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
}

fn size(bytes: usize) -> TextSize {
    TextSize::new(u32::try_from(bytes).unwrap_or(u32::MAX))
}
