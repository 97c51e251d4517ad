//! What a parameter's annotation says of it.

use crate::python::Interp;
use crate::syntax::Span;
use crate::value::{Sym, Value};

pub fn annotated(_it: &mut Interp<'_>, _annotation: &Value, _name: Sym, _span: Span) -> Option<Value> {
    None
}
