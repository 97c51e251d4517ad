//! Writes findings for people and programs: pure functions of diagnostics.

mod concise;
mod github;
mod gitlab;
mod grouped;
mod json;
mod junit;
mod sarif;
mod text;

use std::io::{self, Write};
use std::path::Path;

use crate::config::OutputFormat;
use crate::diagnostic::{
    Diagnostic, How, Judge, Observation, Reproduction, RunStatus, Severity, Witness, WitnessStatus,
};
use crate::findings::identity::relative;
use crate::project::{Position, Project};
use crate::rules::Rules;
use crate::syntax::Span;

pub(crate) use concise::write as concise;
pub(crate) use github::write as github;
pub(crate) use grouped::write as grouped;
pub(crate) use json::{write as json, write_lines as json_lines};
pub(crate) use text::{Style, write as text};

/// The findings to write, and their context.
#[derive(Clone, Copy)]
pub(crate) struct Report<'a> {
    /// Sorted by [`sort`].
    pub diagnostics: &'a [Diagnostic],
    pub project: &'a Project,
    pub rules: &'a Rules,
    /// In the formats GitLab, JUnit and SARIF, paths are relative to this folder.
    pub base: &'a Path,
}

/// Writes findings in a format.
pub(crate) fn write(format: OutputFormat, report: &Report<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let Report { diagnostics, project, .. } = *report;
    match format {
        OutputFormat::Sarif => sarif::write(report, out),
        OutputFormat::Gitlab => gitlab::write(report, out),
        OutputFormat::Junit => junit::write(report, out),
        OutputFormat::Text => text(diagnostics, project, style, out),
        OutputFormat::Concise => concise(diagnostics, project, out),
        OutputFormat::Json => json(diagnostics, project, out),
        OutputFormat::JsonLines => json_lines(diagnostics, project, out),
        OutputFormat::Grouped => grouped(diagnostics, project, out),
        OutputFormat::Github => github(diagnostics, project, out),
    }
}

/// Sorts findings as they are printed: by path, place and code.
pub(crate) fn sort(diagnostics: &mut [Diagnostic], project: &Project) {
    let path = |diagnostic: &Diagnostic| &project.file(diagnostic.span.file).path;
    let place = |diagnostic: &Diagnostic| (diagnostic.span.start, diagnostic.span.end);
    diagnostics.sort_by(|a, b| (path(a), place(a), &a.code).cmp(&(path(b), place(b), &b.code)));
}

/// A span in the form that formats print.
struct Place {
    filename: String,
    cell: Option<usize>,
    start: Position,
    end: Position,
}

impl Place {
    fn of(span: Span, project: &Project) -> Self {
        let file = project.file(span.file);
        let start = file.position(span.start);
        let end = file.position(span.end.max(span.start));
        let filename = file.path.to_string_lossy().replace('\\', "/");
        // If a span starts and ends in different cells, only its start is printed.
        let end = if end.cell == start.cell { end } else { start };
        Place { filename, cell: start.cell, start, end }
    }

    /// `train.py:3:5`, `nb.ipynb:cell 2:3:5`.
    fn short(&self) -> String {
        let Position { line, column, .. } = self.start;
        match self.cell {
            Some(cell) => format!("{}:cell {cell}:{line}:{column}", self.filename),
            None => format!("{}:{line}:{column}", self.filename),
        }
    }
}

/// A span for other programs: the path is relative to [`Report::base`].
struct Where {
    path: String,
    cell: Option<usize>,
    /// Line and column, counted from 1. The column of `last` is the column after the end of the
    /// span.
    first: (usize, usize),
    last: (usize, usize),
}

impl Where {
    fn of(span: Span, report: &Report<'_>) -> Where {
        let Place { cell, start, end, .. } = Place::of(span, report.project);
        let path = relative(report.project.file(span.file), report.base);
        Where { path, cell, first: (start.line, start.column), last: (end.line, end.column) }
    }

    fn is_cell(&self) -> bool {
        self.cell.is_some()
    }

    /// The prefix `cell 2: ` in a notebook, otherwise an empty text.
    fn cell_prefix(&self) -> String {
        self.cell.map_or_else(String::new, |cell| format!("cell {cell}: "))
    }
}

/// The address of the rule's page; `None` if the finding does not belong to a rule.
fn url(diagnostic: &Diagnostic) -> Option<String> {
    let is_rule = diagnostic.code != diagnostic.name;
    is_rule.then(|| crate::rules::url(&diagnostic.name))
}

