//! The comments that suppress findings in a file.
//!
//! They are: `# torchvet: ignore[TV103]` on the first or last line of a finding or of its
//! statement, or alone on a line before such a line; `# torchvet: ignore-file` anywhere; and
//! `# noqa: TV103` on the first or last line of a finding or of its statement.

mod add;
mod scan;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::Cell;

use super::SourceFile;
use crate::diagnostic::{Applicability, Diagnostic, Edit, Fix, Severity};
pub(crate) use crate::selector::UNUSED_IGNORE;
use crate::selector::{matches_rule, nearest};
use crate::syntax::ast::statement_visitor::{StatementVisitor, walk_stmt};
use crate::syntax::{Ranged, Span, Stmt, TextRange, TextSize};

/// The suppressing comments of one file.
pub(crate) struct Suppressions<'f> {
    file: &'f SourceFile,
    directives: Vec<Directive>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Line,
    File,
    Noqa,
}

struct Directive {
    kind: Kind,
    /// The range of the directive from its `#` on, including a reason.
    range: TextRange,
    /// The comment that contains the directive.
    comment: TextRange,
    /// The source line to which the directive applies; meaningless for [`Kind::File`].
    line: usize,
    /// The codes of the directive; empty if it suppresses all findings.
    codes: Vec<Code>,
    /// The places of all codes, including those of other tools.
    listed: Vec<TextRange>,
    /// Whether this is a `noqa` without codes, or with codes of other tools.
    foreign: bool,
    used: Cell<bool>,
}

struct Code {
    text: String,
    range: TextRange,
    used: Cell<bool>,
}

/// How to report a code that has suppressed nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// A rule (or prefix) that ran: the suppression is unnecessary.
    Ran,
    /// A rule that was not selected, so the suppression may be necessary.
    NotRun,
    /// No rule has this code or name.
    Unknown,
}

impl<'f> Suppressions<'f> {
    /// Finds the suppressing comments.
    pub(crate) fn scan(file: &'f SourceFile) -> Self {
        Suppressions { file, directives: scan::directives(file) }
    }

    /// Whether a comment suppresses the finding. If so, the comment is marked as used.
    pub(crate) fn covers(&self, diagnostic: &Diagnostic) -> bool {
        if self.directives.is_empty() || diagnostic.span.file != self.file.id {
            return false;
        }
        let lines = self.lines_of(diagnostic.span);
        let mut covered = false;
        for directive in &self.directives {
            let here = match directive.kind {
                Kind::File => true,
                Kind::Line | Kind::Noqa => lines.contains(&directive.line),
            };
            if here && directive.names(diagnostic) {
                covered = true;
            }
        }
        covered
    }

    /// Whether a comment suppresses all findings in the file.
    pub(crate) fn skips_file(&self) -> bool {
        self.directives.iter().any(|d| d.kind == Kind::File && d.codes.is_empty())
    }

