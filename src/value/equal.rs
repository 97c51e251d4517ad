//! Whether two values, or two states of an object, have the same facts.
//!
//! The code names every field and kind, so that a new one is a compile error here. The place in an
//! [`Origin`] only labels a fact, so it is not compared.

use std::rc::Rc;

use super::join::is_filled;
use super::{
    Among, Attrs, Data, Dict, Dim, Function, Heap, Instance, Items, Iter, Open, Origin, Partial, Past, Picks, Ranged,
    Scope, Suspended, Tensor, UserClass, Value,
};

/// The depth to which structures are compared; below it, only identical objects are treated as
/// equal.
pub(super) const DEPTH: u32 = 4;

/// Whether two values are known to be the same: the same object, or equal in every fact.
pub(crate) fn same(heap: &Heap, a: &Value, b: &Value) -> bool {
    same_at(heap, a, b, DEPTH)
}

/// Whether two values are the same, without comparing their contents.
pub(super) fn identical(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Unknown, Value::Unknown) | (Value::None, Value::None) | (Value::Ellipsis, Value::Ellipsis) => true,
        (Value::Bool(x), Value::Bool(y)) => x == y,
        (Value::Int(x), Value::Int(y)) => x == y,
        (Value::Float(x), Value::Float(y)) => same_number(*x, *y),
        (Value::Any(x), Value::Any(y)) => x == y,
        (Value::Dtype(x), Value::Dtype(y)) => x == y,
        (Value::Device(x), Value::Device(y)) => x == y,
        (Value::Path(x), Value::Path(y)) => x == y,
        (Value::Obj(x), Value::Obj(y)) => x == y,
        (Value::Open(x), Value::Open(y)) => Rc::ptr_eq(x, y),
        (Value::Str(x), Value::Str(y)) => Rc::ptr_eq(x, y),
        (Value::Tuple(x), Value::Tuple(y)) => Rc::ptr_eq(x, y),
        (Value::Size(x), Value::Size(y)) => Rc::ptr_eq(x, y),
        (Value::Ranged(x), Value::Ranged(y)) | (Value::Floats(x), Value::Floats(y)) => Rc::ptr_eq(x, y),
        (Value::Among(x), Value::Among(y)) => Rc::ptr_eq(x, y),
        (Value::Slice(x), Value::Slice(y)) => Rc::ptr_eq(x, y),
        (Value::Bound(x), Value::Bound(y)) => Rc::ptr_eq(x, y),
        (Value::Method(x), Value::Method(y)) => Rc::ptr_eq(x, y),
        (Value::Super(x), Value::Super(y)) => Rc::ptr_eq(x, y),
        (Value::Lazy(x), Value::Lazy(y)) => Rc::ptr_eq(x, y),
        (Value::Partial(x), Value::Partial(y)) => Rc::ptr_eq(x, y),
        (Value::Fates(x), Value::Fates(y)) => Rc::ptr_eq(x, y),
        different_kinds!() => false,
    }
}

pub(super) fn same_at(heap: &Heap, a: &Value, b: &Value, depth: u32) -> bool {
    if identical(a, b) {
        return true;
    }
    match (a, b) {
        (Value::Open(x), Value::Open(y)) => same_open(x, y),
        (Value::Str(x), Value::Str(y)) => x == y,
        (Value::Size(x), Value::Size(y)) => x == y,
        (Value::Ranged(x), Value::Ranged(y)) | (Value::Floats(x), Value::Floats(y)) => same_ranged(x, y),
        (Value::Among(x), Value::Among(y)) => same_texts(x, y),
        (Value::Lazy(x), Value::Lazy(y)) => x == y,
        (Value::Fates(x), Value::Fates(y)) => x == y,
        (Value::Tuple(x), Value::Tuple(y)) => depth > 0 && same_values(heap, x, y, depth - 1),
        (Value::Slice(x), Value::Slice(y)) => same_values(heap, &x[..], &y[..], depth),
        (Value::Bound(x), Value::Bound(y)) => {
            depth > 0 && same_at(heap, &x.0, &y.0, depth - 1) && same_at(heap, &x.1, &y.1, depth - 1)
        }
        (Value::Method(x), Value::Method(y)) => x.1 == y.1 && depth > 0 && same_at(heap, &x.0, &y.0, depth - 1),
        (Value::Super(x), Value::Super(y)) => x.0 == y.0 && depth > 0 && same_at(heap, &x.1, &y.1, depth - 1),
        (Value::Partial(x), Value::Partial(y)) => depth > 0 && same_partial(heap, x, y, depth - 1),
        (Value::Obj(x), Value::Obj(y)) => {
            depth > 0
                && !(heap.is_unjoined(*x) || heap.is_unjoined(*y))
                && match (heap.get(*x), heap.get(*y)) {
                    // Facts about elements are compared only if they still hold.
                    (Data::Tensor(_), Data::Tensor(_)) => match (heap.tensor_now(*x), heap.tensor_now(*y)) {
                        (Some(p), Some(q)) => same_tensor(&p, &q),
                        _ => false,
                    },
                    (p, q) => same_data(heap, p, q, depth - 1),
                }
        }
        // For these, `identical` decides.
        (Value::Unknown, Value::Unknown)
        | (Value::None, Value::None)
        | (Value::Ellipsis, Value::Ellipsis)
        | (Value::Bool(_), Value::Bool(_))
        | (Value::Int(_), Value::Int(_))
        | (Value::Float(_), Value::Float(_))
        | (Value::Any(_), Value::Any(_))
        | (Value::Dtype(_), Value::Dtype(_))
        | (Value::Device(_), Value::Device(_))
        | (Value::Path(_), Value::Path(_)) => false,
        different_kinds!() => false,
    }
}

