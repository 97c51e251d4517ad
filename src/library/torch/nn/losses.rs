//! The results of losses. Contracts check most arguments of losses; this module checks some others.

use super::device;
use super::facts::{
    Autocast, autocast, both_shapes, dim_read, floating_dtype, full_dtype, result, shape_read, shape_text,
};
use super::layer::{Layer, plain, with_state};
use crate::library::notes::BUFFER;
use crate::library::torch::support::is_no_tensor;
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Device, Dim, Dtype, Key, Kind, ObjId, Tensor, Value, kind_text, promote, sym};

macro_rules! loss {
    ($name:literal, $forward:literal) => {
        with_state($name, "_Loss", reduction, $forward)
    };
}

macro_rules! weighted {
    ($name:literal, $forward:literal) => {
        with_state($name, "_WeightedLoss", weights, $forward)
    };
}

pub(crate) const LAYERS: &[Layer] = &[
    weighted!(
        "CrossEntropyLoss",
        "cross_entropy(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction, \
         label_smoothing=self.label_smoothing)"
    ),
    weighted!(
        "NLLLoss",
        "nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)"
    ),
    weighted!(
        "NLLLoss2d",
        "nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)"
    ),
    weighted!("BCELoss", "binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)"),
    weighted!(
        "BCEWithLogitsLoss",
        "binary_cross_entropy_with_logits(input, target, self.weight, pos_weight=self.pos_weight, \
         reduction=self.reduction)"
    ),
    loss!("MSELoss", "mse_loss(input, target, reduction=self.reduction)"),
    loss!("L1Loss", "l1_loss(input, target, reduction=self.reduction)"),
    loss!("SmoothL1Loss", "smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)"),
    loss!("HuberLoss", "huber_loss(input, target, reduction=self.reduction, delta=self.delta)"),
    loss!("KLDivLoss", "kl_div(input, target, reduction=self.reduction, log_target=self.log_target)"),
    loss!(
        "PoissonNLLLoss",
        "poisson_nll_loss(input, target, log_input=self.log_input, full=self.full, eps=self.eps, \
         reduction=self.reduction)"
    ),
    loss!(
        "GaussianNLLLoss",
        "gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)"
    ),
    loss!("SoftMarginLoss", "soft_margin_loss(input, target, reduction=self.reduction)"),
    loss!("HingeEmbeddingLoss", "hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)"),
    loss!(
        "CosineEmbeddingLoss",
        "cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)"
    ),
    loss!(
        "MarginRankingLoss",
        "margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)"
    ),
    loss!(
        "TripletMarginLoss",
        "triplet_margin_loss(anchor, positive, negative, margin=self.margin, p=self.p, eps=self.eps, swap=self.swap, \
         reduction=self.reduction)"
    ),
    loss!(
        "TripletMarginWithDistanceLoss",
        "triplet_margin_with_distance_loss(anchor, positive, negative, distance_function=self.distance_function, \
         margin=self.margin, swap=self.swap, reduction=self.reduction)"
    ),
    loss!("MultiLabelMarginLoss", "multilabel_margin_loss(input, target, reduction=self.reduction)"),
    weighted!(
        "MultiLabelSoftMarginLoss",
        "multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)"
    ),
    weighted!(
        "MultiMarginLoss",
        "multi_margin_loss(input, target, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction)"
    ),
    plain(
        "CTCLoss",
        "ctc_loss(log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity)",
    ),
];

