//! `LinearCrossEntropyLoss`: a linear layer and cross entropy in one call, with its own checks and
//! those of the two functions.

use super::facts::{check_rank, dim_read, product_dtype, result, shape_read, shape_text};
use super::losses::weights;
use crate::library::{Cx, Table};
use crate::python::{Arg, Args, Bound, RejectKind};
use crate::value::{Dim, ObjId, Role, Size, Tensor, Value, sym};

const FUNCTION: &str = "torch.nn.functional.linear_cross_entropy";

pub(crate) fn register(t: &mut Table) {
    t.listed("", FUNCTION, linear_cross_entropy);
    let class = t.class(
        "torch.nn.LinearCrossEntropyLoss",
        &["torch.nn._WeightedLoss"],
        "in_features, num_classes, *, out_features=None, bias=False, device=None, dtype=None, reduction='mean', \
         weight=None, ignore_index=None, label_smoothing=0.0, options=None",
    );
    class.keeps_arguments = false;
    class.init = Some(construct);
    t.def("torch.nn.LinearCrossEntropyLoss.forward", "self, input, target", forward);
}

/// Stores the arguments, and creates a linear layer for all classes of all outputs.
fn construct(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    super::module::begin(cx, object);
    let classes = cx.size_of(&b.get("num_classes"));
    if let Some(weight) = cx.tensor_arg(b, "weight")
        && (weight.rank().is_some_and(|rank| rank != 1)
            || weight.dim(0).is_some_and(|d| d.size.equals(&classes) == Some(false)))
    {
        let message =
            format!("`weight` is {}: it must have one number per class, {classes} in all", shape_text(&weight));
        cx.reject(RejectKind::Shape, message, vec![shape_read("weight", &weight)]);
    }
    if let Some(n) = b.get("label_smoothing").as_f64().filter(|n| *n < 0.0 || *n > 1.0) {
        let at = b.span("label_smoothing").or(cx.at());
        let message = format!("label_smoothing is {n}: it must be between 0 and 1");
        cx.reject(RejectKind::Value, message, vec![(format!("label_smoothing is {n}"), at)]);
    }
    for name in ["num_classes", "ignore_index", "label_smoothing", "options", "weight"] {
        cx.it.heap.set_attr(object, name, b.get(name));
    }
    // The default is an empty tuple, which signatures cannot express.
    let outputs = match b.get("out_features") {
        Value::None => Value::tuple(Vec::new()),
        given => given,
    };
    cx.it.heap.set_attr(object, "out_features", outputs.clone());
    weights(cx, object, b);
    let out = cx.items(&outputs);
    let rows = out.map_or(Size::Unknown, |items| items.iter().fold(classes, |all, n| all.mul(&cx.size_of(n))));
    let span = cx.span;
    let mut args = Args::positional([b.get("in_features"), Value::size(&rows)], span);
    for name in ["bias", "device", "dtype"] {
        args.kw.push((sym(name), Arg::new(b.get(name), span)));
    }
    let linear = cx.call(&Value::path("torch.nn.Linear"), args);
    cx.it.heap.set_attr(object, "linear", linear);
}

/// The weight and bias of the linear layer have one row for each class of each output. The function
/// expects this dimension split into classes and outputs.
fn forward(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let linear = cx.attr(&object, "linear");
    let out = cx.items(&cx.attr(&object, "out_features"));
    let rows = out.map(|items| {
        let mut sizes = vec![cx.size_of(&cx.attr(&object, "num_classes"))];
        sizes.extend(items.iter().map(|n| cx.size_of(n)));
        sizes
    });
    let span = cx.span;
    let weight = apart(cx, &linear, "weight", rows.as_deref());
    let bias = apart(cx, &linear, "bias", rows.as_deref());
    let mut args = Args::positional([b.get("input"), weight, b.get("target")], span);
    args.kw.push((sym("linear_bias"), Arg::new(bias, span)));
    for name in ["weight", "reduction", "ignore_index", "label_smoothing", "options"] {
        args.kw.push((sym(name), Arg::new(cx.attr(&object, name), span)));
    }
    cx.it.call_function(FUNCTION, &args, span).unwrap_or(Value::Unknown)
}

/// A parameter of the linear layer, with its first dimension split into the sizes `rows`.
fn apart(cx: &mut Cx<'_, '_>, linear: &Value, name: &str, rows: Option<&[Size]>) -> Value {
    let value = cx.attr(linear, name);
    let Some(mut tensor) = cx.tensor(&value) else { return value };
    let at = tensor.dim(0).and_then(|d| d.at);
    tensor.shape = tensor.shape.as_ref().zip(rows).map(|(dims, rows)| {
        let split = rows.iter().map(|size| Dim::new(size.clone(), at));
        split.chain(dims.iter().skip(1).cloned()).collect()
    });
    tensor.parameter = false;
    cx.out(tensor)
}

