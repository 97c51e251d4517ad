//! Selects the findings to report: one finding per mistake, without those that settings, comments,
//! a baseline or unchanged lines suppress.

pub(crate) mod baseline;
pub(crate) mod changes;
pub(crate) mod identity;

use rustc_hash::FxHashMap;

use crate::config::Settings;
use crate::config::select::{is_known, known_names, matches_rule};
use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::project::SourceFile;
use crate::project::suppressions::{Judgement, Suppressions, UNUSED_IGNORE};
use crate::syntax::{Span, TextRange, TextSize};

/// The code of a syntax error.
pub(crate) const INVALID_SYNTAX: &str = "invalid-syntax";
/// The maximum number of syntax errors that are shown for a notebook.
const SYNTAX_ERRORS_SHOWN: usize = 5;

/// Decides which findings in one file are reported.
pub(crate) struct Sieve<'f> {
    settings: &'f Settings,
    file: &'f SourceFile,
    comments: Suppressions<'f>,
    /// No findings except syntax errors are reported in this file.
    passed_over: bool,
}

impl<'f> Sieve<'f> {
    pub(crate) fn new(settings: &'f Settings, file: &'f SourceFile, passed_over: bool) -> Self {
        Sieve { settings, file, comments: Suppressions::scan(file), passed_over }
    }

    /// Whether a finding is reported. A comment that suppresses it is marked as used.
    pub(crate) fn keeps(&self, diagnostic: &Diagnostic) -> bool {
        if diagnostic.code == INVALID_SYNTAX {
            return !self.comments.skips_file();
        }
        let dropped = self.passed_over || self.settings.ignores(self.file.canonical(), diagnostic);
        self.settings.selection.is_on(&diagnostic.code) && !dropped && !self.comments.covers(diagnostic)
    }

    /// The comments that suppressed nothing, after all findings were passed to [`Sieve::keeps`].
    pub(crate) fn unused(&self) -> Vec<Diagnostic> {
        if self.passed_over || !self.settings.selection.is_on(UNUSED_IGNORE) {
            return Vec::new();
        }
        let mut unused = self.comments.unused(&known_names(&self.settings.rules), |code| judge(self.settings, code));
        unused.retain(|diagnostic| !self.settings.ignores(self.file.canonical(), diagnostic));
        unused
    }
}

/// How to report an unused code in a suppressing comment under these settings.
fn judge(settings: &Settings, code: &str) -> Judgement {
    let narrowed = settings.selection.is_narrowed();
    if code.is_empty() || code.eq_ignore_ascii_case("ALL") {
        return if narrowed { Judgement::NotRun } else { Judgement::Ran };
    }
    if code == UNUSED_IGNORE {
        return Judgement::NotRun;
    }
    if !is_known(code, &settings.rules) {
        return Judgement::Unknown;
    }
    let pages = settings.rules.pages.iter();
    let mut named = pages.filter(|page| matches_rule(code, &page.code, &page.name));
    if named.all(|page| settings.selection.is_on(&page.code)) { Judgement::Ran } else { Judgement::NotRun }
}

/// The first syntax error of a file, or of each cell of a notebook, but at most
/// [`SYNTAX_ERRORS_SHOWN`]. Further errors are usually consequences of the first one.
pub(crate) fn syntax_errors(file: &SourceFile) -> Vec<Diagnostic> {
    // A first line such as `#!/bin/bash` shows that the file is a script for another interpreter.
    let first = file.text().lines().next().unwrap_or_default();
    if first.starts_with("#!") && !first.contains("py") {
        return Vec::new();
    }
    let mut issues = file.parsed().issues.clone();
    // A template such as `import {{ name }}` becomes a script when it is filled in.
    let in_template = |range: TextRange| {
        let before = file.text().get(..range.start().to_usize()).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = file.text().get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        line.contains("{%") || line.contains("{{") && line.contains("}}")
    };
    if issues.first().is_some_and(|issue| in_template(issue.range)) {
        return Vec::new();
    }
    issues.dedup_by_key(|issue| file.cell_at(issue.range.start().to_u32()).map(|cell| cell.number));
    // If something is missing at the end of the file, the error is reported directly after the last
    // code.
    let end = TextSize::of(file.text().trim_end());
    let place = |range: TextRange| {
        if range.start() > end { TextRange::empty(end) } else { range }
    };
    let shown = issues.into_iter().take(SYNTAX_ERRORS_SHOWN);
    shown.map(|issue| syntax_error(Span::new(file.id, place(issue.range)), issue.message)).collect()
}

