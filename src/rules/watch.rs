//! The rules that no contract can express, each watching the run.

use super::{Page, Rules, late_launch_blocking::LateLaunchBlocking};
use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::python::{Bound, Event, Interp};
use crate::syntax::Span;
use crate::value::Sym;

/// All of them, with what they remember of one run.
pub struct Watch {
    late_launch_blocking: LateLaunchBlocking,
}

impl Watch {
    pub fn new() -> Watch {
        Watch { late_launch_blocking: LateLaunchBlocking::default() }
    }

    /// Before the run.
    pub fn begin(&self, it: &mut Interp<'_>) {
        self.late_launch_blocking.begin(it);
    }

    /// A library function is called.
    pub fn call(&self, it: &mut Interp<'_>, path: Sym, bound: &Bound, span: Span) {
        self.late_launch_blocking.call(it, path, bound, span);
    }

    pub fn event(&self, rules: &Rules, it: &mut Interp<'_>, event: Event<'_>, found: &mut Vec<Diagnostic>) {
        self.late_launch_blocking.event(rules, it, event, found);
    }
}

impl Default for Watch {
    fn default() -> Self {
        Watch::new()
    }
}

/// A finding of a page, once per place.
pub(super) fn report(
    found: &mut Vec<Diagnostic>,
    page: &Page,
    severity: Severity,
    message: String,
    span: Span,
    labels: Vec<Label>,
) {
    if found.iter().any(|d| d.code == page.code && d.span == span) {
        return;
    }
    found.push(Diagnostic {
        code: page.code.clone(),
        name: page.name.clone(),
        severity,
        message,
        span,
        labels,
        help: page.help.clone(),
        fix: None,
    });
}
