//! Types and their properties: `torch.device`, dtypes, `finfo`, promotion, and the constructors
//! that are older than `torch.tensor`.

use super::literal;
use super::options::{self, dims};
use crate::library::numpy::reversed;
use crate::library::torch::cast::cast;
use crate::library::torch::promotion::{self, Operand};
use crate::library::torch::support::reject_unread;
use crate::library::{Constant, Cx, Table};

use crate::python::{Bound, RejectKind};
use crate::value::{ArrayKind, Device, DeviceKind, Dim, Dtype, Grad, Tensor, Type, Value, promote, sym};

/// The names under `torch.` of the dtypes that torchvet knows; some dtypes have several names.
const DTYPES: &str = "bool uint8 int8 int16 short int32 int int64 long uint16 uint32 uint64 float16 half bfloat16 \
    float32 float float64 double complex32 chalf complex64 cfloat complex128 cdouble float8_e4m3fn float8_e5m2 \
    float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn_x2 qint8 quint8 qint32 quint4x2 quint2x4";

/// The legacy constructors, each with its dtype.
const LEGACY: [(&str, Dtype); 10] = [
    ("FloatTensor", Dtype::Float32),
    ("DoubleTensor", Dtype::Float64),
    ("HalfTensor", Dtype::Float16),
    ("BFloat16Tensor", Dtype::Bfloat16),
    ("LongTensor", Dtype::Int64),
    ("IntTensor", Dtype::Int32),
    ("ShortTensor", Dtype::Int16),
    ("CharTensor", Dtype::Int8),
    ("ByteTensor", Dtype::Uint8),
    ("BoolTensor", Dtype::Bool),
];

pub(crate) fn register(t: &mut Table) {
    for name in DTYPES.split_whitespace() {
        if let Some(dtype) = Dtype::parse(name) {
            t.constant(&format!("torch.{name}"), Constant::Dtype(dtype));
        }
    }
    t.constant("torch.inf", Constant::Float(f64::INFINITY));
    t.constant("torch.nan", Constant::Float(f64::NAN));
    t.constant("torch.pi", Constant::Float(std::f64::consts::PI));
    t.constant("torch.e", Constant::Float(std::f64::consts::E));

    let device = t.class("torch.device", &[], "type=None, index=None, *, device=None");
    device.make = Some(make_device);
    device.attribute = Some(device_attribute);
    t.class("torch.Size", &[], "items=()").make = Some(make_size);
    let dtype = t.class("torch.dtype", &[], "");
    dtype.attribute = Some(dtype_attribute);
    t.class("torch.finfo", &[], "type=None").make = Some(finfo);
    t.class("torch.iinfo", &[], "type").make = Some(iinfo);

    for (name, _) in LEGACY {
        for module in ["torch", "torch.cuda"] {
            t.class(&format!("{module}.{name}"), &["torch.Tensor"], "*args, size=None, device=None").make =
                Some(make_legacy);
        }
    }
    t.def("torch.result_type", "tensor1, tensor2", result_type);
    t.listed("torch.", "promote_types", promote_types);
    t.listed("torch.", "can_cast", can_cast);
}

/// `torch.device("cuda")`, `torch.device("cuda", 1)`, `torch.device(0)`.
fn make_device(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let kind = if b.given("device") { b.get("device") } else { b.get("type") };
    let index = b.get("index");
    let device = options::device(cx, &kind).flatten();
    match (device, index) {
        (Some(device), Value::None) => Value::Device(device),
        (Some(device), Value::Int(n)) => match (device.index, u32::try_from(n)) {
            (None, Ok(n)) => Value::Device(Device { index: Some(n), ..device }),
            (Some(_), _) => {
                let message = format!("the device {device} already has an index, but the index {n} is given, too");
                cx.reject(RejectKind::Value, message, Vec::new());
                Value::Device(device)
            }
            _ => Value::Unknown,
        },
        _ => Value::Device(Device::of(DeviceKind::Named(sym("`torch.device(…)`")))),
    }
}

