//! `configure_optimizers` of Lightning that returns an optimizer and a scheduler as two optimizers.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::{Expr, Ranged, Stmt, path_of};

const NAME: &str = "optimizers-returned-as-pair";

/// Optimizers of PyTorch.
const OPTIMIZERS: &[&str] =
    &["ASGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "NAdam", "RAdam", "RMSprop", "Rprop", "SGD"];

/// Functions of transformers that return a scheduler.
const SCHEDULES: &[&str] =
    &["get_constant_schedule_with_warmup", "get_cosine_schedule_with_warmup", "get_linear_schedule_with_warmup"];

#[derive(Default)]
pub(crate) struct OptimizersReturnedAsPair;

impl Rule for OptimizersReturnedAsPair {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if source.text.contains("Fabric") {
            return;
        }
        for (result, body) in source.configurations() {
            if is_pair(result, &body) {
                let message = "Lightning treats this as two optimizers, but the second one is a scheduler: the trainer \
                               raises an error";
                findings.report(NAME, Severity::Error, message, source.span(result.range()), Vec::new());
            }
        }
    }
}

/// Whether a result is `optimizer, scheduler` or `[optimizer, scheduler]`. The scheduler may be in a list.
/// Lightning accepts two lists, so the first part must certainly be a single optimizer.
fn is_pair(result: &Expr, body: &[&Stmt]) -> bool {
    let parts = match result {
        Expr::Tuple(tuple) => tuple.elts.as_slice(),
        Expr::List(list) => list.elts.as_slice(),
        _ => return false,
    };
    let [optimizer, scheduler] = parts else { return false };
    creates(optimizer, body, is_optimizer)
        // `optimizer, [scheduler]` is not accepted, either.
        && match scheduler {
            Expr::List(list) => matches!(list.elts.as_slice(), [one] if creates(one, body, is_scheduler)),
            one => creates(one, body, is_scheduler),
        }
}

/// Whether an expression is a call of a function that `is_wanted` accepts, or a name to which only such calls
/// are assigned.
fn creates(expr: &Expr, body: &[&Stmt], is_wanted: fn(&[&str]) -> bool) -> bool {
    let is_call = |value: &Expr| value.as_call_expr().is_some_and(|call| is_wanted(&path_of(&call.func)));
    if expr.is_call_expr() {
        return is_call(expr);
    }
    let path = path_of(expr);
    if path.is_empty() {
        return false;
    }
    let mut found = false;
    for assign in body.iter().filter_map(|stmt| stmt.as_assign_stmt()) {
        for target in &assign.targets {
            let is_it = path_of(target) == path;
            let parts = target.as_tuple_expr().map_or(&[][..], |tuple| tuple.elts.as_slice());
            if (is_it && !is_call(&assign.value)) || parts.iter().any(|part| path_of(part) == path) {
                return false;
            }
            found |= is_it;
        }
    }
    found
}

fn is_optimizer(path: &[&str]) -> bool {
    path.last().is_some_and(|class| OPTIMIZERS.contains(class))
}

/// Whether a path is that of a scheduler: a class of `torch.optim.lr_scheduler`, a function of [`SCHEDULES`],
/// or a class with a usual name.
fn is_scheduler(path: &[&str]) -> bool {
    let [modules @ .., name] = path else { return false };
    modules.last() == Some(&"lr_scheduler")
        || SCHEDULES.contains(name)
        || ["LR", "LRScheduler", "ReduceLROnPlateau"].iter().any(|ending| name.ends_with(*ending))
}
