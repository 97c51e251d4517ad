//! Encoding strings as numbers: `map`, `replace`, categories and their codes, `factorize`,
//! `get_dummies`.

use super::column::{column_of, elements};
use super::facts::{Series, frame, give_frame, give_series, keys, lost, new_frame, new_series, series};
use super::series::distinct;
use crate::library::common::array;
use crate::library::numpy;
use crate::library::{Cx, Table};
use crate::python::{Args, Bound};
use crate::value::{Dict, Dim, Dtype, Items, Key, Range, Sym, Taken, Value, texts_of};

pub(crate) fn register(t: &mut Table) {
    t.def("pandas.Series.map", "self, arg, na_action=None", |cx, b| {
        let Some(have) = series(cx, &b.get("self")) else { return Value::Unknown };
        let arg = b.get("arg");
        let out = match cx.it.heap.dict_of(&arg).cloned() {
            Some(dict) => mapped(cx, &have, &dict),
            None => {
                let args = Args::positional([b.get("self"), arg], cx.span);
                return cx.call(&Value::path("pandas.Series.apply"), args);
            }
        };
        new_series(cx, out)
    });
    super::both(t, "replace", "self, to_replace=None, value=None, *, inplace=False, **kwargs", replace);
    let class = t.class("pandas.Categorical", &[], "values, *args, **kwargs");
    class.attribute = Some(categorical);
    class.make = Some(|cx, b| {
        let Some(have) = series(cx, &b.get("values")).filter(|_| b.rest_values().is_empty() && b.extra.is_empty())
        else {
            return Value::Unknown;
        };
        let held = new_series(cx, Series { category: true, ..have });
        super::facts::indexer(cx, "pandas.Categorical", &held)
    });

    let cat = t.class("pandas.cat", &[], "of");
    cat.keeps_arguments = false;
    cat.attribute = Some(categorical);
    t.def("pandas.factorize", "values, sort=False, use_na_sentinel=True, size_hint=None", |cx, b| {
        let object = b.get("values");
        factorize(cx, &object, b)
    });
    t.def("pandas.Series.factorize", "self, sort=False, use_na_sentinel=True", |cx, b| {
        let object = b.get("self");
        factorize(cx, &object, b)
    });
    t.def(
        "pandas.get_dummies",
        "data, prefix=None, prefix_sep='_', dummy_na=False, columns=None, sparse=False, drop_first=False, dtype=None",
        dummies,
    );
}

/// `series.cat.codes`, and other attributes of categories. For a `pd.Categorical`, the codes are an
/// array.
fn categorical(cx: &mut Cx<'_, '_>, object: &Value, name: Sym) -> Option<Value> {
    let held = cx.attr(object, "of");
    let have = series(cx, &held)?;
    let classes = categories(cx, &held);
    Some(match name.as_str() {
        "codes" => {
            let out = codes(cx, &have, classes.as_deref());
            if cx.path.as_str() == "pandas.Categorical" { cx.out(out.array) } else { new_series(cx, out) }
        }
        "categories" => match classes {
            Some(classes) => super::labels::of_names(cx, classes.iter().map(Key::value).collect()),
            None => Value::Unknown,
        },
        _ => return None,
    })
}

/// `series.map({…})`: values without a key become NaN, which makes integers floats.
fn mapped(cx: &mut Cx<'_, '_>, have: &Series, dict: &Dict) -> Series {
    let rows = have.rows();
    let unknown = Series { wide: false, ..have.as_dtype(None, cx.at()) };
    if dict.open.is_some() || dict.entries.is_empty() {
        return unknown;
    }
    let with = |out: Series| Series { index: have.index.clone(), wide: false, ..out };
    // Maps the known elements one by one.
    if let Items::Exact(items) = elements(cx, have)
        && items.len() <= super::facts::MOST_ITEMS
    {
        let of = |v: &Value| Key::of(v).and_then(|k| dict.entries.get(&k).cloned()).unwrap_or(Value::None);
        let list = Value::tuple(items.iter().map(of).collect());
        let out = column_of(cx, &list, Some(&rows));
        return with(out);
    }
    let all: Vec<Value> = dict.entries.values().cloned().collect();
    // The values to which the possible texts are mapped, if the possible texts are known. Some of
    // these values may not occur.
    let met: Option<Vec<Value>> = match &have.items {
        text @ (Value::Str(_) | Value::Among(_)) => {
            let texts = match text {
                Value::Among(among) => among.texts.clone(),
                Value::Str(text) => vec![text.clone()],
                _ => Vec::new(),
            };
            texts.into_iter().map(|t| dict.entries.get(&Key::Str(t)).cloned()).collect()
        }
        _ => None,
    };
    let numbers = |values: &[Value]| -> Option<Vec<f64>> {
        values.iter().map(|v| if matches!(v, Value::Int(_)) { v.as_f64() } else { None }).collect()
    };
    let values = met.as_deref().unwrap_or(&all);
    let mut out = unknown;
    if let Some(numbers) = numbers(values) {
        out.array.dtype = met.is_some().then_some(Dtype::Int64);
        // If each possible text occurs, so does each value.
        let all = matches!(&have.items, Value::Among(among) if among.taken == Taken::Each) && met.is_some();
        out.array.range = Range::of_values(&numbers).map(|r| if all { r } else { r.of_part() });
        out.array.range_at = cx.at();
    } else if values.iter().all(|v| v.number_type() == Some(crate::value::Type::Float)) {
        out.array.dtype = Some(Dtype::Float64);
    } else if met.is_some() {
        out.items = texts_of(values).unwrap_or(Value::Unknown);
    }
    out
}

