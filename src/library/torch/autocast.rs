//! The effect of `torch.autocast` on dtypes: matrix products are computed in a narrower dtype, and
//! on CUDA, sums and exponentials in float32.
//!
//! The note [`AUTOCAST`] holds the state: `None` if autocast is off, otherwise a tuple of the
//! device and the dtype.

use crate::library::Cx;
use crate::library::notes::AUTOCAST;
use crate::value::{Device, Dtype, Tensor, Value};

/// The state of autocast on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Autocast {
    Off,
    To(Dtype),
    /// Whether autocast is on, or to which dtype it casts, is not known.
    Unknown,
}

pub(crate) fn autocast(cx: &Cx<'_, '_>, device: Option<Device>) -> Autocast {
    let state = match cx.it.remembered(AUTOCAST) {
        None | Some(Value::None) => return Autocast::Off,
        Some(state) => state,
    };
    let Value::Tuple(parts) = &state else { return Autocast::Unknown };
    match (parts.as_ref(), device) {
        ([Value::Device(on), Value::Dtype(d)], Some(device)) if on.kind == device.kind => Autocast::To(*d),
        ([Value::Device(on), _], Some(device)) if on.same(device) == Some(false) => Autocast::Off,
        _ => Autocast::Unknown,
    }
}

/// The dtype to which autocast casts this tensor for a matrix product.
pub(crate) fn lowered(cx: &Cx<'_, '_>, tensor: &Tensor) -> Option<Dtype> {
    let dtype = tensor.dtype?;
    let eligible = dtype.is_floating() && dtype != Dtype::Float64;
    let cpu = tensor.device.is_some_and(Device::is_cpu);
    match autocast(cx, tensor.device) {
        // Only CUDA's list of lowered functions contains these products.
        Autocast::To(_) if eligible && cpu && matches!(cx.name(), "mv" | "addmv" | "addr" | "multi_dot") => None,
        Autocast::To(to) if eligible => Some(to),
        Autocast::Unknown if eligible => None,
        _ => Some(dtype),
    }
}

/// The dtype to which autocast casts this tensor for a sum, a norm, a softmax or an exponential.
/// The list of these functions is the one for CUDA; the lists for other devices depend on the
/// PyTorch version.
pub(crate) fn raised(cx: &Cx<'_, '_>, tensor: &Tensor) -> Option<Dtype> {
    let dtype = tensor.dtype?;
    let eligible = dtype.is_floating() && !matches!(dtype, Dtype::Float32 | Dtype::Float64);
    match autocast(cx, tensor.device) {
        Autocast::To(_) if eligible && tensor.device.is_some_and(Device::is_cuda) => Some(Dtype::Float32),
        Autocast::To(_) | Autocast::Unknown if eligible => None,
        _ => Some(dtype),
    }
}
