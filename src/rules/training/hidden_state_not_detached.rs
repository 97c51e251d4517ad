//! A state that is kept from iteration to iteration with its graph: `backward()` in the second
//! iteration reaches the graph of the first, which was freed.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Context, Rule, witness};
use crate::rules::trace::Moment;

const NAME: &str = "hidden-state-not-detached";

/// Creates a state that the second iteration takes over from the first.
const SETUP: &str = "\
cell = nn.RNNCell(2, 3)
state = cell(torch.rand(1, 2))
state.sum().backward()
output = cell(torch.rand(1, 2), state)";

#[derive(Default)]
pub(crate) struct HiddenStateNotDetached;

impl Rule for HiddenStateNotDetached {
    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        let it = &*cx.it;
        let trace = cx.trace;
        let span = cx.span;
        let Moment::Backward { loss, toward, .. } = moment else { return };
        let Some((node, _)) = trace.graph.freed(it, loss, toward).filter(|(_, by)| *by == span) else { return };
        let message = "this uses a graph that `backward()` freed in the previous iteration";
        let labels =
            vec![Label { span: node.span, message: "computed here; `backward()` has freed its graph".to_owned() }];
        let finding = cx.findings.report(NAME, Severity::Error, message, span, labels);
        witness(finding, SETUP, "output.sum().backward()");
    }
}
