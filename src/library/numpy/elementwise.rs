//! Elementwise operations, and the operators of arrays.

use std::cell::Cell;

use super::facts::{as_array, broadcast, union_of};
use super::promotion;
use crate::library::common::{array, part_of};
use crate::library::torch::picks;
use crate::library::{Cx, Table};
use crate::python::{BinOp, Bound, Interp, RejectKind, UnaryOp};
use crate::syntax::Span;
use crate::value::{ArrayKind, Data, Device, Dtype, Range, Role, Tensor, Type, Value, sym};

pub(crate) fn register(t: &mut Table) {
    t.family(
        "numpy.",
        "sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh \
         cbrt deg2rad rad2deg radians degrees sinc",
        "x, /, out=None, **kwargs",
        to_float,
    );
    t.family(
        "numpy.",
        "abs absolute square negative positive conj conjugate sign",
        "x, /, out=None, **kwargs",
        same_dtype,
    );
    t.family("numpy.", "floor ceil trunc rint fix", "x, /, out=None, **kwargs", same_dtype);
    super::both(t, "round", "a, decimals=0, out=None", same_dtype);
    t.alias("numpy.around", "numpy.round");
    t.family(
        "numpy.",
        "isnan isinf isfinite isneginf isposinf logical_not signbit",
        "x, /, out=None, **kwargs",
        to_bool,
    );
    t.def("numpy.nan_to_num", "x, *args, **kwargs", same_dtype);
    t.family(
        "numpy.",
        "add subtract multiply power maximum minimum fmax fmin mod remainder floor_divide bitwise_and bitwise_or \
         bitwise_xor",
        "x1, x2, /, out=None, **kwargs",
        arithmetic,
    );
    t.family("numpy.", "divide true_divide arctan2 hypot logaddexp", "x1, x2, /, out=None, **kwargs", quotient);
    t.family(
        "numpy.",
        "equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor isclose isin",
        "x1, x2, /, out=None, **kwargs",
        compare,
    );
    super::both(t, "clip", "a, a_min=None, a_max=None, out=None, **kwargs", clip);
    t.defs("numpy.where", &["condition", "condition, x, y"], choose);
    t.def("numpy.interp", "x, xp, fp, *args, **kwargs", |cx, b| mapped(cx, &b.get("x"), |_| Dtype::Float64));
    t.def("numpy.digitize", "x, bins, right=False", |cx, b| mapped(cx, &b.get("x"), |_| Dtype::Int64));
}

fn plain(input: &Tensor) -> Tensor {
    let mut out = input.clone();
    out.forget_values();
    out.base = None;
    out.version = 0;
    out.writes = 0;
    out
}

fn operand(b: &Bound) -> Value {
    let first = b.sig.params.first().map_or("x", |p| p.name.as_str());
    b.get(first)
}

/// The result of a ufunc on tensors is a tensor: `Tensor.__array_wrap__` creates it, and converts
/// bool to uint8.
fn wrapped(cx: &mut Cx<'_, '_>, b: &Bound, result: Value) -> Value {
    let given = b.values.iter().flatten().any(|arg| cx.tensor(&arg.value).is_some_and(|t| t.array == ArrayKind::Torch));
    let own = matches!(cx.name(), "nan_to_num" | "sinc" | "isclose" | "isin");
    if given
        && !own
        && let Some(id) = result.as_obj()
    {
        cx.it.heap.update_tensor(id, |t| {
            t.array = ArrayKind::Torch;
            t.device = Some(Device::CPU);
            t.dtype = t.dtype.map(|d| if d == Dtype::Bool { Dtype::Uint8 } else { d });
        });
    }
    result
}

fn mapped(cx: &mut Cx<'_, '_>, value: &Value, dtype: fn(Dtype) -> Dtype) -> Value {
    // `as_array` reads a number as a 0-d array, so the result for a scalar is 0-d.
    let Some(input) = as_array(cx, value) else { return Value::Unknown };
    let at = cx.at();
    let to = input.dtype.map(dtype);
    let dtype_at = if to == input.dtype { input.dtype_at } else { at };
    let out = plain(&input).with_dtype(to, dtype_at);
    cx.out(out)
}

