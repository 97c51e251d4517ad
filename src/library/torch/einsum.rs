//! `torch.einsum`: the equation determines which dimensions must agree and which remain.

use super::autocast::lowered;
use super::broadcast::{
    Mix, Named, broadcast_dim, broadcast_pair, common_device, not_one, result_grad, shape_read, shape_text,
};
use super::support::product_dtype;
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, Tensor, Value, counted};

pub(crate) fn register(t: &mut Table) {
    t.def("torch.einsum", "equation, *operands", einsum);
}

/// The labels of one operand or of the output: letters before and after an ellipsis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    before: Vec<char>,
    /// `None` without an ellipsis.
    after: Option<Vec<char>>,
}

impl Term {
    fn labels(&self) -> impl Iterator<Item = &char> {
        self.before.iter().chain(self.after.iter().flatten())
    }
}

/// A parsed equation; parsing returns `Err` with a description of the error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Equation {
    pub inputs: Vec<Term>,
    /// `None` if the output is implied.
    pub output: Option<Term>,
}

fn term(text: &str) -> Result<Term, String> {
    let letters = |part: &str| -> Result<Vec<char>, String> {
        let kept: Vec<char> = part.chars().filter(|c| !c.is_whitespace()).collect();
        match kept.iter().find(|c| !c.is_ascii_alphabetic()) {
            Some(other) => Err(format!("`{other}` is not a label: labels are letters")),
            None => Ok(kept),
        }
    };
    match text.split_once("...") {
        Some((before, after)) => Ok(Term { before: letters(before)?, after: Some(letters(after)?) }),
        None => Ok(Term { before: letters(text)?, after: None }),
    }
}

pub(crate) fn parse(equation: &str) -> Result<Equation, String> {
    let (left, right) = match equation.split_once("->") {
        Some((left, right)) => (left, Some(right)),
        None => (equation, None),
    };
    let inputs = left.split(',').map(term).collect::<Result<Vec<_>, _>>()?;
    let output = right.map(term).transpose()?;
    Ok(Equation { inputs, output })
}

fn einsum(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let equation = b.get("equation");
    let Some(text) = equation.as_str().map(str::to_owned) else { return cx.some_tensor() };
    if b.open {
        return cx.some_tensor();
    }
    let values = b.rest_values();
    // The operands may be passed as one list.
    let values = match values.as_slice() {
        [only] => cx.items(only).unwrap_or(values),
        _ => values,
    };
    let reject = |cx: &mut Cx<'_, '_>, why: String| {
        cx.reject(RejectKind::Value, format!("the equation \"{text}\": {why}"), Vec::new());
        cx.some_tensor()
    };
    let equation = match parse(&text) {
        Ok(equation) => equation,
        Err(why) => return reject(cx, why),
    };
    if equation.inputs.len() != values.len() {
        let (inputs, tensors) = (counted(equation.inputs.len(), "input"), counted(values.len(), "tensor"));
        let why = format!("it has {inputs}, but einsum gets {tensors}");
        return reject(cx, why);
    }
    let tensors: Vec<Tensor> = values.iter().map(|v| cx.tensor(v).unwrap_or_default()).collect();
    let names: Vec<String> = (0..tensors.len()).map(|i| format!("operands[{i}]")).collect();
    let named: Vec<Named<'_>> = names.iter().map(String::as_str).zip(&tensors).collect();
    let Ok(shape) = contract(cx, &text, &equation, &named) else { return cx.some_tensor() };
    let Ok(dtype) = dtype(cx, &equation, &named) else { return cx.some_tensor() };
    let (device, device_at) = common_device(cx, &named, Mix::Strict);
    let at = cx.at();
    let shape_at = shape.as_ref().and(at);
    let grad = result_grad(cx, &named, dtype);
    let out = Tensor { shape, shape_at, dtype, dtype_at: at, device, device_at, grad, ..Tensor::default() };
    // The result for a single operand may be a view of it.
    match values.as_slice() {
        [only] if cx.it.heap.is_tensor(only) => cx.view_of(only, out),
        _ => cx.out(out),
    }
}

