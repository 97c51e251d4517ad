//! Elements that index tensors select along a dimension. Contracts check whether the indices are in
//! range; this module checks shapes, dtypes and devices.

use super::broadcast::{Mix, Named, broadcast_pair, common_device, dtype_read, shape_read, shape_text};
use super::carry::{self, Rejected, Takes, shuffled};
use super::factory::options;
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, Grad, Origin, Range, Role, Size, Tensor, Value};

pub(crate) fn register(t: &mut Table) {
    t.listed("torch.", "gather", gather);
    t.listed("torch.", "take_along_dim", take_along_dim);
    t.listed("torch.", "index_select", index_select);
    t.listed("torch.", "take", take);
    t.listed("torch.", "unravel_index", unravel_index);
    t.def("torch.nn.functional.one_hot", "input, num_classes=-1", one_hot);
}

const INTS: &[Dtype] = &[Dtype::Int64, Dtype::Int32];
const LONG: &[Dtype] = &[Dtype::Int64];

/// The index dtypes of an operation that also accepts int32.
pub(crate) fn takes_int32() -> &'static [Dtype] {
    INTS
}

pub(crate) fn takes_int64() -> &'static [Dtype] {
    LONG
}

/// Rejects an index tensor with a dtype that the operation does not accept.
pub(crate) fn check_index(cx: &mut Cx<'_, '_>, named: Named<'_>, accepted: &[Dtype]) -> Result<(), Rejected> {
    let Some(message) = wrong_index(cx, named, accepted) else { return Ok(()) };
    cx.reject(RejectKind::Dtype, message, vec![dtype_read(named)]);
    Err(Rejected)
}

/// Like [`check_index`], for `gather` and the `scatter` functions, which ignore the dtype of an
/// empty index. If the shape of the index is known, but the index may be empty, the report is a
/// warning.
pub(crate) fn check_index_with_elements(
    cx: &mut Cx<'_, '_>,
    named: Named<'_>,
    accepted: &[Dtype],
) -> Result<(), Rejected> {
    let Some(message) = wrong_index(cx, named, accepted) else { return Ok(()) };
    reject_elements(cx, named.1, message, vec![dtype_read(named)]);
    Err(Rejected)
}

fn wrong_index(cx: &Cx<'_, '_>, named: Named<'_>, accepted: &[Dtype]) -> Option<String> {
    let dtype = named.1.dtype.filter(|d| !accepted.contains(d))?;
    let wants = accepted.iter().map(|d| d.name()).collect::<Vec<_>>().join(" or ");
    Some(format!("`{}` is {dtype}: {} needs indices of dtype {wants}", named.0, cx.name()))
}

/// Rejects two tensors of different dtypes.
pub(crate) fn same_dtype(cx: &mut Cx<'_, '_>, a: Named<'_>, b: Named<'_>) -> Result<(), Rejected> {
    match (a.1.dtype, b.1.dtype) {
        (Some(x), Some(y)) if x != y => {
            let message = format!("`{}` is {x} and `{}` is {y}: {} needs the same dtype", a.0, b.0, cx.name());
            cx.reject(RejectKind::Dtype, message, vec![dtype_read(a), dtype_read(b)]);
            Err(Rejected)
        }
        _ => Ok(()),
    }
}

/// The rank; 1 for a 0-dimensional tensor.
pub(crate) fn at_least_one(tensor: &Tensor) -> Option<usize> {
    tensor.rank().map(|r| r.max(1))
}

/// Whether a tensor certainly has elements.
pub(crate) fn not_empty(tensor: &Tensor) -> bool {
    tensor.numel().is_positive()
}

/// Whether a tensor has elements. A tensor of unknown shape is assumed to have some.
pub(crate) fn has_elements(tensor: &Tensor) -> bool {
    tensor.shape.is_none() || not_empty(tensor)
}

/// Rejects dtypes that PyTorch accepts only if `tensor` has no elements. If the shape of the tensor
/// is known, but the tensor may be empty, the report is a warning.
pub(crate) fn reject_elements(cx: &mut Cx<'_, '_>, tensor: &Tensor, message: String, reads: Vec<(String, Origin)>) {
    if has_elements(tensor) {
        cx.reject(RejectKind::Dtype, message, reads);
    } else if tensor.numel().known() != Some(0) {
        cx.reject_if("if the tensor has elements", RejectKind::Dtype, message, reads);
    }
}

