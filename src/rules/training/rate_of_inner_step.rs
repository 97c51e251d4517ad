//! `scheduler.get_lr()` outside of `step()`, for schedulers whose `get_lr` computes the next rate from the current one.

use crate::diagnostic::Severity;
use crate::rules::rule::{Call, Context, Rule};

const NAME: &str = "rate-of-inner-step";

/// Schedulers whose `get_lr()` differs from `get_last_lr()`, at least after some steps (PyTorch 2.15).
const RECURSIVE: &[&str] = &[
    "StepLR",
    "MultiStepLR",
    "ExponentialLR",
    "CosineAnnealingLR",
    "MultiplicativeLR",
    "LinearLR",
    "ConstantLR",
    "PolynomialLR",
];

#[derive(Default)]
pub(crate) struct RateOfInnerStep;

impl Rule for RateOfInnerStep {
    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        if path.as_str() != "torch.optim.lr_scheduler.LRScheduler.get_lr" {
            return;
        }
        let scheduler = bound.get("self");
        let Some(instance) = cx.it.heap.instance_of(&scheduler) else { return };
        let name = instance.class.as_path().and_then(|path| path.strip_prefix("torch.optim.lr_scheduler."));
        let Some(class) = name.filter(|class| RECURSIVE.contains(class)) else { return };
        let message = format!("outside of `step()`, `get_lr()` of `{class}` is not the current learning rate");
        cx.findings.report(NAME, Severity::Warning, message, cx.span, Vec::new());
    }
}