fn linear_cross_entropy(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (input, weight) = (cx.tensor_arg(b, "input"), cx.tensor_arg(b, "linear_weight"));
    let logits = match (&input, &weight) {
        (Some(input), Some(weight)) => {
            let Some(logits) = logits(cx, b, input, weight) else { return cx.some_tensor() };
            logits
        }
        _ => Tensor::default(),
    };
    if let (Some(target), Some(_)) = (cx.tensor_arg(b, "target"), b.get("ignore_index").as_int())
        && same_shape(&target, &logits)
    {
        let message = "ignore_index is given, but `target` has the shape of the logits, so it contains probabilities";
        cx.reject(RejectKind::Value, message, vec![shape_read("target", &target)]);
        return cx.some_tensor();
    }
    let chunked = !b.get("options").is_none();
    let span = cx.span;
    let logits = cx.out(logits);
    let mut args = Args::positional([logits, b.get("target")], span);
    for name in ["weight", "reduction", "label_smoothing"] {
        args.kw.push((sym(name), Arg::new(b.get(name), b.span(name).unwrap_or(span))));
    }
    if !b.get("ignore_index").is_none() {
        args.kw.push((sym("ignore_index"), Arg::new(b.get("ignore_index"), span)));
    }
    // With chunking, the options determine the dtype, and the checks differ.
    if chunked {
        let whole = matches!(b.get("reduction").as_str(), Some("mean" | "sum"));
        let out = if whole { Tensor::default().with_shape(Vec::new(), cx.at()) } else { Tensor::default() };
        return cx.out(out);
    }
    cx.it.call_function("torch.nn.functional.cross_entropy", &args, span).unwrap_or(Value::Unknown)
}

fn same_shape(a: &Tensor, b: &Tensor) -> bool {
    let (Some(a), Some(b)) = (a.shape.as_ref(), b.shape.as_ref()) else { return false };
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.size.equals(&b.size) == Some(true))
}

/// The result of the linear layer; `None` if the call is rejected.
fn logits(cx: &mut Cx<'_, '_>, b: &Bound, input: &Tensor, weight: &Tensor) -> Option<Tensor> {
    if !check_rank(cx, "input", input, &[1, 2]) {
        return None;
    }
    if weight.rank().is_some_and(|rank| rank < 2) {
        let message = format!("`linear_weight` is {}: it needs at least two dimensions", shape_text(weight));
        cx.reject(RejectKind::Rank, message, vec![shape_read("linear_weight", weight)]);
        return None;
    }
    if let (Some(have), Some(wanted)) = (input.dim(-1), weight.dim(-1))
        && have.size.equals(&wanted.size) == Some(false)
    {
        let message = format!(
            "`input` is {} and `linear_weight` is {}: the last dimensions {} and {} must be equal",
            shape_text(input),
            shape_text(weight),
            have.size,
            wanted.size
        );
        let reads = vec![dim_read("input", "feature", have), dim_read("linear_weight", "feature", wanted)];
        cx.reject(RejectKind::Shape, message, reads);
        return None;
    }
    let rows = weight.shape.as_ref().and_then(|dims| Some(dims.split_last()?.1));
    let bias = cx.tensor_arg(b, "linear_bias");
    if let (Some(bias), Some(rows)) = (&bias, rows)
        && let Some(have) = &bias.shape
        && (have.len() != rows.len() || have.iter().zip(rows).any(|(d, w)| d.size.equals(&w.size) == Some(false)))
    {
        let message = format!(
            "`linear_bias` is {} and `linear_weight` is {}: the bias needs the shape of the weight without its last dimension",
            shape_text(bias),
            shape_text(weight)
        );
        let reads = vec![shape_read("linear_bias", bias), shape_read("linear_weight", weight)];
        cx.reject(RejectKind::Shape, message, reads);
        return None;
    }
    if input.rank() == Some(1) && rows.is_some_and(|rows| rows.len() > 1) {
        let message = format!(
            "`input` is {} and `linear_weight` is {}: a weight of more than two dimensions needs batched input",
            shape_text(input),
            shape_text(weight)
        );
        let reads = vec![shape_read("input", input), shape_read("linear_weight", weight)];
        cx.reject(RejectKind::Rank, message, reads);
        return None;
    }
    let mut tensors = vec![("input", input), ("linear_weight", weight)];
    let dtype = product_dtype(cx, &tensors).unwrap_or_default();
    tensors.extend(bias.iter().map(|t| ("linear_bias", t)));
    super::device::check(cx, &tensors);
    let shape = input.shape.as_ref().zip(rows).map(|(dims, rows)| {
        let batch = dims.iter().take(dims.len().saturating_sub(1));
        batch.chain(rows).cloned().collect()
    });
    let all: Vec<&Tensor> = tensors.iter().map(|(_, t)| *t).collect();
    let at = cx.at();
    Some(result(cx, &all, shape, dtype).with_role(Some(Role::Logits), at))
}
