//! Frames and Series from files, dictionaries, lists and arrays, and from each other.

use indexmap::IndexMap;

use super::column::column_of;
use super::facts::{
    Frame, Series, aligned, counted, frame as frame_of, is_pandas, keys, labels, new_frame, new_series,
    series as series_of, some_rows,
};
use super::series::cast_to;
use crate::library::common::size_of_length;
use crate::library::numpy;
use crate::library::{Cx, Table};
use crate::python::Bound;
use crate::value::{Data, Dict, Dtype, Items, Key, Range, Size, Tensor, Value};

pub(crate) fn register(t: &mut Table) {
    t.family("pandas.", "read_csv read_table", "filepath_or_buffer, **kwargs", read);
    t.family(
        "pandas.",
        "read_parquet read_feather read_pickle read_json read_excel read_hdf read_sql read_sql_query read_sql_table \
         read_stata read_orc json_normalize",
        "*args, **kwargs",
        |cx, b| {
            // With these arguments and formats, the result need not be a frame: a workbook may have
            // many sheets, and a pickle may contain anything.
            let plain = b.extra.iter().all(|(k, _)| !matches!(k.as_str(), "sheet_name" | "chunksize" | "iterator"));
            if b.open || !plain || matches!(cx.name(), "read_pickle" | "read_hdf" | "read_json") {
                return Value::Unknown;
            }
            let mut out = Frame::unknown(some_rows(cx));
            out.index = labels(cx);
            new_frame(cx, out)
        },
    );
    t.def("pandas.concat", "objs, *, axis=0, join='outer', ignore_index=False, **kwargs", concat);
    t.family("pandas.", "merge merge_asof", "*args, **kwargs", joined);
    t.family("pandas.DataFrame.", "merge join", "self, *args, **kwargs", joined);
    t.family("pandas.", "set_option", "*args, **kwargs", crate::library::common::none);
}

/// A frame about which nothing is known.
fn joined(cx: &mut Cx<'_, '_>, _b: &Bound) -> Value {
    let rows = some_rows(cx);
    new_frame(cx, Frame::unknown(rows))
}

/// `pd.read_csv(…)` and `pd.read_table(…)`: without `names=`, the columns depend on the file and are
/// unknown. Without `dtype=`, numbers are read as 64-bit types.
fn read(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    const HARMLESS: &[&str] = &[
        "sep",
        "delimiter",
        "engine",
        "encoding",
        "nrows",
        "skiprows",
        "usecols",
        "low_memory",
        "na_values",
        "comment",
        "decimal",
        "thousands",
        "quotechar",
        "skipinitialspace",
        "on_bad_lines",
        "compression",
        "keep_default_na",
        "quoting",
        "escapechar",
        "memory_map",
        "encoding_errors",
        "skipfooter",
    ];
    let given = |name: &str| b.extra.iter().find(|(k, _)| k.as_str() == name).map(|(_, arg)| arg.value.clone());
    if b.open || given("chunksize").is_some() || given("iterator").is_some() {
        return Value::Unknown;
    }
    let header = given("header");
    if header.as_ref().is_some_and(|h| !h.is_none() && h.as_int().is_none()) {
        return Value::Unknown;
    }
    let mut out = Frame::unknown(some_rows(cx));
    let plain = |name: &str| HARMLESS.contains(&name) || matches!(name, "header" | "names" | "index_col");
    out.wide = b.extra.iter().all(|(k, _)| plain(k.as_str()));
    if given("index_col").is_some_and(|i| !i.is_none()) {
        out.index = labels(cx);
    } else if let (Some(names), None) = (given("names"), given("usecols"))
        && let Some(names) = keys(cx, &names)
    {
        // If the file has more columns than `names`, its first columns become the row labels.
        for name in names {
            let column = out.other(cx.at());
            let column = new_series(cx, column);
            out.columns.insert(name, column);
        }
        out.open = false;
        out.index = labels(cx);
    }
    new_frame(cx, out)
}

