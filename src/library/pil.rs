//! Pillow: an image is an instance with `mode` and `size`, and with the facts of the array to which
//! NumPy would convert it.

use super::common::{array, instance, itself, none, part_of, unknown};
use super::numpy;
use super::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, Origin, Past, Range, Role, Size, Sym, Tensor, Type, Value, texts_of};

pub(super) const IMAGE: &str = "PIL.Image.Image";
/// The attribute that holds the array's facts.
const ARRAY: &str = "_array";
const DRAW: &str = "PIL.ImageDraw.Draw";

pub(super) fn register(t: &mut Table) {
    t.class(IMAGE, &[], "").attribute = Some(attribute);
    t.alias("Image", "PIL.Image");
    t.def("PIL.Image.open", "fp, mode='r', formats=None", |cx, b| {
        // `Image.open(self.paths[a:b])`: the index of the sample is a slice.
        let file = b.get("fp");
        if matches!(file, Value::Tuple(_)) || matches!(cx.it.own_type(&file), Some("list" | "dict")) {
            let message = format!("`fp` must be a path or a file, but it is {}", cx.it.named(&file));
            cx.reject(RejectKind::Value, message, Vec::new());
        }
        let size = (cx.fresh_dim("H"), cx.fresh_dim("W"));
        new_image(cx, None, Some(size), None)
    });
    t.def("PIL.Image.new", "mode, size, color=0", |cx, b| {
        let size = size_arg(cx, &b.get("size"));
        let mode = b.get("mode");
        let mode = mode.as_str();
        let role = if mode == Some("P") { Role::ClassMask } else { Role::Image };
        let filled = b.get("color").as_f64().and_then(|c| Range::of_values(&[c]));
        new_image(cx, mode, size, filled.filter(|_| matches!(mode, Some("L" | "P" | "I" | "F"))).map(|r| (r, role)))
    });
    t.class(DRAW, &[], "im, mode=None").keeps_arguments = true;
    t.alias("PIL.ImageDraw.ImageDraw", DRAW);
    t.family(
        "PIL.ImageDraw.Draw.",
        "rectangle ellipse polygon line arc chord pieslice point text bitmap rounded_rectangle regular_polygon",
        "self, *args, fill=None, outline=None, **kwargs",
        draw,
    );
    t.def("PIL.Image.fromarray", "obj, mode=None", from_array);
    t.def("PIL.Image.Image.__getitem__", "self, index", |cx, _| {
        cx.reject(RejectKind::Value, "an image of PIL has no elements: convert it by `np.array(image)`", Vec::new());
        Value::Unknown
    });
    t.def("PIL.Image.Image.convert", "self, mode=None, matrix=None, dither=None, palette=0, colors=256", convert);
    t.def("PIL.Image.Image.resize", "input, size, resample=None, box=None, reducing_gap=None", resize);
    t.def("PIL.Image.Image.thumbnail", "self, size, resample=3, reducing_gap=2.0", |cx, b| {
        if let Some(id) = b.get("self").as_obj() {
            let past = past_of(cx, &b.get("self"), &b.get("resample"));
            let facts = Tensor { shape: None, past, ..array_of(cx, &b.get("self")).unwrap_or_default() };
            let value = cx.out(facts);
            cx.it.heap.set_attr(id, ARRAY, value);
            cx.it.heap.set_attr(id, "size", Value::Unknown);
        }
        Value::None
    });
    t.def("PIL.Image.Image.crop", "self, box=None", |cx, b| {
        let size = cx.items(&b.get("box")).and_then(|edges| match edges.as_slice() {
            [left, top, right, bottom] => {
                let at = cx.at();
                let length = |a: &Value, z: &Value| Some(Dim::new(z.as_size()?.sub(&a.as_size()?), at));
                Some((length(top, bottom)?, length(left, right)?))
            }
            _ => None,
        });
        with_size(cx, &b.get("self"), size, |r| Some(part_of(r)))
    });
    t.def("PIL.Image.Image.rotate", "self, angle, resample=0, expand=0, *args, **kwargs", |cx, b| {
        with_size(cx, &b.get("self"), None, |_| None)
    });
    t.def("PIL.Image.Image.transpose", "self, method", |cx, b| {
        let method = b.get("method");
        let flips = method.as_int().is_some_and(|n| n <= 1) || method.as_path().is_some_and(|p| p.contains(".FLIP_"));
        let size = if flips { hw(cx, &b.get("self")) } else { None };
        with_size(cx, &b.get("self"), size, Some)
    });
    t.family("PIL.Image.Image.", "copy __enter__", "self", itself);
    t.family("PIL.Image.Image.", "filter", "self, filter", |cx, b| {
        let size = hw(cx, &b.get("self"));
        with_size(cx, &b.get("self"), size, |_| None)
    });
    t.family("PIL.Image.Image.", "save show close verify seek paste putpalette", "self, *args, **kwargs", none);
    t.family(
        "PIL.Image.Image.",
        "split load getdata getbands point getbbox histogram getpixel getcolors quantize",
        "self, *args, **kwargs",
        unknown,
    );
    for name in ["NEAREST", "BOX", "BILINEAR", "HAMMING", "BICUBIC", "LANCZOS"] {
        t.alias(&format!("PIL.Image.{name}"), &format!("PIL.Image.Resampling.{name}"));
    }
    t.alias("PIL.Image.ANTIALIAS", "PIL.Image.Resampling.LANCZOS");
    t.def("PIL.ImageOps.exif_transpose", "image, *, in_place=False", |cx, b| {
        with_size(cx, &b.get("image"), None, Some)
    });
    t.family("PIL.ImageOps.", "mirror flip", "image", |cx, b| {
        let size = hw(cx, &b.get("image"));
        with_size(cx, &b.get("image"), size, Some)
    });
    t.family("PIL.ImageOps.", "autocontrast equalize invert posterize solarize", "image, *args, **kwargs", |cx, b| {
        let size = hw(cx, &b.get("image"));
        with_size(cx, &b.get("image"), size, |_| None)
    });
}

