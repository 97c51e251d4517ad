//! Convolutions and transposed convolutions, also for symbolic sizes.

use super::device;
use super::facts::{
    check_least, check_rank, dim_read, floor_div, length_read, per_dim, product_dtype, resized, result, shape_text,
    windows, with_unknown_operand,
};
use super::layer::dim_of;
use super::layers::spatial;
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Role, Size, Tensor, Value, counted};

pub(crate) fn register(t: &mut Table) {
    for n in 1..=3 {
        t.def(
            &format!("torch.nn.functional.conv{n}d"),
            "input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1",
            conv,
        );
        t.def(
            &format!("torch.nn.functional.conv_transpose{n}d"),
            "input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1, output size=None",
            conv_transpose,
        );
        t.alias(&format!("torch.conv{n}d"), &format!("torch.nn.functional.conv{n}d"));
        t.alias(&format!("torch.conv_transpose{n}d"), &format!("torch.nn.functional.conv_transpose{n}d"));
    }
}

/// The settings of the window in one spatial dimension.
struct Window {
    kernel: Size,
    stride: Size,
    /// The sum of the padding on both sides; `None` for `padding='same'`.
    padding: Option<Size>,
    dilation: Size,
}

impl Window {
    /// The length that the window covers, minus one.
    fn reach(&self) -> Size {
        self.dilation.mul(&self.kernel.sub(&Size::Int(1)))
    }
}

struct Call {
    input: Tensor,
    weight: Tensor,
    n: usize,
    groups: Size,
    /// The dimensions before the channels: one, or none if the input is unbatched.
    batch: Vec<Dim>,
    channels: Dim,
    space: Vec<Dim>,
}

/// Reads and checks the arguments that convolutions and transposed convolutions share. `Err`
/// contains the result of the call if the arguments are not known or rejected.
fn read(cx: &mut Cx<'_, '_>, b: &Bound) -> Result<Call, Value> {
    let n = spatial(cx.name());
    let (input, weight) = (cx.tensor_arg(b, "input"), cx.tensor_arg(b, "weight"));
    let at = cx.at();
    let (Some(input), Some(weight)) = (input.clone(), weight.clone()) else {
        let known = input.or(weight).unwrap_or_default();
        let dtype = product_dtype(cx, &[("input", &known)]).unwrap_or_default();
        let mut out = result(cx, &[&known], None, dtype);
        out.grad = with_unknown_operand(out.grad);
        return Err(cx.out(out.with_role(Some(Role::Logits), at)));
    };
    if !check_rank(cx, "weight", &weight, &[n + 2]) {
        return Err(cx.some_tensor());
    }
    let (batch, channels, space) = match &input.shape {
        Some(_) if !check_rank(cx, "input", &input, &[n + 1, n + 2]) => return Err(cx.some_tensor()),
        Some(dims) => {
            let lead = dims.len().saturating_sub(n + 1);
            let batch = dims.get(..lead).unwrap_or_default().to_vec();
            let channels = dims.get(lead).cloned().unwrap_or(Dim::UNKNOWN);
            (batch, channels, dims.get(lead + 1..).unwrap_or_default().to_vec())
        }
        None => {
            (Vec::new(), input.dim(-1 - i64::try_from(n).unwrap_or(0)).cloned().unwrap_or(Dim::UNKNOWN), Vec::new())
        }
    };
    let groups = cx.size_of(&b.get("groups"));
    for (name, least) in [("stride", 1), ("dilation", 1), ("padding", 0)] {
        check_least(cx, b, name, least);
    }
    Ok(Call { input, weight, n, groups, batch, channels, space })
}

/// Rejects an input whose number of channels differs from that of the weight.
fn check_channels(cx: &mut Cx<'_, '_>, call: &Call, wanted: &Size) {
    if call.channels.size.equals(wanted) == Some(false) {
        let message = format!(
            "`input` is {}, with {}, but `weight` {} takes {wanted}",
            shape_text(&call.input),
            counted(&call.channels.size, "channel"),
            shape_text(&call.weight)
        );
        let reads = vec![
            dim_read("input", "channel", &call.channels),
            (format!("`weight` is created here, for {}", counted(wanted, "channel")), call.weight.shape_at),
        ];
        cx.reject(RejectKind::Shape, message, reads);
    }
}

