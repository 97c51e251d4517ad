//! The events of training, as the rules see them.
//!
//! The interpreter runs both arms of an unknown condition, and joins their states. Rules store
//! their state (an optimizer has stepped, a scheduler has not) on the heap, so that branches,
//! loops, calls and aliases handle it like the program's own values. A single known state holds on
//! every path that leads to the current code. If several states are known ([`fates`]), each of them
//! is assumed to occur in some iterations. A rule reports nothing if the state is not known. Some
//! mistakes appear only in the second iteration of a loop. For them, the interpreter runs the body
//! once more, only for the rules, from exactly the state in which the first iteration ended
//! ([`Interp::second_round`]).

mod gradients;
mod graph;
mod terms;

use std::cell::{Cell, RefCell};

use rustc_hash::FxHashMap;

pub(super) use gradients::{Gradients, Optimizers, parameters, reach};
pub(super) use graph::{Graph, tensor, tensors};
pub(super) use terms::Term;

use crate::python::{Bound, Event, Interp};
use crate::syntax::Span;
use crate::value::{Note, ObjId, State, Sym, Value};

const OPTIMIZER: &str = "torch.optim.Optimizer";
const MODULE: &str = "torch.nn.Module";

/// A moment of training.
#[derive(Debug, Clone)]
pub(super) enum Moment {
    /// `backward()` and `autograd.grad`: gradients are computed from the tensors `loss`, and added
    /// to the gradients of parameters if `accumulates`. `loss` is empty if the tensors are not
    /// known. `toward` are the tensors of the argument `inputs`, at which the backward pass stops.
    Backward { loss: Vec<ObjId>, keeps_graph: bool, accumulates: bool, toward: Vec<ObjId> },
    /// `optimizer.step()`.
    Step { optimizer: ObjId, closure: bool },
    /// `optimizer.zero_grad()`.
    Zero { optimizer: ObjId },
    /// The gradients of all optimizers become unknown.
    Unclear,
}

/// The trace of a run.
#[derive(Default)]
pub(super) struct Trace {
    pub graph: Graph,
    pub optimizers: Optimizers,
    /// Dropout layers that a `forward` creates for one call, and the places of their creation.
    pub throwaways: RefCell<FxHashMap<ObjId, Span>>,
    moments: Cell<u32>,
}

impl Trace {
    pub(super) fn moments(&self) -> u32 {
        self.moments.get()
    }

    /// Counts an event whose order matters, so that the second iteration of the loop around it is
    /// replayed.
    pub(super) fn note(&self) {
        self.moments.set(self.moments.get().saturating_add(1));
    }

    /// A library's function is about to be called.
    pub(super) fn call(&self, it: &Interp<'_>, path: Sym, bound: &Bound) -> Option<Moment> {
        let moment = moment(it, path.as_str(), bound)?;
        self.note();
        Some(moment)
    }

    pub(super) fn event(&self, it: &mut Interp<'_>, event: Event<'_>) -> Option<Moment> {
        match event {
            Event::Returned { path, bound, result, span } => {
                self.graph.record(it, path, bound, result, span);
                if it.is_instance(result, OPTIMIZER)
                    && let Some(id) = result.as_obj()
                {
                    self.optimizers.made(it, id, span);
                }
                None
            }
            Event::Viewed { object, result, name, span } => {
                self.graph.viewed(object, result, name, span);
                None
            }
            Event::Written { object, result, span } => {
                self.graph.written(it, object, result, span);
                None
            }
            Event::Unseen { name, .. } => match name.as_str() {
                "backward" | "manual_backward" => {
                    self.note();
                    Some(Moment::Backward {
                        loss: Vec::new(),
                        keeps_graph: true,
                        accumulates: true,
                        toward: Vec::new(),
                    })
                }
                name if name == "grad" || name == "zero_" || name.contains("step") || name.contains("zero") => {
                    Some(Moment::Unclear)
                }
                _ => {
                    self.optimizers.unseen(it);
                    None
                }
            },
            Event::SetAttribute { name, .. } if name.as_str() == "grad" => Some(Moment::Unclear),
            Event::Escaped { value } => {
                self.optimizers.escaped(it, value);
                None
            }
            _ => None,
        }
    }

