//! Sums, means, products, variances, counts, quantiles.

use super::{Dims, dims_of, keepdim, reduction};
use crate::library::torch::autocast::raised;
use crate::library::torch::broadcast::{Mix, common_device, result_grad, shape_read, shape_text};
use crate::library::torch::support::{bound, give, give_all, refuse_dtype, refuse_rank, tensor_param};
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, Range, Size, Tensor, Value, counted, promote};

pub(crate) fn register(t: &mut Table) {
    t.listed("torch.", "nansum", sum);
    t.family("torch.", "sum", "input, dim=None, keepdim=False, *, dtype=None, out=None", sum);
    t.listed("torch.", "nanmean", mean);
    t.family("torch.", "mean", "input, dim=None, keepdim=False, *, dtype=None, out=None", mean);
    t.def("torch.prod", "input, dim=None, keepdim=False, *, dtype=None, out=None", prod);
    t.def("torch.Tensor.prod", "input, dim=None, keepdim=False, dtype=None", prod);
    for name in ["std", "var", "std_mean", "var_mean"] {
        t.defs(
            &format!("torch.{name}"),
            &[
                "input, dim=None, unbiased=True, keepdim=False, *, out=None",
                "input, dim=None, *, correction=None, keepdim=False, out=None",
            ],
            spread,
        );
    }
    t.listed("torch.", "count_nonzero", count);
    t.def("torch.Tensor.count_nonzero", "input, *dim", count);
    t.listed("torch.", "all any", truth);
    for path in ["torch.logsumexp", "torch.special.logsumexp"] {
        t.listed("", path, logsumexp);
    }
    t.listed("torch.", "quantile nanquantile", quantile);
    t.listed("torch.", "trace", trace);
    t.def("torch.Tensor.sum_to_size", "input, *size", sum_to_size);
    t.listed("torch.", "hash_tensor", |cx, b| simple(cx, b, |_| Some(Dtype::Uint64)));
    t.listed("torch.", "cov", covariance);
    t.listed("torch.", "corrcoef", covariance);
}

/// A reduction over `dim`; `dtype` maps the input's dtype to that of the result.
fn simple(cx: &mut Cx<'_, '_>, b: &Bound, dtype: impl Fn(Dtype) -> Option<Dtype>) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let Ok(dims) = dims_of(cx, &b.get("dim"), ("input", &input)) else { return cx.some_tensor() };
    let out = reduction(cx, &input, &dims, keepdim(b), input.dtype.and_then(dtype));
    give(cx, b, out)
}

/// The dtype of a sum: `dtype=`, if it is given. Otherwise, integers give int64, and autocast may
/// raise a narrow floating dtype.
fn sum_dtype(cx: &Cx<'_, '_>, b: &Bound, input: &Tensor) -> Option<Dtype> {
    match cx.dtype_arg(&b.get("dtype")) {
        Some(given) => given,
        None => raised(cx, input).map(|d| if d.is_integral() { Dtype::Int64 } else { d }),
    }
}

fn sum(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let Ok(dims) = dims_of(cx, &b.get("dim"), ("input", &input)) else { return cx.some_tensor() };
    let dtype = sum_dtype(cx, b, &input);
    let mut out = reduction(cx, &input, &dims, keepdim(b), dtype);
    // The sum of values that are not negative is not negative.
    if input.range.as_ref().is_some_and(|r| r.lo() >= 0.0) && dtype.is_some_and(Dtype::is_floating) {
        let at = cx.at();
        bound(&mut out, 0.0, f64::INFINITY, at);
    }
    give(cx, b, out)
}

