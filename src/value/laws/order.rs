//! The partial order for which joins are upper bounds: `a` is at most `b` if every claim of `b`
//! also holds for `a`.

use std::rc::Rc;

use super::super::equal::{identical, same, same_numbers, same_picks};
use super::super::heap::{is_mark, mark_of};
use super::super::join::is_filled;
use super::super::{
    Attrs, Data, Dict, Dim, Function, Grad, Heap, Instance, Items, Iter, Origin, Past, Progress, Range, Ranged, Scope,
    Suspended, Sym, Taken, Tensor, Type, UserClass, Value,
};

/// The depth of the comparison: greater than that of joins, so that the effect of their depth limit
/// is visible.
const DEPTH: u32 = 8;

pub(super) fn at_most(heap: &Heap, a: &Value, b: &Value) -> bool {
    at_most_to(heap, a, b, DEPTH)
}

/// Whether every claim of the state `b` of an object also holds for the state `a`.
pub(super) fn data_at_most(heap: &Heap, a: &Data, b: &Data) -> bool {
    data_to(heap, a, b, DEPTH)
}

fn at_most_to(heap: &Heap, a: &Value, b: &Value, depth: u32) -> bool {
    if identical(a, b) {
        return true;
    }
    let Some(below) = depth.checked_sub(1) else { return matches!(b, Value::Unknown) };
    match (a, b) {
        (_, Value::Unknown) => true,
        (a, Value::Any(Type::Str)) => a.is_text(),
        (a, Value::Any(kind)) => a.number_type() == Some(*kind),
        (a, Value::Ranged(y)) => a.number_type() == Some(Type::Int) && ranged_at_most(a, y),
        (a, Value::Floats(y)) => a.number_type() == Some(Type::Float) && ranged_at_most(a, y),
        (Value::Str(text), Value::Among(y)) => y.texts.contains(text) && y.taken == Taken::Perhaps,
        (Value::Among(x), Value::Among(y)) => {
            let all = x.texts.len() == y.texts.len();
            let taken = y.taken == Taken::Perhaps || (all && x.taken.weaker(y.taken) == y.taken);
            taken && x.texts.iter().all(|text| y.texts.contains(text))
        }
        (Value::Device(x), Value::Device(y)) => x.join(*y) == Some(*y),
        (Value::Open(x), Value::Open(y)) => {
            x.device.join(y.device) == Some(y.device) && (y.grad == Grad::Unknown || x.grad == y.grad)
        }
        (Value::Tuple(x), Value::Tuple(y)) => all_at_most(heap, x, y, below),
        (Value::Partial(x), Value::Partial(y)) => {
            same(heap, &x.func, &y.func)
                && x.kwargs.iter().map(|(name, _)| name).eq(y.kwargs.iter().map(|(name, _)| name))
                && all_at_most(heap, &x.args, &y.args, below)
                && named_at_most(heap, &x.kwargs, &y.kwargs, below)
        }
        (Value::Obj(x), Value::Obj(y)) => match (heap.get(*x), heap.get(*y)) {
            (Data::Tensor(_), Data::Tensor(_)) => {
                let (Some(p), Some(q)) = (heap.tensor_of(a), heap.tensor_of(b)) else { return false };
                tensor_at_most(&p, &q)
            }
            (p @ (Data::List(_) | Data::Dict(_) | Data::Iter(_)), q) => data_to(heap, p, q, below),
            (Data::Instance(p), Data::Instance(q)) => {
                same(heap, &p.class, &q.class) && instance_at_most(heap, p, q, below)
            }
            _ => same(heap, a, b),
        },
        // Values of different kinds are comparable only if they are the same.
        different_kinds!() => same(heap, a, b),
    }
}

fn all_at_most(heap: &Heap, a: &[Value], b: &[Value], depth: u32) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| at_most_to(heap, a, b, depth))
}

fn named_at_most<K: PartialEq>(heap: &Heap, a: &[(K, Value)], b: &[(K, Value)], depth: u32) -> bool {
    a.iter().all(|(name, _)| b.iter().any(|(have, _)| have == name))
        && b.iter().all(|(name, value)| match a.iter().find(|(have, _)| have == name) {
            Some((_, have)) => at_most_to(heap, have, value, depth),
            None => value.is_unknown(),
        })
}

fn ranged_at_most(a: &Value, b: &Ranged) -> bool {
    let Ranged { range, dense, span, at: _ } = b;
    let (own_dense, own_span) = match a {
        Value::Ranged(x) | Value::Floats(x) => (x.dense, x.span.clone()),
        _ => (false, None),
    };
    a.range().is_some_and(|(have, _)| {
        range_at_most(&have, range)
            && (!dense || (own_dense && have.parts() == range.parts()))
            && (span.is_none() || own_span == *span)
    })
}

