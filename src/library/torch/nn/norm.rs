//! Normalisation: the result has the shape of the input. The number of channels must fit the
//! parameters; for `layer_norm` and `rms_norm`, the last dimensions must.

use super::device;
use super::facts::{
    Autocast, agreed_device, autocast, check_least, check_rank, dim_read, floating_grad, full_dtype, length_read, like,
    result, shape_read, shape_text,
};
use crate::library::torch::gather::{has_elements, not_empty, reject_elements};
use crate::library::torch::support::{refuse_dtype, refuse_mixed, tensor_param};
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Device, DeviceKind, Dim, Dtype, Grad, Size, Tensor, Value, counted};

pub(crate) fn register(t: &mut Table) {
    let f = "torch.nn.functional.";
    t.listed(f, "batch_norm", batch_norm);
    t.listed(f, "instance_norm", instance_norm);
    t.listed(f, "group_norm", group_norm);
    t.listed(f, "layer_norm", layer_norm);
    t.listed(f, "rms_norm", layer_norm);
    t.listed(f, "local_response_norm", local_response_norm);
    t.listed(f, "normalize", normalize);
    t.listed("torch.", "native_layer_norm", native_layer_norm);
    t.listed("torch.", "native_batch_norm", native_batch_norm);
    t.listed("torch.", "native_group_norm", native_group_norm);
    for name in ["group_norm", "layer_norm", "rms_norm"] {
        t.alias(&format!("torch.{name}"), &format!("{f}{name}"));
    }
}

