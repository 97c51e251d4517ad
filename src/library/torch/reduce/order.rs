//! Sorting and searching.

use super::extreme::among;
use super::one_dim;
use crate::library::torch::broadcast::{Mix, broadcast_dim, common_device, result_grad, shape_read, shape_text};
use crate::library::torch::pointwise::derived;
use crate::library::torch::support::{bound, bound_index, give, give_all, refuse_dtype, refuse_rank, tensor_param};
use crate::library::torch::views::layout;
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, Grad, Size, Tensor, Value};

pub(crate) fn register(t: &mut Table) {
    let sort_sigs = [
        "input, dim=-1, descending=False, stable=False, *, out=None",
        "input, *, stable=None, dim=-1, descending=False, out=None",
    ];
    t.defs("torch.sort", &sort_sigs, sort);
    t.defs("torch.argsort", &sort_sigs, sort);
    t.listed("torch.", "msort", sort);
    t.listed("torch.", "topk", topk);
    t.listed("torch.", "searchsorted bucketize", searchsorted);
}

fn like(cx: &Cx<'_, '_>, input: &Tensor, dtype: Option<Dtype>) -> Tensor {
    let at = cx.at();
    let mut out = derived(input);
    if dtype != input.dtype {
        out = out.with_dtype(dtype, at);
    }
    out.grad = result_grad(cx, &[("input", input)], dtype);
    out
}

/// `sort`, `argsort`, `msort`.
fn sort(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let name = cx.name();
    let unknown = |cx: &mut Cx<'_, '_>| {
        if name == "sort" { cx.outs(vec![Tensor::default(), Tensor::default()]) } else { cx.some_tensor() }
    };
    let Some(input) = tensor_param(cx, b, "input") else { return unknown(cx) };
    let named = ("input", &input);
    if input.dtype.is_some_and(Dtype::is_complex) {
        refuse_dtype(cx, named, "does not take complex numbers");
        return unknown(cx);
    }
    let dim = if name == "msort" { Value::Int(0) } else { b.get("dim") };
    let Ok(dim) = one_dim(cx, &dim, named) else { return unknown(cx) };
    let mut values = like(cx, &input, input.dtype);
    if let Some(range) = &input.range {
        values.range = Some(range.clone());
        values.range_at = input.range_at;
    }
    let mut indices = like(cx, &input, Some(Dtype::Int64));
    indices.grad = Grad::Off;
    if let Some(size) = dim.and_then(|at| input.shape.as_ref()?.get(at)) {
        let at = cx.at();
        bound_index(&mut indices, &size.size, at);
    }
    match name {
        "sort" => give_all(cx, b, vec![values, indices]),
        "msort" => give(cx, b, values),
        _ => give(cx, b, indices),
    }
}

fn topk(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let unknown = vec![Tensor::default(), Tensor::default()];
    let Some(input) = tensor_param(cx, b, "input") else { return cx.outs(unknown) };
    let named = ("input", &input);
    if input.dtype.is_some_and(|d| d.is_complex() || d == Dtype::Bool) {
        refuse_dtype(cx, named, "takes real numbers only");
        return cx.outs(unknown);
    }
    let Ok(dim) = one_dim(cx, &b.get("dim"), named) else { return cx.outs(unknown) };
    let length = match &input.shape {
        Some(shape) if shape.is_empty() => Size::Int(1),
        Some(shape) => dim.and_then(|at| shape.get(at)).map_or(Size::Unknown, |d| d.size.clone()),
        None => Size::Unknown,
    };
    let k = cx.size_of(&b.get("k"));
    if k.less(&Size::Int(0)) == Some(true) || length.less(&k) == Some(true) {
        let message = format!("`k` is {k}: it must be between 0 and {length}, the size of the dimension");
        let reads = vec![("`k` is given here".to_owned(), b.span("k")), shape_read(named, dim)];
        cx.reject(RejectKind::Value, message, reads);
        return cx.outs(unknown);
    }
    let at = cx.at();
    let mut values = like(cx, &input, input.dtype);
    if let Some(shape) = &mut values.shape {
        match dim {
            Some(dim) => {
                if let Some(slot) = shape.get_mut(dim) {
                    *slot = Dim::new(k, at);
                }
            }
            None => shape.iter_mut().for_each(|d| *d = Dim::UNKNOWN),
        }
        values.shape_at = at;
    }
    let mut indices = values.clone().with_dtype(Some(Dtype::Int64), at);
    indices.grad = Grad::Off;
    bound_index(&mut indices, &length, at);
    among(cx, &input, &mut values);
    let made = give_all(cx, b, vec![values, indices]);
    if !b.given("out") {
        for part in cx.items(&made).unwrap_or_default() {
            layout::fresh(cx, &part);
        }
    }
    made
}

