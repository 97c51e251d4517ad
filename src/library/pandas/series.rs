//! Methods of Series, and of frames column by column.

use super::both;
use super::facts::{FRAME, Frame, Series, frame, give_frame, new_frame, new_series, series};
use crate::library::common::{any_int, array, unknown};
use crate::library::numpy;
use crate::library::{Cx, Table};
use crate::python::{Args, Bound};
use crate::value::{Dtype, Key, Range, Type, Value};

pub(crate) fn register(t: &mut Table) {
    both(t, "astype", "self, dtype, copy=None, errors='raise', *, inplace=False", |cx, b| {
        let (object, dtype) = (b.get("self"), b.get("dtype"));
        let dtype = if b.get("errors").as_str() == Some("raise") { dtype } else { Value::Unknown };
        if let Some(have) = series(cx, &object) {
            let out = cast_to(cx, have, &dtype);
            return new_series(cx, out);
        }
        let Some(have) = frame(cx, &object) else { return Value::Unknown };
        let each = cx.it.heap.dict_of(&dtype).cloned();
        let mut out = have.each(cx, |cx, key, column| match &each {
            None => cast_to(cx, column, &dtype),
            Some(dict) => match (dict.entries.get(key), &dict.open) {
                (Some(dtype), _) => cast_to(cx, column, &dtype.clone()),
                (None, None) => column,
                (None, Some(_)) => cast_to(cx, column, &Value::Unknown),
            },
        });
        (out.rest, out.wide) = match each {
            None => (numpy::dtype_arg(cx, &dtype).flatten(), false),
            Some(_) => (None, false),
        };
        give_frame(cx, b, out)
    });
    both(t, "isna isnull notna notnull", "self, *, inplace=False", to_bool);
    both(t, "isin", "self, values, *, inplace=False", to_bool);
    t.family("pandas.Series.", "between eq ne lt le gt ge", "self, *args, inplace=False, **kwargs", |cx, b| {
        to_bool(cx, b)
    });
    both(t, "round", "self, decimals=0, *, inplace=False", |cx, b| {
        each(cx, b, |cx, column| {
            let dtype = column.array.dtype.filter(|d| d.is_floating() || d.is_integral() && *d != Dtype::Bool);
            column.as_dtype(dtype, cx.at())
        })
    });
    both(t, "abs", "self, *, inplace=False", |cx, b| {
        each(cx, b, |cx, column| {
            let dtype = column.array.dtype.filter(|d| *d != Dtype::Bool);
            column.as_dtype(dtype, cx.at())
        })
    });
    both(t, "clip", "self, lower=None, upper=None, *, axis=None, inplace=False", |cx, b| {
        let ends = [b.get("lower"), b.get("upper")];
        each(cx, b, |cx, column| {
            let Some(dtype) =
                column.array.dtype.filter(|_| ends.iter().all(|e| e.is_none() || e.number_type().is_some()))
            else {
                return column.as_dtype(None, cx.at());
            };
            // Integers clipped to integers stay integers.
            let fits = dtype.is_floating() || ends.iter().all(|e| e.is_none() || e.as_int().is_some());
            let mut out = column.as_dtype(Some(dtype).filter(|_| fits), cx.at());
            let end = |v: &Value, otherwise: f64| if v.is_none() { Some(otherwise) } else { v.as_f64() };
            if let [lo, hi] = &ends
                && let (Some(lo), Some(hi)) = (end(lo, f64::NEG_INFINITY), end(hi, f64::INFINITY))
            {
                out.array.range = column.array.range.as_ref().map(|r| r.clamp(lo, hi));
                out.array.range_at = cx.at();
            }
            out
        })
    });
    both(t, "cumsum cumprod cummax cummin", "self, *args, inplace=False, **kwargs", |cx, b| {
        each(cx, b, |cx, column| {
            column.as_dtype(column.array.dtype.filter(|d| matches!(d, Dtype::Int64 | Dtype::Float64)), cx.at())
        })
    });
    both(t, "diff pct_change", "self, *args, inplace=False, **kwargs", |cx, b| {
        each(cx, b, |cx, column| {
            let numbers = matches!(column.array.dtype, Some(Dtype::Int64 | Dtype::Float64));
            column.as_dtype(numbers.then_some(Dtype::Float64), cx.at())
        })
    });
    both(t, "shift", "self, *args, inplace=False, **kwargs", |cx, b| {
        each(cx, b, |cx, column| {
            let given = b.extra.iter().any(|(k, _)| k.as_str() == "fill_value") || b.open;
            let same = column.array.dtype == Some(Dtype::Float64) && !given;
            column.as_dtype(same.then_some(Dtype::Float64), cx.at())
        })
    });
    both(t, "rank", "self, *args, inplace=False, **kwargs", |cx, b| {
        each(cx, b, |cx, column| column.as_dtype(Some(Dtype::Float64), cx.at()))
    });
    both(t, "mean median std var sem", "self, axis=0, skipna=True, **kwargs", |cx, b| reduced(cx, b, Reduce::Mean));
    both(t, "max min", "self, axis=0, skipna=True, **kwargs", |cx, b| reduced(cx, b, Reduce::Extreme));
    both(t, "sum prod", "self, axis=0, skipna=True, **kwargs", |cx, b| reduced(cx, b, Reduce::Sum));
    t.family("pandas.Series.", "any all", "self, *args, **kwargs", |_, _| Value::Any(Type::Bool));
    t.family("pandas.Series.", "count", "self", any_int);
    t.def("pandas.Series.nunique", "self, dropna=True", |cx, b| {
        match (distinct(cx, &b.get("self")), b.get("dropna")) {
            (Some((values, false)), _) | (Some((values, _)), Value::Bool(true)) => {
                crate::library::common::length_of(values.len())
            }
            _ => Value::Any(Type::Int),
        }
    });
    t.def("pandas.Series.unique", "self", |cx, b| {
        let object = b.get("self");
        let Some(have) = series(cx, &object) else { return Value::Unknown };
        let (at, count) = (cx.at(), cx.fresh_dim("distinct"));
        if let (Some((values, false)), true) = (distinct(cx, &object), have.array.dtype.is_none()) {
            // Distinct texts are modelled like column names.
            return super::labels::of_names(cx, values);
        }
        let mut out = array(None, have.array.dtype, at);
        out.shape = Some(vec![count]);
        out.range = have.array.range;
        out.range_at = have.array.range_at;
        cx.out(out)
    });
    t.family("pandas.Series.", "apply", "self, func, *args, **kwargs", apply);
    t.family("pandas.DataFrame.", "apply map applymap", "self, func, *args, **kwargs", |cx, b| {
        let function = b.get("func");
        cx.it.havoc(&function);
        Value::Unknown
    });
    t.def("pandas.Series.rename", "self, index=None, *, inplace=False, **kwargs", |cx, b| {
        let Some(have) = series(cx, &b.get("self")) else { return Value::Unknown };
        if b.get("index").is_text() { new_series(cx, have) } else { Value::Unknown }
    });
    t.def("pandas.Series.to_frame", "self, name=None", |cx, b| {
        let Some(have) = series(cx, &b.get("self")) else { return Value::Unknown };
        let mut out = Frame::unknown(have.rows());
        out.index = have.index.clone();
        let name = Key::of(&b.get("name")).unwrap_or(Key::None);
        let column = new_series(cx, have);
        out.columns.insert(name, column);
        out.open = false;
        new_frame(cx, out)
    });
    t.def("pandas.to_numeric", "arg, errors='raise', downcast=None, **kwargs", |cx, b| {
        let Some(have) = series(cx, &b.get("arg")) else { return Value::Unknown };
        let dtype = have.array.dtype.filter(|d| matches!(d, Dtype::Int64 | Dtype::Float64));
        let dtype = dtype.filter(|_| b.get("downcast").is_none());
        let mut out = have.as_dtype(dtype, cx.at());
        out.wide = b.get("downcast").is_none() && b.extra.is_empty() && have.is_wide();
        if dtype.is_some() {
            out.array.range = have.array.range;
        }
        new_series(cx, out)
    });
    t.family("pandas.", "isna isnull notna notnull", "obj", unknown);
    t.family("pandas.", "to_datetime cut qcut", "*args, **kwargs", |cx, b| {
        let labels = b.extra.iter().find(|(k, _)| k.as_str() == "labels").map(|(_, a)| a.value.as_bool());
        let have = b.rest_values().first().and_then(|v| series(cx, v));
        match (have, labels) {
            // The result has the indices of the bins, which are floats if a value is in no bin.
            (Some(have), Some(Some(false))) if cx.name() != "to_datetime" => {
                let out = have.as_dtype(None, cx.at());
                let out = Series { wide: true, ..out };
                new_series(cx, out)
            }
            _ => Value::Unknown,
        }
    });
}

