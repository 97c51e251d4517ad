//! Numbers along dimensions: `gradient`, `trapezoid`, and the covariance of rows.

use crate::library::torch::broadcast::{
    Mix, broadcast_pair, common_device, dtype_read, result_grad, shape_read, shape_text,
};
use crate::library::torch::carry;
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, Grad, Size, Tensor, Value, promote};

pub fn register(t: &mut Table) {
    t.def("torch.cov", "input, *, correction=1, fweights=None, aweights=None", cov);
    t.def("torch.corrcoef", "input", cov);
    t.def("torch.gradient", "input, *, spacing=None, dim=None, edge_order=1", gradient);
    t.family("torch.", "trapezoid trapz", "y, x=None, *, dx=None, dim=-1", trapezoid);
    t.def("torch.cumulative_trapezoid", "y, x=None, *, dx=None, dim=-1", trapezoid);
}

/// The dtype of a division's result.
fn divided(cx: &Cx<'_, '_>, dtype: Option<Dtype>) -> Option<Dtype> {
    match dtype {
        Some(d) if d.is_integral() => cx.default_dtype(),
        other => other,
    }
}

fn refuse_bool(cx: &mut Cx<'_, '_>, name: &str, input: &Tensor) -> bool {
    let refused = input.dtype == Some(Dtype::Bool);
    if refused {
        let message = format!("`{name}` is bool: {} takes numbers", cx.name());
        cx.reject(RejectKind::Dtype, message, vec![dtype_read((name, input))]);
    }
    refused
}

fn cov(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    refuse_bool(cx, "input", &input);
    let dims = match input.shape.as_deref() {
        Some([] | [_]) => Some(Vec::new()),
        Some([rows, _]) => Some(vec![rows.clone(), rows.clone()]),
        Some(_) => {
            let message = format!("`input` is {}: {} takes at most 2 dimensions", shape_text(&input), cx.name());
            cx.reject(RejectKind::Rank, message, vec![shape_read(("input", &input), None)]);
            None
        }
        None => None,
    };
    let observations = input.dim(-1).map_or(Size::Int(1), |d| d.size.clone());
    let weights = |cx: &mut Cx<'_, '_>, name: &str, kind: fn(Dtype) -> bool, wants: &str| {
        let Some(w) = cx.tensor_arg(b, name) else { return };
        if let Some(dtype) = w.dtype.filter(|d| !kind(*d)) {
            let message = format!("`{name}` is {dtype}: it must be {wants}");
            cx.reject(RejectKind::Dtype, message, vec![dtype_read((name, &w))]);
        } else if w.rank().is_some_and(|r| r > 1) {
            let message = format!("`{name}` is {}: it must have one dimension", shape_text(&w));
            cx.reject(RejectKind::Rank, message, vec![shape_read((name, &w), None)]);
        } else if input.shape.is_some() && w.shape.is_some() && w.numel().equals(&observations) == Some(false) {
            let message = format!("`{name}` has {} elements for {observations} observations", w.numel());
            cx.reject(
                RejectKind::Shape,
                message,
                vec![shape_read((name, &w), None), shape_read(("input", &input), None)],
            );
        }
    };
    if b.sig.params.iter().any(|p| p.name.as_str() == "fweights") {
        weights(cx, "fweights", |d| d.is_integral() && d != Dtype::Bool, "of an integer type");
        weights(cx, "aweights", Dtype::is_floating, "floating");
    }
    let mut out = carry::bare(cx, &input);
    out.dtype = divided(cx, input.dtype);
    if out.dtype != input.dtype {
        out.dtype_at = cx.at();
    }
    // With weights of a wider type the result is of that type.
    if cx.tensor_arg(b, "aweights").is_some_and(|w| w.dtype != out.dtype) {
        out.dtype = None;
    }
    (out.shape, out.shape_at) = (dims, cx.at());
    out.grad = carry::grad_of(cx, &input, input.dtype);
    cx.out(out)
}

