//! Joins: the facts that hold on both of two paths.

mod objects;

use std::rc::Rc;

use super::equal::{DEPTH, same_at};
use super::{Among, Data, Device, Grad, Heap, Items, Met, Open, Partial, Ranged, State, Taken, Type, Value};

pub(super) use objects::{is_filled, join_data, join_tensor, nameless};

/// The join of two values. With `widen`, numbers that differ lose their bounds, and strings lose
/// their sets of possible values, so that every chain of joins is short.
pub(crate) fn join(heap: &mut Heap, a: &Value, b: &Value, widen: bool) -> Value {
    join_at(heap, a, b, widen, DEPTH)
}

fn join_at(heap: &mut Heap, a: &Value, b: &Value, widen: bool, depth: u32) -> Value {
    let joined = both_at(heap, a, b, widen, depth);
    if joined.is_unknown() {
        heap.lose(a);
        heap.lose(b);
        return open_after_arms(heap, a, b).unwrap_or(joined);
    }
    joined
}

fn both_at(heap: &mut Heap, a: &Value, b: &Value, widen: bool, depth: u32) -> Value {
    if same_at(heap, a, b, depth) {
        // The objects are alike, but a write to one is not a write to the other.
        let apart = match (a, b) {
            (Value::Obj(x), Value::Obj(y)) if x != y && depth > 0 => {
                heap.may_be(*x, *y);
                matches!(heap.get(*x), Data::List(_) | Data::Tensor(_))
            }
            _ => false,
        };
        if !apart {
            return a.clone();
        }
    }
    if let (Some(x), Some(y)) = (a.number_type(), b.number_type()) {
        return match (x == y, widen) {
            (false, _) => Value::Unknown,
            (true, true) => Value::Any(x),
            (true, false) => join_numbers(x, a, b),
        };
    }
    match (a, b) {
        (a, b) if a.is_text() && b.is_text() => match texts_of(&[a.clone(), b.clone()]) {
            Some(texts) if !widen => texts,
            _ => Value::Any(Type::Str),
        },
        (Value::Tuple(x), Value::Tuple(y)) if x.len() == y.len() && depth > 0 => {
            Value::tuple(join_each(heap, x, y, widen, depth - 1))
        }
        (Value::Device(x), Value::Device(y)) => x.join(*y).map_or(Value::Unknown, Value::Device),
        (Value::Open(x), Value::Open(y)) => join_open(x, y),
        (Value::Partial(x), Value::Partial(y)) if depth > 0 => join_partial(heap, x, y, widen, depth - 1),
        // Two different objects: tensors, lists, dictionaries, iterators and instances of one class
        // are joined into a new object. For other kinds, the join is unknown.
        (Value::Obj(x), Value::Obj(y)) if depth > 0 && !(heap.is_unjoined(*x) || heap.is_unjoined(*y)) => {
            let (p, q) = (heap.share(*x), heap.share(*y));
            let joined = match (&*p, &*q) {
                (Data::Tensor(_), Data::Tensor(_)) => match (heap.tensor_now(*x), heap.tensor_now(*y)) {
                    (Some(p), Some(q)) if p.array == q.array && p.wrapper == q.wrapper => {
                        let joined = join_tensor(&p, &q, widen, heap.arms);
                        heap.note_condition(joined.device);
                        Data::Tensor(joined)
                    }
                    _ => return Value::Unknown,
                },
                (Data::List(p), Data::List(q)) => Data::List(join_items(heap, p, q, widen, depth - 1)),
                (Data::Dict(p), Data::Dict(q)) => Data::Dict(objects::join_dict(heap, p, q, widen, depth - 1)),
                (Data::Iter(p), Data::Iter(q)) => Data::Iter(objects::join_iter(heap, p, q, widen, depth - 1)),
                (Data::Instance(p), Data::Instance(q)) if same_at(heap, &p.class, &q.class, 0) => {
                    Data::Instance(objects::join_instance(heap, p, q, widen, depth - 1))
                }
                (Data::Set(_), Data::Set(_))
                | (Data::Instance(_), Data::Instance(_))
                | (Data::Scope(_), Data::Scope(_))
                | (Data::Function(_), Data::Function(_))
                | (Data::Class(_), Data::Class(_))
                | (Data::Module { .. }, Data::Module { .. })
                | different_objects!() => return Value::Unknown,
            };
            let either = heap.alloc(joined);
            if matches!(&*p, Data::List(_) | Data::Iter(_)) {
                heap.join_emptiness(either, [(*x, &p), (*y, &q)]);
            }
            heap.relate(either, [*x, *y]);
            for base in [*x, *y].iter().filter_map(|id| heap.base_of(*id)).collect::<Vec<_>>() {
                heap.may_be(either, base);
            }
            Value::Obj(either)
        }
        // For these, the join of different values is unknown.
        (Value::Unknown, Value::Unknown)
        | (Value::Tuple(_), Value::Tuple(_))
        | (Value::Partial(_), Value::Partial(_))
        | (Value::Obj(_), Value::Obj(_))
        | (Value::Slice(_), Value::Slice(_))
        | (Value::Dtype(_), Value::Dtype(_))
        | (Value::Path(_), Value::Path(_))
        | (Value::Bound(_), Value::Bound(_))
        | (Value::Method(_), Value::Method(_))
        | (Value::Super(_), Value::Super(_))
        | (Value::Lazy(_), Value::Lazy(_))
        | (Value::Fates(_), Value::Fates(_)) => Value::Unknown,
        different_kinds!() => Value::Unknown,
    }
}

