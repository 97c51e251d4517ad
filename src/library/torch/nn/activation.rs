//! Activations, softmax and dropout. Except for `glu`, they keep the shape. They change the range
//! and the role.

use super::facts::{finish, floating_grad, full_dtype, like, put_back};
use crate::library::torch::broadcast::{Named, dtype_read};
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, Range, Role, Size, Tensor, Value, counted};

pub(crate) fn register(t: &mut Table) {
    let f = "torch.nn.functional.";
    t.listed(f, "relu silu mish hardswish hardsigmoid relu6 selu", activation);
    t.listed(f, "relu_ selu_", written);
    t.listed(f, "logsigmoid softsign tanhshrink", activation);
    t.listed(f, "leaky_relu", activation);
    t.listed(f, "leaky_relu_", written);
    t.listed(f, "elu celu", activation);
    t.listed(f, "elu_ celu_", written);
    t.listed(f, "gelu", activation);
    t.listed(f, "hardtanh", hardtanh);
    t.listed(f, "hardtanh_", written);
    t.listed(f, "rrelu", activation);
    t.listed(f, "rrelu_", written);
    t.listed(f, "threshold", activation);
    t.listed(f, "threshold_", written);
    t.listed(f, "softplus", activation);
    t.listed(f, "softshrink", activation);
    t.listed(f, "hardshrink", activation);
    t.listed(f, "prelu", prelu);
    t.listed(f, "glu", glu);
    t.listed(f, "softmax softmin log_softmax", softmax);
    t.listed(f, "gumbel_softmax", gumbel_softmax);
    t.listed(f, "dropout dropout1d dropout2d dropout3d", dropout);
    t.listed(f, "alpha_dropout feature_alpha_dropout", dropout);
    t.listed("torch.", "dropout alpha_dropout feature_dropout feature_alpha_dropout", native_dropout);
    t.alias("torch.nn.functional.sigmoid", "torch.sigmoid").alias("torch.nn.functional.tanh", "torch.tanh");
    for name in ["relu", "selu", "celu", "rrelu", "threshold", "prelu", "hardshrink"] {
        t.alias(&format!("torch.{name}"), &format!("{f}{name}"));
    }
}

/// The range of the result, if it is known: for `relu` and `relu6`, it depends on the range of the
/// input; some other functions have a fixed range.
fn image(name: &str, input: Option<&Range>) -> Option<Range> {
    let positive = |r: &Range| r.clamp(0.0, f64::INFINITY);
    match name.trim_end_matches('_') {
        "relu" => Some(input.map_or(Range::bounds(0.0, f64::INFINITY), positive)),
        "relu6" => Some(input.map_or(Range::bounds(0.0, 6.0), |r| r.clamp(0.0, 6.0))),
        "hardsigmoid" => Some(Range::bounds(0.0, 1.0)),
        "softplus" => Some(Range::bounds(0.0, f64::INFINITY)),
        "logsigmoid" => Some(Range::bounds(f64::NEG_INFINITY, 0.0)),
        "softsign" => Some(Range::bounds(-1.0, 1.0)),
        _ => None,
    }
}

/// Functions that have no kernel for integers and bool.
const FLOAT_ONLY: &[&str] = &[
    "silu",
    "mish",
    "hardswish",
    "hardsigmoid",
    "selu",
    "logsigmoid",
    "leaky_relu",
    "elu",
    "celu",
    "gelu",
    "rrelu",
    "softplus",
    "hardshrink",
    "softshrink",
    "softmax",
    "log_softmax",
    "softmin",
];

