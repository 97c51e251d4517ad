//! Deep copies of modules, as made by `TransformerEncoder` and `AveragedModel`.

use rustc_hash::FxHashMap;

use crate::library::Cx;
use crate::python::Interp;
use crate::value::{Data, Dict, Items, ObjId, Tensor, Value};

/// A deep copy of a module: copies its tensors, lists, dictionaries and sub-modules, and shares
/// other objects.
pub(crate) fn copied(cx: &mut Cx<'_, '_>, value: &Value) -> Value {
    copy_at(cx.it, value, &mut FxHashMap::default(), 24)
}

fn copy_at(it: &mut Interp<'_>, value: &Value, done: &mut FxHashMap<ObjId, Value>, depth: u32) -> Value {
    let Some(id) = value.as_obj() else { return value.clone() };
    if let Some(copy) = done.get(&id) {
        return copy.clone();
    }
    if depth == 0 {
        return Value::Unknown;
    }
    match it.heap.get(id).clone() {
        Data::Tensor(tensor) => {
            let copy = it.heap.alloc(Data::Tensor(Tensor { base: None, version: tensor.writes, ..tensor }));
            done.insert(id, Value::Obj(copy));
            Value::Obj(copy)
        }
        Data::Instance(instance) => {
            let copy = it.heap.instance(instance.class.clone());
            done.insert(id, Value::Obj(copy));
            for (name, value) in &instance.attrs {
                let value = copy_at(it, value, done, depth - 1);
                it.heap.set_attr(copy, name.as_str(), value);
            }
            if let Some(made) = it.heap.instance_mut(copy) {
                made.open = instance.open;
            }
            Value::Obj(copy)
        }
        Data::List(Items::Exact(values)) => {
            let values = values.iter().map(|v| copy_at(it, v, done, depth - 1)).collect();
            it.heap.list(values)
        }
        Data::List(Items::Many(value)) => {
            let value = copy_at(it, &value, done, depth - 1);
            Value::Obj(it.heap.alloc(Data::List(Items::Many(value))))
        }
        Data::Dict(dict) => {
            let mut copy = Dict::default();
            for (key, value) in &dict.entries {
                let value = copy_at(it, value, done, depth - 1);
                copy.entries.insert(key.clone(), value);
            }
            copy.open = dict.open.map(|v| copy_at(it, &v, done, depth - 1));
            it.heap.dict(copy)
        }
        _ => value.clone(),
    }
}