/// The dtype of the result. If two tensors share a label that is summed over more than one element,
/// the operation is a matrix product, which needs one dtype; otherwise, it is an elementwise
/// product.
fn dtype(cx: &mut Cx<'_, '_>, equation: &Equation, named: &[Named<'_>]) -> Result<Option<Dtype>, ()> {
    let dtypes: Vec<Option<Dtype>> = named.iter().map(|(_, t)| t.dtype).collect();
    let [(_, first), rest @ ..] = named else { return Ok(None) };
    if rest.is_empty() {
        return Ok(first.dtype);
    }
    let kept = |label: &char| equation.output.as_ref().is_none_or(|o| o.labels().any(|l| l == label));
    let long = |term: &Term, tensor: &Tensor, label: &char| {
        let axis = term.before.iter().position(|l| l == label).and_then(|i| i64::try_from(i).ok());
        axis.and_then(|axis| tensor.dim(axis)).is_some_and(|d| not_one(&d.size))
    };
    let summed = match (equation.inputs.as_slice(), named) {
        ([x, y], [(_, a), (_, b)]) => x.labels().any(|l| !kept(l) && long(x, a, l) && long(y, b, l)),
        _ => false,
    };
    let lowers = named.iter().any(|(_, t)| lowered(cx, t) != t.dtype);
    if summed {
        return product_dtype(cx, named);
    }
    let same = dtypes.iter().all(|d| *d == first.dtype);
    Ok(first.dtype.filter(|_| same && !lowers))
}

/// The shape of the result, after the check that dimensions with the same label agree.
fn contract(cx: &mut Cx<'_, '_>, text: &str, equation: &Equation, named: &[Named<'_>]) -> Result<Option<Vec<Dim>>, ()> {
    // Each label's dimension, and the operand that determined it.
    let mut labels: Vec<(char, Dim, usize)> = Vec::new();
    let mut hidden: Option<Vec<Dim>> = Some(Vec::new());
    let mut uses: Vec<char> = Vec::new();
    for (i, (term, named)) in equation.inputs.iter().zip(named).enumerate() {
        let after = term.after.clone().unwrap_or_default();
        uses.extend(term.before.iter().chain(&after).copied());
        let Some(shape) = &named.1.shape else {
            for label in term.before.iter().chain(&after) {
                if !labels.iter().any(|(l, ..)| l == label) {
                    labels.push((*label, Dim::UNKNOWN, i));
                }
            }
            if term.after.is_some() {
                hidden = None;
            }
            continue;
        };
        let plain = term.before.len() + after.len();
        if plain > shape.len() || term.after.is_none() && plain != shape.len() {
            let message = format!(
                "the equation \"{text}\" has {} for `{}`, which has {}: {}",
                counted(plain, "label"),
                named.0,
                counted(shape.len(), "dimension"),
                shape_text(named.1)
            );
            cx.reject(RejectKind::Rank, message, vec![shape_read(*named, None)]);
            return Err(());
        }
        let tail = shape.len() - after.len();
        if term.after.is_some() {
            let middle = shape.get(term.before.len()..tail).unwrap_or_default();
            hidden = match hidden {
                Some(have) => match broadcast_pair(&have, middle) {
                    Ok(joined) => Some(joined),
                    Err(_) => {
                        let message = format!(
                            "`{}` is {}: its dimensions under `...` do not broadcast with those of the other tensors",
                            named.0,
                            shape_text(named.1)
                        );
                        cx.reject(RejectKind::Shape, message, vec![shape_read(*named, None)]);
                        return Err(());
                    }
                },
                None => None,
            };
        }
        let spots = term.before.iter().enumerate().chain(after.iter().enumerate().map(|(j, l)| (tail + j, l)));
        for (axis, label) in spots {
            let Some(dim) = shape.get(axis) else { continue };
            let Some(at) = labels.iter().position(|(l, ..)| l == label) else {
                labels.push((*label, dim.clone(), i));
                continue;
            };
            let Some((_, have, from)) = labels.get(at).cloned() else { continue };
            // The two dimensions of a diagonal do not broadcast.
            let fits = from != i || have.size.equals(&dim.size) != Some(false);
            match broadcast_dim(&have, dim).filter(|_| fits) {
                Some(joined) => {
                    if let Some(slot) = labels.get_mut(at) {
                        slot.1 = joined;
                    }
                }
                None => {
                    let (name, shape) = (named.0, shape_text(named.1));
                    let lengths = match from == i {
                        true => format!("`{label}` is both {} and {}", have.size, dim.size),
                        false => format!("`{label}` is {} in one tensor and {}", have.size, dim.size),
                    };
                    let message = format!("the equation \"{text}\": {lengths} in `{name}`, which is {shape}");
                    let mut reads = vec![shape_read(*named, Some(axis))];
                    reads.push((format!("`{label}` gets length {} here", have.size), have.at));
                    cx.reject(RejectKind::Shape, message, reads);
                    return Err(());
                }
            }
        }
    }
    let size = |label: char| labels.iter().find(|(l, ..)| *l == label).map(|(_, d, _)| d.clone());
    let output = match &equation.output {
        Some(output) => output.clone(),
        None => {
            // Without `->`, the output has the labels that occur once, in alphabetical order, after
            // the dimensions of the ellipsis.
            let mut once: Vec<char> =
                uses.iter().copied().filter(|l| uses.iter().filter(|m| *m == l).count() == 1).collect();
            once.sort_by_key(|c| (c.is_ascii_lowercase(), *c));
            Term { before: Vec::new(), after: Some(once) }
        }
    };
    let mut seen = Vec::new();
    for label in output.before.iter().chain(output.after.iter().flatten()) {
        if seen.contains(label) || size(*label).is_none() {
            let why = if seen.contains(label) { "occurs twice in the output" } else { "does not occur in any input" };
            cx.reject(RejectKind::Value, format!("the equation \"{text}\": `{label}` {why}"), Vec::new());
            return Err(());
        }
        seen.push(*label);
    }
    let mut shape: Vec<Dim> = output.before.iter().filter_map(|l| size(*l)).collect();
    if let Some(after) = &output.after {
        match hidden {
            Some(hidden) => shape.extend(hidden),
            None => return Ok(None),
        }
        shape.extend(after.iter().filter_map(|l| size(*l)));
    }
    Ok(Some(shape))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_are_taken_apart() {
        let equation = parse("b ... i, ij -> b...j").expect("is valid");
        assert_eq!(equation.inputs.len(), 2);
        assert_eq!(equation.output, Some(Term { before: vec!['b'], after: Some(vec!['j']) }));
        assert!(parse("i1,j->i").is_err());
        assert_eq!(parse("").map(|e| e.inputs.len()), Ok(1));
    }
}
