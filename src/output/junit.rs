use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report as Document, TestCase, TestCaseStatus, TestSuite};

use super::{Report, Where};

/// JUnit XML: a suite for each file, a failed case for each finding. A run without findings is one
/// passed case, because some readers treat an empty report as broken. Findings that PyTorch refuted
/// are omitted.
pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut document = Document::new("torchvet");
    let mut suites: Vec<TestSuite> = Vec::new();
    for diagnostic in report.diagnostics.iter().filter(|diagnostic| !diagnostic.is_refuted()) {
        let place = Where::of(diagnostic.span, report);
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_message(&*diagnostic.message).set_type(diagnostic.severity.as_str());
        let (line, column) = place.first;
        let mut text = format!("{}line {line}, column {column}: {}", place.cell_prefix(), diagnostic.message);
        if let Some(help) = &diagnostic.help {
            text.push_str(&format!("\n{help}"));
        }
        status.set_description(text);
        let mut case = TestCase::new(format!("{} {}", diagnostic.code, diagnostic.name), status);
        case.set_classname(&*place.path);
        case.extra.insert("file".into(), (&*place.path).into());
        case.extra.insert("line".into(), line.to_string().into());
        match suites.iter_mut().find(|suite| suite.name == *place.path) {
            Some(suite) => _ = suite.add_test_case(case),
            None => {
                let mut suite = TestSuite::new(&*place.path);
                suite.add_test_case(case);
                suites.push(suite);
            }
        }
    }
    if suites.is_empty() {
        let mut suite = TestSuite::new("torchvet");
        suite.add_test_case(TestCase::new("no findings", TestCaseStatus::success()));
        suites.push(suite);
    }
    document.add_test_suites(suites);
    let text = document.to_string().map_err(io::Error::other)?;
    writeln!(out, "{}", text.trim_end())
}
