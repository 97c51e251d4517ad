//! Fourier transforms. They convert between real and complex dtypes, and some of them also change a
//! length.

use super::broadcast::{Mix, Named, common_device, result_grad, shape_read};
use super::pointwise::derived;
use super::reduce::index;
use super::support::{give, refuse_dtype, refuse_rank, tensor_param};
use crate::library::{Cx, Table};
use crate::python::{Bound, Certainty, RejectKind};
use crate::value::{Dim, Dtype, Grad, Size, Tensor, Value, counted};

pub(crate) fn register(t: &mut Table) {
    t.listed("torch.fft.", "fft ifft rfft irfft hfft ihfft", fft);
    t.listed("torch.fft.", "fft2 ifft2 rfft2 irfft2 hfft2 ihfft2", fft);
    t.listed("torch.fft.", "fftn ifftn rfftn irfftn hfftn ihfftn", fft);
    t.listed("torch.fft.", "fftshift ifftshift", shift);
    t.listed("torch.fft.", "fftfreq rfftfreq", frequencies);
    t.listed("torch.", "stft", stft);
    t.listed("torch.", "istft", istft);
}

/// The input and output types of a transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    ToComplex,
    /// The input is real. Its spectrum is symmetric, so the output holds only half of it.
    Halve,
    /// The input is half of a symmetric spectrum, and the output is real.
    Unfold,
}

fn turn(name: &str) -> Turn {
    match name.get(..2) {
        Some("rf" | "ih") => Turn::Halve,
        Some("ir" | "hf") => Turn::Unfold,
        _ => Turn::ToComplex,
    }
}

/// `n // 2 + 1`, if it can be computed.
fn halved(n: &Size) -> Size {
    match n {
        Size::Int(n) => Size::Int(n.div_euclid(2).saturating_add(1)),
        other => other.div_exact(&Size::Int(2)).map_or(Size::Unknown, |half| half.add(&Size::Int(1))),
    }
}

fn complex_of(cx: &Cx<'_, '_>, dtype: Dtype) -> Option<Dtype> {
    match dtype {
        Dtype::Bfloat16 | Dtype::Other(_) => None,
        d if d.is_integral() => cx.default_dtype().map(Dtype::to_complex),
        d => Some(d.to_complex()),
    }
}

fn fft(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let named = ("input", &input);
    let turn = turn(cx.name());
    if turn == Turn::Halve && input.dtype.is_some_and(Dtype::is_complex) {
        refuse_dtype(cx, named, "takes real numbers only");
        return cx.some_tensor();
    }
    let at = cx.at();
    let dtype = input.dtype.and_then(|d| complex_of(cx, d)).map(|d| if turn == Turn::Unfold { d.to_real() } else { d });
    let mut out = derived(&input).with_dtype(dtype, at);
    out.grad = result_grad(cx, &[named], dtype);
    let single = b.takes("n");
    if single && input.rank() == Some(0) {
        refuse_rank(cx, named, "at least one dimension");
        return cx.some_tensor();
    }
    match axes(cx, b, named, single) {
        Err(()) => return cx.some_tensor(),
        Ok(None) => {
            // It is not known which sizes change, so all of them become unknown; the rank stays.
            out.shape = out.shape.map(|s| vec![Dim::UNKNOWN; s.len()]);
        }
        Ok(Some(axes)) => {
            let last = axes.len().saturating_sub(1);
            for (i, (axis, given)) in axes.iter().enumerate() {
                let Some(slot) = out.shape.as_mut().and_then(|s| s.get_mut(*axis)) else { continue };
                let length = given.clone().unwrap_or_else(|| slot.size.clone());
                let size = match turn {
                    Turn::Halve if i == last => halved(&length),
                    // Without a length, the result has `2 * (n - 1)` elements.
                    Turn::Unfold if i == last && given.is_none() => length.sub(&Size::Int(1)).mul(&Size::Int(2)),
                    _ => length,
                };
                if size.less(&Size::Int(1)) == Some(true) {
                    let message = format!("dimension {axis} would have {size} points: at least 1 is needed");
                    cx.reject(RejectKind::Value, message, vec![shape_read(named, Some(*axis))]);
                    return cx.some_tensor();
                }
                if size != slot.size || size.is_unknown() {
                    *slot = Dim::new(size, at);
                }
            }
        }
    }
    give(cx, b, out)
}

type Axes = Vec<(usize, Option<Size>)>;