/// Rejects integers for functions without an integer kernel, and bool for all functions except
/// `threshold` and `prelu`.
fn check_floating(cx: &mut Cx<'_, '_>, input: &Tensor) {
    let name = cx.name();
    let Some(dtype) = input.dtype else { return };
    let refused = match dtype {
        Dtype::Bool => !matches!(name, "threshold" | "threshold_" | "prelu"),
        _ => dtype.is_integral() && FLOAT_ONLY.contains(&name.trim_end_matches('_')),
    };
    if refused {
        let takes_floats_only = FLOAT_ONLY.contains(&name.trim_end_matches('_'));
        let message = match takes_floats_only {
            true => format!("`input` is {dtype}: {name} takes floating-point tensors"),
            false => format!("`input` is bool, which {name} does not take"),
        };
        cx.reject(RejectKind::Dtype, message, vec![(format!("`input` gets dtype {dtype} here"), input.dtype_at)]);
    }
}

fn activated(cx: &mut Cx<'_, '_>, b: &Bound) -> Option<Tensor> {
    let input = cx.tensor_arg(b, "input")?;
    check_floating(cx, &input);
    let mut out = like(cx, &input);
    if matches!(cx.name(), "softsign" | "tanhshrink") && input.dtype.is_some_and(Dtype::is_integral) {
        out = out.with_dtype(cx.default_dtype(), cx.at());
    }
    let range = image(cx.name(), input.range.as_ref());
    Some(out.with_range(range, cx.at()))
}

fn activation(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    match activated(cx, b) {
        Some(out) => finish(cx, b, out),
        None => cx.some_tensor(),
    }
}

/// `relu_(x)`: returns `x` after an in-place change.
fn written(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let input = b.get("input");
    if let (Some(out), Some(id)) = (activated(cx, b), input.as_obj()) {
        put_back(cx, b, id, out);
    }
    input
}

fn hardtanh(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let range = match (b.get("min_val").as_f64(), b.get("max_val").as_f64()) {
        (Some(lo), Some(hi)) if lo <= hi => {
            Some(input.range.as_ref().map_or(Range::bounds(lo, hi), |r| r.clamp(lo, hi)))
        }
        _ => None,
    };
    let out = like(cx, &input).with_range(range, cx.at());
    finish(cx, b, out)
}

fn prelu(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let mut out = like(cx, &input);
    if let Some(weight) = cx.tensor_arg(b, "weight") {
        super::device::check(cx, &[("input", &input), ("weight", &weight)]);
        check_slopes(cx, &input, &weight);
        out.grad = floating_grad(cx, &[&input, &weight], out.dtype);
    }
    cx.out(out)
}

/// Checks the slopes of `prelu`: one for all channels, or one per channel.
fn check_slopes(cx: &mut Cx<'_, '_>, input: &Tensor, weight: &Tensor) {
    let (Some([slopes]), Some(channels)) = (weight.shape.as_deref(), input.dim(1)) else { return };
    if slopes.size.known().is_some_and(|n| n > 1) && slopes.size.equals(&channels.size) == Some(false) {
        let message = format!(
            "`weight` has {}, but `input` has {}",
            counted(&slopes.size, "slope"),
            counted(&channels.size, "channel")
        );
        let reads = vec![
            super::facts::dim_read("weight", "slope", slopes),
            super::facts::dim_read("input", "channel", channels),
        ];
        cx.reject(RejectKind::Shape, message, reads);
    }
}

/// `glu` halves one dimension.
fn glu(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let mut out = like(cx, &input);
    let Some(dims) = &input.shape else { return cx.out(out) };
    let Ok(at) = cx.dim_index(&b.get("dim"), dims.len(), input.shape_at) else { return cx.out(out) };
    let Some((at, dim)) = at.and_then(|at| Some((at, dims.get(at)?))) else {
        out.shape = Some(vec![Dim::UNKNOWN; dims.len()]);
        return cx.out(out);
    };
    if let Size::Int(n) = dim.size
        && n % 2 != 0
    {
        let message = format!("glu halves dimension {at}, whose length {n} is odd");
        cx.reject(RejectKind::Shape, message, vec![(format!("the dimension gets length {n} here"), dim.at)]);
    }
    let half = dim.size.div_exact(&Size::Int(2)).unwrap_or(Size::Unknown);
    let mut dims = dims.clone();
    if let Some(slot) = dims.get_mut(at) {
        *slot = Dim::new(half, cx.at());
    }
    out.shape = Some(dims);
    out.shape_at = cx.at();
    cx.out(out)
}

