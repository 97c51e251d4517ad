//! Elementwise functions of one tensor.

use super::derived;
use crate::library::torch::autocast::raised;
use crate::library::torch::broadcast::result_grad;
use crate::library::torch::support::{bound, give, map_data, map_values, refuse_dtype, set_range, tensor_param};
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dtype, Grad, Kind, Range, Role, Tensor, Value};

pub(crate) fn register(t: &mut Table) {
    // For integers, these functions return the default dtype.
    t.listed(
        "torch.",
        "acos acosh asin asinh atan atanh arccos arccosh arcsin arcsinh arctan arctanh cos cosh sin sinh sinc tan \
         tanh exp exp2 expm1 log log10 log1p log2 sqrt rsqrt sigmoid reciprocal",
        |cx, b| unary(cx, b, Gives::Float, &[]),
    );
    t.listed("torch.special.", "expit exp2 expm1 log1p sinc", |cx, b| unary(cx, b, Gives::Float, &[]));
    t.listed("torch.", "deg2rad rad2deg digamma erf erfc erfinv i0 lgamma", |cx, b| {
        unary(cx, b, Gives::Float, COMPLEX)
    });
    t.listed(
        "torch.special.",
        "bessel_j0 bessel_j1 bessel_y0 bessel_y1 digamma entr erf erfc erfcx erfinv gammaln i0 i0e i1 i1e log_ndtr \
         modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 ndtr ndtri psi",
        |cx, b| unary(cx, b, Gives::Float, COMPLEX),
    );
    t.listed(
        "torch.special.",
        "airy_ai scaled_modified_bessel_k0 scaled_modified_bessel_k1 spherical_bessel_j0",
        |cx, b| unary(cx, b, Gives::Float, COMPLEX),
    );
    for path in ["torch.logit", "torch.special.logit"] {
        t.listed("", path, |cx, b| unary(cx, b, Gives::Float, COMPLEX));
    }
    for path in ["torch.polygamma", "torch.special.polygamma"] {
        t.listed("", path, polygamma);
    }
    t.listed("torch.Tensor.", "polygamma", polygamma);
    for path in ["torch.mvlgamma", "torch.special.multigammaln"] {
        t.listed("", path, mvlgamma);
    }
    // Functions that keep the dtype.
    t.listed("torch.", "ceil floor trunc fix", |cx, b| unary(cx, b, Gives::Same, BOOL_COMPLEX));
    t.listed("torch.special.", "round", round);
    // The model also handles the overload with `decimals`.
    t.def("torch.round", "input, *, decimals=0, out=None", round);
    t.listed("torch.", "frac", |cx, b| unary(cx, b, Gives::Same, NOT_FLOAT));
    t.listed("torch.", "neg negative positive", |cx, b| unary(cx, b, Gives::Same, BOOL));
    t.listed("torch.", "sgn conj_physical resolve_conj resolve_neg", |cx, b| unary(cx, b, Gives::Same, &[]));
    t.listed("torch.", "sign", |cx, b| unary(cx, b, Gives::Same, COMPLEX));
    t.listed("torch.", "nan_to_num", |cx, b| unary(cx, b, Gives::Same, &[]));
    t.listed("torch.", "bitwise_not", |cx, b| unary(cx, b, Gives::Same, &[Kind::Floating, Kind::Complex]));
    t.listed("torch.", "square", square);
    t.listed("torch.", "abs absolute", |cx, b| unary(cx, b, Gives::Real, &[]));
    t.listed("torch.", "angle", |cx, b| unary(cx, b, Gives::Angle, &[]));
    t.listed("torch.", "isfinite isinf isnan isreal logical_not", |cx, b| unary(cx, b, Gives::Bool, &[]));
    t.listed("torch.", "isneginf isposinf signbit", |cx, b| unary(cx, b, Gives::Bool, COMPLEX));
    // Other functions, some of which return views.
    t.listed("torch.", "real imag conj", part);
    t.listed("torch.", "view_as_real", view_as_real);
    t.listed("torch.", "view_as_complex", view_as_complex);
    t.listed("torch.", "view_as_real_copy", view_as_real);
    t.listed("torch.", "view_as_complex_copy", view_as_complex);
    t.listed("torch.", "frexp", frexp);
    t.listed("torch.", "is_nonzero", |_, _| Value::Any(crate::value::Type::Bool));
}

