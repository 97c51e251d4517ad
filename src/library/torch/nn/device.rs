//! The check that the tensors of a layer's call are on one device.

use crate::library::Cx;
use crate::library::torch::broadcast::{Mix, Named, common_device};

/// Rejects tensors that are known to be on different devices. Unlike elementwise operations, layers
/// do not accept a 0-dim CPU tensor together with CUDA tensors.
pub(super) fn check(cx: &mut Cx<'_, '_>, tensors: &[Named<'_>]) {
    common_device(cx, tensors, Mix::Strict);
}
