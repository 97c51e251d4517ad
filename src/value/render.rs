//! Formats values for people and for programs.

use serde_json::{Value as Json, json};

use super::{ArrayKind, Data, Heap, Items, Origin, Size, Tensor, Type, Value, sym};
use crate::syntax::Span;

const DEPTH: u32 = 3;
const MAX_ITEMS: usize = 64;

/// A value as one line of text: `float32[B, 10] cuda`, `[int64[B], …]`, `Net(…)`.
pub(crate) fn to_text(heap: &Heap, value: &Value) -> String {
    text(heap, value, DEPTH)
}

fn text(heap: &Heap, value: &Value, depth: u32) -> String {
    match value {
        Value::Unknown => "unknown".to_owned(),
        Value::Open(open) => format!("unknown on {}", open.device),
        Value::None => "None".to_owned(),
        Value::Ellipsis => "...".to_owned(),
        Value::Bool(b) => if *b { "True" } else { "False" }.to_owned(),
        Value::Int(n) => n.to_string(),
        Value::Float(x) => format!("{x:?}"),
        Value::Str(s) => format!("{s:?}"),
        Value::Size(poly) => poly.to_string(),
        Value::Any(ty) => type_name(*ty).to_owned(),
        Value::Ranged(ranged) => format!("int in {}", ranged.range),
        Value::Floats(floats) => format!("float in {}", floats.range),
        Value::Among(_) => type_name(Type::Str).to_owned(),
        Value::Tuple(items) => list(heap, items, depth, "(", if items.len() == 1 && depth > 0 { ",)" } else { ")" }),
        Value::Slice(parts) => {
            let part = |v: &Value| if v.is_none() { String::new() } else { text(heap, v, depth) };
            parts.iter().map(part).collect::<Vec<_>>().join(":")
        }
        Value::Dtype(d) => format!("torch.{d}"),
        Value::Device(d) => format!("device({d})"),
        Value::Path(p) => p.as_str().to_owned(),
        Value::Bound(pair) => text(heap, &pair.1, depth),
        Value::Method(pair) => format!("{}.{}", text(heap, &pair.0, 0), pair.1),
        Value::Super(_) => "super()".to_owned(),
        Value::Fates(fates) => super::counted(fates.len(), "state"),
        Value::Lazy(lazy) => lazy.name.unwrap_or(lazy.module).as_str().to_owned(),
        Value::Partial(p) => format!("partial({})", text(heap, &p.func, depth)),
        Value::Obj(id) => match heap.get(*id) {
            Data::Tensor(tensor) => tensor_text(tensor),
            Data::List(items) => items_text(heap, items, depth, "[", "]"),
            Data::Set(items) => items_text(heap, items, depth, "{", "}"),
            // Code that has not run yet has no value: a generator, a coroutine, a context manager.
            Data::Iter(iter) if iter.suspended.is_some() => "unknown".to_owned(),
            Data::Iter(iter) => items_text(heap, &iter.items, depth, "iter(", ")"),
            Data::Dict(dict) => {
                if depth == 0 {
                    return "{…}".to_owned();
                }
                let mut parts: Vec<String> = dict
                    .entries
                    .iter()
                    .take(MAX_ITEMS)
                    .map(|(k, v)| format!("{}: {}", text(heap, &k.value(), 1), text(heap, v, depth - 1)))
                    .collect();
                if dict.open.is_some() || dict.entries.len() > MAX_ITEMS {
                    parts.push("…".to_owned());
                }
                format!("{{{}}}", parts.join(", "))
            }
            Data::Instance(instance) => format!("{}(…)", class_name(heap, &instance.class)),
            // What decorators such as `property` make of a function is no function.
            Data::Function(function) if function.attrs.contains_key(&sym("__kind__")) => "unknown".to_owned(),
            Data::Function(function) => format!("function {}", function.name),
            Data::Class(class) => format!("class {}", class.name),
            Data::Module { .. } => "module".to_owned(),
            Data::Scope(_) => "scope".to_owned(),
        },
    }
}

