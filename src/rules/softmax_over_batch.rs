//! Softmax over the axis that counts the samples of a loader's batch.

use super::batch_taken_for_sequence::{is_batch, made_here};
use super::trace::tensor;
use super::watch::{Found, Watching, report};
use crate::diagnostic::Severity;
use crate::python::{Bound, Interp};
use crate::syntax::Span;
use crate::value::{Sym, Value, dims_text};

const NAME: &str = "softmax-over-batch";
const SOFTMAX: &[&str] = &[
    "torch.softmax",
    "torch.log_softmax",
    "torch.special.softmax",
    "torch.special.log_softmax",
    "torch.nn.functional.softmax",
    "torch.nn.functional.log_softmax",
];

pub fn call(with: &Watching<'_>, it: &Interp<'_>, (path, bound, span): (Sym, &Bound, Span), found: &mut Found) {
    if !SOFTMAX.contains(&path.as_str()) {
        return;
    }
    let Some(input) = bound.get("input").as_obj().and_then(|id| tensor(it, id)) else { return };
    let Some(dims) = input.shape.as_deref() else { return };
    let dim = match bound.get("dim") {
        // What PyTorch guesses, with a warning.
        Value::None => Some(if dims.len() == 3 { 0 } else { 1 }),
        given => given.as_int().and_then(|dim| {
            let rank = i64::try_from(dims.len()).ok()?;
            usize::try_from(if dim < 0 { dim.checked_add(rank)? } else { dim }).ok()
        }),
    };
    let Some((at, over)) = dim.and_then(|at| Some((at, dims.get(at)?))) else { return };
    let mut others = dims.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, dim)| dim).peekable();
    // One score for each sample is weighed over the batch on purpose, and so are all pairs of
    // samples.
    let on_purpose = others.peek().is_none() || others.any(|dim| dim.batch || dim.size.known().is_none_or(|n| n == 1));
    let Some(page) = with.rules.find(NAME).filter(|_| is_batch(over) && !on_purpose) else { return };
    let message = format!(
        "dimension {at} of {} counts the samples of the batch: each sample's share depends on the others, and its own do not sum to 1",
        dims_text(dims)
    );
    report(found, page, Severity::Warning, message, span, made_here(over));
}
