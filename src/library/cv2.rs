//! OpenCV: images are NumPy arrays of height × width, but sizes in arguments are (width, height).

use super::common::{array, none, part_of, unknown};
use super::table::Constant;
use super::{Cx, Table};
use crate::python::{Bound, Event};
use crate::value::{Dim, Dtype, Origin, Past, Range, Role, Size, Tensor, Type, Value};

const CONSTANTS: &str = "\
    BORDER_CONSTANT=0 BORDER_DEFAULT=4 BORDER_REFLECT=2 BORDER_REFLECT101=4 BORDER_REFLECT_101=4 BORDER_REPLICATE=1 \
    BORDER_WRAP=3 IMREAD_ANYCOLOR=4 IMREAD_ANYDEPTH=2 IMREAD_COLOR=1 IMREAD_COLOR_BGR=1 IMREAD_COLOR_RGB=256 \
    IMREAD_GRAYSCALE=0 IMREAD_UNCHANGED=-1 INTER_AREA=3 INTER_CUBIC=2 INTER_LANCZOS4=4 INTER_LINEAR=1 \
    INTER_LINEAR_EXACT=5 INTER_NEAREST=0 INTER_NEAREST_EXACT=6 ROTATE_180=1 ROTATE_90_CLOCKWISE=0 \
    ROTATE_90_COUNTERCLOCKWISE=2 THRESH_BINARY=0 THRESH_BINARY_INV=1 THRESH_TRUNC=2 THRESH_TOZERO=3 \
    THRESH_TOZERO_INV=4 THRESH_OTSU=8 THRESH_TRIANGLE=16 \
    COLOR_BGR2BGRA=0 COLOR_RGB2RGBA=0 COLOR_BGRA2BGR=1 COLOR_RGBA2RGB=1 COLOR_BGR2RGBA=2 COLOR_RGB2BGRA=2 \
    COLOR_RGBA2BGR=3 COLOR_BGRA2RGB=3 COLOR_BGR2RGB=4 COLOR_RGB2BGR=4 COLOR_BGRA2RGBA=5 COLOR_RGBA2BGRA=5 \
    COLOR_BGR2GRAY=6 COLOR_RGB2GRAY=7 COLOR_GRAY2BGR=8 COLOR_GRAY2RGB=8 COLOR_GRAY2BGRA=9 COLOR_GRAY2RGBA=9 \
    COLOR_BGRA2GRAY=10 COLOR_RGBA2GRAY=11 COLOR_BGR2XYZ=32 COLOR_RGB2XYZ=33 COLOR_BGR2YCrCb=36 COLOR_BGR2YCR_CB=36 \
    COLOR_RGB2YCrCb=37 COLOR_YCrCb2BGR=38 COLOR_YCrCb2RGB=39 COLOR_BGR2HSV=40 COLOR_RGB2HSV=41 COLOR_BGR2LAB=44 \
    COLOR_BGR2Lab=44 COLOR_RGB2LAB=45 COLOR_RGB2Lab=45 COLOR_BGR2HLS=52 COLOR_RGB2HLS=53 COLOR_HSV2BGR=54 \
    COLOR_HSV2RGB=55 COLOR_LAB2BGR=56 COLOR_Lab2BGR=56 COLOR_LAB2RGB=57 COLOR_Lab2RGB=57 COLOR_HLS2BGR=60 COLOR_HLS2RGB=61";

