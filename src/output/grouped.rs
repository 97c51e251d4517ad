use std::io::{self, Write};

use super::concise::one_line;
use super::{Place, verdict};
use crate::diagnostic::Diagnostic;
use crate::project::Project;

/// One line per finding, under the name of its file.
pub(crate) fn write(diagnostics: &[Diagnostic], project: &Project, out: &mut dyn Write) -> io::Result<()> {
    for group in diagnostics.chunk_by(|a, b| a.span.file == b.span.file) {
        let lines: Vec<(Place, &Diagnostic)> = group.iter().map(|d| (Place::of(d.span, project), d)).collect();
        let at = |place: &Place| match place.cell {
            Some(cell) => format!("cell {cell}:{}:{}", place.start.line, place.start.column),
            None => format!("{}:{}", place.start.line, place.start.column),
        };
        let width = lines.iter().map(|(place, _)| at(place).len()).max().unwrap_or(0);
        if let Some((place, _)) = lines.first() {
            writeln!(out, "{}:", place.filename)?;
        }
        for (place, diagnostic) in &lines {
            let severity = diagnostic.severity.as_str();
            let message = one_line(&diagnostic.message);
            write!(out, "  {:width$}  {severity}[{}] {message}", at(place), diagnostic.code)?;
            match verdict(diagnostic) {
                Some(verdict) => writeln!(out, " ({})", one_line(&verdict))?,
                None => writeln!(out)?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}
