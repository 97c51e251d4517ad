//! Functions that split a tensor, or select a part of it along one dimension.

use crate::library::torch::broadcast::{grad_mode, shape_read, shape_text};
use crate::library::torch::carry::{self, Rejected, Takes, rearranged};
use crate::library::{Cx, Table};
use crate::python::{Bound, Interp, RejectKind};
use crate::value::{Data, Dim, Dtype, Grad, Items, ObjId, Size, Tensor, Type, Value, counted};

pub(crate) fn register(t: &mut Table) {
    t.def("torch.split", "input, split_size_or_sections, dim=0", |cx, b| {
        views(cx, b, |cx, b| split(cx, b, "split_size_or_sections"))
    });
    t.listed("torch.Tensor.", "split", |cx, b| views(cx, b, |cx, b| split(cx, b, "split_size")));
    t.listed("torch.", "unsafe_split split_copy", |cx, b| split(cx, b, "split_size"));
    t.listed("torch.", "split_with_sizes", |cx, b| views(cx, b, |cx, b| split(cx, b, "split_sizes")));
    t.listed("torch.", "unsafe_split_with_sizes split_with_sizes_copy", |cx, b| split(cx, b, "split_sizes"));
    t.listed("torch.", "chunk", |cx, b| views(cx, b, chunk));
    t.listed("torch.", "unsafe_chunk", chunk);
    t.defs(
        "torch.tensor_split",
        &[
            "input, indices_or_sections, dim=0",
            "input, *, sections, dim=0",
            "input, *, indices, dim=0",
            "input, *, tensor_indices_or_sections, dim=0",
        ],
        tensor_split,
    );
    t.defs(
        "torch.hsplit",
        &["input, *indices_or_sections", "input, *, sections", "input, *, indices"],
        direction_split,
    );
    t.defs(
        "torch.vsplit",
        &["input, *indices_or_sections", "input, *, sections", "input, *, indices"],
        direction_split,
    );
    t.defs(
        "torch.dsplit",
        &["input, *indices_or_sections", "input, *, sections", "input, *, indices"],
        direction_split,
    );
    t.listed("torch.", "unbind_copy", unbind);
    t.listed("torch.", "unbind", |cx, b| views(cx, b, unbind));
    t.listed("torch.", "narrow_copy", narrow);
    t.listed("torch.", "narrow", narrow);
    t.listed("torch.", "select_copy", select);
    t.listed("torch.", "select", select);
    t.listed("torch.", "slice_copy", slice_copy);
}

/// Notes that the results of a function are views that one call made: autograd forbids changing one of
/// them in place. `tensor_split` and similar functions make each view by a separate call.
fn views(cx: &mut Cx<'_, '_>, b: &Bound, make: fn(&mut Cx<'_, '_>, &Bound) -> Value) -> Value {
    let result = make(cx, b);
    if grad_mode(cx) == Some(false) {
        return result;
    }
    for id in parts_of(cx.it, &result).iter().filter_map(Value::as_obj) {
        cx.it.heap.note_one_of_views(id);
    }
    result
}

/// The tensors that a function of this file has made. If their number is not known, one represents all.
pub(crate) fn parts_of(it: &Interp<'_>, result: &Value) -> Vec<Value> {
    match result.as_obj().map(|id| it.heap.get(id)) {
        Some(Data::Iter(iter)) => match &iter.items {
            Items::Many(one) => vec![one.clone()],
            Items::Exact(all) => all.clone(),
        },
        _ => result.parts().to_vec(),
    }
}

/// Rejects a write to one of several views that one call made, if autograd records or may record it.
/// Returns whether it did so.
pub(crate) fn refuse_write(cx: &mut Cx<'_, '_>, id: ObjId, written: &Tensor, result: Option<&Tensor>) -> bool {
    let records = |tensor: &Tensor| matches!(tensor.grad, Grad::Leaf | Grad::Attached);
    if !cx.it.heap.is_one_of_views(id) || !(records(written) || result.is_some_and(records)) {
        return false;
    }
    let message = "the tensor is one of several views that one call (split, chunk or unbind) has made: it cannot be \
                   written to";
    let reads = vec![("the view is made here".to_owned(), written.shape_at)];
    match grad_mode(cx) {
        Some(true) => cx.reject(RejectKind::Value, format!("{message} while gradients are recorded"), reads),
        Some(false) => return false,
        None => cx.reject_if("while gradients are recorded", RejectKind::Value, message, reads),
    }
    true
}

