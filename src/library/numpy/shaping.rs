//! Functions that reshape, join and split arrays.

use super::both;
use super::facts::{as_array, index, shape_text, stacked, union_of};
use super::{promotion, reversed};
use crate::library::common::{array, part_of};
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Data, Dim, Items, Range, Size, Tensor, Value, counted};

pub(crate) fn register(t: &mut Table) {
    t.def("numpy.reshape", "a, shape, order='C', **kwargs", |cx, b| reshape(cx, &b.get("a"), &[b.get("shape")]));
    t.def("numpy.ndarray.reshape", "a, *shape, order='C', **kwargs", |cx, b| {
        if b.open {
            return forget_shape(cx, &b.get("a"));
        }
        reshape(cx, &b.get("a"), &b.rest_values())
    });
    both(t, "ravel", "a, order='C'", |cx, b| reshape(cx, &b.get("a"), &[Value::Int(-1)]));
    t.def("numpy.ndarray.flatten", "a, order='C'", |cx, b| reshape(cx, &b.get("a"), &[Value::Int(-1)]));
    t.def("numpy.transpose", "a, axes=None", |cx, b| transpose(cx, &b.get("a"), &b.get("axes")));
    t.def("numpy.ndarray.transpose", "a, *axes", |cx, b| {
        let axes = match b.rest_values().as_slice() {
            [] if b.open => Value::Unknown,
            [] => Value::None,
            [one] if one.as_int().is_none() => one.clone(),
            many => Value::tuple(many.to_vec()),
        };
        transpose(cx, &b.get("a"), &axes)
    });
    both(t, "swapaxes", "a, axis1, axis2", swapaxes);
    t.family("numpy.", "moveaxis rollaxis", "a, source, destination=0", moveaxis);
    t.def("numpy.expand_dims", "a, axis", expand_dims);
    both(t, "squeeze", "a, axis=None", squeeze);
    t.def("numpy.roll", "a, *args, **kwargs", same_shape);
    t.family("numpy.", "flip fliplr flipud", "a, *args, **kwargs", |cx, b| {
        let view = same_shape(cx, b);
        reversed::flipped(cx, &view, &b.get("a"));
        view
    });
    t.def("numpy.rot90", "a, k=1, axes=(0, 1)", |cx, b| {
        let view = forget_shape(cx, &b.get("a"));
        if b.get("k").as_int().is_some_and(|quarters| quarters % 4 != 0) {
            reversed::flipped(cx, &view, &b.get("a"));
        }
        view
    });
    t.family("numpy.", "concatenate", "arrays, axis=0, out=None, **kwargs", |cx, b| {
        let axis = b.get("axis");
        let is_array = cx.tensor(&axis).and_then(|tensor| tensor.rank()).is_some_and(|rank| rank > 0);
        if is_array || matches!(axis, Value::Tuple(_)) {
            let message = "`concatenate` takes the arrays as one list or tuple: the second argument is the axis";
            cx.reject(RejectKind::Value, message.to_owned(), Vec::new());
            return Value::Unknown;
        }
        let parts = parts(cx, &b.get("arrays"));
        concatenate(cx, parts, axis.as_int())
    });
    t.family("numpy.", "vstack row_stack hstack dstack column_stack", "tup, **kwargs", xstack);
    t.def("numpy.stack", "arrays, axis=0, out=None, **kwargs", stack);
    t.def("numpy.append", "arr, values, axis=None", |cx, b| {
        let (x, y) = (as_array(cx, &b.get("arr")), as_array(cx, &b.get("values")));
        let at = cx.at();
        match (x, y, b.get("axis")) {
            (Some(x), Some(y), Value::None) => {
                let dtype = x.dtype.zip(y.dtype).and_then(|(a, b)| promotion::promote(a, b));
                cx.out(array(Some(vec![x.numel().add(&y.numel())]), dtype, at))
            }
            (Some(x), Some(y), axis) => concatenate(cx, Some(vec![x, y]), axis.as_int()),
            _ => Value::Unknown,
        }
    });
    both(t, "repeat", "a, repeats, axis=None", repeat);
    t.def("numpy.tile", "a, reps", tile);
    t.family("numpy.", "triu tril", "a, k=0", |cx, b| {
        let Some(mut a) = as_array(cx, &b.get("a")) else { return Value::Unknown };
        // An array of one dimension is repeated as the rows of a square matrix.
        if let Some([only]) = a.shape.as_deref() {
            a.shape = Some(vec![only.clone(), only.clone()]);
        }
        a.data = None;
        a.base = None;
        a.range = a.range.map(|r| Range::bounds(r.lo().min(0.0), r.hi().max(0.0)));
        cx.out(a)
    });
    t.def("numpy.outer", "a, b, out=None", |cx, b| {
        let (Some(x), Some(y)) = (as_array(cx, &b.get("a")), as_array(cx, &b.get("b"))) else { return Value::Unknown };
        let at = cx.at();
        let dtype = x.dtype.zip(y.dtype).and_then(|(a, b)| promotion::promote(a, b));
        cx.out(array(Some(vec![x.numel(), y.numel()]), dtype, at))
    });
    t.family("numpy.", "pad", "a, pad_width, mode='constant', **kwargs", |cx, b| {
        let Some(input) = as_array(cx, &b.get("a")) else { return Value::Unknown };
        let at = cx.at();
        let mut out = array(None, input.dtype, input.dtype_at);
        let added = input.rank().map(|rank| padding(cx, &b.get("pad_width"), rank));
        out.shape = input
            .shape
            .zip(added)
            .map(|(dims, added)| dims.iter().zip(added).map(|(dim, more)| Dim::new(dim.size.add(&more), at)).collect());
        cx.out(out)
    });
    t.family("numpy.", "split array_split hsplit vsplit", "a, indices_or_sections, axis=0", split);
    t.def("numpy.broadcast_to", "a, shape, subok=False", |cx, b| {
        let Some(mut a) = as_array(cx, &b.get("a")) else { return Value::Unknown };
        let at = cx.at();
        match super::facts::shape_arg(cx, &b.get("shape")) {
            Some(shape) => a = a.with_shape(shape, at),
            None => a.shape = None,
        }
        a.data = None;
        cx.out(a)
    });
    t.def("numpy.atleast_1d", "a", |cx, b| at_least(cx, b, 1));
    t.def("numpy.atleast_2d", "a", |cx, b| at_least(cx, b, 2));
    t.def("numpy.meshgrid", "*xi, **kwargs", |cx, b| {
        let at = cx.at();
        let axes: Vec<Option<Tensor>> = b.rest_values().iter().map(|v| as_array(cx, v)).collect();
        // Keywords other than `indexing` may change the shapes.
        let indexing = b.extra.iter().find(|(name, _)| name.as_str() == "indexing").map(|(_, arg)| arg.value.clone());
        let only = b.extra.len() == usize::from(indexing.is_some());
        let mut dims: Option<Vec<Dim>> = axes.iter().map(|a| Some(Dim::new(a.as_ref()?.numel(), at))).collect();
        match indexing.as_ref().map_or(Some("xy"), Value::as_str) {
            Some("xy") => {
                if let Some([first, second, ..]) = dims.as_deref_mut() {
                    std::mem::swap(first, second);
                }
            }
            Some("ij") => {}
            _ => dims = None,
        }
        let dims = dims.filter(|_| only);
        let grids: Vec<Value> = axes
            .into_iter()
            .map(|axis| {
                let mut out = array(None, axis.as_ref().and_then(|a| a.dtype), at);
                out.shape.clone_from(&dims);
                out = out.with_range(axis.and_then(|a| a.range), at);
                cx.out(out)
            })
            .collect();
        if b.open { Value::Unknown } else { cx.list(grids) }
    });
    both(t, "take", "a, indices, axis=None, **kwargs", |cx, b| forget_shape(cx, &b.get("a")));
    both(t, "diagonal trace", "a, *args, **kwargs", crate::library::common::unknown);
}

