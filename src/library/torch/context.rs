//! Context managers: gradient modes, autocast, default devices.
//!
//! The current settings are notes of the run (`library/notes.rs`). The notes of a manager hold the
//! setting inside its block, and the previous settings. At the end of the block, the previous
//! setting is restored.

use crate::library::notes::{AUTOCAST, DEFAULT_DEVICE, DEVICES_BEFORE, GRAD_MODE};
use crate::library::{Class, Cx, Table};
use crate::python::{Args, Bound, Interp, RejectKind, Rejection};
use crate::syntax::Span;
use crate::value::{Device, DeviceKind, Dtype, ObjId, Topic, Value};

/// The settings that managers change (except for the default device). Each is a pair of topics: the
/// note of the run with the current value, and the note of a manager with the value inside its
/// block.
const SETS: [(Topic, Topic); 2] = [(GRAD_MODE, Topic::new("sets grad mode")), (AUTOCAST, Topic::new("sets autocast"))];
/// A note of a manager with the previous settings: a tuple with one value for each time the
/// manager was entered.
const BEFORE: Topic = Topic::new("set before");
/// A note of a `set_grad_enabled` whose block was entered. The mode was already set before, by the
/// constructor.
const ENTERED: Topic = Topic::new("entered already");

/// Managers with an `__enter__` that returns the manager itself; most other managers return `None`.
const SELF_GIVING: &[&str] = &[
    "torch.autocast",
    "torch.cuda.amp.autocast",
    "torch.cpu.amp.autocast",
    "torch.profiler.profile",
    "torch.profiler.record_function",
    "torch.autograd.profiler.profile",
    "torch.autograd.profiler.record_function",
    "torch.utils.hooks.RemovableHandle",
];

fn manager(class: &mut Class) {
    class.keeps_arguments = false;
    class.init = Some(construct);
    class.invoke = Some(decorate);
}

/// Classes of managers that users often write without a call: `with torch.no_grad:`.
const MANAGERS: &[&str] = &["torch.no_grad", "torch.enable_grad", "torch.inference_mode"];

pub(crate) fn register(t: &mut Table) {
    for path in
        ["torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.set_grad_enabled", "torch.autocast"]
    {
        manager(t.listed_class(path, &[]));
    }
    // These classes are not `listed`: the defaults of their `dtype` are not literals.
    for path in ["torch.cuda.amp.autocast", "torch.cpu.amp.autocast"] {
        manager(t.class(path, &[], "enabled=True, dtype=None, cache_enabled=True"));
    }
    // It enables gradients only for `differentiable=True`.
    t.alias("torch.optim.optimizer._use_grad_for_differentiable", "torch.no_grad");
    for name in ["no_grad", "enable_grad", "inference_mode", "set_grad_enabled"] {
        t.alias(&format!("torch.autograd.{name}"), &format!("torch.{name}"));
        t.alias(&format!("torch.autograd.grad_mode.{name}"), &format!("torch.{name}"));
    }
    t.alias("torch.amp.autocast", "torch.autocast");
    t.alias("torch.amp.autocast_mode.autocast", "torch.autocast");
    t.alias("torch.cuda.amp.autocast_mode.autocast", "torch.cuda.amp.autocast");
    for path in [
        "torch.cuda.device",
        "torch.cuda.stream",
        "torch.cuda.Stream",
        "torch.cuda.Event",
        "torch.cuda.graph",
        "torch.cuda.CUDAGraph",
        "torch.profiler.profile",
        "torch.profiler.record_function",
        "torch.autograd.profiler.profile",
        "torch.autograd.profiler.record_function",
        "torch.autograd.profiler.emit_nvtx",
        "torch.autograd.detect_anomaly",
        "torch.random.fork_rng",
        "torch.backends.cuda.sdp_kernel",
        "torch.nn.attention.sdpa_kernel",
        "torch.backends.cudnn.flags",
        "torch.autograd.graph.save_on_cpu",
        "torch.nn.utils.parametrize.cached",
    ] {
        let class = t.class(path, &[], "*args, **kwargs");
        class.keeps_arguments = false;
        class.invoke = Some(decorate);
    }
    let class = t.listed_class("torch.autograd.set_detect_anomaly", &[]);
    class.keeps_arguments = false;
    class.invoke = Some(decorate);
    t.alias("torch.autograd.anomaly_mode.set_detect_anomaly", "torch.autograd.set_detect_anomaly");
    t.def("torchvet.inside", "manager, function, *args, **kwargs", inside);
    // In the default run, the program is not traced or exported.
    t.family(
        "",
        "torch.jit.is_tracing torch.jit.is_scripting torch.onnx.is_in_onnx_export torchvision._is_tracing",
        "",
        |_, _| Value::Bool(false),
    );
    t.listed("torch.", "is_grad_enabled", |cx, _| cx.it.remembered(GRAD_MODE).unwrap_or(Value::Bool(true)));
    t.listed("torch.", "is_inference_mode_enabled", |_, _| Value::Any(crate::value::Type::Bool));
    t.def("torch.is_autocast_enabled", "device_type=None", |_, _| Value::Any(crate::value::Type::Bool));
}