/// The view of `length` elements from `start` along a dimension. `length` and `start` may be
/// unknown.
pub(crate) fn narrowed(
    cx: &mut Cx<'_, '_>,
    value: &Value,
    input: &Tensor,
    axis: usize,
    start: Option<i64>,
    length: Size,
) -> Value {
    let mut dims = input.shape.clone();
    let whole =
        input.shape.as_ref().and_then(|d| d.get(axis)).is_some_and(|d| d.size == length && !length.is_unknown());
    if let Some(slot) = dims.as_mut().and_then(|d| d.get_mut(axis))
        && !whole
    {
        *slot = Dim::new(length, cx.at());
    }
    let last = input.rank().is_some_and(|r| axis + 1 == r);
    let takes = match (whole, last) {
        (true, _) => Takes::All,
        (false, true) => Takes::CutsLast,
        (false, false) => Takes::Some,
    };
    let from = start.and_then(|s| usize::try_from(s).ok());
    let out = rearranged(cx, input, dims, takes, |index| {
        let mut index = index.to_vec();
        if let Some(slot) = index.get_mut(axis) {
            // If the start is unknown, the index is set out of range, which makes the elements
            // unknown.
            *slot = from.and_then(|f| slot.checked_add(f)).unwrap_or(usize::MAX);
        }
        index
    });
    cx.view_of(value, out)
}

/// The view at one index of a dimension. The view does not have this dimension.
fn selected(cx: &mut Cx<'_, '_>, value: &Value, input: &Tensor, axis: usize, index: Option<i64>) -> Value {
    let mut dims = input.shape.clone();
    if let Some(dims) = dims.as_mut().filter(|d| axis < d.len()) {
        dims.remove(axis);
    }
    let last = input.rank().is_some_and(|r| axis + 1 == r);
    let at = index.and_then(|i| usize::try_from(i).ok()).unwrap_or(usize::MAX);
    let takes = if last { Takes::CutsLast } else { Takes::Some };
    let out = rearranged(cx, input, dims, takes, |from| {
        let mut from = from.to_vec();
        from.insert(axis.min(from.len()), at);
        from
    });
    cx.view_of(value, out)
}

/// A tuple of consecutive pieces of these lengths.
fn pieces(cx: &mut Cx<'_, '_>, value: &Value, input: &Tensor, axis: usize, lengths: &[Size]) -> Value {
    let mut start = Size::Int(0);
    let mut out = Vec::with_capacity(lengths.len());
    for length in lengths {
        out.push(narrowed(cx, value, input, axis, start.known(), length.clone()));
        start = start.add(length);
    }
    Value::tuple(out)
}

/// An unknown number of pieces, each with this length along the dimension.
fn some_pieces(cx: &mut Cx<'_, '_>, value: &Value, input: &Tensor, axis: Option<usize>, length: Size) -> Value {
    let piece = match axis {
        Some(axis) => narrowed(cx, value, input, axis, None, length),
        None => {
            let dims = input.rank().map(|r| vec![Dim::UNKNOWN; r]);
            let out = carry::shuffled(cx, input, dims, Takes::CutsLast);
            cx.view_of(value, out)
        }
    };
    many(cx, piece)
}

/// A sequence of an unknown number of values like `piece`.
fn many(cx: &mut Cx<'_, '_>, piece: Value) -> Value {
    cx.it.heap.iter(Items::Many(piece))
}

/// `input`, its facts, and the dimension to split (`None` if it is not known).
type Split = (Value, Tensor, Option<usize>);