pub(super) fn register(t: &mut Table) {
    for constant in CONSTANTS.split_whitespace() {
        if let Some((name, value)) = constant.split_once('=')
            && let Ok(value) = value.parse()
        {
            t.constant(&format!("cv2.{name}"), Constant::Int(value));
        }
    }
    t.def("cv2.imread", "filename, flags=1", read);
    t.def("cv2.imdecode", "buf, flags", read);
    t.def("cv2.resize", "src, dsize, dst=None, fx=0, fy=0, interpolation=1", resize);
    t.def("cv2.cvtColor", "src, code, dst=None, dstCn=0, **kwargs", convert);
    t.def("cv2.threshold", "src, thresh, maxval, type, dst=None", threshold);
    t.family(
        "cv2.",
        "flip GaussianBlur medianBlur blur bilateralFilter filter2D normalize equalizeHist bitwise_not \
                      erode dilate morphologyEx Canny addWeighted convertScaleAbs",
        "src, *args, **kwargs",
        same_size,
    );
    t.def("cv2.warpAffine", "src, M, dsize, dst=None, flags=1, *args, **kwargs", warp);
    t.def("cv2.warpPerspective", "src, M, dsize, dst=None, flags=1, *args, **kwargs", warp);
    t.def("cv2.copyMakeBorder", "src, top, bottom, left, right, borderType, dst=None, value=None", border);
    t.family("cv2.", "imwrite", "*args, **kwargs", |_, _| Value::Any(Type::Bool));
    t.family("cv2.", "imshow destroyAllWindows setNumThreads", "*args, **kwargs", none);
    for (names, sig) in [
        ("circle", "img, center, radius, color, *args, **kwargs"),
        ("rectangle line arrowedLine", "img, pt1, pt2, color, *args, **kwargs"),
        ("ellipse", "img, center, axes, angle, startAngle, endAngle, color, *args, **kwargs"),
        ("fillPoly fillConvexPoly", "img, pts, color, *args, **kwargs"),
        ("polylines", "img, pts, isClosed, color, *args, **kwargs"),
        ("drawContours", "img, contours, contourIdx, color, *args, **kwargs"),
        ("putText", "img, text, org, fontFace, fontScale, color, *args, **kwargs"),
    ] {
        t.family("cv2.", names, sig, draw);
    }
    t.family("cv2.ocl.", "setUseOpenCL", "flag", none);
    t.family(
        "cv2.",
        "split merge rotate transpose findContours connectedComponents VideoCapture",
        "*args, **kwargs",
        unknown,
    );
}

fn read(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let at = cx.at();
    let mut shape = vec![cx.fresh_dim("H"), cx.fresh_dim("W")];
    let known = match b.get("flags").as_int() {
        Some(0) => true,
        Some(1 | 256) => {
            shape.push(Dim::new(Size::Int(3), at));
            true
        }
        _ => false,
    };
    let mut out = array(None, known.then_some(Dtype::Uint8), at).with_role(Some(Role::Image), at);
    if known {
        out.shape = Some(shape);
        out = out.with_range(Some(Range::bounds(0.0, 255.0)), at);
    }
    cx.out(out)
}

/// The facts of the image `src`, prepared for a result that is a new array. `None` if `src` is not
/// known to be an array.
fn source(cx: &mut Cx<'_, '_>, b: &Bound) -> Option<Tensor> {
    let value = b.get("src");
    let mut out = cx.is_numpy(&value).then(|| cx.tensor(&value)).flatten()?;
    out.base = None;
    out.version = 0;
    out.writes = 0;
    out.data = None;
    Some(out)
}

/// A result with the shape of `src`. It has no channel dimension if `src` has one channel.
fn picture(cx: &mut Cx<'_, '_>, b: &Bound) -> Option<Tensor> {
    let mut out = source(cx, b)?;
    match out.shape.as_deref().and_then(|shape| shape.get(2)).map(|channels| channels.size.known()) {
        Some(Some(1)) => out.shape.iter_mut().for_each(|shape| shape.truncate(2)),
        Some(None) => out.shape = None,
        _ => {}
    }
    Some(out)
}

/// Replaces the height and width of an image.
fn with_sides(cx: &Cx<'_, '_>, out: &mut Tensor, height: Size, width: Size) {
    let at = cx.at();
    let Some(shape) = out.shape.as_mut() else { return };
    if let [h, w, ..] = shape.as_mut_slice() {
        *h = Dim::new(height, at);
        *w = Dim::new(width, at);
    }
    out.shape_at = at;
}