/// The number of elements that `pad_width` adds to each dimension.
fn padding(cx: &Cx<'_, '_>, width: &Value, rank: usize) -> Vec<Size> {
    let pair = |value: &Value| match cx.ints(value)?.as_slice() {
        [both] => both.checked_mul(2),
        [before, after] => before.checked_add(*after),
        _ => None,
    };
    let size = |n: Option<i64>| n.map_or(Size::Unknown, Size::Int);
    if let Some(items) = cx.items(width).filter(|items| items.iter().all(|v| cx.items(v).is_some())) {
        return match items.as_slice() {
            [only] => vec![size(pair(only)); rank],
            several if several.len() == rank => several.iter().map(|v| size(pair(v))).collect(),
            _ => vec![Size::Unknown; rank],
        };
    }
    vec![size(pair(width)); rank]
}

fn repeat(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(mut a) = as_array(cx, &b.get("a")) else { return Value::Unknown };
    let at = cx.at();
    let times = match b.get("repeats") {
        times if times.number_type().is_some() => cx.size_of(&times),
        _ => Size::Unknown,
    };
    a.shape = match b.get("axis") {
        Value::None => Some(vec![Dim::new(a.numel().mul(&times), at)]),
        axis => a.shape.take().and_then(|mut dims| {
            let i = index(axis.as_int()?, dims.len())?;
            let dim = dims.get_mut(i)?;
            *dim = Dim::new(dim.size.mul(&times), at);
            Some(dims)
        }),
    };
    a.data = None;
    a.base = None;
    a.range = a.range.map(part_of);
    cx.out(a)
}

