//! `math.ceil(a // b)`, whose division has rounded down already.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprBinOp, ExprCall, Operator};
use crate::syntax::{Expr, Ranged, calls, path_of};

const NAME: &str = "ceil-of-floor-division";

#[derive(Default)]
pub(crate) struct CeilOfFloorDivision;

impl Rule for CeilOfFloorDivision {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("ceil") {
            return;
        }
        // The calls of a statement include those in its blocks.
        for call in source.body.iter().flat_map(calls).filter(|call| is_ceil(call)) {
            let Some(division) = rounded_down(call).filter(|division| is_count(division)) else { continue };
            let by = if division.op == Operator::FloorDiv { "`//`" } else { "`int()`" };
            let message =
                format!("{by} rounds down before `ceil` can round up: the last, incomplete part is not counted");
            findings.report(NAME, Severity::Warning, message, source.span(call.range()), Vec::new());
        }
    }
}

/// Whether a call is `math.ceil`, `np.ceil`, or an imported `ceil`.
fn is_ceil(call: &ExprCall) -> bool {
    matches!(path_of(&call.func).as_slice(), ["ceil"] | ["math" | "np" | "numpy", "ceil"])
}

/// The division in `ceil(a // b)`, `ceil(int(a // b))` or `ceil(int(a / b))`.
fn rounded_down(call: &ExprCall) -> Option<&ExprBinOp> {
    match only_argument(call)? {
        Expr::BinOp(division) => (division.op == Operator::FloorDiv).then_some(division),
        Expr::Call(inner) if path_of(&inner.func) == ["int"] => {
            let division = only_argument(inner)?.as_bin_op_expr()?;
            matches!(division.op, Operator::Div | Operator::FloorDiv).then_some(division)
        }
        _ => None,
    }
}

fn only_argument(call: &ExprCall) -> Option<&Expr> {
    match (&*call.arguments.args, &*call.arguments.keywords) {
        ([argument], []) if !argument.is_starred_expr() => Some(argument),
        _ => None,
    }
}

/// Whether a division counts the parts of something. Unless the dividend is a `len(…)`, a constant divisor is
/// usual for sizes (`kernel_size // 2`). Rounding down is then right, and `ceil` is merely superfluous.
fn is_count(division: &ExprBinOp) -> bool {
    let is_length = |expr: &Expr| expr.as_call_expr().is_some_and(|call| path_of(&call.func) == ["len"]);
    !division.right.is_number_literal_expr() || is_length(&division.left)
}
