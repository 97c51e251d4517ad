//! Systems of equations: a batch of matrices and the right-hand sides.

use super::{Matrices, beside, matrices, refuse_integers, refuse_oblong, smaller};
use crate::library::torch::broadcast::{
    Mix, Named, broadcast_pair, common_device, result_grad, shape_read, shape_text,
};
use crate::library::torch::support::{give, give_all, refuse_mixed, refuse_rank, tensor_param};
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, Grad, Size, Tensor, Value};

pub(crate) fn register(t: &mut Table) {
    t.listed("torch.linalg.", "solve", solve);
    t.listed("torch.linalg.", "solve_ex", solve);
    t.listed("torch.linalg.", "solve_triangular", triangular);
    t.listed("torch.", "triangular_solve", triangular);
    t.listed("torch.", "cholesky_solve", triangular);
    t.listed("torch.linalg.", "lu_solve", triangular);
    t.listed("torch.", "lu_solve", triangular);
    t.listed("torch.linalg.", "ldl_solve", triangular);
    t.listed("torch.linalg.", "lstsq", lstsq);
    t.listed("torch.linalg.", "tensorinv", tensorinv);
    t.listed("torch.linalg.", "tensorsolve", tensorsolve);
    t.listed("torch.", "ormqr", ormqr);
}

/// Whether the right-hand side is one vector or a batch of vectors. A batch of vectors has the
/// shape of the matrices without their last dimension. `None` if that is not known.
fn is_vector(of: &Matrices, right: &[Dim]) -> Option<bool> {
    if right.len() == 1 {
        return Some(true);
    }
    if right.len() != of.batch.len() + 1 {
        return Some(false);
    }
    let mut all = Some(true);
    for (a, b) in of.batch.iter().chain(std::iter::once(&of.rows)).zip(right) {
        match a.size.equals(&b.size) {
            Some(true) => {}
            Some(false) => return Some(false),
            None => all = None,
        }
    }
    all
}

fn refuse_fit(cx: &mut Cx<'_, '_>, a: Named<'_>, b: Named<'_>, why: &str) {
    let message = format!("`{}` is {} and `{}` is {}: {why}", a.0, shape_text(a.1), b.0, shape_text(b.1));
    cx.reject(RejectKind::Shape, message, vec![shape_read(a, None), shape_read(b, None)]);
}

/// The condition on the sizes of the matrices `A` and `B` in `A X = B` (`left`) or `X A = B`, for
/// messages.
fn sides(left: Option<bool>) -> &'static str {
    match left {
        Some(false) => "the second needs as many columns as the first has rows",
        _ => "both need the same number of rows",
    }
}

/// Solves `A X = B`, or `X A = B`.
fn solve(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let ex = cx.name() == "solve_ex";
    let unknown = |cx: &mut Cx<'_, '_>| if ex { cx.outs(vec![Tensor::default(); 2]) } else { cx.some_tensor() };
    let (Some(a), Some(right)) = (tensor_param(cx, b, "A"), tensor_param(cx, b, "B")) else { return unknown(cx) };
    let (left_named, right_named): (Named<'_>, Named<'_>) = (("A", &a), ("B", &right));
    if refuse_integers(cx, left_named) || refuse_mixed(cx, &[left_named, right_named]) {
        return unknown(cx);
    }
    let Ok(of) = matrices(cx, left_named) else { return unknown(cx) };
    if let Some(of) = &of
        && refuse_oblong(cx, left_named, of)
    {
        return unknown(cx);
    }
    let left = b.get("left").as_bool();
    let mut shape = None;
    let mut batch = None;
    if let (Some(of), Some(dims)) = (&of, &right.shape) {
        match is_vector(of, dims) {
            Some(true) => {
                let rows = dims.last().map(|d| d.size.equals(&of.rows.size));
                if rows == Some(Some(false)) {
                    refuse_fit(cx, left_named, right_named, "the vector needs one element for each row of the matrix");
                    return unknown(cx);
                }
                // A single vector is used for all matrices of the batch.
                let lead = dims.split_last().map(|(_, rest)| rest).unwrap_or_default();
                if let Ok(mut joined) = broadcast_pair(&of.batch, lead) {
                    batch = Some(joined.clone());
                    joined.push(of.rows.clone());
                    shape = Some(joined);
                }
            }
            Some(false) => {
                if let [lead @ .., rows, columns] = dims.as_slice() {
                    let fit = match left {
                        Some(true) => rows.size.equals(&of.rows.size),
                        Some(false) => columns.size.equals(&of.rows.size),
                        None => None,
                    };
                    if fit == Some(false) {
                        refuse_fit(cx, left_named, right_named, sides(left));
                        return unknown(cx);
                    }
                    match broadcast_pair(&of.batch, lead) {
                        Ok(mut joined) => {
                            batch = Some(of.batch.clone());
                            joined.extend([rows.clone(), columns.clone()]);
                            shape = Some(joined);
                        }
                        Err(_) => {
                            refuse_fit(cx, left_named, right_named, "the batch dimensions do not broadcast");
                            return unknown(cx);
                        }
                    }
                }
            }
            None => {}
        }
    }
    common_device(cx, &[left_named, right_named], Mix::Strict);
    let mut out = beside(cx, &a, shape, a.dtype.or(right.dtype));
    out.grad = result_grad(cx, &[left_named, right_named], out.dtype);
    if !ex {
        return give(cx, b, out);
    }
    let info = beside(cx, &a, batch.or_else(|| of.map(|of| of.batch)), Some(Dtype::Int32));
    give_all(cx, b, vec![out, info])
}

