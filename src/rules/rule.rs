//! What a rule about order is, what it gets, and how it reports.

use super::trace::{Moment, Trace};
use super::{Found, Rules};
use crate::diagnostic::{Diagnostic, Label, Severity, Witness};
use crate::python::{Bound, Event, Interp, Rejection};
use crate::syntax::Span;
use crate::value::{Sym, Value};

/// A rule that a contract cannot express, created again for each run.
///
/// It implements the methods for the events it needs; the others do nothing and cost nothing. It
/// stores what depends on the path on the heap (`notes`), and what holds for the whole run in its
/// own fields. Rules are called in the order of their codes.
pub(super) trait Rule: Default {
    /// Whether the rule also gets calls and events of iterations that are run once more
    /// ([`Interp::second_round`]). It always gets results and moments.
    const LATER_ROUNDS: bool = false;

    /// Before the run.
    fn begin(&self, _: &mut Context<'_, '_>) {}

    /// A library's function is about to be called.
    fn call(&self, _: &mut Context<'_, '_>, _: Call<'_>) {}

    /// A library's function has returned.
    fn returned(&self, _: &mut Context<'_, '_>, _: Call<'_>, _result: &Value) {}

    /// A moment of training, before the trace records it.
    fn moment(&self, _: &mut Context<'_, '_>, _: &Moment) {}

    /// Any other event.
    fn event(&self, _: &mut Context<'_, '_>, _: Event<'_>) {}

    /// A name is assigned.
    fn assigned(&self, _: &mut Context<'_, '_>, _name: &str, _: &Value) {}

    /// A library rejects a call. Returns whether this rule has reported it.
    fn rejected(&self, _: &mut Context<'_, '_>, _: &Rejection) -> bool {
        false
    }

    /// A handler that is run as if it had caught the fatal exception is about to make this call.
    fn handles(&self, _: &mut Context<'_, '_>, _: Call<'_>) {}

    /// After the run.
    fn end(&self, _: &mut Context<'_, '_>) {}

    /// A file that launches programs sets an environment variable.
    fn launched(&self, _: &mut Findings<'_>, _variable: &str, _: Span) {}
}

/// What a rule can see when it is called.
pub(super) struct Context<'c, 'p> {
    pub it: &'c mut Interp<'p>,
    /// The place of the event; the beginning of the file for events without a place.
    pub span: Span,
    pub trace: &'c Trace,
    pub findings: Findings<'c>,
    pub(super) source: &'c dyn Fn(Span) -> Option<String>,
}

impl Context<'_, '_> {
    /// The source text at a place.
    pub(super) fn source(&self, span: Span) -> Option<String> {
        (self.source)(span)
    }
}

/// A call of a library's function.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub path: Sym,
    pub bound: &'a Bound,
}

/// Where rules report findings.
pub(super) struct Findings<'c> {
    pub(super) rules: &'c Rules,
    pub(super) found: &'c mut Found,
}

impl Findings<'_> {
    /// Reports a finding for a page, once per place. Returns it, so that a fix or a witness can be
    /// added, unless others were reported after it.
    pub(super) fn report(
        &mut self,
        name: &str,
        severity: Severity,
        message: impl Into<String>,
        span: Span,
        labels: Vec<Label>,
    ) -> Option<&mut Diagnostic> {
        let page = self.rules.find(name)?;
        if !self.found.iter().any(|d| d.code == page.code && d.span == span) {
            self.found.push(Diagnostic {
                code: page.code.clone(),
                name: page.name.clone(),
                severity,
                message: message.into(),
                span,
                labels,
                help: page.help.clone(),
                fix: None,
                witness: None,
                verdict: None,
                cause: Vec::new(),
                repeats: Vec::new(),
            });
        }
        self.found.last_mut().filter(|d| d.code == page.code && d.span == span)
    }

    /// Withdraws a finding of a page at a place, if later events show that it does no harm.
    pub(super) fn retract(&mut self, name: &str, span: Span) {
        self.found.retain(|d| d.name != name || d.span != span);
    }

    /// Whether a finding of this page was reported at this place.
    pub(super) fn has(&self, name: &str, span: Span) -> bool {
        self.found.iter().any(|d| d.name == name && d.span == span)
    }
}

/// Adds a witness to a finding: a few lines of Python that lead to it, and the line that then
/// fails.
pub(super) fn witness(finding: Option<&mut Diagnostic>, setup: &'static str, call: &'static str) {
    if let Some(finding) = finding {
        finding.witness.get_or_insert_with(|| Box::new(Witness::Program { setup, call }));
    }
}
