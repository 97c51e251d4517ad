//! Tensors that an operation takes together must be on one device.

use crate::library::Cx;
use crate::python::RejectKind;
use crate::value::{DeviceKind, Tensor};

/// Refuses tensors that are known to be on different devices. Unlike elementwise operations,
/// layers accept no 0-dim CPU tensor beside CUDA tensors.
pub fn check(cx: &mut Cx<'_, '_>, tensors: &[(&str, &Tensor)]) -> bool {
    let mut placed =
        tensors.iter().filter_map(|(name, t)| Some((*name, *t, t.device.filter(|d| d.kind != DeviceKind::Meta)?)));
    let Some((first_name, first, device)) = placed.next() else { return true };
    let clash = placed.find(|(_, _, other)| device.same(*other) == Some(false));
    let Some((name, other, other_device)) = clash else { return true };
    let message = format!(
        "`{first_name}` is on {device} and `{name}` is on {other_device}: {} needs both on one device",
        cx.name()
    );
    let reads = vec![
        (format!("`{first_name}` is on {device}, from here"), first.device_at),
        (format!("`{name}` is on {other_device}, from here"), other.device_at),
    ];
    cx.reject(RejectKind::Device, message, reads);
    false
}