    /// Applies the effects of a moment, after the rules have seen it.
    pub(super) fn pass(&self, it: &mut Interp<'_>, moment: &Moment, span: Span) {
        if let Moment::Backward { loss, keeps_graph: false, accumulates, toward } = moment
            && (*accumulates || !toward.is_empty())
        {
            self.graph.free(it, loss, toward, span);
        }
        match moment {
            Moment::Backward { loss, accumulates: true, toward, .. } if toward.is_empty() => {
                self.graph.differentiated(it, loss);
            }
            Moment::Zero { optimizer } => match parameters(it, *optimizer) {
                Some(held) => self.graph.cleared(&held),
                None => self.graph.clear_all(),
            },
            Moment::Step { optimizer, .. } => {
                if let Some(held) = parameters(it, *optimizer) {
                    self.graph.stepped(it, &held, span);
                }
            }
            Moment::Unclear => self.graph.clear_all(),
            Moment::Backward { .. } => {}
        }
        self.optimizers.pass(it, moment, span);
    }
}

fn moment(it: &Interp<'_>, path: &str, bound: &Bound) -> Option<Moment> {
    let object = || bound.get("self").as_obj();
    Some(match path {
        "torch.Tensor.backward" => backward(it, bound, "input", true),
        "torch.autograd.backward" => backward(it, bound, "tensors", true),
        // If the loss is a tensor, the model of this function calls `backward()` itself.
        "accelerate.Accelerator.backward" if !it.heap.is_tensor(&bound.get("loss")) => {
            Moment::Backward { loss: Vec::new(), keeps_graph: true, accumulates: true, toward: Vec::new() }
        }
        "lightning.LightningModule.manual_backward" => {
            Moment::Backward { loss: Vec::new(), keeps_graph: true, accumulates: true, toward: Vec::new() }
        }
        "torch.autograd.grad" => backward(it, bound, "outputs", false),
        "torch.optim.Optimizer.step" => Moment::Step { optimizer: object()?, closure: !bound.get("closure").is_none() },
        "torch.optim.Optimizer.zero_grad" => Moment::Zero { optimizer: object()? },
        // It is not known which optimizers own these gradients.
        "torch.nn.Module.zero_grad" | "torch.Tensor.zero_" => Moment::Unclear,
        _ => return None,
    })
}

fn backward(it: &Interp<'_>, bound: &Bound, name: &str, accumulates: bool) -> Moment {
    let mut loss = Vec::new();
    tensors(it, &bound.get(name), 1, &mut loss);
    let off = |name: &str| matches!(bound.get(name), Value::None | Value::Bool(false));
    // With `inputs`, only a part of the graph is visited.
    let whole = !accumulates || bound.get("inputs").is_none();
    let keeps_graph = !(off("retain_graph") && off("create_graph") && whole);
    let mut toward = Vec::new();
    let inputs = bound.get("inputs");
    tensors(it, &inputs, 1, &mut toward);
    // If the inputs are not known, it is not known which part of the graph the pass visits.
    if !inputs.is_none() && toward.is_empty() {
        loss.clear();
    }
    Moment::Backward { loss, keeps_graph, accumulates, toward }
}

/// Whether a value is a module.
pub(super) fn is_module(it: &Interp<'_>, value: &Value) -> bool {
    it.heap.instance_of(value).is_some() && it.is_instance(value, MODULE)
}

/// The states on the paths that lead here, as stored by [`set_fates`]; empty if they are not known.
/// If there are several states, each of them is assumed to occur in some iterations.
pub(super) fn fates(it: &Interp<'_>, note: Note) -> Vec<State> {
    match it.remembered(note) {
        Some(Value::Fates(fates)) => fates.to_vec(),
        _ => Vec::new(),
    }
}

/// Stores the state of each path; an empty list means unknown.
pub(super) fn set_fates(it: &mut Interp<'_>, note: Note, mut all: Vec<State>) {
    all.sort_unstable();
    all.dedup();
    it.remember(note, if all.is_empty() { Value::Unknown } else { Value::Fates(all.into()) });
}
