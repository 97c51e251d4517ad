//! scikit-learn: splits, scalers, encoders and the small datasets.

use super::common::{any_float, array, part_of, unknown};
use super::numpy;
use super::{Cx, Table};
use crate::python::Bound;
use crate::value::{Data, Dict, Dim, Dtype, Items, Key, Past, Range, Size, Tensor, Value};

/// Datasets by name: rows, columns, classes (0 for a number to be predicted).
const DATASETS: &[(&str, i64, i64, i64)] = &[
    ("load_iris", 150, 4, 3),
    ("load_digits", 1797, 64, 10),
    ("load_wine", 178, 13, 3),
    ("load_breast_cancer", 569, 30, 2),
    ("load_diabetes", 442, 10, 0),
    ("fetch_california_housing", 20640, 8, 0),
];

pub fn register(t: &mut Table) {
    t.def(
        "sklearn.model_selection.train_test_split",
        "*arrays, test_size=None, train_size=None, random_state=None, shuffle=True, stratify=None",
        split,
    );
    for (name, ..) in DATASETS {
        t.def(&format!("sklearn.datasets.{name}"), "*, return_X_y=False, as_frame=False, **kwargs", load);
    }
    t.def("sklearn.datasets.make_classification", "n_samples=100, n_features=20, *, n_classes=2, **kwargs", |cx, b| {
        let (n, features) = (b.get("n_samples"), b.get("n_features"));
        made(cx, &n, &features, b.get("n_classes").as_int())
    });
    t.family("sklearn.datasets.", "make_moons make_circles", "n_samples=100, **kwargs", |cx, b| {
        made(cx, &b.get("n_samples"), &Value::Int(2), Some(2))
    });
    t.def("sklearn.datasets.make_blobs", "n_samples=100, n_features=2, *, centers=3, **kwargs", |cx, b| {
        let centers = b.get("centers").as_int().filter(|_| b.get("n_samples").as_int().is_some());
        made(cx, &b.get("n_samples"), &b.get("n_features"), centers)
    });
    t.def(
        "sklearn.datasets.make_regression",
        "n_samples=100, n_features=100, *, n_informative=10, n_targets=1, **kwargs",
        |cx, b| {
            let one = b.get("n_targets").as_int() == Some(1) && !b.extra.iter().any(|(k, _)| k.as_str() == "coef");
            if one { made(cx, &b.get("n_samples"), &b.get("n_features"), Some(0)) } else { Value::Unknown }
        },
    );
    for name in ["StandardScaler", "MinMaxScaler", "RobustScaler", "MaxAbsScaler", "LabelEncoder"] {
        let class = format!("sklearn.preprocessing.{name}");
        t.class(&class, &[], "*args, **kwargs").keeps_arguments = false;
        t.def(&format!("{class}.fit"), "self, X, *args, **kwargs", |cx, b| {
            if cx.path.as_str().contains("LabelEncoder") {
                learn(cx, b);
            }
            b.get("self")
        });
        let run = if name == "LabelEncoder" { encode } else { scale };
        t.family(&format!("{class}."), "fit_transform transform", "self, X, *args, **kwargs", run);
        t.def(&format!("{class}.inverse_transform"), "self, X", unknown);
    }
    for name in ["KFold", "StratifiedKFold"] {
        let class = format!("sklearn.model_selection.{name}");
        t.class(&class, &[], "n_splits=5, *, shuffle=False, random_state=None");
        t.def(&format!("{class}.split"), "self, X, y=None, groups=None", |cx, _| {
            let at = cx.at();
            let mut indices = |name: &str| {
                let dim = cx.fresh_dim(name);
                let mut out = array(None, Some(Dtype::Int64), at);
                out.shape = Some(vec![dim]);
                cx.out(out)
            };
            let pair = Value::tuple(vec![indices("train"), indices("test")]);
            cx.it.heap.iter(Items::Many(pair))
        });
    }
    t.family(
        "sklearn.metrics.",
        "accuracy_score f1_score precision_score recall_score roc_auc_score mean_squared_error r2_score \
         balanced_accuracy_score cohen_kappa_score matthews_corrcoef average_precision_score",
        "*args, **kwargs",
        |cx, b| {
            let averaged = !b.extra.iter().any(|(k, a)| k.as_str() == "average" && a.value.is_none());
            if averaged { any_float(cx, b) } else { unknown(cx, b) }
        },
    );
    t.family("sklearn.metrics.", "classification_report", "*args, **kwargs", unknown);
    t.def("sklearn.utils.class_weight.compute_class_weight", "class_weight, *, classes, y, **kwargs", |cx, b| {
        let at = cx.at();
        let classes = cx.tensor_arg(b, "classes").and_then(|t| t.sizes());
        let listed = || cx.items(&b.get("classes")).map(|items| vec![super::common::size_of_length(items.len())]);
        let shape = classes.or_else(listed).or(Some(vec![Size::Unknown]));
        cx.out(array(shape, Some(Dtype::Float64), at))
    });
}

/// Some rows of an array or some elements of a list.
fn some_rows(cx: &mut Cx<'_, '_>, value: &Value, rows: &Dim) -> Value {
    if let Some(mut tensor) = cx.tensor(value) {
        if let Some(first) = tensor.shape.as_mut().and_then(|s| s.first_mut()) {
            *first = rows.clone();
        }
        tensor.data = None;
        tensor.base = None;
        tensor.range = tensor.range.map(part_of);
        return cx.out(tensor);
    }
    match value.as_obj().map(|id| cx.it.heap.get(id).clone()) {
        Some(Data::List(items)) => {
            let element = items.element(&mut cx.it.heap);
            cx.list_of(element)
        }
        _ => Value::Unknown,
    }
}