pub(crate) fn register(t: &mut Table) {
    let f = "torch.nn.functional.";
    t.listed(f, "cross_entropy", classified);
    t.listed(f, "nll_loss", classified);
    t.listed(f, "binary_cross_entropy", elementwise);
    t.listed(f, "binary_cross_entropy_with_logits", elementwise);
    t.listed(f, "mse_loss l1_loss", elementwise);
    t.listed(f, "smooth_l1_loss", elementwise);
    t.listed(f, "huber_loss", elementwise);
    t.listed(f, "kl_div", elementwise);
    t.listed(f, "poisson_nll_loss", elementwise);
    t.listed(f, "gaussian_nll_loss", elementwise);
    t.listed(f, "soft_margin_loss", elementwise);
    t.listed(f, "hinge_embedding_loss", elementwise);
    t.listed(f, "margin_ranking_loss", reduced_only);
    t.listed(f, "cosine_embedding_loss", reduced_only);
    t.listed(f, "triplet_margin_loss", reduced_only);
    t.listed(f, "triplet_margin_with_distance_loss", reduced_only);
    t.listed(f, "multi_margin_loss", per_sample);
    t.listed(f, "multilabel_margin_loss", per_sample);
    t.listed(f, "multilabel_soft_margin_loss", per_sample);
    t.listed(f, "ctc_loss", ctc_loss);
    t.alias("torch.ctc_loss", "torch.nn.functional.ctc_loss");
}

/// The reduction that a call selects, with `reduction` or with the deprecated flags `size_average`
/// and `reduce`.
fn reduction_of(b: &Bound) -> Option<&'static str> {
    let has = |name: &str| b.takes(name) && !b.get(name).is_none();
    if has("size_average") || has("reduce") {
        let flag = |value: Value| if value.is_none() { Some(true) } else { value.as_bool() };
        return match (flag(b.get("reduce"))?, flag(b.get("size_average"))) {
            (false, _) => Some("none"),
            (true, Some(true)) => Some("mean"),
            (true, Some(false)) => Some("sum"),
            (true, None) => None,
        };
    }
    match b.get("reduction").as_str()? {
        // An old name of "mean", which gives a warning.
        "elementwise_mean" => Some("mean"),
        name => ["none", "mean", "sum", "batchmean"].into_iter().find(|known| *known == name),
    }
}

/// Stores the `reduction`, which the deprecated flags may replace.
fn reduction(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    let value = match reduction_of(b) {
        Some(name) => Value::str(name),
        None => Value::Unknown,
    };
    cx.it.heap.set_attr(object, "reduction", value);
}

/// Stores the `reduction`, and registers class weights as buffers, which move with the module.
pub(crate) fn weights(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    reduction(cx, object, b);
    for name in ["weight", "pos_weight"] {
        if b.given(name) && !b.get(name).is_none() {
            cx.it.heap.set_note(object, BUFFER.of(sym(name)), Value::Bool(true));
        }
    }
}

/// Rejects a name that is not a reduction.
fn check_reduction(cx: &mut Cx<'_, '_>, b: &Bound) {
    let given = b.get("reduction");
    let Some(name) = given.as_str() else { return };
    let known = matches!(name, "none" | "mean" | "sum") || (name == "batchmean" && cx.name() == "kl_div");
    if !known && reduction_of(b).is_none() {
        let further = if cx.name() == "kl_div" { ", 'batchmean'" } else { "" };
        let message = format!("reduction is {name:?}: it must be one of 'none'{further}, 'mean' and 'sum'");
        let at = b.span("reduction").or(cx.at());
        cx.reject(RejectKind::Value, message, vec![(format!("reduction is {name:?}"), at)]);
    }
}

/// Rejects tensors on different devices. Some losses accept a 0-d tensor on the CPU in place of a
/// number (seen on a GPU: docs/verified-on-cuda.md).
fn check_devices(cx: &mut Cx<'_, '_>, tensors: &[(&str, Option<&Tensor>)]) {
    let all = || tensors.iter().filter_map(|(name, t)| Some((*name, (*t)?)));
    let is_full = |t: &Tensor| t.rank().is_some_and(|rank| rank > 0);
    let strict = |name: &str| match cx.name() {
        "cross_entropy" | "nll_loss" => true,
        "mse_loss" | "huber_loss" | "binary_cross_entropy" => matches!(name, "input" | "target"),
        // This loss multiplies its target in place.
        "binary_cross_entropy_with_logits" => {
            all().any(|(name, t)| name == "target" && t.device.is_some_and(Device::is_cpu))
        }
        // These expand both operands to one shape, and an expanded tensor has dimensions.
        "l1_loss" | "smooth_l1_loss" => all().any(|(_, t)| is_full(t)),
        _ => false,
    };
    let judged: Vec<(&str, &Tensor)> = all().filter(|(name, t)| is_full(t) || strict(name)).collect();
    device::check(cx, &judged);
}

