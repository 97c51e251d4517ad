//! `backward()` on a loss that is not connected to the parameters.
//!
//! PyTorch rejects the call if the loss does not require grad. This rule reports the rejected call
//! if it can show what disconnects the loss. PyTorch accepts a loss that was turned into a leaf,
//! but then the gradient reaches only this leaf. The rule also reports `backward()` on such a leaf,
//! and on a loss that is computed only from such leaves.

use std::cell::RefCell;

use crate::diagnostic::{Label, Severity};
use crate::python::{Interp, Rejection};
use crate::rules::rule::{Context, Rule};
use crate::rules::trace::{Moment, Term, Trace, parameters, tensor};
use crate::syntax::Span;
use crate::value::{Grad, ObjId};

const NAME: &str = "loss-cut-from-graph";

#[derive(Default)]
pub(crate) struct LossCutFromGraph {
    /// The place of the last `backward()`, and the tensors on which it was called.
    last: RefCell<Option<(Span, Vec<ObjId>)>>,
    /// The terms of the loss of the last `backward()`.
    terms: RefCell<Vec<Term>>,
    /// The optimizers that have stepped since the last `backward()`.
    stepped: RefCell<Vec<ObjId>>,
    /// Terms whose gradients no step has used yet. A term is removed when one of the optimizers in
    /// its `others` steps, and reported when one of them clears its gradients first.
    lost: RefCell<Vec<Lost>>,
}

struct Lost {
    detach: Span,
    step: Span,
    others: Vec<ObjId>,
}

impl Rule for LossCutFromGraph {
    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        let span = cx.span;
        self.terms_lost(cx, moment);
        let Moment::Backward { loss, accumulates, .. } = moment else { return };
        *self.last.borrow_mut() = Some((span, loss.clone()));
        self.unrecorded(cx, loss);
        let (it, trace) = (&*cx.it, cx.trace);
        let trains = !it.speculative() && it.in_loop() && !trace.optimizers.all().is_empty();
        if !trains || !*accumulates {
            return;
        }
        let ([only], Some(leaf)) = (loss.as_slice(), made_anew(it, trace, loss)) else { return };
        let message = match leaf == *only {
            true => "the loss is a leaf of the graph, so its gradient reaches no parameter",
            false => "the loss is computed only from a new leaf of the graph, so its gradient reaches no parameter",
        };
        let labels = trace.graph.node(leaf).map(|node| Label {
            span: node.span,
            message: format!("`{}` creates a new tensor without a graph", node.function),
        });
        cx.findings.report(NAME, Severity::Error, message, span, labels.into_iter().collect());
    }

    fn rejected(&self, cx: &mut Context<'_, '_>, rejection: &Rejection) -> bool {
        let (it, trace) = (&*cx.it, cx.trace);
        let last = self.last.borrow();
        let Some((span, loss)) = last.as_ref().filter(|(span, _)| *span == rejection.span) else { return false };
        let off = |id: ObjId| tensor(it, id).is_some_and(|t| t.grad == Grad::Off);
        if loss.is_empty() || !loss.iter().all(|id| off(*id)) {
            return false;
        }
        let learns = |id: &ObjId| tensor(it, *id).is_some_and(|t| matches!(t.grad, Grad::Leaf | Grad::Attached));
        // `ancestors` begins with the nearest tensor, so this is the last operation that
        // disconnects the loss.
        let cut = trace.graph.ancestors(loss, off).into_iter().find_map(|id| {
            let node = trace.graph.node(id)?;
            node.inputs.iter().any(learns).then_some((id, node))
        });
        let Some((id, node)) = cut else { return false };
        let integral = tensor(it, id).and_then(|t| t.dtype).filter(|d| d.is_integral());
        let why = match (node.function, integral) {
            ("detach", _) => "the gradient ends here: `detach()`".to_owned(),
            ("checkpoint", _) => {
                "the gradient ends here: with `use_reentrant`, `checkpoint` records nothing unless an input requires \
                 grad"
                    .to_owned()
            }
            (function, Some(dtype)) => format!("the gradient ends here: `{function}` returns {dtype}"),
            (function @ ("tensor" | "as_tensor" | "numpy" | "from_numpy"), _) => {
                format!("the gradient ends here: `{function}` copies only the values")
            }
            (function, _) => format!("the gradient ends here: autograd does not record `{function}`"),
        };
        let message = "this loss trains no parameter: it is not connected to any of them";
        // If a framework calls `backward()` for the program, the finding is at the operation that
        // disconnects the loss.
        let own = cx.source(*span).is_some_and(|text| text.contains("backward"));
        let (at, labels) = match own {
            true => (*span, vec![Label { span: node.span, message: why }]),
            false => (node.span, vec![Label { span: *span, message: "this computes the gradients".to_owned() }]),
        };
        cx.findings.report(NAME, Severity::Error, message, at, labels);
        true
    }
}

