//! Softmax over the batch axis of a batch from a loader.

use crate::diagnostic::Severity;
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::shapes::batch_taken_for_sequence::{is_batch, made_here};
use crate::rules::trace::tensor;
use crate::value::{Value, dims_text};

const NAME: &str = "softmax-over-batch";
const SOFTMAX: &[&str] = &[
    "torch.softmax",
    "torch.log_softmax",
    "torch.special.softmax",
    "torch.special.log_softmax",
    "torch.nn.functional.softmax",
    "torch.nn.functional.log_softmax",
];

#[derive(Default)]
pub(crate) struct SoftmaxOverBatch;

impl Rule for SoftmaxOverBatch {
    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &*cx.it;
        let span = cx.span;
        if !SOFTMAX.contains(&path.as_str()) {
            return;
        }
        let Some(input) = bound.get("input").as_obj().and_then(|id| tensor(it, id)) else { return };
        let Some(dims) = input.shape.as_deref() else { return };
        let dim = match bound.get("dim") {
            // Without `dim`, PyTorch selects this dimension, with a warning.
            Value::None => Some(usize::from(dims.len() != 3)),
            given => given.as_int().and_then(|dim| {
                let rank = i64::try_from(dims.len()).ok()?;
                usize::try_from(if dim < 0 { dim.checked_add(rank)? } else { dim }).ok()
            }),
        };
        let Some((at, over)) = dim.and_then(|at| Some((at, dims.get(at)?))) else { return };
        let mut others = dims.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, dim)| dim).peekable();
        // Scores with one number per sample, and scores of pairs of samples, are assumed to be
        // normalised over the batch on purpose.
        let on_purpose =
            others.peek().is_none() || others.any(|dim| dim.batch || dim.size.known().is_none_or(|n| n == 1));
        if !is_batch(over) || on_purpose {
            return;
        }
        let message = format!(
            "dimension {at} of {} is the batch: the probabilities of a sample depend on the other samples, and do not \
             sum to 1",
            dims_text(dims)
        );
        cx.findings.report(NAME, Severity::Warning, message, span, made_here(over));
    }
}
