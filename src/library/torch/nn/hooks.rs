//! Forward hooks of modules.
//!
//! Two notes of a module hold its hooks, as tuples of handles. Notes are restored at the end of a
//! branch, so the hooks are restored, too. If one of the tuples is unknown, the result of the
//! module is unknown, too. If the model of a module does not call the sub-modules as PyTorch does,
//! everything that forward hooks may write becomes unknown.

use crate::library::table::Invoke;
use crate::library::{Cx, Table};
use crate::python::{Arg, Args, Bound, Hook, Interp};
use crate::value::{Dict, Key, ObjId, Partial, Topic, Value, sym};

const BEFORE: Topic = Topic::new("hooks before");
const AFTER: Topic = Topic::new("hooks after");
const HANDLE: &str = "torch.utils.hooks.RemovableHandle";
/// A note of a handle: the hook function.
const FUNCTION: Topic = Topic::new("hook itself");
const KEYWORDS: Topic = Topic::new("hook takes keywords");
const ACTIVE: Topic = Topic::new("hook is active");

pub(crate) fn register(t: &mut Table) {
    t.class(HANDLE, &[], "*args, **kwargs").keeps_arguments = false;
    t.def(&format!("{HANDLE}.remove"), "self", |cx, b| {
        remove(cx.it, &b.get("self"));
        Value::None
    });
    let m = "torch.nn.Module.";
    t.def(&format!("{m}register_forward_pre_hook"), "self, hook, *, prepend=False, with_kwargs=False", |cx, b| {
        add(cx, b, BEFORE)
    });
    t.def(
        &format!("{m}register_forward_hook"),
        "self, hook, *, prepend=False, with_kwargs=False, always_call=False",
        |cx, b| add(cx, b, AFTER),
    );
    t.family(
        m,
        "register_full_backward_hook register_backward_hook register_full_backward_pre_hook",
        "self, hook, *args, **kwargs",
        backward,
    );
    t.listed("torch.Tensor.", "register_hook", backward);
    t.def("torch.Tensor.register_post_accumulate_grad_hook", "self, hook", backward);
    t.family(
        "torch.nn.modules.module.",
        "register_module_forward_hook register_module_forward_pre_hook",
        "hook, *args, **kwargs",
        |cx, b| {
            let state = cx.it.state;
            cx.it.heap.set_note(state, AFTER, Value::Unknown);
            cx.it.hook(Hook::Forward, b.get("hook"));
            Value::Unknown
        },
    );
}

fn handle(cx: &mut Cx<'_, '_>, function: Value, keywords: Value) -> ObjId {
    let handle = cx.it.heap.instance(Value::path(HANDLE));
    cx.it.heap.set_note(handle, FUNCTION, function);
    cx.it.heap.set_note(handle, KEYWORDS, keywords);
    cx.it.heap.set_note(handle, ACTIVE, Value::Bool(true));
    handle
}

fn add(cx: &mut Cx<'_, '_>, b: &Bound, list: Topic) -> Value {
    let (module, function) = (b.get("self"), b.get("hook"));
    let handle = handle(cx, function.clone(), b.get("with_kwargs"));
    let Some(id) = module.as_obj() else { return Value::Obj(handle) };
    let with_module = Partial { func: function, args: vec![module], kwargs: Vec::new() };
    cx.it.hook(Hook::Forward, Value::Partial(std::rc::Rc::new(with_module)));
    let now = match cx.it.heap.note(id, list) {
        Some(now) => now,
        None => {
            // On a path without this note, there are no hooks.
            cx.it.heap.settle_note(id, list, Value::tuple(Vec::new()));
            Value::tuple(Vec::new())
        }
    };
    let more = match (now, b.get("prepend").as_bool()) {
        (Value::Tuple(have), Some(true)) => {
            Value::tuple(std::iter::once(Value::Obj(handle)).chain(have.iter().cloned()).collect())
        }
        (Value::Tuple(have), Some(false)) => Value::tuple(have.iter().cloned().chain([Value::Obj(handle)]).collect()),
        _ => Value::Unknown,
    };
    cx.it.heap.set_note(id, list, more);
    Value::Obj(handle)
}

fn backward(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    cx.it.hook(Hook::Backward, b.get("hook"));
    let handle = handle(cx, Value::None, Value::None);
    Value::Obj(handle)
}

/// `handle.remove()`, and the end of `with handle:`.
pub(crate) fn remove(it: &mut Interp<'_>, handle: &Value) {
    if let Some(id) = handle.as_obj()
        && it.heap.note(id, ACTIVE).is_some()
    {
        it.heap.set_note(id, ACTIVE, Value::Bool(false));
    }
}

/// The handles of a module; `None` if they are not known.
fn handles(cx: &Cx<'_, '_>, object: &Value, list: Topic) -> Option<Vec<Value>> {
    match object.as_obj().and_then(|id| cx.it.heap.note(id, list)) {
        None => Some(Vec::new()),
        Some(Value::Tuple(handles)) => Some(handles.to_vec()),
        Some(_) => None,
    }
}

