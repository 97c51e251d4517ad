//! `x == a | y == b`, which compares `x`, `a | y` and `b`.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{CmpOp, Operator};
use crate::syntax::{Expr, Ranged, expressions};

const NAME: &str = "comparison-around-operator";

#[derive(Default)]
pub(crate) struct ComparisonAroundOperator;

impl Rule for ComparisonAroundOperator {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains(['|', '&']) {
            return;
        }
        for expr in source.body.iter().flat_map(expressions) {
            let Expr::Compare(compare) = expr else { continue };
            let plain = compare.ops.iter().all(|op| !matches!(op, CmpOp::Is | CmpOp::IsNot | CmpOp::In | CmpOp::NotIn));
            let Some((_, inner)) = compare.comparators.split_last().filter(|_| plain) else { continue };
            let Some(middle) = inner.iter().find(|middle| joins(middle) && !is_in_parentheses(middle, source)) else {
                continue;
            };
            let sign = if middle.as_bin_op_expr().is_some_and(|it| it.op == Operator::BitOr) { "|" } else { "&" };
            let message = format!(
                "`{sign}` binds more tightly than a comparison, so this compares with the value of `{}`: the \
                 comparisons need parentheses",
                source.text.get(middle.range().to_std_range()).unwrap_or(sign)
            );
            findings.report(NAME, Severity::Warning, message, source.span(expr.range()), Vec::new());
        }
    }
}

fn joins(expr: &Expr) -> bool {
    expr.as_bin_op_expr().is_some_and(|it| matches!(it.op, Operator::BitOr | Operator::BitAnd))
}

fn is_in_parentheses(expr: &Expr, source: &Source<'_>) -> bool {
    let before = source.text.get(..expr.range().start().to_usize()).unwrap_or_default();
    before.trim_end().ends_with('(')
}
