//! Imports of modules and names that should be in the project itself, but are not.

use crate::diagnostic::Severity;
use crate::python::{meant, nearest};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::{Ranged, Stmt, blocks};

const NAME: &str = "missing-import";

#[derive(Default)]
pub(crate) struct MissingImport;

impl Rule for MissingImport {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        check(findings, source, source.body);
    }
}

/// Checks the imports of a block, and of the functions, classes, `with` and `for` statements in it. Imports
/// under a condition or in a `try` are not checked: they may be for another version of the project.
fn check(findings: &mut Findings<'_>, source: &Source<'_>, block: &[Stmt]) {
    for stmt in block {
        match stmt {
            Stmt::ImportFrom(import) => {
                let module = import.module.as_ref().map_or("", |module| module.as_str());
                let mut last = None;
                for alias in import.names.iter().filter(|alias| alias.name.as_str() != "*") {
                    let missing = (source.missing_import)(module, import.level, Some(&alias.name));
                    // If the module does not exist, the message is the same for all names.
                    if let Some((message, names)) = missing.filter(|(message, _)| last.as_ref() != Some(message)) {
                        let near = meant(nearest(&alias.name, names.into_iter()));
                        let span = source.span(alias.range());
                        findings.report(NAME, Severity::Warning, format!("{message}{near}"), span, Vec::new());
                        last = Some(message);
                    }
                }
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    if let Some((message, _)) = (source.missing_import)(&alias.name, 0, None) {
                        findings.report(NAME, Severity::Warning, message, source.span(alias.range()), Vec::new());
                    }
                }
            }
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) | Stmt::With(_) | Stmt::For(_) => {
                for inner in blocks(stmt) {
                    check(findings, source, inner);
                }
            }
            _ => {}
        }
    }
}
