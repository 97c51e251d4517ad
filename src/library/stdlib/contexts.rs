//! `contextlib`.

use std::rc::Rc;

use crate::library::common::none;
use crate::library::{Cx, Table};
use crate::python::{Args, Bound, Hook, Interp};
use crate::syntax::Span;
use crate::value::{Partial, Value, sym};

const STACK: &str = "contextlib.ExitStack";
const CLOSING: &str = "contextlib.closing";
/// The callbacks of an `ExitStack`: a tuple of pairs, each of which has a tag and a manager or a
/// call.
const ENTRIES: &str = "entries of the stack";

pub(crate) fn register(t: &mut Table) {
    t.class("contextlib.nullcontext", &[], "enter_result=None");
    t.def("contextlib.nullcontext.__enter__", "self", |cx, b| cx.attr(&b.get("self"), "enter_result"));
    t.class("contextlib.suppress", &[], "*exceptions").keeps_arguments = false;
    t.def("contextlib.suppress.__enter__", "self", none);
    for name in ["redirect_stdout", "redirect_stderr"] {
        t.class(&format!("contextlib.{name}"), &[], "new_target");
        t.def(&format!("contextlib.{name}.__enter__"), "self", |cx, b| cx.attr(&b.get("self"), "new_target"));
    }
    t.class(CLOSING, &[], "thing");
    t.def(&format!("{CLOSING}.__enter__"), "self", |cx, b| cx.attr(&b.get("self"), "thing"));
    let decorator = t.class("contextlib.ContextDecorator", &[], "");
    decorator.keeps_arguments = false;
    decorator.invoke = Some(|_, object, args| {
        let function = args.pos.first()?.value.clone();
        Some(Value::Partial(Rc::new(Partial {
            func: Value::path("torchvet.managed"),
            args: vec![object.clone(), function],
            kwargs: Vec::new(),
        })))
    });
    t.def("torchvet.managed", "manager, function, *args, **kwargs", managed);

    let stack = t.class(STACK, &[], "");
    stack.keeps_arguments = false;
    stack.init = Some(|cx, object, _| cx.it.heap.set_attr(object, ENTRIES, Value::tuple(Vec::new())));
    let m = |name: &str| format!("{STACK}.{name}");
    t.def(&m("__enter__"), "self", |_, b| b.get("self"));
    t.def(&m("enter_context"), "self, cm", |cx, b| {
        let (manager, span) = (b.get("cm"), cx.span);
        let value = cx.it.enter_manager(&manager, span);
        push(cx, b, "manager", manager);
        value
    });
    t.def(&m("push"), "self, exit", |cx, b| {
        let exit = b.get("exit");
        let kind = if cx.it.heap.instance_of(&exit).is_some() { "manager" } else { "unseen" };
        push(cx, b, kind, exit.clone());
        exit
    });
    t.def(&m("callback"), "self, callback, *args, **kwds", |cx, b| {
        let function = b.get("callback");
        let call = Partial {
            func: function.clone(),
            args: b.rest_values(),
            kwargs: b.extra.iter().map(|(name, arg)| (*name, arg.value.clone())).collect(),
        };
        push(cx, b, if b.open { "unseen" } else { "call" }, Value::Partial(Rc::new(call)));
        function
    });
    t.def(&m("close"), "self", |cx, b| {
        let span = cx.span;
        unwind(cx.it, &b.get("self"), span);
        Value::None
    });
    t.def(&m("pop_all"), "self", |cx, b| {
        let object = b.get("self");
        let entries = cx.attr(&object, ENTRIES);
        if let Some(id) = object.as_obj() {
            cx.it.heap.set_attr(id, ENTRIES, Value::tuple(Vec::new()));
        }
        let other = cx.it.heap.instance(Value::path(STACK));
        cx.it.heap.set_attr(other, ENTRIES, entries);
        Value::Obj(other)
    });
}

fn push(cx: &mut Cx<'_, '_>, b: &Bound, kind: &str, value: Value) {
    // If the entries are unknown when the block ends, this call may run then.
    let ends = match (kind, cx.it.user_method(&value, "__exit__")) {
        ("manager", Some(exit)) => Value::Bound(Rc::new((value.clone(), exit))),
        _ => value.clone(),
    };
    cx.it.hook(Hook::AtExit, ends);
    let Some(id) = b.get("self").as_obj() else { return };
    let entries = match cx.it.heap.attr(id, ENTRIES) {
        Some(Value::Tuple(have)) => {
            let entry = Value::tuple(vec![Value::str(kind), value]);
            Value::tuple(have.iter().cloned().chain([entry]).collect())
        }
        _ => Value::Unknown,
    };
    cx.it.heap.set_attr(id, ENTRIES, entries);
}

/// Exits the managers of a stack and makes its calls, in reverse order.
fn unwind(it: &mut Interp<'_>, stack: &Value, span: Span) {
    let Some(id) = stack.as_obj() else { return };
    let entries = it.heap.attr(id, ENTRIES);
    it.heap.set_attr(id, ENTRIES, Value::tuple(Vec::new()));
    let Some(Value::Tuple(entries)) = entries else {
        it.havoc_hooks(|when| when == Hook::AtExit);
        return;
    };
    for entry in entries.iter().rev() {
        let Value::Tuple(parts) = entry else { continue };
        let [kind, value] = &**parts else { continue };
        match kind.as_str() {
            Some("manager") if it.heap.suspended(value).is_none() => _ = it.exit_manager(value, false),
            Some("call") => _ = it.call(value, Args::default(), span),
            _ => it.havoc(value),
        }
        if it.has_stopped() {
            return;
        }
    }
}

/// Handles the end of the block of a manager.
pub(crate) fn exit(it: &mut Interp<'_>, object: &Value) {
    let class = it.heap.instance_of(object).and_then(|instance| instance.class.as_path());
    let span = Span { file: it.file(), start: 0, end: 0 };
    match class {
        Some(STACK) => unwind(it, object, span),
        Some(CLOSING) => {
            let thing = object.as_obj().and_then(|id| it.heap.attr(id, "thing"));
            if let Some(close) = thing.and_then(|thing| it.try_getattr(&thing, sym("close"), span)) {
                it.call(&close, Args::default(), span);
            }
        }
        _ => {}
    }
}

/// Calls a function inside the block of a manager.
fn managed(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (manager, function, span) = (b.get("manager"), b.get("function"), cx.span);
    let args = Args { pos: b.rest.clone(), kw: b.extra.clone(), more_pos: b.open, more_kw: b.open, star: None };
    cx.it.enter_manager(&manager, span);
    let value = cx.it.call(&function, args, span);
    if !cx.it.has_stopped() {
        cx.it.exit_manager(&manager, false);
    }
    value
}