/// The number of channels of an image with this mode (`None` if its array has only height and
/// width), and the dtype of the values.
fn layout(mode: &str) -> Option<(Option<i64>, Dtype)> {
    Some(match mode {
        "1" => (None, Dtype::Bool),
        "L" | "P" => (None, Dtype::Uint8),
        "I" => (None, Dtype::Int32),
        "I;16" => (None, Dtype::Uint16),
        "F" => (None, Dtype::Float32),
        "LA" | "PA" => (Some(2), Dtype::Uint8),
        "RGB" | "YCbCr" | "HSV" | "LAB" => (Some(3), Dtype::Uint8),
        "RGBA" | "CMYK" | "RGBX" => (Some(4), Dtype::Uint8),
        _ => return None,
    })
}

/// A new image. `size` is (height, width), as in the array. Without `values`, the image may hold
/// every value that its mode allows.
pub(super) fn new_image(
    cx: &mut Cx<'_, '_>,
    mode: Option<&str>,
    size: Option<(Dim, Dim)>,
    values: Option<(Range, Role)>,
) -> Value {
    let at = cx.at();
    let layout = mode.and_then(layout);
    let mut facts = array(None, layout.map(|l| l.1), at);
    if let (Some((channels, _)), (height, width)) = (layout, size.clone().unwrap_or((Dim::UNKNOWN, Dim::UNKNOWN))) {
        let mut shape = vec![height, width];
        shape.extend(channels.map(|n| Dim::new(Size::Int(n), at)));
        facts.shape = Some(shape);
    }
    match values {
        Some((range, role)) => facts = facts.with_range(Some(range), at).with_role(Some(role), at),
        None => {
            let range = layout.and_then(|l| l.1.bounds()).map(|(lo, hi)| Range::bounds(lo, hi));
            // If a program reads palette indices as numbers, they are assumed to be class ids.
            let role = if mode == Some("P") { Role::ClassMask } else { Role::Image };
            facts = facts.with_range(range, at).with_role(Some(role), at);
        }
    }
    let size = match size {
        Some((height, width)) => Value::tuple(vec![Value::size(&width.size), Value::size(&height.size)]),
        None => Value::tuple(vec![Value::Any(Type::Int), Value::Any(Type::Int)]),
    };
    let mode = mode.map_or(Value::Any(Type::Str), Value::str);
    image_of(cx, mode, size, facts)
}

