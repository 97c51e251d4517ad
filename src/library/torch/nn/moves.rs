//! Moves of modules to a device or dtype: by `to` and its relatives, and by unseen code.

use super::module::{Kind, MODULE, is_module, may_be_module, named_modules_of, own_tensors, registered, tensors_of};
use crate::library::torch::convert::converted;
use crate::library::torch::defaults::changes_default_device;
use crate::library::torch::factory::options;
use crate::library::{Cx, Table};
use crate::python::{Args, Bound, Interp};
use crate::syntax::Span;
use crate::value::{Data, Device, DeviceKind, Dtype, Grad, Instance, ObjId, Tensor, Topic, Type, Value, sym};

pub(crate) fn register(t: &mut Table) {
    let m = "torch.nn.Module.";
    t.def(
        &format!("{m}to"),
        "self, *args, device=None, dtype=None, non_blocking=False, copy=False, memory_format=None",
        to,
    );
    t.def(&format!("{m}cuda"), "self, device=None", cuda);
    t.def(&format!("{m}cpu"), "self", cpu);
    t.family(m, "float double half bfloat16", "self", floating);
    t.def(&format!("{m}type"), "self, dst_type", cast);
    t.def(&format!("{m}to_empty"), "self, *, device, recurse=True", cuda);
}

// Moves by the program.

/// A new device, dtype or both. `None`: the old one stays. `Some(None)`: the new one is unknown.
#[derive(Clone, Copy, Default)]
struct Move {
    device: Option<Option<Device>>,
    dtype: Option<Option<Dtype>>,
    cast: Cast,
}

/// Which tensors of a module get a new dtype.
#[derive(Clone, Copy, Default)]
enum Cast {
    /// `module.float()` and its relatives.
    Floating,
    /// `module.to(dtype)`
    #[default]
    FloatingAndComplex,
    /// `module.type(dtype)`
    All,
}

impl Move {
    /// The new dtype of a tensor.
    fn dtype_of(self, tensor: &Tensor) -> Option<Option<Dtype>> {
        let to = self.dtype?;
        match (self.cast, tensor.dtype) {
            (Cast::All, _) => Some(to),
            (Cast::Floating, Some(dtype)) => dtype.is_floating().then_some(to),
            (Cast::FloatingAndComplex, Some(dtype)) => (dtype.is_floating() || dtype.is_complex()).then_some(to),
            (_, None) => Some(None),
        }
    }
}

/// A note of a module that the program moved to the CPU.
const ON_CPU: Topic = Topic::new("moved to the CPU");

/// Whether the program moved a module to the CPU, and unseen code has not moved it since.
pub(super) fn stays_on_cpu(it: &Interp<'_>, object: &Value) -> bool {
    object.as_obj().and_then(|id| it.heap.note(id, ON_CPU)).and_then(|on_cpu| on_cpu.as_bool()) == Some(true)
}

/// Moves the tensors of a module. The program's references to a parameter see the move, because
/// `Module._apply` replaces the data of the parameter; a buffer is replaced by another tensor.
fn move_tensors(cx: &mut Cx<'_, '_>, object: &Value, to: Move) {
    let at = cx.at();
    for (_, module) in named_modules_of(cx, object).found {
        let Some(owner) = module.as_obj() else { continue };
        for (name, buffer) in own_tensors(cx, &module, Kind::Buffers).found {
            let dtype = cx.tensor(&buffer).and_then(|tensor| to.dtype_of(&tensor));
            let moved = converted(cx, &buffer, dtype, to.device, Some(false));
            cx.it.heap.set_attr(owner, &name, moved);
        }
    }
    for (_, parameter) in tensors_of(cx, object, Kind::Parameters, true).found {
        let Some(id) = parameter.as_obj() else { continue };
        cx.it.heap.update_tensor(id, |t| {
            if let Some(dtype) = to.dtype_of(t) {
                (t.dtype, t.dtype_at) = (dtype, at);
            }
            if let Some(device) = to.device {
                (t.device, t.device_at) = (device, at);
            }
        });
    }
}

/// Moves a module to a device (`None`: an unknown one).
pub(crate) fn move_to(cx: &mut Cx<'_, '_>, object: &Value, device: Option<Device>) {
    apply(cx, object, Move { device: Some(device), ..Move::default() });
}

