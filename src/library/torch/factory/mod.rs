//! Factories of tensors: from literals, from sizes, and from other tensors.

mod device_properties;
pub(crate) mod literal;
pub(crate) mod options;
pub(crate) mod random;
pub(crate) mod sequence;
pub(crate) mod settings;
pub(crate) mod types;

pub(crate) use types::{item_size, make_legacy};

use super::broadcast::result_grad;
use super::carry::Rejected;
use super::cast::cast;
use super::support::reject_unread;
use crate::library::numpy::reversed;
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{ArrayKind, Device, DeviceKind, Dim, Dtype, Grad, Kind, Size, Tensor, Type, Value, dims_text};
use options::{Options, dims, fill, fills, finish, fits, option, own_dims};

/// The parameters of the factories that take a size, and of those that take a tensor.
const SIZED: &str = "*size, generator=None, names=None, memory_format=None, out=None, dtype=None, layout=None, device=None, \
     pin_memory=False, requires_grad=False";
const LIKE: &str = "input, *, generator=None, memory_format=None, dtype=None, layout=None, device=None, \
                    pin_memory=False, requires_grad=False";

pub(crate) fn register(t: &mut Table) {
    device_properties::register(t);
    t.listed("torch.", "tensor", tensor);
    t.def(
        "torch.scalar_tensor",
        "data, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False",
        scalar_tensor,
    );
    t.listed("torch.", "as_tensor", as_tensor);
    t.listed("torch.", "sparse_coo_tensor", sparse);
    t.def("torch.asarray", "data, *, dtype=None, device=None, copy=None, requires_grad=False", as_tensor);
    t.listed("torch.", "from_numpy", from_numpy);
    t.listed("torch.", "frombuffer", frombuffer);

    t.family("torch.", "zeros", SIZED, zeros);
    t.family("torch.", "ones", SIZED, ones);
    t.family("torch.", "empty", SIZED, empty);
    t.family(
        "torch.",
        "empty_strided empty_permuted empty_quantized",
        "size, stride=None, *, memory_format=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False",
        empty_of,
    );
    t.def(
        "torch.full",
        "size, fill_value, *, out=None, layout=None, dtype=None, device=None, requires_grad=False, pin_memory=False, names=None",
        full,
    );
    t.def("torch.zeros_like", LIKE, zeros_like);
    t.def("torch.ones_like", LIKE, ones_like);
    t.def("torch.empty_like", LIKE, empty_like);
    t.listed("torch.", "full_like", full_like);

    let sized = "input, *size, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False";
    t.def("torch.Tensor.new_zeros", sized, new_zeros);
    t.def("torch.Tensor.new_ones", sized, new_ones);
    t.def("torch.Tensor.new_empty", sized, new_empty);
    t.listed("torch.Tensor.", "new_empty_strided", new_empty_of);
    t.listed("torch.Tensor.", "new_full", new_full);
    t.listed("torch.Tensor.", "new_tensor", new_tensor);
    t.def("torch.Tensor.new", "input, *args, size=None, device=None", new);
}

/// A literal with a dtype, after a check that its values fit the dtype.
fn typed_literal(cx: &mut Cx<'_, '_>, data: &Value, dtype: Option<Option<Dtype>>) -> Result<Tensor, Rejected> {
    let mut made = literal::read(cx, data)?;
    made.past = cx.tensor(data).map(|t| t.past).unwrap_or_default();
    if let Some(dtype) = dtype {
        let numbers = cx.tensor(data).is_none();
        if numbers
            && let Some(values) = made.data.clone()
            && !fits(cx, &values, dtype)
        {
            made.forget_values();
        }
        if numbers && made.dtype.is_some_and(Dtype::is_complex) && dtype.is_some_and(|d| !d.is_complex()) {
            made.forget_values();
        }
        cast(&mut made, dtype);
        made.dtype_at = cx.at();
    }
    Ok(made)
}

/// Applies the device and gradient state of the options to a literal.
fn placed(cx: &Cx<'_, '_>, mut made: Tensor, options: &Options) -> Tensor {
    made.array = ArrayKind::Torch;
    (made.device, made.device_at) = (options.device, options.device_at);
    made.grad = options.grad;
    (made.base, made.version, made.writes) = (None, 0, 0);
    if made.shape_at.is_none() {
        made.shape_at = cx.at();
    }
    made
}

