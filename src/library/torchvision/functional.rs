//! `torchvision.transforms.functional`, and its counterpart under `v2`.
//!
//! The functions work on Pillow images and on tensors. Most calls of `v2` are also announced to the
//! observer under the older path, so that one contract covers both versions. Calls with a mask of
//! `tv_tensors` are an exception, because `v2` never interpolates masks.

use super::geometry::{center_crop, crop, pad, warp};
use super::tv_tensors;
use crate::library::common::{part_of, unknown};
use crate::library::table::{Run, Table};
use crate::library::{Cx, numpy, pil};
use crate::python::{Bound, RejectKind};
use crate::value::{ArrayKind, Device, Dim, Dtype, Grad, Past, Range, Role, Size, Tensor, Value, counted, sym};

pub(crate) const V1: &str = "torchvision.transforms.functional.";
pub(crate) const V2: &str = "torchvision.transforms.v2.functional.";
const RESIZE: &str = "img, size, interpolation=@torchvision.transforms.InterpolationMode.BILINEAR, max_size=None, \
                      antialias=True";
const RESIZE_V2: &str = "inpt, size, interpolation=@torchvision.transforms.InterpolationMode.BILINEAR, max_size=None, \
                         antialias=True";
const RESIZED_CROP: &str = "img, top, left, height, width, size, \
                            interpolation=@torchvision.transforms.InterpolationMode.BILINEAR, antialias=True";
const RESIZED_CROP_V2: &str = "inpt, top, left, height, width, size, \
                               interpolation=@torchvision.transforms.InterpolationMode.BILINEAR, antialias=True";

pub(crate) fn register(t: &mut Table) {
    for module in ["functional", "v2", "v2.functional", "transforms"] {
        t.alias(
            &format!("torchvision.transforms.{module}.InterpolationMode"),
            "torchvision.transforms.InterpolationMode",
        );
    }
    macro_rules! def {
        ($name:expr, $sig:expr, $run:expr $(,)?) => {
            t.def(&format!("{V1}{}", $name), $sig, $run);
            t.def(&format!("{V2}{}", $name), $sig, |cx, b| second(cx, b, $run));
        };
    }
    def!("to_tensor", "pic", to_tensor);
    def!("pil_to_tensor", "pic", pil_to_tensor);
    def!("to_image", "inpt", to_image);
    def!("convert_image_dtype", "image, dtype=@torch.float32", convert_image_dtype);
    def!("to_dtype", "inpt, dtype=@torch.float32, scale=False", to_dtype);
    def!("to_pil_image", "pic, mode=None", to_pil_image);
    def!("normalize", "tensor, mean, std, inplace=False", normalize);
    def!("resize", RESIZE, resize);
    def!("resized_crop", RESIZED_CROP, resize);
    def!("center_crop", "img, output_size", center_crop);
    def!("crop", "img, top, left, height, width", crop);
    def!("pad", "img, padding, fill=0, padding_mode='constant'", pad);
    for name in ["hflip", "vflip", "horizontal_flip", "vertical_flip"] {
        def!(name, "img", |cx, b| {
            let size = hw(cx, &picture(b));
            rebuilt(cx, &picture(b), size, Some)
        });
    }
    def!(
        "rotate",
        "img, angle, interpolation=@torchvision.transforms.InterpolationMode.NEAREST, expand=False, center=None, fill=None",
        warp,
    );
    def!(
        "affine",
        "img, angle, translate, scale, shear, interpolation=@torchvision.transforms.InterpolationMode.NEAREST, fill=None, center=None",
        warp,
    );
    def!(
        "perspective",
        "img, startpoints, endpoints, interpolation=@torchvision.transforms.InterpolationMode.BILINEAR, fill=None, coefficients=None",
        warp,
    );
    for name in ["elastic", "elastic_transform"] {
        def!(
            name,
            "img, displacement, interpolation=@torchvision.transforms.InterpolationMode.BILINEAR, fill=None",
            warp,
        );
    }
    for name in [
        "adjust_brightness",
        "adjust_contrast",
        "adjust_saturation",
        "adjust_hue",
        "adjust_gamma",
        "adjust_sharpness",
        "autocontrast",
        "equalize",
        "invert",
        "posterize",
        "solarize",
        "gaussian_blur",
        "erase",
        "gaussian_noise",
    ] {
        def!(name, "img, *args, **kwargs", |cx, b| {
            let size = hw(cx, &picture(b));
            let out = rebuilt(cx, &picture(b), size, |_| None);
            if let Some(id) = out.as_obj() {
                cx.it.heap.update_tensor(id, |t| t.past = t.past.moved());
            }
            out
        });
    }
    for name in ["to_grayscale", "rgb_to_grayscale"] {
        def!(name, "img, num_output_channels=1", grayscale);
    }
    for name in ["five_crop", "ten_crop"] {
        def!(name, "img, size, vertical_flip=False", |cx, b| {
            let size = size_pair(cx, &b.get("size"));
            let n = if cx.name() == "five_crop" { 5 } else { 10 };
            let crops = (0..n).map(|_| rebuilt(cx, &picture(b), size.clone(), |r| Some(part_of(r)))).collect();
            Value::tuple(crops)
        });
    }
    for name in ["get_image_size", "get_dimensions", "get_image_num_channels"] {
        def!(name, "img", unknown);
    }
    // Contracts name these functions of `v2`, so their calls are not also announced under the
    // older path.
    t.def(&format!("{V2}resize"), RESIZE_V2, resize);
    t.def(&format!("{V2}resized_crop"), RESIZED_CROP_V2, resize);
}

