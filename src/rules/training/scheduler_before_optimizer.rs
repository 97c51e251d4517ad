//! A scheduler that steps before its optimizer: each change of the learning rate comes one step
//! early.
//!
//! When training is resumed, the scheduler may be advanced before the training begins. So the rule
//! reports a scheduler only if its optimizer steps after it in the first iteration of the same loop.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::diagnostic::{Label, Severity};
use crate::python::{Certainty, Interp};
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::Moment;
use crate::syntax::Span;
use crate::value::{ObjId, Value};

const NAME: &str = "scheduler-before-optimizer";

#[derive(Default)]
pub(crate) struct SchedulerBeforeOptimizer {
    /// Steps of schedulers in the first iteration of a loop, before the first step of their
    /// optimizer, and whether the optimizer stepped later in this iteration.
    early: RefCell<FxHashMap<(Span, ObjId), bool>>,
}

impl Rule for SchedulerBeforeOptimizer {
    const LATER_ROUNDS: bool = true;

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &*cx.it;
        let trace = cx.trace;
        let span = cx.span;
        if path.as_str() != "torch.optim.lr_scheduler.LRScheduler.step" || it.speculative() || bound.has_more() {
            return;
        }
        let scheduler = bound.get("self");
        let plateau = it.is_instance(&scheduler, "torch.optim.lr_scheduler.ReduceLROnPlateau");
        let optimizer = scheduler.as_obj().and_then(|id| it.heap.attr(id, "optimizer")).and_then(|v| v.as_obj());
        let Some((optimizer, known)) = optimizer.and_then(|id| Some((id, trace.optimizers.known(id)?))) else { return };
        if plateau || known.escaped {
            return;
        }
        match known.stepped {
            // Under a condition, the scheduler may begin to step in a later iteration.
            None if it.undecided() > 0 => {}
            None if !it.later_round() => _ = self.early.borrow_mut().insert((span, optimizer), false),
            // The loop has had several iterations without a step of the optimizer, so the scheduler
            // is assumed to be advanced on purpose.
            None => _ = self.early.borrow_mut().remove(&(span, optimizer)),
            Some(step)
                if it.later_round()
                    && self.early.borrow().get(&(span, optimizer)) == Some(&true)
                    && schedulers(it, optimizer) == 1 =>
            {
                let message =
                    "the scheduler steps before the optimizer, so each change of the learning rate comes one step too \
                     early"
                        .to_owned();
                let labels = vec![Label { span: step, message: "the optimizer steps later in the loop".to_owned() }];
                cx.findings.report(NAME, Severity::Warning, message, span, labels);
            }
            Some(_) => {}
        }
    }

    /// A step of the optimizer under an unknown condition is ignored, because the optimizer may
    /// begin to step in a later iteration, for example after a warm-up. If the condition holds in
    /// every `n`th iteration, the step is not ignored.
    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        if let Moment::Step { optimizer: stepped, .. } = moment
            && !cx.it.later_round()
            && (cx.it.certainty() == Certainty::Certain || cx.it.every().is_some())
        {
            for ((_, optimizer), followed) in self.early.borrow_mut().iter_mut() {
                *followed |= optimizer == stepped;
            }
        }
    }
}

/// The number of schedulers of an optimizer. If there are several, for example one for a warm-up,
/// one may overwrite the learning rate that another has set.
fn schedulers(it: &Interp<'_>, optimizer: ObjId) -> usize {
    let of_optimizer = |id: &ObjId| it.heap.attr(*id, "optimizer").and_then(|v| v.as_obj()) == Some(optimizer);
    let is_scheduler = |id: &ObjId| it.is_instance(&Value::Obj(*id), "torch.optim.lr_scheduler.LRScheduler");
    it.heap.ids().filter(of_optimizer).filter(is_scheduler).count()
}
