//! What is known where two paths meet: no more than each of them knows.

use std::rc::Rc;

use super::{
    Among, Attrs, Data, Dict, Dim, Heap, Instance, Items, Iter, Met, Progress, Size, Suspended, Taken, Tensor, Type,
    Value,
};

/// How deep structures are compared; beyond it they count as different.
pub(super) const DEPTH: u32 = 4;

/// Whether two values are known to be the same: the same thing, or alike in every fact.
pub fn same(heap: &Heap, a: &Value, b: &Value) -> bool {
    same_at(heap, a, b, DEPTH)
}

/// Whether two values are the same without a look at what they hold.
pub(super) fn identical(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Unknown, Value::Unknown) | (Value::None, Value::None) => true,
        (Value::Bool(x), Value::Bool(y)) => x == y,
        (Value::Int(x), Value::Int(y)) => x == y,
        (Value::Any(x), Value::Any(y)) => x == y,
        (Value::Path(x), Value::Path(y)) => x == y,
        (Value::Obj(x), Value::Obj(y)) => x == y,
        (Value::Str(x), Value::Str(y)) => Rc::ptr_eq(x, y),
        (Value::Tuple(x), Value::Tuple(y)) => Rc::ptr_eq(x, y),
        (Value::Size(x), Value::Size(y)) => Rc::ptr_eq(x, y),
        (Value::Bound(x), Value::Bound(y)) => Rc::ptr_eq(x, y),
        (Value::Method(x), Value::Method(y)) => Rc::ptr_eq(x, y),
        _ => false,
    }
}

fn same_at(heap: &Heap, a: &Value, b: &Value, depth: u32) -> bool {
    match (a, b) {
        (Value::Unknown, Value::Unknown) | (Value::None, Value::None) | (Value::Ellipsis, Value::Ellipsis) => true,
        (Value::Bool(x), Value::Bool(y)) => x == y,
        (Value::Int(x), Value::Int(y)) => x == y,
        (Value::Float(x), Value::Float(y)) => x == y || (x.is_nan() && y.is_nan()),
        (Value::Str(x), Value::Str(y)) => x == y,
        (Value::Size(x), Value::Size(y)) => x == y,
        (Value::Any(x), Value::Any(y)) => x == y,
        (Value::Ranged(x), Value::Ranged(y)) => x.range == y.range && x.dense == y.dense,
        (Value::Floats(x), Value::Floats(y)) => x.range == y.range,
        (Value::Among(x), Value::Among(y)) => x == y,
        (Value::Dtype(x), Value::Dtype(y)) => x == y,
        (Value::Device(x), Value::Device(y)) => x == y,
        (Value::Path(x), Value::Path(y)) => x == y,
        (Value::Lazy(x), Value::Lazy(y)) => x == y,
        (Value::Fates(x), Value::Fates(y)) => x == y,
        (Value::Tuple(x), Value::Tuple(y)) => {
            depth > 0 && x.len() == y.len() && x.iter().zip(y.iter()).all(|(a, b)| same_at(heap, a, b, depth - 1))
        }
        (Value::Slice(x), Value::Slice(y)) => x.iter().zip(y.iter()).all(|(a, b)| same_at(heap, a, b, depth)),
        (Value::Bound(x), Value::Bound(y)) => {
            depth > 0 && same_at(heap, &x.0, &y.0, depth - 1) && same_at(heap, &x.1, &y.1, depth - 1)
        }
        (Value::Method(x), Value::Method(y)) => x.1 == y.1 && depth > 0 && same_at(heap, &x.0, &y.0, depth - 1),
        (Value::Obj(x), Value::Obj(y)) => {
            x == y || (depth > 0 && same_data(heap, heap.get(*x), heap.get(*y), depth - 1))
        }
        _ => false,
    }
}

fn same_items(heap: &Heap, a: &Items, b: &Items, depth: u32) -> bool {
    match (a, b) {
        (Items::Exact(x), Items::Exact(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(a, b)| same_at(heap, a, b, depth))
        }
        (Items::Many(x), Items::Many(y)) => same_at(heap, x, y, depth),
        _ => false,
    }
}

fn same_attrs(heap: &Heap, a: &Attrs, b: &Attrs, depth: u32) -> bool {
    a.len() == b.len() && a.iter().all(|(k, v)| b.get(k).is_some_and(|w| same_at(heap, v, w, depth)))
}

