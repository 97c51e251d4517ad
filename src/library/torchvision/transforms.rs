//! Transform classes: most call the corresponding function, so that contracts apply to both.
//! Transforms of `v2` accept several inputs and nested structures.

use std::sync::{Arc, LazyLock};

use super::functional::{V1, V2, hw, rebuilt, size_pair};
use super::tv_tensors;
use crate::library::common::part_of;
use crate::library::torch::draws;
use crate::library::{Cx, Table, pil};
use crate::python::{Arg, Args, RejectKind, Sig};
use crate::value::{ArrayKind, Data, Dict, Dim, Dtype, Items, Past, Range, Role, Size, Value, join, sym};

/// Transforms with their signatures.
const CLASSES: &[(&str, &str)] = &[
    ("Compose", "transforms"),
    ("ToTensor", ""),
    ("PILToTensor", ""),
    ("ToImage", ""),
    ("ToPureTensor", ""),
    ("ToPILImage", "mode=None"),
    ("ConvertImageDtype", "dtype=@torch.float32"),
    ("ToDtype", "dtype, scale=False"),
    ("Normalize", "mean, std, inplace=False"),
    ("Resize", "size, interpolation=@torchvision.transforms.InterpolationMode.BILINEAR, max_size=None, antialias=True"),
    ("CenterCrop", "size"),
    ("RandomCrop", "size, padding=None, pad_if_needed=False, fill=0, padding_mode='constant'"),
    (
        "RandomResizedCrop",
        "size, scale=None, ratio=None, interpolation=@torchvision.transforms.InterpolationMode.BILINEAR, antialias=True",
    ),
    ("FiveCrop", "size"),
    ("TenCrop", "size, vertical_flip=False"),
    ("RandomHorizontalFlip", "p=0.5"),
    ("RandomVerticalFlip", "p=0.5"),
    ("Pad", "padding, fill=0, padding_mode='constant'"),
    ("Grayscale", "num_output_channels=1"),
    ("RGB", ""),
    ("RandomGrayscale", "p=0.1"),
    ("ColorJitter", "brightness=0, contrast=0, saturation=0, hue=0"),
    ("RandomPhotometricDistort", "*args, **kwargs"),
    ("RandomAdjustSharpness", "sharpness_factor, p=0.5"),
    ("RandomAutocontrast", "p=0.5"),
    ("RandomEqualize", "p=0.5"),
    ("RandomInvert", "p=0.5"),
    ("RandomPosterize", "bits, p=0.5"),
    ("RandomSolarize", "threshold, p=0.5"),
    ("RandomErasing", "p=0.5, scale=None, ratio=None, value=0, inplace=False"),
    ("RandomChannelPermutation", ""),
    ("GaussianBlur", "kernel_size, sigma=None"),
    ("GaussianNoise", "mean=0.0, sigma=0.1, clip=True"),
    ("JPEG", "quality"),
    ("AutoAugment", "policy=None, interpolation=None, fill=None"),
    ("RandAugment", "num_ops=2, magnitude=9, num_magnitude_bins=31, interpolation=None, fill=None"),
    ("TrivialAugmentWide", "num_magnitude_bins=31, interpolation=None, fill=None"),
    ("AugMix", "severity=3, mixture_width=3, chain_depth=-1, alpha=1.0, all_ops=True, interpolation=None, fill=None"),
    (
        "RandomRotation",
        "degrees, interpolation=@torchvision.transforms.InterpolationMode.NEAREST, expand=False, center=None, fill=0",
    ),
    (
        "RandomAffine",
        "degrees, translate=None, scale=None, shear=None, interpolation=@torchvision.transforms.InterpolationMode.NEAREST, fill=0, center=None",
    ),
    (
        "RandomPerspective",
        "distortion_scale=0.5, p=0.5, interpolation=@torchvision.transforms.InterpolationMode.BILINEAR, fill=0",
    ),
    (
        "ElasticTransform",
        "alpha=50.0, sigma=5.0, interpolation=@torchvision.transforms.InterpolationMode.BILINEAR, fill=0",
    ),
    ("RandomZoomOut", "*args, **kwargs"),
    ("RandomIoUCrop", "*args, **kwargs"),
    ("RandomShortestSize", "min_size, max_size=None, interpolation=None, antialias=True"),
    ("RandomResize", "min_size, max_size, interpolation=None, antialias=True"),
    ("ScaleJitter", "target_size, *args, **kwargs"),
    ("Lambda", "lambd, *types"),
    ("RandomApply", "transforms, p=0.5"),
    ("RandomChoice", "transforms, p=None"),
    ("RandomOrder", "transforms"),
    ("Identity", ""),
    ("SanitizeBoundingBoxes", "*args, **kwargs"),
    ("ClampBoundingBoxes", "*args, **kwargs"),
    ("ConvertBoundingBoxFormat", "format"),
];