fn image_of(cx: &mut Cx<'_, '_>, mode: Value, size: Value, facts: Tensor) -> Value {
    // The contract helper `role` reads this attribute of an image.
    let role = facts.role.map_or(Value::Unknown, |r| Value::str(r.name()));
    let facts = cx.out(facts);
    instance(cx, IMAGE, vec![("mode", mode), ("size", size), ("role", role), (ARRAY, facts)])
}

pub(super) fn is_image(cx: &Cx<'_, '_>, value: &Value) -> bool {
    cx.it.heap.instance_of(value).is_some_and(|i| i.class.as_path() == Some(IMAGE))
}

fn array_of(cx: &Cx<'_, '_>, image: &Value) -> Option<Tensor> {
    is_image(cx, image).then(|| cx.tensor(&cx.attr(image, ARRAY))).flatten()
}

/// The result of `np.array(image)`; `None` if the value is not an image.
pub(super) fn as_array(cx: &mut Cx<'_, '_>, image: &Value) -> Option<Tensor> {
    array_of(cx, image)
}

/// The height and width of an image.
pub(super) fn hw(cx: &Cx<'_, '_>, image: &Value) -> Option<(Dim, Dim)> {
    if let Some([height, width, ..]) = array_of(cx, image)?.shape.as_deref() {
        return Some((height.clone(), width.clone()));
    }
    let size = cx.items(&cx.attr(image, "size"))?;
    match size.as_slice() {
        [width, height] => Some((Dim::new(height.as_size()?, None), Dim::new(width.as_size()?, None))),
        _ => None,
    }
}

/// A `(width, height)` argument as (height, width).
fn size_arg(cx: &Cx<'_, '_>, value: &Value) -> Option<(Dim, Dim)> {
    let at = cx.at();
    match cx.items(value)?.as_slice() {
        [width, height] => Some((Dim::new(cx.size_of(height), at), Dim::new(cx.size_of(width), at))),
        _ => None,
    }
}

/// The history of an image or tensor after a resize with this interpolation.
pub(super) fn past_of(cx: &Cx<'_, '_>, image: &Value, interpolation: &Value) -> Past {
    let mode = cx.attr(image, "mode");
    let Some(facts) = cx.tensor(image).or_else(|| array_of(cx, image)) else { return Past::default() };
    // Pillow never interpolates palette images, and an image from a file may be one.
    let mixes = !is_image(cx, image)
        || match &mode {
            Value::Str(mode) => mixes(mode),
            Value::Among(modes) => modes.texts.iter().all(|mode| mixes(mode)),
            _ => false,
        };
    match is_nearest(interpolation) {
        Some(true) => facts.past,
        Some(false) if mixes => facts.interpolated(cx.at()),
        Some(false) if mode.as_str().is_some() => facts.past,
        _ => Past::default(),
    }
}

/// Whether Pillow can interpolate images of this mode. It resizes the others with nearest
/// neighbour.
fn mixes(mode: &str) -> bool {
    !matches!(mode, "1" | "P")
}

/// The history of an image or tensor.
pub(super) fn past(cx: &Cx<'_, '_>, image: &Value) -> Past {
    cx.tensor(image).or_else(|| array_of(cx, image)).map(|facts| facts.past).unwrap_or_default()
}

/// Sets the history of a new image or tensor.
pub(super) fn set_past(cx: &mut Cx<'_, '_>, made: &Value, past: Past) {
    let facts = if is_image(cx, made) { cx.attr(made, ARRAY) } else { made.clone() };
    if let Some(id) = facts.as_obj() {
        cx.it.heap.update_tensor(id, |t| t.past = past);
    }
}

/// Notes that a new image or tensor of unknown range contains this value.
pub(super) fn meet(cx: &mut Cx<'_, '_>, made: &Value, value: f64) {
    let facts = if is_image(cx, made) { cx.attr(made, ARRAY) } else { made.clone() };
    let at = cx.at();
    if let Some(id) = facts.as_obj() {
        cx.it.heap.update_tensor(id, |t| {
            if t.range.is_none() {
                t.range = Some(Range::anything_and(value, true));
                t.range_at = at;
            }
        });
    }
}

