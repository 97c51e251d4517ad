//! Code for Python 2 and old versions of Python 3, which does not run on the versions that PyTorch supports.

use ruff_python_ast::{self as ast, CmpOp, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::search::{path_of, statements};

/// PyTorch 2.1, the oldest supported version, needs Python 3.8.
const OLDEST: i64 = 8;

/// The branches of `if` statements that run only on Python 2, or on a version before [`OLDEST`]: `if sys.version_info <
/// (3, 3):`, and the `else` of `if six.PY3:`.
pub(crate) fn old_python_branches(text: &str, body: &[Stmt]) -> Vec<TextRange> {
    if !["version_info", "PY2", "PY3"].iter().any(|name| text.contains(name)) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for one in statements(body, true).into_iter().filter_map(Stmt::as_if_stmt) {
        let range = |body: &[Stmt]| Some(TextRange::new(body.first()?.start(), body.last()?.end()));
        match runs_on_old(&one.test) {
            Some(true) => found.extend(range(&one.body)),
            Some(false) => {
                found.extend(one.elif_else_clauses.iter().filter_map(|clause| range(&clause.body)));
            }
            None => {}
        }
    }
    found
}

/// Whether a condition holds only on old versions (`true`) or only on newer ones (`false`).
fn runs_on_old(test: &Expr) -> Option<bool> {
    match path_of(test).last() {
        Some(&"PY2") => return Some(true),
        Some(&"PY3") => return Some(false),
        _ => {}
    }
    let compare = test.as_compare_expr()?;
    let ([op], [right]) = (&*compare.ops, &*compare.comparators) else { return None };
    let left = match &*compare.left {
        Expr::Subscript(subscript) => &*subscript.value,
        left => left,
    };
    if !path_of(left).contains(&"version_info") {
        return None;
    }
    let major = match right {
        Expr::Tuple(tuple) => tuple.elts.first()?,
        right => right,
    };
    // `(3, 3, 1)` and `3`
    let minor = right.as_tuple_expr().and_then(|tuple| tuple.elts.get(1));
    let is_old = minor.is_none_or(|minor| number(minor).is_some_and(|minor| minor <= OLDEST));
    match (op, number(major)?) {
        (CmpOp::Lt, 3) if is_old => Some(true),
        (CmpOp::Eq | CmpOp::LtE, 2) => Some(true),
        (CmpOp::GtE, 3) if is_old => Some(false),
        (CmpOp::Eq, 3) | (CmpOp::Gt, 2) => Some(false),
        _ => None,
    }
}

fn number(expr: &Expr) -> Option<i64> {
    match &expr.as_number_literal_expr()?.value {
        ast::Number::Int(int) => int.as_i64(),
        _ => None,
    }
}
