//! Tensor methods that change the dtype, device or gradient state, convert to NumPy or Python
//! values, or compute gradients: `to`, `cuda`, `float`, `numpy`, `item`, `detach`, `backward`.

use super::attributes;
use super::broadcast::{
    device_read, dtype_read, gpu_assumption, grad_mode, may_assume_gpu, result_grad, shape_read, shape_text,
};
use super::carry;
use super::cast::cast;
use super::factory::options;
use super::support::tensor_param;
use super::views::layout;
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{ArrayKind, Device, DeviceKind, Dtype, Grad, Size, Tensor, Type, Value};

/// Methods that are named after a dtype.
const CASTS: [(&str, Dtype); 13] = [
    ("float", Dtype::Float32),
    ("double", Dtype::Float64),
    ("half", Dtype::Float16),
    ("bfloat16", Dtype::Bfloat16),
    ("long", Dtype::Int64),
    ("int", Dtype::Int32),
    ("short", Dtype::Int16),
    ("char", Dtype::Int8),
    ("byte", Dtype::Uint8),
    ("bool", Dtype::Bool),
    ("cfloat", Dtype::Complex64),
    ("cdouble", Dtype::Complex128),
    ("chalf", Dtype::Complex32),
];

pub(crate) fn register(t: &mut Table) {
    t.def(
        "torch.Tensor.to",
        "input, *args, dtype=None, device=None, other=None, non_blocking=False, copy=False, memory_format=None",
        to,
    );
    t.def("torch.Tensor.cuda", "input, device=None, non_blocking=False, memory_format=None", cuda);
    t.def("torch.Tensor.cpu", "input, memory_format=None", cpu);
    for (name, _) in CASTS {
        t.def(&format!("torch.Tensor.{name}"), "input, memory_format=None", named_cast);
    }
    t.listed("torch.Tensor.", "type", type_of);
    t.listed("torch.Tensor.", "type_as", type_as);
    t.listed("torch.Tensor.", "numpy", numpy);
    t.listed("torch.Tensor.", "tolist", tolist);
    t.listed("torch.Tensor.", "item", item);
    t.listed("torch.", "detach", detach);
    t.def("torch.autograd.Variable", "data=None, requires_grad=None, volatile=None", variable);
    t.alias("torch.autograd.variable.Variable", "torch.autograd.Variable");
    t.listed("torch.", "clone", clone);
    t.def("torch.Tensor.contiguous", "input, memory_format=None", contiguous);
    t.listed("torch.", "alias_copy detach_copy", conj);
    t.def("torch.Tensor.requires_grad_", "input, requires_grad=True", requires_grad_);
    t.listed("torch.Tensor.", "detach_", detach_);
    t.listed("torch.", "detach_", detach_);
    t.listed("torch.Tensor.", "backward", backward);
    t.listed("torch.Tensor.", "pin_memory", pin_memory);
    t.family(
        "torch.Tensor.",
        "share_memory_ rename_ rename refine_names align_to",
        "input, *args, **kwargs",
        |_, b| b.get("input"),
    );
    t.def("torch.Tensor.is_contiguous", "input, memory_format=None", |_, _| Value::Any(Type::Bool));
    t.family("torch.Tensor.", "is_pinned is_shared is_set_to", "input, *args", |_, _| Value::Any(Type::Bool));
    t.listed("torch.Tensor.", "data_ptr storage_offset sparse_dim dense_dim", |_, _| Value::Any(Type::Int));
    t.listed("torch.Tensor.", "element_size", element_size);
    t.listed("torch.Tensor.", "to_dense", to_dense);
    t.listed("torch.Tensor.", "retain_grad", retain_grad);
    t.family("torch.Tensor.", "record_stream", "input, *args", |_, _| Value::None);
    t.family("torch.Tensor.", "stride storage untyped_storage storage_type", "input, *args", |_, _| Value::Unknown);
}

/// `to_dense`: returns a dense tensor itself, unless `dtype=` changes its dtype.
fn to_dense(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let dtype = cx.dtype_arg(&b.get("dtype"));
    converted(cx, &b.get("input"), dtype, None, None)
}

/// `input` with another dtype or device. `None` keeps the dtype or device; `Some(None)` means that
/// the new one is unknown.
fn moved(cx: &mut Cx<'_, '_>, b: &Bound, dtype: Option<Option<Dtype>>, device: Option<Option<Device>>) -> Value {
    converted(cx, &b.get("input"), dtype, device, carry_bool(&options::option(b, "copy")))
}

