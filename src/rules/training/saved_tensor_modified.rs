//! A value that `backward()` needs was changed in place after it was saved. Like PyTorch, the rule
//! counts the writes to each tensor to detect this.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Context, Rule, witness};
use crate::rules::trace::Moment;

const NAME: &str = "saved-tensor-modified";

/// The gradient of `exp` needs its result.
const SETUP: &str = "\
weight = torch.rand(3, requires_grad=True)
output = weight.exp()
output += 1";

#[derive(Default)]
pub(crate) struct SavedTensorModified;

impl Rule for SavedTensorModified {
    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        let it = &*cx.it;
        let trace = cx.trace;
        let span = cx.span;
        let Moment::Backward { loss, toward, .. } = moment else { return };
        let Some((node, saved)) = trace.graph.stale(it, loss, toward) else { return };
        // PyTorch first tests whether the graph was freed.
        if trace.graph.is_uncounted(it, saved) || trace.graph.freed(it, loss, toward).is_some() {
            return;
        }
        // Without a recorded write, only code that was not run may have written to the memory.
        let Some(at) = trace.graph.last_write(it, saved) else { return };
        let message =
            format!("the backward of `{}` needs a value that was changed in place after it was saved", node.function);
        let labels = vec![
            Label { span: node.span, message: format!("`{}` saves the value here", node.function) },
            Label { span: at, message: "it is changed here".to_owned() },
        ];
        let finding = cx.findings.report(NAME, Severity::Error, message, span, labels);
        witness(finding, SETUP, "output.sum().backward()");
    }
}
