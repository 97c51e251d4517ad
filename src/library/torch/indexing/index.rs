//! The items of an index: integers, slices, masks, index tensors.

use crate::library::Cx;
use crate::library::torch::broadcast::{Named, dtype_read};
use crate::library::torch::carry::{self, Rejected, at_most};
use crate::library::torch::factory::literal;
use crate::library::torch::masks::true_count;
use crate::python::RejectKind;
use crate::value::{ArrayKind, Data, Dim, Dtype, Items, Size, Tensor, Type, Value};

/// One element of an index.
#[derive(Clone)]
pub(super) enum Item {
    /// An integer, known or not.
    At(Size),
    Slice([Value; 3]),
    NewAxis,
    Ellipsis,
    /// A bool, or a 0-dimensional mask: adds a dimension of length 1 or 0.
    Flag(Option<bool>),
    /// A tensor of positions along one dimension.
    Index(Tensor),
    /// A tensor of bools. It indexes as many dimensions as it has itself.
    Mask(Tensor),
    Unknown,
}

/// The items of an index. `Err` if the index is rejected, which has been reported.
pub(super) fn parse(cx: &mut Cx<'_, '_>, index: &Value, numpy: bool) -> Result<Vec<Item>, Rejected> {
    match index {
        Value::Tuple(items) => items.iter().map(|v| item(cx, v, numpy, true)).collect(),
        other => Ok(vec![item(cx, other, numpy, false)?]),
    }
}

fn item(cx: &mut Cx<'_, '_>, value: &Value, numpy: bool, inside: bool) -> Result<Item, Rejected> {
    Ok(match value {
        Value::Int(_) | Value::Size(_) | Value::Ranged(_) | Value::Any(Type::Int) => Item::At(carry::size(cx, value)),
        Value::Bool(b) => Item::Flag(Some(*b)),
        Value::Any(Type::Bool) => Item::Flag(None),
        Value::None => Item::NewAxis,
        Value::Ellipsis => Item::Ellipsis,
        Value::Slice(parts) => slice(cx, parts, numpy)?,
        Value::Float(_) | Value::Any(Type::Float) => {
            let shown = value.as_f64().map_or_else(|| "a float".to_owned(), |x| format!("the float {x:?}"));
            cx.reject(
                RejectKind::Index,
                format!("{shown} cannot be an index: use integers, slices or masks"),
                Vec::new(),
            );
            return Err(Rejected);
        }
        Value::Str(text) if !numpy => {
            cx.reject(RejectKind::Index, format!("the string {text:?} cannot be an index of a tensor"), Vec::new());
            return Err(Rejected);
        }
        Value::Tuple(items) => list(cx, value, items, numpy, inside),
        Value::Obj(id) => match cx.it.heap.get(*id) {
            Data::Tensor(_) => match cx.tensor(value) {
                Some(tensor) => array(cx, tensor, numpy)?,
                None => Item::Unknown,
            },
            Data::List(Items::Exact(items)) => list(cx, value, &items.clone(), numpy, inside),
            Data::Iter(crate::value::Iter { items: Items::Exact(items), .. }) => {
                let items = items.clone();
                let stand_in = Value::tuple(items.clone());
                list(cx, &stand_in, &items, numpy, inside)
            }
            Data::List(Items::Many(element)) => {
                let one = Tensor { shape: Some(vec![Dim::UNKNOWN]), ..Tensor::default() };
                match element.number_type() {
                    Some(Type::Int) => Item::Index(one.with_dtype(Some(Dtype::Int64), None)),
                    Some(Type::Bool) => Item::Mask(one.with_dtype(Some(Dtype::Bool), None)),
                    _ => Item::Unknown,
                }
            }
            _ => Item::Unknown,
        },
        _ => Item::Unknown,
    })
}

fn slice(cx: &mut Cx<'_, '_>, parts: &[Value; 3], numpy: bool) -> Result<Item, Rejected> {
    let [start, stop, step] = parts;
    for (name, part) in [("start", start), ("stop", stop), ("step", step)] {
        if matches!(part, Value::Float(_) | Value::Str(_) | Value::Any(Type::Float | Type::Str)) {
            let message = format!("the {name} of a slice must be an integer or None");
            cx.reject(RejectKind::Index, message, Vec::new());
            return Err(Rejected);
        }
    }
    let by = if step.is_none() { Some(1) } else { carry::size(cx, step).known() };
    if by.is_some_and(|n| n == 0 || (n < 0 && !numpy)) {
        let message = format!("the step of the slice is {}: it must be positive", by.unwrap_or(0));
        cx.reject(RejectKind::Value, message, Vec::new());
        return Err(Rejected);
    }
    // 0-dimensional tensors are read as integers.
    let plain = |v: &Value| match v {
        Value::None => Value::None,
        Value::Ranged(_) => v.clone(),
        other => Value::size(&carry::size(cx, other)),
    };
    let maybe_none = |v: &Value| if v.is_unknown() { Value::Unknown } else { plain(v) };
    Ok(Item::Slice([maybe_none(start), maybe_none(stop), maybe_none(step)]))
}

