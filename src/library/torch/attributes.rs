//! The attributes of `torch.Tensor`: reading and assigning them.

use super::broadcast::{dtype_read, result_grad, shape_read, shape_text};
use super::carry;
use super::factory::{item_size, make_legacy};
use super::views;
use crate::library::{Cx, Table};
use crate::python::{Bound, Event, Hook, Interp, RejectKind};
use crate::value::{
    ArrayKind, Data, DeviceKind, Dim, Dtype, Grad, ObjId, Sign, Size, Sym, Tensor, Topic, Type, Value, sym,
};

pub(crate) fn register(t: &mut Table) {
    let class = t.class("torch.Tensor", &[], "*args, size=None, device=None");
    class.attribute = Some(attribute);
    class.make = Some(make_legacy);
    class.keeps_arguments = false;
    t.listed("torch.Tensor.", "size", size);
    t.listed("torch.Tensor.", "dim ndimension", dim);
}

/// The shape as a tuple of Python integers.
pub(crate) fn shape_value(tensor: &Tensor) -> Value {
    match &tensor.shape {
        Some(dims) => Value::tuple(dims.iter().map(|d| Value::size(&d.size)).collect()),
        None => Value::Unknown,
    }
}

/// Gives each unknown length of the tensor a symbol, so that sizes computed from the shape equal
/// those of the tensor. Returns the tensor.
fn measured(cx: &mut Cx<'_, '_>, object: &Value) -> Option<Tensor> {
    let tensor = cx.tensor(object)?;
    let id = object.as_obj()?;
    if tensor.shape.iter().flatten().all(|dim| !dim.size.is_unknown()) {
        return Some(tensor);
    }
    let mut dims = tensor.shape?;
    for (at, dim) in dims.iter_mut().enumerate().filter(|(_, dim)| dim.size.is_unknown()) {
        // The program may have computed the length, so it may be 0.
        let symbol = cx.it.heap.signed_symbol(&format!("d{at}"), Sign::NotNegative);
        *dim = Dim { size: Size::symbol(symbol), ..dim.clone() };
    }
    cx.it.heap.update_tensor(id, |tensor| tensor.shape = Some(dims));
    cx.tensor(object)
}

fn size(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = measured(cx, &b.get("input")) else { return Value::Unknown };
    let dim = b.get("dim");
    if dim.is_none() {
        return shape_value(&input);
    }
    match carry::axis(cx, &dim, &input) {
        Ok(Some(at)) => {
            input.shape.as_ref().and_then(|s| s.get(at)).map_or(Value::Any(Type::Int), |d| Value::size(&d.size))
        }
        _ => Value::Any(Type::Int),
    }
}

fn dim(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    rank(&cx.tensor_arg(b, "input").unwrap_or_default())
}

fn rank(tensor: &Tensor) -> Value {
    tensor.rank().and_then(|r| i64::try_from(r).ok()).map_or(Value::Any(Type::Int), Value::Int)
}

fn requires_grad(tensor: &Tensor) -> Value {
    match tensor.grad {
        Grad::Unknown if tensor.dtype.is_some_and(Dtype::is_integral) => Value::Bool(false),
        Grad::Unknown => Value::Any(Type::Bool),
        Grad::Off => Value::Bool(false),
        Grad::Leaf | Grad::Attached => Value::Bool(true),
    }
}

