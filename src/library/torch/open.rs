//! Values of unknown type whose tensors are on a known device ([`Open`]): how they are created, and
//! the results of PyTorch's operations on them.

use std::rc::Rc;

use super::broadcast::{Mix, common_device, grad_mode};
use super::factory::options;
use super::nn::module::{Kind, tensors_of};
use super::nn::moves::may_be_moved;
use crate::library::Cx;
use crate::library::table::Tables;
use crate::python::{Arg, Args, BinOp, Bound, Interp, Words};
use crate::syntax::Span;
use crate::value::{ArrayKind, Device, DeviceKind, Grad, Open, Origin, Sym, Tensor, Value, sym};

/// Methods of tensors that modules, lists or dictionaries also have, and methods whose effects on
/// the object depend on its type. If the type of the object is unknown, the result of such a method
/// is unknown, too.
const OF_OTHERS: &[&str] = &[
    "apply",
    "backward",
    "bfloat16",
    "copy",
    "count",
    "double",
    "float",
    "get",
    "half",
    "index",
    "items",
    "keys",
    "mode",
    "pop",
    "register_hook",
    "requires_grad_",
    "size",
    "sort",
    "split",
    "type",
    "update",
    "values",
    "zero_",
];

/// The names of those parameters of PyTorch's functions that take a single tensor.
const TENSORS: &[&str] = &[
    "anchor",
    "attn_mask",
    "batch1",
    "batch2",
    "index",
    "input",
    "input1",
    "input2",
    "key",
    "labels",
    "log_probs",
    "mask",
    "mat",
    "mat1",
    "mat2",
    "negative",
    "other",
    "positive",
    "query",
    "source",
    "src",
    "target",
    "targets",
    "tensor1",
    "tensor2",
    "value",
    "vec",
    "weight",
    "x1",
    "x2",
];

pub(crate) const WORDS: Words = Words {
    module: "torch.nn.Module",
    modules_with_operators: &["torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ParameterList"],
    loader: "torch.utils.data.DataLoader",
    tensor: "torch.Tensor",
    bases: &["lightning.LightningModule", "lightning.LightningDataModule", "transformers.PreTrainedModel"],
    plain_bases: &["torch.utils.data.Dataset"],
    class_methods: &["torch.autograd.Function.apply"],
    module_methods: &[
        "eval",
        "load_state_dict",
        "modules",
        "named_parameters",
        "parameters",
        "state_dict",
        "train",
        "zero_grad",
    ],
    tensor_attributes: &[
        "clone",
        "detach",
        "dim",
        "dtype",
        "expand",
        "flatten",
        "long",
        "masked_fill",
        "ndim",
        "new_zeros",
        "permute",
        "repeat",
        "reshape",
        "shape",
        "size",
        "squeeze",
        "transpose",
        "unsqueeze",
        "view",
    ],
    to_host: &["cpu", "item", "numpy", "tolist"],
    factories: &["arange", "empty", "eye", "full", "linspace", "ones", "rand", "randint", "randn", "tensor", "zeros"],
};

/// Methods of tensors that NumPy arrays also have, and that return an array for an array.
const OF_ARRAYS: &[&str] = &[
    "clip",
    "cumsum",
    "flatten",
    "max",
    "mean",
    "min",
    "prod",
    "ravel",
    "repeat",
    "reshape",
    "round",
    "squeeze",
    "std",
    "sum",
    "swapaxes",
    "transpose",
    "var",
];

/// Texts that show that a caller of a function may have turned gradients off.
const NO_GRAD: &[&str] = &["no_grad", "inference_mode", "set_grad_enabled", "requires_grad"];

/// A value of unknown type on this device.
fn placed(device: Device, device_at: Origin, grad: Grad) -> Value {
    Value::Open(Rc::new(Open { device, device_at, grad }))
}

/// The value as a tensor, if its type is unknown; another value is returned unchanged.
fn as_tensor(it: &mut Interp<'_>, value: &Value) -> Value {
    let Value::Open(open) = value else { return value.clone() };
    it.heap.tensor(open.tensor())
}