/// A new image with this height and width. `values` maps the range; if the new range is unknown,
/// the image is no longer a class mask.
pub(super) fn with_size(
    cx: &mut Cx<'_, '_>,
    image: &Value,
    size: Option<(Dim, Dim)>,
    values: impl FnOnce(Range) -> Option<Range>,
) -> Value {
    let Some(mut facts) = array_of(cx, image) else { return Value::Unknown };
    let mode = cx.attr(image, "mode");
    let (height, width) = size.unwrap_or((Dim::UNKNOWN, Dim::UNKNOWN));
    if let Some([h, w, ..]) = facts.shape.as_deref_mut() {
        *h = height.clone();
        *w = width.clone();
    }
    facts.shape_at = cx.at();
    facts.range = facts.range.and_then(values);
    facts.data = None;
    if facts.range.is_none() && facts.role == Some(Role::ClassMask) {
        facts.role = None;
    }
    let size = Value::tuple(vec![Value::size(&width.size), Value::size(&height.size)]);
    image_of(cx, mode, size, facts)
}

fn convert(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let image = b.get("self");
    let size = hw(cx, &image);
    let mode = b.get("mode");
    let (from, to) = (cx.attr(&image, "mode"), mode.as_str());
    // The role is kept only if the conversion does not change the numbers. A conversion of palette
    // indices to another mode gives colours.
    let kept = match (from.as_str(), to) {
        (Some(from), Some(to)) => from == to || matches!((from, to), ("L", "I" | "F")),
        _ => false,
    };
    let facts = array_of(cx, &image).filter(|_| kept);
    let mut past = facts.as_ref().map(|f| f.past).unwrap_or_default();
    if from.as_str() == Some("P") && to.is_some_and(|to| to != "P" && to != "PA") {
        past.recoloured = cx.at();
    }
    let out = new_image(cx, to, size, facts.and_then(|f| f.range.zip(f.role)));
    set_past(cx, &out, past);
    out
}

/// Whether an argument selects the interpolation that creates no new values: nearest neighbour.
pub(super) fn is_nearest(resample: &Value) -> Option<bool> {
    match resample {
        Value::Int(n) => Some(*n == 0),
        Value::Path(p) => Some(p.as_str().rsplit('.').next().is_some_and(|n| n.starts_with("NEAREST"))),
        Value::Str(name) => Some(name.starts_with("nearest")),
        Value::None => Some(false),
        _ => None,
    }
}

/// A range after interpolation; `None` if the interpolation is unknown or can overshoot.
pub(super) fn mixed(range: &Range, resample: &Value) -> Option<Range> {
    match is_nearest(resample) {
        Some(true) => Some(part_of(range.clone())),
        Some(false) => {
            let overshoots = match resample {
                Value::Int(n) => !matches!(n, 2 | 4),
                Value::Path(p) => !p.as_str().ends_with("BILINEAR") && !p.as_str().ends_with("BOX"),
                Value::Str(name) => !matches!(&**name, "bilinear" | "box"),
                _ => true,
            };
            (!overshoots).then(|| Range::bounds(range.lo(), range.hi()))
        }
        None => None,
    }
}

fn resize(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let image = b.get("input");
    let size = size_arg(cx, &b.get("size"));
    let mode = cx.attr(&image, "mode");
    // Pillow always resizes these modes with nearest neighbour.
    let whole = matches!(mode.as_str(), Some("1" | "P"));
    let resample = b.get("resample");
    let bounds = array_of(cx, &image).and_then(|f| f.dtype).and_then(Dtype::bounds);
    let past = past_of(cx, &image, &resample);
    let out = with_size(cx, &image, size, |r| {
        if whole {
            return Some(part_of(r));
        }
        mixed(&r, &resample).or_else(|| bounds.map(|(lo, hi)| Range::bounds(lo, hi)))
    });
    set_past(cx, &out, past);
    out
}

