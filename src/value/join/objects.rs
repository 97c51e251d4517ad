//! The join of two states of an object, or of the facts of two objects.

use std::rc::Rc;

use super::super::equal::{DEPTH, same, same_at, same_numbers, same_picks};
use super::super::{
    Attrs, Data, Device, Dict, Dim, Function, Grad, Heap, Instance, Items, Iter, Progress, Range, Scope, Size,
    Suspended, Sym, Tensor, UserClass, Value,
};
use super::{join_all, join_at, join_each, join_items};

/// Joins two states of the same object.
pub(in super::super) fn join_data(heap: &mut Heap, a: &Data, b: &Data, widen: bool) -> Data {
    match (a, b) {
        (Data::Scope(x), Data::Scope(y)) if x.parent == y.parent => {
            let Scope { vars, parent } = x;
            Data::Scope(Scope { vars: join_attrs(heap, vars, &y.vars, None, widen, DEPTH), parent: *parent })
        }
        (Data::List(x), Data::List(y)) => Data::List(join_items(heap, x, y, widen, DEPTH)),
        (Data::Set(x), Data::Set(y)) => Data::Set(join_items(heap, x, y, widen, DEPTH)),
        (Data::Iter(x), Data::Iter(y)) => Data::Iter(join_iter(heap, x, y, widen, DEPTH)),
        (Data::Dict(x), Data::Dict(y)) => Data::Dict(join_dict(heap, x, y, widen, DEPTH)),
        (Data::Instance(x), Data::Instance(y)) => Data::Instance(join_instance(heap, x, y, widen, DEPTH)),
        (Data::Tensor(x), Data::Tensor(y)) if x.array == y.array && x.wrapper == y.wrapper => {
            let joined = join_states(x, y, widen, heap.arms);
            heap.note_condition(joined.device);
            Data::Tensor(joined)
        }
        (Data::Class(x), Data::Class(y)) if x.code == y.code => Data::Class(join_class(heap, x, y, widen)),
        (Data::Function(x), Data::Function(y)) if (x.code, x.scope, x.owner) == (y.code, y.scope, y.owner) => {
            let Function { code, name, path, scope, defaults, owner, attrs } = x;
            Data::Function(Function {
                code: *code,
                name: *name,
                path: *path,
                scope: *scope,
                defaults: join_named(heap, defaults, &y.defaults, widen, DEPTH),
                owner: *owner,
                attrs: join_attrs(heap, attrs, &y.attrs, None, widen, DEPTH),
            })
        }
        (Data::Module { file, scope }, Data::Module { file: other, scope: names })
            if (file, scope) == (other, names) =>
        {
            Data::Module { file: *file, scope: *scope }
        }
        // Two states of one object cannot have these kinds.
        (Data::Scope(_), Data::Scope(_))
        | (Data::Tensor(_), Data::Tensor(_))
        | (Data::Class(_), Data::Class(_))
        | (Data::Function(_), Data::Function(_))
        | (Data::Module { .. }, Data::Module { .. }) => nameless(),
        different_objects!() => nameless(),
    }
}

/// An object of unknown class.
pub(in super::super) fn nameless() -> Data {
    Data::Instance(Instance { class: Value::Unknown, attrs: Attrs::default(), open: true })
}

/// Joins the names of two paths. For a name that only one path binds, the other path contributes
/// the value in the class. If the class has none, the name keeps its value, because reading it on
/// the other path would raise.
fn join_attrs(heap: &mut Heap, a: &Attrs, b: &Attrs, class: Option<&Value>, widen: bool, depth: u32) -> Attrs {
    let mut out = Attrs::default();
    // The same condition as in `Heap::follows_presence`.
    let follows = matches!(class, Some(Value::Obj(_)));
    for (name, value) in a {
        let other = match (b.get(name), class) {
            (Some(other), _) => Some(other.clone()),
            (None, Some(class)) => heap.inherited(class, *name),
            (None, None) => None,
        };
        if other.is_none() && follows {
            heap.note_lacking_in(&mut out, *name);
        }
        let joined = other.map_or_else(|| value.clone(), |other| join_at(heap, value, &other, widen, depth));
        out.insert(*name, joined);
    }
    for (name, value) in b {
        if a.contains_key(name) {
            continue;
        }
        let inherited = class.and_then(|class| heap.inherited(class, *name));
        if inherited.is_none() && follows {
            heap.note_lacking_in(&mut out, *name);
        }
        let joined = inherited.map_or_else(|| value.clone(), |other| join_at(heap, &other, value, widen, depth));
        out.insert(*name, joined);
    }
    out
}

