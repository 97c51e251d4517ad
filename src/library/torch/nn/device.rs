//! Tensors that a layer takes together must be on one device.

use crate::library::Cx;
use crate::library::torch::broadcast::{Mix, Named, common_device};

/// Refuses tensors that are known to be on different devices. Unlike elementwise operations, layers
/// do not accept a 0-dim CPU tensor together with CUDA tensors.
pub(super) fn check(cx: &mut Cx<'_, '_>, tensors: &[Named<'_>]) {
    common_device(cx, tensors, Mix::Strict);
}
