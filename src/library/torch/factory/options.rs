//! The shared parts of factories: keyword options, sizes, and `out=`.

use crate::library::Cx;
use crate::library::torch::broadcast::{Named, dtype_read};
use crate::library::torch::carry;
use crate::library::torch::views::layout;
use crate::python::{Bound, RejectKind, missing_argument};
use crate::value::{Device, Dim, Dtype, Grad, Origin, Range, Size, Tensor, Type, Value};

/// `dtype=`, `device=` and `requires_grad=` of a factory.
pub(crate) struct Options {
    pub dtype: Option<Dtype>,
    pub dtype_at: Origin,
    /// Whether the call gives the dtype. Otherwise, `dtype` is a default.
    pub dtype_given: bool,
    pub device: Option<Device>,
    pub device_at: Origin,
    pub grad: Grad,
}

/// Whether a text is assumed not to name a device. Other packages can register names of further
/// devices, usually in lower case. So only the common mistakes `gpu` and `cuda0`, empty names, names
/// with other characters, and malformed indices (`cuda:0,1`, `cuda:01`) are assumed to be wrong.
fn is_no_device(text: &str) -> bool {
    let (name, index) = text.split_once(':').unwrap_or((text, "0"));
    let is_number = |index: &str| {
        let canonical = index == "0" || !index.starts_with('0');
        canonical && !index.is_empty() && index.chars().all(|c| c.is_ascii_digit())
    };
    let is_joined = || name.strip_prefix("cuda").is_some_and(is_number);
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    name == "gpu" || is_joined() || !is_name || !is_number(index)
}

/// Reads a `device=` argument like [`Cx::device_arg`], and rejects a bool and a name that is not a device.
pub(crate) fn device(cx: &mut Cx<'_, '_>, value: &Value) -> Option<Option<Device>> {
    if let Value::Str(text) = value
        && is_no_device(text)
    {
        let message = format!("{text:?} is not a device: use \"cpu\", \"cuda\", \"cuda:1\", \"mps\" or another device");
        // No condition makes these names devices.
        cx.report_if_independent(!text.is_empty(), |cx| cx.reject(RejectKind::Value, message, Vec::new()));
        return Some(None);
    }
    match value {
        Value::Bool(_) | Value::Any(Type::Bool) => {
            let message = "`device` must be a device, such as \"cuda\", but it is a bool".to_owned();
            cx.reject(RejectKind::Value, message, Vec::new());
            Some(None)
        }
        // The value may be a tensor, or an object of another library.
        Value::Obj(_) => Some(None),
        _ => cx.device_arg(value),
    }
}

impl Options {
    /// Reads the options of a factory; `dtype` and `on` are the defaults.
    pub(crate) fn read(cx: &mut Cx<'_, '_>, b: &Bound, dtype: Option<Dtype>, on: (Option<Device>, Origin)) -> Options {
        let given = cx.dtype_arg(&option(b, "dtype"));
        let place = device(cx, &option(b, "device"));
        let at = cx.at();
        let mut options = Options {
            dtype: given.unwrap_or(dtype),
            dtype_at: at,
            dtype_given: given.is_some(),
            device: place.unwrap_or(on.0),
            device_at: if place.is_some() { at } else { on.1 },
            grad: Grad::Off,
        };
        match option(b, "requires_grad") {
            Value::None => {}
            Value::Bool(false) => {}
            Value::Bool(true) => {
                options.grad = Grad::Leaf;
                if options.dtype.is_some_and(Dtype::is_integral) {
                    let dtype = options.dtype.map_or("", Dtype::name);
                    let message =
                        format!("requires_grad=True on {dtype}: only floating and complex tensors have gradients");
                    cx.reject(RejectKind::Dtype, message, Vec::new());
                    options.grad = Grad::Off;
                }
            }
            _ => options.grad = Grad::Unknown,
        }
        options
    }

    /// Options of a factory that uses the default device.
    pub(crate) fn here(cx: &mut Cx<'_, '_>, b: &Bound, dtype: Option<Dtype>) -> Options {
        let on = (cx.default_device(), cx.at());
        Options::read(cx, b, dtype, on)
    }

    /// Options of a factory that uses a tensor's dtype and device as defaults.
    pub(crate) fn like(cx: &mut Cx<'_, '_>, b: &Bound, input: &Tensor) -> Options {
        let mut options = Options::read(cx, b, input.dtype, (input.device, input.device_at));
        if !options.dtype_given {
            options.dtype_at = input.dtype_at;
        }
        options
    }

    pub(crate) fn tensor(&self, shape: Option<Vec<Dim>>, at: Origin) -> Tensor {
        Tensor {
            shape,
            shape_at: at,
            dtype: self.dtype,
            dtype_at: self.dtype_at,
            device: self.device,
            device_at: self.device_at,
            grad: self.grad,
            ..Tensor::default()
        }
    }
}

/// The value of an option; Python's `None` if the signature has no such parameter.
pub(crate) fn option(b: &Bound, name: &str) -> Value {
    let has = b.takes(name);
    if has { b.get(name) } else { Value::None }
}