/// The attribute with the place at which a transform was created.
const MADE: &str = "<made>";

pub(crate) fn register(t: &mut Table) {
    for prefix in ["torchvision.transforms.", "torchvision.transforms.v2."] {
        for (name, sig) in CLASSES {
            // These transforms are plain objects in `torchvision.transforms`. All others are
            // modelled as modules, which they are (except `RandomOrder`). `v2` uses the same model,
            // although all transforms of `v2` are modules.
            let plain =
                matches!(*name, "Compose" | "ToTensor" | "PILToTensor" | "ToPILImage" | "Lambda" | "RandomChoice");
            let bases: &[&str] = if plain { &[] } else { &["torch.nn.Module"] };
            let class = t.class(&format!("{prefix}{name}"), bases, sig);
            class.invoke = Some(invoke);
            if *name == "Normalize" {
                // An error in the transform appears where the transform is called, often in a loop
                // over the data. A label shows the place that creates the transform.
                class.init = Some(|cx, object, _| {
                    let place = Value::place(cx.span);
                    cx.it.heap.set_attr(object, MADE, place);
                });
            }
        }
        t.def(&format!("{prefix}RandomCrop.get_params"), "img, output_size", |cx, b| {
            let any = || Value::Any(crate::value::Type::Int);
            match size_pair(cx, &b.get("output_size")) {
                Some((h, w)) => Value::tuple(vec![any(), any(), Value::size(&h.size), Value::size(&w.size)]),
                None => Value::tuple(vec![any(), any(), any(), any()]),
            }
        });
        for name in ["MixUp", "CutMix"] {
            t.class(
                &format!("{prefix}{name}"),
                &["torch.nn.Module"],
                "*, alpha=1.0, num_classes=None, labels_getter='default'",
            )
            .invoke = Some(mix);
        }
    }
}

fn is_v2(cx: &Cx<'_, '_>) -> bool {
    cx.path.as_str().starts_with("torchvision.transforms.v2.")
}

fn invoke(cx: &mut Cx<'_, '_>, object: &Value, args: Args) -> Option<Value> {
    if args.is_open() {
        return Some(Value::Unknown);
    }
    let inputs: Vec<Value> = args.pos.iter().chain(args.kw.iter().map(|(_, a)| a)).map(|a| a.value.clone()).collect();
    let name = cx.name();
    if let Some(value) = container(cx, name, object, &inputs) {
        return Some(value);
    }
    if !is_v2(cx) {
        let [only] = inputs.as_slice() else { return Some(Value::Unknown) };
        let out = one(cx, name, object, only);
        note_draw(cx, name, object, &out);
        return Some(out);
    }
    let (several, input) = match inputs.as_slice() {
        [only] => (false, only.clone()),
        _ => (true, Value::tuple(inputs)),
    };
    let _ = several;
    let mut leaves = Vec::new();
    flatten(cx, &input, &mut leaves, 4);
    let mut walk = Walk {
        name,
        object,
        pure: !leaves.iter().any(|l| is_explicit(cx, l)),
        unsure: leaves.iter().any(Value::is_unknown),
        image: image_size(cx, &leaves),
    };
    let out = walk.apply(cx, &input, 4);
    note_draw(cx, name, object, &out);
    Some(out)
}

