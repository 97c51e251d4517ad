//! The facts of a parameter from its annotation.

use std::rc::Rc;

use crate::library::names::is_tensor_attribute;
use crate::python::{Interp, Use};
use crate::syntax::Span;
use crate::value::{Device, DeviceKind, Dim, Dtype, Partial, Size, Sym, Tensor, Topic, Type, Value, sym};

/// A note for a name in shape annotations: the length that the name stands for.
const ANNOTATED: Topic = Topic::new("annotated size");

/// A value that fits the annotation; `None` if the annotation is not supported.
pub(crate) fn annotated(it: &mut Interp<'_>, annotation: &Value, name: Sym, span: Span) -> Option<Value> {
    match annotation {
        Value::Path(path) => match path.as_str() {
            // Users also write `torch.FloatTensor` for tensors of any dtype, on any device.
            "torch.Tensor" | "torch.FloatTensor" | "torch.LongTensor" | "torch.BoolTensor" => {
                Some(it.heap.tensor(Tensor::default()))
            }
            "torch.device" => {
                let named = sym(&format!("`{name}`"));
                Some(Value::Device(Device::of(DeviceKind::Named(named))))
            }
            "builtins.int" => Some(Value::Any(Type::Int)),
            "builtins.bool" => Some(Value::Any(Type::Bool)),
            "builtins.str" => Some(Value::Any(Type::Str)),
            // An argument annotated `float` is often an int.
            _ => None,
        },
        // A generic with its arguments, as stored by `generic`.
        Value::Partial(partial) => {
            let kind = partial.func.as_path()?.strip_prefix("jaxtyping.")?;
            let [Value::Path(array), shape] = partial.args.as_slice() else { return None };
            if array.as_str() != "torch.Tensor" {
                return None;
            }
            Some(typed(it, kind, shape.as_str()?, span))
        }
        _ => None,
    }
}

/// Methods that only tensors have, among the objects that training scripts usually pass to
/// functions.
const METHODS_OF_TENSORS: &[&str] = &[
    "contiguous",
    "dim",
    "expand",
    "expand_as",
    "log_softmax",
    "long",
    "masked_fill",
    "masked_select",
    "narrow",
    "new_full",
    "new_ones",
    "new_tensor",
    "new_zeros",
    "numel",
    "permute",
    "size",
    "sigmoid",
    "softmax",
    "type_as",
    "unbind",
    "unsqueeze",
    "view_as",
];

/// Further methods of tensors. Other values have methods of these names, too, but are rarely
/// arguments of `forward`.
const METHODS_IN_FORWARD: &[&str] = &[
    "bmm",
    "chunk",
    "detach",
    "double",
    "flatten",
    "float",
    "half",
    "mean",
    "new",
    "repeat",
    "requires_grad_",
    "reshape",
    "squeeze",
    "sum",
    "transpose",
    "view",
];

/// The functions `torch.name` whose first argument may be something other than a tensor.
#[rustfmt::skip]
const TAKE_OTHERS: &[&str] = &[
    "arange", "as_tensor", "asarray", "atleast_1d", "atleast_2d", "atleast_3d", "autocast", "bartlett_window",
    "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "blackman_window",
    "block_diag", "broadcast_shapes", "broadcast_tensors", "bucketize", "can_cast", "cartesian_prod", "cat",
    "chain_matmul", "column_stack", "compile", "complex", "concat", "concatenate", "device", "dstack", "einsum",
    "empty", "empty_permuted", "empty_strided", "enable_grad", "eye", "float_power", "from_dlpack", "from_file",
    "from_numpy", "frombuffer", "full", "get_default_dtype", "hamming_window", "hann_window", "hstack",
    "inference_mode", "is_storage", "is_tensor", "isin", "kaiser_window", "linspace", "load", "logspace",
    "manual_seed", "meshgrid", "no_grad", "normal", "ones", "pow", "promote_types", "rand", "randint", "randn",
    "randperm", "range", "remainder", "result_type", "row_stack", "save", "scalar_tensor", "searchsorted",
    "set_default_device", "set_default_dtype", "set_default_tensor_type", "set_float32_matmul_precision",
    "set_grad_enabled", "set_num_threads", "set_printoptions", "sparse_coo_tensor", "sparse_csr_tensor", "stack",
    "tensor", "tensordot", "tril_indices", "triu_indices", "typename", "use_deterministic_algorithms", "vander",
    "vmap", "vstack", "where", "xlogy", "zeros",
];

/// Whether the first argument of a function is a tensor: `F.name`, `….functional.name`, or
/// `torch.name`.
fn takes_tensor(path: &[&str]) -> bool {
    match path {
        ["torch", function] => function.starts_with(|c: char| c.is_lowercase()) && !TAKE_OTHERS.contains(function),
        ["F", _] | [.., "functional", _] => true,
        path => is_like(path),
    }
}

/// Whether a function is a method whose argument is a tensor: `x.type_as(y)`.
fn is_like(path: &[&str]) -> bool {
    matches!(path, [.., "type_as" | "expand_as" | "view_as"])
}

