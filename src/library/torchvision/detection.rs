//! `torchvision.models.detection`: models that take a list of images and, in training, a list of
//! targets. The box classifier of an R-CNN is a real layer, because scripts replace it. In
//! training, a cross entropy checks the labels against the output of this layer.

use super::models::{check_classes, layer, open_module};
use crate::library::data::TORCHVISION_MODELS;
use crate::library::torch::autocast::{Autocast, autocast};
use crate::library::{Cx, Table};
use crate::python::{Arg, Args, Bound};
use crate::value::{Device, Dict, Dtype, Grad, Key, ObjId, Range, Size, Tensor, Value};

const DETECTOR: &str = "torchvision.models.detection.GeneralizedRCNN";
const ROI_HEADS: &str = "torchvision.models.detection.roi_heads.RoIHeads";
const PREDICTOR: &str = "torchvision.models.detection.faster_rcnn.FastRCNNPredictor";
const SIG: &str = "*, weights=None, progress=True, num_classes=None, pretrained=False, **kwargs";

pub(crate) fn register(t: &mut Table) {
    t.class(DETECTOR, &["torch.nn.Module"], "*args, **kwargs").keeps_arguments = false;
    t.class(ROI_HEADS, &["torch.nn.Module"], "*args, **kwargs").keeps_arguments = false;
    let predictor = t.class(PREDICTOR, &["torch.nn.Module"], "in_channels, num_classes");
    predictor.init = Some(|cx, predictor, b| {
        let classes = b.get("num_classes");
        give_layers(cx, predictor, b.get("in_channels"), classes);
    });
    t.def(&format!("{PREDICTOR}.forward"), "self, x", |cx, b| {
        let scores = cx.attr(&b.get("self"), "cls_score");
        let boxes = cx.attr(&b.get("self"), "bbox_pred");
        let args = Args::positional([b.get("x")], cx.span);
        let out = [scores, boxes].map(|layer| cx.call(&layer, args.clone()));
        Value::tuple(out.to_vec())
    });
    t.alias("torchvision.models.detection.FastRCNNPredictor", PREDICTOR);
    t.def(&format!("{DETECTOR}.forward"), "self, images, targets=None", detect);
    for name in &TORCHVISION_MODELS.detection.names {
        t.def(&format!("torchvision.models.detection.{name}"), SIG, |cx, b| {
            let theirs = TORCHVISION_MODELS.classes.detection;
            check_classes(cx, b, theirs);
            let classes = match b.get("num_classes") {
                Value::None => Value::Int(theirs),
                classes => classes,
            };
            rcnn(cx, classes)
        });
    }
    t.def("torchvision.models.detection.FasterRCNN", "backbone, num_classes=None, *args, **kwargs", |cx, b| {
        let classes = b.get("num_classes");
        if classes.is_none() || b.open || b.extra.iter().any(|(name, _)| name.as_str() == "box_predictor") {
            return open_module(cx, DETECTOR);
        }
        rcnn(cx, classes)
    });
    t.alias("torchvision.models.detection.faster_rcnn.FasterRCNN", "torchvision.models.detection.FasterRCNN");
    t.family(
        "torchvision.models.detection.",
        "keypointrcnn_resnet50_fpn retinanet_resnet50_fpn retinanet_resnet50_fpn_v2 ssd300_vgg16 \
         ssdlite320_mobilenet_v3_large fcos_resnet50_fpn",
        "*args, **kwargs",
        |cx, _| open_module(cx, DETECTOR),
    );
}

fn give_layers(cx: &mut Cx<'_, '_>, predictor: ObjId, features: Value, classes: Value) {
    let boxes = Value::size(&cx.size_of(&classes).mul(&Size::Int(4)));
    let scores = layer(cx, "Linear", vec![features.clone(), classes], Vec::new());
    let boxes = layer(cx, "Linear", vec![features, boxes], Vec::new());
    cx.it.heap.set_attr(predictor, "cls_score", scores);
    cx.it.heap.set_attr(predictor, "bbox_pred", boxes);
    cx.it.heap.set_attr(predictor, "training", Value::Bool(true));
}

