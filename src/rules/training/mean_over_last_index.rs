//! `total / i` after `for i, batch in enumerate(loader)`: the index of the last batch is one less than the number of
//! batches.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{Operator, StmtFor};
use crate::syntax::{Expr, Ranged, Stmt, assignment, expressions, path_of, statements};

const NAME: &str = "mean-over-last-index";

#[derive(Default)]
pub(crate) struct MeanOverLastIndex;

impl Rule for MeanOverLastIndex {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("enumerate(") {
            return;
        }
        for block in source.blocks() {
            for (at, stmt) in block.iter().enumerate() {
                // The loop may be the last statement of a `with torch.no_grad():`.
                let last = stmt.as_with_stmt().and_then(|with| with.body.last()).unwrap_or(stmt);
                let Some(each) = last.as_for_stmt() else { continue };
                let Some(index) = index(each) else { continue };
                let rest = block.get(at + 1..).unwrap_or_default();
                let Some(division) = divided(each, index, rest) else { continue };
                let text = source.text.get(division.range().to_std_range()).unwrap_or_default();
                let message =
                    format!("`{text}` divides by the index of the last batch, which is one less than their number");
                let label = Label {
                    span: source.span(each.target.range()),
                    message: format!("`{index}` counts the batches from 0"),
                };
                findings.report(NAME, Severity::Warning, message, source.span(division.range()), vec![label]);
            }
        }
    }
}

/// The counter in `for i, x in enumerate(y)`.
fn index(each: &StmtFor) -> Option<&str> {
    let call = each.iter.as_call_expr().filter(|call| path_of(&call.func) == ["enumerate"])?;
    let counter = each.target.as_tuple_expr()?.elts.first()?.as_name_expr()?;
    (call.arguments.len() == 1).then_some(counter.id.as_str())
}

/// A division of a sum over the loop by its last index, or by a variable that the loop only sets to the index.
fn divided<'a>(each: &StmtFor, index: &str, rest: &'a [Stmt]) -> Option<&'a Expr> {
    let inside = statements(&each.body, false);
    // A loop that may end early, or that changes the counter itself.
    let is_plain = |stmt: &&Stmt| !matches!(stmt, Stmt::Break(_) | Stmt::Return(_) | Stmt::Continue(_));
    let sums: Vec<Vec<&str>> = inside
        .iter()
        .filter_map(|stmt| stmt.as_aug_assign_stmt())
        .filter(|added| added.op == Operator::Add)
        .map(|added| path_of(&added.target))
        .filter(|path| !path.is_empty())
        .collect();
    if !inside.iter().all(is_plain) || sums.iter().any(|path| *path == [index]) {
        return None;
    }
    let mut counts = vec![index];
    for (target, value) in each.body.iter().filter_map(assignment) {
        if let (Expr::Name(target), Expr::Name(value)) = (target, value)
            && value.id.as_str() == index
            && !sums.iter().any(|path| *path == [target.id.as_str()])
        {
            counts.push(target.id.as_str());
        }
    }
    for stmt in rest {
        // Another statement may set the counter again.
        let found = expressions(stmt).into_iter().find(|expr| {
            let Expr::BinOp(division) = expr else { return false };
            let is_sum = sums.contains(&path_of(&division.left));
            division.op == Operator::Div
                && is_sum
                && division.right.as_name_expr().is_some_and(|name| counts.contains(&name.id.as_str()))
        });
        let sets = |expr: &&Expr| {
            expr.as_name_expr().is_some_and(|name| !name.ctx.is_load() && counts.contains(&name.id.as_str()))
        };
        let sets_again = expressions(stmt).iter().any(sets);
        let changes = stmt
            .as_aug_assign_stmt()
            .is_some_and(|stmt| path_of(&stmt.target).first().is_some_and(|name| counts.contains(name)));
        if sets_again || changes {
            return None;
        }
        if found.is_some() {
            return found;
        }
    }
    None
}
