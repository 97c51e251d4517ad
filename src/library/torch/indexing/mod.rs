//! Subscripts of PyTorch tensors and NumPy arrays, loops over them, `len`, and truth values.

mod index;
mod plan;
mod set;

use std::sync::{Arc, LazyLock};

use super::broadcast::shape_text;
use super::carry::{self, rearranged};
use super::convert::python_number;
use super::views::layout;
use crate::library::Cx;
use crate::library::numpy::reversed;
use crate::python::{Arg, Args, Interp, RejectKind, Sig};
use crate::syntax::Span;
use crate::value::{ArrayKind, Heap, Items, Met, Range, Size, Tensor, Type, Value, sym};

pub(crate) use set::check_put;

static GET: LazyLock<Arc<Sig>> = LazyLock::new(|| Arc::new(Sig::parse("input, key")));
static SET: LazyLock<Arc<Sig>> = LazyLock::new(|| Arc::new(Sig::parse("input, key, value")));

/// The context of a subscript, which is treated as a call of a special method such as
/// `__getitem__`.
fn context<'a, 'p>(it: &'a mut Interp<'p>, tensor: &Tensor, method: &str, span: Span) -> Cx<'a, 'p> {
    let class = match tensor.array {
        ArrayKind::Torch => "torch.Tensor",
        ArrayKind::Numpy => "numpy.ndarray",
    };
    Cx { it, path: sym(&format!("{class}.{method}")), span }
}

/// Notifies the observer of a subscript, and evaluates the subscript.
fn announced<T>(cx: &mut Cx<'_, '_>, sig: &Arc<Sig>, values: &[&Value], run: impl FnOnce(&mut Cx<'_, '_>) -> T) -> T {
    let args = Args { pos: values.iter().map(|v| Arg::new((*v).clone(), cx.span)).collect(), ..Args::default() };
    let (path, span) = (cx.path, cx.span);
    let bound = sig.bind(&args);
    if let Some(bound) = &bound {
        cx.it.announce(path, bound, span);
    }
    let refused = cx.it.refused.0;
    let result = run(cx);
    if let Some(bound) = &bound {
        cx.it.tell_refused(refused, path, bound);
    }
    result
}

/// `object[index]`.
pub(crate) fn get(it: &mut Interp<'_>, object: &Value, index: &Value, span: Span) -> Option<Value> {
    let input = it.heap.tensor_of(object)?;
    if is_mapping(&input, index) {
        return Some(Value::Unknown);
    }
    let cx = &mut context(it, &input, "__getitem__", span);
    let out = announced(cx, &GET, &[object, index], |cx| select(cx, object, &input, index));
    if index.is_sample_index()
        && let (Some(id), Some(range)) = (out.as_obj(), &input.range)
    {
        let (range, columns) = (range.clone(), carry::columns(&input));
        cx.it.heap.update_tensor(id, |t| {
            t.range = Some(if t.rank() == Some(0) { range.of_sample() } else { range.of_columns(columns) });
            t.range_at = input.range_at;
        });
    }
    Some(out)
}

/// Whether a value that is modelled as a tensor without known facts is used as a dict. It may be
/// modelled as a tensor only because of a wrong annotation.
fn is_mapping(input: &Tensor, index: &Value) -> bool {
    matches!(index, Value::Str(_)) && input.shape.is_none() && input.dtype.is_none() && input.device.is_none()
}

fn select(cx: &mut Cx<'_, '_>, object: &Value, input: &Tensor, index: &Value) -> Value {
    let Ok(plan) = plan::read_plan(cx, input, index) else { return carry::like_only(cx, input) };
    // An element of an object array may be any object.
    let single = plan.dims.as_ref().is_none_or(|dims| dims.is_empty());
    if single && !plan.advanced && input.array == ArrayKind::Numpy && input.dtype.is_none() {
        return Value::Unknown;
    }
    let mut out = rearranged(cx, input, plan.dims.clone(), plan.takes, |at| plan.source(at));
    if let Some(column) = column_of(input, index) {
        out.range = Some(column);
    } else if let Some(met) = input.range.as_ref().and_then(|r| r.met).filter(|_| any_place(index)) {
        out.range = out.range.map(|range| range.with_met(Some(Met { always: false, ..met })));
    }
    if plan.copies {
        return cx.out(out);
    }
    let view = cx.view_of(object, out);
    if input.array == ArrayKind::Numpy {
        reversed::indexed(cx, &view, input, index);
    } else if only_slices(index) {
        layout::cut(cx, &view, input);
    }
    view
}

/// Whether an index contains only slices and `...`, so that it keeps all dimensions.
fn only_slices(index: &Value) -> bool {
    match index {
        Value::Tuple(items) => items.iter().all(only_slices),
        Value::Slice(_) | Value::Ellipsis => true,
        _ => false,
    }
}

