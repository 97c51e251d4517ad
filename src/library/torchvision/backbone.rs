//! Backbones of torchvision models, which scripts use separately, for example `vgg16().features`,
//! or all children of a ResNet except the last. The layers of VGG and AlexNet are modelled one by
//! one; in other models, one body module represents many layers, with known output channels and
//! strides.

use super::models::{layer, open_module};
use crate::library::torch::nn::module::named_children_of;
use crate::library::{Cx, Table};
use crate::python::{Args, Bound};
use crate::value::{Dim, Grad, ObjId, Size, Tensor, Value};

const BODY: &str = "torchvision.models.Body";
const CHANNELS: &str = "_channels";
/// The attribute that holds an internal layer. Its parameters have the dtype and device of all
/// parameters of the body.
const PROBE: &str = "_probe";
/// The attribute that holds the steps of a body, as a string with one letter for each step. A step
/// halves both side lengths: `c` rounds up, `f` rounds down.
const STEPS: &str = "_steps";

pub(crate) fn register(t: &mut Table) {
    t.class(BODY, &["torch.nn.Module"], "").keeps_arguments = false;
    t.def(&format!("{BODY}.forward"), "self, input", forward);
    // Replacing or deleting a stage may change the output channels of the body. The first stage is
    // an exception, because its output must fit the second stage.
    for (name, params) in [("__setitem__", "self, index, module"), ("__delitem__", "self, index")] {
        t.def(&format!("{BODY}.{name}"), params, |cx, b| {
            if b.get("index").as_int() != Some(0) {
                changed(cx, &b.get("self"), CHANNELS);
            }
            changed(cx, &b.get("self"), STEPS);
            Value::None
        });
    }
    for (name, params) in [("append", "self, module"), ("extend", "self, modules"), ("insert", "self, index, module")] {
        t.def(&format!("{BODY}.{name}"), params, |cx, b| {
            let body = b.get("self");
            changed(cx, &body, CHANNELS);
            changed(cx, &body, STEPS);
            body
        });
    }
    // Code that accesses a part of a body may change the strides of the part, and so those of the
    // body. The last part also determines the output channels.
    t.def(&format!("{BODY}.__getitem__"), "self, index", |cx, b| {
        let body = b.get("self");
        changed(cx, &body, STEPS);
        if b.get("index").as_int() == Some(-1) {
            changed(cx, &body, CHANNELS);
        }
        Value::Unknown
    });
}

/// Makes one fact of a body unknown.
fn changed(cx: &mut Cx<'_, '_>, body: &Value, what: &str) {
    if let Some(id) = body.as_obj() {
        cx.it.heap.set_attr(id, what, Value::Unknown);
    }
}

/// The attributes of models that hold the feature extractor, or its last stages.
const LAST: &[&str] = &[
    "features",
    "layer4",
    "layers",
    "conv5",
    "inception5b",
    "Mixed_7c",
    "encoder",
    "trunk_output",
    "norm",
    "permute",
    "flatten",
];

/// The output channels of a model's last stage: those of the architecture, unless the stage was
/// replaced.
pub(crate) fn channels(cx: &Cx<'_, '_>, model: &Value, features: i64) -> Size {
    let parts = LAST.iter().filter_map(|name| cx.it.heap.attr(model.as_obj()?, name));
    parts.fold(Size::Int(features), |_, part| out_of(cx, &part, Size::Unknown))
}

/// Whether modules were added to a body by name. Such modules run at the end of the body. (`conv0`
/// is no addition: it replaces the first layer of a DenseNet.)
fn is_extended(cx: &Cx<'_, '_>, body: &Value) -> bool {
    let added = |name: &str| name != PROBE && name != "conv0";
    named_children_of(cx, body).found.iter().any(|(name, _)| added(name))
}

