//! Norms of vectors and matrices.

use super::refuse_integers;
use crate::library::torch::autocast::raised;
use crate::library::torch::reduce::{Dims, dims_of, keepdim, reduction};
use crate::library::torch::support::{bound, give, refuse_rank, tensor_param};
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dtype, Tensor, Value, counted};

pub(crate) fn register(t: &mut Table) {
    t.listed("torch.", "norm", norm);
    t.listed("torch.linalg.", "norm", norm);
    t.listed("torch.linalg.", "vector_norm", norm);
    t.listed("torch.linalg.", "matrix_norm", norm);
    t.listed("torch.", "frobenius_norm", norm);
    t.listed("torch.", "nuclear_norm", norm);
}

fn norm(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let named = ("input", &input);
    let given = if b.given("dtype") || b.open { cx.dtype_arg(&b.get("dtype")) } else { None };
    if given.is_none() && refuse_integers(cx, named) {
        return cx.some_tensor();
    }
    let matrix = cx.name() == "matrix_norm";
    let new = cx.path.as_str() == "torch.linalg.norm";
    let dim = if matrix && !b.given("dim") && !b.open {
        Value::tuple(vec![Value::Int(-2), Value::Int(-1)])
    } else if b.takes("dim") {
        b.get("dim")
    } else {
        Value::None
    };
    if matrix && input.rank().is_some_and(|r| r < 2) {
        refuse_rank(cx, named, "at least two dimensions");
        return cx.some_tensor();
    }
    let order = b.get("ord");
    if new && dim.is_none() && !order.is_none() && !order.is_unknown() && input.rank().is_some_and(|r| r > 2) {
        refuse_rank(cx, named, "one or two dimensions if `ord` is given without `dim`");
        return cx.some_tensor();
    }
    let Ok(dims) = dims_of(cx, &dim, named) else { return cx.some_tensor() };
    if let Dims::These(these) = &dims
        && (matrix && these.len() != 2 || new && these.len() > 2)
    {
        let message = format!("`dim` names {}: a matrix has two", counted(these.len(), "dimension"));
        cx.reject(RejectKind::Dim, message, vec![("`dim` is given here".to_owned(), b.span("dim"))]);
        return cx.some_tensor();
    }
    let dtype = match given {
        Some(given) => given,
        None => raised(cx, &input),
    };
    let dtype = dtype.map(Dtype::to_real);
    let mut out: Tensor = reduction(cx, &input, &dims, keepdim(b), dtype);
    let at = cx.at();
    bound(&mut out, 0.0, f64::INFINITY, at);
    give(cx, b, out)
}
