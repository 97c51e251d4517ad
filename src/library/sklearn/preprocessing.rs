//! Scalers, encoders and other transformers of tables.

use crate::library::common::{array, instance, size_of_length, unknown};
use crate::library::{Cx, Table, numpy, pandas};
use crate::python::Bound;
use crate::value::{Dim, Dtype, Items, Key, Past, Size, Tensor, Value};

/// How a transformer changes the number of columns.
#[derive(Clone, Copy, PartialEq)]
enum Width {
    Kept,
    /// The value of the integer argument with this name.
    Argument(&'static str),
    Unknown,
}

/// The dtype of a transformer's result.
#[derive(Clone, Copy, PartialEq)]
enum Gives {
    /// Floating dtypes stay, all others become float64.
    Floats,
    /// The argument `dtype`, by default float64.
    Argument,
}

/// The transformers of each module, with their width and dtype.
const TRANSFORMERS: &[(&str, Width, Gives, &str)] = &[
    (
        "preprocessing",
        Width::Kept,
        Gives::Floats,
        "StandardScaler MinMaxScaler RobustScaler MaxAbsScaler Normalizer PowerTransformer QuantileTransformer",
    ),
    ("preprocessing", Width::Unknown, Gives::Floats, "PolynomialFeatures"),
    ("preprocessing", Width::Kept, Gives::Argument, "OrdinalEncoder"),
    ("preprocessing", Width::Unknown, Gives::Argument, "OneHotEncoder"),
    // These transformers drop columns in which all values are missing, so the width is unknown.
    ("impute", Width::Unknown, Gives::Floats, "SimpleImputer KNNImputer IterativeImputer"),
    ("decomposition", Width::Argument("n_components"), Gives::Floats, "PCA TruncatedSVD"),
];

/// The class of sparse matrices, which NumPy converts to an array of one object.
const SPARSE: &str = "scipy.sparse.csr_matrix";

pub(crate) fn register(t: &mut Table) {
    for (module, _, _, names) in TRANSFORMERS {
        for name in names.split_whitespace() {
            let class = format!("sklearn.{module}.{name}");
            // The signature names only the arguments that the models use.
            t.class(&class, &[], "n_components=None, *args, dtype=None, sparse_output=None, sparse=None, **kwargs");
            t.family(&format!("{class}."), "fit partial_fit", "self, X, y=None, **kwargs", |_, b| b.get("self"));
            t.family(&format!("{class}."), "fit_transform transform", "self, X, y=None, **kwargs", transform);
            t.def(&format!("{class}.inverse_transform"), "self, X, **kwargs", inverse);
            t.def(&format!("{class}.set_output"), "self, *, transform=None", |cx, b| {
                // After this call, the transformer may return frames.
                if let Some(id) = b.get("self").as_obj() {
                    cx.it.heap.set_attr(id, "<frames>", Value::Bool(true));
                }
                b.get("self")
            });
        }
    }
    let class = "sklearn.preprocessing.LabelEncoder";
    t.class(class, &[], "*args, **kwargs").keeps_arguments = false;
    t.def(&format!("{class}.fit"), "self, y", |cx, b| {
        learn(cx, b);
        b.get("self")
    });
    t.family(&format!("{class}."), "fit_transform transform", "self, y", encode);
    t.def(&format!("{class}.inverse_transform"), "self, y", unknown);
    let class = "sklearn.preprocessing.LabelBinarizer";
    t.class(class, &[], "*args, **kwargs").keeps_arguments = false;
    t.def(&format!("{class}.fit"), "self, y", |_, b| b.get("self"));
    t.family(&format!("{class}."), "fit_transform transform", "self, y", |cx, b| {
        let rows = rows_of(cx, &b.get("y"));
        let at = cx.at();
        cx.out(array(Some(vec![rows, Size::Unknown]), Some(Dtype::Int64), at))
    });
}

pub(crate) fn register_sparse(t: &mut Table) {
    t.class(SPARSE, &[], "*args, **kwargs").make = Some(unknown);
    t.family(&format!("{SPARSE}."), "toarray", "self, *args, **kwargs", |cx, b| {
        let held = cx.attr(&b.get("self"), "<array>");
        cx.tensor(&held).map_or(Value::Unknown, |array| cx.out(array))
    });
    t.def(&format!("{SPARSE}.__len__"), "self", unknown);
}

/// The table that a transformer gets. For a table of unknown dtype, the bool says whether it
/// certainly has no column of floats with less than 64 bits.
fn table(cx: &mut Cx<'_, '_>, value: &Value) -> Option<(Tensor, bool)> {
    if let Some(values) = pandas::as_array(cx, value) {
        return Some((numpy::of_tensor(values), pandas::is_wide(cx, value)));
    }
    numpy::as_array(cx, value).map(|table| (table, false))
}

fn rows_of(cx: &mut Cx<'_, '_>, value: &Value) -> Size {
    match table(cx, value).and_then(|(t, _)| t.dim(0).map(|d| d.size.clone())) {
        Some(rows) if !rows.is_unknown() => rows,
        _ => cx.fresh_dim("n").size,
    }
}

/// How the transformer whose method is called changes the number of columns and the dtype.
fn does(cx: &Cx<'_, '_>) -> Option<(Width, Gives)> {
    let class = cx.path.as_str().rsplit('.').nth(1)?;
    TRANSFORMERS
        .iter()
        .find(|(.., names)| names.split_whitespace().any(|name| name == class))
        .map(|(_, width, gives, _)| (*width, *gives))
}

fn transform(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (object, at) = (b.get("self"), cx.at());
    let Some((width, gives)) = does(cx) else { return Value::Unknown };
    if cx.attr(&object, "<frames>").as_bool() == Some(true) {
        return Value::Unknown;
    }
    let found = table(cx, &b.get("X"));
    let dtype = match gives {
        Gives::Argument => match cx.attr(&object, "dtype") {
            Value::None => Some(Dtype::Float64),
            given => numpy::dtype_arg(cx, &given).flatten(),
        },
        Gives::Floats => found.as_ref().and_then(|(input, wide)| match input.dtype {
            Some(d) if d.is_floating() => Some(d),
            Some(d) if d.is_integral() => Some(Dtype::Float64),
            Some(_) => None,
            None => wide.then_some(Dtype::Float64),
        }),
    };
    // These transformers accept and return only tables of 2 dimensions.
    let rank = found.as_ref().and_then(|(input, _)| input.rank());
    if rank.is_some_and(|rank| rank != 2) {
        return Value::Unknown;
    }
    let kept = |i: i64| found.as_ref().and_then(|(input, _)| input.dim(i).map(|d| d.size.clone()));
    let rows = kept(0).unwrap_or(Size::Unknown);
    let columns = match width {
        Width::Kept => kept(1).unwrap_or(Size::Unknown),
        Width::Argument(name) => cx.attr(&object, name).as_int().map_or(Size::Unknown, Size::Int),
        Width::Unknown => Size::Unknown,
    };
    let mut out = array(Some(vec![rows, columns]), dtype, at);
    out.past = Past::default();
    if cx.path.as_str().contains("OneHotEncoder") {
        return sparse(cx, &object, out);
    }
    cx.out(out)
}

/// One-hot codes are sparse, unless an argument selects an array.
fn sparse(cx: &mut Cx<'_, '_>, encoder: &Value, out: Tensor) -> Value {
    let asked: Vec<Value> = ["sparse_output", "sparse"].iter().map(|name| cx.attr(encoder, name)).collect();
    let held = cx.out(out);
    match asked.iter().find(|v| !v.is_none()).map(Value::as_bool) {
        Some(Some(false)) => held,
        None | Some(Some(true)) => instance(cx, SPARSE, vec![("<array>", held)]),
        Some(None) => Value::Unknown,
    }
}

/// `inverse_transform` of a scaler.
fn inverse(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    match does(cx) {
        Some((Width::Kept, Gives::Floats)) => transform(cx, b),
        _ => Value::Unknown,
    }
}

/// The labels that a `LabelEncoder` gets, element by element.
fn labels(cx: &mut Cx<'_, '_>, value: &Value) -> Option<Vec<Key>> {
    if let Some(tensor) = cx.tensor(value) {
        return tensor.data?.iter().map(|x| (x.fract() == 0.0).then(|| Key::of(&whole(*x)))?).collect();
    }
    let items = match pandas::elements(cx, value) {
        Some(Items::Exact(items)) => items,
        Some(Items::Many(_)) => return None,
        None => cx.items(value)?,
    };
    items.iter().map(Key::of).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "the caller has checked that the values are whole numbers")]
