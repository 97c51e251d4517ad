//! Steps that never have a gradient: `zero_grad()` is between `backward()` and `step()`, or there
//! is no `backward()`.
//!
//! A single step without gradients may be intended, to create the state of the optimizer. So such
//! steps are reported only if they are in a loop and no step of the optimizer ever has gradients. A
//! program that computes nothing from the parameters is not reported: it does not train, but may,
//! for example, plot the learning rates of a scheduler.
//!
//! Dropping the gradients of some iterations may also be intended. But if the loss is divided by
//! `n`, and the step runs in every `n`th iteration, the rule assumes that the gradients were meant
//! to accumulate. The same holds if the gradients are cleared before the `backward()` of an
//! iteration and the optimizer steps after it, both under the same condition.
//!
//! If every iteration clears gradients that no step has used, they are either read by the program
//! or useless. So an optimizer that never steps is reported if the program reads no `.grad`.

use std::cell::{Cell, RefCell};

use rustc_hash::FxHashMap;

use crate::diagnostic::{Label, Severity};
use crate::python::Event;
use crate::rules::order::{Kind, operations};
use crate::rules::rule::{Call, Context, Findings, Rule, Source};
use crate::rules::trace::{Gradients, Moment, parameters};
use crate::syntax::{Span, blocks};
use crate::value::{ObjId, Value};

const NAME: &str = "step-before-backward";

/// What is known about the steps of an optimizer.
#[derive(Default)]
struct Steps {
    /// A step without gradients, in a loop with more than one iteration.
    starved: Option<Span>,
    /// Some step had gradients, or may have had some.
    fed: bool,
    /// A `backward()` whose gradients were cleared before any step, and the call that cleared them.
    lost: Option<(Span, Span)>,
    /// The call that clears the gradients in every iteration, and the number by which the loss is
    /// divided.
    cleared: Option<(Span, i64)>,
    /// A step in every `n`th iteration, and `n`.
    regular: Option<(Span, i64)>,
    /// Some step is not under a condition that holds in every `n`th iteration.
    irregular: bool,
    /// In a loop: a `backward()` whose gradients are cleared before any step, and the call that
    /// clears them.
    unused: Option<(Span, Span)>,
    /// The call that clears the gradients of earlier iterations, the step in the same iteration,
    /// and the number of iterations from one clearing to the next.
    dropped: Option<(Span, Span, i64)>,
    /// The optimizer, or another one that may share its parameters, steps somewhere.
    stepped: bool,
    /// The call that cleared the gradients in this iteration.
    last: Option<Cleared>,
}

/// A `zero_grad()` in every `n`th iteration.
struct Cleared {
    span: Span,
    every: i64,
    /// The text of the condition of the `zero_grad()`; no name in it was assigned since.
    test: String,
    /// A `backward()` that runs after the `zero_grad()`, in every iteration.
    backward: Option<Span>,
}

#[derive(Default)]
pub(crate) struct StepBeforeBackward {
    steps: RefCell<FxHashMap<ObjId, Steps>>,
    /// The results of divisions by a number, each with this number.
    parts: RefCell<FxHashMap<ObjId, i64>>,
    /// The divisor of the loss of the last `backward()`.
    divided: Cell<Option<i64>>,
    /// The program uses gradients in a way that is not followed: for example, it reads `.grad`, or
    /// an unknown optimizer steps.
    unclear: Cell<bool>,
}

impl StepBeforeBackward {
    /// A name is assigned. From now on, a condition that contains this name may hold in other
    /// iterations.
    fn forget(&self, name: &str) {
        for steps in self.steps.borrow_mut().values_mut() {
            let words = |test: &str| test.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
            if steps.last.as_ref().is_some_and(|last| words(&last.test)) {
                steps.last = None;
            }
        }
    }
}