/// Transforms that move pixels with random parameters.
const RANDOM: &[&str] = &[
    "RandomHorizontalFlip",
    "RandomVerticalFlip",
    "RandomCrop",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomAffine",
    "RandomPerspective",
    "ElasticTransform",
];

/// Notes, for each image and tensor in a result, the random draw that moved its pixels. One draw
/// moves all of them.
fn note_draw(cx: &mut Cx<'_, '_>, name: &str, object: &Value, out: &Value) {
    let chance = cx.it.heap.instance_of(object).and_then(|i| i.attrs.get(&sym("p"))).and_then(Value::as_f64);
    if !RANDOM.contains(&name) || chance.is_some_and(|p| p <= 0.0 || p >= 1.0) {
        return;
    }
    let draw = draws::next_draw(cx);
    let mut leaves = Vec::new();
    flatten(cx, out, &mut leaves, 4);
    for leaf in leaves {
        let past = pil::past(cx, &leaf);
        pil::set_past(cx, &leaf, Past { drawn: draw, ..past });
    }
}

/// The result of a transform that contains transforms; `None` for other classes.
fn container(cx: &mut Cx<'_, '_>, name: &str, object: &Value, inputs: &[Value]) -> Option<Value> {
    let span = cx.span;
    let whole = |inputs: &[Value]| match inputs {
        [only] => only.clone(),
        several => Value::tuple(several.to_vec()),
    };
    let parts = match name {
        "Compose" | "RandomApply" | "RandomChoice" | "RandomOrder" => {
            let parts = cx.attr(object, "transforms");
            match cx.it.iterate(&parts, span) {
                Items::Exact(parts) => parts,
                Items::Many(_) => return Some(Value::Unknown),
            }
        }
        _ => return None,
    };
    let run_all = |cx: &mut Cx<'_, '_>| {
        let mut inputs = inputs.to_vec();
        for part in &parts {
            let several = inputs.len() > 1;
            let output = cx.call(part, Args::positional(inputs.iter().cloned(), span));
            inputs = match (several, &output) {
                (true, Value::Tuple(items)) => items.to_vec(),
                (true, _) => return Value::Unknown,
                (false, _) => vec![output],
            };
        }
        whole(&inputs)
    };
    Some(match name {
        "Compose" => run_all(cx),
        "RandomApply" => {
            let applied = run_all(cx);
            match cx.attr(object, "p").as_f64() {
                Some(p) if p >= 1.0 => applied,
                _ => join(&mut cx.it.heap, &whole(inputs), &applied, false),
            }
        }
        "RandomChoice" => {
            let outs: Vec<Value> =
                parts.iter().map(|part| cx.call(part, Args::positional(inputs.iter().cloned(), span))).collect();
            Items::Exact(outs).element(&mut cx.it.heap)
        }
        _ => Value::Unknown,
    })
}

fn is_explicit(cx: &Cx<'_, '_>, leaf: &Value) -> bool {
    pil::is_image(cx, leaf) || tv_tensors::is(cx, leaf, "Image") || tv_tensors::is(cx, leaf, "Video")
}

fn flatten(cx: &Cx<'_, '_>, value: &Value, out: &mut Vec<Value>, depth: u32) {
    if depth > 0 {
        if let Some(dict) = cx.it.heap.dict_of(value) {
            let values: Vec<Value> = dict.entries.values().chain(&dict.open).cloned().collect();
            for v in &values {
                flatten(cx, v, out, depth - 1);
            }
            return;
        }
        let is_set = matches!(value.as_obj().map(|id| cx.it.heap.get(id)), Some(Data::Set(_) | Data::Iter(_)));
        if let Some(items) = cx.it.heap.exact_items(value).filter(|_| !is_set) {
            for v in &items {
                flatten(cx, v, out, depth - 1);
            }
            return;
        }
    }
    out.push(value.clone());
}

