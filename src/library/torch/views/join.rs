//! `cat`, `stack` and similar functions: join several tensors into one.

use super::reshape::padded;
use crate::library::torch::broadcast::{Mix, Named, common_device, result_grad, shape_read, shape_text};
use crate::library::torch::carry::{self, Rejected, extents, reshaped};
use crate::library::torch::factory::options;
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{ArrayKind, Data, Dim, Dtype, Grad, Items, Past, Range, Role, Size, Tensor, Type, Value, promote};

pub(crate) fn register(t: &mut Table) {
    t.listed("torch.", "cat concat concatenate", cat);
    t.listed("torch.", "stack", stack);
    t.listed("torch.", "hstack vstack row_stack dstack column_stack", direction_stack);
    t.listed("torch.", "block_diag", block_diag);
}

/// The tensors of a list argument.
enum Given {
    Exact(Vec<Tensor>),
    /// A list of unknown length whose tensors are like this one.
    Many(Box<Tensor>),
    Unknown,
}

fn given(cx: &mut Cx<'_, '_>, value: &Value) -> Result<Given, Rejected> {
    // A tensor without known facts may come from a wrong annotation.
    let known = |t: &Tensor| t.shape.is_some() || t.dtype.is_some();
    if cx.tensor(value).is_some_and(|t| t.array == ArrayKind::Torch && known(&t)) {
        let message = format!("{} takes a tuple or list of tensors, not one tensor", cx.name());
        cx.reject(RejectKind::Value, message, Vec::new());
        return Err(Rejected);
    }
    if let Value::Obj(id) = value
        && let Data::List(Items::Many(element)) | Data::Iter(crate::value::Iter { items: Items::Many(element), .. }) =
            cx.it.heap.get(*id)
    {
        let element = element.clone();
        return Ok(cx.tensor(&element).map_or(Given::Unknown, |t| Given::Many(Box::new(t))));
    }
    let Some(items) = cx.items(value) else { return Ok(Given::Unknown) };
    if items.is_empty() {
        cx.reject(RejectKind::Value, format!("{} is given no tensors", cx.name()), Vec::new());
        return Err(Rejected);
    }
    let wrong = items.iter().position(|v| v.number_type().is_some() || v.is_none() || v.is_text());
    if let Some(at) = wrong {
        cx.reject(
            RejectKind::Value,
            format!("element {at} is not a tensor: {} takes only tensors", cx.name()),
            Vec::new(),
        );
        return Err(Rejected);
    }
    Ok(Given::Exact(items.iter().map(|v| cx.tensor(v).unwrap_or_default()).collect()))
}

/// The common facts of the joined tensors: dtype, device, gradient state, range.
fn common(cx: &mut Cx<'_, '_>, tensors: &[Tensor]) -> Tensor {
    let names = names(tensors.len());
    let named: Vec<Named<'_>> = names.iter().map(String::as_str).zip(tensors).collect();
    let (device, device_at) = common_device(cx, &named, Mix::Strict);
    let mut dtype = tensors.first().and_then(|t| t.dtype);
    for tensor in tensors.iter().skip(1) {
        dtype = dtype.zip(tensor.dtype).and_then(|(a, b)| promote(a, b));
    }
    let dtype_at = tensors.iter().find(|t| t.dtype == dtype).and_then(|t| t.dtype_at).or(cx.at());
    let grad = result_grad(cx, &named, dtype);
    let mut out = Tensor { device, device_at, grad, ..Tensor::default() }.with_dtype(dtype, dtype_at);
    out.range = joined_range(tensors);
    out.range_at = tensors.iter().find_map(|t| t.range_at);
    out.role = tensors.first().and_then(|t| t.role).filter(|role| {
        *role != Role::OneHot && *role != Role::Probabilities && tensors.iter().all(|t| t.role == Some(*role))
    });
    out.role_at = tensors.first().and_then(|t| t.role_at);
    out.past = tensors.iter().map(|t| t.past).reduce(Past::both).unwrap_or_default();
    if out.dtype.is_some_and(Dtype::is_complex) {
        out.range = None;
    }
    out
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("tensors[{i}]")).collect()
}

/// The range of all elements. Its bounds are known to occur if the bounds of all parts occur in
/// every run, or if the ranges are equal and their bounds are known to occur.
fn joined_range(tensors: &[Tensor]) -> Option<Range> {
    let mut ranges = tensors.iter().filter(|t| t.numel().known() != Some(0)).map(|t| t.range.clone());
    let first = ranges.next()??;
    ranges.try_fold(first, |acc, next| {
        let next = next?;
        let alike = acc.parts() == next.parts() || (acc.certain && next.certain);
        let union = acc.union(&next);
        {
            let (attained, certain, met) = (union.attained && alike, union.certain && alike, union.met);
            Some(carry::claims(union, attained, certain).with_met(met))
        }
    })
}

