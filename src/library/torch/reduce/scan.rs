//! Cumulative sums and similar functions, differences and integrals along one dimension.

use super::extreme::among;
use super::{Dims, one_dim, reduction};
use crate::library::torch::autocast::raised;
use crate::library::torch::broadcast::{Mix, common_device, result_grad, shape_read};
use crate::library::torch::pointwise::derived;
use crate::library::torch::promotion::{Operand, result_type};
use crate::library::torch::support::{bound_index, give, give_all, operand, refuse_dtype, refuse_rank, tensor_param};
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, Grad, Size, Tensor, Value, counted};

pub(crate) fn register(t: &mut Table) {
    t.listed("torch.", "cumsum cumprod", cumsum);
    t.listed("torch.Tensor.", "cumsum cumprod", cumsum);
    t.listed("torch.", "logcumsumexp", logcumsumexp);
    t.listed("torch.", "cummax cummin", cummax);
    t.listed("torch.", "diff", diff);
    t.family("torch.", "trapezoid trapz cumulative_trapezoid", "y, x=None, *, dx=1, dim=-1", trapezoid);
    t.listed("torch.", "gradient", gradient);
    t.listed("torch.", "renorm", renorm);
}

/// A result with the same shape and another dtype.
fn same_shape(cx: &Cx<'_, '_>, input: &Tensor, dtype: Option<Dtype>) -> Tensor {
    let at = cx.at();
    let mut out = derived(input);
    if dtype != input.dtype {
        out = out.with_dtype(dtype, at);
    }
    out.grad = result_grad(cx, &[("input", input)], dtype);
    out
}

fn cumsum(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    if one_dim(cx, &b.get("dim"), ("input", &input)).is_err() {
        return cx.some_tensor();
    }
    let dtype = match cx.dtype_arg(&b.get("dtype")) {
        Some(given) => given,
        None => raised(cx, &input).map(|d| if d.is_integral() { Dtype::Int64 } else { d }),
    };
    let out = same_shape(cx, &input, dtype);
    give(cx, b, out)
}

fn logcumsumexp(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    if input.dtype.is_some_and(Dtype::is_integral) {
        refuse_dtype(cx, ("input", &input), "takes floating-point or complex numbers only");
        return cx.some_tensor();
    }
    if one_dim(cx, &b.get("dim"), ("input", &input)).is_err() {
        return cx.some_tensor();
    }
    let out = same_shape(cx, &input, input.dtype);
    give(cx, b, out)
}

fn cummax(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let unknown = vec![Tensor::default(); 2];
    let Some(input) = tensor_param(cx, b, "input") else { return cx.outs(unknown) };
    // A 0-d tensor is returned without a comparison.
    if input.dtype.is_some_and(Dtype::is_complex) && input.rank().is_some_and(|rank| rank > 0) {
        refuse_dtype(cx, ("input", &input), "does not take complex numbers");
        return cx.outs(unknown);
    }
    let Ok(dim) = one_dim(cx, &b.get("dim"), ("input", &input)) else { return cx.outs(unknown) };
    let mut values = same_shape(cx, &input, input.dtype);
    among(cx, &input, &mut values);
    let mut indices = same_shape(cx, &input, Some(Dtype::Int64));
    indices.grad = Grad::Off;
    if let Some(size) = dim.and_then(|at| input.shape.as_ref()?.get(at)) {
        let at = cx.at();
        bound_index(&mut indices, &size.size, at);
    }
    give_all(cx, b, vec![values, indices])
}

/// Computes the differences of neighbours `n` times. Each time, the dimension gets shorter by one.
fn diff(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let named = ("input", &input);
    let n = b.get("n");
    if n.as_int().is_some_and(|n| n < 0) {
        let message = format!("`n` is {}: it must not be negative", n.as_int().unwrap_or(-1));
        cx.reject(RejectKind::Value, message, vec![("`n` is given here".to_owned(), b.span("n"))]);
        return cx.some_tensor();
    }
    if input.rank() == Some(0) {
        refuse_rank(cx, named, "at least one dimension");
        return cx.some_tensor();
    }
    let Ok(dim) = one_dim(cx, &b.get("dim"), named) else { return cx.some_tensor() };
    let mut out = same_shape(cx, &input, input.dtype);
    let mut length = dim.and_then(|at| input.shape.as_ref()?.get(at)).map(|d| d.size.clone());
    let mut operands = vec![Operand::Tensor(Box::new(input.clone()))];
    for name in ["prepend", "append"] {
        let value = b.get(name);
        if value.is_none() {
            continue;
        }
        let extra = cx.tensor(&value);
        let more = match (&extra, dim) {
            (Some(t), Some(at)) if t.rank() == input.rank() => t.shape.as_ref().and_then(|s| s.get(at)).cloned(),
            // A 0-d tensor adds one element to each row.
            (Some(t), _) if t.rank() == Some(0) => Some(Dim::int(1)),
            _ => None,
        };
        length = length.zip(more).map(|(a, b)| a.add(&b.size));
        operands.push(operand(cx, &value));
    }
    if n.as_int() == Some(0) {
        // With `n=0`, nothing is prepended or appended.
        return give(cx, b, out);
    }
    if operands.len() > 1 {
        let dtype = result_type(&operands, cx.default_dtype());
        out.dtype = dtype;
    }
    let at = cx.at();
    match (&mut out.shape, dim) {
        (Some(shape), Some(dim)) => {
            let size = match (length, n.as_int()) {
                (Some(length), Some(n)) => {
                    let less = length.sub(&Size::Int(n));
                    match less.known() {
                        Some(k) if k < 0 => Size::Int(0),
                        Some(_) => less,
                        // An unknown length is assumed to be at least 1. If it is less than `n`,
                        // the result is empty.
                        None if n <= 1 => less,
                        None => Size::Unknown,
                    }
                }
                _ => Size::Unknown,
            };
            if let Some(slot) = shape.get_mut(dim) {
                *slot = Dim::new(size, at);
            }
        }
        (Some(shape), None) => shape.iter_mut().for_each(|d| *d = Dim::UNKNOWN),
        _ => {}
    }
    give(cx, b, out)
}