/// Whether two objects made at different times are alike in every fact.
pub(super) fn same_data(heap: &Heap, a: &Data, b: &Data, depth: u32) -> bool {
    match (a, b) {
        (Data::Tensor(x), Data::Tensor(y)) => same_tensor(x, y),
        (Data::List(x), Data::List(y)) | (Data::Set(x), Data::Set(y)) => same_items(heap, x, y, depth),
        (Data::Iter(x), Data::Iter(y)) => {
            same_suspended(x.suspended.as_ref(), y.suspended.as_ref()) && same_items(heap, &x.items, &y.items, depth)
        }
        (Data::Dict(x), Data::Dict(y)) => {
            x.entries.len() == y.entries.len()
                && x.entries.iter().all(|(k, v)| y.entries.get(k).is_some_and(|w| same_at(heap, v, w, depth)))
                && match (&x.open, &y.open) {
                    (None, None) => true,
                    (Some(v), Some(w)) => same_at(heap, v, w, depth),
                    _ => false,
                }
        }
        (Data::Instance(x), Data::Instance(y)) => {
            x.open == y.open && same_at(heap, &x.class, &y.class, 0) && same_attrs(heap, &x.attrs, &y.attrs, depth)
        }
        (Data::Function(x), Data::Function(y)) => {
            x.code == y.code && x.scope == y.scope && same_attrs(heap, &x.attrs, &y.attrs, depth)
        }
        (Data::Scope(x), Data::Scope(y)) => same_attrs(heap, &x.vars, &y.vars, depth),
        (Data::Class(x), Data::Class(y)) => x.code == y.code && same_attrs(heap, &x.attrs, &y.attrs, depth),
        (Data::Module { file: x, .. }, Data::Module { file: y, .. }) => x == y,
        _ => false,
    }
}

fn same_tensor(a: &Tensor, b: &Tensor) -> bool {
    let sizes = |t: &Tensor| t.sizes();
    a.array == b.array
        && a.wrapper == b.wrapper
        && sizes(a) == sizes(b)
        && a.dtype == b.dtype
        && a.device == b.device
        && a.range == b.range
        && a.role == b.role
        && a.past == b.past
        && a.grad == b.grad
        && a.data == b.data
        && a.picks == b.picks
        && a.parameter == b.parameter
        && a.freed == b.freed
        && a.unsure == b.unsure
}

/// The join of two values. With `widen`, numbers that differ lose even their bounds.
pub fn join(heap: &mut Heap, a: &Value, b: &Value, widen: bool) -> Value {
    join_at(heap, a, b, widen, DEPTH)
}

fn join_at(heap: &mut Heap, a: &Value, b: &Value, widen: bool, depth: u32) -> Value {
    if same_at(heap, a, b, depth) {
        return a.clone();
    }
    if let (Some(x), Some(y)) = (a.number_type(), b.number_type()) {
        if !widen
            && x == y
            && let (Some((p, at)), Some((q, other))) = (a.range(), b.range())
        {
            let (range, at) = (p.join(&q), at.or(other));
            match x {
                Type::Int => return Value::ranged(range, false, at),
                Type::Float => return Value::floats(range, at),
                _ => {}
            }
        }
        return if x == y { Value::Any(x) } else { Value::Unknown };
    }
    match (a, b) {
        (a, b) if a.is_text() && b.is_text() => Value::Any(Type::Str),
        (Value::Tuple(x), Value::Tuple(y)) if x.len() == y.len() && depth > 0 => {
            let items = x.iter().zip(y.iter()).map(|(a, b)| join_at(heap, a, b, widen, depth - 1)).collect();
            Value::tuple(items)
        }
        (Value::Obj(x), Value::Obj(y)) if depth > 0 => {
            let (x, y) = (heap.get(*x).clone(), heap.get(*y).clone());
            match (&x, &y) {
                // Two different things: only kinds whose identity matters little are
                // joined into a new one.
                (Data::Tensor(p), Data::Tensor(q)) if p.array == q.array => {
                    let joined = join_tensor(p, q, widen);
                    Value::Obj(heap.alloc(Data::Tensor(joined)))
                }
                (Data::List(p), Data::List(q)) => {
                    let items = join_items(heap, p, q, widen, depth - 1);
                    Value::Obj(heap.alloc(Data::List(items)))
                }
                (Data::Dict(p), Data::Dict(q)) => {
                    let dict = join_dict(heap, p, q, widen, depth - 1);
                    Value::Obj(heap.alloc(Data::Dict(dict)))
                }
                (Data::Iter(p), Data::Iter(q)) => {
                    let iter = join_iter(heap, p, q, widen, depth - 1);
                    Value::Obj(heap.alloc(Data::Iter(iter)))
                }
                (Data::Instance(p), Data::Instance(q)) if same_at(heap, &p.class, &q.class, 0) => {
                    let instance = join_instance(heap, p, q, widen, depth - 1);
                    Value::Obj(heap.alloc(Data::Instance(instance)))
                }
                _ => Value::Unknown,
            }
        }
        _ => Value::Unknown,
    }
}