fn device_attribute(_cx: &mut Cx<'_, '_>, object: &Value, name: crate::value::Sym) -> Option<Value> {
    let Value::Device(device) = object else { return None };
    match (name.as_str(), device.kind) {
        _ if !device.is_concrete() => matches!(name.as_str(), "type" | "index").then_some(match name.as_str() {
            "type" => Value::Any(Type::Str),
            _ => Value::Unknown,
        }),
        ("type", DeviceKind::Cpu) => Some(Value::str("cpu")),
        ("type", DeviceKind::Cuda) => Some(Value::str("cuda")),
        ("type", DeviceKind::Meta) => Some(Value::str("meta")),
        ("type", DeviceKind::Other(name)) => Some(Value::str(name.as_str())),
        // `tensor.device` has an index even if the tensor was created with `torch.device("cuda")`,
        // which has none.
        ("index", DeviceKind::Cuda) => Some(device.index.map_or(Value::Unknown, |n| Value::Int(i64::from(n)))),
        ("index", _) => Some(device.index.map_or(Value::None, |n| Value::Int(i64::from(n)))),
        _ => None,
    }
}

fn dtype_attribute(_cx: &mut Cx<'_, '_>, object: &Value, name: crate::value::Sym) -> Option<Value> {
    let Value::Dtype(dtype) = object else { return None };
    let known = !matches!(dtype, Dtype::Other(_));
    Some(match name.as_str() {
        "is_floating_point" if known => Value::Bool(dtype.is_floating()),
        "is_complex" if known => Value::Bool(dtype.is_complex()),
        "is_signed" if known => {
            Value::Bool(!matches!(dtype, Dtype::Bool | Dtype::Uint8 | Dtype::Uint16 | Dtype::Uint32 | Dtype::Uint64))
        }
        "itemsize" => item_size(*dtype).map_or(Value::Any(Type::Int), Value::Int),
        "is_floating_point" | "is_complex" | "is_signed" => Value::Any(Type::Bool),
        _ => return None,
    })
}

/// The bytes of one element.
pub(crate) fn item_size(dtype: Dtype) -> Option<i64> {
    Some(match dtype {
        Dtype::Bool | Dtype::Uint8 | Dtype::Int8 => 1,
        Dtype::Int16 | Dtype::Uint16 | Dtype::Float16 | Dtype::Bfloat16 => 2,
        Dtype::Int32 | Dtype::Uint32 | Dtype::Float32 | Dtype::Complex32 => 4,
        Dtype::Int64 | Dtype::Uint64 | Dtype::Float64 | Dtype::Complex64 => 8,
        Dtype::Complex128 => 16,
        Dtype::Other(_) => return None,
    })
}

fn make_size(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    match cx.items(&b.get("items")) {
        Some(items) => Value::tuple(items),
        None => Value::Unknown,
    }
}

/// The dtype passed to `finfo` or `iinfo`.
fn info_of(cx: &Cx<'_, '_>, b: &Bound) -> Option<Dtype> {
    match b.get("type") {
        Value::None => cx.default_dtype(),
        Value::Dtype(d) => Some(d),
        _ => None,
    }
}

fn info(cx: &mut Cx<'_, '_>, class: &str, fields: &[(&str, Value)]) -> Value {
    let id = cx.it.heap.instance(Value::Path(sym(class)));
    for (name, value) in fields {
        cx.it.heap.set_attr(id, name, value.clone());
    }
    Value::Obj(id)
}

