//! Permuted dimensions: `transpose`, `permute`, `movedim`, `.T`.

use crate::library::torch::broadcast::{shape_read, shape_text};
use crate::library::torch::carry::{self, Rejected, Takes, rearranged};
use crate::library::torch::views::layout;
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Tensor, Value, counted};

pub(crate) fn register(t: &mut Table) {
    t.listed("torch.", "transpose_copy", transpose);
    t.listed("torch.", "transpose swapdims", transpose);
    t.listed("torch.", "swapaxes", transpose);
    t.listed("torch.", "permute permute_copy", |cx, b| permute(cx, b, &[b.get("dims")]));
    t.def("torch.Tensor.permute", "input, *dims", |cx, b| permute(cx, b, &b.rest_values()));
    t.listed("torch.", "movedim moveaxis", movedim);
    t.listed("torch.", "t_copy", transposed);
    t.listed("torch.", "t", transposed);
    t.listed("torch.", "adjoint", |cx, b| {
        let value = b.get("input");
        match cx.tensor(&value) {
            Some(input) => transposed_attribute(cx, &value, &input, "mH"),
            None => cx.some_tensor(),
        }
    });
}

/// The view whose dimension `i` is dimension `order[i]` of the input.
fn reordered(cx: &mut Cx<'_, '_>, value: &Value, input: &Tensor, order: &[usize]) -> Value {
    let dims: Option<Vec<Dim>> =
        input.shape.as_ref().and_then(|dims| order.iter().map(|i| dims.get(*i).cloned()).collect());
    let out = rearranged(cx, input, dims, Takes::All, |index| {
        let mut from = vec![0; index.len()];
        for (i, at) in order.iter().zip(index) {
            if let Some(slot) = from.get_mut(*i) {
                *slot = *at;
            }
        }
        from
    });
    let made = cx.view_of(value, out);
    layout::permuted(cx, &made, input, order);
    made
}

/// A view of the same rank with an unknown order of dimensions.
fn mixed(cx: &mut Cx<'_, '_>, value: &Value, input: &Tensor) -> Value {
    let dims = input.rank().map(|rank| vec![Dim::UNKNOWN; rank]);
    let out = carry::shuffled(cx, input, dims, Takes::All);
    cx.view_of(value, out)
}

fn transpose(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("input");
    let Some(input) = cx.tensor(&value) else { return cx.some_tensor() };
    let (first, second) = if cx.name() == "swapaxes" { ("axis0", "axis1") } else { ("dim0", "dim1") };
    let (x, y) = (b.get(first), b.get(second));
    let (Ok(x), Ok(y)) = (carry::axis(cx, &x, &input), carry::axis(cx, &y, &input)) else {
        return carry::like_only(cx, &input);
    };
    match (x, y, input.rank()) {
        (Some(x), Some(y), Some(rank)) => {
            let mut order: Vec<usize> = (0..rank).collect();
            if rank > 0 {
                order.swap(x, y);
            }
            reordered(cx, &value, &input, &order)
        }
        _ => mixed(cx, &value, &input),
    }
}

fn permute(cx: &mut Cx<'_, '_>, b: &Bound, dims: &[Value]) -> Value {
    let value = b.get("input");
    let given = match dims {
        [only] if cx.items(only).is_some() => cx.items(only),
        [Value::Unknown | Value::Open(_) | Value::Obj(_)] => None,
        dims if !b.open => Some(dims.to_vec()),
        _ => None,
    };
    let Some(mut input) = cx.tensor(&value) else {
        let out = Tensor { shape: given.map(|g| vec![Dim::UNKNOWN; g.len()]), ..Tensor::default() };
        return cx.out(out);
    };
    let Some(given) = given else { return mixed(cx, &value, &input) };
    // Each dimension must be named, so their number is the rank of the input.
    if input.rank().is_none()
        && let Some(id) = value.as_obj()
    {
        let at = cx.at();
        cx.it.heap.update_tensor(id, |tensor| tensor.set_rank(given.len(), at));
        input.set_rank(given.len(), at);
    }
    let Some(rank) = input.rank() else {
        let out = carry::shuffled(cx, &input, Some(vec![Dim::UNKNOWN; given.len()]), Takes::All);
        return cx.view_of(&value, out);
    };
    if given.len() != rank {
        let message = format!(
            "`input` is {}, but {} names {}: each dimension must be named once",
            shape_text(&input),
            cx.name(),
            counted(given.len(), "dimension")
        );
        cx.reject(RejectKind::Rank, message, vec![shape_read(("input", &input), None)]);
        return carry::like_only(cx, &input);
    }
    let mut order = Vec::new();
    for dim in &given {
        match carry::axis(cx, dim, &input) {
            Ok(Some(at)) => order.push(at),
            Ok(None) => {}
            Err(Rejected) => return carry::like_only(cx, &input),
        }
    }
    if carry::distinct(cx, &order, &input).is_err() {
        return carry::like_only(cx, &input);
    }
    if order.len() != rank {
        return mixed(cx, &value, &input);
    }
    reordered(cx, &value, &input, &order)
}

