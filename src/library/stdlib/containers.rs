//! `collections`.

use crate::library::common::{any_int, instance};
use crate::library::{Cx, Table};
use crate::python::Bound;
use crate::value::{Data, Dict, Items, Partial, Sym, Type, Value, sym};

const MAKE_TUPLE: &str = "collections.namedtuple.__new__";
const FIELDS: &str = "_fields";

pub fn register(t: &mut Table) {
    t.alias("collections.OrderedDict", "builtins.dict");
    t.alias("typing.OrderedDict", "builtins.dict");
    t.def("collections.deque", "iterable=None, maxlen=None", |cx, b| {
        let span = cx.span;
        let items = match b.get("iterable") {
            Value::None => Items::Exact(Vec::new()),
            iterable => cx.it.iterate(&iterable, span),
        };
        Value::Obj(cx.it.heap.alloc(Data::List(items)))
    });
    t.def("collections.namedtuple", "typename, field_names, *, rename=False, defaults=None, module=None", namedtuple);
    t.def(MAKE_TUPLE, "fields, defaults, *values, **kwargs", make_tuple);
    t.class("collections.namedtuple.instance", &[], "").keeps_arguments = false;
    t.def("collections.namedtuple.instance.__iter__", "self", as_tuple);
    t.def("collections.namedtuple.instance.__len__", "self", |cx, b| {
        let fields = cx.attr(&b.get("self"), FIELDS);
        cx.items(&fields).map_or(Value::Any(Type::Int), |f| crate::library::common::length_of(f.len()))
    });
    t.def("collections.namedtuple.instance.__getitem__", "self, index", |cx, b| {
        let (items, span) = (as_tuple(cx, b), cx.span);
        cx.it.subscript(&items, &b.get("index"), span)
    });
    t.def("collections.namedtuple.instance._replace", "self, **changes", |cx, b| {
        let Some(found) = cx.it.heap.instance_of(&b.get("self")) else { return Value::Unknown };
        let mut copy = found.clone();
        copy.open |= b.open;
        copy.attrs.extend(b.extra.iter().map(|(name, arg)| (*name, arg.value.clone())));
        Value::Obj(cx.it.heap.alloc(Data::Instance(copy)))
    });
    t.def("collections.namedtuple.instance._asdict", "self", |cx, b| {
        let object = b.get("self");
        let fields = cx.attr(&object, FIELDS);
        let mut dict = Dict::default();
        for name in cx.items(&fields).unwrap_or_default() {
            if let Value::Str(name) = name {
                let value = cx.attr(&object, &name);
                dict.entries.insert(crate::value::Key::Str(name), value);
            }
        }
        cx.it.heap.dict(dict)
    });
    t.def("collections.namedtuple.instance.index", "self, value", any_int);
}

/// A class of tuples with names: a callee that makes them.
fn namedtuple(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let fields: Option<Vec<Value>> = match b.get("field_names") {
        Value::Str(text) => {
            Some(text.split([',', ' ', '\t', '\n']).filter(|s| !s.is_empty()).map(Value::str).collect())
        }
        other => cx.items(&other),
    };
    let Some(fields) = fields.filter(|f| f.iter().all(|f| f.as_str().is_some())) else { return Value::Unknown };
    let defaults = match b.get("defaults") {
        Value::None => Some(Vec::new()),
        other => cx.items(&other),
    };
    let Some(defaults) = defaults else { return Value::Unknown };
    Value::Partial(std::rc::Rc::new(Partial {
        func: Value::path(MAKE_TUPLE),
        args: vec![Value::tuple(fields), Value::tuple(defaults)],
        kwargs: Vec::new(),
    }))
}

fn make_tuple(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (Some(fields), Some(defaults)) = (cx.items(&b.get("fields")), cx.items(&b.get("defaults"))) else {
        return Value::Unknown;
    };
    let mut attrs: Vec<(Sym, Value)> = Vec::new();
    let first_default = fields.len().saturating_sub(defaults.len());
    for (i, field) in fields.iter().enumerate() {
        let Some(name) = field.as_str() else { return Value::Unknown };
        let given = b.rest.get(i).map(|a| a.value.clone());
        let named = || b.extra.iter().find(|(k, _)| k.as_str() == name).map(|(_, a)| a.value.clone());
        let default = || i.checked_sub(first_default).and_then(|at| defaults.get(at).cloned());
        let value = if b.open { given } else { given.or_else(named).or_else(default) };
        attrs.push((sym(name), value.unwrap_or(Value::Unknown)));
    }
    let out = instance(cx, "collections.namedtuple.instance", vec![(FIELDS, b.get("fields"))]);
    if let Some(instance) = out.as_obj().and_then(|id| cx.it.heap.instance_mut(id)) {
        instance.attrs.extend(attrs);
    }
    out
}

fn as_tuple(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let fields = cx.attr(&object, FIELDS);
    match cx.items(&fields) {
        Some(fields) => {
            let values = fields.iter().map(|f| f.as_str().map_or(Value::Unknown, |f| cx.attr(&object, f))).collect();
            Value::tuple(values)
        }
        None => Value::Unknown,
    }
}