/// Rejects an index that has another rank than the tensor `within`, or is longer than `within` in a
/// dimension. The dimension `exempt` is not checked; `Some(None)` is an unknown dimension.
pub(crate) fn index_fits(
    cx: &mut Cx<'_, '_>,
    index: Named<'_>,
    within: Named<'_>,
    exempt: Option<Option<usize>>,
) -> Result<(), Rejected> {
    // PyTorch accepts any shape of an index without elements.
    if !not_empty(index.1) {
        return Ok(());
    }
    let (Some(rank), Some(other)) = (at_least_one(index.1), at_least_one(within.1)) else { return Ok(()) };
    let reads = |axis| vec![shape_read(index, axis), shape_read(within, axis)];
    if rank != other {
        let message = format!(
            "`{}` is {} and `{}` is {}: they must have the same number of dimensions",
            within.0,
            shape_text(within.1),
            index.0,
            shape_text(index.1)
        );
        cx.reject(RejectKind::Rank, message, reads(None));
        return Err(Rejected);
    }
    // The exempt dimension is not known.
    if exempt == Some(None) {
        return Ok(());
    }
    let (Some(x), Some(y)) = (&index.1.shape, &within.1.shape) else { return Ok(()) };
    for (i, (a, b)) in x.iter().zip(y).enumerate() {
        if exempt != Some(Some(i)) && b.size.less(&a.size) == Some(true) {
            let message = format!(
                "`{}` is {} and `{}` is {}: the index must not be longer in dimension {i}, but {} is more than {}",
                within.0,
                shape_text(within.1),
                index.0,
                shape_text(index.1),
                a.size,
                b.size
            );
            cx.reject(RejectKind::Shape, message, reads(Some(i)));
            return Err(Rejected);
        }
    }
    Ok(())
}

/// A result with elements of `input`. It keeps the facts of `input` that hold for each of its
/// elements.
fn picked(cx: &Cx<'_, '_>, input: &Tensor, dims: Option<Vec<Dim>>, takes: Takes) -> Tensor {
    shuffled(cx, input, dims, takes)
}

fn gather(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (input, index) = (cx.tensor_arg(b, "input"), cx.tensor_arg(b, "index"));
    let (input, index) = (input.unwrap_or_default(), index.unwrap_or_default());
    let (named, indices) = (("input", &input), ("index", &index));
    common_device(cx, &[named, indices], Mix::Strict);
    let out = picked(cx, &input, index.shape.clone(), Takes::CutsLast);
    let Ok(axis) = carry::axis(cx, &b.get("dim"), &input) else { return cx.out(out) };
    if check_index_with_elements(cx, indices, INTS).is_ok() {
        let _ = index_fits(cx, indices, named, Some(axis));
    }
    options::finish(cx, b, out)
}

fn take_along_dim(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (input, index) = (cx.tensor_arg(b, "input"), cx.tensor_arg(b, "indices"));
    let (input, index) = (input.unwrap_or_default(), index.unwrap_or_default());
    let (named, indices) = (("input", &input), ("indices", &index));
    common_device(cx, &[named, indices], Mix::Strict);
    let _ = check_index(cx, indices, LONG);
    let dim = b.get("dim");
    if dim.is_none() {
        let dims = Some(vec![Dim::new(index.numel(), cx.at())]);
        let out = picked(cx, &input, dims, Takes::CutsLast);
        return options::finish(cx, b, out);
    }
    let (Some(from), Some(by)) = (&input.shape, &index.shape) else {
        let out = picked(cx, &input, None, Takes::CutsLast);
        return options::finish(cx, b, out);
    };
    if from.len() != by.len() {
        let message = format!(
            "`input` is {} and `indices` is {}: they must have the same number of dimensions",
            shape_text(&input),
            shape_text(&index)
        );
        cx.reject(RejectKind::Rank, message, vec![shape_read(named, None), shape_read(indices, None)]);
        return carry::like_only(cx, &input);
    }
    let Ok(axis) = carry::axis(cx, &dim, &input) else { return carry::like_only(cx, &input) };
    let Some(axis) = axis else {
        let out = picked(cx, &input, Some(vec![Dim::UNKNOWN; from.len()]), Takes::CutsLast);
        return options::finish(cx, b, out);
    };
    // The dimensions other than `axis` broadcast.
    let (mut x, mut y) = (from.clone(), by.clone());
    let length = y.get(axis).cloned().unwrap_or(Dim::UNKNOWN);
    for dims in [&mut x, &mut y] {
        if let Some(slot) = dims.get_mut(axis) {
            *slot = length.clone();
        }
    }
    match broadcast_pair(&x, &y) {
        Ok(dims) => {
            let out = picked(cx, &input, Some(dims), Takes::CutsLast);
            options::finish(cx, b, out)
        }
        Err(back) => {
            let message = format!(
                "`input` is {} and `indices` is {}: in all dimensions except {axis}, they must broadcast, but they differ in dimension -{back}",
                shape_text(&input),
                shape_text(&index)
            );
            cx.reject(RejectKind::Shape, message, vec![shape_read(named, None), shape_read(indices, None)]);
            carry::like_only(cx, &input)
        }
    }
}

/// Rejects an index with more than one dimension.
pub(crate) fn check_vector(cx: &mut Cx<'_, '_>, index: Named<'_>) -> Result<(), Rejected> {
    if index.1.rank().is_none_or(|r| r <= 1) {
        return Ok(());
    }
    let message =
        format!("`{}` has the shape {}, but {} accepts one dimension", index.0, shape_text(index.1), cx.name());
    cx.reject(RejectKind::Rank, message, vec![shape_read(index, None)]);
    Err(Rejected)
}

