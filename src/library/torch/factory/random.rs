//! Random tensors: shapes, dtypes and ranges.

use super::SIZED;
use super::options::{Options, dims, finish, option, own_dims};
use crate::library::torch::broadcast::{
    Mix, common_device, common_shape, dtype_read, result_grad, shape_read, shape_text,
};
use crate::library::torch::gather::reject_elements;
use crate::library::torch::{carry, generator};
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, Grad, Range, Size, Tensor, Type, Value, counted};

pub(crate) fn register(t: &mut Table) {
    t.def("torch.rand", SIZED, rand);
    t.def("torch.randn", SIZED, randn);
    t.listed("torch.", "rand_like", rand_like);
    t.listed("torch.", "randn_like", randn_like);
    t.listed("torch.", "randint", randint);
    t.listed("torch.", "randint_like", randint_like);
    t.listed("torch.", "randperm", randperm);
    t.defs(
        "torch.normal",
        &[
            "mean, std, size, *, generator=None, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False",
            "mean, std=1.0, *, generator=None, out=None",
        ],
        normal,
    );
    t.def("torch.bernoulli", "input, p=None, *, generator=None, out=None", bernoulli);
    t.listed("torch.", "poisson", poisson);
    t.listed("torch.", "binomial", binomial);
    t.listed("torch.", "multinomial", multinomial);
}

/// Rejects integer and bool results of functions that draw floats. For a normal distribution
/// (`unit` is false), PyTorch accepts these dtypes if no elements are drawn.
fn floats_only(cx: &mut Cx<'_, '_>, out: &Tensor, unit: bool) -> bool {
    let Some(dtype) = out.dtype.filter(|dtype| dtype.is_integral()) else { return true };
    let message = format!("{} draws floats: it cannot fill a tensor of {dtype}", cx.name());
    let reads = vec![dtype_read(("the result", out))];
    if unit {
        cx.reject(RejectKind::Dtype, message, reads);
    } else {
        reject_elements(cx, out, message, reads);
    }
    false
}

fn with_unit_range(cx: &Cx<'_, '_>, out: &mut Tensor) {
    if out.dtype.is_some_and(Dtype::is_floating) {
        out.range = Some(Range::bounds(0.0, 1.0));
        out.range_at = cx.at();
    }
}

fn drawn(cx: &mut Cx<'_, '_>, b: &Bound, unit: bool) -> Value {
    let shape = own_dims(cx, b);
    let default = cx.default_dtype();
    let options = Options::here(cx, b, default);
    let mut out = options.tensor(shape, cx.at());
    generator::check(cx, b, &out);
    if floats_only(cx, &out, unit) && unit {
        with_unit_range(cx, &mut out);
    }
    super::options::finish_dense(cx, b, out)
}

fn rand(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    drawn(cx, b, true)
}

fn randn(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    drawn(cx, b, false)
}

fn drawn_like(cx: &mut Cx<'_, '_>, b: &Bound, unit: bool) -> Value {
    let input = cx.tensor_arg(b, "input").unwrap_or_default();
    let options = Options::like(cx, b, &input);
    let mut out = options.tensor(input.shape.clone(), input.shape_at);
    generator::check(cx, b, &out);
    if floats_only(cx, &out, unit) && unit {
        with_unit_range(cx, &mut out);
    }
    cx.out(out)
}

fn rand_like(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    drawn_like(cx, b, true)
}

fn randn_like(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    drawn_like(cx, b, false)
}

/// The range of integers in [low, high).
fn between(cx: &mut Cx<'_, '_>, b: &Bound, out: &mut Tensor) {
    let has_low = b.takes("low");
    let low = if has_low { carry::size(cx, &b.get("low")) } else { Size::Int(0) };
    let high = carry::size(cx, &b.get("high"));
    if !has_low && high.known() == Some(0) {
        let message = "`high` is 0, and the second argument is the size: is the size missing?";
        cx.reject(RejectKind::Value, message, Vec::new());
        return;
    }
    if high.sub(&low).known().is_some_and(|n| n <= 0) {
        let message = format!("no integer is at least {low} and less than {high}, so there is nothing to draw");
        cx.reject(RejectKind::Value, message, Vec::new());
        return;
    }
    let (Some(low), Some(high)) = (low.known(), high.known()) else {
        #[expect(clippy::cast_precision_loss, reason = "bounds of a range")]
        if let (Some(low), Size::Expr(_)) = (low.known(), &high) {
            (out.range, out.range_at) = (Some(Range::up_to(low as f64, high)), cx.at());
        }
        return;
    };
    #[expect(clippy::cast_precision_loss, reason = "bounds of a range")]
    let (low, high) = (low as f64, high as f64 - 1.0);
    let outside = out.dtype.and_then(Dtype::bounds).is_some_and(|(lo, hi)| low < lo || high > hi);
    if outside {
        let name = out.dtype.map_or("", Dtype::name);
        let message = format!("{name} cannot hold the numbers {low} to {high}");
        cx.reject(RejectKind::Value, message, Vec::new());
        return;
    }
    out.range = Some(Range::attained(low, high));
    out.range_at = cx.at();
}