/// Checks `dim` of a softmax. Returns `false` only if it is out of range.
fn dim_fits(cx: &mut Cx<'_, '_>, b: &Bound, input: &Tensor) -> bool {
    match input.rank() {
        Some(rank) if !b.get("dim").is_none() => cx.dim_index(&b.get("dim"), rank, input.shape_at).is_ok(),
        _ => true,
    }
}

fn softmax(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else {
        return cx.some_tensor();
    };
    dim_fits(cx, b, &input);
    let mut out = like(cx, &input);
    match cx.dtype_arg(&b.get("dtype")) {
        Some(dtype) => out = out.with_dtype(dtype, cx.at()),
        None => {
            check_floating(cx, &input);
            out.dtype = full_dtype(cx, &input);
        }
    }
    out.grad = floating_grad(cx, &[&input], out.dtype);
    let (role, range) = match cx.name() {
        "log_softmax" => (Role::LogProbabilities, Range::bounds(f64::NEG_INFINITY, 0.0)),
        _ => (Role::Probabilities, Range::bounds(0.0, 1.0)),
    };
    let at = cx.at();
    cx.out(out.with_role(Some(role), at).with_range(Some(range), at))
}

fn gumbel_softmax(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "logits") else { return cx.some_tensor() };
    dim_fits(cx, b, &input);
    let role = match b.get("hard").as_bool() {
        Some(true) => Some(Role::OneHot),
        Some(false) => Some(Role::Probabilities),
        None => None,
    };
    let at = cx.at();
    let mut out = like(cx, &input).with_role(role, at).with_range(Some(Range::bounds(0.0, 1.0)), at);
    out.dtype = full_dtype(cx, &input);
    cx.out(out)
}

fn dropped(cx: &mut Cx<'_, '_>, b: &Bound, input: &Tensor, training: Option<bool>) -> Value {
    let p = b.get("p").as_f64();
    if let Some(p) = p.filter(|p| !(0.0..=1.0).contains(p)) {
        let message = format!("p is {p}: a dropout probability lies between 0 and 1");
        let at = b.span("p");
        cx.reject(RejectKind::Value, message, vec![(format!("p is {p}"), at)]);
    }
    let in_place = b.get("inplace").as_bool() == Some(true);
    // If no element is dropped, PyTorch returns the input itself.
    let empty = input.numel().known() == Some(0);
    if training == Some(false) || p == Some(0.0) || empty {
        return b.get("input");
    }
    // Dropout scales the elements that it keeps.
    let drops = training == Some(true) && p.is_some_and(|p| p > 0.0 && p < 1.0);
    if let Some(dtype) = input.dtype.filter(|dtype| dtype.is_integral() || *dtype == Dtype::Bool)
        && drops
        && input.numel().known().is_some_and(|count| count > 0)
    {
        let named: Named<'_> = ("input", input);
        let message = format!("dropout scales its input, which is {dtype}: it must be floating point");
        cx.reject(RejectKind::Dtype, message, vec![dtype_read(named)]);
    }
    let out = like(cx, input);
    let result = finish(cx, b, out);
    // If it is not known whether dropout drops elements, it may leave the input unchanged.
    if in_place
        && (training.is_none() || p.is_none())
        && let Some(id) = result.as_obj()
    {
        cx.it.heap.update_tensor(id, |t| t.unsure = true);
    }
    result
}

fn dropout(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    dropped(cx, b, &input, b.get("training").as_bool())
}

fn native_dropout(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    dropped(cx, b, &input, b.get("train").as_bool())
}
