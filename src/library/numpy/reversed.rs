//! Arrays with a negative stride, such as `image[:, :, ::-1]`: PyTorch cannot read them.
//!
//! The layout of an array lists its reversed axes, or only [`SOME`] if it is not known which ones these are. A new
//! array has none: only views keep them.

use std::rc::Rc;

use crate::library::Cx;
use crate::python::RejectKind;
use crate::value::{ArrayKind, Tensor, Value};

/// At least one axis is reversed.
const SOME: usize = usize::MAX;

/// Notes the reversed axes of a view.
fn set(cx: &mut Cx<'_, '_>, view: &Value, axes: Option<Vec<usize>>) {
    let axes = axes.filter(|axes| !axes.is_empty());
    if let (Some(id), Some(axes)) = (view.as_obj(), axes) {
        cx.it.heap.update_tensor(id, |t| t.layout = Some(Rc::from(axes)));
    }
}

/// Whether an axis of an array is reversed.
pub(super) fn is_reversed(array: &Tensor) -> bool {
    !axes_of(array).is_empty()
}

fn axes_of(tensor: &Tensor) -> Vec<usize> {
    tensor.layout.as_deref().filter(|_| tensor.array == ArrayKind::Numpy).map(<[usize]>::to_vec).unwrap_or_default()
}

/// Notes the reversed axes of `input[index]`, where `input` is an array.
pub(crate) fn indexed(cx: &mut Cx<'_, '_>, view: &Value, input: &Tensor, index: &Value) {
    let items = match index {
        Value::Tuple(items) => items.to_vec(),
        index => vec![index.clone()],
    };
    set(cx, view, after(&axes_of(input), input, &items));
}

/// The reversed axes after an index; `None` if they are not known.
fn after(reversed: &[usize], input: &Tensor, items: &[Value]) -> Option<Vec<usize>> {
    let is_step =
        |item: &Value| matches!(item, Value::Slice(parts) if matches!(parts[2], Value::Int(step) if step < 0));
    if reversed.contains(&SOME) {
        let keeps = |item: &Value| match item {
            Value::Slice(parts) => matches!(parts[2], Value::None | Value::Int(1..)),
            Value::Ellipsis | Value::None => true,
            _ => false,
        };
        return items.iter().all(keeps).then(|| vec![SOME]);
    }
    let (mut found, mut from, mut to) = (Vec::new(), 0, 0);
    for (at, item) in items.iter().enumerate() {
        match item {
            Value::Slice(parts) => {
                let is_reversed = match (&parts[2], &parts[0], &parts[1]) {
                    (Value::None | Value::Int(1..), ..) => reversed.contains(&from),
                    // An empty array has no strides that matter.
                    (Value::Int(_), Value::None, Value::None) if may_be_full(input, from) => !reversed.contains(&from),
                    _ => return None,
                };
                found.extend(is_reversed.then_some(to));
                (from, to) = (from + 1, to + 1);
            }
            Value::Int(_) => from += 1,
            Value::None => to += 1,
            Value::Ellipsis => {
                let rest = items.get(at + 1..).unwrap_or_default();
                // All other items keep their axes.
                return (reversed.is_empty()
                    && rest.iter().any(is_step)
                    && rest.iter().all(|i| matches!(i, Value::Slice(_))))
                .then(|| vec![SOME]);
            }
            _ => return None,
        }
    }
    found.extend(reversed.iter().filter(|axis| **axis >= from).map(|axis| axis + to - from));
    Some(found)
}

fn may_be_full(input: &Tensor, axis: usize) -> bool {
    input.shape.as_ref().is_none_or(|dims| dims.get(axis).is_some_and(|dim| dim.size.known() != Some(0)))
}

/// Notes that a view has the reversed axes of `input` in another place.
pub(super) fn moved(cx: &mut Cx<'_, '_>, view: &Value, input: &Value) {
    let has = cx.tensor(input).is_some_and(|input| is_reversed(&input));
    set(cx, view, has.then(|| vec![SOME]));
}

/// Notes that a view of `input` is reversed along an axis.
pub(super) fn flipped(cx: &mut Cx<'_, '_>, view: &Value, input: &Value) {
    let is_plain = cx.tensor(input).is_some_and(|input| !is_reversed(&input) && !has_no_elements(&input));
    set(cx, view, is_plain.then(|| vec![SOME]));
}

fn has_no_elements(input: &Tensor) -> bool {
    input.shape.as_ref().is_some_and(|dims| dims.iter().any(|dim| dim.size.known() == Some(0)))
}

/// Rejects an array with a negative stride.
pub(crate) fn refuse(cx: &mut Cx<'_, '_>, value: &Value) {
    let Some(array) = cx.tensor(value).filter(is_reversed) else { return };
    let message = "an axis of the array is reversed, and PyTorch reads no negative strides: use `.copy()`";
    cx.reject(RejectKind::Value, message, vec![("the array is created here".to_owned(), array.shape_at)]);
}
