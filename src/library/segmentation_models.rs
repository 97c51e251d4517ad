//! `segmentation_models_pytorch`: models that return one score map for each class.

use super::torchvision::{layer, open_module};
use super::{Cx, Table};
use crate::python::{Args, Bound};
use crate::value::{Dim, Size, Value};

const MODEL: &str = "segmentation_models_pytorch.base.SegmentationModel";
const ARCHITECTURES: &str = "Unet UnetPlusPlus MAnet Linknet FPN PSPNet PAN DeepLabV3 DeepLabV3Plus UPerNet Segformer";
/// A convolution that represents the whole model: it checks the channels, dtype and device of the
/// input, and determines the shape, dtype and device of the result.
const BODY: &str = "_body";
const ACTIVATION: &str = "_activation";
/// The encoders halve the sides of an image at most five times, and most models reject sides that are
/// not divisible by the product.
const STRIDE: i64 = 32;

pub(super) fn register(t: &mut Table) {
    t.class(MODEL, &["torch.nn.Module"], "*args, **kwargs").keeps_arguments = false;
    t.def(&format!("{MODEL}.forward"), "self, x", forward);
    t.family("segmentation_models_pytorch.", ARCHITECTURES, "encoder_name='resnet34', *args, **kwargs", create);
    t.def("segmentation_models_pytorch.create_model", "arch, encoder_name='resnet34', *args, **kwargs", create);
}

fn create(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let given = |name: &str| b.extra.iter().find(|(key, _)| key.as_str() == name).map(|(_, arg)| arg.value.clone());
    // Other encoder depths and `upsampling` change the size of the result, `aux_params` its type.
    let other = ["aux_params", "encoder_depth", "upsampling"].iter().any(|name| given(name).is_some());
    if other || b.open || !b.rest.is_empty() {
        return open_module(cx, "torch.nn.Module");
    }
    let (mut channels, mut classes) = (given("in_channels"), given("classes"));
    // The program may replace the first or the last layer.
    if cx.it.mentions(".encoder") {
        channels = Some(Value::Unknown);
    }
    if cx.it.mentions("segmentation_head") {
        classes = Some(Value::Unknown);
    }
    let (channels, classes) = (channels.unwrap_or(Value::Int(3)), classes.unwrap_or(Value::Int(1)));
    let model = open_module(cx, MODEL);
    let body = layer(cx, "Conv2d", vec![channels, classes, Value::Int(1)], Vec::new());
    if let Some(id) = model.as_obj() {
        cx.it.heap.set_attr(id, BODY, body);
        cx.it.heap.set_attr(id, ACTIVATION, given("activation").unwrap_or(Value::None));
    }
    model
}

fn forward(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (model, span, at) = (b.get("self"), cx.span, cx.at());
    let body = cx.attr(&model, BODY);
    let out = cx.call(&body, Args::positional([b.get("x")], span));
    let Some(mut facts) = cx.tensor(&out) else { return cx.some_tensor() };
    if let Some([_, _, sides @ ..]) = facts.shape.as_deref_mut() {
        for side in sides {
            if side.size.known().is_none_or(|n| n % STRIDE != 0) {
                *side = Dim::new(Size::Unknown, at);
            }
        }
    }
    facts.base = None;
    match cx.attr(&model, ACTIVATION) {
        Value::None => cx.out(facts),
        Value::Str(name) if &*name == "sigmoid" => {
            let scores = cx.out(facts);
            cx.call(&Value::path("torch.sigmoid"), Args::positional([scores], span))
        }
        _ => {
            facts.forget_values();
            cx.out(facts)
        }
    }
}
