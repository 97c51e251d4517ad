//! Selecting, sorting and filling rows of frames and Series.

use super::both;
use super::facts::{
    Frame, Series, aligned, counted, frame, give_frame, give_series, has_gaps, in_place, indexer, keys, labels,
    labels_with_gaps, lost, new_frame, new_series, series, some_rows,
};
use crate::library::{Cx, Table};
use crate::python::Bound;
use crate::value::{Items, Key, Range, Size, Value};

pub(crate) fn register(t: &mut Table) {
    both(t, "copy", "self, deep=True, *, inplace=False", |cx, b| {
        if b.get("deep").as_bool() != Some(true) {
            // Before pandas 3, a shallow copy shares its values with the original, so a write
            // changes both.
            return b.get("self");
        }
        rearranged(cx, b, Rows::Same)
    });
    both(t, "head tail", "self, n=5, *, inplace=False", |cx, b| {
        let rows = match (b.get("n").as_int().filter(|n| *n >= 0), rows_of(cx, &b.get("self")).known()) {
            (Some(n), Some(all)) => Size::Int(n.min(all)),
            _ => some_rows(cx),
        };
        rearranged(cx, b, Rows::Part(rows))
    });
    both(
        t,
        "sample",
        "self, n=None, frac=None, replace=False, weights=None, random_state=None, axis=None, ignore_index=False, *, \
         inplace=False",
        sample,
    );
    both(t, "truncate", "self, before=None, after=None, *, inplace=False", |cx, b| {
        let rows = some_rows(cx);
        rearranged(cx, b, Rows::Part(rows))
    });
    t.def(
        "pandas.DataFrame.sort_values",
        "self, by, *, axis=0, ascending=True, inplace=False, kind='quicksort', na_position='last', \
         ignore_index=False, key=None",
        |cx, b| rearranged(cx, b, Rows::Shuffled),
    );
    t.def(
        "pandas.Series.sort_values",
        "self, *, axis=0, ascending=True, inplace=False, kind='quicksort', na_position='last', ignore_index=False, \
         key=None",
        |cx, b| rearranged(cx, b, Rows::Shuffled),
    );
    both(t, "sort_index", "self, *, inplace=False, ignore_index=False, **kwargs", |cx, b| {
        rearranged(cx, b, Rows::Shuffled)
    });
    both(t, "drop_duplicates", "self, subset=None, *, inplace=False, ignore_index=False, keep='first'", |cx, b| {
        let rows = some_rows(cx);
        rearranged(cx, b, Rows::Part(rows))
    });
    t.family("pandas.DataFrame.", "nlargest nsmallest", "self, n, columns, *, keep='first', inplace=False", |cx, b| {
        let rows = some_rows(cx);
        rearranged(cx, b, Rows::Picked(rows))
    });
    // The model of a group-by object supports only iteration.
    t.def("pandas.DataFrame.groupby", "self, by=None, **kwargs", |cx, b| indexer(cx, GROUPS, &b.get("self")));
    t.class(GROUPS, &[], "").keeps_arguments = false;
    t.def(&format!("{GROUPS}.__iter__"), "self", |cx, b| {
        let object = cx.attr(&b.get("self"), "of");
        let Some(have) = frame(cx, &object) else { return Value::Unknown };
        let (rows, index) = (Rows::Picked(some_rows(cx)), labels(cx));
        let group = of_frame(cx, have, &rows, &index);
        let group = new_frame(cx, group);
        cx.it.heap.iter(Items::Many(Value::tuple(vec![Value::Unknown, group])))
    });
    t.def("pandas.DataFrame.query", "self, expr, *, inplace=False, **kwargs", |cx, b| {
        let rows = some_rows(cx);
        rearranged(cx, b, Rows::Picked(rows))
    });
    t.def(
        "pandas.DataFrame.dropna",
        "self, *, axis=0, how='any', thresh=None, subset=None, inplace=False, ignore_index=False",
        drop_missing,
    );
    t.def("pandas.Series.dropna", "self, *, axis=0, inplace=False, how=None, ignore_index=False", drop_missing);
    both(t, "fillna", "self, value=None, *, axis=None, inplace=False, limit=None, **kwargs", fill_missing);
    both(t, "ffill bfill interpolate", "self, *args, inplace=False, **kwargs", |cx, b| filled(cx, b, &Value::Unknown));
    both(t, "reset_index", "self, level=None, *, drop=False, inplace=False, **kwargs", reset_index);
    t.def("pandas.DataFrame.set_index", "self, keys, *, drop=True, append=False, inplace=False, **kwargs", |cx, b| {
        let Some(mut out) = frame(cx, &b.get("self")) else { return Value::Unknown };
        out.index = labels(cx);
        let index = out.index.clone();
        let named = keys(cx, &b.get("keys"));
        out = out.each(cx, |_, _, column| Series { index: index.clone(), ..column });
        match (named, b.get("drop").as_bool()) {
            (Some(named), Some(true)) => named.iter().for_each(|k| _ = out.columns.shift_remove(k)),
            (_, Some(false)) => {}
            _ => out.open = true,
        }
        // A later `reset_index` may convert these labels to columns, so they are made unknown.
        out.index = Value::Unknown;
        give_frame(cx, b, out)
    });
}

