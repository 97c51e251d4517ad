//! Gradients that are clipped after a step has used them.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::Gradients;

const NAME: &str = "clipping-after-step";

#[derive(Default)]
pub(crate) struct ClippingAfterStep;

impl Rule for ClippingAfterStep {
    const LATER_ROUNDS: bool = true;

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, .. }: Call<'_>) {
        let it = &*cx.it;
        let trace = cx.trace;
        let span = cx.span;
        if !matches!(path.as_str(), "torch.nn.utils.clip_grad_norm_" | "torch.nn.utils.clip_grad_value_")
            || it.speculative()
        {
            return;
        }
        let optimizers = trace.optimizers.all();
        let used = optimizers.iter().all(|id| trace.optimizers.gradients(it, *id) == Some(Gradients::Used));
        let step = optimizers.iter().filter_map(|id| trace.optimizers.known(*id)?.stepped).max();
        let (true, Some(step)) = (used, step) else { return };
        let message = "the gradients are clipped after the step that uses them";
        let labels = vec![Label { span: step, message: "this step has already used the gradients".to_owned() }];
        cx.findings.report(NAME, Severity::Error, message, span, labels);
    }
}