/// `pd.DataFrame(…)`.
pub(crate) fn frame(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if b.open {
        return Value::Unknown;
    }
    let columns = b.get("columns");
    let names = if columns.is_none() { None } else { Some(keys(cx, &columns)) };
    let mut out = match (of_data(cx, &b.get("data"), &names), names) {
        (Some(frame), _) => frame,
        // Whatever the data is, the frame has these columns.
        (None, Some(Some(names))) => {
            let rows = some_rows(cx);
            let mut out = Frame::unknown(rows);
            for name in names {
                let column = out.other(cx.at());
                let column = new_series(cx, column);
                out.columns.insert(name, column);
            }
            out.open = false;
            out
        }
        (None, _) => {
            let rows = some_rows(cx);
            Frame::unknown(rows)
        }
    };
    if !b.get("index").is_none() {
        out.index = labels(cx);
        let index = out.index.clone();
        // With `index=`, the rows of Series and frames, also of those in a dictionary, are selected
        // by label.
        let picks = is_pandas(cx.it, &b.get("data")) || cx.it.heap.dict_of(&b.get("data")).is_some();
        out = out.each(cx, |cx, _, column| match picks {
            true => Series::unknown(column.rows(), cx.at()).resized(column.rows(), index.clone()),
            false => Series { index: index.clone(), ..column },
        });
        if picks {
            out.rows = Size::Unknown;
        }
    }
    let dtype = b.get("dtype");
    if !dtype.is_none() {
        out = out.each(cx, |cx, _, column| cast_to(cx, column, &dtype));
        out.rest = None;
        out.wide = false;
    }
    new_frame(cx, out)
}

fn of_data(cx: &mut Cx<'_, '_>, data: &Value, names: &Option<Option<Vec<Key>>>) -> Option<Frame> {
    if let Some(have) = frame_of(cx, data) {
        return names.is_none().then(|| have.each(cx, |_, _, column| column));
    }
    if let Some(dict) = cx.it.heap.dict_of(data).cloned() {
        return if names.is_none() { of_dict(cx, &dict) } else { None };
    }
    if data.is_none() {
        let mut out = Frame::unknown(Size::Int(0));
        for name in names.clone().unwrap_or(Some(Vec::new()))? {
            let column = new_series(cx, Series::unknown(Size::Int(0), None));
            out.columns.insert(name, column);
        }
        out.open = false;
        return Some(out);
    }
    if cx.tensor(data).is_some() {
        let table = cx.tensor(data).filter(|t| t.array == crate::value::ArrayKind::Numpy)?;
        return of_table(cx, table, names);
    }
    let items = match data {
        Value::Obj(id) => match cx.it.heap.get(*id) {
            Data::List(items) => items.clone(),
            _ => return None,
        },
        _ => return None,
    };
    of_rows(cx, &items, names).or_else(|| {
        let table = numpy::as_array(cx, data)?;
        of_table(cx, table, names)
    })
}

/// `{"column": values}`.
fn of_dict(cx: &mut Cx<'_, '_>, dict: &Dict) -> Option<Frame> {
    if dict.open.is_some() {
        return None;
    }
    // Values that are not scalars determine the number of rows.
    let single = |v: &Value| v.number_type().is_some() || v.is_text() || v.is_none();
    let mut rows = None;
    let mut index: Option<Value> = None;
    for value in dict.entries.values().filter(|v| !single(v)) {
        let column = column_of(cx, value, None);
        let size = column.rows();
        if size.known().is_some() || rows.as_ref().is_none_or(Size::is_unknown) {
            rows = Some(size);
        }
        if is_pandas(cx.it, value) {
            // Series with different labels are aligned by label, so the rows are not known.
            match &index {
                Some(have) if !aligned(have, &column.index) => return None,
                _ => index = Some(column.index),
            }
        }
    }
    let rows = rows.filter(|r| !r.is_unknown()).unwrap_or_else(|| some_rows(cx));
    let index = index.unwrap_or_else(|| counted(&rows));
    let mut out =
        Frame { rows: rows.clone(), columns: IndexMap::default(), open: false, rest: None, wide: false, index };
    for (key, value) in &dict.entries {
        let column = column_of(cx, value, Some(&rows)).resized(rows.clone(), out.index.clone());
        let column = new_series(cx, column);
        out.columns.insert(key.clone(), column);
    }
    Some(out)
}

