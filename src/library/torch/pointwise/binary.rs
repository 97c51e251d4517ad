//! Elementwise functions of two tensors, or of a tensor and a number.

use crate::library::torch::autocast::raised;
use crate::library::torch::broadcast::{Mix, Named, common_device, dtype_read, elementwise};
use crate::library::torch::picks;
use crate::library::torch::promotion::{Operand, is_numpy, numpy_result_type, result_type};
use crate::library::torch::support::{
    bound, give, is_no_tensor, map_data, map_values, operand, refuse_mixed, set_range,
};
use crate::library::torch::views::layout;
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{ArrayKind, Device, Dtype, Grad, Kind, Past, Range, Role, Size, Tensor, Type, Value, kind_text};

/// The operands that a binary function accepts, and the dtype of its result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule {
    /// Whether the first operand may be a Python number.
    pub left_number: bool,
    /// Whether the second operand may be a Python number.
    pub right_number: bool,
    pub gives: Gives,
    /// Kinds of the common dtype that the function rejects.
    pub refuses: &'static [Kind],
}

/// The dtype of a result, from the common dtype of the operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gives {
    Common,
    /// Integers become floats.
    Float,
    Bool,
    /// `float64` or `complex128`.
    Double,
}

const NONE: &[Kind] = &[];
const BOOL: &[Kind] = &[Kind::Bool];
const COMPLEX: &[Kind] = &[Kind::Complex];
const BOOL_COMPLEX: &[Kind] = &[Kind::Bool, Kind::Complex];
const FLOATS: &[Kind] = &[Kind::Floating, Kind::Complex];
const NOT_INTEGRAL: &[Kind] = &[Kind::Bool, Kind::Floating, Kind::Complex];
const NOT_FLOAT: &[Kind] = &[Kind::Bool, Kind::Integral, Kind::Complex];
const INTEGERS: &[Kind] = &[Kind::Bool, Kind::Integral];

impl Rule {
    /// A rule for two tensors.
    pub(crate) const fn tensors(gives: Gives, refuses: &'static [Kind]) -> Rule {
        Rule { left_number: false, right_number: false, gives, refuses }
    }

    /// A rule for a tensor as the first operand, and a tensor or a number as the second.
    const fn second(gives: Gives, refuses: &'static [Kind]) -> Rule {
        Rule { left_number: false, right_number: true, gives, refuses }
    }

    /// A rule for two operands, each of which is a tensor or a number.
    const fn any(gives: Gives, refuses: &'static [Kind]) -> Rule {
        Rule { left_number: true, right_number: true, gives, refuses }
    }
}