fn set(cx: &mut Cx<'_, '_>, object: ObjId, topic: Topic, to: Value) {
    if let Some((_, sets)) = SETS.iter().find(|(what, _)| *what == topic) {
        cx.it.heap.set_note(object, *sets, to);
    }
}

/// The setting that a manager changes, and the value in its block.
fn sets(it: &Interp<'_>, object: ObjId) -> Option<(Topic, Value)> {
    SETS.iter().find_map(|(what, sets)| Some((*what, it.heap.note(object, *sets)?)))
}

/// The previous settings of a manager, one for each time it was entered.
fn before(it: &Interp<'_>, object: ObjId) -> Vec<Value> {
    it.heap.note(object, BEFORE).and_then(|all| it.heap.exact_items(&all)).unwrap_or_default()
}

fn construct(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    match cx.name() {
        "no_grad" => set(cx, object, GRAD_MODE, Value::Bool(false)),
        "enable_grad" => set(cx, object, GRAD_MODE, Value::Bool(true)),
        // `inference_mode(False)` enables gradients, even inside `no_grad()`.
        "inference_mode" => {
            let mode = b.get("mode").as_bool().map_or(Value::Unknown, |mode| Value::Bool(!mode));
            set(cx, object, GRAD_MODE, mode);
        }
        "set_grad_enabled" => {
            let mode = match b.get("mode").as_bool() {
                Some(mode) => Value::Bool(mode),
                None => Value::Unknown,
            };
            // `set_grad_enabled` also works as a plain call; as a manager, it restores the previous
            // mode at the end of the block.
            let before = cx.it.remembered(GRAD_MODE).unwrap_or(Value::Bool(true));
            cx.it.heap.set_note(object, BEFORE, Value::tuple(vec![before]));
            cx.it.remember(GRAD_MODE, mode.clone());
            set(cx, object, GRAD_MODE, mode);
        }
        _ => {
            let to = autocast(cx, b);
            set(cx, object, AUTOCAST, to);
        }
    }
}

/// The setting of an autocast manager: the device type, and the dtype to which floating tensors are
/// cast; for `enabled=False`, `None` instead of the dtype.
fn autocast(cx: &Cx<'_, '_>, b: &Bound) -> Value {
    let device = match cx.path.as_str() {
        "torch.cuda.amp.autocast" => Some(Device::CUDA),
        "torch.cpu.amp.autocast" => Some(Device::CPU),
        _ => match b.get("device_type") {
            Value::Str(name) => Device::parse(&name),
            _ => None,
        },
    };
    match b.get("enabled").as_bool() {
        Some(false) => return Value::tuple(vec![device.map_or(Value::Unknown, Value::Device), Value::None]),
        Some(true) => {}
        None => return Value::Unknown,
    }
    let Some(device) = device else { return Value::Unknown };
    let dtype = match (b.get("dtype"), device.kind) {
        (Value::Dtype(d), _) => Value::Dtype(d),
        (Value::None, DeviceKind::Cuda) => Value::Dtype(Dtype::Float16),
        (Value::None, DeviceKind::Cpu) => Value::Dtype(Dtype::Bfloat16),
        _ => Value::Unknown,
    };
    Value::tuple(vec![Value::Device(device), dtype])
}

/// `torch.no_grad()(f)`: a call of the result runs `f` inside the block of the manager. The result
/// is modelled as a partial of `torchvet.inside`.
fn decorate(_: &mut Cx<'_, '_>, object: &Value, args: Args) -> Option<Value> {
    let function = args.pos.first()?.value.clone();
    Some(Value::Partial(std::rc::Rc::new(crate::value::Partial {
        func: Value::path("torchvet.inside"),
        args: vec![object.clone(), function],
        kwargs: Vec::new(),
    })))
}

/// Calls a function inside the block of a manager.
fn inside(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (manager, function, span) = (b.get("manager"), b.get("function"), cx.span);
    let args = Args { pos: b.rest.clone(), kw: b.extra.clone(), more_pos: b.open, more_kw: b.open, star: None };
    enter(cx.it, &manager, span);
    let value = cx.it.call(&function, args, span);
    exit(cx.it, &manager);
    value
}

/// Whether an object is an instance of a PyTorch class or of a subclass.
fn is_manager(it: &Interp<'_>, object: &Value) -> bool {
    let classes = it.mro_of(object);
    classes.iter().filter_map(Value::as_path).any(|path| path.starts_with("torch."))
}

