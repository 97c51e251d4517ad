//! A mask in a plain tensor that is passed, together with its image, to a `v2` transform of
//! torchvision that moves pixels.
//!
//! The model of the transforms reports the tensors that a transform does not change.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Call, Context, Rule};
use crate::value::Data;

const NAME: &str = "untransformed-plain-mask";
/// The path of an internal call, which no program makes. The model of the transforms makes it for a
/// mask that a transform does not change.
const UNTOUCHED: &str = "torchvision.transforms.v2.Transform.passed_over";

#[derive(Default)]
pub(crate) struct UntransformedPlainMask;

impl Rule for UntransformedPlainMask {
    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &*cx.it;
        let span = cx.span;
        if path.as_str() != UNTOUCHED {
            return;
        }
        let transform = bound.get("transform");
        let message = format!(
            "{} transforms the image but not the mask, because the mask is a plain tensor",
            transform.as_str().unwrap_or("the transform")
        );
        let made = bound.get("inpt").as_obj().and_then(|id| match it.heap.get(id) {
            Data::Tensor(tensor) => tensor.shape_at.or(tensor.dtype_at),
            _ => None,
        });
        let labels = made.map(|span| Label { span, message: "the mask is created here".to_owned() });
        cx.findings.report(NAME, Severity::Error, message, span, labels.into_iter().collect());
    }
}
