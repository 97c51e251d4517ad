//! `copy`: new objects with the same facts.

use rustc_hash::FxHashMap;

use crate::library::common::instance;
use crate::library::{Cx, Table};
use crate::python::{Args, Bound};
use crate::value::{Data, Dict, Heap, Items, Iter, Key, ObjId, PAYLOAD, Value, is_mark, sym};

/// A structure with more objects than this is copied as an unknown value.
const MOST: usize = 20_000;

pub(crate) fn register(t: &mut Table) {
    t.def("copy.copy", "x", shallow);
    t.def("copy.deepcopy", "x, memo=None", deep);
    t.def("dataclasses.asdict", "obj, *, dict_factory=None", asdict);
    t.def("dataclasses.replace", "obj, **changes", replace);
    t.def("dataclasses.field", "*, default=None, default_factory=None, init=True, repr=True, hash=None, compare=True, metadata=None, kw_only=None", field);
}

fn shallow(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (value, span) = (b.get("x"), cx.span);
    if let Some(method) = cx.it.user_method(&value, "__copy__") {
        return cx.call(&method, Args::positional([value], span));
    }
    let Some(id) = value.as_obj() else { return value };
    let heap = &mut cx.it.heap;
    match heap.get(id).clone() {
        Data::Function(_) | Data::Class(_) | Data::Module { .. } | Data::Scope(_) => value,
        // A shallow copy shares the tensor's memory.
        Data::Tensor(tensor) => cx.view_of(&value, tensor),
        mut data => {
            // An instance of a subclass of `dict` or `list` stores its elements in an object of
            // its own, which is copied, too.
            if let Data::Instance(instance) = &mut data
                && let Some(payload) = instance.attrs.get_mut(&sym(PAYLOAD))
                && let Some(id) = payload.as_obj()
            {
                let copy = heap.get(id).clone();
                *payload = Value::Obj(heap.alloc(copy));
            }
            Value::Obj(heap.alloc(data))
        }
    }
}

fn deep(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (value, span) = (b.get("x"), cx.span);
    if let Some(method) = cx.it.user_method(&value, "__deepcopy__") {
        let memo = cx.it.heap.dict(Dict::default());
        return cx.call(&method, Args::positional([value, memo], span));
    }
    deepcopy(&mut cx.it.heap, &value)
}

/// A copy that shares no data with the original. Functions, classes and Python modules are not copied.
pub(crate) fn deepcopy(heap: &mut Heap, value: &Value) -> Value {
    let mut copier = Copier { heap, done: FxHashMap::default(), depth: 0 };
    copier.value(value).unwrap_or(Value::Unknown)
}

struct Copier<'h> {
    heap: &'h mut Heap,
    done: FxHashMap<ObjId, ObjId>,
    depth: u32,
}

impl Copier<'_> {
    fn value(&mut self, value: &Value) -> Option<Value> {
        Some(match value {
            Value::Obj(id) => Value::Obj(self.object(*id)?),
            Value::Tuple(items) => Value::tuple(items.iter().map(|v| self.value(v)).collect::<Option<_>>()?),
            Value::Bound(pair) => Value::Bound(std::rc::Rc::new((self.value(&pair.0)?, self.value(&pair.1)?))),
            Value::Method(pair) => Value::Method(std::rc::Rc::new((self.value(&pair.0)?, pair.1))),
            other => other.clone(),
        })
    }

    fn object(&mut self, id: ObjId) -> Option<ObjId> {
        if let Some(done) = self.done.get(&id) {
            return Some(*done);
        }
        if self.done.len() >= MOST || self.depth > 200 {
            return None;
        }
        let data = self.heap.get(id).clone();
        match data {
            Data::Function(_) | Data::Class(_) | Data::Module { .. } | Data::Scope(_) => return Some(id),
            Data::Tensor(_) => {
                let mut tensor = self.heap.tensor_of(&Value::Obj(id))?;
                tensor.base = None;
                tensor.version = 0;
                tensor.writes = 0;
                let copy = self.heap.alloc(Data::Tensor(tensor));
                self.done.insert(id, copy);
                return Some(copy);
            }
            _ => {}
        }
        // The copy is stored before its parts are copied, because a part may refer back to it.
        let copy = self.heap.alloc(data.clone());
        self.done.insert(id, copy);
        self.depth += 1;
        let data = match data {
            Data::List(items) => Data::List(self.items(&items)?),
            Data::Set(items) => Data::Set(self.items(&items)?),
            Data::Iter(iter) => Data::Iter(Iter { items: self.items(&iter.items)?, ..iter.clone() }),
            Data::Dict(dict) => {
                let mut out = Dict::default();
                for (key, value) in &dict.entries {
                    let key = match key {
                        Key::Obj(id) => Key::Obj(self.object(*id)?),
                        other => other.clone(),
                    };
                    out.entries.insert(key, self.value(value)?);
                }
                out.open = match &dict.open {
                    Some(value) => Some(self.value(value)?),
                    None => None,
                };
                Data::Dict(out)
            }
            Data::Instance(instance) if self.copies_itself(&instance.class, 8) => return None,
            Data::Instance(mut instance) => {
                for value in instance.attrs.values_mut() {
                    *value = self.value(value)?;
                }
                Data::Instance(instance)
            }
            other => other,
        };
        self.depth -= 1;
        *self.heap.get_mut(copy) = data;
        Some(copy)
    }

    /// Whether a class of the program defines how its instances are copied.
    fn copies_itself(&self, class: &Value, depth: u32) -> bool {
        let Some(Data::Class(class)) = class.as_obj().map(|id| self.heap.get(id)) else { return false };
        class.attrs.contains_key(&sym("__deepcopy__"))
            || depth > 0 && class.bases.iter().any(|base| self.copies_itself(base, depth - 1))
    }

    fn items(&mut self, items: &Items) -> Option<Items> {
        Some(match items {
            Items::Exact(values) => Items::Exact(values.iter().map(|v| self.value(v)).collect::<Option<_>>()?),
            Items::Many(value) => Items::Many(self.value(value)?),
        })
    }
}

