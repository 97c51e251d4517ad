//! What the statements before a place tell about conditions: after `if a is None: raise …`, `a is not None` holds.

use crate::rules::arms::arms;
use crate::rules::unset::ends;
use crate::syntax::ast::comparable::ComparableExpr;
use crate::syntax::ast::{BoolOp, CmpOp, ExprCompare, UnaryOp};
use crate::syntax::{Expr, Stmt, path_of};

/// Conditions with their values, compared as source code. That a later statement may change a value is ignored.
#[derive(Default)]
pub(super) struct Known<'a>(Vec<(&'a Expr, bool)>);

impl<'a> Known<'a> {
    fn note(&mut self, test: &'a Expr, holds: bool) {
        self.0.push((test, holds));
    }

    /// Runs `inner` with more notes, which are removed afterwards.
    pub(super) fn with<T>(&mut self, notes: &[(&'a Expr, bool)], inner: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.0.len();
        self.0.extend_from_slice(notes);
        let result = inner(self);
        self.0.truncate(before);
        result
    }

    /// Notes what the statements after this one can rely on.
    pub(super) fn note_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assert(assert) => self.note(&assert.test, true),
            Stmt::If(one) => {
                let leaving = arms(one).into_iter().take_while(|arm| ends(arm.body));
                leaving.filter_map(|arm| arm.test).for_each(|test| self.note(test, false));
            }
            Stmt::Assign(assign) if let Some(literal) = assign.value.as_boolean_literal_expr() => {
                let paths = assign.targets.iter().filter(|target| !path_of(target).is_empty());
                paths.for_each(|target| self.note(target, literal.value));
            }
            _ => {}
        }
    }

    /// Whether the noted conditions cannot all have their values: the place is not reached.
    pub(super) fn is_contradiction(&self) -> bool {
        self.0.iter().enumerate().any(|(at, (test, holds))| {
            let others = self.0.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, note)| *note);
            truth(test, &others.collect::<Vec<_>>()) == Some(!holds)
        })
    }
}

/// The value of a condition, if the notes determine it.
fn truth(test: &Expr, notes: &[(&Expr, bool)]) -> Option<bool> {
    if let Some(value) = notes.iter().find_map(|(noted, holds)| told(noted, *holds, test)) {
        return Some(value);
    }
    match test {
        Expr::BooleanLiteral(literal) => Some(literal.value),
        Expr::UnaryOp(operation) if operation.op == UnaryOp::Not => {
            truth(&operation.operand, notes).map(|value| !value)
        }
        Expr::BoolOp(operation) => {
            let decisive = operation.op == BoolOp::Or;
            let values: Vec<_> = operation.values.iter().map(|value| truth(value, notes)).collect();
            if values.contains(&Some(decisive)) {
                Some(decisive)
            } else {
                values.iter().all(Option::is_some).then_some(!decisive)
            }
        }
        _ => None,
    }
}

/// What a condition with a known value tells about another one.
fn told(noted: &Expr, holds: bool, test: &Expr) -> Option<bool> {
    if let Some(same) = agree(noted, test) {
        return Some(same == holds);
    }
    match noted {
        Expr::UnaryOp(operation) if operation.op == UnaryOp::Not => told(&operation.operand, !holds, test),
        Expr::BoolOp(operation) if holds == (operation.op == BoolOp::And) => {
            operation.values.iter().find_map(|value| told(value, holds, test))
        }
        _ => None,
    }
}

/// Whether two conditions always have the same value, or always different ones (`a is None` and `a is not None`).
fn agree(a: &Expr, b: &Expr) -> Option<bool> {
    if ComparableExpr::from(a) == ComparableExpr::from(b) {
        return Some(true);
    }
    let (a, b) = (a.as_compare_expr()?, b.as_compare_expr()?);
    let ([x], [y]) = (&*a.ops, &*b.ops) else { return None };
    let are_opposite = |x, y| {
        matches!(
            (x, y),
            (CmpOp::Eq, CmpOp::NotEq)
                | (CmpOp::Is, CmpOp::IsNot)
                | (CmpOp::In, CmpOp::NotIn)
                | (CmpOp::Lt, CmpOp::GtE)
                | (CmpOp::Gt, CmpOp::LtE)
        )
    };
    (sides(a) == sides(b) && (are_opposite(*x, *y) || are_opposite(*y, *x))).then_some(false)
}

fn sides(compare: &ExprCompare) -> (ComparableExpr<'_>, Option<ComparableExpr<'_>>) {
    (ComparableExpr::from(&*compare.left), compare.comparators.first().map(ComparableExpr::from))
}
