//! Elementwise functions of three operands: selection, clamping, interpolation.

use super::derived;
use crate::library::torch::broadcast::{Mix, Named, common_device, elementwise, result_grad};
use crate::library::torch::carry;
use crate::library::torch::convert::python_number;
use crate::library::torch::picks;
use crate::library::torch::promotion::{Operand, result_type};
use crate::library::torch::support::{
    give, is_no_tensor, map_data, operand, refuse_dtype, refuse_mixed, set_range, tensor_param,
};
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, Grad, Kind, Range, Role, Size, Tensor, Type, Value, kind_text};

pub(crate) fn register(t: &mut Table) {
    t.listed("torch.", "clamp clip", clamp);
    t.listed("torch.", "clamp_min", clamp);
    t.listed("torch.", "clamp_max", clamp);
    t.defs("torch.where", &["condition, input, other, *, out=None", "condition"], choose);
    t.listed("torch.Tensor.", "where", choose);
    t.listed("torch.", "lerp", lerp);
    t.listed("torch.", "addcmul addcdiv", addc);
    t.def("torch.isin", "elements, test_elements, *, assume_unique=False, invert=False, out=None", isin);
    t.listed("torch.", "fake_quantize_per_tensor_affine", same);
    t.listed("torch.", "fake_quantize_per_channel_affine", same);
}

/// A result with the shape and dtype of the input.
fn same(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    let out = derived(&input);
    cx.out(out)
}

