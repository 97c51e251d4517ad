//! Operations that work element by element.

use crate::library::{Cx, Table};
use crate::python::Bound;
use crate::value::{Dtype, Tensor, Value};

pub fn register(t: &mut Table) {
    // Integers give floats of the default dtype.
    t.family(
        "torch.",
        "acos acosh asin asinh atan atanh cos cosh sin sinh tan tanh exp exp2 expm1 log log10 log1p log2 \
         sqrt rsqrt sigmoid reciprocal erf erfc erfinv lgamma digamma rad2deg deg2rad logit i0",
        "input, *, out=None",
        unary_float,
    );
}

/// The same shape and device; integers become floats.
fn unary_float(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let dtype = input.dtype.and_then(|d| if d.is_integral() { cx.default_dtype() } else { Some(d) });
    let at = if dtype == input.dtype { input.dtype_at } else { cx.at() };
    let out = derived(&input).with_dtype(dtype, at);
    cx.out(out)
}

/// A new tensor with the shape, dtype, device and gradient state of another, and nothing
/// known of its elements.
pub fn derived(input: &Tensor) -> Tensor {
    let mut out = input.clone();
    out.forget_values();
    out.base = None;
    out.version = 0;
    out.writes = 0;
    if out.grad == crate::value::Grad::Leaf {
        out.grad = crate::value::Grad::Attached;
    }
    if !out.dtype.is_some_and(Dtype::is_floating) && !out.dtype.is_some_and(Dtype::is_complex) {
        out.grad = crate::value::Grad::Off;
    }
    out
}
