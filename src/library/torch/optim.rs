//! Optimizers, which change parameters; learning-rate schedulers; gradient scalers.

use super::nn::module::is_module;
use crate::library::notes::PARAMETERS;
use crate::library::refusal::excludes_newest;
use crate::library::{Cx, Table, signatures};
use crate::python::{Args, Bound, RejectKind, Rejection, unknown_argument};
use crate::value::{Dict, Grad, ObjId, Sym, Tensor, Topic, Value};

const OPTIMIZERS: &[(&str, &str)] = &[
    ("SGD", "params, lr=0.001, momentum=0, dampening=0, weight_decay=0, nesterov=False, **kwargs"),
    ("Adam", "params, lr=0.001, betas=..., eps=1e-08, weight_decay=0, amsgrad=False, **kwargs"),
    ("AdamW", "params, lr=0.001, betas=..., eps=1e-08, weight_decay=0.01, amsgrad=False, **kwargs"),
    ("Adadelta", "params, lr=1.0, rho=0.9, eps=1e-06, weight_decay=0, **kwargs"),
    ("Adagrad", "params, lr=0.01, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, **kwargs"),
    ("Adamax", "params, lr=0.002, betas=..., eps=1e-08, weight_decay=0, **kwargs"),
    ("NAdam", "params, lr=0.002, betas=..., eps=1e-08, weight_decay=0, momentum_decay=0.004, **kwargs"),
    ("RAdam", "params, lr=0.001, betas=..., eps=1e-08, weight_decay=0, **kwargs"),
    ("RMSprop", "params, lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0, momentum=0, centered=False, **kwargs"),
    ("Rprop", "params, lr=0.01, etas=..., step_sizes=..., **kwargs"),
    ("ASGD", "params, lr=0.01, lambd=0.0001, alpha=0.75, t0=1000000.0, weight_decay=0, **kwargs"),
    ("LBFGS", "params, lr=1, max_iter=20, max_eval=None, **kwargs"),
    ("SparseAdam", "params, lr=0.001, betas=..., eps=1e-08, **kwargs"),
    ("Adafactor", "params, lr=0.01, **kwargs"),
    ("Muon", "params, lr=0.001, **kwargs"),
];

/// Modules over which one can iterate, but not over their parameters.
const ITERABLE: &[&str] =
    &["torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict", "torch.nn.ParameterDict"];

const SCHEDULERS: &[(&str, &str)] = &[
    ("LambdaLR", "optimizer, lr_lambda, last_epoch=-1, **kwargs"),
    ("MultiplicativeLR", "optimizer, lr_lambda, last_epoch=-1, **kwargs"),
    ("StepLR", "optimizer, step_size, gamma=0.1, last_epoch=-1, **kwargs"),
    ("MultiStepLR", "optimizer, milestones, gamma=0.1, last_epoch=-1, **kwargs"),
    ("ConstantLR", "optimizer, factor=0.333, total_iters=5, last_epoch=-1, **kwargs"),
    ("LinearLR", "optimizer, start_factor=0.333, end_factor=1.0, total_iters=5, last_epoch=-1, **kwargs"),
    ("ExponentialLR", "optimizer, gamma, last_epoch=-1, **kwargs"),
    ("PolynomialLR", "optimizer, total_iters=5, power=1.0, last_epoch=-1, **kwargs"),
    ("CosineAnnealingLR", "optimizer, T_max, eta_min=0.0, last_epoch=-1, **kwargs"),
    ("CosineAnnealingWarmRestarts", "optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1, **kwargs"),
    ("CyclicLR", "optimizer, base_lr, max_lr, **kwargs"),
    ("OneCycleLR", "optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, **kwargs"),
    ("ReduceLROnPlateau", "optimizer, mode='min', factor=0.1, patience=10, **kwargs"),
    ("SequentialLR", "optimizer, schedulers, milestones, last_epoch=-1, **kwargs"),
    ("ChainedScheduler", "schedulers, optimizer=None"),
];