/// Like [`moved`], for any value. `copies` says whether the result is a copy even if it has the
/// dtype and device of `value` (`None`: unknown).
pub(crate) fn converted(
    cx: &mut Cx<'_, '_>,
    value: &Value,
    dtype: Option<Option<Dtype>>,
    device: Option<Option<Device>>,
    copies: Option<bool>,
) -> Value {
    let at = cx.at();
    let Some(input) = cx.tensor(value) else {
        // If the unknown value is a tensor, the call determines the dtype and device of the result.
        let mut out = Tensor::default();
        if let Some(dtype) = dtype {
            out = out.with_dtype(dtype, at);
        }
        if let Some(device) = device {
            out = out.with_device(device, at);
        }
        return cx.out(out);
    };
    let same_dtype = dtype.map_or(Some(true), |d| Some(d? == input.dtype?));
    let same_device = device.map_or(Some(true), |d| input.device?.same(d?));
    if same_dtype == Some(true) && same_device == Some(true) && copies == Some(false) {
        return value.clone();
    }
    let mut out = input.clone();
    if let Some(dtype) = dtype
        && same_dtype != Some(true)
    {
        cast(&mut out, dtype);
        out.dtype_at = at;
    }
    if let Some(device) = device {
        out.device = device;
        out.device_at = at;
    }
    out.grad = result_grad(cx, &[("input", &input)], out.dtype);
    let moves = same_dtype == Some(false) || same_device == Some(false) || copies == Some(true);
    if moves { fresh(cx, out) } else { itself_or_copy(cx, value, out) }
}

/// The tensor itself or a copy; it is not known which.
fn itself_or_copy(cx: &mut Cx<'_, '_>, value: &Value, tensor: Tensor) -> Value {
    let made = cx.view_of(value, tensor);
    cx.it.heap.is_one_of(&made, std::slice::from_ref(value));
    made
}

fn carry_bool(value: &Value) -> Option<bool> {
    match value {
        Value::None => Some(false),
        Value::Bool(b) => Some(*b),
        _ => None,
    }
}

/// A result with its own memory.
fn fresh(cx: &mut Cx<'_, '_>, mut tensor: Tensor) -> Value {
    (tensor.base, tensor.version, tensor.writes) = (None, 0, 0);
    cx.out(tensor)
}

/// `to(dtype)`, `to(device)`, `to(device, dtype)`, `to(other)`, also with keywords.
fn to(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (mut dtype, mut device) = (cx.dtype_arg(&b.get("dtype")), options::device(cx, &b.get("device")));
    if b.open {
        (dtype, device) = (Some(dtype.flatten()), Some(device.flatten()));
    }
    let other = b.get("other");
    let mut positional = b.rest_values();
    if !other.is_none() {
        positional.insert(0, other);
    }
    for (i, value) in positional.iter().enumerate() {
        match value {
            // The positional arguments after device and dtype are `non_blocking` and `copy`.
            Value::Bool(_) | Value::Any(Type::Bool) if i > 0 => {}
            // PyTorch takes a bool for the dtype `bool`.
            Value::Bool(_) | Value::Any(Type::Bool) => dtype = Some(Some(Dtype::Bool)),
            Value::Dtype(d) => dtype = Some(Some(*d)),
            Value::Device(_) | Value::Str(_) | Value::Int(_) => device = options::device(cx, value),
            Value::Any(Type::Str | Type::Int) => device = Some(None),
            Value::None => {}
            Value::Path(_) if cx.dtype_arg(value).flatten().is_some() => dtype = cx.dtype_arg(value),
            _ => match cx.tensor(value) {
                Some(like) => {
                    dtype = Some(like.dtype);
                    device = Some(like.device);
                }
                // An unknown argument after the first one may be a dtype.
                None if i > 0 => dtype = Some(None),
                None => (dtype, device) = (Some(dtype.flatten()), Some(device.flatten())),
            },
        }
    }
    moved(cx, b, dtype, device)
}

fn cuda(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let device = match b.get("device") {
        Value::None | Value::Bool(_) | Value::Any(Type::Bool) => Some(Device::CUDA),
        // An unknown argument is assumed to be the index of a GPU.
        given => options::device(cx, &given).flatten().or(Some(Device::CUDA)),
    };
    moved(cx, b, None, Some(device))
}

fn cpu(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    moved(cx, b, None, Some(Some(Device::CPU)))
}

fn named_cast(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let name = cx.name();
    let dtype = CASTS.iter().find(|(cast, _)| *cast == name).map(|(_, dtype)| *dtype);
    moved(cx, b, Some(dtype), None)
}

