//! A loop that ends in its first iteration, because its body ends with `return`.
//!
//! The rule needs a sign that the loop is meant to continue: it collects results, or it is in `forward` and
//! computes the result from one element of an argument.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{StmtFor, StmtFunctionDef, StmtReturn};
use crate::syntax::{Expr, Ranged, Stmt, has_base, is_module, methods, path_of, statements};

const NAME: &str = "return-in-loop";

#[derive(Default)]
pub(crate) struct ReturnInLoop;

impl Rule for ReturnInLoop {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for outer in source.statements.iter().filter_map(|stmt| stmt.as_for_stmt()) {
            let Some(last @ Stmt::Return(_)) = outer.body.last() else { continue };
            let goes_on = statements(&outer.body, false).iter().any(|stmt| stmt.is_continue_stmt());
            if goes_on || !outer.orelse.is_empty() || !collects(outer) {
                continue;
            }
            let message = "the loop ends here in its first iteration, although it collects results over iterations";
            findings.report(NAME, Severity::Warning, message, source.span(last.range()), Vec::new());
        }
        for class in source.classes().filter(|class| is_module(class) || has_base(class, "LightningModule")) {
            for forward in methods(class).filter(|method| method.name.as_str() == "forward") {
                check_forward(findings, source, forward);
            }
        }
    }
}

/// Reports loops over an argument of `forward` that return what they compute from the first element.
fn check_forward(findings: &mut Findings<'_>, source: &Source<'_>, forward: &StmtFunctionDef) {
    let all = statements(&forward.body, false);
    for each in all.iter().filter_map(|stmt| stmt.as_for_stmt()) {
        let Some(argument) = argument_of(forward, &each.iter) else { continue };
        let Some(result) = returned_at_end(each).filter(|result| calls_with(result, &each.target)) else { continue };
        let message =
            format!("`forward` returns in the first iteration: only the first element of `{argument}` is used");
        findings.report(NAME, Severity::Warning, message, source.span(result.range()), Vec::new());
    }
}

/// The name of the argument that is iterated. `*args` does not count: a program may mean to use only the
/// first one.
fn argument_of<'a>(forward: &'a StmtFunctionDef, iterated: &Expr) -> Option<&'a str> {
    let mut names = forward.parameters.iter_non_variadic_params().map(|parameter| parameter.name().as_str()).skip(1);
    names.find(|name| path_of(iterated) == [*name])
}

/// The `return` that ends the body of a loop, if nothing else in the body may leave the loop or the
/// iteration.
fn returned_at_end(each: &StmtFor) -> Option<&StmtReturn> {
    let (last, before) = each.body.split_last()?;
    let result = last.as_return_stmt()?;
    let leaves = statements(before, false).into_iter().any(|stmt| {
        matches!(stmt, Stmt::Return(_) | Stmt::Break(_) | Stmt::Continue(_) | Stmt::Raise(_) | Stmt::Try(_))
    });
    (!leaves && each.orelse.is_empty()).then_some(result)
}

/// Whether the result is a call that gets the loop variable as an argument.
fn calls_with(result: &StmtReturn, target: &Expr) -> bool {
    let Some(Expr::Call(call)) = result.value.as_deref() else { return false };
    let variable = path_of(target);
    let mut arguments = call.arguments.args.iter().chain(call.arguments.keywords.iter().map(|keyword| &keyword.value));
    !variable.is_empty() && arguments.any(|argument| path_of(argument) == variable)
}

/// Whether each iteration adds to a total or to a list: `total += loss`, `losses.append(loss)`.
fn collects(outer: &StmtFor) -> bool {
    outer.body.iter().any(|stmt| match stmt {
        Stmt::AugAssign(assign) => assign.target.is_name_expr(),
        Stmt::Expr(stmt) => match &*stmt.value {
            Expr::Call(call) => call.func.as_attribute_expr().is_some_and(|callee| callee.attr.as_str() == "append"),
            _ => false,
        },
        _ => false,
    })
}
