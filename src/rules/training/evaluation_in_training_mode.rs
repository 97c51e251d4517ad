//! A model that is evaluated in training mode: dropout drops values, and batch norm uses the
//! statistics of the batch.
//!
//! A program may compute outputs in training mode and without gradients on purpose. If the outputs
//! are pseudo labels, or targets for another network, they take part in a later `backward()`. For
//! Monte Carlo dropout or an update of batch statistics, the program first calls `train()`. So the
//! rule reports outputs that are compared with labels and take part in no `backward()`, if
//! `train()` was not called since the last training step.
//!
//! Outputs with gradients are reported if another call trains the same layer: a loss on which the
//! program never calls `backward()` is then assumed to be a validation loss.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostic::{Label, Severity};
use crate::python::{Event, Interp};
use crate::rules::notes::is_without_gradients;
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::{Moment, reach, tensor, tensors};
use crate::rules::training::model_left_in_eval::{Mode, mode_of};
use crate::syntax::Span;
use crate::value::{Grad, ObjId, Sym, Value};

const NAME: &str = "evaluation-in-training-mode";
const MODULE: &str = "torch.nn.Module";

/// Functions that measure the quality of an output.
const MEASURES: &[&str] = &[
    "torch.eq",
    "torch.nn.functional.cross_entropy",
    "torch.nn.functional.nll_loss",
    "torch.nn.functional.mse_loss",
    "torch.nn.functional.l1_loss",
    "torch.nn.functional.binary_cross_entropy",
    "torch.nn.functional.binary_cross_entropy_with_logits",
];

/// The output of a layer in training mode.
#[derive(Clone, Copy)]
struct Output {
    layer: ObjId,
    class: &'static str,
    /// The call of the model.
    call: Span,
    /// The output was computed with gradients.
    recorded: bool,
}

struct Measured {
    /// The output of the first layer in training mode.
    by_layer: Output,
    /// The place where the output is compared with labels, or passed to a loss.
    by: Span,
    outputs: Vec<ObjId>,
}

#[derive(Default)]
pub(crate) struct EvaluationInTrainingMode {
    /// The outputs of layers in training mode.
    outputs: RefCell<FxHashMap<ObjId, Output>>,
    /// The key is the call of a model, and whether gradients were recorded: the same call may run
    /// in training and in validation.
    measured: RefCell<BTreeMap<(Span, bool), Measured>>,
    /// All tensors from which the loss of a `backward()` was computed, whether or not they require
    /// gradients, and all tensors passed to unseen code, which may call `backward()`.
    used: RefCell<FxHashSet<ObjId>>,
    /// `train()` was called, and nothing was trained since.
    asked_for: Cell<bool>,
    /// There was a `backward()` on an unknown value.
    unclear: Cell<bool>,
}

