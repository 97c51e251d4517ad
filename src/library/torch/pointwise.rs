//! Elementwise operations.

pub(crate) mod binary;
pub(crate) mod ternary;
pub(crate) mod unary;

use crate::value::{Dtype, Grad, Tensor};

/// A new tensor with the shape, dtype, device and gradient state of another, but unknown elements.
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
