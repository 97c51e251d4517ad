//! Methods with a trailing underscore: the result of the function without the underscore is written
//! back under PyTorch's in-place rules. Some methods have their own models.

use super::broadcast::{broadcast_pair, device_read, dtype_read, grad_mode, shape_read, shape_text};
use super::promotion::can_cast;
use super::support::{bound, refuse_dtype, set_data, set_range};
use crate::library::table::Tables;
use crate::library::{Cx, Table};
use crate::python::{Arg, Args, Bound, Event, Interp, RejectKind};
use crate::syntax::Span;
use crate::value::{DeviceKind, Dtype, Grad, Kind, ObjId, Range, Sym, Tensor, Value, sym};

pub(crate) fn register(t: &mut Table) {
    t.listed("torch.Tensor.", "zero_", fill);
    t.listed("torch.Tensor.", "fill_", fill);
    t.def("torch.Tensor.copy_", "input, src, non_blocking=False", copy);
    t.listed("torch.Tensor.", "normal_", random);
    t.def("torch.Tensor.uniform_", "input, from=0, to=1, *, generator=None", random);
    t.listed("torch.Tensor.", "exponential_", random);
    t.listed("torch.Tensor.", "geometric_", random);
    t.listed("torch.Tensor.", "cauchy_", random);
    t.listed("torch.Tensor.", "log_normal_", random);
    t.listed("torch.Tensor.", "bernoulli_", random);
    t.defs(
        "torch.Tensor.random_",
        &["input, *, generator=None", "input, to, *, generator=None", "input, from, to, *, generator=None"],
        random_integers,
    );
    t.listed("torch.Tensor.", "apply_", forget);
    t.def("torch.Tensor.map_", "input, tensor, callable", forget);
    t.listed("torch.Tensor.", "fill_diagonal_", forget);
    t.family("torch.Tensor.", "set_ resize_as_sparse_ sparse_resize_", "input, *args, **kwargs", |cx, b| {
        let value = b.get("input");
        if let Some(id) = value.as_obj() {
            cx.it.heap.overwrite(id, Tensor::default());
        }
        value
    });
    t.def("torch.Tensor.resize_", "input, *size, memory_format=None", resize);
    t.listed("torch.Tensor.", "as_strided_", resize);
    t.listed("torch.", "fill", filled);
    t.alias("torch.fill_", "torch.Tensor.fill_");
    t.alias("torch.zero_", "torch.Tensor.zero_");
    t.listed("torch.Tensor.", "resize_as_", resize);
}

/// Methods that change the shape of the tensor itself, but not its memory.
const RESHAPES: [&str; 6] = ["squeeze", "unsqueeze", "transpose", "swapaxes", "swapdims", "t"];

/// The name without its trailing underscore, if it has the form of an in-place method's name.
fn base(class: Sym, name: Sym) -> Option<Sym> {
    let text = name.as_str();
    (class.as_str() == "torch.Tensor" && !text.ends_with("__")).then_some(())?;
    text.strip_suffix('_').filter(|b| !b.is_empty()).map(sym)
}

pub(crate) fn is_method(tables: &Tables, class: Sym, name: Sym) -> bool {
    base(class, name).is_some_and(|base| tables.method(class, base).is_some())
}

