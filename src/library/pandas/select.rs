//! Subscripts: columns by name, rows by mask, `loc` and `iloc`, and assignment to them.

use super::facts::{
    FRAME, Frame, SERIES, Series, aligned, as_array, counted, frame, has_gaps, is_frame, is_pandas, keys, lost,
    new_frame, new_series, put_series, series, some_rows,
};
use super::labels::set_column;
use super::rows::{Rows, labels_of_part, of_frame, split_off};
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dtype, Key, Range, Size, Type, Value};

pub(crate) fn register(t: &mut Table) {
    t.def(&format!("{FRAME}.__getitem__"), "self, key", |cx, b| {
        let (object, key) = (b.get("self"), b.get("key"));
        let Some(have) = frame(cx, &object) else { return Value::Unknown };
        columns(cx, &object, &have, &key)
    });
    t.def(&format!("{FRAME}.get"), "self, key, default=None", |cx, b| {
        let (object, key) = (b.get("self"), b.get("key"));
        match frame(cx, &object) {
            Some(have) if Key::of(&key).is_some_and(|k| have.columns.contains_key(&k)) => {
                columns(cx, &object, &have, &key)
            }
            _ => Value::Unknown,
        }
    });
    t.def(&format!("{FRAME}.__setitem__"), "self, key, value", set);
    t.def(&format!("{SERIES}.__getitem__"), "self, key", |cx, b| {
        let (object, key) = (b.get("self"), b.get("key"));
        match key {
            Value::Slice(_) => window(cx, &object, &key),
            _ if is_mask(cx, &key) => masked(cx, &object),
            Value::Int(_) | Value::Ranged(_) | Value::Any(Type::Int) => {
                check_labels(cx, &object, &key);
                single(cx, &object, &key)
            }
            _ => Value::Unknown,
        }
    });
    t.def(&format!("{SERIES}.__setitem__"), "self, key, value", |cx, b| {
        overwrite(cx, &b.get("self"), &b.get("value"));
        Value::None
    });
    for class in ["iloc", "loc", "at", "iat"] {
        let path = format!("pandas.{class}");
        t.class(&path, &[], "of").keeps_arguments = false;
        t.def(&format!("{path}.__getitem__"), "self, key", get_located);
        t.def(&format!("{path}.__setitem__"), "self, key, value", set_located);
    }
}

/// Reports `labels[index]` in `__getitem__` of a dataset, if rows of the Series were left out: the index
/// is looked up among the row labels, and the labels of the missing rows raise a `KeyError`.
fn check_labels(cx: &mut Cx<'_, '_>, object: &Value, key: &Value) {
    let is_part = series(cx, object).is_some_and(|series| has_gaps(&series.index));
    if !is_part || key.as_int().is_some() || !cx.it.inside("__getitem__") || cx.it.is_in_try() {
        return;
    }
    let message = "this looks up a row label, and the Series has only a part of the rows: the labels of the others raise \
                   `KeyError` (use `.iloc[…]`, or `reset_index(drop=True)` before)";
    cx.reject_if("if the part does not consist of the first rows", RejectKind::Index, message, Vec::new());
}

/// Whether the key is a mask of rows.
fn is_mask(cx: &Cx<'_, '_>, key: &Value) -> bool {
    let bools = |t: &crate::value::Tensor| t.dtype == Some(Dtype::Bool) && t.rank() == Some(1);
    match series(cx, key) {
        Some(series) => series.array.dtype == Some(Dtype::Bool),
        None => cx.it.heap.tensor_ref(key).is_some_and(bools),
    }
}

fn masked(cx: &mut Cx<'_, '_>, object: &Value) -> Value {
    let (rows, index) = (Rows::Picked(some_rows(cx)), labels_of_part(cx, object));
    if let Some(have) = frame(cx, object) {
        let out = of_frame(cx, have, &rows, &index);
        return new_frame(cx, out);
    }
    let Some(have) = series(cx, object) else { return Value::Unknown };
    let Rows::Picked(size) = rows else { return Value::Unknown };
    let out = have.part(cx.it, size, index, true);
    new_series(cx, out)
}