fn finfo(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let dtype = info_of(cx, b);
    if dtype.is_some_and(Dtype::is_integral) {
        cx.reject(RejectKind::Dtype, "finfo takes floating-point dtypes: use iinfo for integers", Vec::new());
        return Value::Unknown;
    }
    // (eps, smallest normal, bits)
    let numbers = match dtype.map(Dtype::to_real) {
        Some(Dtype::Float16) => Some((9.765_625e-4, 6.103_515_625e-5, 16)),
        Some(Dtype::Bfloat16) => Some((0.007_812_5, 1.175_494_350_822_287_5e-38, 16)),
        Some(Dtype::Float32) => Some((f64::from(f32::EPSILON), f64::from(f32::MIN_POSITIVE), 32)),
        Some(Dtype::Float64) => Some((f64::EPSILON, f64::MIN_POSITIVE, 64)),
        _ => None,
    };
    let largest = dtype.map(Dtype::to_real).and_then(Dtype::largest);
    let float = |x: Option<f64>| x.map_or(Value::Any(Type::Float), Value::Float);
    let fields = [
        ("max", float(largest)),
        ("min", float(largest.map(|x| -x))),
        ("eps", float(numbers.map(|n| n.0))),
        ("tiny", float(numbers.map(|n| n.1))),
        ("smallest_normal", float(numbers.map(|n| n.1))),
        ("resolution", Value::Any(Type::Float)),
        ("bits", numbers.map_or(Value::Any(Type::Int), |n| Value::Int(n.2))),
        ("dtype", Value::Any(Type::Str)),
    ];
    info(cx, "torch.finfo", &fields)
}

fn iinfo(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let dtype = info_of(cx, b);
    if dtype.is_some_and(|d| d.is_floating() && !matches!(d, Dtype::Other(_)) || d.is_complex()) {
        cx.reject(RejectKind::Dtype, "iinfo takes integer dtypes: use finfo for floating-point dtypes", Vec::new());
        return Value::Unknown;
    }
    #[expect(clippy::cast_possible_truncation, reason = "bounds of at most 32 bits")]
    let bounds = match dtype {
        Some(Dtype::Int64) => Some((i64::MIN, i64::MAX)),
        Some(d) => d.bounds().map(|(lo, hi)| (lo as i64, hi as i64)),
        None => None,
    };
    let bits = dtype.and_then(item_size).and_then(|n| n.checked_mul(8));
    let int = |n: Option<i64>| n.map_or(Value::Any(Type::Int), Value::Int);
    let fields = [
        ("min", int(bounds.map(|p| p.0))),
        ("max", int(bounds.map(|p| p.1))),
        ("bits", int(bits)),
        ("dtype", Value::Any(Type::Str)),
    ];
    info(cx, "torch.iinfo", &fields)
}

/// `torch.Tensor(2, 3)` and `torch.Tensor(size=[2, 3])` create an uninitialised tensor of this size;
/// `torch.Tensor([2, 3])` creates a tensor with these elements.
pub(crate) fn legacy(cx: &mut Cx<'_, '_>, b: &Bound, args: &[Value], dtype: Option<Dtype>) -> Tensor {
    let at = cx.at();
    let blank = Tensor { grad: Grad::Off, shape_at: at, ..Tensor::default() }.with_dtype(dtype, at);
    if b.open {
        return blank;
    }
    if b.given("size") {
        let shape = dims(cx, b, &[b.get("size")]);
        return Tensor { shape, ..blank };
    }
    let content = match args {
        [] => return Tensor { shape: Some(vec![Dim::new(crate::value::Size::Int(0), at)]), ..blank },
        [only @ (Value::Tuple(_) | Value::Obj(_))] => Some(only),
        [Value::Unknown] => return blank,
        _ => None,
    };
    let Some(content) = content else {
        let shape = dims(cx, b, args);
        return Tensor { shape, ..blank };
    };
    // For a `torch.Size`, `torch.Tensor(…)` returns an uninitialised tensor of this size; for a
    // tuple, it returns a tensor with the elements of the tuple. torchvet models both as tuples of
    // integers, so the result is unknown.
    if let Value::Tuple(items) = content
        && items.iter().all(|v| {
            matches!(v, Value::Unknown | Value::Open(_) | Value::Int(_) | Value::Size(_) | Value::Any(Type::Int))
        })
    {
        return blank;
    }
    match literal::read(cx, content) {
        Ok(mut made) => {
            cast(&mut made, dtype);
            (made.array, made.grad, made.dtype_at) = (ArrayKind::Torch, Grad::Off, at);
            (made.base, made.version, made.writes) = (None, 0, 0);
            made
        }
        Err(_) => blank,
    }
}

