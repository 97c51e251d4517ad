//! A step with gradients that an earlier step has already used, and to which a `backward()` has
//! added since.
//!
//! Programs that accumulate gradients on purpose also clear them between two steps. The rule
//! reports gradients if, in some iterations, nothing clears them between one step and the next.

use crate::diagnostic::{Label, Severity};
use crate::python::Event;
use crate::rules::rule::{Context, Rule};
use crate::rules::trace::{Gradients, Moment};

const NAME: &str = "gradients-not-cleared";

#[derive(Default)]
pub(crate) struct GradientsNotCleared;

impl Rule for GradientsNotCleared {
    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        // The caller of the function may have an optimizer whose `step` clears the gradients.
        let Event::Accumulates { backward } = event else { return };
        if cx.it.mentions("def step(") || cx.it.mentions("deepspeed") {
            return;
        }
        let message = "gradients pile up: nothing in this function clears them before the next `backward()`";
        cx.findings.report(NAME, Severity::Warning, message, backward, Vec::new());
    }

    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        let it = &*cx.it;
        let trace = cx.trace;
        let span = cx.span;
        let Moment::Step { optimizer, .. } = moment else { return };
        if it.speculative() || !trace.optimizers.fates(it, *optimizer).contains(&Gradients::Mixed) {
            return;
        }
        let Some(backward) = trace.optimizers.backward.get() else { return };
        let message = "gradients pile up: nothing clears them between `step()` and this `backward()`";
        let labels = vec![Label { span, message: "the next step uses the sum".to_owned() }];
        cx.findings.report(NAME, Severity::Error, message, backward, labels);
    }
}
