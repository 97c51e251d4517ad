//! `torch.autograd`, checkpointing, saving and loading, communication between processes,
//! `TensorBoard`.

use crate::library::{Cx, Table};
use crate::python::{Arg, Args, Bound, Event, RejectKind};
use crate::value::{Data, Grad, Items, Tensor, Type, Value, sym};

/// Rejects a `map_location` that is a path or another name that is not a device. By mistake, programs
/// pass a folder and a file name to `torch.load` instead of one path.
fn load(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let given = b.get("map_location");
    if let Some(text) = given.as_str().filter(|text| text.contains(['/', '.'])) {
        let message = format!("map_location is {text:?}, which is not a device: pass the whole path as `f`");
        let at = b.span("map_location");
        let is_literal = at.is_some_and(|at| cx.it.is_literal(at));
        cx.report_if_independent(is_literal, |cx| {
            cx.reject(RejectKind::Value, message, vec![("`map_location` is given here".to_owned(), at)]);
        });
    } else if given.as_str().is_some() {
        // This rejects a name that is not a device.
        super::factory::options::device(cx, &given);
    }
    Value::Unknown
}

pub(crate) fn register(t: &mut Table) {
    t.def(
        "torch.autograd.grad",
        "outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None, \
         is_grads_batched=False, materialize_grads=False",
        gradients,
    );
    t.def(
        "torch.autograd.backward",
        "tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None",
        |cx, _| {
            super::attributes::gradients_made(cx);
            Value::None
        },
    );
    t.def("torch.utils.checkpoint.checkpoint", "function, *args, **kwargs", checkpoint);
    t.def("torch.utils.checkpoint.checkpoint_sequential", "functions, segments, input, **kwargs", sequential);
    t.def("torch.load", "f, map_location=None, pickle_module=None, **kwargs", load);
    t.def("torch.jit.load", "f, map_location=None, _extra_files=None, _restore_shapes=False", load);
    t.def("torch.save", "obj, f, pickle_module=None, **kwargs", |_, _| Value::None);
    t.def("torch.serialization.add_safe_globals", "safe_globals", |_, _| Value::None);
    t.def("torch.serialization.safe_globals", "safe_globals", |_, _| Value::Unknown);
    t.family("torch.distributed.", "get_rank get_world_size", "group=None", |_, _| Value::Any(Type::Int));
    t.family("torch.distributed.", "init_process_group destroy_process_group", "*args, **kwargs", |_, _| Value::None);
    // With `async_op=True`, the result is an object to wait for.
    t.def("torch.distributed.barrier", "group=None, async_op=False, **kwargs", |_, b| match b.get("async_op") {
        Value::Bool(false) => Value::None,
        _ => Value::Unknown,
    });
    t.family("torch.distributed.", "is_initialized is_available", "", |_, _| Value::Any(Type::Bool));
    t.family("torch.distributed.", "all_reduce reduce broadcast", "tensor, *args, **kwargs", communicated);
    for class in ["torch.utils.tensorboard.SummaryWriter", "torch.utils.tensorboard.writer.SummaryWriter"] {
        t.class(class, &[], "*args, **kwargs").keeps_arguments = false;
        t.def(&format!("{class}.__enter__"), "self", |_, b| b.get("self"));
        for method in [
            "add_scalar",
            "add_scalars",
            "add_histogram",
            "add_image",
            "add_images",
            "add_figure",
            "add_graph",
            "add_text",
            "add_hparams",
            "add_embedding",
            "add_video",
            "add_pr_curve",
            "close",
            "flush",
        ] {
            t.def(&format!("{class}.{method}"), "self, *args, **kwargs", |_, _| Value::None);
        }
    }
}

/// `torch.autograd.grad`: one gradient for each input, with the input's shape.
fn gradients(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let inputs = b.get("inputs");
    let all = match cx.tensor(&inputs) {
        Some(_) => vec![inputs],
        None => match cx.items(&inputs) {
            Some(items) => items,
            None => return Value::Unknown,
        },
    };
    let graph = b.get("create_graph").as_bool();
    let unused = !matches!(b.get("allow_unused"), Value::None | Value::Bool(false));
    if unused || b.get("is_grads_batched").as_bool() != Some(false) {
        return Value::Unknown;
    }
    let gradients = all
        .iter()
        .map(|input| {
            let Some(tensor) = cx.tensor(input) else { return cx.some_tensor() };
            let mut out = Tensor { base: None, version: 0, writes: 0, ..tensor };
            out.forget_values();
            out.grad = match graph {
                Some(false) => Grad::Off,
                _ => Grad::Unknown,
            };
            cx.out(out)
        })
        .collect();
    Value::tuple(gradients)
}

/// `checkpoint(function, …)`: runs the function directly.
fn checkpoint(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    const OWN: &[&str] = &[
        "use_reentrant",
        "context_fn",
        "determinism_check",
        "debug",
        "preserve_rng_state",
        "early_stop",
        "respect_saved_tensors_hooks",
    ];
    let kw = b.extra.iter().filter(|(name, _)| !OWN.contains(&name.as_str())).cloned().collect();
    let args = Args { pos: b.rest.clone(), kw, more_pos: b.open, more_kw: b.open, star: None };
    let inputs: Vec<Value> = args.pos.iter().map(|arg| arg.value.clone()).collect();
    let span = cx.span;
    let result = cx.it.call(&b.get("function"), args, span);
    recorded(cx, b, &inputs, result)
}

/// The result of a checkpointed function. With `use_reentrant` (the default up to 2.15), the
/// function is a single autograd node that depends only on the inputs: if no input requires grad,
/// the result does not require grad, even if the function uses parameters.
fn recorded(cx: &mut Cx<'_, '_>, b: &Bound, inputs: &[Value], result: Value) -> Value {
    let reentrant = b.extra.iter().find(|(name, _)| name.as_str() == "use_reentrant");
    let reentrant = reentrant.map_or(Some(true), |(_, arg)| match arg.value {
        Value::None => Some(true),
        ref given => given.as_bool(),
    });
    let constant = |value: &Value| match cx.tensor(value) {
        Some(tensor) => tensor.grad == Grad::Off,
        None => !value.is_unknown(),
    };
    let off = reentrant == Some(true) && !b.open && inputs.iter().all(constant);
    let (Some(from), Some(mut facts)) = (result.as_obj(), cx.tensor(&result).filter(|_| off)) else { return result };
    facts.grad = Grad::Off;
    let out = cx.view_of(&result, facts);
    if let Some(to) = out.as_obj() {
        cx.it.event(Event::Viewed { object: from, result: to, name: sym("checkpoint"), span: cx.span });
    }
    out
}

fn sequential(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let span = cx.span;
    let functions = b.get("functions");
    match cx.it.iterate(&functions, span) {
        Items::Exact(all) => {
            let input = b.get("input");
            let mut value = input.clone();
            for function in all {
                value = cx.it.call(&function, Args { pos: vec![Arg::new(value, span)], ..Args::default() }, span);
            }
            recorded(cx, b, &[input], value)
        }
        Items::Many(_) => Value::Unknown,
    }
}

/// Models an operation in which processes exchange values, such as `all_reduce`. It writes to the
/// tensor, so the values become unknown.
fn communicated(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if let Some(id) = b.get("tensor").as_obj()
        && let Data::Tensor(tensor) = cx.it.heap.get(id)
    {
        let mut facts = tensor.clone();
        facts.forget_values();
        cx.it.heap.overwrite(id, facts);
    }
    Value::Unknown
}
