//! `flip`, `roll`, `rot90`: elements in another order along dimensions. `unfold`: windows over a
//! dimension.

use crate::library::torch::broadcast::{shape_read, shape_text};
use crate::library::torch::carry::{self, Rejected, Takes, rearranged, shuffled};
use crate::library::torch::gather::not_empty;
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Size, Value, counted};

pub(crate) fn register(t: &mut Table) {
    t.listed("torch.", "flip", |cx, b| flip(cx, b, &[b.get("dims")]));
    t.def("torch.Tensor.flip", "input, *dims", |cx, b| flip(cx, b, &b.rest_values()));
    t.listed("torch.", "fliplr", |cx, b| flip_axis(cx, b, 1));
    t.listed("torch.", "flipud", |cx, b| flip_axis(cx, b, 0));
    t.listed("torch.", "roll", roll);
    t.listed("torch.", "rot90", rot90);
    t.listed("torch.Tensor.", "unfold", unfold);
    t.listed("torch.", "unfold_copy", unfold);
}

fn flip(cx: &mut Cx<'_, '_>, b: &Bound, dims: &[Value]) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let chosen = match carry::axes(cx, dims, &input) {
        Ok(chosen) => chosen,
        Err(Rejected) => return carry::like_only(cx, &input),
    };
    if let Some(chosen) = &chosen
        && carry::distinct(cx, chosen, &input).is_err()
    {
        return carry::like_only(cx, &input);
    }
    let extents = input.shape.as_deref().and_then(carry::extents).unwrap_or_default();
    let shape = input.shape.clone();
    let out = match chosen {
        Some(chosen) => rearranged(cx, &input, shape, Takes::All, |index| {
            let turn = |(i, (at, n)): (usize, (&usize, &usize))| if chosen.contains(&i) { n - 1 - at } else { *at };
            index.iter().zip(&extents).enumerate().map(turn).collect()
        }),
        None => shuffled(cx, &input, shape, Takes::All),
    };
    cx.out(out)
}

fn flip_axis(cx: &mut Cx<'_, '_>, b: &Bound, axis: i64) -> Value {
    if let Some(input) = cx.tensor_arg(b, "input")
        && input.rank().and_then(|r| i64::try_from(r).ok()).is_some_and(|r| r <= axis)
    {
        let least = counted(axis + 1, "dimension");
        let message = format!("`input` is {}: {} takes at least {least}", shape_text(&input), cx.name());
        cx.reject(RejectKind::Rank, message, vec![shape_read(("input", &input), None)]);
        return carry::like_only(cx, &input);
    }
    flip(cx, b, &[Value::Int(axis)])
}

fn roll(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let (shifts, dims) = (b.get("shifts"), if b.given("dims") { b.get("dims") } else { Value::tuple(Vec::new()) });
    let many = |v: &Value| match v {
        Value::Int(_) => Some(1),
        other => cx.items(other).map(|items| items.len()),
    };
    if let (Some(s), Some(d)) = (many(&shifts), many(&dims)) {
        let aligned = s == d || (d == 0 && s == 1);
        if !aligned || s == 0 {
            let message = if s == 0 {
                "`shifts` is empty: roll needs at least one shift".to_owned()
            } else {
                let (shifts, dims) = (counted(s, "shift"), counted(d, "dimension"));
                format!("roll gets {shifts} for {dims}: the numbers must be equal")
            };
            cx.reject(RejectKind::Value, message, Vec::new());
            return carry::like_only(cx, &input);
        }
    }
    if input.rank() == Some(0) && many(&dims).is_some_and(|d| d > 0) {
        let reads = vec![shape_read(("input", &input), None)];
        cx.reject(RejectKind::Dim, "`input` has no dimensions to roll along", reads);
        return carry::like_only(cx, &input);
    }
    // PyTorch does not check `dims` for an empty tensor.
    if not_empty(&input) && carry::axes(cx, &[dims], &input).is_err() {
        return carry::like_only(cx, &input);
    }
    let out = shuffled(cx, &input, input.shape.clone(), Takes::All);
    cx.out(out)
}

