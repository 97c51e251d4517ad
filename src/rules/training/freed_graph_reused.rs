//! A second `backward()` through a graph that an earlier one has freed, for example if the
//! generator of a GAN is trained with the output that was used to train the discriminator.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Context, Rule, witness};
use crate::rules::trace::Moment;

const NAME: &str = "freed-graph-reused";

/// Creates a freed graph.
const SETUP: &str = "\
weight = torch.rand(3, requires_grad=True)
output = weight * weight
output.sum().backward()";

#[derive(Default)]
pub(crate) struct FreedGraphReused;

impl Rule for FreedGraphReused {
    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        let it = &*cx.it;
        let trace = cx.trace;
        let span = cx.span;
        let Moment::Backward { loss, toward, .. } = moment else { return };
        let Some((node, by)) = trace.graph.freed(it, loss, toward).filter(|(_, by)| *by != span) else { return };
        let message = "this uses a graph that an earlier `backward()` has freed";
        let labels = vec![
            Label { span: by, message: "the graph is freed here".to_owned() },
            Label { span: node.span, message: "both `backward()` calls pass through this operation".to_owned() },
        ];
        let finding = cx.findings.report(NAME, Severity::Error, message, span, labels);
        witness(finding, SETUP, "output.sum().backward()");
    }
}