fn split(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if b.open {
        return Value::Unknown;
    }
    let (train, test) = (cx.fresh_dim("train"), cx.fresh_dim("test"));
    let mut out = Vec::new();
    for value in b.rest_values() {
        out.push(some_rows(cx, &value, &train));
        out.push(some_rows(cx, &value, &test));
    }
    cx.list(out)
}

/// A table of features and its targets; 0 classes for numbers.
fn pair(cx: &mut Cx<'_, '_>, rows: Size, columns: Size, classes: Option<i64>) -> (Value, Value) {
    let at = cx.at();
    let features = array(Some(vec![rows.clone(), columns]), Some(Dtype::Float64), at);
    let targets = match classes {
        #[expect(clippy::cast_precision_loss, reason = "facts about ranges, not arithmetic")]
        Some(n @ 1..) => {
            let mut range = Range::attained(0.0, n as f64 - 1.0);
            range.certain = true;
            array(Some(vec![rows]), Some(Dtype::Int64), at).with_range(Some(range), at)
        }
        Some(_) => array(Some(vec![rows]), Some(Dtype::Float64), at),
        None => array(Some(vec![rows]), None, at),
    };
    (cx.out(features), cx.out(targets))
}

fn load(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let name = cx.name();
    let Some((_, rows, columns, classes)) = DATASETS.iter().find(|d| d.0 == name) else { return Value::Unknown };
    // Fewer classes can be asked for, and tables of pandas.
    if b.get("as_frame").as_bool() != Some(false) || !b.extra.is_empty() {
        return Value::Unknown;
    }
    let (data, target) = pair(cx, Size::Int(*rows), Size::Int(*columns), Some(*classes));
    match b.get("return_X_y").as_bool() {
        Some(true) => Value::tuple(vec![data, target]),
        Some(false) => {
            let mut dict = Dict { open: Some(Value::Unknown), ..Dict::default() };
            dict.entries.insert(Key::Str("data".into()), data);
            dict.entries.insert(Key::Str("target".into()), target);
            cx.it.heap.dict(dict)
        }
        None => Value::Unknown,
    }
}

fn made(cx: &mut Cx<'_, '_>, rows: &Value, columns: &Value, classes: Option<i64>) -> Value {
    let (rows, columns) = (cx.size_of(rows), cx.size_of(columns));
    let (data, target) = pair(cx, rows, columns, classes);
    Value::tuple(vec![data, target])
}

fn scale(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let x = b.get("X");
    let Some(input) = numpy::as_array(cx, &x) else { return Value::Unknown };
    let at = cx.at();
    // Floats keep their width.
    let dtype = input.dtype.map(|d| if d.is_floating() { d } else { Dtype::Float64 });
    let out = Tensor { range: None, role: None, past: Past::default(), data: None, base: None, ..input }
        .with_dtype(dtype, at);
    cx.out(out)
}

/// What a `LabelEncoder` is given, element by element.
fn labels(cx: &Cx<'_, '_>, value: &Value) -> Option<Vec<Key>> {
    match cx.tensor(value) {
        Some(tensor) => tensor.data?.iter().map(|x| (x.fract() == 0.0).then(|| Key::of(&whole(*x)))?).collect(),
        None => cx.items(value)?.iter().map(Key::of).collect(),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "whole numbers, as the caller has checked")]
fn whole(x: f64) -> Value {
    Value::Int(x as i64)
}

/// The classes that a `LabelEncoder` finds, in order.
fn learn(cx: &mut Cx<'_, '_>, b: &Bound) {
    let Some(id) = b.get("self").as_obj() else { return };
    let found = labels(cx, &b.get("X")).map(|mut keys| {
        keys.sort_by(|a, b| match (a, b) {
            (Key::Int(a), Key::Int(b)) => a.cmp(b),
            (Key::Str(a), Key::Str(b)) => a.cmp(b),
            _ => std::cmp::Ordering::Equal,
        });
        keys.dedup();
        keys
    });
    let of_one_kind = |keys: &Vec<Key>| {
        keys.iter().all(|k| matches!(k, Key::Int(_))) || keys.iter().all(|k| matches!(k, Key::Str(_)))
    };
    let classes = match found.filter(of_one_kind) {
        Some(keys) => cx.list(keys.iter().map(Key::value).collect()),
        None => Value::Unknown,
    };
    cx.it.heap.set_attr(id, "classes_", classes);
}

fn encode(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (at, x) = (cx.at(), b.get("X"));
    if cx.name() == "fit_transform" {
        learn(cx, b);
    }
    let classes = cx.attr(&b.get("self"), "classes_");
    if let (Some(classes), Some(keys)) = (labels(cx, &classes), labels(cx, &x)) {
        #[expect(clippy::cast_precision_loss, reason = "a position among classes")]
        let code = |key: &Key| classes.iter().position(|class| class == key).map(|at| at as f64);
        if let Some(codes) = keys.iter().map(code).collect::<Option<Vec<f64>>>() {
            let rows = Dim::new(super::common::size_of_length(codes.len()), at);
            let mut out = array(None, Some(Dtype::Int64), at);
            out.shape = Some(vec![rows]);
            numpy::set_data(&mut out, codes, at);
            return cx.out(out);
        }
    }
    let rows = match numpy::as_array(cx, &x).and_then(|t| t.shape) {
        Some(shape) => shape.first().cloned(),
        None => None,
    };
    let rows = rows.unwrap_or_else(|| cx.fresh_dim("n"));
    let mut out = array(None, Some(Dtype::Int64), at);
    out.shape = Some(vec![rows]);
    cx.out(out)
}