/// `module(…)` with its hooks.
pub(crate) fn around(cx: &mut Cx<'_, '_>, object: &Value, args: Args, invoke: Invoke) -> Option<Value> {
    let hooks = (handles(cx, object, BEFORE), handles(cx, object, AFTER));
    let (Some(before), Some(after)) = hooks else {
        invoke(cx, object, unknown_args());
        cx.it.havoc_hooks(|when| when != Hook::Backward);
        return Some(Value::Unknown);
    };
    let mut args = args;
    for hook in &before {
        args = run_before(cx, object, hook, args);
        if cx.it.has_stopped() {
            return Some(Value::Unknown);
        }
    }
    let mut value = invoke(cx, object, args.clone())?;
    if cx.it.has_stopped() {
        return Some(value);
    }
    if !is_followed(cx, object) {
        cx.it.havoc_hooks(|when| when != Hook::Backward);
    }
    for hook in &after {
        value = run_after(cx, object, hook, &args, value);
        if cx.it.has_stopped() {
            return Some(Value::Unknown);
        }
    }
    if cx.it.remembered(AFTER).is_some() {
        cx.it.havoc_hooks(|when| when != Hook::Backward);
        return Some(Value::Unknown);
    }
    Some(value)
}

/// Whether the model of a module calls its sub-modules as PyTorch does.
fn is_followed(cx: &Cx<'_, '_>, object: &Value) -> bool {
    if cx.it.user_method(object, "forward").is_some() {
        return true;
    }
    let children = super::module::named_children_of(cx, object);
    children.complete && (children.found.is_empty() || cx.it.is_instance(object, "torch.nn.Sequential"))
}

fn unknown_args() -> Args {
    Args { more_pos: true, more_kw: true, ..Args::default() }
}

/// The arguments in the form that hooks get: a tuple and a dict.
fn packed(cx: &mut Cx<'_, '_>, args: &Args) -> (Value, Value) {
    let positional = match args.more_pos {
        true => Value::Unknown,
        false => Value::tuple(args.pos.iter().map(|arg| arg.value.clone()).collect()),
    };
    let mut dict = Dict { open: args.more_kw.then_some(Value::Unknown), ..Dict::default() };
    for (name, arg) in &args.kw {
        dict.entries.insert(Key::Str(name.as_str().into()), arg.value.clone());
    }
    let keywords = cx.it.heap.dict(dict);
    (positional, keywords)
}

/// The result of one hook. `None` if the hook returns Python's `None`, or does not run.
fn answer(cx: &mut Cx<'_, '_>, handle: &Value, given: Vec<Value>) -> Option<Value> {
    let function = cx.note(handle, FUNCTION);
    let span = cx.span;
    match cx.note(handle, ACTIVE).as_bool() {
        Some(false) => return None,
        Some(true) => {}
        None => {
            let with_args = Partial { func: function, args: given, kwargs: Vec::new() };
            cx.it.havoc(&Value::Partial(std::rc::Rc::new(with_args)));
            return Some(Value::Unknown);
        }
    }
    let value = cx.call(&function, Args::positional(given, span));
    (!value.is_none()).then_some(value)
}

fn run_before(cx: &mut Cx<'_, '_>, object: &Value, handle: &Value, args: Args) -> Args {
    let span = cx.span;
    let with_keywords = cx.note(handle, KEYWORDS).as_bool();
    let (positional, keywords) = packed(cx, &args);
    let mut given = vec![object.clone(), positional];
    if with_keywords != Some(false) {
        given.push(keywords);
    }
    let Some(answer) = answer(cx, handle, given) else { return args };
    match (answer, with_keywords) {
        (Value::Tuple(parts), Some(true)) => match &*parts {
            [Value::Tuple(positional), keywords] => {
                let mut args = Args::positional(positional.iter().cloned(), span);
                match cx.it.heap.dict_of(keywords) {
                    Some(dict) if dict.open.is_none() => {
                        for (key, value) in &dict.entries {
                            if let Key::Str(name) = key {
                                args.kw.push((sym(name), Arg::new(value.clone(), span)));
                            }
                        }
                    }
                    _ => args.more_kw = true,
                }
                args
            }
            _ => unknown_args(),
        },
        (Value::Tuple(parts), Some(false)) => {
            let mut replaced = Args::positional(parts.iter().cloned(), span);
            (replaced.kw, replaced.more_kw) = (args.kw, args.more_kw);
            replaced
        }
        (one, Some(false)) if cx.it.heap.is_tensor(&one) => {
            let mut replaced = Args::positional([one], span);
            (replaced.kw, replaced.more_kw) = (args.kw, args.more_kw);
            replaced
        }
        _ => unknown_args(),
    }
}

fn run_after(cx: &mut Cx<'_, '_>, object: &Value, handle: &Value, args: &Args, value: Value) -> Value {
    let with_keywords = cx.note(handle, KEYWORDS).as_bool();
    let (positional, keywords) = packed(cx, args);
    let mut given = vec![object.clone(), positional];
    match with_keywords {
        Some(true) => given.push(keywords),
        Some(false) => {}
        // It is not known whether the hook also gets keyword arguments.
        None => return Value::Unknown,
    }
    given.push(value.clone());
    answer(cx, handle, given).unwrap_or(value)
}
