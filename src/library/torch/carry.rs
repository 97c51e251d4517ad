//! The facts that a result inherits from inputs, for operations that create, rearrange or select
//! elements without computing with them.

use std::rc::Rc;

use super::broadcast::{result_grad, shape_read};
use crate::library::Cx;
use crate::python::RejectKind;
use crate::value::{Dim, Met, Origin, Range, Role, Size, Sym, Tensor, Value};

/// The call is rejected, and this has been reported.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rejected;

/// The elements of larger tensors are not tracked one by one.
pub(crate) const MOST_ELEMENTS: usize = 4096;

/// Sizes as messages show them: `[4, 3]`.
pub(crate) fn sizes_text(sizes: &[Size]) -> String {
    let sizes: Vec<String> = sizes.iter().map(Size::to_string).collect();
    format!("[{}]", sizes.join(", "))
}

/// The label for the shape of the argument `input`.
pub(crate) fn input_read(input: &Tensor) -> (String, Origin) {
    shape_read(("input", input), None)
}

/// A result with the kind, dtype, device and gradient state of `input`, but unknown shape and
/// elements.
pub(crate) fn bare(cx: &Cx<'_, '_>, input: &Tensor) -> Tensor {
    Tensor {
        array: input.array,
        dtype: input.dtype,
        dtype_at: input.dtype_at,
        device: input.device,
        device_at: input.device_at,
        grad: result_grad(cx, &[input], input.dtype),
        ..Tensor::default()
    }
}

/// The same range with new claims about its bounds: whether the bounds occur in some run
/// (`attained`), and whether they occur in every run (`certain`).
pub(crate) fn claims(mut range: Range, attained: bool, certain: bool) -> Range {
    (range.attained, range.certain) = (attained, certain);
    range.met = range.met.filter(|_| certain);
    range.epoch &= attained;
    range
}

/// The join of two ranges, for a tensor whose elements may all come from one of the ranges.
pub(crate) fn either(a: &Range, b: &Range) -> Range {
    claims(a.union(b), false, false)
}

/// The range after a mask has replaced some of the values by `new`. The mask is assumed to select
/// an element in some run.
pub(crate) fn chosen(have: &Range, new: &Range) -> Range {
    let single = new.certain && new.lo() == new.hi();
    either(have, new).with_met(single.then_some(Met { value: new.lo(), always: false }))
}

/// Whether `small <= large` for every value of the symbols.
pub(crate) fn at_most(small: &Size, large: &Size) -> bool {
    small.sub(&Size::Int(1)).less(large) == Some(true)
}

/// The range of an unknown part of the elements.
///
/// If the bounds occur in some batch (labels, `randint`), they also occur in some part. If they
/// occur in every run (a literal), the part need not contain them.
pub(crate) fn subset(range: &Range, some: bool) -> Range {
    let single = range.lo() == range.hi();
    let mut out = range.clone();
    out.attained = range.attained && (single || !(range.certain || range.uneven.is_some()));
    out.certain = range.certain && single && some;
    out.met = None;
    // A loop over the whole tensor reaches every value; a loop over a part of it need not.
    out.epoch = false;
    out
}

/// The elements of the input that a result contains.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Every element at least once.
    All,
    /// Some elements, with the whole last dimension.
    Some,
    /// Some elements, with only a part of the last dimension.
    CutsLast,
}

/// The lengths as `usize`, if all are known.
pub(crate) fn extents(dims: &[Dim]) -> Option<Vec<usize>> {
    dims.iter().map(|d| usize::try_from(d.size.known()?).ok()).collect()
}

/// The number of elements of a shape, if it is small enough to track them.
pub(crate) fn count(extents: &[usize]) -> Option<usize> {
    let n = extents.iter().try_fold(1usize, |n, &e| n.checked_mul(e))?;
    (n <= MOST_ELEMENTS).then_some(n)
}

/// The row-major position of an element.
fn offset(extents: &[usize], index: &[usize]) -> Option<usize> {
    let mut at = 0usize;
    for (extent, i) in extents.iter().zip(index) {
        if i >= extent {
            return None;
        }
        at = at.checked_mul(*extent)?.checked_add(*i)?;
    }
    Some(at)
}