pub(crate) fn register(t: &mut Table) {
    // Two numbers are also allowed, and give a tensor: `torch.add(1, 2)`.
    t.listed("torch.", "add", |cx, b| binary(cx, b, Rule::any(Gives::Common, NONE)));
    t.listed("torch.", "mul multiply", |cx, b| binary(cx, b, Rule::any(Gives::Common, NONE)));
    t.listed("torch.", "sub subtract", |cx, b| binary(cx, b, Rule::any(Gives::Common, BOOL)));
    t.listed("torch.", "rsub", |cx, b| binary(cx, b, Rule::second(Gives::Common, BOOL)));
    t.listed("torch.", "div divide", divide);
    t.listed("torch.", "true_divide", |cx, b| binary(cx, b, Rule::any(Gives::Float, NONE)));
    t.listed("torch.", "floor_divide remainder", |cx, b| binary(cx, b, Rule::any(Gives::Common, BOOL_COMPLEX)));
    t.listed("torch.", "fmod", |cx, b| binary(cx, b, Rule::second(Gives::Common, BOOL_COMPLEX)));
    t.listed("torch.", "pow", pow);
    t.listed("torch.", "float_power", |cx, b| binary(cx, b, Rule::any(Gives::Double, NONE)));
    t.listed("torch.", "maximum minimum fmax fmin", |cx, b| binary(cx, b, Rule::tensors(Gives::Common, COMPLEX)));
    t.listed("torch.", "atan2 arctan2", |cx, b| binary(cx, b, Rule::tensors(Gives::Float, COMPLEX)));
    t.listed("torch.", "ldexp", |cx, b| binary(cx, b, Rule::tensors(Gives::Float, NONE)));
    t.listed("torch.", "copysign", |cx, b| binary(cx, b, Rule::second(Gives::Float, COMPLEX)));
    t.listed("torch.", "xlogy", |cx, b| binary(cx, b, Rule::any(Gives::Float, COMPLEX)));
    t.listed("torch.special.", "xlogy xlog1py zeta", |cx, b| binary(cx, b, Rule::any(Gives::Float, COMPLEX)));
    t.listed("torch.", "logaddexp", |cx, b| binary(cx, b, Rule::tensors(Gives::Common, INTEGERS)));
    t.listed("torch.", "logaddexp2 hypot nextafter igamma igammac", |cx, b| {
        binary(cx, b, Rule::tensors(Gives::Common, NOT_FLOAT))
    });
    t.listed("torch.special.", "gammainc gammaincc", |cx, b| binary(cx, b, Rule::tensors(Gives::Common, NOT_FLOAT)));
    t.listed(
        "torch.special.",
        "chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w \
         hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p \
         shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v \
         shifted_chebyshev_polynomial_w",
        |cx, b| binary(cx, b, Rule::any(Gives::Float, COMPLEX)),
    );
    t.listed("torch.", "bitwise_and bitwise_or bitwise_xor", |cx, b| binary(cx, b, Rule::any(Gives::Common, FLOATS)));
    t.listed("torch.", "bitwise_left_shift bitwise_right_shift", |cx, b| {
        binary(cx, b, Rule::any(Gives::Common, NOT_INTEGRAL))
    });
    t.listed("torch.", "gcd lcm", |cx, b| binary(cx, b, Rule::tensors(Gives::Common, NOT_INTEGRAL)));
    t.listed("torch.", "logical_and logical_or logical_xor", |cx, b| binary(cx, b, Rule::tensors(Gives::Bool, NONE)));
    t.listed("torch.", "eq ne not_equal", |cx, b| binary(cx, b, Rule::second(Gives::Bool, NONE)));
    t.listed("torch.", "lt le gt ge less less_equal greater greater_equal", |cx, b| {
        binary(cx, b, Rule::second(Gives::Bool, COMPLEX))
    });
    t.listed("torch.", "heaviside", heaviside);
    t.listed("torch.", "isclose", isclose);
    t.listed("torch.", "allclose", |cx, b| {
        isclose(cx, b);
        Value::Any(Type::Bool)
    });
    t.listed("torch.", "equal", equal);
    t.listed("torch.", "dist", dist);
    t.listed("torch.", "complex", complex);
    t.listed("torch.", "polar", complex);
}