/// The output channels of a layer for a given number of input channels.
fn out_of(cx: &Cx<'_, '_>, part: &Value, channels: Size) -> Size {
    let is = |class: &str| cx.it.is_instance(part, &format!("torch.nn.{class}"));
    if cx.it.is_instance(part, BODY) {
        if is_extended(cx, part) {
            return Size::Unknown;
        }
        return cx.attr(part, CHANNELS).as_size().unwrap_or(Size::Unknown);
    }
    if is("Conv2d") {
        return cx.attr(part, "out_channels").as_size().unwrap_or(Size::Unknown);
    }
    if ["BatchNorm2d", "ReLU", "MaxPool2d", "AvgPool2d", "Dropout", "Dropout2d", "Identity"].iter().any(|c| is(c)) {
        return channels;
    }
    let children = named_children_of(cx, part);
    if !is("Sequential") || !children.complete {
        return Size::Unknown;
    }
    children.found.iter().fold(channels, |channels, (_, child)| out_of(cx, child, channels))
}

/// The number of features that a model computes from the feature map `map`, which has `channels`
/// channels. Models without a pooling attribute have one feature for each channel.
pub(crate) fn pooled(cx: &mut Cx<'_, '_>, model: &Value, map: Tensor, channels: Size) -> Size {
    let Some(pool) = model.as_obj().and_then(|id| cx.it.heap.attr(id, "avgpool")) else { return channels };
    let (map, span) = (cx.out(map), cx.span);
    let out = cx.call(&pool, Args::positional([map], span));
    let sizes = cx.tensor(&out).and_then(|t| t.shape);
    match sizes.as_deref() {
        Some([_, sizes @ ..]) => {
            let count = sizes.iter().try_fold(1_i64, |all, dim| all.checked_mul(dim.size.known()?));
            count.map_or(Size::Unknown, Size::Int)
        }
        _ => Size::Unknown,
    }
}

fn body(cx: &mut Cx<'_, '_>, channels: i64, steps: &str) -> Value {
    let body = open_module(cx, BODY);
    if let Some(id) = body.as_obj() {
        cx.it.heap.set_attr(id, CHANNELS, Value::Int(channels));
        cx.it.heap.set_attr(id, STEPS, Value::str(steps));
        let probe = layer(cx, "Linear", vec![Value::Int(1), Value::Int(1)], Vec::new());
        cx.it.heap.set_attr(id, PROBE, probe);
    }
    body
}

fn forward(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (body, at, span) = (b.get("self"), cx.at(), cx.span);
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let steps = cx.attr(&body, STEPS);
    let shrink = |size: &Size| match (size, steps.as_str()) {
        (Size::Int(n), Some(steps)) => {
            Size::Int(steps.chars().fold(*n, |n, step| if step == 'c' { n.saturating_add(1) / 2 } else { n / 2 }))
        }
        (size, Some("")) => size.clone(),
        _ => Size::Unknown,
    };
    let channels = cx.attr(&body, CHANNELS).as_size().unwrap_or(Size::Unknown);
    let shape = match input.shape.as_deref().filter(|_| !is_extended(cx, &body)) {
        Some([batch, _, height, width]) => Some(vec![
            batch.clone(),
            Dim::new(channels, at),
            Dim::new(shrink(&height.size), height.at),
            Dim::new(shrink(&width.size), width.at),
        ]),
        _ => None,
    };
    let probe = Tensor { shape: Some(vec![Dim::int(1)]), range: None, role: None, data: None, base: None, ..input };
    let probe = cx.out(probe);
    let layer = cx.attr(&body, PROBE);
    let seen = cx.call(&layer, Args::positional([probe], span));
    let Some(seen) = cx.tensor(&seen) else { return cx.some_tensor() };
    let out = Tensor { shape, shape_at: at, range: None, role: None, data: None, base: None, ..seen };
    cx.out(Tensor { grad: Grad::Unknown, ..out })
}

