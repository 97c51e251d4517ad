//! A loop over data that ends in its first iteration, because its body ends with `return`.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::StmtFor;
use crate::syntax::{Expr, Ranged, Stmt, statements};

const NAME: &str = "return-in-loop";

#[derive(Default)]
pub(crate) struct ReturnInLoop;

impl Rule for ReturnInLoop {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for outer in source.statements.iter().filter_map(|stmt| stmt.as_for_stmt()) {
            let Some(last @ Stmt::Return(_)) = outer.body.last() else { continue };
            let goes_on = statements(&outer.body, false).iter().any(|stmt| stmt.is_continue_stmt());
            if goes_on || !outer.orelse.is_empty() || !collects(outer) {
                continue;
            }
            let message = "the loop ends here in its first iteration, although it collects results over iterations";
            findings.report(NAME, Severity::Warning, message, source.span(last.range()), Vec::new());
        }
    }
}

/// Whether each iteration adds to a total or to a list: `total += loss`, `losses.append(loss)`.
fn collects(outer: &StmtFor) -> bool {
    outer.body.iter().any(|stmt| match stmt {
        Stmt::AugAssign(assign) => assign.target.is_name_expr(),
        Stmt::Expr(stmt) => match &*stmt.value {
            Expr::Call(call) => call.func.as_attribute_expr().is_some_and(|callee| callee.attr.as_str() == "append"),
            _ => false,
        },
        _ => false,
    })
}
