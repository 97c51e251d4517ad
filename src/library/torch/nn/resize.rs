//! Resizing, padding and rearranging of images and sequences.

use super::device;
use super::facts::{
    check_rank, dim_read, floor_div, length_read, like, per_dim, resized, result, shape_read, shape_text, windows,
};
use crate::library::torch::cast::cast_value;
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, Past, Range, Role, Size, Tensor, Value, counted};

pub(crate) fn register(t: &mut Table) {
    let f = "torch.nn.functional.";
    t.listed(f, "interpolate", interpolate);
    t.listed(f, "upsample", interpolate);
    t.listed(f, "upsample_nearest upsample_bilinear", interpolate);
    t.listed(f, "pad", pad);
    t.listed(f, "pixel_shuffle", pixel_shuffle);
    t.listed(f, "pixel_unshuffle", pixel_unshuffle);
    t.listed(f, "channel_shuffle native_channel_shuffle", channel_shuffle);
    t.def("torch.constant_pad_nd", "input, pad, value=0, *, mode='constant'", pad);
    for name in ["torch.grid_sampler", "torch.grid_sampler_2d", "torch.grid_sampler_3d"] {
        t.listed("", name, grid_sample);
    }
    t.listed(f, "unfold", unfold);
    t.listed(f, "fold", fold);
    t.listed(f, "grid_sample", grid_sample);
    t.listed(f, "affine_grid", affine_grid);
    for name in ["pixel_shuffle", "pixel_unshuffle", "channel_shuffle"] {
        t.alias(&format!("torch.{name}"), &format!("{f}{name}"));
    }
}

/// The ranks that an interpolation mode accepts.
fn ranks_of(mode: &str) -> Option<&'static [usize]> {
    Some(match mode {
        "nearest" | "area" | "nearest-exact" => &[3, 4, 5],
        "linear" => &[3],
        "bilinear" | "bicubic" => &[4],
        "trilinear" => &[5],
        _ => return None,
    })
}

fn interpolate(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let given = b.get("mode");
    let mode = match cx.name() {
        "upsample_nearest" => Some("nearest"),
        "upsample_bilinear" => Some("bilinear"),
        _ => given.as_str(),
    };
    if let Some(ranks) = mode.and_then(ranks_of)
        && !check_rank(cx, "input", &input, ranks)
    {
        return cx.some_tensor();
    }
    check_interpolated(cx, &input, mode);
    let (size, scale) = (b.get("size"), b.get("scale_factor"));
    if size.is_none() && scale.is_none() {
        cx.reject(RejectKind::Value, "neither size nor scale_factor is given: interpolate needs one", vec![]);
    }
    let known = |v: &Value| !v.is_none() && !v.is_unknown();
    if known(&size) && known(&scale) {
        cx.reject(RejectKind::Value, "size and scale_factor are both given: interpolate takes one", vec![]);
    }
    let shape = interpolated(cx, &input, &size, &scale);
    let mut out = like(cx, &input);
    out.shape = shape;
    out.shape_at = cx.at();
    out.past = match mode {
        Some("nearest" | "nearest-exact") => input.past,
        Some(_) => input.interpolated(cx.at()),
        None => Past::default(),
    };
    match mode {
        // Every output element is an input element.
        Some("nearest" | "nearest-exact") => {
            out.range.clone_from(&input.range);
            out.range_at = input.range_at;
            out.role = input.role;
            out.role_at = input.role_at;
        }
        // A mask of many classes keeps its role after interpolation, so that a contract can report
        // the interpolation, but its range becomes unknown.
        _ => {
            out.role = input.role.filter(|r| *r == Role::Image || input.holds_many_classes());
            out.role_at = input.role_at;
        }
    }
    cx.out(out)
}

fn check_interpolated(cx: &mut Cx<'_, '_>, input: &Tensor, mode: Option<&str>) {
    let Some(dtype) = input.dtype.filter(|d| d.is_integral()) else { return };
    if dtype != Dtype::Uint8 || mode == Some("area") {
        let takes = match mode {
            Some("area") => "interpolate with mode=\"area\" takes only floating-point tensors",
            _ => "interpolate takes floating-point tensors, or uint8 in some modes",
        };
        let message = format!("`input` is {dtype}: {takes}");
        cx.reject(RejectKind::Dtype, message, vec![(format!("`input` gets dtype {dtype} here"), input.dtype_at)]);
    }
}

