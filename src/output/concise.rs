use std::io::{self, Write};

use super::Place;
use crate::diagnostic::Diagnostic;
use crate::project::Project;

/// One line per finding: `path:line:column: error[TV103] message`.
pub fn write(diagnostics: &[Diagnostic], project: &Project, out: &mut dyn Write) -> io::Result<()> {
    for diagnostic in diagnostics {
        let place = Place::of(diagnostic.span, project).short();
        let severity = diagnostic.severity.as_str();
        writeln!(out, "{place}: {severity}[{}] {}", diagnostic.code, one_line(&diagnostic.message))?;
    }
    Ok(())
}

/// A message without line breaks.
pub(super) fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
