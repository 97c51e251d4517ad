//! Costs in every step of training: synchronisation with the GPU, emptied caches, tensors created
//! on the wrong device, moves without effect.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostic::{Label, Severity};
use crate::python::{Bound, Event, Interp};
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::{Moment, tensor};
use crate::syntax::Span;
use crate::value::{Device, ObjId, Value};

/// A replayed iteration of a loop (see [`Interp::every_round`]): a number that identifies the
/// iteration, and the number of open loops.
type Round = (usize, usize);

/// A cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cost {
    /// An operation that waits for the GPU, as text for the message: "`.item()`", "a condition".
    Wait(&'static str),
    EmptiedCache,
    /// A move of a tensor that was created on the CPU; this is the place of its creation.
    MadeOnCpu(Span),
    /// A move of a tensor that is already on the target device.
    RedundantMove,
}

#[derive(Default)]
pub(crate) struct SyncInTrainingLoop {
    costs: RefCell<Vec<(Round, Span, Cost)>>,
    /// The iterations in which an optimizer steps.
    steps: RefCell<Vec<Round>>,
    /// Tensors that an iteration has created on the CPU, each with the place of its creation.
    made: RefCell<FxHashMap<ObjId, Span>>,
    /// The places of moves that have an effect at least once.
    needed: RefCell<FxHashSet<Span>>,
}

/// Functions that create a tensor without an input tensor, and have a `device` argument.
const FACTORIES: &[&str] =
    &["zeros", "ones", "full", "empty", "rand", "randn", "randint", "randperm", "arange", "linspace", "eye", "tensor"];

impl Rule for SyncInTrainingLoop {
    const LATER_ROUNDS: bool = true;

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &*cx.it;
        let span = cx.span;
        let cost = match path.as_str() {
            "torch.cuda.empty_cache" => Cost::EmptiedCache,
            "torch.cuda.synchronize" => Cost::Wait("`synchronize()`"),
            path => {
                let how = match path.strip_prefix("torch.Tensor.") {
                    Some("item") => "`.item()`",
                    Some("tolist") => "`.tolist()`",
                    Some("cpu") => "`.cpu()`",
                    Some("numpy") => "`.numpy()`",
                    _ => return,
                };
                if !is_on_gpu(it, &bound.get("input")) {
                    return;
                }
                Cost::Wait(how)
            }
        };
        self.pay(it, span, cost);
    }

    fn returned(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>, result: &Value) {
        let it = &*cx.it;
        match path.as_str().strip_prefix("torch.") {
            Some(factory) if FACTORIES.contains(&factory) => {
                let id = result.as_obj().filter(|id| tensor(it, *id).and_then(|t| t.device) == Some(Device::CPU));
                if let (Some(id), Some(_)) = (id, it.every_round()) {
                    self.made.borrow_mut().insert(id, cx.span);
                }
            }
            Some("Tensor.to" | "Tensor.cuda") => self.moved(it, bound, result, cx.span),
            _ => {}
        }
    }

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let it = &*cx.it;
        if let Event::Read { value, how, span } = event
            && is_on_gpu(it, value)
        {
            self.pay(it, span, Cost::Wait(how));
        }
    }

    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        let it = &*cx.it;
        if let (Moment::Step { .. }, Some(round)) = (moment, it.every_round()) {
            self.steps.borrow_mut().push(round);
        }
    }

    fn end(&self, cx: &mut Context<'_, '_>) {
        let (steps, needed) = (self.steps.borrow(), self.needed.borrow());
        for (_, span, cost) in self.costs.borrow().iter().filter(|(round, ..)| steps.contains(round)) {
            let mut labels = Vec::new();
            let (name, message) = match *cost {
                Cost::EmptiedCache => (
                    "empty-cache-in-loop",
                    "every step returns its cached memory to the driver and allocates it again".to_owned(),
                ),
                Cost::Wait(how) => ("sync-in-training-loop", format!("{how} waits for the GPU in every step")),
                Cost::MadeOnCpu(made) => {
                    labels.push(Label { span: made, message: "it is created on the CPU here".to_owned() });
                    ("tensor-made-on-cpu", "every step creates this on the CPU and copies it to the GPU".to_owned())
                }
                Cost::RedundantMove if needed.contains(span) => continue,
                Cost::RedundantMove => ("redundant-move", "the tensor is already on this device".to_owned()),
            };
            cx.findings.report(name, Severity::Info, message, *span, labels);
        }
    }
}

impl SyncInTrainingLoop {
    fn moved(&self, it: &Interp<'_>, bound: &Bound, result: &Value, span: Span) {
        let (Some(from), Some(to)) = (bound.get("input").as_obj(), result.as_obj()) else { return };
        if from != to {
            self.needed.borrow_mut().insert(span);
            if let Some(made) = self.made.borrow().get(&from).filter(|_| is_on_gpu(it, result)) {
                self.pay(it, span, Cost::MadeOnCpu(*made));
            }
        } else if is_on_gpu(it, result) {
            self.pay(it, span, Cost::RedundantMove);
        }
    }

    fn pay(&self, it: &Interp<'_>, span: Span, cost: Cost) {
        if let Some(round) = it.every_round() {
            self.costs.borrow_mut().push((round, span, cost));
        }
    }
}

fn is_on_gpu(it: &Interp<'_>, value: &Value) -> bool {
    value.as_obj().and_then(|id| tensor(it, id)?.device).is_some_and(Device::is_cuda)
}
