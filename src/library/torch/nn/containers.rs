//! Containers of modules and parameters.
//!
//! The note `members` stores the members in a list or dict. So a loop that appends members reaches
//! a fixpoint in the same way as a loop that appends to a Python list. For a `Sequential` with
//! named members, the note `names` stores the names.

use super::module::Found;
use crate::library::{Cx, Table};
use crate::python::{Args, Bound, Interp};
use crate::syntax::Span;
use crate::value::{Data, Dict, Items, Key, ObjId, Sym, Topic, Type, Value};

const MEMBERS: Topic = Topic::new("members");
const NAMES: Topic = Topic::new("names");

pub(crate) fn register(t: &mut Table) {
    for name in ["Sequential", "ModuleList", "ParameterList", "ModuleDict", "ParameterDict"] {
        let (path, bases) = (format!("torch.nn.{name}"), ["torch.nn.Module"]);
        // `Sequential` also accepts an `OrderedDict`.
        let class = if name == "Sequential" { t.class(&path, &bases, "*args") } else { t.listed_class(&path, &bases) };
        class.keeps_arguments = false;
        class.init = Some(construct);
        let path = |method: &str| format!("torch.nn.{name}.{method}");
        if name.ends_with("Dict") {
            t.def(&path("keys"), "self", listed).def(&path("values"), "self", listed).def(
                &path("items"),
                "self",
                listed,
            );
            t.def(&path("update"), "self, modules", update).def(&path("clear"), "self", clear);
            t.def(&path("pop"), "self, key", pop_key).def(&path("get"), "self, key, default=None", get_key);
            t.def(&path("__delitem__"), "self, key", |cx, b| delete_item(cx, b, pop_key));
        } else {
            t.def(&path("append"), "self, module", append).def(&path("extend"), "self, modules", extend);
            t.def(&path("insert"), "self, index, module", insert).def(&path("pop"), "self, key=-1", pop_index);
            t.def(&path("__delitem__"), "self, key", |cx, b| delete_item(cx, b, pop_index));
        }
        // Classes of the program may call these methods of their base classes.
        t.def(&path("__getitem__"), "self, index", |cx, b| {
            get(cx.it, &b.get("self"), &b.get("index")).unwrap_or(Value::Unknown)
        });
        t.def(&path("__iter__"), "self", |cx, b| {
            let items = iterate(cx.it, &b.get("self"), cx.span).unwrap_or(Items::Many(Value::Unknown));
            cx.it.heap.iterator(items)
        });
        t.def(&path("__len__"), "self", |cx, b| length(cx.it, &b.get("self")).unwrap_or(Value::Any(Type::Int)));
    }
    t.def("torch.nn.Sequential.forward", "self, input", forward);
}

/// The object that holds a container's members.
fn members(it: &Interp<'_>, object: &Value) -> Option<ObjId> {
    it.heap.note(object.as_obj()?, MEMBERS)?.as_obj()
}

/// Makes the members of a container unknown, because unseen code may have changed them.
pub(crate) fn escaped(it: &mut Interp<'_>, object: &Value) {
    let Some(id) = members(it, object) else { return };
    let data = match it.heap.get(id) {
        Data::Dict(_) => Data::Dict(Dict { open: Some(Value::Unknown), ..Dict::default() }),
        Data::List(_) => Data::List(Items::Many(Value::Unknown)),
        _ => return,
    };
    *it.heap.get_mut(id) = data;
}

fn construct(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    super::module::begin(cx, object);
    let dict = cx.name().ends_with("Dict");
    let given = match b.rest_values().as_slice() {
        [] => b.sig.params.first().map_or(Value::None, |p| b.get(p.name.as_str())),
        [one] if cx.it.heap.dict_of(one).is_some() => one.clone(),
        all => cx.it.heap.list(all.to_vec()),
    };
    let data = match (dict, b.open) {
        (true, true) => Data::Dict(Dict { open: Some(Value::Unknown), ..Dict::default() }),
        (false, true) => Data::List(Items::Many(Value::Unknown)),
        (true, false) => Data::Dict(entries(cx, &given)),
        (false, false) => match cx.it.heap.dict_of(&given).cloned() {
            Some(dict) => {
                let names = dict.entries.keys().map(Key::value).collect();
                let names = cx.it.heap.list(names);
                cx.it.heap.set_note(object, NAMES, names);
                Data::List(match dict.open {
                    None => Items::Exact(dict.entries.into_values().collect()),
                    Some(_) => Items::Many(Value::Unknown),
                })
            }
            None if given.is_none() => Data::List(Items::Exact(Vec::new())),
            None => {
                let span = cx.span;
                Data::List(cx.it.iterate(&given, span))
            }
        },
    };
    // PyTorch rejects a tuple or a number in place of a module, so no module with such a member
    // exists.
    let is_wrong = |value: &Value| matches!(value, Value::Tuple(_)) || value.number_type().is_some();
    let data = match data {
        Data::List(Items::Exact(members)) if members.iter().any(is_wrong) => Data::List(Items::Many(Value::Unknown)),
        data => data,
    };
    let holder = cx.it.heap.alloc(data);
    cx.it.heap.set_note(object, MEMBERS, Value::Obj(holder));
}

