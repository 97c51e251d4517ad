//! `~mask` for integers that are only 0 and 1, if the result is used as a mask.
//!
//! The page has no contract, because the probe could not check it: the functions below are called
//! all the time, and a real tensor does not show how it was computed.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::tensor;

const NAME: &str = "bits-of-mask-flipped";

#[derive(Default)]
pub(crate) struct BitsOfMaskFlipped;

impl Rule for BitsOfMaskFlipped {
    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &*cx.it;
        let span = cx.span;
        let masks: &[&str] = match path.as_str() {
            "torch.ne" | "torch.not_equal" | "torch.gt" | "torch.greater" | "torch.nonzero" | "torch.Tensor.to"
            | "torch.Tensor.bool" | "torch.Tensor.float" => &["input"],
            "torch.mul" | "torch.multiply" => &["input", "other"],
            "torch.where" => &["condition"],
            "torch.Tensor.__getitem__" | "torch.Tensor.__setitem__" => &["index"],
            _ => return,
        };
        let flipped = |name: &&str| bound.get(name).as_obj().and_then(|id| tensor(it, id)).and_then(|t| t.past.flipped);
        let Some(flipped) = masks.iter().find_map(flipped) else { return };
        let message =
            "`~` flips all bits of these integers, which are only 0 and 1, so none of the results is 0".to_owned();
        let used = Label { span, message: "the result is used as a mask here".to_owned() };
        cx.findings.report(NAME, Severity::Warning, message, flipped, vec![used]);
    }
}
