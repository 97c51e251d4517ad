//! Pooling and its inverses.

use super::conv::{PoolWindow, pooled};
use super::facts::{
    check_indices, check_least, check_least_rank, check_rank, length_read, like, per_dim, resized, shape_read,
    shape_text,
};
use super::layers::spatial;
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, Grad, Range, Size, Tensor, Value};

pub(crate) fn register(t: &mut Table) {
    let f = "torch.nn.functional.";
    t.listed(f, "max_pool1d max_pool2d max_pool3d", max_pool);
    t.listed(f, "max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices", max_pool);
    let torch_max = "input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False";
    t.family("torch.", "max_pool1d max_pool2d max_pool3d", torch_max, max_pool);
    let avg = "input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, \
               divisor_override=None";
    t.listed(f, "avg_pool2d avg_pool3d", avg_pool);
    t.family(f, "avg_pool1d", avg, avg_pool);
    t.alias("torch.avg_pool1d", "torch.nn.functional.avg_pool1d");
    t.listed(f, "lp_pool1d lp_pool2d lp_pool3d", lp_pool);
    t.listed(f, "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d", adaptive);
    t.alias("torch.adaptive_avg_pool1d", "torch.nn.functional.adaptive_avg_pool1d");
    t.listed(f, "adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d", adaptive);
    t.listed(f, "fractional_max_pool2d fractional_max_pool3d", fractional);
    t.listed(f, "max_unpool1d max_unpool2d max_unpool3d", unpool);
}

/// The input, after a check of its rank: an optional batch dimension, the channels, and `n` spatial
/// dimensions.
fn checked(cx: &mut Cx<'_, '_>, b: &Bound, n: usize) -> Option<Tensor> {
    let input = cx.tensor_arg(b, "input")?;
    check_rank(cx, "input", &input, &[n + 1, n + 2]).then_some(input)
}

/// Replaces the last `n` dimensions.
fn with_space(input: &Tensor, n: usize, space: Option<Vec<Dim>>) -> Option<Vec<Dim>> {
    let dims = input.shape.as_ref()?;
    let lead = dims.len().checked_sub(n)?;
    let mut out = dims.get(..lead)?.to_vec();
    out.extend(space.unwrap_or_else(|| vec![Dim::UNKNOWN; n]));
    Some(out)
}

/// The spatial lengths of the result.
fn pooled_space(cx: &mut Cx<'_, '_>, b: &Bound, input: &Tensor, n: usize) -> Option<Vec<Dim>> {
    for (name, least) in [("kernel_size", 1), ("stride", 1), ("dilation", 1), ("padding", 0)] {
        if b.takes(name) {
            check_least(cx, b, name, least);
        }
    }
    let kernels = per_dim(cx, &b.get("kernel_size"), n);
    let stride = b.get("stride");
    // `stride=None` and `stride=[]` mean the kernel size.
    let strides = match cx.items(&stride) {
        Some(items) if items.is_empty() => kernels.clone(),
        _ if stride.is_none() => kernels.clone(),
        _ => per_dim(cx, &stride, n),
    };
    let has = |name: &str| b.takes(name);
    let paddings = if has("padding") { per_dim(cx, &b.get("padding"), n) } else { vec![Size::Int(0); n] };
    let dilations = if has("dilation") { per_dim(cx, &b.get("dilation"), n) } else { vec![Size::Int(1); n] };
    let ceil = b.get("ceil_mode").as_bool();
    let dims = input.shape.as_ref()?;
    let lead = dims.len().checked_sub(n)?;
    let mut out = Vec::with_capacity(n);
    for (i, dim) in dims.get(lead..)?.iter().enumerate() {
        let at = |sizes: &[Size]| sizes.get(i).cloned().unwrap_or(Size::Unknown);
        let window =
            PoolWindow { kernel: at(&kernels), stride: at(&strides), padding: at(&paddings), dilation: at(&dilations) };
        // PyTorch compares with the kernel without its dilation.
        if let (Size::Int(k), Size::Int(p)) = (&window.kernel, &window.padding)
            && p.saturating_mul(2) > *k
        {
            let message = format!("padding is {p}: it must be at most half the kernel size, {k}");
            cx.reject(RejectKind::Value, message, vec![]);
            return None;
        }
        let length = pooled(cx, &dim.size, &window, ceil);
        if length.known().is_some_and(|n| n < 1) {
            let effective = window.dilation.mul(&window.kernel.sub(&Size::Int(1))).add(&Size::Int(1));
            let message = format!(
                "`input` is {}: a length of {} is too short for a window of {effective}",
                shape_text(input),
                dim.size,
            );
            cx.reject(RejectKind::Shape, message, vec![length_read("input", dim)]);
            return None;
        }
        out.push(resized(cx, dim, length));
    }
    Some(out)
}

