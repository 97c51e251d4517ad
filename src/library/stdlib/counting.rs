//! `collections.defaultdict` and `collections.Counter`: dictionaries with a value for missing keys.

use crate::library::common::instance;
use crate::library::{Cx, Table};
use crate::python::{Args, Bound};
use crate::value::{Data, Dict, Items, Key, ObjId, PAYLOAD, Type, Value, join};

const DEFAULT: &str = "collections.defaultdict";
const COUNTER: &str = "collections.Counter";
const FACTORY: &str = "default_factory";

pub(crate) fn register(t: &mut Table) {
    let class = t.class(DEFAULT, &[], "default_factory=None, *args, **kwargs");
    class.keeps_arguments = false;
    class.init = Some(|cx, object, b| {
        cx.it.heap.set_attr(object, FACTORY, b.get("default_factory"));
        let dict = given(cx, b, b.rest.first().map(|a| a.value.clone()));
        cx.it.heap.set_attr(object, PAYLOAD, dict);
    });
    t.def(&format!("{DEFAULT}.__getitem__"), "self, key", |cx, b| {
        let object = b.get("self");
        let factory = cx.attr(&object, FACTORY);
        lookup(cx, &object, &b.get("key"), |cx| match &factory {
            Value::None | Value::Unknown | Value::Open(_) => Value::Unknown,
            factory => cx.call(factory, Args::default()),
        })
    });
    let class = t.class(COUNTER, &[], "iterable=None, **kwargs");
    class.keeps_arguments = false;
    class.init = Some(|cx, object, b| {
        let dict = cx.it.heap.dict(Dict::default());
        cx.it.heap.set_attr(object, PAYLOAD, dict);
        count(cx, object, b);
    });
    t.def(&format!("{COUNTER}.__getitem__"), "self, key", |cx, b| {
        let counts = cx.it.heap.dict_of(&b.get("self")).cloned().unwrap_or_default();
        match Key::of(&b.get("key")) {
            Some(key) if counts.open.is_none() => counts.entries.get(&key).cloned().unwrap_or(Value::Int(0)),
            _ => any_count(counts.entries.values().chain(&counts.open)),
        }
    });
    t.family(&format!("{COUNTER}."), "update subtract", "self, iterable=None, **kwargs", |cx, b| {
        if let Some(object) = b.get("self").as_obj() {
            count(cx, object, b);
        }
        Value::None
    });
    t.def(&format!("{COUNTER}.most_common"), "self, n=None", most_common);
    t.def(&format!("{COUNTER}.total"), "self", |_, _| Value::Any(Type::Int));
    for class in [DEFAULT, COUNTER] {
        t.def(&format!("{class}.__iter__"), "self", |cx, b| {
            let payload = cx.attr(&b.get("self"), PAYLOAD);
            let span = cx.span;
            let items = cx.it.iterate(&payload, span);
            cx.it.heap.iter(items)
        });
        t.def(&format!("{class}.copy"), "self", |cx, b| {
            let object = b.get("self");
            let dict = cx.it.heap.dict_of(&object).cloned().unwrap_or_default();
            let payload = cx.it.heap.dict(dict);
            let factory = cx.attr(&object, FACTORY);
            let class = cx.path.as_str().trim_end_matches(".copy");
            instance(cx, class, vec![(FACTORY, factory), (PAYLOAD, payload)])
        });
    }
}

/// The dictionary made from a constructor's arguments.
fn given(cx: &mut Cx<'_, '_>, b: &Bound, from: Option<Value>) -> Value {
    let args = Args {
        pos: from.into_iter().map(|value| crate::python::Arg::new(value, cx.span)).collect(),
        kw: b.extra.clone(),
        more_kw: b.open,
        ..Args::default()
    };
    cx.call(&Value::path("builtins.dict"), args)
}