pub(crate) fn register(t: &mut Table) {
    let base = "torch.optim.Optimizer";
    let class = t.class(base, &[], "params, defaults=None");
    class.keeps_arguments = false;
    class.init = Some(optimizer);
    class.attribute = Some(groups);
    t.def(&format!("{base}.step"), "self, closure=None", step);
    t.family(&format!("{base}."), "zero_grad", "self, set_to_none=True", |cx, b| {
        super::attributes::gradients_cleared(cx, &b.get("set_to_none"));
        Value::None
    });
    t.def(&format!("{base}.state_dict"), "self", open_dict);
    t.def(&format!("{base}.load_state_dict"), "self, state_dict", |cx, b| {
        keep_initial_rates(cx, &b.get("self"), Value::Unknown);
        Value::None
    });
    t.def(&format!("{base}.add_param_group"), "self, param_group", |_, _| Value::None);
    for (name, sig) in OPTIMIZERS {
        let class = t.class(&format!("torch.optim.{name}"), &[base], sig);
        class.keeps_arguments = false;
        class.init = Some(optimizer);
        for module in [name.to_lowercase(), "optimizer".to_owned()] {
            t.alias(&format!("torch.optim.{module}.{name}"), &format!("torch.optim.{name}"));
        }
    }
    t.alias("torch.optim.optimizer.Optimizer", base);
    let s = "torch.optim.lr_scheduler.";
    let base = "torch.optim.lr_scheduler.LRScheduler";
    t.class(base, &[], "optimizer, last_epoch=-1, **kwargs");
    t.alias("torch.optim.lr_scheduler._LRScheduler", base);
    t.def(&format!("{base}.step"), "self, *args, **kwargs", |_, _| Value::None);
    t.def(&format!("{base}.get_last_lr"), "self", |cx, _| cx.list_of(Value::Any(crate::value::Type::Float)));
    t.def(&format!("{base}.get_lr"), "self", |cx, _| cx.list_of(Value::Any(crate::value::Type::Float)));
    t.def(&format!("{base}.state_dict"), "self", open_dict);
    t.def(&format!("{base}.load_state_dict"), "self, state_dict", |_, _| Value::None);
    t.def(&format!("{s}ReduceLROnPlateau.step"), "self, metrics=..., epoch=None", plateau_step);
    for (name, sig) in SCHEDULERS {
        t.class(&format!("{s}{name}"), &[base], sig).init = Some(|cx, _, b| scheduler(cx, b));
    }
    for path in ["torch.amp.GradScaler", "torch.cuda.amp.GradScaler", "torch.cpu.amp.GradScaler"] {
        t.class(path, &[], "*args, **kwargs").keeps_arguments = false;
        let m = |name: &str| format!("{path}.{name}");
        t.def(&m("scale"), "self, outputs", scale);
        t.def(&m("step"), "self, optimizer, *args, **kwargs", scaled_step);
        t.def(&m("unscale_"), "self, optimizer", |_, _| Value::None);
        t.def(&m("update"), "self, new_scale=None", |_, _| Value::None);
        t.def(&m("get_scale"), "self", |_, _| Value::Any(crate::value::Type::Float));
        t.def(&m("is_enabled"), "self", |_, _| Value::Any(crate::value::Type::Bool));
        t.def(&m("state_dict"), "self", open_dict);
        t.def(&m("load_state_dict"), "self, state_dict", |_, _| Value::None);
    }
    t.alias("torch.GradScaler", "torch.amp.GradScaler");
    t.alias("torch.amp.grad_scaler.GradScaler", "torch.amp.GradScaler");
    t.alias("torch.cuda.amp.grad_scaler.GradScaler", "torch.cuda.amp.GradScaler");
    let class = t.listed_class("torch.optim.swa_utils.AveragedModel", &["torch.nn.Module"]);
    class.keeps_arguments = false;
    class.init = Some(averaged);
    t.def("torch.optim.swa_utils.AveragedModel.forward", "self, *args, **kwargs", |cx, b| {
        let model = cx.attr(&b.get("self"), "module");
        super::nn::module::call_wrapped(cx, &model, b.rest.clone(), b.extra.clone())
    });
    t.def("torch.optim.swa_utils.AveragedModel.update_parameters", "self, model", |_, _| Value::None);
}