impl Rule for EvaluationInTrainingMode {
    const LATER_ROUNDS: bool = true;

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &*cx.it;
        let trace = cx.trace;
        let span = cx.span;
        if path.as_str() == "torch.nn.Module.train" {
            self.asked_for.set(true);
            return;
        }
        let outputs = self.outputs.borrow();
        if outputs.is_empty() || !MEASURES.contains(&path.as_str()) || it.second_round() {
            return;
        }
        // One operand must come from the model. The other must not: it is assumed to be labels.
        let operands: Vec<ObjId> = bound.values.iter().flatten().filter_map(|arg| arg.value.as_obj()).take(2).collect();
        let [first, second] = operands.as_slice() else { return };
        let behind = |id: ObjId| -> Vec<ObjId> {
            trace.graph.ancestors(&[id], |_| true).into_iter().filter(|id| outputs.contains_key(id)).collect()
        };
        let found = match (behind(*first), behind(*second)) {
            (found, none) | (none, found) if none.is_empty() => found,
            _ => return,
        };
        // A model that records gradients may compute a part of its own loss without gradients.
        let is_own_loss = !is_without_gradients(it) && it.outermost(MODULE).is_some();
        for id in found {
            let Some(by_layer) = outputs.get(&id).copied().filter(|o| o.recorded || !is_own_loss) else { continue };
            let mut measured = self.measured.borrow_mut();
            let all = measured.entry((by_layer.call, by_layer.recorded));
            all.or_insert_with(|| Measured { by_layer, by: span, outputs: Vec::new() }).outputs.push(id);
        }
    }

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let Event::Escaped { value } = event else { return };
        let it = &*cx.it;
        let outputs = self.outputs.borrow();
        if outputs.is_empty() {
            return;
        }
        // Unseen code may call `backward()` on the value.
        let mut given = Vec::new();
        tensors(it, value, 3, &mut given);
        given.retain(|id| tensor(it, *id).is_none_or(|t| t.grad != Grad::Off));
        let mut used = self.used.borrow_mut();
        let reached = cx.trace.graph.ancestors(&given, |id| !used.contains(&id));
        used.extend(reached);
    }

    fn returned(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>, result: &Value) {
        let it = &*cx.it;
        let span = cx.span;
        let Some(Mode { class, training: Some(true), layer }) = mode_of(it, path, bound) else { return };
        // Layers created for one call drop values in every mode of the model.
        if cx.trace.throwaways.borrow().contains_key(&layer) {
            return;
        }
        if self.asked_for.get() || it.speculative() || it.second_round() || drops_nothing(it, layer) {
            return;
        }
        let Some(output) = result.as_obj() else { return };
        let outermost = it.outermost(MODULE);
        if outermost.as_ref().is_some_and(|(model, _)| !follows(it, model, layer, path)) {
            return;
        }
        let call = outermost.map_or(span, |(_, call)| call);
        let recorded = !is_without_gradients(it);
        self.outputs.borrow_mut().insert(output, Output { layer, class, call, recorded });
    }

    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        let trace = cx.trace;
        match moment {
            Moment::Backward { loss, .. } => {
                let mut used = self.used.borrow_mut();
                let reached = trace.graph.ancestors(loss, |id| !used.contains(&id));
                // If a call was rejected, its result is unknown, and the graph does not know which
                // function computed it.
                let is_blank = |id: &ObjId| {
                    trace.graph.node(*id).is_none()
                        && tensor(cx.it, *id).is_some_and(|t| t.dtype.is_none() && t.shape.is_none())
                };
                self.unclear.set(self.unclear.get() || loss.is_empty() || reached.iter().any(is_blank));
                used.extend(reached);
            }
            Moment::Step { .. } => self.asked_for.set(false),
            _ => {}
        }
    }

    fn end(&self, cx: &mut Context<'_, '_>) {
        self.report_prediction(cx);
        if self.unclear.get() {
            return;
        }
        let used = self.used.borrow();
        let all = self.outputs.borrow();
        let trains = |layer: ObjId| all.iter().any(|(id, output)| output.layer == layer && used.contains(id));
        for ((call, _), Measured { by_layer, by, outputs }) in self.measured.borrow().iter() {
            if outputs.iter().any(|id| used.contains(id)) || by_layer.recorded && !trains(by_layer.layer) {
                continue;
            }
            let layer = by_layer.class;
            let message = format!("the model is evaluated in training mode: its `{layer}` {}", effect(layer));
            let labels = vec![Label { span: *by, message: "its output is evaluated here".to_owned() }];
            cx.findings.report(NAME, Severity::Warning, message, *call, labels);
        }
    }
}

/// Texts of programs that train a model, or set its mode.
const TRAINS: &[&str] = &[
    "backward(",
    "optim",
    "Trainer",
    ".fit(",
    ".eval(",
    "eval()",
    ".train(",
    "training",
    "train_mode",
    "dropout_",
    "uncertain",
    "monte",
    "Monte",
    "onnx",
    "unittest",
    "pytest",
];

impl EvaluationInTrainingMode {
    /// Reports the first output of a model with loaded weights, in a program that neither trains a model nor sets
    /// the mode of one.
    fn report_prediction(&self, cx: &mut Context<'_, '_>) {
        let it = &*cx.it;
        let loads = it.mentions(".load_state_dict(") && (it.mentions("no_grad(") || it.mentions("inference_mode("));
        if it.is_test() || !loads || TRAINS.iter().any(|text| it.mentions(text)) {
            return;
        }
        let outputs = self.outputs.borrow();
        let Some(Output { class, call, .. }) = outputs.values().filter(|one| !one.recorded).min_by_key(|one| one.call)
        else {
            return;
        };
        let message = format!("the model with the loaded weights is in training mode: its `{class}` {}", effect(class));
        cx.findings.report(NAME, Severity::Warning, message, *call, Vec::new());
    }
}

/// What a layer does in training mode.
fn effect(layer: &str) -> &'static str {
    if layer.starts_with("Dropout") {
        "still drops values at random"
    } else {
        "still normalises with the statistics of the batch, and updates its running statistics"
    }
}

/// Whether the layer belongs to the model, and is not in training mode on purpose. It is on purpose if the
/// model itself is already in evaluation mode. A layer that `forward` creates or gets from elsewhere does
/// not belong to the model.
fn follows(it: &Interp<'_>, model: &Value, layer: ObjId, path: Sym) -> bool {
    let own = model.as_obj().and_then(|id| it.heap.attr(id, "training"));
    if own.and_then(|training| training.as_bool()) == Some(false) {
        return false;
    }
    let mut layers = Vec::new();
    reach(it, model, path.as_str().trim_end_matches(".forward"), 8, &mut layers);
    layers.contains(&layer)
}

fn drops_nothing(it: &Interp<'_>, layer: ObjId) -> bool {
    it.heap.attr(layer, "p").is_some_and(|p| matches!(p, Value::Float(0.0) | Value::Int(0)))
}