fn randint(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if matches!(b.get("size"), Value::Int(_) | Value::Size(_) | Value::Ranged(_) | Value::Any(Type::Int)) {
        cx.reject(RejectKind::Value, "`size` must be a tuple such as `(1,)`", Vec::new());
        return Value::Unknown;
    }
    let shape = dims(cx, b, &[b.get("size")]);
    let options = Options::here(cx, b, Some(Dtype::Int64));
    let mut out = options.tensor(shape, cx.at());
    generator::check(cx, b, &out);
    between(cx, b, &mut out);
    finish(cx, b, out)
}

fn randint_like(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let input = cx.tensor_arg(b, "input").unwrap_or_default();
    let options = Options::like(cx, b, &input);
    let mut out = options.tensor(input.shape.clone(), input.shape_at);
    generator::check(cx, b, &out);
    between(cx, b, &mut out);
    cx.out(out)
}

fn randperm(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let options = Options::here(cx, b, Some(Dtype::Int64));
    let dim = super::options::dim(cx, &b.get("n"));
    super::options::not_negative(cx, "n", &dim.size);
    #[expect(clippy::cast_precision_loss, reason = "bounds of a range")]
    let range = match dim.size.known() {
        Some(n) if n > 0 => Some(carry::claims(Range::bounds(0.0, n as f64 - 1.0), true, true)),
        Some(_) => None,
        None => Some(Range::bounds(0.0, f64::INFINITY)),
    };
    let out = options.tensor(Some(vec![dim]), cx.at()).with_range(range, cx.at());
    generator::check(cx, b, &out);
    finish(cx, b, out)
}

/// `torch.normal`: the shape and dtype come from `mean` and `std` if they are tensors.
fn normal(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if b.takes("size") {
        let shape = dims(cx, b, &[b.get("size")]);
        let default = cx.default_dtype();
        let options = Options::here(cx, b, default);
        let out = options.tensor(shape, cx.at());
        generator::check(cx, b, &out);
        floats_only(cx, &out, false);
        return finish(cx, b, out);
    }
    let (mean, std) = (b.get("mean"), b.get("std"));
    let (m, s) = (cx.tensor(&mean), cx.tensor(&std));
    let unknown = |v: &Value, t: &Option<Tensor>| t.is_none() && v.number_type().is_none();
    if unknown(&mean, &m) || unknown(&std, &s) {
        return cx.some_tensor();
    }
    let named: Vec<(&str, &Tensor)> = m.iter().map(|t| ("mean", t)).chain(s.iter().map(|t| ("std", t))).collect();
    let (shape, shape_at) = common_shape(cx, &named);
    let (device, device_at) = common_device(cx, &named, Mix::CpuScalars);
    let dtype = match (&m, &s) {
        (Some(t), _) => t.dtype,
        (None, Some(t)) => t.dtype,
        _ => None,
    };
    let grad = result_grad(cx, &named, dtype);
    let out = Tensor { shape, shape_at, device, device_at, grad, ..Tensor::default() }.with_dtype(dtype, cx.at());
    generator::check(cx, b, &out);
    if dtype.is_some_and(Dtype::is_integral) {
        floats_only(cx, &out, false);
    }
    finish(cx, b, out)
}