fn to_float(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let given = operand(b);
    let out = mapped(cx, &given, promotion::unary_floating);
    if let (Some(function), Some(id)) = (exact(cx.name()), out.as_obj())
        && let Some(input) = as_array(cx, &given)
        && let Some(range) = input.range.as_ref().and_then(|range| mapped_exactly(range, function))
    {
        let data: Option<Vec<f64>> = input.data.as_ref().and_then(|data| data.iter().map(|x| function(*x)).collect());
        let at = cx.at();
        cx.it.heap.update_tensor(id, |t| {
            if t.dtype == Some(Dtype::Float64) {
                (t.range, t.range_at, t.data) = (Some(range), at, data.map(Into::into));
            }
        });
    }
    wrapped(cx, b, out)
}

/// The range of the results, if the function is exact for each bound of the range.
fn mapped_exactly(range: &Range, function: fn(f64) -> Option<f64>) -> Option<Range> {
    let is_exact = Cell::new(true);
    let mapped = range.map(|x| {
        let result = function(x);
        is_exact.set(is_exact.get() && result.is_some());
        result.unwrap_or(x)
    });
    is_exact.get().then_some(mapped)
}

/// A function of NumPy for the arguments for which every machine computes the same result: roots are
/// rounded exactly, and so are logarithms of powers of two.
fn exact(name: &str) -> Option<fn(f64) -> Option<f64>> {
    match name {
        "sqrt" => Some(|x| (x >= 0.0).then(|| x.sqrt())),
        "log2" => Some(|x| Some(x.log2()).filter(|log| log.fract() == 0.0 && log.exp2() == x)),
        _ => None,
    }
}

fn to_bool(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let out = mapped(cx, &operand(b), |_| Dtype::Bool);
    wrapped(cx, b, out)
}

fn same_dtype(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = as_array(cx, &operand(b)) else { return Value::Unknown };
    let mut out = plain(&input);
    // For bools, the dtype depends on the function: rounding gives float16, for example.
    if input.dtype == Some(Dtype::Bool) {
        out.dtype = None;
    }
    if input.dtype.is_some_and(Dtype::is_complex) && matches!(cx.name(), "abs" | "absolute") {
        out.dtype = input.dtype.map(Dtype::to_real);
    }
    let whole = matches!(cx.name(), "floor" | "ceil" | "trunc" | "rint" | "fix");
    if let (true, Some(range)) = (whole, &input.range) {
        let rounded = match cx.name() {
            "floor" => range.map(f64::floor),
            "ceil" => range.map(f64::ceil),
            "rint" => range.map(f64::round_ties_even),
            _ => range.map(f64::trunc),
        };
        out.range = Some(rounded);
        out.range_at = input.range_at;
    }
    let out = cx.out(out);
    wrapped(cx, b, out)
}

/// The common dtype of two operands, each of which may be a Python number.
fn common(left: &Value, right: &Value, a: &Tensor, b: &Tensor) -> Option<Dtype> {
    match (left.number_type(), right.number_type()) {
        (None, Some(number)) => promotion::with_number(a.dtype?, number),
        (Some(number), None) => promotion::with_number(b.dtype?, number),
        _ => promotion::promote(a.dtype?, b.dtype?),
    }
}

fn combined(
    cx: &mut Cx<'_, '_>,
    left: &Value,
    right: &Value,
    dtype: impl Fn(Dtype) -> Dtype,
) -> Option<(Tensor, Tensor, Tensor)> {
    let at = cx.at();
    let (a, b) = (as_array(cx, left)?, as_array(cx, right)?);
    let shape = broadcast(cx, &a, &b);
    let mut out = array(None, common(left, right, &a, &b).map(dtype), at);
    out.shape = shape;
    Some((a, b, out))
}

