//! Wrappers of modules: `DataParallel`, `DistributedDataParallel`, `torch.compile`, `torch.jit`.

use super::module::{call_wrapped, registered, scattered};
use crate::library::{Cx, Table};
use crate::python::{Arg, Bound, RejectKind};
use crate::value::{Data, DeviceKind, ObjId, Tensor, Value, sym};

pub(crate) fn register(t: &mut Table) {
    t.listed_class("torch.nn.DataParallel", &["torch.nn.Module"]);
    // The last parameters depend on the version.
    t.class(
        "torch.nn.parallel.DistributedDataParallel",
        &["torch.nn.Module"],
        "module, device_ids=None, output_device=None, dim=0, broadcast_buffers=True, init_sync=True, \
         process_group=None, bucket_cap_mb=None, find_unused_parameters=False, check_reduction=False, \
         gradient_as_bucket_view=False, static_graph=False, *args, **kwargs",
    );
    for path in ["torch.nn.DataParallel", "torch.nn.parallel.DistributedDataParallel"] {
        if let Some(class) = t.classes.get_mut(&crate::value::sym(path)) {
            class.keeps_arguments = false;
            class.init = Some(wrap);
        }
        t.def(&format!("{path}.forward"), "self, *args, **kwargs", forward);
        t.def(&format!("{path}.no_sync"), "self", |_, _| Value::Unknown);
    }
    t.alias("torch.nn.parallel.DataParallel", "torch.nn.DataParallel");
    t.alias("torch.nn.parallel.data_parallel.DataParallel", "torch.nn.DataParallel");
    t.alias("torch.nn.parallel.distributed.DistributedDataParallel", "torch.nn.parallel.DistributedDataParallel");
    t.alias("torch.distributed.DistributedDataParallel", "torch.nn.parallel.DistributedDataParallel");
    t.def("torch.compile", "model=None, **options", same_model);
    t.def("torch.jit.script", "obj, *args, **kwargs", |cx, b| compiled(cx, b, "obj"));
    t.def("torch.jit.trace", "func, *args, **kwargs", |cx, b| compiled(cx, b, "func"));
    t.family("torch.jit.", "export ignore unused", "fn=None, *args, **kwargs", decorated);
    t.family("torch.", "_dynamo.disable compiler.disable", "fn=None, *args, **kwargs", decorated);
    t.def("torch.nn.SyncBatchNorm.convert_sync_batchnorm", "module, process_group=None", |_, b| b.get("module"));
}

fn wrap(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    super::module::begin(cx, object);
    for name in ["module", "device_ids", "output_device", "dim"] {
        cx.it.heap.set_attr(object, name, b.get(name));
    }
    // With only one GPU (in the machine or in `device_ids`), `DataParallel` moves the module to it.
    let ids = b.get("device_ids");
    if !cx.path.as_str().contains("Distributed") && cx.items(&ids).is_none_or(|ids| ids.len() == 1) {
        super::moves::perhaps_moved(cx, &b.get("module"));
    }
}

fn forward(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let wrapped = cx.attr(&object, "module");
    let ids = cx.attr(&object, "device_ids");
    let distributed = cx.path.as_str().contains("Distributed");
    let on_gpu = match distributed {
        // `DistributedDataParallel` moves its input only if `device_ids` names the device.
        true => !ids.is_none(),
        // `device_ids=None` means all GPUs; with an empty list, `DataParallel` only calls the
        // module.
        false => cx.items(&ids).is_none_or(|ids| !ids.is_empty()),
    };
    let moved = |cx: &mut Cx<'_, '_>, arg: &Arg| {
        Arg::new(if on_gpu { scattered(cx, &arg.value) } else { arg.value.clone() }, arg.span)
    };
    let args: Vec<Arg> = b.rest.iter().map(|arg| moved(cx, arg)).collect();
    let kw = b.extra.iter().map(|(name, arg)| (*name, moved(cx, arg))).collect();
    if b.open || on_gpu && !distributed && refuses_cpu(cx, &wrapped) {
        return Value::Unknown;
    }
    call_wrapped(cx, &wrapped, args, kw)
}

/// Reports a module with parameters or buffers on the CPU: `DataParallel` checks them before it
/// distributes the input.
fn refuses_cpu(cx: &mut Cx<'_, '_>, wrapped: &Value) -> bool {
    let on_cpu = |t: &Tensor| t.device.is_some_and(|device| device.kind == DeviceKind::Cpu);
    let found = registered(cx, wrapped).into_iter().find_map(|id| cx.tensor(&Value::Obj(id)).filter(on_cpu));
    let Some(tensor) = found else { return false };
    let message = "the module is on the CPU, but DataParallel needs it on its first GPU";
    cx.reject(
        RejectKind::Device,
        message,
        vec![("a parameter is placed on the CPU here".to_owned(), tensor.device_at)],
    );
    true
}

/// Returns the model unchanged. Without a model, returns a decorator.
fn same_model(_: &mut Cx<'_, '_>, b: &Bound) -> Value {
    match b.get("model") {
        Value::None => Value::path("torch.compile"),
        model => model,
    }
}

/// A module or function that `torch.jit` has compiled; `parameter` is the argument that holds it.
fn compiled(cx: &mut Cx<'_, '_>, b: &Bound, parameter: &str) -> Value {
    let object = b.get(parameter);
    // The result has more attributes than the module or function.
    cx.it.open(&object);
    for name in ["code", "graph", "save"] {
        if let Some(Data::Function(function)) = object.as_obj().map(|id| cx.it.heap.get_mut(id)) {
            function.attrs.insert(sym(name), Value::Unknown);
        }
    }
    object
}

fn decorated(_: &mut Cx<'_, '_>, b: &Bound) -> Value {
    b.get("fn")
}