/// The join of two numbers of one type: the values of both.
fn join_numbers(kind: Type, a: &Value, b: &Value) -> Value {
    let (Some((p, at)), Some((q, other))) = (a.range(), b.range()) else { return Value::Any(kind) };
    let (range, at) = (p.join(&q), at.or(other));
    let alone = range.lo() == range.hi();
    let claims = |value: &Value| match value {
        Value::Ranged(ranged) | Value::Floats(ranged) => (ranged.dense, ranged.span.clone()),
        _ => (false, None),
    };
    let ((dense, span), (other_dense, other_span)) = (claims(a), claims(b));
    let dense = dense && other_dense && p.parts() == q.parts();
    let span = span.filter(|span| other_span.as_ref() == Some(span));
    match kind {
        Type::Int if alone => Value::ranged(range, dense, at),
        Type::Int => Value::Ranged(Rc::new(Ranged { range, dense, span, at })),
        Type::Float if alone => Value::floats(range, at),
        Type::Float => Value::Floats(Rc::new(Ranged { range, dense, span, at })),
        Type::Bool | Type::Complex | Type::Str | Type::Bytes => Value::Any(kind),
    }
}

/// The value after a condition, if its type is unknown and it is on a GPU in one of the arms.
fn open_after_arms(heap: &mut Heap, a: &Value, b: &Value) -> Option<Value> {
    let holds = heap.arms?;
    let open = |value: &Value| match value {
        Value::Open(open) => Some(Rc::clone(open)),
        _ => None,
    };
    let device_in = |value: &Value| match value {
        Value::Open(open) => Some(open.device),
        value => heap.tensor_ref(value)?.device,
    };
    if !(a.is_unknown() || heap.is_tensor(a)) || !(b.is_unknown() || heap.is_tensor(b)) {
        return None;
    }
    let (x, y) = (open(a), open(b));
    let device = Device::join_arms(device_in(a), device_in(b), holds)?;
    heap.note_condition(Some(device));
    let device_at = x.as_ref().or(y.as_ref()).and_then(|open| open.device_at);
    let grad = match (x, y) {
        (Some(x), Some(y)) if x.grad == y.grad => x.grad,
        _ => Grad::Unknown,
    };
    Some(Value::Open(Rc::new(Open { device, device_at, grad })))
}

