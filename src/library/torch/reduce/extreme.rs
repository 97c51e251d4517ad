//! Minimum, maximum, median, mode and k-th value, and their indices.

use std::sync::{Arc, LazyLock};

use super::{Dims, dims_of, keepdim, one_dim, reduced_size, reduction, refuse_empty};
use crate::library::torch::broadcast::shape_read;
use crate::library::torch::pointwise::binary::{Gives, Rule, binary};
use crate::library::torch::support::{
    Cast, bound_index, give, give_all, give_all_with, give_with, is_no_tensor, refuse_dtype, tensor_param,
};
use crate::library::{Cx, Table};
use crate::python::{Args, Bound, RejectKind, Sig};
use crate::value::{Dtype, Grad, Kind, Size, Tensor, Type, Value};

/// The overload of `max` and `min` with two tensors.
const TABLE_OF_TWO: &str = "input, other, *, out=None";
static OF_TWO: LazyLock<Arc<Sig>> = LazyLock::new(|| Arc::new(Sig::parse(TABLE_OF_TWO)));

pub(crate) fn register(t: &mut Table) {
    t.family("torch.", "median nanmedian", "input, dim=None, keepdim=False, *, out=None", extreme);
    // `max` and `min` have a second overload, with another tensor (`other`).
    for name in ["max", "min"] {
        t.defs(&format!("torch.{name}"), &["input, dim=None, keepdim=False, *, out=None", TABLE_OF_TWO], extreme);
    }
    t.listed("torch.", "mode", extreme);
    t.listed("torch.", "kthvalue", kthvalue);
    t.listed("torch.", "amax amin", amax);
    t.listed("torch.", "aminmax", aminmax);
    t.listed("torch.", "argmax argmin", argmax);
}

/// Sets the range of a result whose values are elements of the input.
pub(super) fn among(cx: &Cx<'_, '_>, input: &Tensor, out: &mut Tensor) {
    if let Some(range) = &input.range {
        // It is not known which elements are selected, so the bounds need not occur.
        let mut range = range.clone();
        (range.attained, range.certain, range.met) = (false, false, None);
        out.range = Some(range);
        out.range_at = input.range_at.or(cx.at());
    }
}

/// The indices that a reduction along these dimensions returns.
fn indices(cx: &Cx<'_, '_>, input: &Tensor, dims: &Dims, keep: Option<bool>) -> Tensor {
    let mut out = reduction(cx, input, dims, keep, Some(Dtype::Int64));
    out.grad = Grad::Off;
    let at = cx.at();
    bound_index(&mut out, &reduced_size(input, dims), at);
    out
}

fn pair(cx: &mut Cx<'_, '_>) -> Value {
    cx.outs(vec![Tensor::default(), Tensor { dtype: Some(Dtype::Int64), ..Tensor::default() }])
}

/// `max` and similar functions: of all elements, along a dimension (with indices), or of two
/// tensors.
fn extreme(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if b.takes("other") {
        return binary(cx, b, Rule::tensors(Gives::Common, &[Kind::Complex]));
    }
    let dim = b.get("dim");
    let mode = cx.name() == "mode";
    if cx.it.heap.is_tensor(&dim) {
        // The second argument is a tensor that was passed by position: `torch.max(a, b)`.
        let args = Args::positional([b.get("input"), dim], cx.span);
        let named = OF_TWO.bind(&args);
        return binary(cx, named.as_ref().unwrap_or(b), Rule::tensors(Gives::Common, &[Kind::Complex]));
    }
    let Some(input) = tensor_param(cx, b, "input") else {
        return match dim {
            Value::None => cx.some_tensor(),
            Value::Unknown | Value::Open(_) => Value::Unknown,
            _ => pair(cx),
        };
    };
    let named = ("input", &input);
    // `mode` and `kthvalue` return the element of a 0-d tensor without a comparison.
    let takes_single = matches!(cx.name(), "mode" | "kthvalue") && input.rank().is_none_or(|rank| rank == 0);
    if input.dtype.is_some_and(Dtype::is_complex) && !takes_single {
        refuse_dtype(cx, named, "does not take complex numbers");
        return if dim.is_none() { cx.some_tensor() } else { pair(cx) };
    }
    // Without `dim`, `median` accepts an empty bool tensor.
    let is_empty = dim.is_none() && input.numel().known() == Some(0);
    let is_bool = input.dtype == Some(Dtype::Bool) && !is_empty;
    if cx.name().ends_with("median") && is_bool {
        refuse_dtype(cx, named, "does not take bool");
        return if dim.is_none() { cx.some_tensor() } else { pair(cx) };
    }
    if dim.is_none() && !mode {
        if cx.name().len() == 3 && refuse_empty(cx, named, &Dims::All) {
            return cx.some_tensor();
        }
        let mut out = reduction(cx, &input, &Dims::All, Some(false), input.dtype);
        // An empty tensor has a median, too, which is not one of its elements.
        if cx.name().len() == 3 || !input.numel().may_be_zero() {
            among(cx, &input, &mut out);
        }
        return give(cx, b, out);
    }
    if dim.is_unknown() {
        return Value::Unknown;
    }
    if dim.number_type() != Some(Type::Int) && is_no_tensor(cx, &dim) {
        let message = format!("`dim` must be one integer: {} does not take a tuple", cx.name());
        cx.reject(RejectKind::Value, message, vec![("`dim` is given here".to_owned(), b.span("dim"))]);
        return pair(cx);
    }
    let Ok(dims) = dims_of(cx, &dim, named) else { return pair(cx) };
    if refuse_empty(cx, named, &dims) {
        return pair(cx);
    }
    along(cx, b, &input, &dims)
}

