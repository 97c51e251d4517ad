//! Conversions from pandas: arrays, lists, lengths.

use super::both;
use super::column::elements;
use super::facts::{Series, frame, memory, series};
use crate::library::common::{none, unknown};
use crate::library::numpy;
use crate::library::{Cx, Table};
use crate::python::Bound;
use crate::value::{Data, Items, Type, Value};

pub(crate) fn register(t: &mut Table) {
    both(t, "to_numpy __array__", "self, dtype=None, copy=False, na_value=None", to_numpy);
    both(t, "__len__", "self", |cx, b| Value::size(&super::rows::rows_of(cx, &b.get("self"))));
    t.family("pandas.Series.", "tolist to_list", "self", |cx, b| match series(cx, &b.get("self")) {
        Some(have) => {
            let items = elements(cx, &have);
            Value::Obj(cx.it.heap.alloc(Data::List(items)))
        }
        None => Value::Unknown,
    });
    t.def("pandas.Series.__iter__", "self", |cx, b| match series(cx, &b.get("self")) {
        Some(have) => {
            let items = elements(cx, &have);
            Value::Obj(cx.it.heap.alloc(Data::List(items)))
        }
        None => Value::Unknown,
    });
    t.def("pandas.Series.item", "self", |cx, b| match series(cx, &b.get("self")) {
        Some(have) => {
            let items = elements(cx, &have);
            items.element(&mut cx.it.heap)
        }
        None => Value::Unknown,
    });
    t.family("pandas.DataFrame.", "iterrows itertuples", "self, index=True, name='Pandas'", |cx, b| {
        let named = b.get("name").as_str() == Some("Pandas") && b.get("index").as_bool() == Some(true);
        if named || cx.name() == "iterrows" { super::row::pass(cx, b) } else { Value::Unknown }
    });
    t.family("pandas.DataFrame.", "items", "self", |cx, _| {
        let pair = Value::tuple(vec![Value::Unknown, Value::Unknown]);
        cx.it.heap.iter(Items::Many(pair))
    });
    both(t, "to_pickle to_feather to_excel info", "self, *args, **kwargs", none);
    // Without a file, these methods return the text.
    both(t, "to_csv to_parquet to_json to_string to_markdown", "self, *args, **kwargs", |_, b| {
        let to_file =
            ["path_or_buf", "path", "buf"].iter().any(|name| b.extra.iter().any(|(key, _)| key.as_str() == *name));
        if to_file || !b.rest.is_empty() || b.open { Value::Unknown } else { Value::Any(Type::Str) }
    });
    t.family("pandas.Series.", "groupby", "self, *args, **kwargs", unknown);
    // Methods that do not change the object.
    both(
        t,
        "describe corr cov value_counts to_dict equals duplicated memory_usage hist boxplot agg aggregate \
         idxmax idxmin skew kurt quantile nunique pivot_table pivot melt stack unstack explode rolling expanding \
         crosstab resample to_records to_xarray first_valid_index get_group squeeze transpose any all count mode",
        "self, *args, **kwargs",
        unknown,
    );
}

fn to_numpy(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    if !b.get("na_value").is_none() {
        return Value::Unknown;
    }
    let (mut out, held) = match (series(cx, &object), frame(cx, &object)) {
        (Some(Series { array, .. }), _) => (array, Some(memory(cx, &object))),
        (_, Some(frame)) => (frame.matrix(cx), None),
        _ => return Value::Unknown,
    };
    if let Some(dtype) = numpy::dtype_arg(cx, &b.get("dtype")) {
        let at = cx.at();
        out.base = None;
        let out = numpy::cast(out, dtype, at);
        return cx.out(out);
    }
    match held {
        Some(held) if b.get("copy").as_bool() == Some(false) => cx.view_of(&held, out),
        _ => cx.out(out),
    }
}