/// Rejects shapes that do not broadcast, for losses whose shapes no contract checks.
fn check_broadcast(cx: &mut Cx<'_, '_>, tensors: &[(&str, &Tensor)]) {
    if cx.name().starts_with("binary_cross_entropy") || cx.name() == "gaussian_nll_loss" {
        return;
    }
    super::super::broadcast::common_shape(cx, tensors);
}

/// The result of a loss after the reduction that the argument `reduction` selects.
fn reduced(cx: &mut Cx<'_, '_>, b: &Bound, inputs: &[&Tensor], dtype: Option<Dtype>, full: Option<Vec<Dim>>) -> Value {
    check_reduction(cx, b);
    let shape = match reduction_of(b) {
        Some("none") => full,
        Some(_) => Some(Vec::new()),
        None => None,
    };
    // A further operand may have a wider dtype.
    let further = ["weight", "pos_weight", "var", "target", "anchor", "positive", "negative", "input1", "input2"];
    let open = cx.name() != "cross_entropy" && further.iter().any(|name| b.given(name) && b.get(name).is_unknown());
    let out = result(cx, inputs, shape, dtype.filter(|_| !open));
    cx.out(out)
}

/// The dtype after elementwise promotion; `None` if it is not known.
fn promoted(tensors: &[&Tensor]) -> Option<Dtype> {
    let mut out: Option<Dtype> = None;
    for tensor in tensors {
        if tensor.rank()? == 0 && tensors.len() > 1 && tensors.iter().any(|t| t.rank() != Some(0)) {
            // The promotion of 0-d tensors is not modelled here, so the result is known only if all
            // dtypes are equal.
            if tensors.iter().any(|t| t.dtype != tensor.dtype) {
                return None;
            }
        }
        out = Some(match out {
            None => tensor.dtype?,
            Some(have) => promote(have, tensor.dtype?)?,
        });
    }
    out
}

/// The dtype of a loss whose arguments are promoted. Under autocast on CUDA, it is float32, or
/// float64 for float64 arguments.
fn loss_dtype(cx: &Cx<'_, '_>, inputs: &[&Tensor]) -> Option<Dtype> {
    let device: Option<Device> = inputs.iter().find_map(|t| t.device);
    match autocast(cx, device) {
        Autocast::Off => promoted(inputs),
        _ => {
            let lifted: Vec<Tensor> =
                inputs.iter().map(|t| Tensor { dtype: full_dtype(cx, t), ..Tensor::clone(t) }).collect();
            promoted(&lifted.iter().collect::<Vec<_>>()).filter(|d| matches!(d, Dtype::Float32 | Dtype::Float64))
        }
    }
}

/// Rejects values that are not tensors, such as the dictionary that a segmentation model returns.
/// Returns whether a value was rejected.
fn refuse_others(cx: &mut Cx<'_, '_>, b: &Bound) -> bool {
    for name in ["input", "target"] {
        let value = b.get(name);
        if b.given(name) && is_no_tensor(cx, &value) {
            let takes =
                match cx.it.heap.dict_of(&value).is_some_and(|dict| dict.entries.contains_key(&Key::Str("out".into())))
                {
                    true => ": use its [\"out\"]",
                    false => "",
                };
            let message = format!("`{name}` must be a tensor, but it is {}{takes}", kind_text(&cx.it.heap, &value));
            cx.reject(RejectKind::Value, message, vec![(format!("`{name}` is given here"), b.span(name))]);
            return true;
        }
    }
    false
}