fn apply(cx: &mut Cx<'_, '_>, object: &Value, to: Move) {
    if let (Some(id), Some(device)) = (object.as_obj(), to.device) {
        cx.it.heap.set_note(id, ON_CPU, Value::Bool(device == Some(Device::CPU)));
    }
    move_tensors(cx, object, to);
    // If the program defines `_apply`, that method may move other attributes, too. The function
    // that it gets from PyTorch is unknown here.
    let span = cx.span;
    for (_, module) in named_modules_of(cx, object).found {
        if let Some(apply) = cx.it.user_method(&module, "_apply") {
            cx.call(&apply, Args::positional([module, Value::Unknown], span));
        }
    }
}

/// The target of `.to(…)`: a device, a dtype, both, or those of another tensor.
fn to(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let (mut device, mut dtype) = (None, None);
    for value in b.rest_values() {
        match &value {
            Value::Dtype(d) => dtype = Some(Some(*d)),
            Value::Device(_) | Value::Str(_) | Value::Int(_) => device = options::device(cx, &value),
            Value::Bool(_) | Value::None => {}
            other => match cx.tensor(other) {
                Some(like) => {
                    device = Some(like.device);
                    dtype = Some(like.dtype);
                }
                // The unknown value may be a device or a dtype.
                None => {
                    device = Some(None);
                    dtype = Some(None);
                }
            },
        }
    }
    if b.given("device") {
        device = options::device(cx, &b.get("device")).or(device);
    }
    if b.given("dtype") {
        dtype = cx.dtype_arg(&b.get("dtype")).or(dtype);
    }
    if b.open {
        (device, dtype) = (Some(None), Some(None));
    }
    apply(cx, &object, Move { device, dtype, cast: Cast::FloatingAndComplex });
    object
}

fn cuda(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let device = cx.device_arg(&b.get("device")).flatten().unwrap_or(Device::CUDA);
    move_to(cx, &object, Some(device));
    object
}

fn cpu(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    move_to(cx, &object, Some(Device::CPU));
    object
}

fn floating(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let dtype = Dtype::parse(cx.name());
    apply(cx, &object, Move { dtype: Some(dtype), cast: Cast::Floating, ..Move::default() });
    object
}

/// `module.type(…)`: a dtype, or a tensor type, which also determines the device.
fn cast(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let to = b.get("dst_type");
    let named = to.as_path().or(to.as_str()).and_then(crate::library::torch::convert::legacy_type);
    let (dtype, device) = match named {
        Some((dtype, device)) => (Some(dtype), Some(Some(device))),
        None => match to {
            Value::Dtype(dtype) => (Some(dtype), None),
            _ => (None, Some(None)),
        },
    };
    apply(cx, &object, Move { device, dtype: Some(dtype), cast: Cast::All });
    object
}

// Moves by unseen code.

/// Handles a module that escapes to unseen code: the device, dtype and gradient state of its
/// parameters and buffers become unknown.
pub(crate) fn escaped(it: &mut Interp<'_>, object: &Value) {
    if !may_be_module(it, object) {
        return;
    }
    super::containers::escaped(it, object);
    fill_empty_parts(it, object);
    forget_registered(it, object);
}

/// Empty containers among the parts of a module are assumed to be placeholders that other code fills.
fn fill_empty_parts(it: &mut Interp<'_>, object: &Value) {
    let span = Span { file: it.root, start: 0, end: 0 };
    let cx = &mut Cx { it, path: sym(MODULE), span };
    for (_, module) in named_modules_of(cx, object).found {
        if super::containers::contents(cx.it, &module).is_some_and(|contents| contents.found.is_empty()) {
            super::containers::escaped(cx.it, &module);
        }
    }
}

/// Handles a module that may have been moved: its parameters and buffers may be on any device.
pub(super) fn perhaps_moved(cx: &mut Cx<'_, '_>, module: &Value) {
    for id in registered(cx, module) {
        cx.it.heap.update_tensor(id, |t| (t.device, t.device_at) = (None, None));
    }
}

pub(super) fn forget_registered(it: &mut Interp<'_>, object: &Value) {
    let span = Span { file: it.root, start: 0, end: 0 };
    let cx = &mut Cx { it, path: sym(MODULE), span };
    for id in registered(cx, object) {
        let is_forgotten = |t: &Tensor| t.device.is_none() && t.dtype.is_none() && t.grad == Grad::Unknown;
        if cx.it.heap.tensor_ref(&Value::Obj(id)).is_some_and(is_forgotten) {
            continue;
        }
        cx.it.heap.update_tensor(id, |t| {
            t.device = None;
            t.device_at = None;
            t.dtype = None;
            t.dtype_at = None;
            t.grad = Grad::Unknown;
        });
    }
}

