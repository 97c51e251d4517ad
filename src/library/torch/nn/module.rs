//! `torch.nn.Module`: registered parts, moving between devices, calling `forward`.

use crate::library::Table;
use crate::python::Interp;
use crate::syntax::Span;
use crate::value::{Sym, Value};

pub fn register(_t: &mut Table) {}

/// `module.name = value`.
pub fn set_attribute(
    _it: &mut Interp<'_>,
    _class: Sym,
    _object: &Value,
    _name: Sym,
    _value: &Value,
    _span: Span,
) -> bool {
    false
}

/// A module in the hands of code that cannot be seen: its parameters and buffers may be on
/// any device.
pub fn escaped(_it: &mut Interp<'_>, _object: &Value) {}