fn classified(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if refuse_others(cx, b) {
        return cx.some_tensor();
    }
    let Some(input) = cx.tensor_arg(b, "input") else {
        let mut out = Tensor::default();
        if matches!(reduction_of(b), Some("mean" | "sum")) {
            out = out.with_shape(Vec::new(), cx.at());
        }
        return cx.out(out);
    };
    let target = cx.tensor_arg(b, "target");
    let full = input.shape.as_ref().map(|dims| match dims.len() {
        0 | 1 => Vec::new(),
        _ => dims.iter().enumerate().filter(|(i, _)| *i != 1).map(|(_, d)| d.clone()).collect(),
    });
    let floating = target.as_ref().map(|t| t.dtype.map(Dtype::is_floating));
    let dtype = match (full_dtype(cx, &input), &target, floating) {
        // If the target holds probabilities with a wider dtype than the input, the loss has this
        // wider dtype.
        (Some(d), Some(t), Some(Some(true))) if cx.name() == "cross_entropy" => t.dtype.and_then(|t| promote(d, t)),
        (dtype, Some(_), Some(Some(false))) => dtype,
        (Some(d @ Dtype::Float64), ..) => Some(d),
        (dtype, ..) if cx.name() == "nll_loss" => dtype,
        _ => None,
    };
    let weight = cx.tensor_arg(b, "weight");
    check_devices(cx, &[("input", Some(&input)), ("target", target.as_ref()), ("weight", weight.as_ref())]);
    let mut tensors = vec![&input];
    tensors.extend(&target);
    reduced(cx, b, &tensors, dtype, full)
}

/// Whether the input and the target certainly have the same dtype.
fn alike(input: &Tensor, target: &Tensor) -> bool {
    input.dtype.is_some() && input.dtype == target.dtype
}

fn elementwise(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if refuse_others(cx, b) {
        return cx.some_tensor();
    }
    let (Some(input), Some(target)) = (cx.tensor_arg(b, "input"), cx.tensor_arg(b, "target")) else {
        let mut out = Tensor::default();
        if matches!(reduction_of(b), Some("mean" | "sum" | "batchmean")) {
            out = out.with_shape(Vec::new(), cx.at());
        }
        return cx.out(out);
    };
    let mut tensors = vec![&input, &target];
    let more = [cx.tensor_arg(b, "weight"), cx.tensor_arg(b, "pos_weight"), cx.tensor_arg(b, "var")];
    let full = both_shapes(&input, &target);
    let [weight, pos_weight, var] = [more.first(), more.get(1), more.get(2)].map(|t| t.and_then(Option::as_ref));
    let all = [
        ("input", Some(&input)),
        ("target", Some(&target)),
        ("weight", weight),
        ("pos_weight", pos_weight),
        ("var", var),
    ];
    check_devices(cx, &all);
    check_broadcast(cx, &[("input", &input), ("target", &target)]);
    let mut dtype = match cx.name() {
        "poisson_nll_loss" => floating_dtype(cx, &tensors),
        "mse_loss" | "l1_loss" | "smooth_l1_loss" | "kl_div" | "gaussian_nll_loss" => loss_dtype(cx, &tensors),
        // Each of the other losses returns the dtype of the input or that of the target, so the
        // dtype of the result is known only if the two are equal.
        "binary_cross_entropy_with_logits" if autocast(cx, input.device) != Autocast::Off => loss_dtype(cx, &tensors),
        _ => loss_dtype(cx, &tensors).filter(|_| alike(&input, &target)),
    };
    for other in more.iter().flatten() {
        tensors.push(other);
        if other.dtype != dtype {
            dtype = None;
        }
    }
    let mut dtype = dtype.filter(|d| d.kind() >= Kind::Floating);
    if cx.name() == "l1_loss" {
        dtype = dtype.map(Dtype::to_real);
    }
    reduced(cx, b, &tensors, dtype, full)
}

/// Rejects a target with another shape than the margin loss requires: one label per row for
/// `multi_margin_loss`, the shape of the input for `multilabel_margin_loss`.
fn check_labels(cx: &mut Cx<'_, '_>, input: &Tensor, target: &Tensor) {
    let (Some([rows, classes]), Some(labels)) = (input.shape.as_deref(), target.shape.as_deref()) else { return };
    let differ = |a: &Dim, b: &Dim| a.size.equals(&b.size) == Some(false);
    let (clash, wanted) = match (cx.name(), labels) {
        ("multi_margin_loss", [labels]) => (differ(labels, rows), format!("[{}]", rows.size)),
        ("multi_margin_loss", [_, _, ..]) => (true, format!("[{}]", rows.size)),
        ("multilabel_margin_loss", [a, b]) => {
            (differ(a, rows) || differ(b, classes), format!("[{}, {}]", rows.size, classes.size))
        }
        _ => return,
    };
    if clash {
        let message = format!(
            "`input` is {} and `target` is {}: {} takes a target of shape {wanted}",
            shape_text(input),
            shape_text(target),
            cx.name()
        );
        cx.reject(RejectKind::Shape, message, vec![shape_read("input", input), shape_read("target", target)]);
    }
}

