//! Tensors of unknown rank with known last dimensions: results of layers, of elementwise functions, and of
//! functions that move, add, remove, split or multiply dimensions; and inputs of calls that succeeded.

use super::views::split;
use crate::python::{Bound, Interp};
use crate::value::{Dim, ObjId, Size, Sym, Value, broadcast_ends};

/// Functions whose result has the shape of their first argument.
#[rustfmt::skip]
const KEEPING: &[&str] = &[
    "relu", "relu6", "leaky_relu", "rrelu", "prelu", "elu", "selu", "celu", "gelu", "silu", "mish", "hardtanh",
    "hardswish", "hardsigmoid", "softplus", "softsign", "sigmoid", "logsigmoid", "tanh", "tanhshrink", "threshold",
    "softmax", "log_softmax", "softmin", "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout",
    "feature_alpha_dropout", "batch_norm", "instance_norm", "group_norm", "layer_norm", "rms_norm",
    "local_response_norm", "normalize", "abs", "neg", "exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "square", "sin",
    "cos", "erf", "floor", "ceil", "round", "sign", "clamp", "clip", "clone", "detach", "contiguous", "to", "cuda",
    "cpu", "float", "double", "half", "bfloat16", "long", "int", "bool", "type", "type_as", "nan_to_num",
    "zeros_like", "ones_like", "rand_like", "randn_like", "full_like", "empty_like", "logical_not", "isnan", "isinf",
    "masked_fill", "cumsum", "cumprod", "flip", "roll", "triu", "tril", "logit", "reciprocal", "log2", "log10", "exp2",
    "tan", "atan", "sinh", "cosh", "frac", "trunc", "clamp_min", "clamp_max", "requires_grad_",
];

/// Functions of two tensors that broadcast.
#[rustfmt::skip]
const BROADCASTING: &[&str] = &[
    "add", "sub", "mul", "div", "true_divide", "floor_divide", "remainder", "pow", "maximum", "minimum", "eq", "ne",
    "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor",
];

