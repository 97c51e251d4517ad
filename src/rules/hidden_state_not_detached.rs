//! A state that is carried from round to round with its graph: `backward()` of the second
//! round goes back into the first, whose graph is freed.

use super::trace::{Moment, Trace};
use super::watch::{Found, Watching, report, witnessed};
use crate::diagnostic::{Label, Severity};
use crate::python::Interp;
use crate::syntax::Span;

const NAME: &str = "hidden-state-not-detached";

/// A state that the second round takes from the first.
const SETUP: &str = "\
cell = nn.RNNCell(2, 3)
state = cell(torch.rand(1, 2))
state.sum().backward()
output = cell(torch.rand(1, 2), state)";

pub fn moment(with: &Watching<'_>, it: &Interp<'_>, trace: &Trace, (moment, span): (&Moment, Span), found: &mut Found) {
    let Moment::Backward { loss, .. } = moment else { return };
    let Some((node, _)) = trace.graph.freed(it, loss).filter(|(_, by)| *by == span) else { return };
    let Some(page) = with.rules.find(NAME) else { return };
    let message = "this goes back into the graph of the round before, which that round's `backward()` has freed";
    let labels = vec![Label { span: node.span, message: "computed in the round before, and carried on".to_owned() }];
    report(found, page, Severity::Error, message.to_owned(), span, labels);
    witnessed(found, page, SETUP, "output.sum().backward()");
}
