//! Sequences and patterns: `arange`, `linspace`, `eye`, indices of triangles, windows.

use super::options::{Options, dim, finish, not_negative};
use crate::library::torch::broadcast::{shape_read, shape_text};
use crate::library::torch::carry::{self, MOST_ELEMENTS};
use crate::library::torch::cast::cast_value;
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, Range, Size, Tensor, Type, Value};

pub(crate) fn register(t: &mut Table) {
    t.defs(
        "torch.arange",
        &[
            "end, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False",
            "start, end, step=1, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False",
        ],
        arange,
    );
    t.def("torch.range", "start, end=None, step=1, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False", range);
    t.def(
        "torch.linspace",
        "start, end, steps, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False",
        linspace,
    );
    window_functions(t);
    t.def("torch.logspace", "start, end, steps, base=10.0, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False", logspace);
    t.def(
        "torch.eye",
        "n, m=None, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False",
        eye,
    );
    t.listed("torch.", "tril_indices triu_indices", triangle);
    t.family(
        "torch.",
        "hann_window hamming_window blackman_window bartlett_window kaiser_window",
        "window_length, periodic=True, alpha=None, beta=None, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False",
        window,
    );
}

/// A bound of a sequence: its value as a number, its number type, and its value as a size.
fn bound(cx: &Cx<'_, '_>, value: &Value) -> (Option<f64>, Option<Type>, Size) {
    if let Some(tensor) = cx.tensor(value) {
        let one = match tensor.data.as_deref() {
            Some([one]) => Some(*one),
            _ => None,
        };
        let kind = tensor.dtype.map(|d| if d.is_integral() { Type::Int } else { Type::Float });
        return (one, kind, carry::size(cx, value));
    }
    (value.as_f64(), value.number_type(), value.as_size().unwrap_or(Size::Unknown))
}

fn arange(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let start = if b.given("start") { b.get("start") } else { Value::Int(0) };
    let step = if b.given("step") { b.get("step") } else { Value::Int(1) };
    let parts = [bound(cx, &start), bound(cx, &b.get("end")), bound(cx, &step)];
    let kinds: Option<Vec<Type>> = parts.iter().map(|p| p.1).collect();
    let integers = kinds.as_ref().map(|k| k.iter().all(|t| matches!(t, Type::Int | Type::Bool)));
    let dtype = match integers {
        Some(true) => Some(Dtype::Int64),
        Some(false) => cx.default_dtype(),
        None => None,
    };
    let options = Options::here(cx, b, dtype);
    let [(s, _, start), (e, _, end), (by, _, step)] = parts;
    let mut size = Size::Unknown;
    if by == Some(0.0) {
        cx.reject(RejectKind::Value, "the step of arange must not be 0", Vec::new());
    } else if let (Some(s), Some(e), Some(by)) = (s, e, by) {
        if s.is_infinite() || e.is_infinite() {
            cx.reject(RejectKind::Value, format!("arange from {s} to {e} is infinite"), Vec::new());
        } else if (e - s) * by.signum() < 0.0 {
            let message = format!("arange from {s} to {e} by {by}: the step goes away from the end");
            cx.reject(RejectKind::Value, message, Vec::new());
        } else {
            size = carry::whole(((e - s) / by).ceil()).map_or(Size::Unknown, Size::Int);
        }
    } else if integers == Some(true) && step.known() == Some(1) {
        let length = end.sub(&start);
        if carry::at_most(&Size::Int(0), &length) {
            size = length;
        }
    }
    // The result may be empty in some runs, like that of `range`. (Data that a program reads is
    // assumed not to be empty.)
    let perhaps_empty = !carry::at_most(&Size::Int(1), &size) && size.known().is_none();
    let dim = if size.is_unknown() { cx.fresh_count("n") } else { Dim::new(size.clone(), cx.at()) };
    let mut out = options.tensor(Some(vec![dim]), cx.at());
    counted(cx, &mut out, &size, (s, e, by));
    let made = finish(cx, b, out);
    if perhaps_empty {
        cx.it.heap.note_perhaps_empty(&made);
    }
    made
}

