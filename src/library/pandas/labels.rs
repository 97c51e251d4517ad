//! The columns of a frame: their names, adding and removing them, and attributes.

use super::column::column_of;
use super::facts::{
    FRAME, Frame, Series, aligned, counted, forget, frame, give_frame, indexer, is_frame, keys, labels, lost, memory,
    new_frame, new_series, put_frame, series, some_rows,
};
use crate::library::common::{instance, length_of, unknown};
use crate::library::{Cx, Table};
use crate::python::{Args, Bound, Interp};
use crate::syntax::Span;
use crate::value::{Key, Sym, Type, Value, sym};

/// The class of `frame.columns`.
const INDEX: &str = "pandas.Index";

/// The class of `columns.str`, whose methods change every column name.
const TEXTS: &str = "pandas.Index.str";

/// Attributes that are in no table, but do not change the object. Any other attribute that is in no
/// table may be a method that changes the object.
const HARMLESS: &[&str] = &[
    "dtypes",
    "dtype",
    "index",
    "empty",
    "ndim",
    "size",
    "name",
    "attrs",
    "axes",
    "flags",
    "plot",
    "style",
    "nbytes",
    "hasnans",
    "is_unique",
    "dt",
    "str",
    "sparse",
];

pub(crate) fn register(t: &mut Table) {
    t.def(
        "pandas.DataFrame.drop",
        "self, labels=None, *, axis=0, index=None, columns=None, level=None, inplace=False, errors='raise'",
        drop,
    );
    t.def("pandas.DataFrame.pop", "self, item", |cx, b| {
        let object = b.get("self");
        let Some(mut have) = frame(cx, &object) else { return Value::Unknown };
        let Some(key) = Key::of(&b.get("item")) else { return lost(cx, &object) };
        let column = match have.columns.shift_remove(&key) {
            Some(column) => column,
            None if have.open => {
                let column = have.other(cx.at());
                new_series(cx, column)
            }
            None => return Value::Unknown,
        };
        put_frame(cx, &object, have);
        column
    });
    t.def("pandas.DataFrame.assign", "self, **kwargs", |cx, b| {
        let Some(have) = frame(cx, &b.get("self")) else { return Value::Unknown };
        let have = have.each(cx, |_, _, column| column);
        let out = new_frame(cx, have);
        for (name, arg) in &b.extra {
            let called = arg.value.as_path().is_some() || cx.it.is_callable(&arg.value);
            let value =
                if called { cx.call(&arg.value, Args::positional([out.clone()], cx.span)) } else { arg.value.clone() };
            set_column(cx, &out, Key::Str(name.as_str().into()), &value);
        }
        if b.open {
            return lost(cx, &out);
        }
        out
    });
    t.def("pandas.DataFrame.insert", "self, loc, column, value, allow_duplicates=False", |cx, b| {
        let object = b.get("self");
        let Some(key) = Key::of(&b.get("column")) else { return lost(cx, &object) };
        set_column(cx, &object, key.clone(), &b.get("value"));
        if let Some(mut have) = frame(cx, &object)
            && let Some(at) = b.get("loc").as_int().and_then(|n| usize::try_from(n).ok())
            && let Some(column) = have.columns.shift_remove(&key)
        {
            let at = at.min(have.columns.len());
            have.columns.shift_insert(at, key, column);
            put_frame(cx, &object, have);
        }
        Value::None
    });
    t.def(
        "pandas.DataFrame.rename",
        "self, mapper=None, *, index=None, columns=None, axis=None, copy=None, inplace=False, level=None, \
         errors='ignore'",
        rename,
    );
    t.def("pandas.DataFrame.select_dtypes", "self, include=None, exclude=None", |cx, b| {
        let Some(mut out) = frame(cx, &b.get("self")) else { return Value::Unknown };
        out.open = true;
        let out = out.each(cx, |_, _, column| column);
        new_frame(cx, out)
    });
    t.def("pandas.DataFrame.filter", "self, *args, **kwargs", |cx, b| {
        let Some(mut out) = frame(cx, &b.get("self")) else { return Value::Unknown };
        out.open = true;
        let out = out.each(cx, |_, _, column| column);
        new_frame(cx, out)
    });
    t.def("pandas.DataFrame.__delitem__", "self, key", |cx, b| {
        let object = b.get("self");
        match (frame(cx, &object), Key::of(&b.get("key"))) {
            (Some(mut have), Some(key)) => {
                have.columns.shift_remove(&key);
                put_frame(cx, &object, have);
                Value::None
            }
            _ => lost(cx, &object),
        }
    });
    t.family("pandas.DataFrame.", "keys __iter__", "self", |cx, b| match frame(cx, &b.get("self")) {
        Some(have) => names(cx, &have),
        None => Value::Unknown,
    });

    super::both(t, "update", "self, *args, **kwargs", |cx, b| lost(cx, &b.get("self")));
    // With `inplace`, these methods change the object itself.
    super::both(t, "eval where mask set_axis rename_axis transform pipe", "self, *args, **kwargs", |cx, b| {
        if b.open || b.extra.iter().any(|(k, _)| k.as_str() == "inplace") {
            return lost(cx, &b.get("self"));
        }
        for function in b.rest_values() {
            cx.it.havoc(&function);
        }
        Value::Unknown
    });

    let index = t.class(INDEX, &[], "*args, **kwargs");
    index.keeps_arguments = false;
    index.make = Some(unknown);
    t.family(&format!("{INDEX}."), "tolist to_list __iter__", "self", |cx, b| {
        let held = cx.attr(&b.get("self"), "<names>");
        match cx.items(&held) {
            Some(items) => cx.list(items),
            None => Value::Unknown,
        }
    });
    index_of_texts(t);
    t.def(&format!("{INDEX}.__len__"), "self", |cx, b| {
        let held = cx.attr(&b.get("self"), "<names>");
        cx.items(&held).map_or(Value::Any(Type::Int), |items| length_of(items.len()))
    });
    t.def(&format!("{INDEX}.__getitem__"), "self, key", |cx, b| {
        let (held, span, key) = (cx.attr(&b.get("self"), "<names>"), cx.span, b.get("key"));
        let picked = cx.it.subscript(&held, &key, span);
        match cx.items(&picked) {
            Some(items) if matches!(key, Value::Slice(_)) => of_names(cx, items),
            _ if matches!(key, Value::Int(_)) => picked,
            _ => Value::Unknown,
        }
    });
    t.family(&format!("{INDEX}."), "drop difference", "self, labels, sort=None, *, errors='raise'", |cx, b| {
        let held = cx.attr(&b.get("self"), "<names>");
        let (Some(mut items), Some(gone)) = (cx.items(&held), keys(cx, &b.get("labels"))) else {
            return Value::Unknown;
        };
        items.retain(|v| Key::of(v).is_none_or(|key| !gone.contains(&key)));
        // `difference` returns sorted names.
        if cx.name() == "difference" {
            items.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
        }
        of_names(cx, items)
    });
}