/// Losses whose unreduced result has one element per row.
fn per_sample(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let full = input.shape.as_ref().map(|dims| match dims.split_last() {
        Some((_, batch)) => batch.to_vec(),
        None => Vec::new(),
    });
    let (target, weight) = (cx.tensor_arg(b, "target"), cx.tensor_arg(b, "weight"));
    check_devices(cx, &[("input", Some(&input)), ("target", target.as_ref()), ("weight", weight.as_ref())]);
    if let Some(target) = &target {
        check_labels(cx, &input, target);
    }
    let target = target.and_then(|t| t.dtype);
    let narrow = target.is_some() && (target == input.dtype || target.is_some_and(Dtype::is_integral));
    let dtype = full_dtype(cx, &input).filter(|d| d.is_floating() && narrow);
    reduced(cx, b, &[&input], dtype, full)
}

/// Losses of pairs and triplets.
fn reduced_only(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let names = ["input1", "input2", "anchor", "positive", "negative"];
    let named: Vec<(&str, Tensor)> = names.iter().filter_map(|name| Some((*name, cx.tensor_arg(b, name)?))).collect();
    let target = cx.tensor_arg(b, "target");
    let all: Vec<&Tensor> = named.iter().map(|(_, t)| t).collect();
    let mut judged: Vec<(&str, Option<&Tensor>)> = named.iter().map(|(name, t)| (*name, Some(t))).collect();
    judged.push(("target", target.as_ref()));
    check_devices(cx, &judged);
    let both: Vec<&Tensor> = all.iter().copied().chain(&target).collect();
    let dtype = floating_dtype(cx, &both).filter(|_| all.len() > 1);
    let full = match cx.name() {
        "margin_ranking_loss" => named.first().zip(target.as_ref()).and_then(|((_, x), t)| {
            let same = named.iter().all(|(_, y)| y.sizes() == x.sizes());
            both_shapes(x, t).filter(|_| same)
        }),
        "cosine_embedding_loss" => target.as_ref().and_then(|t| t.shape.clone()),
        _ => {
            let same = named.iter().all(|(_, t)| t.sizes() == named.first().and_then(|(_, x)| x.sizes()));
            named.first().and_then(|(_, x)| Some(x.shape.as_ref()?.split_last()?.1.to_vec())).filter(|_| same)
        }
    };
    reduced(cx, b, &all, dtype, full)
}

/// Checks that there is a length for each sample of a batch `[steps, batch, classes]`.
fn check_lengths(cx: &mut Cx<'_, '_>, b: &Bound, name: &str, input: &Tensor, batch: &Dim) {
    let Some(lengths) = cx.tensor_arg(b, name) else { return };
    let Some([count]) = lengths.shape.as_deref() else { return };
    if count.size.equals(&batch.size) == Some(false) {
        let message = format!(
            "`log_probs` is {}, a batch of {}, but `{name}` has {} elements: there must be one for each sample",
            shape_text(input),
            batch.size,
            count.size
        );
        let reads = vec![dim_read("log_probs", "batch", batch), shape_read(name, &lengths)];
        cx.reject(RejectKind::Shape, message, reads);
    }
}

fn ctc_loss(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "log_probs") else { return cx.some_tensor() };
    if let Some([_, batch, _]) = input.shape.as_deref() {
        for name in ["input_lengths", "target_lengths"] {
            check_lengths(cx, b, name, &input, batch);
        }
    }
    let full = input.shape.as_deref().map(|dims| match dims {
        [_, batch, _] => vec![batch.clone()],
        _ => Vec::new(),
    });
    let dtype = full_dtype(cx, &input);
    reduced(cx, b, &[&input], dtype, full)
}