pub(crate) fn method(
    tables: &Tables,
    it: &mut Interp<'_>,
    class: Sym,
    object: &Value,
    name: Sym,
    args: Args,
    span: Span,
) -> Option<Value> {
    let base = base(class, name)?;
    let (path, _) = tables.method(class, base)?;
    let id = object.as_obj()?;
    let before = it.heap.tensor_of(object)?;
    let complex = before.dtype.is_some_and(Dtype::is_complex);
    if matches!(base.as_str(), "abs" | "absolute") && complex {
        let mut cx = Cx { it, path, span };
        refuse_dtype(&mut cx, ("input", &before), "cannot put real numbers into a complex tensor");
        return Some(object.clone());
    }
    let args = args.prepend(Arg::new(object.clone(), span));
    let refused = it.refused.0;
    let result = it.library().call(it, path, args.clone(), span);
    if it.refused.0 != refused && it.refused.1 == Some(span) {
        // The rejected call raises, so nothing is known about the tensor after it.
        it.heap.overwrite(id, Tensor::default());
        return Some(it.heap.tensor(Tensor::default()));
    }
    let mut cx = Cx { it, path, span };
    if RESHAPES.contains(&base.as_str()) {
        let shape = cx.tensor(&result).map(|t| (t.shape, t.shape_at, t.layout)).unwrap_or_default();
        cx.it.heap.update_tensor(id, |t| {
            (t.shape, t.shape_at, t.layout) = shape;
            t.data = None;
        });
        return Some(object.clone());
    }
    if base.as_str() == "addbmm" && before.rank() != cx.tensor(&result).and_then(|t| t.rank()) {
        // Unlike similar methods, `addbmm_` resizes the tensor.
        let shape = cx.tensor(&result).map(|t| (t.shape, t.shape_at)).unwrap_or_default();
        cx.it.heap.update_tensor(id, |t| (t.shape, t.shape_at) = shape);
    }
    let before = cx.tensor(object).unwrap_or(before);
    if base.as_str() == "float_power" {
        refuse_single(&mut cx, &before, &result);
    }
    write_back(&mut cx, id, &before, &result);
    if cx.it.heap.is_read_by_view(id, args.pos.iter().map(|arg| &arg.value)) {
        cx.it.heap.update_tensor(id, Tensor::forget_values);
    }
    tell_refused(tables, it, refused, path, &args, &before);
    Some(object.clone())
}

/// Reports a rejected in-place call under the function's path with a trailing underscore.
pub(crate) fn tell_refused(
    tables: &Tables,
    it: &mut Interp<'_>,
    before: u32,
    path: Sym,
    args: &Args,
    written: &Tensor,
) {
    if it.refused.0 == before {
        return;
    }
    // The observer must see the tensor as it was before the write.
    let mut args = args.clone();
    if let Some(first) = args.pos.first_mut() {
        first.value = it.heap.tensor(written.clone());
    }
    if let Some(bound) = tables.function(path).and_then(|entry| entry.bind(&args)) {
        let name = path.as_str().rsplit('.').next().unwrap_or_default();
        it.tell_refused(before, sym(&format!("torch.Tensor.{name}_")), &bound);
    }
}

/// `float_power_` computes in double precision, and cannot write the result into a tensor of
/// another dtype.
fn refuse_single(cx: &mut Cx<'_, '_>, before: &Tensor, result: &Value) {
    let to = cx.tensor(result).and_then(|t| t.dtype);
    if let (Some(from), Some(to)) = (before.dtype, to)
        && from != to
        && can_cast(to, from) == Some(true)
    {
        let message = format!("the tensor is {from}, but float_power_ gives {to}");
        cx.reject(RejectKind::Dtype, message, vec![dtype_read(("the tensor", before))]);
    }
}

