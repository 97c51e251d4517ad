//! What a file's comments silence.
//!
//! `# torchvet: ignore[TV103]` on the first or last line of a finding or of its statement,
//! or alone on the line above; `# torchvet: ignore-file` anywhere; and `# noqa: TV103`.

use std::borrow::Cow;
use std::cell::Cell;

use super::SourceFile;
use crate::config::select::{matches_rule, nearest};
use crate::diagnostic::{Applicability, Diagnostic, Edit, Fix, Severity};
use crate::syntax::ast::statement_visitor::{StatementVisitor, walk_stmt};
use crate::syntax::{Ranged, Span, Stmt, TextRange, TextSize};

/// The code and name under which an unused suppression is reported.
pub const UNUSED_IGNORE: &str = "unused-ignore";

/// The suppressing comments of one file.
pub struct Suppressions<'f> {
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
    /// From its `#` to its end, a reason after it included.
    range: TextRange,
    /// The comment that it is (a part of).
    comment: TextRange,
    /// The source line on which it counts; for [`Kind::File`] any.
    line: usize,
    /// Empty for one that silences everything.
    codes: Vec<Code>,
    /// A `noqa` with codes of other tools, or with none.
    foreign: bool,
    used: Cell<bool>,
}

struct Code {
    text: String,
    range: TextRange,
    used: Cell<bool>,
}

/// How a code in a comment is to be judged when it silenced nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// A rule (or prefix) that ran: the suppression is useless.
    Ran,
    /// A rule that was not selected: nothing is known.
    NotRun,
    /// No rule has this code or name.
    Unknown,
}

impl<'f> Suppressions<'f> {
    /// Finds the suppressing comments; next to free for a file that has none.
    pub fn scan(file: &'f SourceFile) -> Self {
        let text = file.text();
        let mut directives = Vec::new();
        if text.contains("torchvet:") || contains_noqa(text) {
            for &comment in &file.parsed().comments {
                scan_comment(file, comment, &mut directives);
            }
        }
        Suppressions { file, directives }
    }

