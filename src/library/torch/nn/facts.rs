//! The shared parts of the functions of `torch.nn.functional`: results, autocast, sizes of windows.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

pub(super) use crate::library::torch::autocast::{Autocast, autocast, raised as full_dtype};
use crate::library::torch::broadcast::{self, result_grad};
pub(super) use crate::library::torch::broadcast::{both_shapes, shape_text};
pub(super) use crate::library::torch::support::{agreed_device, product_dtype};
use crate::library::{Cx, signatures};
use crate::python::{Bound, Event, RejectKind};
use crate::value::{Data, Dim, Dtype, Grad, ObjId, Origin, Sign, Size, Sym, Tensor, Value, counted};

/// The gradient state of a result with this dtype. An unknown dtype is treated as floating, because
/// layers and losses return floating tensors.
pub(super) fn floating_grad(cx: &Cx<'_, '_>, inputs: &[&Tensor], dtype: Option<Dtype>) -> Grad {
    result_grad(cx, inputs, dtype.or(Some(Dtype::Float32)))
}

/// The gradient state of a result if one more operand is unknown, which may require a gradient, too.
pub(super) fn with_unknown_operand(grad: Grad) -> Grad {
    if grad == Grad::Attached { Grad::Attached } else { Grad::Unknown }
}

/// A tensor whose last dimension is known, even if its rank is not.
pub(super) fn ending_in(cx: &mut Cx<'_, '_>, mut out: Tensor, last: Dim) -> Value {
    if out.shape.is_none() {
        out.set_trailing([last]);
    }
    cx.it.heap.tensor_with_trailing(out)
}

/// A result with the given shape and dtype and the device of the inputs.
pub(super) fn result(cx: &Cx<'_, '_>, inputs: &[&Tensor], shape: Option<Vec<Dim>>, dtype: Option<Dtype>) -> Tensor {
    let grad = floating_grad(cx, inputs, dtype);
    let first = inputs.first();
    let dtype_at = first.filter(|t| t.dtype == dtype).and_then(|t| t.dtype_at).or(cx.at());
    let (device, device_at) = agreed_device(inputs);
    Tensor { shape, shape_at: cx.at(), dtype, dtype_at, device, device_at, grad, ..Tensor::default() }
}

/// A result with the shape, dtype and device of the input, but without its elements.
pub(super) fn like(cx: &Cx<'_, '_>, input: &Tensor) -> Tensor {
    let mut out = result(cx, &[input], input.shape.clone(), input.dtype);
    out.shape_at = input.shape_at;
    out
}

/// The result, written into the input if the call has `inplace=True`.
pub(super) fn finish(cx: &mut Cx<'_, '_>, b: &Bound, out: Tensor) -> Value {
    if !b.takes("inplace") {
        return cx.out(out);
    }
    let input = b.get("input");
    match (b.get("inplace"), input.as_obj()) {
        (Value::Bool(true), Some(id)) => {
            let trailing = cx.it.heap.tensor_ref(&input).map(|input| input.trailing.clone());
            let out = Tensor { trailing: trailing.unwrap_or_default(), ..out };
            put_back(cx, b, id, out);
            input
        }
        (Value::Bool(false) | Value::None, _) | (_, None) => cx.out(out),
        // The call may have written to the input.
        (_, Some(id)) => {
            if let Data::Tensor(have) = cx.it.heap.get(id) {
                let mut have = have.clone();
                have.forget_values();
                let base = have.base.unwrap_or(id);
                cx.it.heap.overwrite(id, have);
                cx.it.heap.update_tensor(base, |tensor| tensor.unsure = true);
            }
            cx.out(out)
        }
    }
}

/// Writes the result into the input. The autograd graph records it as a new tensor that is written
/// into the input, as for methods with an underscore.
pub(super) fn put_back(cx: &mut Cx<'_, '_>, b: &Bound, input: ObjId, out: Tensor) {
    let (path, span) = (cx.path, cx.span);
    let result = &cx.it.heap.tensor(out.clone());
    cx.it.event(Event::Returned { path, bound: b, result, span });
    cx.it.event(Event::Written { object: input, result, span });
    cx.it.heap.overwrite(input, out);
}