/// The class of a frame's group-by objects.
const GROUPS: &str = "pandas.GroupBy";

/// How the rows change.
pub(crate) enum Rows {
    Same,
    /// All rows in another order.
    Shuffled,
    /// A part with this number of rows.
    Part(Size),
    /// This number of rows, selected by their values.
    Picked(Size),
}

/// The row labels of a frame or Series.
fn index_of(cx: &Cx<'_, '_>, value: &Value) -> Value {
    match frame(cx, value) {
        Some(frame) => frame.index,
        None => series(cx, value).map_or(Value::Unknown, |series| series.index),
    }
}

/// The row labels of a part of the rows of a frame or Series. If the labels of all rows count from 0, or are
/// those of a part of such rows, the labels of the part are numbers with gaps.
pub(super) fn labels_of_part(cx: &mut Cx<'_, '_>, of: &Value) -> Value {
    let all = index_of(cx, of);
    let are_numbers = aligned(&all, &counted(&rows_of(cx, of))) || has_gaps(&all);
    if are_numbers { labels_with_gaps(cx) } else { labels(cx) }
}

pub(crate) fn rows_of(cx: &Cx<'_, '_>, value: &Value) -> Size {
    match series(cx, value) {
        Some(series) => series.rows(),
        None => frame(cx, value).map_or(Size::Unknown, |f| f.rows),
    }
}

fn of_series(cx: &mut Cx<'_, '_>, have: Series, rows: &Rows, index: &Value) -> Series {
    match rows {
        Rows::Same => have,
        Rows::Shuffled => {
            let size = have.rows();
            let list = have.exact().map(<[Value]>::to_vec);
            let mut out = have.shuffled(index.clone()).resized(size, index.clone());
            if let Some(list) = list {
                // All elements remain, in another order.
                out.items = cx.it.any_sample(&list);
            }
            out
        }
        Rows::Part(size) => have.part(cx.it, size.clone(), index.clone(), false),
        Rows::Picked(size) => have.part(cx.it, size.clone(), index.clone(), true),
    }
}

pub(crate) fn of_frame(cx: &mut Cx<'_, '_>, mut have: Frame, rows: &Rows, index: &Value) -> Frame {
    if let Rows::Part(size) | Rows::Picked(size) = rows {
        have.rows = size.clone();
    }
    have.index = index.clone();
    have.each(cx, |cx, _, column| of_series(cx, column, rows, index))
}

