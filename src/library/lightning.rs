//! PyTorch Lightning and Accelerate move models and batches to devices themselves, so the devices
//! of models and batches become unknown.

use rustc_hash::FxHashSet;

use super::common::{instance, length_of, none, unknown};
use super::stdlib::deepcopy;
use super::{Cx, Table};
use crate::python::{Args, Bound, Interp, RejectKind};
use crate::value::{Data, Device, DeviceKind, Dict, Dtype, Items, Key, ObjId, Sym, Topic, Type, Value, sym};

const MODULE: &str = "lightning.LightningModule";
const DATA: &str = "lightning.LightningDataModule";
const MODULE_DEVICE: Topic = Topic::new("device of Lightning");
const ACCELERATOR_DEVICE: Topic = Topic::new("device of accelerate");

pub(super) fn register(t: &mut Table) {
    t.prefix("pytorch_lightning", "lightning");
    t.prefix("lightning.pytorch", "lightning");
    t.alias("lightning.core.LightningModule", MODULE);
    t.alias("lightning.core.module.LightningModule", MODULE);
    t.alias("lightning.core.lightning.LightningModule", MODULE);
    let module = t.class(MODULE, &["torch.nn.Module"], "*args, **kwargs");
    module.keeps_arguments = false;
    module.attribute = Some(attribute);
    t.family(
        "lightning.LightningModule.",
        "log log_dict save_hyperparameters print manual_backward toggle_optimizer untoggle_optimizer freeze unfreeze",
        "self, *args, **kwargs",
        none,
    );
    t.family("lightning.LightningModule.", "all_gather optimizers lr_schedulers", "self, *args, **kwargs", unknown);
    t.class(DATA, &[], "*args, **kwargs").keeps_arguments = false;
    t.def("lightning.LightningDataModule.save_hyperparameters", "self, *args, **kwargs", none);
    t.class("lightning.Trainer", &[], "*args, **kwargs").keeps_arguments = false;
    t.def(
        "lightning.Trainer.fit",
        "self, model, train_dataloaders=None, val_dataloaders=None, datamodule=None, ckpt_path=None, **kwargs",
        fit,
    );
    t.family("lightning.Trainer.", "test validate predict", "self, model=None, *args, **kwargs", run_hooks);
    t.def("lightning.seed_everything", "*args, **kwargs", |_, _| Value::Any(Type::Int));

    t.class("accelerate.Accelerator", &[], "*args, **kwargs").keeps_arguments = false;
    if let Some(class) = t.classes.get_mut(&sym("accelerate.Accelerator")) {
        class.attribute = Some(accelerator_attribute);
    }
    let a = "accelerate.Accelerator.";
    t.def(&format!("{a}prepare"), "self, *objects, device_placement=None", prepare);
    t.family(
        a,
        "prepare_model prepare_data_loader prepare_optimizer prepare_scheduler",
        "self, object, **kwargs",
        prepare_one,
    );
    t.def(&format!("{a}backward"), "self, loss, **kwargs", |cx, b| {
        let loss = b.get("loss");
        let span = cx.span;
        cx.it.call_method(&loss, "backward", Args::default(), span);
        Value::None
    });
    t.family(a, "unwrap_model", "self, model, **kwargs", |_, b| b.get("model"));
    t.family(
        a,
        "print wait_for_everyone save_state load_state log init_trackers end_training free_memory save save_model \
         register_for_checkpointing",
        "self, *args, **kwargs",
        none,
    );
    t.family(a, "gather gather_for_metrics reduce pad_across_processes", "self, *args, **kwargs", unknown);
    t.family(
        a,
        "accumulate autocast main_process_first local_main_process_first no_sync",
        "self, *args, **kwargs",
        |cx, _| instance(cx, "contextlib.nullcontext", vec![("enter_result", Value::None)]),
    );
    t.class("accelerate.data_loader.DataLoaderShard", &[], "loader").keeps_arguments = true;
    t.def("accelerate.data_loader.DataLoaderShard.__iter__", "self", |cx, b| {
        let loader = cx.attr(&b.get("self"), "loader");
        let element = cx.element(&loader);
        let element = unplaced(cx, &element);
        cx.it.heap.iter(Items::Many(element))
    });
    t.def("accelerate.data_loader.DataLoaderShard.__len__", "self", |_, _| Value::Any(Type::Int));
    t.family("accelerate.utils.", "set_seed", "*args, **kwargs", none);
}