    /// Whether a comment silences the finding; the comment counts as used from then on.
    pub fn covers(&self, diagnostic: &Diagnostic) -> bool {
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

    /// Whether the whole file is to be passed over.
    pub fn skips_file(&self) -> bool {
        self.directives
            .iter()
            .any(|d| d.kind == Kind::File && d.codes.is_empty())
    }

    /// Reports the comments that silenced nothing. `judge` tells what it means that a code
    /// was not needed; an empty code stands for "everything".
    pub fn unused(&self, known: &[&str], judge: impl Fn(&str) -> Judgement) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        if self.skips_file() {
            return found;
        }
        for directive in &self.directives {
            if directive.codes.is_empty() {
                let useless = !directive.used.get() && !directive.foreign;
                if useless && judge("") == Judgement::Ran {
                    let message =
                        format!("unused `{}`: there is nothing to ignore", directive.name());
                    found.push(self.report(
                        directive,
                        directive.range,
                        message,
                        self.removal(directive),
                    ));
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
                let edit = if whole {
                    self.removal(directive)
                } else {
                    self.code_removal(directive, code)
                };
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

    /// The lines on which a comment counts for a span: its own first and last, and those of
    /// the simple statement around it.
    fn lines_of(&self, span: Span) -> [usize; 4] {
        let last = |end: u32| self.file.line_of(end.saturating_sub(1).max(span.start));
        let mut lines = [self.file.line_of(span.start), last(span.end), 0, 0];
        let mut finder = Finder {
            at: TextSize::new(span.start),
            found: None,
        };
        finder.visit_body(&self.file.parsed().module.body);
        if let Some(statement) = finder.found {
            lines[2] = self.file.line_of(statement.start().to_u32());
            lines[3] = last(statement.end().to_u32());
        }
        lines
    }

    fn report(
        &self,
        directive: &Directive,
        range: TextRange,
        message: String,
        edit: TextRange,
    ) -> Diagnostic {
        let edit = Edit {
            span: Span::new(self.file.id, edit),
            content: String::new(),
        };
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
        }
    }

    /// What to delete to get rid of a whole directive: the line if nothing else is on it,
    /// else the comment with the blanks before it.
    fn removal(&self, directive: &Directive) -> TextRange {
        let line = self
            .file
            .line_range(self.file.line_of(directive.range.start().to_u32()));
        let before = TextRange::new(line.start(), directive.range.start());
        let code = self.file.slice(before);
        let rest = TextRange::new(directive.range.end(), directive.comment.end());
        if !self.file.slice(rest).trim().is_empty() {
            return directive.range;
        }
        if code.trim().is_empty() {
            let cell_end = self
                .file
                .cell_at(line.start().to_u32())
                .map(|cell| cell.range.end());
            let end = cell_end.map_or(line.end(), |end| line.end().min(end));
            return TextRange::new(line.start(), end);
        }
        let blanks = TextSize::of(code) - TextSize::of(code.trim_end());
        TextRange::new(directive.range.start() - blanks, directive.comment.end())
    }

    /// What to delete to drop one of several codes: it and the comma beside it.
    fn code_removal(&self, directive: &Directive, code: &Code) -> TextRange {
        let index = directive
            .codes
            .iter()
            .position(|other| other.range == code.range);
        let index = index.unwrap_or_default();
        if let Some(next) = directive.codes.get(index + 1) {
            return TextRange::new(code.range.start(), next.range.start());
        }
        match index
            .checked_sub(1)
            .and_then(|before| directive.codes.get(before))
        {
            Some(before) => TextRange::new(before.range.end(), code.range.end()),
            None => code.range,
        }
    }
}

impl Directive {
    /// Whether the finding is among the directive's codes, which then count as used.
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
    let hint = hint
        .map(|near| format!("; did you mean `{near}`?"))
        .unwrap_or_default();
    format!("unknown rule `{code}` in `{directive}`{hint}")
}

fn contains_noqa(text: &str) -> bool {
    text.contains("noqa") || text.contains("NOQA") || text.contains("NoQA")
}

/// Reads the directives of one comment, which may hold several (`# type: ignore # noqa`).
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

/// Reads one `#…` part of a comment, `at` bytes into it.
fn parse(file: &SourceFile, comment: TextRange, at: usize, part: &str) -> Option<Directive> {
    let inner = part.trim_start_matches('#').trim_start();
    let (kind, rest) = if let Some(rest) = inner.strip_prefix("torchvet:") {
        let rest = rest.trim_start().strip_prefix("ignore")?;
        match rest.strip_prefix("-file") {
            Some(rest) => (Kind::File, rest),
            None => (Kind::Line, rest),
        }
    } else {
        let head = inner
            .get(..4)
            .filter(|head| head.eq_ignore_ascii_case("noqa"))?;
        (Kind::Noqa, inner.get(head.len()..)?)
    };
    let start = comment.start() + size(at);
    let offset = |rest: &str| start + size(part.len() - rest.len());
    let mut codes = Vec::new();
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
                if kind == Kind::Noqa && !word.to_ascii_uppercase().starts_with("TV") {
                    foreign = true;
                    continue;
                }
                let within = word.as_ptr() as usize - list.as_ptr() as usize;
                let begin = start + size(base + within);
                let range = TextRange::at(begin, TextSize::of(word));
                codes.push(Code {
                    text: word.to_owned(),
                    range,
                    used: Cell::new(false),
                });
            }
            if codes.is_empty() {
                return None;
            }
        }
        // `# torchvet: ignored` is prose.
        None if rest.starts_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_') => {
            return None;
        }
        None => foreign = kind == Kind::Noqa,
    }
    let range = TextRange::new(start, offset(""));
    let line = line_of(file, comment, kind);
    Some(Directive {
        kind,
        range,
        comment,
        line,
        codes,
        foreign,
        used: Cell::new(false),
    })
}