/// The frame or Series after its rows were changed as `rows` says.
fn rearranged(cx: &mut Cx<'_, '_>, b: &Bound, rows: Rows) -> Value {
    let object = b.get("self");
    let index = match (&rows, b.get("ignore_index").as_bool()) {
        (Rows::Same, _) => index_of(cx, &object),
        (Rows::Part(size) | Rows::Picked(size), Some(true)) => counted(size),
        (Rows::Shuffled, Some(true)) => counted(&rows_of(cx, &object)),
        (Rows::Part(_) | Rows::Picked(_), _) => labels_of_part(cx, &object),
        _ => labels(cx),
    };
    if let Some(have) = frame(cx, &object) {
        let out = of_frame(cx, have, &rows, &index);
        return give_frame(cx, b, out);
    }
    let Some(have) = series(cx, &object) else { return Value::Unknown };
    let out = of_series(cx, have, &rows, &index);
    give_series(cx, b, out)
}

/// A part of a frame or Series, with this number of rows. The model of scikit-learn uses this
/// function, too.
pub(crate) fn split_off(cx: &mut Cx<'_, '_>, object: &Value, rows: &Size) -> Option<Value> {
    let index = labels_of_part(cx, object);
    split_with(cx, object, rows, &index)
}

/// The first rows of a frame or Series. Their labels have no gaps if those of all rows have none.
pub(super) fn first_rows(cx: &mut Cx<'_, '_>, object: &Value, rows: &Size) -> Option<Value> {
    let index = if has_gaps(&index_of(cx, object)) { labels_with_gaps(cx) } else { labels(cx) };
    split_with(cx, object, rows, &index)
}

fn split_with(cx: &mut Cx<'_, '_>, object: &Value, rows: &Size, index: &Value) -> Option<Value> {
    let rows = Rows::Part(rows.clone());
    if let Some(have) = frame(cx, object) {
        let out = of_frame(cx, have, &rows, index);
        return Some(new_frame(cx, out));
    }
    let have = series(cx, object)?;
    let out = of_series(cx, have, &rows, index);
    Some(new_series(cx, out))
}

fn sample(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if !b.get("axis").is_none() && b.get("axis").as_int() != Some(0) {
        return Value::Unknown;
    }
    let again = b.get("replace").as_bool() != Some(false);
    let all = b.get("frac").as_f64() == Some(1.0);
    let rows = match (b.get("n"), b.get("frac")) {
        (Value::None, _) if all && !again => Rows::Shuffled,
        (Value::None, Value::None) => Rows::Part(Size::Int(1)),
        (Value::None, _) if all => Rows::Part(rows_of(cx, &b.get("self"))),
        (Value::None, _) => Rows::Part(some_rows(cx)),
        (n, _) => Rows::Part(cx.size_of(&n)),
    };
    rearranged(cx, b, rows)
}

/// Dropping missing values does not change the dtype: floats stay floats until a cast.
fn drop_missing(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let axis = b.get("axis");
    if axis.as_int() != Some(0) && axis.as_str() != Some("index") {
        return lost_columns(cx, b);
    }
    let object = b.get("self");
    let rows = some_rows(cx);
    let ignored = b.get("ignore_index").as_bool() == Some(true);
    let index = if ignored { counted(&rows) } else { labels_of_part(cx, &object) };
    let subset = if b.given("subset") && !b.get("subset").is_none() { Some(keys(cx, &b.get("subset"))) } else { None };
    let without = |cx: &mut Cx<'_, '_>, column: Series| {
        let left = column.exact().map(|items| items.iter().filter(|v| !v.is_none()).cloned().collect::<Vec<_>>());
        let mut out = column.part(cx.it, rows.clone(), index.clone(), false);
        if let Some(left) = left {
            out.items = Items::Exact(left).element(&mut cx.it.heap);
        }
        out
    };
    if let Some(have) = series(cx, &object) {
        let out = without(cx, have);
        return give_series(cx, b, out);
    }
    let Some(mut have) = frame(cx, &object) else { return Value::Unknown };
    have.rows = rows.clone();
    have.index = index.clone();
    let any = b.get("how").as_str() == Some("any") && b.get("thresh").is_none();
    let out = have.each(cx, |cx, key, column| match &subset {
        None if any => without(cx, column),
        Some(Some(keys)) if any && keys.contains(key) => without(cx, column),
        _ => column.part(cx.it, rows.clone(), index.clone(), false),
    });
    give_frame(cx, b, out)
}

