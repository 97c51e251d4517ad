//! Helpers for all operator models: arguments that must be tensors, `out=`, dtypes that an
//! operation rejects, and the effect of an operation on the elements.

use super::autocast::{Autocast, autocast, lowered};
use super::broadcast::{Named, device_read, dtype_read, shape_text};
use super::cast::exact_up_to;
use super::promotion::{Operand, can_cast};
use crate::library::Cx;
use crate::python::{Bound, RejectKind};
use crate::value::{
    ArrayKind, Data, Device, Dtype, Grad, Kind, Origin, Range, Size, Tensor, Type, Value, counted, kind_text,
};

/// The elements of a tensor with more elements than this are not tracked through arithmetic.
const MOST_DATA: usize = 4096;

/// Whether a value is certainly neither a tensor nor a value that PyTorch accepts as a tensor.
pub(crate) fn is_no_tensor(cx: &Cx<'_, '_>, value: &Value) -> bool {
    match value {
        Value::None | Value::Str(_) | Value::Tuple(_) | Value::Dtype(_) | Value::Slice(_) | Value::Ellipsis => true,
        Value::Obj(id) => cx.it.heap.is_collection(*id),
        Value::Any(_) if cx.it.may_be_annotated(value) => false,
        other => other.number_type().is_some(),
    }
}

/// Reports data from which no constructor of tensors can read elements: `torch.tensor(set(ids))`,
/// `torch.FloatTensor(map(float, words))`.
pub(crate) fn reject_unread(cx: &mut Cx<'_, '_>, data: &Value) {
    let is_unread = match data {
        Value::Obj(id) => match cx.it.heap.get(*id) {
            Data::Set(_) | Data::Dict(_) => true,
            // `range(n)` is a sequence.
            Data::Iter(iter) => iter.once || iter.suspended.is_some(),
            _ => false,
        },
        _ => false,
    };
    if is_unread {
        let message = format!("the data is {}, which is not a sequence: use `list(…)`", kind_text(&cx.it.heap, data));
        cx.reject(RejectKind::Value, message, Vec::new());
    }
}

/// The tensor bound to a parameter; a value that is certainly not a tensor is reported.
pub(crate) fn tensor_param(cx: &mut Cx<'_, '_>, b: &Bound, name: &str) -> Option<Tensor> {
    let value = b.get(name);
    if b.given(name) && is_no_tensor(cx, &value) {
        let message = format!("`{name}` must be a tensor, but it is {}", kind_text(&cx.it.heap, &value));
        let reads = vec![(format!("`{name}` is given here"), b.span(name))];
        let is_literal = b.span(name).is_some_and(|given| cx.it.is_literal(given));
        cx.report_if_independent(is_literal, |cx| cx.reject(RejectKind::Value, message, reads));
        return None;
    }
    cx.tensor(&value)
}

/// An operand of a function of `torch`: a NumPy number is treated as a Python number.
pub(crate) fn operand(cx: &Cx<'_, '_>, value: &Value) -> Operand {
    let operand = Operand::of(cx, value);
    let Operand::Tensor(tensor) = &operand else { return operand };
    if tensor.array == ArrayKind::Torch {
        return operand;
    }
    match (tensor.rank(), tensor.dtype.map(Dtype::kind)) {
        (Some(0), Some(kind)) => {
            let number = match kind {
                Kind::Bool => Type::Bool,
                Kind::Integral => Type::Int,
                Kind::Floating => Type::Float,
                Kind::Complex => Type::Complex,
            };
            Operand::Number(number, None)
        }
        _ => Operand::Unknown,
    }
}

/// Reports that an operation does not accept a dtype.
pub(crate) fn refuse_dtype(cx: &mut Cx<'_, '_>, input: Named<'_>, why: &str) {
    let dtype = input.1.dtype.map_or("unknown", Dtype::name);
    let message = format!("`{}` is {dtype}: {} {why}", input.0, cx.name());
    cx.reject(RejectKind::Dtype, message, vec![dtype_read(input)]);
}