fn attribute(cx: &mut Cx<'_, '_>, object: &Value, name: Sym) -> Option<Value> {
    let tensor = cx.tensor(object)?;
    if tensor.array != ArrayKind::Torch {
        return None;
    }
    let device = tensor.device.filter(|d| d.is_concrete());
    let on = |kind: fn(DeviceKind) -> bool| device.map_or(Value::Any(Type::Bool), |d| Value::Bool(kind(d.kind)));
    Some(match name.as_str() {
        "shape" => shape_value(&measured(cx, object)?),
        "ndim" => rank(&tensor),
        "dtype" => tensor.dtype.map_or(Value::Unknown, Value::Dtype),
        "device" => tensor.device.map_or(Value::Unknown, Value::Device),
        "requires_grad" => requires_grad(&tensor),
        "is_leaf" => match tensor.grad {
            Grad::Leaf | Grad::Off => Value::Bool(true),
            Grad::Attached => Value::Bool(false),
            Grad::Unknown => Value::Any(Type::Bool),
        },
        "is_cuda" => on(|kind| kind == DeviceKind::Cuda),
        "is_cpu" => on(|kind| kind == DeviceKind::Cpu),
        "is_meta" => on(|kind| kind == DeviceKind::Meta),
        "is_mps" | "is_xpu" | "is_sparse" | "is_quantized" | "is_mkldnn" | "is_nested" => Value::Any(Type::Bool),
        "itemsize" => tensor.dtype.and_then(item_size).map_or(Value::Any(Type::Int), Value::Int),
        "nbytes" => {
            let bytes = tensor.dtype.and_then(item_size).map_or(Size::Unknown, Size::Int);
            Value::size(&bytes.mul(&tensor.numel()))
        }
        "output_nr" => Value::Any(Type::Int),
        "data" => cx.view_of(object, Tensor { grad: Grad::Off, ..tensor }),
        "grad" => gradient(cx, object, &tensor),
        "grad_fn" if tensor.grad == Grad::Off || tensor.grad == Grad::Leaf => Value::None,
        "grad_fn" | "names" | "layout" => Value::Unknown,
        "real" | "imag" => part_of(cx, object, name.as_str()),
        "T" | "mT" | "H" | "mH" => views::transposed_attribute(cx, object, &tensor, name.as_str()),
        _ => return None,
    })
}

/// A note: true if a backward pass has run; unknown if a later `zero_grad` may have set gradients
/// to `None`.
const GRADIENTS: Topic = Topic::new("gradients are there");

/// If there is no note yet, notes that there are no gradients. The note also holds on paths that
/// run no backward pass.
fn begin_gradients(cx: &mut Cx<'_, '_>) {
    if cx.it.remembered(GRADIENTS).is_none() {
        let state = cx.it.state;
        cx.it.heap.settle_note(state, GRADIENTS, Value::Bool(false));
    }
}

/// Notes that a backward pass has run.
pub(crate) fn gradients_made(cx: &mut Cx<'_, '_>) {
    begin_gradients(cx);
    cx.it.remember(GRADIENTS, Value::Bool(true));
    cx.it.havoc_hooks(|when| when == Hook::Backward);
}

/// Handles a call of `zero_grad`: some gradients may be `None` now.
pub(crate) fn gradients_cleared(cx: &mut Cx<'_, '_>, set_to_none: &Value) {
    begin_gradients(cx);
    if set_to_none.as_bool() != Some(false) {
        cx.it.remember(GRADIENTS, Value::Unknown);
    }
}

/// Reads `x.grad`. The result is known only after a `backward()` of the program. Before that, it is
/// unknown, because unseen code may have run a backward pass.
fn gradient(cx: &mut Cx<'_, '_>, object: &Value, tensor: &Tensor) -> Value {
    cx.it.event(Event::ReadAttribute { object: object.as_obj(), name: sym("grad") });
    let there = cx.it.remembered(GRADIENTS).is_some_and(|there| there.as_bool() == Some(true));
    if tensor.grad == Grad::Off || !there {
        return Value::Unknown;
    }
    let mut out = tensor.clone();
    out.forget_values();
    (out.base, out.version, out.writes, out.grad) = (None, 0, 0, Grad::Off);
    cx.out(out)
}

/// The real or imaginary part: a view. The real part of a real tensor is the tensor itself.
fn part_of(cx: &mut Cx<'_, '_>, value: &Value, part: &str) -> Value {
    let Some(input) = cx.tensor(value) else { return cx.some_tensor() };
    if part == "imag"
        && let Some(dtype) = input.dtype.filter(|d| !d.is_complex())
    {
        let message = format!("{dtype} has no imaginary part");
        cx.reject(RejectKind::Dtype, message, vec![dtype_read(("input", &input))]);
        return cx.some_tensor();
    }
    if input.dtype.is_some_and(|d| !d.is_complex()) {
        return value.clone();
    }
    let mut out = input.clone();
    out.forget_values();
    out.dtype = input.dtype.map(Dtype::to_real);
    out.grad = result_grad(cx, &[&input], out.dtype);
    cx.view_of(value, out)
}