/// Checks the devices, the dtypes and the bias, and returns the result.
fn finish(cx: &mut Cx<'_, '_>, b: &Bound, call: &Call, channels: Dim, space: Option<Vec<Dim>>) -> Value {
    let bias = cx.tensor_arg(b, "bias");
    let mut tensors = vec![("input", &call.input), ("weight", &call.weight)];
    tensors.extend(bias.iter().map(|t| ("bias", t)));
    device::check(cx, &tensors);
    // With padding "same" or "valid", PyTorch adds the bias after the convolution, and accepts any dtype.
    let of_product = if b.get("padding").as_str().is_some() { tensors.get(..2).unwrap_or_default() } else { &tensors };
    let dtype = product_dtype(cx, of_product).unwrap_or_default();
    if let Some(bias) = &bias
        && let Some([one]) = bias.shape.as_deref()
        && one.size.equals(&channels.size) == Some(false)
    {
        let message = format!(
            "`bias` has {}, but `weight` has {}",
            counted(&one.size, "element"),
            counted(&channels.size, "output channel")
        );
        let reads = vec![dim_read("bias", "element", one), dim_read("weight", "output channel", &channels)];
        cx.reject(RejectKind::Shape, message, reads);
    }
    let shape = space.filter(|_| call.input.shape.is_some()).map(|space| {
        let mut dims = call.batch.clone();
        dims.push(channels);
        dims.extend(space);
        dims
    });
    let all: Vec<&Tensor> = tensors.iter().map(|(_, t)| *t).collect();
    let at = cx.at();
    let out = result(cx, &all, shape, dtype).with_role(Some(Role::Logits), at);
    cx.out(out)
}

fn conv(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let call = match read(cx, b) {
        Ok(call) => call,
        Err(value) => return value,
    };
    check_channels(cx, &call, &dim_of(&call.weight, 1).size.mul(&call.groups));
    let strides = per_dim(cx, &b.get("stride"), call.n);
    let dilations = per_dim(cx, &b.get("dilation"), call.n);
    let given = b.get("padding");
    if given.as_str() == Some("same") && strides.iter().any(|s| s.known().is_some_and(|s| s != 1)) {
        let message = "padding is 'same', which needs a stride of 1";
        cx.reject(RejectKind::Value, message, vec![("padding is 'same'".to_owned(), b.span("padding"))]);
    }
    let paddings: Vec<Option<Size>> = match given.as_str() {
        Some("same") => vec![None; call.n],
        Some("valid") => vec![Some(Size::Int(0)); call.n],
        Some(_) => vec![Some(Size::Unknown); call.n],
        None => per_dim(cx, &given, call.n).iter().map(|p| Some(p.mul(&Size::Int(2)))).collect(),
    };
    let mut space = Vec::with_capacity(call.n);
    for (i, ((dim, padding), (stride, dilation))) in
        call.space.iter().zip(paddings).zip(strides.into_iter().zip(dilations)).enumerate()
    {
        let window = Window { kernel: dim_of(&call.weight, i + 2).size, stride, padding, dilation };
        let length = window_length(cx, &call.input, dim, &window);
        space.push(resized(cx, dim, length));
    }
    let channels = dim_of(&call.weight, 0);
    finish(cx, b, &call, channels, Some(space))
}

/// The number of positions of the window along a dimension.
fn window_length(cx: &mut Cx<'_, '_>, input: &Tensor, dim: &Dim, window: &Window) -> Size {
    let Some(padding) = &window.padding else { return dim.size.clone() };
    let padded = dim.size.add(padding);
    let span = padded.sub(&window.reach()).sub(&Size::Int(1));
    if span.less(&Size::Int(0)) == Some(true) {
        let message = format!(
            "`input` is {}: a length of {}, padded to {padded}, is shorter than the kernel, which covers {}",
            shape_text(input),
            dim.size,
            window.reach().add(&Size::Int(1))
        );
        let reads = vec![length_read("input", dim)];
        cx.reject(RejectKind::Shape, message, reads);
        return Size::Unknown;
    }
    windows(cx, &span, &window.stride)
}

