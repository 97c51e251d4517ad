//! The table of the layers of `torch.nn`, with one line for each layer, and the functions that
//! create their parameters.

use super::facts::per_dim;
use super::layer::{Layer, absent, bias, buffer, counter, parameter, plain, size, state, with_state};
use crate::library::Cx;
use crate::python::{Bound, RejectKind};
use crate::value::{Grad, ObjId, Size, Value};

macro_rules! forward {
    (conv $f:literal) => {
        concat!($f, "(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)")
    };
    (conv_transpose $f:literal) => {
        concat!(
            $f,
            "(input, self.weight, self.bias, self.stride, self.padding, self.output_padding, self.groups, \
             self.dilation, output size=output_size)"
        )
    };
    (max_pool $f:literal) => {
        concat!(
            $f,
            "(input, self.kernel_size, self.stride, self.padding, self.dilation, ceil_mode=self.ceil_mode, \
             return_indices=self.return_indices)"
        )
    };
    (avg_pool $f:literal) => {
        concat!($f, "(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)")
    };
    (unpool $f:literal) => {
        concat!($f, "(input, indices, self.kernel_size, self.stride, self.padding, output_size=output_size)")
    };
    (fractional $f:literal) => {
        concat!($f, "(input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices)")
    };
}

const BATCH: &str =
    "batch_norm(input, self.running_mean, self.running_var, self.weight, self.bias, training=self.training)";
const INSTANCE: &str = "instance_norm(input, self.running_mean, self.running_var, self.weight, self.bias)";
const PAD: &str = "pad(input, self.padding, self.pad mode, self.value)";

