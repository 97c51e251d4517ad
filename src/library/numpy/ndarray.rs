//! Attributes of arrays, and methods that are not NumPy functions.

use super::create::cast;
use super::facts::as_array;
use super::promotion::dtype_arg;
use super::shaping::transpose;
use crate::library::common::{none, unknown};
use crate::library::torch::cast::cast_value;
use crate::library::{Cx, Table};
use crate::python::Bound;
use crate::value::{ArrayKind, Data, Device, Dtype, Items, Size, Sym, Type, Value};

pub(crate) fn register(t: &mut Table) {
    t.def("numpy.ndarray.astype", "a, dtype, order='K', casting='unsafe', subok=True, copy=True", |cx, b| {
        let Some(mut a) = as_array(cx, &b.get("a")) else { return Value::Unknown };
        let (dtype, at) = (dtype_arg(cx, &b.get("dtype")).unwrap_or(Some(Dtype::Float64)), cx.at());
        a.base = None;
        let out = cast(a, dtype, at);
        cx.out(out)
    });
    t.def("numpy.ndarray.view", "a, dtype=None, type=None", unknown);
    t.def("numpy.ndarray.item", "a, *args", item);
    t.def("numpy.ndarray.tolist", "a", tolist);
    t.def("numpy.ndarray.fill", "a, value", |cx, b| {
        let object = b.get("a");
        if let (Some(id), Some(mut facts)) = (object.as_obj(), cx.tensor(&object)) {
            facts.forget_values();
            if let Some(x) = b.get("value").as_f64().and_then(|x| cast_value(x, facts.dtype?)) {
                facts.range = crate::value::Range::of_values(&[x]);
                facts.range_at = cx.at();
            }
            cx.it.heap.overwrite(id, facts);
        }
        Value::None
    });
    t.family("numpy.ndarray.", "tofile dump setflags", "a, *args, **kwargs", none);
    t.family("numpy.ndarray.", "itemset put setfield partition", "a, *args, **kwargs", |cx, b| {
        written(cx, &b.get("a"));
        Value::None
    });
    t.def("numpy.ndarray.sort", "a, axis=-1, kind=None, order=None, stable=None", |cx, b| {
        super::reduce::forget_order(cx, &b.get("a"));
        Value::None
    });
    t.def("numpy.ndarray.byteswap", "a, inplace=False", |cx, b| {
        if b.get("inplace").as_bool() != Some(false) {
            written(cx, &b.get("a"));
        }
        Value::Unknown
    });
    t.def("numpy.ndarray.resize", "a, *new_shape, refcheck=True", |cx, b| {
        let sizes = if b.open { None } else { cx.sizes(&b.rest_values()) };
        reshape_in_place(cx, &b.get("a"), sizes);
        Value::None
    });
    t.family("numpy.", "copyto place put putmask fill_diagonal put_along_axis", "a, *args, **kwargs", |cx, b| {
        written(cx, &b.get("a"));
        Value::None
    });
    t.family("numpy.ndarray.", "tobytes", "a, *args", |_, _| Value::Any(Type::Bytes));
}

/// Updates the facts of an array to which unknown values were written.
fn written(cx: &mut Cx<'_, '_>, object: &Value) {
    if let (Some(id), Some(mut facts)) = (object.as_obj(), cx.tensor(object)) {
        facts.forget_values();
        cx.it.heap.overwrite(id, facts);
    }
}

/// The result of a call with an optional `out=`: the array given as `out`, if any.
pub(crate) fn put(cx: &mut Cx<'_, '_>, b: &Bound, result: Value) -> Value {
    let given =
        |name: &str| b.arg(name).or_else(|| b.extra.iter().find(|(n, _)| n.as_str() == name).map(|(_, arg)| arg));
    let Some(mut object) = given("out").map(|arg| arg.value.clone()).filter(|out| !out.is_none()) else {
        return delegated(cx, b, result);
    };
    if let Value::Tuple(items) = &object
        && let [only] = &items[..]
    {
        object = only.clone();
    }
    let (Some(id), Some(mut facts)) = (object.as_obj(), cx.tensor(&object)) else { return Value::Unknown };
    facts.forget_values();
    // `where=` leaves some elements unchanged.
    let whole = given("where").is_none() && !b.open;
    if let Some(result) = cx.tensor(&result).filter(|result| whole && result.dtype == facts.dtype) {
        facts.range.clone_from(&result.range);
        facts.range_at = cx.at();
        facts.data = result.data.clone().filter(|_| result.sizes().is_some() && result.sizes() == facts.sizes());
    }
    cx.it.heap.overwrite(id, facts);
    object
}

/// NumPy functions that call the argument's method of the same name, or convert the result to the
/// argument's class. For a tensor, they return a tensor.
#[rustfmt::skip]
const DELEGATING: &[&str] = &[
    "argmax", "argmin", "argsort", "clip", "cumprod", "cumsum", "repeat", "reshape", "round", "squeeze", "swapaxes",
    "take", "transpose",
];