fn cat(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Ok(given) = given(cx, &b.get("tensors")) else { return cx.some_tensor() };
    let dim = b.get("dim");
    let out = match given {
        Given::Unknown => return cx.some_tensor(),
        Given::Many(element) => many_cat(cx, &element, &dim),
        Given::Exact(tensors) => concatenated(cx, &tensors, &dim),
    };
    options::finish(cx, b, out)
}

/// The facts of a concatenation of tensors that are all like `element`.
fn many_cat(cx: &mut Cx<'_, '_>, element: &Tensor, dim: &Value) -> Tensor {
    let mut out = carry::bare(cx, element);
    out.range = element.range.as_ref().map(|r| carry::claims(r.clone(), r.attained, false));
    (out.range_at, out.role, out.role_at) = (element.range_at, element.role, element.role_at);
    out.shape_at = cx.at();
    if element.rank() == Some(0) {
        return out;
    }
    out.shape.clone_from(&element.shape);
    match carry::axis(cx, dim, element) {
        Ok(Some(axis)) => {
            if let Some(slot) = out.shape.as_mut().and_then(|s| s.get_mut(axis)) {
                *slot = Dim::UNKNOWN;
            }
        }
        _ => out.shape = element.rank().map(|rank| vec![Dim::UNKNOWN; rank]),
    }
    out
}

/// Whether a tensor is 1-D without elements: `cat` ignores such tensors.
fn skipped(tensor: &Tensor) -> bool {
    matches!(tensor.shape.as_deref(), Some([only]) if only.size.known() == Some(0))
}

/// Whether `cat` may ignore a tensor.
fn maybe_skipped(tensor: &Tensor) -> bool {
    match tensor.shape.as_deref() {
        None => true,
        Some([only]) => only.size.equals(&Size::Int(0)) != Some(false),
        Some(_) => false,
    }
}

fn concatenated(cx: &mut Cx<'_, '_>, tensors: &[Tensor], dim: &Value) -> Tensor {
    let mut out = common(cx, tensors);
    out.shape_at = cx.at();
    if let Some(at) = tensors.iter().position(|t| t.rank() == Some(0)) {
        let message = format!(
            "tensors[{at}] has no dimensions: {} joins along an existing dimension (torch.stack makes a new one)",
            cx.name()
        );
        let reads = tensors.get(at).map(|t| shape_read(("the tensor", t), None)).into_iter().collect();
        cx.reject(RejectKind::Rank, message, reads);
        return out;
    }
    let names = names(tensors.len());
    let all: Vec<Named<'_>> = names.iter().map(String::as_str).zip(tensors).filter(|(_, t)| !skipped(t)).collect();
    let Some(&first) = all.iter().find(|(_, t)| t.shape.is_some() && !maybe_skipped(t)).or_else(|| all.first()) else {
        out.shape = Some(vec![Dim::new(Size::Int(0), cx.at())]);
        return out;
    };
    // If `cat` may ignore all tensors, it may accept any `dim`, so `dim` is not checked.
    let axis =
        if maybe_skipped(first.1) && first.1.rank() == Some(1) { Ok(Some(0)) } else { carry::axis(cx, dim, first.1) };
    let Ok(axis) = axis else { return out };
    let Some(mut dims) = first.1.shape.clone() else { return out };
    let mut unsure = all.iter().any(|(_, t)| t.shape.is_none());
    let mut length = Size::Int(0);
    for &(name, tensor) in &all {
        let Some(shape) = &tensor.shape else { continue };
        if shape.len() != dims.len() {
            if maybe_skipped(tensor) || maybe_skipped(first.1) {
                unsure = true;
                continue;
            }
            let message = format!(
                "`{}` is {} and `{name}` is {}: all must have the same number of dimensions",
                first.0,
                shape_text(first.1),
                shape_text(tensor)
            );
            cx.reject(RejectKind::Rank, message, vec![shape_read(first, None), shape_read((name, tensor), None)]);
            return out;
        }
        let Some(axis) = axis else { continue };
        for (i, (have, new)) in dims.iter_mut().zip(shape).enumerate() {
            if i == axis {
                length = length.add(&new.size);
            } else if have.size.equals(&new.size) == Some(false) {
                if maybe_skipped(tensor) || maybe_skipped(first.1) {
                    unsure = true;
                    continue;
                }
                let message = format!(
                    "`{}` is {} and `{name}` is {}: to be joined along dimension {axis}, they must have equal sizes in all other dimensions, but {} is not {}",
                    first.0,
                    shape_text(first.1),
                    shape_text(tensor),
                    have.size,
                    new.size
                );
                cx.reject(
                    RejectKind::Shape,
                    message,
                    vec![shape_read(first, Some(i)), shape_read((name, tensor), Some(i))],
                );
                return out;
            } else if have.size.known().is_none() && (new.size.known().is_some() || have.size.is_unknown()) {
                *have = new.clone();
            }
        }
    }
    if unsure && all.len() > 1 && all.iter().all(|(_, t)| maybe_skipped(t)) {
        return out;
    }
    match axis {
        Some(axis) => {
            if let Some(slot) = dims.get_mut(axis) {
                let size = if unsure { Size::Unknown } else { length };
                *slot = if all.len() == 1 && !unsure { slot.clone() } else { Dim::new(size, cx.at()) };
            }
            out.shape = Some(dims);
            join_data(&mut out, &all, axis);
        }
        None => out.shape = Some(vec![Dim::UNKNOWN; dims.len()]),
    }
    out
}

