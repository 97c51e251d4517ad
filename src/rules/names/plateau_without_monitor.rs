//! `ReduceLROnPlateau` that Lightning gets without the name of the metric.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::ExprDict;
use crate::syntax::{Expr, Ranged, Stmt, entry, path_of};

const NAME: &str = "plateau-without-monitor";

#[derive(Default)]
pub(crate) struct PlateauWithoutMonitor;

impl Rule for PlateauWithoutMonitor {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        // With manual optimization, the program takes the steps itself.
        if ["automatic_optimization", "Fabric"].iter().any(|text| source.text.contains(text)) {
            return;
        }
        // Lightning 0.9 monitors `val_loss` if there is no other name. Only such versions have `pytorch_lightning.metrics`.
        if source.text.contains("pytorch_lightning.metrics") || (source.excludes)("pytorch-lightning", "1.0") {
            return;
        }
        for (result, body) in source.configurations() {
            if lacks_monitor(result, &body) {
                let message = "`ReduceLROnPlateau` needs a dictionary with the key \"monitor\": with automatic \
                               optimization, Lightning's trainer raises an error";
                findings.report(NAME, Severity::Error, message, source.span(result.range()), Vec::new());
            }
        }
    }
}

/// Whether a result has a `ReduceLROnPlateau` without a monitor, in one of the forms that Lightning accepts
/// (`_configure_optimizers` in `pytorch_lightning/core/optimizer.py`).
fn lacks_monitor(result: &Expr, body: &[&Stmt]) -> bool {
    let (scheduler, has_monitor) = match value_of(result, body) {
        // `[optimizer], [scheduler]`, or `[optimizer], scheduler`
        Expr::Tuple(tuple) => {
            let [Expr::List(_), second] = tuple.elts.as_slice() else { return false };
            match value_of(second, body) {
                Expr::List(list) => match list.elts.as_slice() {
                    [scheduler] => (scheduler, false),
                    _ => return false,
                },
                _ => (second, false),
            }
        }
        Expr::Dict(dict) if is_written_out(dict) => {
            let Some(scheduler) = entry(dict, "lr_scheduler") else { return false };
            (scheduler, entry(dict, "monitor").is_some())
        }
        _ => return false,
    };
    match value_of(scheduler, body) {
        // The key of the outer dictionary does not count for this one.
        Expr::Dict(dict) => {
            let known = ["monitor", "reduce_on_plateau"].iter().any(|key| entry(dict, key).is_some());
            let inner = entry(dict, "scheduler");
            is_written_out(dict) && !known && inner.is_some_and(|inner| is_plateau(value_of(inner, body)))
        }
        one => !has_monitor && is_plateau(one),
    }
}

fn is_plateau(value: &Expr) -> bool {
    value.as_call_expr().is_some_and(|call| path_of(&call.func).last() == Some(&"ReduceLROnPlateau"))
}

/// Whether all keys are string literals: no `**others`, and no key in a variable.
fn is_written_out(dict: &ExprDict) -> bool {
    dict.items.iter().all(|item| item.key.as_ref().is_some_and(Expr::is_string_literal_expr))
}

/// The value of a name that the method assigns once and does not change. Any other expression is its own
/// value.
fn value_of<'a>(expr: &'a Expr, body: &[&'a Stmt]) -> &'a Expr {
    let path = path_of(expr);
    if path.is_empty() {
        return expr;
    }
    let mut value = None;
    for stmt in body.iter().copied() {
        match stmt {
            Stmt::Assign(assign) if assign.targets.iter().any(|target| path_of(target) == path) => {
                if value.is_some() {
                    return expr;
                }
                value = Some(&*assign.value);
            }
            stmt if may_change(stmt, &path) => return expr,
            _ => {}
        }
    }
    value.unwrap_or(expr)
}

/// Whether a statement may bind a name in another way, or change its object: `scheduler["monitor"] = "loss"`,
/// `scheduler.update(…)`.
fn may_change(stmt: &Stmt, path: &[&str]) -> bool {
    let is_part = |target: &Expr| match target {
        Expr::Subscript(subscript) => path_of(&subscript.value) == path,
        Expr::Tuple(tuple) => tuple.elts.iter().any(|part| path_of(part) == path),
        other => path_of(other) == path,
    };
    match stmt {
        Stmt::Assign(assign) => assign.targets.iter().any(is_part),
        Stmt::AugAssign(assign) => is_part(&assign.target),
        Stmt::AnnAssign(assign) => is_part(&assign.target),
        Stmt::For(each) => is_part(&each.target),
        Stmt::Expr(expr) => expr.value.as_call_expr().is_some_and(|call| path_of(&call.func).starts_with(path)),
        _ => false,
    }
}