/// `replace`: values that are not keys of the dictionary stay.
fn replace(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let plain = b.extra.is_empty() && !b.open;
    let named = if b.given("value") { None } else { cx.it.heap.dict_of(&b.get("to_replace")).cloned() };
    let named = named.filter(|d| plain && d.open.is_none() && d.entries.values().all(|v| matches!(v, Value::Int(_))));
    let change = |cx: &mut Cx<'_, '_>, have: Series| {
        let mut out = Series { wide: false, ..have.as_dtype(None, cx.at()) };
        let Some(dict) = &named else { return out };
        let new: Vec<f64> = dict.entries.values().filter_map(Value::as_f64).collect();
        let texts = dict.entries.keys().all(|k| matches!(k, Key::Str(_)));
        let keys: Option<Vec<f64>> =
            dict.entries.keys().map(|k| if let Key::Int(_) = k { k.value().as_f64() } else { None }).collect();
        match (keys, texts) {
            // The dtype of the result, integer or object, depends on the pandas version.
            (_, true) if have.array.dtype.is_none() => {
                out.array.range = Range::of_values(&new).map(Range::of_part);
                out.array.range_at = cx.at();
            }
            (Some(old), _) if have.array.dtype.is_some_and(|d| d == Dtype::Int64) => {
                out.array.dtype = have.array.dtype;
                if let Some(data) = &have.array.data {
                    let of =
                        |x: &f64| old.iter().position(|o| o == x).and_then(|at| new.get(at)).copied().unwrap_or(*x);
                    let values = data.iter().map(of).collect();
                    numpy::set_data(&mut out.array, values, cx.at());
                } else if let Some(range) = &have.array.range {
                    let left = old.iter().try_fold(range.clone(), |r, x| r.without(*x));
                    let new = Range::of_values(&new).map(Range::only_bounds);
                    out.array.range = match (left, new) {
                        (Some(left), Some(new)) => Some(left.only_bounds().union(&new)),
                        (left, new) => left.map(Range::only_bounds).or(new),
                    };
                    out.array.range_at = cx.at();
                }
            }
            _ => {}
        }
        out
    };
    if let Some(have) = series(cx, &object) {
        let out = change(cx, have);
        return give_series(cx, b, out);
    }
    let Some(have) = frame(cx, &object) else { return lost(cx, &object) };
    let mut out = have.each(cx, |cx, _, column| Series { wide: false, ..column.as_dtype(None, cx.at()) });
    (out.rest, out.wide) = (None, false);
    give_frame(cx, b, out)
}

/// The categories of a Series in order, if its elements are known.
fn categories(cx: &Cx<'_, '_>, object: &Value) -> Option<Vec<Key>> {
    if !series(cx, object)?.category {
        return None;
    }
    let (values, _) = distinct(cx, object)?;
    let mut keys: Vec<Key> = values.iter().map(Key::of).collect::<Option<_>>()?;
    sorted(&mut keys).then_some(keys)
}

/// Sorts labels of one kind. Returns whether they could be sorted.
pub(crate) fn sorted(keys: &mut [Key]) -> bool {
    let number = |k: &Key| if let Key::Int(n) = k { Some(*n) } else { None };
    let text = |k: &Key| if let Key::Str(text) = k { Some(text.clone()) } else { None };
    if keys.iter().all(|k| number(k).is_some()) {
        keys.sort_by_key(number);
    } else if keys.iter().all(|k| text(k).is_some()) {
        keys.sort_by_key(text);
    } else {
        return false;
    }
    true
}