/// Sets the elements of `arange`, or their bounds.
fn counted(cx: &Cx<'_, '_>, out: &mut Tensor, size: &Size, (s, e, by): (Option<f64>, Option<f64>, Option<f64>)) {
    let integral = |x: Option<f64>| x.filter(|x| x.fract() == 0.0);
    let Some(dtype) = out.dtype else { return };
    if size.known() == Some(0) || dtype == Dtype::Bool {
        return;
    }
    match (integral(s), integral(by), size.known().and_then(|n| usize::try_from(n).ok())) {
        (Some(s), Some(by), Some(n)) if n <= MOST_ELEMENTS => {
            #[expect(clippy::cast_precision_loss, reason = "few elements")]
            let values: Option<Vec<f64>> = (0..n).map(|i| cast_value(s + by * i as f64, dtype)).collect();
            if let Some(values) = values {
                carry::set_data(out, values.into(), cx.at());
            }
        }
        (Some(s), Some(1.0), Some(n)) => {
            #[expect(clippy::cast_precision_loss, reason = "bounds of a range")]
            let last = s + n as f64 - 1.0;
            if let (Some(lo), Some(hi)) = (cast_value(s, dtype), cast_value(last, dtype))
                && lo == s
                && hi == last
            {
                out.range = Some(carry::claims(Range::bounds(lo, hi), true, true));
                out.range_at = cx.at();
            }
        }
        (Some(s), Some(by), None) if by > 0.0 && dtype == Dtype::Int64 => {
            out.range = Some(Range::bounds(s, f64::INFINITY));
            out.range_at = cx.at();
        }
        _ => {
            if let (Some(s), Some(e), true) = (s, e, dtype == Dtype::Float32 || dtype == Dtype::Float64) {
                out.range = Some(Range::bounds(s.min(e), s.max(e)));
                out.range_at = cx.at();
            }
        }
    }
}

/// The deprecated `torch.range`, which includes the end.
fn range(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let default = cx.default_dtype();
    let options = Options::here(cx, b, default);
    let (start, end) = if b.given("end") { (b.get("start"), b.get("end")) } else { (Value::Int(0), b.get("start")) };
    let size = match (start.as_f64(), end.as_f64(), b.get("step").as_f64()) {
        (Some(s), Some(e), Some(by)) if by != 0.0 => {
            carry::whole(((e - s) / by).floor()).filter(|n| *n >= 0).map_or(Size::Unknown, |n| Size::Int(n + 1))
        }
        _ => Size::Unknown,
    };
    let out = options.tensor(Some(vec![Dim::new(size, cx.at())]), cx.at());
    finish(cx, b, out)
}

fn spaced(cx: &mut Cx<'_, '_>, b: &Bound) -> Tensor {
    let kind = |cx: &Cx<'_, '_>, name: &str| {
        let value = b.get(name);
        match cx.tensor(&value) {
            Some(t) => t.dtype.map(|d| if d.is_complex() { Type::Complex } else { Type::Float }),
            None => value.number_type(),
        }
    };
    let dtype = match (kind(cx, "start"), kind(cx, "end")) {
        (Some(Type::Complex), _) | (_, Some(Type::Complex)) => cx.default_dtype().map(Dtype::to_complex),
        (Some(_), Some(_)) => cx.default_dtype(),
        _ => None,
    };
    let options = Options::here(cx, b, dtype);
    let steps = b.get("steps");
    if matches!(steps, Value::Float(_) | Value::Any(Type::Float) | Value::Str(_)) {
        cx.reject(RejectKind::Value, "the number of steps must be an integer", Vec::new());
    }
    let steps = dim(cx, &steps);
    let steps = if not_negative(cx, "steps", &steps.size) { steps } else { Dim::UNKNOWN };
    for name in ["start", "end"] {
        if let Some(t) = cx.tensor_arg(b, name)
            && t.rank().is_some_and(|r| r > 0)
        {
            let message =
                format!("`{name}` is {}: {} takes numbers or 0-dimensional tensors", shape_text(&t), cx.name());
            cx.reject(RejectKind::Rank, message, vec![shape_read((name, &t), None)]);
        }
    }
    options.tensor(Some(vec![steps]), cx.at())
}

fn linspace(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let mut out = spaced(cx, b);
    let exact = matches!(out.dtype, Some(Dtype::Float32 | Dtype::Float64));
    let steps = out.numel();
    if let (Some(s), Some(e), true) = (b.get("start").as_f64(), b.get("end").as_f64(), exact)
        && let (Some(dtype), true) = (out.dtype, steps.is_positive())
        && let (Some(s), Some(e)) = (cast_value(s, dtype), cast_value(e, dtype))
    {
        let both = Size::Int(1).less(&steps) == Some(true);
        out.range = Some(carry::claims(Range::bounds(s.min(e), s.max(e)), both, both));
        out.range_at = cx.at();
    }
    finish(cx, b, out)
}

fn logspace(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let out = spaced(cx, b);
    finish(cx, b, out)
}

