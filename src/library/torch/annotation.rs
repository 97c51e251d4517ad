//! The facts of a parameter from its annotation.

use std::rc::Rc;

use crate::library::names::is_tensor_attribute;
use crate::python::{FUNCTIONAL, Interp, OPERAND};
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

/// A tensor, if the function uses the parameter in a way that only tensors allow. The arguments of
/// `forward` are assumed to be on the device of the module.
pub(crate) fn used(
    it: &mut Interp<'_>,
    uses: &[(&str, bool)],
    receiver: Option<&Value>,
    method: &str,
) -> Option<Value> {
    let inside = method == "forward" && receiver.is_some_and(|receiver| super::nn::moves::may_be_moved(it, receiver));
    let of_tensors = |one: &&(&str, bool)| match **one {
        OPERAND => inside,
        // Functions of torchvision also take images.
        FUNCTIONAL => {
            inside
                && !["transforms.functional as F", "transforms import functional as F", "v2 import functional as F"]
                    .iter()
                    .any(|text| it.mentions(text))
        }
        (name, true) => METHODS_OF_TENSORS.contains(&name) || inside && METHODS_IN_FORWARD.contains(&name),
        _ => false,
    };
    // Only another object has a method that no tensor has.
    if uses.iter().any(|(name, called)| *called && !is_tensor_attribute(name)) {
        return None;
    }
    // The program's own classes may have such a method, too.
    let is_defined = |name: &str| it.mentions(sym(&format!("def {name}(")).as_str());
    uses.iter().filter(of_tensors).find(|one| !is_defined(one.0))?;
    let device = inside.then_some(Device::of(DeviceKind::Module));
    Some(it.heap.tensor(Tensor::default().with_device(device, None)))
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