/// The result of a NumPy function that was called with a tensor.
fn delegated(cx: &mut Cx<'_, '_>, b: &Bound, result: Value) -> Value {
    let first = b.values.first().and_then(Option::as_ref).and_then(|arg| cx.tensor(&arg.value));
    let of_tensor = first.is_some_and(|tensor| tensor.array == ArrayKind::Torch);
    let Some(name) = cx.path.as_str().strip_prefix("numpy.").filter(|_| of_tensor) else { return result };
    // `Tensor.nonzero` returns another shape than `ndarray.nonzero`.
    if name == "nonzero" {
        return Value::Unknown;
    }
    if let Some(id) = result.as_obj().filter(|_| DELEGATING.contains(&name)) {
        cx.it.heap.update_tensor(id, |tensor| {
            tensor.array = ArrayKind::Torch;
            tensor.device = Some(Device::CPU);
        });
    }
    result
}

/// Gives the array another shape in place. `resize` may append zeros or drop elements, so the
/// elements become unknown.
fn reshape_in_place(cx: &mut Cx<'_, '_>, object: &Value, sizes: Option<Vec<Size>>) {
    let (Some(id), Some(mut facts)) = (object.as_obj(), cx.tensor(object)) else { return };
    facts.forget_values();
    (facts.shape, facts.shape_at) = (None, cx.at());
    if let Some(sizes) = sizes {
        facts = facts.with_shape(sizes, cx.at());
    }
    cx.it.heap.overwrite(id, facts);
}

/// `array.name = value`; returns `false` if the interpreter must set the attribute.
pub(crate) fn set(cx: &mut Cx<'_, '_>, object: &Value, name: &str, value: &Value) -> bool {
    let (Some(id), Some(facts)) = (object.as_obj(), cx.tensor(object)) else { return false };
    match name {
        "shape" => {
            let sizes = cx.sizes(std::slice::from_ref(value)).map(|sizes| {
                let known = sizes.iter().filter(|s| s.known() != Some(-1)).fold(Size::Int(1), |n, s| n.mul(s));
                let rest = || facts.numel().div_exact(&known).unwrap_or(Size::Unknown);
                sizes.iter().map(|s| if s.known() == Some(-1) { rest() } else { s.clone() }).collect()
            });
            reshape_in_place(cx, object, sizes);
        }
        // The array keeps its bytes, which are reinterpreted.
        "dtype" => {
            let mut facts = facts;
            facts.forget_values();
            (facts.shape, facts.dtype, facts.dtype_at) = (None, None, cx.at());
            cx.it.heap.overwrite(id, facts);
        }
        "flat" | "real" | "imag" => written(cx, object),
        _ => return false,
    }
    true
}

pub(crate) fn attribute(cx: &mut Cx<'_, '_>, object: &Value, name: Sym) -> Option<Value> {
    let array = cx.tensor(object).filter(|t| t.array == ArrayKind::Numpy)?;
    Some(match name.as_str() {
        "shape" => match array.sizes() {
            Some(sizes) => Value::tuple(sizes.iter().map(Value::size).collect()),
            None => Value::Unknown,
        },
        "ndim" => match array.rank() {
            Some(rank) => crate::library::common::length_of(rank),
            None => Value::Any(Type::Int),
        },
        "size" => Value::size(&array.numel()),
        "dtype" => array.dtype.map_or(Value::Unknown, Value::Dtype),
        "T" => transpose(cx, object, &Value::None),
        "real" | "imag" | "flat" | "strides" | "flags" | "base" | "data" => Value::Unknown,
        "nbytes" | "itemsize" => Value::Any(Type::Int),
        _ => return None,
    })
}

fn of_kind(dtype: Option<Dtype>) -> Value {
    match dtype {
        Some(Dtype::Bool) => Value::Any(Type::Bool),
        Some(d) if d.is_integral() => Value::Any(Type::Int),
        Some(d) if d.is_floating() => Value::Any(Type::Float),
        _ => Value::Unknown,
    }
}

fn number(dtype: Option<Dtype>, x: f64) -> Value {
    match dtype {
        Some(Dtype::Bool) => Value::Bool(x != 0.0),
        #[expect(clippy::cast_possible_truncation, reason = "checked to be small")]
        Some(d) if d.is_integral() && x.abs() < 9e15 => Value::Int(x as i64),
        Some(Dtype::Float64) => Value::Float(x),
        _ => of_kind(dtype),
    }
}

fn item(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(a) = cx.tensor(&b.get("a")) else { return Value::Unknown };
    match a.data.as_deref() {
        Some([only]) if b.rest.is_empty() => number(a.dtype, *only),
        _ => match (of_kind(a.dtype), a.range) {
            (Value::Any(Type::Int), Some(range)) => Value::ranged(range, false, a.range_at),
            (number, _) => number,
        },
    }
}

fn tolist(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(a) = cx.tensor(&b.get("a")) else { return Value::Unknown };
    let Some(shape) = a.shape.as_ref() else { return Value::Unknown };
    if shape.is_empty() {
        return item(cx, b);
    }
    if let (1, Some(data)) = (shape.len(), &a.data) {
        let values = data.iter().map(|x| number(a.dtype, *x)).collect();
        return cx.list(values);
    }
    let mut out = of_kind(a.dtype);
    for dim in shape.iter().rev() {
        let items = match dim.size.known().and_then(|n| usize::try_from(n).ok()) {
            Some(n) if n <= 64 && out.as_obj().is_none() => Items::Exact(vec![out; n]),
            _ => Items::Many(out),
        };
        out = Value::Obj(cx.it.heap.alloc(Data::List(items)));
    }
    out
}
