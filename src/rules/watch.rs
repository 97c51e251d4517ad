//! Forwards the events of a run to the rules about order.

use super::Rules;
use super::rule::{Call, Context, Findings, Rule, Source};
use super::trace::{Moment, Trace};
use crate::diagnostic::Diagnostic;
use crate::python::{Event, Interp, Rejection};
use crate::syntax::{FileId, Setting, Span};
use crate::value::Value;

/// The findings of the rules so far.
pub(crate) type Found = Vec<Diagnostic>;

// `build.rs` generates `order.rs` from the rule files. It defines `Order`, which contains every
// rule, and `each_rule!`, which calls the rules one after the other.
include!(concat!(env!("OUT_DIR"), "/order.rs"));

/// What rules get in addition to the interpreter.
pub(crate) struct Watching<'c> {
    pub rules: &'c Rules,
    /// The source text at a place.
    pub source: &'c dyn Fn(Span) -> Option<String>,
    pub found: &'c mut Found,
}

/// All rules about order, with their state for one run.
#[derive(Default)]
pub(crate) struct Watch {
    trace: Trace,
    order: Order,
}

impl Watch {
    fn context<'c, 'p>(&'c self, with: Watching<'c>, it: &'c mut Interp<'p>, span: Option<Span>) -> Context<'c, 'p> {
        let span = span.unwrap_or(Span { file: it.root, start: 0, end: 0 });
        let findings = Findings { rules: with.rules, found: with.found };
        Context { it, span, trace: &self.trace, findings, source: with.source }
    }

    /// The run begins.
    pub(crate) fn begin(&self, with: Watching<'_>, it: &mut Interp<'_>) {
        let cx = &mut self.context(with, it, None);
        each_rule!(self.order, rule => rule.begin(cx));
    }

    /// A library function is called.
    pub(crate) fn call(&self, with: Watching<'_>, it: &mut Interp<'_>, call: Call<'_>, span: Span) {
        let cx = &mut self.context(with, it, Some(span));
        if cx.it.imagining() {
            each_rule!(self.order, rule => rule.handles(cx, call));
            return;
        }
        if let Some(moment) = self.trace.call(cx.it, call.path, call.bound) {
            self.moment(cx, &moment);
        }
        let later = cx.it.second_round();
        each_rule!(self.order, rule => if !later || sees_later_rounds(rule) {
            rule.call(cx, call);
        });
    }

    /// Passes a moment of training to the rules. The trace then applies the effects of the moment.
    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        let before = cx.findings.count();
        each_rule!(self.order, rule => rule.moment(cx, moment));
        if cx.it.assumes_round() {
            cx.findings.say_assumed_round(before);
        }
        self.trace.pass(cx.it, moment, cx.span);
    }

    pub(crate) fn event(&self, with: Watching<'_>, it: &mut Interp<'_>, event: Event<'_>) {
        if it.imagining() {
            return;
        }
        let cx = &mut self.context(with, it, place(event));
        if let Some(moment) = self.trace.event(cx.it, event) {
            self.moment(cx, &moment);
        }
        if let Event::Returned { path, bound, result, .. } = event {
            each_rule!(self.order, rule => rule.returned(cx, Call { path, bound }, result));
            return;
        }
        let later = cx.it.second_round();
        each_rule!(self.order, rule => if !later || sees_later_rounds(rule) {
            rule.event(cx, event);
        });
    }

    /// A name is assigned.
    pub(crate) fn assigned(&self, with: Watching<'_>, it: &mut Interp<'_>, name: &str, value: &Value, span: Span) {
        if it.imagining() {
            return;
        }
        let cx = &mut self.context(with, it, Some(span));
        each_rule!(self.order, rule => rule.assigned(cx, name, value));
    }

    /// A library rejects a call. Returns whether a rule has reported it.
    pub(crate) fn rejected(&self, with: Watching<'_>, it: &mut Interp<'_>, rejection: &Rejection) -> bool {
        let cx = &mut self.context(with, it, Some(rejection.span));
        each_rule!(self.order, rule => if rule.rejected(cx, rejection) {
            return true;
        });
        false
    }

    /// The run has ended.
    pub(crate) fn end(&self, with: Watching<'_>, it: &mut Interp<'_>) {
        let cx = &mut self.context(with, it, None);
        each_rule!(self.order, rule => rule.end(cx));
    }

    /// The number of moments of training so far.
    pub(crate) fn moments(&self) -> u32 {
        self.trace.moments()
    }
}

/// The findings for the syntax of a Python file.
pub(crate) fn parsed(rules: &Rules, source: &Source<'_>) -> Found {
    let mut found = Found::new();
    let (findings, order) = (&mut Findings { rules, found: &mut found }, Order::default());
    each_rule!(order, rule => rule.parsed(findings, source));
    found
}

fn span_in(file: FileId, start: usize, end: usize) -> Span {
    let offset = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Span { file, start: offset(start), end: offset(end) }
}

/// The findings for the environment variables that a launch file sets.
pub(crate) fn launched(rules: &Rules, file: FileId, settings: &[Setting]) -> Found {
    let mut found = Found::new();
    let (findings, order) = (&mut Findings { rules, found: &mut found }, Order::default());
    for Setting { variable, at } in settings {
        let span = span_in(file, at.start, at.end);
        each_rule!(order, rule => rule.launched(findings, variable, span));
    }
    found
}

fn sees_later_rounds<R: Rule>(_: &R) -> bool {
    R::LATER_ROUNDS
}

fn place(event: Event<'_>) -> Option<Span> {
    match event {
        Event::SetEnv { span, .. }
        | Event::Import { span, .. }
        | Event::Discarded { call: span, .. }
        | Event::SetAttribute { span, .. }
        | Event::Returned { span, .. }
        | Event::Viewed { span, .. }
        | Event::Written { span, .. }
        | Event::Iterated { span, .. }
        | Event::Method { span, .. }
        | Event::Unseen { span, .. }
        | Event::Read { span, .. }
        | Event::Uncalled { span, .. }
        | Event::DeviceAgainstText { span, .. }
        | Event::Misplaced { span, .. }
        | Event::KeptBack { span, .. }
        | Event::Appended { span, .. }
        | Event::Overwritten { span, .. }
        | Event::Handled { handler: span, .. }
        | Event::Accumulates { backward: span } => Some(span),
        Event::Supposed { .. } | Event::ReadAttribute { .. } | Event::Escaped { .. } => None,
    }
}
