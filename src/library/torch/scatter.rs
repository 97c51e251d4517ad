//! `scatter`, `index_add` and similar functions: they write elements into a copy, at positions that
//! index tensors give.

use super::broadcast::{Mix, Named, common_device, dtype_read, result_grad, shape_read, shape_text};
use super::carry::{self, Rejected};
use super::cast::cast_range;
use super::factory::options;
use super::gather::{
    at_least_one, check_index, check_index_with_elements, check_vector, index_fits, same_dtype, takes_int32,
    takes_int64,
};
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, Range, Size, Tensor, Type, Value, counted};

pub(crate) fn register(t: &mut Table) {
    t.defs(
        "torch.scatter",
        &["input, dim, index, src, *, reduce=None, out=None", "input, dim, index, *, value, reduce=None, out=None"],
        scatter,
    );
    t.listed("torch.", "scatter_add", scatter);
    t.listed("torch.", "scatter_reduce", scatter);
    t.listed("torch.", "index_add", index_write);
    t.listed("torch.", "index_copy", index_write);
    t.listed("torch.", "index_reduce", index_write);
    t.listed("torch.", "index_fill", index_fill);
    t.listed("torch.", "put", put);
    t.listed("torch.", "index_put", index_put);
    t.listed("torch.", "select_scatter", select_scatter);
    t.listed("torch.", "slice_scatter", slice_scatter);
    t.listed("torch.", "diagonal_scatter", diagonal_scatter);
    t.listed("torch.", "as_strided_scatter", like_input);
}

/// A copy of `input` after elements of `other` were written into it. It has the shape and dtype of
/// `input`, and values of both.
pub(crate) fn written(cx: &Cx<'_, '_>, input: &Tensor, other: Option<&Tensor>, plain: bool) -> Tensor {
    let mut out = carry::bare(cx, input);
    out.shape.clone_from(&input.shape);
    out.shape_at = input.shape_at;
    let both: Vec<&Tensor> = std::iter::once(input).chain(other).collect();
    out.grad = result_grad(cx, &both, input.dtype);
    if plain {
        out.range = match (&input.range, other.map(|t| written_range(t, input.dtype))) {
            (Some(have), Some(Some(new))) => Some(carry::either(have, &new)),
            _ => None,
        };
        out.range_at = input.range_at;
    }
    out
}

/// The range of elements after they are written into a tensor of this dtype.
pub(crate) fn written_range(from: &Tensor, dtype: Option<Dtype>) -> Option<Range> {
    let range = from.range.as_ref()?;
    if from.dtype == dtype { Some(range.clone()) } else { cast_range(range, from.dtype, dtype?) }
}

/// A 0-d tensor with the facts of a number that is written.
pub(crate) fn number(value: &Value) -> Option<Tensor> {
    let ty = value.number_type()?;
    let dtype = match ty {
        Type::Bool => Dtype::Bool,
        Type::Int => Dtype::Int64,
        Type::Float => Dtype::Float64,
        _ => return Some(Tensor::default()),
    };
    let mut out =
        Tensor { grad: crate::value::Grad::Off, shape: Some(Vec::new()), dtype: Some(dtype), ..Tensor::default() };
    if let Some((range, at)) = value.range() {
        (out.range, out.range_at) = (Some(range), at);
    }
    Some(out)
}

/// Rejects writing a complex number into a real tensor.
pub(crate) fn check_real(cx: &mut Cx<'_, '_>, value: &Value, into: Named<'_>) -> Result<(), Rejected> {
    let complex = value.number_type() == Some(Type::Complex);
    if let Some(dtype) = into.1.dtype.filter(|d| complex && !d.is_complex()) {
        let message = format!("a complex number does not fit `{}`, which is {dtype}", into.0);
        cx.reject(RejectKind::Dtype, message, vec![dtype_read(into)]);
        return Err(Rejected);
    }
    Ok(())
}

fn scatter(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let index = cx.tensor_arg(b, "index").unwrap_or_default();
    let given = if b.given("value") { b.get("value") } else { b.get("src") };
    let src = cx.tensor(&given);
    let reduces = cx.name() != "scatter" || (b.given("reduce") && !b.get("reduce").is_none());
    let source = src.clone().or_else(|| number(&given));
    let result = written(cx, &input, source.as_ref(), !reduces);
    let (named, indices) = (("input", &input), ("index", &index));
    let mut all = vec![named, indices];
    all.extend(src.as_ref().map(|s| ("src", s)));
    common_device(cx, &all, Mix::Strict);
    let Ok(axis) = carry::axis(cx, &b.get("dim"), &input) else { return cx.out(result) };
    check_reduce(cx, b);
    let _ = check_real(cx, &given, named);
    if check_index_with_elements(cx, indices, takes_int32()).is_ok()
        && index_fits(cx, indices, named, Some(axis)).is_ok()
        && let Some(src) = &src
        && same_dtype(cx, named, ("src", src)).is_ok()
    {
        let _ = index_fits(cx, indices, ("src", src), None);
    }
    options::finish(cx, b, result)
}