fn join_items(heap: &mut Heap, a: &Items, b: &Items, widen: bool, depth: u32) -> Items {
    match (a, b) {
        (Items::Exact(x), Items::Exact(y)) if x.len() == y.len() => {
            Items::Exact(x.iter().zip(y).map(|(a, b)| join_at(heap, a, b, widen, depth)).collect())
        }
        _ => {
            let mut all = element_values(a);
            all.extend(element_values(b));
            Items::Many(join_all(heap, &all, widen, depth))
        }
    }
}

fn same_suspended(a: Option<&Suspended>, b: Option<&Suspended>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => Rc::ptr_eq(&a.source, &b.source) && a.progress == b.progress,
        _ => false,
    }
}

fn join_iter(heap: &mut Heap, a: &Iter, b: &Iter, widen: bool, depth: u32) -> Iter {
    let items = join_items(heap, &a.items, &b.items, widen, depth);
    let (suspended, items) = match (&a.suspended, &b.suspended) {
        (None, None) => (None, items),
        (Some(x), Some(y)) if Rc::ptr_eq(&x.source, &y.source) => {
            let progress = if x.progress == y.progress { x.progress } else { Progress::Started };
            (Some(Suspended { source: x.source.clone(), progress }), items)
        }
        _ => (None, Items::Many(Value::Unknown)),
    };
    Iter { items, first: None, last: None, suspended }
}

fn element_values(items: &Items) -> Vec<Value> {
    match items {
        Items::Exact(values) => values.clone(),
        Items::Many(value) => vec![value.clone()],
    }
}

fn join_all(heap: &mut Heap, values: &[Value], widen: bool, depth: u32) -> Value {
    let Some((first, rest)) = values.split_first() else { return Value::Unknown };
    if rest.is_empty() {
        return first.clone();
    }
    if !widen && let Some(value) = numbers_of(values).or_else(|| texts_of(values)) {
        return value;
    }
    // Rows of one width: column by column.
    if let Value::Tuple(row) = first
        && depth > 0
        && values.iter().all(|v| matches!(v, Value::Tuple(other) if other.len() == row.len()))
    {
        let columns = (0..row.len()).map(|i| {
            let column: Vec<Value> = values
                .iter()
                .filter_map(|v| match v {
                    Value::Tuple(row) => row.get(i).cloned(),
                    _ => None,
                })
                .collect();
            join_all(heap, &column, widen, depth - 1)
        });
        return Value::tuple(columns.collect());
    }
    rest.iter().fold(first.clone(), |acc, v| join_at(heap, &acc, v, widen, depth))
}

/// What any of several integers, or of several floats, is like.
fn numbers_of(values: &[Value]) -> Option<Value> {
    let kind = values.first()?.number_type()?;
    let mut all = values.iter().map(|v| if v.number_type() == Some(kind) { v.range() } else { None });
    let (first, at) = all.next()??;
    let range = all.try_fold(first, |acc, next| Some(acc.union(&next?.0)))?;
    // Which of them is taken is not known, nor whether each is.
    match kind {
        Type::Int => Some(Value::ranged(range.only_bounds(), false, at)),
        Type::Float => Some(Value::floats(range.only_bounds(), at)),
        _ => None,
    }
}

/// More texts than this are no labels' names.
const MOST_TEXTS: usize = 64;