/// If one of `min` and `max` is a number, the other must be a number or a 0-d tensor.
fn clamp(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let has = |name: &str| b.takes(name);
    let ends: Vec<(&'static str, Value)> =
        ["min", "max"].into_iter().filter(|n| has(n)).map(|n| (n, b.get(n))).filter(|(_, v)| !v.is_none()).collect();
    let Some(input) = tensor_param(cx, b, "input") else { return cx.some_tensor() };
    if ends.is_empty() {
        let message = "neither `min` nor `max` is given: at least one is needed";
        cx.reject(RejectKind::Value, message, Vec::new());
        return cx.some_tensor();
    }
    let mut operands = vec![Operand::Tensor(Box::new(input.clone()))];
    for (_, value) in &ends {
        operands.push(operand(cx, value));
    }
    let kind = input.dtype.filter(|d| !matches!(d, Dtype::Other(_))).map(Dtype::kind);
    if kind == Some(Kind::Complex) {
        refuse_dtype(cx, ("input", &input), "does not take complex numbers");
        return cx.some_tensor();
    }
    let complex = operands.iter().skip(1).position(|o| matches!(o, Operand::Number(Type::Complex, _)));
    if let Some((name, _)) = complex.and_then(|at| ends.get(at)) {
        let message = format!("`{name}` is complex: {} does not take complex numbers", cx.name());
        cx.reject(RejectKind::Dtype, message, Vec::new());
        return cx.some_tensor();
    }
    let numbers = operands.iter().skip(1).any(|o| matches!(o, Operand::Number(..)));
    let tensors = operands.iter().skip(1).any(|o| o.tensor().is_some());
    if numbers && tensors {
        // If the other bound is a number, a 0-d tensor is accepted and used like a number.
        for operand in operands.iter_mut().skip(1) {
            let Some(tensor) = operand.tensor() else { continue };
            *operand = match tensor.rank() {
                Some(0) => Operand::of(cx, &python_number(None, tensor.dtype)),
                Some(_) => {
                    let message = "one of `min` and `max` is a number and the other a tensor of one dimension or more: \
                                   both must be numbers or both tensors";
                    cx.reject(RejectKind::Value, message, Vec::new());
                    return cx.some_tensor();
                }
                None => Operand::Unknown,
            };
        }
    }
    let tensors = operands.iter().skip(1).any(|o| o.tensor().is_some());
    let dtype = result_type(&operands, cx.default_dtype());
    let named: Vec<Named<'_>> = std::iter::once("input")
        .chain(ends.iter().map(|(n, _)| *n))
        .zip(&operands)
        .filter_map(|(n, o)| o.tensor().map(|t| (n, t)))
        .collect();
    let mut out = elementwise(cx, &named, dtype, Mix::Strict);
    if operands.iter().any(|o| matches!(o, Operand::Unknown)) {
        // An unknown operand is a number, or a tensor that broadcasts.
        out.shape = None;
        out.shape_at = None;
        return give(cx, b, out);
    }
    if !tensors {
        clamp_values(cx, &input, &ends, &mut out);
    }
    give(cx, b, out)
}

/// The range after clamping, if each given bound is a number.
fn clamp_values(cx: &Cx<'_, '_>, input: &Tensor, ends: &[(&'static str, Value)], out: &mut Tensor) {
    let at = cx.at();
    let end = |name: &str| ends.iter().find(|(n, _)| *n == name).map(|(_, v)| v.as_f64());
    let (lo, hi) = match (end("min"), end("max")) {
        (Some(None), _) | (_, Some(None)) => return,
        (lo, hi) => (lo.flatten().unwrap_or(f64::NEG_INFINITY), hi.flatten().unwrap_or(f64::INFINITY)),
    };
    // If min exceeds max, every element is max.
    let lo = lo.min(hi);
    match &input.range {
        Some(range) => set_range(out, Some(range.clamp(lo, hi)), at),
        // If the range of the input is unknown, only the bounds are known.
        None => set_range(out, Some(Range::bounds(lo, hi)), at),
    }
    // The bounds hold for every floating dtype. An integer dtype may not be able to represent them.
    if out.range.is_none() && out.dtype.is_some_and(Dtype::is_floating) {
        out.range = Some(Range::bounds(lo, hi));
        out.range_at = at;
    }
    map_data(out, input, at, |x| x.max(lo).min(hi));
    let squashed = matches!(input.role, Some(Role::Sigmoid | Role::Probabilities)) && lo >= 0.0 && hi <= 1.0;
    if squashed || input.role == Some(Role::Sigmoid) && lo <= 0.0 && hi >= 1.0 {
        out.role = input.role;
        out.role_at = input.role_at;
    }
}

/// `torch.where(condition, input, other)`.
fn choose(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if !b.takes("input") {
        return where_indices(cx, b);
    }
    let Some(condition) = tensor_param(cx, b, "condition") else { return cx.some_tensor() };
    if condition.dtype.is_some_and(|d| !matches!(d, Dtype::Bool | Dtype::Uint8)) {
        refuse_dtype(cx, ("condition", &condition), "takes a bool condition");
        return cx.some_tensor();
    }
    let operands = ["input", "other"].map(|name| (name, operand(cx, &b.get(name))));
    for (name, operand) in &operands {
        let value = b.get(name);
        if matches!(operand, Operand::Unknown) && is_no_tensor(cx, &value) {
            let message =
                format!("`{name}` must be a tensor or a number, but it is {}", kind_text(&cx.it.heap, &value));
            cx.reject(RejectKind::Value, message, vec![(format!("`{name}` is given here"), b.span(name))]);
            return cx.some_tensor();
        }
    }
    let [(_, x), (_, y)] = &operands;
    let dtype = result_type(&[x.clone(), y.clone()], cx.default_dtype());
    let mut named: Vec<Named<'_>> = vec![("condition", &condition)];
    for (name, operand) in &operands {
        if let Some(tensor) = operand.tensor() {
            named.push((name, tensor));
        }
    }
    let mut out = elementwise(cx, &named, dtype, Mix::CpuScalars);
    let sources: Vec<Named<'_>> = named.iter().skip(1).copied().collect();
    out.grad = if sources.is_empty() { Grad::Off } else { result_grad(cx, &sources, dtype) };
    if operands.iter().any(|(_, o)| matches!(o, Operand::Unknown)) {
        out.shape = None;
        out.shape_at = None;
        out.grad = Grad::Unknown;
        return give(cx, b, out);
    }
    let range = |o: &Operand| match o {
        Operand::Tensor(t) => t.range.clone(),
        Operand::Number(_, n) => n.map(|n| Range::bounds(n, n)),
        Operand::Unknown => None,
    };
    if let (Some(p), Some(q)) = (range(x), range(y)) {
        let at = cx.at();
        // It is not known which elements are selected, so the bounds of a tensor need not occur. A
        // number is assumed to be selected at least once.
        let single =
            |o: &Operand, r: Range| if matches!(o, Operand::Number(..)) { carry::claims(r, true, true) } else { r };
        let all = match (x, y) {
            (Operand::Number(..), Operand::Tensor(_)) => {
                let picked = picks::of(cx, &b.get("condition"), &b.get("other"));
                picks::replaced(&q, picked, &single(x, p))
            }
            // A tensor whose elements are all equal has the effect of a number.
            (Operand::Tensor(_), Operand::Tensor(_)) if p.certain && p.lo() == p.hi() => {
                let picked = picks::of(cx, &b.get("condition"), &b.get("other"));
                picks::replaced(&q, picked, &p)
            }
            (Operand::Tensor(_), Operand::Number(..)) => carry::chosen(&p, &single(y, q)),
            (Operand::Number(..), Operand::Number(..)) => carry::claims(p.union(&q), true, false),
            _ => carry::either(&p, &q),
        };
        set_range(&mut out, Some(all), at);
    }
    give(cx, b, out)
}

/// `torch.where(condition)`: like `nonzero(as_tuple=True)`, a tuple with one tensor per dimension.
fn where_indices(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(condition) = tensor_param(cx, b, "condition") else { return Value::Unknown };
    let Some(rank) = condition.rank() else { return Value::Unknown };
    let at = cx.at();
    // The number of selected elements is unknown, and may be 0.
    let count = Dim::new(Size::Unknown, at);
    let outs = (0..rank.max(1))
        .map(|axis| {
            let mut out = Tensor { grad: Grad::Off, ..Tensor::default() };
            out.shape = Some(vec![count.clone()]);
            out.shape_at = at;
            let mut out = out.with_dtype(Some(Dtype::Int64), at).with_device(condition.device, condition.device_at);
            if let Some(dim) = condition.shape.as_ref().and_then(|s| s.get(axis)) {
                crate::library::torch::support::bound_index(&mut out, &dim.size, at);
            }
            out
        })
        .collect();
    cx.outs(outs)
}

/// `lerp` of tensors with the same dtype; the weight may be a number.
fn lerp(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (Some(input), Some(end)) = (tensor_param(cx, b, "input"), tensor_param(cx, b, "end")) else {
        return cx.some_tensor();
    };
    let weight = operand(cx, &b.get("weight"));
    let mut named: Vec<Named<'_>> = vec![("input", &input), ("end", &end)];
    if let Some(weight) = weight.tensor() {
        named.push(("weight", weight));
    }
    if refuse_mixed(cx, &named) {
        return cx.some_tensor();
    }
    if input.dtype.is_some_and(Dtype::is_integral) {
        refuse_dtype(cx, ("input", &input), "takes floating-point numbers only");
        return cx.some_tensor();
    }
    let dtype = input.dtype.or(end.dtype);
    let mut out = elementwise(cx, &named, dtype, Mix::CpuScalars);
    if matches!(weight, Operand::Unknown) {
        out.shape = None;
        out.shape_at = None;
    }
    give(cx, b, out)
}

/// `addcmul`: `input + value * tensor1 * tensor2`. `addcdiv`: `input + value * tensor1 / tensor2`.
fn addc(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let names = ["input", "tensor1", "tensor2"];
    let mut tensors = Vec::new();
    for name in names {
        match tensor_param(cx, b, name) {
            Some(tensor) => tensors.push((name, tensor)),
            None => return cx.some_tensor(),
        }
    }
    let named: Vec<Named<'_>> = tensors.iter().map(|(n, t)| (*n, t)).collect();
    let operands: Vec<Operand> = tensors.iter().map(|(_, t)| Operand::Tensor(Box::new(t.clone()))).collect();
    let quotient = cx.name() == "addcdiv";
    let integral = |o: Option<&Tensor>| o.is_some_and(|t| t.dtype.is_some_and(Dtype::is_integral));
    if quotient && integral(tensors.get(1).map(|t| &t.1)) && integral(tensors.get(2).map(|t| &t.1)) {
        if let Some(first) = named.get(1) {
            refuse_dtype(cx, *first, "does not divide integers");
        }
        return cx.some_tensor();
    }
    let dtype = result_type(&operands, cx.default_dtype());
    if dtype == Some(Dtype::Bool) {
        refuse_dtype(cx, ("input", &Tensor { dtype, ..Tensor::default() }), "does not take bool tensors");
        return cx.some_tensor();
    }
    let mix = if quotient { Mix::Strict } else { Mix::CpuScalars };
    let out = elementwise(cx, &named, dtype, mix);
    give(cx, b, out)
}

/// Whether elements occur in another tensor. The result is bool, with the shape of the first
/// argument.
fn isin(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let values = ["elements", "test_elements"].map(|n| (n, b.get(n)));
    let operands = values.each_ref().map(|(n, v)| (*n, operand(cx, v)));
    let [(_, x), (_, y)] = &operands;
    if let (Operand::Number(..), Operand::Number(..)) = (x, y) {
        let message = "both arguments are numbers: at least one must be a tensor";
        cx.reject(RejectKind::Value, message, Vec::new());
        return cx.some_tensor();
    }
    for operand in [x, y] {
        let dtype = operand.dtype(cx.default_dtype());
        if let Some(tensor) = operand.tensor()
            && dtype.is_some_and(|d| d.is_complex())
        {
            refuse_dtype(cx, ("elements", tensor), "does not take complex numbers");
            return cx.some_tensor();
        }
    }
    let named: Vec<Named<'_>> = operands.iter().filter_map(|(n, o)| o.tensor().map(|t| (*n, t))).collect();
    let (device, device_at) = common_device(cx, &named, Mix::Strict);
    let at = cx.at();
    let mut out = match x {
        Operand::Tensor(t) => derived(t),
        Operand::Number(..) => Tensor { grad: Grad::Off, ..Tensor::default() }.with_shape(Vec::new(), at),
        Operand::Unknown => Tensor { grad: Grad::Off, ..Tensor::default() },
    };
    out = out.with_dtype(Some(Dtype::Bool), at).with_device(device, device_at).with_role(None, None);
    out.grad = Grad::Off;
    crate::library::torch::support::bound(&mut out, 0.0, 1.0, at);
    give(cx, b, out)
}