/// Reports keyword arguments that the class does not take. The object is created nevertheless,
/// because older versions of PyTorch took more arguments (`verbose=True`).
fn check_names(cx: &mut Cx<'_, '_>, b: &Bound) {
    let sigs = signatures::of(cx.path.as_str());
    let params = || sigs.iter().flat_map(|sig| &sig.params).map(|param| param.name.as_str());
    if sigs.is_empty() || sigs.iter().any(|sig| sig.double_star) {
        return;
    }
    for (name, _) in &b.extra {
        if params().all(|param| param != name.as_str()) && !excludes_newest(cx.it) {
            let (wrong, _) = unknown_argument(cx.name(), name.as_str(), params());
            let assumed = Some("with the newest PyTorch");
            let rejection = Rejection { assumed, of_python: false, ..cx.it.rejection_of(wrong, cx.span) };
            cx.it.suspect(rejection);
        }
    }
}

/// Whether the groups of an optimizer have the `initial_lr` that a scheduler stores or needs.
const HAS_INITIAL_RATES: Topic = Topic::new("has initial learning rates");

fn keep_initial_rates(cx: &mut Cx<'_, '_>, optimizer: &Value, known: Value) {
    if let Some(id) = optimizer.as_obj() {
        cx.it.remember(HAS_INITIAL_RATES.of(id), known);
    }
}

/// A new scheduler stores `initial_lr` in the groups of the optimizer. If `last_epoch` says that training
/// is resumed, the groups must already contain it.
fn scheduler(cx: &mut Cx<'_, '_>, b: &Bound) {
    check_names(cx, b);
    let optimizer = b.get("optimizer");
    let extra = b.extra.iter().find(|(name, _)| name.as_str() == "last_epoch");
    let last_epoch = extra.map_or_else(|| b.get("last_epoch"), |(_, arg)| arg.value.clone());
    let known = optimizer.as_obj().and_then(|id| cx.it.remembered(HAS_INITIAL_RATES.of(id)));
    if let (Some(0..), Some(Value::Bool(false))) = (last_epoch.as_int(), known)
        && !cx.it.mentions("initial_lr")
    {
        let message = "`last_epoch` is the last epoch of the training that is resumed, so the optimizer must have \
                       the initial learning rates: leave `last_epoch` out for a new optimizer";
        cx.reject(RejectKind::Value, message, Vec::new());
    }
    keep_initial_rates(cx, &optimizer, Value::Bool(true));
}

fn open_dict(cx: &mut Cx<'_, '_>, _: &Bound) -> Value {
    cx.it.heap.dict(Dict { open: Some(Value::Unknown), ..Dict::default() })
}