/// `frame.columns.str.lower()`.
fn index_of_texts(t: &mut Table) {
    if let Some(index) = t.classes.get_mut(&sym(INDEX)) {
        index.attribute = Some(|cx, object, name| (name.as_str() == "str").then(|| indexer(cx, TEXTS, object)));
    }
    t.class(TEXTS, &[], "").keeps_arguments = false;
    t.family(&format!("{TEXTS}."), "strip lower upper", "self", |cx, b| {
        let names = cx.attr(&b.get("self"), "of");
        let held = cx.attr(&names, "<names>");
        let change: fn(&str) -> String = match cx.name() {
            "strip" => |text| text.trim().to_owned(),
            "lower" => str::to_lowercase,
            _ => str::to_uppercase,
        };
        let changed: Option<Vec<Value>> =
            cx.items(&held).and_then(|all| all.iter().map(|v| Some(Value::str(&change(v.as_str()?)))).collect());
        changed.map_or(Value::Unknown, |names| of_names(cx, names))
    });
}

pub(crate) fn of_names(cx: &mut Cx<'_, '_>, names: Vec<Value>) -> Value {
    instance(cx, INDEX, vec![("<names>", Value::tuple(names))])
}

fn names(cx: &mut Cx<'_, '_>, of: &Frame) -> Value {
    match of.names() {
        Some(names) => of_names(cx, names),
        None => Value::Unknown,
    }
}

/// An attribute of a frame or Series that is not a method in a table.
pub(crate) fn attribute(cx: &mut Cx<'_, '_>, object: &Value, name: Sym) -> Option<Value> {
    let class = cx.path;
    let text = name.as_str();
    // Methods in a table are found there. Other special methods (`__…`) are not modelled.
    if text.starts_with("__") || cx.it.library().is_function(crate::value::dotted(class, name)) {
        return None;
    }
    let rows = super::rows::rows_of(cx, object);
    match text {
        "iloc" | "loc" | "at" | "iat" => return Some(indexer(cx, &format!("pandas.{text}"), object)),
        "T" => return Some(Value::Unknown),
        _ => {}
    }
    if class.as_str() == FRAME {
        let have = frame(cx, object)?;
        match text {
            "values" => {
                let out = have.matrix(cx);
                return Some(cx.out(out));
            }
            "shape" => return Some(Value::tuple(vec![Value::size(&rows), Value::size(&have.width())])),
            "columns" => return Some(names(cx, &have)),
            _ => {}
        }
        if let Some(column) = have.columns.get(&Key::Str(text.into())) {
            return Some(column.clone());
        }
    } else {
        match text {
            "values" | "array" => {
                let (held, array) = (memory(cx, object), series(cx, object)?.array);
                return Some(cx.view_of(&held, array));
            }
            "shape" => return Some(Value::tuple(vec![Value::size(&rows)])),
            "size" => return Some(Value::size(&rows)),
            "cat" => return Some(indexer(cx, "pandas.cat", object)),
            "dtype" => {
                let dtype = series(cx, object)?.array.dtype;
                return Some(dtype.map_or(Value::Unknown, Value::Dtype));
            }
            _ => {}
        }
    }
    if !HARMLESS.contains(&text)
        && let Some(id) = object.as_obj()
    {
        // The attribute may be a method that changes the object. But if a frame may have columns
        // that are not listed, the attribute is assumed to be such a column.
        let column = frame(cx, object).is_some_and(|f| f.open);
        if column {
            return Some(Value::Unknown);
        }
        forget(cx.it, id);
    }
    Some(Value::Unknown)
}

