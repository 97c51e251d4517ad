//! Steps that never have a gradient: `zero_grad()` is between `backward()` and `step()`, or there
//! is no `backward()`.
//!
//! A single step without gradients may be intended, to create the state of the optimizer. So an
//! optimizer is reported if no step in a loop ever had gradients.
//!
//! The gradients of some iterations may be dropped on purpose, too. But if the loss is divided by
//! `n`, and the step runs in every `n`th iteration, they were meant to accumulate.

use std::cell::{Cell, RefCell};

use rustc_hash::FxHashMap;

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::{Gradients, Moment};
use crate::syntax::Span;
use crate::value::{ObjId, Value};

const NAME: &str = "step-before-backward";

/// What happened to the steps of an optimizer.
#[derive(Default)]
struct Steps {
    /// A step without gradients, in a loop with another iteration.
    starved: Option<Span>,
    /// Some step had gradients, or may have had.
    fed: bool,
    /// A `backward()` whose gradients were cleared before any step, and what cleared them.
    lost: Option<(Span, Span)>,
    /// What clears them in every iteration, after a `backward()` of a loss that is divided by this
    /// number.
    cleared: Option<(Span, i64)>,
    /// A step in every iteration of this number, and whether there is another step elsewhere.
    regular: Option<(Span, i64)>,
    irregular: bool,
}

#[derive(Default)]
pub struct StepBeforeBackward {
    steps: RefCell<FxHashMap<ObjId, Steps>>,
    /// Tensors that are a quotient of a tensor and a number, with the number.
    parts: RefCell<FxHashMap<ObjId, i64>>,
    /// The divisor of the loss of the last `backward()`.
    divided: Cell<Option<i64>>,
}

impl Rule for StepBeforeBackward {
    fn returned(&self, _: &mut Context<'_, '_>, Call { path, bound }: Call<'_>, result: &Value) {
        if let "torch.div" = path.as_str()
            && let (Some(result), Some(by)) = (result.as_obj(), bound.get("other").as_int())
        {
            self.parts.borrow_mut().insert(result, by);
        }
    }

    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        let it = &*cx.it;
        let trace = cx.trace;
        let span = cx.span;
        let optimizer = match moment {
            Moment::Backward { loss, accumulates: true, .. } => {
                let parts = self.parts.borrow();
                let behind = trace.graph.attached(it, loss).into_iter();
                self.divided.set(behind.into_iter().find_map(|id| parts.get(&id).copied()));
                return;
            }
            Moment::Step { optimizer, .. } | Moment::Zero { optimizer } => *optimizer,
            _ => return,
        };
        let mut all = self.steps.borrow_mut();
        let steps = all.entry(optimizer).or_default();
        let gradients = trace.optimizers.gradients(it, optimizer);
        match moment {
            Moment::Zero { .. } if it.every_round().is_some() && !it.speculative() => {
                let fresh = trace.optimizers.fates(it, optimizer).contains(&Gradients::Fresh);
                steps.cleared = self.divided.get().filter(|_| fresh).map(|by| (span, by)).or(steps.cleared);
            }
            Moment::Step { .. } => match it.every() {
                Some(every) => steps.regular = Some((span, every)),
                None => steps.irregular = true,
            },
            _ => {}
        }
        match (moment, gradients) {
            (Moment::Zero { .. }, Some(Gradients::Fresh)) => {
                steps.lost = trace.optimizers.backward.get().map(|backward| (backward, span));
            }
            (Moment::Step { closure: false, .. }, Some(Gradients::Blank | Gradients::Empty)) if !it.speculative() => {
                steps.starved = steps.starved.or(it.later_round().then_some(span));
            }
            (Moment::Step { .. }, _) => steps.fed = true,
            _ => {}
        }
    }

    fn end(&self, cx: &mut Context<'_, '_>) {
        for steps in self.steps.borrow().values() {
            if let (Some((zero, by)), Some((step, every)), false) = (steps.cleared, steps.regular, steps.irregular)
                && by == every
            {
                let message = format!(
                    "this clears the gradients that earlier ones of the {every} `backward()` calls per step \
                        have accumulated"
                );
                let labels = vec![Label { span: step, message: format!("the step runs in every {every}th iteration") }];
                cx.findings.report(NAME, Severity::Error, message, zero, labels);
            }
            let Some(step) = steps.starved.filter(|_| !steps.fed) else { continue };
            let (span, message, labels) = match steps.lost {
                Some((backward, zero)) => (
                    backward,
                    "the gradients of this `backward()` are cleared before `step()` uses them",
                    vec![
                        Label { span: zero, message: "they are cleared here".to_owned() },
                        Label { span: step, message: "so this step has no gradients".to_owned() },
                    ],
                ),
                None => (step, "this step has no gradients: no `backward()` runs before it", Vec::new()),
            };
            cx.findings.report(NAME, Severity::Error, message, span, labels);
        }
    }
}
