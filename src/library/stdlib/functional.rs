//! `functools` and `operator`.

use std::rc::Rc;

use crate::library::common::{first, instance};
use crate::library::{Cx, Table};
use crate::python::{Args, BinOp, Bound, MEMO, MEMO_SIZE};
use crate::value::{Data, Dict, Items, Key, Partial, Type, Value, sym};

/// Functions that compute what an operator computes.
const OPERATORS: &[(&str, BinOp)] = &[
    ("add", BinOp::Add),
    ("sub", BinOp::Sub),
    ("mul", BinOp::Mul),
    ("matmul", BinOp::MatMul),
    ("truediv", BinOp::Div),
    ("floordiv", BinOp::FloorDiv),
    ("mod", BinOp::Mod),
    ("pow", BinOp::Pow),
    ("and_", BinOp::BitAnd),
    ("or_", BinOp::BitOr),
    ("xor", BinOp::BitXor),
];

/// The path of a function that returns its argument. It models decorators that change nothing.
pub(crate) const IDENTITY: &str = "torchvet.identity";

/// The path of the decorator that `wraps(…)` returns.
const WRAPS: &str = "functools.wraps.of";
/// The path of the decorator that `lru_cache(…)` returns.
const MEMOIZE: &str = "functools.lru_cache.of";

pub(crate) fn register(t: &mut Table) {
    t.def(IDENTITY, "value", first);
    t.def("functools.partial", "func, *_args, **kwargs", partial);
    t.def("functools.reduce", "function, iterable, initial=None", reduce);
    t.def("functools.wraps", "wrapped, *args, **kwargs", |_, b| {
        let args = vec![b.get("wrapped")];
        Value::Partial(Rc::new(Partial { func: Value::path(WRAPS), args, kwargs: Vec::new() }))
    });
    t.def(WRAPS, "wrapped, wrapper", |cx, b| named_as(cx, &b.get("wrapper"), &b.get("wrapped")));
    t.def("functools.update_wrapper", "wrapper, wrapped, *args, **kwargs", |cx, b| {
        named_as(cx, &b.get("wrapper"), &b.get("wrapped"))
    });
    t.def("functools.lru_cache", "maxsize=128, typed=False", lru_cache);
    t.def("functools.cache", "user_function", |cx, b| memoized(cx, &b.get("user_function"), &Value::None));
    t.def("functools.total_ordering", "cls", first);
    t.def(MEMOIZE, "maxsize, function", |cx, b| memoized(cx, &b.get("function"), &b.get("maxsize")));
    t.def(
        "inspect.signature",
        "callable, *, follow_wrapped=True, globals=None, locals=None, eval_str=False",
        signature,
    );
    t.def("atexit.register", "func, *args, **kwargs", first);

    for (name, _) in OPERATORS {
        t.def(&format!("operator.{name}"), "a, b", |cx, b| {
            let (name, span) = (cx.name(), cx.span);
            let op = OPERATORS.iter().find(|(known, _)| *known == name).map(|(_, op)| *op);
            op.map_or(Value::Unknown, |op| cx.it.binary(op, &b.get("a"), &b.get("b"), span))
        });
    }
    t.def("operator.getitem", "a, b", |cx, b| {
        let span = cx.span;
        cx.it.subscript(&b.get("a"), &b.get("b"), span)
    });
    t.def("operator.itemgetter", "item, *items", |_, b| getter("operator.getitem.of", b));
    t.def("operator.getitem.of", "items, a", |cx, b| {
        let span = cx.span;
        each(cx, b, |cx, a, item| cx.it.subscript(a, item, span))
    });
    t.def("operator.attrgetter", "item, *items", |_, b| getter("operator.getattr.of", b));
    t.def("operator.getattr.of", "items, a", |cx, b| {
        let span = cx.span;
        each(cx, b, |cx, a, item| {
            let names = item.as_str().unwrap_or_default().split('.');
            names.fold(a.clone(), |value, name| cx.it.getattr(&value, sym(name), span))
        })
    });
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

/// `@lru_cache` decorates a function; `lru_cache(maxsize=None)` returns a decorator.
fn lru_cache(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    match b.get("maxsize") {
        function @ (Value::Obj(_) | Value::Path(_) | Value::Bound(_) | Value::Partial(_)) => {
            memoized(cx, &function, &Value::Int(128))
        }
        size => Value::Partial(Rc::new(Partial { func: Value::path(MEMOIZE), args: vec![size], kwargs: Vec::new() })),
    }
}

/// A function with a cache of its results.
fn memoized(cx: &mut Cx<'_, '_>, function: &Value, size: &Value) -> Value {
    let Some(id) = function.as_obj() else { return Value::Unknown };
    let Data::Function(function) = cx.it.heap.get(id) else { return Value::Unknown };
    let mut function = function.clone();
    let memo = cx.it.heap.dict(Dict::default());
    function.attrs.insert(sym(MEMO), memo);
    function.attrs.insert(sym(MEMO_SIZE), size.clone());
    Value::Obj(cx.it.heap.alloc(Data::Function(function)))
}

/// Gives a wrapper the name of the wrapped function.
fn named_as(cx: &mut Cx<'_, '_>, wrapper: &Value, wrapped: &Value) -> Value {
    let span = cx.span;
    let name = cx.it.try_getattr(wrapped, sym("__name__"), span).unwrap_or(Value::Any(Type::Str));
    if let Some(id) = wrapper.as_obj()
        && matches!(cx.it.heap.get(id), Data::Function(_))
        && let Data::Function(function) = cx.it.heap.get_mut(id)
    {
        function.attrs.insert(sym("__name__"), name);
    }
    wrapper.clone()
}

/// The result of `itemgetter` and `attrgetter`: a function that still expects its argument.
fn getter(path: &str, b: &Bound) -> Value {
    let mut items = vec![b.get("item")];
    items.extend(b.rest_values());
    Value::Partial(Rc::new(Partial { func: Value::path(path), args: vec![Value::tuple(items)], kwargs: Vec::new() }))
}

/// One part of an object, or several as a tuple.
fn each(cx: &mut Cx<'_, '_>, b: &Bound, get: impl Fn(&mut Cx<'_, '_>, &Value, &Value) -> Value) -> Value {
    let a = b.get("a");
    match cx.items(&b.get("items")).unwrap_or_default().as_slice() {
        [one] => get(cx, &a, one),
        several => {
            let parts = several.iter().map(|item| get(cx, &a, item)).collect();
            Value::tuple(parts)
        }
    }
}

/// An object whose `parameters` have the names of the function's parameters, for tests such as
/// `"name" in signature(function).parameters`.
fn signature(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(names) = cx.it.parameter_names(&b.get("callable")) else { return Value::Unknown };
    let entries = names.into_iter().map(|name| (Key::Str(name.as_str().into()), Value::Unknown)).collect();
    let parameters = cx.it.heap.dict(Dict { entries, open: None });
    instance(cx, "inspect.Signature", vec![("parameters", parameters)])
}