/// Converts a dict or a list of pairs to a dict.
fn entries(cx: &mut Cx<'_, '_>, given: &Value) -> Dict {
    if given.is_none() {
        return Dict::default();
    }
    if let Some(dict) = cx.it.heap.dict_of(given) {
        return dict.clone();
    }
    let span = cx.span;
    let mut out = Dict::default();
    match cx.it.iterate(given, span) {
        Items::Exact(pairs) => {
            for pair in pairs {
                let parts = cx.items(&pair).unwrap_or_default();
                match parts.as_slice() {
                    [key, value] if Key::of(key).is_some() => {
                        out.entries.extend(Key::of(key).map(|k| (k, value.clone())));
                    }
                    _ => out.open = Some(Value::Unknown),
                }
            }
        }
        Items::Many(_) => out.open = Some(Value::Unknown),
    }
    out
}

/// The members with their names; `None` if the object is not a container.
pub(crate) fn contents(it: &Interp<'_>, object: &Value) -> Option<Found> {
    let holder = members(it, object)?;
    Some(match it.heap.get(holder) {
        Data::List(Items::Exact(values)) => {
            let names = names_of(it, object, values.len());
            Found { found: names.into_iter().zip(values.iter().cloned()).collect(), complete: true }
        }
        Data::List(Items::Many(value)) => Found { found: vec![("0".to_owned(), value.clone())], complete: false },
        Data::Dict(dict) => {
            let mut found: Vec<(String, Value)> = Vec::new();
            for (key, value) in &dict.entries {
                let name = key.value().as_str().map_or_else(String::new, str::to_owned);
                found.push((name, value.clone()));
            }
            found.extend(dict.open.iter().map(|v| ("?".to_owned(), v.clone())));
            Found { found, complete: dict.open.is_none() }
        }
        _ => Found { found: Vec::new(), complete: false },
    })
}

fn names_of(it: &Interp<'_>, object: &Value, count: usize) -> Vec<String> {
    let given = object.as_obj().and_then(|id| it.heap.note(id, NAMES)).and_then(|v| it.heap.exact_items(&v));
    let text = |i: usize| given.as_ref().and_then(|g| Some(g.get(i)?.as_str()?.to_owned()));
    (0..count).map(|i| text(i).unwrap_or_else(|| i.to_string())).collect()
}

/// `container.name`, if a member has that name.
pub(crate) fn attribute(cx: &mut Cx<'_, '_>, object: &Value, name: Sym) -> Option<Value> {
    let contents = contents(cx.it, object)?;
    contents.found.into_iter().find(|(have, _)| have == name.as_str()).map(|(_, value)| value)
}

/// Adds a member to a container, or replaces the member of this name; `false` if the object is not a
/// container.
pub(crate) fn add(it: &mut Interp<'_>, object: &Value, name: &str, value: &Value) -> bool {
    let Some(holder) = members(it, object) else { return false };
    let count = match it.heap.get(holder) {
        Data::List(Items::Exact(values)) => Some(values.len()),
        Data::List(Items::Many(_)) => None,
        Data::Dict(_) => {
            set_entry(it, holder, Some(Key::Str(name.into())), value);
            return true;
        }
        _ => return false,
    };
    if let (Some(count), Some(id)) = (count, object.as_obj()) {
        let names = names_of(it, object, count);
        if let Some(place) = names.iter().position(|have| have == name) {
            if let Data::List(Items::Exact(values)) = it.heap.get_mut(holder)
                && let Some(member) = values.get_mut(place)
            {
                *member = value.clone();
            }
            return true;
        }
        // Names that are not indices must be stored.
        let names: Vec<Value> = names.iter().map(String::as_str).chain([name]).map(Value::str).collect();
        let names = it.heap.list(names);
        it.heap.set_note(id, NAMES, names);
    }
    push(it, holder, std::slice::from_ref(value));
    true
}