fn interpolated(cx: &mut Cx<'_, '_>, input: &Tensor, size: &Value, scale: &Value) -> Option<Vec<Dim>> {
    let dims = input.shape.as_ref()?;
    let (lead, space) = (dims.get(..2)?, dims.get(2..)?);
    let mut out = lead.to_vec();
    let unknown = size.is_unknown() || (size.is_none() && scale.is_unknown());
    if unknown {
        out.extend(space.iter().map(|_| Dim::UNKNOWN));
        return Some(out);
    }
    if !size.is_none() {
        if let Some(items) = cx.items(size)
            && items.len() != space.len()
        {
            let message = format!(
                "size has {}, but `input` {} has {}",
                counted(items.len(), "number"),
                shape_text(input),
                counted(space.len(), "spatial dimension")
            );
            cx.reject(RejectKind::Value, message, vec![shape_read("input", input)]);
        }
        let sizes = per_dim(cx, size, space.len());
        out.extend(space.iter().zip(sizes).map(|(dim, size)| resized(cx, dim, size)));
        return Some(out);
    }
    let factors = match cx.items(scale) {
        Some(items) if items.len() == space.len() => items,
        Some(items) if items.len() == 1 => vec![items.first().cloned().unwrap_or(Value::Unknown); space.len()],
        Some(_) => vec![Value::Unknown; space.len()],
        None => vec![scale.clone(); space.len()],
    };
    for (dim, factor) in space.iter().zip(factors) {
        let length = scaled(cx, &dim.size, &factor);
        out.push(resized(cx, dim, length));
    }
    Some(out)
}

/// `floor(length * factor)`.
fn scaled(cx: &mut Cx<'_, '_>, length: &Size, factor: &Value) -> Size {
    let Some(factor) = factor.as_f64().filter(|f| f.is_finite() && *f > 0.0) else { return Size::Unknown };
    #[expect(clippy::cast_possible_truncation, reason = "checked to be a small whole number")]
    let whole = |x: f64| (x.fract() == 0.0 && x < 1e9).then_some(x as i64);
    if let Some(k) = whole(factor) {
        return length.mul(&Size::Int(k));
    }
    if let Some(k) = whole(1.0 / factor) {
        return floor_div(cx, length, &Size::Int(k));
    }
    match length {
        #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "as PyTorch computes it")]
        Size::Int(n) => Size::Int((*n as f64 * factor).floor() as i64),
        _ => Size::Unknown,
    }
}

/// Padding, as pairs of numbers, from the last dimension to the first.
fn pad(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let mut out = like(cx, &input);
    out.shape_at = cx.at();
    let given = b.get("pad");
    let pads = cx.items(&given).map(|items| items.iter().map(|v| cx.size_of(v)).collect::<Vec<_>>());
    let (Some(pads), Some(dims)) = (pads, input.shape.clone()) else {
        out.shape = input.shape.as_ref().map(|dims| vec![Dim::UNKNOWN; dims.len()]);
        return cx.out(out);
    };
    if pads.len() % 2 != 0 || pads.len() > 2 * dims.len() {
        let message = format!(
            "pad has {}: it needs two for each padded dimension of `input` {}, starting with the last",
            counted(pads.len(), "number"),
            shape_text(&input)
        );
        cx.reject(RejectKind::Value, message, vec![shape_read("input", &input)]);
        return cx.some_tensor();
    }
    let mode = b.get("mode");
    let mut shape = dims.clone();
    for (pair, at) in pads.chunks_exact(2).zip((0..dims.len()).rev()) {
        let ([left, right], Some(slot)) = (pair, shape.get_mut(at)) else { continue };
        check_reflection(cx, &input, &mode, slot, [left, right]);
        let length = slot.size.add(left).add(right);
        *slot = resized(cx, slot, length);
    }
    out.shape = Some(shape);
    match mode.as_str() {
        Some("reflect" | "replicate" | "circular") => {
            out.range.clone_from(&input.range);
            out.range_at = input.range_at;
        }
        Some("constant") => {
            let value = b.get("value");
            let filled = if value.is_none() { Some(0.0) } else { value.as_f64() };
            // The fill value is cast to the tensor's dtype.
            let filled = filled.and_then(|x| cast_value(x, input.dtype?));
            let none = pads.iter().all(|p| p.known() == Some(0));
            let some = pads.iter().any(Size::is_positive) && !pads.iter().any(|p| p.known().is_none_or(|n| n < 0));
            out.range = match (&input.range, filled) {
                (Some(range), _) if none => Some(range.clone()),
                (Some(range), Some(fill)) if some => Range::of_values(&[fill]).map(|fill| range.union(&fill)),
                (Some(range), Some(fill)) => Some(range.union(&Range::bounds(fill, fill))),
                (None, Some(fill)) if some => Some(Range::anything_and(fill, true)),
                _ => None,
            };
            out.range_at = cx.at();
        }
        _ => {}
    }
    out.role = input.role.filter(|r| matches!(r, Role::ClassMask | Role::Image));
    out.role_at = input.role_at;
    cx.out(out)
}