fn check_reduce(cx: &mut Cx<'_, '_>, b: &Bound) {
    let accepted: &[&str] = match cx.name() {
        "scatter" => &["add", "multiply"],
        // PyTorch 2.15 also accepts `max` and `min`, but not in `backward`.
        "scatter_reduce" => &["sum", "prod", "mean", "amax", "amin", "max", "min"],
        "index_reduce" => &["prod", "mean", "amax", "amin"],
        _ => return,
    };
    let given = b.get("reduce");
    if let Some(name) = given.as_str()
        && !accepted.contains(&name)
    {
        let message = format!("reduce is {name:?}: it must be one of {}", accepted.join(", "));
        cx.reject(RejectKind::Value, message, Vec::new());
    }
}

/// The length of a tensor along a dimension; 1 for a 0-d tensor.
fn along(tensor: &Tensor, axis: usize) -> Size {
    match &tensor.shape {
        Some(dims) if dims.is_empty() => Size::Int(1),
        Some(dims) => dims.get(axis).map_or(Size::Unknown, |d| d.size.clone()),
        None => Size::Unknown,
    }
}

/// `index_add`, `index_copy` and `index_reduce`: `source` has a slice for each index.
fn index_write(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let index = cx.tensor_arg(b, "index").unwrap_or_default();
    let source = cx.tensor_arg(b, "source").unwrap_or_default();
    let (named, indices, from) = (("input", &input), ("index", &index), ("source", &source));
    let copies = cx.name() == "index_copy";
    let result = written(cx, &input, Some(&source), copies);
    common_device(cx, &[named, indices, from], Mix::Strict);
    let Ok(axis) = carry::axis(cx, &b.get("dim"), &input) else { return cx.out(result) };
    check_reduce(cx, b);
    let accepted = if copies { takes_int64() } else { takes_int32() };
    if check_vector(cx, indices).is_err()
        || check_index(cx, indices, accepted).is_err()
        || same_dtype(cx, named, from).is_err()
    {
        return cx.out(result);
    }
    if let Some(axis) = axis {
        let (number, slices) = (index.numel(), along(&source, axis));
        if index.shape.is_some() && number.equals(&slices) == Some(false) {
            let (number, slices) = (counted(&number, "element"), counted(&slices, "slice"));
            let message = format!("`index` has {number}, but `source` has {slices} along dimension {axis}");
            cx.reject(RejectKind::Shape, message, vec![shape_read(indices, None), shape_read(from, Some(axis))]);
            return cx.out(result);
        }
        if let (Some(x), Some(y)) = (&input.shape, &source.shape)
            && !y.is_empty()
        {
            let differ = x.len() != y.len()
                || x.iter().zip(y).enumerate().any(|(i, (p, q))| i != axis && p.size.equals(&q.size) == Some(false));
            if differ && !(copies && x.is_empty()) {
                let message = format!(
                    "`input` is {} and `source` is {}: in all dimensions except {axis}, the sizes must be equal",
                    shape_text(&input),
                    shape_text(&source)
                );
                let kind = if x.len() == y.len() { RejectKind::Shape } else { RejectKind::Rank };
                cx.reject(kind, message, vec![shape_read(named, None), shape_read(from, None)]);
            }
        }
    }
    options::finish(cx, b, result)
}

fn index_fill(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let index = cx.tensor_arg(b, "index").unwrap_or_default();
    let given = b.get("value");
    let value = cx.tensor(&given);
    let source = value.clone().or_else(|| number(&given));
    let result = written(cx, &input, source.as_ref(), true);
    let (named, indices) = (("input", &input), ("index", &index));
    common_device(cx, &[named, indices], Mix::Strict);
    let Ok(_) = carry::axis(cx, &b.get("dim"), &input) else { return cx.out(result) };
    let _ = check_real(cx, &given, named);
    if let Some(value) = &value
        && value.rank().is_some_and(|r| r > 0)
    {
        let message =
            format!("`value` is {}: index_fill takes a number or a tensor without dimensions", shape_text(value));
        cx.reject(RejectKind::Rank, message, vec![shape_read(("value", value), None)]);
    }
    if check_vector(cx, indices).is_ok() {
        let _ = check_index(cx, indices, takes_int64());
    }
    cx.out(result)
}