/// The dimensions of a size argument. `None` if their number is not known, or if a size is rejected
/// and reported. A size is rejected if it is known to be negative, a float or a string.
pub(crate) fn dims(cx: &mut Cx<'_, '_>, b: &Bound, values: &[Value]) -> Option<Vec<Dim>> {
    if b.open && values.is_empty() {
        return None;
    }
    let single = match values {
        [Value::Tuple(items)] => items.to_vec(),
        [only @ Value::Obj(_)] => cx.items(only).unwrap_or_default(),
        values => values.to_vec(),
    };
    for value in &single {
        let refused = match value {
            Value::Int(n) if *n < 0 => Some(format!("the size {n} is negative")),
            Value::Float(x) => Some(format!("the size {x:?} is a float: sizes are integers")),
            Value::Any(Type::Float) => Some("a size is a float: sizes are integers".to_owned()),
            Value::Str(s) => Some(format!("the size {s:?} is a string: sizes are integers")),
            _ => None,
        };
        if let Some(message) = refused {
            cx.reject(RejectKind::Value, message, Vec::new());
            return None;
        }
    }
    let at = cx.at();
    let sizes = carry::sizes(cx, values)?;
    if b.open && b.rest.len() == values.len() {
        return None;
    }
    Some(sizes.into_iter().map(|size| Dim::new(size, at)).collect())
}

/// The dimensions of a function such as `torch.zeros`, whose positional arguments are the sizes.
/// Rejects a call without a size.
pub(crate) fn own_dims(cx: &mut Cx<'_, '_>, b: &Bound) -> Option<Vec<Dim>> {
    if b.rest.is_empty() && !b.open {
        let message = missing_argument(cx.name(), "size");
        cx.it.report_wrong(message, cx.span);
        cx.it.raise("TypeError");
        return None;
    }
    dims(cx, b, &b.rest_values())
}

/// Sets all elements of a tensor to one value.
pub(crate) fn fill(tensor: &mut Tensor, value: Option<f64>, at: Origin) {
    let value = match (value, tensor.dtype) {
        (Some(x), Some(dtype)) => carry_cast(x, dtype),
        _ => None,
    };
    let Some(value) = value else { return };
    let numel = tensor.numel();
    if numel.known() == Some(0) || value.is_nan() {
        return;
    }
    let few = tensor.shape.as_deref().and_then(carry::extents).and_then(|e| carry::count(&e));
    match few {
        Some(n) => carry::set_data(tensor, vec![value; n].into(), at),
        None => {
            let certain = numel.is_positive();
            tensor.range = Some(carry::claims(Range::bounds(value, value), true, certain));
            tensor.range_at = at;
        }
    }
}

fn carry_cast(x: f64, dtype: Dtype) -> Option<f64> {
    // A float outside the range of an integer type is rejected, or the result is undefined.
    let outside = dtype.bounds().is_some_and(|(lo, hi)| dtype != Dtype::Bool && x.fract() != 0.0 && (x < lo || x > hi));
    if outside { None } else { crate::library::torch::cast::cast_value(x, dtype) }
}

/// Rejects a number outside the range of a tensor's integer dtype. For an unsigned dtype, a
/// negative number is accepted down to minus the maximum, because it wraps around.
pub(crate) fn fits(cx: &mut Cx<'_, '_>, values: &[f64], dtype: Option<Dtype>) -> bool {
    let Some((lo, hi)) = dtype.and_then(|d| if d == Dtype::Bool { None } else { d.bounds() }) else { return true };
    let low = if lo == 0.0 { -hi } else { lo };
    let Some(bad) = values.iter().find(|v| v.trunc() < low || v.trunc() > hi) else { return true };
    let name = dtype.map_or("", Dtype::name);
    let message = format!("{bad} does not fit {name}, which holds {lo} to {hi}");
    cx.reject(RejectKind::Value, message, Vec::new());
    false
}

/// Like [`fits`], for a number that fills a tensor: in a floating dtype, it may be infinite, but a
/// finite number must not exceed the largest number of the dtype.
pub(crate) fn fills(cx: &mut Cx<'_, '_>, number: f64, into: Named<'_>) -> bool {
    let Some((dtype, largest)) = into.1.dtype.and_then(|d| Some((d, d.largest()?))) else {
        return fits(cx, &[number], into.1.dtype);
    };
    if number.is_infinite() || number.is_nan() || number.abs() <= largest {
        return true;
    }
    let message = format!("{number:e} does not fit {dtype}, whose largest number is {largest:e}");
    cx.reject(RejectKind::Value, message, vec![dtype_read(into)]);
    false
}

/// The result of a factory: a new tensor, or the overwritten `out=`.
pub(crate) fn finish(cx: &mut Cx<'_, '_>, b: &Bound, tensor: Tensor) -> Value {
    let out = option(b, "out");
    match (&out, cx.tensor(&out)) {
        (Value::None, _) => cx.out(tensor),
        (Value::Obj(id), Some(have)) => {
            let mut facts = tensor;
            crate::library::torch::cast::cast(&mut facts, have.dtype);
            (facts.device, facts.device_at) = (have.device, have.device_at);
            (facts.dtype_at, facts.grad, facts.array) = (have.dtype_at, have.grad, have.array);
            cx.it.heap.overwrite(*id, facts);
            out
        }
        _ => Value::Unknown,
    }
}

/// Like [`finish`], for a factory with a contiguous result.
pub(crate) fn finish_dense(cx: &mut Cx<'_, '_>, b: &Bound, tensor: Tensor) -> Value {
    match option(b, "out") {
        Value::None => layout::dense(cx, tensor),
        _ => finish(cx, b, tensor),
    }
}

/// A size as a dimension whose origin is this call.
pub(crate) fn dim(cx: &Cx<'_, '_>, value: &Value) -> Dim {
    Dim::new(carry::size(cx, value), cx.at())
}

/// Rejects a certainly negative number of elements.
pub(crate) fn not_negative(cx: &mut Cx<'_, '_>, name: &str, size: &Size) -> bool {
    let negative = size.known().is_some_and(|n| n < 0);
    if negative {
        cx.reject(RejectKind::Value, format!("{name} is {size}: it must not be negative"), Vec::new());
    }
    !negative
}