/// Rejects strings in place of numbers. Stores the parameters as a list, because they are often
/// passed as an iterator, which is exhausted afterwards.
fn optimizer(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    check_names(cx, b);
    for name in ["lr", "weight_decay", "momentum"] {
        let given = b.get(name);
        if given.is_text() {
            let shown = given.as_str().map_or_else(|| "a string".to_owned(), |text| format!("the string {text:?}"));
            let yaml = if given.as_str().is_some_and(|t| t.contains(['e', 'E'])) {
                " (PyYAML reads `1e-3` as a string: write `1.0e-3`)"
            } else {
                ""
            };
            cx.reject(RejectKind::Value, format!("{name} is {shown}, but must be a number{yaml}"), Vec::new());
            break;
        }
    }
    let params = b.get("params");
    // Iteration over these modules gives their parts or names.
    let is_iterable =
        |class: &&&str| cx.it.is_instance(&params, class) && cx.it.user_method(&params, "__iter__").is_none();
    if let Some(class) = ITERABLE.iter().find(is_iterable) {
        let class = class.trim_start_matches("torch.");
        let message = format!("`params` must be parameters, but it is an `{class}`: pass its `parameters()`");
        cx.reject(RejectKind::Value, message, Vec::new());
    }
    let kept = match params.is_unknown() || is_module(cx.it, &params) {
        true => Value::Unknown,
        false => {
            let span = cx.span;
            let items = cx.it.iterate(&params, span);
            Value::Obj(cx.it.heap.alloc(crate::value::Data::List(items)))
        }
    };
    let tensors = cx.items(&kept).unwrap_or_default();
    if let Some(computed) = tensors.iter().filter_map(|item| cx.tensor(item)).find(|t| t.grad == Grad::Attached) {
        let message = "an optimizer changes only leaves of the graph, but one of the tensors is computed from others: \
                       set `requires_grad` on the result";
        let reads = vec![("the tensor is computed here".to_owned(), computed.shape_at)];
        cx.reject(RejectKind::Value, message, reads);
    }
    // A group may contain `initial_lr`.
    let is_plain = !tensors.is_empty() && tensors.iter().all(|item| cx.it.heap.is_tensor(item));
    keep_initial_rates(cx, &Value::Obj(object), if is_plain { Value::Bool(false) } else { Value::Unknown });
    cx.it.heap.set_note(object, PARAMETERS, kept);
}

/// `optimizer.param_groups`: dicts whose entries may have been changed.
fn groups(cx: &mut Cx<'_, '_>, object: &Value, name: Sym) -> Option<Value> {
    match name.as_str() {
        "param_groups" => {
            let params = object.as_obj().and_then(|id| cx.it.heap.note(id, PARAMETERS)).unwrap_or(Value::Unknown);
            let mut group = Dict { open: Some(Value::Unknown), ..Dict::default() };
            let plain = cx.items(&params).is_some_and(|all| all.iter().all(|v| cx.it.heap.is_tensor(v)));
            if plain {
                group.entries.insert(crate::value::Key::Str("params".into()), params);
            }
            let group = cx.it.heap.dict(group);
            Some(if plain { cx.list(vec![group]) } else { cx.list_of(group) })
        }
        "state" | "defaults" => Some(open_dict_value(cx)),
        _ => None,
    }
}

fn open_dict_value(cx: &mut Cx<'_, '_>) -> Value {
    cx.it.heap.dict(Dict { open: Some(Value::Unknown), ..Dict::default() })
}

/// Calls the closure, if there is one.
fn step(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    match b.get("closure") {
        Value::None => Value::None,
        closure => {
            let span = cx.span;
            cx.it.call(&closure, Args::default(), span)
        }
    }
}

fn scaled_step(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let span = cx.span;
    let optimizer = b.get("optimizer");
    let args = Args { pos: b.rest.clone(), kw: b.extra.clone(), more_pos: b.open, more_kw: b.open, star: None };
    cx.it.call_method(&optimizer, "step", args, span);
    Value::Unknown
}

/// `GradScaler.scale`: the outputs, multiplied by the loss scale.
fn scale(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let outputs = b.get("outputs");
    let Some(tensor) = cx.tensor(&outputs) else { return Value::Unknown };
    let mut out = Tensor { base: None, version: 0, writes: 0, ..tensor };
    out.forget_values();
    if out.grad == Grad::Leaf {
        out.grad = Grad::Attached;
    }
    cx.out(out)
}

/// `ReduceLROnPlateau.step()`: unlike the other schedulers, it needs the monitored metric.
fn plateau_step(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if !b.open && !b.given("metrics") {
        let message = "`ReduceLROnPlateau.step()` needs the value that it monitors: `scheduler.step(val_loss)`";
        cx.reject(RejectKind::Value, message.to_owned(), Vec::new());
    }
    Value::None
}

fn averaged(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    super::nn::module::begin(cx, object);
    let model = b.get("model");
    let copy = super::nn::copy::copied(cx, &model);
    cx.it.heap.set_attr(object, "module", copy.clone());
    if let Some(device) = cx.device_arg(&b.get("device")) {
        super::nn::moves::move_to(cx, &copy, device);
    }
}
