//! Functions that move pixels and fill empty areas: crops, borders, rotations, distortions.

use super::functional::{hw, interpolation_of, picture, rebuilt, size_pair};
use crate::library::common::part_of;
use crate::library::{Cx, pil};
use crate::python::Bound;
use crate::value::{Dim, Range, Size, Value};

/// Rotations, shears and distortions: pixels from outside the image are filled, by default with
/// zeros.
pub(super) fn warp(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let image = picture(b);
    let expands = b.takes("expand") && b.get("expand").as_bool() != Some(false);
    let size = hw(cx, &image).filter(|_| !expands && !b.open);
    let interpolation = interpolation_of(cx, b, &image);
    let fill = match (b.get("fill"), cx.items(&b.get("fill")).as_deref()) {
        (Value::None, _) => Some(0.0),
        (_, Some([one])) => one.as_f64(),
        (one, _) => one.as_f64(),
    };
    let past = pil::past_of(cx, &image, &interpolation);
    let out = rebuilt(cx, &image, size, |r| {
        let fill = fill?;
        if pil::is_nearest(&interpolation)? {
            return Some(beside(&r, fill));
        }
        pil::mixed(&r.union(&Range::bounds(fill, fill)), &interpolation)
    });
    pil::set_past(cx, &out, past);
    out
}

pub(super) fn center_crop(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let size = size_pair(cx, &b.get("output_size"));
    let (image, whole) = (picture(b), hw(cx, &picture(b)));
    // An image smaller than the crop is padded with zeros.
    let fits = match (&size, whole) {
        (Some((h, w)), Some((height, width))) => {
            height.size.less(&h.size) == Some(false) && width.size.less(&w.size) == Some(false)
        }
        _ => false,
    };
    rebuilt(cx, &image, size, |r| Some(if fits { part_of(r) } else { with_zero(&r) }))
}

/// The range after padding with zeros.
fn with_zero(range: &Range) -> Range {
    beside(range, 0.0)
}

pub(super) fn crop(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let at = cx.at();
    let dim = |name: &str| Some(Dim::new(b.get(name).as_size()?, at));
    let size = dim("height").zip(dim("width"));
    rebuilt(cx, &picture(b), size, |r| Some(with_zero(&r)))
}

pub(super) fn pad(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let at = cx.at();
    let padding = cx.ints(&b.get("padding"));
    // The order is left, top, right, bottom.
    let (across, down) = match padding.as_deref() {
        Some([all]) => (all.checked_mul(2), all.checked_mul(2)),
        Some([x, y]) => (x.checked_mul(2), y.checked_mul(2)),
        Some([left, top, right, bottom]) => (left.checked_add(*right), top.checked_add(*bottom)),
        _ => (None, None),
    };
    let size = match (hw(cx, &picture(b)), across, down) {
        (Some((h, w)), Some(across), Some(down)) => {
            Some((Dim::new(h.size.add(&Size::Int(down)), at), Dim::new(w.size.add(&Size::Int(across)), at)))
        }
        _ => None,
    };
    let fill = b.get("fill").as_f64().filter(|_| b.get("padding_mode").as_str() == Some("constant"));
    let grows = [across, down].iter().any(|n| n.is_some_and(|n| n > 0));
    filled(cx, &picture(b), size, fill, grows)
}

/// The image after some pixels may have been set to `fill`. If `some` is true, at least one pixel
/// was set.
fn filled(cx: &mut Cx<'_, '_>, image: &Value, size: Option<(Dim, Dim)>, fill: Option<f64>, some: bool) -> Value {
    let out = rebuilt(cx, image, size, |r| {
        let value = Range::of_values(&[fill?])?;
        Some(if some { r.union(&value) } else { beside(&r, fill?) })
    });
    if let Some(fill) = fill.filter(|_| some) {
        pil::meet(cx, &out, fill);
    }
    out
}

/// The range of values after `fill` may have replaced some of them.
fn beside(range: &Range, fill: f64) -> Range {
    let mut all = range.union(&Range::bounds(fill, fill));
    // Any old value may be gone, and the new value need not occur.
    (all.certain, all.met) = (false, None);
    all.attained = range.attained && range.lo() <= fill && range.hi() >= fill;
    all
}