/// The dtype and device of a legacy type, by name: `torch.cuda.FloatTensor`.
pub(crate) fn legacy_type(name: &str) -> Option<(Dtype, Device)> {
    let (module, class) = name.rsplit_once('.')?;
    let device = if module.ends_with("cuda") { Device::CUDA } else { Device::CPU };
    let dtype = match class {
        "FloatTensor" => Dtype::Float32,
        "DoubleTensor" => Dtype::Float64,
        "HalfTensor" => Dtype::Float16,
        "BFloat16Tensor" => Dtype::Bfloat16,
        "LongTensor" => Dtype::Int64,
        "IntTensor" => Dtype::Int32,
        "ShortTensor" => Dtype::Int16,
        "CharTensor" => Dtype::Int8,
        "ByteTensor" => Dtype::Uint8,
        "BoolTensor" => Dtype::Bool,
        _ => return None,
    };
    Some((dtype, device))
}

/// `x.type()` returns the name of the type; `x.type(t)` converts `x` to the type `t`.
fn type_of(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let wanted = b.get("dtype");
    if !wanted.is_none() {
        let name = wanted.as_path().or(wanted.as_str());
        return match (name.and_then(legacy_type), cx.dtype_arg(&wanted)) {
            (Some((dtype, device)), _) => moved(cx, b, Some(Some(dtype)), Some(Some(device))),
            (None, Some(Some(dtype))) => moved(cx, b, Some(Some(dtype)), None),
            _ => moved(cx, b, Some(None), Some(None)),
        };
    }
    let Some(input) = cx.tensor_arg(b, "input") else { return Value::Any(Type::Str) };
    match (input.dtype, input.device.map(|d| d.kind)) {
        (Some(dtype), Some(DeviceKind::Cpu)) if !matches!(dtype, Dtype::Other(_)) => {
            Value::str(&format!("torch.{}Tensor", dtype.scalar_name()))
        }
        (Some(dtype), Some(DeviceKind::Cuda)) if !matches!(dtype, Dtype::Other(_)) => {
            Value::str(&format!("torch.cuda.{}Tensor", dtype.scalar_name()))
        }
        _ => Value::Any(Type::Str),
    }
}

fn type_as(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let like = cx.tensor_arg(b, "other").unwrap_or_default();
    moved(cx, b, Some(like.dtype), Some(like.device))
}

fn numpy(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("input");
    let Some(input) = cx.tensor(&value) else {
        return cx.out(Tensor { array: ArrayKind::Numpy, grad: Grad::Off, ..Tensor::default() });
    };
    if b.get("force").as_bool() == Some(false) {
        refuse_numpy(cx, &input);
    }
    let dtype = input.dtype.filter(|d| !matches!(d, Dtype::Bfloat16 | Dtype::Other(_)));
    let out = Tensor { array: ArrayKind::Numpy, dtype, device: None, device_at: None, grad: Grad::Off, ..input };
    cx.view_of(&value, out)
}

/// Rejects tensors that `numpy()` rejects because of their gradient state or dtype. The contract of
/// `numpy-of-cuda-tensor` checks the device.
fn refuse_numpy(cx: &mut Cx<'_, '_>, input: &Tensor) {
    // If no gradients are recorded, `numpy()` accepts tensors that require grad.
    let recorded = grad_mode(cx) == Some(true);
    if let Some(device) = input.device.filter(|device| device.is_assumed() && may_assume_gpu(cx.it)) {
        let message = "the tensor is on cuda, but NumPy can only use host memory";
        cx.reject_if(gpu_assumption([device]), RejectKind::Host, message, vec![device_read(("input", input))]);
        return;
    }
    if matches!(input.grad, Grad::Leaf | Grad::Attached) && grad_known(input) && recorded {
        let reads = vec![("`input` is created here".to_owned(), input.shape_at)];
        cx.reject(RejectKind::Value, "numpy() on a tensor that requires grad: use detach().numpy()", reads);
    } else if input.grad == Grad::Attached && input.dtype.is_none() && recorded && has_parameters(cx) {
        let message = "numpy() on a tensor that requires grad: use detach().numpy()";
        let reads = vec![("`input` is computed here".to_owned(), input.device_at)];
        cx.reject_if("if the module has parameters to train", RejectKind::Value, message, reads);
    } else if let Some(dtype @ (Dtype::Bfloat16 | Dtype::Complex32)) = input.dtype {
        let wider = if dtype == Dtype::Bfloat16 { "float()" } else { "to(torch.complex64)" };
        let message = format!("numpy has no {dtype}: convert first, with .{wider}");
        cx.reject(RejectKind::Dtype, message, vec![dtype_read(("input", input))]);
    }
}

