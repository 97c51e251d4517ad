//! A scheduler that is configured for another number of steps than it makes: for example for the
//! number of epochs, although it steps in every batch, or for the number of batches, although it
//! steps once per epoch.
//!
//! The number of steps is computed from those loops around `step()` that began after the scheduler
//! was created.

use std::cell::RefCell;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::diagnostic::{Label, Severity};
use crate::python::Rounds;
use crate::rules::rule::{Call, Context, Rule, witness};
use crate::syntax::Span;
use crate::value::{ObjId, Value, counted};

const NAME: &str = "scheduler-length-mismatch";

/// Creates a scheduler that has made all of its steps.
const SETUP: &str = "\
optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.1)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=3)
for _ in range(3):
    optimizer.step()
    scheduler.step()";
const SCHEDULERS: &str = "torch.optim.lr_scheduler.";

/// The largest factor of `StepLR` that is certainly not meant for every few batches.
const LARGE_DROP: f64 = 0.7;

struct Made {
    at: Span,
    class: &'static str,
    /// The number of steps of one cycle.
    total: i64,
    /// The number of epochs, if the cycle is given as epochs and batches per epoch.
    epochs: Option<i64>,
    /// The number of loops, and of undecided branches, around the creation of the scheduler.
    loops: usize,
    undecided: u32,
}

#[derive(Default)]
pub(crate) struct SchedulerLengthMismatch {
    made: RefCell<FxHashMap<ObjId, Made>>,
    /// For each scheduler: the places of its steps, each with the loops around it.
    steps: RefCell<BTreeMap<ObjId, BTreeMap<Span, Vec<Rounds>>>>,
}

impl Rule for SchedulerLengthMismatch {
    const LATER_ROUNDS: bool = true;

    fn returned(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>, result: &Value) {
        let it = &*cx.it;
        let span = cx.span;
        let Some(class) = path.as_str().strip_prefix(SCHEDULERS) else { return };
        let int = |name: &str| bound.get(name).as_int();
        let (total, epochs) = match class {
            "OneCycleLR" => match (int("total_steps"), int("epochs"), int("steps_per_epoch")) {
                (Some(total), ..) => (Some(total), None),
                (None, Some(epochs), Some(batches)) => (epochs.checked_mul(batches), Some(epochs)),
                _ => (None, None),
            },
            "CosineAnnealingLR" => (int("T_max"), None),
            // A rate that falls slowly may fall in every batch on purpose.
            "StepLR" if bound.get("gamma").as_f64().is_some_and(|gamma| gamma <= LARGE_DROP) => {
                (int("step_size").filter(|size| *size > 1), None)
            }
            _ => return,
        };
        let resumed = int("last_epoch").is_some_and(|last| last != -1);
        if let (Some(id), Some(total), false) = (result.as_obj(), total, it.speculative() || resumed) {
            let (loops, undecided) = (it.open_loops(), it.undecided());
            self.made.borrow_mut().insert(id, Made { at: span, class, total, epochs, loops, undecided });
        }
    }

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &*cx.it;
        let span = cx.span;
        if path.as_str() != "torch.optim.lr_scheduler.LRScheduler.step" {
            return;
        }
        let made = self.made.borrow();
        let Some((id, made)) = bound.get("self").as_obj().and_then(|id| Some((id, made.get(&id)?))) else { return };
        // A step that may be skipped, or that gets the epoch as an argument, is not counted.
        let counted = it.undecided() <= made.undecided && !bound.has_more() && !it.speculative();
        let mut steps = self.steps.borrow_mut();
        let place = steps.entry(id).or_default().entry(span).or_insert_with(|| it.rounds().split_off(made.loops));
        if !counted {
            place.clear();
        }
    }

    fn end(&self, cx: &mut Context<'_, '_>) {
        let all = self.made.borrow();
        for (id, steps) in self.steps.borrow().iter() {
            let Some(made) = all.get(id) else { continue };
            for (span, around) in steps {
                let Some((severity, message)) = made.mismatch(around, steps.len() == 1) else { continue };
                let labels = vec![Label {
                    span: made.at,
                    message: format!("the scheduler is configured for {}", counted(made.total, "step")),
                }];
                let finding = cx.findings.report(NAME, severity, message, *span, labels);
                if severity == Severity::Error {
                    witness(finding, SETUP, "scheduler.step()");
                }
            }
        }
    }
}

impl Made {
    /// The severity and the message for steps in these loops (outermost first), if the number of
    /// steps is wrong.
    fn mismatch(&self, around: &[Rounds], alone: bool) -> Option<(Severity, String)> {
        let (outer, inner) = around.split_first()?;
        let total = self.total;
        let least = |rounds: &Rounds| rounds.count.filter(|_| !rounds.leaves).unwrap_or(1).max(1);
        let steps = around.iter().fold(1_i64, |all, rounds| all.saturating_mul(least(rounds)));
        if self.class == "OneCycleLR" && steps > total {
            let total = counted(total, "step");
            let message = format!("the scheduler is configured for {total}, but the loop makes more: `step()` raises");
            return Some((Severity::Error, message));
        }
        // A loop over a few known elements, such as `["train", "val"]`, is assumed not to be a loop
        // over batches.
        let mut inner_counts = inner.iter().filter(|rounds| !rounds.unrolled).peekable();
        let has_batches = inner_counts.peek().is_some();
        let batches = inner_counts.try_fold(1_i64, |all, rounds| Some(all.saturating_mul(rounds.count?)));
        if outer.count == Some(total) && total > 1 && has_batches && batches.is_none_or(|n| n > 1) {
            let then = match self.class {
                "OneCycleLR" => "`step()` raises after that many batches",
                _ => "the learning rate falls and rises again every few batches",
            };
            let message = format!(
                "the scheduler steps for every batch, but is configured for as many steps as there are \
                    epochs: {then}"
            );
            return Some((Severity::Warning, message));
        }
        let is_within_epochs = self.class == "StepLR" && outer.count.is_some_and(|epochs| total <= epochs);
        if is_within_epochs && has_batches && batches.is_none_or(|n| n > total) {
            let message = format!(
                "the scheduler steps for every batch, but its `step_size` counts epochs: the learning rate falls \
                    every {total} batches"
            );
            return Some((Severity::Warning, message));
        }
        // The scheduler is configured for batches, but steps only once per epoch.
        let epochs = outer.count.filter(|n| inner.is_empty() && alone && self.epochs == Some(*n) && total > *n)?;
        let (times, total) = (counted(epochs, "time"), counted(total, "step"));
        let message = format!("the scheduler steps {times}, once per epoch, but is configured for {total}");
        Some((Severity::Warning, message))
    }
}
