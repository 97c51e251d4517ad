//! Operators on tensors and arrays. An operator calls the library function with the same meaning.

use super::inplace::{tell_refused, write_back};
use crate::library::Cx;
use crate::library::numpy::refuse_unreadable;
use crate::library::table::Tables;
use crate::python::{Args, BinOp, Interp, RejectKind, UnaryOp, sign};
use crate::syntax::Span;
use crate::value::{ArrayKind, Data, Tensor, Type, Value, sym};

/// The library function that an operator calls.
fn function(op: BinOp) -> &'static str {
    match op {
        BinOp::Add => "torch.add",
        BinOp::Sub => "torch.sub",
        BinOp::Mul => "torch.mul",
        BinOp::MatMul => "torch.matmul",
        BinOp::Div => "torch.div",
        BinOp::FloorDiv => "torch.floor_divide",
        BinOp::Mod => "torch.remainder",
        BinOp::Pow => "torch.pow",
        BinOp::LShift => "torch.bitwise_left_shift",
        BinOp::RShift => "torch.bitwise_right_shift",
        BinOp::BitAnd => "torch.bitwise_and",
        BinOp::BitOr => "torch.bitwise_or",
        BinOp::BitXor => "torch.bitwise_xor",
        BinOp::Eq => "torch.eq",
        BinOp::Ne => "torch.ne",
        BinOp::Lt => "torch.lt",
        BinOp::Le => "torch.le",
        BinOp::Gt => "torch.gt",
        BinOp::Ge => "torch.ge",
    }
}

/// The comparison with its sides exchanged; `None` if the operator is not a comparison.
fn mirrored(op: BinOp) -> Option<BinOp> {
    Some(match op {
        BinOp::Eq => BinOp::Eq,
        BinOp::Ne => BinOp::Ne,
        BinOp::Lt => BinOp::Gt,
        BinOp::Le => BinOp::Ge,
        BinOp::Gt => BinOp::Lt,
        BinOp::Ge => BinOp::Le,
        _ => return None,
    })
}

/// Whether an operand can be combined with a tensor: it is a tensor, a number, or unknown.
fn meets(it: &Interp<'_>, value: &Value) -> bool {
    match value {
        Value::Unknown | Value::Open(_) => true,
        Value::Obj(id) => matches!(it.heap.get(*id), Data::Tensor(_)),
        other => other.number_type().is_some(),
    }
}

pub(crate) fn binary(it: &mut Interp<'_>, op: BinOp, left: &Value, right: &Value, span: Span) -> Option<Value> {
    let array = |v: &Value| it.heap.tensor_ref(v).map(|t| t.array);
    let (x, y) = (array(left), array(right));
    if x.is_none() && y.is_none() {
        return None;
    }
    if !meets(it, left) || !meets(it, right) {
        // In an operation with an array, NumPy converts lists and tuples to arrays.
        let sequence = |v: &Value| it.heap.exact_items(v).is_some();
        let numpy = x == Some(ArrayKind::Numpy) && sequence(right) || y == Some(ArrayKind::Numpy) && sequence(left);
        return numpy.then(|| it.heap.tensor(Tensor { array: ArrayKind::Numpy, ..Tensor::default() }));
    }
    // The unknown operand may be `None`, or have another type that tensors do not support. Then the
    // comparison gives one bool.
    if matches!(op, BinOp::Eq | BinOp::Ne) && (left.is_unknown() || right.is_unknown()) {
        return Some(Value::Unknown);
    }
    if matches!((x, y), (Some(a), Some(b)) if a != b) {
        let refused = it.refused.0;
        refuse_mixed(it, op, (left, right), span);
        if it.refused.0 != refused {
            return Some(Value::Unknown);
        }
        return Some(with_number(it, op, (left, right), span).unwrap_or(Value::Unknown));
    }
    let (op, left, right) = match mirrored(op) {
        Some(mirror) if x.is_none() => (mirror, right, left),
        _ => (op, left, right),
    };
    let args = Args::positional([left.clone(), right.clone()], span);
    it.call_function(function(op), &args, span)
}