/// The distinct elements of a Series in the order of their first occurrence, and whether it has
/// missing values, if both are known.
pub(crate) fn distinct(cx: &Cx<'_, '_>, object: &Value) -> Option<(Vec<Value>, bool)> {
    let have = series(cx, object)?;
    let items = match (have.exact(), &have.array.data) {
        (Some(items), _) => items.to_vec(),
        (None, Some(data)) if data.iter().all(|x| x.fract() == 0.0) =>
        {
            #[expect(clippy::cast_possible_truncation, reason = "the values are checked to be whole numbers")]
            data.iter().map(|x| Value::Int(*x as i64)).collect()
        }
        _ => return None,
    };
    let mut seen = rustc_hash::FxHashSet::default();
    let mut out = Vec::new();
    let mut missing = false;
    for item in items {
        if item.is_none() {
            missing = true;
        } else if seen.insert(Key::of(&item)?) {
            out.push(item);
        }
    }
    Some((out, missing))
}

/// A Series cast to the dtype that an argument names.
pub(crate) fn cast_to(cx: &mut Cx<'_, '_>, have: Series, dtype: &Value) -> Series {
    let at = cx.at();
    if dtype.as_str() == Some("category") {
        return Series { category: true, array: crate::value::Tensor { dtype: None, ..have.array.clone() }, ..have };
    }
    if matches!(dtype.as_str(), Some("str" | "string" | "object" | "O")) || dtype.as_path() == Some("builtins.str") {
        let mut out = have.as_dtype(None, at);
        // A missing value becomes a string or stays missing, so the elements are kept only if none
        // is missing.
        if have.exact().is_none_or(|items| !items.iter().any(Value::is_none)) && have.array.dtype.is_none() {
            out.items = have.items;
        }
        out.wide = false;
        return out;
    }
    match numpy::dtype_arg(cx, dtype) {
        Some(Some(dtype)) => {
            let mut array = have.array.clone();
            array.base = None;
            let texts = have.exact().is_some() && array.dtype.is_none();
            let mut out = have.with(numpy::cast(array, Some(dtype), at));
            // The numbers that these strings or categories contain are not computed.
            if texts || have.category {
                out.array.forget_values();
            }
            out.wide = false;
            out
        }
        _ => Series { wide: false, ..have.as_dtype(None, at) },
    }
}

