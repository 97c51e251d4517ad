//! What makes the CPU wait for the GPU in every step of training.

use std::cell::RefCell;

use super::trace::{Moment, tensor};
use super::watch::{Found, Watching, report};
use crate::diagnostic::Severity;
use crate::python::{Bound, Interp};
use crate::syntax::Span;
use crate::value::{Device, Sym};

const NAME: &str = "sync-in-training-loop";
const CACHE: &str = "empty-cache-in-loop";

/// A loop whose second round is shown, by a number, and how many loops are open in it.
type Round = (usize, usize);

#[derive(Default)]
pub struct SyncInTrainingLoop {
    /// What waits in every round.
    waits: RefCell<Vec<(Round, Span, &'static str)>>,
    /// The loop whose every round takes a step.
    steps: RefCell<Vec<Round>>,
}

impl SyncInTrainingLoop {
    pub fn call(&self, it: &Interp<'_>, (path, bound, span): (Sym, &Bound, Span)) {
        let Some(round) = it.every_round() else { return };
        let what = match path.as_str() {
            "torch.cuda.empty_cache" => "empty_cache",
            "torch.cuda.synchronize" => "synchronize",
            path => {
                let Some(method @ ("item" | "tolist" | "cpu" | "numpy")) = path.strip_prefix("torch.Tensor.") else {
                    return;
                };
                let on = bound.get("input").as_obj().and_then(|id| tensor(it, id)?.device);
                if !on.is_some_and(Device::is_cuda) {
                    return;
                }
                method
            }
        };
        self.waits.borrow_mut().push((round, span, what));
    }

    pub fn moment(&self, it: &Interp<'_>, moment: &Moment) {
        if let (Moment::Step { .. }, Some(round)) = (moment, it.every_round()) {
            self.steps.borrow_mut().push(round);
        }
    }

    pub fn end(&self, with: &Watching<'_>, found: &mut Found) {
        let steps = self.steps.borrow();
        for (_, span, what) in self.waits.borrow().iter().filter(|(round, ..)| steps.contains(round)) {
            let (name, message) = match *what {
                "empty_cache" => (CACHE, "every step gives its memory back, and asks for it again".to_owned()),
                what => (NAME, format!("`{what}` waits for the GPU in every step")),
            };
            if let Some(page) = with.rules.find(name) {
                report(found, page, Severity::Info, message, *span, Vec::new());
            }
        }
    }
}