/// A list as an index tensor. If the whole index is a list of lists, tensors or slices, the result
/// is unknown: PyTorch reads such a list as a tuple, but has announced that it will read it as a
/// tensor.
fn list(cx: &mut Cx<'_, '_>, value: &Value, items: &[Value], numpy: bool, inside: bool) -> Item {
    if items.is_empty() {
        let none = Tensor { shape: Some(vec![Dim::int(0)]), ..Tensor::default() };
        return Item::Index(none.with_dtype(Some(Dtype::Int64), None));
    }
    let flat = items.iter().all(|v| matches!(v.number_type(), Some(Type::Int | Type::Bool)));
    if !flat && !inside && !numpy {
        return Item::Unknown;
    }
    match literal::facts(cx, value) {
        Ok(made) => match made.dtype {
            Some(Dtype::Bool) => Item::Mask(made),
            Some(d) if d.is_integral() => Item::Index(made),
            _ => Item::Unknown,
        },
        Err(_) => Item::Unknown,
    }
}

fn array(cx: &mut Cx<'_, '_>, tensor: Tensor, numpy: bool) -> Result<Item, Rejected> {
    let torch = tensor.array == ArrayKind::Torch;
    let mask = |d: Dtype| d == Dtype::Bool || (d == Dtype::Uint8 && torch && !numpy);
    let rank = tensor.rank();
    let refused = |d: Dtype| {
        !d.is_integral()
            || (torch && !numpy && matches!(d, Dtype::Int8 | Dtype::Int16) && rank.is_some_and(|rank| rank > 0))
    };
    // PyTorch truncates the elements of a NumPy array to integers.
    if !torch && !numpy && tensor.dtype.is_some_and(|d| !d.is_integral()) && rank.is_some_and(|rank| rank > 0) {
        return Ok(Item::Unknown);
    }
    if let Some(dtype) = tensor.dtype.filter(|d| refused(*d) && !matches!(d, Dtype::Other(_))) {
        let message = format!("a tensor of {dtype} cannot be an index: use int64, int32 or bool");
        let named: Named<'_> = ("the index", &tensor);
        let kind = if dtype.is_integral() { RejectKind::Dtype } else { RejectKind::Index };
        cx.reject(kind, message, vec![dtype_read(named)]);
        return Err(Rejected);
    }
    let one = match tensor.data.as_deref() {
        Some([one]) => Some(*one),
        _ => None,
    };
    // NumPy takes a PyTorch tensor with one element as a number.
    if numpy && torch && tensor.rank() != Some(0) {
        match tensor.numel() {
            Size::Int(1) => return Ok(Item::At(one.and_then(carry::whole).map_or(Size::Unknown, Size::Int))),
            Size::Int(_) => {}
            _ => return Ok(Item::Unknown),
        }
    }
    Ok(match (tensor.dtype, tensor.rank()) {
        (Some(d), Some(0)) if mask(d) => Item::Flag(one.map(|x| x != 0.0)),
        (Some(_), Some(0)) => Item::At(one.and_then(carry::whole).map_or(Size::Unknown, Size::Int)),
        (Some(d), Some(_)) if mask(d) => Item::Mask(tensor),
        (Some(_), Some(_)) => Item::Index(tensor),
        // The tensor is a mask, or it contains positions. In both cases, the result has one new
        // dimension in place of the indexed dimension.
        (None, Some(1)) => Item::Index(Tensor { shape: Some(vec![Dim::UNKNOWN]), data: None, ..tensor }),
        _ => Item::Unknown,
    })
}

