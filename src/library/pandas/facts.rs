//! The facts of frames and Series, and how they are stored on the heap.
//!
//! Frames and Series are instances whose internal attributes hold the facts. A frame's columns are
//! Series. Every access to a column returns the same object, so a write to it is a write to the
//! frame.

use std::rc::Rc;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::library::Cx;
use crate::library::common::{array, instance};
use crate::python::Interp;
use crate::value::{Among, Dict, Dim, Dtype, Items, Key, ObjId, Origin, Range, Size, Taken, Tensor, Type, Value};

pub(super) const FRAME: &str = "pandas.DataFrame";
pub(super) const SERIES: &str = "pandas.Series";

const ARRAY: &str = "<array>";
const ITEMS: &str = "<items>";
const CATEGORY: &str = "<category>";
const WIDE: &str = "<wide>";
const INDEX: &str = "<index>";
const ROWS: &str = "<rows>";
const COLUMNS: &str = "<columns>";
const REST: &str = "<rest>";

/// The elements of longer objects are not tracked one by one.
pub(super) const MOST_ITEMS: usize = 4096;

/// The name of the symbols for row labels with gaps.
const GAPS: &str = "labels of a part";

/// The facts of a Series.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    /// The values as a NumPy array. It has no dtype if the values are strings or categories, or if
    /// the dtype is unknown, for example because integers may be missing.
    pub array: Tensor,
    /// The elements, if some of them are not numbers: a tuple of all elements, or their join.
    pub items: Value,
    /// Whether the dtype is `category`.
    pub category: bool,
    /// For an unknown dtype: whether it is certainly not one of pandas' own dtypes and not a NumPy
    /// float of less than 64 bits. This holds for data from a file that was read without `dtype=`.
    pub wide: bool,
    /// A value that stands for the row labels: the number of rows if the labels count from 0,
    /// otherwise a fresh symbol, or unknown. After a reduction of a frame, it is a tuple of the
    /// column names, or the text `FRAME` if these are not known. Operations are elementwise only
    /// for equal labels.
    pub index: Value,
}

/// The facts of a frame.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub rows: Size,
    /// The known columns, in order.
    pub columns: IndexMap<Key, Value, FxBuildHasher>,
    /// Whether there may be other columns.
    pub open: bool,
    /// The dtype of the columns that are not listed.
    pub rest: Option<Dtype>,
    /// Like [`Series::wide`], for the columns that are not listed.
    pub wide: bool,
    pub index: Value,
}

impl Series {
    /// A Series of which only the number of rows is known.
    pub(crate) fn unknown(rows: Size, at: Origin) -> Series {
        Series::of(array(Some(vec![rows]), None, at))
    }

    /// A Series whose row labels count from 0.
    pub(crate) fn of(array: Tensor) -> Series {
        let index = Value::size(&array.numel());
        Series { array, items: Value::Unknown, category: false, wide: false, index }
    }

    pub(crate) fn rows(&self) -> Size {
        self.array.dim(0).map_or(Size::Unknown, |d| d.size.clone())
    }

    /// The elements, if each is known.
    pub(crate) fn exact(&self) -> Option<&[Value]> {
        match &self.items {
            Value::Tuple(items) => Some(items),
            _ => None,
        }
    }

    /// Whether the values, if they are numbers, have a 64-bit NumPy dtype or the dtype bool.
    pub(crate) fn is_wide(&self) -> bool {
        match self.array.dtype {
            Some(dtype) => matches!(dtype, Dtype::Float64 | Dtype::Int64 | Dtype::Uint64 | Dtype::Bool),
            None => self.wide && !self.category,
        }
    }

    /// The same values in another order.
    #[must_use]
    pub(crate) fn shuffled(mut self, index: Value) -> Series {
        self.array.data = None;
        self.array.base = None;
        self.index = index;
        self
    }

    /// The Series with only some of its rows. `picked` means that the rows are selected by their
    /// values.
    #[must_use]
    pub(crate) fn part(mut self, it: &mut Interp<'_>, rows: Size, index: Value, picked: bool) -> Series {
        self.array.data = None;
        self.array.base = None;
        // A selection by value may exclude the same value in every run.
        self.array.range = self.array.range.map(|r| if picked { r.only_bounds() } else { r.of_part() });
        self.items = match self.items {
            Value::Tuple(items) => Items::Exact(items.to_vec()).element(&mut it.heap),
            Value::Among(among) => Value::Among(Rc::new(Among { taken: Taken::Perhaps, ..(*among).clone() })),
            other => other,
        };
        self.resized(rows, index)
    }