/// `sequential.name = module`.
pub(crate) fn set_member(it: &mut Interp<'_>, object: &Value, name: &str, value: &Value) {
    let Some(holder) = members(it, object) else { return };
    if matches!(it.heap.get(holder), Data::List(Items::Exact(_))) {
        add(it, object, name, value);
    }
}

fn push(it: &mut Interp<'_>, holder: ObjId, values: &[Value]) {
    match it.heap.get(holder) {
        Data::List(Items::Exact(_)) => {
            if let Data::List(Items::Exact(have)) = it.heap.get_mut(holder) {
                have.extend(values.iter().cloned());
            }
        }
        Data::List(Items::Many(element)) => {
            let mut all = vec![element.clone()];
            all.extend(values.iter().cloned());
            let joined = Items::Exact(all).element(&mut it.heap);
            *it.heap.get_mut(holder) = Data::List(Items::Many(joined));
        }
        _ => {}
    }
}

fn set_entry(it: &mut Interp<'_>, holder: ObjId, key: Option<Key>, value: &Value) {
    if let Data::Dict(dict) = it.heap.get_mut(holder) {
        match key {
            Some(key) => {
                dict.entries.insert(key, value.clone());
            }
            None => dict.open = Some(Value::Unknown),
        }
    }
}

fn append(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    if let Some(holder) = members(cx.it, &object) {
        let value = as_member(cx, &b.get("module"));
        push(cx.it, holder, &[value]);
    }
    object
}

/// `ParameterList` and `ParameterDict` convert tensors to parameters.
fn as_member(cx: &mut Cx<'_, '_>, value: &Value) -> Value {
    let parameter = cx.path.as_str().contains(".Parameter");
    match cx.tensor(value) {
        Some(tensor) if parameter && !tensor.parameter => {
            super::layer::new_parameter(cx, tensor, crate::value::Grad::Leaf)
        }
        _ => value.clone(),
    }
}

fn extend(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let span = cx.span;
    let more = cx.it.iterate(&b.get("modules"), span);
    if let Some(holder) = members(cx.it, &object) {
        match more {
            Items::Exact(values) => push(cx.it, holder, &values),
            Items::Many(value) => {
                let mut all = match cx.it.heap.get(holder) {
                    Data::List(Items::Exact(have)) => have.clone(),
                    Data::List(Items::Many(have)) => vec![have.clone()],
                    _ => Vec::new(),
                };
                all.push(value);
                let joined = Items::Exact(all).element(&mut cx.it.heap);
                *cx.it.heap.get_mut(holder) = Data::List(Items::Many(joined));
            }
        }
    }
    object
}

/// The position of an index, which may be negative.
fn position(index: &Value, count: usize) -> Option<usize> {
    let index = index.as_int()?;
    let count = i64::try_from(count).ok()?;
    usize::try_from(if index < 0 { index.checked_add(count)? } else { index }).ok()
}

fn insert(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let value = b.get("module");
    if let Some(holder) = members(cx.it, &object)
        && let Data::List(items) = cx.it.heap.get(holder).clone()
    {
        let items = match items {
            Items::Exact(mut values) => match position(&b.get("index"), values.len()) {
                Some(at) => {
                    values.insert(at.min(values.len()), value);
                    Items::Exact(values)
                }
                None => Items::Many(Value::Unknown),
            },
            Items::Many(_) => Items::Many(Value::Unknown),
        };
        *cx.it.heap.get_mut(holder) = Data::List(items);
    }
    // Only the method of `Sequential` returns the container.
    if cx.it.is_instance(&object, "torch.nn.Sequential") { object } else { Value::None }
}

/// `del layers[index]`, where `pop` is the method `pop` of the container.
fn delete_item(cx: &mut Cx<'_, '_>, b: &Bound, pop: fn(&mut Cx<'_, '_>, &Bound) -> Value) -> Value {
    pop(cx, b);
    Value::None
}

/// Removes and returns a member. If it is not known which one, all members become unknown.
fn pop_index(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let Some(holder) = members(cx.it, &object) else { return Value::Unknown };
    let Data::List(Items::Exact(values)) = cx.it.heap.get_mut(holder) else { return Value::Unknown };
    match position(&b.get("key"), values.len()) {
        Some(at) if at < values.len() => values.remove(at),
        _ => {
            *cx.it.heap.get_mut(holder) = Data::List(Items::Many(Value::Unknown));
            Value::Unknown
        }
    }
}

