//! Batches made from samples, like `torch.utils.data.default_collate`.

use super::views::layout;
use crate::library::Cx;
use crate::value::{ArrayKind, Data, Device, Dict, Dim, Dtype, Grad, Items, Range, Size, Tensor, Type, Value};

/// The nesting of samples down to which their parts are known.
const DEEPEST: u32 = 6;

/// A batch of samples like this one. `Value::Unknown` for types that the default `collate_fn`
/// rejects (PIL images, `None`) or may reject.
pub(super) fn collate(cx: &mut Cx<'_, '_>, sample: &Value, batch: &Dim) -> Value {
    collate_at(cx, sample, batch, DEEPEST)
}

fn collate_at(cx: &mut Cx<'_, '_>, sample: &Value, batch: &Dim, depth: u32) -> Value {
    if depth == 0 {
        return Value::Unknown;
    }
    if let Some(tensor) = cx.tensor(sample) {
        return stacked(cx, tensor, batch);
    }
    match sample {
        Value::Bool(b) => numbers(cx, Dtype::Bool, Some(f64::from(u8::from(*b))), batch),
        Value::Any(Type::Bool) => numbers(cx, Dtype::Bool, None, batch),
        #[expect(clippy::cast_precision_loss, reason = "a fact about a range")]
        Value::Int(n) => numbers(cx, Dtype::Int64, Some(*n as f64), batch),
        Value::Size(_) | Value::Any(Type::Int) => numbers(cx, Dtype::Int64, None, batch),
        Value::Ranged(ranged) | Value::Floats(ranged) => {
            let dtype = if matches!(sample, Value::Ranged(_)) { Dtype::Int64 } else { Dtype::Float64 };
            let out = numbers(cx, dtype, None, batch);
            let (range, at) = (ranged.range.clone().of_sample(), ranged.at.or(cx.at()));
            if let Some(id) = out.as_obj() {
                cx.it.heap.update_tensor(id, |t| (t.range, t.range_at) = (Some(range), at));
            }
            out
        }
        Value::Float(x) => numbers(cx, Dtype::Float64, Some(*x), batch),
        Value::Any(Type::Float) => numbers(cx, Dtype::Float64, None, batch),
        Value::Str(_) | Value::Among(_) | Value::Any(Type::Str) => cx.list_of(sample.clone()),
        Value::Any(Type::Bytes) => cx.list_of(Value::Any(Type::Bytes)),
        Value::Tuple(_) | Value::Obj(_) => of_parts(cx, sample, &|cx, part| collate_at(cx, part, batch, depth - 1)),
        _ => Value::Unknown,
    }
}

/// A tuple as a list, a list or a dictionary, with `each` applied to its parts; unknown for other
/// objects.
fn of_parts(cx: &mut Cx<'_, '_>, whole: &Value, each: &dyn Fn(&mut Cx<'_, '_>, &Value) -> Value) -> Value {
    let data = match whole {
        Value::Tuple(items) => Data::List(Items::Exact(items.to_vec())),
        Value::Obj(id) => cx.it.heap.get(*id).clone(),
        _ => return Value::Unknown,
    };
    match data {
        Data::List(Items::Exact(items)) => {
            let items = items.iter().map(|item| each(cx, item)).collect();
            cx.list(items)
        }
        Data::List(Items::Many(item)) => {
            let item = each(cx, &item);
            cx.list_of(item)
        }
        Data::Dict(dict) => {
            let mut out = Dict::default();
            for (key, value) in &dict.entries {
                let value = each(cx, value);
                out.entries.insert(key.clone(), value);
            }
            out.open = dict.open.map(|_| Value::Unknown);
            cx.it.heap.dict(out)
        }
        _ => Value::Unknown,
    }
}

/// Stacks tensors and arrays; arrays become tensors of the same dtype.
fn stacked(cx: &mut Cx<'_, '_>, sample: Tensor, batch: &Dim) -> Value {
    let array = sample.array == ArrayKind::Numpy;
    let mut out = Tensor { array: ArrayKind::Torch, base: None, version: 0, writes: 0, data: None, ..sample };
    out.wrapper = None;
    out.shape = out.shape.map(|dims| std::iter::once(batch.clone()).chain(dims).collect());
    if batch.size.known().is_some() {
        // A finding should show why the batch has this size: the last batch may be smaller than the
        // others.
        out.shape_at = batch.at.or(out.shape_at);
    }
    if array {
        out.grad = Grad::Off;
        out.device = Some(Device::CPU);
        out.device_at = cx.at();
    } else if out.grad == Grad::Leaf {
        out.grad = Grad::Attached;
    }
    // A value of one sample occurs in some batch, but not in every batch.
    let number = out.rank().is_some_and(|r| r <= 1);
    out.range = out.range.map(if number { Range::of_sample } else { Range::of_row });
    layout::dense(cx, out)
}