/// A `(width, height)` argument as (height, width).
fn dsize(cx: &Cx<'_, '_>, value: &Value) -> Option<(Size, Size)> {
    match cx.items(value)?.as_slice() {
        // With `(0, 0)`, the factors `fx` and `fy` decide.
        [width, height] if [width, height].iter().all(|side| side.as_int() != Some(0)) => {
            Some((cx.size_of(height), cx.size_of(width)))
        }
        _ => None,
    }
}

/// OpenCV ignores a number or a tuple that is passed as the array for the result: in
/// `resize(src, dsize, INTER_NEAREST)`, the third parameter is `dst`, so the interpolation is linear.
fn check_result_array(cx: &mut Cx<'_, '_>, b: &Bound, own: &str) {
    let is_array = |value: &Value| value.number_type().is_none() && !matches!(value, Value::Tuple(_));
    if let Some(arg) = b.arg("dst").filter(|arg| !is_array(&arg.value)) {
        cx.it.event(Event::Misplaced { own, other: "dst", span: arg.span });
    }
}

fn resize(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    check_result_array(cx, b, "interpolation");
    let Some(mut out) = picture(cx, b) else { return Value::Unknown };
    let (height, width) = dsize(cx, &b.get("dsize")).unwrap_or((Size::Unknown, Size::Unknown));
    with_sides(cx, &mut out, height, width);
    mix(&mut out, &b.get("interpolation"), cx.at());
    cx.out(out)
}

/// Updates the range, the role and the history of the values after interpolation.
fn mix(out: &mut Tensor, interpolation: &Value, at: Origin) {
    out.past = match interpolation.as_int() {
        Some(0 | 6) => out.past,
        Some(_) => out.interpolated(at),
        None => Past::default(),
    };
    match interpolation.as_int() {
        Some(0 | 6) => out.range = out.range.take().map(part_of),
        // Linear and area interpolation do not leave the range of the input; cubic and
        // Lanczos interpolation overshoot.
        Some(1 | 3 | 5) => out.range = out.range.as_ref().map(|r| Range::bounds(r.lo(), r.hi())),
        _ => out.range = out.dtype.and_then(Dtype::bounds).map(|(lo, hi)| Range::bounds(lo, hi)),
    }
    if !matches!(interpolation.as_int(), Some(0 | 6)) && out.role == Some(Role::ClassMask) {
        out.role = None;
    }
}

fn warp(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    check_result_array(cx, b, "flags");
    let Some(mut out) = picture(cx, b) else { return Value::Unknown };
    let (height, width) = dsize(cx, &b.get("dsize")).unwrap_or((Size::Unknown, Size::Unknown));
    with_sides(cx, &mut out, height, width);
    // The higher bits of `flags` have nothing to do with the interpolation.
    out.past = match b.get("flags").as_int().map(|flags| flags & 7) {
        Some(0 | 6) => out.past,
        Some(_) => out.interpolated(cx.at()),
        None => Past::default(),
    };
    out.range = None;
    if out.role == Some(Role::ClassMask) {
        out.role = None;
    }
    cx.out(out)
}

fn convert(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(mut out) = source(cx, b) else { return Value::Unknown };
    let at = cx.at();
    let channels = match b.get("code").as_int() {
        Some(6 | 7 | 10 | 11) => Some(None),
        Some(0 | 2 | 5 | 9) => Some(Some(4)),
        Some(1 | 3 | 4 | 8 | 32..=45 | 52..=57 | 60 | 61) => Some(Some(3)),
        _ => None,
    };
    let keep = out.dtype == Some(Dtype::Uint8);
    out.forget_values();
    out.role = Some(Role::Image);
    if keep {
        out = out.with_range(Some(Range::bounds(0.0, 255.0)), at);
    }
    out.shape = match (out.shape.take(), channels) {
        (Some(dims), Some(channels)) => {
            let mut dims: Vec<Dim> = dims.into_iter().take(2).collect();
            dims.extend(channels.map(|n| Dim::new(Size::Int(n), at)));
            Some(dims)
        }
        _ => None,
    };
    cx.out(out)
}