/// The positions at which values would be inserted between boundaries.
fn searchsorted(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let bucketize = cx.name() == "bucketize";
    let table = if bucketize { "boundaries" } else { "sorted_sequence" };
    let dtype = match b.get("out_int32") {
        Value::Bool(true) => Some(Dtype::Int32),
        Value::Bool(false) => Some(Dtype::Int64),
        _ => None,
    };
    let unknown = Tensor { dtype, grad: Grad::Off, ..Tensor::default() };
    let Some(bounds) = tensor_param(cx, b, table) else { return cx.out(unknown) };
    let values = b.get("input");
    let input = cx.tensor(&values);
    let number = values.number_type().is_some();
    if bucketize && bounds.rank().is_some_and(|r| r != 1) {
        refuse_rank(cx, (table, &bounds), "boundaries of one dimension");
        return cx.out(unknown);
    }
    if number && bounds.rank().is_some_and(|r| r != 1) {
        refuse_rank(cx, (table, &bounds), "one dimension if the input is a number");
        return cx.out(unknown);
    }
    let at = cx.at();
    let mut out = match (&input, number) {
        (Some(input), _) => {
            common_device(cx, &[(table, &bounds), ("input", input)], Mix::CpuScalars);
            if let (Some(x), Some(y)) = (&bounds.shape, &input.shape)
                && x.len() > 1
            {
                let lead = |dims: &[Dim]| dims.split_last().map(|(_, rest)| rest.to_vec()).unwrap_or_default();
                let (p, q) = (lead(x), lead(y));
                let same = p.len() == q.len()
                    && p.iter().zip(&q).all(|(a, b)| {
                        a.size.equals(&b.size) != Some(false) && (a.size == b.size || broadcast_dim(a, b).is_some())
                    });
                if !same {
                    let message = format!(
                        "`{table}` is {} and `input` {}: all dimensions but the last must be equal",
                        shape_text(&bounds),
                        shape_text(input)
                    );
                    let reads = vec![shape_read((table, &bounds), None), shape_read(("input", input), None)];
                    cx.reject(RejectKind::Shape, message, reads);
                    return cx.out(unknown);
                }
            }
            derived(input).with_dtype(dtype, at)
        }
        (None, true) => derived(&bounds).with_shape(Vec::new(), at).with_dtype(dtype, at),
        (None, false) => return cx.out(unknown),
    };
    out.grad = Grad::Off;
    out.role = None;
    if let Some(n) = bounds.dim(-1).and_then(|d| d.size.known()) {
        #[expect(clippy::cast_precision_loss, reason = "lengths are far below 2^53")]
        bound(&mut out, 0.0, n as f64, at);
        let edges =
            bounds.data.as_ref().filter(|edges| bucketize && edges.windows(2).all(|w| matches!(w, [a, b] if a <= b)));
        let right = b.get("right").as_bool();
        if let (Some(edges), Some(right), Some(input)) = (edges, right, &input)
            && let Some(range) = &input.range
        {
            // The number of smaller boundaries grows with the value.
            #[expect(clippy::cast_precision_loss, reason = "a number of edges")]
            let place =
                |x: f64| edges.iter().filter(|edge| if right { **edge <= x } else { **edge < x }).count() as f64;
            (out.range, out.range_at) = (Some(range.map(place)), input.range_at);
        }
    }
    give(cx, b, out)
}
