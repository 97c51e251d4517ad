//! A seed that is set after random numbers were drawn.

use std::cell::Cell;

use crate::diagnostic::{Label, Severity};
use crate::rules::notes::holds;
use crate::rules::rule::{Call, Context, Rule};
use crate::syntax::Span;
use crate::value::{Topic, Value};

const NAME: &str = "seed-after-use";
/// Whether random numbers were drawn.
const DRAWN: Topic = Topic::new("random numbers drawn");

#[derive(Default)]
pub(crate) struct SeedAfterUse {
    first: Cell<Option<Span>>,
    seeded: Cell<bool>,
}

impl Rule for SeedAfterUse {
    fn begin(&self, cx: &mut Context<'_, '_>) {
        cx.it.remember(DRAWN, Value::Bool(false));
    }

    /// Creating a layer draws its initial weights.
    fn returned(&self, cx: &mut Context<'_, '_>, Call { path, .. }: Call<'_>, _: &Value) {
        let it = &mut *cx.it;
        let path = path.as_str();
        let layer = matches!(
            path.strip_prefix("torch.nn."),
            Some("Linear" | "Conv1d" | "Conv2d" | "Conv3d" | "Embedding" | "LSTM" | "GRU")
        );
        let drawn = layer || matches!(path, "torch.rand" | "torch.randn" | "torch.randint" | "torch.randperm");
        if drawn && !it.speculative() && self.first.get().is_none() {
            self.first.set(Some(cx.span));
            it.remember(DRAWN, Value::Bool(true));
        }
    }

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, .. }: Call<'_>) {
        let it = &*cx.it;
        let span = cx.span;
        if path.as_str() != "torch.manual_seed" || it.speculative() {
            return;
        }
        let drawn = holds(it, DRAWN);
        // Only the first seed is reported: a later one may begin a new experiment.
        if self.seeded.replace(true) || !drawn || it.in_loop() {
            return;
        }
        let Some(first) = self.first.get() else { return };
        let message = "the seed is set after random numbers were drawn, so these numbers differ from run to run";
        let labels = vec![Label { span: first, message: "the first random numbers are drawn here".to_owned() }];
        cx.findings.report(NAME, Severity::Info, message, span, labels);
    }
}