fn syntax_error(span: Span, message: String) -> Diagnostic {
    let escape = |c: char| match c.is_control() {
        true => c.escape_unicode().to_string(),
        false => c.to_string(),
    };
    let message = message.chars().map(escape).collect();
    Diagnostic {
        code: INVALID_SYNTAX.into(),
        name: INVALID_SYNTAX.into(),
        severity: Severity::Error,
        message,
        span,
        labels: Vec::new(),
        help: None,
        fix: None,
        witness: None,
        verdict: None,
        cause: Vec::new(),
        repeats: Vec::new(),
    }
}

/// Merges findings of one rule at one place that several analyses report: the most severe is kept.
pub(crate) fn merge(findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    merge_by(findings, |finding| finding)
}

/// Like [`merge`], for findings with attached data.
pub(crate) fn merge_by<T>(findings: Vec<T>, finding: impl Fn(&T) -> &Diagnostic) -> Vec<T> {
    let mut at: FxHashMap<(String, Span), usize> = FxHashMap::default();
    let mut merged: Vec<T> = Vec::new();
    for new in findings {
        let key = (finding(&new).code.to_string(), finding(&new).span);
        match at.get(&key).and_then(|&index| merged.get_mut(index)) {
            Some(kept) if finding(kept).severity < finding(&new).severity => *kept = new,
            Some(_) => {}
            None => {
                at.insert(key, merged.len());
                merged.push(new);
            }
        }
    }
    merged
}

/// Combines sorted findings of one rule in one file that have the same message and the same cause;
/// the remaining finding names the other places. Findings with fixes are not combined.
pub(crate) fn condense(findings: &mut Vec<Diagnostic>) {
    condense_by(findings, |finding| finding, |_, _| true);
}

/// Like [`condense`], for findings with attached data. `related` decides whether the places of two
/// findings can be compared.
pub(crate) fn condense_by<T>(
    findings: &mut Vec<T>,
    finding: impl Fn(&mut T) -> &mut Diagnostic,
    related: impl Fn(&T, &T) -> bool,
) {
    let mut kept: Vec<T> = Vec::new();
    for mut new in std::mem::take(findings) {
        let diagnostic = finding(&mut new).clone();
        let first = kept
            .iter_mut()
            .find_map(|have| (related(have, &new) && repeats(finding(have), &diagnostic)).then(|| finding(have)));
        match first {
            Some(first) => first.repeats.push(diagnostic.span),
            None => kept.push(new),
        }
    }
    for kept in &mut kept {
        name_repeats(finding(kept));
    }
    *findings = kept;
}

/// Whether a finding reports the same as `first` at another place, so that correcting the cause
/// corrects both. Findings with fixes are shown separately, because each place needs its own fix.
fn repeats(first: &Diagnostic, other: &Diagnostic) -> bool {
    !first.cause.is_empty()
        && first.cause == other.cause
        && first.span.file == other.span.file
        && first.fix.is_none()
        && other.fix.is_none()
        && (&first.code, &first.message, first.severity) == (&other.code, &other.message, other.severity)
        && first.is_refuted() == other.is_refuted()
}

/// The maximum number of labelled further places; the message counts all of them.
const REPEATS_SHOWN: usize = 3;

fn name_repeats(diagnostic: &mut Diagnostic) {
    let count = match diagnostic.repeats.len() {
        0 => return,
        1 => "1 more place".to_owned(),
        n => format!("{n} more places"),
    };
    diagnostic.message.push_str(&format!(" (and at {count})"));
    let shown = diagnostic.repeats.iter().take(REPEATS_SHOWN);
    diagnostic.labels.extend(shown.map(|&span| Label { span, message: "same problem, same cause".to_owned() }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::FileId;

    #[test]
    fn the_same_finding_of_several_analyses_is_merged() {
        let span = |start| Span { file: FileId(0), start, end: 9 };
        let finding = |start, severity| Diagnostic { severity, ..syntax_error(span(start), String::new()) };
        let merged = merge(vec![
            finding(0, Severity::Warning),
            finding(1, Severity::Error),
            finding(0, Severity::Error),
            finding(1, Severity::Info),
        ]);
        let kept: Vec<_> = merged.iter().map(|d| (d.span.start, d.severity)).collect();
        assert_eq!(kept, [(0, Severity::Error), (1, Severity::Error)]);
    }
}
