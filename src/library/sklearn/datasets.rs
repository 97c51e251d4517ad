//! The small datasets, whose sizes are in `data/sklearn-datasets.toml`, and the generated ones.

use crate::library::common::array;
use crate::library::data::{SKLEARN_DATASETS, TargetDtype};
use crate::library::{Cx, Table, pandas};
use crate::python::Bound;
use crate::value::{Dict, Dtype, Key, Range, Size, Tensor, Value};

pub(crate) fn register(t: &mut Table) {
    for name in SKLEARN_DATASETS.keys() {
        t.def(
            &format!("sklearn.datasets.{name}"),
            "*, return_X_y=False, as_frame=False, shuffle=False, random_state=None, data_home=None, \
             download_if_missing=True, **kwargs",
            load,
        );
    }
    t.def("sklearn.datasets.make_classification", "n_samples=100, n_features=20, *, n_classes=2, **kwargs", |cx, b| {
        let (n, features) = (b.get("n_samples"), b.get("n_features"));
        let pair = !b.extra.iter().any(|(k, _)| k.as_str() == "return_X_y");
        if pair { made(cx, &n, &features, b.get("n_classes").as_int()) } else { Value::Unknown }
    });
    t.family("sklearn.datasets.", "make_moons make_circles", "n_samples=100, **kwargs", |cx, b| {
        made(cx, &b.get("n_samples"), &Value::Int(2), Some(2))
    });
    t.def("sklearn.datasets.make_blobs", "n_samples=100, n_features=2, *, centers=None, **kwargs", |cx, b| {
        if b.extra.iter().any(|(k, _)| k.as_str() == "return_centers") {
            return Value::Unknown;
        }
        let centers = match b.get("centers") {
            Value::None => Some(3),
            centers => centers.as_int(),
        };
        let centers = centers.filter(|_| b.get("n_samples").as_int().is_some());
        made(cx, &b.get("n_samples"), &b.get("n_features"), centers)
    });
    t.def(
        "sklearn.datasets.make_regression",
        "n_samples=100, n_features=100, *, n_informative=10, n_targets=1, **kwargs",
        |cx, b| {
            if b.extra.iter().any(|(k, _)| k.as_str() == "coef") {
                return Value::Unknown;
            }
            match b.get("n_targets").as_int() {
                Some(1) => made(cx, &b.get("n_samples"), &b.get("n_features"), Some(0)),
                Some(targets) if targets > 1 => {
                    let at = cx.at();
                    let (rows, columns) = (cx.size_of(&b.get("n_samples")), cx.size_of(&b.get("n_features")));
                    let table = |width: Size| array(Some(vec![rows.clone(), width]), Some(Dtype::Float64), at);
                    cx.outs(vec![table(columns), table(Size::Int(targets))])
                }
                _ => Value::Unknown,
            }
        },
    );
}

/// Targets for this number of rows. If `ends` are given, these two values, the smallest and the
/// largest, occur in every run.
fn targets(cx: &Cx<'_, '_>, rows: Size, dtype: Option<Dtype>, ends: Option<(f64, f64)>) -> Tensor {
    let at = cx.at();
    let out = array(Some(vec![rows]), dtype, at);
    let Some((lo, hi)) = ends else { return out };
    let mut range = Range::attained(lo, hi);
    range.certain = true;
    out.with_range(Some(range), at)
}

fn load(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let name = cx.name();
    let Some(known) = SKLEARN_DATASETS.get(name) else { return Value::Unknown };
    // Arguments can select fewer classes.
    if !b.extra.is_empty() || b.open {
        return Value::Unknown;
    }
    let at = cx.at();
    let data = array(Some(vec![Size::Int(known.rows), Size::Int(known.columns)]), Some(Dtype::Float64), at);
    let dtype = match known.targets.dtype {
        TargetDtype::Int32 => Dtype::Int32,
        TargetDtype::Int64 => Dtype::Int64,
        TargetDtype::Float64 => Dtype::Float64,
    };
    let ends = known.targets.first.zip(known.targets.last).map(|(first, last)| (first.into(), last.into()));
    let target = targets(cx, Size::Int(known.rows), Some(dtype), ends);
    let names = |names: &[String]| names.iter().map(|name| Value::str(name)).collect::<Vec<_>>();
    let features = names(&known.features);
    let (data, target, table) = match b.get("as_frame").as_bool() {
        Some(false) => (cx.out(data), cx.out(target), Value::None),
        Some(true) => {
            let names = (!features.is_empty()).then_some(features.as_slice());
            let (frame, column, both) = pandas::table(cx, data, names, target);
            (frame, column, both)
        }
        None => return Value::Unknown,
    };
    match b.get("return_X_y").as_bool() {
        Some(true) => Value::tuple(vec![data, target]),
        Some(false) => {
            let mut dict = Dict { open: Some(Value::Unknown), ..Dict::default() };
            let mut put = |name: &str, value: Value| _ = dict.entries.insert(Key::Str(name.into()), value);
            put("data", data);
            put("target", target);
            put("frame", table);
            if !features.is_empty() {
                put("feature_names", cx.list(features));
            }
            if !known.classes.is_empty() {
                put("target_names", cx.list(names(&known.classes)));
            }
            cx.it.heap.dict(dict)
        }
        None => Value::Unknown,
    }
}

/// Generated features and targets. If `classes` is 0, the targets are floating-point numbers; if it
/// is `None`, they are unknown.
fn made(cx: &mut Cx<'_, '_>, rows: &Value, columns: &Value, classes: Option<i64>) -> Value {
    let (at, rows, columns) = (cx.at(), cx.size_of(rows), cx.size_of(columns));
    let features = array(Some(vec![rows.clone(), columns]), Some(Dtype::Float64), at);
    #[expect(clippy::cast_precision_loss, reason = "only a bound of a range")]
    let target = match classes {
        Some(n @ 1..) => targets(cx, rows, Some(Dtype::Int64), Some((0.0, n as f64 - 1.0))),
        Some(_) => targets(cx, rows, Some(Dtype::Float64), None),
        None => targets(cx, rows, None, None),
    };
    cx.outs(vec![features, target])
}