fn conv_transpose(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let call = match read(cx, b) {
        Ok(call) => call,
        Err(value) => return value,
    };
    check_channels(cx, &call, &dim_of(&call.weight, 0).size);
    let [strides, paddings, extra, dilations] =
        ["stride", "padding", "output_padding", "dilation"].map(|name| per_dim(cx, &b.get(name), call.n));
    let per_group = dim_of(&call.weight, 1);
    let channels = match call.groups {
        Size::Int(1) => per_group,
        _ => Dim::new(per_group.size.mul(&call.groups), per_group.at),
    };
    // With a stride above 1, several lengths are possible; the layer's `output_size=` selects one.
    let asked = b.get("output size");
    let asked = if b.given("output size") && !asked.is_none() { Some(cx.ints(&asked)) } else { None };
    if let Some(asked) = asked {
        let sizes = asked.filter(|sizes| sizes.len() >= call.n).map(|sizes| {
            let last = sizes.get(sizes.len() - call.n..).unwrap_or_default();
            last.iter().map(|n| Dim::new(Size::Int(*n), cx.at())).collect()
        });
        let space = sizes.or_else(|| Some(vec![Dim::UNKNOWN; call.n]));
        return finish(cx, b, &call, channels, space);
    }
    let mut space = Vec::with_capacity(call.n);
    for (i, dim) in call.space.iter().enumerate() {
        let at = |sizes: &[Size]| sizes.get(i).cloned().unwrap_or(Size::Unknown);
        let kernel = dim_of(&call.weight, i + 2).size;
        let reach = at(&dilations).mul(&kernel.sub(&Size::Int(1)));
        let grown = dim.size.sub(&Size::Int(1)).mul(&at(&strides));
        let length = grown.sub(&at(&paddings).mul(&Size::Int(2))).add(&reach).add(&at(&extra)).add(&Size::Int(1));
        space.push(resized(cx, dim, length));
    }
    finish(cx, b, &call, channels, Some(space))
}

/// The number of windows of a pooling function. With `ceil_mode`, it is rounded up.
pub(crate) fn pooled(cx: &mut Cx<'_, '_>, length: &Size, window: &PoolWindow, ceil: Option<bool>) -> Size {
    let reach = window.dilation.mul(&window.kernel.sub(&Size::Int(1)));
    let span = length.add(&window.padding.mul(&Size::Int(2))).sub(&reach).sub(&Size::Int(1));
    match ceil {
        Some(false) => windows(cx, &span, &window.stride),
        // The number is rounded up, but the last window must start inside the input or its left
        // padding.
        Some(true) => match (length, &span, &window.stride, &window.padding) {
            (Size::Int(length), Size::Int(span), Size::Int(stride), Size::Int(padding)) if *stride > 0 => {
                let Some(mut count) = span.checked_add(stride - 1).map(|s| s.div_euclid(*stride) + 1) else {
                    return Size::Unknown;
                };
                if (count - 1).saturating_mul(*stride) >= length.saturating_add(*padding) {
                    count -= 1;
                }
                Size::Int(count)
            }
            (_, _, Size::Int(1), _) => windows(cx, &span, &window.stride),
            _ => {
                let up = floor_div(cx, &span.add(&window.stride).sub(&Size::Int(1)), &window.stride);
                // A window can be dropped only if the dilated kernel is narrower than the stride
                // and the padding together.
                let safe = window.stride.add(&window.padding).less(&reach.add(&Size::Int(2))) == Some(true);
                if safe { up.add(&Size::Int(1)) } else { Size::Unknown }
            }
        },
        None => Size::Unknown,
    }
}

/// The settings of a pooling window in one dimension.
pub(crate) struct PoolWindow {
    pub kernel: Size,
    pub stride: Size,
    pub padding: Size,
    pub dilation: Size,
}