fn from_array(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let value = b.get("obj");
    let facts = numpy::as_array(cx, &value);
    let given = b.get("mode");
    let natural = facts.as_ref().and_then(|f| {
        let shape = f.shape.as_deref()?;
        Some(match (f.dtype?, shape) {
            (Dtype::Uint8, [_, _]) => "L",
            (Dtype::Bool, [_, _]) => "1",
            (Dtype::Int32, [_, _]) => "I",
            (Dtype::Float32, [_, _]) => "F",
            (Dtype::Uint16, [_, _]) => "I;16",
            (Dtype::Uint8, [_, _, c]) => match c.size.known()? {
                2 => "LA",
                3 => "RGB",
                4 => "RGBA",
                _ => return None,
            },
            _ => return None,
        })
    });
    let mode = if given.is_none() { natural } else { given.as_str() };
    let size = match facts.as_ref().and_then(|f| f.shape.as_deref()) {
        Some([h, w, ..]) => Some((h.clone(), w.clone())),
        _ => None,
    };
    let past = facts.as_ref().map(|f| f.past).unwrap_or_default();
    let is_bytes = facts.as_ref().is_some_and(|f| f.dtype == Some(Dtype::Uint8));
    let values = facts.and_then(|f| {
        let classes =
            f.rank() == Some(2) && f.dtype.is_some_and(Dtype::is_integral) && f.range.as_ref().is_some_and(are_classes);
        let role = f.role.unwrap_or(if classes { Role::ClassMask } else { Role::Image });
        Some((f.range?, role))
    });
    let out = new_image(cx, mode, size, values);
    if let Some(id) = out.as_obj().filter(|_| mode.is_none() && given.is_none() && is_bytes) {
        // The mode depends on the unknown shape of the array. The image has no palette, and its
        // values are bytes.
        if let Some(facts) = cx.attr(&out, ARRAY).as_obj() {
            let at = cx.at();
            cx.it.heap.update_tensor(facts, |t| (t.dtype, t.dtype_at) = (Some(Dtype::Uint8), at));
        }
        let modes = texts_of(&["L", "LA", "RGB", "RGBA"].map(Value::str)).unwrap_or(Value::Any(Type::Str));
        cx.it.heap.set_attr(id, "mode", modes);
    }
    set_past(cx, &out, past);
    out
}

/// Whether the integers of a range look like class ids rather than brightness values. This is so if
/// both bounds are known to occur, and if the range without 255 (often a void label) goes from 0 to
/// a number between 2 and 200.
pub(super) fn are_classes(range: &Range) -> bool {
    let ids = range.without(255.0);
    range.attained && ids.is_some_and(|r| r.lo() == 0.0 && (2.0..=200.0).contains(&r.hi()))
}

/// Drawing adds the values of `fill` and `outline` to the range.
fn draw(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let image = cx.attr(&b.get("self"), "im");
    let Some(mut facts) = array_of(cx, &image) else { return Value::None };
    let mut added = Vec::new();
    for name in ["fill", "outline"] {
        match b.get(name) {
            Value::None => {}
            other => added.push(other.as_f64()),
        }
    }
    // Colours that are passed by position, and text with anti-aliased edges, are not modelled.
    let plain = b.rest.len() <= 1 && cx.name() != "text" && !b.open;
    let added: Option<Vec<f64>> = added.into_iter().collect();
    facts.range = match (facts.range, added.filter(|_| plain)) {
        (Some(range), Some(added)) if !added.is_empty() => {
            Range::of_values(&added).map(|more| part_of(range.union(&more)))
        }
        _ => None,
    };
    facts.data = None;
    if facts.role == Some(Role::ClassMask) && facts.range.is_none() {
        facts.role = None;
    }
    let facts = cx.out(facts);
    if let Some(id) = image.as_obj() {
        cx.it.heap.set_attr(id, ARRAY, facts);
    }
    Value::None
}

fn attribute(cx: &mut Cx<'_, '_>, object: &Value, name: Sym) -> Option<Value> {
    let at: Origin = None;
    let (height, width) = hw(cx, object).unwrap_or((Dim::new(Size::Unknown, at), Dim::UNKNOWN));
    Some(match name.as_str() {
        "height" => Value::size(&height.size),
        "width" => Value::size(&width.size),
        "format" | "info" | "palette" | "filename" => Value::Unknown,
        _ => return None,
    })
}