/// The image: the first argument, whose name depends on the function.
pub(super) fn picture(b: &Bound) -> Value {
    b.values.first().and_then(Option::as_ref).map_or(Value::Unknown, |a| a.value.clone())
}

/// A function of `v2`: runs the model of the older function. The call is also announced under the
/// older path, except for masks, which `v2` never interpolates.
fn second(cx: &mut Cx<'_, '_>, b: &Bound, first: Run) -> Value {
    let mask = b.values.first().and_then(Option::as_ref).is_some_and(|a| tv_tensors::is(cx, &a.value, "Mask"));
    if !mask {
        let (v1, span) = (sym(&format!("{V1}{}", cx.name())), cx.span);
        cx.it.announce(v1, b, span);
    }
    first(cx, b)
}

/// The height and width of an image; for a tensor, its last two dimensions.
pub(crate) fn hw(cx: &Cx<'_, '_>, image: &Value) -> Option<(Dim, Dim)> {
    if pil::is_image(cx, image) {
        return pil::hw(cx, image);
    }
    match cx.tensor(image)?.shape.as_deref()? {
        [.., height, width] => Some((height.clone(), width.clone())),
        _ => None,
    }
}

/// The image with the height and width `size` (unknown if `size` is `None`). `values` maps the
/// range of the old pixel values to the range of the new ones.
pub(crate) fn rebuilt(
    cx: &mut Cx<'_, '_>,
    image: &Value,
    size: Option<(Dim, Dim)>,
    values: impl FnOnce(Range) -> Option<Range>,
) -> Value {
    if pil::is_image(cx, image) {
        return pil::with_size(cx, image, size, values);
    }
    let Some(mut tensor) = cx.tensor(image) else { return Value::Unknown };
    if tensor.array == ArrayKind::Numpy {
        return Value::Unknown;
    }
    let (height, width) = size.unwrap_or((Dim::UNKNOWN, Dim::UNKNOWN));
    if let Some([.., h, w]) = tensor.shape.as_deref_mut() {
        *h = height;
        *w = width;
        tensor.shape_at = cx.at();
    }
    tensor.data = None;
    tensor.base = None;
    tensor.version = 0;
    tensor.writes = 0;
    if tensor.grad == Grad::Leaf {
        tensor.grad = Grad::Attached;
    }
    tensor.range = tensor.range.and_then(values);
    if tensor.range.is_none() && tensor.role != Some(Role::Image) {
        tensor.role = None;
    }
    if !cx.path.as_str().contains(".v2.") {
        tensor.wrapper = None;
    }
    cx.out(tensor)
}

