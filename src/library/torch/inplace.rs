//! Methods with a trailing underscore: the function of the same name, written back.

use crate::library::Libraries;
use crate::python::{Args, Interp};
use crate::syntax::Span;
use crate::value::{Sym, Value};

pub fn is_method(_lib: &Libraries, _class: Sym, _name: Sym) -> bool {
    false
}

pub fn method(
    _lib: &Libraries,
    _it: &mut Interp<'_>,
    _class: Sym,
    _object: &Value,
    _name: Sym,
    _args: Args,
    _span: Span,
) -> Option<Value> {
    None
}
