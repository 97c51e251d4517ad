//! Subclasses of `torch.autograd.Function`: operations with a backward of their own.

use crate::library::notes::GRAD_MODE;
use crate::library::{Cx, Table};
use crate::python::{Arg, Args, Bound};
use crate::value::{Grad, Value, sym};

pub(crate) fn register(t: &mut Table) {
    let function = t.class("torch.autograd.Function", &[], "*args, **kwargs");
    function.keeps_arguments = false;
    function.invoke = Some(call_of_instance);
    t.alias("torch.autograd.function.Function", "torch.autograd.Function");
    t.def("torch.autograd.Function.apply", "self, *args, **kwargs", apply);
}

/// Calls an instance of a `Function`, as old programs do. This always raises.
fn call_of_instance(cx: &mut Cx<'_, '_>, _: &Value, _: Args) -> Option<Value> {
    let message = "an instance of a `torch.autograd.Function` can no longer be called: make `forward` and \
                   `backward` static methods, and call `apply` of the class";
    cx.it.report_arguments(message.to_owned(), cx.span);
    Some(Value::Unknown)
}

/// `Class.apply(…)`: runs `forward` of the class without gradients. Its results are computed from the
/// inputs by a single node of the graph.
fn apply(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (class, span) = (b.get("self"), cx.span);
    let mut own = |name| cx.it.try_getattr(&class, sym(name), span).filter(|method| method.as_obj().is_some());
    let takes_context = own("setup_context").is_none();
    let Some(forward) = own("forward").filter(|_| !b.open) else { return Value::Unknown };
    // The context is unknown: `forward` may store anything in it.
    let context = takes_context.then(|| Arg::new(Value::Unknown, span));
    let pos = context.into_iter().chain(b.rest.iter().cloned()).collect();
    let mode = cx.it.remembered(GRAD_MODE);
    cx.it.remember(GRAD_MODE, Value::Bool(false));
    let result = cx.it.call(&forward, Args { pos, kw: b.extra.clone(), ..Args::default() }, span);
    cx.it.remember(GRAD_MODE, mode.clone().unwrap_or(Value::Bool(true)));
    let is_constant = |arg: &Arg| match cx.tensor(&arg.value) {
        Some(tensor) => tensor.grad == Grad::Off,
        None => !arg.value.is_unknown() && arg.value.as_obj().is_none(),
    };
    let off = mode.and_then(|mode| mode.as_bool()) == Some(false) || b.rest.iter().all(is_constant);
    let grad = if off { Grad::Off } else { Grad::Unknown };
    let mut give = |value: &Value| match cx.tensor(value) {
        Some(mut facts) => {
            (facts.grad, facts.base) = (grad, None);
            cx.out(facts)
        }
        None => value.clone(),
    };
    match &result {
        Value::Tuple(items) => {
            let items = items.iter().map(give).collect();
            Value::tuple(items)
        }
        one => give(one),
    }
}