fn gradient(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return Value::Unknown };
    if refuse_bool(cx, "input", &input) {
        return Value::Unknown;
    }
    let dim = b.get("dim");
    let axes = match (&input.shape, &dim) {
        (Some(dims), Value::None) => Ok(Some((0..dims.len()).collect::<Vec<usize>>())),
        (Some(_), given) => carry::axes(cx, std::slice::from_ref(given), &input),
        (None, _) => Ok(None),
    };
    let Ok(Some(axes)) = axes else { return Value::Unknown };
    if carry::distinct(cx, &axes, &input).is_err() {
        return Value::Unknown;
    }
    let order = b.get("edge_order").as_int();
    if order.is_some_and(|o| o != 1 && o != 2) {
        cx.reject(RejectKind::Value, "edge_order must be 1 or 2", Vec::new());
        return Value::Unknown;
    }
    let spacing = b.get("spacing");
    if let Some(items) = cx.items(&spacing)
        && items.len() != axes.len()
    {
        let message = format!("{} spacings are given for {} dimensions", items.len(), axes.len());
        cx.reject(RejectKind::Value, message, Vec::new());
        return Value::Unknown;
    }
    if let (Some(dims), Some(order)) = (&input.shape, order) {
        for axis in &axes {
            let size = dims.get(*axis).map_or(Size::Unknown, |d| d.size.clone());
            if size.less(&Size::Int(order + 1)) == Some(true) {
                let message = format!("dimension {axis} is {size} long: gradient needs at least {} there", order + 1);
                cx.reject(RejectKind::Shape, message, vec![shape_read(("input", &input), Some(*axis))]);
                return Value::Unknown;
            }
        }
    }
    let mut out = carry::bare(cx, &input);
    out.shape.clone_from(&input.shape);
    out.shape_at = input.shape_at;
    out.dtype = divided(cx, input.dtype);
    if !spacing.is_none() && spacing.number_type().is_none() {
        out.dtype = None;
        out.grad = Grad::Unknown;
    }
    let all = axes.iter().map(|_| cx.out(out.clone())).collect();
    Value::tuple(all)
}

/// `trapezoid` drops a dimension, `cumulative_trapezoid` makes it one shorter.
fn trapezoid(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(y) = cx.tensor_arg(b, "y") else { return cx.some_tensor() };
    let given = b.get("x");
    let x = cx.tensor(&given);
    if refuse_bool(cx, "y", &y) || x.as_ref().is_some_and(|x| refuse_bool(cx, "x", x)) {
        return cx.some_tensor();
    }
    if y.rank() == Some(0) {
        cx.reject(RejectKind::Rank, "`y` has no dimensions", vec![shape_read(("y", &y), None)]);
        return cx.some_tensor();
    }
    let Ok(axis) = carry::axis(cx, &b.get("dim"), &y) else { return cx.some_tensor() };
    let cumulative = cx.name().starts_with("cumulative");
    let mut dtype = divided(cx, y.dtype);
    let mut dims = y.shape.clone();
    let mut inputs = vec![("y", &y)];
    if let Some(x) = &x {
        inputs.push(("x", x));
        common_device(cx, &inputs, Mix::CpuScalars);
        dtype = y.dtype.zip(x.dtype).and_then(|(a, b)| promote(a, b)).and_then(|d| divided(cx, Some(d)));
        let (length, points) = (
            axis.and_then(|a| y.shape.as_ref()?.get(a)),
            axis.and_then(|a| match x.rank()? {
                1 => x.dim(0),
                r if Some(r) == y.rank() => x.shape.as_ref()?.get(a),
                _ => None,
            }),
        );
        if let (Some(length), Some(points)) = (length, points)
            && length.size.equals(&points.size) == Some(false)
            && points.size.equals(&Size::Int(1)) == Some(false)
            && length.size.equals(&Size::Int(1)) == Some(false)
        {
            let message = format!("`y` has {} samples along the dimension and `x` has {}", length.size, points.size);
            cx.reject(RejectKind::Shape, message, vec![shape_read(("y", &y), axis), shape_read(("x", x), None)]);
            return cx.some_tensor();
        }
        // The other dimensions broadcast.
        dims = match (dims, &x.shape) {
            (Some(dims), Some(other)) if other.len() > 1 && other.len() <= dims.len() => {
                broadcast_pair(&dims, other).ok().filter(|joined| joined.len() == dims.len())
            }
            (Some(dims), Some(other)) if other.len() <= 1 => Some(dims),
            _ => None,
        };
    } else if !given.is_none() || (!b.get("dx").is_none() && b.get("dx").number_type().is_none()) {
        (dims, dtype) = (None, None);
    }
    let shape = match (dims, axis) {
        (Some(mut dims), Some(axis)) if axis < dims.len() => {
            if cumulative {
                if let Some(slot) = dims.get_mut(axis) {
                    let size = slot.size.sub(&Size::Int(1));
                    let size = if slot.size.known() == Some(0) { Size::Int(0) } else { size };
                    *slot = Dim::new(size, cx.at());
                }
            } else {
                dims.remove(axis);
            }
            Some(dims)
        }
        _ => None,
    };
    let grad = result_grad(cx, &inputs, dtype);
    let out = Tensor { shape, shape_at: cx.at(), device: y.device, device_at: y.device_at, grad, ..Tensor::default() }
        .with_dtype(dtype, cx.at());
    cx.out(out)
}