/// A tensor, if the function uses the parameter in a way that only tensors allow. The arguments of
/// `forward` are assumed to be on the device of the module.
pub(crate) fn used(it: &mut Interp<'_>, uses: &[Use<'_>], receiver: Option<&Value>, method: &str) -> Option<Value> {
    let inside = method == "forward" && receiver.is_some_and(|receiver| super::nn::moves::may_be_moved(it, receiver));
    // The program's own classes may have such a method, too.
    let is_defined = |name: &str| it.mentions(sym(&format!("def {name}(")).as_str());
    let is_of_tensor = |one: &Use<'_>| match one {
        Use::Operand => inside,
        // Functions of torchvision also take images.
        Use::Argument(path) => {
            (inside || path.first() == Some(&"torch") || is_like(path))
                && takes_tensor(path)
                && !["transforms.functional as F", "transforms import functional as F", "v2 import functional as F"]
                    .iter()
                    .any(|text| it.mentions(text))
        }
        // `ops.sigmoid(x)` is a function of another object.
        Use::Method("sigmoid", 1..) | Use::Method("softmax" | "log_softmax", 2..) => false,
        Use::Method(name, _) => {
            (METHODS_OF_TENSORS.contains(name) || inside && METHODS_IN_FORWARD.contains(name)) && !is_defined(name)
        }
        // The other libraries call it `axis`.
        Use::MethodOverDim => true,
        Use::Attribute(_) => false,
    };
    // An object with a method that tensors do not have is not a tensor.
    if uses.iter().any(|one| matches!(one, Use::Method(name, _) if !is_tensor_attribute(name)))
        || !uses.iter().any(is_of_tensor)
    {
        return None;
    }
    let device = inside.then_some(Device::of(DeviceKind::Module));
    Some(it.heap.tensor(Tensor::default().with_device(device, None)))
}

/// Gives a tensor argument of a function that nothing calls the device `x.device`, if the program
/// shows that its arguments may be on a GPU.
pub(crate) fn place_argument(it: &mut Interp<'_>, argument: &Value, name: &str, function: &str) {
    let Some(id) = argument.as_obj().filter(|_| it.heap.is_tensor(argument)) else { return };
    // `torch.device("cpu")` and `device="cpu"` are no evidence.
    let evidence = [".device)", ".device,", ".device\n", ".cuda(", "device=d", ".to(device", ".type_as("];
    // The program may pass only tensors that it has moved to the CPU.
    let is_on_cpu = || it.mentions(".cpu()") && it.calls_name(sym(function));
    let places = !function.contains("collate")
        && !it.mentions("def __getitem__(")
        && evidence.iter().any(|text| it.mentions(text))
        && !is_on_cpu();
    if places {
        let device = Device::of(DeviceKind::Named(sym(&format!("`{name}.device`"))));
        it.heap.update_tensor(id, |t| t.device = t.device.or(Some(device)));
    }
}

/// Stores the parts of `Float[Tensor, "batch 3 h w"]`, until this value is used as an annotation.
pub(crate) fn generic(object: &Value, index: &Value) -> Option<Value> {
    let path = object.as_path()?;
    path.strip_prefix("jaxtyping.")?;
    let Value::Tuple(args) = index else { return None };
    Some(Value::Partial(Rc::new(Partial { func: object.clone(), args: args.to_vec(), kwargs: Vec::new() })))
}

fn typed(it: &mut Interp<'_>, kind: &str, shape: &str, span: Span) -> Value {
    let dtype = match kind {
        "Float16" => Some(Dtype::Float16),
        "BFloat16" => Some(Dtype::Bfloat16),
        "Float32" => Some(Dtype::Float32),
        "Float64" => Some(Dtype::Float64),
        "Int8" => Some(Dtype::Int8),
        "Int16" => Some(Dtype::Int16),
        "Int32" => Some(Dtype::Int32),
        "Int64" => Some(Dtype::Int64),
        "UInt8" => Some(Dtype::Uint8),
        "Bool" => Some(Dtype::Bool),
        "Complex64" => Some(Dtype::Complex64),
        "Complex128" => Some(Dtype::Complex128),
        // `Float`, `Int`, `Num` and so on: any dtype of the kind.
        _ => None,
    };
    let mut tensor = Tensor::default().with_dtype(dtype, dtype.map(|_| span));
    if let Some(sizes) = sizes(it, shape) {
        tensor.shape = Some(sizes.into_iter().map(|size| Dim::new(size, Some(span))).collect());
        tensor.shape_at = Some(span);
    }
    it.heap.tensor(tensor)
}

/// The dimensions of a jaxtyping shape. A name gets a symbol at its first occurrence, and later
/// occurrences use the same symbol.
fn sizes(it: &mut Interp<'_>, shape: &str) -> Option<Vec<Size>> {
    let mut out = Vec::new();
    for name in shape.split_whitespace() {
        // `...`, `*batch` and `#b` mean any number of dimensions, or broadcasting.
        if name.starts_with(['*', '.', '#']) {
            return None;
        }
        let name = name.rsplit('=').next().unwrap_or(name);
        out.push(match name.parse::<i64>() {
            Ok(n) => Size::Int(n),
            Err(_) if name == "_" || !name.chars().all(|c| c.is_alphanumeric() || c == '_') => Size::Unknown,
            Err(_) => {
                let note = ANNOTATED.of(sym(name));
                match it.remembered(note).and_then(|v| v.as_size()) {
                    Some(size) if !size.is_unknown() => size,
                    _ => {
                        let size = Size::symbol(it.heap.symbol(name));
                        it.remember(note, Value::size(&size));
                        size
                    }
                }
            }
        });
    }
    Some(out)
}
