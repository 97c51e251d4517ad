//! What is known about the assigned values and about the arguments of checked calls, for
//! `torchvet coverage`.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::contract::Conditions;
use crate::python::{Bound, Interp};
use crate::syntax::Span;
use crate::value::{ArrayKind, DeviceKind, Heap, Value};

/// How much is known about a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// Nothing, not even the type.
    Nothing,
    /// A tensor or an array of which the rank, the dtype or the device is unknown.
    Part,
    /// A tensor with known rank, dtype and device, or an array with known rank and dtype.
    Tensor,
    /// Not a tensor.
    Other,
}

impl Known {
    pub(super) fn of(heap: &Heap, value: &Value) -> Known {
        let Some(tensor) = heap.tensor_ref(value) else {
            return if value.is_unknown() { Known::Nothing } else { Known::Other };
        };
        let is_placed = tensor.array == ArrayKind::Numpy
            || tensor.device.is_some_and(|device| !matches!(device.kind, DeviceKind::Symbolic(_)));
        if tensor.rank().is_some() && tensor.dtype.is_some() && is_placed { Known::Tensor } else { Known::Part }
    }
}

/// A call that contracts check.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub span: Span,
    pub conditions: Conditions,
    /// The arguments about which not everything is known.
    pub unknown: Vec<Span>,
}

pub(super) type Calls = IndexMap<Span, Call, FxBuildHasher>;

/// Notes the conditions of a call. If it runs in several contexts, the one in which most conditions
/// are undecided counts.
pub(super) fn note(calls: &mut Calls, it: &Interp<'_>, bound: &Bound, span: Span, conditions: Conditions) {
    let have = calls.get(&span).map(|call| call.conditions.undecided);
    if conditions == Conditions::default() || have.is_some_and(|have| have >= conditions.undecided) {
        return;
    }
    let is_unknown = |value: &Value| matches!(Known::of(&it.heap, value), Known::Nothing | Known::Part);
    let unknown = bound.values.iter().flatten().filter(|arg| is_unknown(&arg.value)).map(|arg| arg.span).collect();
    calls.insert(span, Call { span, conditions, unknown });
}