/// If `b` claims that its bounds occur, it claims this for the bounds of each of its intervals, so
/// `a` must have the same intervals.
pub(super) fn range_at_most(a: &Range, b: &Range) -> bool {
    let inside = |(lo, hi): &(f64, f64)| b.parts().iter().any(|(from, to)| from <= lo && hi <= to);
    let same = a.parts() == b.parts();
    let met = match (a.meets(), b.met) {
        (_, None) => true,
        (Some(x), Some(y)) => x.value == y.value && (x.always || !y.always),
        (None, Some(_)) => false,
    };
    a.parts().iter().all(inside)
        && (!b.attained || (same && a.attained))
        && (!b.certain || (same && a.certain))
        && (!b.epoch || (same && a.epoch))
        && (b.below.is_none() || a.below == b.below)
        && (a.uneven == b.uneven || b.uneven.as_ref().is_some_and(|columns| columns.is_empty()))
        && met
}

fn items_at_most(heap: &Heap, a: &Items, b: &Items, depth: u32) -> bool {
    match (a, b) {
        (Items::Exact(x), Items::Exact(y)) => all_at_most(heap, x, y, depth),
        (Items::Exact(x), Items::Many(y)) => x.iter().all(|value| at_most_to(heap, value, y, depth)),
        (Items::Many(x), Items::Many(y)) => at_most_to(heap, x, y, depth),
        (Items::Many(_), Items::Exact(_)) => false,
    }
}

fn option_at_most(heap: &Heap, a: Option<&Value>, b: Option<&Value>, depth: u32) -> bool {
    b.is_none_or(|b| a.is_some_and(|a| at_most_to(heap, a, b, depth)))
}

/// Whether the attributes `a` are at most `b`: `b` has every name of `a`, and each value of `a` is
/// at most the value of `b`. For a name that only `b` has, the value that the class defines is used
/// for `a`; if there is none, `b` must not claim that the name exists.
fn attrs_at_most(heap: &Heap, a: &Attrs, b: &Attrs, class: Option<&Value>, depth: u32) -> bool {
    // If an attribute is unknown, its presence is also unknown. If a known attribute may be missing
    // on some path, there is a mark for it.
    let unknown = |mark: Sym| b.iter().any(|(name, value)| value.is_unknown() && mark_of(*name) == mark);
    a.keys().all(|name| b.contains_key(name) || is_mark(*name) && unknown(*name))
        && b.iter().all(|(name, value)| match a.get(name) {
            Some(have) => at_most_to(heap, have, value, depth),
            None => match class.and_then(|class| heap.inherited(class, *name)) {
                Some(have) => at_most_to(heap, &have, value, depth),
                None => {
                    !matches!(class, Some(Value::Obj(_)))
                        || is_mark(*name)
                        || value.is_unknown()
                        || b.contains_key(&mark_of(*name))
                }
            },
        })
}

fn dict_at_most(heap: &Heap, a: &Dict, b: &Dict, depth: u32) -> bool {
    let Dict { entries, open } = b;
    let others = a.entries.iter().filter(|(key, _)| !entries.contains_key(*key)).map(|(_, value)| value);
    let mut others = others.chain(&a.open);
    entries.iter().all(|(key, value)| a.entries.get(key).is_some_and(|have| at_most_to(heap, have, value, depth)))
        && match open {
            Some(open) => others.all(|value| at_most_to(heap, value, open, depth)),
            None => others.next().is_none() && a.entries.keys().eq(entries.keys()),
        }
}

fn instance_at_most(heap: &Heap, a: &Instance, b: &Instance, depth: u32) -> bool {
    let Instance { class, attrs, open } = b;
    let one = same(heap, &a.class, class);
    (one || (class.is_unknown() && *open))
        && (*open || !a.open)
        && attrs_at_most(heap, &a.attrs, attrs, one.then_some(class), depth)
}