/// The result, with the indices of the maxima if they are requested.
fn with_indices(cx: &mut Cx<'_, '_>, b: &Bound, out: Tensor) -> Value {
    let wanted = match cx.name().ends_with("_with_indices") {
        true => Some(true),
        false if b.sig.params.iter().all(|p| p.name.as_str() != "return_indices") => Some(false),
        false => b.get("return_indices").as_bool(),
    };
    match wanted {
        Some(false) => cx.out(out),
        Some(true) => {
            let mut indices = out.clone().with_dtype(Some(Dtype::Int64), cx.at());
            indices.forget_values();
            indices.grad = Grad::Off;
            indices.range = Some(Range::bounds(0.0, f64::INFINITY));
            cx.outs(vec![out, indices])
        }
        None => Value::Unknown,
    }
}

fn max_pool(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let n = spatial(cx.name());
    let Some(input) = checked(cx, b, n) else { return cx.some_tensor() };
    let space = pooled_space(cx, b, &input, n);
    let mut out = like(cx, &input);
    out.shape = with_space(&input, n, space);
    out.shape_at = cx.at();
    // Every output element is an input element.
    out.range = input.range.as_ref().map(|r| Range::bounds(r.lo(), r.hi()));
    out.range_at = input.range_at;
    with_indices(cx, b, out)
}

fn avg_pool(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let n = spatial(cx.name());
    let Some(input) = checked(cx, b, n) else { return cx.some_tensor() };
    let space = pooled_space(cx, b, &input, n);
    let mut out = like(cx, &input);
    out.shape = with_space(&input, n, space);
    out.shape_at = cx.at();
    cx.out(out)
}

fn lp_pool(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    avg_pool(cx, b)
}

/// Adaptive pooling. `None` in the output size keeps the length of that dimension.
fn adaptive(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let n = spatial(cx.name());
    let wanted = b.get("output_size");
    // If all output sizes are 1, the average in two or three dimensions is a mean over the last two
    // or three dimensions. The input may have any number of further dimensions before these, but
    // needs at least one such dimension if the sizes are given as a list. An unknown size may be 1.
    let sizes = cx.items(&wanted);
    let is_one = |size: &Value| size.as_int().is_none_or(|n| n == 1);
    let is_mean = matches!(cx.name(), "adaptive_avg_pool2d" | "adaptive_avg_pool3d")
        && sizes.as_ref().map_or_else(|| is_one(&wanted), |sizes| sizes.iter().all(is_one));
    let input = match is_mean {
        true => cx
            .tensor_arg(b, "input")
            .filter(|input| check_least_rank(cx, "input", input, n + usize::from(sizes.is_some()))),
        false => checked(cx, b, n),
    };
    let Some(input) = input else { return cx.some_tensor() };
    let per: Option<Vec<Value>> = match cx.items(&wanted) {
        Some(items) if items.len() == n => Some(items),
        Some(items) if items.len() == 1 => items.first().map(|one| vec![one.clone(); n]),
        Some(_) => None,
        None => Some(vec![wanted; n]),
    };
    check_least(cx, b, "output_size", 0);
    if let Some(dtype) = input.dtype.filter(|d| d.is_integral()) {
        let message = format!("`input` is {dtype}: {} takes floating-point tensors", cx.name());
        cx.reject(RejectKind::Dtype, message, vec![(format!("`input` gets dtype {dtype} here"), input.dtype_at)]);
    }
    let mut out = like(cx, &input);
    let lead = input.rank().and_then(|rank| rank.checked_sub(n));
    let space = per.zip(lead).map(|(per, lead)| {
        let old = input.shape.as_ref().and_then(|dims| dims.get(lead..)).unwrap_or_default();
        old.iter()
            .zip(per)
            .map(|(dim, wanted)| if wanted.is_none() { dim.clone() } else { resized(cx, dim, cx.size_of(&wanted)) })
            .collect()
    });
    out.shape = with_space(&input, n, space);
    out.shape_at = cx.at();
    match cx.name().starts_with("adaptive_max") {
        true => {
            out.range = input.range.as_ref().map(|r| Range::bounds(r.lo(), r.hi()));
            with_indices(cx, b, out)
        }
        false => cx.out(out),
    }
}

