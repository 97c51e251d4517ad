//! `scaler.update()` directly before `scaler.step(optimizer)`, in the wrong order.
//!
//! The order is right if the update and the step belong to different backward passes: for example, with two
//! optimizers, the update may end the pass of the first one. So only assignments and calls of [`BETWEEN`],
//! which compute no gradients, may run between the two calls, and the function must not contain an earlier
//! step of the same scaler.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::ExprCall;
use crate::syntax::{Ranged, Stmt, blocks, called, calls, is_method_call, path_of, statements};

const NAME: &str = "scaler-updated-before-step";

/// Calls that may stand between the two calls: they compute no gradients.
const BETWEEN: &[&str] = &["clip_grad_norm_", "clip_grad_value_", "get_scale", "parameters", "print", "zero_grad"];

#[derive(Default)]
pub(crate) struct ScalerUpdatedBeforeStep;

impl Rule for ScalerUpdatedBeforeStep {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains(".update()") {
            return;
        }
        let functions = source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt());
        for scope in functions.map(|def| def.body.as_slice()).chain(std::iter::once(source.body)) {
            let inner = statements(scope, false).into_iter().filter(|stmt| !is_definition(stmt));
            for block in inner.flat_map(blocks).chain(std::iter::once(scope)) {
                check(findings, source, scope, block);
            }
        }
    }
}

/// Reports the updates of one block. The scope is the body of the function, or of the file, that contains the block.
fn check(findings: &mut Findings<'_>, source: &Source<'_>, scope: &[Stmt], block: &[Stmt]) {
    for (at, stmt) in block.iter().enumerate() {
        let Some(update) = statement_call(stmt) else { continue };
        let Some(scaler) = scaler_of(update, "update").filter(|_| update.arguments.is_empty()) else { continue };
        let is_step = |call: &ExprCall| {
            scaler_of(call, "step").is_some_and(|other| other == scaler) && !call.arguments.is_empty()
        };
        let rest = block.get(at + 1..).unwrap_or_default();
        let next = rest.iter().find(|stmt| !is_harmless(stmt));
        let Some(step) = next.and_then(statement_call).filter(|call| is_step(call)) else { continue };
        let mut all = scope.iter().flat_map(calls);
        if all.any(|call| call.start() < update.start() && is_step(call)) {
            continue;
        }
        let name = scaler.join(".");
        let message = format!(
            "`{name}.update()` comes before `{name}.step(…)`: an enabled scaler raises here, or, after `unscale_`, \
             unscales the gradients twice"
        );
        let label = Label { span: source.span(step.range()), message: "the step follows here".to_owned() };
        findings.report(NAME, Severity::Warning, message, source.span(update.range()), vec![label]);
    }
}

fn is_definition(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_))
}

fn statement_call(stmt: &Stmt) -> Option<&ExprCall> {
    stmt.as_expr_stmt()?.value.as_call_expr()
}

/// The path of the object in `scaler.update()` or `scaler.step(…)`, if its last name contains `scaler`.
fn scaler_of<'a>(call: &'a ExprCall, method: &str) -> Option<Vec<&'a str>> {
    if !is_method_call(call, method) {
        return None;
    }
    let owner = path_of(&call.func.as_attribute_expr()?.value);
    owner.last().is_some_and(|name| name.to_ascii_lowercase().contains("scaler")).then_some(owner)
}

/// Whether a statement is an expression or an assignment that calls nothing but functions of [`BETWEEN`].
fn is_harmless(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Expr(_) | Stmt::Assign(_))
        && calls(stmt).into_iter().all(|call| called(call).is_some_and(|name| BETWEEN.contains(&name)))
}