/// Writes a result into the tensor `id`, which had the facts `before`. The tensor keeps its shape,
/// dtype and device; a result that does not fit them is reported.
pub(crate) fn write_back(cx: &mut Cx<'_, '_>, id: ObjId, before: &Tensor, result: &Value) {
    check_leaf(cx, before);
    let span = cx.span;
    cx.it.event(Event::Written { object: id, result, span });
    let result = cx.tensor(result);
    super::views::split::refuse_write(cx, id, before, result.as_ref());
    let Some(result) = result else {
        forget_all(cx, id, before);
        return;
    };
    let mut facts = super::pointwise::derived(before);
    if let (Some(from), Some(to)) = (result.dtype, before.dtype)
        && can_cast(from, to) == Some(false)
        && !(cx.name().starts_with("cum") && (before.rank() == Some(0) || !before.numel().is_positive()))
    {
        let message = format!("the result is {from}, which cannot be written into a tensor of {to}");
        let reads =
            vec![(format!("the result gets dtype {from} here"), result.dtype_at), dtype_read(("the tensor", before))];
        cx.reject(RejectKind::Dtype, message, reads);
    } else if let (Some(from), Some(to)) = (result.device, before.device)
        && from.differs(to)
        && !matches!((from.kind, to.kind), (DeviceKind::Meta, _) | (_, DeviceKind::Meta))
    {
        let message = format!("the result is on {from}, but the tensor to overwrite is on {to}");
        let reads = vec![device_read(("the result", &result)), device_read(("the tensor", before))];
        cx.reject(RejectKind::Device, message, reads);
    } else if let Some(axis) = grows(before, &result) {
        let message = format!(
            "the result has shape {}, but the tensor to overwrite has shape {}",
            shape_text(&result),
            shape_text(before)
        );
        let reads = vec![shape_read(("the result", &result), axis), shape_read(("the tensor", before), axis)];
        cx.reject(RejectKind::Shape, message, reads);
    } else {
        carry(before, &result, &mut facts);
    }
    facts.grad = match (before.grad, result.grad) {
        (_, Grad::Attached) if before.dtype.is_none_or(|d| !d.is_integral()) => Grad::Attached,
        (Grad::Off, Grad::Off) => Grad::Off,
        (Grad::Leaf, Grad::Off) => Grad::Leaf,
        (Grad::Attached, Grad::Off) => Grad::Attached,
        _ if before.dtype.is_some_and(Dtype::is_integral) => Grad::Off,
        _ => Grad::Unknown,
    };
    // If elements overlap in memory, the result may be computed from elements that were already
    // overwritten.
    if cx.it.heap.is_overlapping(id) {
        facts.forget_values();
    }
    cx.it.heap.overwrite(id, facts);
}

/// `Some` if the result is certainly too large for the tensor. The inner value is the dimension
/// that differs, or `None` if the result has more dimensions than the tensor.
fn grows(before: &Tensor, result: &Tensor) -> Option<Option<usize>> {
    let (have, new) = (before.shape.as_ref()?, result.shape.as_ref()?);
    if new.len() != have.len() {
        return (new.len() > have.len()).then_some(None);
    }
    have.iter().zip(new).position(|(a, b)| a.size.equals(&b.size) == Some(false)).map(Some)
}

/// Copies the facts of the result's elements to the tensor, as far as the tensor's dtype can
/// represent them.
fn carry(before: &Tensor, result: &Tensor, facts: &mut Tensor) {
    let (Some(from), Some(to)) = (result.dtype, before.dtype) else { return };
    if from != to && (to.kind() < from.kind() || to == Dtype::Bool) {
        return;
    }
    set_range(facts, result.range.clone(), result.range_at);
    facts.role = result.role;
    facts.role_at = result.role_at;
    if from == to {
        facts.data.clone_from(&result.data);
    }
}

/// Rejects writes to a leaf that requires grad while gradients are recorded.
fn check_leaf(cx: &mut Cx<'_, '_>, before: &Tensor) {
    if before.grad != Grad::Leaf || grad_mode(cx) != Some(true) {
        return;
    }
    // The unseen callers of a function may have disabled gradients.
    let may_be_off = cx.it.speculative()
        && !cx.it.inside("__init__")
        && ["no_grad", "inference_mode", "set_grad_enabled"].iter().any(|name| cx.it.mentions(name));
    if !may_be_off {
        let message = "the tensor is a leaf that requires grad: it cannot be written to while gradients are recorded";
        cx.reject(RejectKind::Value, message, Vec::new());
    }
}

/// Makes the elements unknown.
fn forget_all(cx: &mut Cx<'_, '_>, id: ObjId, before: &Tensor) {
    let mut facts = super::pointwise::derived(before);
    if before.grad != Grad::Off || !before.dtype.is_some_and(Dtype::is_integral) {
        facts.grad = Grad::Unknown;
    }
    cx.it.heap.overwrite(id, facts);
}

/// Replaces the elements. The shape, dtype, device and gradient state stay.
fn replace(cx: &mut Cx<'_, '_>, value: &Value, change: impl FnOnce(&mut Tensor)) -> Value {
    if let (Some(id), Some(before)) = (value.as_obj(), cx.tensor(value)) {
        check_leaf(cx, &before);
        let mut facts = before.clone();
        facts.forget_values();
        change(&mut facts);
        cx.it.heap.overwrite(id, facts);
    }
    value.clone()
}

fn forget(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    replace(cx, &b.get("input"), |_| {})
}

