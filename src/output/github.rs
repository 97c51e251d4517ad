use std::io::{self, Write};

use super::{Place, verdict};
use crate::diagnostic::{Diagnostic, Severity};
use crate::project::Project;

/// GitHub workflow commands. GitHub cannot point into a cell of a notebook, so the message names
/// the cell.
pub(crate) fn write(diagnostics: &[Diagnostic], project: &Project, out: &mut dyn Write) -> io::Result<()> {
    for diagnostic in diagnostics {
        let place = Place::of(diagnostic.span, project);
        let level = match diagnostic.severity {
            _ if diagnostic.is_refuted() => "notice",
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        let (line, column, end_line, end_column) = match place.cell {
            Some(_) => (1, 1, 1, 1),
            None => (place.start.line, place.start.column, place.end.line, place.end.column),
        };
        let title = property(&format!("torchvet ({})", diagnostic.code));
        let file = property(&place.filename);
        write!(out, "::{level} title={title},file={file},line={line}")?;
        // GitHub supports columns only within one line.
        if end_line == line {
            write!(out, ",col={column},endLine={end_line},endColumn={end_column}")?;
        } else {
            write!(out, ",endLine={end_line}")?;
        }
        let mut message = format!("{}: {} {}", place.short(), diagnostic.code, diagnostic.message);
        if let Some(verdict) = verdict(diagnostic) {
            message.push_str(&format!(" ({verdict})"));
        }
        writeln!(out, "::{}", data(&message))?;
    }
    Ok(())
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