/// `torch.tensor`.
fn tensor(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let data = b.get("data");
    reject_unread(cx, &data);
    reversed::refuse(cx, &data);
    let dtype = cx.dtype_arg(&b.get("dtype"));
    let made = typed_literal(cx, &data, dtype).unwrap_or_default();
    // A copy of a tensor is created on the device of the tensor.
    let on = match cx.tensor(&data) {
        Some(t) if t.array == ArrayKind::Torch => (t.device, t.device_at),
        // It may be a tensor on any device, but there is no reason to assume a GPU.
        _ if matches!(data, Value::Unknown) => {
            (Some(Device::of(DeviceKind::Symbolic(cx.it.heap.device_symbol()))), cx.at())
        }
        // The value may be a tensor on this device, or a number or a list.
        _ if let Value::Open(open) = &data => (Some(open.device).filter(|d| d.is_cpu()), open.device_at),
        _ => (cx.default_device(), cx.at()),
    };
    let options = Options::read(cx, b, made.dtype, on);
    let made = placed(cx, made, &options);
    cx.it.heap.tensor_with_trailing(made)
}

fn scalar_tensor(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let default = cx.default_dtype();
    let options = Options::here(cx, b, default);
    let mut out = options.tensor(Some(Vec::new()), cx.at());
    if b.get("data").number_type().is_none_or(|t| t == Type::Complex) && !options.dtype_given {
        out.dtype = None;
    }
    fill(&mut out, b.get("data").as_f64(), cx.at());
    cx.out(out)
}

/// A sparse tensor: its elements are not tracked.
fn sparse(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(values) = cx.tensor(&b.get("values")).filter(|values| values.array == ArrayKind::Torch) else {
        return cx.some_tensor();
    };
    let options = Options::like(cx, b, &values);
    let size = b.get("size");
    let shape = if size.is_none() { None } else { dims(cx, b, &[size]) };
    cx.out(Tensor { grad: Grad::Unknown, ..options.tensor(shape, cx.at()) })
}

/// `torch.as_tensor`: the result shares memory with the argument if neither dtype nor device has to
/// change.
fn as_tensor(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let data = b.get("data");
    let dtype = cx.dtype_arg(&b.get("dtype"));
    let Some(have) = cx.tensor(&data) else {
        let made = tensor(cx, b);
        // An unknown value may be a tensor, which is returned as it is.
        if let (Value::Unknown | Value::Open(_), Some(id)) = (&data, made.as_obj()) {
            let is_placed = b.given("device");
            cx.it.heap.update_tensor(id, |t| {
                t.grad = Grad::Unknown;
                t.device = t.device.filter(|device| is_placed || matches!(device.kind, DeviceKind::Symbolic(_)));
            });
        }
        return made;
    };
    reversed::refuse(cx, &data);
    let torch = have.array == ArrayKind::Torch;
    let on = if torch { (have.device, have.device_at) } else { (cx.default_device(), cx.at()) };
    let options = Options::read(cx, b, have.dtype, on);
    let same_dtype = dtype.is_none_or(|d| d.is_some() && d == have.dtype);
    let same_device = options.device.zip(have.device).and_then(|(a, b)| a.same(b)) == Some(true);
    if torch && same_dtype && same_device && !b.given("copy") {
        return data;
    }
    let mut out = have.clone();
    if let Some(dtype) = dtype {
        cast(&mut out, dtype);
        out.dtype_at = cx.at();
    }
    let grad = if torch { result_grad(cx, &[&have], out.dtype) } else { options.grad };
    let mut out = placed(cx, out, &options);
    out.grad = grad;
    // The result may share the memory of the argument, so a write to one of them may change the
    // other.
    cx.view_of(&data, out)
}