/// The range of `left op right` if one side is a known number.
fn range_of(op: BinOp, a: &Tensor, b: &Tensor, dtype: Option<Dtype>) -> Option<Range> {
    let single = |t: &Tensor| t.data.as_ref().and_then(|d| if d.len() == 1 { d.first().copied() } else { None });
    let range = match (op, single(a), single(b)) {
        (BinOp::Add, _, Some(k)) => a.range.as_ref()?.map(|x| x + k),
        (BinOp::Add, Some(k), _) => b.range.as_ref()?.map(|x| x + k),
        (BinOp::Sub, _, Some(k)) => a.range.as_ref()?.map(|x| x - k),
        (BinOp::Sub, Some(k), _) => b.range.as_ref()?.map(|x| k - x),
        (BinOp::Mul, _, Some(k)) => a.range.as_ref()?.map(|x| x * k),
        (BinOp::Mul, Some(k), _) => b.range.as_ref()?.map(|x| x * k),
        (BinOp::Div, _, Some(k)) if k != 0.0 => a.range.as_ref()?.map(|x| x / k),
        (BinOp::FloorDiv, _, Some(k)) if k != 0.0 => a.range.as_ref()?.map(|x| (x / k).floor()),
        (BinOp::Mod, _, Some(k)) if k > 0.0 && a.dtype.is_some_and(Dtype::is_integral) => {
            return Some(Range::bounds(0.0, k - 1.0));
        }
        _ => return None,
    };
    held(range, dtype?)
}

/// The range after the values are stored in an array of this dtype: integers wrap around.
fn held(range: Range, dtype: Dtype) -> Option<Range> {
    match dtype.bounds() {
        Some((lo, hi)) if dtype != Dtype::Bool => range.wrapped(lo, hi),
        Some((lo, hi)) => Some(range).filter(|r| r.lo() >= lo && r.hi() <= hi),
        None => Some(range).filter(|r| r.lo().abs() < 9e15 && r.hi().abs() < 9e15),
    }
}

fn operator(cx: &mut Cx<'_, '_>, op: BinOp, left: &Value, right: &Value) -> Option<Value> {
    let compares = matches!(op, BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge);
    if op == BinOp::MatMul {
        return Some(super::reduce::matmul(cx, left, right));
    }
    let (a, b, mut out) = combined(cx, left, right, |d| match op {
        BinOp::Div => promotion::floating(d),
        _ => d,
    })?;
    let at = cx.at();
    if compares {
        out = out.with_dtype(Some(Dtype::Bool), at).with_range(Some(Range::bounds(0.0, 1.0)), at);
        let made = cx.out(out);
        let name = match op {
            BinOp::Eq => "eq",
            BinOp::Lt => "lt",
            BinOp::Le => "le",
            BinOp::Gt => "gt",
            BinOp::Ge => "ge",
            _ => "ne",
        };
        picks::note(cx, name, left, right, &made);
        return Some(made);
    }
    if op == BinOp::Pow && right.as_f64().is_none() && out.dtype.is_some_and(Dtype::is_integral) {
        out.dtype = out.dtype.filter(|_| b.dtype.is_some_and(Dtype::is_integral));
    }
    // `**` gives int8 for two bools; if only one operand is bool, the dtype depends on the other.
    if op == BinOp::Pow && (a.dtype == Some(Dtype::Bool) || b.dtype == Some(Dtype::Bool)) {
        out.dtype = None;
    }
    // For bools, `-` raises, and `//` and `%` compute int8.
    if out.dtype == Some(Dtype::Bool) && matches!(op, BinOp::Sub | BinOp::FloorDiv | BinOp::Mod | BinOp::Pow) {
        out.dtype = None;
    }
    out.range = range_of(op, &a, &b, out.dtype);
    if let Some(range) = &out.range {
        out.range_at = a.range_at.or(b.range_at);
        let is_single = |t: &Tensor| t.data.as_ref().is_some_and(|data| data.len() == 1);
        if is_single(&a) && is_single(&b) && range.lo() == range.hi() {
            out.data = Some([range.lo()].into());
        }
    }
    if out.dtype == Some(Dtype::Bool) {
        out.range = Some(Range::bounds(0.0, 1.0));
    }
    if right.as_f64() == Some(255.0) {
        out.past = match op {
            BinOp::Mul => a.past.restored(),
            BinOp::Div if a.dtype == Some(Dtype::Uint8) => a.past.divided(at),
            _ => out.past,
        };
    }
    if a.role == Some(Role::ClassMask) && b.rank() == Some(0) && matches!(op, BinOp::Add | BinOp::Sub) {
        out.role = a.role;
        out.role_at = a.role_at;
    }
    Some(cx.out(out))
}