/// The number as an element of a dtype.
pub(in crate::library::torch) fn cast_number(x: f64, dtype: Option<Dtype>) -> Option<f64> {
    match dtype?.kind() {
        Kind::Bool => Some(f64::from(u8::from(x != 0.0))),
        Kind::Integral => Some(x.trunc()),
        Kind::Floating => Some(x),
        Kind::Complex => None,
    }
}

/// `zero_` and `fill_`.
fn fill(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (input, value) = (b.get("input"), b.get("value"));
    let number = if cx.name() == "zero_" { Some(0.0) } else { value.as_f64() };
    if let Some(tensor) = cx.tensor(&value)
        && tensor.rank().is_some_and(|rank| rank > 0)
    {
        super::support::refuse_rank(cx, ("value", &tensor), "a value without dimensions");
    }
    let at = cx.at();
    replace(cx, &input, |t| {
        if let Some(x) = number.and_then(|x| cast_number(x, t.dtype)) {
            set_range(t, Range::of_values(&[x]), at);
        }
    })
}

/// `torch.fill`: a tensor like the input with one value.
fn filled(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = super::support::tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let at = cx.at();
    let mut out = super::pointwise::derived(&input);
    if let Some(x) = b.get("value").as_f64().and_then(|x| cast_number(x, input.dtype)) {
        set_range(&mut out, Range::of_values(&[x]), at);
    }
    out.grad = Grad::Unknown;
    cx.out(out)
}

/// `copy_` broadcasts, casts and moves.
fn copy(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let input = b.get("input");
    let (Some(id), Some(before)) = (input.as_obj(), cx.tensor(&input)) else { return input };
    let Some(src) = cx.tensor(&b.get("src")) else {
        check_leaf(cx, &before);
        forget_all(cx, id, &before);
        return input;
    };
    check_leaf(cx, &before);
    if let (Some(have), Some(new)) = (&before.shape, &src.shape) {
        let fits = broadcast_pair(have, new).is_ok_and(|joined| {
            joined.len() == have.len() && have.iter().zip(&joined).all(|(a, b)| a.size.equals(&b.size) != Some(false))
        });
        if !fits {
            let message = format!(
                "`src` is {}, which does not broadcast to {}, the shape of the tensor",
                shape_text(&src),
                shape_text(&before)
            );
            let reads = vec![shape_read(("src", &src), None), shape_read(("the tensor", &before), None)];
            cx.reject(RejectKind::Shape, message, reads);
        }
    }
    let mut facts = super::pointwise::derived(&before);
    let whole = facts.dtype.is_some_and(Dtype::is_integral) && src.dtype.is_some_and(|d| !d.is_integral());
    if facts.dtype != Some(Dtype::Bool) && src.dtype.is_some_and(|d| !d.is_complex()) {
        let range = src.range.as_ref().map(|r| if whole { r.map(f64::trunc) } else { r.clone() });
        set_range(&mut facts, range, src.range_at);
        if before.sizes() == src.sizes()
            && let Some(data) = &src.data
        {
            let data = data.iter().map(|x| if whole { x.trunc() } else { *x }).collect();
            set_data(&mut facts, data, src.range_at);
        }
        facts.role = src.role;
        facts.role_at = src.role_at;
    }
    facts.grad = match (before.grad, src.grad, grad_mode(cx)) {
        _ if before.dtype.is_some_and(Dtype::is_integral) => Grad::Off,
        (have, Grad::Off, _) | (have, _, Some(false)) => have,
        (_, Grad::Leaf | Grad::Attached, Some(true)) if before.dtype.is_some() => Grad::Attached,
        _ => Grad::Unknown,
    };
    cx.it.heap.overwrite(id, facts);
    input
}

/// Rejects an out-of-range parameter of a distribution.
fn refuse_number(cx: &mut Cx<'_, '_>, b: &Bound, name: &str, fits: impl Fn(f64) -> bool, wanted: &str) {
    if let Some(x) = b.get(name).as_f64()
        && !fits(x)
    {
        let message = format!("`{name}` is {x}: for {}, it must be {wanted}", cx.name());
        cx.reject(RejectKind::Value, message, vec![(format!("`{name}` is given here"), b.span(name))]);
    }
}