fn eye(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let default = cx.default_dtype();
    let options = Options::here(cx, b, default);
    let rows = dim(cx, &b.get("n"));
    let columns = if b.get("m").is_none() { rows.clone() } else { dim(cx, &b.get("m")) };
    if !not_negative(cx, "n", &rows.size) || !not_negative(cx, "m", &columns.size) {
        let out = options.tensor(Some(vec![Dim::UNKNOWN, Dim::UNKNOWN]), cx.at());
        return cx.out(out);
    }
    let mut out = options.tensor(Some(vec![rows, columns]), cx.at());
    let cells = out.shape.as_deref().and_then(carry::extents);
    let identity = |index: &[usize]| Some(if index.first() == index.last() { 1.0 } else { 0.0 });
    match cells.and_then(|cells| carry::build(&cells, identity)) {
        Some(data) => carry::set_data(&mut out, data, cx.at()),
        None => {
            out.range = Some(Range::bounds(0.0, 1.0));
            out.range_at = cx.at();
        }
    }
    finish(cx, b, out)
}

/// `tril_indices` and `triu_indices`: two rows, and a column for each cell of the triangle.
fn triangle(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let options = Options::here(cx, b, Some(Dtype::Int64));
    let lower = cx.name() == "tril_indices";
    let (rows, columns) = (carry::size(cx, &b.get("row")), carry::size(cx, &b.get("col")));
    let fits = not_negative(cx, "row", &rows) && not_negative(cx, "col", &columns);
    let cells = || {
        let (rows, columns, offset) = (rows.known()?, columns.known()?, b.get("offset").as_int()?);
        if rows > 1 << 20 {
            return None;
        }
        (0..rows).try_fold(0i64, |n, row| {
            let edge = row.checked_add(offset)?;
            let count = if lower {
                edge.checked_add(1)?.clamp(0, columns)
            } else {
                columns.checked_sub(edge.clamp(0, columns))?
            };
            n.checked_add(count)
        })
    };
    let count = if fits { cells().map_or(Size::Unknown, Size::Int) } else { Size::Unknown };
    let out = options.tensor(Some(vec![Dim::int(2), Dim::new(count, cx.at())]), cx.at());
    cx.out(out)
}

/// `torch.signal.windows`.
fn window_functions(t: &mut Table) {
    let windows = [
        (
            "bartlett blackman cosine hamming hann nuttall",
            "M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False",
        ),
        (
            "exponential",
            "M, *, center=None, tau=1.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False",
        ),
        ("gaussian", "M, *, std=1.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False"),
        ("kaiser", "M, *, beta=12.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False"),
        ("general_cosine", "M, *, a, sym=True, dtype=None, layout=None, device=None, requires_grad=False"),
        ("general_hamming", "M, *, alpha=0.54, sym=True, dtype=None, layout=None, device=None, requires_grad=False"),
    ];
    for (names, sig) in windows {
        t.family("torch.signal.windows.", names, sig, signal_window);
    }
}

fn signal_window(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let default = cx.default_dtype();
    let options = Options::here(cx, b, default);
    let length = dim(cx, &b.get("M"));
    let fine = not_negative(cx, "M", &length.size);
    let out = options.tensor(Some(vec![if fine { length } else { Dim::UNKNOWN }]), cx.at());
    if out.dtype.is_some_and(|d| d != Dtype::Float32 && d != Dtype::Float64) {
        let message = format!("a window is float32 or float64, not {}", out.dtype.map_or("", Dtype::name));
        cx.reject(RejectKind::Dtype, message, Vec::new());
    }
    let number = |name: &str| super::options::option(b, name).as_f64();
    let refused = if number("tau").is_some_and(|x| x <= 0.0) {
        Some("tau must be positive")
    } else if number("std").is_some_and(|x| x <= 0.0) {
        Some("the standard deviation must be positive")
    } else if number("beta").is_some_and(|x| x < 0.0) {
        Some("beta must not be negative")
    } else if b.get("sym").as_bool() == Some(true) && number("center").is_some() {
        Some("`center` cannot be given for a symmetric window")
    } else if cx.name() == "general_cosine" && cx.items(&b.get("a")).is_some_and(|a| a.is_empty()) {
        Some("`a` must contain at least one coefficient")
    } else {
        None
    };
    if let Some(message) = refused {
        cx.reject(RejectKind::Value, message, Vec::new());
    }
    cx.out(out)
}

fn window(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let default = cx.default_dtype();
    let options = Options::here(cx, b, default);
    let length = dim(cx, &b.get("window_length"));
    let out = if not_negative(cx, "window_length", &length.size) {
        options.tensor(Some(vec![length]), cx.at())
    } else {
        options.tensor(Some(vec![Dim::UNKNOWN]), cx.at())
    };
    if out.dtype.is_some_and(|d| !d.is_floating()) {
        let message = format!("a window is made of floats, not {}", out.dtype.map_or("", Dtype::name));
        cx.reject(RejectKind::Dtype, message, Vec::new());
    }
    cx.out(out)
}
