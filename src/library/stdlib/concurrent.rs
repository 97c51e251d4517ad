//! `asyncio` and `threading`: code that runs later.

use std::rc::Rc;

use crate::library::common::{any_bool, none, unknown};
use crate::library::{Cx, Table};
use crate::python::{Bound, Hook};
use crate::value::{Data, Items, Partial, Value};

const LOOP: &str = "asyncio.AbstractEventLoop";

pub(crate) fn register(t: &mut Table) {
    t.def("asyncio.run", "main, *, debug=None, loop_factory=None", |cx, b| {
        let main = b.get("main");
        cx.it.awaited(&main)
    });
    t.class(LOOP, &[], "*args").keeps_arguments = false;
    t.family("asyncio.", "get_event_loop new_event_loop get_running_loop", "", |cx, _| {
        Value::Obj(cx.it.heap.instance(Value::path(LOOP)))
    });
    t.family("asyncio.", "set_event_loop", "loop", none);
    let l = format!("{LOOP}.");
    t.def(&format!("{l}run_until_complete"), "self, future", |cx, b| {
        let future = b.get("future");
        cx.it.awaited(&future)
    });
    t.family(&l, "close stop", "self", none);
    t.family(&l, "is_running is_closed", "self", any_bool);
    t.def(&format!("{l}create_task"), "self, coro, **kwargs", task);
    t.family("asyncio.", "create_task ensure_future", "coro, **kwargs", task);
    t.def("asyncio.gather", "*aws, return_exceptions=False", gather);
    t.family("asyncio.", "wait_for shield", "fut, timeout=None", |cx, b| {
        let future = b.get("fut");
        match cx.it.heap.suspended(&future) {
            Some(_) => cx.it.awaited(&future),
            None => Value::Unknown,
        }
    });
    t.family("asyncio.", "sleep", "delay, result=None", unknown);

    for (class, sig) in [
        ("threading.Thread", "group=None, target=None, name=None, args=(), kwargs=None, *, daemon=None"),
        ("threading.Timer", "interval, function, args=None, kwargs=None"),
    ] {
        // A thread in a list may be started where it is not known any more.
        t.class(class, &[], sig).init = Some(|cx, thread, _| starts(cx, &Value::Obj(thread)));
        t.family(&format!("{class}."), "start join", "self, timeout=None", thread);
        t.family(&format!("{class}."), "cancel", "self", none);
        t.family(&format!("{class}."), "is_alive", "self", any_bool);
    }
}

/// `create_task` and similar functions: the coroutine may run whenever another coroutine waits.
fn task(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let coroutine = b.get("coro");
    cx.it.hook(Hook::Anytime, coroutine.clone());
    cx.it.havoc(&coroutine);
    Value::Unknown
}

/// The results of coroutines. If one of the coroutines may wait, the order in which they run is
/// unknown, and so are the results.
fn gather(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let all = b.rest_values();
    if b.open || all.iter().any(|one| cx.it.heap.suspended(one).is_none() || cx.it.waits(one)) {
        for one in &all {
            cx.it.hook(Hook::Anytime, one.clone());
            cx.it.havoc(one);
        }
        return match b.open {
            true => Value::Obj(cx.it.heap.alloc(Data::List(Items::Many(Value::Unknown)))),
            false => cx.list(vec![Value::Unknown; all.len()]),
        };
    }
    let mut results = Vec::new();
    for one in &all {
        results.push(cx.it.awaited(one));
        if cx.it.has_stopped() {
            return Value::Unknown;
        }
    }
    match b.get("return_exceptions").as_bool() {
        Some(false) => cx.list(results),
        _ => cx.list(vec![Value::Unknown; results.len()]),
    }
}

/// The target of a thread may run at any time after `start`.
fn thread(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    starts(cx, &b.get("self"));
    Value::None
}

/// The effect of a thread that may run from now on.
fn starts(cx: &mut Cx<'_, '_>, thread: &Value) {
    let target = match cx.it.user_method(thread, "run") {
        Some(run) => Value::Bound(Rc::new((thread.clone(), run))),
        None => {
            let function = match cx.attr(thread, "target") {
                Value::Unknown => cx.attr(thread, "function"),
                target => target,
            };
            let args = cx.attr(thread, "args");
            let args = cx.items(&args).unwrap_or_default();
            Value::Partial(Rc::new(Partial { func: function, args, kwargs: Vec::new() }))
        }
    };
    cx.it.hook(Hook::Anytime, target.clone());
    cx.it.havoc(&target);
}