/// A pass of a `v2` transform over a structure of inputs.
struct Walk<'w> {
    name: &'w str,
    object: &'w Value,
    /// Whether the next plain tensor is treated as an image. This is true for the first plain
    /// tensor if there is no explicit image, such as a `tv_tensors.Image`.
    pure: bool,
    /// Whether an unknown input may be the explicit image.
    unsure: bool,
    /// Height and width of the image.
    image: Option<(Dim, Dim)>,
}

impl Walk<'_> {
    fn apply(&mut self, cx: &mut Cx<'_, '_>, value: &Value, depth: u32) -> Value {
        if depth > 0 {
            match value {
                Value::Tuple(items) => {
                    return Value::tuple(items.iter().map(|v| self.apply(cx, v, depth - 1)).collect());
                }
                Value::Obj(id) => match cx.it.heap.get(*id).clone() {
                    Data::List(Items::Exact(items)) => {
                        let items = items.iter().map(|v| self.apply(cx, v, depth - 1)).collect();
                        return cx.list(items);
                    }
                    Data::List(Items::Many(_)) => return Value::Unknown,
                    Data::Dict(dict) => {
                        let mut out = Dict { open: dict.open.map(|_| Value::Unknown), ..Dict::default() };
                        for (key, value) in &dict.entries {
                            let value = self.apply(cx, value, depth - 1);
                            out.entries.insert(key.clone(), value);
                        }
                        return cx.it.heap.dict(out);
                    }
                    _ => {}
                },
                _ => {}
            }
        }
        if self.name == "Lambda" {
            let function = cx.attr(self.object, "lambd");
            let span = cx.span;
            return cx.call(&function, Args::positional([value.clone()], span));
        }
        if value.is_unknown() {
            return Value::Unknown;
        }
        if is_explicit(cx, value) {
            return one(cx, self.name, self.object, value);
        }
        match tv_tensors::class_of(cx, value) {
            Some("Mask") => return on_mask(cx, self.name, self.object, value),
            Some(_) => return Value::Unknown,
            None => {}
        }
        let array = cx.it.heap.tensor_ref(value).map(|t| t.array);
        match array {
            // A label is modelled as a 0-d array.
            Some(ArrayKind::Numpy) if cx.it.heap.tensor_ref(value).is_some_and(|t| t.rank() == Some(0)) => {
                value.clone()
            }
            Some(ArrayKind::Numpy) => match self.name {
                "ToImage" | "ToTensor" | "ToPILImage" => one(cx, self.name, self.object, value),
                _ => value.clone(),
            },
            Some(ArrayKind::Torch) if self.unsure => Value::Unknown,
            Some(ArrayKind::Torch) if self.pure => {
                self.pure = false;
                if self.name == "ToTensor" { value.clone() } else { one(cx, self.name, self.object, value) }
            }
            Some(ArrayKind::Torch) => {
                self.passed_over(cx, value);
                value.clone()
            }
            _ => value.clone(),
        }
    }
}

impl Walk<'_> {
    /// Handles a plain tensor that the transform returns unchanged. The tensor is reported if the
    /// transform moves the pixels of the image, and if the tensor has the size of the image and
    /// holds class ids, other integers or bools.
    fn passed_over(&self, cx: &mut Cx<'_, '_>, value: &Value) {
        let (Some(tensor), Some((height, width))) = (cx.tensor(value), &self.image) else { return };
        let ids = tensor.role == Some(Role::ClassMask) || tensor.dtype.is_some_and(|d| !d.is_floating());
        let fits = matches!(tensor.shape.as_deref(), Some([h, w] | [_, h, w])
            if h.size.equals(&height.size) == Some(true) && w.size.equals(&width.size) == Some(true));
        if ids && fits && GEOMETRY.contains(&self.name) {
            let args = Args::positional([value.clone(), Value::str(self.name)], cx.span);
            if let Some(bound) = PASSED_OVER.bind(&args) {
                let span = cx.span;
                cx.it.announce(sym(UNTOUCHED), &bound, span);
            }
        }
    }
}