const BOOL: &[Kind] = &[Kind::Bool];
const COMPLEX: &[Kind] = &[Kind::Complex];
const BOOL_COMPLEX: &[Kind] = &[Kind::Bool, Kind::Complex];
const NOT_FLOAT: &[Kind] = &[Kind::Bool, Kind::Integral, Kind::Complex];

/// The functions that autocast computes in float32 on CUDA.
const RAISED: [&str; 15] = [
    "acos",
    "asin",
    "cosh",
    "erfinv",
    "exp",
    "expm1",
    "log",
    "log10",
    "log1p",
    "log2",
    "reciprocal",
    "rsqrt",
    "sinh",
    "tan",
    "square",
];

/// The dtype of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gives {
    Same,
    /// Integers become floats.
    Float,
    Bool,
    /// Complex numbers become real.
    Real,
    /// Complex numbers become real, integers become floats.
    Angle,
}

/// An elementwise function, applied to the first argument of the call.
pub(super) fn unary(cx: &mut Cx<'_, '_>, b: &Bound, gives: Gives, refuses: &[Kind]) -> Value {
    let Some(name) = b.sig.params.first().map(|p| p.name.as_str()) else { return Value::Unknown };
    let Some(input) = tensor_param(cx, b, name) else { return cx.some_tensor() };
    match result(cx, &input, gives, refuses) {
        Some(out) => give(cx, b, out),
        None => cx.some_tensor(),
    }
}

fn result(cx: &mut Cx<'_, '_>, input: &Tensor, gives: Gives, refuses: &[Kind]) -> Option<Tensor> {
    let kind = input.dtype.map(Dtype::kind);
    if let Some(kind) = kind
        && !matches!(input.dtype, Some(Dtype::Other(_)))
        && refuses.contains(&kind)
    {
        refuse_dtype(cx, ("input", input), why(kind));
        return None;
    }
    let default = cx.default_dtype();
    let have = if RAISED.contains(&cx.name()) { raised(cx, input) } else { input.dtype };
    let dtype = have.filter(|d| !matches!(d, Dtype::Other(_))).and_then(|d| match gives {
        Gives::Same => Some(d),
        Gives::Float if d.is_integral() => default,
        Gives::Float => Some(d),
        Gives::Bool => Some(Dtype::Bool),
        Gives::Real => Some(d.to_real()),
        Gives::Angle if d.is_integral() => default,
        Gives::Angle => Some(d.to_real()),
    });
    let dtype = if gives == Gives::Bool { Some(Dtype::Bool) } else { dtype };
    let at = if dtype == input.dtype { input.dtype_at } else { cx.at() };
    let mut out = derived(input).with_dtype(dtype, at);
    out.grad = result_grad(cx, &[("input", input)], dtype);
    values(cx, input, &mut out);
    Some(out)
}

fn why(kind: Kind) -> &'static str {
    match kind {
        Kind::Bool => "does not take bool",
        Kind::Integral => "does not take integers",
        Kind::Floating => "does not take floating-point numbers",
        Kind::Complex => "does not take complex numbers",
    }
}

