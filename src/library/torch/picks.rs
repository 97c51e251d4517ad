//! Masks that result from comparing a tensor with a number. The comparison determines which values
//! the mask selects, and so which values remain after an assignment (`labels[labels == 255] = 0`).

use super::carry;
use crate::library::Cx;
use crate::value::{Dtype, Picks, Range, Value};

/// Records, for the mask `made` (the result of `left op right`), which elements it selects.
pub(crate) fn note(cx: &mut Cx<'_, '_>, op: &str, left: &Value, right: &Value, made: &Value) {
    let (op, tensor, number) = match (left.as_obj(), right.range()) {
        (Some(_), Some((range, _))) => (op, left, range),
        _ => match right.as_obj().and(left.range()) {
            Some((range, _)) => (mirrored(op), right, range),
            None => return,
        },
    };
    let (Some(facts), Some(id)) = (cx.tensor(tensor), made.as_obj()) else { return };
    let Some(of) = tensor.as_obj().filter(|_| facts.dtype.is_some_and(|d| !d.is_complex())) else { return };
    // PyTorch first converts the number to the dtype of the tensor, so the number may wrap around.
    let wraps = |(lo, hi): (f64, f64)| number.lo() < lo || number.hi() > hi;
    if facts.dtype.and_then(Dtype::bounds).is_some_and(wraps) {
        return;
    }
    let is_integral = facts.dtype.is_some_and(|d| d.is_integral());
    let (low, high) = (number.lo(), number.hi());
    // The bounds of the values that a comparison selects. For an integer tensor, they are integers.
    let (below, above) = if is_integral { (high.ceil() - 1.0, low.floor() + 1.0) } else { (high, low) };
    let (up_to, from) = if is_integral { (high.floor(), low.ceil()) } else { (high, low) };
    let (lo, hi) = match op {
        "eq" => (low, high),
        "lt" | "less" => (f64::NEG_INFINITY, below),
        "le" | "less_equal" => (f64::NEG_INFINITY, up_to),
        "gt" | "greater" => (above, f64::INFINITY),
        "ge" | "greater_equal" => (from, f64::INFINITY),
        _ => return,
    };
    let picks = Picks { of, writes: cx.it.heap.writes_to(of), lo, hi, all: low == high && is_integral };
    cx.it.heap.update_tensor(id, |t| t.picks = Some(picks));
}

fn mirrored(op: &str) -> &str {
    match op {
        "lt" | "less" => "gt",
        "le" | "less_equal" => "ge",
        "gt" | "greater" => "lt",
        "ge" | "greater_equal" => "le",
        other => other,
    }
}

/// The elements that a mask selects from this tensor; `None` if that is not known, or if the tensor
/// was written to after the comparison.
pub(crate) fn of(cx: &Cx<'_, '_>, mask: &Value, tensor: &Value) -> Option<Picks> {
    let picks = cx.tensor(mask)?.picks?;
    (tensor.as_obj() == Some(picks.of) && cx.it.heap.writes_to(picks.of) == picks.writes).then_some(picks)
}

/// The range of a tensor after `new` has replaced the values that a mask selects.
pub(crate) fn replaced(have: &Range, picks: Option<Picks>, new: &Range) -> Range {
    let Some(picks) = picks else { return carry::chosen(have, new) };
    // The values that the mask does not select stay.
    let met = have.met.filter(|met| met.value < picks.lo || met.value > picks.hi);
    if !picks.all {
        let after = carry::chosen(have, new);
        let met = met.or(after.met);
        return after.with_met(met);
    }
    if have.parts().iter().all(|(lo, hi)| *hi < picks.lo || *lo > picks.hi) {
        return have.clone();
    }
    let Some(rest) = have.cut(picks.lo, picks.hi) else { return new.clone() };
    let single = new.attained && new.lo() == new.hi();
    let both = rest.union(new);
    let epoch = rest.epoch && single;
    let mut after = carry::claims(both, rest.attained && single, false);
    after.epoch = epoch && after.attained;
    let chosen = carry::chosen(have, new).met;
    let met = met.or(chosen).filter(|_| !after.attained);
    after.with_met(met)
}