/// Whether the program uses the parameters of modules. Otherwise, an unseen module may have none.
fn has_parameters(cx: &Cx<'_, '_>) -> bool {
    [".parameters()", "state_dict", "from_pretrained", "requires_grad"].iter().any(|text| cx.it.mentions(text))
}

/// Whether the gradient state is certain, because the dtype is known to support gradients.
pub(crate) fn grad_known(input: &Tensor) -> bool {
    input.dtype.is_some_and(|d| !d.is_integral())
}

/// The Python type of an element.
fn element_type(dtype: Option<Dtype>) -> Option<Type> {
    Some(match dtype? {
        Dtype::Bool => Type::Bool,
        Dtype::Other(_) => return None,
        d if d.is_complex() => Type::Complex,
        d if d.is_floating() => Type::Float,
        _ => Type::Int,
    })
}

/// An element as a Python number.
pub(crate) fn python_number(x: Option<f64>, dtype: Option<Dtype>) -> Value {
    let Some(ty) = element_type(dtype) else { return Value::Unknown };
    match (ty, x) {
        (Type::Bool, Some(x)) => Value::Bool(x != 0.0),
        (Type::Float, Some(x)) => Value::Float(x),
        (Type::Int, Some(x)) => carry::whole(x).map_or(Value::Any(Type::Int), Value::Int),
        _ => Value::Any(ty),
    }
}

fn item(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return Value::Unknown };
    if input.numel().equals(&crate::value::Size::Int(1)) == Some(false) {
        let message = format!("item() takes a tensor of one element, but this one is {}", shape_text(&input));
        cx.reject(RejectKind::Value, message, vec![shape_read(("input", &input), None)]);
    }
    let one = match input.data.as_deref() {
        Some([one]) => Some(*one),
        _ => None,
    };
    match python_number(one, input.dtype) {
        Value::Any(Type::Int) => match input.range {
            // The result is one of the elements. A bound that occurs among the elements is also the
            // result in some iteration, so the range still says that its bounds occur.
            Some(range) => Value::ranged(range, false, input.range_at),
            None => Value::Any(Type::Int),
        },
        number => number,
    }
}

/// Longer lists are not tracked element by element.
const MOST_LISTED: usize = 256;

fn tolist(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return Value::Unknown };
    let Some(rank) = input.rank() else { return Value::Unknown };
    if let Some(extents) = input.shape.as_deref().and_then(carry::extents)
        && carry::count(&extents).is_some_and(|n| n <= MOST_LISTED)
        && extents.iter().all(|e| *e > 0 && *e <= MOST_LISTED)
    {
        return listed(cx, &input, &extents, &mut Vec::new());
    }
    let mut value = python_number(None, input.dtype);
    for at in (0..rank).rev() {
        let size = input.shape.as_ref().and_then(|dims| dims.get(at)).map_or(Size::Unknown, |dim| dim.size.clone());
        value = if size.known() == Some(0) { cx.list(Vec::new()) } else { cx.list_of(value) };
        if size.may_be_zero() {
            cx.it.heap.note_perhaps_empty(&value);
        }
    }
    value
}

fn listed(cx: &mut Cx<'_, '_>, input: &Tensor, extents: &[usize], index: &mut Vec<usize>) -> Value {
    let Some(length) = extents.get(index.len()) else {
        return python_number(carry::element(input, index), input.dtype);
    };
    let mut items = Vec::with_capacity(*length);
    for i in 0..*length {
        index.push(i);
        items.push(listed(cx, input, extents, index));
        index.pop();
    }
    cx.list(items)
}

fn detach(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("input");
    let Some(input) = cx.tensor(&value) else { return cx.some_tensor() };
    cx.view_of(&value, Tensor { grad: Grad::Off, ..input })
}

/// `Variable(tensor)` of PyTorch 0.3. Since 0.4, it is the detached tensor with the given
/// `requires_grad`.
fn variable(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("data");
    let Some(input) = tensor_param(cx, b, "data") else { return cx.some_tensor() };
    let grad = match b.get("requires_grad") {
        Value::None | Value::Bool(false) => Grad::Off,
        Value::Bool(true) => Grad::Leaf,
        _ => Grad::Unknown,
    };
    cx.view_of(&value, Tensor { grad, ..input })
}

fn clone(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let grad = result_grad(cx, &[&input], input.dtype);
    fresh(cx, Tensor { grad, ..input })
}

