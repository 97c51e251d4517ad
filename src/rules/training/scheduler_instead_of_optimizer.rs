//! A branch that steps the scheduler and not the optimizer:
//! `if scheduler: scheduler.step() else: optimizer.step()`.

use crate::diagnostic::Severity;
use crate::rules::arms::arms;
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::words::has_word;
use crate::syntax::{Ranged, Stmt, called, calls, path_of, statements};

const NAME: &str = "scheduler-instead-of-optimizer";

const SCHEDULERS: &[&str] = &["scheduler", "sched", "schedule"];
const OPTIMIZERS: &[&str] = &["optimizer", "optim", "opt", "optimiser"];

#[derive(Default)]
pub(crate) struct SchedulerInsteadOfOptimizer;

impl Rule for SchedulerInsteadOfOptimizer {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        // A scheduler of the program may step the optimizer itself.
        if !source.text.contains("lr_scheduler") && !source.text.contains("get_scheduler") {
            return;
        }
        for one in source.statements.iter().filter_map(|stmt| stmt.as_if_stmt()) {
            let arms = arms(one);
            let (Some(first), Some(last), 2) = (arms.first(), arms.last(), arms.len()) else { continue };
            let both = |scheduled: &[Stmt], other: &[Stmt]| {
                let place = step_of(scheduled, SCHEDULERS)?;
                (step_of(scheduled, OPTIMIZERS).is_none()
                    && step_of(other, OPTIMIZERS).is_some()
                    && step_of(other, SCHEDULERS).is_none())
                .then_some(place)
            };
            let Some(place) = both(first.body, last.body).or_else(|| both(last.body, first.body)) else { continue };
            let is_elsewhere = |stmt: &&&Stmt| {
                let outside = stmt.range().end() < one.start() || one.end() < stmt.range().start();
                outside && stmt.is_expr_stmt() && step_of(std::slice::from_ref(**stmt), OPTIMIZERS).is_some()
            };
            // The program may step the optimizer before or after the statement.
            if source.statements.iter().any(|stmt| is_elsewhere(&stmt)) {
                continue;
            }
            let message = "this branch steps the scheduler, but not the optimizer: it changes no weights".to_owned();
            findings.report(NAME, Severity::Warning, message, source.span(place), Vec::new());
        }
    }
}

/// The place of the call of `step` of an object with one of these words in its name.
fn step_of(body: &[Stmt], names: &[&str]) -> Option<crate::syntax::TextRange> {
    let all = statements(body, false);
    let mut steps = all.into_iter().filter(|stmt| stmt.is_expr_stmt()).flat_map(calls).filter(|call| {
        let method = call.func.as_attribute_expr().filter(|_| called(call) == Some("step"));
        method.is_some_and(|method| has_word(&path_of(&method.value), names))
    });
    steps.next().map(|call| call.range())
}