/// `(h, w)`, or one number for both.
pub(crate) fn size_pair(cx: &Cx<'_, '_>, size: &Value) -> Option<(Dim, Dim)> {
    let at = cx.at();
    let dim = |v: &Value| Some(Dim::new(v.as_size()?, at));
    if size.number_type().is_some() {
        return Some((dim(size)?, dim(size)?));
    }
    match cx.items(size)?.as_slice() {
        [both] => Some((dim(both)?, dim(both)?)),
        [height, width] => Some((dim(height)?, dim(width)?)),
        _ => None,
    }
}

/// The new size of `resize`: a single number is the length of the shorter side; the length of the
/// longer side follows from the aspect ratio.
fn resized(cx: &Cx<'_, '_>, image: &Value, b: &Bound) -> Option<(Dim, Dim)> {
    let size = b.get("size");
    let at = cx.at();
    let short = match (&size, cx.items(&size)) {
        (_, Some(items)) => match items.as_slice() {
            [only] => only.as_int()?,
            _ => return size_pair(cx, &size),
        },
        (size, None) => size.as_int()?,
    };
    // For `resized_crop`, an integer `size` is the length of both sides; only `resize` has
    // `max_size`.
    if cx.name() == "resized_crop" {
        return size_pair(cx, &size);
    }
    if !b.get("max_size").is_none() {
        return None;
    }
    let (height, width) = hw(cx, image)?;
    if height.size == width.size && !height.size.is_unknown() {
        return Some((Dim::new(Size::Int(short), at), Dim::new(Size::Int(short), at)));
    }
    let (h, w) = (height.size.known()?, width.size.known()?);
    let (least, most) = (h.min(w), h.max(w));
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "as torchvision computes it")]
    let long = (short.checked_mul(most)? as f64 / least as f64) as i64;
    let (h, w) = if w <= h { (long, short) } else { (short, long) };
    Some((Dim::new(Size::Int(h), at), Dim::new(Size::Int(w), at)))
}

fn resize(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let image = picture(b);
    let size = resized(cx, &image, b);
    let interpolation = interpolation_of(cx, b, &image);
    let bounded = cx.tensor(&image).and_then(|t| t.dtype).and_then(Dtype::bounds);
    let past = pil::past_of(cx, &image, &interpolation);
    let out = rebuilt(cx, &image, size, |r| {
        pil::mixed(&r, &interpolation).or_else(|| bounded.map(|(lo, hi)| Range::bounds(lo, hi)))
    });
    pil::set_past(cx, &out, past);
    out
}

/// The interpolation of an image: `v2` never interpolates masks.
pub(super) fn interpolation_of(cx: &Cx<'_, '_>, b: &Bound, image: &Value) -> Value {
    if tv_tensors::is(cx, image, "Mask") {
        Value::path("torchvision.transforms.InterpolationMode.NEAREST")
    } else {
        b.get("interpolation")
    }
}

fn grayscale(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let image = picture(b);
    let channels = b.get("num_output_channels").as_int();
    if pil::is_image(cx, &image) {
        let size = pil::hw(cx, &image);
        let mode = match channels {
            Some(1) => Some("L"),
            Some(3) => Some("RGB"),
            _ => None,
        };
        return pil::new_image(cx, mode, size, None);
    }
    let Some(mut tensor) = cx.tensor(&image) else { return Value::Unknown };
    let at = cx.at();
    if let Some([.., c, _, _]) = tensor.shape.as_deref_mut() {
        *c = Dim::new(channels.map_or(Size::Unknown, Size::Int), at);
    }
    let keep = tensor.range.as_ref().map(|r| Range::bounds(r.lo(), r.hi()));
    tensor.forget_values();
    tensor.range = keep;
    tensor.role = Some(Role::Image);
    tensor.base = None;
    cx.out(tensor)
}

fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Obj(_) => "a tensor",
        Value::Str(_) => "a str",
        _ => "something else",
    }
}

/// The shape of an image or array with the channels first.
fn channels_first(array: &Tensor) -> Option<Vec<Dim>> {
    match array.shape.as_deref()? {
        [h, w] => Some(vec![Dim::int(1), h.clone(), w.clone()]),
        [h, w, c] => Some(vec![c.clone(), h.clone(), w.clone()]),
        _ => None,
    }
}