/// Fills a tensor with samples of a distribution. `geometric_` and `bernoulli_` accept integer
/// tensors, `uniform_` and `cauchy_` reject them, and the other methods reject them only if they
/// have elements.
fn random(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let name = cx.name();
    let integers = matches!(name, "geometric_" | "bernoulli_");
    if let Some(input) = cx.tensor(&b.get("input")) {
        super::generator::check(cx, b, &input);
    }
    if let Some(input) = cx.tensor(&b.get("input"))
        && !integers
        && input.dtype.is_some_and(Dtype::is_integral)
        && (matches!(name, "uniform_" | "cauchy_") || super::gather::has_elements(&input))
    {
        refuse_dtype(cx, ("input", &input), "draws floating-point numbers only");
    }
    match name {
        "normal_" => refuse_number(cx, b, "std", |x| x >= 0.0, "0 or more"),
        "exponential_" => refuse_number(cx, b, "lambd", |x| x > 0.0, "above 0"),
        "geometric_" => refuse_number(cx, b, "p", |x| x > 0.0 && x < 1.0, "between 0 and 1"),
        "cauchy_" => refuse_number(cx, b, "sigma", |x| x > 0.0, "above 0"),
        "log_normal_" => refuse_number(cx, b, "std", |x| x > 0.0, "above 0"),
        "bernoulli_" => refuse_number(cx, b, "p", |x| (0.0..=1.0).contains(&x), "from 0 to 1"),
        _ => {}
    }
    let ends = (b.get("from").as_f64(), b.get("to").as_f64());
    if let ("uniform_", (Some(from), Some(to))) = (name, ends)
        && from > to
    {
        let message = format!("`from` is {from} and `to` is {to}: `from` must not be greater than `to`");
        cx.reject(RejectKind::Value, message, vec![("`from` is given here".to_owned(), b.span("from"))]);
        return b.get("input");
    }
    let at = cx.at();
    replace(cx, &b.get("input"), |t| match (name, ends) {
        ("uniform_", (Some(from), Some(to))) => bound(t, from, to, at),
        ("bernoulli_", _) => bound(t, 0.0, 1.0, at),
        ("exponential_" | "log_normal_", _) => bound(t, 0.0, f64::INFINITY, at),
        _ => {}
    })
}

/// `random_(from, to)`: integers that are at least `from` and less than `to`.
fn random_integers(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let has = |name: &str| b.takes(name);
    let from = if has("from") { b.get("from").as_int() } else { Some(0) };
    let to = b.get("to").as_int();
    if let Some(input) = cx.tensor(&b.get("input")) {
        super::generator::check(cx, b, &input);
    }
    if let (Some(from), Some(to)) = (from, to)
        && has("to")
        && from >= to
    {
        let message = format!("`from` is {from} and `to` is {to}: `from` must be less than `to`");
        cx.reject(RejectKind::Value, message, vec![("`to` is given here".to_owned(), b.span("to"))]);
        return b.get("input");
    }
    let at = cx.at();
    replace(cx, &b.get("input"), |t| {
        if let (Some(from), Some(last)) = (from, to.and_then(|to| to.checked_sub(1))) {
            #[expect(clippy::cast_precision_loss, reason = "only a bound of a range")]
            set_range(t, Some(Range::bounds(from as f64, last as f64)), at);
        }
    })
}

/// `resize_` and similar methods: the tensor gets another shape, and new elements are
/// uninitialised.
fn resize(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let input = b.get("input");
    let (Some(id), Some(mut facts)) = (input.as_obj(), cx.tensor(&input)) else { return input };
    facts.forget_values();
    let at = cx.at();
    let sizes = match cx.name() {
        "resize_as_" => cx.tensor(&b.get("the_template")).and_then(|t| t.sizes()),
        "as_strided_" => cx.sizes(&[b.get("size")]),
        _ => cx.sizes(&b.rest_values()),
    };
    facts = match sizes {
        Some(sizes) => facts.with_shape(sizes, at),
        None => Tensor { shape: None, shape_at: None, ..facts },
    };
    cx.it.heap.overwrite(id, facts);
    input
}