/// Computes the elements of a tensor of this shape: calls `element` with each index.
pub(crate) fn build(extents: &[usize], mut element: impl FnMut(&[usize]) -> Option<f64>) -> Option<Rc<[f64]>> {
    let total = count(extents)?;
    let mut index = vec![0usize; extents.len()];
    let mut out = Vec::with_capacity(total);
    for _ in 0..total {
        out.push(element(&index)?);
        for (i, extent) in index.iter_mut().zip(extents).rev() {
            *i += 1;
            if *i < *extent {
                break;
            }
            *i = 0;
        }
    }
    Some(Rc::from(out))
}

/// The element of a tensor whose contents are known.
pub(crate) fn element(tensor: &Tensor, index: &[usize]) -> Option<f64> {
    let extents = extents(tensor.shape.as_deref()?)?;
    tensor.data.as_ref()?.get(offset(&extents, index)?).copied()
}

/// Sets the contents, and the range that follows from them.
pub(crate) fn set_data(tensor: &mut Tensor, data: Rc<[f64]>, at: Origin) {
    tensor.range = Range::of_values(&data);
    tensor.range_at = at;
    tensor.data = Some(data);
}

/// The range of each column of a table with known elements.
pub(crate) fn columns(table: &Tensor) -> Option<Vec<Range>> {
    let [_, width] = extents(table.shape.as_deref()?)?[..] else { return None };
    let data = table.data.as_ref()?;
    (0..width).map(|i| Range::of_values(&data.iter().skip(i).step_by(width).copied().collect::<Vec<f64>>())).collect()
}

/// A result that consists of elements of `input`; `map` maps an index of the result to an index of
/// the input.
pub(crate) fn rearranged(
    cx: &Cx<'_, '_>,
    input: &Tensor,
    dims: Option<Vec<Dim>>,
    takes: Takes,
    map: impl Fn(&[usize]) -> Vec<usize>,
) -> Tensor {
    let mut out = bare(cx, input);
    out.shape = dims;
    out.shape_at = cx.at();
    keep_values(input, &mut out, takes, map);
    out
}

/// Like [`rearranged`], but for an order of elements that is too complex to follow.
pub(crate) fn shuffled(cx: &Cx<'_, '_>, input: &Tensor, dims: Option<Vec<Dim>>, takes: Takes) -> Tensor {
    let mut out = bare(cx, input);
    out.shape = dims;
    out.shape_at = cx.at();
    keep_range(input, &mut out, takes);
    out
}

/// Like [`rearranged`], but the elements keep their row-major order.
pub(crate) fn reshaped(cx: &Cx<'_, '_>, input: &Tensor, dims: Option<Vec<Dim>>) -> Tensor {
    let mut out = shuffled(cx, input, dims, Takes::All);
    out.data.clone_from(&input.data);
    out
}

fn keep_values(input: &Tensor, out: &mut Tensor, takes: Takes, map: impl Fn(&[usize]) -> Vec<usize>) {
    keep_range(input, out, takes);
    let exact = || {
        let (from, data) = (extents(input.shape.as_deref()?)?, input.data.as_ref()?);
        build(&extents(out.shape.as_deref()?)?, |index| data.get(offset(&from, &map(index))?).copied())
    };
    if let Some(data) = exact() {
        set_data(out, data, input.range_at);
    }
}

/// The name of a symbolic size: the number of elements that a mask selects.
pub(crate) const SELECTED: &str = "selected";
/// The name of a symbolic size: the number of nonzero elements.
pub(crate) const NONZERO: &str = "nonzero";

fn is_count(size: &Size) -> bool {
    let counts = |name: Sym| matches!(name.as_str(), SELECTED | NONZERO);
    matches!(size, Size::Expr(poly) if poly.symbols().any(|symbol| counts(symbol.name)))
}

