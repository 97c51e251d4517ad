//! The branches of `if` statements.

use crate::syntax::ast::StmtIf;
use crate::syntax::{Expr, Stmt};

/// One branch of an `if` statement. An `else` has no condition.
#[derive(Clone, Copy)]
pub(super) struct Arm<'a> {
    pub test: Option<&'a Expr>,
    pub body: &'a [Stmt],
}

/// The branches of an `if` statement, in order.
pub(super) fn arms(one: &StmtIf) -> Vec<Arm<'_>> {
    let others = one.elif_else_clauses.iter().map(|clause| Arm { test: clause.test.as_ref(), body: &clause.body });
    std::iter::once(Arm { test: Some(&*one.test), body: &one.body }).chain(others).collect()
}
