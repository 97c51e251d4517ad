//! `~mask` for integers that are only 0 and 1, if the result is used as a mask.
//!
//! The page has no contract, because the probe could not evaluate one: a real tensor does not show
//! whether `~` computed it. The probe would also have to check every call of the common functions
//! below.

use crate::diagnostic::{Label, Severity};
use crate::python::{Bound, Interp};
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::tensor;
use crate::syntax::Span;
use crate::value::{ArrayKind, Dtype, Size, Value};

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
            "torch.Tensor.__getitem__" | "torch.Tensor.__setitem__" => &[],
            _ => return,
        };
        let flipped = |name: &&str| bound.get(name).as_obj().and_then(|id| tensor(it, id)).and_then(|t| t.past.flipped);
        let Some(flipped) = (if masks.is_empty() { flipped_index(it, bound) } else { masks.iter().find_map(flipped) })
        else {
            return;
        };
        let message =
            "`~` flips all bits of these integers, which are only 0 and 1, so none of the results is 0".to_owned();
        let used = Label { span, message: "the result is used here".to_owned() };
        cx.findings.report(NAME, Severity::Warning, message, flipped, vec![used]);
    }
}

/// The place of a `~` whose result is an index, if the index was probably meant as a mask. This is
/// assumed if the index is of type uint8, which PyTorch treats as a mask, or if its shape equals
/// the first dimensions of the tensor. If the first dimension has size 2, only uint8 is reported:
/// `rows[~sides]` with two rows and int64 `sides` is correct, and selects the other row.
fn flipped_index(it: &Interp<'_>, bound: &Bound) -> Option<Span> {
    let key = bound.get("key");
    let torch_tensor = |value: &Value| tensor(it, value.as_obj()?).filter(|t| t.array == ArrayKind::Torch);
    let bytes = |value: &Value| torch_tensor(value).filter(|t| t.dtype == Some(Dtype::Uint8))?.past.flipped;
    if let Value::Tuple(items) = &key {
        return items.iter().find_map(bytes);
    }
    bytes(&key).or_else(|| {
        let mask = torch_tensor(&key)?;
        let input = bound.get("input");
        let (sizes, all) = (mask.shape.as_ref()?, tensor(it, input.as_obj()?)?.shape.as_ref()?);
        let same = !sizes.is_empty()
            && sizes.len() <= all.len()
            && sizes.iter().zip(all.iter()).all(|(a, b)| a.size.equals(&b.size) == Some(true));
        mask.past.flipped.filter(|_| same && sizes[0].size.equals(&Size::Int(2)) != Some(true))
    })
}
