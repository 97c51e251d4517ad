//! A state that is carried from round to round with its graph: `backward()` of the second
//! round goes back into the first, whose graph is freed.

use super::trace::{Moment, Trace};
use super::watch::{Found, Watching, backward, report, witnessed};
use crate::diagnostic::{Label, Severity};
use crate::python::Interp;
use crate::syntax::Span;
use crate::value::Graph;

const NAME: &str = "hidden-state-not-detached";

pub fn moment(with: &Watching<'_>, it: &Interp<'_>, trace: &Trace, (moment, span): (&Moment, Span), found: &mut Found) {
    let Moment::Backward { loss, .. } = moment else { return };
    let Some((node, _)) = trace.graph.freed(it, loss).filter(|(_, by)| *by == span) else { return };
    let Some(page) = with.rules.find(NAME) else { return };
    let message = "this goes back into the graph of the round before, which that round's `backward()` has freed";
    let labels = vec![Label { span: node.span, message: "computed in the round before, and carried on".to_owned() }];
    report(found, page, Severity::Error, message.to_owned(), span, labels);
    witnessed(found, page, backward(Graph::Freed));
}
