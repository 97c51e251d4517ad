//! Checkpoints that are loaded onto the device from which they were saved.

use crate::diagnostic::Severity;
use crate::rules::rule::{Call, Context, Rule};

const NAME: &str = "checkpoint-without-map-location";

/// Texts that show that the program chooses its device, and so may run without a GPU.
const CHOOSES_DEVICE: &[&str] =
    &["is_available() else", ".to(device", ".to(self.device", ".to(self._device", ".to(args.device", "no_cuda"];

#[derive(Default)]
pub(crate) struct CheckpointWithoutMapLocation;

impl Rule for CheckpointWithoutMapLocation {
    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        if path.as_str() != "torch.load" || bound.given("map_location") || bound.open {
            return;
        }
        let span = cx.span;
        if cx.it.loads_unmapped_checkpoint(span) && CHOOSES_DEVICE.iter().any(|text| cx.it.mentions(text)) {
            let message = "if the checkpoint was saved from a GPU, it cannot be loaded on a machine without one";
            cx.findings.report(NAME, Severity::Info, message, span, Vec::new());
        }
    }
}
