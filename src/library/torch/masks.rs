//! Elements selected by a mask, and positions of true elements.

use super::broadcast::{Mix, Named, broadcast_pair, common_device, common_shape, dtype_read, shape_read, shape_text};
use super::carry::{self, Rejected, Takes, shuffled};
use super::factory::options;
use super::gather::{not_empty, same_dtype};
use super::picks;
use super::scatter::{check_real, number, written, written_range};
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, Grad, Range, Size, Tensor, Value, counted};

pub(crate) fn register(t: &mut Table) {
    t.listed("torch.", "masked_fill", masked_fill);
    t.listed("torch.", "masked_select", masked_select);
    t.listed("torch.", "masked_scatter", masked_scatter);
    t.listed("torch.", "nonzero", nonzero);
    t.listed("torch.", "argwhere", nonzero);
    t.listed("torch.", "nonzero_static", nonzero_static);
}

fn check_mask(cx: &mut Cx<'_, '_>, mask: Named<'_>) -> Result<(), Rejected> {
    let Some(dtype) = mask.1.dtype.filter(|d| *d != Dtype::Bool) else { return Ok(()) };
    let message = format!("`{}` is {dtype}: {} takes a bool mask", mask.0, cx.name());
    cx.reject(RejectKind::Dtype, message, vec![dtype_read(mask)]);
    Err(Rejected)
}

fn masked_fill(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let mask = cx.tensor_arg(b, "mask").unwrap_or_default();
    let given = b.get("value");
    let value = cx.tensor(&given);
    let (named, masks) = (("input", &input), ("mask", &mask));
    let source = value.clone().or_else(|| number(&given));
    let mut result = written(cx, &input, source.as_ref(), true);
    common_device(cx, &[named, masks], Mix::Strict);
    (result.shape, result.shape_at) = common_shape(cx, &[named, masks]);
    let fine = check_real(cx, &given, named).is_ok() && check_mask(cx, masks).is_ok();
    let single = value.as_ref().and_then(|v| v.data.as_deref()).and_then(|d| d.first().copied());
    if let Some(number) = given.as_f64().or(single).filter(|_| fine) {
        options::fills(cx, number, named);
    }
    if let (Some(have), Some(new)) = (&input.range, source.as_ref().and_then(|s| written_range(s, input.dtype))) {
        result.range = Some(picks::replaced(have, picks::of(cx, &b.get("mask"), &b.get("input")), &new));
    }
    if let Some(value) = &value
        && value.rank().is_some_and(|r| r > 0)
    {
        let message = format!("`value` has shape {}: masked_fill takes a number or a 0-d tensor", shape_text(value));
        cx.reject(RejectKind::Rank, message, vec![shape_read(("value", value), None)]);
    }
    cx.out(result)
}

fn masked_select(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let mask = cx.tensor_arg(b, "mask").unwrap_or_default();
    let (named, masks) = (("input", &input), ("mask", &mask));
    common_device(cx, &[named, masks], Mix::Strict);
    let _ = common_shape(cx, &[named, masks]);
    let _ = check_mask(cx, masks);
    let count = match (mask.sizes() == input.sizes() && mask.shape.is_some(), true_count(&mask)) {
        (true, Some(n)) => Dim::new(Size::Int(n), cx.at()),
        _ => cx.fresh_count(carry::SELECTED),
    };
    let out = shuffled(cx, &input, Some(vec![count]), Takes::CutsLast);
    options::finish(cx, b, out)
}

/// The number of nonzero elements, if all elements are known.
pub(crate) fn true_count(mask: &Tensor) -> Option<i64> {
    let data = mask.data.as_ref()?;
    i64::try_from(data.iter().filter(|x| **x != 0.0).count()).ok()
}

