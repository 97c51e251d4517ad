//! `torchvision.models.segmentation`: the classifier consists of real layers; the backbone is not
//! modelled. The result is a dictionary with `out`, and with `aux` if there is an auxiliary
//! classifier.

use super::models::{check_classes, layer, open_module};
use crate::library::data::{Segmentation, TORCHVISION_MODELS};
use crate::library::{Cx, Table};
use crate::python::{Args, Bound};
use crate::value::{Dict, Dim, Key, Size, Tensor, Value};

const SIG: &str = "weights=None, progress=True, num_classes=None, aux_loss=None, *, weights_backbone=None, \
                   pretrained=None, pretrained_backbone=None, **kwargs";
const MODEL: &str = "torchvision.models.segmentation._SimpleSegmentationModel";
const FEATURES: &str = "_features";
const AUXILIARY: &str = "_auxiliary_features";
const ASPP: &str = "torchvision.models.segmentation.deeplabv3.ASPP";

pub(crate) fn register(t: &mut Table) {
    t.class(MODEL, &["torch.nn.Module"], "*args, **kwargs").keeps_arguments = false;
    t.def(&format!("{MODEL}.forward"), "self, x", forward);
    for name in TORCHVISION_MODELS.segmentation.keys() {
        t.def(&format!("torchvision.models.segmentation.{name}"), SIG, build);
    }
    t.def(
        "torchvision.models.segmentation.lraspp_mobilenet_v3_large",
        "*, weights=None, progress=True, num_classes=None, weights_backbone=None, **kwargs",
        lraspp,
    );
    t.def(
        "torchvision.models.segmentation.deeplabv3.DeepLabHead",
        "in_channels, num_classes, atrous_rates=None",
        |cx, b| deeplab_head(cx, b.get("num_classes")),
    );
    t.def("torchvision.models.segmentation.fcn.FCNHead", "in_channels, channels", |cx, b| {
        fcn_head(cx, &b.get("in_channels"), b.get("channels"))
    });
    t.class(ASPP, &["torch.nn.Module"], "in_channels, atrous_rates, out_channels=256").keeps_arguments = true;
    t.def(&format!("{ASPP}.forward"), "self, x", |cx, b| {
        let Some(mut x) = cx.tensor_arg(b, "x") else { return cx.some_tensor() };
        let channels = cx.attr(&b.get("self"), "out_channels").as_size().unwrap_or(Size::Unknown);
        let at = cx.at();
        if let Some([_, c, _, _]) = x.shape.as_deref_mut() {
            *c = Dim::new(channels, at);
        }
        x.forget_values();
        x.base = None;
        cx.out(x)
    });
}

fn deeplab_head(cx: &mut Cx<'_, '_>, classes: Value) -> Value {
    let aspp = open_module(cx, "torchvision.models.segmentation.deeplabv3.ASPP");
    if let Some(id) = aspp.as_obj() {
        cx.it.heap.set_attr(id, "out_channels", Value::Int(256));
    }
    let int = Value::Int;
    let middle =
        layer(cx, "Conv2d", vec![int(256), int(256), int(3)], vec![("padding", int(1)), ("bias", Value::Bool(false))]);
    let norm = layer(cx, "BatchNorm2d", vec![int(256)], Vec::new());
    let relu = layer(cx, "ReLU", Vec::new(), Vec::new());
    let last = layer(cx, "Conv2d", vec![int(256), classes, int(1)], Vec::new());
    layer(cx, "Sequential", vec![aspp, middle, norm, relu, last], Vec::new())
}

fn fcn_head(cx: &mut Cx<'_, '_>, channels: &Value, classes: Value) -> Value {
    let Some(n) = channels.as_int() else { return open_module(cx, "torch.nn.Module") };
    let int = Value::Int;
    let first =
        layer(cx, "Conv2d", vec![int(n), int(n / 4), int(3)], vec![("padding", int(1)), ("bias", Value::Bool(false))]);
    let norm = layer(cx, "BatchNorm2d", vec![int(n / 4)], Vec::new());
    let (relu, dropout) = (layer(cx, "ReLU", Vec::new(), Vec::new()), layer(cx, "Dropout", Vec::new(), Vec::new()));
    let last = layer(cx, "Conv2d", vec![int(n / 4), classes, int(1)], Vec::new());
    layer(cx, "Sequential", vec![first, norm, relu, dropout, last], Vec::new())
}