/// Reads `input` and `dim`. `Err` contains the result of the call if `input` is unknown or the call
/// is rejected.
fn splitting(cx: &mut Cx<'_, '_>, b: &Bound) -> Result<Split, Value> {
    let value = b.get("input");
    let Some(input) = cx.tensor(&value) else {
        let element = cx.some_tensor();
        return Err(many(cx, element));
    };
    if input.rank() == Some(0) {
        let message = format!("`input` has no dimensions: {} splits along a dimension", cx.name());
        cx.reject(RejectKind::Rank, message, vec![shape_read(("input", &input), None)]);
        return Err(Value::Unknown);
    }
    match carry::axis(cx, &b.get("dim"), &input) {
        Ok(axis) => Ok((value, input, axis)),
        Err(Rejected) => Err(Value::Unknown),
    }
}

fn length(input: &Tensor, axis: Option<usize>) -> Size {
    axis.and_then(|a| input.shape.as_ref()?.get(a).map(|d| d.size.clone())).unwrap_or(Size::Unknown)
}

/// If there are more pieces, only their join is stored.
const MOST_PIECES: i64 = 256;

/// The lengths of the pieces if a dimension of length `total` is split after every `size` elements.
/// The last piece may be shorter. `None` if there are too many pieces.
fn even(total: i64, size: i64) -> Option<Vec<Size>> {
    if size <= 0 || total < 0 {
        return None;
    }
    let full = total.checked_div(size)?;
    let rest = total.checked_rem(size)?;
    if full > MOST_PIECES {
        return None;
    }
    let mut out: Vec<Size> = (0..full).map(|_| Size::Int(size)).collect();
    if rest > 0 || out.is_empty() {
        out.push(Size::Int(rest));
    }
    Some(out)
}

fn split(cx: &mut Cx<'_, '_>, b: &Bound, parameter: &str) -> Value {
    let (value, input, axis) = match splitting(cx, b) {
        Ok(found) => found,
        Err(answer) => return answer,
    };
    let total = length(&input, axis);
    let given = b.get(parameter);
    if let Some(items) = cx.items(&given) {
        let sizes: Vec<Size> = items.iter().map(|v| carry::size(cx, v)).collect();
        let sum = sizes.iter().fold(Size::Int(0), |n, s| n.add(s));
        let negative = sizes.iter().any(|s| s.known().is_some_and(|n| n < 0));
        if sum.equals(&total) == Some(false) || negative {
            let sizes_text = carry::sizes_text(&sizes);
            let message = match negative {
                true => format!("{} is split into the sizes {sizes_text}, one of which is negative", dim_text(axis)),
                false => format!(
                    "{} has length {total}, but the sizes to split it into are {sizes_text}, whose sum is {sum}",
                    dim_text(axis)
                ),
            };
            cx.reject(RejectKind::Shape, message, vec![shape_read(("input", &input), axis)]);
            return Value::Unknown;
        }
        return match axis {
            Some(axis) => pieces(cx, &value, &input, axis, &solve_one(sizes, &total)),
            None => Value::Unknown,
        };
    }
    let size = carry::size(cx, &given);
    let bad =
        size.known().is_some_and(|n| n < 0) || (size.known() == Some(0) && total.equals(&Size::Int(0)) == Some(false));
    if bad {
        let message = format!("{} cannot be split into pieces of length {size}", dim_text(axis));
        cx.reject(RejectKind::Value, message, vec![shape_read(("input", &input), axis)]);
        return Value::Unknown;
    }
    let exact = match (total.known(), size.known()) {
        (Some(0), Some(0)) => Some(vec![Size::Int(0)]),
        (Some(total), Some(size)) => even(total, size),
        // A symbolic length that is a known multiple of the piece's length.
        _ => total
            .div_exact(&size)
            .and_then(|n| n.known())
            .filter(|n| (1..=MOST_PIECES).contains(n))
            .map(|n| (0..n).map(|_| size.clone()).collect()),
    };
    match (exact, axis) {
        (Some(lengths), Some(axis)) => pieces(cx, &value, &input, axis, &lengths),
        _ => {
            // If the dimension may be empty, the only piece may be empty.
            let whole = total.div_exact(&size).is_some() && total.is_positive();
            some_pieces(cx, &value, &input, axis, if whole { size } else { Size::Unknown })
        }
    }
}