fn index_select(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (input, index) = (cx.tensor_arg(b, "input"), cx.tensor_arg(b, "index"));
    let (input, index) = (input.unwrap_or_default(), index.unwrap_or_default());
    let indices = ("index", &index);
    common_device(cx, &[("input", &input), indices], Mix::Strict);
    let Ok(axis) = carry::axis(cx, &b.get("dim"), &input) else { return carry::like_only(cx, &input) };
    if check_vector(cx, indices).is_err() || check_index(cx, indices, INTS).is_err() {
        return carry::like_only(cx, &input);
    }
    let number = if index.shape.is_some() { index.numel() } else { Size::Unknown };
    let dims = match (input.shape.clone(), axis) {
        (Some(dims), _) if dims.is_empty() => {
            if number.equals(&Size::Int(1)) == Some(false) {
                let message = format!("`input` has no dimensions, so `index` must have one element, not {number}");
                cx.reject(RejectKind::Shape, message, vec![shape_read(indices, None)]);
            }
            Some(dims)
        }
        (Some(mut dims), Some(axis)) => {
            if let Some(slot) = dims.get_mut(axis) {
                let place = index.dim(0).and_then(|d| d.at).or(cx.at());
                *slot = Dim::new(number, place);
            }
            Some(dims)
        }
        (Some(dims), None) => Some(vec![Dim::UNKNOWN; dims.len()]),
        (None, _) => None,
    };
    let last = axis.zip(input.rank()).is_none_or(|(a, r)| a + 1 >= r);
    let out = picked(cx, &input, dims, if last { Takes::CutsLast } else { Takes::Some });
    options::finish(cx, b, out)
}

fn take(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (input, index) = (cx.tensor_arg(b, "input"), cx.tensor_arg(b, "index"));
    let (input, index) = (input.unwrap_or_default(), index.unwrap_or_default());
    common_device(cx, &[("input", &input), ("index", &index)], Mix::Strict);
    let _ = check_index(cx, ("index", &index), LONG);
    let out = picked(cx, &input, index.shape.clone(), Takes::CutsLast);
    options::finish(cx, b, out)
}

/// `unravel_index`: the positions of flat indices, for each dimension of a shape.
fn unravel_index(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(indices) = cx.tensor_arg(b, "indices") else { return Value::Unknown };
    if let Some(dtype) = indices.dtype.filter(|d| !d.is_integral() || *d == Dtype::Bool) {
        let message = format!("`indices` is {dtype}: they must be integers");
        cx.reject(RejectKind::Dtype, message, vec![dtype_read(("indices", &indices))]);
        return Value::Unknown;
    }
    let Some(sizes) = carry::sizes(cx, &[b.get("shape")]) else { return Value::Unknown };
    let mut out = carry::bare(cx, &indices);
    (out.shape, out.shape_at) = (indices.shape.clone(), indices.shape_at);
    cx.outs(vec![out; sizes.len()])
}

/// `one_hot`: a new last dimension with a 1 at each index.
fn one_hot(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let input = cx.tensor_arg(b, "input").unwrap_or_default();
    let at = cx.at();
    let _ = check_index(cx, ("input", &input), LONG);
    let classes = b.get("num_classes");
    let size = match carry::size(cx, &classes) {
        // The largest index determines the number of classes.
        Size::Int(-1) => match (input.dtype, &input.data) {
            (Some(Dtype::Int64), Some(data)) => {
                data.iter().copied().reduce(f64::max).and_then(carry::whole).map_or(Size::Unknown, |n| Size::Int(n + 1))
            }
            _ => match &input.range {
                Some(range) if range.certain && range.attained => {
                    carry::whole(range.hi()).map_or(Size::Unknown, |n| Size::Int(n + 1))
                }
                _ => Size::Unknown,
            },
        },
        size => size,
    };
    if size.known().is_some_and(|n| n < -1) || (size.known() == Some(0) && not_empty(&input)) {
        cx.reject(RejectKind::Value, format!("num_classes is {size}: it must be positive, or -1"), Vec::new());
    } else if size.is_unknown() && classes.as_int() == Some(-1) && input.numel().known() == Some(0) {
        let message = "`tensor` has no elements, so the number of classes is unknown: pass num_classes";
        cx.reject(RejectKind::Value, message, vec![shape_read(("tensor", &input), None)]);
    }
    let size = if size.known().is_some_and(|n| n < 0) { Size::Unknown } else { size };
    let mut out = Tensor { device: input.device, device_at: input.device_at, grad: Grad::Off, ..Tensor::default() }
        .with_dtype(Some(Dtype::Int64), at)
        .with_role(Some(Role::OneHot), at);
    out.shape = input.shape.clone().map(|mut dims| {
        dims.push(Dim::new(size.clone(), at));
        dims
    });
    out.shape_at = at;
    if not_empty(&input) {
        let both = Size::Int(1).less(&size) == Some(true);
        out.range = Some(carry::claims(Range::bounds(0.0, 1.0), both, both));
        out.range_at = at;
    }
    cx.out(out)
}