/// Joins two lists of named values, by name. The order is kept if it is the same in both lists. The
/// value of a name that only one list has is unknown.
pub(super) fn join_named(
    heap: &mut Heap,
    a: &[(Sym, Value)],
    b: &[(Sym, Value)],
    widen: bool,
    depth: u32,
) -> Vec<(Sym, Value)> {
    let mut names: Vec<Sym> = a.iter().map(|(name, _)| *name).collect();
    if !b.iter().map(|(name, _)| *name).eq(names.iter().copied()) {
        names.extend(b.iter().map(|(name, _)| *name));
        names.sort_unstable_by_key(|name| name.as_str());
        names.dedup();
    }
    let of =
        |values: &[(Sym, Value)], name| values.iter().find(|(have, _)| *have == name).map(|(_, value)| value.clone());
    let mut both = |name| match (of(a, name), of(b, name)) {
        (Some(x), Some(y)) => join_at(heap, &x, &y, widen, depth),
        (None, _) | (_, None) => Value::Unknown,
    };
    names.into_iter().map(|name| (name, both(name))).collect()
}

/// Joins two dictionaries. Keeps the keys that both have, with their joined values. The entries
/// that only one of them has are joined into the value of all other keys. If only the order of the
/// keys differs, the result may have other keys with unknown values: the order of keys is a fact
/// only if all keys are known.
pub(super) fn join_dict(heap: &mut Heap, a: &Dict, b: &Dict, widen: bool, depth: u32) -> Dict {
    let Dict { entries, open } = a;
    let mut out = Dict::default();
    let mut rest: Vec<Value> = open.iter().chain(&b.open).cloned().collect();
    for (key, value) in entries {
        match b.entries.get(key) {
            Some(other) => {
                let joined = join_at(heap, value, other, widen, depth);
                out.entries.insert(key.clone(), joined);
            }
            None => rest.push(value.clone()),
        }
    }
    rest.extend(b.entries.iter().filter(|(key, _)| !entries.contains_key(*key)).map(|(_, value)| value.clone()));
    if !rest.is_empty() {
        out.open = Some(join_all(heap, rest, widen, depth));
    } else if !out.entries.keys().eq(b.entries.keys()) {
        out.open = Some(Value::Unknown);
    }
    out
}

/// Whether an iterator certainly has at least one element.
pub(in super::super) fn is_filled(iter: &Iter) -> bool {
    match &iter.items {
        Items::Exact(items) => !items.is_empty(),
        Items::Many(_) => iter.filled,
    }
}

pub(super) fn join_iter(heap: &mut Heap, a: &Iter, b: &Iter, widen: bool, depth: u32) -> Iter {
    let Iter { items, once, first, last, filled, suspended } = a;
    let once = *once || b.once;
    let mut both = |x: &Option<Value>, y: &Option<Value>| Some(join_at(heap, x.as_ref()?, y.as_ref()?, widen, depth));
    let (first, last) = (both(first, &b.first), both(last, &b.last));
    let items = join_items(heap, items, &b.items, widen, depth);
    match (suspended, &b.suspended) {
        (None, None) => Iter { items, once, first, last, filled: is_filled(a) && is_filled(b), suspended: None },
        (Some(x), Some(y)) if Rc::ptr_eq(&x.source, &y.source) => {
            let progress = if x.progress == y.progress { x.progress } else { Progress::Started };
            Iter {
                items,
                once,
                first,
                last,
                filled: *filled && b.filled,
                suspended: Some(Suspended { source: x.source.clone(), progress }),
            }
        }
        _ => Iter { items: Items::Many(Value::Unknown), once, first: None, last: None, filled: false, suspended: None },
    }
}

pub(super) fn join_instance(heap: &mut Heap, a: &Instance, b: &Instance, widen: bool, depth: u32) -> Instance {
    let Instance { class, attrs, open } = a;
    let one = same_at(heap, class, &b.class, 0);
    Instance {
        class: if one { class.clone() } else { Value::Unknown },
        attrs: join_attrs(heap, attrs, &b.attrs, one.then_some(class), widen, depth),
        open: *open || b.open || !one,
    }
}

/// Joins two states of a class. If they differ in more than the attributes, the class may have any
/// members.
fn join_class(heap: &mut Heap, a: &UserClass, b: &UserClass, widen: bool) -> UserClass {
    let UserClass { name, path, code, bases, attrs, fields, open } = a;
    let one = bases.len() == b.bases.len() && bases.iter().zip(&b.bases).all(|(x, y)| same(heap, x, y));
    UserClass {
        name: *name,
        path: *path,
        code: *code,
        bases: if one { bases.clone() } else { join_bases(heap, bases, &b.bases, widen) },
        attrs: join_class_attrs(heap, attrs, &b.attrs, widen),
        fields: agree(fields, &b.fields),
        open: *open || b.open || !one || *fields != b.fields,
    }
}

