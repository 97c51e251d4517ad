//! The rules that no contract can express, each watching the run.

use super::Rules;
use crate::diagnostic::Diagnostic;
use crate::python::{Bound, Event, Interp};
use crate::syntax::Span;
use crate::value::Sym;

/// All of them, with what they remember of one run.
pub struct Watch {}

impl Watch {
    pub fn new(_rules: &Rules) -> Watch {
        Watch {}
    }

    pub fn call(&self, _it: &mut Interp<'_>, _path: Sym, _bound: &Bound, _span: Span, _found: &mut Vec<Diagnostic>) {}

    pub fn event(&self, _it: &mut Interp<'_>, _event: Event<'_>, _found: &mut Vec<Diagnostic>) {}

    pub fn finish(&self, _it: &mut Interp<'_>, _found: &mut Vec<Diagnostic>) {}
}
