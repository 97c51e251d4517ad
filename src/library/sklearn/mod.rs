//! scikit-learn: splits, scalers, encoders and the small datasets.

pub(super) mod datasets;
pub(super) mod preprocessing;

use super::common::{any_float, any_int, array, part_of, size_of_length, unknown};
use super::{Cx, Table, numpy, pandas};
use crate::python::Bound;
use crate::value::{Data, Dim, Dtype, Items, Size, Value};

pub(super) fn register(t: &mut Table) {
    t.def(
        "sklearn.model_selection.train_test_split",
        "*arrays, test_size=None, train_size=None, random_state=None, shuffle=True, stratify=None",
        split,
    );
    for name in ["KFold", "StratifiedKFold", "GroupKFold", "ShuffleSplit", "StratifiedShuffleSplit", "TimeSeriesSplit"]
    {
        let class = format!("sklearn.model_selection.{name}");
        t.class(&class, &[], "n_splits=5, *, shuffle=False, random_state=None, **kwargs");
        t.def(&format!("{class}.get_n_splits"), "self, *args, **kwargs", any_int);
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
         balanced_accuracy_score cohen_kappa_score matthews_corrcoef average_precision_score mean_absolute_error \
         root_mean_squared_error log_loss jaccard_score fbeta_score median_absolute_error explained_variance_score",
        "*args, **kwargs",
        |cx, b| {
            refuse_tensors(cx, b);
            let one = !b.extra.iter().any(|(k, a)| match k.as_str() {
                "average" => a.value.is_none(),
                name => matches!(name, "multioutput" | "normalize"),
            });
            if one { any_float(cx, b) } else { unknown(cx, b) }
        },
    );
    t.family(
        "sklearn.metrics.",
        "classification_report confusion_matrix precision_recall_fscore_support",
        "*args, **kwargs",
        |cx, b| {
            refuse_tensors(cx, b);
            unknown(cx, b)
        },
    );
    // The coordinates of the points, and the thresholds, which have the dtype of the scores.
    t.family("sklearn.metrics.", "roc_curve precision_recall_curve", "*args, **kwargs", |cx, b| {
        refuse_tensors(cx, b);
        let at = cx.at();
        let mut points = |dtype| cx.out(array(Some(vec![Size::Unknown]), dtype, at));
        Value::tuple(vec![points(Some(Dtype::Float64)), points(Some(Dtype::Float64)), points(None)])
    });
    t.def("sklearn.utils.class_weight.compute_class_weight", "class_weight, *, classes, y, **kwargs", |cx, b| {
        let at = cx.at();
        let classes = cx.tensor_arg(b, "classes").and_then(|t| t.sizes());
        let listed = || cx.items(&b.get("classes")).map(|items| vec![size_of_length(items.len())]);
        let shape = classes.or_else(listed).or(Some(vec![Size::Unknown]));
        cx.out(array(shape, Some(Dtype::Float64), at))
    });
}

/// Rejects labels and scores that cannot be read as arrays.
fn refuse_tensors(cx: &mut Cx<'_, '_>, b: &Bound) {
    let named = b.extra.iter().filter(|(name, _)| matches!(name.as_str(), "y_true" | "y_pred" | "y_score" | "y_proba"));
    let given: Vec<Value> =
        b.rest_values().into_iter().take(2).chain(named.map(|(_, arg)| arg.value.clone())).collect();
    for value in given {
        if cx.tensor(&value).is_some() {
            numpy::refuse_unreadable(cx, &value);
        }
    }
}

/// Some rows of an array, or some elements of a list.
fn some_rows(cx: &mut Cx<'_, '_>, value: &Value, rows: &Dim) -> Value {
    if let Some(part) = pandas::split_off(cx, value, &rows.size) {
        return part;
    }
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
    let total = b.rest_values().iter().find_map(|v| length(cx, v));
    let (mut train, mut test) = (cx.fresh_dim("train"), cx.fresh_dim("test"));
    if let (Some(n), Value::None) = (total, b.get("train_size")) {
        // The size of the test part is rounded up.
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a number of rows")]
        let held = match b.get("test_size") {
            Value::None => Some((n as f64 * 0.25).ceil() as i64),
            Value::Float(share) if (0.0..1.0).contains(&share) => Some((n as f64 * share).ceil() as i64),
            Value::Int(held) => Some(held),
            _ => None,
        };
        if let Some(held) = held.filter(|held| *held > 0 && *held < n) {
            (train.size, test.size) = (Size::Int(n - held), Size::Int(held));
        }
    }
    let mut out = Vec::new();
    for value in b.rest_values() {
        out.push(some_rows(cx, &value, &train));
        out.push(some_rows(cx, &value, &test));
    }
    cx.list(out)
}

/// The number of rows, if it is known.
fn length(cx: &Cx<'_, '_>, value: &Value) -> Option<i64> {
    if let Some(tensor) = cx.tensor(value) {
        return tensor.dim(0)?.size.known();
    }
    match pandas::as_array(cx, value) {
        Some(values) => values.dim(0)?.size.known(),
        None => i64::try_from(cx.items(value)?.len()).ok(),
    }
}