/// A sequence of rows: tuples, lists or dictionaries.
fn of_rows(cx: &mut Cx<'_, '_>, items: &Items, names: &Option<Option<Vec<Key>>>) -> Option<Frame> {
    let first = match items {
        Items::Exact(rows) => rows.first()?.clone(),
        Items::Many(row) => row.clone(),
    };
    let named = cx.it.heap.dict_of(&first).map(|d| (d.entries.keys().cloned().collect::<Vec<_>>(), d.open.is_some()));
    let columns: Vec<Key> = match (&named, names) {
        (Some((keys, false)), None) => keys.clone(),
        (Some(_), _) => return None,
        (None, Some(names)) => names.clone()?,
        (None, None) => (0..cx.items(&first)?.len()).map(|i| i64::try_from(i).map_or(Key::None, Key::Int)).collect(),
    };
    let cells = |cx: &Cx<'_, '_>, row: &Value| -> Option<Vec<Value>> {
        match (&named, cx.it.heap.dict_of(row)) {
            (Some(_), Some(dict)) if dict.open.is_none() && dict.entries.keys().eq(columns.iter()) => {
                Some(dict.entries.values().cloned().collect())
            }
            (None, None) => cx.items(row).filter(|cells| cells.len() == columns.len()),
            _ => None,
        }
    };
    let (table, rows): (Vec<Items>, Size) = match items {
        Items::Exact(all) => {
            let all: Vec<Vec<Value>> = all.iter().map(|row| cells(cx, row)).collect::<Option<_>>()?;
            let column = |i: usize| Items::Exact(all.iter().filter_map(|row| row.get(i).cloned()).collect());
            ((0..columns.len()).map(column).collect(), size_of_length(all.len()))
        }
        Items::Many(row) => (cells(cx, row)?.into_iter().map(Items::Many).collect(), some_rows(cx)),
    };
    let mut out = Frame::unknown(rows.clone());
    out.open = false;
    for (key, items) in columns.into_iter().zip(table) {
        let list = Value::Obj(cx.it.heap.alloc(Data::List(items)));
        let column = column_of(cx, &list, Some(&rows)).resized(rows.clone(), out.index.clone());
        let column = new_series(cx, column);
        out.columns.insert(key, column);
    }
    Some(out)
}

/// The columns of a table of numbers.
fn of_table(cx: &mut Cx<'_, '_>, table: Tensor, names: &Option<Option<Vec<Key>>>) -> Option<Frame> {
    let shape = table.shape.clone()?;
    let width = match shape.as_slice() {
        [_] => Some(1),
        [_, width] => width.size.known().and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= 1024),
        _ => return None,
    };
    let rows = shape.first().map(|d| d.size.clone()).filter(|r| !r.is_unknown()).unwrap_or_else(|| some_rows(cx));
    let mut out = Frame::unknown(rows.clone());
    let names = match (names, width) {
        (Some(Some(names)), _) => names.clone(),
        (None, Some(width)) => (0..width).filter_map(|i| i64::try_from(i).ok()).map(Key::Int).collect(),
        _ => {
            out.rest = table.dtype;
            return Some(out);
        }
    };
    let count = names.len();
    for (i, name) in names.into_iter().enumerate() {
        let mut column = out.other(table.shape_at);
        column.array.dtype = table.dtype;
        column.array.dtype_at = table.dtype_at;
        match (&table.data, width) {
            (Some(data), Some(width)) if width == count => {
                let values = data.iter().skip(i).step_by(width).copied().collect();
                numpy::set_data(&mut column.array, values, table.range_at);
            }
            _ => {
                let of_all =
                    || table.range.clone().filter(|_| count == 1).or(table.range.clone().map(Range::only_bounds));
                column.array.range = table.range.as_ref().and_then(|r| r.column(i).cloned()).or_else(of_all);
                column.array.range_at = table.range_at;
            }
        }
        let column = new_series(cx, column);
        out.columns.insert(name, column);
    }
    out.open = false;
    Some(out)
}

/// The features and targets that another library returns: as a frame, as a Series, and together in
/// one frame.
pub(crate) fn table(
    cx: &mut Cx<'_, '_>,
    data: Tensor,
    names: Option<&[Value]>,
    target: Tensor,
) -> (Value, Value, Value) {
    let rows = target.numel();
    let names = names.map(|names| names.iter().map(Key::of).collect::<Option<Vec<Key>>>());
    let known = names.is_some();
    let mut have = of_table(cx, data, &names).unwrap_or_else(|| Frame::unknown(rows));
    if !known {
        have.columns.clear();
        have.open = true;
        have.rest = Some(Dtype::Float64);
    }
    let frame = new_frame(cx, have.clone());
    let column = new_series(cx, Series::of(target.clone()));
    let mut both = have.each(cx, |_, _, column| column);
    let last = new_series(cx, Series::of(target));
    both.columns.insert(Key::Str("target".into()), last);
    if !known {
        // The columns that are not listed may have another dtype than the last column.
        both.wide = true;
    }
    let both = new_frame(cx, both);
    (frame, column, both)
}

/// `pd.Series(…)`.
pub(crate) fn series(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let data = b.get("data");
    if b.open || cx.it.heap.dict_of(&data).is_some() || data.is_none() || data.is_unknown() {
        return Value::Unknown;
    }
    let mut out = column_of(cx, &data, None);
    if !b.get("index").is_none() {
        out.index = labels(cx);
        if is_pandas(cx.it, &data) || data.number_type().is_some() {
            out = Series::unknown(Size::Unknown, cx.at());
        }
    }
    if !b.get("dtype").is_none() {
        out = cast_to(cx, out, &b.get("dtype"));
    }
    new_series(cx, out)
}

