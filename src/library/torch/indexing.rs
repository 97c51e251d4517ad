//! Subscripts, loops over tensors, `len`, truth.

use crate::python::Interp;
use crate::syntax::Span;
use crate::value::{Items, Value};

pub fn get(_it: &mut Interp<'_>, _object: &Value, _index: &Value, _span: Span) -> Option<Value> {
    None
}

pub fn set(_it: &mut Interp<'_>, _object: &Value, _index: &Value, _value: &Value, _span: Span) -> bool {
    false
}

pub fn iterate(_it: &mut Interp<'_>, _object: &Value, _span: Span) -> Option<Items> {
    None
}

pub fn length(_it: &mut Interp<'_>, _object: &Value) -> Option<Value> {
    None
}

pub fn truth(_it: &mut Interp<'_>, _object: &Value) -> Option<bool> {
    None
}