fn tile(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(mut a) = as_array(cx, &b.get("a")) else { return Value::Unknown };
    let at = cx.at();
    let times = super::facts::shape_arg(cx, &b.get("reps"));
    a.shape = a.shape.take().zip(times).map(|(mut dims, mut times)| {
        while dims.len() < times.len() {
            dims.insert(0, Dim::int(1));
        }
        while times.len() < dims.len() {
            times.insert(0, Size::Int(1));
        }
        dims.iter().zip(&times).map(|(dim, n)| Dim::new(dim.size.mul(n), at)).collect()
    });
    a.data = None;
    a.base = None;
    a.range = a.range.map(part_of);
    cx.out(a)
}

/// A new array with some elements of `value`, in an unknown shape.
fn forget_shape(cx: &mut Cx<'_, '_>, value: &Value) -> Value {
    let Some(mut a) = as_array(cx, value) else { return Value::Unknown };
    a.shape = None;
    a.data = None;
    a.base = None;
    cx.out(a)
}

fn same_shape(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(mut a) = as_array(cx, &b.get("a")) else { return Value::Unknown };
    a.data = None;
    cx.view_of(&b.get("a"), a)
}

fn reshape(cx: &mut Cx<'_, '_>, value: &Value, shape: &[Value]) -> Value {
    let Some(mut a) = as_array(cx, value) else { return Value::Unknown };
    let at = cx.at();
    let Some(mut sizes) = cx.sizes(shape) else {
        a.shape = None;
        a.data = None;
        return cx.view_of(value, a);
    };
    let total = a.numel();
    let (known, holes) = sizes.iter().fold((Size::Int(1), 0), |(n, holes), s| match s.known() {
        Some(k) if k < 0 => (n, holes + 1),
        _ => (n.mul(s), holes),
    });
    if let (Some(have), Some(want)) = (total.known(), known.known()) {
        let fits = if holes == 0 { have == want } else { want != 0 && have % want == 0 };
        if !fits {
            let asked: Vec<String> = sizes.iter().map(Size::to_string).collect();
            let message = format!(
                "an array of shape {} has {}: it cannot be reshaped to [{}]",
                shape_text(&a),
                counted(have, "element"),
                asked.join(", ")
            );
            cx.reject(RejectKind::Shape, message, vec![("the array gets its shape here".to_owned(), a.shape_at)]);
            a.shape = None;
            return cx.view_of(value, a);
        }
    }
    for size in &mut sizes {
        if size.known().is_some_and(|n| n < 0) {
            *size = total.div_exact(&known).unwrap_or(Size::Unknown);
        }
    }
    let out = a.with_shape(sizes, at);
    cx.view_of(value, out)
}

pub(crate) fn transpose(cx: &mut Cx<'_, '_>, value: &Value, axes: &Value) -> Value {
    let Some(mut a) = as_array(cx, value) else { return Value::Unknown };
    a.data = None;
    let order = match (a.rank(), axes) {
        (Some(rank), Value::None) => Some((0..rank).rev().collect::<Vec<_>>()),
        (Some(rank), axes) => cx.ints(axes).and_then(|axes| axes.iter().map(|n| index(*n, rank)).collect()),
        _ => None,
    };
    a.shape = match (a.shape.take(), order) {
        (Some(dims), Some(order)) if dims.len() == order.len() => order.iter().map(|i| dims.get(*i).cloned()).collect(),
        _ => None,
    };
    moved_view(cx, value, a)
}

/// A view of an array in which its axes have other places.
fn moved_view(cx: &mut Cx<'_, '_>, value: &Value, array: Tensor) -> Value {
    let view = cx.view_of(value, array);
    reversed::moved(cx, &view, value);
    view
}