/// The entry under a key. A missing entry is created and stored.
fn lookup(cx: &mut Cx<'_, '_>, object: &Value, key: &Value, make: impl FnOnce(&mut Cx<'_, '_>) -> Value) -> Value {
    let payload = cx.attr(object, PAYLOAD);
    let (Some(id), Some(mut dict)) = (payload.as_obj(), cx.it.heap.dict_of(&payload).cloned()) else {
        return Value::Unknown;
    };
    let known = Key::of(key).filter(|_| !cx.it.heap.is_tensor(key));
    if let Some(found) = known.as_ref().and_then(|key| dict.entries.get(key)) {
        return found.clone();
    }
    if let Some(open @ (Value::Unknown | Value::Open(_))) = &dict.open {
        return open.clone();
    }
    let made = make(cx);
    if let Some(open) = &dict.open {
        // If one object represents all entries of unknown keys, it is the result. Any other value is joined with a
        // new one, because the entry may be missing.
        let kind = |value: &Value| value.as_obj().map(|id| std::mem::discriminant(cx.it.heap.get(id)));
        return match kind(open) {
            Some(_) if kind(open) == kind(&made) => open.clone(),
            _ => join(&mut cx.it.heap, open, &made, false),
        };
    }
    let entry = match known {
        Some(key) => {
            dict.entries.insert(key, made.clone());
            made
        }
        // The key is unknown, so the entry may be any existing one or a new one. From now on, one
        // value represents all entries.
        None => {
            let mut all: Vec<Value> = dict.entries.values().cloned().collect();
            all.push(made);
            let any = Items::Exact(all).element(&mut cx.it.heap);
            dict = Dict { open: Some(any.clone()), ..Dict::default() };
            any
        }
    };
    *cx.it.heap.get_mut(id) = Data::Dict(dict);
    entry
}

/// Models `Counter(…)`, `update` and `subtract`. Counts the elements of an iterable; for a mapping, for
/// keywords and for `subtract`, all counts become unknown.
fn count(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    let Some(id) = cx.it.heap.attr(object, PAYLOAD).and_then(|p| p.as_obj()) else { return };
    let Data::Dict(dict) = cx.it.heap.get(id) else { return };
    let mut dict = dict.clone();
    let iterable = b.get("iterable");
    let keys: Option<Vec<Key>> = match &iterable {
        Value::None => Some(Vec::new()),
        iterable if cx.it.heap.dict_of(iterable).is_some() => None,
        iterable => {
            let span = cx.span;
            match cx.it.iterate(iterable, span) {
                Items::Exact(items) => items.iter().map(Key::of).collect(),
                Items::Many(_) => None,
            }
        }
    };
    let counted = keys.filter(|_| cx.name() != "subtract" && b.extra.is_empty() && !b.open);
    match counted {
        Some(keys) => {
            for key in keys {
                let entry = dict.entries.entry(key).or_insert(Value::Int(0));
                *entry = entry.as_int().and_then(|n| n.checked_add(1)).map_or(Value::Any(Type::Int), Value::Int);
            }
        }
        None => {
            let more = cx.it.heap.dict_of(&iterable).cloned().unwrap_or_default();
            let count = any_count(
                dict.entries
                    .values()
                    .chain(&dict.open)
                    .chain(more.entries.values())
                    .chain(&more.open)
                    .chain(b.extra.iter().map(|(_, arg)| &arg.value)),
            );
            dict = Dict { open: Some(count), ..Dict::default() };
        }
    }
    *cx.it.heap.get_mut(id) = Data::Dict(dict);
}

/// A value that stands for any of these counts. Counts are usually integers, but mappings and
/// keywords may contain other values.
fn any_count<'a>(mut counts: impl Iterator<Item = &'a Value>) -> Value {
    let is_int = |value: &Value| value.number_type() == Some(Type::Int);
    if counts.all(is_int) { Value::Any(Type::Int) } else { Value::Unknown }
}

fn most_common(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let counts = cx.it.heap.dict_of(&b.get("self")).cloned().unwrap_or_default();
    let pairs: Option<Vec<(Value, i64)>> =
        counts.entries.iter().map(|(key, n)| Some((key.value(), n.as_int()?))).collect();
    let limit = b.get("n");
    let known = counts.open.is_none() && (limit.is_none() || limit.as_int().is_some());
    let Some(mut pairs) = pairs.filter(|_| known) else {
        return cx.list_of(Value::tuple(vec![Value::Unknown, Value::Any(Type::Int)]));
    };
    pairs.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    if let Some(limit) = limit.as_int() {
        pairs.truncate(usize::try_from(limit).unwrap_or(0));
    }
    let rows = pairs.into_iter().map(|(key, n)| Value::tuple(vec![key, Value::Int(n)])).collect();
    cx.list(rows)
}