/// Solvers whose right-hand side is always a batch of matrices.
fn triangular(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let name = cx.name();
    let (matrix, right_name) = match name {
        "solve_triangular" => ("input", "B"),
        "triangular_solve" => ("A", "input"),
        "cholesky_solve" => ("input2", "input"),
        "ldl_solve" => ("LD", "B"),
        _ if b.takes("LU") => ("LU", "B"),
        _ => ("LU_data", "input"),
    };
    let pair = name == "triangular_solve";
    let unknown = |cx: &mut Cx<'_, '_>| if pair { cx.outs(vec![Tensor::default(); 2]) } else { cx.some_tensor() };
    let (Some(a), Some(right)) = (tensor_param(cx, b, matrix), tensor_param(cx, b, right_name)) else {
        return unknown(cx);
    };
    let (a_named, right_named): (Named<'_>, Named<'_>) = ((matrix, &a), (right_name, &right));
    if refuse_integers(cx, a_named) || refuse_mixed(cx, &[a_named, right_named]) {
        return unknown(cx);
    }
    let (Ok(of), Ok(to)) = (matrices(cx, a_named), matrices(cx, right_named)) else { return unknown(cx) };
    if let Some(of) = &of
        && refuse_oblong(cx, a_named, of)
    {
        return unknown(cx);
    }
    let has_left = b.takes("left");
    let left = if has_left { b.get("left").as_bool() } else { Some(true) };
    let mut shapes = (None, None);
    if let (Some(of), Some(to)) = (&of, &to) {
        let fit = match left {
            Some(true) => to.rows.size.equals(&of.rows.size),
            Some(false) => to.columns.size.equals(&of.rows.size),
            None => None,
        };
        if fit == Some(false) {
            refuse_fit(cx, a_named, right_named, sides(left));
            return unknown(cx);
        }
        match broadcast_pair(&of.batch, &to.batch) {
            Ok(joined) => {
                let with = |rest: [&Dim; 2]| joined.iter().chain(rest).cloned().collect::<Vec<_>>();
                shapes = (Some(with([&to.rows, &to.columns])), Some(with([&of.rows, &of.columns])));
            }
            Err(_) => {
                refuse_fit(cx, a_named, right_named, "the batch dimensions do not broadcast");
                return unknown(cx);
            }
        }
    }
    common_device(cx, &[a_named, right_named], Mix::Strict);
    let mut out = beside(cx, &right, shapes.0, right.dtype.or(a.dtype));
    out.grad = result_grad(cx, &[a_named, right_named], out.dtype);
    if !pair {
        return give(cx, b, out);
    }
    let copy = beside(cx, &a, shapes.1, a.dtype);
    give_all(cx, b, vec![out, copy])
}