/// Removes and returns a member. If it is not known which one, all members become unknown.
fn pop_key(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(holder) = members(cx.it, &b.get("self")) else { return Value::Unknown };
    let key = Key::of(&b.get("key"));
    match (cx.it.heap.get_mut(holder), key) {
        (Data::Dict(dict), Some(key)) => dict.entries.shift_remove(&key).unwrap_or(Value::Unknown),
        (Data::Dict(dict), None) => {
            *dict = Dict { open: Some(Value::Unknown), ..Dict::default() };
            Value::Unknown
        }
        _ => Value::Unknown,
    }
}

fn get_key(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let key = Key::of(&b.get("key"));
    let Some(holder) = members(cx.it, &b.get("self")) else { return Value::Unknown };
    match (cx.it.heap.get(holder), key) {
        (Data::Dict(dict), Some(key)) => match dict.entries.get(&key) {
            Some(value) => value.clone(),
            None if dict.open.is_none() => b.get("default"),
            None => Value::Unknown,
        },
        _ => Value::Unknown,
    }
}

fn update(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let more = entries(cx, &b.get("modules"));
    if let Some(holder) = members(cx.it, &b.get("self"))
        && let Data::Dict(dict) = cx.it.heap.get_mut(holder)
    {
        dict.entries.extend(more.entries);
        dict.open = dict.open.take().or(more.open);
    }
    Value::None
}

fn clear(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if let Some(holder) = members(cx.it, &b.get("self")) {
        *cx.it.heap.get_mut(holder) = Data::Dict(Dict::default());
    }
    Value::None
}

fn listed(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(holder) = members(cx.it, &b.get("self")) else { return Value::Unknown };
    let Data::Dict(dict) = cx.it.heap.get(holder).clone() else { return Value::Unknown };
    let name = cx.name();
    let one = |key: Value, value: Value| match name {
        "keys" => key,
        "values" => value,
        _ => Value::tuple(vec![key, value]),
    };
    let items = match dict.open {
        None => Items::Exact(dict.entries.into_iter().map(|(k, v)| one(k.value(), v)).collect()),
        Some(_) => Items::Many(one(Value::Any(Type::Str), Value::Unknown)),
    };
    cx.it.heap.iter(items)
}

/// Calls the members one after the other.
fn forward(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let Some(contents) = contents(cx.it, &object) else { return Value::Unknown };
    if !contents.complete {
        forget_members(cx.it);
        return Value::Unknown;
    }
    let span = cx.span;
    let mut value = b.get("input");
    for (_, module) in contents.found {
        value = cx.it.call(&module, Args::positional([value], span), span);
    }
    value
}

/// Handles a call of unknown members. Each module of the program may be one of these members,
/// except the module whose method makes the call. The `forward` of a member may set attributes of
/// this member, so they are forgotten.
fn forget_members(it: &mut Interp<'_>) {
    let caller = it.method_receiver().and_then(Value::as_obj);
    for id in it.heap.ids().filter(|id| Some(*id) != caller) {
        let object = Value::Obj(id);
        let is_of_program = it.heap.instance_of(&object).is_some_and(|instance| instance.class.as_obj().is_some());
        if is_of_program && it.is_instance(&object, "torch.nn.Module") {
            it.forget_own(id);
        }
    }
}

// The special methods that the interpreter calls.

/// `container[index]`.
pub(crate) fn get(it: &mut Interp<'_>, object: &Value, index: &Value) -> Option<Value> {
    let holder = members(it, object)?;
    match it.heap.get(holder).clone() {
        Data::List(items) => {
            let Items::Exact(values) = items else {
                let sliced = matches!(index, Value::Slice(_));
                return Some(if sliced { Value::Unknown } else { items.element(&mut it.heap) });
            };
            if let Value::Slice(parts) = index {
                return Some(sliced(it, object, &values, parts));
            }
            match index.as_int() {
                Some(_) => {
                    Some(position(index, values.len()).and_then(|at| values.get(at).cloned()).unwrap_or(Value::Unknown))
                }
                None => Some(Items::Exact(values).element(&mut it.heap)),
            }
        }
        Data::Dict(dict) => Some(match Key::of(index).and_then(|key| dict.entries.get(&key).cloned()) {
            Some(value) => value,
            None if dict.open.is_none() && Key::of(index).is_none() && !dict.entries.is_empty() => {
                Items::Exact(dict.entries.into_values().collect()).element(&mut it.heap)
            }
            None => Value::Unknown,
        }),
        _ => None,
    }
}

