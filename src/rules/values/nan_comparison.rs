//! `x == float("nan")`, which is never true.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::CmpOp;
use crate::syntax::{Expr, Ranged, expressions, path_of};

const NAME: &str = "nan-comparison";

#[derive(Default)]
pub(crate) struct NanComparison;

impl Rule for NanComparison {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for expr in source.body.iter().flat_map(expressions) {
            let Expr::Compare(compare) = expr else { continue };
            let ([op], [right]) = (&*compare.ops, &*compare.comparators) else { continue };
            let result = match op {
                CmpOp::Eq => "never true",
                CmpOp::NotEq => "always true",
                // `np.nan` is one object, which a function may return, but `float("nan")` makes a new one.
                CmpOp::Is if is_new_nan(right) || is_new_nan(&compare.left) => "never true",
                CmpOp::IsNot if is_new_nan(right) || is_new_nan(&compare.left) => "always true",
                _ => continue,
            };
            // `x != x` finds NaN, and `nan != nan` shows what NaN is.
            if is_nan(right) != is_nan(&compare.left) {
                let message = format!("NaN is not equal to any value: this comparison is {result}");
                findings.report(NAME, Severity::Warning, message, source.span(expr.range()), Vec::new());
            }
        }
    }
}

/// `float("nan")`
fn is_new_nan(expr: &Expr) -> bool {
    expr.is_call_expr() && is_nan(expr)
}

/// `float("nan")`, `np.nan`, `math.nan` or `torch.nan`.
fn is_nan(expr: &Expr) -> bool {
    match expr {
        Expr::Call(call) => {
            let text = call.arguments.args.first().and_then(Expr::as_string_literal_expr);
            path_of(&call.func) == ["float"] && text.is_some_and(|text| text.value.to_str().eq_ignore_ascii_case("nan"))
        }
        expr => matches!(path_of(expr).as_slice(), ["np" | "numpy" | "math" | "torch", "nan" | "NaN" | "NAN"]),
    }
}
