//! A model in evaluation mode that is called in a loop without `no_grad`, although no gradients are
//! ever computed from its outputs.
//!
//! Adversarial attacks, losses that another network computes, and saliency maps need gradients in
//! evaluation mode: outputs that take part in any `backward()`, or escape to unseen code, are not
//! reported.

use std::cell::{Cell, RefCell};

use rustc_hash::FxHashSet;

use crate::diagnostic::Severity;
use crate::python::{Event, Interp};
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::{Moment, Trace, is_module, tensor, tensors};
use crate::syntax::Span;
use crate::value::{Grad, ObjId, Value};

const NAME: &str = "evaluation-records-gradients";
const MODULE: &str = "torch.nn.Module";

#[derive(Default)]
pub(crate) struct EvaluationRecordsGradients {
    /// Outputs of models in evaluation mode, with the calls that created them.
    outputs: RefCell<Vec<(Span, ObjId)>>,
    /// Tensors that take part in a `backward()`, or may do so.
    used: RefCell<FxHashSet<ObjId>>,
    /// There was a `backward()` on an unknown value.
    unclear: Cell<bool>,
}

impl Rule for EvaluationRecordsGradients {
    const LATER_ROUNDS: bool = true;

    fn returned(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>, result: &Value) {
        let it = &*cx.it;
        let span = cx.span;
        if !path.as_str().ends_with(".forward") || it.speculative() || it.second_round() || !it.in_loop_outside(MODULE)
        {
            return;
        }
        let mut results = Vec::new();
        tensors(it, result, 2, &mut results);
        let attached = |id: &ObjId| tensor(it, *id).is_some_and(|t| t.grad == Grad::Attached);
        if results.is_empty() || !results.iter().any(attached) {
            return;
        }
        let (model, call) = it.outermost(MODULE).unwrap_or_else(|| (bound.get("self"), span));
        let training = model.as_obj().and_then(|id| it.heap.attr(id, "training"));
        if is_module(it, &model) && matches!(training, Some(Value::Bool(false))) {
            self.outputs.borrow_mut().extend(results.into_iter().map(|id| (call, id)));
        }
    }

    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        let trace = cx.trace;
        let Moment::Backward { loss, .. } = moment else { return };
        if loss.is_empty() {
            self.unclear.set(true);
        }
        self.mark(trace, loss);
    }

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        if let Event::Escaped { value } = event {
            self.escaped(cx.it, cx.trace, value);
        }
    }

    fn end(&self, cx: &mut Context<'_, '_>) {
        if self.unclear.get() {
            return;
        }
        let (outputs, used) = (self.outputs.borrow(), self.used.borrow());
        let wanted: FxHashSet<Span> =
            outputs.iter().filter(|(_, id)| used.contains(id)).map(|(call, _)| *call).collect();
        for (call, _) in outputs.iter().filter(|(call, _)| !wanted.contains(call)) {
            let message =
                "the model is in evaluation mode, but still records a graph for gradients that are never computed";
            cx.findings.report(NAME, Severity::Info, message, *call, Vec::new());
        }
    }
}

impl EvaluationRecordsGradients {
    fn escaped(&self, it: &Interp<'_>, trace: &Trace, value: &Value) {
        if self.outputs.borrow().is_empty() {
            return;
        }
        let mut given = Vec::new();
        tensors(it, value, 3, &mut given);
        given.retain(|id| tensor(it, *id).is_some_and(|t| t.grad != Grad::Off));
        self.mark(trace, &given);
    }

    fn mark(&self, trace: &Trace, from: &[ObjId]) {
        let mut used = self.used.borrow_mut();
        let reached = trace.graph.ancestors(from, |id| !used.contains(&id));
        used.extend(reached);
    }
}