/// Samples with the shape, dtype and device of the parameter tensor; integers are rejected.
fn drawn_from(cx: &mut Cx<'_, '_>, input: &Tensor, range: Range) -> Tensor {
    let mut out = carry::bare(cx, input);
    out.shape.clone_from(&input.shape);
    out.shape_at = input.shape_at;
    if input.dtype.is_some_and(Dtype::is_integral) {
        let message = format!(
            "{} takes probabilities or rates as floats, not {}",
            cx.name(),
            input.dtype.map_or("", Dtype::name)
        );
        cx.reject(RejectKind::Dtype, message, vec![dtype_read(("input", input))]);
    }
    out.range = Some(range);
    out.range_at = cx.at();
    out
}

fn bernoulli(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    generator::check(cx, b, &input);
    let p = b.get("p");
    let range = Range::bounds(0.0, 1.0);
    if !p.is_none() {
        // If `p` is given, the values of `input` are not used.
        let mut out = carry::bare(cx, &input);
        out.shape.clone_from(&input.shape);
        (out.shape_at, out.range, out.range_at) = (input.shape_at, Some(range), cx.at());
        return cx.out(out);
    }
    let out = drawn_from(cx, &input, range);
    finish(cx, b, out)
}

fn poisson(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    generator::check(cx, b, &input);
    let out = drawn_from(cx, &input, Range::bounds(0.0, f64::INFINITY));
    cx.out(out)
}

fn binomial(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (Some(count), Some(prob)) = (cx.tensor_arg(b, "count"), cx.tensor_arg(b, "prob")) else {
        return cx.some_tensor();
    };
    let named = [("count", &count), ("prob", &prob)];
    let (shape, shape_at) = common_shape(cx, &named);
    let (device, device_at) = common_device(cx, &named, Mix::CpuScalars);
    let grad = result_grad(cx, &named, count.dtype);
    let out = Tensor {
        shape,
        shape_at,
        device,
        device_at,
        grad,
        dtype: count.dtype,
        dtype_at: count.dtype_at,
        ..Tensor::default()
    };
    cx.out(out)
}

fn multinomial(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    generator::check(cx, b, &input);
    let samples = carry::size(cx, &b.get("num_samples"));
    let mut out = Tensor { device: input.device, device_at: input.device_at, grad: Grad::Off, ..Tensor::default() }
        .with_dtype(Some(Dtype::Int64), cx.at());
    let rank = input.rank();
    if rank.is_some_and(|r| r == 0 || r > 2) {
        let message =
            format!("the weights are {}: multinomial takes one row of weights or a batch of rows", shape_text(&input));
        cx.reject(RejectKind::Rank, message, vec![shape_read(("input", &input), None)]);
        return cx.out(out);
    }
    if input.dtype.is_some_and(|d| !d.is_floating()) {
        let message = format!("the weights are {}: multinomial takes floats", input.dtype.map_or("", Dtype::name));
        cx.reject(RejectKind::Dtype, message, vec![dtype_read(("input", &input))]);
    }
    let classes = input.dim(-1).map_or(Size::Unknown, |d| d.size.clone());
    if samples.known().is_some_and(|n| n <= 0) {
        cx.reject(RejectKind::Value, format!("the number of samples is {samples}: it must be at least 1"), Vec::new());
    } else if option(b, "replacement").as_bool() == Some(false) && classes.less(&samples) == Some(true) {
        let samples = counted(&samples, "sample");
        let message = format!("{samples} cannot be drawn from {classes} without replacement");
        cx.reject(RejectKind::Value, message, vec![shape_read(("input", &input), rank.map(|r| r.saturating_sub(1)))]);
    }
    // A contract checks for negative weights.
    if input.range.as_ref().is_some_and(|r| r.certain && r.lo() == 0.0 && r.hi() == 0.0) {
        let reads = vec![("`input` gets its values here".to_owned(), input.range_at)];
        cx.reject(RejectKind::Value, "the weights are all 0: there is nothing to draw", reads);
    }
    out.shape = input.shape.as_ref().map(|dims| {
        let mut dims: Vec<Dim> = dims.iter().take(dims.len().saturating_sub(1)).cloned().collect();
        dims.push(Dim::new(samples, cx.at()));
        dims
    });
    out.shape_at = cx.at();
    #[expect(clippy::cast_precision_loss, reason = "bounds of a range")]
    let high = classes.known().map_or(f64::INFINITY, |n| n as f64 - 1.0);
    if high >= 0.0 {
        out = out.with_range(Some(Range::bounds(0.0, high)), cx.at());
    }
    finish(cx, b, out)
}
