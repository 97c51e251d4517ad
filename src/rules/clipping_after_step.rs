//! Gradients clipped when the step has used them already.

use super::trace::{Gradients, Trace};
use super::watch::{Found, Watching, report};
use crate::diagnostic::{Label, Severity};
use crate::python::Interp;
use crate::syntax::Span;
use crate::value::Sym;

const NAME: &str = "clipping-after-step";

pub fn call(with: &Watching<'_>, it: &Interp<'_>, trace: &Trace, (path, span): (Sym, Span), found: &mut Found) {
    if !matches!(path.as_str(), "torch.nn.utils.clip_grad_norm_" | "torch.nn.utils.clip_grad_value_")
        || it.speculative()
    {
        return;
    }
    let optimizers = trace.optimizers.all();
    let used = optimizers.iter().all(|id| trace.optimizers.gradients(it, *id) == Some(Gradients::Used));
    let step = optimizers.iter().filter_map(|id| trace.optimizers.known(*id)?.stepped).max();
    let (true, Some(step), Some(page)) = (used, step, with.rules.find(NAME)) else { return };
    let message = "the gradients are clipped after the step that uses them".to_owned();
    let labels = vec![Label { span: step, message: "this has used them as they were".to_owned() }];
    report(found, page, Severity::Error, message, span, labels);
}