/// An argument with one size for all `n` spatial dimensions, or with one size for each.
pub(super) fn per_dim(cx: &Cx<'_, '_>, value: &Value, n: usize) -> Vec<Size> {
    if let Some(items) = cx.items(value) {
        return match items.as_slice() {
            [one] => vec![cx.size_of(one); n],
            all if all.len() == n => all.iter().map(|v| cx.size_of(v)).collect(),
            _ => vec![Size::Unknown; n],
        };
    }
    vec![cx.size_of(value); n]
}

/// The number of windows: `span // stride + 1`, where `span` is the length minus the window.
pub(super) fn windows(cx: &mut Cx<'_, '_>, span: &Size, stride: &Size) -> Size {
    floor_div(cx, span, stride).add(&Size::Int(1))
}

/// `numerator // divisor`: exact if that can be proved, otherwise a symbol that is the same for
/// equal expressions.
pub(super) fn floor_div(cx: &mut Cx<'_, '_>, numerator: &Size, divisor: &Size) -> Size {
    let divisor = match divisor {
        Size::Int(n) if *n > 0 => *n,
        _ => return Size::Unknown,
    };
    match numerator {
        Size::Unknown => Size::Unknown,
        Size::Int(n) => Size::Int(n.div_euclid(divisor)),
        Size::Expr(_) if divisor == 1 => numerator.clone(),
        Size::Expr(_) => {
            let exact =
                (0..divisor.min(64)).find_map(|rest| numerator.sub(&Size::Int(rest)).div_exact(&Size::Int(divisor)));
            exact.unwrap_or_else(|| {
                // The caller rejects a negative quotient.
                cx.it.heap.derived("//", &[numerator, &Size::Int(divisor)], Sign::NotNegative)
            })
        }
    }
}

/// The same dimension if its length stays the same, otherwise a new one whose origin is this call.
pub(super) fn resized(cx: &Cx<'_, '_>, old: &Dim, size: Size) -> Dim {
    if old.size == size && !size.is_unknown() { old.clone() } else { Dim::new(size, cx.at()) }
}

/// The label for a tensor's shape.
pub(super) fn shape_read(name: &str, tensor: &Tensor) -> (String, Origin) {
    broadcast::shape_read((name, tensor), None)
}

/// The label for a dimension whose length is a number of `noun`s, such as channels.
pub(super) fn dim_read(name: &str, noun: &str, dim: &Dim) -> (String, Origin) {
    (format!("`{name}` gets {} here", counted(&dim.size, noun)), dim.at)
}

/// The label for a dimension of a tensor, if there is no noun for [`dim_read`].
pub(super) fn length_read(name: &str, dim: &Dim) -> (String, Origin) {
    (format!("`{name}` gets a dimension of length {} here", dim.size), dim.at)
}

/// Rejects a rank that is not in the list.
pub(super) fn check_rank(cx: &mut Cx<'_, '_>, name: &str, tensor: &Tensor, ranks: &[usize]) -> bool {
    let Some(rank) = tensor.rank() else { return true };
    if ranks.is_empty() || ranks.contains(&rank) {
        return true;
    }
    let accepted: Vec<String> = ranks.iter().map(usize::to_string).collect();
    reject_rank(cx, name, (tensor, rank), &accepted.join(" or "));
    false
}

/// Rejects a rank below the minimum.
pub(super) fn check_least_rank(cx: &mut Cx<'_, '_>, name: &str, tensor: &Tensor, least: usize) -> bool {
    let Some(rank) = tensor.rank().filter(|rank| *rank < least) else { return true };
    reject_rank(cx, name, (tensor, rank), &format!("at least {least}"));
    false
}