pub(crate) const LAYERS: &[Layer] = &[
    // Linear
    with_state("Linear", "Module", linear, "linear(input, self.weight, self.bias)"),
    with_state("LazyLinear", "Linear", linear, "linear(input, self.weight, self.bias)"),
    with_state("Bilinear", "Module", bilinear, "bilinear(input1, input2, self.weight, self.bias)"),
    with_state(
        "Embedding",
        "Module",
        embedding,
        "embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type)",
    ),
    with_state(
        "EmbeddingBag",
        "Module",
        embedding,
        "embedding_bag(input, self.weight, offsets=offsets, mode=self.mode, per_sample_weights=per_sample_weights, \
         include_last_offset=self.include_last_offset, padding_idx=self.padding_idx)",
    ),
    // Convolutions
    with_state("Conv1d", "_ConvNd", conv, forward!(conv "conv1d")),
    with_state("Conv2d", "_ConvNd", conv, forward!(conv "conv2d")),
    with_state("Conv3d", "_ConvNd", conv, forward!(conv "conv3d")),
    with_state("ConvTranspose1d", "_ConvTransposeNd", conv, forward!(conv_transpose "conv_transpose1d")),
    with_state("ConvTranspose2d", "_ConvTransposeNd", conv, forward!(conv_transpose "conv_transpose2d")),
    with_state("ConvTranspose3d", "_ConvTransposeNd", conv, forward!(conv_transpose "conv_transpose3d")),
    with_state("LazyConv1d", "Conv1d", conv, forward!(conv "conv1d")),
    with_state("LazyConv2d", "Conv2d", conv, forward!(conv "conv2d")),
    with_state("LazyConv3d", "Conv3d", conv, forward!(conv "conv3d")),
    with_state("LazyConvTranspose1d", "ConvTranspose1d", conv, forward!(conv_transpose "conv_transpose1d")),
    with_state("LazyConvTranspose2d", "ConvTranspose2d", conv, forward!(conv_transpose "conv_transpose2d")),
    with_state("LazyConvTranspose3d", "ConvTranspose3d", conv, forward!(conv_transpose "conv_transpose3d")),
    // Norms
    with_state("BatchNorm1d", "_BatchNorm", batch_norm, BATCH).ranks(&[2, 3]),
    with_state("BatchNorm2d", "_BatchNorm", batch_norm, BATCH).ranks(&[4]),
    with_state("BatchNorm3d", "_BatchNorm", batch_norm, BATCH).ranks(&[5]),
    with_state("LazyBatchNorm1d", "_BatchNorm", batch_norm, BATCH).ranks(&[2, 3]),
    with_state("LazyBatchNorm2d", "_BatchNorm", batch_norm, BATCH).ranks(&[4]),
    with_state("LazyBatchNorm3d", "_BatchNorm", batch_norm, BATCH).ranks(&[5]),
    with_state("SyncBatchNorm", "_BatchNorm", batch_norm, BATCH),
    with_state("InstanceNorm1d", "_InstanceNorm", batch_norm, INSTANCE).ranks(&[2, 3]),
    with_state("InstanceNorm2d", "_InstanceNorm", batch_norm, INSTANCE).ranks(&[3, 4]),
    with_state("InstanceNorm3d", "_InstanceNorm", batch_norm, INSTANCE).ranks(&[4, 5]),
    with_state("GroupNorm", "Module", group_norm, "group_norm(input, self.num_groups, self.weight, self.bias)"),
    with_state("LayerNorm", "Module", layer_norm, "layer_norm(input, self.normalized_shape, self.weight, self.bias)"),
    with_state("RMSNorm", "Module", layer_norm, "rms_norm(input, self.normalized_shape, self.weight)"),
    plain("LocalResponseNorm", "local_response_norm(input, self.size)"),
    // Dropout
    plain("Dropout", "dropout(input, self.p, self.training, self.inplace)"),
    plain("Dropout1d", "dropout1d(input, self.p, self.training, self.inplace)"),
    plain("Dropout2d", "dropout2d(input, self.p, self.training, self.inplace)"),
    plain("Dropout3d", "dropout3d(input, self.p, self.training, self.inplace)"),
    plain("AlphaDropout", "alpha_dropout(input, self.p, self.training)"),
    plain("FeatureAlphaDropout", "feature_alpha_dropout(input, self.p, self.training)"),
    // Activations
    plain("ReLU", "relu(input, inplace=self.inplace)"),
    plain("ReLU6", "relu6(input, inplace=self.inplace)"),
    plain("Hardtanh", "hardtanh(input, self.min_val, self.max_val, self.inplace)"),
    plain("LeakyReLU", "leaky_relu(input, self.negative_slope, self.inplace)"),
    plain("ELU", "elu(input, self.alpha, self.inplace)"),
    plain("CELU", "celu(input, self.alpha, self.inplace)"),
    plain("SELU", "selu(input, self.inplace)"),
    plain("GELU", "gelu(input, approximate=self.approximate)"),
    plain("SiLU", "silu(input, inplace=self.inplace)"),
    plain("Mish", "mish(input, inplace=self.inplace)"),
    plain("Hardswish", "hardswish(input, self.inplace)"),
    plain("Hardsigmoid", "hardsigmoid(input, self.inplace)"),
    plain("RReLU", "rrelu(input, self.lower, self.upper, self.training, self.inplace)"),
    plain("Threshold", "threshold(input, self.threshold, self.value, self.inplace)"),
    plain("Softplus", "softplus(input, self.beta, self.threshold)"),
    plain("Hardshrink", "hardshrink(input, self.lambd)"),
    plain("Softshrink", "softshrink(input, self.lambd)"),
    plain("Softsign", "softsign(input)"),
    plain("Tanhshrink", "tanhshrink(input)"),
    plain("LogSigmoid", "logsigmoid(input)"),
    plain("Sigmoid", "torch.sigmoid(input)"),
    plain("Tanh", "torch.tanh(input)"),
    plain("GLU", "glu(input, self.dim)"),
    with_state("Softmax", "Module", softmax, "softmax(input, self.dim)"),
    plain("Softmin", "softmin(input, self.dim)"),
    with_state("LogSoftmax", "Module", softmax, "log_softmax(input, self.dim)"),
    plain("Softmax2d", "softmax(input, -3)").ranks(&[3, 4]),
    with_state("PReLU", "Module", prelu, "prelu(input, self.weight)"),
    // Pooling
    with_state("MaxPool1d", "_MaxPoolNd", pool, forward!(max_pool "max_pool1d")),
    with_state("MaxPool2d", "_MaxPoolNd", pool, forward!(max_pool "max_pool2d")),
    with_state("MaxPool3d", "_MaxPoolNd", pool, forward!(max_pool "max_pool3d")),
    with_state("AvgPool1d", "Module", pool, forward!(avg_pool "avg_pool1d")),
    with_state("AvgPool2d", "Module", pool, forward!(avg_pool "avg_pool2d")),
    with_state("AvgPool3d", "Module", pool, forward!(avg_pool "avg_pool3d")),
    plain("AdaptiveAvgPool1d", "adaptive_avg_pool1d(input, self.output_size)"),
    plain("AdaptiveAvgPool2d", "adaptive_avg_pool2d(input, self.output_size)"),
    plain("AdaptiveAvgPool3d", "adaptive_avg_pool3d(input, self.output_size)"),
    plain("AdaptiveMaxPool1d", "adaptive_max_pool1d(input, self.output_size, self.return_indices)"),
    plain("AdaptiveMaxPool2d", "adaptive_max_pool2d(input, self.output_size, self.return_indices)"),
    plain("AdaptiveMaxPool3d", "adaptive_max_pool3d(input, self.output_size, self.return_indices)"),
    plain("LPPool1d", "lp_pool1d(input, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)"),
    plain("LPPool2d", "lp_pool2d(input, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)"),
    plain("LPPool3d", "lp_pool3d(input, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)"),
    plain("FractionalMaxPool2d", forward!(fractional "fractional_max_pool2d")),
    plain("FractionalMaxPool3d", forward!(fractional "fractional_max_pool3d")),
    plain("MaxUnpool1d", forward!(unpool "max_unpool1d")),
    plain("MaxUnpool2d", forward!(unpool "max_unpool2d")),
    plain("MaxUnpool3d", forward!(unpool "max_unpool3d")),
    // Resizing and rearranging
    plain("Upsample", "interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners)"),
    with_state(
        "UpsamplingBilinear2d",
        "Upsample",
        upsampling,
        "interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners)",
    ),
    with_state(
        "UpsamplingNearest2d",
        "Upsample",
        upsampling,
        "interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners)",
    ),
    plain("PixelShuffle", "pixel_shuffle(input, self.upscale_factor)"),
    plain("PixelUnshuffle", "pixel_unshuffle(input, self.downscale_factor)"),
    plain("ChannelShuffle", "channel_shuffle(input, self.groups)"),
    plain("Flatten", "torch.flatten(input, self.start_dim, self.end_dim)"),
    plain("Unflatten", "torch.unflatten(input, self.dim, self.unflattened_size)"),
    plain("Fold", "fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)"),
    plain("Unfold", "unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)"),
    with_state("ConstantPad1d", "_ConstantPadNd", padding, PAD),
    with_state("ConstantPad2d", "_ConstantPadNd", padding, PAD),
    with_state("ConstantPad3d", "_ConstantPadNd", padding, PAD),
    with_state("ZeroPad1d", "ConstantPad1d", padding, PAD),
    with_state("ZeroPad2d", "ConstantPad2d", padding, PAD),
    with_state("ZeroPad3d", "ConstantPad3d", padding, PAD),
    with_state("ReflectionPad1d", "_ReflectionPadNd", padding, PAD),
    with_state("ReflectionPad2d", "_ReflectionPadNd", padding, PAD),
    with_state("ReflectionPad3d", "_ReflectionPadNd", padding, PAD),
    with_state("ReplicationPad1d", "_ReplicationPadNd", padding, PAD),
    with_state("ReplicationPad2d", "_ReplicationPadNd", padding, PAD),
    with_state("ReplicationPad3d", "_ReplicationPadNd", padding, PAD),
    with_state("CircularPad1d", "_CircularPadNd", padding, PAD).ranks(&[2, 3]),
    with_state("CircularPad2d", "_CircularPadNd", padding, PAD).ranks(&[3, 4]),
    with_state("CircularPad3d", "_CircularPadNd", padding, PAD).ranks(&[4, 5]),
    // Distances
    plain("CosineSimilarity", "cosine_similarity(x1, x2, self.dim, self.eps)"),
    plain("PairwiseDistance", "pairwise_distance(x1, x2, self.p, self.eps, self.keepdim)"),
];

