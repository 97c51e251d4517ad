use std::io::{self, Write};

use serde_json::json;

use super::{Report, Where};
use crate::diagnostic::Severity;
use crate::findings::identity::fingerprints;

/// GitLab's Code Quality report: one array. GitLab shows the line without labels, and does not
/// support notebooks, so the description names the cell. Findings that PyTorch refuted are omitted.
pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let prints = fingerprints(report.diagnostics, report.project, report.base);
    let standing = report.diagnostics.iter().zip(prints).filter(|(diagnostic, _)| !diagnostic.is_refuted());
    let entries = standing.map(|(diagnostic, fingerprint)| {
        let place = Where::of(diagnostic.span, report);
        let severity = match diagnostic.severity {
            Severity::Error => "critical",
            Severity::Warning => "major",
            Severity::Info => "info",
        };
        // A finding in a notebook is shown in line 1, because GitLab would treat the lines of the
        // cell as lines of the file.
        let (first, last) = if place.is_cell() { ((1, 1), (1, 1)) } else { (place.first, place.last) };
        json!({
            "description": format!("{}{}: {}", place.cell_prefix(), diagnostic.code, diagnostic.message),
            "check_name": diagnostic.code,
            "fingerprint": fingerprint,
            "severity": severity,
            "location": {
                "path": place.path,
                "positions": {
                    "begin": { "line": first.0, "column": first.1 },
                    "end": { "line": last.0, "column": last.1 },
                },
            },
        })
    });
    serde_json::to_writer_pretty(&mut *out, &entries.collect::<Vec<_>>())?;
    writeln!(out)
}
