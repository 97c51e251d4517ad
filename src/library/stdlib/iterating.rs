//! `itertools`, and progress bars, which yield what their iterable yields.

use crate::library::common::{first, itself, none, unknown};
use crate::library::{Cx, Table};
use crate::python::{Args, BinOp, Bound, lacks_positions};
use crate::value::{Items, ObjId, Type, Value};

/// If a result has more elements, only their join is stored.
const MOST: usize = 256;

pub(crate) fn register(t: &mut Table) {
    t.def("itertools.chain", "*iterables", chain);
    t.def("itertools.chain.from_iterable", "iterable", chain_from);
    t.def("itertools.product", "*iterables, repeat=1", product);
    t.def("itertools.count", "start=0, step=1", |cx, _| many(cx, Value::Any(Type::Int)));
    t.def("itertools.cycle", "iterable", |cx, b| {
        let element = cx.element(&b.get("iterable"));
        many(cx, element)
    });
    t.def("itertools.repeat", "object, times=None", repeat);
    t.defs("itertools.islice", &["iterable, stop", "iterable, start, stop, step=None"], islice);
    t.def("itertools.zip_longest", "*iterables, fillvalue=None", |cx, _| many(cx, Value::Unknown));
    t.def("itertools.permutations", "iterable, r=None", |cx, b| chosen(cx, b, false));
    t.family("itertools.", "combinations combinations_with_replacement", "iterable, r", |cx, b| chosen(cx, b, true));
    t.def("itertools.pairwise", "iterable", |cx, b| {
        let span = cx.span;
        match cx.it.iterate(&b.get("iterable"), span) {
            Items::Exact(items) => {
                let pairs = items.iter().zip(items.iter().skip(1));
                let pairs = pairs.map(|(a, b)| Value::tuple(vec![a.clone(), b.clone()])).collect();
                over(cx, pairs)
            }
            Items::Many(element) => many(cx, Value::tuple(vec![element.clone(), element])),
        }
    });
    t.def("itertools.accumulate", "iterable, func=None, *, initial=None", accumulate);
    t.family("itertools.", "takewhile dropwhile filterfalse", "predicate, iterable", |cx, b| {
        let element = cx.element(&b.get("iterable"));
        many(cx, element)
    });

    for name in ["auto", "autonotebook", "notebook", "std", "rich", "contrib.concurrent"] {
        t.alias(&format!("tqdm.{name}.tqdm"), "tqdm.tqdm");
        t.alias(&format!("tqdm.{name}.trange"), "tqdm.trange");
    }
    t.alias("tqdm.tqdm_notebook", "tqdm.tqdm");
    t.alias("tqdm.notebook.tqdm_notebook", "tqdm.tqdm");
    let bar = t.class(
        "tqdm.tqdm",
        &[],
        "iterable=None, desc=None, total=None, leave=True, file=None, ncols=None, mininterval=0.1, maxinterval=10.0, \
         miniters=None, ascii=None, disable=False, unit='it', unit_scale=False, dynamic_ncols=False, smoothing=0.3, \
         bar_format=None, initial=0, position=None, postfix=None, unit_divisor=1000, write_bytes=False, lock_args=None, \
         nrows=None, colour=None, delay=0, **kwargs",
    );
    bar.init = Some(count);
    t.def("tqdm.trange", "*args, **kwargs", trange);
    t.def("tqdm.tqdm.__iter__", "self", |cx, b| cx.attr(&b.get("self"), "iterable"));
    t.def("tqdm.tqdm.__len__", "self", |cx, b| {
        let (iterable, total, span) =
            (cx.attr(&b.get("self"), "iterable"), cx.attr(&b.get("self"), "given_total"), cx.span);
        // An iterator has no length of its own; the bar then gives its total.
        let is_iterator = cx.it.own_type(&iterable).is_some_and(lacks_positions);
        if iterable.is_none() || is_iterator && !total.is_none() {
            Value::Any(Type::Int)
        } else {
            cx.it.length(&iterable, span)
        }
    });
    t.def("tqdm.tqdm.__enter__", "self", itself);
    t.family(
        "tqdm.tqdm.",
        "update close set_postfix set_postfix_str set_description set_description_str write refresh reset display \
         clear unpause moveto",
        "self, *args, **kwargs",
        none,
    );
    t.def("tqdm.tqdm.write", "*args, **kwargs", none);
    t.def("rich.progress.track", "sequence, *args, **kwargs", first);
    t.def("fastprogress.progress_bar", "gen, *args, **kwargs", first);
    t.def("fastprogress.fastprogress.progress_bar", "gen, *args, **kwargs", first);
    t.def("tqdm.contrib.tenumerate", "iterable, *args, **kwargs", unknown);
}

fn many(cx: &mut Cx<'_, '_>, element: Value) -> Value {
    cx.it.heap.iter(Items::Many(element))
}

/// An iterator over these values, or over their join if there are too many.
fn over(cx: &mut Cx<'_, '_>, values: Vec<Value>) -> Value {
    if values.len() <= MOST {
        return cx.it.heap.iter(Items::Exact(values));
    }
    let element = Items::Exact(values).element(&mut cx.it.heap);
    many(cx, element)
}

fn joined(cx: &mut Cx<'_, '_>, parts: Vec<Items>) -> Value {
    let exact: Option<Vec<Value>> = parts
        .iter()
        .map(|p| match p {
            Items::Exact(values) => Some(values.clone()),
            Items::Many(_) => None,
        })
        .collect::<Option<Vec<_>>>()
        .map(|p| p.concat());
    if let Some(values) = exact {
        return over(cx, values);
    }
    let mut elements = Vec::new();
    for part in parts {
        match part {
            Items::Exact(values) => elements.extend(values),
            Items::Many(value) => elements.push(value),
        }
    }
    let element = Items::Exact(elements).element(&mut cx.it.heap);
    many(cx, element)
}