/// The digit in a layer's name: its number of spatial dimensions.
pub(crate) fn spatial(name: &str) -> usize {
    name.chars().find_map(|c| c.to_digit(10)).map_or(0, |d| d as usize)
}

fn linear(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    // A lazy layer infers the size of its input from the first call.
    let (inputs, outputs) = (size(cx, b, "in_features"), size(cx, b, "out_features"));
    parameter(cx, object, b, "weight", vec![outputs.clone(), inputs]);
    bias(cx, object, b, "bias", "bias", vec![outputs]);
}

fn bilinear(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    let outputs = size(cx, b, "out_features");
    let sizes = vec![outputs.clone(), size(cx, b, "in1_features"), size(cx, b, "in2_features")];
    parameter(cx, object, b, "weight", sizes);
    bias(cx, object, b, "bias", "bias", vec![outputs]);
}

fn embedding(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    if let Some(weight) = cx.tensor_arg(b, "_weight") {
        let value = super::layer::new_parameter(cx, weight, Grad::Leaf);
        cx.it.heap.set_attr(object, "weight", value);
        return;
    }
    let sizes = vec![size(cx, b, "num_embeddings"), size(cx, b, "embedding_dim")];
    parameter(cx, object, b, "weight", sizes);
}

fn prelu(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    let sizes = vec![size(cx, b, "num_parameters")];
    parameter(cx, object, b, "weight", sizes);
}

