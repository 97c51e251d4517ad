//! `backward` of a custom `autograd.Function` that unpacks a different number of tensors than `forward` or
//! `setup_context` saves.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprCall, StmtClassDef, StmtFunctionDef};
use crate::syntax::{
    Expr, Ranged, Stmt, called, calls, expressions, has_base, is_autograd_function, is_method_call, methods, path_of,
    statements,
};
use crate::value::counted;

const NAME: &str = "saved-tensors-miscounted";

#[derive(Default)]
pub(crate) struct SavedTensorsMiscounted;

impl Rule for SavedTensorsMiscounted {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("autograd") {
            return;
        }
        for class in source.classes() {
            let [base] = class.bases() else { continue };
            if !is_autograd_function(base) || is_used_otherwise(class, source) {
                continue;
            }
            let Some(save) = only_save(class) else { continue };
            let saved = save.arguments.args.len();
            let Some((target, unpacked)) = miscounted(class, saved) else { continue };
            let message = format!(
                "this unpacks {}, but `save_for_backward` saves {}",
                counted(unpacked, "tensor"),
                counted(saved, "tensor")
            );
            let label = Label { span: source.span(save.range()), message: "the tensors are saved here".to_owned() };
            findings.report(NAME, Severity::Error, message, source.span(target.range()), vec![label]);
        }
    }
}

/// Whether the file contains a subclass, or calls the methods of the class itself, with a context that may
/// hold other tensors.
fn is_used_otherwise(class: &StmtClassDef, source: &Source<'_>) -> bool {
    let name = class.name.as_str();
    let own = ["forward", "backward", "setup_context"];
    own.iter().any(|method| source.text.contains(&format!("{name}.{method}")))
        || source.classes().any(|other| has_base(other, name))
}

/// The only call of `save_for_backward` in a class, if it is a method call on the context, all its arguments
/// are written out, and the context is not passed to a function.
fn only_save(class: &StmtClassDef) -> Option<&ExprCall> {
    let mut all = class.body.iter().flat_map(calls).filter(|call| called(call) == Some("save_for_backward"));
    let (Some(save), None) = (all.next(), all.next()) else { return None };
    let is_plain = save.arguments.keywords.is_empty() && !save.arguments.args.iter().any(Expr::is_starred_expr);
    let method = methods(class).find(|method| method.range().contains_range(save.range()))?;
    let context = context(method)?;
    let is_own = is_method_call(save, "save_for_backward") && path_of(&save.func).first() == Some(&context);
    (is_plain && is_own && !is_passed_on(method, context)).then_some(save)
}

/// The name of the context in `forward` or `setup_context`.
fn context(method: &StmtFunctionDef) -> Option<&str> {
    let parameters = &method.parameters;
    let mut all = parameters.posonlyargs.iter().chain(&parameters.args);
    let is_save = matches!(method.name.as_str(), "forward" | "setup_context");
    all.next().filter(|_| is_save).map(|parameter| parameter.name().as_str())
}

/// Whether a method passes the context itself to a function, which may save other tensors.
fn is_passed_on(method: &StmtFunctionDef, context: &str) -> bool {
    method.body.iter().flat_map(calls).any(|call| {
        let values = call.arguments.keywords.iter().map(|keyword| &keyword.value);
        call.arguments.args.iter().chain(values).any(|argument| path_of(argument) == [context])
    })
}

/// The target of the first assignment in `backward` that unpacks the saved tensors, and its number of names,
/// if the number is wrong in all such assignments. `None` if `backward` contains a `try`, which may expect
/// the exception.
fn miscounted(class: &StmtClassDef, saved: usize) -> Option<(&Expr, usize)> {
    let mut all = methods(class).filter(|method| method.name.as_str() == "backward");
    let (Some(backward), None) = (all.next(), all.next()) else { return None };
    let body = statements(&backward.body, false);
    if body.iter().any(|stmt| stmt.is_try_stmt()) || reads_otherwise(backward, &body) {
        return None;
    }
    let mut first = None;
    for (target, names) in body.into_iter().filter_map(unpacked) {
        if names.len() == saved || names.iter().any(Expr::is_starred_expr) {
            return None;
        }
        first = first.or(Some((target, names.len())));
    }
    first
}

/// Whether `backward` reads the saved tensors other than by unpacking them into a tuple or list: it may test
/// their number.
fn reads_otherwise(backward: &StmtFunctionDef, body: &[&Stmt]) -> bool {
    let reads = backward.body.iter().flat_map(expressions).filter(|expr| is_saved(expr)).count();
    reads != body.iter().filter(|stmt| unpacked(stmt).is_some()).count()
}

/// `ctx.saved_tensors`, or its old name.
fn is_saved(expr: &Expr) -> bool {
    expr.as_attribute_expr()
        .is_some_and(|attribute| matches!(attribute.attr.as_str(), "saved_tensors" | "saved_variables"))
}

/// The target, and its parts, in `a, b = ctx.saved_tensors`.
fn unpacked(stmt: &Stmt) -> Option<(&Expr, &[Expr])> {
    let assign = stmt.as_assign_stmt()?;
    let [target] = assign.targets.as_slice() else { return None };
    if !is_saved(&assign.value) {
        return None;
    }
    match target {
        Expr::Tuple(tuple) => Some((target, tuple.elts.as_slice())),
        Expr::List(list) => Some((target, list.elts.as_slice())),
        _ => None,
    }
}
