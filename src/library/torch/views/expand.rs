//! Repeated elements: `expand`, `repeat`, `tile`, `repeat_interleave`.

use crate::library::torch::broadcast::{
    Mix, broadcast_pair, common_device, common_shape, dtype_read, shape_read, shape_text,
};
use crate::library::torch::carry::{self, Rejected, Takes, rearranged, shuffled, sizes_text};
use crate::library::torch::support::refuse_rank;
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, Size, Tensor, Value, counted};

pub(crate) fn register(t: &mut Table) {
    t.def("torch.Tensor.expand", "input, *size, implicit=False", |cx, b| expand(cx, b, &b.rest_values()));
    t.listed("torch.", "expand_copy", |cx, b| expand(cx, b, &[b.get("size")]));
    t.listed("torch.", "broadcast_to", |cx, b| expand(cx, b, &[b.get("size")]));
    t.def("torch.Tensor.broadcast_to", "input, *size", |cx, b| expand(cx, b, &b.rest_values()));
    t.listed("torch.Tensor.", "expand_as", expand_as);
    t.listed("torch.", "broadcast_tensors", broadcast_tensors);
    t.listed("torch.", "broadcast_shapes", broadcast_shapes);
    t.def("torch.Tensor.repeat", "input, *repeats", |cx, b| repeat(cx, b, &b.rest_values(), false));
    t.listed("torch.", "tile", |cx, b| repeat(cx, b, &[b.get("dims")], true));
    t.def("torch.Tensor.tile", "input, *dims", |cx, b| repeat(cx, b, &b.rest_values(), true));
    t.listed("torch.", "repeat_interleave", repeat_interleave);
}

/// The shape of `input` expanded to `sizes`; `-1` keeps a length.
fn expanded(cx: &mut Cx<'_, '_>, input: &Tensor, sizes: &[Size]) -> Option<Vec<Dim>> {
    let at = cx.at();
    let dims = match &input.shape {
        Some(dims) => dims.clone(),
        None => {
            let known = |s: &Size| if s.known() == Some(-1) { Size::Unknown } else { s.clone() };
            return Some(sizes.iter().map(|s| Dim::new(known(s), at)).collect());
        }
    };
    let Some(new) = sizes.len().checked_sub(dims.len()) else {
        let message = format!(
            "`input` is {}: it cannot be expanded to the {} of {}",
            shape_text(input),
            counted(sizes.len(), "dimension"),
            sizes_text(sizes)
        );
        cx.reject(RejectKind::Rank, message, vec![shape_read(("input", input), None)]);
        return None;
    };
    let mut out = Vec::new();
    for (i, size) in sizes.iter().enumerate() {
        let keep = size.known() == Some(-1);
        let Some(have) = i.checked_sub(new).and_then(|i| dims.get(i)) else {
            if size.known().is_some_and(|n| n < 0) {
                let message =
                    format!("{size} in {} is a new dimension, so its length must be given", sizes_text(sizes));
                cx.reject(RejectKind::Value, message, vec![shape_read(("input", input), None)]);
                return None;
            }
            out.push(Dim::new(size.clone(), at));
            continue;
        };
        if keep {
            out.push(have.clone());
            continue;
        }
        let one = have.size.equals(&Size::Int(1));
        if have.size.equals(size) == Some(false) && one == Some(false) {
            let message = format!(
                "`input` is {} and cannot be expanded to {}: length {} cannot become {size}, because only a length of 1 can be expanded",
                shape_text(input),
                sizes_text(sizes),
                have.size
            );
            cx.reject(RejectKind::Shape, message, vec![shape_read(("input", input), i.checked_sub(new))]);
            return None;
        }
        // If the existing length is certainly not 1, the result has this length: an unknown size is
        // -1 or equals it.
        out.push(if size.is_unknown() && one == Some(false) { have.clone() } else { Dim::new(size.clone(), at) });
    }
    Some(out)
}

fn expand_to(cx: &mut Cx<'_, '_>, value: &Value, sizes: Option<Vec<Size>>) -> Value {
    let input = cx.tensor(value).unwrap_or_default();
    let dims = sizes.and_then(|sizes| expanded(cx, &input, &sizes));
    let from = input.shape.as_deref().map_or(0, <[Dim]>::len);
    let lengths: Vec<bool> = input.shape.iter().flatten().map(|d| d.size.known() == Some(1)).collect();
    let out = rearranged(cx, &input, dims, Takes::All, |index| {
        let skip = index.len().saturating_sub(from);
        index.iter().skip(skip).zip(&lengths).map(|(i, one)| if *one { 0 } else { *i }).collect()
    });
    let stays = out.numel().equals(&input.numel()) == Some(true);
    let view = cx.view_of(value, out);
    if !stays {
        cx.it.heap.note_overlapping(&view);
    }
    view
}