fn from_numpy(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let data = b.get("ndarray");
    let Some(have) = cx.tensor(&data) else {
        if crate::library::pandas::is_pandas(cx.it, &data) {
            let message = "from_numpy takes a numpy array: get one from pandas with .values or .to_numpy()";
            cx.reject(RejectKind::Value, message, Vec::new());
        }
        // A number type without a known value may come from a wrong annotation.
        let number = data.number_type().is_some() && !matches!(data, Value::Any(_));
        if cx.items(&data).is_some() || number {
            cx.reject(RejectKind::Value, "from_numpy takes a numpy array, not a list or number", Vec::new());
        }
        let out = Tensor {
            device: Some(crate::value::Device::CPU),
            device_at: cx.at(),
            grad: Grad::Off,
            ..Tensor::default()
        };
        return cx.out(out);
    };
    reversed::refuse(cx, &data);
    if have.array == ArrayKind::Torch {
        if cx.is_surely_tensor(&data) {
            cx.reject(RejectKind::Value, "from_numpy takes a numpy array, not a tensor", Vec::new());
            return data;
        }
        let on = Some(crate::value::Device::CPU);
        return cx.out(Tensor { device: on, device_at: cx.at(), grad: Grad::Off, ..Tensor::default() });
    }
    let out = Tensor {
        array: ArrayKind::Torch,
        device: Some(crate::value::Device::CPU),
        device_at: cx.at(),
        grad: Grad::Off,
        ..have
    };
    cx.view_of(&data, out)
}

fn frombuffer(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let on = (Some(crate::value::Device::CPU), cx.at());
    let options = Options::read(cx, b, None, on);
    let size = match b.get("count") {
        Value::Int(n) if n > 0 => Size::Int(n),
        _ => Size::Unknown,
    };
    let out = options.tensor(Some(vec![Dim::new(size, cx.at())]), cx.at());
    cx.out(out)
}

/// A tensor of a given size, filled with one value.
fn sized(cx: &mut Cx<'_, '_>, b: &Bound, value: Option<f64>) -> Value {
    let shape = own_dims(cx, b);
    let default = cx.default_dtype();
    let options = Options::here(cx, b, default);
    let mut out = options.tensor(shape, cx.at());
    fill(&mut out, value, cx.at());
    options::finish_dense(cx, b, out)
}

fn zeros(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    sized(cx, b, Some(0.0))
}

fn ones(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    sized(cx, b, Some(1.0))
}

fn empty(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    sized(cx, b, None)
}

fn empty_of(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let shape = dims(cx, b, &[b.get("size")]);
    let order = cx.ints(&b.get("stride"));
    if let (Some(shape), Some(order), "empty_permuted") = (&shape, order, cx.name()) {
        let places = 0..i64::try_from(shape.len()).unwrap_or(i64::MAX);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(places) {
            let message = format!("{order:?} does not name each dimension of {} once", dims_text(shape));
            cx.reject(RejectKind::Value, message, Vec::new());
        }
    }
    let default = cx.default_dtype();
    let options = Options::here(cx, b, default);
    let out = options.tensor(shape, cx.at());
    cx.out(out)
}

/// The dtype that `torch.full` takes from a number, and the number. For a tensor or a NumPy scalar,
/// only the kind of its dtype matters.
fn fill_value(cx: &Cx<'_, '_>, value: &Value) -> (Option<Dtype>, Option<f64>) {
    if let Some(tensor) = cx.tensor(value) {
        let one = match tensor.data.as_deref() {
            Some([one]) => Some(*one),
            _ => None,
        };
        let is_numpy = tensor.array == ArrayKind::Numpy;
        let default = cx.default_dtype();
        let dtype = tensor.dtype.and_then(|dtype| match dtype.kind() {
            Kind::Integral => Some(Dtype::Int64),
            Kind::Bool if !is_numpy => Some(Dtype::Bool),
            Kind::Complex if !is_numpy => default.map(Dtype::to_complex),
            _ => default,
        });
        return (dtype, one);
    }
    let dtype = value.number_type().and_then(|t| super::promotion::number_dtype(t, cx.default_dtype()));
    (dtype, value.as_f64())
}