fn on_cpu(mut tensor: Tensor, at: crate::value::Origin) -> Tensor {
    tensor.array = ArrayKind::Torch;
    tensor.device = Some(Device::CPU);
    tensor.device_at = at;
    tensor.grad = Grad::Off;
    tensor.base = None;
    tensor.data = None;
    tensor
}

fn to_tensor(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let pic = b.get("pic");
    let at = cx.at();
    if let Some(tensor) = cx.tensor(&pic).filter(|t| t.array == ArrayKind::Torch && cx.is_surely_tensor(&pic)) {
        let reads = vec![("the tensor gets its shape here".to_owned(), tensor.shape_at)];
        cx.reject(
            RejectKind::Value,
            format!("ToTensor takes a PIL image or an array, but got {}", name_of(&pic)),
            reads,
        );
        return pic;
    }
    let is_picture = pil::is_image(cx, &pic);
    let Some(array) = numpy::as_array(cx, &pic).filter(|_| is_picture || cx.is_numpy(&pic)) else {
        let out = on_cpu(Tensor::default(), at);
        return cx.out(out);
    };
    numpy::reversed::refuse(cx, &pic);
    if let Some(rank) = array.rank().filter(|r| !is_picture && !matches!(r, 2 | 3)) {
        let message = format!("the array has {}, but an image has 2 or 3", counted(rank, "dimension"));
        cx.reject(RejectKind::Rank, message, vec![("the array gets its shape here".to_owned(), array.shape_at)]);
    }
    let shape = channels_first(&array);
    let mut out = on_cpu(array.clone(), at);
    out.shape = shape;
    out.shape_at = at;
    out.role = Some(Role::Image);
    out.role_at = at;
    // Only bytes are scaled; an image of mode `1` is converted to bytes 0 and 255 first.
    match array.dtype {
        Some(Dtype::Uint8) => {
            out = out.with_dtype(Some(Dtype::Float32), at);
            out.range = Some(array.range.as_ref().map_or(Range::bounds(0.0, 1.0), |r| r.map(|x| x / 255.0)));
            out.range_at = at;
            out.past = array.past.divided(at);
        }
        Some(Dtype::Bool) if is_picture => {
            out = out.with_dtype(Some(Dtype::Float32), at).with_range(Some(Range::bounds(0.0, 1.0)), at);
        }
        Some(Dtype::Uint16) if is_picture => out = out.with_dtype(Some(Dtype::Int16), at).with_range(None, at),
        None => {
            out.range = None;
            // Images of unknown mode usually contain bytes, but not always, so the range is
            // unknown.
        }
        _ => {}
    }
    // For every mode, the result has channels, height and width.
    if is_picture
        && out.shape.is_none()
        && let Some((height, width)) = pil::hw(cx, &pic)
    {
        out.shape = Some(vec![Dim::UNKNOWN, height, width]);
    }
    cx.out(out)
}

fn pil_to_tensor(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let pic = b.get("pic");
    let at = cx.at();
    if !pil::is_image(cx, &pic) {
        if let Some(tensor) = cx.tensor(&pic).filter(|_| cx.is_surely_tensor(&pic)) {
            let reads = vec![("the value is created here".to_owned(), tensor.shape_at)];
            cx.reject(RejectKind::Value, "pil_to_tensor takes a PIL image, but got a tensor or an array", reads);
        }
        let out = on_cpu(Tensor::default(), at);
        return cx.out(out);
    }
    let Some(array) = numpy::as_array(cx, &pic) else { return Value::Unknown };
    let mut out = on_cpu(array.clone(), at);
    out.shape = channels_first(&array);
    out.shape_at = at;
    if array.dtype == Some(Dtype::Bool) {
        out = out.with_dtype(Some(Dtype::Uint8), at).with_range(None, at);
    }
    cx.out(out)
}

fn to_image(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let input = b.get("inpt");
    let at = cx.at();
    let out = match cx.tensor(&input).filter(|t| t.array == ArrayKind::Torch) {
        Some(mut tensor) => {
            if let Some(shape) = tensor.shape.as_mut().filter(|s| s.len() == 2) {
                shape.insert(0, Dim::int(1));
            }
            tensor
        }
        None => match numpy::as_array(cx, &input).filter(|_| pil::is_image(cx, &input) || cx.is_numpy(&input)) {
            Some(array) => {
                let shape = channels_first(&array);
                let mut out = on_cpu(array, at);
                out.shape = shape;
                out
            }
            None => on_cpu(Tensor::default(), at),
        },
    };
    let out = cx.out(out);
    tv_tensors::mark(cx, &out, "Image");
    out
}

