//! Every combination of elements: `meshgrid`, `cartesian_prod`, `combinations`.

use super::expand::several;
use crate::library::torch::broadcast::{Mix, Named, common_device, dtype_read, result_grad, shape_read, shape_text};
use crate::library::torch::carry::{self, Takes, rearranged, shuffled};
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Size, Tensor, Value};

pub fn register(t: &mut Table) {
    t.def("torch.meshgrid", "*tensors, indexing=None", meshgrid);
    t.def("torch.cartesian_prod", "*tensors", cartesian_prod);
    t.def("torch.combinations", "input, r=2, with_replacement=False", combinations);
}

/// Rejects tensors of more than one dimension or of different dtypes.
fn alike(cx: &mut Cx<'_, '_>, tensors: &[Tensor], most: usize, least: usize) -> Result<(), ()> {
    let names: Vec<String> = (0..tensors.len()).map(|i| format!("tensors[{i}]")).collect();
    let named: Vec<Named<'_>> = names.iter().map(String::as_str).zip(tensors).collect();
    if let Some(&(name, tensor)) = named.iter().find(|(_, t)| t.rank().is_some_and(|r| r > most || r < least)) {
        let message = format!("`{name}` is {}: {} takes tensors of one dimension", shape_text(tensor), cx.name());
        cx.reject(RejectKind::Rank, message, vec![shape_read((name, tensor), None)]);
        return Err(());
    }
    for (i, a) in named.iter().enumerate() {
        for b in named.iter().skip(i + 1) {
            if let (Some(x), Some(y)) = (a.1.dtype, b.1.dtype)
                && x != y
            {
                let message =
                    format!("`{}` is {x} and `{}` is {y}: {} takes tensors of one dtype", a.0, b.0, cx.name());
                cx.reject(RejectKind::Dtype, message, vec![dtype_read(*a), dtype_read(*b)]);
                return Err(());
            }
        }
    }
    common_device(cx, &named, Mix::Strict);
    Ok(())
}

fn tensors_of(cx: &Cx<'_, '_>, b: &Bound) -> Option<Vec<(Value, Tensor)>> {
    let values = several(cx, b)?;
    Some(
        values
            .into_iter()
            .map(|v| {
                let t = cx.tensor(&v).unwrap_or_default();
                (v, t)
            })
            .collect(),
    )
}

fn meshgrid(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(given) = tensors_of(cx, b) else { return Value::Unknown };
    if given.is_empty() {
        cx.reject(RejectKind::Value, "meshgrid is given no tensors", Vec::new());
        return Value::Unknown;
    }
    let indexing = b.get("indexing");
    let xy = match (&indexing, indexing.as_str()) {
        (Value::None, _) | (_, Some("ij")) => Some(false),
        (_, Some("xy")) => Some(true),
        (_, Some(other)) => {
            cx.reject(RejectKind::Value, format!("indexing is {other:?}: it must be \"ij\" or \"xy\""), Vec::new());
            return Value::Unknown;
        }
        _ => None,
    };
    let tensors: Vec<Tensor> = given.iter().map(|(_, t)| t.clone()).collect();
    if alike(cx, &tensors, 1, 0).is_err() {
        return Value::Unknown;
    }
    let mut dims: Vec<Dim> = tensors
        .iter()
        .map(|t| match t.shape.as_deref() {
            Some([]) => Dim::new(Size::Int(1), cx.at()),
            Some([one]) => one.clone(),
            _ => Dim::UNKNOWN,
        })
        .collect();
    let swapped = xy == Some(true) && dims.len() >= 2;
    if swapped {
        dims.swap(0, 1);
    }
    if xy.is_none() {
        dims = vec![Dim::UNKNOWN; dims.len()];
    }
    let mut all = Vec::new();
    for (i, (value, tensor)) in given.iter().enumerate() {
        let axis = match i {
            0 if swapped => 1,
            1 if swapped => 0,
            i => i,
        };
        let rank = tensor.rank().unwrap_or(1);
        let out = rearranged(cx, tensor, Some(dims.clone()), Takes::All, |index| {
            index.get(axis).copied().into_iter().take(rank).collect()
        });
        all.push(cx.view_of(value, out));
    }
    Value::tuple(all)
}

fn cartesian_prod(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(given) = tensors_of(cx, b) else { return cx.some_tensor() };
    let tensors: Vec<Tensor> = given.iter().map(|(_, t)| t.clone()).collect();
    if alike(cx, &tensors, 1, 1).is_err() {
        return cx.some_tensor();
    }
    let rows = tensors.iter().fold(Size::Int(1), |n, t| n.mul(&t.numel()));
    let columns = i64::try_from(tensors.len()).map_or(Size::Unknown, Size::Int);
    let at = cx.at();
    let mut dims = vec![Dim::new(rows, at)];
    if tensors.len() != 1 {
        dims.push(Dim::new(columns, at));
    }
    let Some(first) = tensors.first() else { return cx.some_tensor() };
    let mut out = shuffled(cx, first, Some(dims), Takes::All);
    let named: Vec<Named<'_>> = tensors.iter().map(|t| ("tensors", t)).collect();
    out.grad = result_grad(cx, &named, out.dtype);
    let mut ranges = tensors.iter().map(|t| t.range.clone());
    let joined = ranges
        .next()
        .flatten()
        .and_then(|first| ranges.try_fold(first, |acc, next| next.map(|n| carry::either(&acc, &n))));
    out.range = joined;
    out.role = None;
    cx.out(out)
}

/// The number of ways to choose `r` of `n`.
fn choose(n: i64, r: i64, repeated: bool) -> Option<i64> {
    let n = if repeated && r > 0 { n.checked_add(r)?.checked_sub(1)? } else { n };
    if r > n {
        return Some(0);
    }
    (0..r).try_fold(1i64, |acc, i| acc.checked_mul(n - i)?.checked_div(i + 1))
}

fn combinations(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    if input.rank().is_some_and(|r| r != 1) {
        let message = format!("`input` is {}: combinations takes one dimension", shape_text(&input));
        cx.reject(RejectKind::Rank, message, vec![shape_read(("input", &input), None)]);
        return carry::like_only(cx, &input);
    }
    let r = carry::size(cx, &b.get("r"));
    if r.known().is_some_and(|n| n < 0) {
        cx.reject(RejectKind::Value, format!("combinations of {r} elements are asked for"), Vec::new());
        return carry::like_only(cx, &input);
    }
    let at = cx.at();
    let count = match (input.numel().known(), r.known(), b.get("with_replacement").as_bool()) {
        (Some(n), Some(r), Some(repeated)) if r < 64 => choose(n, r, repeated).map_or(Size::Unknown, Size::Int),
        _ => Size::Unknown,
    };
    let dims = match r.known() {
        Some(0) => Some(vec![Dim::new(Size::Int(0), at)]),
        Some(_) => Some(vec![Dim::new(count, at), Dim::new(r, at)]),
        None => None,
    };
    let out = shuffled(cx, &input, dims, Takes::CutsLast);
    cx.out(out)
}