fn mean(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let given = cx.dtype_arg(&b.get("dtype"));
    let dtype = given.unwrap_or(input.dtype);
    if let Some(dtype) = dtype.filter(|d| d.is_integral()) {
        if given.is_some() {
            let message = format!("`dtype` is {dtype}, but a mean needs a floating-point or complex dtype");
            cx.reject(RejectKind::Dtype, message, vec![("`dtype` is given here".to_owned(), b.span("dtype"))]);
        } else {
            refuse_dtype(cx, ("input", &input), "needs floating-point or complex numbers");
        }
        return cx.some_tensor();
    }
    let Ok(dims) = dims_of(cx, &b.get("dim"), ("input", &input)) else { return cx.some_tensor() };
    let mut out = reduction(cx, &input, &dims, keepdim(b), dtype);
    inside(cx, &input, &mut out);
    give(cx, b, out)
}

/// Sets the bounds of a result, such as a mean, that lies between the minimum and the maximum of
/// the input.
fn inside(cx: &Cx<'_, '_>, input: &Tensor, out: &mut Tensor) {
    if let Some(range) = &input.range
        && !out.dtype.is_none_or(Dtype::is_complex)
    {
        out.range = Some(Range::bounds(range.lo(), range.hi()));
        out.range_at = cx.at();
    }
}

/// The product over all dimensions, or over one dimension.
fn prod(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let dim = b.get("dim");
    if matches!(dim, Value::Tuple(_)) {
        cx.reject(RejectKind::Value, "`dim` is a tuple: prod takes one dimension", Vec::new());
        return cx.some_tensor();
    }
    let Ok(dims) = dims_of(cx, &dim, ("input", &input)) else { return cx.some_tensor() };
    let dtype = sum_dtype(cx, b, &input);
    let out = reduction(cx, &input, &dims, keepdim(b), dtype);
    give(cx, b, out)
}

/// `std`, `var`, and the functions that also return the mean.
fn spread(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let pair = cx.name().ends_with("_mean");
    let unknown = |cx: &mut Cx<'_, '_>| {
        if pair { cx.outs(vec![Tensor::default(), Tensor::default()]) } else { cx.some_tensor() }
    };
    let Some(input) = tensor_param(cx, b, "input") else { return unknown(cx) };
    if input.dtype.is_some_and(Dtype::is_integral) {
        refuse_dtype(cx, ("input", &input), "needs floating-point or complex numbers");
        return unknown(cx);
    }
    // `std(x, True)`: the second positional argument is `unbiased`.
    let dim = match b.get("dim") {
        Value::Bool(_) => Value::None,
        other => other,
    };
    let Ok(dims) = dims_of(cx, &dim, ("input", &input)) else { return unknown(cx) };
    let mut out = reduction(cx, &input, &dims, keepdim(b), input.dtype.map(Dtype::to_real));
    let at = cx.at();
    bound(&mut out, 0.0, f64::INFINITY, at);
    if !pair {
        return give(cx, b, out);
    }
    let mut mean = reduction(cx, &input, &dims, keepdim(b), input.dtype);
    inside(cx, &input, &mut mean);
    give_all(cx, b, vec![out, mean])
}

fn count(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let dim = match b.sig.star {
        Some(_) => match b.rest_values().as_slice() {
            [] if b.open => Value::Unknown,
            [] => Value::None,
            [one] => one.clone(),
            many => Value::tuple(many.to_vec()),
        },
        None => b.get("dim"),
    };
    let Ok(dims) = dims_of(cx, &dim, ("input", &input)) else { return cx.some_tensor() };
    let mut out = reduction(cx, &input, &dims, Some(false), Some(Dtype::Int64));
    if let Some(n) = super::reduced_size(&input, &dims).known() {
        let at = cx.at();
        #[expect(clippy::cast_precision_loss, reason = "lengths are far below 2^53")]
        bound(&mut out, 0.0, n as f64, at);
    }
    cx.out(out)
}

