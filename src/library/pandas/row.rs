//! One row of a frame: `frame.iloc[i]`, and what `iterrows` and `itertuples` yield.

use super::column::elements;
use super::facts::{Frame, Series, common_dtype, series};
use crate::library::common::{array, instance, size_of_length};
use crate::library::{Cx, Table, numpy};
use crate::python::{Args, Bound};
use crate::value::{Data, Dict, Dtype, Key, Range, Sym, Type, Value};

const ROW: &str = "pandas.Row";
const CELLS: &str = "<cells>";
const DTYPE: &str = "<dtype>";

/// Attributes and methods of a row that take precedence over its columns.
const OWN: &[&str] = &["index", "name", "dtype", "T", "iloc", "loc", "at", "iat", "str", "dt", "plot"];

pub(crate) fn register(t: &mut Table) {
    let row = t.class(ROW, &[], "");
    row.keeps_arguments = false;
    row.attribute = Some(attribute);
    t.def(&format!("{ROW}.__getitem__"), "self, key", |cx, b| {
        let (object, key) = (b.get("self"), b.get("key"));
        let held = cells(cx, &object);
        if let Some(key) = Key::of(&key).filter(|_| matches!(key, Value::Str(_))) {
            return held.entries.get(&key).cloned().unwrap_or(Value::Unknown);
        }
        let Some(wanted) = super::facts::keys(cx, &key).filter(|_| !matches!(key, Value::Int(_))) else {
            return Value::Unknown;
        };
        let mut out = Dict::default();
        for key in wanted {
            let cell = held.entries.get(&key).cloned().unwrap_or(Value::Unknown);
            out.entries.insert(key, cell);
        }
        let dtype = cx.attr(&object, DTYPE);
        made(cx, out, dtype)
    });
    t.family(&format!("{ROW}."), "to_numpy", "self, dtype=None, **kwargs", |cx, b| {
        let out = values(cx, &b.get("self"));
        match (cx.tensor(&out), numpy::dtype_arg(cx, &b.get("dtype"))) {
            (Some(out), Some(dtype)) => {
                let at = cx.at();
                cx.out(numpy::cast(out, dtype, at))
            }
            _ => out,
        }
    });
    t.def(&format!("{ROW}.drop"), "self, labels=None, **kwargs", |cx, b| {
        let mut held = cells(cx, &b.get("self"));
        match super::facts::keys(cx, &b.get("labels")) {
            Some(gone) if b.extra.is_empty() => {
                for key in &gone {
                    _ = held.entries.shift_remove(key);
                }
                let dtype = cx.attr(&b.get("self"), DTYPE);
                made(cx, held, dtype)
            }
            _ => Value::Unknown,
        }
    });
    t.family(&format!("{ROW}."), "astype", "self, dtype, **kwargs", |cx, b| {
        let mut held = cells(cx, &b.get("self"));
        let dtype = numpy::dtype_arg(cx, &b.get("dtype")).flatten();
        let at = cx.at();
        for value in held.entries.values_mut() {
            *value = match cx.tensor(value) {
                Some(cell) => cx.out(numpy::cast(cell, dtype, at)),
                None => Value::Unknown,
            };
        }
        made(cx, held, dtype.map_or(Value::Unknown, Value::Dtype))
    });
    t.family(&format!("{ROW}."), "tolist to_list __iter__", "self", |cx, b| {
        let held = cells(cx, &b.get("self"));
        if held.open.is_some() {
            return Value::Unknown;
        }
        // `tolist` and iteration return Python numbers.
        let span = cx.span;
        let number = |cx: &mut Cx<'_, '_>, cell: Value| match cx.is_numpy(&cell) {
            true => cx.it.call_method(&cell, "item", Args::default(), span),
            false => cell,
        };
        let items = held.entries.into_values().map(|cell| number(cx, cell)).collect();
        cx.list(items)
    });
    t.def(&format!("{ROW}.__len__"), "self", |cx, b| {
        let held = cells(cx, &b.get("self"));
        if held.open.is_some() { Value::Any(Type::Int) } else { Value::size(&size_of_length(held.entries.len())) }
    });
}

fn cells(cx: &Cx<'_, '_>, row: &Value) -> Dict {
    let held = cx.attr(row, CELLS);
    cx.it.heap.dict_of(&held).cloned().unwrap_or(Dict { open: Some(Value::Unknown), ..Dict::default() })
}

fn made(cx: &mut Cx<'_, '_>, cells: Dict, dtype: Value) -> Value {
    let held = cx.it.heap.dict(cells);
    instance(cx, ROW, vec![(CELLS, held), (DTYPE, dtype)])
}