/// The tensor that a batch of Python numbers becomes.
fn numbers(cx: &mut Cx<'_, '_>, dtype: Dtype, each: Option<f64>, batch: &Dim) -> Value {
    let at = cx.at();
    let range = match (each, dtype) {
        (Some(x), _) => Some(Range::attained(x, x)),
        (None, Dtype::Bool) => Some(Range::bounds(0.0, 1.0)),
        _ => None,
    };
    let mut out = Tensor { grad: Grad::Off, ..Tensor::default() }
        .with_dtype(Some(dtype), at)
        .with_device(Some(Device::CPU), at)
        .with_range(range, at);
    out.shape = Some(vec![batch.clone()]);
    out.shape_at = at;
    cx.out(out)
}

/// An element of a loader with `batch_size=None`. Arrays become tensors, and tuples become lists,
/// also inside lists and dictionaries. Other values stay.
pub(super) fn convert(cx: &mut Cx<'_, '_>, sample: &Value) -> Value {
    convert_at(cx, sample, DEEPEST)
}

fn convert_at(cx: &mut Cx<'_, '_>, sample: &Value, depth: u32) -> Value {
    if depth == 0 {
        return Value::Unknown;
    }
    if let Some(tensor) = cx.tensor(sample)
        && tensor.array == ArrayKind::Numpy
    {
        let at = cx.at();
        let out = Tensor { array: ArrayKind::Torch, grad: Grad::Off, wrapper: None, ..tensor };
        return cx.out(out.with_device(Some(Device::CPU), at));
    }
    match sample {
        Value::Obj(_) if cx.it.heap.is_tensor(sample) => sample.clone(),
        Value::Tuple(_) | Value::Obj(_) => of_parts(cx, sample, &|cx, part| convert_at(cx, part, depth - 1)),
        other => other.clone(),
    }
}

/// One unknown row of a tensor.
pub(super) fn row(cx: &mut Cx<'_, '_>, of: &Value) -> Value {
    let Some(tensor) = cx.tensor(of) else { return Value::Unknown };
    let columns = super::carry::columns(&tensor);
    let mut out = Tensor { data: None, ..tensor };
    out.shape = out.shape.and_then(|dims| dims.split_first().map(|(_, rest)| rest.to_vec()));
    let number = out.rank() == Some(0);
    out.range = out.range.map(|r| if number { r.of_sample() } else { r.of_columns(columns) });
    out.grad = match out.grad {
        Grad::Leaf => Grad::Attached,
        other => other,
    };
    cx.view_of(of, out)
}

/// The number of batches of a loader with a known number of samples.
pub(super) fn batches(samples: i64, size: i64, drop_last: bool) -> Option<i64> {
    if size <= 0 {
        return None;
    }
    Some(if drop_last { samples / size } else { samples.checked_add(size - 1)? / size })
}

/// The size of the batches of a loader, if all batches have the same size.
pub(super) fn common_size(samples: Option<i64>, size: i64, drop_last: bool) -> Option<Size> {
    let exact = match samples {
        _ if drop_last || size == 1 => size,
        Some(n) if n > 0 && n <= size => n,
        Some(n) if n > 0 && n % size == 0 => size,
        _ => return None,
    };
    Some(Size::Int(exact))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_batch_may_be_smaller() {
        assert_eq!(common_size(Some(100), 32, false), None);
        assert_eq!(common_size(Some(96), 32, false), Some(Size::Int(32)));
        assert_eq!(common_size(Some(20), 32, false), Some(Size::Int(20)));
        assert_eq!(common_size(None, 32, true), Some(Size::Int(32)));
        assert_eq!(batches(100, 32, false), Some(4));
        assert_eq!(batches(100, 32, true), Some(3));
    }
}
