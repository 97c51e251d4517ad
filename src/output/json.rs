use std::io::{self, Write};

use serde::Serialize;

use super::{Place, url};
use crate::diagnostic::{Applicability, Diagnostic, Severity, Verdict};
use crate::project::{Position, Project};

#[derive(Serialize)]
struct Location {
    row: usize,
    column: usize,
}

impl From<Position> for Location {
    fn from(place: Position) -> Self {
        Location { row: place.line, column: place.column }
    }
}

#[derive(Serialize)]
struct Entry<'a> {
    code: &'a str,
    name: &'a str,
    severity: Severity,
    filename: String,
    cell: Option<usize>,
    location: Location,
    end_location: Location,
    message: &'a str,
    labels: Vec<Label<'a>>,
    /// Further places with the same problem and the same cause.
    repeats: Vec<Repeat>,
    help: Option<&'a str>,
    fix: Option<Fix<'a>>,
    url: Option<String>,
    /// The row where a `noqa` comment takes effect.
    noqa_row: usize,
    /// The verdict of the probe; null without verification.
    verdict: Option<&'a Verdict>,
}

#[derive(Serialize)]
struct Repeat {
    filename: String,
    cell: Option<usize>,
    location: Location,
    end_location: Location,
}

#[derive(Serialize)]
struct Label<'a> {
    filename: String,
    cell: Option<usize>,
    location: Location,
    end_location: Location,
    message: &'a str,
}

#[derive(Serialize)]
struct Fix<'a> {
    applicability: Applicability,
    message: &'a str,
    edits: Vec<Edit<'a>>,
}

#[derive(Serialize)]
struct Edit<'a> {
    content: &'a str,
    location: Location,
    end_location: Location,
}

impl<'a> Entry<'a> {
    fn new(diagnostic: &'a Diagnostic, project: &Project) -> Self {
        let place = Place::of(diagnostic.span, project);
        let labels = diagnostic.labels.iter().map(|label| {
            let place = Place::of(label.span, project);
            Label {
                filename: place.filename,
                cell: place.cell,
                location: place.start.into(),
                end_location: place.end.into(),
                message: &label.message,
            }
        });
        let repeats = diagnostic.repeats.iter().map(|span| {
            let place = Place::of(*span, project);
            let (location, end_location) = (place.start.into(), place.end.into());
            Repeat { filename: place.filename, cell: place.cell, location, end_location }
        });
        let fix = diagnostic.fix.as_ref().map(|fix| Fix {
            applicability: fix.applicability,
            message: &fix.title,
            edits: fix.edits.iter().map(|edit| edit_entry(edit, project)).collect(),
        });
        Entry {
            code: &diagnostic.code,
            name: &diagnostic.name,
            severity: diagnostic.severity,
            noqa_row: place.end.line,
            filename: place.filename,
            cell: place.cell,
            location: place.start.into(),
            end_location: place.end.into(),
            message: &diagnostic.message,
            labels: labels.collect(),
            repeats: repeats.collect(),
            help: diagnostic.help.as_deref(),
            fix,
            url: url(diagnostic),
            verdict: diagnostic.verdict.as_deref(),
        }
    }
}

fn edit_entry<'a>(edit: &'a crate::diagnostic::Edit, project: &Project) -> Edit<'a> {
    let place = Place::of(edit.span, project);
    Edit { content: &edit.content, location: place.start.into(), end_location: place.end.into() }
}

/// One JSON array, with ruff's keys and additional ones.
pub(crate) fn write(diagnostics: &[Diagnostic], project: &Project, out: &mut dyn Write) -> io::Result<()> {
    let entries: Vec<Entry> = diagnostics.iter().map(|d| Entry::new(d, project)).collect();
    serde_json::to_writer_pretty(&mut *out, &entries)?;
    writeln!(out)
}

/// Writes the objects of [`write()`], one per line.
pub(crate) fn write_lines(diagnostics: &[Diagnostic], project: &Project, out: &mut dyn Write) -> io::Result<()> {
    for diagnostic in diagnostics {
        serde_json::to_writer(&mut *out, &Entry::new(diagnostic, project))?;
        writeln!(out)?;
    }
    Ok(())
}
