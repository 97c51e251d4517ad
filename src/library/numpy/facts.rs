//! Reading arguments as arrays, and broadcasting of shapes.

use std::rc::Rc;

use super::promotion;
use crate::library::Cx;
use crate::library::common::{array, part_of};
use crate::library::torch::broadcast::{device_read, grad_mode};
use crate::library::torch::convert::grad_known;
use crate::python::RejectKind;
use crate::value::{
    ArrayKind, Data, DeviceKind, Dim, Dtype, Grad, Items, Origin, Past, Range, Size, Tensor, Type, Value,
    broadcast_pair, dims_text,
};

/// The elements of larger arrays are not tracked one by one.
pub(super) const MOST_DATA: usize = 4096;

/// The result of `np.asarray(value)`; `None` if the value is not known.
pub(crate) fn as_array(cx: &mut Cx<'_, '_>, value: &Value) -> Option<Tensor> {
    let path = cx.path.as_str();
    if path.strip_prefix("numpy.").is_some_and(|name| CONVERTING.contains(&name)) {
        refuse_unreadable(cx, value);
    }
    as_array_at(cx, value, 6)
}

/// NumPy functions that convert a tensor, or a list of tensors, to an array.
#[rustfmt::skip]
const CONVERTING: &[&str] = &[
    "abs", "absolute", "add", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "argmax",
    "argmin", "argsort", "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "average", "cbrt",
    "ceil", "clip", "concatenate", "cos", "cosh", "count_nonzero", "cumsum", "deg2rad", "degrees", "divide", "dot",
    "equal", "exp", "exp2", "expand_dims", "expm1", "floor", "floor_divide", "fmax", "fmin", "greater", "greater_equal",
    "hstack", "hypot", "interp", "isfinite", "isinf", "isnan", "less", "less_equal", "linalg.norm", "log", "log10",
    "log1p", "log2", "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor", "matmul", "maximum",
    "median", "minimum", "mod", "multiply", "nanmean", "negative", "not_equal", "ones_like", "percentile", "positive",
    "power", "rad2deg", "radians", "ravel", "remainder", "repeat", "reshape", "rint", "round", "sign", "sin", "sinh",
    "sort", "sqrt", "square", "stack", "subtract", "tan", "tanh", "tile", "transpose", "true_divide", "trunc", "unique",
    "vstack", "where", "zeros_like", "all", "amax", "amin", "any", "max", "mean", "min", "prod", "std", "sum", "var",
];

/// NumPy functions that call a method of the argument: `max` and `amax` call `max`. They pass
/// keywords that tensor methods do not accept, so a call with a tensor raises.
const CALLING: &[&str] = &["all", "amax", "amin", "any", "max", "mean", "min", "prod", "std", "sum", "var"];

/// Rejects a tensor, or a list of tensors, that cannot be read as an array.
pub(crate) fn refuse_unreadable(cx: &mut Cx<'_, '_>, value: &Value) {
    let name = cx.name();
    let direct = cx.tensor(value).filter(|t| t.array == ArrayKind::Torch);
    if let Some(tensor) = &direct
        && CALLING.contains(&name)
    {
        let method = name.trim_start_matches('a').replace("ll", "all").replace("ny", "any");
        let message = format!(
            "np.{name} calls `{method}(axis=None, out=None)` of the tensor, which does not accept these arguments"
        );
        cx.reject(RejectKind::Value, message, vec![("the tensor is created here".to_owned(), tensor.shape_at)]);
        return;
    }
    let Some(tensor) = direct.clone().or_else(|| member(cx, value, 4)) else { return };
    let what = match value {
        _ if direct.is_some() => "the tensor",
        Value::Tuple(_) => "a tensor in the tuple",
        _ => "a tensor in the list",
    };
    match tensor.device.filter(|device| device.kind == DeviceKind::Cuda) {
        // The contract of `numpy-of-cuda-tensor` checks these calls.
        Some(_) if direct.is_some() && matches!(name, "array" | "asarray") => {}
        Some(device) => {
            let message = format!("{what} is on {device}, but NumPy can only use host memory");
            cx.reject(RejectKind::Host, message, vec![device_read((what, &tensor))]);
        }
        None if matches!(tensor.grad, Grad::Leaf | Grad::Attached)
            && grad_known(&tensor)
            && grad_mode(cx) == Some(true) =>
        {
            let message = format!("{what} requires grad, so NumPy cannot read it: use detach()");
            cx.reject(RejectKind::Value, message, vec![(format!("{what} is created here"), tensor.shape_at)]);
        }
        None => {}
    }
}

