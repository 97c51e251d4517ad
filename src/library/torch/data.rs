//! `torch.utils.data`: from a dataset's samples to a loader's batches.

use crate::python::Interp;
use crate::syntax::Span;
use crate::value::{Items, Value};

pub fn iterate(_it: &mut Interp<'_>, _object: &Value, _span: Span) -> Option<Items> {
    None
}

pub fn length(_it: &mut Interp<'_>, _object: &Value) -> Option<Value> {
    None
}