/// The line on which a comment counts: its own, or the next line of code if it stands alone.
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::project::Project;

    const KNOWN: [&str; 2] = ["TV103", "class-index-out-of-range"];

    /// Whether a TV103 finding on the text's `BAD` is silenced, and what is said of the
    /// comments then.
    fn check(text: &str) -> (bool, Vec<String>, String) {
        let project = Project::new(".".into());
        let file = project.add_text(Path::new("suppressed.py"), text).unwrap();
        let start = u32::try_from(text.find("BAD").unwrap()).unwrap();
        let finding = Diagnostic {
            code: "TV103".into(),
            name: "class-index-out-of-range".into(),
            severity: Severity::Error,
            message: String::new(),
            span: Span {
                file: file.id,
                start,
                end: start + 3,
            },
            labels: Vec::new(),
            help: None,
            fix: None,
        };
        let comments = Suppressions::scan(file);
        let covered = comments.covers(&finding);
        let unused = comments.unused(&KNOWN, |code| match code {
            "TV104" => Judgement::NotRun,
            "TV1O3" => Judgement::Unknown,
            _ => Judgement::Ran,
        });
        let mut fixed = text.to_owned();
        let edits = unused
            .iter()
            .filter_map(|d| d.fix.as_ref())
            .flat_map(|fix| &fix.edits);
        for edit in edits.collect::<Vec<_>>().into_iter().rev() {
            fixed.replace_range(edit.span.start as usize..edit.span.end as usize, "");
        }
        (
            covered,
            unused.into_iter().map(|d| d.message).collect(),
            fixed,
        )
    }

    fn silenced(text: &str) -> bool {
        let (covered, unused, _) = check(text);
        assert_eq!(covered, unused.is_empty(), "{text}: {unused:?}");
        covered
    }

    #[test]
    fn a_comment_on_the_line_silences_it() {
        for comment in [
            "# torchvet: ignore",
            "#torchvet:ignore",
            "# torchvet: ignore[TV103]",
            "# torchvet: ignore[TV2, TV1] because",
            "# torchvet: ignore[class-index-out-of-range]",
            "# type: ignore # torchvet: ignore[TV103]",
            "# noqa",
            "# NOQA: F401,TV103",
            "# noqa:TV103 because",
        ] {
            let (covered, ..) = check(&format!("x = BAD  {comment}\n"));
            assert!(covered, "{comment}");
        }
        assert!(!silenced("x = BAD\ny = 1  # torchvet: ignore[TV103]\n"));
        for comment in [
            "# torchvet: ignored",
            "# noqa: F401",
            "# torchvet: the linter",
            "# noqaTV103:",
        ] {
            let (covered, unused, _) = check(&format!("x = BAD  {comment}\n"));
            assert_eq!((covered, unused.len()), (false, 0), "{comment}");
        }
    }

    #[test]
    fn strings_are_no_comments() {
        let (covered, unused, _) = check("x = BAD + '# torchvet: ignore'\n");
        assert_eq!((covered, unused.len()), (false, 0));
    }

    #[test]
    fn the_statements_first_and_last_lines_count() {
        assert!(silenced("f(  # torchvet: ignore[TV103]\n  1,\n  BAD,\n)\n"));
        assert!(silenced("f(\n  1,\n  BAD,\n)  # torchvet: ignore[TV103]\n"));
        assert!(!silenced(
            "f(\n  1,  # torchvet: ignore[TV103]\n  BAD,\n)\n"
        ));
        assert!(silenced(
            "if a:\n    if b:\n        f(\n  BAD)  # torchvet: ignore\n"
        ));
        assert!(!silenced("if a:  # torchvet: ignore\n    x = BAD\n"));
    }

    #[test]
    fn a_comment_of_its_own_is_about_the_next_line() {
        assert!(silenced("# torchvet: ignore[TV103]\nx = BAD\n"));
        assert!(silenced("# torchvet: ignore[TV103]\n\n# why\nx = BAD\n"));
        assert!(!silenced("# torchvet: ignore[TV103]\ny = 1\nx = BAD\n"));
        assert!(silenced("y = 1\nx = BAD\n# torchvet: ignore-file[TV1]\n"));
        assert!(silenced("# torchvet: ignore-file\nx = BAD\n"));
    }

    #[test]
    fn unused_comments_are_reported_and_removed() {
        let (_, unused, fixed) = check("y = 1  # torchvet: ignore[TV2]\nx = BAD\n");
        assert_eq!(
            unused,
            ["unused `torchvet: ignore[TV2]`: nothing here is reported as TV2"]
        );
        assert_eq!(fixed, "y = 1\nx = BAD\n");
        let (_, unused, fixed) = check("x = BAD  # torchvet: ignore[TV103, TV2, TV104]\n");
        assert_eq!(unused.len(), 1);
        assert_eq!(fixed, "x = BAD  # torchvet: ignore[TV103, TV104]\n");
        let (_, unused, fixed) = check("x = BAD\n# torchvet: ignore\ny = 1\n");
        assert_eq!(
            unused,
            ["unused `torchvet: ignore`: there is nothing to ignore"]
        );
        assert_eq!(fixed, "x = BAD\ny = 1\n");
        let (_, unused, _) = check("x = BAD  # torchvet: ignore[TV1O3]\n");
        assert_eq!(
            unused,
            ["unknown rule `TV1O3` in `torchvet: ignore`; did you mean `TV103`?"]
        );
        let (_, unused, fixed) = check("y = 1  # torchvet: ignore # type: ignore\nx = BAD\n");
        assert_eq!(unused.len(), 1);
        assert_eq!(fixed, "y = 1  # type: ignore\nx = BAD\n");
        let (_, _, fixed) = check("y = 1  # noqa: F401, TV2\nx = BAD\n");
        assert_eq!(fixed, "y = 1  # noqa: F401\nx = BAD\n");
    }
}