fn join_open(a: &Open, b: &Open) -> Value {
    let Open { device, device_at, grad } = a;
    let grad = if *grad == b.grad { *grad } else { Grad::Unknown };
    device.join(b.device).map_or(Value::Unknown, |device| {
        Value::Open(Rc::new(Open { device, device_at: device_at.or(b.device_at), grad }))
    })
}

fn join_each(heap: &mut Heap, a: &[Value], b: &[Value], widen: bool, depth: u32) -> Vec<Value> {
    a.iter().zip(b).map(|(a, b)| join_at(heap, a, b, widen, depth)).collect()
}

/// The join of two callees: known only if they are the same function with the same number of
/// arguments and the same keywords.
fn join_partial(heap: &mut Heap, a: &Partial, b: &Partial, widen: bool, depth: u32) -> Value {
    let Partial { func, args, kwargs } = a;
    let names = kwargs.iter().map(|(name, _)| name).eq(b.kwargs.iter().map(|(name, _)| name));
    if !names || args.len() != b.args.len() || !same_at(heap, func, &b.func, depth) {
        return Value::Unknown;
    }
    let joined = Partial {
        func: func.clone(),
        args: join_each(heap, args, &b.args, widen, depth),
        kwargs: objects::join_named(heap, kwargs, &b.kwargs, widen, depth),
    };
    Value::Partial(Rc::new(joined))
}

fn join_items(heap: &mut Heap, a: &Items, b: &Items, widen: bool, depth: u32) -> Items {
    match (a, b) {
        (Items::Exact(x), Items::Exact(y)) if x.len() == y.len() => Items::Exact(join_each(heap, x, y, widen, depth)),
        (a, b) => {
            let all = [a, b].map(|items| match items {
                Items::Exact(values) => values.as_slice(),
                Items::Many(value) => std::slice::from_ref(value),
            });
            Items::Many(join_all(heap, all.concat(), widen, depth))
        }
    }
}

/// The join of several values.
fn join_all(heap: &mut Heap, values: Vec<Value>, widen: bool, depth: u32) -> Value {
    if !widen && let Some(texts) = texts_of(&values).filter(|_| values.len() > 1) {
        return texts;
    }
    let joined = values.into_iter().reduce(|all, value| join_at(heap, &all, &value, widen, depth));
    joined.unwrap_or(Value::Unknown)
}

/// The largest number of possible values of a string that are stored.
const MOST_TEXTS: usize = 64;

/// The join of several strings; `None` if one of them is unknown, or if they have too many possible
/// values.
pub(crate) fn texts_of(values: &[Value]) -> Option<Value> {
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
        _ => Some(Value::Among(Rc::new(Among { taken: surely_taken(values, texts.len()), texts }))),
    }
}

/// How certain it is that each text occurs: as certain as for the least certain of the values. If
/// one of the values can be only some of the texts, it is not known whether every text occurs.
fn surely_taken(values: &[Value], count: usize) -> Taken {
    let of = |value: &Value| match value {
        Value::Among(among) if among.texts.len() == count => among.taken,
        _ => Taken::Perhaps,
    };
    values.iter().map(of).reduce(Taken::weaker).unwrap_or(Taken::Perhaps)
}

/// A number that is certainly one of the elements.
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
    /// The concatenation of two lists. If the length of the result is unknown, a number that is
    /// certainly an element of one of the lists is assumed to occur in some run: it is usually the
    /// padding of short lists.
    pub(crate) fn followed_by(self, more: Items, heap: &mut Heap) -> Items {
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

    /// The join of all elements.
    pub(crate) fn element(&self, heap: &mut Heap) -> Value {
        match self {
            Items::Exact(values) => join_all(heap, values.clone(), false, DEPTH),
            Items::Many(value) => value.clone(),
        }
    }
}

/// The rule states of several paths, stored separately, if each path has one state and the states
/// differ.
pub(super) fn side_by_side(versions: &[Option<Value>]) -> Option<Value> {
    let mut all: Vec<State> = Vec::new();
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