fn swapaxes(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("a");
    let Some(mut a) = as_array(cx, &value) else { return Value::Unknown };
    a.data = None;
    a.shape = a.shape.take().and_then(|mut dims| {
        let i = index(b.get("axis1").as_int()?, dims.len())?;
        let j = index(b.get("axis2").as_int()?, dims.len())?;
        dims.swap(i, j);
        Some(dims)
    });
    moved_view(cx, &value, a)
}

fn moveaxis(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("a");
    let Some(mut a) = as_array(cx, &value) else { return Value::Unknown };
    a.data = None;
    let moved = |mut dims: Vec<Dim>| {
        let from = index(b.get("source").as_int()?, dims.len())?;
        let to = index(b.get("destination").as_int()?, dims.len())?;
        let dim = dims.remove(from);
        dims.insert(to, dim);
        Some(dims)
    };
    a.shape = if cx.name() == "moveaxis" { a.shape.take().and_then(moved) } else { None };
    moved_view(cx, &value, a)
}

fn expand_dims(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("a");
    let Some(mut a) = as_array(cx, &value) else { return Value::Unknown };
    a.shape = a.shape.take().and_then(|mut dims| {
        let at = index(b.get("axis").as_int()?, dims.len() + 1)?;
        dims.insert(at, Dim::int(1));
        Some(dims)
    });
    moved_view(cx, &value, a)
}

fn squeeze(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("a");
    let Some(mut a) = as_array(cx, &value) else { return Value::Unknown };
    let axis = b.get("axis");
    a.shape = a.shape.take().and_then(|dims| {
        if axis.is_none() {
            // The rank depends on whether an unknown length is 1.
            let known: Option<Vec<i64>> = dims.iter().map(|d| d.size.known()).collect();
            let known = known?;
            return Some(dims.into_iter().zip(known).filter(|(_, n)| *n != 1).map(|(d, _)| d).collect());
        }
        let gone = super::facts::axes(cx, &axis, dims.len())?;
        Some(dims.into_iter().enumerate().filter(|(i, _)| !gone.contains(i)).map(|(_, d)| d).collect())
    });
    cx.view_of(&value, a)
}

/// The arrays of a sequence; `None` if their number or one of the arrays is not known.
fn parts(cx: &mut Cx<'_, '_>, sequence: &Value) -> Option<Vec<Tensor>> {
    let items = cx.items(sequence)?;
    items.iter().map(|v| as_array(cx, v)).collect()
}

fn concatenate(cx: &mut Cx<'_, '_>, parts: Option<Vec<Tensor>>, axis: Option<i64>) -> Value {
    let at = cx.at();
    let Some(parts) = parts.filter(|p| !p.is_empty()) else {
        let mut out = array(None, None, at);
        out.shape_at = None;
        return cx.out(out);
    };
    let dtype = parts.iter().map(|p| p.dtype).reduce(|a, b| promotion::promote(a?, b?)).flatten();
    let mut out = array(None, dtype, at).with_range(union_of(&parts), at);
    let ranks: Option<Vec<usize>> = parts.iter().map(Tensor::rank).collect();
    if let (Some(ranks), Some(axis)) = (ranks, axis)
        && let Some(rank) = ranks.first()
        && ranks.iter().all(|r| r == rank)
        && let Some(axis) = index(axis, *rank)
    {
        let mut dims = parts.first().and_then(|p| p.shape.clone()).unwrap_or_default();
        for part in parts.iter().skip(1) {
            for (i, (dim, other)) in dims.iter_mut().zip(part.shape.iter().flatten()).enumerate() {
                if i == axis {
                    *dim = Dim::new(dim.size.add(&other.size), at);
                } else if dim.size.equals(&other.size) == Some(false) {
                    let message = format!(
                        "the arrays have sizes {} and {} along axis {i}: to be joined along axis {axis}, they must be equal",
                        dim.size, other.size
                    );
                    let reads = vec![
                        (format!("size {} is set here", dim.size), dim.at),
                        (format!("size {} is set here", other.size), other.at),
                    ];
                    cx.reject(RejectKind::Shape, message, reads);
                    return cx.out(out);
                } else if dim.size.is_unknown() {
                    *dim = other.clone();
                }
            }
        }
        out.shape = Some(dims);
    }
    cx.out(out)
}