/// Records what a successful call implies about the shapes of its input and result.
pub(crate) fn learn(it: &mut Interp<'_>, path: Sym, bound: &Bound, result: &Value) {
    let is_open = |value: &Value| it.heap.tensor_ref(value).is_some_and(|tensor| tensor.shape.is_none());
    if !is_open(result) && !is_open(&bound.get("input")) {
        return;
    }
    let name = path.as_str().rsplit('.').next().unwrap_or_default();
    let argument = |it: &Interp<'_>, name: &str| it.heap.tensor_ref(&bound.get(name)).cloned();
    if let Some((inner, outer, n)) = wants(name) {
        let Some(weight) = argument(it, "weight") else { return };
        let (Some(taken), Some(given)) = (weight.dim(inner).cloned(), weight.dim(outer).cloned()) else { return };
        let grouped = n > 0 && bound.get("groups").as_int() != Some(1);
        let input = argument(it, "input").unwrap_or_default();
        let space = vec![Dim::UNKNOWN; n];
        let before: Vec<Dim> = match input.trailing.len().checked_sub(n + 1) {
            Some(count) if n == 0 => input.trailing.iter().take(count).cloned().collect(),
            _ => Vec::new(),
        };
        if !(grouped && name.starts_with("conv_transpose")) {
            give(it, result, before.into_iter().chain(std::iter::once(given)).chain(space.clone()).collect());
        }
        if !grouped && let Some(id) = bound.get("input").as_obj() {
            narrow(it, id, &std::iter::once(taken).chain(space).collect::<Vec<_>>());
        }
        return;
    }
    if let Some(ends) = rearranged(it, name, bound) {
        give(it, result, ends);
    } else if let "chunk" | "split" = name {
        let Some((mut ends, at)) = axis(it, bound, "dim") else { return };
        let total = ends.get(at).map_or(Size::Unknown, |dim| dim.size.clone());
        let length = match name {
            "chunk" => bound.get("chunks").as_size().and_then(|chunks| total.div_exact(&chunks)),
            _ => None,
        };
        if let Some(dim) = ends.get_mut(at) {
            dim.size = length.unwrap_or(Size::Unknown);
        }
        for piece in split::parts_of(it, result) {
            give(it, &piece, ends.clone());
        }
    } else if matches!(name, "cat" | "concat" | "concatenate") {
        // Only along the last dimension: without the rank, the place of another one is not known.
        if bound.get("dim").as_int() != Some(-1) {
            return;
        }
        let Some(pieces) = it.heap.exact_items(&bound.get("tensors")) else { return };
        let last = |piece: &Value| it.heap.tensor_ref(piece).and_then(|tensor| tensor.last_dims().last().cloned());
        let Some(mut lasts) = pieces.iter().map(last).collect::<Option<Vec<Dim>>>() else { return };
        let Some(mut end) = lasts.pop() else { return };
        end.size = lasts.iter().fold(end.size, |sum, dim| sum.add(&dim.size));
        give(it, result, vec![end]);
    } else if matches!(name, "interpolate" | "upsample") {
        let Some(input) = argument(it, "input") else { return };
        // After the channels come the sizes that change.
        let mut ends = input.trailing.to_vec();
        for size in ends.iter_mut().skip(1) {
            *size = Dim::UNKNOWN;
        }
        if ends.len() > 1 {
            give(it, result, ends);
        }
    } else if name == "embedding" {
        let ends = argument(it, "input").map(|input| input.trailing.to_vec()).unwrap_or_default();
        let Some(width) = argument(it, "weight").and_then(|weight| weight.dim(1).cloned()) else { return };
        give(it, result, ends.into_iter().chain(std::iter::once(width)).collect());
    } else if KEEPING.contains(&name) {
        let input = bound.values.first().and_then(Option::as_ref).and_then(|arg| it.heap.tensor_ref(&arg.value));
        if let Some(ends) = input.map(|input| input.trailing.clone()) {
            give(it, result, ends.to_vec());
        }
    } else if BROADCASTING.contains(&name) {
        let given = |at: usize| bound.values.get(at).and_then(Option::as_ref).map(|arg| arg.value.clone());
        let (Some(x), Some(y)) = (given(0), given(1)) else { return };
        let ends = |it: &Interp<'_>, value: &Value| {
            it.heap.tensor_ref(value).map(|tensor| tensor.last_dims().to_vec()).unwrap_or_default()
        };
        let ends = broadcast_ends(&ends(it, &x), &ends(it, &y));
        give(it, result, ends);
    } else if name.contains("_pool") && name.ends_with('d') {
        let Some(n) = name.trim_end_matches('d').chars().last().and_then(|c| c.to_digit(10)) else { return };
        let n = usize::try_from(n).unwrap_or(0);
        let Some(input) = argument(it, "input") else { return };
        let Some(channels) = input.trailing.len().checked_sub(n + 1).and_then(|at| input.trailing.get(at)) else {
            return;
        };
        let wanted = bound.get("output_size");
        let size = |at: usize| match it.heap.exact_items(&wanted) {
            Some(sizes) => sizes.get(at).and_then(Value::as_size),
            None => wanted.as_size(),
        };
        let sizes = (0..n).map(|at| Dim { size: size(at).unwrap_or(Size::Unknown), ..Dim::UNKNOWN });
        let ends = std::iter::once(channels.clone()).chain(sizes).collect();
        give(it, result, ends);
    }
}