/// The parameters that are given to a normalisation, each with its name.
fn parameters(cx: &Cx<'_, '_>, b: &Bound, names: &[&'static str]) -> Vec<(&'static str, Tensor)> {
    names.iter().filter_map(|name| Some((*name, cx.tensor_arg(b, name)?))).collect()
}

/// The checks that all normalisations share, and the result.
fn normalized(cx: &mut Cx<'_, '_>, input: &Tensor, parameters: &[(&'static str, Tensor)]) -> Tensor {
    let mut all = vec![("input", input)];
    all.extend(parameters.iter().map(|(name, t)| (*name, t)));
    // PyTorch returns an empty input before it reads the parameters.
    if has_elements(input) || !accepts_if_empty(cx, parameters) {
        device::check(cx, &all);
    }
    let fits = check_dtype(cx, input, parameters);
    let mut out = like(cx, input);
    if !fits && accepts_if_empty(cx, parameters) && !has_elements(input) {
        out.dtype = None;
    }
    let tensors: Vec<&Tensor> = all.iter().map(|(_, t)| *t).collect();
    out.grad = floating_grad(cx, &tensors, out.dtype);
    (out.device, out.device_at) = agreed_device(&tensors);
    out
}

/// Whether the function returns an input without elements before the kernel checks dtypes and
/// devices.
fn accepts_if_empty(cx: &Cx<'_, '_>, parameters: &[(&'static str, Tensor)]) -> bool {
    match cx.name() {
        "batch_norm" | "instance_norm" => true,
        "group_norm" => parameters.is_empty(),
        _ => false,
    }
}

/// Rejects integers, and float64 together with float32. (Half precision with float32 parameters is
/// allowed.) Returns whether the dtypes fit.
fn check_dtype(cx: &mut Cx<'_, '_>, input: &Tensor, parameters: &[(&'static str, Tensor)]) -> bool {
    let Some(dtype) = input.dtype else { return true };
    // The fused kernel of rms_norm promotes mixed dtypes, and autocast may convert the input first.
    if cx.name() == "rms_norm" || autocast(cx, input.device) != Autocast::Off {
        return true;
    }
    let clash = parameters.iter().find_map(|(name, t)| {
        let other = t.dtype?;
        let wide = |d| d == Dtype::Float64;
        let narrow = |d| d == Dtype::Float32;
        ((wide(dtype) && narrow(other)) || (narrow(dtype) && wide(other))).then_some((*name, other, t.dtype_at))
    });
    let mut reads = vec![(format!("`input` gets dtype {dtype} here"), input.dtype_at)];
    let message = if dtype.is_integral() {
        format!("`input` is {dtype}: {} takes floating-point tensors", cx.name())
    } else if let Some((name, other, at)) = clash {
        reads.push((format!("`{name}` gets dtype {other} here"), at));
        format!("`input` is {dtype} and `{name}` is {other}: {} does not combine these dtypes", cx.name())
    } else {
        return true;
    };
    if accepts_if_empty(cx, parameters) {
        reject_elements(cx, input, message, reads);
    } else {
        cx.reject(RejectKind::Dtype, message, reads);
    }
    false
}

/// Rejects an input whose number of channels differs from that of a parameter.
fn check_channels(cx: &mut Cx<'_, '_>, input: &Tensor, parameters: &[(&'static str, Tensor)]) {
    let Some(channels) = input.dim(1) else { return };
    for (name, parameter) in parameters {
        let Some(features) = parameter.dim(0) else { continue };
        if channels.size.equals(&features.size) == Some(false) {
            let message = format!(
                "`input` is {}, with {}, but this {} is for {}",
                shape_text(input),
                counted(&channels.size, "channel"),
                cx.name(),
                features.size
            );
            let reads = vec![dim_read("input", "channel", channels), dim_read(name, "feature", features)];
            cx.reject(RejectKind::Shape, message, reads);
            return;
        }
    }
}

fn batch_norm(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let parameters = parameters(cx, b, &["weight", "bias", "running_mean", "running_var"]);
    check_channels(cx, &input, &parameters);
    check_eps(cx, b);
    let out = normalized(cx, &input, &parameters);
    cx.out(out)
}

/// Batch normalisation divides by `sqrt(variance + eps)`, so `eps` must not be negative, and must
/// be positive in training.
fn check_eps(cx: &mut Cx<'_, '_>, b: &Bound) {
    let Some(eps) = b.get("eps").as_f64() else { return };
    let training = b.get("training").as_bool() == Some(true);
    if eps < 0.0 || (training && eps == 0.0) {
        let message = format!("eps is {eps}: batch_norm needs a positive number in training, and 0 or more otherwise");
        let at = b.span("eps").or(cx.at());
        cx.reject(RejectKind::Value, message, vec![(format!("eps is {eps}"), at)]);
    }
}

fn instance_norm(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let parameters = parameters(cx, b, &["weight", "bias", "running_mean", "running_var"]);
    // The number of channels is not checked. This function also runs for the layers
    // `InstanceNorm1d` to `InstanceNorm3d`, whose unbatched inputs have the channels in dimension 0,
    // and it does not know which layer called it.
    let out = normalized(cx, &input, &parameters);
    cx.out(out)
}

fn group_norm(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let parameters = parameters(cx, b, &["weight", "bias"]);
    if input.rank().is_some_and(|rank| rank < 2) {
        check_rank(cx, "input", &input, &[2, 3, 4, 5]);
        return cx.some_tensor();
    }
    if let (Some(groups), Some(Dim { size: Size::Int(c), at, .. })) =
        (b.get("num_groups").as_int(), input.dim(1).cloned())
        && groups > 0
        && c % groups != 0
    {
        let message = format!(
            "`input` is {}, whose {} cannot be divided into {groups} groups",
            shape_text(&input),
            counted(c, "channel")
        );
        cx.reject(RejectKind::Shape, message, vec![(format!("`input` gets {} here", counted(c, "channel")), at)]);
    } else {
        check_channels(cx, &input, &parameters);
    }
    let mut out = normalized(cx, &input, &parameters);
    out.dtype = full_dtype(cx, &input);
    cx.out(out)
}

/// Normalises the last dimensions, which must equal `normalized_shape`.
fn layer_norm(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let parameters = parameters(cx, b, &["weight", "bias"]);
    let given = b.get("normalized_shape");
    if let (Some(wanted), Some(dims)) = (cx.sizes(std::slice::from_ref(&given)), &input.shape) {
        let tail = dims.len().checked_sub(wanted.len()).and_then(|from| dims.get(from..));
        let clash = match tail {
            None => true,
            Some(tail) => tail.iter().zip(&wanted).any(|(d, w)| d.size.equals(w) == Some(false)),
        };
        if clash {
            let shape: Vec<String> = wanted.iter().map(Size::to_string).collect();
            let message = format!(
                "`input` is {}, but this {} normalises the last dimensions [{}]",
                shape_text(&input),
                cx.name(),
                shape.join(", ")
            );
            let mut reads = match tail.and_then(<[Dim]>::last) {
                Some(last) => vec![length_read("input", last)],
                None => vec![shape_read("input", &input)],
            };
            reads.extend(parameters.first().map(|(name, t)| shape_read(name, t)));
            cx.reject(RejectKind::Shape, message, reads);
        }
    }
    let mut out = normalized(cx, &input, &parameters);
    out.dtype = full_dtype(cx, &input);
    cx.out(out)
}

/// The normalised tensor, and the two statistics that were used to normalise it: the mean, and the
/// reciprocal of the standard deviation.
fn with_statistics(cx: &mut Cx<'_, '_>, value: Value, input: &Tensor, shape: Option<Vec<Dim>>) -> Value {
    let dtype = input.dtype.filter(|d| matches!(d, Dtype::Float32 | Dtype::Float64));
    let mut statistics = result(cx, &[input], shape, dtype);
    // These statistics have no gradient, unlike those of `native_group_norm`.
    statistics.grad = Grad::Off;
    let (mean, deviation) = (cx.out(statistics.clone()), cx.out(statistics));
    Value::tuple(vec![value, mean, deviation])
}

fn native_layer_norm(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = layer_norm(cx, b);
    let Some(input) = cx.tensor_arg(b, "input") else { return Value::Unknown };
    let normed = cx.sizes(&[b.get("normalized_shape")]).map(|sizes| sizes.len());
    let shape = input.shape.as_ref().zip(normed).and_then(|(dims, normed)| {
        let kept = dims.len().checked_sub(normed)?;
        let mut out = dims.get(..kept)?.to_vec();
        out.resize(dims.len(), Dim::new(Size::Int(1), cx.at()));
        Some(out)
    });
    with_statistics(cx, value, &input, shape)
}

fn native_batch_norm(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return Value::Unknown };
    let parameters = parameters(cx, b, &["weight", "bias", "running_mean", "running_var"]);
    check_channels(cx, &input, &parameters);
    let out = normalized(cx, &input, &parameters);
    let value = cx.out(out);
    // With `training=False`, no statistics are computed, and the second and third results depend on
    // the device.
    let shape = match b.get("training").as_bool() {
        Some(true) => input.dim(1).map(|channels| vec![channels.clone()]),
        _ => None,
    };
    with_statistics(cx, value, &input, shape)
}

/// Normalises the groups of `N` samples with `C` channels of `HxW` elements. Only the number of
/// elements of the input must fit, not its shape.
fn native_group_norm(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.outs(vec![Tensor::default(); 3]) };
    let given = ["weight", "bias"].into_iter().filter(|name| !b.get(name).is_none());
    let parameters: Vec<_> = given.filter_map(|name| Some((name, tensor_param(cx, b, name)?))).collect();
    let mut all = vec![("input", &input)];
    all.extend(parameters.iter().map(|(name, t)| (*name, t)));
    device::check(cx, &all);
    check_group_sizes(cx, b, &input, &parameters);
    check_group_dtypes(cx, b, &input, &parameters);
    let tensors: Vec<&Tensor> = all.iter().map(|(_, t)| *t).collect();
    let mut out = like(cx, &input);
    // Whether autocast casts half precision here depends on the device and the version.
    if input.dtype.is_some_and(is_half) && autocast(cx, input.device) != Autocast::Off {
        out.dtype = None;
    }
    out.grad = floating_grad(cx, &tensors, out.dtype);
    (out.device, out.device_at) = agreed_device(&tensors);
    let sizes = [cx.size_of(&b.get("N")), cx.size_of(&b.get("group"))];
    let shape = sizes.map(|size| Dim::new(size, cx.at())).to_vec();
    let dtype = group_statistics(cx, b, &input);
    let mut statistics = result(cx, &tensors, Some(shape), dtype);
    statistics.grad = out.grad;
    let values = vec![out, statistics.clone(), statistics];
    cx.outs(values)
}

fn is_half(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::Float16 | Dtype::Bfloat16)
}

/// The dtype of the statistics: that of the input, or float32 if the input has half precision and
/// the parameters are float32.
fn group_statistics(cx: &Cx<'_, '_>, b: &Bound, input: &Tensor) -> Option<Dtype> {
    let dtype = input.dtype?;
    if matches!(dtype, Dtype::Float32 | Dtype::Float64) {
        return Some(dtype);
    }
    let on_cpu = input.device.is_some_and(Device::is_cpu);
    if !is_half(dtype) || !on_cpu || autocast(cx, input.device) != Autocast::Off {
        return None;
    }
    let parameter = b.get(first_parameter(b));
    if parameter.is_none() {
        return Some(dtype);
    }
    let given = cx.tensor(&parameter)?.dtype?;
    (given == dtype || given == Dtype::Float32).then_some(given)
}

/// The parameter whose dtype determines whether a call mixes dtypes: the first one that is given.
fn first_parameter(b: &Bound) -> &'static str {
    if b.get("weight").is_none() { "bias" } else { "weight" }
}

/// Rejects sizes that do not fit each other or the tensors.
fn check_group_sizes(cx: &mut Cx<'_, '_>, b: &Bound, input: &Tensor, parameters: &[(&'static str, Tensor)]) {
    check_least(cx, b, "group", 1);
    let channels = cx.size_of(&b.get("C"));
    if let (Some(groups), Some(c)) = (b.get("group").as_int(), channels.known())
        && groups > 0
        && c % groups != 0
    {
        let message = format!("C is {c}, which cannot be divided into {groups} groups");
        let at = b.span("C").or(cx.at());
        cx.reject(RejectKind::Shape, message, vec![(format!("C is {c}"), at)]);
        return;
    }
    for (name, parameter) in parameters {
        if !check_rank(cx, name, parameter, &[1]) {
            return;
        }
        let Some(features) = parameter.dim(0) else { continue };
        if features.size.equals(&channels) == Some(false) {
            let message = format!("`{name}` is {}, but C is {channels}", shape_text(parameter));
            cx.reject(RejectKind::Shape, message, vec![dim_read(name, "feature", features)]);
            return;
        }
    }
    let product = ["N", "HxW"].iter().fold(channels, |product, name| product.mul(&cx.size_of(&b.get(name))));
    let numel = input.numel();
    // Older versions accept any sizes for an empty input.
    if not_empty(input) && numel.equals(&product) == Some(false) {
        let message = format!(
            "`input` is {}, with {}, but N * C * HxW is {product}",
            shape_text(input),
            counted(&numel, "element")
        );
        cx.reject(RejectKind::Shape, message, vec![shape_read("input", input)]);
    }
}

/// Accepts one floating dtype for all tensors, and float32 parameters for a half-precision input;
/// rejects all other dtypes.
fn check_group_dtypes(cx: &mut Cx<'_, '_>, b: &Bound, input: &Tensor, parameters: &[(&'static str, Tensor)]) {
    let Some(dtype) = input.dtype else { return };
    let on_meta = input.device.is_some_and(|device| device.kind == DeviceKind::Meta);
    if on_meta || autocast(cx, input.device) != Autocast::Off {
        return;
    }
    // An empty input is returned unchanged.
    let nonempty = not_empty(input);
    if nonempty && !dtype.is_floating() {
        refuse_dtype(cx, ("input", input), "takes floating-point tensors");
        return;
    }
    let fits = |other: Dtype| other == dtype || (is_half(dtype) && other == Dtype::Float32);
    let clash = parameters.iter().find(|(name, t)| {
        let is_checked = nonempty || *name == first_parameter(b);
        is_checked && t.dtype.is_some_and(|other| !fits(other))
    });
    if let Some((name, parameter)) = clash {
        refuse_mixed(cx, &[("input", input), (name, parameter)]);
        return;
    }
    if let [weight, bias] = parameters
        && nonempty
    {
        refuse_mixed(cx, &[(weight.0, &weight.1), (bias.0, &bias.1)]);
    }
}

fn local_response_norm(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    check_rank(cx, "input", &input, &[3, 4, 5]);
    let mut out = like(cx, &input);
    // The division converts integers to floats, but an empty input is returned unchanged.
    if input.dtype.is_some_and(Dtype::is_integral) {
        let dtype = match input.numel().equals(&Size::Int(0)) {
            Some(true) => input.dtype,
            Some(false) => cx.default_dtype(),
            None => None,
        };
        out = out.with_dtype(dtype, cx.at());
    }
    cx.out(out)
}

/// Scales vectors along a dimension to norm 1.
fn normalize(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    if let Some(rank) = input.rank() {
        let _ = cx.dim_index(&b.get("dim"), rank, input.shape_at);
    }
    if let Some(dtype) = input.dtype.filter(|d| d.is_integral()) {
        let message = format!("`input` is {dtype}: normalize takes floating-point tensors");
        cx.reject(RejectKind::Dtype, message, vec![(format!("`input` gets dtype {dtype} here"), input.dtype_at)]);
    }
    let mut out = like(cx, &input);
    if autocast(cx, input.device) != Autocast::Off {
        out.dtype = full_dtype(cx, &input);
    }
    cx.out(out)
}