pub(crate) fn make_legacy(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let name = cx.name();
    let args = b.rest_values();
    let dtype = match LEGACY.iter().find(|(legacy, _)| *legacy == name) {
        Some((_, dtype)) => Some(*dtype),
        None => cx.default_dtype(),
    };
    if let [only] = args.as_slice() {
        reversed::refuse(cx, only);
    }
    if let [only] = args.as_slice()
        && let Some(have) = cx.tensor(only)
        && have.array == ArrayKind::Torch
    {
        // The call returns an alias of the tensor. `torch.Tensor` accepts any dtype.
        if let (true, Some(wanted), Some(given)) = (name != "Tensor", dtype, have.dtype)
            && wanted != given
            && !matches!(given, Dtype::Other(_))
        {
            let message = format!("{name}() takes a tensor only if it is {wanted} already, but this one is {given}");
            cx.reject(RejectKind::Dtype, message, Vec::new());
            return cx.it.raise("TypeError");
        }
        return cx.view_of(only, have);
    }
    if let [only] = args.as_slice() {
        reject_unread(cx, only);
    }
    let cuda = cx.path.as_str().starts_with("torch.cuda.");
    let on = options::option(b, "device");
    let place = options::device(cx, &on).flatten();
    if !cuda && b.given("device") && !on.is_none() && cx.it.remembered(super::settings::TYPE_DEVICE).is_none() {
        let message = |device: &dyn std::fmt::Display| {
            format!(
                "{name}() rejects {device}: it creates tensors only on the CPU. Use torch.tensor(…, dtype=…, device=…) \
                 for values, or torch.empty(…, device=…) for sizes"
            )
        };
        match place {
            Some(device) if device.kind == DeviceKind::Cuda => {
                cx.reject(RejectKind::Value, message(&device), Vec::new());
            }
            Some(device) if device.is_concrete() => {}
            // A program is often tested on the CPU first, and run on a GPU later.
            _ => cx.report_if_independent(true, |cx| {
                cx.reject_if("if `device` is a GPU", RejectKind::Value, message(&"it"), Vec::new());
            }),
        }
    }
    let mut out = legacy(cx, b, &args, dtype);
    let is_unknown = matches!(args.as_slice(), [only] if only.is_unknown());
    out.device = match (cuda, name) {
        (true, _) => Some(Device::CUDA),
        // A tensor on another device stays there. The other constructors reject it.
        (false, "Tensor") if is_unknown && on.is_none() => None,
        (false, "Tensor") => match cx.it.remembered(super::settings::TYPE_DEVICE) {
            None => Some(Device::CPU),
            Some(Value::Device(device)) => Some(device),
            Some(_) => None,
        },
        // The call rejects every device other than the CPU. So an unknown device is the CPU in the
        // runs that continue, also for other objects with this device. This is not modelled, so the
        // device of the result stays unknown.
        (false, _) if !on.is_none() && place.is_none_or(|device| !device.is_cpu()) => None,
        (false, _) => Some(Device::CPU),
    };
    out.device_at = cx.at();
    cx.it.heap.tensor_with_trailing(out)
}

fn result_type(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let operands = [Operand::of(cx, &b.get("tensor1")), Operand::of(cx, &b.get("tensor2"))];
    promotion::result_type(&operands, cx.default_dtype()).map_or(Value::Unknown, Value::Dtype)
}

fn promote_types(_cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    match (b.get("type1"), b.get("type2")) {
        (Value::Dtype(x), Value::Dtype(y)) => promote(x, y).map_or(Value::Unknown, Value::Dtype),
        _ => Value::Unknown,
    }
}

fn can_cast(_cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    match (b.get("from_"), b.get("to")) {
        (Value::Dtype(x), Value::Dtype(y)) => promotion::can_cast(x, y).map_or(Value::Any(Type::Bool), Value::Bool),
        _ => Value::Any(Type::Bool),
    }
}