fn masked_scatter(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let mask = cx.tensor_arg(b, "mask").unwrap_or_default();
    let source = cx.tensor_arg(b, "source").unwrap_or_default();
    let (named, masks, from) = (("input", &input), ("mask", &mask), ("source", &source));
    let mut result = written(cx, &input, Some(&source), true);
    common_device(cx, &[named, masks, from], Mix::Strict);
    (result.shape, result.shape_at) = common_shape(cx, &[named, masks]);
    let _ = check_mask(cx, masks);
    let _ = same_dtype(cx, named, from);
    let joined = input.shape.as_deref().zip(mask.shape.as_deref()).and_then(|(x, y)| broadcast_pair(x, y).ok());
    if let (Some(dims), Some(count), Some(have)) = (joined, true_count(&mask), source.numel().known())
        && mask
            .shape
            .as_ref()
            .is_some_and(|m| m.len() == dims.len() && m.iter().zip(&dims).all(|(a, b)| a.size == b.size))
        && have < count
    {
        let message = format!("`source` has {}, but the mask selects {count}", counted(have, "element"));
        cx.reject(RejectKind::Shape, message, vec![shape_read(from, None), shape_read(masks, None)]);
    }
    cx.out(result)
}

/// A tensor of positions in `input`: int64, on the device of `input`, without gradient.
fn positions(cx: &Cx<'_, '_>, input: &Tensor, dims: Option<Vec<Dim>>, longest: Option<&Size>) -> Tensor {
    let mut out = Tensor {
        array: input.array,
        shape: dims,
        shape_at: cx.at(),
        device: input.device,
        device_at: input.device_at,
        grad: Grad::Off,
        ..Tensor::default()
    }
    .with_dtype(Some(Dtype::Int64), cx.at());
    #[expect(clippy::cast_precision_loss, reason = "bounds of a range")]
    let high = match longest {
        Some(size) => size.known().map(|n| n as f64 - 1.0),
        None => input.known_shape().and_then(|s| s.iter().max().map(|n| *n as f64 - 1.0)),
    };
    out.range = Some(Range::bounds(0.0, high.filter(|h| *h >= 0.0).unwrap_or(f64::INFINITY)));
    out.range_at = cx.at();
    out
}

/// The number of nonzero elements: exact if the elements are known, otherwise a new symbol.
fn count_dim(cx: &mut Cx<'_, '_>, input: &Tensor) -> Dim {
    match true_count(input) {
        Some(n) => Dim::new(Size::Int(n), cx.at()),
        None if input.numel().known() == Some(0) => Dim::new(Size::Int(0), cx.at()),
        None => cx.fresh_count(carry::NONZERO),
    }
}

/// `torch.where(condition)` and `nonzero(as_tuple=True)`: one tensor of positions per dimension.
pub(crate) fn where_positions(cx: &mut Cx<'_, '_>, input: &Tensor) -> Value {
    let Some(dims) = input.shape.clone() else { return Value::Unknown };
    let count = count_dim(cx, input);
    let one = [Dim::int(1)];
    let each = if dims.is_empty() { one.as_slice() } else { dims.as_slice() };
    let all = each.iter().map(|d| positions(cx, input, Some(vec![count.clone()]), Some(&d.size))).collect();
    cx.outs(all)
}

fn nonzero(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let input = cx.tensor_arg(b, "input").unwrap_or_default();
    let tuple = options::option(b, "as_tuple");
    match tuple {
        Value::Bool(true) => return where_positions(cx, &input),
        Value::Bool(false) | Value::None => {}
        _ => return Value::Unknown,
    }
    let count = count_dim(cx, &input);
    let rank = input.rank().and_then(|r| i64::try_from(r).ok()).map_or(Size::Unknown, Size::Int);
    let columns = Dim::new(rank, cx.at());
    let mut out = positions(cx, &input, Some(vec![count, columns]), None);
    if input.rank() == Some(0) || !not_empty(&input) {
        out.range = None;
    }
    options::finish(cx, b, out)
}

fn nonzero_static(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let input = cx.tensor_arg(b, "input").unwrap_or_default();
    let size = Dim::new(carry::size(cx, &b.get("size")), cx.at());
    let rank = input.rank().and_then(|r| i64::try_from(r).ok()).map_or(Size::Unknown, Size::Int);
    let mut out = positions(cx, &input, Some(vec![size, Dim::new(rank, cx.at())]), None);
    out.range = None;
    options::finish(cx, b, out)
}