/// Methods that return the tensor itself, or a copy with another memory layout. A tensor with
/// permuted dimensions is copied.
fn contiguous(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let input = cx.tensor_arg(b, "input");
    match input.filter(|t| t.layout.is_some() && b.get("memory_format").is_none()) {
        Some(input) if !layout::is_dense(&input) => {
            let grad = if input.grad == Grad::Leaf { Grad::Attached } else { input.grad };
            layout::dense(cx, Tensor { base: None, version: 0, writes: 0, grad, ..input })
        }
        Some(input) => {
            let made = same(cx, b);
            layout::viewed(cx, &made, &input);
            made
        }
        None => same(cx, b),
    }
}

fn same(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("input");
    let Some(input) = cx.tensor(&value) else { return cx.some_tensor() };
    if input.grad == Grad::Leaf {
        return value;
    }
    itself_or_copy(cx, &value, input)
}

/// `alias_copy` and `detach_copy`: a tensor with the same shape, dtype and device.
fn conj(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("input");
    let Some(input) = cx.tensor(&value) else { return cx.some_tensor() };
    let mut out = input.clone();
    out.grad = result_grad(cx, &[&input], input.dtype);
    if cx.name().starts_with("adjoint") {
        out.shape = None;
    }
    if cx.name().ends_with("detach_copy") {
        out.grad = Grad::Off;
    }
    if options::option(b, "out").is_none() {
        return cx.view_of(&value, out);
    }
    options::finish(cx, b, out)
}

fn requires_grad_(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("input");
    let Some(input) = cx.tensor(&value) else { return value };
    let grad = match b.get("requires_grad").as_bool() {
        Some(true) => {
            if let Some(dtype) = input.dtype.filter(|d| d.is_integral()) {
                let message =
                    format!("a tensor of {dtype} cannot require grad: only floating-point and complex tensors can");
                cx.reject(RejectKind::Dtype, message, vec![dtype_read(("input", &input))]);
                return value;
            }
            match input.grad {
                Grad::Off | Grad::Leaf => Grad::Leaf,
                other => other,
            }
        }
        Some(false) => {
            if input.grad == Grad::Attached && grad_known(&input) {
                let message = "requires_grad_(False) on the result of an operation: use detach()";
                cx.reject(RejectKind::Value, message, vec![("`input` is created here".to_owned(), input.shape_at)]);
                return value;
            }
            attributes::frozen(cx.it, &input, Grad::Off);
            Grad::Off
        }
        None => Grad::Unknown,
    };
    if let Some(id) = value.as_obj() {
        cx.it.heap.update_tensor(id, |t| t.grad = grad);
    }
    value
}

/// `retain_grad`: optimizers treat the tensor like a leaf from now on.
fn retain_grad(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if let Some(id) = b.get("input").as_obj() {
        cx.it.heap.update_tensor(id, |t| t.grad = Grad::Unknown);
    }
    Value::None
}

fn detach_(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("input");
    if let Some(id) = value.as_obj() {
        cx.it.heap.update_tensor(id, |t| t.grad = Grad::Off);
    }
    value
}

fn backward(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return Value::None };
    if input.grad == Grad::Off {
        let reads = vec![("`input` is created here".to_owned(), input.shape_at.or(input.dtype_at))];
        cx.reject(RejectKind::Value, "backward() on a tensor that does not require grad: it has no graph", reads);
    } else if b.get("gradient").is_none() && input.numel().equals(&crate::value::Size::Int(1)) == Some(false) {
        let message = format!(
            "backward() without a gradient takes a scalar, and this tensor is {}: reduce it first, with mean() or sum()",
            shape_text(&input)
        );
        cx.reject(RejectKind::Value, message, vec![shape_read(("input", &input), None)]);
    } else if input.grad == Grad::Unknown
        && let Some(id) = b.get("input").as_obj()
    {
        // The call succeeds only if the tensor requires grad. Such a tensor is assumed to be a
        // result of operations, not a leaf.
        cx.it.heap.update_tensor(id, |input| input.grad = Grad::Attached);
    }
    super::attributes::gradients_made(cx);
    Value::None
}

fn pin_memory(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("input");
    let Some(input) = cx.tensor(&value) else { return cx.some_tensor() };
    if input.device.is_some_and(Device::is_cuda) {
        let message = "pin_memory() on a CUDA tensor: only CPU memory can be pinned";
        cx.reject(RejectKind::Device, message, vec![device_read(("input", &input))]);
    }
    cx.view_of(&value, input)
}

fn element_size(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let size = cx.tensor_arg(b, "input").and_then(|t| t.dtype).and_then(super::factory::item_size);
    size.map_or(Value::Any(Type::Int), Value::Int)
}
