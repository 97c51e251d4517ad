//! A running total or a list of losses that keeps the graph of every loss.
//!
//! The rule reports a total if it contains a part from an earlier iteration, and a `backward()` has
//! freed the graph of this part. A `backward()` on the total would fail, so the total is certainly
//! not a loss.

use std::cell::RefCell;

use crate::diagnostic::{Label, Severity};
use crate::python::{Event, Interp};
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::{Moment, Trace, tensor, tensors};
use crate::syntax::Span;
use crate::value::{Grad, ObjId, Value, sym};

const NAME: &str = "loss-summed-with-graph";

/// Functions that compute running totals and averages.
const SUMS: &[&str] = &["add", "sub", "mul", "div", "rsub", "mean", "sum", "stack", ""];

#[derive(Default)]
pub(crate) struct LossSummedWithGraph {
    /// The loops around the last `backward()`.
    around: RefCell<Vec<u32>>,
}

impl Rule for LossSummedWithGraph {
    const LATER_ROUNDS: bool = true;

    fn returned(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>, result: &Value) {
        let it = &*cx.it;
        let trace = cx.trace;
        let span = cx.span;
        if !it.later_round() || it.inlined() || path.as_str() != "torch.add" {
            return;
        }
        let attached = |id: ObjId| is_attached(it, id);
        let operands = [bound.get("input"), bound.get("other")].map(|v| v.as_obj().filter(|id| attached(*id)));
        let [Some(left), Some(right)] = operands else { return };
        if !result.as_obj().is_some_and(attached) {
            return;
        }
        // Whether an operand contains a summand of an earlier iteration, also inside nested sums.
        let total = |id: ObjId| {
            let parts = trace.graph.ancestors(&[id], |part| {
                attached(part)
                    && (part == id || trace.graph.node(part).is_some_and(|node| SUMS.contains(&node.function)))
            });
            parts.into_iter().find(|part| it.is_carried(*part)).and_then(|part| Some((part, freed(it, trace, part)?)))
        };
        let ((Some((_, by)), None) | (None, Some((_, by)))) = (total(left), total(right)) else { return };
        tell(cx, "the running total keeps the graph of every iteration", by, span);
    }

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        if let Event::Appended { list, value, span } = event {
            // A list that lasts for one iteration keeps nothing: `for name in losses: parts.append(…)`.
            let around = self.around.borrow();
            let inner = cx.it.rounds().last().map(|round| round.run);
            if inner.is_none_or(|run| around.contains(&run)) {
                appended(cx, list, value, span);
            }
        }
    }

    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        if let Moment::Backward { .. } = moment {
            *self.around.borrow_mut() = cx.it.rounds().iter().map(|round| round.run).collect();
        }
    }
}

/// `losses.append(loss)` for a list that contains a loss of an earlier iteration.
fn appended(cx: &mut Context<'_, '_>, list: ObjId, value: &Value, span: Span) {
    let it = &*cx.it;
    if !it.later_round()
        || it.inlined()
        || !it.is_carried(list)
        || !value.as_obj().is_some_and(|id| is_attached(it, id))
    {
        return;
    }
    // Other code may empty the list after some iterations: `self.losses.clear()`.
    let text = cx.source(span).unwrap_or_default();
    let path = text.split(".append(").next().unwrap_or_default();
    let name = path.rsplit('.').next().unwrap_or_default();
    if !name.is_empty() && it.mentions(sym(&format!("{name}.clear()")).as_str()) {
        return;
    }
    let mut before = Vec::new();
    tensors(it, &Value::Obj(list), 1, &mut before);
    let earlier = before.into_iter().find(|id| it.is_carried(*id) && is_attached(it, *id));
    if let Some(by) = earlier.and_then(|id| freed(it, cx.trace, id)) {
        tell(cx, "the list keeps the graph of every iteration", by, span);
    }
}

fn is_attached(it: &Interp<'_>, id: ObjId) -> bool {
    tensor(it, id).is_some_and(|t| t.grad == Grad::Attached)
}

/// The place of a `backward()` that has freed the graph of a tensor.
fn freed(it: &Interp<'_>, trace: &Trace, id: ObjId) -> Option<Span> {
    trace.graph.attached(it, &[id]).into_iter().find_map(|id| tensor(it, id)?.freed)
}

fn tell(cx: &mut Context<'_, '_>, message: &str, by: Span, span: Span) {
    let labels = vec![Label { span: by, message: "the graph is used and freed here".to_owned() }];
    cx.findings.report(NAME, Severity::Warning, message, span, labels);
}
