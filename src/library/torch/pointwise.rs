//! Operations that work element by element.

pub mod binary;
mod ternary;
mod unary;

use crate::library::Table;
use crate::value::{Dtype, Grad, Tensor};

pub fn register(t: &mut Table) {
    unary::register(t);
    binary::register(t);
    ternary::register(t);
}

/// A new tensor with the shape, dtype, device and gradient state of another, and nothing
/// known of its elements.
pub fn derived(input: &Tensor) -> Tensor {
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