/// `frame[key]`.
fn columns(cx: &mut Cx<'_, '_>, object: &Value, have: &Frame, key: &Value) -> Value {
    match key {
        Value::Str(_) | Value::Int(_) => match Key::of(key).and_then(|k| have.columns.get(&k).cloned()) {
            Some(column) => column,
            None if have.open => {
                let column = have.other(cx.at());
                new_series(cx, column)
            }
            None => Value::Unknown,
        },
        // A column whose exact name is not known. In a frame without a multi-level header, it is a
        // Series.
        Value::Any(Type::Str) | Value::Among(_) => {
            let column = Series { wide: false, ..have.other(cx.at()) };
            let column = Series { array: crate::value::Tensor { dtype: None, ..column.array }, ..column };
            new_series(cx, column)
        }
        Value::Slice(_) => window(cx, object, key),
        _ if is_mask(cx, key) => masked(cx, object),
        _ if is_frame(cx.it, key) || is_pandas(cx.it, key) => Value::Unknown,
        _ => match keys(cx, key) {
            Some(wanted) => {
                let out = picked(cx, have, &wanted);
                new_frame(cx, out)
            }
            None => Value::Unknown,
        },
    }
}

/// A frame of these columns.
fn picked(cx: &mut Cx<'_, '_>, have: &Frame, wanted: &[Key]) -> Frame {
    let mut out = Frame { columns: Default::default(), open: false, ..have.clone() };
    for key in wanted {
        let column = match have.columns.get(key).and_then(|c| series(cx, c)) {
            Some(column) => column,
            None => have.other(cx.at()),
        };
        let column = new_series(cx, column);
        out.columns.insert(key.clone(), column);
    }
    // If a column is selected twice, the frame has more columns than are listed.
    out.open = out.columns.len() != wanted.len();
    out
}

/// The number of rows that a slice by position selects.
fn width(cx: &Cx<'_, '_>, parts: &[Value; 3], rows: &Size) -> Option<Size> {
    let [start, stop, step] = parts;
    if !step.is_none() {
        return None;
    }
    let start = if start.is_none() { Size::Int(0) } else { cx.size_of(start) };
    let stop = if stop.is_none() { rows.clone() } else { cx.size_of(stop) };
    match (start.known(), stop.known(), rows.known()) {
        (Some(a), Some(b), Some(n)) => {
            let at = |i: i64| if i < 0 { i.saturating_add(n).max(0) } else { i.min(n) };
            Some(Size::Int((at(b) - at(a)).max(0)))
        }
        _ => None,
    }
}

/// `object[a:b]`, by position.
fn window(cx: &mut Cx<'_, '_>, object: &Value, slice: &Value) -> Value {
    let Value::Slice(parts) = slice else { return Value::Unknown };
    if parts.iter().all(Value::is_none) {
        return split_same(cx, object);
    }
    let rows = super::rows::rows_of(cx, object);
    let size = width(cx, parts, &rows).unwrap_or_else(|| some_rows(cx));
    let [start, _, step] = &**parts;
    let is_first = (start.is_none() || start.as_int() == Some(0)) && (step.is_none() || step.as_int() == Some(1));
    let part = if is_first { super::rows::first_rows(cx, object, &size) } else { split_off(cx, object, &size) };
    part.unwrap_or(Value::Unknown)
}

fn split_same(cx: &mut Cx<'_, '_>, object: &Value) -> Value {
    if let Some(have) = frame(cx, object) {
        let out = have.each(cx, |_, _, column| column);
        return new_frame(cx, out);
    }
    object.clone()
}

/// One element, or one row.
fn single(cx: &mut Cx<'_, '_>, object: &Value, index: &Value) -> Value {
    if let Some(have) = frame(cx, object) {
        return super::row::at(cx, &have, index, false);
    }
    match series(cx, object) {
        Some(have) => super::row::one(cx, &have, index),
        None => Value::Unknown,
    }
}

/// `frame.loc[rows, columns]`, and similar accessors.
fn get_located(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (object, key) = (cx.attr(&b.get("self"), "of"), b.get("key"));
    let by_position = cx.path.as_str().contains("iloc") || cx.path.as_str().contains("iat");
    let (rows, columns_key) = match &key {
        Value::Tuple(parts) => match &**parts {
            [rows, columns] => (rows.clone(), Some(columns.clone())),
            _ => return Value::Unknown,
        },
        rows => (rows.clone(), None),
    };
    let from = match columns_key {
        None => object.clone(),
        Some(wanted) => {
            let Some(have) = frame(cx, &object) else { return Value::Unknown };
            if by_position { at_positions(cx, &have, &wanted) } else { by_names(cx, &object, &have, &wanted) }
        }
    };
    located_rows(cx, &from, &rows, by_position)
}

