//! `torchvision.models`: the head of each architecture, and the stem of some, are real layers, so
//! that scripts can read their sizes and replace them. For some architectures, `backbone.rs` models
//! the layers in between. `data/torchvision-models.toml` lists the heads and the stems.

use super::backbone;
use crate::library::common::instance;
use crate::library::data::{Layers, TORCHVISION_MODELS};
use crate::library::{Cx, Table};
use crate::python::{Arg, Args, Bound, RejectKind};
use crate::value::{Dict, Dim, Grad, Key, Size, Tensor, Value, sym};

const SIG: &str = "weights=None, progress=True, *, pretrained=None, num_classes=1000, **kwargs";
/// The attribute that names the architecture.
const NAME: &str = "_architecture";

/// The attribute with the height and width of the images that a vision transformer takes.
const SIDE: &str = "_image_size";
/// Keyword arguments that change neither the heads and stems of the architectures nor the sizes of
/// their outputs. With any other keyword argument, the layers of the model are not known.
const HARMLESS: &[&str] = &[
    "attention_dropout",
    "aux_logits",
    "drop_rate",
    "dropout",
    "dropout_aux",
    "groups",
    "image_size",
    "init_weights",
    "memory_efficient",
    "replace_stride_with_dilation",
    "stochastic_depth_prob",
    "transform_input",
    "width_per_group",
    "zero_init_residual",
];

pub(crate) fn register(t: &mut Table) {
    for arch in &TORCHVISION_MODELS.model {
        let class = format!("torchvision.models.{}", arch.class);
        t.class(&class, &["torch.nn.Module"], "*args, **kwargs").keeps_arguments = false;
        t.def(&format!("{class}.forward"), "self, x", forward);
        for name in &arch.names {
            t.def(&format!("torchvision.models.{name}"), SIG, build);
            let module = arch.class.split('.').next().unwrap_or_default();
            t.alias(&format!("torchvision.models.{module}.{name}"), &format!("torchvision.models.{name}"));
        }
    }
    t.def("torchvision.models.get_model", "name, weights=None, *, num_classes=1000, **kwargs", |cx, b| {
        let name = b.get("name");
        name.as_str().map_or(Value::Unknown, |name| make(cx, name, b))
    });
}

pub(crate) fn register_hub(t: &mut Table) {
    t.def("torch.hub.load", "repo_or_dir, model, *args, **kwargs", hub);
}

/// A module that may have further, unknown members.
pub(crate) fn open_module(cx: &mut Cx<'_, '_>, class: &str) -> Value {
    let model = instance(cx, class, vec![("training", Value::Bool(true))]);
    if let Some(instance) = model.as_obj().and_then(|id| cx.it.heap.instance_mut(id)) {
        instance.open = true;
    }
    model
}

fn hub(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    match (b.get("repo_or_dir").as_str(), b.get("model").as_str()) {
        (Some(repo), Some(name)) if repo.starts_with("pytorch/vision") => {
            let mut args = Args { more_kw: b.open, ..Args::default() };
            args.kw.clone_from(&b.extra);
            let path = format!("torchvision.models.{name}");
            cx.call(&Value::path(&path), args)
        }
        _ => Value::Unknown,
    }
}

/// A layer of `torch.nn`.
pub(crate) fn layer(cx: &mut Cx<'_, '_>, name: &str, args: Vec<Value>, named: Vec<(&str, Value)>) -> Value {
    let span = cx.span;
    let mut all = Args::positional(args, span);
    all.kw = named.into_iter().map(|(name, value)| (sym(name), Arg::new(value, span))).collect();
    cx.call(&Value::path(&format!("torch.nn.{name}")), all)
}

fn build(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let name = cx.name();
    make(cx, name, b)
}

