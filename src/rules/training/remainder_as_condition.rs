//! `if (i + 1) % accumulation_steps:`, with `== 0` missing, as the condition of the step of an optimizer.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprCall, Number, Operator, StmtIf};
use crate::syntax::{Expr, Ranged, Stmt, calls, is_method_call, path_of};

const NAME: &str = "remainder-as-condition";

#[derive(Default)]
pub(crate) struct RemainderAsCondition;

impl Rule for RemainderAsCondition {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for block in source.blocks() {
            for (at, stmt) in block.iter().enumerate() {
                let Stmt::If(condition) = stmt else { continue };
                let (before, after) = (block.get(..at).unwrap_or_default(), block.get(at + 1..).unwrap_or_default());
                // Each iteration adds gradients, but only some iterations step.
                if !has_call(before, "backward") || !is_remainder(condition) {
                    continue;
                }
                let Some(step) = step_in(&condition.body) else { continue };
                let steps_again = |call: &&ExprCall| path_of(&call.func) == path_of(&step.func);
                if before.iter().chain(after).flat_map(calls).any(|call| steps_again(&call)) {
                    continue;
                }
                let message = "the remainder is 0, and so false, in the iterations that should step: `== 0` is missing";
                let under = "so the optimizer steps in all other iterations".to_owned();
                let label = Label { span: source.span(step.range()), message: under };
                findings.report(NAME, Severity::Warning, message, source.span(condition.test.range()), vec![label]);
            }
        }
    }
}

/// Whether the test is a remainder other than by 2, and there is no other branch. With the divisor 2, it
/// makes no difference which iterations step.
fn is_remainder(condition: &StmtIf) -> bool {
    let Expr::BinOp(operation) = &*condition.test else { return false };
    let is_two = operation.right.as_number_literal_expr().is_some_and(|number| match &number.value {
        Number::Int(value) => value.as_u8() == Some(2),
        _ => false,
    });
    operation.op == Operator::Mod
        && !operation.left.is_string_literal_expr()
        && !is_two
        && condition.elif_else_clauses.is_empty()
}

fn has_call(block: &[Stmt], method: &str) -> bool {
    block.iter().flat_map(calls).any(|call| is_method_call(call, method))
}

/// The call of `optimizer.step()` or `scaler.step(optimizer)` in a block that also clears gradients.
fn step_in(block: &[Stmt]) -> Option<&ExprCall> {
    let is_optimizer = |owner: &str| ["opt", "scaler"].iter().any(|part| owner.to_ascii_lowercase().contains(part));
    let mut all = block.iter().flat_map(calls);
    let step = all.find(|call| matches!(path_of(&call.func).as_slice(), [.., owner, "step"] if is_optimizer(owner)))?;
    has_call(block, "zero_grad").then_some(step)
}
