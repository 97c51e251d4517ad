//! `random`.

use crate::library::common::{any_float, any_int};
use crate::library::torch::draws;
use crate::library::torch::factory::options::option;
use crate::library::{Cx, Table};
use crate::python::Bound;
use crate::value::{Data, Items, Range, Ranged, Size, Taken, Type, Value};

pub(crate) fn register(t: &mut Table) {
    t.class("random.Random", &[], "x=None").keeps_arguments = false;
    for (prefix, own) in [("random.", false), ("secrets.", false), ("random.Random.", true)] {
        let sig = |with: &'static str, without: &'static str| if own { with } else { without };
        t.family(prefix, "randint", sig("self, a, b", "a, b"), randint);
        t.family(prefix, "randrange", sig("self, start, stop=None, step=1", "start, stop=None, step=1"), randrange);
        t.family(prefix, "getrandbits randbelow", sig("self, *args", "*args"), any_int);
        t.family(
            prefix,
            "uniform gauss normalvariate lognormvariate expovariate betavariate gammavariate triangular",
            sig("self, *args, **kwargs", "*args, **kwargs"),
            any_float,
        );
        t.def(&format!("{prefix}random"), sig("self", ""), |_, _| below_one());
        t.def(&format!("{prefix}choice"), sig("self, seq", "seq"), |cx, b| drawn(cx, &b.get("seq")));
    }
    for (prefix, own) in [("random.", false), ("random.Random.", true)] {
        let sig = |with: &'static str, without: &'static str| if own { with } else { without };
        t.def(
            &format!("{prefix}choices"),
            sig(
                "self, population, weights=None, *, cum_weights=None, k=1",
                "population, weights=None, *, cum_weights=None, k=1",
            ),
            |cx, b| several(cx, b, "k"),
        );
        t.def(
            &format!("{prefix}sample"),
            sig("self, population, k, *, counts=None", "population, k, *, counts=None"),
            |cx, b| several(cx, b, "k"),
        );
        t.def(&format!("{prefix}shuffle"), sig("self, x", "x"), |cx, b| {
            shuffle(cx, &b.get("x"));
            Value::None
        });
    }
    t.family("random.", "seed setstate", "*args, **kwargs", |cx, _| {
        draws::note_seed(cx);
        Value::None
    });
}

/// A number in [0, 1).
fn below_one() -> Value {
    let range = Range::bounds(0.0, 1.0 - f64::EPSILON / 2.0);
    Value::Floats(std::rc::Rc::new(Ranged { range, dense: true, span: None, at: None }))
}

fn randint(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    match (b.get("a").as_f64(), b.get("b").as_f64()) {
        (Some(first), Some(last)) if first <= last => Value::ranged(Range::attained(first, last), true, cx.at()),
        (Some(first), None) => match b.get("b").as_size() {
            Some(last @ Size::Expr(_)) => Value::ranged(Range::up_to(first, last.add(&Size::Int(1))), false, cx.at()),
            _ => Value::Any(Type::Int),
        },
        _ => Value::Any(Type::Int),
    }
}

fn randrange(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (start, stop) = match b.get("stop") {
        Value::None => (Value::Int(0), b.get("start")),
        stop => (b.get("start"), stop),
    };
    let unit = b.get("step").as_int() == Some(1);
    match (start.as_f64(), stop.as_size()) {
        #[expect(clippy::cast_precision_loss, reason = "only a bound of a range")]
        (Some(first), Some(Size::Int(end))) if unit && first < end as f64 => {
            Value::ranged(Range::attained(first, end as f64 - 1.0), true, cx.at())
        }
        (Some(first), Some(end @ Size::Expr(_))) => Value::ranged(Range::up_to(first, end), false, cx.at()),
        _ => Value::Any(Type::Int),
    }
}

/// One of the elements; each of them is drawn in some run.
fn drawn(cx: &mut Cx<'_, '_>, population: &Value) -> Value {
    match cx.items(population) {
        Some(items) if !items.is_empty() => cx.it.any_one(&items, Taken::Drawn),
        _ => cx.element(population),
    }
}

fn several(cx: &mut Cx<'_, '_>, b: &Bound, count: &str) -> Value {
    let weighted = ["weights", "cum_weights", "counts"].iter().any(|name| !option(b, name).is_none());
    let population = b.get("population");
    let element = if weighted { cx.element(&population) } else { drawn(cx, &population) };
    match b.get(count).as_int().and_then(|n| usize::try_from(n).ok()) {
        Some(n) if n <= 64 => cx.list(vec![element; n]),
        _ => cx.list_of(element),
    }
}

/// The same elements in an unknown order.
pub(crate) fn shuffle(cx: &mut Cx<'_, '_>, list: &Value) {
    let Some(id) = list.as_obj() else { return };
    let Data::List(items) = cx.it.heap.get(id).clone() else { return };
    let element = items.element(&mut cx.it.heap);
    let shuffled = match items {
        Items::Exact(values) if values.len() <= 1 => return,
        Items::Exact(values) => Items::Exact(vec![element; values.len()]),
        Items::Many(_) => return,
    };
    *cx.it.heap.get_mut(id) = Data::List(shuffled);
}
