//! `zero_grad()` in a loop over the data, but `backward()` after the loop.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::ExprCall;
use crate::syntax::{Ranged, Stmt, TextRange, calls, is_method_call, path_of};

const NAME: &str = "backward-after-loop";

#[derive(Default)]
pub(crate) struct BackwardAfterLoop;

impl Rule for BackwardAfterLoop {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for block in source.blocks() {
            for (at, stmt) in block.iter().enumerate() {
                let (Stmt::For(inner), Some(rest)) = (stmt, block.get(at + 1..)) else { continue };
                let inside: Vec<&ExprCall> = inner.body.iter().flat_map(calls).collect();
                let Some(zero) = inside.iter().find(|call| is_method_call(call, "zero_grad")) else { continue };
                if inside.iter().any(|call| is_method_call(call, "backward") || is_method_call(call, "step")) {
                    continue;
                }
                let Some((backward, loss)) = rest.iter().find_map(backward) else { continue };
                // It must be the loss of the last iteration only: a sum would also be assigned before the
                // loop.
                let assigns = |stmt: &&Stmt| match stmt {
                    Stmt::Assign(assign) => assign.targets.iter().any(|target| path_of(target) == loss),
                    _ => false,
                };
                let is_of_loop = inner.body.iter().any(|stmt| assigns(&stmt));
                if !is_of_loop || block.iter().take(at).any(|stmt| assigns(&stmt)) {
                    continue;
                }
                let message = "this `backward()` runs once after the loop, but the loop clears the gradients for each batch: \
                               only the last batch is used";
                let label = Label { span: source.span(zero.range()), message: "the loop clears them here".to_owned() };
                findings.report(NAME, Severity::Warning, message, source.span(backward), vec![label]);
            }
        }
    }
}

/// The place of `loss.backward()` as a statement, and the loss.
fn backward(stmt: &Stmt) -> Option<(TextRange, Vec<&str>)> {
    let call = stmt.as_expr_stmt()?.value.as_call_expr()?;
    let loss = path_of(&call.func.as_attribute_expr()?.value);
    (is_method_call(call, "backward") && !loss.is_empty()).then_some((call.range(), loss))
}