    #[must_use]
    pub(crate) fn resized(mut self, rows: Size, index: Value) -> Series {
        let at = self.array.shape_at;
        self.array.shape = Some(vec![Dim::new(rows, at)]);
        self.index = index;
        self
    }

    /// Other values in the same rows.
    #[must_use]
    pub(crate) fn with(&self, array: Tensor) -> Series {
        Series { array, items: Value::Unknown, category: false, wide: self.wide, index: self.index.clone() }
    }

    /// Other values in the same rows; only their dtype is known.
    pub(crate) fn as_dtype(&self, dtype: Option<Dtype>, at: Origin) -> Series {
        self.with(array(Some(vec![self.rows()]), dtype, at))
    }
}

/// The value that stands for row labels that count from 0.
pub(super) fn counted(rows: &Size) -> Value {
    Value::size(rows)
}

/// New row labels, which differ from those of every other object.
pub(super) fn labels(cx: &mut Cx<'_, '_>) -> Value {
    let symbol = cx.it.heap.symbol("labels");
    Value::size(&Size::symbol(symbol))
}

/// New row labels that are numbers from which some are missing.
pub(super) fn labels_with_gaps(cx: &mut Cx<'_, '_>) -> Value {
    let symbol = cx.it.heap.symbol(GAPS);
    Value::size(&Size::symbol(symbol))
}

/// Whether row labels are numbers from which some are missing.
pub(super) fn has_gaps(labels: &Value) -> bool {
    labels.as_size().and_then(|size| size.as_symbol()).is_some_and(|symbol| symbol.name.as_str() == GAPS)
}

/// An unknown number of rows.
pub(super) fn some_rows(cx: &mut Cx<'_, '_>) -> Size {
    let symbol = cx.it.heap.symbol("rows");
    Size::symbol(symbol)
}

/// Whether the row labels `a` and `b` are certainly equal.
pub(super) fn aligned(a: &Value, b: &Value) -> bool {
    match (a.as_size(), b.as_size()) {
        (Some(a), Some(b)) => a.equals(&b) == Some(true),
        _ => false,
    }
}

pub(crate) fn is_pandas(it: &Interp<'_>, value: &Value) -> bool {
    class_of(it, value).is_some()
}