fn data_to(heap: &Heap, a: &Data, b: &Data, depth: u32) -> bool {
    match (a, b) {
        (Data::Scope(x), Data::Scope(y)) => {
            let Scope { vars, parent } = y;
            x.parent == *parent && attrs_at_most(heap, &x.vars, vars, None, depth)
        }
        (Data::List(x), Data::List(y)) | (Data::Set(x), Data::Set(y)) => items_at_most(heap, x, y, depth),
        (Data::Dict(x), Data::Dict(y)) => dict_at_most(heap, x, y, depth),
        (Data::Tensor(x), Data::Tensor(y)) => tensor_at_most(x, y),
        (Data::Instance(x), Data::Instance(y)) => instance_at_most(heap, x, y, depth),
        (Data::Function(x), Data::Function(y)) => {
            let Function { code, name, path, scope, defaults, owner, attrs } = y;
            (&x.code, &x.name, &x.path, &x.scope, &x.owner) == (code, name, path, scope, owner)
                && named_at_most(heap, &x.defaults, defaults, depth)
                && attrs_at_most(heap, &x.attrs, attrs, None, depth)
        }
        (Data::Class(x), Data::Class(y)) => {
            let UserClass { name, path, code, bases, attrs, fields, open } = y;
            let bare = x.bases.len() == bases.len() && x.bases.iter().zip(bases).all(|(x, y)| same(heap, x, y));
            (&x.name, &x.path, &x.code) == (name, path, code)
                && (bare || *open)
                && (x.fields == *fields || (fields.is_none() && *open))
                && (*open || !x.open)
                && attrs_at_most(heap, &x.attrs, attrs, None, depth)
        }
        (Data::Iter(x), Data::Iter(y)) => {
            let Iter { items, once, first, last, filled: _, suspended } = y;
            (!x.once || *once)
                && (!is_filled(y) || is_filled(x))
                && suspended_at_most(x.suspended.as_ref(), suspended.as_ref(), items)
                && items_at_most(heap, &x.items, items, depth)
                && option_at_most(heap, x.first.as_ref(), first.as_ref(), depth)
                && option_at_most(heap, x.last.as_ref(), last.as_ref(), depth)
        }
        (Data::Module { file, scope }, Data::Module { file: other, scope: names }) => (file, scope) == (other, names),
        different_objects!() => {
            matches!(b, Data::Instance(Instance { class: Value::Unknown, open: true, .. }))
        }
    }
}

/// An iterator over unknown code makes no claims about its elements.
fn suspended_at_most(a: Option<&Suspended>, b: Option<&Suspended>, elements: &Items) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(_), None) => matches!(elements, Items::Many(Value::Unknown)),
        (None, Some(_)) => false,
        (Some(a), Some(Suspended { source, progress })) => {
            Rc::ptr_eq(&a.source, source) && (a.progress == *progress || *progress == Progress::Started)
        }
    }
}

fn fact<T: PartialEq>(a: &Option<T>, b: &Option<T>) -> bool {
    b.is_none() || a == b
}

fn happened(a: Origin, b: Origin) -> bool {
    b.is_none() || a.is_some()
}

fn tensor_at_most(a: &Tensor, b: &Tensor) -> bool {
    let Tensor {
        array,
        wrapper,
        shape,
        trailing,
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
    } = b;
    // An origin without a fact is not allowed: it would label nothing.
    let labelled = (shape.is_some() || shape_at.is_none())
        && (dtype.is_some() || dtype_at.is_none())
        && (device.is_some() || device_at.is_none())
        && (range.is_some() || range_at.is_none())
        && (role.is_some() || role_at.is_none());
    labelled
        && (&a.array, &a.wrapper) == (array, wrapper)
        && shape_at_most(a.shape.as_deref(), shape.as_deref())
        && (shape.is_none() || trailing.is_empty())
        && ends_at_most(a.last_dims(), trailing)
        && fact(&a.dtype, dtype)
        // A parameter on a device says more than another tensor there: it moves with its module.
        && (device.is_none()
            || a.parameter == *parameter && a.device.zip(*device).is_some_and(|(x, y)| x.join(y) == Some(y)))
        && fact(&a.role, role)
        && fact(&a.layout, layout)
        && (picks.is_none() || same_picks(a.picks, *picks))
        && (data.is_none() || same_numbers(a.data.as_deref(), data.as_deref()))
        && range.as_ref().is_none_or(|range| a.range.as_ref().is_some_and(|have| range_at_most(have, range)))
        && past_at_most(&a.past, past)
        && (*grad == Grad::Unknown || a.grad == *grad)
        && (!parameter || a.parameter)
        && happened(a.freed, *freed)
        && (*unsure || !a.unsure)
}

fn dim_at_most((x, y): (&Dim, &Dim)) -> bool {
    let Dim { size, at, batch } = y;
    (size.is_unknown() || x.size == *size) && (!size.is_unknown() || at.is_none()) && (!batch || x.batch)
}

fn ends_at_most(a: &[Dim], b: &[Dim]) -> bool {
    a.len() >= b.len() && a.iter().rev().zip(b.iter().rev()).all(dim_at_most)
}

fn shape_at_most(a: Option<&[Dim]>, b: Option<&[Dim]>) -> bool {
    match (a, b) {
        (_, None) => true,
        (Some(x), Some(y)) => x.len() == y.len() && x.iter().zip(y).all(dim_at_most),
        (None, Some(_)) => false,
    }
}

fn past_at_most(a: &Past, b: &Past) -> bool {
    let Past { interpolated, scaled, recoloured, flipped, whole, drawn, vocabulary } = b;
    happened(a.interpolated, *interpolated)
        && happened(a.scaled, *scaled)
        && happened(a.recoloured, *recoloured)
        && happened(a.flipped, *flipped)
        && (!whole || a.whole)
        && fact(&a.drawn, drawn)
        && fact(&a.vocabulary, vocabulary)
}
