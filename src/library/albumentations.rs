//! albumentations: a pipeline takes `image=` and `mask=` and returns a dictionary.

use super::common::part_of;
use super::{Cx, Table};
use crate::python::{Args, RejectKind};
use crate::value::{ArrayKind, Data, Device, Dict, Dim, Dtype, Items, Key, Past, Range, Role, Size, Tensor, Value};

/// Transforms that are modelled one by one, each with its signature.
const CLASSES: &[(&str, &str)] = &[
    ("Compose", "transforms, *args, **kwargs"),
    ("Sequential", "transforms, p=0.5"),
    ("OneOf", "transforms, p=0.5"),
    ("Resize", "height, width, interpolation=1, mask_interpolation=0, p=1.0, **kwargs"),
    ("RandomCrop", "height, width, p=1.0, **kwargs"),
    ("CenterCrop", "height, width, p=1.0, **kwargs"),
    ("RandomResizedCrop", "*size, interpolation=1, mask_interpolation=0, **kwargs"),
    ("Normalize", "mean=None, std=None, max_pixel_value=255.0, p=1.0, **kwargs"),
    ("ToFloat", "max_value=None, p=1.0, **kwargs"),
];

/// Transforms that keep the shape (except for `Flip` and `ToGray` in some versions). The only new
/// value that they write to masks is a fill value, which is assumed to be 0.
const SAME: &str = "HorizontalFlip VerticalFlip Flip RandomBrightnessContrast HueSaturationValue RGBShift ColorJitter CLAHE Blur \
                    GaussianBlur MedianBlur MotionBlur GaussNoise ISONoise RandomGamma ChannelShuffle ToGray \
                    CoarseDropout Cutout RandomFog RandomRain Sharpen Emboss Posterize Equalize Solarize InvertImg \
                    ChannelDropout ImageCompression Downscale";

/// Transforms that move pixels. By default, they interpolate images, and use the nearest neighbour
/// for masks.
const WARPS: &str = "Rotate SafeRotate ShiftScaleRotate Affine ElasticTransform GridDistortion OpticalDistortion \
                     Perspective ThinPlateSpline";

pub(super) fn register(t: &mut Table) {
    for (name, sig) in CLASSES {
        t.class(&format!("albumentations.{name}"), &[], sig).invoke = Some(invoke);
    }
    for name in SAME.split_whitespace() {
        let class = t.class(&format!("albumentations.{name}"), &[], "*args, **kwargs");
        class.keeps_arguments = false;
        class.invoke = Some(invoke);
    }
    for name in WARPS.split_whitespace() {
        let sig = "*args, interpolation=1, mask_interpolation=0, **kwargs";
        t.class(&format!("albumentations.{name}"), &[], sig).invoke = Some(invoke);
    }
    t.class("albumentations.pytorch.ToTensorV2", &[], "transpose_mask=False, *args, **kwargs").invoke = Some(invoke);
    t.alias("albumentations.pytorch.transforms.ToTensorV2", "albumentations.pytorch.ToTensorV2");
}

fn invoke(cx: &mut Cx<'_, '_>, object: &Value, args: Args) -> Option<Value> {
    if !args.pos.is_empty() {
        let message = "transforms of albumentations take their inputs by name: `transform(image=image)`";
        cx.reject(RejectKind::Arguments, message, Vec::new());
        return Some(Value::Unknown);
    }
    let mut dict = Dict { open: args.more_kw.then_some(Value::Unknown), ..Dict::default() };
    for (name, arg) in &args.kw {
        let value = target(cx, object, name.as_str(), &arg.value);
        dict.entries.insert(Key::Str(name.as_str().into()), value);
    }
    Some(cx.it.heap.dict(dict))
}

/// The effect of a transform on one target.
fn target(cx: &mut Cx<'_, '_>, object: &Value, name: &str, value: &Value) -> Value {
    match name {
        "image" | "mask" => {
            let Some(tensor) = cx.tensor(value) else { return Value::Unknown };
            match apply(cx, object, tensor, name == "mask", 4) {
                Some(out) => cx.out(out),
                None => Value::Unknown,
            }
        }
        "masks" => match value.as_obj().map(|id| cx.it.heap.get(id).clone()) {
            Some(Data::List(Items::Exact(masks))) => {
                let masks = masks.iter().map(|m| target(cx, object, "mask", m)).collect();
                cx.list(masks)
            }
            _ => Value::Unknown,
        },
        _ => Value::Unknown,
    }
}