fn movedim(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("input");
    let Some(input) = cx.tensor(&value) else { return cx.some_tensor() };
    let (from, to) = (b.get("source"), b.get("destination"));
    let Some(rank) = input.rank() else { return mixed(cx, &value, &input) };
    let (Ok(from), Ok(to)) = (carry::axes(cx, &[from], &input), carry::axes(cx, &[to], &input)) else {
        return carry::like_only(cx, &input);
    };
    let (Some(from), Some(to)) = (from, to) else { return mixed(cx, &value, &input) };
    if from.len() != to.len() {
        let (from, to) = (counted(from.len(), "dimension"), counted(to.len(), "position"));
        let message = format!("{} moves {from} to {to}: the numbers must be equal", cx.name());
        cx.reject(RejectKind::Value, message, Vec::new());
        return carry::like_only(cx, &input);
    }
    if carry::distinct(cx, &from, &input).is_err() || carry::distinct(cx, &to, &input).is_err() {
        return carry::like_only(cx, &input);
    }
    let mut order: Vec<Option<usize>> = vec![None; rank];
    for (source, target) in from.iter().zip(&to) {
        if let Some(slot) = order.get_mut(*target) {
            *slot = Some(*source);
        }
    }
    let mut rest = (0..rank).filter(|i| !from.contains(i));
    let order: Vec<usize> = order.into_iter().filter_map(|slot| slot.or_else(|| rest.next())).collect();
    reordered(cx, &value, &input, &order)
}

/// `torch.t`, for at most two dimensions.
fn transposed(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("input");
    let Some(input) = cx.tensor(&value) else { return cx.some_tensor() };
    match input.rank() {
        Some(rank) if rank > 2 => {
            let message = format!("`input` is {}: t() takes at most 2 dimensions", shape_text(&input));
            cx.reject(RejectKind::Rank, message, vec![shape_read(("input", &input), None)]);
            carry::like_only(cx, &input)
        }
        Some(2) => reordered(cx, &value, &input, &[1, 0]),
        Some(_) => reordered(cx, &value, &input, &(0..input.rank().unwrap_or(0)).collect::<Vec<_>>()),
        None => mixed(cx, &value, &input),
    }
}

/// `x.T`, `x.mT`, `x.H`, `x.mH`.
pub(crate) fn transposed_attribute(cx: &mut Cx<'_, '_>, value: &Value, input: &Tensor, name: &str) -> Value {
    let Some(rank) = input.rank() else { return mixed(cx, value, input) };
    let refused = match name {
        // For 0-d tensors, these attributes are deprecated, but not rejected.
        "mT" | "mH" => rank == 1,
        "H" => rank != 2 && rank != 0,
        _ => false,
    };
    if refused {
        let needs = if name == "H" { "exactly 2 dimensions" } else { "at least 2 dimensions" };
        let message = format!("`input` is {}: .{name} takes {needs}", shape_text(input));
        cx.reject(RejectKind::Rank, message, vec![shape_read(("input", input), None)]);
        return carry::like_only(cx, input);
    }
    let mut order: Vec<usize> = (0..rank).collect();
    match name {
        "mT" | "mH" if rank >= 2 => order.swap(rank - 2, rank - 1),
        _ => order.reverse(),
    }
    reordered(cx, value, input, &order)
}