/// The path of a call that no program makes. The call tells the rules about a tensor that a
/// transform returns unchanged, although the transform moves the pixels of the image.
const UNTOUCHED: &str = "torchvision.transforms.v2.Transform.passed_over";
static PASSED_OVER: LazyLock<Arc<Sig>> = LazyLock::new(|| Arc::new(Sig::parse("inpt, transform")));

/// Height and width of the image among the inputs of a transform.
fn image_size(cx: &Cx<'_, '_>, leaves: &[Value]) -> Option<(Dim, Dim)> {
    let plain = |leaf: &&Value| {
        let tensor = cx.it.heap.tensor_ref(leaf);
        tensor.is_some_and(|t| t.array == ArrayKind::Torch) && tv_tensors::class_of(cx, leaf).is_none()
    };
    let image = leaves.iter().find(|leaf| is_explicit(cx, leaf)).or_else(|| leaves.iter().find(plain))?;
    hw(cx, image)
}

/// Transforms that move pixels.
const GEOMETRY: &[&str] = &[
    "Resize",
    "RandomResizedCrop",
    "CenterCrop",
    "RandomCrop",
    "Pad",
    "RandomHorizontalFlip",
    "RandomVerticalFlip",
    "RandomRotation",
    "RandomAffine",
    "RandomPerspective",
    "ElasticTransform",
    "RandomZoomOut",
    "RandomIoUCrop",
    "RandomShortestSize",
    "RandomResize",
    "ScaleJitter",
];

/// Applies a `v2` transform to a mask. Geometric transforms do not interpolate it, and colour
/// transforms do not change it.
fn on_mask(cx: &mut Cx<'_, '_>, name: &str, object: &Value, mask: &Value) -> Value {
    match name {
        name if GEOMETRY.contains(&name) => one(cx, name, object, mask),
        "ToDtype" => one(cx, name, object, mask),
        "ToPureTensor" => one(cx, name, object, mask),
        _ => mask.clone(),
    }
}

/// Calls the function for a transform, in the same version of the API as the transform.
fn function(cx: &mut Cx<'_, '_>, name: &str, image: &Value, named: Vec<(&str, Value)>) -> Value {
    let span = cx.span;
    let prefix = if is_v2(cx) { V2 } else { V1 };
    let mut args = Args::positional([image.clone()], span);
    args.kw = named.into_iter().map(|(name, value)| (sym(name), Arg::new(value, span))).collect();
    cx.it.call_function(&format!("{prefix}{name}"), &args, span).unwrap_or(Value::Unknown)
}

/// Calls a distortion with the transform's options and random numbers.
fn warped(cx: &mut Cx<'_, '_>, name: &str, object: &Value, image: &Value, options: &[&str]) -> Value {
    let drawn: &[&str] = match name {
        "rotate" => &["angle"],
        "affine" => &["angle", "translate", "scale", "shear"],
        "perspective" => &["startpoints", "endpoints"],
        _ => &["displacement"],
    };
    let mut named: Vec<(&str, Value)> = drawn.iter().map(|n| (*n, Value::Unknown)).collect();
    named.extend(options.iter().map(|n| (*n, cx.attr(object, n))));
    function(cx, name, image, named)
}