fn asdict(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let copy = deepcopy(&mut cx.it.heap, &b.get("obj"));
    let Some(instance) = cx.it.heap.instance_of(&copy) else { return Value::Unknown };
    let mut dict = Dict { open: instance.open.then_some(Value::Unknown), ..Dict::default() };
    for (name, value) in instance.attrs.iter().filter(|(name, _)| !is_mark(**name)) {
        dict.entries.insert(Key::Str(name.as_str().into()), value.clone());
    }
    // Nested dataclasses become dictionaries, too. This is not modelled.
    for value in dict.entries.values_mut() {
        if holds_instance(&cx.it.heap, value, NESTED) {
            *value = Value::Unknown;
        }
    }
    cx.it.heap.dict(dict)
}

/// The depth to which collections are searched for instances.
const NESTED: u32 = 4;

/// Whether a value is an instance, or a collection that holds one. This is assumed of collections that are nested
/// too deeply.
fn holds_instance(heap: &Heap, value: &Value, depth: u32) -> bool {
    let Some(below) = depth.checked_sub(1) else { return true };
    let any = |values: &[Value]| values.iter().any(|value| holds_instance(heap, value, below));
    match value {
        Value::Tuple(items) => any(items),
        Value::Obj(id) => match heap.get(*id) {
            Data::Instance(_) => true,
            Data::List(Items::Exact(items)) | Data::Set(Items::Exact(items)) => any(items),
            Data::List(Items::Many(item)) | Data::Set(Items::Many(item)) => holds_instance(heap, item, below),
            Data::Dict(dict) => dict.entries.values().chain(&dict.open).any(|value| holds_instance(heap, value, below)),
            _ => false,
        },
        _ => false,
    }
}

fn replace(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(instance) = cx.it.heap.instance_of(&b.get("obj")) else { return Value::Unknown };
    let mut copy = instance.clone();
    if b.open {
        return Value::Unknown;
    }
    for (name, arg) in &b.extra {
        copy.attrs.insert(*name, arg.value.clone());
    }
    Value::Obj(cx.it.heap.alloc(Data::Instance(copy)))
}

/// `dataclasses.field(…)` in a class body: an object that holds the default of the field.
fn field(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if b.open {
        return Value::Unknown;
    }
    let given = ["default", "default_factory"].into_iter().filter(|name| b.given(name));
    let given = given.map(|name| (name, b.get(name))).collect();
    instance(cx, "dataclasses.Field", given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deep_copy_keeps_cycles_and_shares_nothing() {
        let mut heap = Heap::new();
        let list = heap.list(vec![Value::Int(1)]);
        let object = heap.instance(Value::path("Net"));
        heap.set_attr(object, "me", Value::Obj(object));
        heap.set_attr(object, "items", list.clone());
        let copy = deepcopy(&mut heap, &Value::Obj(object));
        let copied = heap.instance_of(&copy).expect("an instance").clone();
        assert_ne!(copy.as_obj(), Some(object));
        assert_eq!(copied.attrs.get(&sym("me")).and_then(Value::as_obj), copy.as_obj());
        assert_ne!(copied.attrs.get(&sym("items")).and_then(Value::as_obj), list.as_obj());
    }
}