/// The values after a dtype conversion that rescales them: bytes 0 to 255 become floats 0 to 1.
fn scaled(cx: &mut Cx<'_, '_>, image: &Value, dtype: Option<Dtype>) -> Value {
    let Some(tensor) = cx.tensor(image) else { return cx.some_tensor() };
    let at = cx.at();
    let mut out = Tensor { base: None, version: 0, writes: 0, data: None, ..tensor.clone() };
    if dtype != tensor.dtype || dtype.is_none() {
        out = out.with_dtype(dtype, at);
        let full = |d: Dtype| d.bounds().filter(|_| d != Dtype::Bool).map(|b| b.1);
        out.range = match (tensor.dtype, dtype) {
            (Some(from), Some(to)) if from.is_integral() && to.is_floating() => full(from).and_then(|most| {
                tensor.range.as_ref().map_or_else(
                    || (from == Dtype::Uint8).then(|| Range::bounds(0.0, 1.0)),
                    |r| Some(r.map(|x| x / most)),
                )
            }),
            (Some(from), Some(to)) if from.is_floating() && to.is_floating() => tensor.range.clone(),
            _ => None,
        };
        out.range_at = at;
        out.past = match (tensor.dtype, dtype) {
            (Some(Dtype::Uint8), Some(to)) if to.is_floating() => tensor.past.divided(at),
            _ => Past::default(),
        };
        if out.role == Some(Role::ClassMask) {
            out.role = None;
        }
    }
    let out = cx.out(out);
    tv_tensors::pass_on(cx, image, &out);
    out
}

fn dtype_of(cx: &Cx<'_, '_>, value: &Value) -> Option<Dtype> {
    match value {
        // The default in the signature is this path.
        Value::Path(p) if p.as_str() == "torch.float32" => Some(Dtype::Float32),
        other => cx.dtype_arg(other).flatten(),
    }
}

fn convert_image_dtype(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let dtype = dtype_of(cx, &b.get("dtype"));
    scaled(cx, &b.get("image"), dtype)
}

fn to_dtype(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let dtype = dtype_of(cx, &b.get("dtype"));
    let input = b.get("inpt");
    if b.get("scale").as_bool() == Some(true) && !tv_tensors::is(cx, &input, "Mask") {
        return scaled(cx, &input, dtype);
    }
    let Some(tensor) = cx.tensor(&input) else { return Value::Unknown };
    let at = cx.at();
    let same = dtype.is_some() && dtype == tensor.dtype;
    let mut out = Tensor { base: None, version: 0, writes: 0, ..tensor };
    if !same {
        let held = dtype.is_some_and(|d| d.bounds().is_none());
        out = out.with_dtype(dtype, at);
        if !held || b.get("scale").as_bool().is_none() {
            out.forget_values();
        } else if out.dtype.is_some_and(Dtype::is_integral) {
            out.range = out.range.map(|r| r.map(f64::trunc));
        }
    }
    let out = cx.out(out);
    tv_tensors::pass_on(cx, &input, &out);
    out
}

fn to_pil_image(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let pic = b.get("pic");
    let Some(tensor) = cx.tensor(&pic) else { return pil::new_image(cx, None, None, None) };
    let dims = match (tensor.array, tensor.shape.as_deref()) {
        (ArrayKind::Torch, Some([c, h, w])) => Some((Some(c.clone()), h.clone(), w.clone())),
        (ArrayKind::Numpy, Some([h, w, c])) => Some((Some(c.clone()), h.clone(), w.clone())),
        (_, Some([h, w])) => Some((None, h.clone(), w.clone())),
        _ => None,
    };
    // Floating-point tensors are converted to bytes; for other types, the dtype determines the
    // mode.
    let bytes = match (tensor.array, tensor.dtype) {
        (_, Some(Dtype::Uint8)) => true,
        (ArrayKind::Torch, Some(d)) => d.is_floating(),
        _ => false,
    };
    let Some((channels, height, width)) = dims else { return pil::new_image(cx, None, None, None) };
    let given = b.get("mode");
    let mode = match channels.map_or(Some(1), |c| c.size.known()) {
        _ if given.as_str().is_some() => given.as_str(),
        _ if !given.is_none() || !bytes => None,
        Some(1) => Some("L"),
        Some(2) => Some("LA"),
        Some(3) => Some("RGB"),
        Some(4) => Some("RGBA"),
        _ => None,
    };
    pil::new_image(cx, mode, Some((height, width)), None)
}