/// `left op right`, if at least one side is a NumPy array and neither is a PyTorch tensor.
pub(crate) fn binary(it: &mut Interp<'_>, op: BinOp, left: &Value, right: &Value, span: Span) -> Option<Value> {
    let kind = |it: &Interp<'_>, v: &Value| it.heap.tensor_ref(v).map(|t| t.array);
    let kinds = (kind(it, left), kind(it, right));
    if !matches!(kinds, (Some(ArrayKind::Numpy), None | Some(ArrayKind::Numpy)) | (None, Some(ArrayKind::Numpy))) {
        return None;
    }
    // A scalar, which is modelled as an array without dimensions, repeats a list or tuple.
    let is_sequence = |v: &Value| match v {
        Value::Tuple(_) => true,
        Value::Obj(id) => matches!(it.heap.get(*id), Data::List(_)),
        _ => false,
    };
    let perhaps_scalar = |v: &Value| it.heap.tensor_ref(v).is_some_and(|t| t.rank().is_none_or(|rank| rank == 0));
    if op == BinOp::Mul && (is_sequence(left) && perhaps_scalar(right) || is_sequence(right) && perhaps_scalar(left)) {
        return Some(Value::Unknown);
    }
    let mut cx = Cx { it, path: sym("numpy.ndarray"), span };
    Some(operator(&mut cx, op, left, right).unwrap_or(Value::Unknown))
}

pub(crate) fn unary(it: &mut Interp<'_>, op: UnaryOp, operand: &Value, span: Span) -> Option<Value> {
    let input = it.heap.tensor_of(operand).filter(|t| t.array == ArrayKind::Numpy)?;
    let mut cx = Cx { it, path: sym("numpy.ndarray"), span };
    let mut out = plain(&input);
    match op {
        UnaryOp::Invert if input.dtype == Some(Dtype::Bool) => out.range = Some(Range::bounds(0.0, 1.0)),
        UnaryOp::Neg | UnaryOp::Invert => {
            let same = input.range.as_ref().map(|r| r.map(|x| if op == UnaryOp::Neg { -x } else { -1.0 - x }));
            out.range = same.zip(input.dtype).and_then(|(range, dtype)| held(range, dtype));
            out.range_at = input.range_at;
        }
        UnaryOp::Pos => {}
    }
    Some(cx.out(out))
}

fn arithmetic(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let op = match cx.name() {
        "add" => BinOp::Add,
        "subtract" => BinOp::Sub,
        "multiply" => BinOp::Mul,
        "power" => BinOp::Pow,
        "mod" | "remainder" => BinOp::Mod,
        "floor_divide" => BinOp::FloorDiv,
        "bitwise_and" => BinOp::BitAnd,
        "bitwise_or" => BinOp::BitOr,
        "bitwise_xor" => BinOp::BitXor,
        _ => {
            let (x, y) = (b.get("x1"), b.get("x2"));
            return match combined(cx, &x, &y, |d| d) {
                Some((a, c, mut out)) => {
                    out.range = union_of(&[a, c]).map(|r| Range::bounds(r.lo(), r.hi()));
                    let out = cx.out(out);
                    wrapped(cx, b, out)
                }
                None => Value::Unknown,
            };
        }
    };
    let out = operator(cx, op, &b.get("x1"), &b.get("x2")).unwrap_or(Value::Unknown);
    wrapped(cx, b, out)
}

fn quotient(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    operator(cx, BinOp::Div, &b.get("x1"), &b.get("x2")).map_or(Value::Unknown, |out| {
        if !cx.name().contains("divide")
            && let Some(id) = out.as_obj()
        {
            cx.it.heap.update_tensor(id, Tensor::forget_values);
        }
        wrapped(cx, b, out)
    })
}

