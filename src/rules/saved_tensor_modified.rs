//! A value that `backward()` needs was written to in place after it was saved: PyTorch counts
//! the writes, and so does this.

use super::trace::{Moment, Trace};
use super::watch::{Found, Watching, report, witnessed};
use crate::diagnostic::{Label, Severity};
use crate::python::Interp;
use crate::syntax::Span;

const NAME: &str = "saved-tensor-modified";

/// What `exp` needs for its gradient is its own result.
const SETUP: &str = "\
weight = torch.rand(3, requires_grad=True)
output = weight.exp()
output += 1";

pub fn moment(with: &Watching<'_>, it: &Interp<'_>, trace: &Trace, (moment, span): (&Moment, Span), found: &mut Found) {
    let Moment::Backward { loss, toward, .. } = moment else { return };
    let Some((node, saved)) = trace.graph.stale(it, loss, toward) else { return };
    if trace.graph.is_uncounted(it, saved) {
        return;
    }
    let Some(page) = with.rules.find(NAME) else { return };
    let message = format!("`{}` needs a value here that was changed in place after it was computed", node.function);
    let mut labels = vec![Label { span: node.span, message: format!("`{}` saves it here", node.function) }];
    if let Some(at) = trace.graph.last_write(it, saved) {
        labels.push(Label { span: at, message: "here it is changed".to_owned() });
    }
    report(found, page, Severity::Error, message, span, labels);
    witnessed(found, page, SETUP, "output.sum().backward()");
}