/// The effect of the function on the values of the elements.
fn values(cx: &Cx<'_, '_>, input: &Tensor, out: &mut Tensor) {
    let at = cx.at();
    if out.dtype.is_some_and(Dtype::is_complex) || input.dtype.is_some_and(Dtype::is_complex) {
        return;
    }
    if out.dtype == Some(Dtype::Bool) && input.dtype != Some(Dtype::Bool) {
        bound(out, 0.0, 1.0, at);
        return;
    }
    let positive = input.range.as_ref().is_some_and(|r| r.lo() > 0.0);
    match cx.name() {
        "bitwise_not" if input.dtype != Some(Dtype::Bool) => {
            map_values(out, input, at, |x| -1.0 - x);
            let bits = input.range.as_ref().is_some_and(|r| r.lo() >= 0.0 && r.hi() <= 1.0);
            out.past.flipped = at.filter(|_| bits && input.dtype.is_some());
        }
        "neg" | "negative" => map_values(out, input, at, |x| -x),
        "positive" | "conj_physical" | "resolve_conj" | "resolve_neg" => map_values(out, input, at, |x| x),
        "floor" => map_values(out, input, at, f64::floor),
        "ceil" => map_values(out, input, at, f64::ceil),
        "trunc" | "fix" => map_values(out, input, at, f64::trunc),
        "round" => {
            map_values(out, input, at, f64::round_ties_even);
            out.past = input.past.rounded();
        }
        "sign" | "sgn" => {
            bound(out, -1.0, 1.0, at);
            map_values(out, input, at, |x| if x == 0.0 { 0.0 } else { x.signum() });
        }
        "abs" | "absolute" => {
            set_range(out, Some(magnitude(input.range.as_ref())), at);
            map_data(out, input, at, f64::abs);
        }
        "sigmoid" | "expit" => {
            bound(out, 0.0, 1.0, at);
            out.role = Some(Role::Sigmoid);
            out.role_at = at;
        }
        "tanh" | "sin" | "cos" | "erf" => bound(out, -1.0, 1.0, at),
        "erfc" => bound(out, 0.0, 2.0, at),
        "ndtr" => bound(out, 0.0, 1.0, at),
        "exp" | "exp2" => {
            bound(out, 0.0, f64::INFINITY, at);
            let base: f64 = if cx.name() == "exp" { std::f64::consts::E } else { 2.0 };
            set_range(
                out,
                input.range.as_ref().map(|r| approximate(r.map(|x| base.powf(x))).clamp(0.0, f64::INFINITY)),
                at,
            );
            if input.role == Some(Role::LogProbabilities) && cx.name() == "exp" {
                out.role = Some(Role::Probabilities);
                out.role_at = at;
            }
        }
        "sqrt" => {
            bound(out, 0.0, f64::INFINITY, at);
            if input.range.as_ref().is_some_and(|r| r.lo() >= 0.0) {
                set_range(
                    out,
                    input.range.as_ref().map(|r| approximate(r.map(f64::sqrt)).clamp(0.0, f64::INFINITY)),
                    at,
                );
            }
        }
        "log" => {
            if positive {
                set_range(out, input.range.as_ref().map(|r| approximate(r.map(f64::ln))), at);
            }
            if input.role == Some(Role::Probabilities) {
                out.role = Some(Role::LogProbabilities);
                out.role_at = at;
            }
        }
        _ => {}
    }
}

/// Widens bounds, because bounds computed in f64 are only close to those that PyTorch computes.
fn approximate(range: Range) -> Range {
    let wider = |x: f64, by: f64| x + by * (x.abs() * 1e-2 + 1e-6);
    Range::bounds(wider(range.lo(), -1.0), wider(range.hi(), 1.0))
}

/// The range of absolute values.
fn magnitude(range: Option<&Range>) -> Range {
    match range {
        None => Range::bounds(0.0, f64::INFINITY),
        Some(r) if r.lo() >= 0.0 => r.clone(),
        Some(r) if r.hi() <= 0.0 => r.map(|x| -x),
        Some(r) => Range::bounds(0.0, r.hi().max(-r.lo())),
    }
}

fn round(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let decimals = b.get("decimals").as_int();
    // Only floats are accepted with `decimals`.
    let special = cx.path.as_str().starts_with("torch.special.");
    let refuses = match decimals {
        Some(0) if !special => BOOL_COMPLEX,
        Some(_) if b.given("decimals") || special => NOT_FLOAT,
        _ => COMPLEX,
    };
    if decimals == Some(0) {
        return unary(cx, b, Gives::Same, refuses);
    }
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    match result(cx, &input, Gives::Same, refuses) {
        Some(mut out) => {
            out.forget_values();
            give(cx, b, out)
        }
        None => cx.some_tensor(),
    }
}

fn polygamma(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if b.get("n").as_int().is_some_and(|n| n < 0) {
        let message = format!("`n` is {}: polygamma does not take a negative order", b.get("n").as_int().unwrap_or(-1));
        cx.reject(RejectKind::Value, message, vec![("the order is given here".to_owned(), b.span("n"))]);
        return cx.some_tensor();
    }
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    match result(cx, &input, Gives::Float, COMPLEX) {
        Some(out) => give(cx, b, out),
        None => cx.some_tensor(),
    }
}