fn xstack(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(mut parts) = parts(cx, &b.get("tup")) else { return concatenate(cx, None, None) };
    let ranks: Option<Vec<usize>> = parts.iter().map(Tensor::rank).collect();
    let Some(ranks) = ranks else { return concatenate(cx, Some(parts), None) };
    let flat = ranks.iter().all(|r| *r == 1);
    let axis = match cx.name() {
        "vstack" | "row_stack" => {
            for part in &mut parts {
                if let Some(shape) = part.shape.as_mut().filter(|s| s.len() == 1) {
                    shape.insert(0, Dim::int(1));
                }
            }
            Some(0)
        }
        "hstack" if flat => Some(0),
        "hstack" if ranks.iter().all(|r| *r >= 2) => Some(1),
        "column_stack" => {
            for part in &mut parts {
                if let Some(shape) = part.shape.as_mut().filter(|s| s.len() == 1) {
                    shape.push(Dim::int(1));
                }
            }
            Some(1)
        }
        _ => None,
    };
    concatenate(cx, Some(parts), axis)
}

fn stack(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let at = cx.at();
    let sequence = b.get("arrays");
    let Some(parts) = parts(cx, &sequence) else {
        // The elements of a list of unknown length have equal shapes: otherwise the call raises. An
        // array of unknown dtype, such as a row of a frame, may hold arrays.
        let is_list = sequence.as_obj().is_some_and(|id| matches!(cx.it.heap.get(id), Data::List(_)));
        let read = as_array(cx, &sequence).filter(|array| is_list || array.dtype.is_some());
        let out = match (read, b.get("axis").as_int()) {
            (Some(out), Some(0)) => out,
            _ => array(None, None, at),
        };
        return cx.out(out);
    };
    let Some(mut out) = stacked(&parts, at) else {
        let out = array(None, None, at);
        return cx.out(out);
    };
    let axis = b.get("axis").as_int().zip(out.rank()).and_then(|(axis, rank)| index(axis, rank));
    // An index along this axis selects one of the arrays, in which the bounds of another one do not occur.
    let ranges: Option<Vec<Range>> = parts.iter().map(|part| part.range.clone()).collect();
    if let Some(ranges) = ranges.filter(|all| all.iter().any(|range| Some(range) != all.first())) {
        let is_last = axis.zip(out.rank()).is_some_and(|(axis, rank)| axis + 1 == rank);
        out.range = out.range.map(|range| if is_last { range.by_column(ranges) } else { range.somewhere() });
    }
    if axis != Some(0) {
        let columns = out.data.take().filter(|_| out.rank() == Some(2)).map(|rows| {
            let width = rows.len() / parts.len().max(1);
            (0..width).flat_map(|i| rows.iter().skip(i).step_by(width).copied().collect::<Vec<f64>>()).collect()
        });
        out.data = columns;
        out.shape = out.shape.take().and_then(|mut dims| {
            let first = dims.first().cloned()?;
            let to = axis?;
            dims.remove(0);
            dims.insert(to, first);
            Some(dims)
        });
    }
    cx.out(out)
}

fn split(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(mut piece) = as_array(cx, &b.get("a")) else { return Value::Unknown };
    let at = cx.at();
    let count = b.get("indices_or_sections");
    piece.data = None;
    let axis = b.get("axis").as_int().filter(|_| !matches!(cx.name(), "hsplit" | "vsplit"));
    let (axis, rank) = (axis, piece.rank());
    let at_index = axis.zip(rank).and_then(|(axis, rank)| index(axis, rank));
    match (&mut piece.shape, at_index) {
        (Some(dims), Some(i)) => {
            if let Some(dim) = dims.get_mut(i) {
                let size = match (cx.name(), count.as_size()) {
                    ("split", Some(n)) => dim.size.div_exact(&n).unwrap_or(Size::Unknown),
                    _ => Size::Unknown,
                };
                *dim = Dim::new(size, at);
            }
        }
        (shape, _) => *shape = None,
    }
    match count.as_int().and_then(|n| usize::try_from(n).ok()) {
        Some(n) if n <= 64 => {
            let pieces = (0..n).map(|_| cx.out(piece.clone())).collect();
            cx.list(pieces)
        }
        _ => {
            let piece = cx.out(piece);
            let list = Items::Many(piece);
            Value::Obj(cx.it.heap.alloc(crate::value::Data::List(list)))
        }
    }
}

fn at_least(cx: &mut Cx<'_, '_>, b: &Bound, rank: usize) -> Value {
    let Some(mut a) = as_array(cx, &b.get("a")) else { return Value::Unknown };
    if let Some(dims) = &mut a.shape {
        while dims.len() < rank {
            dims.insert(0, Dim::int(1));
        }
    }
    cx.out(a)
}