fn rot90(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let given = if b.given("dims") { b.get("dims") } else { Value::tuple(vec![Value::Int(0), Value::Int(1)]) };
    let refuse = |cx: &mut Cx<'_, '_>, kind, message: String| {
        cx.reject(kind, message, vec![shape_read(("input", &input), None)]);
        carry::like_only(cx, &input)
    };
    if let Some(items) = cx.items(&given)
        && items.len() != 2
    {
        return refuse(
            cx,
            RejectKind::Value,
            format!("rot90 rotates in a plane of 2 dimensions, but gets {}", items.len()),
        );
    }
    if input.rank().is_some_and(|r| r < 2) {
        let message = format!("`input` is {}: rot90 takes tensors with at least two dimensions", shape_text(&input));
        return refuse(cx, RejectKind::Rank, message);
    }
    let axes = match carry::axes(cx, &[given], &input) {
        Ok(axes) => axes,
        Err(Rejected) => return carry::like_only(cx, &input),
    };
    let mut dims = input.shape.clone();
    match (axes.as_deref(), b.get("k").as_int()) {
        (Some([x, y]), _) if x == y => {
            return refuse(
                cx,
                RejectKind::Dim,
                format!("rot90 rotates in a plane of 2 dimensions, but {x} is given twice"),
            );
        }
        (Some([x, y]), Some(k)) => {
            if k.rem_euclid(2) == 1
                && let Some(dims) = dims.as_mut().filter(|d| *x < d.len() && *y < d.len())
            {
                dims.swap(*x, *y);
            }
        }
        _ => dims = dims.map(|d| vec![Dim::UNKNOWN; d.len()]),
    }
    let out = shuffled(cx, &input, dims, Takes::All);
    cx.out(out)
}

fn unfold(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("input");
    let Some(input) = cx.tensor(&value) else { return cx.some_tensor() };
    let Ok(axis) = carry::axis(cx, &b.get("dimension"), &input) else { return carry::like_only(cx, &input) };
    let (size, step) = (carry::size(cx, &b.get("size")), carry::size(cx, &b.get("step")));
    let total = match (axis, &input.shape) {
        (Some(_), Some(dims)) if dims.is_empty() => Size::Int(1),
        (Some(axis), Some(dims)) => dims.get(axis).map_or(Size::Unknown, |d| d.size.clone()),
        _ => Size::Unknown,
    };
    let refused = if size.known().is_some_and(|n| n < 0) {
        Some(format!("the window's size is {size}: it must not be negative"))
    } else if total.less(&size) == Some(true) {
        Some(format!("windows of size {size} do not fit into a dimension of length {total}"))
    } else if step.known().is_some_and(|n| n <= 0) {
        Some(format!("the step is {step}: it must be positive"))
    } else {
        None
    };
    if let Some(message) = refused {
        cx.reject(RejectKind::Value, message, vec![shape_read(("input", &input), axis)]);
        return carry::like_only(cx, &input);
    }
    let apart = step.less(&size) == Some(false);
    let windows = match (total.sub(&size), step.known()) {
        (Size::Int(rest), Some(step)) => Size::Int(rest / step + 1),
        (rest, Some(1)) => rest.add(&Size::Int(1)),
        _ => Size::Unknown,
    };
    let at = cx.at();
    let dims = match (axis, input.shape.clone()) {
        (_, Some(dims)) if dims.is_empty() => Some(vec![Dim::new(size, at)]),
        (Some(axis), Some(mut dims)) => {
            if let Some(slot) = dims.get_mut(axis) {
                *slot = Dim::new(windows, at);
            }
            dims.push(Dim::new(size, at));
            Some(dims)
        }
        (None, Some(dims)) => Some(vec![Dim::UNKNOWN; dims.len() + 1]),
        _ => None,
    };
    let out = shuffled(cx, &input, dims, Takes::CutsLast);
    let view = cx.view_of(&value, out);
    if !apart {
        cx.it.heap.note_overlapping(&view);
    }
    view
}