fn reject_rank(cx: &mut Cx<'_, '_>, name: &str, (tensor, rank): (&Tensor, usize), accepted: &str) {
    let message = format!(
        "`{name}` is {}, which has {}: {} takes {accepted}",
        shape_text(tensor),
        counted(rank, "dimension"),
        cx.name(),
    );
    cx.reject(RejectKind::Rank, message, vec![shape_read(name, tensor)]);
}

/// The dtype of a result that is always floating: the common dtype of the floating inputs, or the
/// default dtype if all inputs are integers.
pub(super) fn floating_dtype(cx: &Cx<'_, '_>, inputs: &[&Tensor]) -> Option<Dtype> {
    let mut found = None;
    for input in inputs {
        let dtype = input.dtype.filter(|d| *d != Dtype::Bool)?;
        if dtype.is_integral() {
            continue;
        }
        if found.is_some_and(|have| have != dtype) || dtype.is_complex() {
            return None;
        }
        found = Some(dtype);
    }
    let dtype = found.or_else(|| cx.default_dtype())?;
    let device = inputs.iter().find_map(|t| t.device);
    let lowered = matches!(dtype, Dtype::Float16 | Dtype::Bfloat16);
    (!lowered || autocast(cx, device) == Autocast::Off).then_some(dtype)
}

/// Rejects an argument that is below its minimum.
pub(super) fn check_least(cx: &mut Cx<'_, '_>, b: &Bound, name: &str, least: i64) {
    let given = b.get(name);
    let below = match cx.items(&given) {
        Some(items) => items.iter().filter_map(Value::as_int).find(|n| *n < least),
        None => given.as_int().filter(|n| *n < least),
    };
    if let Some(n) = below {
        let message = format!("{name} is {n}: {} needs at least {least}", cx.name());
        let at = b.span(name).or(cx.at());
        cx.reject(RejectKind::Value, message, vec![(format!("{name} is {n}"), at)]);
    }
}

/// Rejects indices whose dtype is not one of the accepted integer types.
pub(super) fn check_indices(cx: &mut Cx<'_, '_>, name: &str, tensor: &Tensor, taken: &[Dtype]) {
    if let Some(dtype) = tensor.dtype.filter(|d| !taken.contains(d)) {
        let names: Vec<&str> = taken.iter().map(|d| d.name()).collect();
        let message = format!("`{name}` is {dtype}: {} takes {}", cx.name(), names.join(" or "));
        cx.reject(RejectKind::Dtype, message, vec![(format!("`{name}` gets dtype {dtype} here"), tensor.dtype_at)]);
    }
}

/// The names of parameters that are numbers of features, channels or embeddings.
const WIDTHS: &[&str] = &[
    "d_model",
    "dim_feedforward",
    "embed_dim",
    "embedding_dim",
    "hidden_size",
    "in_channels",
    "in_features",
    "input_size",
    "num_channels",
    "num_embeddings",
    "num_features",
    "out_channels",
    "out_features",
];

/// The parameters of each layer that are in [`WIDTHS`], by the name of its class.
static WIDTHS_OF: LazyLock<FxHashMap<&str, Vec<(usize, Sym)>>> = LazyLock::new(|| {
    let layers = signatures::paths().filter_map(|path| path.strip_prefix("torch.nn."));
    let widths = layers.filter_map(|layer| {
        let sigs = signatures::of(&format!("torch.nn.{layer}"));
        let [sig] = sigs.as_slice() else { return None };
        let names = sig.params.iter().map(|param| param.name).enumerate();
        Some((layer, names.filter(|(_, name)| WIDTHS.contains(&name.as_str())).collect()))
    });
    widths.collect()
});

/// The positions and names of the parameters of a layer that are in [`WIDTHS`], by the name of its class.
pub(crate) fn widths(layer: &str) -> &'static [(usize, Sym)] {
    WIDTHS_OF.get(layer).map_or(&[], Vec::as_slice)
}