impl Rule for StepBeforeBackward {
    /// Blocks in which `backward()`, `x.zero_grad()` and `x.step()` follow each other, if the optimizer is not
    /// known.
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for block in source.statements.iter().flat_map(|stmt| blocks(stmt)) {
            for window in operations(block).windows(3) {
                let [backward, clear, step] = window else { continue };
                let kinds = [backward.kind, clear.kind, step.kind];
                // `self.step()` may be a method that steps.
                let is_same =
                    step.owner == clear.owner || step.owner == ["self"] && clear.owner.first() == Some(&"self");
                if kinds != [Kind::Backward, Kind::Clear, Kind::Step] || !is_same || step.at != clear.at + 1 {
                    continue;
                }
                let message = "these gradients are cleared before a step uses them";
                let labels = vec![
                    Label { span: source.span(clear.range), message: "they are cleared here".to_owned() },
                    Label { span: source.span(step.range), message: "this step has no gradients".to_owned() },
                ];
                findings.report(NAME, Severity::Warning, message, source.span(backward.range), labels);
            }
        }
    }

    fn returned(&self, _: &mut Context<'_, '_>, Call { path, bound }: Call<'_>, result: &Value) {
        if let "torch.div" = path.as_str()
            && let (Some(result), Some(by)) = (result.as_obj(), bound.get("other").as_int())
        {
            self.parts.borrow_mut().insert(result, by);
        }
    }

    fn event(&self, _: &mut Context<'_, '_>, event: Event<'_>) {
        match event {
            Event::ReadAttribute { name, .. } if name.as_str() == "grad" => self.unclear.set(true),
            Event::SetAttribute { name, .. } => self.forget(name.as_str()),
            _ => {}
        }
    }

    fn assigned(&self, _: &mut Context<'_, '_>, name: &str, _: &Value) {
        self.forget(name);
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
                for (optimizer, steps) in self.steps.borrow_mut().iter_mut() {
                    let held = parameters(it, *optimizer);
                    let reached = trace.graph.ancestors(loss, |_| true);
                    let trains = held.is_some_and(|held| held.iter().any(|p| reached.contains(p)));
                    match &mut steps.last {
                        Some(last) if it.every().is_none() && trains => last.backward = Some(span),
                        last => *last = None,
                    }
                }
                return;
            }
            Moment::Unclear => {
                self.unclear.set(true);
                return;
            }
            Moment::Step { optimizer, .. } | Moment::Zero { optimizer } => *optimizer,
            Moment::Backward { .. } => return,
        };
        if trace.optimizers.known(optimizer).is_none() {
            self.unclear.set(true);
        }
        let mut all = self.steps.borrow_mut();
        if matches!(moment, Moment::Step { .. }) {
            for other in trace.optimizers.sharing(it, optimizer) {
                all.entry(other).or_default().stepped = true;
            }
        }
        let steps = all.entry(optimizer).or_default();
        let gradients = trace.optimizers.gradients(it, optimizer);
        match moment {
            Moment::Zero { .. } if it.every_round().is_some() && !it.speculative() => {
                let fresh = trace.optimizers.fates(it, optimizer).contains(&Gradients::Fresh);
                steps.cleared = self.divided.get().filter(|_| fresh).map(|by| (span, by)).or(steps.cleared);
            }
            Moment::Step { .. } => match it.every() {
                Some((every, _)) => steps.regular = Some((span, every)),
                None => steps.irregular = true,
            },
            _ => {}
        }
        let test = it.every().and_then(|(every, test)| Some((every, cx.source(test)?)));
        match moment {
            Moment::Zero { .. } => {
                steps.last = test.map(|(every, test)| Cleared { span, every, test, backward: None });
            }
            Moment::Step { .. } => {
                steps.stepped = true;
                if let (Some(last), Some((every, test))) = (steps.last.take(), test)
                    && let Some(backward) = last.backward
                    && !it.speculative()
                    && (last.every, &last.test) == (every, &test)
                    && (last.span.file, backward.file) == (span.file, span.file)
                    && last.span.start < backward.start
                    && backward.start < span.start
                {
                    steps.dropped = Some((last.span, span, every));
                }
            }
            _ => {}
        }
        match (moment, gradients) {
            (Moment::Zero { .. }, Some(Gradients::Fresh)) => {
                steps.lost = trace.optimizers.backward.get().map(|backward| (backward, span));
                let again = it.later_round() && !it.speculative() && parameters(it, optimizer).is_some();
                steps.unused = steps.unused.or(steps.lost.filter(|_| again));
            }
            (Moment::Step { closure: false, .. }, Some(Gradients::Blank | Gradients::Empty)) if !it.speculative() => {
                let starved = it.later_round() && parameters(it, optimizer).is_some_and(|held| trace.graph.uses(&held));
                steps.starved = steps.starved.or(starved.then_some(span));
            }
            (Moment::Step { .. }, _) => steps.fed = true,
            _ => {}
        }
    }

    fn end(&self, cx: &mut Context<'_, '_>) {
        for (optimizer, steps) in self.steps.borrow().iter() {
            let escaped = cx.trace.optimizers.known(*optimizer).is_none_or(|known| known.escaped);
            if let Some((backward, zero)) = steps.unused
                && !(steps.stepped || escaped || self.unclear.get() || cx.it.exhausted())
            {
                let message = "no step uses the gradients of this `backward()`: the optimizer never steps";
                let labels = vec![Label { span: zero, message: "they are cleared here".to_owned() }];
                cx.findings.report(NAME, Severity::Error, message, backward, labels);
            }
            let regular = match (steps.cleared, steps.regular, steps.irregular) {
                (Some((zero, by)), Some((step, every)), false) if by == every => Some((zero, step, every)),
                _ => None,
            };
            if let Some((zero, step, every)) = regular.or(steps.dropped) {
                let message = format!(
                    "this clears the gradients of earlier `backward()` calls, but each step should use the gradients of \
                        {every} calls"
                );
                let labels = vec![Label { span: step, message: format!("the step runs once in {every} iterations") }];
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