fn compare(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if cx.name() == "isin" {
        return mapped(cx, &b.get("x1"), |_| Dtype::Bool);
    }
    let out = operator(cx, BinOp::Eq, &b.get("x1"), &b.get("x2")).unwrap_or(Value::Unknown);
    wrapped(cx, b, out)
}

fn clip(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = as_array(cx, &b.get("a")) else { return Value::Unknown };
    let (lo, hi) = (b.get("a_min"), b.get("a_max"));
    let mut out = plain(&input);
    // A clipped bool Series stays bool. For a bool array, the dtype depends on the bounds. The two are not
    // distinguished here, so the dtype becomes unknown.
    out.dtype = out.dtype.filter(|d| *d != Dtype::Bool);
    for bound in [&lo, &hi] {
        if !bound.is_none() {
            out.dtype = match (bound.number_type(), out.dtype) {
                (Some(number), Some(dtype)) => promotion::with_number(dtype, number),
                _ => None,
            };
        }
    }
    let end = |v: &Value, otherwise: f64| if v.is_none() { Some(otherwise) } else { v.as_f64() };
    if let (Some(lo), Some(hi)) = (end(&lo, f64::NEG_INFINITY), end(&hi, f64::INFINITY)) {
        out.range = match &input.range {
            Some(range) => Some(range.clamp(lo, hi)),
            None if lo.is_finite() && hi.is_finite() && lo <= hi => Some(Range::bounds(lo, hi)),
            None => None,
        };
        out.range_at = cx.at();
    }
    cx.out(out)
}

fn choose(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let condition = as_array(cx, &b.get("condition"));
    let at = cx.at();
    if !b.given("x") {
        // The indices of true elements, one array per dimension.
        let Some(rank) = condition.as_ref().and_then(Tensor::rank) else { return Value::Unknown };
        if rank == 0 {
            let message = "the condition has no dimensions, so there are no positions in it";
            cx.reject_if("with NumPy 2.1 or newer", RejectKind::Value, message, Vec::new());
            return Value::Unknown;
        }
        let count = cx.fresh_dim("n");
        let indices = (0..rank).map(|_| {
            let mut out = array(None, Some(Dtype::Int64), at);
            out.shape = Some(vec![count.clone()]);
            out
        });
        let indices = indices.collect();
        return cx.outs(indices);
    }
    let (x, y) = (b.get("x"), b.get("y"));
    let Some((a, c, mut out)) = combined(cx, &x, &y, |d| d) else {
        let mut out = array(None, None, at);
        out.shape_at = None;
        return cx.out(out);
    };
    out.shape = match condition {
        Some(condition) => broadcast(cx, &condition, &out),
        None => None,
    };
    // A Python number takes the dtype of the other operand only if the other operand is an array.
    // If both are Python numbers, the result has the dtype of the wider type.
    if let (Some(p), Some(q)) = (x.number_type(), y.number_type()) {
        out.dtype = match (wider(p, q), out.dtype) {
            (Some(Type::Int), _) => Some(Dtype::Int64),
            (Some(Type::Float), _) => Some(Dtype::Float64),
            (Some(Type::Bool), _) => Some(Dtype::Bool),
            (_, other) => other,
        };
    }
    out.range = match (&a.range, &c.range) {
        (Some(new), Some(have)) if x.as_f64().is_some() && y.as_f64().is_none() => {
            Some(picks::replaced(have, picks::of(cx, &b.get("condition"), &y), new))
        }
        (Some(have), Some(new)) if y.as_f64().is_some() && x.as_f64().is_none() => {
            Some(picks::replaced(have, None, new))
        }
        _ => union_of(&[a, c]).map(|mut r| {
            r.attained = false;
            part_of(r)
        }),
    };
    if out.range.is_some() {
        out.range_at = at;
    }
    cx.out(out)
}

/// The wider of two number types.
fn wider(a: Type, b: Type) -> Option<Type> {
    let rank = |t| match t {
        Type::Bool => Some(0),
        Type::Int => Some(1),
        Type::Float => Some(2),
        _ => None,
    };
    Some(if rank(a)? >= rank(b)? { a } else { b })
}
