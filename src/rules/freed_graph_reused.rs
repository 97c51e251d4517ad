//! A second `backward()` through a graph that another has freed: where a GAN's generator is
//! trained on what its discriminator was trained on.

use super::trace::{Moment, Trace};
use super::watch::{Found, Watching, report, witnessed};
use crate::diagnostic::{Label, Severity};
use crate::python::Interp;
use crate::syntax::Span;

const NAME: &str = "freed-graph-reused";

/// A graph that is gone.
const SETUP: &str = "\
weight = torch.rand(3, requires_grad=True)
output = weight * weight
output.sum().backward()";

pub fn moment(with: &Watching<'_>, it: &Interp<'_>, trace: &Trace, (moment, span): (&Moment, Span), found: &mut Found) {
    let Moment::Backward { loss, .. } = moment else { return };
    let Some((node, by)) = trace.graph.freed(it, loss).filter(|(_, by)| *by != span) else { return };
    let Some(page) = with.rules.find(NAME) else { return };
    let message = "this goes back through a graph that an earlier `backward()` has freed".to_owned();
    let labels = vec![
        Label { span: by, message: "the graph is freed here".to_owned() },
        Label { span: node.span, message: "this is a part of both".to_owned() },
    ];
    report(found, page, Severity::Error, message, span, labels);
    witnessed(found, page, SETUP, "output.sum().backward()");
}
