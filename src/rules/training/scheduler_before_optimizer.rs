//! A scheduler that steps before its optimizer ever does: each change of the rate comes one step
//! early.
//!
//! Training that is resumed may wind its scheduler forward before it begins. So what is
//! reported steps in the same loop as its optimizer: in a later round, the optimizer has
//! stepped.

use std::cell::RefCell;

use rustc_hash::FxHashSet;

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Call, Context, Rule};
use crate::syntax::Span;
use crate::value::ObjId;

const NAME: &str = "scheduler-before-optimizer";

#[derive(Default)]
pub struct SchedulerBeforeOptimizer {
    /// Steps of schedulers whose optimizers had not stepped then.
    early: RefCell<FxHashSet<(Span, ObjId)>>,
}

impl Rule for SchedulerBeforeOptimizer {
    const LATER_ROUNDS: bool = true;

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &*cx.it;
        let trace = cx.trace;
        let span = cx.span;
        if path.as_str() != "torch.optim.lr_scheduler.LRScheduler.step" || it.speculative() || !bound.rest.is_empty() {
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
            // Under a condition it may be that only later rounds step.
            None if it.undecided() > 0 => {}
            None if !it.later_round() => _ = self.early.borrow_mut().insert((span, optimizer)),
            // Round after round without a step of the optimizer: it is wound forward.
            None => _ = self.early.borrow_mut().remove(&(span, optimizer)),
            Some(step) if it.later_round() && self.early.borrow().contains(&(span, optimizer)) => {
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
}