/// The integral along a dimension, or the cumulative integral.
fn trapezoid(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(y) = tensor_param(cx, b, "y") else { return cx.some_tensor() };
    let named = ("y", &y);
    let Ok(dim) = one_dim(cx, &b.get("dim"), named) else { return cx.some_tensor() };
    let spacing = b.get("x");
    let mut operands = vec![Operand::Tensor(Box::new(y.clone()))];
    let x = cx.tensor(&spacing);
    if !spacing.is_none() {
        operands.push(operand(cx, &spacing));
    }
    let default = cx.default_dtype();
    let common = result_type(&operands, default);
    // The sums are halved, which converts integers to floats.
    let dtype = common.and_then(|d| if d.is_integral() { default } else { Some(d) });
    let dims = dim.map_or(Dims::One, |at| Dims::These(vec![at]));
    let simple = spacing.is_none()
        || x.as_ref().is_some_and(|x| x.rank() == Some(1) && y.rank().is_some_and(|r| r > 0) || x.sizes() == y.sizes());
    if let Some(x) = &x {
        common_device(cx, &[named, ("x", x)], Mix::CpuScalars);
    }
    let cumulative = cx.name() == "cumulative_trapezoid";
    let mut out = if cumulative {
        let mut out = same_shape(cx, &y, dtype);
        let at = cx.at();
        if let Some(slot) = dim.and_then(|dim| out.shape.as_mut()?.get_mut(dim)) {
            let less = slot.size.sub(&Size::Int(1));
            *slot = Dim::new(less.known().map_or(less.clone(), |n| Size::Int(n.max(0))), at);
        } else {
            out.shape = None;
        }
        out
    } else {
        reduction(cx, &y, &dims, Some(false), dtype)
    };
    if !simple || y.rank() == Some(0) {
        out.shape = None;
    }
    cx.out(out)
}

/// `gradient`: returns a tensor like the input for each dimension.
fn gradient(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return Value::Unknown };
    let named = ("input", &input);
    if input.dtype.is_some_and(|d| matches!(d, Dtype::Bool | Dtype::Uint8)) {
        refuse_dtype(cx, named, "takes signed numbers only");
        return Value::Unknown;
    }
    let order = b.get("edge_order").as_int();
    if let Some(order) = order
        && order != 1
        && order != 2
    {
        let message = format!("`edge_order` is {order}: 1 and 2 are accepted");
        cx.reject(RejectKind::Value, message, vec![("`edge_order` is given here".to_owned(), b.span("edge_order"))]);
        return Value::Unknown;
    }
    let Ok(dims) = super::dims_of(cx, &b.get("dim"), named) else { return Value::Unknown };
    let axes: Vec<usize> = match (dims, input.rank()) {
        (Dims::All, Some(rank)) => (0..rank).collect(),
        (Dims::These(dims), Some(_)) => dims,
        _ => return Value::Unknown,
    };
    let spacing = b.get("spacing");
    let steps = cx.items(&spacing);
    if let Some(steps) = &steps
        && steps.len() != axes.len()
    {
        let (values, dims) = (counted(steps.len(), "value"), counted(axes.len(), "dimension"));
        let message = format!("`spacing` has {values} for {dims}: the numbers must be equal");
        cx.reject(RejectKind::Value, message, vec![("`spacing` is given here".to_owned(), b.span("spacing"))]);
        return Value::Unknown;
    }
    if let Some(order) = order {
        for at in &axes {
            let size = input.shape.as_ref().and_then(|s| s.get(*at)).map(|d| d.size.clone());
            if let Some(size) = size
                && size.less(&Size::Int(order + 1)) == Some(true)
            {
                let message =
                    format!("dimension {at} has {}: at least {} are needed", counted(&size, "element"), order + 1);
                cx.reject(RejectKind::Shape, message, vec![shape_read(named, Some(*at))]);
                return Value::Unknown;
            }
        }
    }
    let default = cx.default_dtype();
    let plain = spacing.is_none()
        || spacing.number_type().is_some()
        || steps.is_some_and(|s| s.iter().all(|v| v.number_type().is_some()));
    let dtype = input.dtype.filter(|_| plain).and_then(|d| if d.is_integral() { default } else { Some(d) });
    let out = same_shape(cx, &input, dtype);
    let outs = axes.iter().map(|_| out.clone()).collect();
    cx.outs(outs)
}

fn renorm(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let named = ("input", &input);
    if input.rank().is_some_and(|r| r < 2) {
        refuse_rank(cx, named, "at least two dimensions");
        return cx.some_tensor();
    }
    if input.dtype.is_some_and(Dtype::is_integral) {
        refuse_dtype(cx, named, "takes floating-point or complex numbers only");
        return cx.some_tensor();
    }
    if one_dim(cx, &b.get("dim"), named).is_err() {
        return cx.some_tensor();
    }
    for (name, least, open) in [("p", 0.0, true), ("maxnorm", 0.0, false)] {
        if let Some(x) = b.get(name).as_f64()
            && (x < least || open && x == least)
        {
            let message = format!("`{name}` is {x}: it must be {} 0", if open { "above" } else { "at least" });
            cx.reject(RejectKind::Value, message, vec![(format!("`{name}` is given here"), b.span(name))]);
            return cx.some_tensor();
        }
    }
    let dtype = raised(cx, &input);
    let out = same_shape(cx, &input, dtype);
    give(cx, b, out)
}
