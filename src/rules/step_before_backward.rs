//! Steps that never have a gradient to use: `zero_grad()` comes between `backward()` and
//! `step()`, or there is no `backward()`.
//!
//! A single step without gradients may be made on purpose, to give the optimizer its state.
//! So what is reported is an optimizer of which no step in a loop ever had gradients.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::trace::{Gradients, Moment, Trace};
use super::watch::{Found, Watching, report};
use crate::diagnostic::{Label, Severity};
use crate::python::Interp;
use crate::syntax::Span;
use crate::value::ObjId;

const NAME: &str = "step-before-backward";

/// What became of an optimizer's steps.
#[derive(Default)]
struct Steps {
    /// A step without gradients, in a loop that comes round.
    starved: Option<Span>,
    /// Some step had gradients, or may have had.
    fed: bool,
    /// A `backward()` whose gradients were cleared before any step, and what cleared them.
    lost: Option<(Span, Span)>,
}

#[derive(Default)]
pub struct StepBeforeBackward {
    steps: RefCell<FxHashMap<ObjId, Steps>>,
}

impl StepBeforeBackward {
    pub fn moment(&self, it: &Interp<'_>, trace: &Trace, (moment, span): (&Moment, Span)) {
        let optimizer = match moment {
            Moment::Step { optimizer, .. } | Moment::Zero { optimizer } => *optimizer,
            _ => return,
        };
        let mut all = self.steps.borrow_mut();
        let steps = all.entry(optimizer).or_default();
        let gradients = trace.optimizers.gradients(it, optimizer);
        match (moment, gradients) {
            (Moment::Zero { .. }, Some(Gradients::Fresh)) => {
                steps.lost = trace.optimizers.backward.get().map(|backward| (backward, span));
            }
            (Moment::Step { closure: false, .. }, Some(Gradients::Empty)) if !it.speculative => {
                steps.starved = steps.starved.or(it.later_round().then_some(span));
            }
            (Moment::Step { .. }, _) => steps.fed = true,
            _ => {}
        }
    }

    pub fn end(&self, with: &Watching<'_>, found: &mut Found) {
        let Some(page) = with.rules.find(NAME) else { return };
        for steps in self.steps.borrow().values() {
            let Some(step) = steps.starved.filter(|_| !steps.fed) else { continue };
            let (span, message, labels) = match steps.lost {
                Some((backward, zero)) => (
                    backward,
                    "the gradients of this `backward()` are cleared before `step()` uses them",
                    vec![
                        Label { span: zero, message: "here they are cleared".to_owned() },
                        Label { span: step, message: "so this step finds none".to_owned() },
                    ],
                ),
                None => (step, "this step finds no gradients: no `backward()` comes before it", Vec::new()),
            };
            report(found, page, Severity::Error, message.to_owned(), span, labels);
        }
    }
}