/// The transformed dimensions in order, with the requested lengths.
fn axes(cx: &mut Cx<'_, '_>, b: &Bound, named: Named<'_>, single: bool) -> Result<Option<Axes>, ()> {
    let Some(rank) = named.1.rank() else { return Ok(None) };
    let length = |cx: &Cx<'_, '_>, value: &Value| match value {
        Value::None | Value::Int(-1) => None,
        other => Some(cx.size_of(other)),
    };
    if single {
        let value = b.get("n");
        if let Some(n) = value.as_int()
            && n < 1
        {
            let message = format!("`n` is {n}: at least 1 point is needed");
            cx.reject(RejectKind::Value, message, vec![("`n` is given here".to_owned(), b.span("n"))]);
            return Err(());
        }
        let given = length(cx, &value);
        return Ok(index(cx, &b.get("dim"), named, rank)?.map(|at| vec![(at, given)]));
    }
    let (s, dim) = (b.get("s"), b.get("dim"));
    let plain_dim = !b.given("dim") && !b.open && cx.name().ends_with('2');
    let lengths = match &s {
        Value::None => None,
        other => match other.as_int() {
            Some(_) => Some(vec![other.clone()]),
            None => match cx.items(other) {
                Some(items) => Some(items),
                None => return Ok(None),
            },
        },
    };
    let dims: Vec<Value> = if plain_dim {
        vec![Value::Int(-2), Value::Int(-1)]
    } else {
        match &dim {
            Value::None => {
                let number = lengths.as_ref().map_or(rank, Vec::len);
                if number > rank {
                    let (lengths, dims) = (counted(number, "length"), counted(rank, "dimension"));
                    let message = format!("`s` has {lengths}, but the tensor has {dims}");
                    cx.reject(RejectKind::Value, message, vec![shape_read(named, None)]);
                    return Err(());
                }
                // Without `dim`, the last dimensions are transformed.
                (rank - number..rank).filter_map(|i| i64::try_from(i).ok()).map(Value::Int).collect()
            }
            other => match other.as_int() {
                Some(_) => vec![other.clone()],
                None => match cx.items(other) {
                    Some(items) => items,
                    None => return Ok(None),
                },
            },
        }
    };
    if let Some(lengths) = &lengths
        && lengths.len() != dims.len()
    {
        let (lengths, dims) = (counted(lengths.len(), "length"), counted(dims.len(), "dimension"));
        let message = format!("`s` has {lengths}, but `dim` has {dims}: the numbers must be equal");
        cx.reject(RejectKind::Value, message, vec![("`s` is given here".to_owned(), b.span("s"))]);
        return Err(());
    }
    if rank == 0 && !dims.is_empty() {
        let wanted = if plain_dim { "at least two dimensions" } else { "at least one dimension if `dim` is not empty" };
        refuse_rank(cx, named, wanted);
        return Err(());
    }
    let mut out: Axes = Vec::new();
    for (i, dim) in dims.iter().enumerate() {
        let Some(at) = index(cx, dim, named, rank)? else { return Ok(None) };
        if out.iter().any(|(have, _)| *have == at) {
            let message = format!("dimension {at} appears twice in `dim`");
            cx.reject(RejectKind::Dim, message, vec![shape_read(named, None)]);
            return Err(());
        }
        let given = lengths.as_ref().and_then(|l| l.get(i)).and_then(|v| length(cx, v));
        if let Some(n) = given.as_ref().and_then(Size::known)
            && n < 1
        {
            let message = format!("`s` contains {n}: at least 1 point is needed");
            cx.reject(RejectKind::Value, message, vec![("`s` is given here".to_owned(), b.span("s"))]);
            return Err(());
        }
        out.push((at, given));
    }
    if out.is_empty() && turn(cx.name()) != Turn::ToComplex {
        cx.reject(RejectKind::Dim, "at least one dimension must be transformed", vec![shape_read(named, None)]);
        return Err(());
    }
    Ok(Some(out))
}

fn shift(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    if super::reduce::dims_of(cx, &b.get("dim"), ("input", &input)).is_err() {
        return cx.some_tensor();
    }
    let mut out = derived(&input);
    out.range.clone_from(&input.range);
    out.range_at = input.range_at;
    cx.out(out)
}

fn frequencies(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let n = cx.size_of(&b.get("n"));
    let size = if cx.name() == "rfftfreq" { halved(&n) } else { n };
    let at = cx.at();
    let dtype = cx.dtype_arg(&b.get("dtype")).unwrap_or_else(|| cx.default_dtype());
    let device = cx.device_arg(&b.get("device")).unwrap_or_else(|| cx.default_device());
    let grad = match b.get("requires_grad").as_bool() {
        Some(true) => Grad::Leaf,
        Some(false) => Grad::Off,
        None => Grad::Unknown,
    };
    let out = Tensor { grad, ..Tensor::default() }.with_shape(vec![size], at).with_dtype(dtype, at);
    let out = out.with_device(device, at);
    give(cx, b, out)
}

/// The quotient rounded down, if it can be computed.
fn divided(n: &Size, by: i64) -> Size {
    match n {
        Size::Int(n) if by > 0 => Size::Int(n.div_euclid(by)),
        other => other.div_exact(&Size::Int(by)).unwrap_or(Size::Unknown),
    }
}

