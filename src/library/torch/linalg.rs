//! `torch.linalg` and its older counterparts under `torch.`: factorisations, solvers, norms.

pub(crate) mod factor;
pub(crate) mod norm;
pub(crate) mod solve;

use super::broadcast::{Named, result_grad, shape_read, shape_text};
use super::support::{refuse_dtype, refuse_rank};
use crate::library::Cx;
use crate::python::RejectKind;
use crate::value::{Dim, Dtype, Grad, Size, Tensor};

/// A batch of matrices.
pub(super) struct Matrices {
    pub batch: Vec<Dim>,
    pub rows: Dim,
    pub columns: Dim,
}

/// The matrices of a tensor. `Ok(None)` if the shape is not known; `Err` if the tensor has fewer
/// than two dimensions, which has been reported.
pub(super) fn matrices(cx: &mut Cx<'_, '_>, input: Named<'_>) -> Result<Option<Matrices>, ()> {
    let Some(shape) = &input.1.shape else { return Ok(None) };
    let [batch @ .., rows, columns] = shape.as_slice() else {
        refuse_rank(cx, input, "matrices (at least two dimensions)");
        return Err(());
    };
    Ok(Some(Matrices { batch: batch.to_vec(), rows: rows.clone(), columns: columns.clone() }))
}

/// Reports matrices that are certainly not square.
pub(super) fn refuse_oblong(cx: &mut Cx<'_, '_>, input: Named<'_>, of: &Matrices) -> bool {
    if of.rows.size.equals(&of.columns.size) != Some(false) {
        return false;
    }
    let message = format!(
        "`{}` is {}: {} takes square matrices, not {} by {}",
        input.0,
        shape_text(input.1),
        cx.name(),
        of.rows.size,
        of.columns.size
    );
    let last = input.1.rank().and_then(|r| r.checked_sub(1));
    cx.reject(RejectKind::Shape, message, vec![shape_read(input, last)]);
    true
}

/// Reports a tensor of integers or bools, for functions that do not accept it.
pub(super) fn refuse_integers(cx: &mut Cx<'_, '_>, input: Named<'_>) -> bool {
    let wrong = input.1.dtype.is_some_and(Dtype::is_integral);
    if wrong {
        refuse_dtype(cx, input, "needs floating-point or complex numbers");
    }
    wrong
}

/// The smaller of two lengths, if that is known.
pub(super) fn smaller(a: &Dim, b: &Dim) -> Dim {
    if a.size == b.size || a.size.less(&b.size) == Some(true) {
        return a.clone();
    }
    match b.size.less(&a.size) {
        Some(true) => b.clone(),
        _ if a.size.equals(&b.size) == Some(true) => a.clone(),
        _ => Dim::new(Size::Unknown, a.at),
    }
}

/// A result with the device and gradient state of its input.
pub(super) fn beside(cx: &Cx<'_, '_>, input: &Tensor, shape: Option<Vec<Dim>>, dtype: Option<Dtype>) -> Tensor {
    let at = cx.at();
    let mut out = super::pointwise::derived(input);
    out.shape_at = shape.as_ref().and(at);
    out.shape = shape;
    if dtype != input.dtype {
        out = out.with_dtype(dtype, at);
    }
    out.grad =
        if dtype.is_some_and(Dtype::is_integral) { Grad::Off } else { result_grad(cx, &[("input", input)], dtype) };
    out
}