/// Rejects pretrained weights whose number of classes, `theirs`, differs from `num_classes`.
pub(crate) fn check_classes(cx: &mut Cx<'_, '_>, b: &Bound, theirs: i64) {
    let chosen = |name: &str| match b.get(name) {
        Value::Str(_) | Value::Path(_) | Value::Bool(true) => b.given(name),
        _ => false,
    };
    let Some(asked) = b.get("num_classes").as_int().filter(|n| *n != theirs && b.given("num_classes")) else { return };
    if chosen("weights") || chosen("pretrained") {
        let message = format!(
            "the pretrained weights are for {theirs} classes, but num_classes is {asked}: load the model with {theirs} \
             classes, and replace its last layer"
        );
        cx.reject(RejectKind::Value, message, Vec::new());
    }
}

fn make(cx: &mut Cx<'_, '_>, name: &str, b: &Bound) -> Value {
    let Some(arch) = TORCHVISION_MODELS.named(name) else { return Value::Unknown };
    check_classes(cx, b, TORCHVISION_MODELS.classes.classification);
    let model = open_module(cx, &format!("torchvision.models.{}", arch.class));
    let Some(id) = model.as_obj() else { return Value::Unknown };
    if b.extra.iter().any(|(name, _)| !HARMLESS.contains(&name.as_str())) {
        return model;
    }
    if arch.head.layers == Layers::Named {
        let side = image_size(b, name);
        cx.it.heap.set_attr(id, SIDE, side);
    }
    let int = Value::Int;
    if let Some(stem) = &arch.stem {
        let bias = Value::Bool(stem.name == "conv_proj");
        let args = vec![int(3), int(stem.channels), int(stem.kernel), int(stem.stride), int(stem.padding)];
        let conv = layer(cx, "Conv2d", args, vec![("bias", bias)]);
        cx.it.heap.set_attr(id, &stem.name, conv);
    }
    match arch.class.as_str() {
        // With dilation instead of strides, the backbone is not modelled.
        "resnet.ResNet"
            if b.open || b.extra.iter().any(|(name, _)| name.as_str() == "replace_stride_with_dilation") => {}
        "resnet.ResNet" => backbone::resnet(cx, id, arch.features),
        "vgg.VGG"
        | "alexnet.AlexNet"
        | "densenet.DenseNet"
        | "mobilenetv2.MobileNetV2"
        | "mobilenetv3.MobileNetV3"
        | "efficientnet.EfficientNet" => backbone::features(cx, id, name, arch.features),
        _ => {}
    }
    let classes = b.get("num_classes");
    let n = arch.features;
    let linear = |cx: &mut Cx<'_, '_>, from: i64, to: Value| layer(cx, "Linear", vec![int(from), to], Vec::new());
    let plain = |cx: &mut Cx<'_, '_>, name: &str| layer(cx, name, Vec::new(), Vec::new());
    let head = match arch.head.layers {
        Layers::Linear => linear(cx, n, classes),
        Layers::Named => {
            let last = linear(cx, n, classes);
            let mut dict = Dict::default();
            dict.entries.insert(Key::Str("head".into()), last);
            let dict = cx.it.heap.dict(dict);
            layer(cx, "Sequential", vec![dict], Vec::new())
        }
        other => {
            let layers = match other {
                Layers::Dropout => vec![plain(cx, "Dropout"), linear(cx, n, classes)],
                Layers::Vgg => {
                    let (first, second) = (linear(cx, n, int(4096)), linear(cx, 4096, int(4096)));
                    let last = linear(cx, 4096, classes);
                    vec![
                        first,
                        plain(cx, "ReLU"),
                        plain(cx, "Dropout"),
                        second,
                        plain(cx, "ReLU"),
                        plain(cx, "Dropout"),
                        last,
                    ]
                }
                Layers::Alexnet => {
                    let (first, second) = (linear(cx, n, int(4096)), linear(cx, 4096, int(4096)));
                    let last = linear(cx, 4096, classes);
                    vec![
                        plain(cx, "Dropout"),
                        first,
                        plain(cx, "ReLU"),
                        plain(cx, "Dropout"),
                        second,
                        plain(cx, "ReLU"),
                        last,
                    ]
                }
                Layers::Wide => {
                    let middle = arch.head.hidden.unwrap_or_default();
                    let (first, last) = (linear(cx, n, int(middle)), linear(cx, middle, classes));
                    vec![first, plain(cx, "Hardswish"), plain(cx, "Dropout"), last]
                }
                Layers::Convnext => {
                    // `Identity` replaces a layer norm over channels, for which `torch.nn` has no
                    // class.
                    let norm = plain(cx, "Identity");
                    vec![norm, plain(cx, "Flatten"), linear(cx, n, classes)]
                }
                Layers::Squeeze => {
                    let conv = layer(cx, "Conv2d", vec![int(n), classes, int(1)], Vec::new());
                    let pool = layer(cx, "AdaptiveAvgPool2d", vec![Value::tuple(vec![int(1), int(1)])], Vec::new());
                    vec![plain(cx, "Dropout"), conv, plain(cx, "ReLU"), pool]
                }
                Layers::Linear | Layers::Named => Vec::new(),
            };
            layer(cx, "Sequential", layers, Vec::new())
        }
    };
    cx.it.heap.set_attr(id, &arch.head.attribute, head);
    cx.it.heap.set_attr(id, NAME, Value::str(name));
    // All children of these models are modelled.
    let complete = match arch.class.as_str() {
        "resnet.ResNet" => cx.it.heap.attr(id, "layer4").is_some(),
        class => matches!(class, "vgg.VGG" | "alexnet.AlexNet" | "densenet.DenseNet"),
    };
    if complete && let Some(instance) = cx.it.heap.instance_mut(id) {
        instance.open = false;
    }
    if name == "inception_v3" {
        let aux = open_module(cx, "torch.nn.Module");
        let fc = linear(cx, 768, b.get("num_classes"));
        if let Some(aux) = aux.as_obj() {
            cx.it.heap.set_attr(aux, "fc", fc);
        }
        cx.it.heap.set_attr(id, "AuxLogits", aux);
        let given = b.extra.iter().find(|(k, _)| k.as_str() == "aux_logits").map(|(_, a)| a.value.clone());
        cx.it.heap.set_attr(id, "aux_logits", given.unwrap_or(if b.open { Value::Unknown } else { Value::Bool(true) }));
    }
    model
}