fn one(cx: &mut Cx<'_, '_>, name: &str, object: &Value, image: &Value) -> Value {
    let attr = |cx: &Cx<'_, '_>, name: &str| cx.attr(object, name);
    match name {
        "ToTensor" => function(cx, "to_tensor", image, Vec::new()),
        "PILToTensor" => function(cx, "pil_to_tensor", image, Vec::new()),
        "ToImage" => function(cx, "to_image", image, Vec::new()),
        "ToPILImage" => {
            let mode = attr(cx, "mode");
            function(cx, "to_pil_image", image, vec![("mode", mode)])
        }
        "ToPureTensor" => match cx.tensor(image) {
            Some(mut tensor) => {
                tensor.wrapper = None;
                cx.out(tensor)
            }
            None => image.clone(),
        },
        "ConvertImageDtype" => {
            let dtype = attr(cx, "dtype");
            function(cx, "convert_image_dtype", image, vec![("dtype", dtype)])
        }
        "ToDtype" => to_dtype(cx, object, image),
        "Normalize" => {
            let (made, span) = (attr(cx, MADE).as_place(), cx.span);
            let prefix = if is_v2(cx) { V2 } else { V1 };
            let mut args = Args::positional([image.clone()], span);
            let named = ["mean", "std", "inplace"].map(|n| (sym(n), Arg::new(attr(cx, n), made.unwrap_or(span))));
            args.kw = named.to_vec();
            cx.it.call_function(&format!("{prefix}normalize"), &args, span).unwrap_or(Value::Unknown)
        }
        "Resize" => {
            let named = ["size", "interpolation", "max_size"].map(|n| (n, attr(cx, n))).to_vec();
            function(cx, "resize", image, named)
        }
        "RandomResizedCrop" => {
            let any = || Value::Any(crate::value::Type::Int);
            let mut named: Vec<(&str, Value)> = ["top", "left", "height", "width"].map(|n| (n, any())).to_vec();
            named.push(("size", attr(cx, "size")));
            named.push(("interpolation", attr(cx, "interpolation")));
            function(cx, "resized_crop", image, named)
        }
        "CenterCrop" => {
            let size = attr(cx, "size");
            function(cx, "center_crop", image, vec![("output_size", size)])
        }
        "RandomCrop" => random_crop(cx, object, image),
        "FiveCrop" | "TenCrop" => {
            let size = attr(cx, "size");
            let name = if name == "FiveCrop" { "five_crop" } else { "ten_crop" };
            function(cx, name, image, vec![("size", size)])
        }
        "RandomHorizontalFlip" => function(cx, "hflip", image, Vec::new()),
        "RandomVerticalFlip" => function(cx, "vflip", image, Vec::new()),
        "Pad" => {
            let named = ["padding", "fill", "padding_mode"].map(|n| (n, attr(cx, n))).to_vec();
            function(cx, "pad", image, named)
        }
        "Grayscale" => {
            let channels = attr(cx, "num_output_channels");
            function(cx, "to_grayscale", image, vec![("num_output_channels", channels)])
        }
        "RGB" => {
            let size = hw(cx, image);
            if pil::is_image(cx, image) { pil::new_image(cx, Some("RGB"), size, None) } else { Value::Unknown }
        }
        "RandomRotation" => warped(cx, "rotate", object, image, &["interpolation", "expand", "fill"]),
        "RandomAffine" => warped(cx, "affine", object, image, &["interpolation", "fill"]),
        "RandomPerspective" => warped(cx, "perspective", object, image, &["interpolation", "fill"]),
        "ElasticTransform" => {
            let name = if is_v2(cx) { "elastic" } else { "elastic_transform" };
            warped(cx, name, object, image, &["interpolation", "fill"])
        }
        "RandomZoomOut" | "RandomIoUCrop" | "RandomShortestSize" | "RandomResize" | "ScaleJitter" => {
            rebuilt(cx, image, None, |_| None)
        }
        "Lambda" => {
            let (function, span) = (attr(cx, "lambd"), cx.span);
            cx.call(&function, Args::positional([image.clone()], span))
        }
        "Identity" => image.clone(),
        "ClampBoundingBoxes" | "SanitizeBoundingBoxes" | "ConvertBoundingBoxFormat" => image.clone(),
        // Colour transforms keep the size, and bytes stay bytes.
        _ => {
            let size = hw(cx, image);
            let bounded = cx.tensor(image).and_then(|t| t.dtype).and_then(Dtype::bounds);
            rebuilt(cx, image, size, |r| match bounded {
                Some((lo, hi)) => Some(Range::bounds(lo, hi)),
                // Colour transforms keep floats in [0, 1].
                None => (r.lo() >= 0.0 && r.hi() <= 1.0 && name != "RandomErasing").then(|| Range::bounds(0.0, 1.0)),
            })
        }
    }
}

