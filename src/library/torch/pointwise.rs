//! Elementwise operations.

pub(crate) mod binary;
pub(crate) mod ternary;
pub(crate) mod unary;

use crate::value::{Dtype, Grad, Tensor};

/// A new tensor with the shape, dtype and device of another, but unknown elements. If the other is
/// a leaf that requires grad, the new tensor requires grad, but is not a leaf.
pub(crate) fn derived(input: &Tensor) -> Tensor {
    let mut out = input.clone();
    out.forget_values();
    out.base = None;
    out.version = 0;
    out.writes = 0;
    if out.grad == Grad::Leaf {
        out.grad = Grad::Attached;
    }
    if out.dtype.is_some_and(Dtype::is_integral) {
        out.grad = Grad::Off;
    }
    out
}
