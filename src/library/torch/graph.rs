//! Whether the result of a call with an unknown argument has an autograd graph.

use super::broadcast::grad_mode;
use crate::library::Cx;
use crate::python::{Bound, Interp};
use crate::value::{Data, Grad, Items, ObjId, Value};

/// Parameters that do not take tensors with a graph: sizes, positions, options.
#[rustfmt::skip]
const SETTINGS: &[&str] = &[
    "dim", "dims", "axis", "dim0", "dim1", "axis0", "axis1", "size", "sizes", "shape", "repeats", "n", "k", "length",
    "start", "end", "step", "start_dim", "end_dim", "source", "destination", "sections", "chunks", "split_size",
    "split_size_or_sections", "indices_or_sections", "index", "indices", "mask", "condition", "lengths", "offsets",
    "diagonal", "offset", "shifts", "keepdim", "largest", "sorted", "descending", "stable", "unbiased", "correction",
    "device", "dtype", "layout", "memory_format", "pin_memory", "requires_grad", "non_blocking", "copy", "generator",
    "training", "train", "inplace", "reduction", "reduce", "size_average", "ignore_index", "label_smoothing", "p",
    "eps", "margin", "momentum", "kernel_size", "stride", "padding", "dilation", "groups", "output_padding",
    "output_size", "ceil_mode", "scale_factor", "mode", "align_corners", "num_classes", "normalized_shape",
    "num_groups", "max_norm", "norm_type", "padding_idx", "pad", "batch_first", "enforce_sorted", "self",
];

/// Handles a result without a graph, if one of the arguments is unknown. This argument may have a
/// graph, so it becomes unknown whether the result has one.
pub(crate) fn doubt(cx: &mut Cx<'_, '_>, bound: &Bound, result: &Value) {
    let path = cx.path.as_str();
    if !path.starts_with("torch.") || makes_leaves(cx.name()) || grad_mode(cx) == Some(false) {
        return;
    }
    let apart: Vec<ObjId> = result.parts().iter().filter_map(|part| without_graph(cx.it, part)).collect();
    if apart.is_empty() {
        return;
    }
    let given = bound.sig.params.iter().zip(&bound.values).filter_map(|(p, arg)| Some((p.name, &arg.as_ref()?.value)));
    let operands = given.filter(|(name, _)| !SETTINGS.contains(&name.as_str())).map(|(_, value)| value);
    let (mut tensors, mut unknown) = (false, false);
    for value in operands.chain(bound.rest.iter().map(|arg| &arg.value)) {
        tensors |= cx.it.heap.is_tensor(value);
        unknown |= is_open(cx.it, value);
    }
    if tensors && unknown {
        for id in apart {
            cx.it.heap.update_tensor(id, |tensor| tensor.grad = Grad::Unknown);
        }
    }
}

/// Functions whose result has no graph, whatever their arguments are.
fn makes_leaves(name: &str) -> bool {
    name == "detach" || name.ends_with("_like") || name.starts_with("new_") || name.starts_with("arg")
}

fn without_graph(it: &Interp<'_>, value: &Value) -> Option<ObjId> {
    let tensor = it.heap.tensor_ref(value)?;
    let differentiable = tensor.dtype.is_none_or(|dtype| !dtype.is_integral());
    value.as_obj().filter(|_| tensor.grad == Grad::Off && differentiable)
}

/// Whether an argument may contain an unknown tensor, which may have a graph: the argument is
/// unknown, or has an unknown element.
fn is_open(it: &Interp<'_>, value: &Value) -> bool {
    match value {
        Value::Unknown | Value::Open(_) => true,
        Value::Tuple(items) => items.iter().any(Value::is_unknown),
        Value::Obj(id) => match it.heap.get(*id) {
            Data::List(Items::Exact(items)) => items.iter().any(Value::is_unknown),
            Data::List(Items::Many(item)) => item.is_unknown(),
            _ => false,
        },
        _ => false,
    }
}