/// A frame after an unknown set of columns was removed.
fn lost_columns(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let Some(mut out) = frame(cx, &object) else { return lost(cx, &object) };
    out.open = true;
    out = out.each(cx, |_, _, column| column);
    give_frame(cx, b, out)
}

fn fill_missing(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = if b.extra.is_empty() { b.get("value") } else { Value::Unknown };
    filled(cx, b, &value)
}

fn filled(cx: &mut Cx<'_, '_>, b: &Bound, value: &Value) -> Value {
    let object = b.get("self");
    if let Some(have) = series(cx, &object) {
        let out = without_missing(cx, have, value);
        return give_series(cx, b, out);
    }
    let Some(have) = frame(cx, &object) else { return Value::Unknown };
    // A dictionary has one fill value for each column.
    let each = cx.it.heap.dict_of(value).cloned();
    let rest = have.wide && value.number_type().is_some();
    let mut out = have.each(cx, |cx, key, column| match &each {
        Some(dict) if dict.open.is_none() => match dict.entries.get(key) {
            Some(value) => without_missing(cx, column, &value.clone()),
            None => column,
        },
        _ => without_missing(cx, column, value),
    });
    out.wide = rest;
    out.rest = None;
    give_frame(cx, b, out)
}

/// A Series with its missing values replaced by this value.
fn without_missing(cx: &mut Cx<'_, '_>, mut have: Series, value: &Value) -> Series {
    if have.array.dtype.is_some_and(|d| !d.is_floating()) {
        // Integers and bools of NumPy's dtypes cannot be missing; the dtype of pandas' own nullable
        // columns is unknown here.
        return have;
    }
    if let Some(items) = have.exact().map(<[Value]>::to_vec) {
        let numbers = have.array.dtype.is_some();
        let rows = have.rows();
        have.items = Value::tuple(items.iter().map(|v| if v.is_none() { value.clone() } else { v.clone() }).collect());
        // The numbers stay floats.
        if numbers {
            have.items = Value::Unknown;
            return have.resized_values();
        }
        if !value.is_text() {
            return Series::unknown(rows, cx.at()).with_index(have.index);
        }
        return have;
    }
    have.items = if value.is_text() { have.items } else { Value::Unknown };
    have.wide &= value.number_type().is_some();
    have.array.data = None;
    have.array.range = match (have.array.range.take(), value.as_f64()) {
        (Some(range), Some(x)) => Some(range.union(&Range::bounds(x, x)).only_bounds()),
        _ => None,
    };
    have
}

impl Series {
    fn with_index(self, index: Value) -> Series {
        Series { index, ..self }
    }

    /// The same rows with unknown values.
    fn resized_values(mut self) -> Series {
        self.array.forget_values();
        self
    }
}

fn reset_index(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let dropped = b.get("drop").as_bool();
    if let Some(have) = series(cx, &object) {
        let rows = have.rows();
        return match (dropped, in_place(b)) {
            (Some(true), _) => give_series(cx, b, Series { index: counted(&rows), ..have }),
            _ => new_frame(cx, Frame::unknown(rows)),
        };
    }
    let Some(mut have) = frame(cx, &object) else { return Value::Unknown };
    let plain = have.index.as_size().is_some_and(|s| !s.is_unknown());
    have.index = counted(&have.rows);
    let index = have.index.clone();
    if dropped != Some(true) {
        if plain && dropped == Some(false) {
            let mut column = Series::unknown(have.rows.clone(), cx.at());
            column.index = index.clone();
            let column = new_series(cx, column);
            have.columns.shift_insert(0, Key::Str("index".into()), column);
        } else {
            have.open = true;
        }
    }
    let out = have.each(cx, |_, _, column| Series { index: index.clone(), ..column });
    give_frame(cx, b, out)
}