/// The solution, and three results whose sizes depend on the driver.
fn lstsq(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let unknown = |cx: &mut Cx<'_, '_>| cx.outs(vec![Tensor::default(); 4]);
    let (Some(a), Some(right)) = (tensor_param(cx, b, "input"), tensor_param(cx, b, "b")) else {
        return unknown(cx);
    };
    let (a_named, right_named): (Named<'_>, Named<'_>) = (("input", &a), ("b", &right));
    if refuse_integers(cx, a_named) || refuse_mixed(cx, &[a_named, right_named]) {
        return unknown(cx);
    }
    let Ok(of) = matrices(cx, a_named) else { return unknown(cx) };
    if right.rank() == Some(0) {
        refuse_rank(cx, right_named, "at least one dimension");
        return unknown(cx);
    }
    let mut shape = None;
    let mut batch = None;
    let mut right_columns = None;
    if let (Some(of), Some(dims)) = (&of, &right.shape) {
        match is_vector(of, dims) {
            Some(true) => {
                if dims.last().map(|d| d.size.equals(&of.rows.size)) == Some(Some(false)) {
                    refuse_fit(cx, a_named, right_named, "the vector needs one element for each row of the matrix");
                    return unknown(cx);
                }
                if dims.len() == of.batch.len() + 1 {
                    right_columns = Some(Dim::int(1));
                    let mut out = of.batch.clone();
                    out.push(of.columns.clone());
                    shape = Some(out);
                    batch = Some(of.batch.clone());
                }
            }
            Some(false) => {
                if let [lead @ .., rows, columns] = dims.as_slice() {
                    if rows.size.equals(&of.rows.size) == Some(false) {
                        refuse_fit(cx, a_named, right_named, sides(Some(true)));
                        return unknown(cx);
                    }
                    if let Ok(mut joined) = broadcast_pair(&of.batch, lead) {
                        batch = Some(joined.clone());
                        right_columns = Some(columns.clone());
                        joined.extend([of.columns.clone(), columns.clone()]);
                        shape = Some(joined);
                    }
                }
            }
            None => {}
        }
    }
    common_device(cx, &[a_named, right_named], Mix::Strict);
    let mut out = beside(cx, &a, shape, a.dtype.or(right.dtype));
    out.grad = result_grad(cx, &[a_named, right_named], out.dtype);
    let at = cx.at();
    // The default driver depends on the device.
    let driver = match (b.get("driver"), a.device) {
        (Value::None, Some(device)) if device.is_cpu() => Some("gelsy".to_owned()),
        (Value::None, Some(device)) if device.is_cuda() => Some("gels".to_owned()),
        (given, _) => given.as_str().map(str::to_owned),
    };
    let driver = driver.as_deref();
    let empty = || Some(vec![Dim::new(Size::Int(0), at)]);
    let tall = of.as_ref().and_then(|of| of.columns.size.less(&of.rows.size));
    let residual_shape = match (driver, tall) {
        (Some("gelsy"), _) | (Some(_), Some(false)) => empty(),
        // `gels` assumes full rank; the other drivers compute the rank.
        (Some("gels"), Some(true)) => batch.clone().zip(right_columns).map(|(mut dims, columns)| {
            dims.push(columns);
            dims
        }),
        _ => None,
    };
    let rank_shape = match driver {
        Some("gels") => empty(),
        Some(_) => batch.clone(),
        None => None,
    };
    let value_shape = match driver {
        Some("gels" | "gelsy") => empty(),
        Some(_) => batch.zip(of.as_ref()).map(|(mut dims, of)| {
            dims.push(smaller(&of.rows, &of.columns));
            dims
        }),
        None => None,
    };
    let residuals = beside(cx, &a, residual_shape, a.dtype.map(Dtype::to_real));
    let rank = beside(cx, &a, rank_shape, Some(Dtype::Int64));
    let values = beside(cx, &a, value_shape, a.dtype.map(Dtype::to_real));
    give_all(cx, b, vec![out, residuals, rank, values])
}

