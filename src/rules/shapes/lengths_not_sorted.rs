//! `pack_padded_sequence` with lengths that nothing sorts.

use crate::diagnostic::Severity;
use crate::rules::rule::{Call, Context, Rule};
use crate::value::Size;

const NAME: &str = "lengths-not-sorted";

/// Texts of code that sorts in decreasing order, or by a key, or that makes batches of one sample.
#[rustfmt::skip]
const SORTS: &[&str] = &[
    "reverse", "descending", "[::-1]", "key=", "sort(-", ", True)", "argsort", "sort_values", "sort_by", "sort_key",
    "sort_within_batch", "flip(", "topk(", "batch_size=1,", "batch_size=1)",
];

#[derive(Default)]
pub(crate) struct LengthsNotSorted;

impl Rule for LengthsNotSorted {
    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        if path.as_str() != "torch.nn.utils.rnn.pack_padded_sequence"
            || bound.get("enforce_sorted").as_bool() != Some(true)
        {
            return;
        }
        let it = &*cx.it;
        // The program makes batches of padded sequences itself, and shuffles them.
        let makes_batches = it.mentions("pad_sequence(") && it.mentions("shuffle=True");
        if !makes_batches || SORTS.iter().any(|text| it.mentions(text)) || it.expects_failure() {
            return;
        }
        let lengths = bound.get("lengths");
        let is_sorted = it.heap.tensor_ref(&lengths).is_some_and(|tensor| {
            let is_one = tensor.dim(0).is_some_and(|count| count.size == Size::Int(1));
            let is_equal = tensor.range.as_ref().is_some_and(|range| range.lo() == range.hi());
            is_one || is_equal || tensor.data.is_some()
        });
        if is_sorted || it.heap.exact_items(&lengths).is_some() {
            return;
        }
        let message = "the lengths must be in decreasing order, but nothing in the program sorts the sequences";
        cx.findings.report(NAME, Severity::Warning, message, cx.span, Vec::new());
    }
}
