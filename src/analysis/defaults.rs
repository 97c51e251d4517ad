//! Failures of functions that nothing calls, if they are called with the defaults of their parameters.
//!
//! In the first run, the arguments of such functions are unknown. The sizes of a model are often
//! defaults: `def __init__(self, hidden=128)`. So another run calls these functions with their
//! defaults. An error that only this run finds becomes a warning, whose message mentions the defaults.

use super::options::{OPERATION, Run};
use crate::diagnostic::{Diagnostic, Severity};
use crate::syntax::Span;

/// The failures that occur only in functions that nothing calls or in arms of unknown conditions, without
/// those at places of earlier findings. A failure that may depend on the default of an option is left out.
pub(super) fn new(first: &[Diagnostic], mut found: Vec<Diagnostic>, run: &Run) -> Vec<Diagnostic> {
    let fails = |span: &Span| run.failed.contains(span) && run.supposed.contains(span) && !run.excluded.contains(span);
    // A parameter whose default is an int may also take a list of ints.
    found.retain(|diagnostic| diagnostic.code != OPERATION || !diagnostic.message.starts_with("an int"));
    found.retain(|diagnostic| fails(&diagnostic.span) && !first.iter().any(|have| have.span == diagnostic.span));
    found
}

/// Turns an error of the run with defaults into a warning. The message then begins with the assumption.
pub(super) fn weaken(diagnostic: &mut Diagnostic) {
    diagnostic.severity = diagnostic.severity.min(Severity::Warning);
    diagnostic.message = format!("with the default arguments, {}", diagnostic.message);
}
