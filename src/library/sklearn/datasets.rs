//! The small datasets, and those that are made.

use crate::library::common::array;
use crate::library::{Cx, Table, pandas};
use crate::python::Bound;
use crate::value::{Dict, Dtype, Key, Range, Size, Tensor, Value};

/// A dataset that scikit-learn brings or fetches.
struct Known {
    name: &'static str,
    rows: i64,
    columns: i64,
    /// The dtype of the targets, and their smallest and largest where they are classes.
    target: (Dtype, Option<(f64, f64)>),
    /// The columns' names, where they are few; `|` stands between them.
    features: &'static str,
    classes: &'static str,
}

const fn classes(last: f64) -> (Dtype, Option<(f64, f64)>) {
    (Dtype::Int64, Some((0.0, last)))
}

const DATASETS: &[Known] = &[
    Known {
        name: "load_iris",
        rows: 150,
        columns: 4,
        target: classes(2.0),
        features: "sepal length (cm)|sepal width (cm)|petal length (cm)|petal width (cm)",
        classes: "setosa|versicolor|virginica",
    },
    Known {
        name: "load_digits",
        rows: 1797,
        columns: 64,
        target: classes(9.0),
        features: "",
        classes: "0|1|2|3|4|5|6|7|8|9",
    },
    Known {
        name: "load_wine",
        rows: 178,
        columns: 13,
        target: classes(2.0),
        features: "alcohol|malic_acid|ash|alcalinity_of_ash|magnesium|total_phenols|flavanoids|nonflavanoid_phenols|\
                   proanthocyanins|color_intensity|hue|od280/od315_of_diluted_wines|proline",
        classes: "class_0|class_1|class_2",
    },
    Known {
        name: "load_breast_cancer",
        rows: 569,
        columns: 30,
        target: classes(1.0),
        features: "",
        classes: "malignant|benign",
    },
    Known {
        name: "load_diabetes",
        rows: 442,
        columns: 10,
        target: (Dtype::Float64, None),
        features: "age|sex|bmi|bp|s1|s2|s3|s4|s5|s6",
        classes: "",
    },
    Known {
        name: "fetch_california_housing",
        rows: 20640,
        columns: 8,
        target: (Dtype::Float64, None),
        features: "MedInc|HouseAge|AveRooms|AveBedrms|Population|AveOccup|Latitude|Longitude",
        classes: "",
    },
    Known {
        name: "fetch_covtype",
        rows: 581_012,
        columns: 54,
        target: (Dtype::Int32, Some((1.0, 7.0))),
        features: "",
        classes: "",
    },
];

pub fn register(t: &mut Table) {
    for known in DATASETS {
        t.def(
            &format!("sklearn.datasets.{}", known.name),
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

/// Targets of so many rows: classes from the first to the last, each of them there.
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
    let Some(known) = DATASETS.iter().find(|d| d.name == name) else { return Value::Unknown };
    // Fewer classes can be asked for.
    if !b.extra.is_empty() || b.open {
        return Value::Unknown;
    }
    let at = cx.at();
    let data = array(Some(vec![Size::Int(known.rows), Size::Int(known.columns)]), Some(Dtype::Float64), at);
    let (dtype, ends) = known.target;
    let target = targets(cx, Size::Int(known.rows), Some(dtype), ends);
    let split = |text: &str| text.split('|').filter(|t| !t.is_empty()).map(Value::str).collect::<Vec<_>>();
    let features = split(known.features);
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
            if !known.classes.is_empty() && !known.classes.starts_with('0') {
                put("target_names", cx.list(split(known.classes)));
            }
            cx.it.heap.dict(dict)
        }
        None => Value::Unknown,
    }
}

/// Features and targets that are made: 0 classes are numbers.
fn made(cx: &mut Cx<'_, '_>, rows: &Value, columns: &Value, classes: Option<i64>) -> Value {
    let (at, rows, columns) = (cx.at(), cx.size_of(rows), cx.size_of(columns));
    let features = array(Some(vec![rows.clone(), columns]), Some(Dtype::Float64), at);
    #[expect(clippy::cast_precision_loss, reason = "facts about ranges, not arithmetic")]
    let target = match classes {
        Some(n @ 1..) => targets(cx, rows, Some(Dtype::Int64), Some((0.0, n as f64 - 1.0))),
        Some(_) => targets(cx, rows, Some(Dtype::Float64), None),
        None => targets(cx, rows, None, None),
    };
    cx.outs(vec![features, target])
}