fn by_names(cx: &mut Cx<'_, '_>, object: &Value, have: &Frame, wanted: &Value) -> Value {
    match wanted {
        Value::Slice(parts) if parts.iter().all(Value::is_none) => object.clone(),
        // A slice from one column name to another.
        Value::Slice(parts) => {
            let [start, stop, step] = &**parts;
            let place = |v: &Value| have.columns.get_index_of(&Key::of(v)?);
            let first = if start.is_none() { Some(0) } else { place(start) };
            let last = if stop.is_none() { have.columns.len().checked_sub(1) } else { place(stop) };
            let (Some(first), Some(last), true, false) = (first, last, step.is_none(), have.open) else {
                return Value::Unknown;
            };
            let wanted: Vec<Key> = have.columns.keys().take(last + 1).skip(first).cloned().collect();
            let out = picked(cx, have, &wanted);
            new_frame(cx, out)
        }
        Value::Str(_) | Value::Int(_) => columns(cx, object, have, wanted),
        _ => match keys(cx, wanted) {
            Some(wanted) => {
                let out = picked(cx, have, &wanted);
                new_frame(cx, out)
            }
            None => Value::Unknown,
        },
    }
}

fn at_positions(cx: &mut Cx<'_, '_>, have: &Frame, wanted: &Value) -> Value {
    if have.open {
        return match wanted {
            Value::Int(_) => {
                let column = have.other(cx.at());
                let column = Series { wide: false, ..column };
                new_series(cx, column)
            }
            Value::Slice(_) => {
                // The slice selects unknown columns.
                let mut out = Frame::unknown(have.rows.clone());
                out.index = have.index.clone();
                out.wide = have.wide;
                if !have.columns.is_empty() {
                    out.wide = false;
                }
                new_frame(cx, out)
            }
            _ => Value::Unknown,
        };
    }
    let count = i64::try_from(have.columns.len()).unwrap_or(i64::MAX);
    let place = |n: i64| usize::try_from(if n < 0 { n + count } else { n }).ok();
    match wanted {
        Value::Int(n) => {
            place(*n).and_then(|at| have.columns.get_index(at)).map_or(Value::Unknown, |(_, column)| column.clone())
        }
        _ => {
            let names = have.names().unwrap_or_default();
            let positions = match wanted {
                Value::Slice(_) => cx.it.subscript(&Value::tuple(names.clone()), wanted, cx.span),
                _ => match cx.ints(wanted) {
                    Some(all) => {
                        let picked: Option<Vec<Value>> = all.iter().map(|n| names.get(place(*n)?).cloned()).collect();
                        picked.map_or(Value::Unknown, Value::tuple)
                    }
                    None => Value::Unknown,
                },
            };
            match keys(cx, &positions) {
                Some(wanted) => {
                    let out = picked(cx, have, &wanted);
                    new_frame(cx, out)
                }
                None => Value::Unknown,
            }
        }
    }
}

fn located_rows(cx: &mut Cx<'_, '_>, from: &Value, rows: &Value, by_position: bool) -> Value {
    if !is_pandas(cx.it, from) {
        return Value::Unknown;
    }
    match rows {
        Value::Slice(parts) if parts.iter().all(Value::is_none) => split_same(cx, from),
        Value::Slice(_) if by_position => window(cx, from, rows),
        // A slice by label includes its end.
        Value::Slice(_) => {
            let size = some_rows(cx);
            split_off(cx, from, &size).unwrap_or(Value::Unknown)
        }
        // If the row labels are the positions, an integer label selects the row at that position.
        Value::Int(_) | Value::Ranged(_) | Value::Any(Type::Int) if by_position || is_counted(cx, from) => {
            single(cx, from, rows)
        }
        _ if is_mask(cx, rows) => masked(cx, from),
        _ => {
            // A list or an array of positions or labels.
            let count = match crate::library::numpy::as_array(cx, rows) {
                Some(array) if array.rank() == Some(1) => array.dim(0).map(|d| d.size.clone()),
                _ => None,
            };
            match count {
                Some(size) => split_off(cx, from, &size).unwrap_or(Value::Unknown),
                None => Value::Unknown,
            }
        }
    }
}

/// Whether the row labels count from 0.
fn is_counted(cx: &Cx<'_, '_>, object: &Value) -> bool {
    match (frame(cx, object), series(cx, object)) {
        (Some(have), _) => aligned(&have.index, &counted(&have.rows)),
        (_, Some(have)) => aligned(&have.index, &counted(&have.rows())),
        _ => false,
    }
}

