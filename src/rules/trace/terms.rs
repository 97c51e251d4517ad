//! The terms of a loss.

use rustc_hash::FxHashSet;

use super::graph::{Graph, tensor};
use crate::python::Interp;
use crate::syntax::Span;
use crate::value::{Grad, ObjId};

/// A term of a loss.
#[derive(Debug, Clone)]
pub(crate) struct Term {
    /// The parameters that its gradient reaches.
    pub reaches: Vec<ObjId>,
    /// For each `detach()` whose result the term uses, nearest first: the place of the `detach()`,
    /// and the parameters that it disconnects.
    pub cut: Vec<(Span, Vec<ObjId>)>,
}

impl Graph {
    /// The terms of a loss that have a gradient.
    pub(crate) fn terms(&self, it: &Interp<'_>, loss: ObjId) -> Vec<Term> {
        let is_attached = |id: &ObjId| tensor(it, *id).is_some_and(|t| t.grad == Grad::Attached);
        let (mut terms, mut todo, mut seen) = (Vec::new(), vec![loss], FxHashSet::default());
        while let Some(id) = todo.pop() {
            let Some(node) = self.node(id).filter(|_| is_attached(&id) && seen.insert(id)) else { continue };
            // `loss += term`: the sum that is written to `loss` is computed from the old value of
            // `loss` and the term.
            let sum = |id: &ObjId| self.node(*id).filter(|sum| matches!(sum.function, "add" | "sub"));
            let (own, added): (Vec<ObjId>, Vec<ObjId>) = node
                .inputs
                .iter()
                .copied()
                .filter(is_attached)
                .partition(|i| !sum(i).is_some_and(|s| s.inputs.contains(&id)));
            todo.extend(added.iter().filter_map(sum).flat_map(|sum| sum.inputs));
            let summed = match node.function {
                "add" | "sub" | "rsub" | "" => true,
                "mul" | "div" | "neg" | "sum" | "mean" => own.len() == 1,
                _ => false,
            };
            match summed && seen.len() < 30 {
                true => todo.extend(own),
                false => terms.push(
                    self.term(it, &node.inputs.iter().copied().filter(|i| !added.contains(i)).collect::<Vec<_>>()),
                ),
            }
        }
        terms
    }

    /// The term that consists of these tensors.
    fn term(&self, it: &Interp<'_>, from: &[ObjId]) -> Term {
        let behind = self.ancestors(from, |_| true);
        let cuts = behind.into_iter().filter(|id| self.function(*id) == Some("detach")).filter_map(|id| self.node(id));
        let cut = cuts.map(|node| (node.span, self.parameters(it, &node.inputs))).collect();
        Term { reaches: self.parameters(it, from), cut }
    }

    /// The parameters that gradients of these tensors reach.
    fn parameters(&self, it: &Interp<'_>, from: &[ObjId]) -> Vec<ObjId> {
        let learns = |id: &ObjId| tensor(it, *id).is_some_and(|t| t.grad == Grad::Leaf && t.parameter);
        let inputs = self.attached(it, from).into_iter().filter_map(|id| self.node(id)).flat_map(|node| node.inputs);
        inputs.chain(from.iter().copied()).filter(learns).collect()
    }
}
