//! A running total of losses that keeps the graph of every one of them.
//!
//! What is reported is certain to be no loss itself: it holds a part of an earlier round whose
//! graph `backward()` has freed, so a `backward()` on it would fail.

use super::trace::{Trace, tensor};
use super::watch::{Found, Watching, report};
use crate::diagnostic::{Label, Severity};
use crate::python::{Bound, Interp};
use crate::syntax::Span;
use crate::value::{Grad, ObjId, Sym, Value};

const NAME: &str = "loss-summed-with-graph";

/// Functions by which running totals and averages are made.
const SUMS: &[&str] = &["add", "sub", "mul", "div", "rsub", "mean", "sum", "stack", ""];

pub fn returned(
    with: &Watching<'_>,
    it: &Interp<'_>,
    trace: &Trace,
    (path, bound, result, span): (Sym, &Bound, &Value, Span),
    found: &mut Found,
) {
    if !it.later_round() || it.inlined() || path.as_str() != "torch.add" {
        return;
    }
    let attached = |id: ObjId| tensor(it, id).is_some_and(|t| t.grad == Grad::Attached);
    let operands = [bound.get("input"), bound.get("other")].map(|v| v.as_obj().filter(|id| attached(*id)));
    let [Some(left), Some(right)] = operands else { return };
    if !result.as_obj().is_some_and(attached) {
        return;
    }
    let freed = |id: ObjId| trace.graph.attached(it, &[id]).into_iter().find_map(|id| tensor(it, id)?.freed);
    // What an operand is summed from, as far back as it is a sum.
    let total = |id: ObjId| {
        let parts = trace.graph.ancestors(&[id], |part| {
            attached(part) && (part == id || trace.graph.node(part).is_some_and(|node| SUMS.contains(&node.function)))
        });
        parts.into_iter().find(|part| it.is_carried(*part)).and_then(|part| Some((part, freed(part)?)))
    };
    let ((Some((_, by)), None) | (None, Some((_, by)))) = (total(left), total(right)) else { return };
    let Some(page) = with.rules.find(NAME) else { return };
    let message = "the running total keeps the graph of every round that it adds up".to_owned();
    let labels = vec![Label { span: by, message: "this has used the graph".to_owned() }];
    report(found, page, Severity::Warning, message, span, labels);
}