fn conv(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    let name = cx.name();
    let n = spatial(name);
    let transposed = name.contains("Transpose");
    let (inputs, outputs) = (size(cx, b, "in_channels"), size(cx, b, "out_channels"));
    let groups = size(cx, b, "groups");
    let modes: &[&str] = if transposed { &["zeros"] } else { &["zeros", "reflect", "replicate", "circular"] };
    if let Some(mode) = b.get("padding_mode").as_str()
        && !modes.contains(&mode)
    {
        let message = format!("padding_mode is \"{mode}\", but {name} accepts only {}", modes.join(", "));
        cx.reject(RejectKind::Value, message, Vec::new());
    }
    // These attributes are tuples, even if the argument is an integer.
    for argument in ["kernel_size", "stride", "padding", "dilation", "output_padding"] {
        let value = b.get(argument);
        if value.as_str().is_none() && b.takes(argument) {
            let sizes = per_dim(cx, &value, n).iter().map(Value::size).collect();
            cx.it.heap.set_attr(object, argument, Value::tuple(sizes));
        }
    }
    cx.it.heap.set_attr(object, "transposed", Value::Bool(transposed));
    let per_group = |of: &Size| of.div_exact(&groups).unwrap_or(Size::Unknown);
    let mut sizes = match transposed {
        true => vec![inputs, per_group(&outputs)],
        false => vec![outputs.clone(), per_group(&inputs)],
    };
    sizes.extend(per_dim(cx, &b.get("kernel_size"), n));
    parameter(cx, object, b, "weight", sizes);
    bias(cx, object, b, "bias", "bias", vec![outputs]);
}

fn pool(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    let stride = match b.get("stride") {
        Value::None => b.get("kernel_size"),
        stride => stride,
    };
    // Of the pooling layers, only this one stores tuples, even if the arguments are integers.
    if cx.name() == "AvgPool1d" {
        for (argument, value) in
            [("kernel_size", b.get("kernel_size")), ("stride", stride), ("padding", b.get("padding"))]
        {
            let sizes = per_dim(cx, &value, 1).iter().map(Value::size).collect();
            cx.it.heap.set_attr(object, argument, Value::tuple(sizes));
        }
    } else {
        cx.it.heap.set_attr(object, "stride", stride);
    }
}