/// The first tensor of a list or tuple of tensors; `None` if the list may be empty.
fn member(cx: &Cx<'_, '_>, value: &Value, depth: u32) -> Option<Tensor> {
    if let Some(tensor) = cx.tensor(value) {
        return Some(tensor).filter(|t| t.array == ArrayKind::Torch);
    }
    let first = match value {
        Value::Tuple(items) => items.first()?.clone(),
        Value::Obj(id) => match cx.it.heap.get(*id) {
            Data::List(Items::Exact(items)) => items.first()?.clone(),
            Data::List(Items::Many(one)) if !cx.it.heap.is_perhaps_empty(value) => one.clone(),
            _ => return None,
        },
        _ => return None,
    };
    (depth > 0).then(|| member(cx, &first, depth - 1)).flatten()
}

fn as_array_at(cx: &mut Cx<'_, '_>, value: &Value, depth: u32) -> Option<Tensor> {
    let at = cx.at();
    if let Some(tensor) = cx.tensor(value) {
        return Some(of_tensor(tensor));
    }
    if let Some(image) = crate::library::pil::as_array(cx, value) {
        return Some(image);
    }
    // Many NumPy functions return a frame for a frame.
    if !crate::library::pandas::is_frame(cx.it, value)
        && let Some(values) = crate::library::pandas::as_array(cx, value)
    {
        return Some(of_tensor(values));
    }
    if let Some(number) = value.number_type() {
        let dtype = match number {
            Type::Bool => Dtype::Bool,
            Type::Int => Dtype::Int64,
            Type::Float => Dtype::Float64,
            _ => Dtype::Complex128,
        };
        let mut out = array(Some(Vec::new()), Some(dtype), at);
        if let Some(x) = value.as_f64() {
            set_data(&mut out, vec![x], at);
        } else if let Some((range, from)) = value.range() {
            out = out.with_range(Some(range), from.or(at));
        }
        return Some(out);
    }
    if depth == 0 {
        return None;
    }
    let items = match value {
        Value::Tuple(items) => Items::Exact(items.to_vec()),
        Value::Obj(id) => match cx.it.heap.get(*id) {
            Data::List(items) => items.clone(),
            Data::Iter(iter) if cx.it.own_type(value) == Some("range") => iter.items.clone(),
            _ => return None,
        },
        _ => return None,
    };
    match items {
        Items::Exact(values) if values.is_empty() => Some(array(Some(vec![Size::Int(0)]), Some(Dtype::Float64), at)),
        Items::Exact(values) => {
            let rows: Vec<Option<Tensor>> = values.iter().map(|v| as_array_at(cx, v, depth - 1)).collect();
            // With an element of unknown type, the result may be an array of objects.
            let rows: Vec<Tensor> = rows.into_iter().collect::<Option<_>>()?;
            stacked(&rows, at)
        }
        Items::Many(element) => {
            let row = as_array_at(cx, &element, depth - 1)?;
            let mut shape = row.shape.clone()?;
            shape.insert(0, cx.fresh_dim("n"));
            // NumPy converts an empty list to a float array.
            let filled = !cx.it.heap.is_perhaps_empty(value);
            let dtype = row.dtype.filter(|dtype| filled || *dtype == Dtype::Float64);
            let mut out = array(None, dtype, at);
            out.shape = Some(shape);
            // Any of the values may be missing, and the list may be empty.
            out.range = row.range.map(|range| if filled { part_of(range) } else { range.of_perhaps_empty() });
            out.range_at = row.range_at;
            Some(out)
        }
    }
}

/// The same elements as a NumPy array.
pub(crate) fn of_tensor(mut tensor: Tensor) -> Tensor {
    tensor.array = ArrayKind::Numpy;
    tensor.wrapper = None;
    tensor.device = None;
    tensor.device_at = None;
    tensor.grad = Grad::Off;
    tensor.base = None;
    tensor.version = 0;
    tensor.writes = 0;
    tensor
}