/// If exactly one length is unknown, computes it from the total and the other lengths.
fn solve_one(mut sizes: Vec<Size>, total: &Size) -> Vec<Size> {
    let unknown: Vec<usize> = sizes.iter().enumerate().filter(|(_, s)| s.is_unknown()).map(|(i, _)| i).collect();
    if let [only] = unknown.as_slice() {
        let known = sizes.iter().filter(|s| !s.is_unknown()).fold(Size::Int(0), |n, s| n.add(s));
        if let Some(slot) = sizes.get_mut(*only) {
            *slot = total.sub(&known);
        }
    }
    sizes
}

fn dim_text(axis: Option<usize>) -> String {
    axis.map_or_else(|| "the dimension".to_owned(), |a| format!("dimension {a}"))
}

fn chunk(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (value, input, axis) = match splitting(cx, b) {
        Ok(found) => found,
        Err(answer) => return answer,
    };
    let chunks = carry::size(cx, &b.get("chunks"));
    if chunks.known().is_some_and(|n| n <= 0) {
        cx.reject(RejectKind::Value, format!("the number of chunks is {chunks}: it must be at least 1"), Vec::new());
        return Value::Unknown;
    }
    let total = length(&input, axis);
    let exact = match (total.known(), chunks.known()) {
        (Some(0), Some(n)) if n <= MOST_PIECES => Some((0..n).map(|_| Size::Int(0)).collect()),
        (Some(total), Some(n)) => total.checked_add(n).and_then(|t| t.checked_sub(1)).and_then(|t| even(total, t / n)),
        (None, Some(n)) if n <= MOST_PIECES => total.div_exact(&chunks).map(|s| (0..n).map(|_| s.clone()).collect()),
        _ => None,
    };
    match (exact, axis) {
        (Some(lengths), Some(axis)) => pieces(cx, &value, &input, axis, &lengths),
        _ => some_pieces(cx, &value, &input, axis, Size::Unknown),
    }
}

/// Splits a dimension as `tensor_split` and similar functions do.
fn cut(cx: &mut Cx<'_, '_>, (value, input, axis): Split, how: &Value, even_only: bool) -> Value {
    if matches!(how, Value::Str(_) | Value::Float(_) | Value::Any(Type::Str | Type::Float)) {
        let message = format!("{} takes a number of sections or a tuple of indices", cx.name());
        cx.reject(RejectKind::Value, message, Vec::new());
        return Value::Unknown;
    }
    let total = length(&input, axis);
    let tensor = cx.tensor(how);
    let cuts: Option<Vec<Size>> = match (&tensor, cx.items(how)) {
        (Some(t), _) if t.rank() == Some(1) => {
            t.data.as_ref().and_then(|d| d.iter().map(|x| carry::whole(*x).map(Size::Int)).collect())
        }
        (None, Some(items)) => Some(items.iter().map(|v| carry::size(cx, v)).collect()),
        _ => None,
    };
    let Some(axis) = axis else { return some_pieces(cx, &value, &input, None, Size::Unknown) };
    if let Some(cuts) = cuts {
        let number = cuts.len();
        let lengths = total.known().and_then(|n| cut_lengths(&cuts, n));
        let lengths = lengths.unwrap_or_else(|| vec![Size::Unknown; number + 1]);
        return pieces(cx, &value, &input, axis, &lengths);
    }
    if tensor.as_ref().is_some_and(|t| t.rank() != Some(0)) || (tensor.is_none() && how.as_size().is_none()) {
        return some_pieces(cx, &value, &input, Some(axis), Size::Unknown);
    }
    let sections = carry::size(cx, how);
    if sections.known().is_some_and(|n| n <= 0) {
        cx.reject(
            RejectKind::Value,
            format!("the number of sections is {sections}: it must be at least 1"),
            Vec::new(),
        );
        return Value::Unknown;
    }
    let (Some(n), total_known) = (sections.known().filter(|n| *n <= MOST_PIECES), total.known()) else {
        return some_pieces(cx, &value, &input, Some(axis), Size::Unknown);
    };
    let lengths: Vec<Size> = match total_known {
        Some(total) if even_only && total % n != 0 => {
            let message = format!(
                "dimension {axis} of {} has length {total}, which cannot be divided into {n} equal sections",
                shape_text(&input)
            );
            cx.reject(RejectKind::Shape, message, vec![shape_read(("input", &input), Some(axis))]);
            return Value::Unknown;
        }
        Some(total) => (0..n).map(|i| Size::Int(total / n + i64::from(i < total % n))).collect(),
        None => {
            let each = total.div_exact(&sections).unwrap_or(Size::Unknown);
            (0..n).map(|_| each.clone()).collect()
        }
    };
    pieces(cx, &value, &input, axis, &lengths)
}

