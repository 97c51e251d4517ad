//! A write through `.data` to a value that `backward()` needs: PyTorch does not count such writes.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Context, Rule};
use crate::rules::trace::Moment;

const NAME: &str = "changed-through-data";

#[derive(Default)]
pub(crate) struct ChangedThroughData;

impl Rule for ChangedThroughData {
    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        let it = &*cx.it;
        let trace = cx.trace;
        let span = cx.span;
        let Moment::Backward { loss, toward, .. } = moment else { return };
        let Some((node, saved)) =
            trace.graph.stale(it, loss, toward).filter(|(_, saved)| trace.graph.is_uncounted(it, *saved))
        else {
            return;
        };
        let Some(at) = trace.graph.last_write(it, saved) else { return };
        let message =
            format!("`backward()` uses the value that is written here, not the one that `{}` saved", node.function);
        let labels = vec![
            Label { span: node.span, message: format!("`{}` saves the value here", node.function) },
            Label { span, message: "this `backward()` needs the saved value".to_owned() },
        ];
        cx.findings.report(NAME, Severity::Warning, message, at, labels);
    }
}