/// The result of a method of a value of unknown type; `None` if nothing is known about it.
pub(crate) fn method(
    tables: &Tables,
    it: &mut Interp<'_>,
    object: &Value,
    name: Sym,
    args: &Args,
    span: Span,
) -> Option<Value> {
    let cx = &mut Cx { it, path: sym("torch.Tensor.to"), span };
    let grad = match object {
        Value::Open(open) => open.grad,
        _ => Grad::Unknown,
    };
    let wanted = args.pos.first().map(|arg| &arg.value).or_else(|| args.keyword("device"));
    match (name.as_str(), wanted) {
        ("cpu", None) => return Some(placed(Device::CPU, Some(span), grad)),
        ("cuda", None) => return Some(placed(Device::CUDA, Some(span), grad)),
        ("cuda", Some(Value::Int(_))) | ("to", Some(Value::Device(_) | Value::Str(_) | Value::Int(_))) => {
            // An object of another class may have a method `to`, too.
            if let (Value::Unknown, Some(Value::Str(text))) = (object, wanted)
                && Device::parse(text).is_none()
                && &**text != "gpu"
            {
                return None;
            }
            let device = options::device(cx, &wanted.cloned().unwrap_or(Value::None)).flatten();
            return device.map(|device| placed(device, Some(span), grad));
        }
        // An unknown argument is assumed to be the index of a GPU.
        ("cuda", Some(Value::Unknown | Value::Any(_))) => return Some(placed(Device::CUDA, Some(span), grad)),
        ("to", Some(Value::Dtype(_)) | None) => {
            return matches!(object, Value::Open(_)).then(|| object.clone());
        }
        ("to" | "cuda" | "cpu", _) => return None,
        _ => {}
    }
    let Value::Open(open) = object else { return None };
    // The value may be an array, unless it is an output, which may require grad.
    if open.grad == Grad::Unknown && OF_ARRAYS.contains(&name.as_str()) {
        return Some(object.clone());
    }
    let entry = tables.method(sym("torch.Tensor"), name).map(|(_, entry)| entry);
    let given = args.clone().prepend(Arg::new(Value::Unknown, span));
    if entry.is_none_or(|entry| entry.bind(&given).is_none())
        || name.as_str().ends_with('_')
        || OF_OTHERS.contains(&name.as_str())
    {
        return None;
    }
    let tensor = as_tensor(cx.it, object);
    let library = cx.it.library();
    library.method(cx.it, sym("torch.Tensor"), &tensor, name, args.clone(), span)
}

/// An attribute of a value of unknown type.
pub(crate) fn attribute(object: &Value, name: &str) -> Option<Value> {
    let Value::Open(open) = object else { return None };
    match name {
        "device" => Some(Value::Device(open.device)),
        "data" => Some(placed(open.device, open.device_at, Grad::Off)),
        // Settings of a model, such as `rendering_kwargs["box_warp"]`.
        _ if ["kwargs", "config", "cfg", "args", "opt"].iter().any(|word| name.ends_with(word)) => None,
        // Of a tensor, these are not tensors.
        "shape" | "size" | "ndim" | "dtype" | "grad" | "requires_grad" | "is_cuda" | "grad_fn" | "is_leaf" => None,
        _ => Some(part(open)),
    }
}

/// An attribute of the value, or the result of an unknown method.
fn part(open: &Open) -> Value {
    placed(device_of_part(open), open.device_at, if open.grad == Grad::Off { Grad::Off } else { Grad::Unknown })
}

/// The device of an attribute or element of the value: it is assumed to be that of the value. For a
/// GPU, the result is a named device, because an object of the program may move only some of its
/// parts.
fn device_of_part(open: &Open) -> Device {
    match open.device {
        device if device.is_cuda() => Device::of(DeviceKind::Named(sym("the device of the moved object"))),
        device => device,
    }
}

/// Converts arguments of unknown type to tensors before a function of PyTorch is called.
pub(crate) fn give_tensors(it: &mut Interp<'_>, path: Sym, bound: &mut Bound) {
    if !path.as_str().starts_with("torch.") || path.as_str().starts_with("torch.utils.") {
        return;
    }
    let Bound { sig, values, .. } = bound;
    for (param, arg) in sig.params.iter().zip(values) {
        if let Some(arg) = arg
            && matches!(arg.value, Value::Open(_))
            && TENSORS.contains(&param.name.as_str())
        {
            arg.value = as_tensor(it, &arg.value);
        }
        // `torch.cat([x, y])`
        if let Some(arg) = arg
            && param.name.as_str() == "tensors"
            && let Some(items) = it.heap.exact_items(&arg.value)
            && items.iter().any(|item| matches!(item, Value::Open(_)))
        {
            arg.value = Value::tuple(items.iter().map(|item| as_tensor(it, item)).collect());
        }
    }
}

