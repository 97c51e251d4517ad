//! `torch.masked`: reductions and normalisations that skip the elements where the mask is false.
//! The mask changes values, but not shapes.

use super::pointwise::binary::{Gives, Rule, binary};
use super::reduce::{Dims, dims_of, reduction};
use super::support::{refuse_dtype, tensor_param};
use crate::library::{Cx, Table};
use crate::python::Bound;
use crate::value::{Dtype, Kind, Tensor, Value};

pub(crate) fn register(t: &mut Table) {
    let m = "torch.masked.";
    let reduce = "input, dim=None, *, keepdim=False, dtype=None, mask=None";
    t.family(m, "sum prod", reduce, |cx, b| {
        along(cx, b, |d| Some(if d.is_integral() { Dtype::Int64 } else { d }), false)
    });
    t.family(m, "amax amin argmax argmin logsumexp", reduce, |cx, b| along(cx, b, Some, false));
    t.family(m, "mean", reduce, |cx, b| along(cx, b, Some, true));
    t.family(m, "median", "input, dim=-1, *, keepdim=False, dtype=None, mask=None", |cx, b| along(cx, b, Some, false));
    t.family(m, "norm", "input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None", |cx, b| {
        along(cx, b, |d| Some(d.to_real()), true)
    });
    t.family(
        m,
        "var std",
        "input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None",
        |cx, b| {
            let default = cx.default_dtype();
            along(cx, b, |d| if d.is_integral() { default } else { Some(d) }, false)
        },
    );
    t.family(m, "softmax log_softmax softmin", "input, dim, *, dtype=None, mask=None", |cx, b| same(cx, b, true));
    t.family(m, "normalize", "input, ord, dim, *, eps=1e-12, dtype=None, mask=None", |cx, b| same(cx, b, true));
    t.def("torch.masked.logaddexp", "input, other, *, dtype=None, input_mask=None, other_mask=None", |cx, b| {
        let rule = Rule::tensors(Gives::Common, &[Kind::Bool, Kind::Integral]);
        if b.get("dtype").is_none() { binary(cx, b, rule) } else { cx.some_tensor() }
    });
    t.family(m, "cumsum cumprod", "input, dim, *, dtype=None, mask=None", |cx, b| same(cx, b, false));
}

fn dtype_of(cx: &Cx<'_, '_>, b: &Bound, input: &Tensor) -> (Option<Dtype>, bool) {
    match cx.dtype_arg(&b.get("dtype")) {
        Some(given) => (given, true),
        None => (input.dtype, false),
    }
}

/// A reduction. Integers are rejected if `floats` is true.
fn along(cx: &mut Cx<'_, '_>, b: &Bound, dtype: impl Fn(Dtype) -> Option<Dtype>, floats: bool) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let (have, given) = dtype_of(cx, b, &input);
    if floats && have.is_some_and(Dtype::is_integral) {
        refuse_dtype(cx, ("input", &input), "needs floating-point or complex numbers");
        return cx.some_tensor();
    }
    let Ok(dims) = dims_of(cx, &b.get("dim"), ("input", &input)) else { return cx.some_tensor() };
    let dtype = if given { have.filter(|_| !floats) } else { have.and_then(dtype) };
    let dims = if matches!(dims, Dims::These(ref d) if d.is_empty()) { Dims::All } else { dims };
    let out = reduction(cx, &input, &dims, b.get("keepdim").as_bool(), dtype);
    cx.out(out)
}

/// A normalisation or a cumulative sum or product: the shape stays. Integers are rejected if
/// `floats` is true.
fn same(cx: &mut Cx<'_, '_>, b: &Bound, floats: bool) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let (dtype, _) = dtype_of(cx, b, &input);
    if floats && dtype.is_some_and(Dtype::is_integral) {
        refuse_dtype(cx, ("input", &input), "needs floating-point numbers");
        return cx.some_tensor();
    }
    if super::reduce::one_dim(cx, &b.get("dim"), ("input", &input)).is_err() {
        return cx.some_tensor();
    }
    let at = cx.at();
    let mut out = super::pointwise::derived(&input).with_dtype(dtype, at);
    out.grad = super::broadcast::result_grad(cx, &[("input", &input)], dtype);
    cx.out(out)
}