/// What any of several texts is like.
pub fn texts_of(values: &[Value]) -> Option<Value> {
    let mut texts: Vec<Rc<str>> = Vec::new();
    for value in values {
        let more = match value {
            Value::Str(text) => std::slice::from_ref(text),
            Value::Among(among) => among.texts.as_slice(),
            _ => return None,
        };
        for text in more {
            if !texts.contains(text) {
                texts.push(text.clone());
            }
        }
        if texts.len() > MOST_TEXTS {
            return None;
        }
    }
    match texts.as_slice() {
        [one] => Some(Value::Str(one.clone())),
        _ => Some(Value::Among(Rc::new(Among { texts, taken: Taken::Perhaps }))),
    }
}

/// A number that is certainly among the elements.
fn surely_among(items: &Items) -> Option<f64> {
    match items {
        Items::Exact(values) => {
            let first = values.first()?.as_f64()?;
            values.iter().all(|v| v.as_f64() == Some(first)).then_some(first)
        }
        Items::Many(Value::Ranged(ranged) | Value::Floats(ranged)) => ranged.range.met.map(|met| met.value),
        Items::Many(value) => value.as_f64(),
    }
}

impl Items {
    /// The elements of two lists, one behind the other. What is put behind a list of unknown
    /// length, or before it, is there in some run: the padding of what is too short.
    pub fn followed_by(self, more: Items, heap: &mut Heap) -> Items {
        const MOST: usize = 4096;
        match (self, more) {
            (Items::Exact(mut items), Items::Exact(more)) if items.len() + more.len() <= MOST => {
                items.extend(more);
                Items::Exact(items)
            }
            (Items::Exact(items), more) if items.is_empty() => Items::Many(more.element(heap)),
            (items, more) => {
                let met = surely_among(&more).or(surely_among(&items));
                let met = met.map(|value| Met { value, always: false });
                let (a, b) = (items.element(heap), more.element(heap));
                Items::Many(match join(heap, &a, &b, false) {
                    Value::Ranged(both) => Value::ranged(both.range.clone().with_met(met), both.dense, both.at),
                    Value::Floats(both) => Value::floats(both.range.clone().with_met(met), both.at),
                    other => other,
                })
            }
        }
    }

    /// What any element is like.
    pub fn element(&self, heap: &mut Heap) -> Value {
        match self {
            Items::Exact(values) => join_all(heap, values, false, DEPTH),
            Items::Many(value) => value.clone(),
        }
    }
}

/// A name that only one path binds keeps that path's value: reading it on the other would be
/// a `NameError`.
fn join_attrs(heap: &mut Heap, a: &Attrs, b: &Attrs, widen: bool, depth: u32) -> Attrs {
    let mut out = Attrs::default();
    for (name, value) in a {
        let joined = match b.get(name) {
            Some(other) => join_at(heap, value, other, widen, depth),
            None => value.clone(),
        };
        out.insert(*name, joined);
    }
    for (name, value) in b {
        if !out.contains_key(name) {
            out.insert(*name, value.clone());
        }
    }
    out
}

fn join_dict(heap: &mut Heap, a: &Dict, b: &Dict, widen: bool, depth: u32) -> Dict {
    let mut out = Dict { entries: Default::default(), open: None };
    let mut open: Vec<Value> = a.open.iter().chain(&b.open).cloned().collect();
    for (key, value) in &a.entries {
        match b.entries.get(key) {
            Some(other) => {
                let joined = join_at(heap, value, other, widen, depth);
                out.entries.insert(key.clone(), joined);
            }
            None => open.push(value.clone()),
        }
    }
    for (key, value) in &b.entries {
        if !a.entries.contains_key(key) {
            open.push(value.clone());
        }
    }
    if !open.is_empty() {
        out.open = Some(join_all(heap, &open, widen, depth));
    }
    out
}

fn join_instance(heap: &mut Heap, a: &Instance, b: &Instance, widen: bool, depth: u32) -> Instance {
    Instance {
        class: a.class.clone(),
        attrs: join_attrs(heap, &a.attrs, &b.attrs, widen, depth),
        open: a.open || b.open,
    }
}

