//! `torchvision.models.detection`: models that take lists of images, and give what depends on
//! their mode.

use super::models::{layer, open_module};
use crate::library::torch::autocast::{Autocast, autocast};
use crate::library::{Cx, Table};
use crate::python::{Args, Bound};
use crate::value::{Dict, Dtype, Grad, Range, Tensor, Value};

const MODEL: &str = "torchvision.models.detection.GeneralizedRCNN";
/// The classifier of one box, with the background as class 0.
const PREDICTOR: &str = "torchvision.models.detection.faster_rcnn.FastRCNNPredictor";

pub fn register(t: &mut Table) {
    t.class(MODEL, &["torch.nn.Module"], "*args, **kwargs").keeps_arguments = false;
    t.def(&format!("{MODEL}.forward"), "self, images, targets=None", detect);
    t.family(
        "torchvision.models.detection.",
        "fasterrcnn_resnet50_fpn fasterrcnn_resnet50_fpn_v2 fasterrcnn_mobilenet_v3_large_fpn \
         fasterrcnn_mobilenet_v3_large_320_fpn maskrcnn_resnet50_fpn maskrcnn_resnet50_fpn_v2 keypointrcnn_resnet50_fpn",
        "*, weights=None, progress=True, num_classes=None, weights_backbone=None, **kwargs",
        two_stage,
    );
    t.family(
        "torchvision.models.detection.",
        "retinanet_resnet50_fpn retinanet_resnet50_fpn_v2 ssd300_vgg16 ssdlite320_mobilenet_v3_large fcos_resnet50_fpn",
        "*args, **kwargs",
        |cx, _| open_module(cx, MODEL),
    );
    let predictor = t.class(PREDICTOR, &["torch.nn.Module"], "in_channels, num_classes");
    predictor.keeps_arguments = false;
    predictor.init = Some(|cx, object, b| {
        let (from, classes) = (b.get("in_channels"), b.get("num_classes"));
        let scores = layer(cx, "Linear", vec![from, classes], Vec::new());
        cx.it.heap.set_attr(object, "cls_score", scores);
    });
}

/// A detector with a classifier of boxes, which scripts replace by their own.
fn two_stage(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let model = open_module(cx, MODEL);
    let heads = open_module(cx, "torch.nn.Module");
    let classes = match b.get("num_classes") {
        // Persons and their key points, or the classes of COCO.
        Value::None if cx.name().starts_with("keypoint") => Value::Int(2),
        Value::None => Value::Int(91),
        given => given,
    };
    let args = Args::positional([Value::Int(1024), classes], cx.span);
    let predictor = cx.call(&Value::path(PREDICTOR), args);
    if let (Some(model), Some(heads)) = (model.as_obj(), heads.as_obj()) {
        cx.it.heap.set_attr(heads, "box_predictor", predictor);
        cx.it.heap.set_attr(model, "roi_heads", Value::Obj(heads));
    }
    model
}

/// In training the losses by name, else the objects found in each image.
fn detect(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if cx.attr(&b.get("self"), "training").as_bool() != Some(true) {
        return Value::Unknown;
    }
    classify(cx, b);
    let at = cx.at();
    let images = b.get("images");
    let image = cx.element(&images);
    let device = cx.tensor(&image).and_then(|t| t.device);
    // The number of the losses and their names are the model's.
    let plain = autocast(cx, device) == Autocast::Off;
    let loss = Tensor { device, device_at: at, grad: Grad::Attached, ..Tensor::default() }
        .with_shape(Vec::new(), at)
        .with_dtype(plain.then_some(Dtype::Float32), at);
    let loss = cx.out(loss);
    cx.it.heap.dict(Dict { open: Some(loss), ..Dict::default() })
}

/// The loss over the classes of boxes, by its own function, so that contracts see it. Boxes
/// without an object are of class 0.
fn classify(cx: &mut Cx<'_, '_>, b: &Bound) {
    let (at, span) = (cx.at(), cx.span);
    let heads = cx.attr(&b.get("self"), "roi_heads");
    let predictor = cx.attr(&heads, "box_predictor");
    let scores = cx.attr(&predictor, "cls_score");
    let Some(weight) = cx.tensor(&cx.attr(&scores, "weight")) else { return };
    let Some(classes) = weight.dim(0).cloned() else { return };
    let targets = b.get("targets");
    let target = cx.element(&targets);
    let labels = match cx.it.heap.dict_of(&target) {
        Some(dict) => dict.entries.get(&crate::value::Key::Str("labels".into())).cloned(),
        None => None,
    };
    let Some(labels) = labels.and_then(|labels| cx.tensor(&labels)) else { return };
    let rows = cx.fresh_dim("boxes");
    let background = Range::of_values(&[0.0]);
    let range = labels.range.clone().zip(background).map(|(found, zero)| found.union(&zero).of_sample());
    let target = Tensor { shape: Some(vec![rows.clone()]), range, base: None, data: None, device: None, ..labels };
    let logits = Tensor { device: None, shape_at: at, grad: Grad::Attached, ..Tensor::default() }
        .with_dtype(Some(Dtype::Float32), at);
    let logits = Tensor { shape: Some(vec![rows, classes]), ..logits };
    let (logits, target) = (cx.out(logits), cx.out(target));
    cx.call(&Value::path("torch.nn.functional.cross_entropy"), Args::positional([logits, target], span));
}
