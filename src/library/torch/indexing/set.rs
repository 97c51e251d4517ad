//! `x[index] = value`.

use super::index::{Item, parse};
use super::plan::{Plan, plan, plan_items};
use crate::library::Cx;
use crate::library::torch::broadcast::{device_read, dtype_read, grad_mode, result_grad, shape_read, shape_text};
use crate::library::torch::carry::{self, Rejected, Takes};
use crate::library::torch::cast::{cast, cast_value};
use crate::library::torch::factory::options::fills;
use crate::library::torch::picks;
use crate::library::torch::scatter::{check_real, number, written_range};
use crate::library::torch::views::split::refuse_write;
use crate::python::{Event, RejectKind};
use crate::value::{ArrayKind, Data, Dim, Grad, Met, Picks, Range, Size, Tensor, Type, Value, dims_text};

pub(super) fn assign(cx: &mut Cx<'_, '_>, object: &Value, index: &Value, value: &Value) {
    let (Some(id), Some(input)) = (object.as_obj(), cx.tensor(object)) else { return };
    let Ok(plan) = plan(cx, &input, index) else { return };
    let facts = match source(cx, &input, value) {
        Ok(facts) => facts,
        Err(Rejected) => {
            forget(cx, object, input);
            return;
        }
    };
    let tensor = cx.tensor(value);
    let fine = check(cx, &input, &plan, tensor.as_ref());
    let fine = fine && check_leaf(cx, &input) && !refuse_write(cx, id, &input, Some(&facts));
    if !fine {
        forget(cx, object, input);
        return;
    }
    let rest = if passes_over(index) {
        Rest::Some
    } else if leaves_a_rest(index) {
        Rest::Perhaps
    } else {
        Rest::Unknown
    };
    let picked = if plan.only_mask { picks::of(cx, index, object) } else { None };
    let after = changed(cx, &input, &plan, &facts, rest, picked);
    if input.array == ArrayKind::Torch {
        let span = cx.span;
        cx.it.event(Event::Written { object: id, result: value, span });
    }
    cx.it.heap.overwrite(id, after);
}

/// Forgets the values of a tensor after an unknown write.
fn forget(cx: &mut Cx<'_, '_>, object: &Value, mut input: Tensor) {
    input.forget_values();
    if let Some(id) = object.as_obj() {
        cx.it.heap.overwrite(id, input);
    }
}

/// The facts of the assigned value. `Err` if it cannot be assigned, which has been reported.
fn source(cx: &mut Cx<'_, '_>, input: &Tensor, value: &Value) -> Result<Tensor, Rejected> {
    if let Some(tensor) = cx.tensor(value) {
        if tensor.array == ArrayKind::Numpy && input.array == ArrayKind::Torch && tensor.rank().is_some_and(|r| r > 0) {
            cx.reject(
                RejectKind::Value,
                "a NumPy array cannot be assigned to elements of a tensor: convert it with torch.from_numpy",
                Vec::new(),
            );
            return Err(Rejected);
        }
        return Ok(tensor);
    }
    if let Some(number) = number(value) {
        check_real(cx, value, ("the tensor", input))?;
        if let Some(x) = value.as_f64()
            && input.array == ArrayKind::Torch
            && !fills(cx, x, ("the tensor", input))
        {
            return Err(Rejected);
        }
        return Ok(number);
    }
    let torch = input.array == ArrayKind::Torch;
    let refused = match value {
        Value::None => Some("None"),
        Value::Str(_) | Value::Among(_) | Value::Any(Type::Str) => Some("a string"),
        Value::Tuple(_) => Some("a tuple"),
        Value::Obj(id) if matches!(cx.it.heap.get(*id), Data::List(_)) => Some("a list"),
        _ => None,
    };
    match refused {
        Some(what) if torch => {
            cx.reject(
                RejectKind::Value,
                format!("{what} cannot be assigned to elements of a tensor: use a number or a tensor"),
                Vec::new(),
            );
            Err(Rejected)
        }
        _ => Ok(Tensor::default()),
    }
}