/// What was found on each of some paths, where it is one thing on each and not the same on all.
pub(super) fn side_by_side(versions: &[Option<Value>]) -> Option<Value> {
    let mut all: Vec<Rc<str>> = Vec::new();
    for version in versions {
        match version {
            Some(Value::Fates(fates)) if fates.len() == 1 => all.extend(fates.iter().cloned()),
            _ => return None,
        }
    }
    all.sort_unstable();
    all.dedup();
    (all.len() > 1).then(|| Value::Fates(all.into()))
}

/// Joins two states of the same object; `None` where they cannot both be states of it.
pub(super) fn join_data(heap: &mut Heap, a: &Data, b: &Data, widen: bool) -> Option<Data> {
    Some(match (a, b) {
        (Data::Scope(x), Data::Scope(y)) => {
            let mut scope = x.clone();
            scope.vars = join_attrs(heap, &x.vars, &y.vars, widen, DEPTH);
            Data::Scope(scope)
        }
        (Data::List(x), Data::List(y)) => Data::List(join_items(heap, x, y, widen, DEPTH)),
        (Data::Set(x), Data::Set(y)) => Data::Set(join_items(heap, x, y, widen, DEPTH)),
        (Data::Iter(x), Data::Iter(y)) => Data::Iter(join_iter(heap, x, y, widen, DEPTH)),
        (Data::Dict(x), Data::Dict(y)) => Data::Dict(join_dict(heap, x, y, widen, DEPTH)),
        (Data::Instance(x), Data::Instance(y)) => Data::Instance(join_instance(heap, x, y, widen, DEPTH)),
        (Data::Tensor(x), Data::Tensor(y)) => {
            let mut joined = join_tensor(x, y, widen);
            joined.base = if x.base == y.base { x.base } else { None };
            joined.writes = x.writes.max(y.writes);
            joined.version = x.version.max(y.version);
            joined.unsure |= x.writes != y.writes;
            // What is known of each is known as it is now, unless it is a view.
            let fresh = |t: &Tensor| t.base.is_none() && t.version == t.writes;
            if (x.version, x.writes) != (y.version, y.writes) && !(fresh(x) && fresh(y)) {
                joined.forget_values();
            }
            Data::Tensor(joined)
        }
        (Data::Class(x), Data::Class(y)) => {
            let mut class = x.clone();
            class.attrs = join_attrs(heap, &x.attrs, &y.attrs, widen, DEPTH);
            Data::Class(class)
        }
        (Data::Function(x), Data::Function(y)) => {
            let mut function = x.clone();
            function.attrs = join_attrs(heap, &x.attrs, &y.attrs, widen, DEPTH);
            Data::Function(function)
        }
        _ => return None,
    })
}

fn agree<T: PartialEq + Clone>(a: &Option<T>, b: &Option<T>) -> Option<T> {
    if a == b { a.clone() } else { None }
}

/// The join of the facts of two tensors.
pub(super) fn join_tensor(a: &Tensor, b: &Tensor, widen: bool) -> Tensor {
    let mut out = a.clone();
    out.shape = match (&a.shape, &b.shape) {
        (Some(x), Some(y)) if x.len() == y.len() => Some(
            x.iter()
                .zip(y)
                .map(|(p, q)| {
                    let (size, at) = if p.size == q.size { (p.size.clone(), p.at) } else { (Size::Unknown, None) };
                    Dim { size, at, batch: p.batch && q.batch }
                })
                .collect(),
        ),
        _ => None,
    };
    out.wrapper = agree(&a.wrapper, &b.wrapper);
    out.dtype = agree(&a.dtype, &b.dtype);
    out.device = agree(&a.device, &b.device);
    out.role = agree(&a.role, &b.role);
    out.past = a.past.both(b.past);
    out.data = agree(&a.data, &b.data);
    out.picks = agree(&a.picks, &b.picks);
    out.layout = agree(&a.layout, &b.layout);
    if a.grad != b.grad {
        out.grad = super::Grad::Unknown;
    }
    out.range = match (&a.range, &b.range) {
        (Some(x), Some(y)) if !widen || x == y => Some(x.join(y)),
        _ => None,
    };
    out.parameter = a.parameter && b.parameter;
    out.freed = a.freed.and(b.freed);
    out.unsure = a.unsure || b.unsure;
    out.base = None;
    out.version = 0;
    out.writes = 0;
    out
}
