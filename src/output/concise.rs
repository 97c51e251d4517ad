use std::io::{self, Write};

use super::{Place, verdict};
use crate::diagnostic::Diagnostic;
use crate::project::Project;

/// One line per finding: `path:line:column: error[TV103] message`.
pub(crate) fn write(diagnostics: &[Diagnostic], project: &Project, out: &mut dyn Write) -> io::Result<()> {
    for diagnostic in diagnostics {
        let place = Place::of(diagnostic.span, project).short();
        let severity = diagnostic.severity.as_str();
        write!(out, "{place}: {severity}[{}] {}", diagnostic.code, one_line(&diagnostic.message))?;
        match verdict(diagnostic) {
            Some(verdict) => writeln!(out, " ({})", one_line(&verdict))?,
            None => writeln!(out)?,
        }
    }
    Ok(())
}

/// A message without line breaks.
pub(super) fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