/// Reports inputs of different dtypes for an operation that does not promote. Returns whether it
/// has reported them.
pub(crate) fn refuse_mixed(cx: &mut Cx<'_, '_>, tensors: &[Named<'_>]) -> bool {
    let Some(first) = tensors.iter().find(|(_, t)| t.dtype.is_some()) else { return false };
    let Some(other) = tensors.iter().find(|(_, t)| t.dtype.is_some() && t.dtype != first.1.dtype) else { return false };
    // Under autocast, some operations promote, and others cast to a narrower dtype.
    let floats = [first, other].iter().all(|(_, t)| t.dtype.is_some_and(Dtype::is_floating));
    if floats && autocast(cx, first.1.device.or(other.1.device)) != Autocast::Off {
        return false;
    }
    let dtype = |t: &Tensor| t.dtype.map_or("unknown", Dtype::name);
    let message = format!(
        "`{}` is {} and `{}` is {}: {} takes tensors of one dtype",
        first.0,
        dtype(first.1),
        other.0,
        dtype(other.1),
        cx.name()
    );
    cx.reject(RejectKind::Dtype, message, vec![dtype_read(*first), dtype_read(*other)]);
    true
}

/// The dtype in which a matrix product of these tensors is computed. They must have the same dtype,
/// after autocast has lowered floating dtypes other than float64. `Err` if the call is rejected.
pub(crate) fn product_dtype(cx: &mut Cx<'_, '_>, tensors: &[Named<'_>]) -> Result<Option<Dtype>, ()> {
    // Tensors on different devices have already been reported. All others are on one device, so the
    // device of one of them is enough.
    let all: Vec<&Tensor> = tensors.iter().map(|(_, t)| *t).collect();
    let (device, _) = agreed_device(&all);
    if device.is_none() && all.iter().any(|t| t.device.is_some()) {
        return Ok(None);
    }
    let placed = |t: &Tensor| Tensor { dtype: t.dtype, device, ..Tensor::default() };
    let dtypes: Vec<Option<Dtype>> = tensors.iter().map(|(_, t)| lowered(cx, &placed(t))).collect();
    let mut known = tensors.iter().zip(&dtypes).filter_map(|(named, dtype)| Some((*named, (*dtype)?)));
    let Some((first, dtype)) = known.next() else { return Ok(None) };
    if let Some((other, second)) = known.find(|(_, other)| *other != dtype) {
        let message =
            format!("`{}` is {dtype} and `{}` is {second}: {} takes tensors of one dtype", first.0, other.0, cx.name());
        cx.reject(RejectKind::Dtype, message, vec![dtype_read(first), dtype_read(other)]);
        return Err(());
    }
    if dtype == Dtype::Bool {
        refuse_dtype(cx, first, "does not take bool");
        return Err(());
    }
    if dtype.is_integral() && device.is_some_and(Device::is_cuda) {
        refuse_dtype(cx, first, "does not take integers on CUDA");
        return Err(());
    }
    // If one dtype is unknown, the other determines it, because they must agree.
    Ok(Some(dtype))
}

/// The device of tensors that must be on one device; unknown if they are not, so that one mistake
/// is not reported again by the calls that follow.
pub(crate) fn agreed_device(inputs: &[&Tensor]) -> (Option<Device>, Origin) {
    let mut placed = inputs.iter().filter_map(|t| Some((t.device?, t.device_at)));
    let Some((first, at)) = placed.next() else { return (None, None) };
    if placed.any(|(other, _)| first.on_gpu().same(other.on_gpu()) == Some(false)) {
        return (None, None);
    }
    let implied = inputs.iter().any(|t| super::broadcast::has_open_device(t));
    (Some(first.implied_if(implied)), at)
}

/// The dtypes that `out=` may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cast {
    /// Every dtype to which the result may be cast (elementwise operations).
    Allowed,
    /// Only the dtype of the result.
    Refused,
}

/// Returns the result, or writes it into `out=`.
pub(crate) fn give(cx: &mut Cx<'_, '_>, b: &Bound, result: Tensor) -> Value {
    give_with(cx, b, result, Cast::Allowed)
}

pub(crate) fn give_with(cx: &mut Cx<'_, '_>, b: &Bound, mut result: Tensor, cast: Cast) -> Value {
    let out = b.get("out");
    if !b.given("out") || out.is_none() {
        return cx.out(result);
    }
    let mut read = b.values.iter().flatten().map(|arg| &arg.value);
    if out.as_obj().is_some_and(|id| cx.it.heap.is_read_by_view(id, &mut read)) {
        result.forget_values();
    }
    write_out(cx, &out, result, cast)
}

/// Returns several results, or writes them into the tensors of `out=`.
pub(crate) fn give_all(cx: &mut Cx<'_, '_>, b: &Bound, results: Vec<Tensor>) -> Value {
    give_all_with(cx, b, results, Cast::Allowed)
}

pub(crate) fn give_all_with(cx: &mut Cx<'_, '_>, b: &Bound, results: Vec<Tensor>, cast: Cast) -> Value {
    let out = b.get("out");
    if !b.given("out") || out.is_none() {
        return cx.outs(results);
    }
    match cx.items(&out) {
        Some(outs) if outs.len() == results.len() => {
            let values = outs.iter().zip(results).map(|(out, result)| write_out(cx, out, result, cast)).collect();
            Value::tuple(values)
        }
        _ => {
            let unknown = results.iter().map(|_| Tensor::default()).collect();
            cx.outs(unknown)
        }
    }
}

/// Writes a result into `out=`, which is resized to the shape of the result and keeps its dtype and
/// device.
fn write_out(cx: &mut Cx<'_, '_>, out: &Value, mut result: Tensor, cast: Cast) -> Value {
    let (Some(id), Some(have)) = (out.as_obj(), cx.tensor(out)) else {
        result.dtype = None;
        result.device = None;
        result.grad = Grad::Unknown;
        result.forget_values();
        return cx.out(result);
    };
    if let (Some(from), Some(to)) = (result.dtype, have.dtype)
        && from != to
    {
        if cast == Cast::Refused || can_cast(from, to) == Some(false) {
            let message =
                format!("the result is {}, and cannot be written into `out`, which is {}", from.name(), to.name());
            let reads = vec![
                (format!("the result gets dtype {} here", from.name()), result.dtype_at),
                dtype_read(("out", &have)),
            ];
            cx.reject(RejectKind::Dtype, message, reads);
        }
        result.forget_values();
    }
    if let (Some(from), Some(to)) = (result.device, have.device)
        && from.differs(to)
    {
        let message = format!("the result is on {from} and `out` on {to}: they must be on the same device");
        let reads = vec![device_read(("the result", &result)), device_read(("out", &have))];
        cx.reject(RejectKind::Device, message, reads);
    }
    // If elements overlap in memory, later elements may be computed from overwritten ones.
    if have.dtype.is_none() || cx.it.heap.is_overlapping(id) {
        result.forget_values();
    }
    let mut facts = result;
    facts.dtype = have.dtype;
    facts.dtype_at = have.dtype_at;
    facts.device = have.device;
    facts.device_at = have.device_at;
    facts.grad = have.grad;
    cx.it.heap.overwrite(id, facts);
    out.clone()
}

/// Applies `f`, which must be monotone, to the range and to the known elements of a tensor. The new
/// elements are kept only if they are small integers.
pub(crate) fn map_values(out: &mut Tensor, input: &Tensor, at: crate::value::Origin, f: impl Fn(f64) -> f64) {
    let range = input.range.as_ref().map(|r| r.map(&f));
    set_range(out, range, at);
    map_data(out, input, at, f);
}

/// Applies `f`, which need not be monotone, to the known elements of a tensor. The new elements are
/// kept only if they are small integers.
pub(crate) fn map_data(out: &mut Tensor, input: &Tensor, at: crate::value::Origin, f: impl Fn(f64) -> f64) {
    let Some(data) = input.data.as_ref().filter(|d| d.len() <= MOST_DATA) else { return };
    let values: Vec<f64> = data.iter().map(|x| f(*x)).collect();
    set_data(out, values, at);
}

/// Elements are tracked through arithmetic only up to this absolute value. All floating dtypes
/// represent every integer up to this value, except bfloat16 and the dtypes of at most 8 bits.
const MOST_EXACT: f64 = 2048.0;

/// Sets the elements if they are small integers that the dtype represents.
pub(crate) fn set_data(out: &mut Tensor, values: Vec<f64>, at: crate::value::Origin) {
    let most = out.dtype.and_then(exact_up_to).map_or(MOST_EXACT, |exact| exact.min(MOST_EXACT));
    let whole = values.iter().all(|x| x.fract() == 0.0 && x.abs() <= most);
    let holds = out.dtype.is_some_and(|d| {
        !d.is_complex() && d.bounds().is_none_or(|(lo, hi)| values.iter().all(|x| (lo..=hi).contains(x)))
    });
    if whole && holds {
        let range = Range::of_values(&values);
        if range.is_some() {
            out.range = range;
            out.range_at = at;
        }
        out.data = Some(values.into());
    }
}

/// The range of values that are rounded to a float dtype with integers up to `exact`: `0.2` is 0.19995… as float16.
fn stored(range: Range, exact: f64) -> Range {
    let is_stored = |x: f64| {
        let digits = x.abs() * exact / x.abs().log2().floor().exp2() / 2.0;
        x == 0.0 || x.is_infinite() || digits.fract() == 0.0
    };
    if range.parts().iter().all(|(lo, hi)| is_stored(*lo) && is_stored(*hi)) {
        return range;
    }
    let rounding = |x: f64| if x.is_finite() { x.abs() / exact } else { 0.0 };
    Range::bounds(range.lo() - rounding(range.lo()), range.hi() + rounding(range.hi()))
}

/// Sets the range as the dtype stores it: integers wrap around, and floats beyond the largest
/// finite number become infinite. If the stored range is not known, nothing is set.
pub(crate) fn set_range(out: &mut Tensor, range: Option<Range>, at: crate::value::Origin) {
    let Some(range) = range else { return };
    if range.parts().iter().any(|(lo, hi)| lo.is_nan() || hi.is_nan()) {
        return;
    }
    let Some(dtype) = out.dtype else { return };
    // Numbers beyond `exact_up_to` may be rounded.
    let is_exact = |x: f64| x.is_infinite() || exact_up_to(dtype).is_none_or(|exact| x.abs() <= exact);
    if matches!(dtype, Dtype::Float16 | Dtype::Bfloat16)
        && !range.parts().iter().all(|(lo, hi)| is_exact(*lo) && is_exact(*hi))
    {
        return;
    }
    let range = match (dtype, exact_up_to(dtype)) {
        (Dtype::Float16 | Dtype::Bfloat16, Some(exact)) => stored(range, exact),
        _ => range,
    };
    let range = match dtype.bounds() {
        Some((lo, hi)) if dtype != Dtype::Bool => range.wrapped(lo, hi),
        Some((lo, hi)) => Some(range).filter(|r| r.lo() >= lo && r.hi() <= hi),
        // Beyond 2^53, the bounds are not exact.
        None if dtype.is_integral() => Some(range).filter(|r| r.lo() >= -9e15 && r.hi() <= 9e15),
        None if dtype.is_complex() => None,
        // A value beyond the largest finite one becomes infinite.
        None => match dtype.largest() {
            Some(most) if range.hi() > most || range.lo() < -most => {
                let lo = if range.lo() < -most { f64::NEG_INFINITY } else { range.lo() };
                let hi = if range.hi() > most { f64::INFINITY } else { range.hi() };
                Some(Range::bounds(lo, hi))
            }
            _ => Some(range),
        },
    };
    if let Some(range) = range {
        out.range = Some(range);
        out.range_at = at;
    }
}

/// Sets bounds that hold for every result of an operation.
pub(crate) fn bound(out: &mut Tensor, lo: f64, hi: f64, at: crate::value::Origin) {
    out.range = Some(Range::bounds(lo, hi));
    out.range_at = at;
}

/// Sets the bounds of indices into a dimension of length `size`: 0 and `size - 1`.
pub(crate) fn bound_index(out: &mut Tensor, size: &Size, at: crate::value::Origin) {
    if let Some(n) = size.known()
        && n > 0
    {
        #[expect(clippy::cast_precision_loss, reason = "lengths are far below 2^53")]
        bound(out, 0.0, (n - 1) as f64, at);
    }
}

/// Reports too few or too many dimensions.
pub(crate) fn refuse_rank(cx: &mut Cx<'_, '_>, input: Named<'_>, wanted: &str) {
    let rank = input.1.rank().unwrap_or(0);
    let message = format!(
        "`{}` has {} ({}): {} needs {wanted}",
        input.0,
        counted(rank, "dimension"),
        shape_text(input.1),
        cx.name()
    );
    cx.reject(RejectKind::Rank, message, vec![super::broadcast::shape_read(input, None)]);
}