/// Applies a function to a Series, or to each column of a frame.
fn each(cx: &mut Cx<'_, '_>, b: &Bound, mut change: impl FnMut(&mut Cx<'_, '_>, Series) -> Series) -> Value {
    let object = b.get("self");
    if let Some(have) = series(cx, &object) {
        let out = change(cx, have);
        return super::facts::give_series(cx, b, out);
    }
    let Some(have) = frame(cx, &object) else { return Value::Unknown };
    let mut out = have.each(cx, |cx, _, column| change(cx, column));
    (out.rest, out.wide) = (None, false);
    give_frame(cx, b, out)
}

fn to_bool(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let plain = |s: &Series| s.is_wide() || s.array.dtype.is_some() || !s.items.is_unknown();
    let range = Range::bounds(0.0, 1.0);
    let truth = |cx: &mut Cx<'_, '_>, column: Series| {
        let mut out = column.as_dtype(plain(&column).then_some(Dtype::Bool), cx.at());
        out.array.range = Some(range.clone());
        out
    };
    if let Some(have) = series(cx, &object) {
        let missing = matches!(cx.name(), "isna" | "isnull" | "notna" | "notnull");
        let mut out = truth(cx, have);
        if missing {
            out.array.dtype = Some(Dtype::Bool);
        }
        return new_series(cx, out);
    }
    let Some(have) = frame(cx, &object) else { return Value::Unknown };
    let mut out = have.each(cx, |cx, _, column| truth(cx, column));
    (out.rest, out.wide) = (None, true);
    new_frame(cx, out)
}

enum Reduce {
    Mean,
    Extreme,
    Sum,
}