impl LossCutFromGraph {
    /// Reports terms of a loss that train nothing. `detach()` disconnects such a term from the
    /// parameters of the optimizer that steps. The gradients of the term reach only parameters of
    /// other optimizers, which clear these gradients without a step.
    fn terms_lost(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        let (it, trace, span) = (&*cx.it, cx.trace, cx.span);
        match moment {
            Moment::Backward { loss, accumulates: true, .. } => {
                let terms = loss.iter().filter(|_| !it.speculative()).flat_map(|id| trace.graph.terms(it, *id));
                *self.terms.borrow_mut() = terms.collect();
                self.stepped.borrow_mut().clear();
            }
            Moment::Step { optimizer, .. } => {
                let (mut lost, mut stepped) = (self.lost.borrow_mut(), self.stepped.borrow_mut());
                lost.retain(|lost| !lost.others.contains(optimizer));
                stepped.push(*optimizer);
                let Some(own) = parameters(it, *optimizer) else { return };
                for term in self.terms.borrow().iter().filter(|term| !term.reaches.iter().any(|p| own.contains(p))) {
                    let has = |id: &ObjId| {
                        parameters(it, *id).is_some_and(|all| term.reaches.iter().any(|p| all.contains(p)))
                    };
                    let others: Vec<ObjId> = trace.optimizers.all().into_iter().filter(has).collect();
                    let cut = term.cut.iter().find(|(_, behind)| behind.iter().any(|p| own.contains(p)));
                    let used = others.is_empty() || others.iter().any(|id| stepped.contains(id));
                    if let (Some((detach, _)), false) = (cut, used) {
                        lost.push(Lost { detach: *detach, step: span, others });
                    }
                }
            }
            Moment::Zero { optimizer } => {
                self.lost.borrow_mut().retain(|lost| {
                    let cleared = lost.others.contains(optimizer);
                    if cleared {
                        let message = "this term of the loss trains nothing: `detach()` disconnects it from the \
                            parameters of the optimizer that steps";
                        let labels = vec![
                            Label { span: lost.step, message: "this step gets no gradient from the term".to_owned() },
                            Label {
                                span,
                                message: "the term's gradients for other parameters are cleared here".to_owned(),
                            },
                        ];
                        cx.findings.report(NAME, Severity::Warning, message, lost.detach, labels);
                    }
                    !cleared
                });
            }
            _ => {}
        }
    }

    /// Reports checkpointed parts of a model if the loss depends on them, but their parameters get
    /// no gradients.
    fn unrecorded(&self, cx: &mut Context<'_, '_>, loss: &[ObjId]) {
        let (it, trace, span) = (&*cx.it, cx.trace, cx.span);
        let learns = |id: &ObjId| tensor(it, *id).is_some_and(|t| t.grad == Grad::Attached);
        if it.speculative() || !loss.iter().any(learns) {
            return;
        }
        let mut parts = trace.graph.ancestors(loss, |_| true);
        parts.retain(|id| trace.graph.function(*id) == Some("checkpoint"));
        let nodes = parts.into_iter().filter_map(|id| trace.graph.node(id));
        for node in nodes.filter(|node| node.inputs.iter().any(learns)) {
            let message = "no parameter in here is trained: with `use_reentrant`, `checkpoint` records nothing unless \
                an input requires grad";
            let labels = vec![Label { span, message: "this computes no gradients for the parameters".to_owned() }];
            cx.findings.report(NAME, Severity::Warning, message, node.span, labels);
        }
    }
}

/// If the loss is a leaf that may be a scalar, the loss itself. Otherwise, the first of the leaves
/// from which it is computed, if each of these leaves copies the values of a tensor with a graph
/// (`torch.tensor(loss, requires_grad=True)`). Parameters are excluded.
fn made_anew(it: &Interp<'_>, trace: &Trace, loss: &[ObjId]) -> Option<ObjId> {
    let [only] = loss else { return None };
    let leaf = |id: &ObjId| tensor(it, *id).is_some_and(|t| t.grad == Grad::Leaf);
    let free = |id: &ObjId| tensor(it, *id).is_some_and(|t| !t.parameter);
    if leaf(only) {
        // Without an argument, `backward()` requires a scalar.
        let scalar = tensor(it, *only).is_some_and(|t| t.numel().known().is_none_or(|n| n == 1));
        return Some(*only).filter(|id| scalar && free(id));
    }
    let grad = |id: ObjId| tensor(it, id).map(|t| t.grad);
    let inner = trace.graph.ancestors(loss, |id| !matches!(grad(id), Some(Grad::Leaf | Grad::Off)));
    let mut leaves = Vec::new();
    for id in inner {
        let node = trace.graph.node(id).filter(|_| grad(id) == Some(Grad::Attached))?;
        // The gradient may come from an object that is no tensor, such as a distribution.
        node.inputs.iter().find(|input| matches!(grad(**input), Some(Grad::Leaf | Grad::Attached)))?;
        leaves.extend(node.inputs.into_iter().filter(leaf));
    }
    let copied = |id: &ObjId| {
        let node = trace.graph.node(*id).filter(|node| matches!(node.function, "tensor" | "as_tensor"));
        free(id) && node.is_some_and(|node| node.inputs.iter().any(|id| grad(*id) == Some(Grad::Attached)))
    };
    leaves.first().copied().filter(|_| leaves.iter().all(copied))
}