/// Joins the elements along a dimension, if all are known.
fn join_data(out: &mut Tensor, parts: &[Named<'_>], axis: usize) {
    let same = parts.iter().all(|(_, t)| t.dtype == out.dtype);
    let lengths: Option<Vec<usize>> =
        parts.iter().map(|(_, t)| extents(t.shape.as_deref()?)?.get(axis).copied()).collect();
    let (true, Some(lengths), Some(target)) = (same, lengths, out.shape.as_deref().and_then(extents)) else { return };
    if parts.iter().any(|(_, t)| t.data.is_none()) {
        return;
    }
    let data = carry::build(&target, |index| {
        let mut from = index.to_vec();
        let slot = from.get_mut(axis)?;
        for ((_, tensor), length) in parts.iter().zip(&lengths) {
            if *slot < *length {
                return carry::element(tensor, &from);
            }
            *slot = slot.checked_sub(*length)?;
        }
        None
    });
    if let Some(data) = data {
        let at = out.range_at;
        carry::set_data(out, data, at);
    }
}

fn stack(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Ok(given) = given(cx, &b.get("tensors")) else { return cx.some_tensor() };
    let dim = b.get("dim");
    let out = match given {
        Given::Unknown => return cx.some_tensor(),
        Given::Many(element) => {
            let mut out = many_cat(cx, &element, &Value::Int(0));
            out.shape.clone_from(&element.shape);
            insert(cx, &mut out, &dim, Dim::UNKNOWN, &element);
            out
        }
        Given::Exact(tensors) => stacked(cx, &tensors, &dim),
    };
    options::finish(cx, b, out)
}

/// Inserts the new dimension of a stack.
fn insert(cx: &mut Cx<'_, '_>, out: &mut Tensor, dim: &Value, new: Dim, first: &Tensor) -> Option<usize> {
    let rank = out.rank()?;
    match cx.dim_index(dim, rank + 1, first.shape_at) {
        Ok(Some(at)) => {
            out.shape.as_mut()?.insert(at.min(rank), new);
            Some(at)
        }
        Ok(None) => {
            out.shape = Some(vec![Dim::UNKNOWN; rank + 1]);
            None
        }
        Err(()) => {
            out.shape = None;
            None
        }
    }
}

fn stacked(cx: &mut Cx<'_, '_>, tensors: &[Tensor], dim: &Value) -> Tensor {
    let mut out = common(cx, tensors);
    out.shape_at = cx.at();
    let names = names(tensors.len());
    let all: Vec<Named<'_>> = names.iter().map(String::as_str).zip(tensors).collect();
    let Some(&first) = all.iter().find(|(_, t)| t.shape.is_some()) else { return out };
    let Some(mut dims) = first.1.shape.clone() else { return out };
    for &(name, tensor) in &all {
        let Some(shape) = &tensor.shape else { continue };
        let differ =
            shape.len() != dims.len() || shape.iter().zip(&dims).any(|(a, b)| a.size.equals(&b.size) == Some(false));
        if differ {
            let message = format!(
                "`{}` is {} and `{name}` is {}: stacked tensors must have the same shape",
                first.0,
                shape_text(first.1),
                shape_text(tensor)
            );
            cx.reject(RejectKind::Shape, message, vec![shape_read(first, None), shape_read((name, tensor), None)]);
            return out;
        }
        for (have, new) in dims.iter_mut().zip(shape) {
            if have.size.known().is_none() && (new.size.known().is_some() || have.size.is_unknown()) {
                *have = new.clone();
            }
        }
    }
    out.shape = Some(dims);
    let count = i64::try_from(tensors.len()).map_or(Size::Unknown, Size::Int);
    let new = Dim::new(count, cx.at());
    if let Some(axis) = insert(cx, &mut out, dim, new, first.1) {
        let same = tensors.iter().all(|t| t.dtype == out.dtype && t.data.is_some());
        if same && let Some(target) = out.shape.as_deref().and_then(extents) {
            let data = carry::build(&target, |index| {
                let mut from = index.to_vec();
                let which = from.remove(axis.min(from.len().saturating_sub(1)));
                carry::element(tensors.get(which)?, &from)
            });
            if let Some(data) = data {
                let at = out.range_at;
                carry::set_data(&mut out, data, at);
            }
        }
    }
    out
}

/// `hstack` and similar functions: `cat`, after each tensor has been padded to a minimum rank.
fn direction_stack(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Ok(given) = given(cx, &b.get("tensors")) else { return cx.some_tensor() };
    let name = cx.name();
    let raise = |t: &Tensor, cx: &Cx<'_, '_>| {
        let dims = t.shape.as_ref().map(|dims| match (name, dims.as_slice()) {
            ("hstack", dims) => padded(dims, 1, cx.at()),
            ("dstack", dims) => padded(dims, 3, cx.at()),
            // A 0-D or 1-D tensor becomes a column.
            ("column_stack", []) => vec![Dim::new(Size::Int(1), cx.at()); 2],
            ("column_stack", [one]) => vec![one.clone(), Dim::new(Size::Int(1), cx.at())],
            ("column_stack", dims) => dims.to_vec(),
            (_, dims) => padded(dims, 2, cx.at()),
        });
        Tensor { grad: t.grad, ..reshaped(cx, t, dims) }
    };
    let axis = |rank: Option<usize>| match name {
        "hstack" => rank.map(|r| i64::from(r > 1)),
        "dstack" => Some(2),
        "column_stack" => Some(1),
        _ => Some(0),
    };
    let dim = |rank| axis(rank).map_or(Value::Any(Type::Int), Value::Int);
    let out = match given {
        Given::Unknown => return cx.some_tensor(),
        Given::Many(element) => {
            let element = raise(&element, cx);
            many_cat(cx, &element, &dim(element.rank()))
        }
        Given::Exact(tensors) => {
            let tensors: Vec<Tensor> = tensors.iter().map(|t| raise(t, cx)).collect();
            let rank = tensors.iter().find_map(Tensor::rank);
            concatenated(cx, &tensors, &dim(rank))
        }
    };
    options::finish(cx, b, out)
}

fn block_diag(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(values) = super::expand::several(cx, b) else { return cx.some_tensor() };
    let tensors: Vec<Tensor> = values.iter().map(|v| cx.tensor(v).unwrap_or_default()).collect();
    if tensors.is_empty() {
        let dtype = cx.default_dtype();
        let out = Tensor { grad: Grad::Off, ..Tensor::default() }
            .with_dtype(dtype, cx.at())
            .with_shape(vec![Size::Int(1), Size::Int(0)], cx.at());
        return cx.out(out);
    }
    let mut out = common(cx, &tensors);
    out.forget_values();
    let (mut rows, mut columns) = (Size::Int(0), Size::Int(0));
    for (i, tensor) in tensors.iter().enumerate() {
        let one = Size::Int(1);
        let (r, c) = match tensor.shape.as_deref() {
            Some([]) => (one.clone(), one),
            Some([x]) => (one, x.size.clone()),
            Some([x, y]) => (x.size.clone(), y.size.clone()),
            Some(_) => {
                let name = format!("tensors[{i}]");
                let message =
                    format!("{name} is {}: block_diag takes tensors of at most 2 dimensions", shape_text(tensor));
                cx.reject(RejectKind::Rank, message, vec![shape_read((&name, tensor), None)]);
                (Size::Unknown, Size::Unknown)
            }
            None => (Size::Unknown, Size::Unknown),
        };
        rows = rows.add(&r);
        columns = columns.add(&c);
    }
    let out = out.with_shape(vec![rows, columns], cx.at());
    cx.out(out)
}