fn forward(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let model = b.get("self");
    let name = cx.attr(&model, NAME);
    let Some(arch) = name.as_str().and_then(|name| TORCHVISION_MODELS.named(name)) else { return Value::Unknown };
    let input = b.get("x");
    let span = cx.span;
    if let Some(tensor) = cx.tensor(&input) {
        check_image(cx, &model, &tensor);
    }
    // The stem checks channels, dtype and device. Without a stem, the head checks dtype and device.
    let seen = match &arch.stem {
        Some(stem) => {
            let stem = cx.attr(&model, &stem.name);
            let out = cx.call(&stem, Args::positional([input.clone()], span));
            cx.tensor(&out)
        }
        None => cx.tensor(&input),
    };
    let whole = cx.tensor(&input);
    let batch = whole
        .as_ref()
        .and_then(|t| t.shape.as_ref()?.first().cloned())
        .filter(|_| whole.as_ref().and_then(Tensor::rank) == Some(4));
    let at = cx.at();
    let features = |shape: Option<Vec<Dim>>| {
        let features = Tensor { shape, shape_at: at, grad: Grad::Unknown, ..Tensor::default() };
        match &seen {
            Some(seen) => features.with_dtype(seen.dtype, seen.dtype_at).with_device(seen.device, seen.device_at),
            None => features,
        }
    };
    let batch = batch.unwrap_or(Dim::UNKNOWN);
    let count = match backbone::channels(cx, &model, arch.features) {
        Size::Unknown => Size::Unknown,
        channels => {
            let map = features(Some(vec![batch.clone(), Dim::new(channels.clone(), at), Dim::UNKNOWN, Dim::UNKNOWN]));
            backbone::pooled(cx, &model, map, channels)
        }
    };
    let mut dims = vec![batch, Dim::new(count.clone(), at)];
    match arch.head.layers {
        Layers::Convnext => dims.extend([Dim::int(1), Dim::int(1)]),
        Layers::Squeeze => dims.extend([Dim::UNKNOWN, Dim::UNKNOWN]),
        _ => {}
    }
    // These heads also accept inputs other than rows of features.
    let is_open = count.is_unknown() && matches!(arch.head.layers, Layers::Convnext | Layers::Squeeze);
    let features = features(Some(dims).filter(|_| !is_open));
    let features = cx.out(features);
    let head = cx.attr(&model, &arch.head.attribute);
    let mut out = cx.call(&head, Args::positional([features], span));
    if let (Layers::Squeeze, Some(mut logits)) = (arch.head.layers, cx.tensor(&out)) {
        logits.shape = logits.shape.map(|s| s.into_iter().take(2).collect());
        logits.base = None;
        out = cx.out(logits);
    }
    match name.as_str() {
        Some("inception_v3") => {
            let (training, aux) = (cx.attr(&model, "training"), cx.attr(&model, "aux_logits"));
            match (training.as_bool(), aux.as_bool()) {
                (Some(false), _) | (_, Some(false)) => out,
                (Some(true), Some(true)) => {
                    let aux = auxiliary(cx, &model, &input);
                    let fields = Value::tuple(vec![Value::str("logits"), Value::str("aux_logits")]);
                    let args = Args::positional([fields, Value::tuple(Vec::new()), out, aux], span);
                    cx.call(&Value::path("collections.namedtuple.__new__"), args)
                }
                _ => Value::Unknown,
            }
        }
        // The weights determine whether there are auxiliary classifiers.
        Some("googlenet") if cx.attr(&model, "training").as_bool() != Some(false) => Value::Unknown,
        _ => out,
    }
}