/// The methods that change the tensors of a module in place.
const MOVING: &[&str] =
    &["to", "cuda", "cpu", "xpu", "float", "double", "half", "bfloat16", "type", "to_empty", "requires_grad_", "apply"];

/// Handles a call of `method` on an object that may be a module.
pub(crate) fn unseen_method(it: &mut Interp<'_>, object: ObjId, method: &str) {
    if MOVING.contains(&method) {
        unseen(it, object);
    }
}

/// Handles a module that was passed to unseen code, which may have moved, frozen or extended it, or
/// switched its mode.
pub(crate) fn unseen(it: &mut Interp<'_>, object: ObjId) {
    let object = &Value::Obj(object);
    if !may_be_module(it, object) {
        return;
    }
    forget_registered(it, object);
    if let Some(id) = object.as_obj().filter(|_| stays_on_cpu(it, object)) {
        it.heap.set_note(id, ON_CPU, Value::Any(Type::Bool));
    }
    let span = Span { file: it.root, start: 0, end: 0 };
    let cx = &mut Cx { it, path: sym(MODULE), span };
    for (_, module) in named_modules_of(cx, object).found {
        // A loop may pass the same modules to unseen code many times.
        let is_unknown = |instance: &Instance| {
            instance.open && matches!(instance.attrs.get(&sym("training")), Some(Value::Unknown | Value::Any(_)))
        };
        if let Some(id) = module.as_obj()
            && !cx.it.heap.instance_of(&module).is_some_and(is_unknown)
            && let Some(instance) = cx.it.heap.instance_mut(id)
        {
            instance.open = true;
            // `set_attr` also changes the objects that may be this one. This would be slow for each part of
            // a model.
            if object.as_obj() == Some(id) {
                cx.it.heap.set_attr(id, "training", Value::Any(Type::Bool));
            } else {
                cx.it.heap.set_own_attr(id, "training", Value::Any(Type::Bool));
            }
        }
    }
    fill_empty_parts(it, object);
}

/// Texts that show that a program moves modules to a GPU.
const MOVERS: &[&str] = &[".cuda(", "'cuda", "\"cuda", "Trainer", "ccelerat", "abric", "deepspeed", "DataParallel"];
/// Texts that show this only if the program also mentions GPUs. Otherwise, they are assumed to
/// select the CPU or a dtype.
const PERHAPS_MOVERS: &[&str] = &[".to(", "device"];
/// Texts that show that a program mentions GPUs.
const GPUS: &[&str] = &["cuda", "gpu", "GPU", "mps", "xpu", "xla"];

/// Whether the analysis of a module's methods without a caller assumes that the module may be on a
/// GPU. It does not assume this if the program changes the default device somewhere, if the program
/// constructs the module and shows no move to a GPU, or if the module has a method that moves the
/// module.
pub(crate) fn may_be_moved(it: &Interp<'_>, object: &Value) -> bool {
    if !is_module(it, object) || changes_default_device(it) {
        return false;
    }
    let Some(id) = it.heap.instance_of(object).and_then(|instance| instance.class.as_obj()) else { return true };
    let Data::Class(class) = it.heap.get(id) else { return true };
    // A module without parameters that calls `numpy()` is meant for the CPU.
    let has_tensors = it.heap.instance_of(object).is_none_or(|instance| {
        instance.attrs.iter().any(|(name, value)| {
            let may_be_module = value.is_unknown() && it.classes_call(object, &[name.as_str()]);
            may_be_module || it.heap.is_tensor(value) || is_module(it, value)
        })
    });
    if !has_tensors && it.classes_call(object, &["numpy"]) {
        return false;
    }
    // A method that moves the module may also move what is not registered.
    if it.calls_on_itself(id, &["cuda", "to"]) {
        return false;
    }
    let mentions = |texts: &[&'static str]| texts.iter().any(|text| it.mentions(text));
    !it.calls_name(class.name) || mentions(MOVERS) || mentions(PERHAPS_MOVERS) && mentions(GPUS)
}

/// Handles a module whose methods are analysed without a caller. If [`may_be_moved`] holds, its
/// parameters and buffers are assumed to be on one unknown device, that of the module, unless the
/// constructor moves them to the CPU.
pub(crate) fn moved(it: &mut Interp<'_>, object: &Value) {
    if stays_on_cpu(it, object) || !may_be_moved(it, object) {
        return;
    }
    let span = Span { file: it.root, start: 0, end: 0 };
    let cx = &mut Cx { it, path: sym(MODULE), span };
    let device = Device::of(DeviceKind::Module);
    for id in registered(cx, object) {
        cx.it.heap.update_tensor(id, |t| t.device = Some(device));
    }
}