fn threshold(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(mut out) = picture(cx, b) else {
        return Value::tuple(vec![Value::Any(Type::Float), Value::Unknown]);
    };
    out.forget_values();
    let at = cx.at();
    // The lower bits select how values are mapped; the higher bits select how the threshold is
    // found.
    if let (Some(kind), Some(most)) = (b.get("type").as_int(), b.get("maxval").as_f64())
        && matches!(kind & 7, 0 | 1)
    {
        let range = Range::bounds(0.0, 0.0).union(&Range::bounds(most, most));
        out = out.with_range(Some(range), at);
    }
    let out = cx.out(out);
    Value::tuple(vec![Value::Any(Type::Float), out])
}

fn same_size(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(mut out) = picture(cx, b) else { return Value::Unknown };
    if cx.name() != "flip" {
        let (range, role) = (out.dtype.and_then(Dtype::bounds), out.role);
        out.forget_values();
        out.range = range.map(|(lo, hi)| Range::bounds(lo, hi));
        out.role = role.filter(|r| *r == Role::Image);
        // A parameter can select the depth or the range of the result.
        if matches!(cx.name(), "normalize" | "filter2D" | "Canny" | "addWeighted" | "convertScaleAbs") {
            out.dtype = None;
            out.range = None;
            if cx.name() == "Canny" {
                // The result has one channel, regardless of the input.
                out.shape = out.shape.map(|dims| dims.into_iter().take(2).collect());
                out.dtype = Some(Dtype::Uint8);
            }
        }
    }
    cx.out(out)
}

/// Models the drawing functions: they draw into the array itself and return it.
fn draw(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let image = b.get("img");
    let (Some(id), Some(mut out)) = (image.as_obj(), cx.tensor(&image)) else { return Value::Unknown };
    let color = match (b.get("color"), cx.items(&b.get("color"))) {
        (_, Some(channels)) => channels.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>(),
        (one, None) => one.as_f64().map(|x| vec![x]),
    };
    // The drawn shape may be outside the image, and anti-aliased edges have intermediate values.
    let plain = b.rest.iter().all(|arg| !matches!(arg.value.as_int(), Some(16)));
    let (before, role) = (out.range.take(), out.role);
    out.forget_values();
    out.range = match (before, color.and_then(|c| Range::of_values(&c)).filter(|_| plain && !b.open)) {
        (Some(range), Some(drawn)) => Some(range.union(&drawn).of_part()),
        _ => None,
    };
    (out.range_at, out.role) = (cx.at(), role.filter(|r| *r == Role::Image));
    cx.it.heap.overwrite(id, out);
    image
}

fn border(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    check_result_array(cx, b, "value");
    let Some(mut out) = picture(cx, b) else { return Value::Unknown };
    let at = cx.at();
    let size = |name: &str| b.get(name).as_size().unwrap_or(Size::Unknown);
    if let Some([h, w, ..]) = out.shape.as_deref_mut() {
        *h = Dim::new(h.size.add(&size("top")).add(&size("bottom")), at);
        *w = Dim::new(w.size.add(&size("left")).add(&size("right")), at);
    }
    let constant = matches!(b.get("borderType"), Value::Int(0))
        || b.get("borderType").as_path().is_some_and(|p| p.ends_with("BORDER_CONSTANT"));
    let value = if b.get("value").is_none() { Some(0.0) } else { b.get("value").as_f64() };
    let grows = ["top", "bottom", "left", "right"].iter().any(|n| size(n).known().is_some_and(|n| n > 0));
    out.range = match (out.range, value.filter(|_| constant && grows)) {
        (Some(range), Some(fill)) => Range::of_values(&[fill]).map(|fill| range.union(&fill)),
        (None, Some(fill)) => Some(Range::anything_and(fill, true)),
        _ => None,
    };
    cx.out(out)
}