/// `all` and `any`. The result is bool, or uint8 for a uint8 input. An empty tuple of dimensions
/// reduces no dimension.
fn truth(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else {
        return cx.some_tensor();
    };
    let dim = b.get("dim");
    let Ok(dims) = dims_of(cx, &dim, ("input", &input)) else { return cx.some_tensor() };
    let dims = if dims == Dims::All && !dim.is_none() { Dims::These(Vec::new()) } else { dims };
    let dtype = input.dtype.map(|d| if d == Dtype::Uint8 { d } else { Dtype::Bool });
    let mut out = reduction(cx, &input, &dims, keepdim(b), dtype);
    let at = cx.at();
    bound(&mut out, 0.0, 1.0, at);
    give(cx, b, out)
}

fn logsumexp(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let Ok(dims) = dims_of(cx, &b.get("dim"), ("input", &input)) else { return cx.some_tensor() };
    let default = cx.default_dtype();
    let dtype = raised(cx, &input).and_then(|d| if d.is_integral() { default } else { Some(d) });
    let out = reduction(cx, &input, &dims, keepdim(b), dtype);
    give(cx, b, out)
}

/// The quantiles form a new first dimension, unless `q` is a number.
fn quantile(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let named = ("input", &input);
    if input.dtype.is_some_and(|d| !matches!(d, Dtype::Float32 | Dtype::Float64)) {
        refuse_dtype(cx, named, "takes float or double only");
        return cx.some_tensor();
    }
    let q = b.get("q");
    if let Some(x) = q.as_f64()
        && !(0.0..=1.0).contains(&x)
    {
        let message = format!("`q` is {x}: it must be from 0 to 1");
        cx.reject(RejectKind::Value, message, vec![("`q` is given here".to_owned(), b.span("q"))]);
        return cx.some_tensor();
    }
    let Ok(dims) = dims_of(cx, &b.get("dim"), named) else { return cx.some_tensor() };
    let mut out = reduction(cx, &input, &dims, keepdim(b), input.dtype);
    inside(cx, &input, &mut out);
    if q.number_type().is_none() {
        let Some(levels) = cx.tensor(&q) else {
            out.shape = None;
            return give(cx, b, out);
        };
        if let (Some(a), Some(c)) = (input.dtype, levels.dtype)
            && a != c
        {
            crate::library::torch::support::refuse_mixed(cx, &[named, ("q", &levels)]);
            return cx.some_tensor();
        }
        common_device(cx, &[named, ("q", &levels)], Mix::Strict);
        match (levels.rank(), &levels.shape, &mut out.shape) {
            (Some(0), ..) => {}
            (Some(1), Some(dims), Some(shape)) => {
                if let Some(first) = dims.first() {
                    shape.insert(0, first.clone());
                }
            }
            (Some(_), Some(_), Some(_)) => {
                refuse_rank(cx, ("q", &levels), "a number or a 1-dimensional tensor");
                return cx.some_tensor();
            }
            _ => out.shape = None,
        }
    }
    give(cx, b, out)
}

fn trace(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    if input.rank().is_some_and(|r| r != 2) {
        refuse_rank(cx, ("input", &input), "a matrix");
        return cx.some_tensor();
    }
    let dtype = input.dtype.map(|d| if d.is_integral() { Dtype::Int64 } else { d });
    let out = reduction(cx, &input, &Dims::All, Some(false), dtype);
    cx.out(out)
}

