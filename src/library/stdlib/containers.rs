//! `collections`.

use crate::library::common::{any_int, instance};
use crate::library::{Cx, Table};
use crate::python::{Args, Bound};
use crate::value::{Data, Dict, Items, PAYLOAD, Sym, Type, Value, sym};

const MAKE_TUPLE: &str = "collections.namedtuple.__new__";
const FIELDS: &str = "_fields";
const DEQUE: &str = "collections.deque";
const MAXLEN: &str = "maxlen";

pub(crate) fn register(t: &mut Table) {
    t.alias("collections.OrderedDict", "builtins.dict");
    t.alias("typing.OrderedDict", "builtins.dict");
    let class = t.class(DEQUE, &[], "iterable=None, maxlen=None");
    class.keeps_arguments = false;
    class.init = Some(|cx, object, b| {
        let span = cx.span;
        let items = match b.get("iterable") {
            Value::None => Items::Exact(Vec::new()),
            iterable => cx.it.iterate(&iterable, span),
        };
        let list = Value::Obj(cx.it.heap.alloc(Data::List(items)));
        cx.it.heap.set_attr(object, PAYLOAD, list.clone());
        cx.it.heap.set_attr(object, MAXLEN, b.get("maxlen"));
        trim(cx, &Value::Obj(object), &list, true);
    });
    for (name, end) in [("append", true), ("extend", true), ("appendleft", false), ("extendleft", false)] {
        t.def(&format!("{DEQUE}.{name}"), "self, value", if end { push_right } else { push_left });
    }
    t.def(&format!("{DEQUE}.popleft"), "self", |cx, b| {
        let (list, span) = (cx.attr(&b.get("self"), PAYLOAD), cx.span);
        cx.it.call_method(&list, "pop", Args::positional([Value::Int(0)], span), span)
    });
    t.def(&format!("{DEQUE}.rotate"), "self, n=1", |cx, b| {
        let (list, span) = (cx.attr(&b.get("self"), PAYLOAD), cx.span);
        cx.it.call_method(&list, "rotate", Args::positional([b.get("n")], span), span)
    });
    t.def(&format!("{DEQUE}.copy"), "self", |cx, b| {
        let object = b.get("self");
        let (list, span) = (cx.attr(&object, PAYLOAD), cx.span);
        let copy = cx.it.call_method(&list, "copy", Args::default(), span);
        let maxlen = cx.attr(&object, MAXLEN);
        crate::library::common::instance(cx, DEQUE, vec![(PAYLOAD, copy), (MAXLEN, maxlen)])
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
    // Instances of the program's named tuples: the attributes are the fields, in order.
    t.class("typing.NamedTuple", &[], "*args, **kwargs").keeps_arguments = false;
    t.def("typing.NamedTuple.__len__", "self", |cx, b| {
        let items = elements(cx, b);
        let known = cx.items(&items).map(|items| crate::library::common::length_of(items.len()));
        known.unwrap_or(Value::Any(Type::Int))
    });
    t.def("typing.NamedTuple.__iter__", "self", elements);
    t.def("typing.NamedTuple.__getitem__", "self, index", |cx, b| {
        let (items, span) = (elements(cx, b), cx.span);
        cx.it.subscript(&items, &b.get("index"), span)
    });
    t.def("typing.NamedTuple._replace", "self, **changes", |cx, b| {
        let object = b.get("self");
        let Some(found) = cx.it.heap.instance_of(&object) else { return Value::Unknown };
        let mut copy = found.clone();
        // The copy lacks the other attributes, which the program may then set in unseen ways.
        let names = cx.it.element_names(&object);
        copy.attrs.retain(|name, _| names.contains(name));
        copy.open |= b.open || copy.attrs.len() < found.attrs.len();
        copy.attrs.extend(b.extra.iter().map(|(name, arg)| (*name, arg.value.clone())));
        Value::Obj(cx.it.heap.alloc(Data::Instance(copy)))
    });
    t.def("typing.NamedTuple._asdict", "self", |cx, b| {
        let Some(found) = cx.it.heap.instance_of(&b.get("self")) else { return Value::Unknown };
        let mut dict = Dict { open: found.open.then_some(Value::Unknown), ..Dict::default() };
        for (name, value) in &found.attrs {
            dict.entries.insert(crate::value::Key::Str(name.as_str().into()), value.clone());
        }
        cx.it.heap.dict(dict)
    });
    t.family("typing.NamedTuple.", "index count", "self, value", any_int);
}

fn push_right(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    push(cx, b, true)
}

fn push_left(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    push(cx, b, false)
}

/// Appends an element at one end of a deque. If the deque is then too long, drops elements at the
/// other end.
fn push(cx: &mut Cx<'_, '_>, b: &Bound, right: bool) -> Value {
    let (object, span) = (b.get("self"), cx.span);
    let list = cx.attr(&object, PAYLOAD);
    let name = cx.name();
    cx.it.call_method(&list, name, Args::positional([b.get("value")], span), span);
    trim(cx, &object, &list, right);
    Value::None
}

/// Limits a deque to its maximum length.
fn trim(cx: &mut Cx<'_, '_>, deque: &Value, list: &Value, right: bool) {
    let maxlen = cx.attr(deque, MAXLEN);
    let Some(id) = list.as_obj() else { return };
    let Data::List(items) = cx.it.heap.get(id) else { return };
    let items = items.clone();
    let kept = match (&items, &maxlen) {
        (_, Value::None) | (Items::Many(_), _) => return,
        (Items::Exact(values), Value::Int(most)) => {
            let over = values.len().saturating_sub(usize::try_from(*most).unwrap_or(0));
            if over == 0 {
                return;
            }
            let kept = values.iter().skip(if right { over } else { 0 });
            Items::Exact(kept.take(values.len() - over).cloned().collect())
        }
        _ => Items::Many(items.element(&mut cx.it.heap)),
    };
    *cx.it.heap.get_mut(id) = Data::List(kept);
}

/// The fields of a named tuple of the program.
fn elements(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let is_open = cx.it.heap.instance_of(&object).is_none_or(|instance| instance.open);
    if is_open { Value::Unknown } else { Value::tuple(cx.it.named_elements(&object)) }
}

/// A named tuple class: a callable that creates instances.
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
    let (Value::Str(name), false) = (b.get("typename"), b.get("rename").as_bool() != Some(false)) else {
        return Value::Unknown;
    };
    let fields: Vec<Sym> = fields.iter().filter_map(|f| f.as_str().map(sym)).collect();
    cx.it.named_tuple(&name, &fields, &defaults)
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