/// `tensorinv`: the result has the first `ind` dimensions of the input after all others.
fn tensorinv(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    if refuse_integers(cx, ("input", &input)) {
        return cx.some_tensor();
    }
    let at = b.get("ind").as_int().and_then(|n| usize::try_from(n).ok());
    let shape = input.shape.as_ref().zip(at).and_then(|(dims, at)| {
        let (first, rest) = (dims.get(..at)?, dims.get(at..)?);
        Some(rest.iter().chain(first).cloned().collect::<Vec<_>>())
    });
    let out = beside(cx, &input, shape, input.dtype);
    give(cx, b, out)
}

fn tensorsolve(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (Some(a), Some(right)) = (tensor_param(cx, b, "input"), tensor_param(cx, b, "other")) else {
        return cx.some_tensor();
    };
    let (a_named, right_named): (Named<'_>, Named<'_>) = (("input", &a), ("other", &right));
    if refuse_integers(cx, a_named) || refuse_mixed(cx, &[a_named, right_named]) {
        return cx.some_tensor();
    }
    let shape = match b.get("dims") {
        Value::None => a.shape.as_ref().zip(right.rank()).and_then(|(dims, rank)| Some(dims.get(rank..)?.to_vec())),
        _ => None,
    };
    let mut out = beside(cx, &a, shape, a.dtype.or(right.dtype));
    out.grad = result_grad(cx, &[a_named, right_named], out.dtype);
    give(cx, b, out)
}

/// A product with an orthogonal matrix. The result has the shape of the third tensor.
fn ormqr(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (Some(input), Some(tau), Some(other)) =
        (tensor_param(cx, b, "input"), tensor_param(cx, b, "input2"), tensor_param(cx, b, "input3"))
    else {
        return cx.some_tensor();
    };
    let named: [Named<'_>; 3] = [("input", &input), ("input2", &tau), ("input3", &other)];
    let [first, second, third] = named;
    if refuse_integers(cx, first) || refuse_mixed(cx, &named) {
        return cx.some_tensor();
    }
    let (Ok(of), Ok(to)) = (matrices(cx, first), matrices(cx, third)) else { return cx.some_tensor() };
    if let (Some(of), Some(to)) = (of, to) {
        let side = match b.get("left").as_bool() {
            Some(true) => Some(&to.rows),
            Some(false) => Some(&to.columns),
            None => None,
        };
        if let Some(side) = side
            && of.rows.size.equals(&side.size) == Some(false)
        {
            refuse_fit(cx, first, third, sides(b.get("left").as_bool()));
            return cx.some_tensor();
        }
        let last = tau.shape.as_ref().and_then(|s| s.last());
        if let Some(last) = last
            && of.columns.size.less(&last.size) == Some(true)
        {
            refuse_fit(cx, first, second, "`input2` (tau) has more reflectors than `input` has columns");
            return cx.some_tensor();
        }
        if let (Some(side), Some(last)) = (side, last)
            && side.size.less(&last.size) == Some(true)
        {
            let sizes = if b.get("left").as_bool() == Some(true) { "rows" } else { "columns" };
            let message = format!("`input2` (tau) has more reflectors than `input3` has {sizes}");
            refuse_fit(cx, second, third, &message);
            return cx.some_tensor();
        }
        let ranks = [input.rank(), tau.rank().and_then(|r| r.checked_add(1)), other.rank()];
        if ranks.iter().any(|r| *r != ranks.first().copied().flatten()) && ranks.iter().all(Option::is_some) {
            refuse_fit(cx, first, second, "`input2` (tau) needs one dimension less than `input` and `input3`");
            return cx.some_tensor();
        }
        let batches = [
            to.batch.as_slice(),
            tau.shape.as_deref().and_then(|s| s.split_last()).map(|(_, r)| r).unwrap_or_default(),
        ];
        for batch in batches {
            let differ = of.batch.iter().zip(batch).any(|(a, b)| a.size.equals(&b.size) == Some(false));
            if differ {
                refuse_fit(cx, first, third, "the batches differ");
                return cx.some_tensor();
            }
        }
    }
    let mut out = beside(cx, &other, other.shape.clone(), other.dtype);
    out.grad =
        if named.iter().all(|(_, t)| t.grad == Grad::Off) { Grad::Off } else { result_grad(cx, &named, out.dtype) };
    give(cx, b, out)
}