/// Stacks rows of equal shape.
pub(super) fn stacked(rows: &[Tensor], at: Origin) -> Option<Tensor> {
    let first = rows.first()?;
    let mut dims = first.shape.clone()?;
    let mut dtype = first.dtype;
    for row in rows {
        let shape = row.shape.as_ref()?;
        if shape.len() != dims.len() {
            return None;
        }
        for (dim, other) in dims.iter_mut().zip(shape) {
            match dim.size.equals(&other.size) {
                Some(true) => {}
                Some(false) => return None,
                None => {
                    if dim.size.is_unknown() {
                        *dim = other.clone();
                    }
                }
            }
        }
        dtype = dtype.zip(row.dtype).and_then(|(a, b)| promotion::promote(a, b));
    }
    dims.insert(0, Dim::new(i64::try_from(rows.len()).map_or(Size::Unknown, Size::Int), at));
    let mut out = array(None, dtype, at);
    out.shape = Some(dims);
    out.past = rows.iter().map(|row| row.past).reduce(Past::both).unwrap_or_default();
    let data: Option<Vec<&Rc<[f64]>>> = rows.iter().map(|r| r.data.as_ref()).collect();
    match data {
        Some(parts) if parts.iter().map(|p| p.len()).sum::<usize>() <= MOST_DATA => {
            let all: Vec<f64> = parts.iter().flat_map(|p| p.iter().copied()).collect();
            set_data(&mut out, all, at);
        }
        _ => out = out.with_range(union_of(rows), at),
    }
    Some(out)
}

/// The union of the ranges; `None` if one of them is unknown.
pub(super) fn union_of(parts: &[Tensor]) -> Option<Range> {
    let mut all = parts.iter().map(|p| p.range.clone());
    let first = all.next()??;
    all.try_fold(first, |acc, r| Some(acc.union(&r?)))
}

pub(crate) fn set_data(tensor: &mut Tensor, data: Vec<f64>, at: Origin) {
    tensor.range = Range::of_values(&data);
    tensor.range_at = at;
    tensor.data = Some(Rc::from(data));
}

/// The broadcast shape of two arrays; a mismatch is reported.
pub(super) fn broadcast(cx: &mut Cx<'_, '_>, a: &Tensor, b: &Tensor) -> Option<Vec<Dim>> {
    let (x, y) = (a.shape.as_ref()?, b.shape.as_ref()?);
    let back = match broadcast_pair(x, y) {
        Ok(dims) => return Some(dims),
        Err(back) => back,
    };
    let dim = |dims: &[Dim]| dims.get(dims.len().checked_sub(back)?).cloned();
    let (p, q) = (dim(x)?, dim(y)?);
    let (m, n) = (&p.size, &q.size);
    let message = format!(
        "the arrays have shapes {} and {}: {m} and {n} must be equal, or one of them must be 1",
        shape_text(a),
        shape_text(b)
    );
    let reads = vec![(format!("size {m} is set here"), p.at), (format!("size {n} is set here"), q.at)];
    cx.reject(RejectKind::Shape, message, reads);
    None
}

pub(super) fn shape_text(tensor: &Tensor) -> String {
    tensor.shape.as_deref().map_or_else(|| "[…]".to_owned(), dims_text)
}

/// The sizes in a `shape=` or `size=` argument, which is an integer, or a tuple or list of integers.
pub(super) fn shape_arg(cx: &Cx<'_, '_>, value: &Value) -> Option<Vec<Size>> {
    cx.sizes(std::slice::from_ref(value))
}

/// Rejects an `axis=` that is certainly no integer and no tuple: `np.max(a, b)` for `np.maximum(a, b)`.
pub(super) fn refuse_axis(cx: &mut Cx<'_, '_>, axis: &Value) {
    let kind = match axis {
        Value::Float(_) | Value::Floats(_) | Value::Any(Type::Float) => "a float",
        axis => match cx.it.own_type(axis) {
            Some("list") => "a list",
            _ => match cx.tensor(axis) {
                Some(array) if array.array == ArrayKind::Torch => return,
                Some(array) if array.rank().is_some_and(|rank| rank > 0) => "an array",
                Some(array) if array.rank().is_some() && array.dtype.is_some_and(Dtype::is_floating) => "a float",
                _ => return,
            },
        },
    };
    let message = format!("`axis` must be an integer or a tuple of integers, but it is {kind}");
    cx.reject(RejectKind::Value, message, Vec::new());
}

/// The axes that an `axis=` argument names, in ascending order; `None` if they are not known.
/// `axis=None` means all axes.
pub(super) fn axes(cx: &Cx<'_, '_>, axis: &Value, rank: usize) -> Option<Vec<usize>> {
    if axis.is_none() {
        return Some((0..rank).collect());
    }
    let mut out: Vec<usize> = cx.ints(axis)?.iter().map(|n| index(*n, rank)).collect::<Option<_>>()?;
    out.sort_unstable();
    out.dedup();
    Some(out)
}

/// An axis counted from the front.
pub(super) fn index(axis: i64, rank: usize) -> Option<usize> {
    let signed = i64::try_from(rank).ok()?;
    let at = if axis < 0 { axis.checked_add(signed)? } else { axis };
    usize::try_from(at).ok().filter(|at| *at < rank)
}