/// Joins the attributes of a class. An attribute that only one path has set is unknown: on the
/// other path, a base class or `__getattr__` may supply it.
fn join_class_attrs(heap: &mut Heap, a: &Attrs, b: &Attrs, widen: bool) -> Attrs {
    let mut out = join_attrs(heap, a, b, None, widen, DEPTH);
    for (name, value) in &mut out {
        if !(a.contains_key(name) && b.contains_key(name)) {
            *value = Value::Unknown;
        }
    }
    out
}

fn join_bases(heap: &mut Heap, a: &[Value], b: &[Value], widen: bool) -> Vec<Value> {
    if a.len() == b.len() { join_each(heap, a, b, widen, DEPTH) } else { vec![Value::Unknown] }
}

fn agree<T: PartialEq + Clone>(a: &Option<T>, b: &Option<T>) -> Option<T> {
    if a == b { a.clone() } else { None }
}

/// Joins two states of one tensor.
fn join_states(a: &Tensor, b: &Tensor, widen: bool, arms: Option<[Sym; 2]>) -> Tensor {
    let mut joined = join_tensor(a, b, widen, arms);
    joined.base = agree(&a.base, &b.base);
    joined.writes = a.writes.max(b.writes);
    joined.version = a.version.max(b.version);
    joined.unsure |= a.writes != b.writes || a.base != b.base;
    // In both states, the tensor is not a view, and its facts are current.
    let fresh = [a, b].iter().all(|tensor| tensor.base.is_none() && tensor.version == tensor.writes);
    let alike = (a.version, a.writes, a.base) == (b.version, b.writes, b.base);
    if !(alike || fresh) {
        joined.forget_values();
    }
    // In the state with fewer writes, the view may be older than the last write, which may have
    // written a value with a graph.
    if joined.base.is_some() && a.version != b.version && joined.grad == Grad::Off {
        joined.grad = Grad::Unknown;
    }
    joined
}

/// The join of the facts of two tensors: a tensor with its own memory. `arms` is [`Heap::arms`].
pub(in super::super) fn join_tensor(a: &Tensor, b: &Tensor, widen: bool, arms: Option<[Sym; 2]>) -> Tensor {
    let Tensor {
        array,
        wrapper,
        shape,
        trailing: _,
        shape_at,
        dtype,
        dtype_at,
        device,
        device_at,
        range,
        range_at,
        role,
        role_at,
        past,
        grad,
        layout,
        picks,
        data,
        base: _,
        version: _,
        writes: _,
        parameter,
        freed,
        unsure,
    } = a;
    let shape = match (shape, &b.shape) {
        (Some(x), Some(y)) if x.len() == y.len() => Some(x.iter().zip(y).map(|(p, q)| join_dim(p, q)).collect()),
        _ => None,
    };
    let trailing = match shape {
        Some(_) => Rc::default(),
        None => {
            let pairs = a.last_dims().iter().rev().zip(b.last_dims().iter().rev());
            let ends: Vec<Dim> = pairs.map(|(p, q)| join_dim(p, q)).collect();
            ends.into_iter().rev().collect()
        }
    };
    let (dtype, role) = (agree(dtype, &b.dtype), agree(role, &b.role));
    // A module moves its parameters, but not its other tensors.
    let same_device = device.zip(b.device).and_then(|(x, y)| x.join(y));
    let device =
        same_device.or_else(|| Device::join_arms(*device, b.device, arms?)).filter(|_| *parameter == b.parameter);
    let range: Option<Range> = match (range, &b.range) {
        (Some(x), Some(y)) if !widen || x == y => Some(x.join(y)),
        _ => None,
    };
    Tensor {
        array: *array,
        wrapper: agree(wrapper, &b.wrapper),
        shape_at: shape_at.filter(|_| shape.is_some()),
        shape,
        trailing,
        dtype_at: dtype_at.filter(|_| dtype.is_some()),
        dtype,
        device_at: device_at.or(b.device_at).filter(|_| device.is_some()),
        device,
        range_at: range_at.filter(|_| range.is_some()),
        range,
        role_at: role_at.filter(|_| role.is_some()),
        role,
        past: past.both(b.past),
        grad: if *grad == b.grad { *grad } else { Grad::Unknown },
        layout: agree(layout, &b.layout),
        picks: picks.filter(|_| same_picks(*picks, b.picks)),
        data: data.clone().filter(|_| same_numbers(data.as_deref(), b.data.as_deref())),
        base: None,
        version: 0,
        writes: 0,
        parameter: *parameter && b.parameter,
        freed: b.freed.and(*freed),
        unsure: *unsure || b.unsure,
    }
}

fn join_dim(a: &Dim, b: &Dim) -> Dim {
    let Dim { size, at, batch } = a;
    let (size, at) = if *size == b.size { (size.clone(), *at) } else { (Size::Unknown, None) };
    Dim { size, at, batch: *batch && b.batch }
}
