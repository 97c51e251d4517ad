//! kornia: image operations on batches of tensors.

use super::common::part_of;
use super::{Cx, Table};
use crate::python::{Args, Bound};
use crate::value::{Dim, Grad, Past, Range, Role, Size, Tensor, Value};

pub(super) fn register(t: &mut Table) {
    t.alias("kornia.geometry.resize", "kornia.geometry.transform.resize");
    t.alias("kornia.resize", "kornia.geometry.transform.resize");
    t.def(
        "kornia.geometry.transform.resize",
        "input, size, interpolation='bilinear', align_corners=None, side='short', antialias=False",
        resize,
    );
    for name in ["hflip", "vflip", "rot180"] {
        t.def(&format!("kornia.geometry.transform.{name}"), "input", |cx, b| like(cx, b, "input"));
        t.alias(&format!("kornia.geometry.{name}"), &format!("kornia.geometry.transform.{name}"));
    }
    for (names, sig) in WARPS {
        t.family("kornia.geometry.transform.", names, sig, warp);
        for name in names.split_whitespace() {
            t.alias(&format!("kornia.geometry.{name}"), &format!("kornia.geometry.transform.{name}"));
        }
    }
    for name in AUGMENTATIONS.split_whitespace() {
        let sig = "*args, resample='BILINEAR', **kwargs";
        t.class(&format!("kornia.augmentation.{name}"), &["torch.nn.Module"], sig).invoke = Some(augment);
    }
    t.def("kornia.utils.image_to_tensor", "image, keepdim=True", |cx, b| {
        let Some(image) = cx.tensor_arg(b, "image") else { return cx.some_tensor() };
        let mut out = Tensor {
            array: crate::value::ArrayKind::Torch,
            device: Some(crate::value::Device::CPU),
            grad: Grad::Off,
            data: None,
            base: None,
            ..image.clone()
        };
        let keep = b.get("keepdim").as_bool();
        out.shape = match (image.shape.as_deref(), keep) {
            (Some([h, w]), Some(true)) => Some(vec![Dim::int(1), h.clone(), w.clone()]),
            (Some([h, w, c]), Some(true)) => Some(vec![c.clone(), h.clone(), w.clone()]),
            _ => None,
        };
        cx.out(out)
    });
}

/// Functions that move pixels by a matrix or a grid, each with its signature. The first parameter
/// is the tensor.
const WARPS: &[(&str, &str)] = &[
    ("warp_affine", "src, M, dsize, mode='bilinear', padding_mode='zeros', align_corners=True, fill_value=None"),
    ("warp_perspective", "src, M, dsize, mode='bilinear', padding_mode='zeros', align_corners=True, fill_value=None"),
    ("remap", "image, map_x, map_y, mode='bilinear', padding_mode='zeros', align_corners=None, *args"),
    ("affine", "tensor, matrix, mode='bilinear', padding_mode='zeros', align_corners=True"),
    ("rotate", "tensor, angle, center=None, mode='bilinear', padding_mode='zeros', align_corners=True"),
    ("translate", "tensor, translation, mode='bilinear', padding_mode='zeros', align_corners=True"),
    ("scale", "tensor, scale_factor, center=None, mode='bilinear', padding_mode='zeros', align_corners=True"),
    ("shear", "tensor, shear, mode='bilinear', padding_mode='zeros', align_corners=False"),
    ("crop_and_resize", "input_tensor, boxes, size, mode='bilinear', padding_mode='zeros', align_corners=True"),
    (
        "elastic_transform2d",
        "image, noise, kernel_size=(63, 63), sigma=(32.0, 32.0), alpha=(1.0, 1.0), align_corners=False, \
         mode='bilinear', padding_mode='zeros'",
    ),
];

/// Layers that move pixels. Their interpolation argument is `resample`.
const AUGMENTATIONS: &str = "RandomRotation RandomAffine RandomPerspective RandomElasticTransform RandomResizedCrop \
                             Resize RandomThinPlateSpline RandomFisheye RandomTranslate RandomShear";