/// The second output of `inception_v3` in training.
fn auxiliary(cx: &mut Cx<'_, '_>, model: &Value, input: &Value) -> Value {
    let span = cx.span;
    let module = cx.attr(model, "AuxLogits");
    let fc = cx.attr(&module, "fc");
    let Some(input) = cx.tensor(input) else { return cx.some_tensor() };
    let batch = input.shape.as_ref().and_then(|s| s.first().cloned()).unwrap_or(Dim::UNKNOWN);
    let features = Tensor {
        shape: Some(vec![batch, Dim::int(768)]),
        dtype: input.dtype,
        device: input.device,
        ..Tensor::default()
    };
    let features = cx.out(features);
    cx.call(&fc, Args::positional([features], span))
}

/// The height and width of the images that a vision transformer takes: 224, if neither the arguments
/// nor the weights may set another size.
fn image_size(b: &Bound, name: &str) -> Value {
    if let Some((_, given)) = b.extra.iter().find(|(name, _)| name.as_str() == "image_size") {
        return given.value.clone();
    }
    let weights = b.get("weights");
    // The default weights of this model are for 518 pixels.
    let usual = match weights.as_str().or(weights.as_path()).map(|text| text.rsplit('.').next().unwrap_or(text)) {
        Some("DEFAULT") => name != "vit_h_14",
        Some(weights) => matches!(weights, "IMAGENET1K_V1" | "IMAGENET1K_SWAG_LINEAR_V1"),
        None => weights.is_none(),
    };
    if usual && !b.open { Value::Int(224) } else { Value::Unknown }
}

/// Checks the size of the image against the one for which the model was created.
fn check_image(cx: &mut Cx<'_, '_>, model: &Value, image: &Tensor) {
    let Some(side) = cx.attr(model, SIDE).as_int() else { return };
    if let Some([_, _, height, width]) = image.shape.as_deref() {
        for (what, dim) in [("height", height), ("width", width)] {
            if let Some(n) = dim.size.known().filter(|n| *n != side) {
                let reads = vec![(format!("size {n} is set here"), dim.at)];
                cx.reject(RejectKind::Shape, format!("the model takes images of {what} {side}, but got {n}"), reads);
                return;
            }
        }
    }
}