/// The row of a frame at an index. If the row has only numbers, they have one common dtype; if it
/// also has strings, each number keeps the dtype of its column. If `pass` is true, the row comes
/// from a loop over the rows. In such a loop, the numbers of a row with strings are Python numbers.
pub(crate) fn at(cx: &mut Cx<'_, '_>, of: &Frame, index: &Value, pass: bool) -> Value {
    let columns: Vec<(Key, Series)> =
        of.columns.iter().filter_map(|(key, column)| Some((key.clone(), series(cx, column)?))).collect();
    let mut dtypes: Vec<Option<Dtype>> = columns.iter().map(|(_, c)| c.array.dtype).collect();
    if of.open {
        dtypes.push(of.rest);
    }
    let objects = columns.iter().any(|(_, c)| c.array.dtype.is_none() && !c.items.is_unknown());
    let common = common_dtype(&dtypes);
    let mut cells = Dict { open: of.open.then_some(Value::Unknown), ..Dict::default() };
    for (key, column) in columns {
        let cell = if pass && objects {
            element(cx, &column, index)
        } else {
            // The value comes from the column. In a row with strings, the dtype also comes from the
            // column; in other rows, all numbers have the common dtype.
            let dtype = if objects { column.array.dtype } else { common };
            scalar(cx, &column, index, dtype)
        };
        cells.entries.insert(key, cell);
    }
    made(cx, cells, common.map_or(Value::Unknown, Value::Dtype))
}

/// The element of a Series at an index.
pub(crate) fn one(cx: &mut Cx<'_, '_>, of: &Series, index: &Value) -> Value {
    scalar(cx, of, index, of.array.dtype)
}

/// An element as a NumPy number, or as a Python value if the Series has no known dtype.
fn scalar(cx: &mut Cx<'_, '_>, of: &Series, index: &Value, dtype: Option<Dtype>) -> Value {
    let found = element(cx, of, index);
    if of.array.dtype.is_none() {
        return found;
    }
    let Some(mut number) = numpy::as_array(cx, &found) else { return Value::Unknown };
    number.dtype = dtype;
    number.dtype_at = of.array.dtype_at;
    cx.out(number)
}

/// An element as a Python value.
fn element(cx: &mut Cx<'_, '_>, of: &Series, index: &Value) -> Value {
    let items = elements(cx, of);
    let list = Value::Obj(cx.it.heap.alloc(Data::List(items)));
    let span = cx.span;
    cx.it.subscript(&list, index, span)
}

/// The values of a row as an array.
fn values(cx: &mut Cx<'_, '_>, row: &Value) -> Value {
    let held = cells(cx, row);
    let dtype = match cx.attr(row, DTYPE) {
        Value::Dtype(dtype) => Some(dtype),
        _ => None,
    };
    let at = cx.at();
    let width = if held.open.is_some() { crate::value::Size::Unknown } else { size_of_length(held.entries.len()) };
    let mut out = array(Some(vec![width]), dtype, at);
    let ranges: Option<Vec<Range>> = held.entries.values().map(|v| cx.tensor(v)?.range).collect();
    if let (Some(ranges), None, Some(_)) = (ranges, &held.open, dtype) {
        out.range = ranges.into_iter().reduce(|a, b| a.union(&b)).map(Range::only_bounds);
    }
    cx.out(out)
}

fn attribute(cx: &mut Cx<'_, '_>, object: &Value, name: Sym) -> Option<Value> {
    let text = name.as_str();
    if text.starts_with("__") || cx.it.library().is_function(crate::value::dotted(cx.path, name)) {
        return None;
    }
    let held = cells(cx, object);
    match text {
        "values" => return Some(values(cx, object)),
        "shape" => {
            let width = if held.open.is_some() {
                Value::Any(Type::Int)
            } else {
                Value::size(&size_of_length(held.entries.len()))
            };
            return Some(Value::tuple(vec![width]));
        }
        _ if OWN.contains(&text) => return Some(Value::Unknown),
        _ => {}
    }
    Some(held.entries.get(&Key::Str(text.into())).cloned().unwrap_or(Value::Unknown))
}

/// `frame.iterrows()` and `frame.itertuples()`.
pub(crate) fn pass(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(have) = super::facts::frame(cx, &b.get("self")) else { return Value::Unknown };
    let any = Value::Any(Type::Int);
    if cx.name() == "iterrows" {
        let row = at(cx, &have, &any, true);
        return cx.it.heap.iter(crate::value::Items::Many(Value::tuple(vec![Value::Unknown, row])));
    }
    // A named tuple has the values of the columns, as Python values.
    let mut held = Dict { open: Some(Value::Unknown), ..Dict::default() };
    for (key, column) in &have.columns {
        let Some(column) = series(cx, column) else { continue };
        let cell = element(cx, &column, &any);
        held.entries.insert(key.clone(), cell);
    }
    let row = made(cx, held, Value::Unknown);
    cx.it.heap.iter(crate::value::Items::Many(row))
}