/// A tensor after its pixels were moved. If the size may change, the new height and width are
/// unknown.
fn moved(cx: &mut Cx<'_, '_>, mut out: Tensor, interpolation: &Value, same_size: bool) -> Value {
    let at = cx.at();
    let name = interpolation.as_str().or_else(|| interpolation.as_path().and_then(|p| p.rsplit('.').next()));
    let nearest = name.map(|name| name.to_lowercase().starts_with("nearest"));
    let mixed = out.interpolated(at);
    (out.data, out.base, out.version, out.writes) = (None, None, 0, 0);
    if out.grad == Grad::Leaf {
        out.grad = Grad::Attached;
    }
    out.past = match nearest {
        Some(true) => out.past,
        Some(false) => mixed,
        None => Past::default(),
    };
    // Pixels from outside the image are assumed to be zero, or to repeat pixels of the image.
    out.range = match (out.range.take(), nearest) {
        (Some(range), Some(_)) => Some(Range::bounds(range.lo().min(0.0), range.hi().max(0.0))),
        _ => None,
    };
    if nearest != Some(true) && out.role == Some(Role::ClassMask) {
        out.role = None;
    }
    if let (false, Some([.., height, width])) = (same_size, out.shape.as_deref_mut()) {
        (*height, *width) = (Dim::UNKNOWN, Dim::UNKNOWN);
    }
    cx.out(out)
}

fn warp(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let first = b.values.first().and_then(Option::as_ref).map_or(Value::Unknown, |arg| arg.value.clone());
    let Some(input) = cx.tensor(&first) else { return cx.some_tensor() };
    let same_size = matches!(cx.name(), "affine" | "rotate" | "translate" | "scale" | "shear" | "elastic_transform2d");
    moved(cx, input, &b.get("mode"), same_size)
}

fn augment(cx: &mut Cx<'_, '_>, object: &Value, args: Args) -> Option<Value> {
    let input = cx.tensor(&args.pos.first()?.value)?;
    let class = cx.it.heap.instance_of(object)?.class.as_path()?;
    let same_size = !class.contains("Resize") && !class.contains("Crop");
    let resample = cx.attr(object, "resample");
    // Inputs of 2 or 3 dimensions get a batch dimension, unless `keepdim` is set.
    let input = Tensor { shape: input.shape.filter(|dims| dims.len() == 4), ..input };
    Some(moved(cx, input, &resample, same_size))
}

fn like(cx: &mut Cx<'_, '_>, b: &Bound, name: &str) -> Value {
    let Some(mut out) = cx.tensor_arg(b, name) else { return cx.some_tensor() };
    out.base = None;
    out.data = None;
    if out.grad == Grad::Leaf {
        out.grad = Grad::Attached;
    }
    cx.out(out)
}

fn resize(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(mut out) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let at = cx.at();
    let size = match cx.items(&b.get("size")).as_deref() {
        Some([h, w]) => (cx.size_of(h), cx.size_of(w)),
        _ => (Size::Unknown, Size::Unknown),
    };
    if let Some([.., h, w]) = out.shape.as_deref_mut() {
        *h = Dim::new(size.0, at);
        *w = Dim::new(size.1, at);
    }
    let mixed = out.interpolated(at);
    out.data = None;
    out.base = None;
    if out.grad == Grad::Leaf {
        out.grad = Grad::Attached;
    }
    let nearest = b.get("interpolation").as_str().map(|n| n.starts_with("nearest"));
    out.past = match nearest {
        Some(true) => out.past,
        Some(false) => mixed,
        None => Past::default(),
    };
    out.range = match (out.range.take(), nearest) {
        (Some(range), Some(true)) => Some(part_of(range)),
        (Some(range), Some(false)) if b.get("interpolation").as_str() == Some("bilinear") => {
            Some(Range::bounds(range.lo(), range.hi()))
        }
        _ => None,
    };
    if nearest != Some(true) && out.role == Some(Role::ClassMask) {
        out.role = None;
    }
    cx.out(out)
}