/// The result of a transform of an image or mask; `None` if it is not known.
fn apply(cx: &mut Cx<'_, '_>, object: &Value, input: Tensor, mask: bool, depth: u32) -> Option<Tensor> {
    let class = cx.it.heap.instance_of(object)?.class.as_path()?;
    let name = class.rsplit('.').next()?;
    let at = cx.at();
    let mut out = Tensor { base: None, version: 0, writes: 0, data: None, ..input };
    let chance = cx.it.heap.attr(object.as_obj()?, "p");
    if CLASSES.iter().any(|(n, sig)| *n == name && sig.contains("p=1.0"))
        && chance.is_some_and(|p| p.as_f64() != Some(1.0))
    {
        return None;
    }
    match name {
        "Compose" | "Sequential" => {
            let parts = cx.items(&cx.attr(object, "transforms"))?;
            if depth == 0 || (name == "Sequential" && cx.attr(object, "p").as_f64() != Some(1.0)) {
                return None;
            }
            return parts.iter().try_fold(out, |facts, part| apply(cx, part, facts, mask, depth - 1));
        }
        "OneOf" => {
            let parts = cx.items(&cx.attr(object, "transforms"))?;
            if depth == 0 {
                return None;
            }
            let mut all = vec![Some(out.clone())];
            for part in &parts {
                all.push(apply(cx, part, out.clone(), mask, depth - 1));
            }
            let all: Vec<Tensor> = all.into_iter().collect::<Option<_>>()?;
            let values: Vec<Value> = all.into_iter().map(|t| cx.out(t)).collect();
            let joined = Items::Exact(values).element(&mut cx.it.heap);
            return cx.tensor(&joined);
        }
        "Resize" | "RandomCrop" | "CenterCrop" => {
            let (height, width) = (cx.attr(object, "height"), cx.attr(object, "width"));
            sides(&mut out, cx.size_of(&height), cx.size_of(&width), at);
            let kept = name != "Resize"
                || cx.attr(object, if mask { "mask_interpolation" } else { "interpolation" }).as_int() == Some(0);
            if kept {
                out.range = out.range.map(part_of);
            } else {
                let known = cx.attr(object, if mask { "mask_interpolation" } else { "interpolation" }).as_int();
                out.past = if known.is_some() { out.interpolated(at) } else { Past::default() };
                out.range = out.range.map(|r| Range::bounds(r.lo(), r.hi()));
                if out.role == Some(Role::ClassMask) {
                    out.role = None;
                }
            }
        }
        "RandomResizedCrop" => {
            sides(&mut out, Size::Unknown, Size::Unknown, at);
            resample(cx, object, &mut out, mask);
        }
        name if WARPS.split_whitespace().any(|n| n == name) => {
            if name == "Rotate" {
                // In some versions, `Rotate` changes height and width.
                out.shape = None;
            }
            resample(cx, object, &mut out, mask);
        }
        "Normalize" | "ToFloat" if !mask => {
            out.forget_values();
            out = out.with_dtype(Some(Dtype::Float32), at).with_role(Some(Role::Image), at);
        }
        "Normalize" | "ToFloat" => {}
        "ToTensorV2" => {
            out.shape = match (out.shape.take(), mask) {
                (Some(dims), false) => match dims.as_slice() {
                    [h, w] => Some(vec![Dim::int(1), h.clone(), w.clone()]),
                    [h, w, c] => Some(vec![c.clone(), h.clone(), w.clone()]),
                    _ => None,
                },
                (shape, true) if cx.attr(object, "transpose_mask").as_bool() == Some(false) => shape,
                _ => None,
            };
            out.array = ArrayKind::Torch;
            out = out.with_device(Some(Device::CPU), at);
        }
        name if SAME.split_whitespace().any(|n| n == name) => {
            if mask {
                // Dropout writes a fill value, by default 0.
                out.range = out.range.map(|r| Range::bounds(r.lo().min(0.0), r.hi()));
            } else {
                let bounds = out.dtype.and_then(Dtype::bounds);
                out.range = bounds.map(|(lo, hi)| Range::bounds(lo, hi));
            }
            if matches!(name, "Flip" | "ToGray") {
                // In some versions, these two change the size or the channels.
                out.shape = None;
            }
        }
        _ => return None,
    }
    Some(out)
}

/// The effect of a geometric transform on the values of pixels. Pixels of the result that come from
/// outside the input image may be zero.
fn resample(cx: &Cx<'_, '_>, object: &Value, out: &mut Tensor, mask: bool) {
    let chosen = cx.attr(object, if mask { "mask_interpolation" } else { "interpolation" }).as_int();
    out.past = match chosen {
        Some(0) => out.past,
        Some(_) => out.interpolated(cx.at()),
        None => Past::default(),
    };
    let bounds = out.range.take().map(|r| Range::bounds(r.lo().min(0.0), r.hi().max(0.0)));
    out.range = match chosen {
        Some(0 | 1) => bounds,
        // Cubic interpolation overshoots.
        _ => out.dtype.and_then(Dtype::bounds).map(|(lo, hi)| Range::bounds(lo, hi)),
    };
    if chosen != Some(0) && out.role == Some(Role::ClassMask) {
        out.role = None;
    }
}

fn sides(out: &mut Tensor, height: Size, width: Size, at: crate::value::Origin) {
    if let Some([h, w, ..]) = out.shape.as_deref_mut() {
        *h = Dim::new(height, at);
        *w = Dim::new(width, at);
    }
    out.shape_at = at;
}
