//! Distances between vectors.

use crate::library::torch::autocast::raised;
use crate::library::torch::broadcast::{
    Mix, Named, broadcast_pair, common_device, result_grad, shape_read, shape_text,
};
use crate::library::torch::promotion::{Operand, result_type};
use crate::library::torch::support::{bound, refuse_dtype, refuse_rank, tensor_param};
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Size, Tensor, Value};

pub(crate) fn register(t: &mut Table) {
    t.listed("torch.", "pdist", pdist);
    t.alias("torch.nn.functional.pdist", "torch.pdist");
    t.listed("torch.", "cdist", cdist);
}

/// The tensors `x1` and `x2`, and a result with the dtype and device that follow from them.
fn two(cx: &mut Cx<'_, '_>, b: &Bound, mix: Mix) -> Option<(Tensor, Tensor, Tensor)> {
    let (x, y) = (tensor_param(cx, b, "x1"), tensor_param(cx, b, "x2"));
    let (x, y) = (x?, y?);
    let named: [Named<'_>; 2] = [("x1", &x), ("x2", &y)];
    let (device, device_at) = common_device(cx, &named, mix);
    let operands = [Operand::Tensor(Box::new(x.clone())), Operand::Tensor(Box::new(y.clone()))];
    let dtype = result_type(&operands, cx.default_dtype());
    let mut out = Tensor { dtype, device, device_at, dtype_at: x.dtype_at, ..Tensor::default() };
    out.dtype = raised(cx, &out);
    out.grad = result_grad(cx, &named, dtype);
    Some((x, y, out))
}

/// The distances between all pairs of rows of a matrix.
fn pdist(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let named = ("input", &input);
    if input.rank().is_some_and(|r| r != 2) {
        refuse_rank(cx, named, "a matrix");
        return cx.some_tensor();
    }
    if input.dtype.is_some_and(|d| !d.is_floating()) {
        refuse_dtype(cx, named, "needs floating-point numbers");
        return cx.some_tensor();
    }
    let rows = input.dim(0).map_or(Size::Unknown, |d| d.size.clone());
    let pairs = match rows.known() {
        Some(n) => n.checked_mul(n.saturating_sub(1)).map_or(Size::Unknown, |n| Size::Int(n / 2)),
        None => Size::Unknown,
    };
    let at = cx.at();
    let mut out = crate::library::torch::pointwise::derived(&input).with_shape(vec![pairs], at);
    out.dtype = raised(cx, &input);
    out.grad = result_grad(cx, &[named], out.dtype);
    bound(&mut out, 0.0, f64::INFINITY, at);
    cx.out(out)
}

/// The distances between the rows of two batches of matrices.
fn cdist(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some((x, y, mut out)) = two(cx, b, Mix::Strict) else { return cx.some_tensor() };
    for named in [("x1", &x), ("x2", &y)] {
        if named.1.dtype.is_some_and(|d| !d.is_floating()) {
            refuse_dtype(cx, named, "needs floating-point numbers");
            return cx.some_tensor();
        }
        if named.1.rank().is_some_and(|r| r < 2) {
            refuse_rank(cx, named, "at least two dimensions");
            return cx.some_tensor();
        }
    }
    let (Some(p), Some(q)) = (&x.shape, &y.shape) else { return cx.out(out) };
    let split = |dims: &[Dim]| {
        let at = dims.len().checked_sub(2)?;
        Some((dims.get(..at)?.to_vec(), dims.get(at)?.clone(), dims.last()?.clone()))
    };
    let (Some((lead_x, rows_x, width_x)), Some((lead_y, rows_y, width_y))) = (split(p), split(q)) else {
        return cx.out(out);
    };
    if width_x.size.equals(&width_y.size) == Some(false) {
        let message = format!(
            "`x1` is {} and `x2` is {}: the last dimensions {} and {} must be equal",
            shape_text(&x),
            shape_text(&y),
            width_x.size,
            width_y.size
        );
        let axis = |t: &Tensor| t.rank().and_then(|r| r.checked_sub(1));
        let reads = vec![shape_read(("x1", &x), axis(&x)), shape_read(("x2", &y), axis(&y))];
        cx.reject(RejectKind::Shape, message, reads);
        return cx.some_tensor();
    }
    match broadcast_pair(&lead_x, &lead_y) {
        Ok(mut shape) => {
            shape.push(rows_x);
            shape.push(rows_y);
            out.shape = Some(shape);
            out.shape_at = cx.at();
        }
        Err(_) => {
            let message = format!(
                "`x1` is {} and `x2` is {}: the batch dimensions do not broadcast",
                shape_text(&x),
                shape_text(&y)
            );
            let reads = vec![shape_read(("x1", &x), None), shape_read(("x2", &y), None)];
            cx.reject(RejectKind::Shape, message, reads);
            return cx.some_tensor();
        }
    }
    let at = cx.at();
    bound(&mut out, 0.0, f64::INFINITY, at);
    cx.out(out)
}
