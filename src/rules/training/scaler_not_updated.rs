//! Calls that a `GradScaler` allows only once per optimizer between two calls of `update()`.
//!
//! PyTorch stores a stage for each optimizer (`torch/amp/grad_scaler.py`, `OptState`). This rule
//! stores a list of stages for each scaler, on each path of the program.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::diagnostic::{Label, Severity};
use crate::python::Event;
use crate::rules::rule::{Call, Context, Findings, Rule, Source, witness};
use crate::rules::trace::{fates, reach, set_fates};
use crate::rules::training::scaled_gradients_used::{SCALERS, enabled_scaler, is_scaler};
use crate::syntax::ast::ExprCall;
use crate::syntax::{Expr, Ranged, Span, Stmt, assignment, parts, path_of, statements};
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

    /// Iterations that unscale the gradients, and update the scaler only under a condition about this iteration:
    /// `if not skip: scaler.step(optimizer); scaler.update()`.
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("unscale_") {
            return;
        }
        for body in source.statements.iter().filter_map(|stmt| loop_body(stmt)) {
            for (at, stmt) in body.iter().enumerate() {
                let Some(call) = call_of(stmt, "unscale_") else { continue };
                let scaler = owner(call);
                let updates = |stmt: &Stmt| call_of(stmt, "update").is_some_and(|call| owner(call) == scaler);
                let count = |body: &[Stmt], definitions| {
                    statements(body, definitions).into_iter().filter(|stmt| updates(stmt)).count()
                };
                let rest = body.get(at + 1..).unwrap_or_default();
                let skipped = rest.iter().filter_map(Stmt::as_if_stmt).find(|one| {
                    one.elif_else_clauses.is_empty() && count(&one.body, false) > 0 && is_of_iteration(&one.test, body)
                });
                // Another call of `update()` may be in no other place of the loop.
                let Some(skipped) = skipped.filter(|one| count(&one.body, false) == count(body, true)) else {
                    continue;
                };
                let message = "an iteration that skips the `update()` below makes the next `unscale_()` raise";
                let label = Label {
                    span: source.span(skipped.test.range()),
                    message: "`update()` is called only if this holds".to_owned(),
                };
                findings.report(NAME, Severity::Warning, message, source.span(call.range()), vec![label]);
            }
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

fn loop_body(stmt: &Stmt) -> Option<&[Stmt]> {
    match stmt {
        Stmt::For(each) => Some(&each.body),
        Stmt::While(each) => Some(&each.body),
        _ => None,
    }
}

/// The call in a statement `scaler.method(…)`.
fn call_of<'a>(stmt: &'a Stmt, method: &str) -> Option<&'a ExprCall> {
    let call = stmt.as_expr_stmt().and_then(|stmt| stmt.value.as_call_expr())?;
    let path = path_of(&call.func);
    let is_of_scaler = path.len() > 1 && path.iter().rev().nth(1).is_some_and(|name| name.contains("scaler"));
    (path.last() == Some(&method) && is_of_scaler).then_some(call)
}

/// The path of the scaler in `scaler.update()`.
fn owner(call: &ExprCall) -> Vec<&str> {
    let mut path = path_of(&call.func);
    path.pop();
    path
}

/// Whether a condition contains a variable that the body of a loop itself assigns before.
fn is_of_iteration(test: &Expr, body: &[Stmt]) -> bool {
    let before = body.iter().take_while(|stmt| stmt.start() < test.start());
    let assigned: Vec<_> = before.filter_map(assignment).map(|(target, _)| path_of(target)).collect();
    let is_number = |path: &[&str]| path.last().is_some_and(|name| name.contains("step") || name.contains("iter"));
    let names = parts(test).into_iter().map(path_of).filter(|path| path.len() == 1);
    let mut of_iteration = names.filter(|path| assigned.contains(path)).peekable();
    of_iteration.peek().is_some() && of_iteration.all(|path| !is_number(&path))
}

/// Whether this stage was reached on some path.
fn has(paths: &[State], stage: Note) -> bool {
    paths.iter().any(|path| path.contains(&stage))
}