pub(crate) fn enter(it: &mut Interp<'_>, object: &Value, span: Span) -> Option<Value> {
    if let Value::Path(path) = object
        && MANAGERS.contains(&path.as_str())
    {
        let message = format!("`{path}` is a class: write `with {path}():`");
        it.reject(
            Rejection {
                kind: RejectKind::Arguments,
                message,
                reads: Vec::new(),
                span,
                assumed: None,
                of_python: false,
            },
            span,
        );
        return Some(it.raise("TypeError"));
    }
    if let Value::Device(device) = object {
        // `with torch.device("cuda"):` has no object to store the previous setting, so a separate
        // list stores it.
        let before = it.remembered(DEFAULT_DEVICE).unwrap_or(Value::Device(Device::CPU));
        let stack = it.remembered(DEVICES_BEFORE).unwrap_or(Value::tuple(Vec::new()));
        let mut all = it.heap.exact_items(&stack).unwrap_or_default();
        all.push(before);
        it.remember(DEVICES_BEFORE, Value::tuple(all));
        it.remember(DEFAULT_DEVICE, Value::Device(*device));
        return Some(object.clone());
    }
    let id = object.as_obj()?;
    if !is_manager(it, object) || it.user_method(object, "__enter__").is_some() {
        return None;
    }
    if let Some((topic, to)) = sets(it, id) {
        let now = it.remembered(topic).unwrap_or_else(|| initial(topic));
        let mut stack = before(it, id);
        let already = stack.len() == 1
            && it.heap.instance_of(object).is_some_and(|i| i.class.as_path() == Some("torch.set_grad_enabled"))
            && it.heap.note(id, ENTERED).is_none();
        if already {
            it.heap.set_note(id, ENTERED, Value::Bool(true));
        } else {
            stack.push(now.clone());
            it.heap.set_note(id, BEFORE, Value::tuple(stack));
        }
        let to = if topic == AUTOCAST { nested(&now, to) } else { to };
        it.remember(topic, to);
    }
    Some(given(it, object))
}

/// The managers whose `__enter__` returns `None`.
const GIVING_NOTHING: &[&str] = &[
    "torch.no_grad",
    "torch.enable_grad",
    "torch.set_grad_enabled",
    "torch.inference_mode",
    "torch.autograd.detect_anomaly",
    "torch.autograd.set_detect_anomaly",
    "torch.cuda.device",
];

/// The result of a manager's `__enter__`.
fn given(it: &Interp<'_>, object: &Value) -> Value {
    let is = |classes: &[&str]| classes.iter().any(|class| it.is_instance(object, class));
    if is(SELF_GIVING) {
        object.clone()
    } else if is(GIVING_NOTHING) {
        Value::None
    } else {
        Value::Unknown
    }
}

/// The state of autocast after a manager with the setting `to` is entered. The state has only one
/// device type, so it becomes unknown if autocast is enabled for a second one.
fn nested(now: &Value, to: Value) -> Value {
    let parts = |state: &Value| match state {
        Value::Tuple(parts) => match &**parts {
            [Value::Device(device), dtype] => Some((Some(device.kind), dtype.is_none())),
            [_, dtype] => Some((None, dtype.is_none())),
            _ => None,
        },
        _ => None,
    };
    let Some((kind, disabled)) = parts(&to) else { return to };
    let entered = if disabled { Value::None } else { to };
    match (now, parts(now)) {
        (Value::None, _) => entered,
        (_, Some((Some(on), _))) if Some(on) == kind => entered,
        (_, Some((Some(_), _))) if disabled && kind.is_some() => now.clone(),
        _ => Value::Unknown,
    }
}

fn initial(topic: Topic) -> Value {
    if topic == GRAD_MODE { Value::Bool(true) } else { Value::None }
}

pub(crate) fn exit(it: &mut Interp<'_>, object: &Value) {
    if let Value::Device(_) = object {
        let stack = it.remembered(DEVICES_BEFORE).unwrap_or(Value::Unknown);
        let mut all = it.heap.exact_items(&stack).unwrap_or_default();
        let before = all.pop().unwrap_or(Value::Unknown);
        it.remember(DEVICES_BEFORE, Value::tuple(all));
        it.remember(DEFAULT_DEVICE, before);
        return;
    }
    let Some(id) = object.as_obj() else { return };
    super::nn::hooks::remove(it, object);
    let Some((topic, _)) = sets(it, id) else { return };
    let mut stack = before(it, id);
    let before = stack.pop().unwrap_or(Value::Unknown);
    it.heap.set_note(id, BEFORE, Value::tuple(stack));
    it.remember(topic, before);
}