/// For an operator with at least one operand of unknown type: `Ok` with the operands as tensors, or
/// `Err` with the result if the other operand is a number, or unknown. `None` if nothing is known about
/// the result.
pub(crate) fn operands(
    it: &mut Interp<'_>,
    op: BinOp,
    left: &Value,
    right: &Value,
) -> Option<Result<(Value, Value), Value>> {
    let is_tensor = |value: &Value| it.heap.tensor_ref(value).is_some_and(|t| t.array == ArrayKind::Torch);
    match (left, right) {
        (Value::Open(_), Value::Open(_)) => {}
        (Value::Open(_), other) | (other, Value::Open(_)) if is_tensor(other) => {}
        // If the operator does not fail, the other operand is on the same GPU, or it is a number.
        (Value::Open(open), Value::Unknown) | (Value::Unknown, Value::Open(open)) => {
            return open.device.on_gpu().is_cuda().then(|| Err(placed(open.device, open.device_at, Grad::Unknown)));
        }
        (open @ Value::Open(_), number) | (number, open @ Value::Open(_)) => {
            return (number.number_type().is_some() && op != BinOp::MatMul).then(|| Err(open.clone()));
        }
        _ => return None,
    }
    Some(Ok((as_tensor(it, left), as_tensor(it, right))))
}

/// An element of a value of unknown type, read with an index. An element of an output may require
/// grad like the output itself.
pub(crate) fn element(object: &Value) -> Option<Value> {
    let Value::Open(open) = object else { return None };
    Some(placed(device_of_part(open), open.device_at, open.grad))
}

/// An element of a value of unknown type over which the program iterates. If the value is a tuple
/// of outputs, some of them may be predictions, which do not require grad.
pub(crate) fn iterated(object: &Value) -> Option<Value> {
    let Value::Open(open) = object else { return None };
    Some(part(open))
}

/// The result of an operator on one value of unknown type.
pub(crate) fn unary(operand: &Value) -> Option<Value> {
    matches!(operand, Value::Open(_)).then(|| operand.clone())
}

/// The index as a tensor, if a tensor is indexed and the type of the index is unknown.
pub(crate) fn index(it: &mut Interp<'_>, object: &Value, index: &Value) -> Option<Value> {
    (matches!(index, Value::Open(_)) && it.heap.is_tensor(object)).then(|| as_tensor(it, index))
}

/// Whether an argument is on a GPU, or is assumed to be on one.
pub(crate) fn is_on_gpu(it: &Interp<'_>, args: &Args) -> bool {
    args.pos.iter().chain(args.kw.iter().map(|(_, arg)| arg)).any(|arg| {
        let device = match &arg.value {
            Value::Open(open) => Some(open.device),
            value => it.heap.tensor_ref(value).filter(|t| t.array == ArrayKind::Torch).and_then(|t| t.device),
        };
        device.is_some_and(|device| device.on_gpu().is_cuda() && !device.implied)
    })
}

/// The result of a call of a module whose class or output is unknown. The module is assumed to return
/// tensors on the device of its inputs, which is a GPU. `name` is the module in the source, for messages.
pub(crate) fn output(it: &mut Interp<'_>, module: &Value, name: &str, span: Span) -> Value {
    let cx = &mut Cx { it, path: sym("torch.nn.Module"), span };
    let is_known = cx.it.heap.instance_of(module).is_some();
    let parameters = tensors_of(cx, module, Kind::Parameters, true).found;
    let is_on_cpu = |value: &Value| cx.it.heap.tensor_ref(value).is_some_and(|t| t.device.is_some_and(Device::is_cpu));
    // The call fails, or moves its inputs.
    if parameters.iter().any(|(_, value)| is_on_cpu(value)) {
        return Value::Unknown;
    }
    let grad = match grad_mode(cx) {
        Some(false) => Grad::Off,
        Some(true) if is_known && (parameters.is_empty() || cx.it.classes_call(module, NO_GRAD)) => Grad::Unknown,
        Some(true) if !(cx.it.speculative() && NO_GRAD.iter().any(|name| cx.it.mentions(name))) => Grad::Attached,
        _ => Grad::Unknown,
    };
    placed(Device::of(DeviceKind::Named(sym(&format!("the device of `{name}`")))), Some(span), grad)
}

/// An argument of the `forward` of a module that nothing calls: it is assumed to be on the device of
/// the module.
pub(crate) fn forward_argument(it: &Interp<'_>, receiver: &Value) -> Option<Value> {
    may_be_moved(it, receiver).then(|| placed(Device::of(DeviceKind::Module), None, Grad::Unknown))
}

/// Checks that the output and the target, the arguments of an unknown loss function, are on one
/// device. Numbers and tensors without dimensions are not checked.
pub(crate) fn check_loss(it: &mut Interp<'_>, args: &Args, span: Span) {
    let tensors: Vec<Tensor> = args
        .pos
        .iter()
        .filter_map(|arg| {
            let value = as_tensor(it, &arg.value);
            it.heap.tensor_of(&value).filter(|tensor| tensor.rank() != Some(0))
        })
        .collect();
    if let [first, second] = &*tensors {
        let cx = &mut Cx { it, path: sym("torch.nn.Module"), span };
        common_device(cx, &[("the first argument", first), ("the second argument", second)], Mix::Strict);
    }
}
