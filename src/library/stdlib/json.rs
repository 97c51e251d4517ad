//! `json`: values that it cannot write.

use crate::library::common::{any_str, none};
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{ArrayKind, Data, Dtype, Items, Type, Value};

/// The depth to which lists and dictionaries are searched.
const DEPTH: u32 = 4;

pub(crate) fn register(t: &mut Table) {
    t.def("json.dumps", "obj, **kwargs", |cx, b| {
        refuse_unwritable(cx, b);
        any_str(cx, b)
    });
    t.def("json.dump", "obj, fp, **kwargs", |cx, b| {
        refuse_unwritable(cx, b);
        none(cx, b)
    });
}

/// Rejects a value that contains a tensor, an array or another value that JSON does not have.
fn refuse_unwritable(cx: &mut Cx<'_, '_>, b: &Bound) {
    let is_converted = |name: &str| matches!(name, "default" | "cls" | "skipkeys");
    if b.open || b.extra.iter().any(|(name, _)| is_converted(name.as_str())) {
        return;
    }
    if let Some(what) = unwritable(cx, &b.get("obj"), DEPTH) {
        cx.reject(RejectKind::Value, format!("JSON cannot contain {what}: convert it first"), Vec::new());
    }
}

/// What a value contains that JSON does not have.
fn unwritable(cx: &Cx<'_, '_>, value: &Value, depth: u32) -> Option<&'static str> {
    let inner = |value: &Value| if depth > 0 { unwritable(cx, value, depth - 1) } else { None };
    match value {
        Value::Any(Type::Bytes) => Some("bytes"),
        Value::Dtype(_) => Some("a dtype"),
        Value::Device(_) => Some("a device"),
        Value::Tuple(parts) => parts.iter().find_map(inner),
        Value::Obj(id) => match cx.it.heap.get(*id) {
            Data::Tensor(tensor) if tensor.wrapper.is_some() => None,
            Data::Tensor(tensor) if tensor.array == ArrayKind::Torch => {
                (tensor.shape.is_some() || tensor.dtype.is_some()).then_some("a tensor")
            }
            // NumPy's float64 is a float of Python.
            Data::Tensor(tensor) => match (tensor.rank(), tensor.dtype) {
                (Some(1..), _) => Some("a NumPy array"),
                (Some(0), Some(dtype)) if dtype != Dtype::Float64 => Some("a NumPy scalar"),
                _ => None,
            },
            Data::List(Items::Exact(items)) => items.iter().find_map(inner),
            Data::List(Items::Many(element)) => inner(element),
            Data::Dict(dict) => dict.entries.values().find_map(inner),
            Data::Set(_) => (cx.it.heap.type_of(*id) == Some("set")).then_some("a set"),
            Data::Instance(instance) if instance.class.as_path() == Some("pathlib.Path") => Some("a path"),
            _ => None,
        },
        _ => None,
    }
}