/// A slice of a container: a new container with some of the members.
fn sliced(it: &mut Interp<'_>, object: &Value, values: &[Value], parts: &[Value; 3]) -> Value {
    let [start, stop, step] = parts;
    let bound = |v: &Value, default: usize| match v {
        Value::None => Some(default),
        v => {
            let n = i64::try_from(values.len()).ok()?;
            let at = v.as_int()?;
            usize::try_from(if at < 0 { (at + n).max(0) } else { at.min(n) }).ok()
        }
    };
    let step = if step.is_none() { Some(1) } else { step.as_int().and_then(|s| usize::try_from(s).ok()) };
    let (Some(start), Some(stop), Some(step @ 1..)) = (bound(start, 0), bound(stop, values.len()), step) else {
        return Value::Unknown;
    };
    let part: Vec<Value> =
        values.get(start..stop.max(start)).unwrap_or_default().iter().step_by(step).cloned().collect();
    let Some(class) = it.heap.instance_of(object).map(|i| i.class.clone()) else { return Value::Unknown };
    // The constructor of a subclass may do more, so the slice of a subclass is modelled as a
    // `Sequential`.
    let class = if class.as_path().is_some() { class } else { Value::path("torch.nn.Sequential") };
    let id = it.heap.instance(class);
    let training = object.as_obj().and_then(|o| it.heap.attr(o, "training")).unwrap_or(Value::Unknown);
    it.heap.set_attr(id, "training", training);
    let holder = it.heap.alloc(Data::List(Items::Exact(part)));
    it.heap.set_note(id, MEMBERS, Value::Obj(holder));
    Value::Obj(id)
}

/// The members of `sequential * n` and `n * sequential`: those of the container, `n` times.
pub(crate) fn repeated(it: &Interp<'_>, left: &Value, right: &Value) -> Option<Args> {
    /// The largest number of members of the result.
    const MOST: usize = 256;
    let (container, times) = if left.as_int().is_some() { (right, left) } else { (left, right) };
    let class = it.heap.instance_of(container)?.class.as_path()?;
    let times = usize::try_from(times.as_int()?).ok()?;
    let Data::List(Items::Exact(values)) = it.heap.get(members(it, container)?) else { return None };
    let count = values.len().checked_mul(times).filter(|count| *count <= MOST)?;
    let span = Span { file: it.root, start: 0, end: 0 };
    (class == "torch.nn.Sequential").then(|| Args::positional(values.iter().cycle().take(count).cloned(), span))
}

/// `container[index] = value`.
pub(crate) fn set(it: &mut Interp<'_>, object: &Value, index: &Value, value: &Value) -> bool {
    let Some(holder) = members(it, object) else { return false };
    match it.heap.get_mut(holder) {
        Data::List(items) => {
            let done = match items {
                Items::Exact(values) => match position(index, values.len()).and_then(|at| values.get_mut(at)) {
                    Some(slot) => {
                        *slot = value.clone();
                        true
                    }
                    None => false,
                },
                Items::Many(_) => false,
            };
            if !done {
                *items = Items::Many(Value::Unknown);
            }
            true
        }
        Data::Dict(_) => {
            set_entry(it, holder, Key::of(index), value);
            true
        }
        _ => false,
    }
}

/// `for x in container`.
pub(crate) fn iterate(it: &mut Interp<'_>, object: &Value, _span: Span) -> Option<Items> {
    let holder = members(it, object)?;
    match it.heap.get(holder) {
        Data::List(items) => Some(items.clone()),
        Data::Dict(dict) => Some(match dict.open {
            None => Items::Exact(dict.entries.keys().map(Key::value).collect()),
            Some(_) => Items::Many(Value::Any(Type::Str)),
        }),
        _ => None,
    }
}

pub(crate) fn length(it: &Interp<'_>, object: &Value) -> Option<Value> {
    let holder = members(it, object)?;
    let count = match it.heap.get(holder) {
        Data::List(Items::Exact(values)) => Some(values.len()),
        Data::Dict(dict) if dict.open.is_none() => Some(dict.entries.len()),
        _ => None,
    };
    Some(count.and_then(|n| i64::try_from(n).ok()).map_or(Value::Any(Type::Int), Value::Int))
}
