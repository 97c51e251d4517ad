//! Anomaly detection that is switched on for the whole of a training.

use std::cell::Cell;

use super::trace::Moment;
use super::watch::{Found, Watching, report};
use crate::diagnostic::Severity;
use crate::python::{Bound, Interp};
use crate::syntax::Span;
use crate::value::Sym;

const NAME: &str = "anomaly-mode-left-on";

#[derive(Default)]
pub struct AnomalyModeLeftOn {
    /// Where it was switched on, whatever happens.
    on: Cell<Option<Span>>,
    /// Where it was on while a loop trained.
    trained: Cell<Option<Span>>,
}

impl AnomalyModeLeftOn {
    pub fn call(&self, with: &Watching<'_>, it: &Interp<'_>, (path, bound, span): (Sym, &Bound, Span)) {
        if path.as_str() != "torch.autograd.set_detect_anomaly" {
            return;
        }
        let before = Span { start: span.start.saturating_sub(5), end: span.start, ..span };
        let block = with.source(before).is_some_and(|text| text.trim_end() == "with");
        let certain = !it.speculative() && it.undecided() == 0 && !it.in_loop() && !block;
        self.on.set((certain && bound.get("mode").as_bool() == Some(true)).then_some(span));
    }

    pub fn moment(&self, it: &Interp<'_>, moment: &Moment) {
        if matches!(moment, Moment::Step { .. }) && it.in_loop() && self.trained.get().is_none() {
            self.trained.set(self.on.get());
        }
    }

    pub fn end(&self, with: &Watching<'_>, found: &mut Found) {
        let (Some(span), Some(page)) = (self.trained.get(), with.rules.find(NAME)) else { return };
        let message = "anomaly detection is on for the whole training: every backward looks for NaN, and every forward keeps its traceback";
        report(found, page, Severity::Warning, message.to_owned(), span, Vec::new());
    }
}