/// A list of numbers, one for each channel.
fn numbers(cx: &Cx<'_, '_>, value: &Value) -> Option<Vec<f64>> {
    if let Some(data) = cx.tensor(value).and_then(|t| t.data) {
        return Some(data.to_vec());
    }
    cx.items(value)?.iter().map(Value::as_f64).collect()
}

fn count(cx: &Cx<'_, '_>, value: &Value) -> Option<i64> {
    if let Some([dim]) = cx.tensor(value).and_then(|t| t.shape).as_deref() {
        return dim.size.known();
    }
    i64::try_from(cx.items(value)?.len()).ok()
}

fn normalize(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let input = b.get("tensor");
    let at = cx.at();
    if pil::is_image(cx, &input) {
        cx.reject(RejectKind::Value, "Normalize takes a tensor, but got a PIL image: apply ToTensor first", Vec::new());
        return cx.some_tensor();
    }
    let Some(tensor) = cx.tensor(&input) else { return cx.some_tensor() };
    let mut out = Tensor {
        base: None,
        version: 0,
        writes: 0,
        data: None,
        range: None,
        past: tensor.past.moved(),
        ..tensor.clone()
    };
    if out.role == Some(Role::ClassMask) {
        out.role = None;
    }
    if let Some(dtype) = tensor.dtype.filter(|d| !d.is_floating()) {
        let reads = vec![(format!("the image gets dtype {dtype} here"), tensor.dtype_at)];
        cx.reject(RejectKind::Dtype, format!("Normalize takes a tensor of floats, but got {dtype}"), reads);
        return cx.out(out);
    }
    if let Some(rank) = tensor.rank().filter(|r| *r < 3) {
        let rank = counted(rank, "dimension");
        let message = format!("Normalize takes an image of shape [..., C, H, W], but the tensor has {rank}");
        cx.reject(RejectKind::Rank, message, vec![("the tensor gets its shape here".to_owned(), tensor.shape_at)]);
        return cx.out(out);
    }
    let channels = tensor.dim(-3).and_then(|d| d.size.known());
    for name in ["mean", "std"] {
        let length = count(cx, &b.get(name));
        // The statistics are applied in place, so the image is not broadcast to their shape.
        if let (Some(channels), Some(length)) = (channels, length)
            && length != 1
            && length != channels
        {
            let message = format!("`{name}` has {length} values, but the image has {}", counted(channels, "channel"));
            let reads = vec![
                (format!("size {channels} is set here"), tensor.dim(-3).and_then(|d| d.at)),
                (format!("{length} values are given here"), b.span(name).filter(|at| !cx.span.contains(*at))),
            ];
            cx.reject(RejectKind::Shape, message, reads);
            return cx.out(out);
        }
    }
    let (mean, std) = (numbers(cx, &b.get("mean")), numbers(cx, &b.get("std")));
    if let (Some(range), Some(mean), Some(std)) = (&tensor.range, mean, std)
        && std.iter().all(|s| *s > 0.0)
    {
        let n = mean.len().max(std.len());
        let at_index = |all: &[f64], i: usize| if all.len() == 1 { all.first().copied() } else { all.get(i).copied() };
        let parts: Option<Vec<Range>> = (0..n)
            .map(|i| {
                let (m, s) = (at_index(&mean, i)?, at_index(&std, i)?);
                Some(range.map(|x| (x - m) / s))
            })
            .collect();
        out.range =
            parts.and_then(|p| p.into_iter().reduce(|a, b| Range::bounds(a.lo().min(b.lo()), a.hi().max(b.hi()))));
        out.range_at = at;
    }
    let out = cx.out(out);
    tv_tensors::pass_on(cx, &input, &out);
    out
}
