//! `meshgrid`: the coordinates of all combinations of elements.

use super::expand::several;
use crate::library::torch::broadcast::{Mix, Named, common_device, dtype_read, shape_read, shape_text};
use crate::library::torch::carry::{Rejected, Takes, rearranged};
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Size, Tensor, Value};

pub(crate) fn register(t: &mut Table) {
    t.listed("torch.", "meshgrid", meshgrid);
}

/// Rejects tensors of more than one dimension, and tensors of different dtypes.
fn alike(cx: &mut Cx<'_, '_>, tensors: &[Tensor]) -> Result<(), Rejected> {
    let names: Vec<String> = (0..tensors.len()).map(|i| format!("tensors[{i}]")).collect();
    let named: Vec<Named<'_>> = names.iter().map(String::as_str).zip(tensors).collect();
    if let Some(&(name, tensor)) = named.iter().find(|(_, t)| t.rank().is_some_and(|r| r > 1)) {
        let message =
            format!("`{name}` is {}: {} takes tensors of at most one dimension", shape_text(tensor), cx.name());
        cx.reject(RejectKind::Rank, message, vec![shape_read((name, tensor), None)]);
        return Err(Rejected);
    }
    for (i, a) in named.iter().enumerate() {
        for b in named.iter().skip(i + 1) {
            if let (Some(x), Some(y)) = (a.1.dtype, b.1.dtype)
                && x != y
            {
                let message =
                    format!("`{}` is {x} and `{}` is {y}: {} takes tensors of one dtype", a.0, b.0, cx.name());
                cx.reject(RejectKind::Dtype, message, vec![dtype_read(*a), dtype_read(*b)]);
                return Err(Rejected);
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
            cx.reject(RejectKind::Value, format!("`indexing` is {other:?}: it must be \"ij\" or \"xy\""), Vec::new());
            return Value::Unknown;
        }
        _ => None,
    };
    let tensors: Vec<Tensor> = given.iter().map(|(_, t)| t.clone()).collect();
    if alike(cx, &tensors).is_err() {
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
