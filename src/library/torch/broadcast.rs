//! The shared parts of operations on several tensors: broadcasting, the device check, the gradient
//! state of the result. The models of operators use these functions, so that each rule of PyTorch
//! is implemented once.

use crate::library::Cx;
use crate::library::notes::GRAD_MODE;
use crate::library::torch::defaults::changes_default_device;
use crate::python::{Interp, ON_CPU, RejectKind};
use crate::value::{ArrayKind, Device, DeviceKind, Dim, Dtype, Grad, Origin, Size, Tensor, Value, sym};
pub(crate) use crate::value::{broadcast_dim, broadcast_pair, not_one};

/// A tensor argument with its name in messages.
pub(crate) type Named<'a> = (&'a str, &'a Tensor);

/// Which tensors on different devices an operation accepts together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mix {
    /// Elementwise operations accept 0-dimensional CPU tensors together with tensors on any device.
    CpuScalars,
    /// All tensors must be on one device.
    Strict,
}

/// A shape such as `[4, B, ?]`, or a description if not even the rank is known.
pub(crate) fn shape_text(tensor: &Tensor) -> String {
    if tensor.last_dims().is_empty() && tensor.shape.is_none() {
        return "of unknown shape".to_owned();
    }
    tensor.shape_text()
}

/// A tensor's name in a message: in backticks if it is code, but not if it is a description ("the
/// result").
pub(crate) fn quoted(name: &str) -> String {
    if name.starts_with("the ") || name.starts_with("a tensor ") { name.to_owned() } else { format!("`{name}`") }
}

/// The label of a tensor's shape, at the place that determined the dimension `axis`.
pub(crate) fn shape_read((name, tensor): Named<'_>, axis: Option<usize>) -> (String, Origin) {
    let at = axis.and_then(|axis| tensor.last_dims().get(axis)?.at);
    (format!("{} gets shape {} here", quoted(name), shape_text(tensor)), at.or(tensor.shape_at))
}

/// The label of a tensor's dtype.
pub(crate) fn dtype_read((name, tensor): Named<'_>) -> (String, Origin) {
    let dtype = tensor.dtype.map_or("unknown", Dtype::name);
    (format!("{} gets dtype {dtype} here", quoted(name)), tensor.dtype_at)
}

/// The label of a tensor's device.
pub(crate) fn device_read((name, tensor): Named<'_>) -> (String, Origin) {
    let device = tensor.device.map_or_else(|| "unknown".to_owned(), |d| d.to_string());
    (format!("{} is placed on {device} here", quoted(name)), tensor.device_at)
}

/// The shape to which two tensors broadcast; `None` if they do not broadcast, or if it is not known
/// whether they do.
pub(crate) fn both_shapes(a: &Tensor, b: &Tensor) -> Option<Vec<Dim>> {
    broadcast_pair(a.shape.as_ref()?, b.shape.as_ref()?).ok()
}