fn expand(cx: &mut Cx<'_, '_>, b: &Bound, sizes: &[Value]) -> Value {
    let sizes = if b.open { None } else { carry::sizes(cx, sizes) };
    expand_to(cx, &b.get("input"), sizes)
}

fn expand_as(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let sizes = cx.tensor_arg(b, "other").and_then(|t| t.sizes());
    expand_to(cx, &b.get("input"), sizes)
}

/// The values of `*tensors`: several arguments, or one list.
pub(crate) fn several(cx: &Cx<'_, '_>, b: &Bound) -> Option<Vec<Value>> {
    let args = b.rest_values();
    match args.as_slice() {
        [only] if cx.tensor(only).is_none() => cx.items(only),
        _ if b.open => None,
        _ => Some(args),
    }
}

fn broadcast_tensors(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(values) = several(cx, b) else { return Value::Unknown };
    let tensors: Vec<Tensor> = values.iter().map(|v| cx.tensor(v).unwrap_or_default()).collect();
    let names: Vec<String> = (0..tensors.len()).map(|i| format!("tensors[{i}]")).collect();
    let named: Vec<(&str, &Tensor)> = names.iter().map(String::as_str).zip(&tensors).collect();
    let (dims, _) = common_shape(cx, &named);
    let sizes: Option<Vec<Size>> = dims.map(|dims| dims.into_iter().map(|d| d.size).collect());
    let all = values.iter().map(|v| expand_to(cx, v, sizes.clone())).collect();
    Value::tuple(all)
}

fn broadcast_shapes(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if b.open {
        return Value::Unknown;
    }
    let at = cx.at();
    let mut all: Vec<Dim> = Vec::new();
    for value in b.rest_values() {
        let Some(sizes) = carry::sizes(cx, std::slice::from_ref(&value)) else { return Value::Unknown };
        let dims: Vec<Dim> = sizes.iter().map(|s| Dim::new(s.clone(), at)).collect();
        match broadcast_pair(&all, &dims) {
            Ok(joined) => all = joined,
            Err(back) => {
                let have: Vec<Size> = all.iter().map(|d| d.size.clone()).collect();
                let message = format!(
                    "{} and {} do not broadcast: they differ in dimension -{back}",
                    sizes_text(&have),
                    sizes_text(&sizes)
                );
                cx.reject(RejectKind::Shape, message, Vec::new());
                return Value::Unknown;
            }
        }
    }
    Value::tuple(all.iter().map(|d| Value::size(&d.size)).collect())
}

/// `repeat` and `tile`, which differ if there are fewer numbers than dimensions.
fn repeat(cx: &mut Cx<'_, '_>, b: &Bound, counts: &[Value], tile: bool) -> Value {
    let input = cx.tensor_arg(b, "input").unwrap_or_default();
    let counts = if b.open { None } else { carry::sizes(cx, counts) };
    let (Some(dims), Some(mut counts)) = (input.shape.clone(), counts.clone()) else {
        // `repeat` needs at least as many numbers as the input has dimensions, so the result
        // has one dimension for each number.
        let dims = if tile { None } else { counts.map(|c| vec![Dim::UNKNOWN; c.len()]) };
        let out = shuffled(cx, &input, dims, Takes::All);
        return cx.out(out);
    };
    let refused = if counts.len() < dims.len() && !tile {
        Some(format!(
            "`input` is {} and is repeated {} times: one number is needed for each dimension",
            shape_text(&input),
            sizes_text(&counts)
        ))
    } else {
        counts
            .iter()
            .find(|c| c.known().is_some_and(|n| n < 0))
            .map(|c| format!("the number of repeats is {c}: it must not be negative"))
    };
    if let Some(message) = refused {
        cx.reject(RejectKind::Value, message, vec![shape_read(("input", &input), None)]);
        return carry::like_only(cx, &input);
    }
    while counts.len() < dims.len() {
        counts.insert(0, Size::Int(1));
    }
    let new = counts.len() - dims.len();
    let at = cx.at();
    let out: Vec<Dim> = counts
        .iter()
        .enumerate()
        .map(|(i, count)| match i.checked_sub(new).and_then(|i| dims.get(i)) {
            Some(have) if count.known() == Some(1) => have.clone(),
            Some(have) => Dim::new(have.size.mul(count), at),
            None => Dim::new(count.clone(), at),
        })
        .collect();
    let from: Vec<usize> = carry::extents(&dims).unwrap_or_default();
    let out = rearranged(cx, &input, Some(out), Takes::All, |index| {
        index.iter().skip(new).zip(&from).map(|(i, n)| if *n == 0 { 0 } else { i % n }).collect()
    });
    cx.out(out)
}