/// The results on the installed PyTorch: a line for the witness and, if the program was run, a line
/// for the run.
fn verdicts(diagnostic: &Diagnostic) -> Vec<String> {
    let Some(verdict) = &diagnostic.verdict else { return Vec::new() };
    let what = match diagnostic.witness.as_deref() {
        Some(Witness::Program { .. }) => "a program that does the same",
        Some(Witness::Call(_)) | None => "a call with these arguments",
    };
    let run = verdict.run.as_ref().map(observed);
    std::iter::once(reproduced(&verdict.witness, what)).chain(run).collect()
}

/// The lines of [`verdicts`] as one line.
fn verdict(diagnostic: &Diagnostic) -> Option<String> {
    let lines = verdicts(diagnostic);
    (!lines.is_empty()).then(|| lines.join("; "))
}

fn first_line(text: Option<&String>) -> &str {
    text.and_then(|text| text.lines().next()).unwrap_or_default()
}

fn reproduced(witness: &Reproduction, what: &str) -> String {
    let (message, reason) = (first_line(witness.message.as_ref()), first_line(witness.reason.as_ref()));
    match (witness.status, witness.how, witness.judge) {
        (WitnessStatus::Reproduced, Some(How::Silent), _) => {
            format!("reproduced: PyTorch runs {what}, and real tensors show that {message}")
        }
        (WitnessStatus::Reproduced, Some(How::Died), _) => {
            format!("reproduced: {what} ends the process: {message}")
        }
        (WitnessStatus::Reproduced, _, Some(Judge::Fake)) => {
            format!("reproduced: {what} fails on PyTorch's fake tensors: {message}")
        }
        (WitnessStatus::Reproduced, _, Some(Judge::Cuda)) => {
            format!("reproduced: {what} fails on the GPU: {message}")
        }
        (WitnessStatus::Reproduced, ..) => format!("reproduced: {what} fails: {message}"),
        (WitnessStatus::Refuted, ..) => format!("refuted: {reason}"),
        (WitnessStatus::Undecided, ..) => format!("undecided: {reason}"),
    }
}

fn observed(run: &Observation) -> String {
    let (message, reason) = (first_line(run.message.as_ref()), first_line(run.reason.as_ref()));
    match run.status {
        RunStatus::Observed => format!("run: observed: {message}"),
        RunStatus::Refuted => format!("run: refuted: {reason}"),
        RunStatus::NotReached => format!("run: not reached: {reason}"),
        RunStatus::Undecided => format!("run: undecided: {reason}"),
    }
}

/// The last line of a text report. `unchecked` is the number of paths that could not be checked.
pub(crate) fn summary(diagnostics: &[Diagnostic], checked: usize, unchecked: usize) -> String {
    let plural = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    };
    if diagnostics.is_empty() && unchecked > 0 {
        let (checked, unchecked) = (plural(checked, "file"), plural(unchecked, "path"));
        return format!("No findings in {checked}, but {unchecked} could not be checked");
    }
    if diagnostics.is_empty() {
        return format!("All checks passed! ({})", plural(checked, "file"));
    }
    let count = |severity| diagnostics.iter().filter(|d| d.severity == severity).count();
    let mut parts = Vec::new();
    for (severity, what) in [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "hint")] {
        match count(severity) {
            0 => {}
            found => parts.push(plural(found, what)),
        }
    }
    let last = parts.pop().unwrap_or_default();
    let list = if parts.is_empty() { last } else { format!("{} and {last}", parts.join(", ")) };
    let mut files: Vec<_> = diagnostics.iter().map(|d| d.span.file).collect();
    files.sort_unstable();
    files.dedup();
    format!("Found {list} in {} (checked {checked})", plural(files.len(), "file"))
}

/// The number of findings for each rule, the most frequent first: `(count, code, name)`.
pub(crate) fn statistics(diagnostics: &[Diagnostic]) -> Vec<(usize, &str, &str)> {
    let mut counts: Vec<(usize, &str, &str)> = Vec::new();
    for diagnostic in diagnostics {
        match counts.iter_mut().find(|(_, code, _)| *code == diagnostic.code) {
            Some((count, ..)) => *count += 1,
            None => counts.push((1, &diagnostic.code, &diagnostic.name)),
        }
    }
    counts.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    counts
}