/// Rejects reflection padding that is not smaller than the dimension, and circular padding that is
/// larger than the dimension.
fn check_reflection(cx: &mut Cx<'_, '_>, input: &Tensor, mode: &Value, dim: &Dim, pads: [&Size; 2]) {
    let least = match mode.as_str() {
        Some("reflect") => 1,
        Some("circular") => 0,
        _ => return,
    };
    let too_wide = pads.iter().find(|p| dim.size.less(&p.add(&Size::Int(least))) == Some(true));
    if let Some(width) = too_wide {
        let message = format!(
            "`input` is {}: a length of {} is too short for {} padding of {width}",
            shape_text(input),
            dim.size,
            mode.as_str().unwrap_or_default()
        );
        cx.reject(RejectKind::Shape, message, vec![length_read("input", dim)]);
    }
}

fn pixel_shuffle(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let factor = cx.size_of(&b.get("upscale_factor"));
    let square = factor.mul(&factor);
    let mut out = like(cx, &input);
    if let Some(dim) = input.dim(-3)
        && let (Size::Int(c), Size::Int(s)) = (&dim.size, &square)
        && *s > 0
        && c % s != 0
    {
        let message =
            format!("`input` is {}: its {} cannot be divided by {factor}²", shape_text(&input), counted(c, "channel"));
        cx.reject(RejectKind::Shape, message, vec![dim_read("input", "channel", dim)]);
    }
    out.shape = rearranged(cx, &input, |c, h, w| {
        (c.div_exact(&square).unwrap_or(Size::Unknown), h.mul(&factor), w.mul(&factor))
    });
    out.shape_at = cx.at();
    copy_values(&mut out, &input);
    cx.out(out)
}

fn pixel_unshuffle(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let factor = cx.size_of(&b.get("downscale_factor"));
    let mut out = like(cx, &input);
    out.shape = rearranged(cx, &input, |c, h, w| {
        let part = |s: &Size| s.div_exact(&factor).unwrap_or(Size::Unknown);
        (c.mul(&factor).mul(&factor), part(h), part(w))
    });
    out.shape_at = cx.at();
    copy_values(&mut out, &input);
    cx.out(out)
}

/// Copies the facts of the elements: the result has the elements of the input, in another order.
fn copy_values(out: &mut Tensor, input: &Tensor) {
    out.range.clone_from(&input.range);
    out.range_at = input.range_at;
    out.role = input.role;
    out.role_at = input.role_at;
    out.past = input.past;
}

/// The shape with new lengths for the last three dimensions.
fn rearranged(
    cx: &Cx<'_, '_>,
    input: &Tensor,
    change: impl Fn(&Size, &Size, &Size) -> (Size, Size, Size),
) -> Option<Vec<Dim>> {
    let mut dims = input.shape.clone()?;
    let from = dims.len().checked_sub(3)?;
    if let [c, h, w] = dims.get_mut(from..)? {
        let (new_c, new_h, new_w) = change(&c.size, &h.size, &w.size);
        *c = resized(cx, c, new_c);
        *h = resized(cx, h, new_h);
        *w = resized(cx, w, new_w);
    }
    Some(dims)
}

fn channel_shuffle(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    let mut out = like(cx, &input);
    copy_values(&mut out, &input);
    cx.out(out)
}

/// The number of positions of a sliding block in an image.
fn blocks(cx: &mut Cx<'_, '_>, b: &Bound, space: &[Size]) -> Size {
    let [kernel, dilation, padding, stride] =
        ["kernel_size", "dilation", "padding", "stride"].map(|name| per_dim(cx, &b.get(name), 2));
    let mut count = Size::Int(1);
    for (i, length) in space.iter().enumerate() {
        let at = |sizes: &[Size]| sizes.get(i).cloned().unwrap_or(Size::Unknown);
        let reach = at(&dilation).mul(&at(&kernel).sub(&Size::Int(1)));
        let span = length.add(&at(&padding).mul(&Size::Int(2))).sub(&reach).sub(&Size::Int(1));
        count = count.mul(&windows(cx, &span, &at(&stride)));
    }
    count
}

