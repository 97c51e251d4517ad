//! The run after a rejected call. In the program, the call raises. The interpreter continues, so
//! that it finds mistakes that do not depend on the result; values that are computed from the
//! result are unknown.

use super::interp::Interp;
use crate::value::{Device, DeviceKind, ObjId, Tensor, Value};

/// The numbers of rejected calls, exits and undecided branches at the beginning of a statement, a
/// call or a loop.
#[derive(Clone, Copy)]
pub(super) struct Before {
    rejected: u32,
    exits: usize,
    undecided: u32,
}

impl Interp<'_> {
    pub(super) fn before(&self) -> Before {
        Before { rejected: self.refused.0, exits: self.exits.len(), undecided: self.context.undecided }
    }

    /// Whether a call was rejected since `before`, on every path.
    pub(super) fn surely_rejected(&self, before: Before) -> bool {
        let (undecided, left) = self.refused_in;
        self.refused.0 != before.rejected && undecided <= before.undecided && left <= before.exits
    }

    /// The result of a rejected call: unknown, and on a fresh symbolic device, so that other
    /// tensors do not determine its device.
    pub(crate) fn after_rejection(&mut self) -> Tensor {
        let device = Device::of(DeviceKind::Symbolic(self.heap.device_symbol()));
        Tensor { device: Some(device), ..Tensor::default() }
    }

    /// Makes unknown the tensors that were computed from the result of a rejected call: no run
    /// computes them, so mistakes that depend on them are not reported.
    pub(crate) fn follow_rejection(&mut self, result: &Value) {
        for part in result.parts() {
            if let Some(id) = part.as_obj().filter(|_| self.heap.is_tensor(part)) {
                let unknown = self.after_rejection();
                self.heap.update_tensor(id, |tensor| {
                    *tensor = Tensor {
                        array: tensor.array,
                        grad: tensor.grad,
                        base: tensor.base,
                        version: tensor.version,
                        writes: tensor.writes,
                        ..unknown
                    };
                });
                self.heap.note_refused(part);
            }
        }
    }

    /// Makes unknown the devices of the tensors that a function returns after a rejected call in
    /// it: these tensors may have been computed from the result of that call, through values that
    /// are unknown. Their shapes and dtypes are usually those that the corrected function returns.
    pub(super) fn return_after_rejection(&mut self, result: &Value) {
        for part in result.parts() {
            let newer = |id: &ObjId| !id.is_among_first(self.refused_since);
            if let Some(id) = part.as_obj().filter(newer).filter(|_| self.heap.is_tensor(part)) {
                let device = self.after_rejection().device;
                self.heap.update_tensor(id, |tensor| (tensor.device, tensor.device_at) = (device, None));
            }
        }
    }
}
