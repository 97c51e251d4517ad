//! A function that ends with an `if` statement, of which one branch returns what it has computed, and another one
//! computes the same variables, but returns nothing.

use rustc_hash::FxHashSet;

use crate::diagnostic::{Label, Severity};
use crate::rules::arms::{Arm, arms};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{StmtFunctionDef, StmtReturn};
use crate::syntax::{Expr, Ranged, Stmt, expressions, is_read, parts, statements};

const NAME: &str = "return-in-one-branch";

#[derive(Default)]
pub(crate) struct ReturnInOneBranch;

impl Rule for ReturnInOneBranch {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for def in source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()) {
            let Some(Stmt::If(last)) = def.body.last() else { continue };
            let arms = arms(last);
            for arm in arms.iter().filter(|arm| goes_on(arm)) {
                let others = arms.iter().filter(|other| !std::ptr::eq(other.body, arm.body));
                let Some((name, returned)) = others.into_iter().find_map(|other| left_behind(def, arm, other)) else {
                    continue;
                };
                let (Some(first), Some(end)) = (arm.body.first(), arm.body.last()) else { continue };
                let message = format!(
                    "this branch of `{}` sets `{name}` and returns nothing: only another branch returns `{name}`",
                    def.name
                );
                let label = Label { span: source.span(returned.range()), message: "it is returned here".to_owned() };
                let place = source.span(first.range().cover(end.range()));
                findings.report(NAME, Severity::Warning, message, place, vec![label]);
            }
        }
    }
}

/// Whether the end of a branch is reached: nothing in it returns, raises, yields or ends the program.
fn goes_on(arm: &Arm<'_>) -> bool {
    let leaves = |stmt: &&Stmt| {
        matches!(stmt, Stmt::Return(_) | Stmt::Raise(_) | Stmt::Global(_) | Stmt::Nonlocal(_) | Stmt::Try(_))
    };
    let yields = |expr: &Expr| matches!(expr, Expr::Yield(_) | Expr::YieldFrom(_));
    !statements(arm.body, false).iter().any(leaves)
        && !arm.body.iter().flat_map(expressions).any(yields)
        && !arm.body.iter().all(Stmt::is_pass_stmt)
}

/// A variable that this branch sets and never reads, and that the other branch sets, too, and returns at its end. All
/// variables that the other branch sets and returns must be set in this one.
fn left_behind<'a>(def: &StmtFunctionDef, arm: &Arm<'a>, other: &Arm<'a>) -> Option<(&'a str, &'a StmtReturn)> {
    let returned = last_return(other.body)?;
    let (here, there) = (stored(arm.body), stored(other.body));
    let names: Vec<&str> = parts(returned.value.as_deref()?)
        .into_iter()
        .filter_map(Expr::as_name_expr)
        .map(|name| name.id.as_str())
        .filter(|name| there.contains(name))
        .collect();
    let read: FxHashSet<&str> =
        arm.body.iter().flat_map(expressions).filter(|expr| is_read(expr)).filter_map(name_of).collect();
    let is_parameter = |name: &str| def.parameters.iter().any(|parameter| parameter.name().as_str() == name);
    let lost = names.iter().find(|name| !read.contains(*name) && !is_parameter(name))?;
    names.iter().all(|name| here.contains(name)).then_some((lost, returned))
}

fn name_of(expr: &Expr) -> Option<&str> {
    expr.as_name_expr().map(|name| name.id.as_str())
}

/// The names that statements assign.
fn stored(body: &[Stmt]) -> FxHashSet<&str> {
    let all = statements(body, false).into_iter().flat_map(expressions);
    all.filter(|expr| expr.as_name_expr().is_some_and(|name| name.ctx.is_store())).filter_map(name_of).collect()
}

/// The `return` at the end of a block, or in the last branch of an `if` statement at its end.
fn last_return(body: &[Stmt]) -> Option<&StmtReturn> {
    match body.last()? {
        Stmt::Return(stmt) => Some(stmt),
        Stmt::If(one) => last_return(arms(one).last()?.body),
        _ => None,
    }
}