fn class_name(heap: &Heap, class: &Value) -> String {
    match class {
        Value::Path(path) => path.as_str().to_owned(),
        Value::Obj(id) => match heap.get(*id) {
            Data::Class(class) => class.name.as_str().to_owned(),
            _ => "object".to_owned(),
        },
        _ => "object".to_owned(),
    }
}

fn list(heap: &Heap, items: &[Value], depth: u32, open: &str, close: &str) -> String {
    if depth == 0 {
        return format!("{open}…{close}");
    }
    let mut parts: Vec<String> = items.iter().take(MAX_ITEMS).map(|v| text(heap, v, depth - 1)).collect();
    if items.len() > MAX_ITEMS {
        parts.push("…".to_owned());
    }
    format!("{open}{}{close}", parts.join(", "))
}

fn items_text(heap: &Heap, items: &Items, depth: u32, open: &str, close: &str) -> String {
    match items {
        Items::Exact(values) => list(heap, values, depth, open, close),
        Items::Many(_) if depth == 0 => format!("{open}…{close}"),
        Items::Many(value) => format!("{open}{}, …{close}", text(heap, value, depth.saturating_sub(1))),
    }
}

fn tensor_text(tensor: &Tensor) -> String {
    let dtype = tensor.dtype.map_or("tensor", super::Dtype::name);
    let mut out = format!("{dtype}{}", tensor.shape_text());
    match tensor.device {
        _ if tensor.array == ArrayKind::Numpy => out.push_str(" numpy"),
        Some(device) if device.is_concrete() => out.push_str(&format!(" {device}")),
        _ => {}
    }
    if let Some(range) = &tensor.range {
        match range.met {
            Some(met) if range.lo().is_infinite() && range.hi().is_infinite() => {
                out.push_str(&format!(" with {}", met.value));
            }
            _ => out.push_str(&format!(" in {range}")),
        }
    }
    if let Some(role) = tensor.role {
        out.push_str(&format!(" ({})", role.name()));
    }
    out
}

/// The kind of a value, for messages: `a list`.
pub(crate) fn kind_text(heap: &Heap, value: &Value) -> &'static str {
    match value {
        Value::None => "None",
        Value::Str(_) | Value::Among(_) | Value::Any(Type::Str) => "a string",
        Value::Tuple(_) => "a tuple",
        Value::Bound(_) | Value::Method(_) => "a method",
        Value::Path(_) => "a function",
        Value::Any(Type::Bytes) => "bytes",
        Value::Obj(id) => match heap.get(*id) {
            Data::Function(_) => "a function",
            Data::Class(_) => "a class",
            Data::Module { .. } => "a module",
            Data::List(_) => "a list",
            Data::Dict(_) => "a dict",
            Data::Set(_) => "a set",
            Data::Tensor(tensor) if tensor.array == ArrayKind::Numpy => "a NumPy array",
            Data::Iter(_) => "an iterator",
            Data::Tensor(_) => "a tensor",
            _ => "an object",
        },
        other => match other.number_type() {
            Some(Type::Bool) => "a bool",
            Some(Type::Int) => "an int",
            Some(Type::Float) => "a float",
            Some(_) => "a complex number",
            None => "something else",
        },
    }
}

fn type_name(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "bool",
        Type::Int => "int",
        Type::Float => "float",
        Type::Complex => "complex",
        Type::Str => "str",
        Type::Bytes => "bytes",
    }
}

/// A value as JSON, for other programs. `place` turns an origin into the JSON of its location.
pub(crate) fn to_json(heap: &Heap, value: &Value, place: &dyn Fn(Origin) -> Json) -> Json {
    json_at(heap, value, place, DEPTH)
}