/// The start, length and step of a slice, as far as they are known.
pub(super) fn bounds(n: &Size, [start, stop, step]: &[Value; 3]) -> (Option<i64>, Size, Option<i64>) {
    let by = if step.is_none() { Some(1) } else { step.as_int() };
    let Some(by) = by.filter(|b| *b != 0) else { return (None, Size::Unknown, None) };
    // `x[i : i + n]`, if each possible `i` leaves room for `n` elements.
    if let (Value::Ranged(start), Value::Ranged(stop), 1) = (start, stop, by)
        && let (Some(end), Some(width)) = (start.range.end(), &stop.span)
        && at_most(&Size::Int(0), width)
        && at_most(&end.add(width).sub(&Size::Int(1)), n)
    {
        return (None, width.clone(), Some(1));
    }
    let optional = |v: &Value| match v {
        Value::None => Some(None),
        other => other.as_size().map(Some),
    };
    let (Some(start), Some(stop)) = (optional(start), optional(stop)) else { return (None, Size::Unknown, Some(by)) };
    if let Some(n) = n.known() {
        let known = |s: &Option<Size>| match s {
            None => Some(None),
            Some(size) => size.known().map(Some),
        };
        if let (Some(start), Some(stop)) = (known(&start), known(&stop)) {
            let (from, length) = python_slice(n, start, stop, by);
            return (Some(from), Size::Int(length), Some(by));
        }
    }
    if by < 0 {
        let whole = start.is_none() && stop.is_none() && by == -1;
        return (None, if whole { n.clone() } else { Size::Unknown }, Some(by));
    }
    let place = |at: Option<Size>, end: &Size| match at {
        None => end.clone(),
        Some(at) => clip(&at, n),
    };
    let from = place(start, &Size::Int(0));
    let to = place(stop, n);
    let length = if at_most(&from, &to) {
        to.sub(&from)
    } else if at_most(&to, &from) {
        Size::Int(0)
    } else {
        Size::Unknown
    };
    let length = match (length, by) {
        (length, 1) => length,
        (Size::Int(n), by) => Size::Int(n.saturating_add(by - 1) / by),
        (length, by) => length.div_exact(&Size::Int(by)).unwrap_or(Size::Unknown),
    };
    (from.known(), length, Some(by))
}

/// The start or end of a slice in a dimension of length `n`: a negative number counts from the
/// back, and a number above `n` becomes `n`.
fn clip(at: &Size, n: &Size) -> Size {
    if at.known().is_some_and(|k| k < 0) {
        let from_end = n.add(at);
        return if at_most(&Size::Int(0), &from_end) { from_end } else { Size::Unknown };
    }
    if !at_most(&Size::Int(0), at) {
        return Size::Unknown;
    }
    if at_most(at, n) {
        at.clone()
    } else if at_most(n, at) {
        n.clone()
    } else {
        Size::Unknown
    }
}

/// The first index of a slice as in Python's `slice.indices`, and the number of indices.
fn python_slice(n: i64, start: Option<i64>, stop: Option<i64>, step: i64) -> (i64, i64) {
    let (low, high) = if step < 0 { (-1, n - 1) } else { (0, n) };
    let clip = |x: i64| if x < 0 { x.saturating_add(n).max(low) } else { x.min(high) };
    let from = start.map_or(if step < 0 { high } else { low }, clip);
    let to = stop.map_or(if step < 0 { low } else { high }, clip);
    let span = if step < 0 { from - to } else { to - from };
    let count = if span <= 0 { 0 } else { (span - 1) / step.saturating_abs() + 1 };
    (from, count)
}

/// The number of elements that a mask selects.
pub(super) fn mask_count(cx: &mut Cx<'_, '_>, mask: &Tensor) -> Dim {
    match true_count(mask) {
        Some(n) => Dim::new(Size::Int(n), cx.at()),
        None => cx.fresh_count(carry::SELECTED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Heap;

    fn slice(parts: [Option<i64>; 3], n: &Size) -> String {
        let value = |x: Option<i64>| x.map_or(Value::None, Value::Int);
        bounds(n, &parts.map(value)).1.to_string()
    }

    #[test]
    fn slices_are_as_long_as_in_python() {
        let five = Size::Int(5);
        assert_eq!(slice([None, Some(-1), None], &five), "4");
        assert_eq!(slice([Some(1), Some(9), Some(2)], &five), "2");
        assert_eq!(slice([Some(3), Some(1), None], &five), "0");
        assert_eq!(slice([None, None, Some(-1)], &five), "5");
        assert_eq!(slice([Some(-2), None, None], &five), "2");
    }

    #[test]
    fn slices_of_symbols_are_exact_where_they_can_be() {
        let mut heap = Heap::new();
        let b = Size::symbol(heap.symbol("B"));
        assert_eq!(slice([None, Some(-1), None], &b), "B-1");
        assert_eq!(slice([Some(1), None, None], &b), "B-1");
        assert_eq!(slice([Some(-1), None, None], &b), "1");
        assert_eq!(slice([None, Some(4), None], &b), "?");
        assert_eq!(slice([Some(2), None, None], &b), "?");
        assert_eq!(slice([None, None, Some(2)], &b.mul(&Size::Int(2))), "B");
        assert_eq!(slice([None, Some(0), None], &b), "0");
    }
}