/// `sum_to_size`: the given shape must broadcast to the shape of the input.
fn sum_to_size(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let Some(sizes) = cx.sizes(&b.rest_values()) else {
        let mut out = reduction(cx, &input, &Dims::Unknown, None, input.dtype);
        out.shape = None;
        return cx.out(out);
    };
    if let Some(shape) = &input.shape {
        let fits = sizes.len() <= shape.len()
            && sizes
                .iter()
                .rev()
                .zip(shape.iter().rev())
                .all(|(s, d)| s.known() == Some(1) || s.equals(&d.size) != Some(false));
        if !fits {
            let sizes: Vec<String> = sizes.iter().map(Size::to_string).collect();
            let message = format!(
                "the size is [{}], which does not broadcast to {}, the shape of `input`",
                sizes.join(", "),
                shape_text(&input)
            );
            cx.reject(RejectKind::Shape, message, vec![shape_read(("input", &input), None)]);
            return cx.some_tensor();
        }
    }
    let at = cx.at();
    // If nothing is summed, the tensor is returned unchanged; sums of integers are int64.
    let same = input.sizes().map(|have| have == sizes && !sizes.is_empty());
    let dtype = match (input.dtype, same) {
        (Some(d), Some(false)) if d.is_integral() && input.known_shape().is_some() => Some(Dtype::Int64),
        (Some(d), same) if d.is_integral() && same != Some(true) && d != Dtype::Int64 => None,
        (dtype, _) => dtype,
    };
    let mut out = reduction(cx, &input, &Dims::All, Some(false), dtype).with_shape(sizes, at);
    out.grad = result_grad(cx, &[("input", &input)], input.dtype);
    cx.out(out)
}

/// `cov` and `corrcoef`: rows are variables, columns are observations. The result is a square
/// matrix, or a 0-d tensor if there is only one variable.
fn covariance(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let named = ("input", &input);
    if input.rank().is_some_and(|r| r > 2) {
        refuse_rank(cx, named, "at most two dimensions");
        return cx.some_tensor();
    }
    if input.dtype == Some(Dtype::Bool) {
        refuse_dtype(cx, named, "does not take bool");
        return cx.some_tensor();
    }
    let observations = input.shape.as_ref().map(|s| s.last().map_or(Size::Int(1), |d| d.size.clone()));
    for name in ["fweights", "aweights"] {
        let Some(weights) = cx.tensor(&b.get(name)) else { continue };
        let named = (name, &weights);
        if weights.rank().is_some_and(|r| r > 1) {
            refuse_rank(cx, named, "weights of at most one dimension");
            return cx.some_tensor();
        }
        let wrong = weights.dtype.is_some_and(|d| if name == "fweights" { !d.is_integral() } else { !d.is_floating() });
        if wrong {
            let why = if name == "fweights" { "takes integers here" } else { "takes floating-point numbers here" };
            refuse_dtype(cx, named, why);
            return cx.some_tensor();
        }
        if let Some(n) = &observations
            && weights.numel().equals(n) == Some(false)
        {
            let message =
                format!("`{name}` is {}, but `input` has {}", shape_text(&weights), counted(n, "observation"));
            cx.reject(RejectKind::Shape, message, vec![shape_read(named, None), shape_read(("input", &input), None)]);
            return cx.some_tensor();
        }
        if weights.range.as_ref().is_some_and(|r| r.certain && r.lo() < 0.0) {
            let message = format!("`{name}` holds negative numbers");
            cx.reject(RejectKind::Value, message, vec![(format!("`{name}` gets its values here"), weights.range_at)]);
            return cx.some_tensor();
        }
    }
    let default = cx.default_dtype();
    // Integers are averaged in the default dtype, or in the dtype of the weights.
    let weights = if cx.name() == "cov" { b.get("aweights") } else { Value::None };
    let dtype = match weights {
        Value::None => input.dtype.and_then(|d| if d.is_integral() { default } else { Some(d) }),
        weights => cx.tensor(&weights).and_then(|w| w.dtype).zip(input.dtype).and_then(|(a, d)| promote(a, d)),
    };
    let mut out = reduction(cx, &input, &Dims::All, Some(false), dtype);
    out.shape = match input.shape.as_deref() {
        None => None,
        Some([rows, _]) if rows.size.known() == Some(1) => Some(Vec::new()),
        Some([rows, _]) if rows.size.known().is_none() => None,
        Some([rows, _]) => Some(vec![rows.clone(), rows.clone()]),
        Some(_) => Some(Vec::<Dim>::new()),
    };
    cx.out(out)
}
