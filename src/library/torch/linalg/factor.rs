//! Functions of one batch of matrices. The shapes of their results consist of the sizes of the
//! matrices.

use super::{Matrices, beside, matrices, refuse_integers, refuse_oblong, smaller};
use crate::library::torch::broadcast::shape_read;
use crate::library::torch::support::{give, give_all, refuse_dtype, tensor_param};
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, Size, Tensor, Value};

/// A dimension of a result.
#[derive(Debug, Clone, Copy)]
enum D {
    /// Rows.
    M,
    /// Columns.
    N,
    /// The smaller of rows and columns.
    K,
}

/// The dtype of a result.
#[derive(Debug, Clone, Copy)]
enum As {
    Same,
    Real,
    Complex,
    Int32,
    Int64,
}

/// A result: its dimensions after the batch dimensions, and its dtype.
type Out = (&'static [D], As);

const M: D = D::M;
const N: D = D::N;
const K: D = D::K;

pub(crate) fn register(t: &mut Table) {
    // Functions of square matrices.
    t.listed("torch.linalg.", "det", |cx, b| square(cx, b, &[(&[], As::Same)]));
    t.listed("torch.", "det logdet", |cx, b| square(cx, b, &[(&[], As::Same)]));
    t.listed("torch.linalg.", "slogdet", |cx, b| square(cx, b, &[(&[], As::Same), (&[], As::Real)]));
    t.listed("torch.", "slogdet", |cx, b| square(cx, b, &[(&[], As::Same), (&[], As::Real)]));
    t.listed("torch.linalg.", "inv", |cx, b| square(cx, b, &[(&[N, N], As::Same)]));
    t.listed("torch.", "inverse", |cx, b| square(cx, b, &[(&[N, N], As::Same)]));
    t.listed("torch.linalg.", "inv_ex", |cx, b| square(cx, b, &[(&[N, N], As::Same), (&[], As::Int32)]));
    t.listed("torch.linalg.", "cholesky", |cx, b| square(cx, b, &[(&[N, N], As::Same)]));
    t.listed("torch.linalg.", "cholesky_ex", |cx, b| square(cx, b, &[(&[N, N], As::Same), (&[], As::Int32)]));
    t.listed("torch.", "cholesky_inverse", |cx, b| square(cx, b, &[(&[N, N], As::Same)]));
    t.listed("torch.linalg.", "matrix_exp", |cx, b| square(cx, b, &[(&[N, N], As::Same)]));
    t.listed("torch.", "matrix_exp", |cx, b| square(cx, b, &[(&[N, N], As::Same)]));
    t.listed("torch.linalg.", "matrix_sqrth", |cx, b| square(cx, b, &[(&[N, N], As::Same)]));
    t.listed("torch.linalg.", "matrix_power", power);
    t.listed("torch.", "matrix_power", power);
    t.listed("torch.linalg.", "eig", |cx, b| square(cx, b, &[(&[N], As::Complex), (&[N, N], As::Complex)]));
    t.listed("torch.linalg.", "eigvals", |cx, b| square(cx, b, &[(&[N], As::Complex)]));
    t.listed("torch.linalg.", "eigh", |cx, b| square(cx, b, &[(&[N], As::Real), (&[N, N], As::Same)]));
    t.listed("torch.linalg.", "eigvalsh", |cx, b| square(cx, b, &[(&[N], As::Real)]));
    t.listed("torch.linalg.", "ldl_factor", |cx, b| square(cx, b, &[(&[N, N], As::Same), (&[N], As::Int32)]));
    t.listed("torch.linalg.", "ldl_factor_ex", |cx, b| {
        square(cx, b, &[(&[N, N], As::Same), (&[N], As::Int32), (&[], As::Int32)])
    });
    // Functions of matrices of any shape.
    t.listed("torch.linalg.", "svdvals", |cx, b| any(cx, b, &[(&[K], As::Real)]));
    t.listed("torch.linalg.", "svd", svd);
    t.listed("torch.", "svd", old_svd);
    t.listed("torch.linalg.", "qr", qr);
    t.listed("torch.linalg.", "lu", |cx, b| {
        any(cx, b, &[(&[M, M], As::Same), (&[M, K], As::Same), (&[K, N], As::Same)])
    });
    t.listed("torch.linalg.", "lu_factor", |cx, b| any(cx, b, &[(&[M, N], As::Same), (&[K], As::Int32)]));
    t.listed("torch.linalg.", "lu_factor_ex", |cx, b| {
        any(cx, b, &[(&[M, N], As::Same), (&[K], As::Int32), (&[], As::Int32)])
    });
    t.listed("torch.", "lu", |cx, b| match b.get("get_infos").as_bool() {
        Some(false) => any(cx, b, &[(&[M, N], As::Same), (&[K], As::Int32)]),
        Some(true) => any(cx, b, &[(&[M, N], As::Same), (&[K], As::Int32), (&[], As::Int32)]),
        None => Value::Unknown,
    });
    t.listed("torch.", "geqrf", |cx, b| any(cx, b, &[(&[M, N], As::Same), (&[K], As::Same)]));
    t.listed("torch.linalg.", "polar", polar);
    t.listed("torch.linalg.", "pinv", |cx, b| any(cx, b, &[(&[N, M], As::Same)]));
    t.listed("torch.", "pinverse", |cx, b| any(cx, b, &[(&[N, M], As::Same)]));
    t.listed("torch.linalg.", "matrix_rank", |cx, b| any(cx, b, &[(&[], As::Int64)]));
    t.listed("torch.linalg.", "cond", |cx, b| any(cx, b, &[(&[], As::Real)]));
    t.listed("torch.linalg.", "householder_product", householder);
    t.listed("torch.", "orgqr", householder);
    t.listed("torch.", "svd_lowrank", lowrank);
    t.listed("torch.", "pca_lowrank", lowrank);
    t.listed("torch.linalg.", "vander", vander);
    t.listed("torch.", "vander", vander);
    t.listed("torch.", "lu_unpack", lu_unpack);
}

/// The tensor of the first parameter, and its matrices, after checks.
fn input(cx: &mut Cx<'_, '_>, b: &Bound, is_square: bool) -> Option<(Tensor, Option<Matrices>)> {
    let name = b.sig.params.first()?.name.as_str();
    let tensor = tensor_param(cx, b, name)?;
    if refuse_integers(cx, (name, &tensor)) {
        return None;
    }
    let of = matrices(cx, (name, &tensor)).ok()?;
    if is_square
        && let Some(of) = &of
        && refuse_oblong(cx, (name, &tensor), of)
    {
        return None;
    }
    Some((tensor, of))
}

fn results(cx: &Cx<'_, '_>, tensor: &Tensor, of: Option<&Matrices>, outs: &[Out]) -> Vec<Tensor> {
    outs.iter()
        .map(|(dims, dtype)| {
            let shape = of.map(|of| {
                let mut shape = of.batch.clone();
                shape.extend(dims.iter().map(|d| match d {
                    D::M => of.rows.clone(),
                    D::N => of.columns.clone(),
                    D::K => smaller(&of.rows, &of.columns),
                }));
                shape
            });
            let dtype = match dtype {
                As::Same => tensor.dtype,
                As::Real => tensor.dtype.map(Dtype::to_real),
                As::Complex => tensor.dtype.map(Dtype::to_complex),
                As::Int32 => Some(Dtype::Int32),
                As::Int64 => Some(Dtype::Int64),
            };
            beside(cx, tensor, shape, dtype)
        })
        .collect()
}

fn deliver(cx: &mut Cx<'_, '_>, b: &Bound, mut outs: Vec<Tensor>) -> Value {
    match outs.len() {
        1 => match outs.pop() {
            Some(only) => give(cx, b, only),
            None => cx.some_tensor(),
        },
        _ => give_all(cx, b, outs),
    }
}

fn nothing(cx: &mut Cx<'_, '_>, number: usize) -> Value {
    if number == 1 { cx.some_tensor() } else { cx.outs(vec![Tensor::default(); number]) }
}

fn square(cx: &mut Cx<'_, '_>, b: &Bound, outs: &[Out]) -> Value {
    let Some((tensor, of)) = input(cx, b, true) else { return nothing(cx, outs.len()) };
    let outs = results(cx, &tensor, of.as_ref(), outs);
    deliver(cx, b, outs)
}

fn any(cx: &mut Cx<'_, '_>, b: &Bound, outs: &[Out]) -> Value {
    let Some((tensor, of)) = input(cx, b, false) else { return nothing(cx, outs.len()) };
    // A tolerance may be a tensor with batch dimensions.
    let is_plain = |name: &&str| !b.given(name) || b.get(name).is_none() || b.get(name).number_type().is_some();
    let of = of.filter(|_| ["atol", "rtol", "tol", "rcond"].iter().all(is_plain));
    let outs = results(cx, &tensor, of.as_ref(), outs);
    deliver(cx, b, outs)
}

/// `matrix_power`: accepts integers, unless the exponent is negative.
fn power(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(tensor) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let named = ("input", &tensor);
    if b.get("n").as_int().is_some_and(|n| n < 0) && refuse_integers(cx, named) {
        return cx.some_tensor();
    }
    let Ok(of) = matrices(cx, named) else { return cx.some_tensor() };
    if let Some(of) = &of
        && refuse_oblong(cx, named, of)
    {
        return cx.some_tensor();
    }
    let outs = results(cx, &tensor, of.as_ref(), &[(&[N, N], As::Same)]);
    deliver(cx, b, outs)
}

fn svd(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    match b.get("full_matrices").as_bool() {
        Some(true) => any(cx, b, &[(&[M, M], As::Same), (&[K], As::Real), (&[N, N], As::Same)]),
        Some(false) => any(cx, b, &[(&[M, K], As::Same), (&[K], As::Real), (&[K, N], As::Same)]),
        None => nothing(cx, 3),
    }
}

/// `torch.svd` returns V, not its transpose.
fn old_svd(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    match (b.get("some").as_bool(), b.get("compute_uv").as_bool()) {
        (Some(true), Some(true)) => any(cx, b, &[(&[M, K], As::Same), (&[K], As::Real), (&[N, K], As::Same)]),
        (Some(_), Some(_)) => any(cx, b, &[(&[M, M], As::Same), (&[K], As::Real), (&[N, N], As::Same)]),
        _ => nothing(cx, 3),
    }
}

fn qr(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let mode = b.get("mode");
    match mode.as_str() {
        Some("reduced") => any(cx, b, &[(&[M, K], As::Same), (&[K, N], As::Same)]),
        Some("complete") => any(cx, b, &[(&[M, M], As::Same), (&[M, N], As::Same)]),
        Some("r") => {
            let Some((tensor, of)) = input(cx, b, false) else { return nothing(cx, 2) };
            let mut outs = results(cx, &tensor, of.as_ref(), &[(&[], As::Same), (&[K, N], As::Same)]);
            if let Some(q) = outs.first_mut() {
                q.shape = Some(vec![Dim::new(Size::Int(0), cx.at())]);
            }
            deliver(cx, b, outs)
        }
        Some(other) => {
            let message = format!("`mode` is {other:?}: \"reduced\", \"complete\" and \"r\" are accepted");
            cx.reject(RejectKind::Value, message, vec![("`mode` is given here".to_owned(), b.span("mode"))]);
            nothing(cx, 2)
        }
        None => nothing(cx, 2),
    }
}

fn polar(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some((tensor, of)) = input(cx, b, false) else { return nothing(cx, 2) };
    if let Some(of) = &of
        && of.rows.size.less(&of.columns.size) == Some(true)
    {
        let message = format!(
            "the matrices are {} by {}: there must be at least as many rows as columns",
            of.rows.size, of.columns.size
        );
        cx.reject(RejectKind::Shape, message, vec![shape_read(("A", &tensor), None)]);
        return nothing(cx, 2);
    }
    let outs = results(cx, &tensor, of.as_ref(), &[(&[M, N], As::Same), (&[N, N], As::Same)]);
    deliver(cx, b, outs)
}

fn householder(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some((tensor, of)) = input(cx, b, false) else { return cx.some_tensor() };
    if let Some(of) = &of
        && of.rows.size.less(&of.columns.size) == Some(true)
    {
        let message = format!(
            "`input` is {} by {}: there must be at least as many rows as columns",
            of.rows.size, of.columns.size
        );
        cx.reject(RejectKind::Shape, message, vec![shape_read(("input", &tensor), None)]);
        return cx.some_tensor();
    }
    let outs = results(cx, &tensor, of.as_ref(), &[(&[M, N], As::Same)]);
    deliver(cx, b, outs)
}

/// The first `q` singular values and vectors.
fn lowrank(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some((tensor, of)) = input(cx, b, false) else { return nothing(cx, 3) };
    let mut outs = results(cx, &tensor, of.as_ref(), &[(&[M, K], As::Same), (&[K], As::Real), (&[N, K], As::Same)]);
    let at = cx.at();
    let q = match (b.get("q"), &of) {
        (Value::None, Some(of)) => match smaller(&of.rows, &of.columns).size.known() {
            Some(k) => Size::Int(k.min(6)),
            None => Size::Unknown,
        },
        (value, _) => cx.size_of(&value),
    };
    for out in &mut outs {
        if let Some(last) = out.shape.as_mut().and_then(|s| s.last_mut()) {
            *last = Dim::new(q.clone(), at);
        }
    }
    deliver(cx, b, outs)
}

/// The powers of each element, in a new last dimension.
fn vander(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(x) = tensor_param(cx, b, "x") else { return cx.some_tensor() };
    let named = ("x", &x);
    if cx.path.as_str() == "torch.vander" && x.rank().is_some_and(|r| r != 1) {
        crate::library::torch::support::refuse_rank(cx, named, "one dimension");
        return cx.some_tensor();
    }
    let number = b.get("N");
    // A 0-d tensor is treated as a vector of one element.
    let x = if x.rank() == Some(0) { x.with_shape(vec![Size::Int(1)], cx.at()) } else { x };
    let length = x.shape.as_ref().and_then(|s| s.last()).cloned().unwrap_or(Dim::UNKNOWN);
    let at = cx.at();
    let columns = if number.is_none() { length } else { Dim::new(cx.size_of(&number), at) };
    let shape = x.shape.clone().map(|mut shape| {
        shape.push(columns);
        shape
    });
    // Powers are cumulative products, which are int64 for every integer dtype.
    let dtype = x.dtype.map(|d| if d.is_integral() { Dtype::Int64 } else { d });
    let out = beside(cx, &x, shape, dtype);
    cx.out(out)
}

fn lu_unpack(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(data) = tensor_param(cx, b, "LU_data") else { return nothing(cx, 3) };
    let named = ("LU_data", &data);
    let Ok(of) = matrices(cx, named) else { return nothing(cx, 3) };
    if let Some(pivots) = cx.tensor(&b.get("LU_pivots"))
        && pivots.dtype.is_some_and(|d| d != Dtype::Int32)
    {
        refuse_dtype(cx, ("LU_pivots", &pivots), "takes pivots of int32");
        return nothing(cx, 3);
    }
    let mut outs = results(cx, &data, of.as_ref(), &[(&[M, M], As::Same), (&[M, K], As::Same), (&[K, N], As::Same)]);
    let at = cx.at();
    // The results that are not requested are empty.
    let asked = [b.get("unpack_pivots"), b.get("unpack_data"), b.get("unpack_data")];
    for (out, asked) in outs.iter_mut().zip(asked) {
        match asked.as_bool() {
            Some(true) => {}
            Some(false) => out.shape = Some(vec![Dim::new(Size::Int(0), at)]),
            None => out.shape = None,
        }
    }
    deliver(cx, b, outs)
}