/// The last dimensions of the result of a function that moves, adds or removes dimensions, or of a matrix
/// product. `None` for other functions, and if nothing is known.
fn rearranged(it: &Interp<'_>, name: &str, bound: &Bound) -> Option<Vec<Dim>> {
    match name {
        "transpose" | "swapaxes" | "swapdims" => {
            let (first, second) = if name == "swapaxes" { ("axis0", "axis1") } else { ("dim0", "dim1") };
            let ((mut ends, x), (_, y)) = (axis(it, bound, first)?, axis(it, bound, second)?);
            ends.swap(x, y);
            Some(ends)
        }
        "matmul" | "__matmul__" => {
            let factor = |at: usize| it.heap.tensor_ref(&bound.values.get(at)?.as_ref()?.value);
            let (x, y) = (factor(0)?.last_dims(), factor(1)?.last_dims());
            // A vector has only the inner dimension.
            let column = y.last().filter(|_| y.len() > 1).cloned()?;
            let row = x.len().checked_sub(2).and_then(|at| x.get(at)).cloned();
            Some(row.into_iter().chain(std::iter::once(column)).collect())
        }
        "squeeze" => {
            let [dim] = bound.rest.as_slice() else { return None };
            let (mut ends, at) = axis_at(it, bound, dim.value.as_int()?)?;
            // A dimension of unknown size may stay.
            ends.get(at).filter(|dim| dim.size.known() == Some(1))?;
            ends.remove(at);
            Some(ends)
        }
        "sum" | "mean" | "amax" | "amin" | "prod" | "std" | "var" | "median" | "logsumexp" | "argmax" | "argmin" => {
            let (mut ends, at) = axis(it, bound, "dim")?;
            match bound.get("keepdim").as_bool()? {
                true => *ends.get_mut(at)? = Dim { size: Size::Int(1), ..Dim::UNKNOWN },
                false => _ = ends.remove(at),
            }
            Some(ends)
        }
        "unsqueeze" => {
            let mut ends = it.heap.tensor_ref(&bound.get("input"))?.trailing.to_vec();
            let back = usize::try_from(-1 - bound.get("dim").as_int()?).ok()?;
            ends.insert(ends.len().checked_sub(back)?, Dim { size: Size::Int(1), ..Dim::UNKNOWN });
            Some(ends)
        }
        _ => None,
    }
}

/// The known last dimensions of `input`, and the index in this list of the dimension that a parameter
/// selects. `None` if the parameter is not negative, or selects a dimension that is not known.
fn axis(it: &Interp<'_>, bound: &Bound, parameter: &str) -> Option<(Vec<Dim>, usize)> {
    axis_at(it, bound, bound.get(parameter).as_int()?)
}

fn axis_at(it: &Interp<'_>, bound: &Bound, dim: i64) -> Option<(Vec<Dim>, usize)> {
    let ends = it.heap.tensor_ref(&bound.get("input"))?.trailing.to_vec();
    let at = i64::try_from(ends.len()).ok()? + dim;
    let at = usize::try_from(at).ok().filter(|at| *at < ends.len())?;
    Some((ends, at))
}

/// For `linear` and convolutions: the dimension of the weight that must match the channels (or
/// features) of the input, the dimension that determines the channels of the result, and the
/// number of dimensions that follow the channels. `None` for other functions.
fn wants(name: &str) -> Option<(i64, i64, usize)> {
    Some(match name {
        "linear" => (1, 0, 0),
        "conv1d" => (1, 0, 1),
        "conv2d" => (1, 0, 2),
        "conv3d" => (1, 0, 3),
        "conv_transpose1d" => (0, 1, 1),
        "conv_transpose2d" => (0, 1, 2),
        "conv_transpose3d" => (0, 1, 3),
        _ => return None,
    })
}

/// Notes the last dimensions of a result of unknown rank.
fn give(it: &mut Interp<'_>, result: &Value, ends: Vec<Dim>) {
    let Some(id) = result.as_obj().filter(|_| it.heap.tensor_ref(result).is_some_and(|t| t.shape.is_none())) else {
        return;
    };
    it.heap.update_tensor(id, |tensor| tensor.set_trailing(ends));
}

/// Notes that a tensor has these last dimensions.
fn narrow(it: &mut Interp<'_>, id: ObjId, wanted: &[Dim]) {
    it.heap.update_tensor(id, |tensor| {
        if tensor.shape.is_some() {
            return;
        }
        let more = tensor.trailing.len().saturating_sub(wanted.len());
        let mut ends: Vec<Dim> = tensor.trailing.iter().take(more).cloned().collect();
        for (back, dim) in (1..=wanted.len()).rev().zip(wanted) {
            let have = tensor.trailing.len().checked_sub(back).and_then(|at| tensor.trailing.get(at));
            ends.push(have.filter(|have| !have.size.is_unknown()).unwrap_or(dim).clone());
        }
        tensor.set_trailing(ends);
    });
}
