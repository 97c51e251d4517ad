//! `torch.mean(torch.sum(x))`: the mean of one number is this number.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::ExprCall;
use crate::syntax::{Expr, Ranged, calls, path_of};

const NAME: &str = "mean-of-total";

#[derive(Default)]
pub(crate) struct MeanOfTotal;

impl Rule for MeanOfTotal {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        // The sum of a table of pandas has one number for each column.
        if !source.text.contains("sum(") || !source.text.contains("mean(") || source.text.contains("pandas") {
            return;
        }
        for call in source.body.iter().flat_map(calls) {
            let Some(total) = reduced(call, "mean").and_then(Expr::as_call_expr) else { continue };
            if reduced(total, "sum").is_some() {
                let message = "the sum is over all elements, so it is one number, and its mean is the sum".to_owned();
                findings.report(NAME, Severity::Warning, message, source.span(call.range()), Vec::new());
            }
        }
    }
}

/// The tensor in `torch.mean(tensor)` and `tensor.mean()`, for a reduction over all dimensions.
fn reduced<'a>(call: &'a ExprCall, reduction: &str) -> Option<&'a Expr> {
    let callee = call.func.as_attribute_expr().filter(|callee| callee.attr.as_str() == reduction)?;
    match (&*call.arguments.args, &*call.arguments.keywords) {
        ([tensor], []) if path_of(&callee.value) == ["torch"] => Some(tensor),
        ([], []) => Some(&callee.value),
        _ => None,
    }
}
