//! Anomaly detection that is enabled for the whole training.

use std::cell::Cell;

use crate::diagnostic::Severity;
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::Moment;
use crate::syntax::Span;

const NAME: &str = "anomaly-mode-left-on";

#[derive(Default)]
pub(crate) struct AnomalyModeLeftOn {
    /// The call that enabled anomaly detection unconditionally.
    on: Cell<Option<Span>>,
    /// The call that enabled anomaly detection, if a loop then trained.
    trained: Cell<Option<Span>>,
}

impl Rule for AnomalyModeLeftOn {
    const LATER_ROUNDS: bool = true;

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &*cx.it;
        let span = cx.span;
        if path.as_str() != "torch.autograd.set_detect_anomaly" {
            return;
        }
        let before = Span { start: span.start.saturating_sub(5), end: span.start, ..span };
        let block = cx.source(before).is_some_and(|text| text.trim_end() == "with");
        let certain = !it.speculative() && it.undecided() == 0 && !it.in_loop() && !block;
        self.on.set((certain && bound.get("mode").as_bool() == Some(true)).then_some(span));
    }

    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        let it = &*cx.it;
        if matches!(moment, Moment::Step { .. }) && it.in_loop() && self.trained.get().is_none() {
            self.trained.set(self.on.get());
        }
    }

    fn end(&self, cx: &mut Context<'_, '_>) {
        let Some(span) = self.trained.get() else { return };
        let message = "anomaly detection is enabled for the whole training: every backward checks for NaN, and every \
            forward records tracebacks";
        cx.findings.report(NAME, Severity::Warning, message, span, Vec::new());
    }
}