/// `.cat.codes`: indices of categories, -1 for a missing value.
fn codes(cx: &Cx<'_, '_>, have: &Series, classes: Option<&[Key]>) -> Series {
    let at = cx.at();
    let mut out = Series { wide: false, ..have.as_dtype(None, at) };
    let narrow = |n: usize| (n <= 127).then_some(Dtype::Int8);
    match (classes, all_items(have)) {
        (Some(classes), Some(items)) => {
            out.array.dtype = narrow(classes.len());
            let codes = items.iter().map(|v| place(classes, v)).collect();
            numpy::set_data(&mut out.array, codes, at);
        }
        _ => {
            if let Value::Among(among) = &have.items {
                out.array.dtype = narrow(among.texts.len());
                #[expect(clippy::cast_precision_loss, reason = "a number of categories")]
                let last = among.texts.len() as f64 - 1.0;
                out.array.range = Some(Range::bounds(-1.0, last));
                out.array.range_at = at;
            }
        }
    }
    out
}

fn all_items(have: &Series) -> Option<Vec<Value>> {
    #[expect(clippy::cast_possible_truncation, reason = "the values are checked to be whole numbers")]
    match (have.exact(), &have.array.data) {
        (Some(items), _) => Some(items.to_vec()),
        (None, Some(data)) if data.iter().all(|x| x.fract() == 0.0) => {
            Some(data.iter().map(|x| Value::Int(*x as i64)).collect())
        }
        _ => None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "the position in a short list")]
fn place(classes: &[Key], value: &Value) -> f64 {
    let at = Key::of(value).and_then(|key| classes.iter().position(|class| *class == key));
    at.map_or(-1.0, |at| at as f64)
}

/// `factorize`: replaces each value by its number. The distinct values are numbered in the order of
/// their first occurrence, or sorted with `sort=True`. A missing value becomes -1, unless
/// `use_na_sentinel` is false.
fn factorize(cx: &mut Cx<'_, '_>, object: &Value, b: &Bound) -> Value {
    let at = cx.at();
    let Some(have) = series(cx, object) else { return Value::Unknown };
    let mut out = array(None, Some(Dtype::Int64), at);
    out.shape = Some(vec![Dim::new(have.rows(), at)]);
    let found = distinct(cx, object).zip(all_items(&have));
    let mut uniques = Value::Unknown;
    if let (Some(((values, _), items)), Some(true)) = (found, b.get("use_na_sentinel").as_bool()) {
        let mut keys: Vec<Key> = values.iter().filter_map(Key::of).collect();
        let ordered = match b.get("sort").as_bool() {
            Some(true) => sorted(&mut keys),
            sort => sort == Some(false),
        };
        if ordered {
            let codes = items.iter().map(|v| place(&keys, v)).collect();
            numpy::set_data(&mut out, codes, at);
            uniques = super::labels::of_names(cx, keys.iter().map(Key::value).collect());
        }
    }
    let codes = cx.out(out);
    Value::tuple(vec![codes, uniques])
}

/// `pd.get_dummies(…)`: one column for each distinct value of a Series, or of each text
/// or category column of a frame.
fn dummies(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("data");
    // Without `dtype=`, the dtype differs between pandas versions.
    let dtype = numpy::dtype_arg(cx, &b.get("dtype")).flatten();
    if let Some(have) = series(cx, &object) {
        let plain = b.get("drop_first").as_bool() == Some(false) && b.get("dummy_na").as_bool() == Some(false);
        let mut out = super::facts::Frame::unknown(have.rows());
        out.index = have.index.clone();
        // `drop_first` may leave no columns. A frame without columns is converted to a float array,
        // so its dtype is not `dtype`.
        out.rest = dtype.filter(|_| b.get("drop_first").as_bool() == Some(false));
        if let (Some((values, _)), true) = (distinct(cx, &object), plain)
            && let Some(mut keys) = values.iter().map(Key::of).collect::<Option<Vec<Key>>>()
            && sorted(&mut keys)
        {
            for key in keys {
                let column = out.other(cx.at());
                let column = new_series(cx, column);
                out.columns.insert(key, column);
            }
            out.open = false;
        }
        return new_frame(cx, out);
    }
    let Some(mut out) = frame(cx, &object) else { return Value::Unknown };
    match (b.get("columns"), keys(cx, &b.get("columns"))) {
        (Value::None, _) => out.columns.clear(),
        (_, Some(gone)) => gone.iter().for_each(|key| _ = out.columns.shift_remove(key)),
        _ => out.columns.clear(),
    }
    out.open = true;
    (out.rest, out.wide) = (None, false);
    let out = out.each(cx, |_, _, column| column);
    new_frame(cx, out)
}