    /// Reports the comments that suppressed nothing. `judge` returns the meaning of an unused code;
    /// an empty code means all findings.
    pub(crate) fn unused(&self, known: &[&str], judge: impl Fn(&str) -> Judgement) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        if self.skips_file() {
            return found;
        }
        for directive in &self.directives {
            if directive.codes.is_empty() {
                let useless = !directive.used.get() && !directive.foreign;
                if useless && judge("") == Judgement::Ran {
                    let message = format!("unused `{}`: there is nothing to ignore", directive.name());
                    found.push(self.report(directive, directive.range, message, self.removal(directive)));
                }
                continue;
            }
            let idle: Vec<(&Code, Judgement)> = directive
                .codes
                .iter()
                .filter(|code| !code.used.get())
                .map(|code| (code, judge(&code.text)))
                .filter(|(_, judgement)| *judgement != Judgement::NotRun)
                .collect();
            let whole = idle.len() == directive.codes.len() && !directive.foreign;
            for (code, judgement) in &idle {
                let edit = if whole { self.removal(directive) } else { self.code_removal(directive, code) };
                let message = match judgement {
                    Judgement::Unknown => unknown(&code.text, directive.name(), known),
                    _ => format!(
                        "unused `{}[{}]`: nothing here is reported as {}",
                        directive.name(),
                        code.text,
                        code.text
                    ),
                };
                found.push(self.report(directive, code.range, message, edit));
            }
        }
        found
    }

    /// The lines on which a comment applies to a span: the first and last line of the span, and
    /// those of the simple statement around it.
    fn lines_of(&self, span: Span) -> [usize; 4] {
        let last = |end: u32| self.file.line_of(end.saturating_sub(1).max(span.start));
        let mut lines = [self.file.line_of(span.start), last(span.end), 0, 0];
        let mut finder = Finder { at: TextSize::new(span.start), found: None };
        finder.visit_body(&self.file.parsed().module.body);
        if let Some(statement) = finder.found {
            lines[2] = self.file.line_of(statement.start().to_u32());
            lines[3] = last(statement.end().to_u32());
        }
        lines
    }

    fn report(&self, directive: &Directive, range: TextRange, message: String, edit: TextRange) -> Diagnostic {
        let edit = Edit { span: Span::new(self.file.id, edit), content: String::new() };
        Diagnostic {
            code: Cow::Borrowed(UNUSED_IGNORE),
            name: Cow::Borrowed(UNUSED_IGNORE),
            severity: Severity::Warning,
            message,
            span: Span::new(self.file.id, range),
            labels: Vec::new(),
            help: None,
            fix: Some(Fix {
                title: format!("Remove unused `{}`", directive.name()),
                applicability: Applicability::Safe,
                edits: vec![edit],
            }),
            witness: None,
            verdict: None,
            cause: Vec::new(),
            repeats: Vec::new(),
        }
    }

    /// The range to delete for a whole directive: the directive, if the comment continues after it;
    /// otherwise the line, if there is nothing before the directive; otherwise the directive with
    /// the blanks before it.
    fn removal(&self, directive: &Directive) -> TextRange {
        let line = self.file.line_range(self.file.line_of(directive.range.start().to_u32()));
        let before = TextRange::new(line.start(), directive.range.start());
        let code = self.file.slice(before);
        let rest = TextRange::new(directive.range.end(), directive.comment.end());
        if !self.file.slice(rest).trim().is_empty() {
            return directive.range;
        }
        if code.trim().is_empty() {
            let cell_end = self.file.cell_at(line.start().to_u32()).map(|cell| cell.range.end());
            let end = cell_end.map_or(line.end(), |end| line.end().min(end));
            return TextRange::new(line.start(), end);
        }
        let blanks = TextSize::of(code) - TextSize::of(code.trim_end());
        TextRange::new(directive.range.start() - blanks, directive.comment.end())
    }

    /// The range to delete for one of several codes: the code, with the comma next to it.
    fn code_removal(&self, directive: &Directive, code: &Code) -> TextRange {
        let listed = &directive.listed;
        let index = listed.iter().position(|range| *range == code.range).unwrap_or_default();
        if let Some(next) = listed.get(index + 1) {
            return TextRange::new(code.range.start(), next.start());
        }
        match index.checked_sub(1).and_then(|before| listed.get(before)) {
            Some(before) => TextRange::new(before.end(), code.range.end()),
            None => code.range,
        }
    }
}

impl Directive {
    /// Whether the directive applies to the rule of the finding: it has no codes, or one of them
    /// matches. Matching codes are marked as used.
    fn names(&self, diagnostic: &Diagnostic) -> bool {
        let mut named = self.codes.is_empty();
        for code in &self.codes {
            if matches_rule(&code.text, &diagnostic.code, &diagnostic.name) {
                code.used.set(true);
                named = true;
            }
        }
        if named {
            self.used.set(true);
        }
        named
    }

    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Line => "torchvet: ignore",
            Kind::File => "torchvet: ignore-file",
            Kind::Noqa => "noqa",
        }
    }
}

/// The innermost simple statement around an offset.
struct Finder {
    at: TextSize,
    found: Option<TextRange>,
}

impl<'a> StatementVisitor<'a> for Finder {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if !stmt.range().contains_inclusive(self.at) {
            return;
        }
        let compound = matches!(
            stmt,
            Stmt::FunctionDef(_)
                | Stmt::ClassDef(_)
                | Stmt::For(_)
                | Stmt::While(_)
                | Stmt::If(_)
                | Stmt::With(_)
                | Stmt::Match(_)
                | Stmt::Try(_)
        );
        if compound {
            walk_stmt(self, stmt);
        } else if self.found.is_none() || stmt.range().contains(self.at) {
            self.found = Some(stmt.range());
        }
    }
}

fn unknown(code: &str, directive: &str, known: &[&str]) -> String {
    let hint = nearest(code, known.iter().copied());
    let hint = hint.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    format!("unknown rule `{code}` in `{directive}`{hint}")
}
