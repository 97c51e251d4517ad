//! Products of matrices and vectors.

use super::autocast::lowered;
use super::broadcast::{
    Mix, Named, broadcast_dim, broadcast_pair, common_device, quoted, result_grad, shape_read, shape_text,
};
use super::promotion::{Operand, is_numpy, numpy_result_type, result_type};
use super::support::{Cast, give, give_with, product_dtype, refuse_dtype, refuse_mixed, refuse_rank, tensor_param};
use super::views::layout;
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, Size, Tensor, Value, counted, promote};

pub(crate) fn register(t: &mut Table) {
    t.def("torch.mm", "input, mat2, *, out=None", |cx, b| plain(cx, b, &[2], &[2]));
    t.def("torch.bmm", "input, mat2, *, out=None", |cx, b| plain(cx, b, &[3], &[3]));
    t.listed("torch.", "mv", |cx, b| plain(cx, b, &[2], &[1]));
    t.listed("torch.", "matmul", |cx, b| plain(cx, b, &[], &[]));
    t.listed("torch.linalg.", "matmul", |cx, b| plain(cx, b, &[], &[]));
    t.family("torch.Tensor.", "__matmul__", "input, other", |cx, b| plain(cx, b, &[], &[]));
    t.listed("torch.", "dot", dot);
    t.listed("torch.", "vdot", dot);
    t.family("torch.", "addmm", "input, mat1, mat2, *, beta=1, alpha=1, out=None", add);
    t.listed("torch.", "addmv", add);
    t.listed("torch.", "addbmm", add);
    t.family("torch.", "baddbmm", "input, batch1, batch2, *, beta=1, alpha=1, out=None", add);
    t.listed("torch.", "addr", add);
    t.listed("torch.", "chain_matmul", chain);
    t.listed("torch.linalg.", "multi_dot", chain);
    t.listed("torch.", "inner", inner);
    t.listed("torch.", "outer", outer);
    t.listed("torch.", "ger", outer);
    t.listed("torch.", "kron", kron);
    t.listed("torch.", "tensordot", tensordot);
    t.listed("torch.", "cross", cross);
    t.listed("torch.linalg.", "cross", cross);
    t.listed("torch.linalg.", "vecdot", vecdot);
}

/// Reports two sizes that differ, but must be equal.
fn refuse_sizes(cx: &mut Cx<'_, '_>, a: Named<'_>, at_a: usize, b: Named<'_>, at_b: usize, what: &str) {
    let size = |t: &Tensor, at: usize| t.last_dims().get(at).map_or(Size::Unknown, |d| d.size.clone());
    let message = format!(
        "{} is {} and {} is {}: {what} {} and {} must be equal",
        quoted(a.0),
        shape_text(a.1),
        quoted(b.0),
        shape_text(b.1),
        size(a.1, at_a),
        size(b.1, at_b)
    );
    cx.reject(RejectKind::Shape, message, vec![shape_read(a, Some(at_a)), shape_read(b, Some(at_b))]);
}

/// The shape of `torch.matmul(a, b)`. `Err` if the call is rejected.
pub(super) fn matmul_shape(cx: &mut Cx<'_, '_>, a: Named<'_>, b: Named<'_>) -> Result<Option<Vec<Dim>>, ()> {
    for named in [a, b] {
        if named.1.rank() == Some(0) {
            refuse_rank(cx, named, "at least one dimension");
            return Err(());
        }
    }
    let (ends_a, ends_b) = (a.1.last_dims(), b.1.last_dims());
    let inner_a = ends_a.len().saturating_sub(1);
    let inner_b = ends_b.len().saturating_sub(2);
    // If only the last dimension of `b` is known, it is the inner one of a vector, but not of a matrix.
    let is_inner = b.1.rank().is_some() || ends_b.len() > 1;
    if let (true, Some(p), Some(q)) = (is_inner, ends_a.get(inner_a), ends_b.get(inner_b))
        && p.size.equals(&q.size) == Some(false)
    {
        refuse_sizes(cx, a, inner_a, b, inner_b, "the inner sizes");
        return Err(());
    }
    let (Some(x), Some(y)) = (&a.1.shape, &b.1.shape) else { return Ok(None) };
    let lead = |dims: &[Dim], keep: usize| dims.get(..dims.len().saturating_sub(keep)).unwrap_or_default().to_vec();
    let Ok(mut shape) = broadcast_pair(&lead(x, 2), &lead(y, 2)) else {
        let message = format!(
            "{} is {} and {} is {}: the batch dimensions do not broadcast",
            quoted(a.0),
            shape_text(a.1),
            quoted(b.0),
            shape_text(b.1)
        );
        cx.reject(RejectKind::Shape, message, vec![shape_read(a, Some(0)), shape_read(b, Some(0))]);
        return Err(());
    };
    if x.len() > 1 {
        shape.extend(x.len().checked_sub(2).and_then(|at| x.get(at)).cloned());
    }
    if y.len() > 1 {
        shape.extend(y.last().cloned());
    }
    Ok(Some(shape))
}