fn unfold(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    if !check_rank(cx, "input", &input, &[3, 4]) {
        return cx.some_tensor();
    }
    let mut out = like(cx, &input);
    out.shape_at = cx.at();
    if let Some(dims) = &input.shape
        && let [batch @ .., channels, height, width] = dims.as_slice()
    {
        let kernel = per_dim(cx, &b.get("kernel_size"), 2);
        let size = kernel.iter().fold(channels.size.clone(), |n, k| n.mul(k));
        let count = blocks(cx, b, &[height.size.clone(), width.size.clone()]);
        let mut shape = batch.to_vec();
        shape.push(Dim::new(size, cx.at()));
        shape.push(Dim::new(count, cx.at()));
        out.shape = Some(shape);
    }
    cx.out(out)
}

fn fold(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = cx.tensor_arg(b, "input") else { return cx.some_tensor() };
    if !check_rank(cx, "input", &input, &[2, 3]) {
        return cx.some_tensor();
    }
    let mut out = like(cx, &input);
    out.shape_at = cx.at();
    let space = per_dim(cx, &b.get("output_size"), 2);
    if let Some(dims) = &input.shape
        && let [batch @ .., channels, count] = dims.as_slice()
    {
        let wanted = blocks(cx, b, &space);
        if count.size.equals(&wanted) == Some(false) {
            let message =
                format!("`input` is {}: its last dimension must be {wanted}, the number of blocks", shape_text(&input));
            cx.reject(RejectKind::Shape, message, vec![dim_read("input", "block", count)]);
        }
        let kernel = per_dim(cx, &b.get("kernel_size"), 2);
        let area = kernel.iter().fold(Size::Int(1), |n, k| n.mul(k));
        let mut shape = batch.to_vec();
        shape.push(Dim::new(channels.size.div_exact(&area).unwrap_or(Size::Unknown), cx.at()));
        shape.extend(space.into_iter().map(|size| Dim::new(size, cx.at())));
        out.shape = Some(shape);
    }
    cx.out(out)
}

fn grid_sample(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (Some(input), Some(grid)) = (cx.tensor_arg(b, "input"), cx.tensor_arg(b, "grid")) else {
        return cx.some_tensor();
    };
    device::check(cx, &[("input", &input), ("grid", &grid)]);
    if !check_rank(cx, "input", &input, &[4, 5]) {
        return cx.some_tensor();
    }
    let shape = match (input.shape.as_deref(), grid.shape.as_deref()) {
        (Some([batch, channels, rest @ ..]), Some([_, space @ .., last])) if space.len() == rest.len() => {
            if let Ok(n) = i64::try_from(rest.len())
                && last.size.equals(&Size::Int(n)) == Some(false)
            {
                let message = format!("`grid` is {}: its last dimension must be {n}", shape_text(&grid));
                cx.reject(RejectKind::Shape, message, vec![length_read("grid", last)]);
            }
            let mut dims = vec![batch.clone(), channels.clone()];
            dims.extend(space.iter().cloned());
            Some(dims)
        }
        _ => None,
    };
    let mut out = result(cx, &[&input, &grid], shape, input.dtype);
    if b.get("mode").as_str() == Some("nearest") {
        // Elements from outside the image are zeros, or repeat elements of the image.
        out.past = input.past;
        out.role = input.role;
        out.role_at = input.role_at;
    } else if b.get("mode").as_str().is_some() {
        out.past = input.interpolated(cx.at());
    }
    cx.out(out)
}

fn affine_grid(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(theta) = cx.tensor_arg(b, "theta") else { return cx.some_tensor() };
    let size = cx.sizes(&[b.get("size")]);
    let shape = size.and_then(|size| {
        let space = size.get(2..)?;
        let mut dims = vec![Dim::new(size.first()?.clone(), cx.at())];
        dims.extend(space.iter().map(|s| Dim::new(s.clone(), cx.at())));
        dims.push(Dim::int(i64::try_from(space.len()).ok()?));
        Some(dims)
    });
    let dtype = theta.dtype;
    let out = result(cx, &[&theta], shape, dtype);
    cx.out(out)
}