/// The lengths of the pieces between these indices, which are clipped like the indices of Python
/// slices.
fn cut_lengths(cuts: &[Size], total: i64) -> Option<Vec<Size>> {
    let clip = |i: i64| if i < 0 { (i + total).max(0) } else { i.min(total) };
    let mut out = Vec::with_capacity(cuts.len() + 1);
    let mut start = 0i64;
    for cut in cuts {
        let end = cut.known()?;
        out.push(Size::Int((clip(end) - clip(start)).max(0)));
        start = end;
    }
    out.push(Size::Int((total - clip(start)).max(0)));
    Some(out)
}

/// The argument with the sections or indices; its name depends on the function.
fn how(b: &Bound) -> Value {
    let names = ["indices_or_sections", "sections", "indices", "tensor_indices_or_sections"];
    match names.iter().find(|n| b.given(n)) {
        Some(name) => b.get(name),
        None => match b.rest_values().as_slice() {
            [only] => only.clone(),
            several if !several.is_empty() => Value::tuple(several.to_vec()),
            _ => Value::Unknown,
        },
    }
}

fn tensor_split(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    match splitting(cx, b) {
        Ok(found) => cut(cx, found, &how(b), false),
        Err(answer) => answer,
    }
}

fn direction_split(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("input");
    let Some(input) = cx.tensor(&value) else { return Value::Unknown };
    let (least, axis) = match cx.name() {
        "hsplit" => (1, input.rank().map(|r| usize::from(r > 1))),
        "vsplit" => (2, Some(0)),
        _ => (3, Some(2)),
    };
    if input.rank().is_some_and(|r| r < least) {
        let least = counted(least, "dimension");
        let message = format!("`input` is {}: {} takes at least {least}", shape_text(&input), cx.name());
        cx.reject(RejectKind::Rank, message, vec![shape_read(("input", &input), None)]);
        return Value::Unknown;
    }
    let axis = axis.filter(|_| input.rank().is_some());
    cut(cx, (value, input, axis), &how(b), true)
}

fn unbind(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (value, input, axis) = match splitting(cx, b) {
        Ok(found) => found,
        Err(answer) => return answer,
    };
    let Some(axis) = axis else {
        let dims = input.rank().map(|r| vec![Dim::UNKNOWN; r.saturating_sub(1)]);
        let out = carry::shuffled(cx, &input, dims, Takes::CutsLast);
        let piece = cx.view_of(&value, out);
        return many(cx, piece);
    };
    match length(&input, Some(axis)).known() {
        Some(n) if n <= MOST_PIECES => {
            let all = (0..n).map(|i| selected(cx, &value, &input, axis, Some(i))).collect();
            Value::tuple(all)
        }
        _ => {
            let piece = selected(cx, &value, &input, axis, None);
            many(cx, piece)
        }
    }
}

