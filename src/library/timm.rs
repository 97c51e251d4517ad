//! timm: image models by name. Only the classifier and the number of classes are modelled.

use super::data::TIMM;
use super::torchvision::open_module;
use super::{Cx, Table};
use crate::python::{Args, Bound};
use crate::value::{Dim, Grad, Size, Tensor, Value};

const MODEL: &str = "timm.models.Model";
const CLASSES: &str = "_num_classes";

pub(super) fn register(t: &mut Table) {
    t.class(MODEL, &["torch.nn.Module"], "*args, **kwargs").keeps_arguments = false;
    t.family("timm.", "create_model", SIG, create);
    t.alias("timm.models.create_model", "timm.create_model");
    t.alias("timm.models.factory.create_model", "timm.create_model");
    t.def(&format!("{MODEL}.forward"), "self, x", forward);
    t.def(&format!("{MODEL}.reset_classifier"), "self, num_classes, *args, **kwargs", |cx, b| {
        let object = b.get("self");
        if let Some(id) = object.as_obj() {
            cx.it.heap.set_attr(id, CLASSES, b.get("num_classes"));
            cx.it.heap.set_attr(id, "num_classes", b.get("num_classes"));
            for head in &TIMM.heads {
                if let Some(instance) = cx.it.heap.instance_mut(id) {
                    instance.attrs.shift_remove(&crate::value::sym(head));
                }
            }
        }
        Value::None
    });
    t.family("timm.", "list_models", "*args, **kwargs", super::common::list_of_str);
}

const SIG: &str = "model_name, pretrained=False, pretrained_cfg=None, pretrained_cfg_overlay=None, checkpoint_path='', \
                   scriptable=None, exportable=None, no_jit=None, *, num_classes=None, **kwargs";

fn create(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if b.extra.iter().any(|(k, _)| matches!(k.as_str(), "features_only" | "global_pool" | "fc")) {
        return open_module(cx, "torch.nn.Module");
    }
    let name = b.get("model_name");
    let classes = match b.get("num_classes") {
        Value::None if !b.open && name.as_str().is_some_and(is_imagenet) => Value::Int(TIMM.imagenet_classes),
        Value::None => Value::Unknown,
        given => given,
    };
    let model = open_module(cx, MODEL);
    if let Some(id) = model.as_obj() {
        cx.it.heap.set_attr(id, CLASSES, classes.clone());
        cx.it.heap.set_attr(id, "num_classes", classes);
        // An internal linear layer represents all parameters: it has their device and dtype.
        let args = Args::positional([Value::Int(1), Value::Int(1)], cx.span);
        let stand_in = cx.call(&Value::path("torch.nn.Linear"), args);
        cx.it.heap.set_attr(id, "_body", stand_in);
    }
    model
}

/// Whether the default weights of a model have the classes of ImageNet.
fn is_imagenet(name: &str) -> bool {
    TIMM.imagenet_families.iter().any(|family| name.starts_with(family))
        && !TIMM.other_weights.iter().any(|other| name.contains(other))
}

fn forward(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (model, span) = (b.get("self"), cx.span);
    let at = cx.at();
    let Some(input) = cx.tensor_arg(b, "x") else { return cx.some_tensor() };
    let batch = match input.shape.as_deref() {
        Some([batch, _, _, _]) => batch.clone(),
        _ => Dim::UNKNOWN,
    };
    // The internal layer checks the dtype and device of the input, and determines the dtype and
    // device of the output.
    let probe = Tensor { shape: Some(vec![batch, Dim::int(1)]), data: None, base: None, ..input };
    let probe = cx.out(Tensor { range: None, role: None, grad: Grad::Unknown, ..probe });
    let body = cx.attr(&model, "_body");
    let seen = cx.call(&body, Args::positional([probe], span));
    let Some(mut out) = cx.tensor(&seen) else { return cx.some_tensor() };
    let replaced = TIMM.heads.iter().find_map(|h| cx.it.heap.attr(model.as_obj()?, h));
    if let Some([_, features]) = out.shape.as_deref_mut() {
        let classes = cx.attr(&model, CLASSES);
        let size = match (&replaced, classes.as_int()) {
            // Without a classifier, the model returns features.
            (Some(_), _) | (None, Some(0)) => Size::Unknown,
            _ => classes.as_size().unwrap_or(Size::Unknown),
        };
        *features = Dim::new(size, at);
    }
    out.base = None;
    // Without the pooling, a convolutional network returns its feature map.
    if model.as_obj().is_some_and(|id| cx.it.heap.attr(id, "global_pool").is_some()) {
        out.shape = None;
    }
    let out = cx.out(out);
    match replaced {
        Some(head) => cx.call(&head, Args::positional([out], span)),
        None => out,
    }
}