/// Registers the parameters of a normalisation layer if the argument `flag` is true.
fn affine(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound, flag: &str, sizes: Vec<Size>) {
    match cx.it.truth(&b.get(flag)).or(b.get(flag).as_bool()) {
        Some(true) => {
            parameter(cx, object, b, "weight", sizes.clone());
            match b.takes("bias") {
                true => bias(cx, object, b, "bias", "bias", sizes),
                false => absent(cx, object, &["bias"]),
            }
        }
        Some(false) => absent(cx, object, &["weight", "bias"]),
        None => {
            cx.it.heap.set_attr(object, "weight", Value::Unknown);
            cx.it.heap.set_attr(object, "bias", Value::Unknown);
        }
    }
}

fn batch_norm(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    // A lazy layer infers the number of channels from the first call.
    let channels = size(cx, b, "num_features");
    affine(cx, object, b, "affine", vec![channels.clone()]);
    match b.get("track_running_stats").as_bool() {
        Some(true) => {
            let stats = state(cx, b, vec![channels]);
            buffer(cx, object, "running_mean", stats.clone());
            buffer(cx, object, "running_var", stats);
            let count = counter(cx, b);
            buffer(cx, object, "num_batches_tracked", count);
        }
        Some(false) => absent(cx, object, &["running_mean", "running_var", "num_batches_tracked"]),
        None => {
            cx.it.heap.set_attr(object, "running_mean", Value::Unknown);
            cx.it.heap.set_attr(object, "running_var", Value::Unknown);
        }
    }
}

fn group_norm(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    let channels = size(cx, b, "num_channels");
    if let (Size::Int(c), Some(groups)) = (&channels, b.get("num_groups").as_int())
        && groups > 0
        && c % groups != 0
    {
        let message = format!("num_channels is {c}, which cannot be divided into {groups} groups");
        let reads = vec![(format!("num_channels is {c}"), b.span("num_channels"))];
        cx.reject(RejectKind::Value, message, reads);
    }
    affine(cx, object, b, "affine", vec![channels]);
}

fn layer_norm(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    let shape = b.get("normalized_shape");
    let Some(sizes) = cx.sizes(std::slice::from_ref(&shape)) else {
        cx.it.heap.set_attr(object, "weight", Value::Unknown);
        cx.it.heap.set_attr(object, "bias", Value::Unknown);
        return;
    };
    let tuple = Value::tuple(sizes.iter().map(Value::size).collect());
    cx.it.heap.set_attr(object, "normalized_shape", tuple);
    affine(cx, object, b, "elementwise_affine", sizes);
}

fn upsampling(cx: &mut Cx<'_, '_>, object: ObjId, _: &Bound) {
    let bilinear = cx.name().contains("Bilinear");
    let (mode, corners) = if bilinear { ("bilinear", Value::Bool(true)) } else { ("nearest", Value::None) };
    cx.it.heap.set_attr(object, "mode", Value::str(mode));
    cx.it.heap.set_attr(object, "align_corners", corners);
}

fn padding(cx: &mut Cx<'_, '_>, object: ObjId, b: &Bound) {
    let name = cx.name();
    let mode = match name {
        _ if name.starts_with("Reflection") => "reflect",
        _ if name.starts_with("Replication") => "replicate",
        _ if name.starts_with("Circular") => "circular",
        _ => "constant",
    };
    cx.it.heap.set_attr(object, "pad mode", Value::str(mode));
    let value = match name {
        _ if name.starts_with("Zero") => Value::Float(0.0),
        _ if name.starts_with("Constant") => b.get("value"),
        _ => Value::None,
    };
    cx.it.heap.set_attr(object, "value", value);
    let given = b.get("padding");
    if let Some(pad) = given.as_size() {
        let sizes = vec![Value::size(&pad); 2 * spatial(name)];
        cx.it.heap.set_attr(object, "padding", Value::tuple(sizes));
    }
}

/// Rejects a `dim` that is not an integer.
fn softmax(cx: &mut Cx<'_, '_>, _: ObjId, b: &Bound) {
    let dim = b.get("dim");
    if matches!(dim, Value::Bool(_) | Value::Float(_) | Value::Str(_)) {
        let message = format!("dim is not an integer: {} takes an integer or None", cx.name());
        let at = b.span("dim").or(cx.at());
        cx.reject(RejectKind::Value, message, vec![("dim is given here".to_owned(), at)]);
    }
}