/// `tensor.name = value`; returns `false` if the interpreter must set the attribute.
pub(crate) fn set(cx: &mut Cx<'_, '_>, object: &Value, name: &str, value: &Value) -> bool {
    let (Some(id), Some(tensor)) = (object.as_obj(), cx.tensor(object)) else { return false };
    if tensor.array == ArrayKind::Numpy {
        return crate::library::numpy::set_attribute(cx, object, name, value);
    }
    match name {
        "requires_grad" => {
            let grad = match (value, tensor.grad) {
                (Value::Bool(true), Grad::Attached) => Grad::Attached,
                (Value::Bool(true), Grad::Off | Grad::Leaf) => Grad::Leaf,
                (Value::Bool(false), _) => Grad::Off,
                _ => Grad::Unknown,
            };
            if grad == Grad::Leaf
                && let Some(dtype) = tensor.dtype.filter(|d| d.is_integral())
            {
                let message =
                    format!("a tensor of {dtype} cannot require grad: only floating-point and complex tensors can");
                cx.reject(RejectKind::Dtype, message, vec![dtype_read(("the tensor", &tensor))]);
                return true;
            }
            frozen(cx.it, &tensor, grad);
            cx.it.heap.update_tensor(id, |t| t.grad = grad);
            true
        }
        "data" => {
            let mut facts = cx.tensor(value).unwrap_or_default();
            // The two tensors share memory after this assignment: a write to one changes the other.
            facts.forget_values();
            facts.grad = tensor.grad;
            cx.it.heap.overwrite(id, facts);
            if let Some(other) = value.as_obj() {
                cx.it.heap.share_data(id, other);
            }
            true
        }
        "grad" => {
            if let Some(grad) = cx.tensor(value) {
                let clash = match (&grad.shape, &tensor.shape) {
                    (Some(a), Some(b)) => {
                        a.len() != b.len() || a.iter().zip(b).any(|(x, y)| x.size.equals(&y.size) == Some(false))
                    }
                    _ => false,
                };
                if clash {
                    let message = format!(
                        "the gradient is {} and the tensor {}: they must have the same shape",
                        shape_text(&grad),
                        shape_text(&tensor)
                    );
                    let reads = vec![shape_read(("grad", &grad), None), shape_read(("the tensor", &tensor), None)];
                    cx.reject(RejectKind::Shape, message, reads);
                }
            } else {
                gradients_cleared(cx, &Value::None);
            }
            true
        }
        _ => false,
    }
}

/// Handles a tensor or array that is passed to unseen code. If all its elements have the same
/// value, it is usually a buffer that this code fills, so its elements become unknown. The code may
/// also resize an empty tensor, or an array of at most one element, so their shape becomes unknown,
/// too.
pub(crate) fn unseen(it: &mut Interp<'_>, object: ObjId) {
    escaped(it, object);
    let Data::Tensor(tensor) = it.heap.get(object) else { return };
    let is_uniform = tensor.range.as_ref().is_some_and(|range| range.lo() == range.hi());
    let most = i64::from(tensor.array == ArrayKind::Numpy);
    let is_placeholder = tensor.numel().known().is_some_and(|count| count <= most) && tensor.rank() != Some(0);
    if !(is_uniform || is_placeholder) || tensor.parameter {
        return;
    }
    let Some(mut facts) = it.heap.tensor_of(&Value::Obj(object)) else { return };
    facts.forget_values();
    if is_placeholder {
        facts.shape = None;
    }
    it.heap.update_tensor(object, |tensor| *tensor = facts);
}

/// Handles a tensor that escapes to unseen code, which may set `requires_grad`.
pub(crate) fn escaped(it: &mut Interp<'_>, object: ObjId) {
    if matches!(it.heap.get(object), Data::Tensor(tensor) if tensor.grad == Grad::Off && !tensor.parameter) {
        it.heap.update_tensor(object, |tensor| tensor.grad = Grad::Unknown);
    }
}

/// Handles a tensor whose gradients are turned off. If nothing is known about this tensor, it may
/// be any parameter, for example one from a module with unknown parts. So the gradient state of
/// every parameter that requires grad becomes unknown.
pub(crate) fn frozen(it: &mut Interp<'_>, tensor: &Tensor, to: Grad) {
    if to != Grad::Off || tensor.parameter || tensor.shape.is_some() || tensor.dtype.is_some() {
        return;
    }
    for object in it.heap.ids() {
        if matches!(it.heap.get(object), Data::Tensor(tensor) if tensor.parameter && tensor.grad == Grad::Leaf) {
            it.heap.update_tensor(object, |tensor| tensor.grad = Grad::Unknown);
        }
    }
}

/// `t.requires_grad = True` or `t.requires_grad_()` for an unknown `t`, which may be any tensor.
pub(crate) fn unseen_member(it: &mut Interp<'_>, name: Sym) {
    if matches!(name.as_str(), "requires_grad" | "requires_grad_") {
        for object in it.heap.ids() {
            escaped(it, object);
        }
    }
}