fn fractional(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let n = spatial(cx.name());
    let Some(input) = checked(cx, b, n) else { return cx.some_tensor() };
    let wanted = b.get("output_size");
    let space =
        (!wanted.is_none()).then(|| per_dim(cx, &wanted, n).into_iter().map(|size| Dim::new(size, cx.at())).collect());
    let mut out = like(cx, &input);
    out.shape = with_space(&input, n, space);
    out.shape_at = cx.at();
    with_indices(cx, b, out)
}

fn check_same_shape(cx: &mut Cx<'_, '_>, input: &Tensor, indices: &Tensor) {
    let (Some(a), Some(b)) = (&input.shape, &indices.shape) else { return };
    let differ = a.len() != b.len() || a.iter().zip(b).any(|(x, y)| x.size.equals(&y.size) == Some(false));
    if differ {
        let message = format!(
            "`input` is {} and `indices` is {}: both must have the same shape",
            shape_text(input),
            shape_text(indices)
        );
        let reads = vec![shape_read("input", input), shape_read("indices", indices)];
        cx.reject(RejectKind::Shape, message, reads);
    }
}

fn unpool(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let n = spatial(cx.name());
    let Some(input) = checked(cx, b, n) else { return cx.some_tensor() };
    if let Some(indices) = cx.tensor_arg(b, "indices") {
        super::device::check(cx, &[("input", &input), ("indices", &indices)]);
        check_indices(cx, "indices", &indices, &[Dtype::Int64]);
        check_same_shape(cx, &input, &indices);
    }
    check_least(cx, b, "stride", 1);
    let kernels = per_dim(cx, &b.get("kernel_size"), n);
    let stride = b.get("stride");
    let strides = if stride.is_none() { kernels.clone() } else { per_dim(cx, &stride, n) };
    let paddings = per_dim(cx, &b.get("padding"), n);
    let wanted = b.get("output_size");
    let space = match wanted.is_none() {
        false => cx.sizes(&[wanted]).and_then(|sizes| {
            let last = sizes.get(sizes.len().checked_sub(n)?..)?;
            Some(last.iter().map(|size| Dim::new(size.clone(), cx.at())).collect())
        }),
        true => input.shape.as_ref().and_then(|dims| {
            let lead = dims.len().checked_sub(n)?;
            let mut out = Vec::with_capacity(n);
            for (i, dim) in dims.get(lead..)?.iter().enumerate() {
                let at = |sizes: &[Size]| sizes.get(i).cloned().unwrap_or(Size::Unknown);
                let grown = dim.size.sub(&Size::Int(1)).mul(&at(&strides));
                let length = grown.sub(&at(&paddings).mul(&Size::Int(2))).add(&at(&kernels));
                out.push(resized(cx, dim, length));
            }
            Some(out)
        }),
    };
    let mut out = like(cx, &input);
    out.shape = with_space(&input, n, space);
    out.shape_at = cx.at();
    cx.out(out)
}
