//! A scheduler that is made for another number of steps than it takes: for epochs, and stepped
//! for every batch, or the other way round.
//!
//! How often it steps is read from the loops around `step()` that were not yet running where the
//! scheduler was made.

use std::cell::RefCell;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::watch::{Found, Watching, report};
use crate::diagnostic::{Label, Severity};
use crate::python::{Bound, Interp, Rounds};
use crate::syntax::Span;
use crate::value::{ObjId, Sym, Value};

const NAME: &str = "scheduler-length-mismatch";
const SCHEDULERS: &str = "torch.optim.lr_scheduler.";

struct Made {
    at: Span,
    class: &'static str,
    /// The steps of one cycle.
    total: i64,
    /// … which were given as epochs and batches.
    epochs: Option<i64>,
    /// How many loops and undecided branches it was made in.
    loops: usize,
    undecided: u32,
}

#[derive(Default)]
pub struct SchedulerLengthMismatch {
    made: RefCell<FxHashMap<ObjId, Made>>,
    /// Where each steps, with the loops around.
    steps: RefCell<BTreeMap<ObjId, BTreeMap<Span, Vec<Rounds>>>>,
}

impl SchedulerLengthMismatch {
    pub fn returned(&self, it: &Interp<'_>, (path, bound, result, span): (Sym, &Bound, &Value, Span)) {
        let Some(class) = path.as_str().strip_prefix(SCHEDULERS) else { return };
        let int = |name: &str| bound.get(name).as_int();
        let (total, epochs) = match class {
            "OneCycleLR" => match (int("total_steps"), int("epochs"), int("steps_per_epoch")) {
                (Some(total), ..) => (Some(total), None),
                (None, Some(epochs), Some(batches)) => (epochs.checked_mul(batches), Some(epochs)),
                _ => (None, None),
            },
            "CosineAnnealingLR" => (int("T_max"), None),
            _ => return,
        };
        let resumed = int("last_epoch").is_some_and(|last| last != -1);
        if let (Some(id), Some(total), false) = (result.as_obj(), total, it.speculative || resumed) {
            let (loops, undecided) = (it.open_loops(), it.undecided());
            self.made.borrow_mut().insert(id, Made { at: span, class, total, epochs, loops, undecided });
        }
    }

    pub fn call(
        &self,
        with: &Watching<'_>,
        it: &Interp<'_>,
        (path, bound, span): (Sym, &Bound, Span),
        found: &mut Found,
    ) {
        let made = self.made.borrow();
        let Some(id) = bound.get("self").as_obj().filter(|_| !made.is_empty()) else { return };
        let Some(made) = made.get(&id) else { return };
        if path.as_str() != "torch.optim.lr_scheduler.LRScheduler.step" {
            return;
        }
        // Where it may not come, or is told the epoch, its steps are not counted.
        let around: Vec<Rounds> = match it.undecided() == made.undecided && bound.rest.is_empty() && !it.speculative {
            true => it.rounds().into_iter().skip(made.loops).collect(),
            false => Vec::new(),
        };
        self.steps.borrow_mut().entry(id).or_default().insert(span, around.clone());
        let (Some(page), [outer, inner @ ..]) = (with.rules.find(NAME), around.as_slice()) else { return };
        let label = |message: String| vec![Label { span: made.at, message }];
        let total = made.total;
        let certain = around
            .iter()
            .map(|r| if r.leaves { Some(1) } else { r.count })
            .try_fold(1_i64, |all, count| Some(all.saturating_mul(count.unwrap_or(1).max(1))));
        if made.class == "OneCycleLR" && certain.is_some_and(|steps| steps > total) {
            let message = format!("its {total} steps are over before the loop is: the scheduler raises");
            let made = label(format!("it is made for {total} steps"));
            return report(found, page, Severity::Error, message, span, made);
        }
        let batches = inner.iter().try_fold(1_i64, |all, rounds| Some(all.saturating_mul(rounds.count?)));
        if outer.count == Some(total) && total > 1 && !inner.is_empty() && batches.is_none_or(|n| n > 1) {
            let then = match made.class {
                "OneCycleLR" => "it raises once they are taken",
                _ => "the rate falls and rises again every so many batches",
            };
            let message =
                format!("it steps for every batch, and is made for {total} steps, the number of epochs: {then}");
            report(found, page, Severity::Warning, message, span, label("here it is made".to_owned()));
        }
    }

    /// Made for batches, and stepped for epochs only.
    pub fn end(&self, with: &Watching<'_>, found: &mut Found) {
        let Some(page) = with.rules.find(NAME) else { return };
        let all = self.made.borrow();
        for (id, steps) in self.steps.borrow().iter() {
            let Some(made) = all.get(id) else { continue };
            let mut places = steps.iter();
            let (Some((span, around)), None) = (places.next(), places.next()) else { continue };
            if let [Rounds { count: Some(count), .. }] = around.as_slice()
                && made.epochs == Some(*count)
                && made.total > *count
            {
                let total = made.total;
                let message = format!("it steps {count} times, once for each epoch, and is made for {total} steps");
                let labels = vec![Label { span: made.at, message: "it is made for all batches".to_owned() }];
                report(found, page, Severity::Warning, message, *span, labels);
            }
        }
    }
}