fn same_open(a: &Open, b: &Open) -> bool {
    let Open { device, device_at: _, grad } = a;
    *device == b.device && *grad == b.grad
}

fn same_values(heap: &Heap, a: &[Value], b: &[Value], depth: u32) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_at(heap, a, b, depth))
}

/// Whether two numbers are equal; NaN equals NaN.
pub(super) fn same_number(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}

fn same_ranged(a: &Ranged, b: &Ranged) -> bool {
    let Ranged { range, dense, span, at: _ } = a;
    *range == b.range && *dense == b.dense && *span == b.span
}

/// Whether two strings have the same possible values. The order of these values is not a fact.
fn same_texts(a: &Among, b: &Among) -> bool {
    let Among { texts, taken } = a;
    *taken == b.taken
        && texts.iter().all(|text| b.texts.contains(text))
        && b.texts.iter().all(|text| texts.contains(text))
}

pub(super) fn same_partial(heap: &Heap, a: &Partial, b: &Partial, depth: u32) -> bool {
    let Partial { func, args, kwargs } = a;
    same_at(heap, func, &b.func, depth)
        && same_values(heap, args, &b.args, depth)
        && same_named(heap, kwargs, &b.kwargs, depth)
}

fn same_named<K: PartialEq>(heap: &Heap, a: &[(K, Value)], b: &[(K, Value)], depth: u32) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|((k, v), (l, w))| k == l && same_at(heap, v, w, depth))
}

fn same_items(heap: &Heap, a: &Items, b: &Items, depth: u32) -> bool {
    match (a, b) {
        (Items::Exact(x), Items::Exact(y)) => same_values(heap, x, y, depth),
        (Items::Many(x), Items::Many(y)) => same_at(heap, x, y, depth),
        (Items::Exact(_), Items::Many(_)) | (Items::Many(_), Items::Exact(_)) => false,
    }
}

fn same_option(heap: &Heap, a: Option<&Value>, b: Option<&Value>, depth: u32) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(x), Some(y)) => same_at(heap, x, y, depth),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

fn same_attrs(heap: &Heap, a: &Attrs, b: &Attrs, depth: u32) -> bool {
    a.len() == b.len() && a.iter().all(|(k, v)| b.get(k).is_some_and(|w| same_at(heap, v, w, depth)))
}

/// Whether two dictionaries have the same facts. The order of keys matters only if all keys are
/// known.
fn same_dict(heap: &Heap, a: &Dict, b: &Dict, depth: u32) -> bool {
    let Dict { entries, open } = a;
    entries.len() == b.entries.len()
        && entries.iter().all(|(k, v)| b.entries.get(k).is_some_and(|w| same_at(heap, v, w, depth)))
        && same_option(heap, open.as_ref(), b.open.as_ref(), depth)
        && (open.is_some() || entries.keys().eq(b.entries.keys()))
}

/// Whether two iterators run the same code and are at the same position in it.
fn same_suspended(a: Option<&Suspended>, b: Option<&Suspended>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(Suspended { source, progress }), Some(b)) => Rc::ptr_eq(source, &b.source) && *progress == b.progress,
        _ => false,
    }
}