/// `frame[key] = value`.
fn set(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (object, key, value) = (b.get("self"), b.get("key"), b.get("value"));
    match &key {
        Value::Str(_) | Value::Int(_) => match Key::of(&key) {
            Some(key) => set_column(cx, &object, key, &value),
            None => _ = lost(cx, &object),
        },
        _ if is_pandas(cx.it, &key) || cx.it.heap.is_tensor(&key) => _ = lost(cx, &object),
        _ => match keys(cx, &key) {
            Some(wanted) => set_columns(cx, &object, &wanted, &value),
            None => _ = lost(cx, &object),
        },
    }
    Value::None
}

/// `frame[[…]] = value`: column by column.
fn set_columns(cx: &mut Cx<'_, '_>, object: &Value, wanted: &[Key], value: &Value) {
    let Some(have) = frame(cx, object) else { return };
    let columns: Option<Vec<Value>> = match frame(cx, value) {
        Some(from) if !from.open && from.columns.len() == wanted.len() => {
            let held: Vec<Value> = from.columns.values().cloned().collect();
            Some(held)
        }
        Some(_) => None,
        None if value.number_type().is_some() || value.is_text() => Some(vec![value.clone(); wanted.len()]),
        None => cx.tensor(value).filter(|t| t.rank() == Some(2)).map(|table| {
            let known = table.array == crate::value::ArrayKind::Numpy;
            let mut column = have.other(table.shape_at);
            column.array.dtype = table.dtype.filter(|_| known);
            column.array.range = table.range.map(Range::only_bounds);
            let columns = wanted.iter().map(|_| {
                let array = column.array.clone();
                cx.out(array)
            });
            columns.collect()
        }),
    };
    for (i, key) in wanted.iter().enumerate() {
        let value = columns.as_ref().and_then(|c| c.get(i).cloned()).unwrap_or(Value::Unknown);
        set_column(cx, object, key.clone(), &value);
    }
}

/// Overwrites an unknown part of the elements of a Series.
fn overwrite(cx: &mut Cx<'_, '_>, object: &Value, value: &Value) {
    let Some(have) = series(cx, object) else { return };
    let out = mixed(cx, &have, value);
    put_series(cx, object, out);
}

/// A Series after some elements were set to this value.
fn mixed(cx: &mut Cx<'_, '_>, have: &Series, value: &Value) -> Series {
    let new = crate::library::numpy::as_array(cx, value).or_else(|| as_array(cx, value));
    let keeps = |dtype: Dtype, new: Dtype| match (dtype, new) {
        (a, b) if a == b => true,
        (Dtype::Float64, Dtype::Int64 | Dtype::Bool) => new != Dtype::Bool,
        _ => false,
    };
    let mut out = have.as_dtype(have.array.dtype, have.array.dtype_at);
    out.array.dtype =
        have.array.dtype.zip(new.as_ref().and_then(|n| n.dtype)).filter(|(a, b)| keeps(*a, *b)).map(|(a, _)| a);
    out.array.range = have
        .array
        .range
        .clone()
        .zip(new.and_then(|n| n.range))
        .map(|(a, b)| a.union(&b).only_bounds())
        .filter(|_| out.array.dtype.is_some());
    out.array.range_at = cx.at();
    out.wide = false;
    out
}

fn set_located(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (object, key, value) = (cx.attr(&b.get("self"), "of"), b.get("key"), b.get("value"));
    let by_position = cx.path.as_str().contains("iloc") || cx.path.as_str().contains("iat");
    if !is_frame(cx.it, &object) {
        overwrite(cx, &object, &value);
        return Value::None;
    }
    let name = match &key {
        Value::Tuple(parts) if !by_position => parts.get(1).cloned(),
        _ => None,
    };
    let column = name.filter(|n| matches!(n, Value::Str(_) | Value::Int(_))).as_ref().and_then(Key::of);
    match (column, frame(cx, &object)) {
        (Some(key), Some(have)) => match have.columns.get(&key) {
            Some(column) => {
                let column = column.clone();
                overwrite(cx, &column, &value);
            }
            // A new column: the rows that are not selected get missing values.
            None => set_column(cx, &object, key, &Value::Unknown),
        },
        _ => _ = lost(cx, &object),
    }
    Value::None
}