/// Whether shape, dtype and device of the assigned tensor fit the selection.
fn check(cx: &mut Cx<'_, '_>, input: &Tensor, plan: &Plan, value: Option<&Tensor>) -> bool {
    let Some(value) = value else { return true };
    // An element of an array of objects may be an array of any shape.
    let holds_objects = input.array == ArrayKind::Numpy && input.dtype.is_none();
    if let Some(dims) = &plan.dims
        && !broadcasts(value, dims)
        && !holds_objects
    {
        let message = format!(
            "the value has shape {}, but the selected elements have shape {}",
            shape_text(value),
            dims_text(dims)
        );
        cx.reject(
            RejectKind::Shape,
            message,
            vec![shape_read(("the value", value), None), shape_read(("the tensor", input), None)],
        );
        return false;
    }
    let torch = input.array == ArrayKind::Torch && value.array == ArrayKind::Torch;
    if !plan.gathers() || !torch {
        return true;
    }
    // PyTorch accepts a single value of another dtype for a mask, so the number of values must be
    // known.
    let several = value.shape.iter().flatten().any(|d| d.size.known().is_some_and(|n| n != 1));
    let one = value.numel().equals(&Size::Int(1)).filter(|_| !several).or(several.then_some(false));
    if let (Some(x), Some(y)) = (input.dtype, value.dtype)
        && x != y
        && (!plan.only_mask || one == Some(false))
        && plan.dims.is_some()
    {
        let message =
            format!("the value is {y} and the tensor {x}: an assignment through index arrays needs the same dtype");
        cx.reject(
            RejectKind::Dtype,
            message,
            vec![dtype_read(("the value", value)), dtype_read(("the tensor", input))],
        );
        return false;
    }
    if let (Some(x), Some(y)) = (input.device, value.device)
        && x.differs(y)
        && one == Some(false)
        && plan.dims.is_some()
    {
        let message = format!(
            "the value is on {y} and the tensor on {x}: an assignment through index arrays needs the same device"
        );
        cx.reject(
            RejectKind::Device,
            message,
            vec![device_read(("the value", value)), device_read(("the tensor", input))],
        );
        return false;
    }
    true
}

/// Whether a value can broadcast to a selection; leading dimensions of length 1 are ignored.
fn broadcasts(value: &Tensor, dims: &[Dim]) -> bool {
    let Some(shape) = &value.shape else { return true };
    let one = |d: &Dim| d.size.equals(&Size::Int(1));
    let extra = shape.len().saturating_sub(dims.len());
    if shape.iter().take(extra).any(|d| one(d) == Some(false)) {
        return false;
    }
    shape
        .iter()
        .rev()
        .zip(dims.iter().rev())
        .all(|(v, d)| one(v) != Some(false) || v.size.equals(&d.size) != Some(false))
}

/// Rejects a write to a leaf that requires grad while gradients are recorded.
fn check_leaf(cx: &mut Cx<'_, '_>, input: &Tensor) -> bool {
    let leaf = input.grad == Grad::Leaf && input.dtype.is_some_and(|d| !d.is_integral());
    if leaf && input.array == ArrayKind::Torch && grad_mode(cx) == Some(true) {
        let reads = vec![("the tensor is created here".to_owned(), input.shape_at)];
        let message = "elements of a leaf tensor that requires grad cannot be assigned while gradients are recorded";
        cx.reject(RejectKind::Value, message, reads);
        return false;
    }
    true
}

/// Whether an assignment leaves some elements unchanged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    Some,
    Perhaps,
    Unknown,
}

/// The tensor's facts after the assignment.
fn changed(cx: &Cx<'_, '_>, input: &Tensor, plan: &Plan, value: &Tensor, rest: Rest, picked: Option<Picks>) -> Tensor {
    let mut after = input.clone();
    if plan.dims.iter().flatten().any(|d| d.size.known() == Some(0)) {
        return after;
    }
    if input.array == ArrayKind::Torch {
        after.grad = match result_grad(cx, &[("input", input), ("value", value)], input.dtype) {
            // A leaf that is written to under no_grad stays a leaf.
            Grad::Off if input.grad == Grad::Leaf => Grad::Leaf,
            grad => grad,
        };
    }
    after.forget_values();
    let whole = plan.takes == Takes::All && plan.dims.is_some() && !plan.advanced;
    let new = written_range(value, input.dtype);
    after.range = match (&input.range, new) {
        (_, Some(new)) if whole => Some(new),
        (Some(have), Some(new)) if let Some(rest) = untouched(input, plan, have) => Some(beside(&rest, &new)),
        // Padding after sequences is assumed to remain, because some sequences are usually shorter
        // than the longest one.
        (Some(have), Some(new)) if rest == Rest::Some && !plan.advanced && have.lo() == have.hi() => {
            Some(beside(have, &new))
        }
        (Some(have), Some(new)) if rest == Rest::Some && !plan.advanced && have.attained && !have.certain => {
            Some(beside(&have.clone().of_part(), &new))
        }
        (Some(have), Some(new))
            if rest == Rest::Perhaps
                && let Some(padding) = have.meets() =>
        {
            Some(carry::either(have, &new).with_met(Some(Met { always: false, ..padding })))
        }
        // The mask is assumed to select an element in some run, because the assignment would
        // otherwise be useless.
        (Some(have), Some(new)) if plan.only_mask => Some(picks::replaced(have, picked, &new)),
        (Some(have), Some(new)) => Some(carry::either(have, &new)),
        // The written value occurs, even if the other values are unknown.
        (None, Some(new)) if new.certain && new.lo() == new.hi() && writes_some(plan) => {
            Some(Range::anything_and(new.lo(), true))
        }
        _ => None,
    };
    after.range_at = cx.at();
    if let Some(data) = patched(input, plan, value) {
        carry::set_data(&mut after, data, cx.at());
    }
    if whole {
        (after.role, after.role_at) = (value.role, value.role_at);
    }
    after
}

