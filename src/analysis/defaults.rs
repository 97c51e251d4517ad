//! Failures of functions that nothing calls, when they are called with the defaults of their
//! parameters.
//!
//! In the first run, the arguments of such functions are unknown. The sizes of a model are often
//! defaults: `def __init__(self, hidden=128)`. So a second run calls these functions with their
//! defaults. The finding of a failure that only this run has is a warning that says so.

use super::options::Run;
use crate::diagnostic::{Diagnostic, Severity};
use crate::syntax::Span;

/// The findings of failures in functions that nothing calls, if no finding of the first run is at the
/// same place.
pub(super) fn new(first: &[Diagnostic], mut found: Vec<Diagnostic>, run: &Run) -> Vec<Diagnostic> {
    let fails = |span: &Span| run.failed.contains(span) && run.supposed.contains(span) && !run.excluded.contains(span);
    found.retain(|diagnostic| fails(&diagnostic.span) && !first.iter().any(|have| have.span == diagnostic.span));
    found
}

/// Turns a finding of the second run into a warning.
pub(super) fn weaken(diagnostic: &mut Diagnostic) {
    diagnostic.severity = diagnostic.severity.min(Severity::Warning);
    diagnostic.message = format!("with the default arguments, {}", diagnostic.message);
}