/// Whether an index may select any position. Each position is then assumed to be selected in some
/// call.
fn any_place(index: &Value) -> bool {
    match index {
        Value::Tuple(items) => items.iter().all(any_place),
        Value::Slice(parts) => parts.iter().all(Value::is_none),
        Value::Ranged(_) | Value::Any(Type::Int) | Value::Ellipsis | Value::None => true,
        _ => false,
    }
}

/// The range of `rows[:, i]`, if the ranges of the columns are known.
fn column_of(input: &Tensor, index: &Value) -> Option<Range> {
    let Value::Tuple(items) = index else { return None };
    let [Value::Slice(parts), Value::Int(at)] = &**items else { return None };
    let whole = parts.iter().all(Value::is_none) && input.rank() == Some(2);
    let width = input.dim(-1)?.size.known().filter(|_| whole)?;
    let at = usize::try_from(if *at < 0 { at.checked_add(width)? } else { *at }).ok()?;
    input.range.as_ref()?.column(at).cloned()
}

/// `object[index] = value`.
pub(crate) fn set(it: &mut Interp<'_>, object: &Value, index: &Value, value: &Value, span: Span) -> bool {
    let Some(input) = it.heap.tensor_of(object) else { return false };
    if is_mapping(&input, index) {
        return true;
    }
    // If the index shares memory with the tensor, the write changes the index while PyTorch reads
    // it.
    let own = |it: &Interp<'_>, value: &Value| value.as_obj().map(|id| it.heap.memory_of(id));
    let index = match it.heap.is_tensor(index) && own(it, index) == own(it, object) {
        true => &Value::Unknown,
        false => index,
    };
    let cx = &mut context(it, &input, "__setitem__", span);
    announced(cx, &SET, &[object, index, value], |cx| set::assign(cx, object, index, value));
    true
}

/// The length of a dimension after a slice.
pub(crate) fn slice_length(size: &Size, parts: &[Value; 3]) -> Size {
    index::bounds(size, parts).1
}

/// The longest tensor whose rows are iterated one by one; for longer ones, all rows are joined.
const MOST_ROWS: i64 = 32;

/// `for row in object`.
pub(crate) fn iterate(it: &mut Interp<'_>, object: &Value, span: Span) -> Option<Items> {
    let input = it.heap.tensor_of(object)?;
    let cx = &mut context(it, &input, "__iter__", span);
    if input.rank() == Some(0) {
        let reads = vec![("the tensor gets its shape here".to_owned(), input.shape_at)];
        let made_here = cx.it.is_made_here(object);
        cx.report_if_independent(made_here, |cx| {
            cx.reject(RejectKind::Rank, "iteration over a 0-dimensional tensor", reads);
        });
        return Some(Items::Many(Value::Unknown));
    }
    let length = input.dim(0).and_then(|d| d.size.known());
    Some(match length {
        Some(n) if n <= MOST_ROWS => Items::Exact((0..n).map(|i| select(cx, object, &input, &Value::Int(i))).collect()),
        _ => Items::Many(select(cx, object, &input, &Value::Any(Type::Int))),
    })
}

/// `len(object)`.
pub(crate) fn length(it: &mut Interp<'_>, object: &Value) -> Option<Value> {
    let input = it.heap.tensor_of(object)?;
    Some(match input.dim(0) {
        Some(dim) => Value::size(&dim.size),
        None if input.rank() == Some(0) => Value::Unknown,
        None => Value::Any(Type::Int),
    })
}

/// The exception and the message for a condition on a tensor or array that certainly has more than
/// one element.
pub(crate) fn without_truth(heap: &Heap, object: &Value) -> Option<(&'static str, String)> {
    let input = heap.tensor_of(object).filter(|tensor| tensor.wrapper.is_none())?;
    if Size::Int(1).less(&input.numel()) != Some(true) {
        return None;
    }
    let (exception, what) = match input.array {
        ArrayKind::Torch => ("RuntimeError", "a tensor"),
        ArrayKind::Numpy => ("ValueError", "an array"),
    };
    let shape = shape_text(&input);
    Some((
        exception,
        format!("{what} of more than one element, here {shape}, cannot be a condition: use `any()` or `all()`"),
    ))
}

/// The truth value of a tensor, if its only element is known.
pub(crate) fn truth(it: &mut Interp<'_>, object: &Value) -> Option<bool> {
    let input = it.heap.tensor_of(object)?;
    match input.data.as_deref() {
        Some([one]) => match python_number(Some(*one), input.dtype) {
            Value::Unknown | Value::Open(_) => None,
            _ => Some(*one != 0.0),
        },
        _ => None,
    }
}