/// `pd.concat(…)`: puts the objects one below the other, or side by side.
fn concat(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let parts = cx.items(&b.get("objs"));
    let axis = match b.get("axis") {
        Value::Int(n) => Some(n),
        Value::Str(name) if matches!(&*name, "columns") => Some(1),
        Value::Str(name) if matches!(&*name, "index" | "rows") => Some(0),
        _ => None,
    };
    let (Some(parts), Some(axis), true) = (parts, axis, b.extra.is_empty() && !b.open) else { return Value::Unknown };
    let reset = b.get("ignore_index").as_bool();
    let frames: Option<Vec<Frame>> = parts.iter().map(|p| frame_of(cx, p)).collect();
    if axis == 0 {
        if let Some(frames) = frames {
            let out = stacked(cx, &frames, reset == Some(true));
            return new_frame(cx, out);
        }
        let series: Option<Vec<Series>> = parts.iter().map(|p| series_of(cx, p)).collect();
        let Some(series) = series else { return Value::Unknown };
        let rows = series.iter().map(Series::rows).reduce(|a, b| a.add(&b)).unwrap_or(Size::Int(0));
        let index = if reset == Some(true) { counted(&rows) } else { labels(cx) };
        let out = below(cx, &series, &rows, &index);
        return new_series(cx, out);
    }
    let Some(frames) = frames else { return joined(cx, b) };
    let Some((first, more)) = frames.split_first() else { return Value::Unknown };
    if reset != Some(false) || !more.iter().all(|f| aligned(&f.index, &first.index)) {
        return joined(cx, b);
    }
    let mut out = first.clone();
    for part in more {
        // If several frames have a column of this name, the result has the name twice.
        if part.columns.keys().any(|k| out.columns.contains_key(k)) {
            return joined(cx, b);
        }
        let both = if out.open { out.rest } else { part.rest };
        out.rest = both.filter(|_| !(out.open && part.open) || out.rest == part.rest);
        out.wide = (!out.open || out.wide) && (!part.open || part.wide);
        out.open |= part.open;
        out.columns.extend(part.columns.clone());
    }
    let out = out.each(cx, |_, _, column| column);
    new_frame(cx, out)
}

/// Concatenates the rows of frames.
fn stacked(cx: &mut Cx<'_, '_>, frames: &[Frame], reset: bool) -> Frame {
    let rows = frames.iter().map(|f| f.rows.clone()).reduce(|a, b| a.add(&b)).unwrap_or(Size::Int(0));
    let index = if reset { counted(&rows) } else { labels(cx) };
    let mut out = Frame::unknown(rows.clone());
    out.index = index.clone();
    let Some((first, more)) = frames.split_first() else { return out };
    // A column that only some of the frames have is filled with missing values.
    let alike = |f: &Frame| {
        !f.open && f.columns.len() == first.columns.len() && first.columns.keys().all(|k| f.columns.contains_key(k))
    };
    if first.open || !more.iter().all(alike) {
        return out;
    }
    out.open = false;
    for key in first.columns.keys() {
        let parts: Vec<Series> =
            frames.iter().filter_map(|f| f.columns.get(key)).filter_map(|c| series_of(cx, c)).collect();
        let column = below(cx, &parts, &rows, &index);
        let column = new_series(cx, column);
        out.columns.insert(key.clone(), column);
    }
    out
}

fn below(cx: &mut Cx<'_, '_>, parts: &[Series], rows: &Size, index: &Value) -> Series {
    let mut out = Series::unknown(rows.clone(), cx.at());
    out.index = index.clone();
    let dtypes: Vec<Option<Dtype>> = parts.iter().map(|p| p.array.dtype).collect();
    out.array.dtype = super::facts::common_dtype(&dtypes);
    out.wide = parts.iter().all(Series::is_wide);
    let ranges: Option<Vec<Range>> = parts.iter().map(|p| p.array.range.clone()).collect();
    out.array.range = ranges.and_then(|r| r.into_iter().reduce(|a, b| a.union(&b)));
    out.array.range_at = parts.iter().find_map(|p| p.array.range_at);
    if parts.iter().all(|p| !p.items.is_unknown() && !p.category) {
        let exact: Option<Vec<Value>> =
            parts.iter().map(|p| p.exact().map(<[Value]>::to_vec)).collect::<Option<Vec<_>>>().map(|p| p.concat());
        out.items = match exact {
            Some(all) if all.len() <= super::facts::MOST_ITEMS => Value::tuple(all),
            _ => Value::Unknown,
        };
    }
    out
}
