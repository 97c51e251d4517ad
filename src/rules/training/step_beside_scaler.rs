//! `optimizer.step()` beside `scaler.step(optimizer)`: a second step with the same gradients.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::ExprCall;
use crate::syntax::{Expr, Ranged, Stmt, is_method_call, path_of};

const NAME: &str = "step-beside-scaler";

#[derive(Default)]
pub(crate) struct StepBesideScaler;

impl Rule for StepBesideScaler {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for block in source.blocks() {
            let calls: Vec<&ExprCall> = block.iter().filter_map(statement_call).collect();
            for (at, scaled) in calls.iter().enumerate() {
                let Some(optimizer) = scaled_step(scaled) else { continue };
                // A `backward()` between the two steps computes new gradients, and without gradients, a step
                // changes nothing.
                let near = |call: &&&ExprCall| !is_method_call(call, "backward") && !is_method_call(call, "zero_grad");
                let after = calls.iter().skip(at + 1).take_while(near);
                let before = calls.iter().take(at).rev().take_while(near);
                let Some(second) = after.chain(before).find(|call| is_plain_step(call, &optimizer)) else { continue };
                let name = optimizer.join(".");
                let message = format!(
                    "`{name}` takes a second step, in addition to the step of the scaler, with gradients that may be scaled"
                );
                let label =
                    Label { span: source.span(scaled.range()), message: "the scaler makes the step here".to_owned() };
                findings.report(NAME, Severity::Warning, message, source.span(second.range()), vec![label]);
            }
        }
    }
}

fn statement_call(stmt: &Stmt) -> Option<&ExprCall> {
    stmt.as_expr_stmt()?.value.as_call_expr()
}

/// The optimizer in `scaler.step(optimizer)`.
fn scaled_step(call: &ExprCall) -> Option<Vec<&str>> {
    let owner = path_of(&call.func.as_attribute_expr()?.value);
    let is_scaler = owner.last().is_some_and(|name| name.to_ascii_lowercase().contains("scaler"));
    let [optimizer] = &*call.arguments.args else { return None };
    let optimizer = path_of(optimizer);
    (is_method_call(call, "step") && is_scaler && !optimizer.is_empty()).then_some(optimizer)
}

fn is_plain_step(call: &ExprCall, optimizer: &[&str]) -> bool {
    let Expr::Attribute(callee) = &*call.func else { return false };
    callee.attr.as_str() == "step" && call.arguments.is_empty() && path_of(&callee.value) == optimizer
}