fn build(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let theirs = TORCHVISION_MODELS.classes.segmentation;
    check_classes(cx, b, theirs);
    let classes = match b.get("num_classes") {
        Value::None => Value::Int(theirs),
        given => given,
    };
    let name = cx.name();
    let Some(&Segmentation { features, auxiliary }) = TORCHVISION_MODELS.segmentation.get(name) else {
        return Value::Unknown;
    };
    let model = open_module(cx, MODEL);
    let Some(id) = model.as_obj() else { return Value::Unknown };
    let head = if name.starts_with("fcn") {
        fcn_head(cx, &Value::Int(features), classes.clone())
    } else {
        deeplab_head(cx, classes.clone())
    };
    cx.it.heap.set_attr(id, "classifier", head);
    cx.it.heap.set_attr(id, FEATURES, Value::Int(features));
    cx.it.heap.set_attr(id, AUXILIARY, Value::Int(auxiliary));
    // Pretrained weights include the auxiliary classifier.
    let aux = match (b.get("aux_loss"), b.get("weights"), b.get("pretrained")) {
        (Value::Bool(aux), Value::None, Value::None | Value::Bool(false)) => Some(aux),
        (Value::None, Value::None, Value::None | Value::Bool(false)) => Some(false),
        (_, Value::Str(_) | Value::Path(_), _) | (_, _, Value::Bool(true)) => Some(true),
        _ => None,
    };
    let aux = match aux {
        Some(true) => fcn_head(cx, &Value::Int(auxiliary), classes),
        Some(false) => Value::None,
        None => Value::Unknown,
    };
    cx.it.heap.set_attr(id, "aux_classifier", aux);
    model
}

/// LR-ASPP: a convolution represents its classifier, which has two last layers.
fn lraspp(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let theirs = TORCHVISION_MODELS.classes.segmentation;
    check_classes(cx, b, theirs);
    let classes = match b.get("num_classes") {
        // The program may replace the last layers.
        _ if cx.it.mentions("low_classifier") => Value::Unknown,
        Value::None => Value::Int(theirs),
        given => given,
    };
    let model = open_module(cx, MODEL);
    let head = layer(cx, "Conv2d", vec![Value::Unknown, classes, Value::Int(1)], Vec::new());
    if let Some(id) = model.as_obj() {
        cx.it.heap.set_attr(id, "classifier", head);
        cx.it.heap.set_attr(id, "aux_classifier", Value::None);
    }
    model
}

fn forward(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let model = b.get("self");
    let Some(input) = cx.tensor_arg(b, "x") else { return Value::Unknown };
    let mut dict = Dict::default();
    let features = cx.attr(&model, FEATURES);
    let head = cx.attr(&model, "classifier");
    let out = classify(cx, &head, &features, &input);
    dict.entries.insert(Key::Str("out".into()), out);
    match cx.attr(&model, "aux_classifier") {
        Value::None => {}
        Value::Unknown => dict.open = Some(Value::Unknown),
        aux => {
            let features = cx.attr(&model, AUXILIARY);
            let out = classify(cx, &aux, &features, &input);
            dict.entries.insert(Key::Str("aux".into()), out);
        }
    }
    cx.it.heap.dict(dict)
}

/// The classifier's output, resized to the size of the input.
fn classify(cx: &mut Cx<'_, '_>, head: &Value, channels: &Value, input: &Tensor) -> Value {
    let (at, span) = (cx.at(), cx.span);
    let side = || Dim::new(Size::Unknown, at);
    let Some([batch, _, height, width]) = input.shape.as_deref() else { return cx.some_tensor() };
    let features = Tensor {
        shape: Some(vec![batch.clone(), Dim::new(channels.as_size().unwrap_or(Size::Unknown), at), side(), side()]),
        dtype: input.dtype,
        dtype_at: input.dtype_at,
        device: input.device,
        device_at: input.device_at,
        ..Tensor::default()
    };
    let features = cx.out(features);
    let out = cx.call(head, Args::positional([features], span));
    let Some(mut out) = cx.tensor(&out) else { return cx.some_tensor() };
    if let Some([_, _, h, w]) = out.shape.as_deref_mut() {
        *h = height.clone();
        *w = width.clone();
    }
    out.base = None;
    cx.out(out)
}