fn mvlgamma(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if let Some(p) = b.get("p").as_int()
        && p < 1
    {
        let message = format!("`p` is {p}: it must be at least 1");
        cx.reject(RejectKind::Value, message, vec![("`p` is given here".to_owned(), b.span("p"))]);
        return cx.some_tensor();
    }
    unary(cx, b, Gives::Float, COMPLEX)
}

/// `x ** 2`: bool becomes int64.
fn square(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let Some(mut out) = result(cx, &input, Gives::Same, &[]) else { return cx.some_tensor() };
    if input.dtype == Some(Dtype::Bool) {
        out.dtype = Some(Dtype::Int64);
        out.dtype_at = cx.at();
    }
    let at = cx.at();
    if !input.dtype.is_none_or(Dtype::is_complex) {
        set_range(&mut out, Some(magnitude(input.range.as_ref()).map(|x| x * x)), at);
        map_data(&mut out, &input, at, |x| x * x);
    }
    give(cx, b, out)
}

/// `real`, `imag`, `conj`: views of the same memory.
fn part(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let complex = input.dtype.map(Dtype::is_complex);
    if cx.name() == "imag" && complex == Some(false) {
        refuse_dtype(cx, ("input", &input), "takes complex numbers only");
        return cx.some_tensor();
    }
    if cx.name() != "imag" && complex == Some(false) {
        // PyTorch returns the tensor itself.
        return b.get("input");
    }
    let mut out = derived(&input);
    if cx.name() != "conj" {
        out = out.with_dtype(input.dtype.map(Dtype::to_real), cx.at());
    }
    out.grad = result_grad(cx, &[("input", &input)], out.dtype);
    cx.view_of(&b.get("input"), out)
}

fn view_as_real(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    if input.dtype.is_some_and(|d| !d.is_complex()) {
        refuse_dtype(cx, ("input", &input), "takes complex numbers only");
        return cx.some_tensor();
    }
    let mut out = derived(&input).with_dtype(input.dtype.map(Dtype::to_real), cx.at());
    if let Some(shape) = &mut out.shape {
        shape.push(crate::value::Dim::new(crate::value::Size::Int(2), Some(cx.span)));
    }
    out.grad = result_grad(cx, &[("input", &input)], out.dtype);
    if cx.name().ends_with("_copy") { give(cx, b, out) } else { cx.view_of(&b.get("input"), out) }
}

fn view_as_complex(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    if input.dtype.is_some_and(|d| !matches!(d, Dtype::Float16 | Dtype::Float32 | Dtype::Float64 | Dtype::Bfloat16)) {
        refuse_dtype(cx, ("input", &input), "takes half, float or double only");
        return cx.some_tensor();
    }
    let last = input.dim(-1).cloned();
    if let Some(last) = last
        && last.size.equals(&crate::value::Size::Int(2)) == Some(false)
    {
        let message = format!("the last dimension is {}: it must be 2, the real and the imaginary part", last.size);
        let axis = input.rank().and_then(|r| r.checked_sub(1));
        let reads = vec![crate::library::torch::broadcast::shape_read(("input", &input), axis)];
        cx.reject(RejectKind::Shape, message, reads);
        return cx.some_tensor();
    }
    let dtype = input.dtype.filter(|d| *d != Dtype::Bfloat16).map(Dtype::to_complex);
    let mut out = derived(&input).with_dtype(dtype, cx.at());
    if let Some(shape) = &mut out.shape {
        shape.pop();
    }
    out.grad = result_grad(cx, &[("input", &input)], out.dtype);
    if cx.name().ends_with("_copy") { give(cx, b, out) } else { cx.view_of(&b.get("input"), out) }
}

/// The mantissa, and the exponent as int32.
fn frexp(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.outs(vec![Tensor::default(); 2]) };
    let Some(mantissa) = result(cx, &input, Gives::Same, NOT_FLOAT) else {
        return cx.outs(vec![Tensor::default(); 2]);
    };
    let mut exponent = mantissa.clone().with_dtype(Some(Dtype::Int32), cx.at());
    exponent.grad = Grad::Off;
    crate::library::torch::support::give_all(cx, b, vec![mantissa, exponent])
}