/// `frame.column = values`, `frame.columns = names`. Returns whether the object is a frame or a
/// Series.
pub(crate) fn set_attribute(it: &mut Interp<'_>, object: &Value, name: Sym, value: &Value, span: Span) -> bool {
    if !super::is_pandas(it, object) {
        return false;
    }
    let cx = &mut Cx { it, path: sym(FRAME), span };
    let Some(mut have) = frame(cx, object) else {
        // An assignment to any attribute other than `name` is assumed to change the values or the
        // labels of the Series.
        if name.as_str() != "name" {
            lost(cx, object);
        }
        return true;
    };
    match name.as_str() {
        "columns" => match keys(cx, value).filter(|names| !have.open && names.len() == have.columns.len()) {
            Some(names) => {
                have.columns = names.into_iter().zip(have.columns.into_values()).collect();
                put_frame(cx, object, have);
            }
            // It is not known which column gets which name. The values of the columns stay.
            None => {
                have.wide = super::is_wide(cx, object);
                have.rest = None;
                have.columns.clear();
                have.open = true;
                put_frame(cx, object, have);
            }
        },
        "index" => {
            have.index = Value::Unknown;
            let have = have.each(cx, |_, _, column| Series { index: Value::Unknown, ..column });
            put_frame(cx, object, have);
        }
        text => {
            let key = Key::Str(text.into());
            if have.columns.contains_key(&key) {
                set_column(cx, object, key, value);
            } else if have.open {
                lost(cx, object);
            }
        }
    }
    true
}

/// `frame[key] = value`.
pub(crate) fn set_column(cx: &mut Cx<'_, '_>, object: &Value, key: Key, value: &Value) {
    let Some(mut have) = frame(cx, object) else { return };
    let empty = !have.open && have.columns.is_empty() && have.rows.known() == Some(0);
    let mut column = column_of(cx, value, (!empty).then_some(&have.rows));
    if empty {
        have.rows = column.rows();
        have.index = if series(cx, value).is_some() { column.index.clone() } else { counted(&have.rows) };
    } else if series(cx, value).is_some() && !aligned(&have.index, &column.index) {
        // Values are aligned by label; rows without a value get missing values.
        column = Series::unknown(have.rows.clone(), cx.at());
    } else if have.rows.known().is_none() && column.rows().known().is_some() && !is_frame(cx.it, value) {
        have.rows = column.rows();
        if have.columns.is_empty() {
            have.index = labels(cx);
        }
    }
    let column = column.resized(have.rows.clone(), have.index.clone());
    let column = new_series(cx, column);
    have.columns.insert(key, column);
    put_frame(cx, object, have);
}

fn drop(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let Some(mut have) = frame(cx, &object) else { return Value::Unknown };
    let side = b.get("axis");
    let columns = match (side.as_int(), side.as_str()) {
        (Some(1), _) | (_, Some("columns")) => Some(b.get("labels")),
        (Some(0), _) | (_, Some("index" | "rows")) => (!b.get("columns").is_none()).then(|| b.get("columns")),
        _ => return lost(cx, &object),
    };
    if let Some(columns) = columns.filter(|c| !c.is_none()) {
        match keys(cx, &columns) {
            Some(gone) => gone.iter().for_each(|key| _ = have.columns.shift_remove(key)),
            None => have.open = true,
        }
        if b.get("index").is_none() {
            let out = have.each(cx, |_, _, column| column);
            return give_frame(cx, b, out);
        }
    }
    let (rows, index) = (some_rows(cx), labels(cx));
    let out = super::rows::of_frame(cx, have, &super::rows::Rows::Picked(rows), &index);
    give_frame(cx, b, out)
}

fn rename(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(mut have) = frame(cx, &b.get("self")) else { return Value::Unknown };
    let mapper = match b.get("columns") {
        Value::None if b.get("axis").as_int() == Some(1) || b.get("axis").as_str() == Some("columns") => {
            b.get("mapper")
        }
        columns => columns,
    };
    if !mapper.is_none() {
        match cx.it.heap.dict_of(&mapper).filter(|d| d.open.is_none()).cloned() {
            Some(dict) => {
                let new = |key: &Key| dict.entries.get(key).map_or(Some(key.clone()), Key::of);
                let renamed: Option<Vec<Key>> = have.columns.keys().map(new).collect();
                match renamed {
                    Some(names) => have.columns = names.into_iter().zip(have.columns.into_values()).collect(),
                    None => {
                        have.columns.clear();
                        have.open = true;
                    }
                }
            }
            None => {
                have.columns.clear();
                have.open = true;
            }
        }
    }
    let out = have.each(cx, |_, _, column| column);
    give_frame(cx, b, out)
}