fn stft(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let known = tensor_param(cx, b, "input");
    let is_known = known.is_some();
    if !is_known && !b.get("input").is_unknown() {
        return cx.some_tensor();
    }
    let input = known.unwrap_or_default();
    let named = ("input", &input);
    if input.dtype.is_some_and(Dtype::is_integral) {
        refuse_dtype(cx, named, "needs floating-point or complex numbers");
        return cx.some_tensor();
    }
    if input.rank().is_some_and(|r| r != 1 && r != 2) {
        refuse_rank(cx, named, "one or two dimensions");
        return cx.some_tensor();
    }
    let window = cx.tensor(&b.get("window"));
    let plain = b.get("window").is_none();
    let complex = match (input.dtype.map(Dtype::is_complex), window.as_ref().map(|w| w.dtype.map(Dtype::is_complex))) {
        (Some(true), _) | (_, Some(Some(true))) => Some(true),
        (Some(false), Some(Some(false))) => Some(false),
        (Some(false), None) if plain => Some(false),
        _ => None,
    };
    let wants = b.get("return_complex");
    if complex != Some(true) && wants.is_none() && !b.open {
        let message = "`return_complex` must be given for real input";
        match complex {
            Some(_) => cx.reject(RejectKind::Value, message, Vec::new()),
            // Nearly all signals are real. Older versions of PyTorch accepted the call.
            None if cx.it.certainty() != Certainty::Certain || cx.it.may_be_fallback() => {}
            None => cx.reject_if("if `input` is real", RejectKind::Value, message, Vec::new()),
        }
        return cx.some_tensor();
    }
    if !is_known {
        return cx.some_tensor();
    }
    if let Some(window) = &window {
        common_device(cx, &[named, ("window", window)], Mix::Strict);
    }
    let returns = wants.as_bool().or(complex.filter(|_| wants.is_none()));
    let n_fft = b.get("n_fft").as_int();
    let hop = match b.get("hop_length") {
        Value::None => n_fft.map(|n| n.div_euclid(4)),
        other => other.as_int(),
    };
    let length = input.dim(-1).map_or(Size::Unknown, |d| d.size.clone());
    let onesided = match b.get("onesided") {
        Value::None => complex.map(|c| !c),
        other => other.as_bool(),
    };
    let bins = match (n_fft, onesided) {
        (Some(n), Some(true)) => halved(&Size::Int(n)),
        (Some(n), Some(false)) => Size::Int(n),
        _ => Size::Unknown,
    };
    // The number of frames is modelled only for calls without `align_to_window`.
    let aligned = b.get("align_to_window").is_none();
    let frames = match (n_fft, hop.filter(|h| *h > 0), b.get("center").as_bool()) {
        (Some(n), Some(hop), Some(center)) if aligned => {
            let padded = if center { length.add(&Size::Int(n.div_euclid(2).saturating_mul(2))) } else { length };
            divided(&padded.sub(&Size::Int(n)), hop).add(&Size::Int(1))
        }
        _ => Size::Unknown,
    };
    let at = cx.at();
    let mut out = derived(&input);
    let dtype = input.dtype.and_then(|d| complex_of(cx, d)).filter(|_| complex.is_some());
    out = out.with_dtype(if returns == Some(false) { dtype.map(Dtype::to_real) } else { dtype }, at);
    if returns.is_none() {
        out.dtype = None;
    }
    out.grad = result_grad(cx, &[named], out.dtype);
    out.shape = match (&input.shape, returns) {
        (Some(shape), Some(returns)) => {
            let mut dims: Vec<Dim> = shape.split_last().map(|(_, rest)| rest.to_vec()).unwrap_or_default();
            dims.extend([Dim::new(bins, at), Dim::new(frames, at)]);
            if !returns {
                dims.push(Dim::new(Size::Int(2), at));
            }
            Some(dims)
        }
        _ => None,
    };
    cx.out(out)
}

fn istft(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let named = ("input", &input);
    if input.dtype.is_some_and(|d| !d.is_complex()) {
        refuse_dtype(cx, named, "takes complex numbers only");
        return cx.some_tensor();
    }
    if input.rank().is_some_and(|r| r != 2 && r != 3) {
        refuse_rank(cx, named, "two or three dimensions");
        return cx.some_tensor();
    }
    let at = cx.at();
    let n_fft = b.get("n_fft").as_int();
    let hop = match b.get("hop_length") {
        Value::None => n_fft.map(|n| n.div_euclid(4)),
        other => other.as_int(),
    };
    let frames = input.dim(-1).map_or(Size::Unknown, |d| d.size.clone());
    let given = b.get("length");
    let length = match (n_fft, hop, b.get("center").as_bool()) {
        _ if !given.is_none() => cx.size_of(&given),
        (Some(n), Some(hop), Some(center)) => {
            let cut = if center { n.div_euclid(2).saturating_mul(2) } else { 0 };
            frames.sub(&Size::Int(1)).mul(&Size::Int(hop)).add(&Size::Int(n.saturating_sub(cut)))
        }
        _ => Size::Unknown,
    };
    let complex = b.get("return_complex").as_bool();
    let dtype = match complex {
        Some(true) => input.dtype,
        Some(false) => input.dtype.map(Dtype::to_real),
        None => None,
    };
    let mut out = derived(&input).with_dtype(dtype, at);
    out.shape = input.shape.as_ref().map(|shape| {
        let lead = shape.len().saturating_sub(2);
        let mut dims = shape.get(..lead).unwrap_or_default().to_vec();
        dims.push(Dim::new(length, at));
        dims
    });
    out.grad = result_grad(cx, &[named], dtype);
    cx.out(out)
}