fn rcnn(cx: &mut Cx<'_, '_>, classes: Value) -> Value {
    let predictor = cx.it.heap.instance(Value::path(PREDICTOR));
    give_layers(cx, predictor, Value::Int(TORCHVISION_MODELS.detection.features), classes);
    let heads = open_module(cx, ROI_HEADS);
    let model = open_module(cx, DETECTOR);
    if let (Some(heads), Some(model)) = (heads.as_obj(), model.as_obj()) {
        cx.it.heap.set_attr(heads, "box_predictor", Value::Obj(predictor));
        cx.it.heap.set_attr(model, "roi_heads", Value::Obj(heads));
    }
    model
}

/// The result of a call: in training, the losses by name; otherwise, the objects found in each
/// image.
fn detect(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let images = b.get("images");
    let image = cx.element(&images);
    let device = cx.tensor(&image).and_then(|t| t.device);
    match cx.attr(&b.get("self"), "training").as_bool() {
        Some(true) => {
            classify(cx, b, device);
            losses(cx, device)
        }
        Some(false) => {
            let found = objects(cx, device);
            match cx.items(&images) {
                Some(images) => cx.list(vec![found; images.len()]),
                None => cx.list_of(found),
            }
        }
        None => Value::Unknown,
    }
}

/// Checks the labels of the target boxes against the scores. In training, the model adds the target
/// boxes to the boxes that it classifies.
fn classify(cx: &mut Cx<'_, '_>, b: &Bound, device: Option<Device>) {
    let heads = cx.attr(&b.get("self"), "roi_heads");
    let predictor = cx.attr(&heads, "box_predictor");
    let layer = cx.attr(&predictor, "cls_score");
    let target = cx.element(&b.get("targets"));
    let labels = match cx.it.heap.dict_of(&target) {
        Some(dict) => dict.entries.get(&Key::Str("labels".into())).cloned().unwrap_or(Value::Unknown),
        None => return,
    };
    let (Some(labels), Some(features)) = (cx.tensor(&labels), cx.attr(&layer, "in_features").as_int()) else { return };
    let at = labels.shape_at;
    let boxes = cx.fresh_dim("boxes").size;
    let features = Tensor { device, ..Tensor::default() }
        .with_shape(vec![boxes.clone(), Size::Int(features)], at)
        .with_dtype(Some(Dtype::Float32), at);
    let features = cx.out(features);
    let span = cx.span;
    let scores = cx.call(&layer, Args::positional([features], span));
    let labels = Tensor { data: None, ..labels }.with_shape(vec![boxes], at);
    let labels = cx.out(labels);
    let target = Arg::new(labels, b.span("targets").unwrap_or(span));
    let args = Args { pos: vec![Arg::new(scores, span), target], ..Args::default() };
    cx.call(&Value::path("torch.nn.functional.cross_entropy"), args);
}

fn losses(cx: &mut Cx<'_, '_>, device: Option<Device>) -> Value {
    let at = cx.at();
    // The number and the names of the losses depend on the model, so the dictionary is open.
    let plain = autocast(cx, device) == Autocast::Off;
    let loss = Tensor { device, device_at: at, grad: Grad::Attached, ..Tensor::default() }
        .with_shape(Vec::new(), at)
        .with_dtype(plain.then_some(Dtype::Float32), at);
    let loss = cx.out(loss);
    cx.it.heap.dict(Dict { open: Some(loss), ..Dict::default() })
}

/// The detections in an image.
fn objects(cx: &mut Cx<'_, '_>, device: Option<Device>) -> Value {
    let at = cx.at();
    let count = cx.fresh_dim("objects").size;
    let mut dict = Dict { open: Some(Value::Unknown), ..Dict::default() };
    let of = |sizes: Vec<Size>, dtype| {
        Tensor { device, device_at: at, ..Tensor::default() }.with_shape(sizes, at).with_dtype(Some(dtype), at)
    };
    for (name, tensor) in [
        ("boxes", of(vec![count.clone(), Size::Int(4)], Dtype::Float32)),
        ("labels", of(vec![count.clone()], Dtype::Int64)),
        ("scores", of(vec![count], Dtype::Float32).with_range(Some(Range::bounds(0.0, 1.0)), at)),
    ] {
        dict.entries.insert(Key::Str(name.into()), cx.out(tensor));
    }
    cx.it.heap.dict(dict)
}