/// Rejects an operation of an array and a tensor. NumPy leaves it to the tensor, whose reflected operators take no
/// array (other than that of `/`). A tensor on the left leaves it to NumPy, which reads the tensor, but has no
/// comparisons with it. NumPy's numbers are like those of Python.
fn refuse_mixed(it: &mut Interp<'_>, op: BinOp, (left, right): (&Value, &Value), span: Span) {
    let (Some(x), Some(y)) = (it.heap.tensor_of(left), it.heap.tensor_of(right)) else { return };
    let array = if x.array == ArrayKind::Numpy { &x } else { &y };
    if array.rank().is_none_or(|rank| rank == 0) || x.wrapper.is_some() || y.wrapper.is_some() {
        return;
    }
    let is_comparison = matches!(op, BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge);
    let message = match x.array {
        ArrayKind::Numpy if !matches!(op, BinOp::Div | BinOp::Eq | BinOp::Ne) => {
            format!("`{}` does not accept an array and, on its right, a tensor", sign(op))
        }
        ArrayKind::Torch if is_comparison => format!("`{}` does not accept a tensor and an array", sign(op)),
        ArrayKind::Torch if mirrored(op).is_none() => {
            let mut cx = Cx { it, path: sym("numpy.add"), span };
            return refuse_unreadable(&mut cx, left);
        }
        ArrayKind::Torch | ArrayKind::Numpy => return,
    };
    let mut cx = Cx { it, path: sym(function(op)), span };
    let reads = vec![("the array is created here".to_owned(), array.shape_at)];
    cx.reject(RejectKind::Operation, format!("{message}: use torch.from_numpy(…)"), reads);
}

/// An operation of a PyTorch tensor and a NumPy number. The number is treated as a Python number.
/// The dtype of the result is unknown: the dtype of a 0-dimensional array would affect it, and
/// torchvet does not distinguish such an array from a NumPy number.
fn with_number(it: &mut Interp<'_>, op: BinOp, (left, right): (&Value, &Value), span: Span) -> Option<Value> {
    let number = |it: &Interp<'_>, v: &Value| {
        let array = it.heap.tensor_of(v).filter(|t| t.array == ArrayKind::Numpy && t.rank() == Some(0))?;
        array.dtype.filter(|d| d.is_floating()).map(|_| Value::Any(Type::Float))
    };
    let (x, y) = (number(it, left), number(it, right));
    if x.is_some() == y.is_some() || op == BinOp::MatMul || mirrored(op).is_some() {
        return None;
    }
    let operands = (x.unwrap_or_else(|| left.clone()), y.unwrap_or_else(|| right.clone()));
    let result = binary(it, op, &operands.0, &operands.1, span)?;
    if let Some(id) = result.as_obj() {
        it.heap.update_tensor(id, |t| t.dtype = None);
    }
    Some(result)
}

/// `x += y` writes to the tensor `x`.
pub(crate) fn augmented(
    tables: &Tables,
    it: &mut Interp<'_>,
    op: BinOp,
    left: &Value,
    right: &Value,
    span: Span,
) -> Option<Value> {
    // `@=` has no in-place form.
    if op == BinOp::MatMul || mirrored(op).is_some() || !meets(it, right) {
        return None;
    }
    let id = left.as_obj()?;
    let before = it.heap.tensor_of(left)?;
    // NumPy numbers are immutable: the name is bound to a new number.
    if before.array == ArrayKind::Numpy && before.rank() == Some(0) {
        return None;
    }
    let result = binary(it, op, left, right, span)?;
    let path = sym(function(op));
    let refused = it.refused.0;
    let mut cx = Cx { it, path, span };
    write_back(&mut cx, id, &before, &result);
    tell_refused(tables, it, refused, path, &Args::positional([left.clone(), right.clone()], span), &before);
    Some(left.clone())
}

pub(crate) fn unary(it: &mut Interp<'_>, op: UnaryOp, operand: &Value, span: Span) -> Option<Value> {
    it.heap.tensor_ref(operand)?;
    let path = match op {
        UnaryOp::Neg => "torch.neg",
        UnaryOp::Pos => "torch.positive",
        UnaryOp::Invert => "torch.bitwise_not",
    };
    let args = Args::positional([operand.clone()], span);
    it.call_function(path, &args, span)
}