fn class_of(it: &Interp<'_>, value: &Value) -> Option<&'static str> {
    let class = it.heap.instance_of(value)?.class.as_path()?;
    matches!(class, FRAME | SERIES).then_some(class)
}

pub(crate) fn is_frame(it: &Interp<'_>, value: &Value) -> bool {
    class_of(it, value) == Some(FRAME)
}

pub(super) fn series(cx: &Cx<'_, '_>, value: &Value) -> Option<Series> {
    if class_of(cx.it, value) != Some(SERIES) {
        return None;
    }
    let unknown = || array(Some(vec![Size::Unknown]), None, None);
    let array = cx.tensor(&cx.attr(value, ARRAY)).filter(|a| a.rank() == Some(1)).unwrap_or_else(unknown);
    Some(Series {
        array,
        items: cx.attr(value, ITEMS),
        category: cx.attr(value, CATEGORY).as_bool() == Some(true),
        wide: cx.attr(value, WIDE).as_bool() == Some(true),
        index: cx.attr(value, INDEX),
    })
}

/// The array with the values of a Series: a write to it is a write to the Series.
pub(super) fn memory(cx: &Cx<'_, '_>, value: &Value) -> Value {
    cx.attr(value, ARRAY)
}

fn series_attrs(cx: &mut Cx<'_, '_>, of: Series) -> Vec<(&'static str, Value)> {
    let array = cx.out(of.array);
    vec![
        (ARRAY, array),
        (ITEMS, of.items),
        (CATEGORY, Value::Bool(of.category)),
        (WIDE, Value::Bool(of.wide)),
        (INDEX, of.index),
    ]
}

pub(super) fn new_series(cx: &mut Cx<'_, '_>, of: Series) -> Value {
    let attrs = series_attrs(cx, of);
    instance(cx, SERIES, attrs)
}

/// NumPy's functions that give a Series for a Series, and a frame for a frame.
#[rustfmt::skip]
const KEEPING: &[&str] = &[
    "abs", "absolute", "add", "arccos", "arcsin", "arctan", "argsort", "around", "ceil", "clip", "cos", "cosh",
    "cumprod", "cumsum", "divide", "exp", "exp2", "expm1", "fabs", "floor", "floor_divide", "isfinite", "isinf",
    "isnan", "log", "log10", "log1p", "log2", "logical_and", "logical_not", "logical_or", "maximum", "minimum", "mod",
    "multiply", "negative", "power", "reciprocal", "repeat", "rint", "round", "sign", "sin", "sinh", "sqrt", "square",
    "squeeze", "subtract", "tan", "tanh", "transpose", "true_divide", "trunc",
];

/// The result of a function of NumPy for this first argument, of which it has computed the array.
pub(crate) fn of_numpy(cx: &mut Cx<'_, '_>, first: &Value, result: Value) -> Value {
    if !KEEPING.contains(&cx.name()) || !is_pandas(cx.it, first) {
        return result;
    }
    let series = series(cx, first).zip(cx.tensor(&result).filter(|array| array.rank() == Some(1)));
    match series {
        // The row labels are repeated, too.
        Some(_) if cx.name() == "repeat" => Value::Unknown,
        Some((of, array)) => new_series(cx, Series { array, items: Value::Unknown, category: false, ..of }),
        None => Value::Unknown,
    }
}

/// Replaces the facts of a Series in place.
pub(super) fn put_series(cx: &mut Cx<'_, '_>, object: &Value, of: Series) {
    let Some(id) = object.as_obj() else { return };
    for (name, value) in series_attrs(cx, of) {
        cx.it.heap.set_attr(id, name, value);
    }
}

pub(super) fn frame(cx: &Cx<'_, '_>, value: &Value) -> Option<Frame> {
    if !is_frame(cx.it, value) {
        return None;
    }
    let rest = match cx.attr(value, REST) {
        Value::Dtype(dtype) => Some(dtype),
        _ => None,
    };
    let columns = cx.attr(value, COLUMNS);
    let dict = cx.it.heap.dict_of(&columns);
    Some(Frame {
        rows: cx.attr(value, ROWS).as_size().unwrap_or(Size::Unknown),
        columns: dict.map(|d| d.entries.clone()).unwrap_or_default(),
        open: dict.is_none_or(|d| d.open.is_some()),
        rest,
        wide: cx.attr(value, WIDE).as_bool() == Some(true),
        index: cx.attr(value, INDEX),
    })
}

fn frame_attrs(cx: &mut Cx<'_, '_>, of: Frame) -> Vec<(&'static str, Value)> {
    let dict = Dict { entries: of.columns, open: of.open.then_some(Value::Unknown) };
    let columns = cx.it.heap.dict(dict);
    vec![
        (ROWS, Value::size(&of.rows)),
        (COLUMNS, columns),
        (REST, of.rest.map_or(Value::Unknown, Value::Dtype)),
        (WIDE, Value::Bool(of.wide)),
        (INDEX, of.index),
    ]
}

pub(super) fn new_frame(cx: &mut Cx<'_, '_>, of: Frame) -> Value {
    let attrs = frame_attrs(cx, of);
    instance(cx, FRAME, attrs)
}

pub(super) fn put_frame(cx: &mut Cx<'_, '_>, object: &Value, of: Frame) {
    let Some(id) = object.as_obj() else { return };
    for (name, value) in frame_attrs(cx, of) {
        cx.it.heap.set_attr(id, name, value);
    }
}

impl Frame {
    /// A frame of which only the number of rows is known.
    pub(crate) fn unknown(rows: Size) -> Frame {
        let index = counted(&rows);
        Frame { rows, columns: IndexMap::default(), open: true, rest: None, wide: false, index }
    }

    /// The number of columns.
    pub(crate) fn width(&self) -> Size {
        if self.open { Size::Unknown } else { crate::library::common::size_of_length(self.columns.len()) }
    }

    /// The labels of the columns, if all are known.
    pub(crate) fn names(&self) -> Option<Vec<Value>> {
        (!self.open).then(|| self.columns.keys().map(Key::value).collect())
    }

    /// A column that is not listed.
    pub(crate) fn other(&self, at: Origin) -> Series {
        let mut out = Series::unknown(self.rows.clone(), at);
        out.array.dtype = self.rest;
        out.wide = self.wide;
        out.index = self.index.clone();
        out
    }

    /// A new frame: `change` maps the facts of each column.
    pub(crate) fn each(
        mut self,
        cx: &mut Cx<'_, '_>,
        mut change: impl FnMut(&mut Cx<'_, '_>, &Key, Series) -> Series,
    ) -> Frame {
        let columns = std::mem::take(&mut self.columns);
        for (key, column) in columns {
            let Some(facts) = series(cx, &column) else { continue };
            let facts = change(cx, &key, facts);
            let column = new_series(cx, facts);
            self.columns.insert(key, column);
        }
        self
    }

    /// The values as one array.
    pub(crate) fn matrix(&self, cx: &Cx<'_, '_>) -> Tensor {
        let at = cx.at();
        let columns: Vec<Series> = self.columns.values().filter_map(|c| series(cx, c)).collect();
        let mut dtypes: Vec<Option<Dtype>> = columns.iter().map(|c| c.array.dtype).collect();
        if self.open {
            dtypes.push(self.rest);
        }
        let mut out = array(Some(vec![self.rows.clone(), self.width()]), common_dtype(&dtypes), at);
        let ranges: Option<Vec<Range>> = columns.iter().map(|c| c.array.range.clone()).collect();
        if let (Some(ranges), false, Some(_)) = (ranges, self.open, out.dtype) {
            out.range = match ranges.as_slice() {
                [] => None,
                [one] => Some(one.clone()),
                [first, more @ ..] => {
                    let all = more.iter().fold(first.clone(), |all, r| all.union(r));
                    Some(all.by_column(ranges.clone()))
                }
            };
            out.range_at = columns.iter().find_map(|c| c.array.range_at).or(at);
            let data: Option<Vec<&[f64]>> = columns.iter().map(|c| c.array.data.as_deref()).collect();
            if let Some(data) = data
                && let Some(rows) = data.first().map(|d| d.len())
                && data.iter().all(|d| d.len() == rows)
                && rows.saturating_mul(data.len()) <= MOST_ITEMS
            {
                let cell = |i: usize| data.iter().filter_map(move |column| column.get(i).copied());
                out.data = Some((0..rows).flat_map(cell).collect());
            }
        }
        out
    }
}

/// The common dtype of columns with these dtypes. Numbers together with bools become objects.
pub(super) fn common_dtype(dtypes: &[Option<Dtype>]) -> Option<Dtype> {
    let (first, rest) = dtypes.split_first()?;
    rest.iter().try_fold((*first)?, |all, next| {
        let next = (*next)?;
        let mixed = (all == Dtype::Bool) != (next == Dtype::Bool);
        if mixed { None } else { crate::library::numpy::promote(all, next) }
    })
}

/// Havoc: forgets what unseen code may have changed in a frame or Series.
pub(crate) fn forget(it: &mut Interp<'_>, id: ObjId) {
    let object = Value::Obj(id);
    let Some(class) = class_of(it, &object) else { return };
    if class == SERIES {
        let lost = it.heap.tensor(array(Some(vec![Size::Unknown]), None, None));
        for (name, value) in [(ARRAY, lost), (ITEMS, Value::Unknown), (INDEX, Value::Unknown)] {
            it.heap.set_attr(id, name, value);
        }
        it.heap.set_attr(id, CATEGORY, Value::Bool(false));
        it.heap.set_attr(id, WIDE, Value::Bool(false));
        return;
    }
    let columns = it.heap.attr(id, COLUMNS).unwrap_or(Value::Unknown);
    let held: Vec<ObjId> =
        it.heap.dict_of(&columns).map(|d| d.entries.values().filter_map(Value::as_obj).collect()).unwrap_or_default();
    for column in held {
        forget(it, column);
    }
    let lost = it.heap.dict(Dict { open: Some(Value::Unknown), ..Dict::default() });
    for (name, value) in [
        (ROWS, Value::Any(Type::Int)),
        (COLUMNS, lost),
        (REST, Value::Unknown),
        (WIDE, Value::Bool(false)),
        (INDEX, Value::Unknown),
    ] {
        it.heap.set_attr(id, name, value);
    }
}

/// The array that NumPy creates from a Series or frame.
pub(crate) fn as_array(cx: &Cx<'_, '_>, value: &Value) -> Option<Tensor> {
    match series(cx, value) {
        Some(series) => Some(series.array),
        None => frame(cx, value).map(|frame| frame.matrix(cx)),
    }
}

/// The values that PyTorch gets when it iterates over a pandas object.
pub(crate) enum Sequence {
    /// A Series whose row labels count from 0.
    Numbers(Box<Tensor>),
    /// A frame, which yields the names of its columns.
    Table,
    Other,
}

pub(crate) fn as_sequence(cx: &Cx<'_, '_>, value: &Value) -> Sequence {
    if let Some(series) = series(cx, value) {
        let counted = aligned(&series.index, &counted(&series.rows()));
        return if counted { Sequence::Numbers(Box::new(series.array)) } else { Sequence::Other };
    }
    match frame(cx, value) {
        Some(frame) if !frame.columns.is_empty() && frame.columns.keys().all(|k| matches!(k, Key::Str(_))) => {
            Sequence::Table
        }
        _ => Sequence::Other,
    }
}

/// Whether the values of a Series or frame are 64 bits wide, if they are numbers.
pub(crate) fn is_wide(cx: &Cx<'_, '_>, value: &Value) -> bool {
    if let Some(series) = series(cx, value) {
        return series.is_wide();
    }
    let wide = |frame: Frame| {
        (!frame.open || frame.wide || frame.rest == Some(Dtype::Float64))
            && frame.columns.values().all(|c| series(cx, c).is_some_and(|s| s.is_wide()))
    };
    frame(cx, value).is_some_and(wide)
}

/// The column labels of an argument, which is one label or a list of labels.
pub(super) fn keys(cx: &mut Cx<'_, '_>, value: &Value) -> Option<Vec<Key>> {
    if matches!(value, Value::Str(_) | Value::Int(_)) {
        return Some(vec![Key::of(value)?]);
    }
    let span = cx.span;
    let known = matches!(value, Value::Tuple(_) | Value::Obj(_)) && !cx.it.heap.is_tensor(value);
    let items = match value {
        _ if !known || is_pandas(cx.it, value) => return None,
        value => cx.it.iterate(value, span),
    };
    match items {
        Items::Exact(values) => {
            values.iter().map(|v| if matches!(v, Value::Str(_) | Value::Int(_)) { Key::of(v) } else { None }).collect()
        }
        Items::Many(_) => None,
    }
}

/// The `inplace` argument of a method.
pub(super) fn in_place(b: &crate::python::Bound) -> Option<bool> {
    b.get("inplace").as_bool()
}

/// Returns a new frame, or changes the object if `inplace=True`.
pub(super) fn give_frame(cx: &mut Cx<'_, '_>, b: &crate::python::Bound, of: Frame) -> Value {
    let object = b.get("self");
    match in_place(b) {
        Some(true) => {
            put_frame(cx, &object, of);
            Value::None
        }
        Some(false) => new_frame(cx, of),
        None => lost(cx, &object),
    }
}

/// Like [`give_frame`], for a Series. An in-place change of a column's Series changes the frame
/// only in some pandas versions. So only facts that hold with and without the change are kept.
pub(super) fn give_series(cx: &mut Cx<'_, '_>, b: &crate::python::Bound, of: Series) -> Value {
    let object = b.get("self");
    match (in_place(b), series(cx, &object)) {
        (Some(true), Some(was)) => {
            let rows = Some(of.rows()).filter(|rows| rows.equals(&was.rows()) == Some(true));
            let mut both = Series::unknown(rows.unwrap_or(Size::Unknown), of.array.shape_at);
            both.array.dtype = of.array.dtype.filter(|d| was.array.dtype == Some(*d));
            both.wide = of.is_wide() && was.is_wide();
            both.index = if aligned(&of.index, &was.index) { of.index } else { Value::Unknown };
            put_series(cx, &object, both);
            Value::None
        }
        (Some(false), _) => new_series(cx, of),
        _ => lost(cx, &object),
    }
}

/// Forgets the facts about an object, because of an unknown change. Returns an unknown value.
pub(super) fn lost(cx: &mut Cx<'_, '_>, object: &Value) -> Value {
    if let Some(id) = object.as_obj() {
        forget(cx.it, id);
    }
    Value::Unknown
}

/// A helper object of `of`, such as `frame.loc`, `series.cat` or a group-by object: an instance of
/// `class`.
pub(super) fn indexer(cx: &mut Cx<'_, '_>, class: &str, of: &Value) -> Value {
    instance(cx, class, vec![("of", of.clone())])
}
