//! Operations along dimensions: sums, extremes, sorting, normalisations, distances.

pub(crate) mod distance;
pub(crate) mod extreme;
pub(crate) mod order;
pub(crate) mod scan;
pub(crate) mod sets;
pub(crate) mod softmax;
pub(crate) mod sum;

use super::broadcast::{Named, result_grad, shape_read, shape_text};
use super::pointwise::derived;
use crate::library::Cx;
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, Origin, Size, Tensor, Type, Value};

/// The dimensions along which an operation runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Dims {
    All,
    These(Vec<usize>),
    /// One unknown dimension.
    One,
    Unknown,
}

/// Texts of programs that name the dimensions of tensors.
const NAMED: &[&str] = &[".names =", "names=(", "names=[", "refine_names(", ".rename(", "align_to("];

/// Reads a `dim=` argument: an integer, a sequence of integers, or `None` for all dimensions. `Err`
/// if the call is rejected; the rejection is already reported.
pub(crate) fn dims_of(cx: &mut Cx<'_, '_>, value: &Value, input: Named<'_>) -> Result<Dims, ()> {
    match value {
        Value::None => return Ok(Dims::All),
        Value::Any(Type::Int) | Value::Ranged(_) | Value::Size(_) => return Ok(Dims::One),
        // Before PyTorch 2.15, dimensions may have names.
        Value::Str(_) | Value::Among(_) if NAMED.iter().any(|text| cx.it.mentions(text)) => return Ok(Dims::Unknown),
        Value::Float(_) | Value::Str(_) | Value::Among(_) | Value::Any(Type::Float | Type::Str) => {
            let message = "`dim` must be an integer or a tuple of integers";
            cx.reject(RejectKind::Value, message, Vec::new());
            return Err(());
        }
        _ => {}
    }
    let one = value.as_int().is_some();
    let items = if one { Some(vec![value.clone()]) } else { cx.items(value) };
    let Some(items) = items else { return Ok(Dims::Unknown) };
    if items.is_empty() {
        return Ok(Dims::All);
    }
    let Some(rank) = input.1.rank() else { return Ok(Dims::Unknown) };
    let mut dims = Vec::new();
    for item in &items {
        match index(cx, item, input, rank)? {
            Some(at) if dims.contains(&at) => {
                let message = format!("dimension {at} appears twice in `dim`");
                cx.reject(RejectKind::Dim, message, vec![shape_read(input, None)]);
                return Err(());
            }
            Some(at) => dims.push(at),
            None if items.len() == 1 => return Ok(Dims::One),
            None => return Ok(Dims::Unknown),
        }
    }
    Ok(Dims::These(dims))
}

/// A dimension counted from the front; 0-d tensors are treated as 1-d.
pub(crate) fn index(cx: &mut Cx<'_, '_>, value: &Value, input: Named<'_>, rank: usize) -> Result<Option<usize>, ()> {
    let Some(dim) = value.as_int() else { return Ok(None) };
    let span = i64::try_from(rank.max(1)).unwrap_or(i64::MAX);
    let at = if dim < 0 { dim.checked_add(span) } else { Some(dim) };
    match at.filter(|at| (0..span).contains(at)).and_then(|at| usize::try_from(at).ok()) {
        Some(at) => Ok(Some(at)),
        None => {
            let (name, tensor) = input;
            let message =
                format!("dim is {dim}, but `{name}` is {}: {} to {} are accepted", shape_text(tensor), -span, span - 1);
            cx.reject(RejectKind::Dim, message, vec![shape_read(input, None)]);
            Err(())
        }
    }
}

/// The one dimension that an argument names; `Ok(None)` if it is not known.
pub(crate) fn one_dim(cx: &mut Cx<'_, '_>, value: &Value, input: Named<'_>) -> Result<Option<usize>, ()> {
    match input.1.rank() {
        Some(rank) => index(cx, value, input, rank),
        None => Ok(None),
    }
}

/// The shape after a reduction; `keepdim` is `None` if it is not known.
pub(crate) fn reduced(input: &Tensor, dims: &Dims, keepdim: Option<bool>, at: Origin) -> (Option<Vec<Dim>>, Origin) {
    let one = Dim::new(Size::Int(1), at);
    if *dims == Dims::All && keepdim == Some(false) {
        return (Some(Vec::new()), at);
    }
    let Some(shape) = &input.shape else { return (None, None) };
    if shape.is_empty() {
        return (Some(Vec::new()), input.shape_at);
    }
    let shape = match (dims, keepdim) {
        (Dims::All, Some(true)) => Some(vec![one; shape.len()]),
        (Dims::These(gone), Some(keep)) => Some(
            shape
                .iter()
                .enumerate()
                .filter_map(|(i, dim)| match (gone.contains(&i), keep) {
                    (false, _) => Some(dim.clone()),
                    (true, true) => Some(one.clone()),
                    (true, false) => None,
                })
                .collect(),
        ),
        (Dims::One, Some(keep)) => {
            let rank = if keep { shape.len() } else { shape.len().saturating_sub(1) };
            Some(vec![Dim::UNKNOWN; rank])
        }
        (Dims::Unknown, Some(true)) => Some(vec![Dim::UNKNOWN; shape.len()]),
        _ => None,
    };
    match shape {
        Some(shape) => (Some(shape), at.or(input.shape_at)),
        None => (None, None),
    }
}

/// The result of a reduction with the given dtype and shape.
pub(crate) fn reduction(
    cx: &Cx<'_, '_>,
    input: &Tensor,
    dims: &Dims,
    keepdim: Option<bool>,
    dtype: Option<Dtype>,
) -> Tensor {
    let at = cx.at();
    let mut out = derived(input);
    (out.shape, out.shape_at) = reduced(input, dims, keepdim, at);
    if dtype != input.dtype {
        out = out.with_dtype(dtype, at);
    }
    out.grad = result_grad(cx, &[("input", input)], dtype);
    out
}

/// The argument `keepdim=`, or NumPy's `keepdims=`.
pub(crate) fn keepdim(b: &Bound) -> Option<bool> {
    b.get("keepdim").as_bool()
}

/// The number of elements that are reduced to one result; unknown if the dimensions are unknown.
pub(crate) fn reduced_size(input: &Tensor, dims: &Dims) -> Size {
    match dims {
        Dims::All => input.numel(),
        Dims::These(dims) => match &input.shape {
            Some(shape) if shape.is_empty() => Size::Int(1),
            Some(shape) => dims
                .iter()
                .map(|at| shape.get(*at).map_or(Size::Unknown, |d| d.size.clone()))
                .fold(Size::Int(1), |n, d| n.mul(&d)),
            None => Size::Unknown,
        },
        Dims::One | Dims::Unknown => Size::Unknown,
    }
}

/// Reports a reduction over no elements, for functions without an identity element.
pub(crate) fn refuse_empty(cx: &mut Cx<'_, '_>, input: Named<'_>, dims: &Dims) -> bool {
    let size = match dims {
        Dims::These(_) => reduced_size(input.1, dims),
        _ => Size::Unknown,
    };
    let none = *dims == Dims::All && input.1.numel().known() == Some(0) || size.known() == Some(0);
    if none {
        let message = format!("`{}` is {}: there are no elements to reduce", input.0, shape_text(input.1));
        cx.reject(RejectKind::Shape, message, vec![shape_read(input, None)]);
    }
    none
}