/// The device on which the framework runs the program: unknown, but always the same one.
fn some_device(cx: &mut Cx<'_, '_>, of: Topic) -> Value {
    if let Some(device) = cx.it.remembered(of) {
        return device;
    }
    let id = cx.it.heap.device_symbol();
    let device = Value::Device(Device::of(DeviceKind::Symbolic(id)));
    cx.it.remember(of, device.clone());
    device
}

fn attribute(cx: &mut Cx<'_, '_>, _object: &Value, name: Sym) -> Option<Value> {
    Some(match name.as_str() {
        // The trainer moves the module after it was created.
        "device" if cx.it.in_constructor() => Value::Device(Device::CPU),
        "device" => some_device(cx, MODULE_DEVICE),
        "hparams" | "trainer" | "logger" | "dtype" => Value::Unknown,
        "current_epoch" | "global_step" | "global_rank" | "local_rank" => Value::Any(Type::Int),
        _ => return None,
    })
}

fn accelerator_attribute(cx: &mut Cx<'_, '_>, _object: &Value, name: Sym) -> Option<Value> {
    Some(match name.as_str() {
        "device" => some_device(cx, ACCELERATOR_DEVICE),
        "is_main_process"
        | "is_local_main_process"
        | "is_last_process"
        | "sync_gradients"
        | "optimizer_step_was_skipped" => Value::Any(Type::Bool),
        "num_processes" | "process_index" | "local_process_index" => Value::Any(Type::Int),
        "state" | "mixed_precision" | "distributed_type" => Value::Unknown,
        _ => return None,
    })
}

/// A tensor in an attribute of a Lightning module may move to a device together with the module, at
/// a time that is not visible in the program. So the device of an assigned value becomes unknown.
pub(super) fn set_attribute(it: &mut Interp<'_>, class: Sym, value: &Value) {
    if class.as_str() == MODULE {
        forget_devices(it, value);
    }
}

/// Runs the backward pass from the loss that a training step returned, unless the model turns
/// automatic optimization off.
fn backward(cx: &mut Cx<'_, '_>, model: &Value, result: &Value) {
    let span = cx.span;
    if cx.attr(model, "automatic_optimization").as_bool() == Some(false) {
        return;
    }
    let loss = match cx.it.heap.dict_of(result) {
        Some(dict) => dict.entries.get(&Key::Str("loss".into())).cloned(),
        None => Some(result.clone()),
    };
    if let Some(loss) = loss.filter(|loss| cx.it.heap.is_tensor(loss)) {
        cx.it.call_method(&loss, "backward", Args::default(), span);
    }
}

