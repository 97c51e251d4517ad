//! A value that `backward()` needs was written to through `.data`, where PyTorch does not count.

use super::trace::{Moment, Trace};
use super::watch::{Found, Watching, report};
use crate::diagnostic::{Label, Severity};
use crate::python::Interp;
use crate::syntax::Span;

const NAME: &str = "changed-through-data";

pub fn moment(with: &Watching<'_>, it: &Interp<'_>, trace: &Trace, (moment, span): (&Moment, Span), found: &mut Found) {
    let Moment::Backward { loss, toward, .. } = moment else { return };
    let Some((node, saved)) =
        trace.graph.stale(it, loss, toward).filter(|(_, saved)| trace.graph.is_uncounted(it, *saved))
    else {
        return;
    };
    let (Some(page), Some(at)) = (with.rules.find(NAME), trace.graph.last_write(it, saved)) else { return };
    let message = format!("`backward()` computes with what is written here, not with what `{}` saved", node.function);
    let labels = vec![
        Label { span: node.span, message: format!("`{}` saves it here", node.function) },
        Label { span, message: "and this needs it".to_owned() },
    ];
    report(found, page, Severity::Warning, message, at, labels);
}