fn narrow(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("input");
    let Some(input) = cx.tensor(&value) else { return cx.some_tensor() };
    if input.rank() == Some(0) {
        let reads = vec![shape_read(("input", &input), None)];
        cx.reject(RejectKind::Rank, "`input` has no dimensions to narrow", reads);
        return carry::like_only(cx, &input);
    }
    let Ok(axis) = carry::axis(cx, &b.get("dim"), &input) else { return carry::like_only(cx, &input) };
    if let Some(start) = cx.tensor_arg(b, "start")
        && (start.rank().is_some_and(|r| r > 0) || start.dtype.is_some_and(|d| !d.is_integral() || d == Dtype::Bool))
    {
        let message = "`start` must be an integer or a 0-dimensional tensor of an integer dtype";
        cx.reject(RejectKind::Value, message, vec![shape_read(("start", &start), None)]);
        return carry::like_only(cx, &input);
    }
    let (start, size) = (carry::size(cx, &b.get("start")), carry::size(cx, &b.get("length")));
    let total = length(&input, axis);
    let (from, reason) = match (start.known(), size.known(), total.known()) {
        (_, Some(n), _) if n < 0 => (None, Some(format!("the length {n} is negative"))),
        (Some(s), _, Some(t)) if s < -t || s > t => {
            (None, Some(format!("the start {s} lies outside the dimension, which has {}", counted(t, "element"))))
        }
        (Some(s), Some(n), Some(t)) => {
            let from = if s < 0 { s + t } else { s };
            let beyond = from.checked_add(n).is_none_or(|end| end > t);
            (
                Some(from),
                beyond.then(|| {
                    format!("start {from} and length {n} go beyond the dimension, which has {}", counted(t, "element"))
                }),
            )
        }
        (Some(s), ..) if s >= 0 => (Some(s), None),
        _ => (None, None),
    };
    if let Some(reason) = reason {
        cx.reject(RejectKind::Index, reason, vec![shape_read(("input", &input), axis)]);
        return carry::like_only(cx, &input);
    }
    match axis {
        Some(axis) => narrowed(cx, &value, &input, axis, from, size),
        None => {
            let dims = input.rank().map(|r| vec![Dim::UNKNOWN; r]);
            let out = carry::shuffled(cx, &input, dims, Takes::CutsLast);
            cx.view_of(&value, out)
        }
    }
}

fn select(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("input");
    let Some(input) = cx.tensor(&value) else { return cx.some_tensor() };
    if input.rank() == Some(0) {
        let reads = vec![shape_read(("input", &input), None)];
        cx.reject(RejectKind::Index, "`input` has no dimensions to select from", reads);
        return carry::like_only(cx, &input);
    }
    let Ok(axis) = carry::axis(cx, &b.get("dim"), &input) else { return carry::like_only(cx, &input) };
    let index = carry::size(cx, &b.get("index")).known();
    let total = length(&input, axis).known();
    if let (Some(i), Some(n), Some(axis)) = (index, total, axis)
        && (i < -n || i >= n)
    {
        let message = format!("index {i} is out of bounds for dimension {axis} with size {n}");
        cx.reject(RejectKind::Index, message, vec![shape_read(("input", &input), Some(axis))]);
        return carry::like_only(cx, &input);
    }
    let index = index.and_then(|i| if i < 0 { total.map(|n| i + n) } else { Some(i) });
    match axis {
        Some(axis) => selected(cx, &value, &input, axis, index),
        None => {
            let dims = input.rank().map(|r| vec![Dim::UNKNOWN; r.saturating_sub(1)]);
            let out = carry::shuffled(cx, &input, dims, Takes::CutsLast);
            cx.view_of(&value, out)
        }
    }
}

fn slice_copy(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("input");
    let Some(input) = cx.tensor(&value) else { return cx.some_tensor() };
    let Ok(axis) = carry::axis(cx, &b.get("dim"), &input) else { return carry::like_only(cx, &input) };
    let mut dims = input.shape.clone();
    if let (Some(axis), Some(dims)) = (axis, dims.as_mut()) {
        let parts = [b.get("start"), b.get("end"), b.get("step")];
        if let Some(slot) = dims.get_mut(axis) {
            *slot = Dim::new(super::super::indexing::slice_length(&slot.size, &parts), cx.at());
        }
    }
    let out = carry::shuffled(cx, &input, dims.filter(|_| axis.is_some()), Takes::CutsLast);
    cx.view_of(&value, out)
}