fn whole(x: f64) -> Value {
    Value::Int(x as i64)
}

/// `LabelEncoder.fit`: stores the distinct labels as sorted classes.
fn learn(cx: &mut Cx<'_, '_>, b: &Bound) {
    let Some(id) = b.get("self").as_obj() else { return };
    let found = labels(cx, &b.get("y")).and_then(|mut keys| {
        let of_one_kind = pandas::sorted(&mut keys);
        keys.dedup();
        of_one_kind.then_some(keys)
    });
    let classes = match found {
        Some(keys) => cx.list(keys.iter().map(Key::value).collect()),
        None => Value::Unknown,
    };
    cx.it.heap.set_attr(id, "classes_", classes);
}

fn encode(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (at, y) = (cx.at(), b.get("y"));
    if cx.name() == "fit_transform" {
        learn(cx, b);
    }
    let classes = cx.attr(&b.get("self"), "classes_");
    if let (Some(classes), Some(keys)) = (labels(cx, &classes), labels(cx, &y)) {
        #[expect(clippy::cast_precision_loss, reason = "a position among classes")]
        let code = |key: &Key| classes.iter().position(|class| class == key).map(|at| at as f64);
        if let Some(codes) = keys.iter().map(code).collect::<Option<Vec<f64>>>() {
            let rows = Dim::new(size_of_length(codes.len()), at);
            let mut out = array(None, Some(Dtype::Int64), at);
            out.shape = Some(vec![rows]);
            numpy::set_data(&mut out, codes, at);
            return cx.out(out);
        }
    }
    let rows = rows_of(cx, &y);
    cx.out(array(Some(vec![rows]), Some(Dtype::Int64), at))
}