/// The broadcast shape of tensors, and its origin. If a tensor already has the broadcast shape, the
/// origin is that of its shape; otherwise, it is this operation. A mismatch is reported; the shape
/// is then unknown.
pub(crate) fn common_shape(cx: &mut Cx<'_, '_>, tensors: &[Named<'_>]) -> (Option<Vec<Dim>>, Origin) {
    let mut all: Option<Vec<Dim>> = None;
    let mut at = None;
    let mut unknown = false;
    for (i, &(name, tensor)) in tensors.iter().enumerate() {
        let earlier = tensors.get(..i).unwrap_or_default();
        if let Some((other, back)) = earlier.iter().find_map(|other| Some((*other, open_clash(other.1, tensor)?))) {
            reject_pair(cx, &[other], (name, tensor), back);
            return (None, None);
        }
        let Some(dims) = &tensor.shape else {
            unknown = true;
            continue;
        };
        let Some(have) = &all else {
            all = Some(dims.clone());
            at = tensor.shape_at;
            continue;
        };
        match broadcast_pair(have, dims) {
            Ok(joined) => {
                let is_shape = |dims: &[Dim]| dims.iter().map(|d| &d.size).eq(joined.iter().map(|d| &d.size));
                at = match () {
                    () if is_shape(have) => at.or(tensor.shape_at),
                    () if is_shape(dims) => tensor.shape_at,
                    () => cx.at(),
                };
                all = Some(joined);
            }
            Err(back) => {
                reject_pair(cx, tensors.get(..i).unwrap_or_default(), (name, tensor), back);
                return (None, None);
            }
        }
    }
    if unknown { (None, None) } else { (all, at) }
}

/// Compares the known last dimensions of two tensors, if the rank of at least one of them is
/// unknown. Returns the first position, counted from the end, at which they do not broadcast.
fn open_clash(a: &Tensor, b: &Tensor) -> Option<usize> {
    let is_open = a.shape.is_none() || b.shape.is_none();
    let known = !a.last_dims().is_empty() && !b.last_dims().is_empty();
    (is_open && known).then(|| broadcast_pair(a.last_dims(), b.last_dims()).err()).flatten()
}

/// Reports that `this` and an earlier tensor do not broadcast in dimension `back`, which is counted
/// from the end.
fn reject_pair(cx: &mut Cx<'_, '_>, earlier: &[Named<'_>], this: Named<'_>, back: usize) {
    let axis = |t: &Tensor| t.last_dims().len().checked_sub(back);
    let size = |t: &Tensor| axis(t).and_then(|at| t.last_dims().get(at).map(|d| d.size.clone()));
    let clash = |t: &Tensor| broadcast_pair(t.last_dims(), this.1.last_dims()).is_err();
    let Some(&other) = earlier.iter().find(|(_, t)| clash(t)).or_else(|| earlier.last()) else { return };
    let (a, b) = (size(other.1).unwrap_or(Size::Unknown), size(this.1).unwrap_or(Size::Unknown));
    let message = format!(
        "`{}` is {} and `{}` is {}: the sizes {a} and {b} in dimension -{back} do not broadcast",
        other.0,
        shape_text(other.1),
        this.0,
        shape_text(this.1),
    );
    let reads = vec![shape_read(other, axis(other.1)), shape_read(this, axis(this.1))];
    cx.reject(RejectKind::Shape, message, reads);
}

/// The device of a tensor for the device check; `None` if the check ignores the tensor. It ignores
/// NumPy arrays, and also meta tensors, because some operations accept them together with tensors
/// on other devices.
fn real_device(tensor: &Tensor) -> Option<Device> {
    let device = tensor.device.filter(|_| tensor.array == ArrayKind::Torch)?;
    (device.kind != DeviceKind::Meta).then_some(device)
}

/// Whether an operation accepts the devices of two tensors together; `place` maps the devices
/// before the comparison.
fn may_meet(a: &Tensor, b: &Tensor, mix: Mix, place: fn(Device) -> Device) -> bool {
    let (Some(x), Some(y)) = (real_device(a).map(place), real_device(b).map(place)) else { return true };
    if !x.differs(y) {
        return true;
    }
    let cpu = match (x.is_cpu(), y.is_cpu()) {
        (true, false) => a,
        (false, true) => b,
        _ => return false,
    };
    // A tensor with a known last dimension is not 0-dimensional.
    mix == Mix::CpuScalars && cpu.last_dims().is_empty()
}

/// The assumption about the device of a module whose methods are analysed without a caller.
pub(crate) const MODULE_ON_GPU: &str = "with the module on a GPU";

/// The assumption about batches, if the program moves only a part of a batch to a device.
const BATCH_ON_CPU: &str = "if the loader yields tensors on the CPU";

/// The assumption that [`Device::on_gpu`] makes about tensors on these devices.
pub(crate) fn gpu_assumption(devices: impl IntoIterator<Item = Device>) -> &'static str {
    let devices: Vec<DeviceKind> = devices.into_iter().map(|device| device.kind).collect();
    let named = devices.iter().find_map(|kind| match kind {
        DeviceKind::Named(name) => Some(sym(&format!("if {name} is a GPU")).as_str()),
        DeviceKind::If(condition) => Some(sym(&format!("if `{condition}` holds")).as_str()),
        _ => None,
    });
    named.unwrap_or(if devices.contains(&DeviceKind::Batch) { BATCH_ON_CPU } else { MODULE_ON_GPU })
}

/// Whether the program names a device as `x.device`. `self.device` and devices of the attributes of `self`
/// do not count.
fn is_of_tensor(device: Device) -> bool {
    let DeviceKind::Named(name) = device.kind else { return false };
    name.as_str().ends_with(".device`") && !name.as_str().starts_with("`self.")
}

/// Whether the message of a finding begins with an assumption of [`gpu_assumption`].
pub(crate) fn assumes_gpu(message: &str) -> bool {
    message.starts_with(MODULE_ON_GPU)
        || message.starts_with(BATCH_ON_CPU)
        || message.starts_with("if ") && (message.contains(" is a GPU, ") || message.contains("` holds, "))
}

/// Whether assumptions about a GPU may be made. They must not be made in tests, if a flag of the program
/// decided against the GPU, or if a file of the program changes the default device.
pub(crate) fn may_assume_gpu(it: &Interp<'_>) -> bool {
    let on_cpu = matches!(it.remembered(ON_CPU), Some(Value::Bool(true)));
    // The devices of torch_xla are other devices.
    !(it.declines_gpu || it.is_test() || on_cpu || changes_default_device(it) || it.mentions("torch_xla"))
}

/// Checks that the tensors are on devices that the operation accepts, and returns the device of the
/// result.
pub(crate) fn common_device(cx: &mut Cx<'_, '_>, tensors: &[Named<'_>], mix: Mix) -> (Option<Device>, Origin) {
    let clash = |place: fn(Device) -> Device| {
        tensors.iter().enumerate().find_map(|(i, b)| {
            let a = tensors.get(..i)?.iter().find(|a| !may_meet(a.1, b.1, mix, place))?;
            let device = |t: &Tensor| t.device.map_or_else(String::new, |d| place(d).to_string());
            let message = format!(
                "{} is on {} and {} on {}: they must be on the same device",
                quoted(a.0),
                device(a.1),
                quoted(b.0),
                device(b.1)
            );
            Some((*a, *b, message, vec![device_read(*a), device_read(*b)]))
        })
    };
    if let Some((a, b, message, reads)) = clash(|device| device) {
        // The model is assumed to be on the intended device, so the batch is on the wrong device.
        if a.1.parameter || b.1.parameter {
            let other = if a.1.parameter { b.1 } else { a.1 };
            cx.reject_input(RejectKind::Device, message, reads, other.device_at);
        } else {
            cx.reject(RejectKind::Device, message, reads);
        }
        return (None, None);
    }
    if let Some((a, b, message, reads)) = clash(Device::on_gpu) {
        // If a parameter is on the CPU, the program has constructed its module there.
        let is_on_cpu = |t: &Tensor| t.parameter && t.device.is_some_and(Device::is_cpu);
        let assumed = gpu_assumption([a.1, b.1].iter().filter_map(|tensor| tensor.device));
        // A constructor runs before the module is moved.
        let in_new_module = assumed == MODULE_ON_GPU && cx.it.in_constructor();
        if may_assume_gpu(cx.it) && !is_on_cpu(a.1) && !is_on_cpu(b.1) && !in_new_module {
            // The device of a tensor that the current function creates does not depend on the
            // condition of an arm.
            let place = |t: &Tensor| t.device_at.filter(|_| t.device.is_some_and(Device::is_cpu));
            let made_here = cx.it.is_of_current_function(place(a.1).or(place(b.1)));
            // If another function has created the tensor on the CPU, the other tensor may be there, too.
            if !made_here && [a.1, b.1].iter().any(|tensor| tensor.device.is_some_and(is_of_tensor)) {
                return (None, None);
            }
            cx.report_if_independent(made_here, |cx| cx.reject_if(assumed, RejectKind::Device, message, reads));
        }
        return (None, None);
    }
    device_of(tensors, mix)
}

/// The device of the result of an operation whose tensors are compatible.
fn device_of(tensors: &[Named<'_>], mix: Mix) -> (Option<Device>, Origin) {
    let (device, at) = deciding(tensors, mix);
    // If the device of a tensor is only implied, the tensors may be on different devices. An
    // earlier call has then failed. A run that succeeds has all tensors on the device of the module.
    let is_implied = |t: &Tensor| t.device.is_some_and(|device| device.implied);
    let implied = tensors.iter().any(|(_, t)| t.array == ArrayKind::Torch && (has_open_device(t) || is_implied(t)));
    (device.map(|device| device.implied_if(implied && device.kind != DeviceKind::Module)), at)
}

/// Whether the device of a tensor is unknown or symbolic. (The device of a module does not count,
/// although it is not known, because [`common_device`] has checked it.)
pub(crate) fn has_open_device(tensor: &Tensor) -> bool {
    tensor.device.is_none_or(|device| matches!(device.kind, DeviceKind::Symbolic(_)))
}

fn deciding(tensors: &[Named<'_>], mix: Mix) -> (Option<Device>, Origin) {
    let known = |t: &Tensor| t.device.map(|d| (Some(d), t.device_at));
    let concrete = |d: Device| !matches!(d.kind, DeviceKind::Symbolic(_));
    // If a tensor is on a device other than the CPU, the result is on that device.
    let elsewhere = tensors.iter().find(|(_, t)| t.device.is_some_and(|d| !d.is_cpu() && concrete(d)));
    if let Some(found) = elsewhere.and_then(|(_, t)| known(t)) {
        return found;
    }
    // A tensor of unknown rank on a symbolic device may be the result of a rejected call. The
    // result here gets this device, so that no further errors follow.
    let refused = tensors.iter().find(|(_, t)| t.rank().is_none() && t.device.is_some_and(|d| !concrete(d)));
    if let Some(found) = refused.and_then(|(_, t)| known(t)) {
        return found;
    }
    // A tensor with dimensions determines the device.
    let decides = |t: &Tensor| mix == Mix::Strict || t.rank().is_some_and(|rank| rank > 0);
    if let Some(found) = tensors.iter().filter(|(_, t)| decides(t)).find_map(|(_, t)| known(t)) {
        return found;
    }
    let mut devices = tensors.iter().map(|(_, t)| t.device);
    match devices.next() {
        Some(first) if devices.all(|d| d == first) => tensors.first().and_then(|(_, t)| known(t)).unwrap_or_default(),
        _ => (None, None),
    }
}

/// Whether operations record gradients here; `None` if that is not known.
pub(crate) fn grad_mode(cx: &Cx<'_, '_>) -> Option<bool> {
    match cx.it.remembered(GRAD_MODE) {
        None => Some(true),
        Some(Value::Bool(on)) => Some(on),
        Some(_) => None,
    }
}

/// An input of an operation, with or without a name.
pub(crate) trait Input {
    fn tensor(&self) -> &Tensor;
}

impl Input for &Tensor {
    fn tensor(&self) -> &Tensor {
        self
    }
}

impl Input for Named<'_> {
    fn tensor(&self) -> &Tensor {
        self.1
    }
}

/// The gradient state of a differentiable operation's result.
pub(crate) fn result_grad<T: Input>(cx: &Cx<'_, '_>, inputs: &[T], dtype: Option<Dtype>) -> Grad {
    let mut inputs = inputs.iter().map(Input::tensor);
    // If the list is empty, nothing is known about the inputs.
    let known = inputs.len() > 0;
    if dtype.is_some_and(Dtype::is_integral) || known && inputs.clone().all(|t| t.grad == Grad::Off) {
        return Grad::Off;
    }
    match grad_mode(cx) {
        Some(false) => Grad::Off,
        // An input that requires grad is floating or complex. If the result's dtype is unknown
        // only because the dtype of this input is unknown, the result may require grad, too.
        Some(true) if inputs.any(|t| is_attached(t) && (dtype.is_some() || t.dtype.is_none())) => Grad::Attached,
        _ => Grad::Unknown,
    }
}

fn is_attached(tensor: &Tensor) -> bool {
    matches!(tensor.grad, Grad::Leaf | Grad::Attached)
}

/// The result of an elementwise operation: shape, dtype, device and gradient state.
pub(crate) fn elementwise(cx: &mut Cx<'_, '_>, tensors: &[Named<'_>], dtype: Option<Dtype>, mix: Mix) -> Tensor {
    let (device, device_at) = common_device(cx, tensors, mix);
    let (shape, shape_at) = common_shape(cx, tensors);
    // Tensors that require grad are floating or complex, and so is the promoted dtype.
    let promoted = tensors.iter().find(|(_, t)| is_attached(t)).and_then(|(_, t)| t.dtype);
    let grad = result_grad(cx, tensors, dtype.or(promoted));
    let array =
        if tensors.iter().any(|(_, t)| t.array == ArrayKind::Torch) { ArrayKind::Torch } else { ArrayKind::Numpy };
    let dtype_at = match tensors.iter().find(|(_, t)| t.dtype == dtype) {
        Some((_, t)) if dtype.is_some() => t.dtype_at,
        _ => cx.at(),
    };
    Tensor { array, shape, shape_at, dtype, dtype_at, device, device_at, grad, ..Tensor::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_on_the_cpu_go_with_any_device() {
        let on = |device, rank: usize| Tensor {
            device: Some(device),
            shape: Some(vec![Dim::int(2); rank]),
            ..Tensor::default()
        };
        let (cpu, cuda) = (Device::CPU, Device::CUDA);
        assert!(may_meet(&on(cpu, 0), &on(cuda, 2), Mix::CpuScalars, |device| device));
        assert!(!may_meet(&on(cpu, 0), &on(cuda, 2), Mix::Strict, |device| device));
        assert!(!may_meet(&on(cpu, 1), &on(cuda, 0), Mix::CpuScalars, |device| device));
        assert!(may_meet(
            &Tensor { device: Some(cpu), ..Tensor::default() },
            &on(cuda, 1),
            Mix::CpuScalars,
            |device| device
        ));
    }
}