/// A result with the device and gradient state of its factors.
fn made(cx: &mut Cx<'_, '_>, tensors: &[Named<'_>], shape: Option<Vec<Dim>>, dtype: Option<Dtype>) -> Tensor {
    let (device, device_at) = common_device(cx, tensors, Mix::Strict);
    let at = cx.at();
    let array = tensors.first().map_or(crate::value::ArrayKind::Torch, |(_, t)| t.array);
    let dtype_at = tensors.first().filter(|(_, t)| t.dtype == dtype).map_or(at, |(_, t)| t.dtype_at);
    let shape_at = shape.as_ref().and(at);
    let grad = result_grad(cx, tensors, dtype);
    Tensor { array, shape, shape_at, dtype, dtype_at, device, device_at, grad, ..Tensor::default() }
}

/// A parameter with its tensor.
type Given = (&'static str, Tensor);

/// The first two parameters, which must be tensors.
fn pair(cx: &mut Cx<'_, '_>, b: &Bound) -> Option<(Given, Given)> {
    let mut names = b.sig.params.iter().map(|p| p.name.as_str());
    let (x, y) = (names.next()?, names.next()?);
    let (a, c) = (tensor_param(cx, b, x), tensor_param(cx, b, y));
    Some(((x, a?), (y, c?)))
}

/// Whether a tensor has one of the accepted ranks (any rank if the list is empty).
fn rank_fits(cx: &mut Cx<'_, '_>, named: Named<'_>, wanted: &[usize]) -> bool {
    match named.1.rank() {
        Some(rank) if !wanted.is_empty() && !wanted.contains(&rank) => {
            let text = match wanted.first() {
                Some(1) => "a vector here",
                Some(2) => "a matrix here",
                _ => "a batch of matrices here",
            };
            refuse_rank(cx, named, text);
            false
        }
        _ => true,
    }
}

/// `mm`, `bmm`, `mv`, `matmul`.
fn plain(cx: &mut Cx<'_, '_>, b: &Bound, left: &[usize], right: &[usize]) -> Value {
    let Some(((name_x, mut x), (name_y, mut y))) = pair(cx, b) else { return cx.some_tensor() };
    // If the rank is unknown, it is assumed to be the rank that the function requires.
    for (tensor, wanted) in [(&mut x, left), (&mut y, right)] {
        if let [rank] = wanted {
            tensor.set_rank(*rank, cx.at());
        }
    }
    let named: [Named<'_>; 2] = [(name_x, &x), (name_y, &y)];
    let [first, second] = named;
    if !rank_fits(cx, first, left) || !rank_fits(cx, second, right) {
        return cx.some_tensor();
    }
    if left == [3]
        && let (Some(p), Some(q)) = (x.dim(0), y.dim(0))
        && p.size.equals(&q.size) == Some(false)
    {
        refuse_sizes(cx, first, 0, second, 0, "the batch sizes");
        return cx.some_tensor();
    }
    let Ok(shape) = matmul_shape(cx, first, second) else { return cx.some_tensor() };
    let operands = [Operand::Tensor(Box::new(x.clone())), Operand::Tensor(Box::new(y.clone()))];
    let dtype = if is_numpy(&operands) {
        numpy_result_type(&operands)
    } else {
        match product_dtype(cx, &named) {
            Ok(dtype) => dtype,
            Err(()) => return cx.some_tensor(),
        }
    };
    let out = made(cx, &named, shape, dtype);
    let product = give_with(cx, b, out, Cast::Refused);
    // The result of factors of equal rank is contiguous; otherwise, it need not be.
    if x.rank().is_some() && x.rank() == y.rank() && b.get("out").is_none() {
        layout::fresh(cx, &product);
    }
    product
}

fn dot(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(((name_x, x), (name_y, y))) = pair(cx, b) else { return cx.some_tensor() };
    let named: [Named<'_>; 2] = [(name_x, &x), (name_y, &y)];
    let [first, second] = named;
    if !rank_fits(cx, first, &[1]) || !rank_fits(cx, second, &[1]) {
        return cx.some_tensor();
    }
    if refuse_mixed(cx, &named) {
        return cx.some_tensor();
    }
    if x.dtype == Some(Dtype::Bool) {
        refuse_dtype(cx, first, "does not take bool");
        return cx.some_tensor();
    }
    if let (Some(p), Some(q)) = (x.dim(0), y.dim(0))
        && p.size.equals(&q.size) == Some(false)
    {
        refuse_sizes(cx, first, 0, second, 0, "the sizes");
        return cx.some_tensor();
    }
    let out = made(cx, &named, Some(Vec::new()), x.dtype.or(y.dtype));
    give_with(cx, b, out, Cast::Refused)
}

/// Adds `input`, which broadcasts, to a product.
fn add(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let name = cx.name();
    let mut names = b.sig.params.iter().skip(1).map(|p| p.name.as_str());
    let (Some(left), Some(right)) = (names.next(), names.next()) else { return cx.some_tensor() };
    let input = tensor_param(cx, b, "input");
    let (x, y) = (tensor_param(cx, b, left), tensor_param(cx, b, right));
    let (Some(input), Some(x), Some(y)) = (input, x, y) else { return cx.some_tensor() };
    let (first, second) = ((left, &x), (right, &y));
    let (rank_x, rank_y): (&[usize], &[usize]) = match name {
        "addmm" => (&[2], &[2]),
        "addmv" => (&[2], &[1]),
        "addr" => (&[1], &[1]),
        _ => (&[3], &[3]),
    };
    if !rank_fits(cx, first, rank_x) || !rank_fits(cx, second, rank_y) {
        return cx.some_tensor();
    }
    if rank_x == [3]
        && let (Some(p), Some(q)) = (x.dim(0), y.dim(0))
        && p.size.equals(&q.size) == Some(false)
    {
        refuse_sizes(cx, first, 0, second, 0, "the batch sizes");
        return cx.some_tensor();
    }
    let shape = if name == "addr" {
        x.dim(0).cloned().zip(y.dim(0).cloned()).map(|(p, q)| vec![p, q])
    } else {
        match matmul_shape(cx, first, second) {
            Ok(shape) => shape,
            Err(()) => return cx.some_tensor(),
        }
    };
    // `addbmm` sums over the batch.
    let shape = if name == "addbmm" { shape.map(|s| s.into_iter().skip(1).collect()) } else { shape };
    if let (Some(want), Some(have)) = (&shape, &input.shape)
        && !expands(have, want)
    {
        let message = format!(
            "`input` is {}, which does not broadcast to {}, the shape of the product",
            shape_text(&input),
            crate::value::dims_text(want)
        );
        let reads = vec![shape_read(("input", &input), None), shape_read(first, None), shape_read(second, None)];
        cx.reject(RejectKind::Shape, message, reads);
        return cx.some_tensor();
    }
    let named: [Named<'_>; 3] = [("input", &input), first, second];
    let dtype = if name == "addr" {
        let operands: Vec<Operand> = named.iter().map(|(_, t)| Operand::Tensor(Box::new(Tensor::clone(t)))).collect();
        let casts = named.iter().any(|(_, t)| lowered(cx, t) != t.dtype);
        result_type(&operands, cx.default_dtype()).filter(|_| !casts)
    } else {
        match product_dtype(cx, &named) {
            Ok(dtype) => dtype,
            Err(()) => return cx.some_tensor(),
        }
    };
    let out = made(cx, &named, shape, dtype);
    give_with(cx, b, out, Cast::Refused)
}

/// Whether the shape `have` may broadcast to exactly the shape `want`.
pub(super) fn expands(have: &[Dim], want: &[Dim]) -> bool {
    have.len() <= want.len()
        && have.iter().rev().zip(want.iter().rev()).all(|(a, b)| {
            a.size.known() == Some(1)
                || a.size.equals(&b.size) != Some(false)
                || a.size.known().is_none() && !super::broadcast::not_one(&a.size)
        })
}

/// A product of several matrices; in `multi_dot`, the first and the last may be vectors.
fn chain(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let vectors = cx.name() == "multi_dot";
    let values = if vectors { cx.items(&b.get("tensors")) } else { Some(b.rest_values()).filter(|_| !b.open) };
    let values = match values {
        // The matrices may be passed as one tuple.
        Some(values) => match values.as_slice() {
            [only] if !vectors => cx.items(only).or(Some(values)),
            _ => Some(values),
        },
        None => None,
    };
    let Some(values) = values else { return cx.some_tensor() };
    let mut tensors = Vec::new();
    for value in &values {
        match cx.tensor(value) {
            Some(tensor) => tensors.push(tensor),
            None => return cx.some_tensor(),
        }
    }
    if vectors && tensors.len() < 2 {
        cx.reject(RejectKind::Value, "multi_dot takes at least two tensors", Vec::new());
        return cx.some_tensor();
    }
    let names: Vec<String> = (0..tensors.len()).map(|i| format!("tensors[{i}]")).collect();
    let last = tensors.len().saturating_sub(1);
    for (i, (name, tensor)) in names.iter().zip(&tensors).enumerate() {
        let wanted: &[usize] = if vectors && (i == 0 || i == last) { &[2, 1] } else { &[2] };
        if !rank_fits(cx, (name, tensor), wanted) {
            return cx.some_tensor();
        }
    }
    let named: Vec<Named<'_>> = names.iter().map(String::as_str).zip(&tensors).collect();
    let Ok(dtype) = product_dtype(cx, &named) else { return cx.some_tensor() };
    let Some(first) = tensors.first() else { return cx.some_tensor() };
    let mut shape = first.shape.clone();
    let mut so_far = first.clone();
    for (name, next) in names.iter().zip(&tensors).skip(1) {
        so_far.shape = shape.take();
        match matmul_shape(cx, ("the product so far", &so_far), (name, next)) {
            Ok(joined) => shape = joined,
            Err(()) => return cx.some_tensor(),
        }
    }
    let out = made(cx, &named, shape, dtype);
    give(cx, b, out)
}

/// The inner product over the last dimensions; with a 0-d tensor, an elementwise product.
fn inner(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(((name_x, x), (name_y, y))) = pair(cx, b) else { return cx.some_tensor() };
    let named: [Named<'_>; 2] = [(name_x, &x), (name_y, &y)];
    let [first, second] = named;
    if x.rank() == Some(0) || y.rank() == Some(0) {
        return super::pointwise::binary::binary(
            cx,
            b,
            super::pointwise::binary::Rule::tensors(super::pointwise::binary::Gives::Common, &[]),
        );
    }
    if refuse_mixed(cx, &named) {
        return cx.some_tensor();
    }
    if x.dtype == Some(Dtype::Bool) {
        refuse_dtype(cx, first, "does not take bool");
        return cx.some_tensor();
    }
    let shape = match (&x.shape, &y.shape) {
        (Some(p), Some(q)) => {
            if let (Some(s), Some(t)) = (p.last(), q.last())
                && s.size.equals(&t.size) == Some(false)
            {
                let (i, j) = (p.len().saturating_sub(1), q.len().saturating_sub(1));
                refuse_sizes(cx, first, i, second, j, "the last dimensions");
                return cx.some_tensor();
            }
            let rest = |dims: &[Dim]| dims.split_last().map(|(_, rest)| rest.to_vec()).unwrap_or_default();
            let mut shape = rest(p);
            shape.extend(rest(q));
            Some(shape)
        }
        _ => None,
    };
    let out = made(cx, &named, shape, x.dtype.and(y.dtype).filter(|_| lowered(cx, &x) == x.dtype));
    give(cx, b, out)
}

fn outer(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(((name_x, x), (name_y, y))) = pair(cx, b) else { return cx.some_tensor() };
    let named: [Named<'_>; 2] = [(name_x, &x), (name_y, &y)];
    let [first, second] = named;
    if !rank_fits(cx, first, &[1]) || !rank_fits(cx, second, &[1]) {
        return cx.some_tensor();
    }
    let shape = vec![x.dim(0).cloned().unwrap_or(Dim::UNKNOWN), y.dim(0).cloned().unwrap_or(Dim::UNKNOWN)];
    let operands = [Operand::Tensor(Box::new(x.clone())), Operand::Tensor(Box::new(y.clone()))];
    let dtype = result_type(&operands, cx.default_dtype());
    let out = made(cx, &named, Some(shape), dtype);
    give(cx, b, out)
}

/// The Kronecker product: corresponding sizes, counted from the last dimension, are multiplied.
fn kron(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(((name_x, x), (name_y, y))) = pair(cx, b) else { return cx.some_tensor() };
    let named: [Named<'_>; 2] = [(name_x, &x), (name_y, &y)];
    let at = cx.at();
    let shape = match (&x.shape, &y.shape) {
        (Some(p), Some(q)) => {
            let rank = p.len().max(q.len());
            let size = |dims: &[Dim], i: usize| {
                i.checked_sub(rank - dims.len()).and_then(|at| dims.get(at)).map_or(Size::Int(1), |d| d.size.clone())
            };
            Some((0..rank).map(|i| Dim::new(size(p, i).mul(&size(q, i)), at)).collect())
        }
        _ => None,
    };
    // The dtypes promote as if both tensors had dimensions.
    let dtype = x.dtype.zip(y.dtype).and_then(|(a, c)| promote(a, c));
    let out = made(cx, &named, shape, dtype);
    give(cx, b, out)
}

fn tensordot(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(((name_x, x), (name_y, y))) = pair(cx, b) else { return cx.some_tensor() };
    let named: [Named<'_>; 2] = [(name_x, &x), (name_y, &y)];
    let [first, second] = named;
    let dims = b.get("dims");
    let Some((rank_x, rank_y)) = x.rank().zip(y.rank()) else { return cx.some_tensor() };
    let axes: Option<(Vec<i64>, Vec<i64>)> = match dims.as_int() {
        Some(n) => {
            let (rx, ry) = (i64::try_from(rank_x).unwrap_or(0), i64::try_from(rank_y).unwrap_or(0));
            if n < 0 || n > rx || n > ry {
                let message = format!("`dims` is {n}, but the tensors are {} and {}", shape_text(&x), shape_text(&y));
                cx.reject(RejectKind::Value, message, vec![shape_read(first, None), shape_read(second, None)]);
                return cx.some_tensor();
            }
            Some(((rx - n..rx).collect(), (0..n).collect()))
        }
        None => match cx.items(&dims).as_deref() {
            Some([left, right]) => cx.ints(left).zip(cx.ints(right)),
            _ => None,
        },
    };
    let Some((left, right)) = axes else {
        let out = made(cx, &named, None, None);
        return give(cx, b, out);
    };
    if left.len() != right.len() {
        let (first, second) = (counted(left.len(), "dimension"), right.len());
        let message =
            format!("`dims` names {first} of the first tensor and {second} of the second: the numbers must be equal");
        cx.reject(RejectKind::Value, message, vec![("`dims` is given here".to_owned(), b.span("dims"))]);
        return cx.some_tensor();
    }
    let mut gone: (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for (i, j) in left.iter().zip(&right) {
        let p = super::reduce::index(cx, &Value::Int(*i), first, rank_x);
        let q = super::reduce::index(cx, &Value::Int(*j), second, rank_y);
        let (Ok(Some(p)), Ok(Some(q))) = (p, q) else { return cx.some_tensor() };
        let sizes = x.shape.as_ref().and_then(|s| s.get(p)).zip(y.shape.as_ref().and_then(|s| s.get(q)));
        // PyTorch contracts a dimension of size 1 with a dimension of any size: it first sums the
        // other tensor over the larger dimension.
        if let Some((s, t)) = sizes
            && broadcast_dim(s, t).is_none()
        {
            refuse_sizes(cx, first, p, second, q, "the contracted sizes");
            return cx.some_tensor();
        }
        gone.0.push(p);
        gone.1.push(q);
    }
    let Ok(dtype) = product_dtype(cx, &named) else { return cx.some_tensor() };
    let keep = |t: &Tensor, gone: &[usize]| {
        let dims = t.shape.clone().unwrap_or_default();
        dims.into_iter().enumerate().filter(|(i, _)| !gone.contains(i)).map(|(_, d)| d).collect::<Vec<_>>()
    };
    let mut shape = keep(&x, &gone.0);
    shape.extend(keep(&y, &gone.1));
    // Autocast computes this product, unlike others, in the widest dtype of its factors.
    let dtype = dtype.filter(|_| lowered(cx, &x) == x.dtype && lowered(cx, &y) == y.dtype);
    let out = made(cx, &named, Some(shape), dtype);
    give(cx, b, out)
}

/// The cross product of vectors of 3 elements along a dimension.
fn cross(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(((name_x, x), (name_y, y))) = pair(cx, b) else { return cx.some_tensor() };
    let named: [Named<'_>; 2] = [(name_x, &x), (name_y, &y)];
    let [first, second] = named;
    if let (Some(p), Some(q)) = (x.rank(), y.rank())
        && p != q
    {
        let message =
            format!("`{name_x}` is {} and `{name_y}` is {}: the ranks must be equal", shape_text(&x), shape_text(&y));
        cx.reject(RejectKind::Rank, message, vec![shape_read(first, None), shape_read(second, None)]);
        return cx.some_tensor();
    }
    if x.rank() == Some(0) {
        refuse_rank(cx, first, "at least one dimension");
        return cx.some_tensor();
    }
    if refuse_mixed(cx, &named) {
        return cx.some_tensor();
    }
    if x.dtype == Some(Dtype::Bool) {
        refuse_dtype(cx, first, "does not take bool");
        return cx.some_tensor();
    }
    let dim = b.get("dim");
    if !dim.is_none() {
        let Ok(axis) = super::reduce::one_dim(cx, &dim, first) else { return cx.some_tensor() };
        if let Some(axis) = axis {
            for named in [first, second] {
                let size = named.1.shape.as_ref().and_then(|s| s.get(axis)).map(|d| d.size.clone());
                if let Some(size) = size
                    && size.equals(&Size::Int(3)) == Some(false)
                {
                    let message = format!("dimension {axis} of `{}` is {size}: it must be 3", named.0);
                    cx.reject(RejectKind::Shape, message, vec![shape_read(named, Some(axis))]);
                    return cx.some_tensor();
                }
            }
        }
    } else if x.known_shape().is_some_and(|s| !s.contains(&3)) && y.known_shape().is_some() {
        let message = format!("`{name_x}` is {}: no dimension has size 3", shape_text(&x));
        cx.reject(RejectKind::Shape, message, vec![shape_read(first, None)]);
        return cx.some_tensor();
    }
    let mut out = super::broadcast::elementwise(cx, &named, x.dtype.or(y.dtype), Mix::Strict);
    out.shape_at = out.shape_at.or(cx.at());
    give(cx, b, out)
}

fn vecdot(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(((name_x, x), (name_y, y))) = pair(cx, b) else { return cx.some_tensor() };
    let named: [Named<'_>; 2] = [(name_x, &x), (name_y, &y)];
    for named in named {
        if named.1.dtype.is_some_and(Dtype::is_integral) {
            refuse_dtype(cx, named, "needs floating-point or complex numbers");
            return cx.some_tensor();
        }
    }
    let Ok(dtype) = product_dtype(cx, &named) else { return cx.some_tensor() };
    let both = super::broadcast::elementwise(cx, &named, dtype, Mix::Strict);
    let Ok(axis) = super::reduce::one_dim(cx, &b.get("dim"), ("x", &both)) else { return cx.some_tensor() };
    let dims = axis.map_or(super::reduce::Dims::One, |at| super::reduce::Dims::These(vec![at]));
    let at = cx.at();
    let (shape, shape_at) = super::reduce::reduced(&both, &dims, Some(false), at);
    give(cx, b, Tensor { shape, shape_at, ..both })
}
