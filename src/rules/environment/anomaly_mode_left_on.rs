//! Anomaly detection that is enabled for the whole training.

use std::cell::Cell;

use crate::diagnostic::Severity;
use crate::python::Event;
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::Moment;
use crate::syntax::Span;

const NAME: &str = "anomaly-mode-left-on";

#[derive(Default)]
pub(crate) struct AnomalyModeLeftOn {
    /// The last call, if it enabled anomaly detection unconditionally.
    called: Cell<Option<Span>>,
    /// The same call, if its result is not used. `with` uses the result, and disables anomaly
    /// detection at the end of the block.
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
        let certain = !it.speculative() && it.undecided() == 0 && !it.in_loop();
        self.called.set((certain && bound.get("mode").as_bool() == Some(true)).then_some(span));
        self.on.set(None);
    }

    fn event(&self, _: &mut Context<'_, '_>, event: Event<'_>) {
        if let Event::Discarded { call, .. } = event
            && self.called.get() == Some(call)
        {
            self.on.set(Some(call));
        }
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