fn full(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let size = b.get("size");
    if size.number_type().is_some() {
        cx.reject(RejectKind::Value, "torch.full takes its size as a tuple, not as a number", Vec::new());
        return cx.some_tensor();
    }
    let shape = dims(cx, b, &[size]);
    let (dtype, value) = fill_value(cx, &b.get("fill_value"));
    // Before PyTorch 1.7, the dtype did not depend on the value.
    let is_old = b.get("dtype").is_none() && cx.it.excludes("torch", "1.7");
    let options = Options::here(cx, b, dtype.filter(|_| !is_old));
    let mut out = options.tensor(shape, cx.at());
    if value.is_none_or(|v| fills(cx, v, ("the result", &out))) {
        fill(&mut out, value, cx.at());
    }
    fill_range(&mut out, &b.get("fill_value"));
    finish(cx, b, out)
}

/// Fills a tensor with a number of known range.
fn fill_range(out: &mut Tensor, value: &Value) {
    if let Value::Ranged(ranged) = value
        && out.dtype == Some(Dtype::Int64)
    {
        (out.range, out.range_at) = (Some(ranged.range.clone()), ranged.at);
    }
}

/// A tensor like `input`, filled with one value.
fn like(cx: &mut Cx<'_, '_>, b: &Bound, value: Option<f64>) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else {
        let unknown = Tensor::default();
        let options = Options::like(cx, b, &unknown);
        let mut out = options.tensor(None, None);
        fill(&mut out, value, cx.at());
        return cx.out(out);
    };
    let options = Options::like(cx, b, &input);
    let mut out = options.tensor(input.shape.clone(), input.shape_at);
    if value.is_none_or(|v| fills(cx, v, ("the result", &out))) {
        fill(&mut out, value, cx.at());
    }
    finish(cx, b, out)
}

fn zeros_like(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    like(cx, b, Some(0.0))
}

fn ones_like(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    like(cx, b, Some(1.0))
}

fn empty_like(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    like(cx, b, None)
}

fn full_like(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (_, value) = fill_value(cx, &b.get("fill_value"));
    like(cx, b, value)
}

/// `x.new_…(size)`, with the dtype and device of `x`.
fn new_sized(cx: &mut Cx<'_, '_>, b: &Bound, sizes: &[Value], value: Option<f64>) -> Value {
    let input = cx.tensor_arg(b, "input").unwrap_or_default();
    let shape = dims(cx, b, sizes);
    let options = Options::like(cx, b, &input);
    let mut out = options.tensor(shape, cx.at());
    if value.is_none_or(|v| fits(cx, &[v], out.dtype)) {
        fill(&mut out, value, cx.at());
    }
    cx.out(out)
}

fn new_sizes(b: &Bound) -> Vec<Value> {
    b.rest_values()
}

fn new_zeros(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    new_sized(cx, b, &new_sizes(b), Some(0.0))
}

fn new_ones(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    new_sized(cx, b, &new_sizes(b), Some(1.0))
}

fn new_empty(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    new_sized(cx, b, &new_sizes(b), None)
}

fn new_empty_of(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    new_sized(cx, b, &[b.get("size")], None)
}

fn new_full(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (_, value) = fill_value(cx, &b.get("fill_value"));
    new_sized(cx, b, &[b.get("size")], value)
}

fn new_tensor(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let input = cx.tensor_arg(b, "input").unwrap_or_default();
    let data = b.get("data");
    // Unlike in `torch.tensor`, the default dtype is the dtype of the tensor whose method is
    // called.
    let dtype = cx.dtype_arg(&option(b, "dtype")).unwrap_or(input.dtype);
    let made = typed_literal(cx, &data, Some(dtype)).unwrap_or_default();
    let options = Options::read(cx, b, dtype, (input.device, input.device_at));
    let mut made = placed(cx, made, &options);
    made.dtype = dtype;
    cx.out(made)
}

/// `x.new(2, 3)` and `x.new([1, 2])`, with the dtype and device of `x`.
fn new(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let input = cx.tensor_arg(b, "input").unwrap_or_default();
    let mut out = types::legacy(cx, b, &b.rest_values(), input.dtype);
    (out.device, out.device_at) = (input.device, input.device_at);
    if option(b, "device").is_unknown() || !option(b, "device").is_none() {
        out.device = cx.device_arg(&option(b, "device")).flatten();
    }
    cx.out(out)
}
