//! Failures that the program expects. Such failures are not reported. They occur inside
//! `with pytest.raises(…)`, `with self.assertRaises(…)` or `with contextlib.suppress(…)`, in a test
//! that is marked as an expected failure, or in a `try` whose handler catches PyTorch's exceptions
//! and does not raise again.

use super::interp::Interp;
use super::stmt::Flow;
use crate::syntax::ast::{ExceptHandler, Stmt, StmtFunctionDef, StmtTry};
use crate::syntax::{Expr, callee_or_itself, path_of};
use crate::value::Value;

/// The exceptions that PyTorch usually raises for rejected calls, and their base classes.
const CAUGHT: &[&str] = &[
    "BaseException",
    "Exception",
    "RuntimeError",
    "IndexError",
    "LookupError",
    "ValueError",
    "TypeError",
    "AssertionError",
    "NotImplementedError",
];

impl<'p> Interp<'p> {
    /// Whether the program expects a failure at the current place.
    ///
    /// A handler applies to the function that contains it, and to the methods that this function
    /// calls (especially those of models). It does not apply to other functions that are called in
    /// the `try`, such as `main`: a handler around such a call usually only prints errors.
    pub(crate) fn expects_failure(&self) -> bool {
        let mut methods_only = true;
        for frame in self.frames.iter().rev() {
            if frame.raising > 0 || methods_only && frame.handling > 0 {
                return true;
            }
            methods_only &= frame.owner.is_some();
        }
        false
    }

    /// Runs a block that is expected to raise.
    pub(super) fn raising(&mut self, body: impl FnOnce(&mut Self) -> Flow) -> Flow {
        if let Some(frame) = self.frames.last_mut() {
            frame.raising += 1;
        }
        let flow = body(self);
        if let Some(frame) = self.frames.last_mut() {
            frame.raising -= 1;
        }
        flow
    }

    /// Runs the body of a `try`.
    pub(super) fn exec_handled(&mut self, stmt: &'p StmtTry) -> Flow {
        if !handles(stmt) {
            return self.exec_block(&stmt.body);
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.handling += 1;
        }
        let flow = self.exec_block(&stmt.body);
        if let Some(frame) = self.frames.last_mut() {
            frame.handling -= 1;
        }
        flow
    }

    /// Whether a `with` statement with this expression expects an exception.
    pub(super) fn awaits_exception(&mut self, manager: &'p Expr) -> bool {
        let Expr::Call(call) = manager else { return false };
        if let Expr::Attribute(method) = &*call.func
            && method.attr.as_str().starts_with("assertRaises")
        {
            return true;
        }
        matches!(&*call.func, Expr::Name(_) | Expr::Attribute(_))
            && matches!(self.eval(&call.func), Value::Path(p) if matches!(p.as_str(), "pytest.raises" | "contextlib.suppress"))
    }
}

/// Whether a decorator marks a test as an expected failure: `@pytest.mark.xfail`,
/// `@unittest.expectedFailure`.
pub(super) fn is_expected_to_fail(def: &StmtFunctionDef) -> bool {
    def.decorator_list.iter().any(|decorator| {
        let marker = path_of(callee_or_itself(&decorator.expression));
        matches!(marker.last(), Some(&("xfail" | "expectedFailure")))
    })
}

/// Whether a handler catches PyTorch's exceptions and continues.
fn handles(stmt: &StmtTry) -> bool {
    stmt.handlers.iter().any(|handler| {
        let ExceptHandler::ExceptHandler(handler) = handler;
        handler.type_.as_deref().is_none_or(is_caught) && !raises(&handler.body)
    })
}

fn is_caught(exception: &Expr) -> bool {
    match exception {
        Expr::Name(name) => CAUGHT.contains(&name.id.as_str()),
        Expr::Tuple(all) => all.elts.iter().any(is_caught),
        _ => false,
    }
}

fn raises(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Raise(_) => true,
        Stmt::If(s) => raises(&s.body) || s.elif_else_clauses.iter().any(|clause| raises(&clause.body)),
        _ => false,
    })
}
