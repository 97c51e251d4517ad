//! A plain tensor of ids beside the image, in a transform of torchvision's `v2` that moves the
//! image's pixels.
//!
//! The model of the transforms says which tensors it leaves as they are.

use super::watch::{Found, Watching, report};
use crate::diagnostic::{Label, Severity};
use crate::python::{Bound, Interp};
use crate::syntax::Span;
use crate::value::{Data, Sym};

const NAME: &str = "untransformed-plain-mask";
/// The name under which the model of the transforms announces them.
const UNTOUCHED: &str = "torchvision.transforms.v2.Transform.passed_over";

#[derive(Default)]
pub struct UntransformedPlainMask;

impl UntransformedPlainMask {
    pub fn call(
        &self,
        with: &Watching<'_>,
        it: &Interp<'_>,
        (path, bound, span): (Sym, &Bound, Span),
        found: &mut Found,
    ) {
        if path.as_str() != UNTOUCHED {
            return;
        }
        let Some(page) = with.rules.find(NAME) else { return };
        let transform = bound.get("transform");
        let message = format!(
            "{} moves the image and leaves the mask as it is: the mask is a plain tensor",
            transform.as_str().unwrap_or("the transform")
        );
        let made = bound.get("inpt").as_obj().and_then(|id| match it.heap.get(id) {
            Data::Tensor(tensor) => tensor.shape_at.or(tensor.dtype_at),
            _ => None,
        });
        let labels = made.map(|span| Label { span, message: "the mask comes from here".to_owned() });
        report(found, page, Severity::Error, message, span, labels.into_iter().collect());
    }
}