fn json_at(heap: &Heap, value: &Value, place: &dyn Fn(Origin) -> Json, depth: u32) -> Json {
    let seq = |kind: &str, items: &[Value]| {
        if depth == 0 {
            return json!({ "kind": kind });
        }
        let items: Vec<Json> = items.iter().take(MAX_ITEMS).map(|v| json_at(heap, v, place, depth - 1)).collect();
        json!({ "kind": kind, "items": items })
    };
    match value {
        Value::Unknown => json!({ "kind": "unknown" }),
        Value::Open(open) => json!({ "kind": "unknown", "device": open.device.to_string() }),
        Value::None => json!({ "kind": "none" }),
        Value::Bool(b) => json!({ "kind": "bool", "value": b }),
        Value::Int(n) => json!({ "kind": "int", "value": n }),
        Value::Size(poly) => json!({ "kind": "int", "value": poly.to_string() }),
        Value::Float(x) => json!({ "kind": "float", "value": x }),
        Value::Str(s) => json!({ "kind": "str", "value": &**s }),
        Value::Any(ty) => json!({ "kind": type_name(*ty), "value": null }),
        Value::Ranged(ranged) | Value::Floats(ranged) => {
            let range = &ranged.range;
            let range = json!({ "min": range.lo(), "max": range.hi(), "attained": range.attained });
            let kind = if matches!(value, Value::Ranged(_)) { Type::Int } else { Type::Float };
            json!({ "kind": type_name(kind), "value": null, "range": range })
        }
        Value::Among(_) => json!({ "kind": type_name(Type::Str), "value": null }),
        Value::Tuple(items) => seq("tuple", items),
        Value::Dtype(d) => json!({ "kind": "dtype", "value": d.name() }),
        Value::Device(d) => json!({ "kind": "device", "value": d.to_string() }),
        Value::Obj(id) => match heap.get(*id) {
            Data::Tensor(_) => match heap.tensor_of(value) {
                Some(tensor) => tensor_json(&tensor, place),
                None => json!({ "kind": "unknown" }),
            },
            Data::List(Items::Exact(items)) => seq("list", items),
            // A list may contain itself.
            Data::List(Items::Many(_)) if depth == 0 => json!({ "kind": "list" }),
            Data::List(Items::Many(item)) => {
                json!({ "kind": "list", "element": json_at(heap, item, place, depth - 1) })
            }
            Data::Instance(instance) => json!({ "kind": "object", "class": class_name(heap, &instance.class) }),
            _ => json!({ "kind": "object", "text": to_text(heap, value) }),
        },
        other => json!({ "kind": "object", "text": to_text(heap, other) }),
    }
}

/// The names of the known facts of a tensor, with the origin of each.
pub(crate) fn origins(heap: &Heap, value: &Value) -> Vec<(&'static str, Span)> {
    let Some(tensor) = heap.tensor_of(value) else { return Vec::new() };
    let all = [
        ("shape", tensor.shape_at.filter(|_| tensor.shape.is_some())),
        ("dtype", tensor.dtype_at.filter(|_| tensor.dtype.is_some())),
        ("device", tensor.device_at.filter(|_| tensor.device.is_some())),
        ("range", tensor.range_at.filter(|_| tensor.range.is_some())),
        ("role", tensor.role_at.filter(|_| tensor.role.is_some())),
    ];
    all.into_iter().filter_map(|(what, at)| Some((what, at?))).collect()
}

fn tensor_json(tensor: &Tensor, place: &dyn Fn(Origin) -> Json) -> Json {
    let shape = tensor.shape.as_ref().map(|dims| {
        dims.iter()
            .map(|d| match &d.size {
                Size::Int(n) => json!(n),
                Size::Expr(poly) => json!(poly.to_string()),
                Size::Unknown => Json::Null,
            })
            .collect::<Vec<_>>()
    });
    let device = tensor.device.filter(|d| d.is_concrete()).map(|d| d.to_string());
    let range = tensor.range.as_ref().map(|r| json!({ "min": r.lo(), "max": r.hi(), "attained": r.attained }));
    json!({
        "kind": if tensor.array == ArrayKind::Numpy { "array" } else { "tensor" },
        "shape": shape,
        "dtype": tensor.dtype.map(super::Dtype::name),
        "device": device,
        "range": range,
        "role": tensor.role.map(super::Role::name),
        "origin": {
            "shape": place(tensor.shape_at),
            "dtype": place(tensor.dtype_at),
            "device": place(tensor.device_at),
            "range": place(tensor.range_at),
            "role": place(tensor.role_at),
        },
    })
}