/// Values and indices along a dimension.
fn along(cx: &mut Cx<'_, '_>, b: &Bound, input: &Tensor, dims: &Dims) -> Value {
    let mut values = reduction(cx, input, dims, keepdim(b), input.dtype);
    among(cx, input, &mut values);
    let indices = indices(cx, input, dims, keepdim(b));
    give_all(cx, b, vec![values, indices])
}

fn kthvalue(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return pair(cx) };
    let named = ("input", &input);
    // The element of a 0-d tensor is returned without a comparison.
    let compares = input.rank().is_some_and(|rank| rank > 0);
    if compares && input.dtype.is_some_and(|d| d.is_complex() || d == Dtype::Bool) {
        let bools = input.dtype == Some(Dtype::Bool);
        refuse_dtype(cx, named, if bools { "does not take bool tensors" } else { "takes real numbers only" });
        return pair(cx);
    }
    let Ok(dims) = dims_of(cx, &b.get("dim"), named) else { return pair(cx) };
    let size = reduced_size(&input, &dims);
    if let Some(k) = b.get("k").as_int()
        && (k < 1 || size.less(&Size::Int(k)) == Some(true))
    {
        let message = format!("`k` is {k}: it must be between 1 and {size}, the size of the dimension");
        let axis = if let Dims::These(d) = &dims { d.first().copied() } else { None };
        let reads = vec![("`k` is given here".to_owned(), b.span("k")), shape_read(named, axis)];
        cx.reject(RejectKind::Value, message, reads);
        return pair(cx);
    }
    along(cx, b, &input, &dims)
}

fn amax(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let named = ("input", &input);
    if input.dtype.is_some_and(Dtype::is_complex) {
        refuse_dtype(cx, named, "does not take complex numbers");
        return cx.some_tensor();
    }
    let dim = if b.given("dim") || b.open { b.get("dim") } else { Value::None };
    let Ok(dims) = dims_of(cx, &dim, named) else { return cx.some_tensor() };
    if refuse_empty(cx, named, &dims) {
        return cx.some_tensor();
    }
    let mut out = reduction(cx, &input, &dims, keepdim(b), input.dtype);
    among(cx, &input, &mut out);
    give_with(cx, b, out, Cast::Refused)
}

fn aminmax(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let unknown = vec![Tensor::default(); 2];
    let Some(input) = tensor_param(cx, b, "input") else { return cx.outs(unknown) };
    let named = ("input", &input);
    if input.dtype.is_some_and(Dtype::is_complex) {
        refuse_dtype(cx, named, "does not take complex numbers");
        return cx.outs(unknown);
    }
    let Ok(dims) = dims_of(cx, &b.get("dim"), named) else { return cx.outs(unknown) };
    if refuse_empty(cx, named, &dims) {
        return cx.outs(unknown);
    }
    let mut out = reduction(cx, &input, &dims, keepdim(b), input.dtype);
    among(cx, &input, &mut out);
    let other = out.clone();
    give_all_with(cx, b, vec![out, other], Cast::Refused)
}

fn argmax(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let unknown = Tensor { dtype: Some(Dtype::Int64), grad: Grad::Off, ..Tensor::default() };
    let Some(input) = tensor_param(cx, b, "input") else { return cx.out(unknown) };
    let named = ("input", &input);
    if input.dtype.is_some_and(|d| d.is_complex() || d == Dtype::Bool) {
        refuse_dtype(cx, named, "takes real numbers only");
        return cx.out(unknown);
    }
    let dim = b.get("dim");
    if matches!(dim, Value::Tuple(_)) {
        let message = format!("`dim` must be one integer: {} does not take a tuple", cx.name());
        cx.reject(RejectKind::Value, message, vec![("`dim` is given here".to_owned(), b.span("dim"))]);
        return cx.out(unknown);
    }
    // `dim` is one integer, which may be unknown (`Dims::One`), or `None`. An unknown value may be
    // an integer or `None`.
    let dims = match &dim {
        Value::None => Dims::All,
        Value::Unknown | Value::Open(_) => Dims::Unknown,
        _ => match one_dim(cx, &dim, named) {
            Ok(Some(at)) => Dims::These(vec![at]),
            Ok(None) => Dims::One,
            Err(()) => return cx.out(unknown),
        },
    };
    if refuse_empty(cx, named, &dims) {
        return cx.out(unknown);
    }
    let out = indices(cx, &input, &dims, keepdim(b));
    give(cx, b, out)
}