fn put(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let index = cx.tensor_arg(b, "index").unwrap_or_default();
    let source = cx.tensor_arg(b, "source").unwrap_or_default();
    let (named, indices, from) = (("input", &input), ("index", &index), ("source", &source));
    let result = written(cx, &input, Some(&source), b.get("accumulate").as_bool() == Some(false));
    common_device(cx, &[named, indices, from], Mix::Strict);
    if check_index(cx, indices, takes_int64()).is_ok()
        && same_dtype(cx, named, from).is_ok()
        && index.shape.is_some()
        && source.shape.is_some()
        && index.numel().equals(&source.numel()) == Some(false)
    {
        let message = format!("`index` has {}, but `source` has {}", counted(index.numel(), "element"), source.numel());
        cx.reject(RejectKind::Shape, message, vec![shape_read(indices, None), shape_read(from, None)]);
    }
    cx.out(result)
}

fn index_put(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let values = cx.tensor_arg(b, "values").unwrap_or_default();
    let result = written(cx, &input, Some(&values), b.get("accumulate").as_bool() == Some(false));
    if same_dtype(cx, ("input", &input), ("values", &values)).is_ok()
        && let Some(items) = cx.items(&b.get("indices"))
    {
        super::indexing::check_put(cx, &input, &items, &values);
    }
    cx.out(result)
}

fn like_input(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let src = cx.tensor_arg(b, "src").unwrap_or_default();
    let result = written(cx, &input, Some(&src), true);
    options::finish(cx, b, result)
}

/// Rejects a `src` if the part of `input` that it replaces has another shape.
fn check_part(cx: &mut Cx<'_, '_>, src: &Tensor, part: &[Dim]) {
    let Some(dims) = &src.shape else { return };
    let differ = dims.len() != part.len() || dims.iter().zip(part).any(|(a, b)| a.size.equals(&b.size) == Some(false));
    if differ {
        let part: Vec<Size> = part.iter().map(|d| d.size.clone()).collect();
        let message = format!(
            "`src` is {} and the part of `input` that it replaces is {}: the shapes must be equal",
            shape_text(src),
            carry::sizes_text(&part)
        );
        cx.reject(RejectKind::Shape, message, vec![shape_read(("src", src), None)]);
    }
}

fn select_scatter(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let src = cx.tensor_arg(b, "src").unwrap_or_default();
    let result = written(cx, &input, Some(&src), true);
    let Ok(axis) = carry::axis(cx, &b.get("dim"), &input) else { return cx.out(result) };
    if let (Some(axis), Some(dims)) = (axis, input.shape.clone())
        && at_least_one(&input) == Some(dims.len())
    {
        let mut part = dims;
        if axis < part.len() {
            part.remove(axis);
            check_part(cx, &src, &part);
        }
    }
    cx.out(result)
}

fn slice_scatter(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let src = cx.tensor_arg(b, "src").unwrap_or_default();
    let result = written(cx, &input, Some(&src), true);
    let Ok(axis) = carry::axis(cx, &b.get("dim"), &input) else { return cx.out(result) };
    if let (Some(axis), Some(mut part)) = (axis, input.shape.clone())
        && let Some(slot) = part.get_mut(axis)
    {
        let bounds = [b.get("start"), b.get("end"), b.get("step")];
        slot.size = super::indexing::slice_length(&slot.size, &bounds);
        check_part(cx, &src, &part);
    }
    options::finish(cx, b, result)
}

fn diagonal_scatter(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let src = cx.tensor_arg(b, "src").unwrap_or_default();
    let result = written(cx, &input, Some(&src), true);
    let (Ok(x), Ok(y)) = (carry::axis(cx, &b.get("dim1"), &input), carry::axis(cx, &b.get("dim2"), &input)) else {
        return cx.out(result);
    };
    if let (Some(x), Some(y), Some(dims)) = (x, y, &input.shape)
        && x != y
        && let (Some(rows), Some(columns)) = (dims.get(x), dims.get(y))
    {
        let mut part: Vec<Dim> =
            dims.iter().enumerate().filter(|(i, _)| *i != x && *i != y).map(|(_, d)| d.clone()).collect();
        let length = super::views::diagonal_length(&rows.size, &columns.size, &b.get("offset"));
        part.push(Dim::new(length, cx.at()));
        check_part(cx, &src, &part);
    }
    cx.out(result)
}