fn chain(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if b.open {
        return many(cx, Value::Unknown);
    }
    // `chain` requests the iterator of an argument only when the iteration reaches this argument,
    // so a number among the arguments raises an exception later, or never.
    let is_scalar = |value: &Value| cx.it.heap.tensor_ref(value).is_some_and(|tensor| tensor.rank() == Some(0));
    let refuses = |value: &Value| value.is_none() || value.number_type().is_some() || is_scalar(value);
    if b.rest.iter().any(|arg| refuses(&arg.value)) {
        return many(cx, Value::Unknown);
    }
    let span = cx.span;
    let parts = b.rest.iter().map(|a| cx.it.iterate(&a.value, span)).collect();
    joined(cx, parts)
}

fn chain_from(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let span = cx.span;
    match cx.it.iterate(&b.get("iterable"), span) {
        Items::Exact(values) => {
            let parts = values.iter().map(|v| cx.it.iterate(v, span)).collect();
            joined(cx, parts)
        }
        Items::Many(value) => {
            let element = cx.element(&value);
            many(cx, element)
        }
    }
}

fn product(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let span = cx.span;
    let Some(repeat) = b.get("repeat").as_int().and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= 8) else {
        return many(cx, Value::Unknown);
    };
    if b.open {
        return many(cx, Value::Unknown);
    }
    let once: Vec<Items> = b.rest.iter().map(|a| cx.it.iterate(&a.value, span)).collect();
    let axes: Vec<&Items> = std::iter::repeat_n(&once, repeat).flatten().collect();
    let count = axes.iter().try_fold(1usize, |n, axis| match axis {
        Items::Exact(values) => n.checked_mul(values.len()).filter(|n| *n <= MOST),
        Items::Many(_) => None,
    });
    if count.is_none() {
        let elements = axes.iter().map(|a| a.element(&mut cx.it.heap)).collect();
        return many(cx, Value::tuple(elements));
    }
    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    for axis in axes {
        let Items::Exact(values) = axis else { continue };
        rows =
            rows.iter().flat_map(|row| values.iter().map(move |v| row.iter().chain([v]).cloned().collect())).collect();
    }
    over(cx, rows.into_iter().map(Value::tuple).collect())
}

fn repeat(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("object");
    match b.get("times").as_int().and_then(|n| usize::try_from(n.max(0)).ok()) {
        Some(n) if n <= MOST => over(cx, vec![object; n]),
        _ => many(cx, object),
    }
}

fn islice(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let span = cx.span;
    let items = cx.it.iterate(&b.get("iterable"), span);
    let start = if b.given("start") { b.get("start").as_int() } else { Some(0) };
    let step = match b.get("step") {
        Value::Int(step) => usize::try_from(step).ok().filter(|s| *s > 0),
        _ if b.given("step") => None,
        _ => Some(1),
    };
    let stop = b.get("stop");
    let taken = match (&items, start.and_then(|n| usize::try_from(n).ok()), step) {
        (Items::Exact(values), Some(start), Some(step)) => {
            let stop =
                if stop.is_none() { Some(values.len()) } else { stop.as_int().and_then(|n| usize::try_from(n).ok()) };
            stop.map(|stop| values.iter().take(stop).skip(start).step_by(step).cloned().collect::<Vec<_>>())
        }
        _ => None,
    };
    match taken {
        Some(values) => over(cx, values),
        None => {
            let element = items.element(&mut cx.it.heap);
            many(cx, element)
        }
    }
}

/// `accumulate`: running totals, or the results of a function that gets the previous result and the
/// next value.
fn accumulate(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (span, function) = (cx.span, b.get("func"));
    let Items::Exact(values) = cx.it.iterate(&b.get("iterable"), span) else { return many(cx, Value::Unknown) };
    if values.len() > MOST {
        return many(cx, Value::Unknown);
    }
    let start = b.arg("initial").map(|a| a.value.clone()).filter(|v| !v.is_none());
    let mut sums: Vec<Value> = Vec::new();
    for value in start.into_iter().chain(values) {
        let next = match sums.last().cloned() {
            None => value,
            Some(last) if function.is_none() => cx.it.binary(BinOp::Add, &last, &value, span),
            Some(last) => cx.call(&function, Args::positional([last, value], span)),
        };
        sums.push(next);
    }
    over(cx, sums)
}

fn chosen(cx: &mut Cx<'_, '_>, b: &Bound, _ordered: bool) -> Value {
    let element = cx.element(&b.get("iterable"));
    match b.get("r").as_int().and_then(|n| usize::try_from(n).ok()) {
        Some(n) if n <= MOST => many(cx, Value::tuple(vec![element; n])),
        _ => many(cx, Value::Unknown),
    }
}

fn trange(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let span = cx.span;
    let args = Args { pos: b.rest.clone(), more_pos: b.open, ..Args::default() };
    let range = cx.call(&Value::path("builtins.range"), args);
    let args = Args::positional([range], span);
    cx.call(&Value::path("tqdm.tqdm"), args)
}

/// The attributes of a progress bar: without the argument `total`, the bar asks the iterable for its length.
fn count(cx: &mut Cx<'_, '_>, bar: ObjId, b: &Bound) {
    let total = b.get("total");
    if total.is_none() {
        cx.it.heap.set_attr(bar, "total", Value::Unknown);
    }
    cx.it.heap.set_attr(bar, "given_total", total);
}
