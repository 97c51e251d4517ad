//! Calls that a `GradScaler` allows only once per optimizer between two calls of `update()`.
//!
//! PyTorch stores a stage for each optimizer (`torch/amp/grad_scaler.py`, `OptState`). This rule
//! stores a list of stages for each scaler, on each path of the program.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::diagnostic::Severity;
use crate::python::Event;
use crate::rules::rule::{Call, Context, Rule, witness};
use crate::rules::trace::{fates, reach, set_fates};
use crate::rules::training::scaled_gradients_used::{SCALERS, enabled_scaler, is_scaler};
use crate::syntax::Span;
use crate::value::{Note, ObjId, State, Topic, Value};

const NAME: &str = "scaler-not-updated";
/// For a scaler: the stages since its last `update()`, each with its optimizer.
const STAGES: Topic = Topic::new("stages");
const STEP: Topic = Topic::new("step()");
const UNSCALE: Topic = Topic::new("unscale_()");

/// Creates a scaler and makes a step with it. [`UNSCALED`] only unscales the gradients.
const STEPPED: &str = "\
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler('cpu')
scaler.scale(model(torch.rand(8, 4)).sum()).backward()
scaler.step(optimizer)";
const UNSCALED: &str = "\
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler('cpu')
scaler.scale(model(torch.rand(8, 4)).sum()).backward()
scaler.unscale_(optimizer)";

#[derive(Default)]
pub(crate) struct ScalerNotUpdated {
    /// Scalers that are certainly enabled, and that have not escaped to unseen code.
    known: RefCell<FxHashSet<ObjId>>,
    /// Scalers whose `update()` is called somewhere.
    updated: RefCell<FxHashSet<ObjId>>,
    /// Calls of `step()` in loops, each with its scaler.
    steps: RefCell<BTreeMap<Span, ObjId>>,
    /// `update()` was called on an unknown object.
    unclear: Cell<bool>,
}

impl Rule for ScalerNotUpdated {
    const LATER_ROUNDS: bool = true;

    fn returned(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>, result: &Value) {
        if let Some(id) = enabled_scaler(path, bound, result) {
            self.known.borrow_mut().insert(id);
            set_fates(cx.it, STAGES.of(id), vec![State::default()]);
        }
    }

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let it = &mut *cx.it;
        match event {
            Event::Unseen { name, .. } if name.as_str() == "update" => self.unclear.set(true),
            Event::Escaped { value } if !self.known.borrow().is_empty() => {
                let mut reached = Vec::new();
                for class in SCALERS {
                    reach(it, value, class, 4, &mut reached);
                }
                for id in &reached {
                    _ = self.known.borrow_mut().remove(id);
                }
            }
            _ => {}
        }
    }

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &mut *cx.it;
        let trace = cx.trace;
        let span = cx.span;
        let Some((_, method)) = path.as_str().rsplit_once('.').filter(|_| is_scaler(path.as_str())) else { return };
        let Some(scaler) = bound.get("self").as_obj().filter(|id| self.known.borrow().contains(id)) else { return };
        if !matches!(method, "step" | "unscale_" | "update") {
            return;
        }
        trace.note();
        let before = fates(it, STAGES.of(scaler));
        if method == "update" {
            self.updated.borrow_mut().insert(scaler);
            return set_fates(it, STAGES.of(scaler), vec![State::default()]);
        }
        if method == "step" && it.in_loop() && !it.speculative() && !it.expects_failure() {
            self.steps.borrow_mut().insert(span, scaler);
        }
        // If the optimizer is unknown, the state of the scaler is unknown, too.
        let Some(optimizer) = bound.get("optimizer").as_obj() else {
            return set_fates(it, STAGES.of(scaler), Vec::new());
        };
        let (step, unscale) = (STEP.of(optimizer), UNSCALE.of(optimizer));
        let (stepped, unscaled) = (has(&before, step), has(&before, unscale));
        let (message, setup) = match method {
            "step" if stepped => {
                ("`step()` was already called for this optimizer since the last `update()`: the scaler raises", STEPPED)
            }
            "unscale_" if stepped => ("`unscale_()` comes after `step()`: the scaler raises", STEPPED),
            "unscale_" if unscaled => (
                "`unscale_()` was already called for this optimizer since the last `update()`: the scaler raises",
                UNSCALED,
            ),
            _ => {
                let stage = if method == "step" { step } else { unscale };
                let after = before.iter().map(|before| before.iter().copied().chain([stage]).collect()).collect();
                return set_fates(it, STAGES.of(scaler), after);
            }
        };
        if !it.speculative() && !it.expects_failure() {
            let finding = cx.findings.report(NAME, Severity::Error, message, span, Vec::new());
            let again = if method == "step" { "scaler.step(optimizer)" } else { "scaler.unscale_(optimizer)" };
            witness(finding, setup, again);
        }
    }

    /// Without any `update()`, the second step fails, even if the steps are under a condition.
    fn end(&self, cx: &mut Context<'_, '_>) {
        if self.unclear.get() || cx.it.exhausted() {
            return;
        }
        let (known, updated) = (self.known.borrow(), self.updated.borrow());
        for (span, scaler) in self.steps.borrow().iter() {
            if known.contains(scaler) && !updated.contains(scaler) {
                let message = "nothing ever calls `update()`: the second `step()` for this optimizer raises";
                cx.findings.report(NAME, Severity::Error, message, *span, Vec::new());
            }
        }
    }
}

/// Whether this stage was reached on some path.
fn has(paths: &[State], stage: Note) -> bool {
    paths.iter().any(|path| path.contains(&stage))
}
