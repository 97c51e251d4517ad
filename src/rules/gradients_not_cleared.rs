//! A step that uses gradients which an earlier step has used already, with more added.
//!
//! Whoever accumulates gradients on purpose clears them between two steps; what is reported
//! was cleared on no path from one step to the next.

use super::trace::{Gradients, Moment, Trace};
use super::watch::{Found, Watching, report};
use crate::diagnostic::{Label, Severity};
use crate::python::Interp;
use crate::syntax::Span;

const NAME: &str = "gradients-not-cleared";

pub fn moment(with: &Watching<'_>, it: &Interp<'_>, trace: &Trace, (moment, span): (&Moment, Span), found: &mut Found) {
    let Moment::Step { optimizer, .. } = moment else { return };
    if it.speculative() || !trace.optimizers.fates(it, *optimizer).contains(&Gradients::Mixed) {
        return;
    }
    let (Some(page), Some(backward)) = (with.rules.find(NAME), trace.optimizers.backward.get()) else { return };
    let message = "gradients are added to those that the last step has used: nothing clears them in between";
    let labels = vec![Label { span, message: "the next step uses their sum".to_owned() }];
    report(found, page, Severity::Error, message.to_owned(), backward, labels);
}