/// Reduces a Series to one number, and a frame to one number per column.
fn reduced(cx: &mut Cx<'_, '_>, b: &Bound, how: Reduce) -> Value {
    let object = b.get("self");
    let by_column = b.get("axis").as_int() == Some(0) && !b.open;
    let one = |dtype: Option<Dtype>, wide: bool| match how {
        Reduce::Mean => {
            dtype.map(|d| if d.is_floating() { d } else { Dtype::Float64 }).or(wide.then_some(Dtype::Float64))
        }
        Reduce::Extreme => dtype,
        Reduce::Sum => dtype
            .map(|d| if d == Dtype::Bool { Dtype::Int64 } else { d })
            .filter(|d| matches!(d, Dtype::Int64 | Dtype::Float64 | Dtype::Float32)),
    };
    let at = cx.at();
    if let Some(have) = series(cx, &object) {
        let Some(dtype) = one(have.array.dtype, have.is_wide()) else {
            // The result is a string, or a number of unknown dtype.
            return Value::Unknown;
        };
        let mut out = array(Some(Vec::new()), Some(dtype), at);
        if let (Reduce::Extreme, Some(range)) = (&how, &have.array.range) {
            let pick = if cx.name() == "max" { f64::max } else { f64::min };
            match have.array.data.as_ref().and_then(|d| d.iter().copied().reduce(pick)) {
                Some(x) => numpy::set_data(&mut out, vec![x], at),
                None => out = out.with_range(Some(Range::bounds(range.lo(), range.hi())), at),
            }
        }
        return cx.out(out);
    }
    let Some(have) = frame(cx, &object).filter(|_| by_column) else { return Value::Unknown };
    let columns: Vec<Series> = have.columns.values().filter_map(|c| series(cx, c)).collect();
    let mut dtypes: Vec<Option<Dtype>> = columns.iter().map(|c| one(c.array.dtype, c.is_wide())).collect();
    if have.open {
        dtypes.push(one(have.rest, have.wide));
    }
    let mut out = Series::of(array(Some(vec![have.width()]), super::facts::common_dtype(&dtypes), at));
    // The index labels are the column names, or the marker `FRAME` if these are unknown.
    out.index = match have.names() {
        Some(names) => Value::tuple(names),
        None => Value::str(FRAME),
    };
    new_series(cx, out)
}

/// `series.apply(function)`: calls a function of the program once, with the join of the elements.
fn apply(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (object, function) = (b.get("self"), b.get("func"));
    let Some(have) = series(cx, &object) else { return Value::Unknown };
    let plain = b.rest_values().is_empty() && b.extra.is_empty() && !b.open;
    if !plain || !cx.it.is_callable(&function) && function.as_path().is_none() {
        cx.it.havoc(&function);
        return new_like(cx, &have);
    }
    // A NumPy function gets the whole array.
    if function.as_path().is_some_and(|path| path.starts_with("numpy.")) {
        let array = cx.out(have.array.clone());
        let result = cx.call(&function, Args::positional([array], cx.span));
        let dtype = cx.tensor(&result).filter(|t| t.rank() == Some(1)).and_then(|t| t.dtype);
        let out = Series { wide: false, ..have.as_dtype(dtype, cx.at()) };
        return new_series(cx, out);
    }
    let items = super::column::elements(cx, &have);
    let element = items.element(&mut cx.it.heap);
    let result = cx.call(&function, Args::positional([element], cx.span));
    let mut out = have.as_dtype(None, cx.at());
    out.wide = false;
    let missing = have.exact().is_some_and(|items| items.iter().any(Value::is_none));
    match result.number_type() {
        Some(kind) if !missing => {
            out.array.dtype = match kind {
                Type::Bool => Some(Dtype::Bool),
                Type::Int => Some(Dtype::Int64),
                Type::Float => Some(Dtype::Float64),
                _ => None,
            };
            if let Some((range, at)) = result.int_range() {
                out.array.range = Some(range.only_bounds());
                out.array.range_at = at;
            }
        }
        None if cx.tensor(&result).is_some_and(|t| t.rank() == Some(0)) && !missing => {
            out.array.dtype = cx.tensor(&result).and_then(|t| t.dtype);
        }
        _ if result.is_text() => {
            out.items = match result {
                Value::Str(_) | Value::Among(_) => result.clone(),
                _ => Value::Any(Type::Str),
            };
        }
        _ => {}
    }
    if cx.tensor(&result).is_some_and(|t| t.rank() != Some(0)) {
        out.items = Value::Unknown;
    }
    new_series(cx, out)
}

fn new_like(cx: &mut Cx<'_, '_>, have: &Series) -> Value {
    let out = have.as_dtype(None, cx.at());
    let out = Series { wide: false, ..out };
    new_series(cx, out)
}