/// The two operands of a call, with their names. Each must be a tensor or, where the function
/// accepts one, a number; otherwise, the call is rejected and the result is `None`.
fn operands(cx: &mut Cx<'_, '_>, b: &Bound, rule: Rule) -> Option<[(&'static str, Operand); 2]> {
    let mut names = b.sig.params.iter().map(|p| p.name.as_str());
    let (left, right) = (names.next()?, names.next()?);
    let (x, y) = (b.get(left), b.get(right));
    for (name, value, number) in [(left, &x, rule.left_number), (right, &y, rule.right_number)] {
        let wrong = if number { value.number_type().is_none() } else { true };
        if b.given(name) && wrong && is_no_tensor(cx, value) {
            let or = if number { "a tensor or a number" } else { "a tensor" };
            let message = format!("`{name}` must be {or}, but it is {}", kind_text(&cx.it.heap, value));
            cx.reject(RejectKind::Value, message, vec![(format!("`{name}` is given here"), b.span(name))]);
            return None;
        }
    }
    // Only a few functions accept two numbers.
    let both = x.number_type().is_some() && y.number_type().is_some();
    let torch_only = !matches!(
        cx.name(),
        "add" | "sub" | "mul" | "div" | "subtract" | "multiply" | "divide" | "true_divide" | "floor_divide"
    );
    if both && torch_only {
        let message = format!("both arguments are numbers: {} takes at least one tensor", cx.name());
        cx.reject(RejectKind::Value, message, vec![(format!("`{left}` is given here"), b.span(left))]);
        return None;
    }
    let pick = |cx: &Cx<'_, '_>, v: &Value| {
        let plain = Operand::of(cx, v);
        if plain.tensor().is_some_and(|t| t.array == ArrayKind::Numpy) {
            (operand(cx, v), plain)
        } else {
            (plain.clone(), plain)
        }
    };
    let ((x, plain_x), (y, plain_y)) = (pick(cx, &x), pick(cx, &y));
    // NumPy's functions of two arrays use the same models.
    if is_numpy(&[plain_x.clone(), plain_y.clone()]) {
        return Some([(left, plain_x), (right, plain_y)]);
    }
    Some([(left, x), (right, y)])
}

/// A binary function, applied to the first two arguments of the call.
pub(crate) fn binary(cx: &mut Cx<'_, '_>, b: &Bound, rule: Rule) -> Value {
    let Some(operands) = operands(cx, b, rule) else { return cx.some_tensor() };
    match combine(cx, &operands, rule) {
        Some(mut out) => {
            alpha(cx, b, &mut out);
            let made = give(cx, b, out);
            if let (Some(first), false) = (operands[0].1.tensor(), b.given("out")) {
                layout::kept(cx, &made, first);
            }
            if rule.gives == Gives::Bool {
                let mut names = b.sig.params.iter().map(|p| b.get(p.name.as_str()));
                if let (Some(left), Some(right)) = (names.next(), names.next()) {
                    picks::note(cx, cx.name(), &left, &right, &made);
                }
            }
            made
        }
        None => cx.some_tensor(),
    }
}

/// `alpha=` scales the second operand.
fn alpha(cx: &mut Cx<'_, '_>, b: &Bound, out: &mut Tensor) {
    if !b.given("alpha") {
        return;
    }
    let alpha = b.get("alpha");
    if alpha.as_f64() != Some(1.0) {
        out.forget_values();
    }
    let integral = out.dtype.is_some_and(Dtype::is_integral);
    if integral && matches!(alpha.number_type(), Some(Type::Float | Type::Complex)) {
        let message = "`alpha` is a floating-point number, but the tensors hold integers".to_owned();
        cx.reject(RejectKind::Dtype, message, vec![("`alpha` is given here".to_owned(), b.span("alpha"))]);
    }
}

/// The common dtype of operands after promotion by PyTorch or NumPy.
fn common_dtype(cx: &Cx<'_, '_>, operands: &[Operand], rule: Rule) -> Option<Dtype> {
    let default = cx.default_dtype();
    if is_numpy(operands) {
        let common = numpy_result_type(operands)?;
        return Some(match rule.gives {
            Gives::Bool => Dtype::Bool,
            Gives::Float if common.is_integral() => Dtype::Float64,
            _ => common,
        });
    }
    if rule.gives == Gives::Bool {
        return Some(Dtype::Bool);
    }
    let common = result_type(operands, default)?;
    Some(match rule.gives {
        Gives::Common | Gives::Bool => common,
        Gives::Float if common.is_integral() => default?,
        Gives::Float => common,
        Gives::Double if common.is_complex() => Dtype::Complex128,
        Gives::Double => Dtype::Float64,
    })
}

/// The result of a binary function of these operands; `None` after a rejection.
pub(crate) fn combine(cx: &mut Cx<'_, '_>, operands: &[(&'static str, Operand); 2], rule: Rule) -> Option<Tensor> {
    let [(left, x), (right, y)] = operands;
    let plain = [x.clone(), y.clone()];
    let numpy = is_numpy(&plain);
    if !numpy && refused(cx, operands, rule) {
        return None;
    }
    let mut dtype = common_dtype(cx, &plain, rule);
    if matches!(cx.name(), "pow" | "dist") && !numpy {
        let lifted = plain.each_ref().map(|o| match o {
            Operand::Tensor(t) => Operand::Tensor(Box::new(Tensor { dtype: raised(cx, t), ..Tensor::clone(t) })),
            other => other.clone(),
        });
        dtype = common_dtype(cx, &lifted, rule);
    }
    let tensors: Vec<Named<'_>> =
        [(*left, x), (*right, y)].into_iter().filter_map(|(n, o)| o.tensor().map(|t| (n, t))).collect();
    let unknown = plain.iter().any(|o| matches!(o, Operand::Unknown));
    if tensors.is_empty() {
        if unknown {
            return Some(Tensor { dtype: dtype.filter(|_| rule.gives == Gives::Bool), ..Tensor::default() });
        }
        // Both operands are numbers.
        let at = cx.at();
        let out = Tensor { grad: Grad::Off, ..Tensor::default() };
        return Some(out.with_shape(Vec::new(), at).with_dtype(dtype, at).with_device(Some(Device::CPU), at));
    }
    let mix = if matches!(cx.name(), "complex" | "polar") { Mix::Strict } else { Mix::CpuScalars };
    let mut out = elementwise(cx, &tensors, dtype, mix);
    if unknown {
        give_up(&mut out, &tensors);
    } else if !numpy || dtype.is_some() {
        values(cx, x, y, &mut out);
    }
    if rule.gives == Gives::Bool {
        let at = cx.at();
        bound(&mut out, 0.0, 1.0, at);
    }
    Some(out)
}

/// Forgets the facts of a result that depend on an unknown operand, which may be a tensor of any
/// shape.
fn give_up(out: &mut Tensor, tensors: &[Named<'_>]) {
    out.shape = None;
    out.shape_at = None;
    if !tensors.iter().any(|(_, t)| t.rank().is_some_and(|r| r > 0) || t.device.is_some_and(|d| !d.is_cpu())) {
        out.device = None;
        out.device_at = None;
    }
    if out.grad == Grad::Off && !out.dtype.is_some_and(Dtype::is_integral) {
        out.grad = Grad::Unknown;
    }
}

/// Reports a kind of dtype that the function does not accept.
fn refused(cx: &mut Cx<'_, '_>, operands: &[(&'static str, Operand); 2], rule: Rule) -> bool {
    let [(_, x), (_, y)] = operands;
    let default = cx.default_dtype();
    let name = cx.name();
    let kinds = [x, y].map(|o| o.dtype(default).filter(|d| !matches!(d, Dtype::Other(_))).map(Dtype::kind));
    let subtraction = matches!(name, "sub" | "subtract" | "rsub");
    let kind = if subtraction {
        // One bool operand is enough for a rejection.
        kinds.into_iter().flatten().find(|k| *k == Kind::Bool)
    } else {
        // The highest kind decides; if one kind is unknown, the other is a lower bound.
        match kinds {
            [Some(a), Some(b)] => Some(a.max(b)),
            [Some(a), None] | [None, Some(a)] => {
                let above = [Kind::Bool, Kind::Integral, Kind::Floating, Kind::Complex].into_iter().filter(|k| *k >= a);
                Some(a).filter(|_| above.into_iter().all(|k| rule.refuses.contains(&k)))
            }
            _ => None,
        }
    };
    let Some(kind) = kind.filter(|k| rule.refuses.contains(k)) else { return false };
    if subtraction && [x, y].iter().all(|o| o.tensor().is_none()) {
        return false;
    }
    let what = match kind {
        Kind::Bool if subtraction && kinds == [Some(Kind::Bool); 2] => "does not take bool tensors (use `logical_xor`)",
        Kind::Bool if subtraction => "does not take bool tensors (cast the mask, or use `~` to invert it)",
        Kind::Bool => "does not take bool tensors",
        Kind::Integral => "does not take integer tensors",
        Kind::Floating if rule.refuses.contains(&Kind::Bool) => "takes integers only",
        Kind::Floating => "takes integers and bools only",
        Kind::Complex => "does not take complex numbers",
    };
    let text = |o: &Operand| o.dtype(default).map_or("unknown", Dtype::name);
    let message = format!("the operands are {} and {}: {name} {what}", text(x), text(y));
    let mut reads = Vec::new();
    for (name, operand) in operands {
        if let Some(tensor) = operand.tensor() {
            reads.push(dtype_read((name, tensor)));
        }
    }
    cx.reject(RejectKind::Dtype, message, reads);
    true
}

/// The effect of the function on the values of the elements.
fn values(cx: &Cx<'_, '_>, x: &Operand, y: &Operand, out: &mut Tensor) {
    let at = cx.at();
    let name = cx.name();
    if out.dtype.is_none_or(Dtype::is_complex) {
        return;
    }
    match (x, y) {
        (Operand::Tensor(x), Operand::Number(_, Some(n))) => scaled(name, x, *n, out, at),
        (Operand::Number(_, Some(n)), Operand::Tensor(x)) => {
            let n = *n;
            match name {
                "add" | "mul" | "multiply" => scaled(name, x, n, out, at),
                "sub" | "subtract" => map_values(out, x, at, |v| n - v),
                _ => {}
            }
        }
        (Operand::Tensor(x), Operand::Tensor(y)) => {
            let (Some(a), Some(b)) = (&x.range, &y.range) else { return };
            set_range(out, pairwise(name, a, b), at);
        }
        _ => {}
    }
}

/// The effect of a function of a tensor and a number on the values of the elements.
fn scaled(name: &str, x: &Tensor, n: f64, out: &mut Tensor, at: crate::value::Origin) {
    let integral = out.dtype.is_some_and(Dtype::is_integral);
    match name {
        "add" => map_values(out, x, at, |v| v + n),
        "sub" | "subtract" => map_values(out, x, at, |v| v - n),
        "rsub" => map_values(out, x, at, |v| n - v),
        "mul" | "multiply" => map_values(out, x, at, |v| v * n),
        "div" | "divide" | "true_divide" if n != 0.0 => map_values(out, x, at, |v| v / n),
        "floor_divide" if n > 0.0 => map_values(out, x, at, |v| (v / n).floor()),
        "remainder" if n > 0.0 => {
            let top = if integral { n - 1.0 } else { n };
            match &x.range {
                Some(r) if r.lo() >= 0.0 && r.hi() < n => set_range(out, Some(r.clone()), at),
                _ => bound(out, 0.0, top, at),
            }
            map_data(out, x, at, |v| v.rem_euclid(n));
        }
        "bitwise_and" | "__and__" if n >= 0.0 && integral && out.dtype != Some(Dtype::Bool) => bound(out, 0.0, n, at),
        _ => return,
    }
    let bytes = x.dtype == Some(Dtype::Uint8) || x.range.as_ref().is_some_and(|r| r.lo() >= 0.0 && r.hi() <= 255.0);
    out.past = match name {
        "mul" | "multiply" if n == 255.0 => x.past.restored(),
        "div" | "divide" | "true_divide" if n == 255.0 && bytes => x.past.divided(at),
        _ => Past::default(),
    };
    // Logits times a positive number are still logits.
    let keeps = matches!(name, "mul" | "multiply" | "div" | "divide" | "true_divide") && n > 0.0;
    if keeps && x.role == Some(Role::Logits) {
        out.role = x.role;
        out.role_at = x.role_at;
    }
}

/// The range of a function of two tensors with known ranges.
fn pairwise(name: &str, a: &Range, b: &Range) -> Option<Range> {
    Some(match name {
        "add" => Range::bounds(a.lo() + b.lo(), a.hi() + b.hi()),
        "sub" | "subtract" => Range::bounds(a.lo() - b.hi(), a.hi() - b.lo()),
        "rsub" => Range::bounds(b.lo() - a.hi(), b.hi() - a.lo()),
        "mul" | "multiply" => {
            let ends = [a.lo() * b.lo(), a.lo() * b.hi(), a.hi() * b.lo(), a.hi() * b.hi()];
            if ends.iter().any(|x| x.is_nan()) {
                return None;
            }
            Range::bounds(
                ends.iter().copied().fold(f64::INFINITY, f64::min),
                ends.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            )
        }
        "maximum" => Range::bounds(a.lo().max(b.lo()), a.hi().max(b.hi())),
        "minimum" => Range::bounds(a.lo().min(b.lo()), a.hi().min(b.hi())),
        _ => return None,
    })
}

/// `div`. With a `rounding_mode`, the quotient of integers has an integer dtype.
fn divide(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let mode = b.get("rounding_mode");
    if mode.is_none() {
        return binary(cx, b, Rule::any(Gives::Float, NONE));
    }
    let Some(text) = mode.as_str().map(str::to_owned) else {
        let Some(operands) = operands(cx, b, Rule::any(Gives::Float, NONE)) else { return cx.some_tensor() };
        return match combine(cx, &operands, Rule::any(Gives::Float, NONE)) {
            Some(mut out) => {
                out.forget_values();
                out.dtype = out.dtype.filter(|_| false);
                give(cx, b, out)
            }
            None => cx.some_tensor(),
        };
    };
    if text != "trunc" && text != "floor" {
        let message = format!("`rounding_mode` is {text:?}, but must be None, \"trunc\" or \"floor\"");
        cx.reject(
            RejectKind::Value,
            message,
            vec![("`rounding_mode` is given here".to_owned(), b.span("rounding_mode"))],
        );
        return cx.some_tensor();
    }
    let rule = Rule::any(Gives::Common, BOOL_COMPLEX);
    let Some(operands) = operands(cx, b, rule) else { return cx.some_tensor() };
    match combine(cx, &operands, rule) {
        Some(mut out) => {
            // The ranges that `combine` computes are for true division.
            out.forget_values();
            give(cx, b, out)
        }
        None => cx.some_tensor(),
    }
}

/// Rejects an integer tensor with a negative integer as its exponent. (An exponent that is a tensor
/// may be negative.)
fn pow(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let rule = Rule::any(Gives::Common, NONE);
    let Some(operands) = operands(cx, b, rule) else { return cx.some_tensor() };
    let [(_, base), (_, exponent)] = &operands;
    if let (Operand::Tensor(x), Operand::Number(Type::Int, Some(n))) = (base, exponent)
        && *n < 0.0
        && x.dtype.is_some_and(|d| d.kind() == Kind::Integral)
    {
        let message = format!("`input` holds integers and the exponent is {n}: integers have no negative powers");
        cx.reject(RejectKind::Value, message, vec![dtype_read(("input", x))]);
        return cx.some_tensor();
    }
    let square = matches!(exponent, Operand::Number(_, Some(n)) if *n == 2.0);
    let input = base.tensor().cloned();
    match combine(cx, &operands, rule) {
        Some(mut out) => {
            let at = cx.at();
            if let Some(input) = input
                && square
                && !out.dtype.is_none_or(Dtype::is_complex)
            {
                let top = input.range.as_ref().map_or(f64::INFINITY, |r| r.hi().abs().max(r.lo().abs()));
                set_range(&mut out, Some(Range::bounds(0.0, top * top)), at);
                map_data(&mut out, &input, at, |x| x * x);
            }
            give(cx, b, out)
        }
        None => cx.some_tensor(),
    }
}

fn named(operands: &[(&'static str, Operand); 2]) -> Vec<(&'static str, Tensor)> {
    operands.iter().filter_map(|(n, o)| o.tensor().map(|t| (*n, t.clone()))).collect()
}

fn heaviside(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let rule = Rule::tensors(Gives::Common, COMPLEX);
    let Some(operands) = operands(cx, b, rule) else { return cx.some_tensor() };
    let all = named(&operands);
    let all: Vec<Named<'_>> = all.iter().map(|(n, t)| (*n, t)).collect();
    if refuse_mixed(cx, &all) {
        return cx.some_tensor();
    }
    match combine(cx, &operands, rule) {
        Some(out) => give(cx, b, out),
        None => cx.some_tensor(),
    }
}

fn isclose(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let rule = Rule::tensors(Gives::Bool, NONE);
    let Some(operands) = operands(cx, b, rule) else { return cx.some_tensor() };
    for name in ["rtol", "atol"] {
        if let Some(x) = b.get(name).as_f64()
            && x < 0.0
        {
            let message = format!("`{name}` is {x}: it must not be negative");
            cx.reject(RejectKind::Value, message, vec![(format!("`{name}` is given here"), b.span(name))]);
            return cx.some_tensor();
        }
    }
    let all = named(&operands);
    let all: Vec<Named<'_>> = all.iter().map(|(n, t)| (*n, t)).collect();
    if refuse_mixed(cx, &all) {
        return cx.some_tensor();
    }
    match combine(cx, &operands, rule) {
        Some(out) => cx.out(out),
        None => cx.some_tensor(),
    }
}

/// `torch.equal` accepts tensors of different shapes: the result is then `False`.
fn equal(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(operands) = operands(cx, b, Rule::tensors(Gives::Bool, NONE)) else { return Value::Any(Type::Bool) };
    let all = named(&operands);
    let all: Vec<Named<'_>> = all.iter().map(|(n, t)| (*n, t)).collect();
    common_device(cx, &all, Mix::Strict);
    Value::Any(Type::Bool)
}

/// The norm of a difference, as a 0-d tensor.
fn dist(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let rule = Rule::tensors(Gives::Common, INTEGERS);
    let Some(operands) = operands(cx, b, rule) else { return cx.some_tensor() };
    match combine(cx, &operands, rule) {
        Some(mut out) => {
            out.forget_values();
            let at = cx.at();
            let dtype = out.dtype.map(Dtype::to_real);
            let out = out.with_shape(Vec::<Size>::new(), at).with_dtype(dtype, at);
            cx.out(out)
        }
        None => cx.some_tensor(),
    }
}

/// A complex tensor from two real tensors of the same dtype.
fn complex(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let rule = Rule::tensors(Gives::Common, NOT_FLOAT);
    let Some(operands) = operands(cx, b, rule) else { return cx.some_tensor() };
    let all = named(&operands);
    let all: Vec<Named<'_>> = all.iter().map(|(n, t)| (*n, t)).collect();
    let real = |d: Dtype| matches!(d, Dtype::Float16 | Dtype::Float32 | Dtype::Float64 | Dtype::Bfloat16);
    if let Some(wrong) = all.iter().find(|(_, t)| t.dtype.is_some_and(|d| !real(d))) {
        crate::library::torch::support::refuse_dtype(cx, *wrong, "takes half, float or double only");
        return cx.some_tensor();
    }
    if refuse_mixed(cx, &all) {
        return cx.some_tensor();
    }
    match combine(cx, &operands, rule) {
        Some(mut out) => {
            out.forget_values();
            let dtype = out.dtype.filter(|d| *d != Dtype::Bfloat16).map(Dtype::to_complex);
            let at = cx.at();
            let out = out.with_dtype(dtype, at);
            crate::library::torch::support::give_with(cx, b, out, crate::library::torch::support::Cast::Refused)
        }
        None => cx.some_tensor(),
    }
}