/// Whether an index is `[:n]`, or ends with it: typical for copying a sequence into a padded row.
fn leaves_a_rest(index: &Value) -> bool {
    let last = match index {
        Value::Tuple(items) => items.last(),
        other => Some(other),
    };
    matches!(last, Some(Value::Slice(parts)) if matches!(&**parts, [Value::None, stop, Value::None] if !stop.is_none()))
}

/// Whether the last part of an index is a slice from a later position to the end, or one position:
/// `[:, 1:]`, `[:, 0]`.
fn passes_over(index: &Value) -> bool {
    let last = match index {
        Value::Tuple(items) => items.last(),
        other => Some(other),
    };
    match last {
        Some(Value::Slice(parts)) => matches!(&**parts, [Value::Int(1..), Value::None, Value::None]),
        other => matches!(other, Some(Value::Int(_))),
    }
}

/// Whether the selection certainly has elements.
fn writes_some(plan: &Plan) -> bool {
    !plan.advanced && plan.dims.as_ref().is_some_and(|dims| dims.iter().all(|d| d.size.is_positive()))
}

/// The values that remain after an assignment to a part of a tensor; `None` if they are not known.
fn untouched(input: &Tensor, plan: &Plan, have: &Range) -> Option<Range> {
    let selection = carry::extents(plan.dims.as_deref()?)?;
    let count = selection.iter().try_fold(1usize, |n, e| n.checked_mul(*e))?;
    let total = carry::extents(input.shape.as_deref()?)?.iter().try_fold(1usize, |n, e| n.checked_mul(*e))?;
    if count == 0 || plan.advanced {
        return None;
    }
    // All elements are equal, so their value remains if an element is not assigned.
    if have.certain && have.lo() == have.hi() {
        return (count < total).then(|| have.clone());
    }
    // A value that occurs in the tensor in some batch also occurs in its remaining part in some
    // batch.
    if have.attained && !have.certain {
        return (count < total).then(|| have.clone().of_part());
    }
    let extents = carry::extents(input.shape.as_deref()?)?;
    let mut data: Vec<Option<f64>> = input.data.as_ref()?.iter().copied().map(Some).collect();
    carry::build(&selection, |index| {
        let from = plan.source(index);
        let flat = from
            .iter()
            .zip(&extents)
            .try_fold(0usize, |at, (i, n)| (i < n).then(|| at.checked_mul(*n)?.checked_add(*i)).flatten())?;
        *data.get_mut(flat)? = None;
        Some(0.0)
    })?;
    Range::of_values(&data.into_iter().flatten().collect::<Vec<f64>>())
}

/// The range of a tensor that contains all values of both ranges.
fn beside(rest: &Range, new: &Range) -> Range {
    let epoch = |r: &Range| r.epoch || r.certain && r.attained;
    let mut all = rest.union(new);
    all.epoch = epoch(rest) && epoch(new) && !all.certain;
    all
}

/// The elements after the assignment, if all are known.
fn patched(input: &Tensor, plan: &Plan, value: &Tensor) -> Option<std::rc::Rc<[f64]>> {
    let extents = carry::extents(input.shape.as_deref()?)?;
    let selection = carry::extents(plan.dims.as_deref()?)?;
    let mut value = value.clone();
    cast(&mut value, input.dtype);
    let value_dims = value.shape.clone()?;
    let single = match (&value.data, &value.range) {
        (Some(_), _) => None,
        (None, Some(r)) if r.lo() == r.hi() && r.certain => cast_value(r.lo(), input.dtype?),
        _ => return None,
    };
    let mut data = input.data.as_ref()?.to_vec();
    carry::build(&selection, |index| {
        let skip = index.len().saturating_sub(value_dims.len());
        let new = match single {
            Some(x) => x,
            None => {
                let extra = value_dims.len().saturating_sub(index.len());
                let own = index.iter().skip(skip).zip(value_dims.iter().skip(extra));
                let tail = own.map(|(i, d)| if d.size.known() == Some(1) { 0 } else { *i });
                let at: Vec<usize> = std::iter::repeat_n(0, extra).chain(tail).collect();
                carry::element(&value, &at)?
            }
        };
        let from = plan.source(index);
        let flat = from
            .iter()
            .zip(&extents)
            .try_fold(0usize, |at, (i, n)| (i < n).then(|| at.checked_mul(*n)?.checked_add(*i)).flatten())?;
        *data.get_mut(flat)? = new;
        Some(new)
    })?;
    Some(data.into())
}

/// The checks of `index_put`: the indices are treated like the items of a subscript, but `None`
/// selects a whole dimension.
pub(crate) fn check_put(cx: &mut Cx<'_, '_>, input: &Tensor, indices: &[Value], values: &Tensor) {
    let mut items = Vec::new();
    for index in indices {
        match index {
            Value::None => items.push(Item::Slice([Value::None, Value::None, Value::None])),
            other => match parse(cx, other, false) {
                Ok(found) => items.extend(found),
                Err(Rejected) => return,
            },
        }
    }
    if let Ok(plan) = plan_items(cx, input, &items) {
        check(cx, input, &plan, Some(values));
    }
}