fn keep_range(input: &Tensor, out: &mut Tensor, takes: Takes) {
    let numel = out.numel();
    if numel.known() == Some(0) {
        return;
    }
    out.range = match takes {
        // Elements may move to other columns, so the range of each column (`Range::uneven`) is no
        // longer known.
        Takes::All => input.range.clone().map(|r| if r.uneven.is_some() { r.somewhere() } else { r }),
        // A mask selects by value, so it is not known which values the result contains.
        _ if out.shape.iter().flatten().any(|d| is_count(&d.size)) => {
            input.range.as_ref().map(|r| r.clone().only_bounds())
        }
        _ => input.range.as_ref().map(|r| subset(r, numel.is_positive())),
    };
    out.range_at = input.range_at;
    out.role = match (takes, input.role) {
        (Takes::CutsLast, Some(Role::OneHot | Role::Probabilities | Role::LogProbabilities)) => None,
        (_, role) => role,
    };
    out.role_at = input.role_at;
    out.past = input.past;
}

/// The result of a rejected call: [`bare`], as a new tensor on the heap.
pub(crate) fn like_only(cx: &mut Cx<'_, '_>, input: &Tensor) -> Value {
    let out = bare(cx, input);
    cx.out(out)
}

/// Sizes as one tuple or list, or as several integers. `None` if not even their number is
/// known.
pub(crate) fn sizes(cx: &Cx<'_, '_>, values: &[Value]) -> Option<Vec<Size>> {
    let [only] = values else { return Some(values.iter().map(|v| size(cx, v)).collect()) };
    match only {
        Value::Unknown | Value::Open(_) => None,
        Value::Tuple(items) => Some(items.iter().map(|v| size(cx, v)).collect()),
        Value::Obj(_) => match cx.it.heap.tensor_ref(only) {
            Some(tensor) => (tensor.rank() == Some(0)).then(|| vec![size(cx, only)]),
            None => Some(cx.items(only)?.iter().map(|v| size(cx, v)).collect()),
        },
        // A value that is not a number may be an unknown shape.
        one => one.number_type().map(|_| vec![size(cx, one)]),
    }
}

/// A value as a size. A tensor with one element is read as this element.
pub(crate) fn size(cx: &Cx<'_, '_>, value: &Value) -> Size {
    if let Some(tensor) = cx.tensor(value) {
        return match tensor.data.as_deref() {
            Some([one]) => whole(*one).map_or(Size::Unknown, Size::Int),
            _ => Size::Unknown,
        };
    }
    value.as_size().unwrap_or(Size::Unknown)
}

/// A float as an integer, if it is integral.
pub(crate) fn whole(x: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "checked to be integral and small")]
    (x.fract() == 0.0 && x.abs() < 9.0e15).then_some(x as i64)
}

/// The index of a dimension. `Ok(None)` if the index or the rank of the tensor is not known; `Err`
/// if the index is out of range, which has been reported.
pub(crate) fn axis(cx: &mut Cx<'_, '_>, value: &Value, input: &Tensor) -> Result<Option<usize>, Rejected> {
    let Some(rank) = input.rank() else { return Ok(None) };
    cx.dim_index(value, rank, input.shape_at).map_err(|()| Rejected)
}

/// The indices of several dimensions, from an integer, a tuple or a list. `Ok(None)` if they are
/// not all known.
pub(crate) fn axes(cx: &mut Cx<'_, '_>, values: &[Value], input: &Tensor) -> Result<Option<Vec<usize>>, Rejected> {
    let values = match values {
        [only] if !matches!(only, Value::Int(_) | Value::Bool(_)) => match cx.items(only) {
            Some(items) => items,
            None => return Ok(None),
        },
        values => values.to_vec(),
    };
    let mut out = Some(Vec::new());
    for value in &values {
        match (axis(cx, value, input)?, &mut out) {
            (Some(at), Some(all)) => all.push(at),
            _ => out = None,
        }
    }
    Ok(out)
}

/// Rejects a dimension that is named twice.
pub(crate) fn distinct(cx: &mut Cx<'_, '_>, dims: &[usize], input: &Tensor) -> Result<(), Rejected> {
    for (i, dim) in dims.iter().enumerate() {
        if dims.iter().skip(i + 1).any(|d| d == dim) {
            let message = format!("dimension {dim} is named twice in {}", cx.name());
            cx.reject(RejectKind::Dim, message, vec![input_read(input)]);
            return Err(Rejected);
        }
    }
    Ok(())
}