/// Adds the children of a ResNet between its first convolution and its head.
pub(crate) fn resnet(cx: &mut Cx<'_, '_>, model: ObjId, features: i64) {
    let int = Value::Int;
    let norm = layer(cx, "BatchNorm2d", vec![int(64)], Vec::new());
    let relu = layer(cx, "ReLU", Vec::new(), Vec::new());
    let pool = layer(cx, "MaxPool2d", vec![int(3), int(2), int(1)], Vec::new());
    for (name, child) in [("bn1", norm), ("relu", relu), ("maxpool", pool)] {
        cx.it.heap.set_attr(model, name, child);
    }
    for (name, share, steps) in [("layer1", 8, ""), ("layer2", 4, "c"), ("layer3", 2, "c"), ("layer4", 1, "c")] {
        let stage = body(cx, features / share, steps);
        cx.it.heap.set_attr(model, name, stage);
    }
    let pool = layer(cx, "AdaptiveAvgPool2d", vec![Value::tuple(vec![int(1), int(1)])], Vec::new());
    cx.it.heap.set_attr(model, "avgpool", pool);
}

/// Adds the `features` of a model, and the layers before its classifier.
pub(crate) fn features(cx: &mut Cx<'_, '_>, model: ObjId, name: &str, channels: i64) {
    let int = Value::Int;
    let made = match name {
        _ if name.starts_with("vgg") => vgg(cx, name),
        "alexnet" => alexnet(cx),
        _ => {
            let steps = if name.starts_with("densenet") { "ccfff" } else { "ccccc" };
            body(cx, channels, steps)
        }
    };
    cx.it.heap.set_attr(model, "features", made);
    let side = match name {
        "alexnet" => 6,
        _ if name.starts_with("vgg") => 7,
        _ => return,
    };
    let pool = layer(cx, "AdaptiveAvgPool2d", vec![Value::tuple(vec![int(side), int(side)])], Vec::new());
    cx.it.heap.set_attr(model, "avgpool", pool);
}

/// Blocks of 3×3 convolutions, each followed by max pooling.
fn vgg(cx: &mut Cx<'_, '_>, name: &str) -> Value {
    let int = Value::Int;
    let blocks: [usize; 5] = match name.trim_end_matches("_bn") {
        "vgg11" => [1, 1, 2, 2, 2],
        "vgg13" => [2, 2, 2, 2, 2],
        "vgg16" => [2, 2, 3, 3, 3],
        _ => [2, 2, 4, 4, 4],
    };
    let mut layers = Vec::new();
    let mut inputs = 3;
    for (count, channels) in blocks.into_iter().zip([64, 128, 256, 512, 512]) {
        for _ in 0..count {
            let args = vec![int(inputs), int(channels), int(3)];
            layers.push(layer(cx, "Conv2d", args, vec![("padding", int(1))]));
            if name.ends_with("_bn") {
                layers.push(layer(cx, "BatchNorm2d", vec![int(channels)], Vec::new()));
            }
            layers.push(layer(cx, "ReLU", Vec::new(), vec![("inplace", Value::Bool(true))]));
            inputs = channels;
        }
        layers.push(layer(cx, "MaxPool2d", vec![int(2), int(2)], Vec::new()));
    }
    layer(cx, "Sequential", layers, Vec::new())
}

fn alexnet(cx: &mut Cx<'_, '_>) -> Value {
    let int = Value::Int;
    let mut layers = Vec::new();
    for (inputs, channels, kernel, stride, padding, pooled) in [
        (3, 64, 11, 4, 2, true),
        (64, 192, 5, 1, 2, true),
        (192, 384, 3, 1, 1, false),
        (384, 256, 3, 1, 1, false),
        (256, 256, 3, 1, 1, true),
    ] {
        let args = [inputs, channels, kernel, stride, padding].map(int).to_vec();
        layers.push(layer(cx, "Conv2d", args, Vec::new()));
        layers.push(layer(cx, "ReLU", Vec::new(), vec![("inplace", Value::Bool(true))]));
        if pooled {
            layers.push(layer(cx, "MaxPool2d", vec![int(3), int(2)], Vec::new()));
        }
    }
    layer(cx, "Sequential", layers, Vec::new())
}