fn repeat_interleave(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let at = cx.at();
    let only_repeats = !b.takes("input");
    let repeats = b.get("repeats");
    let total = match b.get("output_size") {
        Value::None => None,
        given => Some(carry::size(cx, &given)),
    };
    if only_repeats {
        // `repeat_interleave(repeats)` returns indices: 0, 0, 1, 1, 1, …
        let counts = cx.tensor(&repeats).unwrap_or_default();
        let size = total.unwrap_or_else(|| sum_of(&counts));
        let out = Tensor {
            device: counts.device,
            device_at: counts.device_at,
            grad: crate::value::Grad::Off,
            ..Tensor::default()
        }
        .with_dtype(counts.dtype, at)
        .with_shape(vec![size], at);
        return cx.out(out);
    }
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let dim = b.get("dim");
    let flat = dim.is_none();
    let axis = if flat {
        Some(0)
    } else {
        if input.rank() == Some(0) && dim.as_int().is_some() {
            refuse_rank(cx, ("input", &input), "at least 1 if `dim` is given");
            return carry::like_only(cx, &input);
        }
        match carry::axis(cx, &dim, &input) {
            Ok(axis) => axis,
            Err(Rejected) => return carry::like_only(cx, &input),
        }
    };
    let dims = if flat { Some(vec![Dim::new(input.numel(), at)]) } else { input.shape.clone() };
    let length = axis.and_then(|a| dims.as_ref()?.get(a).map(|d| d.size.clone())).unwrap_or(Size::Unknown);
    let size = match cx.tensor(&repeats) {
        Some(counts) => {
            common_device(cx, &[("input", &input), ("repeats", &counts)], Mix::Strict);
            if let Some(dtype) = counts.dtype.filter(|d| !matches!(d, Dtype::Int64 | Dtype::Int32)) {
                let message = format!("`repeats` is {dtype}: it must be int64 or int32");
                cx.reject(RejectKind::Dtype, message, vec![dtype_read(("repeats", &counts))]);
            }
            let number = counts.numel();
            if number.equals(&length) == Some(false) && number.equals(&Size::Int(1)) == Some(false) {
                let message = format!(
                    "`repeats` has {} for {}: it must have one number, or one for each element",
                    counted(&number, "number"),
                    counted(&length, "element")
                );
                let reads = vec![shape_read(("repeats", &counts), None), shape_read(("input", &input), axis)];
                cx.reject(RejectKind::Shape, message, reads);
            }
            match (number.known(), counts.data.as_deref()) {
                (Some(1), Some([one])) => carry::whole(*one).map_or(Size::Unknown, |n| length.mul(&Size::Int(n))),
                _ => sum_of(&counts),
            }
        }
        None => {
            let count = carry::size(cx, &repeats);
            if count.known().is_some_and(|n| n < 0) {
                cx.reject(
                    RejectKind::Value,
                    format!("the number of repeats is {count}: it must not be negative"),
                    Vec::new(),
                );
            }
            length.mul(&count)
        }
    };
    let size = total.unwrap_or(size);
    let dims = match (dims, axis) {
        (Some(mut dims), Some(axis)) => {
            if let Some(slot) = dims.get_mut(axis) {
                *slot = Dim::new(size, at);
            } else if dims.is_empty() {
                dims.push(Dim::UNKNOWN);
            }
            Some(dims)
        }
        (Some(dims), None) => Some(vec![Dim::UNKNOWN; dims.len()]),
        _ => None,
    };
    // An element that is repeated 0 times is not in the result.
    let out = shuffled(cx, &input, dims, Takes::Some);
    cx.out(out)
}

/// The sum of a tensor's elements as a size.
fn sum_of(counts: &Tensor) -> Size {
    counts.data.as_ref().and_then(|d| carry::whole(d.iter().sum())).map_or(Size::Unknown, Size::Int)
}
