//! Operators on tensors and arrays: each is the library function of the same meaning.

use crate::library::Libraries;
use crate::python::{BinOp, Interp, UnaryOp};
use crate::syntax::Span;
use crate::value::Value;

pub fn binary(
    _lib: &Libraries,
    _it: &mut Interp<'_>,
    _op: BinOp,
    _left: &Value,
    _right: &Value,
    _span: Span,
) -> Option<Value> {
    None
}

pub fn augmented(
    _lib: &Libraries,
    _it: &mut Interp<'_>,
    _op: BinOp,
    _left: &Value,
    _right: &Value,
    _span: Span,
) -> Option<Value> {
    None
}

pub fn unary(_lib: &Libraries, _it: &mut Interp<'_>, _op: UnaryOp, _operand: &Value, _span: Span) -> Option<Value> {
    None
}