/// Whether two objects created at different times, or two states of one object, are equal in every
/// fact. The number of writes to a tensor's memory is not compared: otherwise a loop that writes
/// would never reach a fixpoint.
pub(super) fn same_data(heap: &Heap, a: &Data, b: &Data, depth: u32) -> bool {
    match (a, b) {
        (Data::Tensor(x), Data::Tensor(y)) => same_tensor(x, y),
        (Data::List(x), Data::List(y)) | (Data::Set(x), Data::Set(y)) => same_items(heap, x, y, depth),
        (Data::Iter(x), Data::Iter(y)) => {
            let Iter { items, once, first, last, filled: _, suspended } = x;
            *once == y.once
                && is_filled(x) == is_filled(y)
                && same_suspended(suspended.as_ref(), y.suspended.as_ref())
                && same_items(heap, items, &y.items, depth)
                && same_option(heap, first.as_ref(), y.first.as_ref(), depth)
                && same_option(heap, last.as_ref(), y.last.as_ref(), depth)
        }
        (Data::Dict(x), Data::Dict(y)) => same_dict(heap, x, y, depth),
        (Data::Instance(x), Data::Instance(y)) => {
            let Instance { class, attrs, open } = x;
            *open == y.open && same_at(heap, class, &y.class, 0) && same_attrs(heap, attrs, &y.attrs, depth)
        }
        (Data::Function(x), Data::Function(y)) => {
            let Function { code, name, path, scope, defaults, owner, attrs } = x;
            (code, name, path, scope, owner) == (&y.code, &y.name, &y.path, &y.scope, &y.owner)
                && same_named(heap, defaults, &y.defaults, depth)
                && same_attrs(heap, attrs, &y.attrs, depth)
        }
        (Data::Scope(x), Data::Scope(y)) => {
            let Scope { vars, parent } = x;
            *parent == y.parent && same_attrs(heap, vars, &y.vars, depth)
        }
        (Data::Class(x), Data::Class(y)) => {
            let UserClass { name, path, code, bases, attrs, fields, open } = x;
            (name, path, code, fields, open) == (&y.name, &y.path, &y.code, &y.fields, &y.open)
                && same_values(heap, bases, &y.bases, depth)
                && same_attrs(heap, attrs, &y.attrs, depth)
        }
        (Data::Module { file, scope }, Data::Module { file: other, scope: names }) => file == other && scope == names,
        different_objects!() => false,
    }
}

fn same_tensor(a: &Tensor, b: &Tensor) -> bool {
    let Tensor {
        array,
        wrapper,
        shape,
        trailing,
        shape_at: _,
        dtype,
        dtype_at: _,
        device,
        device_at: _,
        range,
        range_at: _,
        role,
        role_at: _,
        past,
        grad,
        layout,
        picks,
        data,
        // The base and the number of writes are not facts of their own.
        base: _,
        version: _,
        writes: _,
        parameter,
        freed,
        unsure,
    } = a;
    (array, wrapper, dtype, device, role, grad) == (&b.array, &b.wrapper, &b.dtype, &b.device, &b.role, &b.grad)
        && (parameter, unsure) == (&b.parameter, &b.unsure)
        && (range, layout) == (&b.range, &b.layout)
        && same_shape(shape.as_deref(), b.shape.as_deref())
        && same_shape(Some(trailing), Some(&b.trailing))
        && same_past(past, &b.past)
        && same_picks(*picks, b.picks)
        && same_numbers(data.as_deref(), b.data.as_deref())
        && alike(*freed, b.freed)
}

fn same_shape(a: Option<&[Dim]>, b: Option<&[Dim]>) -> bool {
    let one = |(x, y): (&Dim, &Dim)| {
        let Dim { size, at: _, batch } = x;
        *size == y.size && *batch == y.batch
    };
    match (a, b) {
        (None, None) => true,
        (Some(x), Some(y)) => x.len() == y.len() && x.iter().zip(y).all(one),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

/// Whether both origins are set, or neither is. Their places may differ.
fn alike(a: Origin, b: Origin) -> bool {
    a.is_some() == b.is_some()
}

fn same_past(a: &Past, b: &Past) -> bool {
    let Past { interpolated, scaled, recoloured, flipped, whole, drawn, vocabulary } = a;
    alike(*interpolated, b.interpolated)
        && alike(*scaled, b.scaled)
        && alike(*recoloured, b.recoloured)
        && alike(*flipped, b.flipped)
        && (whole, drawn, vocabulary) == (&b.whole, &b.drawn, &b.vocabulary)
}

pub(super) fn same_picks(a: Option<Picks>, b: Option<Picks>) -> bool {
    let one = |Picks { of, writes, lo, hi, all }: Picks, y: Picks| {
        (of, writes, all) == (y.of, y.writes, y.all) && same_number(lo, y.lo) && same_number(hi, y.hi)
    };
    match (a, b) {
        (None, None) => true,
        (Some(x), Some(y)) => one(x, y),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

pub(super) fn same_numbers(a: Option<&[f64]>, b: Option<&[f64]>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(x), Some(y)) => x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same_number(*x, *y)),
        (None, Some(_)) | (Some(_), None) => false,
    }
}