fn to_dtype(cx: &mut Cx<'_, '_>, object: &Value, image: &Value) -> Value {
    let (dtype, scale) = (cx.attr(object, "dtype"), cx.attr(object, "scale"));
    let mask = tv_tensors::is(cx, image, "Mask");
    if let Some(dict) = cx.it.heap.dict_of(&dtype).cloned() {
        // A dict of dtypes by class of tensor, with a default.
        let class = tv_tensors::class_of(cx, image);
        let found = dict.entries.iter().find_map(|(key, value)| match (key, class) {
            (crate::value::Key::Path(p), Some(class)) if p.as_str().ends_with(&format!("tv_tensors.{class}")) => {
                Some(value.clone())
            }
            _ => None,
        });
        let others = || dict.entries.get(&crate::value::Key::Str("others".into())).cloned();
        return match found.or_else(others) {
            Some(Value::None) => image.clone(),
            Some(dtype) if dict.open.is_none() => {
                function(cx, "to_dtype", image, vec![("dtype", dtype), ("scale", scale)])
            }
            _ => rebuilt(cx, image, hw(cx, image), |_| None),
        };
    }
    if mask {
        return image.clone();
    }
    function(cx, "to_dtype", image, vec![("dtype", dtype), ("scale", scale)])
}

fn random_crop(cx: &mut Cx<'_, '_>, object: &Value, image: &Value) -> Value {
    let size = size_pair(cx, &cx.attr(object, "size"));
    let (padding, if_needed) = (cx.attr(object, "padding"), cx.attr(object, "pad_if_needed"));
    if let (true, Some(false), Some((h, w)), Some((height, width))) =
        (padding.is_none(), if_needed.as_bool(), &size, hw(cx, image))
        && (height.size.less(&h.size) == Some(true) || width.size.less(&w.size) == Some(true))
    {
        let message = format!(
            "a crop of {} by {} does not fit into an image of {} by {}",
            h.size, w.size, height.size, width.size
        );
        let reads = vec![("the image gets its size here".to_owned(), height.at.or(width.at))];
        cx.reject(RejectKind::Shape, message, reads);
    }
    let padded = !padding.is_none() || if_needed.as_bool() != Some(false);
    let fill = cx.attr(object, "fill").as_f64();
    rebuilt(cx, image, size, |r| match (padded, fill) {
        (false, _) => Some(part_of(r)),
        (true, Some(fill)) => Some(part_of(r.union(&Range::bounds(fill, fill)))),
        (true, None) => None,
    })
}

/// `MixUp` and `CutMix` convert the labels of a batch to probabilities.
fn mix(cx: &mut Cx<'_, '_>, object: &Value, args: Args) -> Option<Value> {
    let inputs: Vec<Value> = match args.pos.as_slice() {
        [only] => cx.items(&only.value)?,
        several => several.iter().map(|a| a.value.clone()).collect(),
    };
    let [images, labels] = inputs.as_slice() else { return Some(Value::Unknown) };
    let at = cx.at();
    let images = cx.tensor(images).map_or(Value::Unknown, |mut t| {
        t.base = None;
        t.data = None;
        cx.out(t)
    });
    let classes = cx.attr(object, "num_classes").as_size().unwrap_or(Size::Unknown);
    let labels = match cx.tensor(labels) {
        Some(labels) => {
            let batch = labels.shape.as_ref().and_then(|s| s.first().cloned()).unwrap_or(Dim::UNKNOWN);
            let mut out =
                labels.clone().with_dtype(Some(Dtype::Float32), at).with_range(Some(Range::bounds(0.0, 1.0)), at);
            out.shape = Some(vec![batch, Dim::new(classes, at)]);
            out.data = None;
            out.base = None;
            out.role = Some(Role::Probabilities);
            cx.out(out)
        }
        None => Value::Unknown,
    };
    Some(Value::tuple(vec![images, labels]))
}