/// Makes the devices of all tensors in a value, and their floating dtypes, unknown.
fn forget_devices(it: &mut Interp<'_>, value: &Value) {
    let mut todo = vec![value.clone()];
    let mut seen: FxHashSet<ObjId> = FxHashSet::default();
    while let Some(value) = todo.pop() {
        match &value {
            Value::Tuple(items) => todo.extend(items.iter().cloned()),
            Value::Obj(id) => {
                if seen.len() > 100_000 || !seen.insert(*id) {
                    continue;
                }
                match it.heap.get(*id) {
                    Data::Tensor(tensor) if tensor.device.is_some() || tensor.dtype.is_some() => {
                        it.heap.update_tensor(*id, |t| {
                            t.device = None;
                            t.device_at = None;
                            // With mixed precision, floating-point tensors may also be cast.
                            if t.dtype.is_some_and(Dtype::is_floating) {
                                t.dtype = None;
                                t.dtype_at = None;
                            }
                        });
                    }
                    Data::List(Items::Exact(items)) => todo.extend(items.iter().cloned()),
                    Data::List(Items::Many(item)) => todo.push(item.clone()),
                    Data::Dict(dict) => todo.extend(dict.entries.values().chain(&dict.open).cloned()),
                    Data::Instance(instance) => todo.extend(instance.attrs.values().cloned()),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

/// The hooks that may change a batch before a step gets it.
const TRANSFERS: &[&str] = &["on_before_batch_transfer", "transfer_batch_to_device", "on_after_batch_transfer"];

/// The batch that a step gets.
fn transferred(cx: &mut Cx<'_, '_>, objects: [&Value; 2], batch: &Value) -> Value {
    let changes = |object: &Value| TRANSFERS.iter().any(|hook| cx.it.user_method(object, hook).is_some());
    if objects.into_iter().any(changes) { Value::Unknown } else { unplaced(cx, batch) }
}

/// A copy of a batch, on an unknown device.
fn unplaced(cx: &mut Cx<'_, '_>, batch: &Value) -> Value {
    let copy = deepcopy(&mut cx.it.heap, batch);
    forget_devices(cx.it, &copy);
    copy
}

/// `test`, `validate` and `predict`: the trainer calls hooks of the objects that it gets, and the
/// hooks may set any attribute.
fn run_hooks(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let model = b.get("model");
    match cx.name() {
        "test" => check_steps(cx, &model, &["test_step"]),
        "validate" => check_steps(cx, &model, &["validation_step"]),
        _ => {}
    }
    cx.it.forget_assigned(&model);
    for arg in b.rest.iter().chain(b.extra.iter().map(|(_, arg)| arg)) {
        cx.it.forget_assigned(&arg.value);
    }
    Value::Unknown
}

/// Rejects a model that certainly lacks a method which the trainer needs.
fn check_steps(cx: &mut Cx<'_, '_>, model: &Value, methods: &[&str]) {
    let classes = cx.it.mro_of(model);
    let is_known = classes.iter().all(|class| match class {
        Value::Path(path) => [MODULE, "torch.nn.Module", "builtins.object"].contains(&path.as_str()),
        Value::Obj(id) => matches!(cx.it.heap.get(*id), Data::Class(class) if !class.open),
        _ => false,
    });
    // In a function that nothing calls, the model may be an instance of a subclass.
    if cx.it.speculative() || !is_known || !classes.iter().any(|class| class.as_path() == Some(MODULE)) {
        return;
    }
    let is_set = |it: &Interp<'_>, method: &str| {
        model.as_obj().is_some_and(|id| it.heap.attr(id, method).is_some())
            || it.mentions(sym(&format!(".{method} = ")).as_str())
    };
    for method in methods {
        if cx.it.user_method(model, method).is_none() && !is_set(cx.it, method) {
            let message = format!("`Trainer.{}` needs a `{method}`, which the model does not define", cx.name());
            cx.reject(RejectKind::Value, message, Vec::new());
            return;
        }
    }
}

/// Hooks that `fit` calls before the first step.
const FIRST_HOOKS: &[&str] = &[
    "configure_model",
    "configure_optimizers",
    "on_fit_start",
    "on_sanity_check_start",
    "on_train_batch_start",
    "on_train_epoch_start",
    "on_train_start",
    "on_validation_batch_start",
    "on_validation_epoch_start",
    "on_validation_start",
];

/// Whether an object is a data module, whose loaders may be attributes.
fn is_data_module(cx: &Cx<'_, '_>, object: &Value) -> bool {
    cx.it.user_method(object, "train_dataloader").is_some()
        || cx.it.mro_of(object).iter().filter_map(Value::as_path).any(|class| class.ends_with("DataModule"))
}

/// `fit`: runs one training step, and one validation step for each validation loader. The hooks of
/// the model and of the data module may set any attribute of these objects.
fn fit(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (model, span) = (b.get("model"), cx.span);
    check_steps(cx, &model, &["training_step", "configure_optimizers"]);
    forget_devices(cx.it, &model);
    // The trainer also takes a data module in place of the loaders.
    let module = match (b.get("datamodule"), b.get("train_dataloaders")) {
        (Value::None, first) if is_data_module(cx, &first) => first,
        (module, _) => module,
    };
    // Programs usually split data and create datasets in these hooks.
    for object in [&module, &model] {
        for (hook, given) in [("prepare_data", None), ("setup", Some(Value::str("fit")))] {
            if cx.it.user_method(object, hook).is_some() {
                cx.it.call_method(object, hook, Args::positional(given, span), span);
            }
        }
    }
    // The hooks in `FIRST_HOOKS` run before the steps, and usually set attributes that the steps
    // use.
    for object in [&module, &model] {
        if FIRST_HOOKS.iter().any(|hook| cx.it.user_method(object, hook).is_some()) {
            cx.it.forget_assigned(object);
        }
    }
    for (parameter, method, step) in [
        ("train_dataloaders", "train_dataloader", "training_step"),
        ("val_dataloaders", "val_dataloader", "validation_step"),
    ] {
        if cx.it.user_method(&model, step).is_none() {
            continue;
        }
        let given = b.get(parameter);
        if is_data_module(cx, &given) && cx.it.user_method(&given, method).is_none() {
            continue;
        }
        let source = [&module, &given, &model].into_iter().find(|s| cx.it.user_method(s, method).is_some()).cloned();
        let loader = match (&given, source) {
            (Value::None, Some(source)) => cx.it.call_method(&source, method, Args::default(), span),
            (_, Some(source)) if source.as_obj() == given.as_obj() => {
                cx.it.call_method(&source, method, Args::default(), span)
            }
            _ => given,
        };
        if loader.is_none() || loader.is_unknown() {
            continue;
        }
        if step == "training_step" {
            let batch = trained_on(cx, &loader);
            let batch = transferred(cx, [&module, &model], &batch);
            let args = Args::positional([batch, Value::Any(Type::Int)], span);
            let result = cx.it.call_method(&model, step, args, span);
            backward(cx, &model, &result);
            continue;
        }
        let Some(loaders) = one_by_one(cx, &loader) else { continue };
        for (at, loader) in loaders.iter().enumerate() {
            let batch = cx.element(loader);
            let batch = transferred(cx, [&module, &model], &batch);
            let index = (loaders.len() > 1).then(|| length_of(at));
            let args = [batch, Value::Any(Type::Int)].into_iter().chain(index);
            cx.it.call_method(&model, step, Args::positional(args, span), span);
        }
    }
    for object in [&module, &model] {
        cx.it.forget_assigned(object);
        cx.it.forget_contents(object);
    }
    Value::None
}

/// A training batch. If there are several loaders, in a list or a dictionary, it is a list or a
/// dictionary of their batches.
fn trained_on(cx: &mut Cx<'_, '_>, loader: &Value) -> Value {
    if let Value::Tuple(loaders) = loader {
        let batches = loaders.iter().map(|loader| trained_on(cx, loader)).collect();
        return Value::tuple(batches);
    }
    match loader.as_obj().map(|id| cx.it.heap.get(id).clone()) {
        Some(Data::List(Items::Exact(loaders))) => {
            let batches = loaders.iter().map(|loader| trained_on(cx, loader)).collect();
            cx.list(batches)
        }
        Some(Data::Dict(Dict { entries, open: None })) => {
            let batches = entries.into_iter().map(|(key, loader)| (key, trained_on(cx, &loader))).collect();
            cx.it.heap.dict(Dict { entries: batches, open: None })
        }
        Some(Data::List(_) | Data::Dict(_)) => Value::Unknown,
        _ => cx.element(loader),
    }
}

/// The loaders in lists and dictionaries. Validation uses them one after the other. `None` if their
/// number is unknown.
fn one_by_one(cx: &Cx<'_, '_>, loader: &Value) -> Option<Vec<Value>> {
    let inner: Vec<Value> = match (loader, loader.as_obj().map(|id| cx.it.heap.get(id))) {
        (Value::Tuple(loaders), _) => loaders.to_vec(),
        (_, Some(Data::List(Items::Exact(loaders)))) => loaders.clone(),
        (_, Some(Data::Dict(Dict { entries, open: None }))) => entries.values().cloned().collect(),
        (_, Some(Data::List(_) | Data::Dict(_))) => return None,
        _ => return Some(vec![loader.clone()]),
    };
    let all: Option<Vec<Vec<Value>>> = inner.iter().map(|loader| one_by_one(cx, loader)).collect();
    Some(all?.concat())
}

fn prepared(cx: &mut Cx<'_, '_>, object: &Value) -> Value {
    if cx.it.is_instance(object, "torch.utils.data.DataLoader") {
        return instance(cx, "accelerate.data_loader.DataLoaderShard", vec![("loader", object.clone())]);
    }
    if cx.it.is_instance(object, "torch.nn.Module") {
        forget_devices(cx.it, object);
    }
    object.clone()
}

fn prepare(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if b.open {
        return Value::Unknown;
    }
    let objects = b.rest_values();
    let mut out: Vec<Value> = objects.iter().map(|o| prepared(cx, o)).collect();
    if out.len() == 1 { out.remove(0) } else { Value::tuple(out) }
}

fn prepare_one(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    prepared(cx, &b.get("object"))
}
