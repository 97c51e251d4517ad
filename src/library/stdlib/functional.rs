//! `functools` and `operator`.

use std::rc::Rc;

use crate::library::common::first;
use crate::library::{Cx, Table};
use crate::python::{Args, Bound};
use crate::value::{Items, Partial, Type, Value};

/// The path of a function that returns its argument: what a decorator factory makes.
pub const IDENTITY: &str = "torchvet.identity";

pub fn register(t: &mut Table) {
    t.def(IDENTITY, "value", first);
    t.def("functools.partial", "func, *_args, **kwargs", partial);
    t.def("functools.reduce", "function, iterable, initial=None", reduce);
    t.def("functools.wraps", "wrapped, *args, **kwargs", |_, _| Value::path(IDENTITY));
    t.def("functools.update_wrapper", "wrapper, *args, **kwargs", first);
    t.def("functools.lru_cache", "maxsize=128, typed=False", lru_cache);
    t.family("functools.", "cache total_ordering singledispatch", "value", first);
    t.alias("functools.cached_property", "builtins.property");
    t.def("atexit.register", "func, *args, **kwargs", first);

    t.family("operator.", "mul imul", "a, b", |_, b| sizes(b, |x, y| x.mul(y), |x, y| x * y));
    t.family("operator.", "add iadd", "a, b", |_, b| sizes(b, |x, y| x.add(y), |x, y| x + y));
    t.def("operator.sub", "a, b", |_, b| sizes(b, |x, y| x.sub(y), |x, y| x - y));
}

fn partial(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if b.open {
        return Value::Unknown;
    }
    let _ = cx;
    Value::Partial(Rc::new(Partial {
        func: b.get("func"),
        args: b.rest_values(),
        kwargs: b.extra.iter().map(|(name, arg)| (*name, arg.value.clone())).collect(),
    }))
}

fn reduce(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (span, function) = (cx.span, b.get("function"));
    let Items::Exact(values) = cx.it.iterate(&b.get("iterable"), span) else { return Value::Unknown };
    if b.open || values.len() > 64 {
        return Value::Unknown;
    }
    let initial = b.arg("initial").map(|a| a.value.clone());
    let folded = initial.into_iter().chain(values).reduce(|acc, value| {
        let args = Args::positional([acc, value], span);
        cx.call(&function, args)
    });
    folded.unwrap_or(Value::Unknown)
}

/// `@lru_cache` decorates, `@lru_cache(maxsize=None)` makes a decorator.
fn lru_cache(_cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    match b.get("maxsize") {
        function @ (Value::Obj(_) | Value::Path(_) | Value::Bound(_) | Value::Partial(_)) => function,
        Value::Unknown => Value::Unknown,
        _ => Value::path(IDENTITY),
    }
}

/// Arithmetic on two numbers, as far as it is that of lengths.
fn sizes(
    b: &Bound,
    whole: fn(&crate::value::Size, &crate::value::Size) -> crate::value::Size,
    real: fn(f64, f64) -> f64,
) -> Value {
    let (x, y) = (b.get("a"), b.get("b"));
    match (x.number_type(), y.number_type()) {
        (Some(Type::Bool | Type::Int), Some(Type::Bool | Type::Int)) => match (x.as_size(), y.as_size()) {
            (Some(x), Some(y)) => Value::size(&whole(&x, &y)),
            _ => Value::Any(Type::Int),
        },
        (Some(Type::Complex), _) | (_, Some(Type::Complex)) | (None, _) | (_, None) => Value::Unknown,
        _ => match (x.as_f64(), y.as_f64()) {
            (Some(x), Some(y)) => Value::Float(real(x, y)),
            _ => Value::Any(Type::Float),
        },
    }
}
