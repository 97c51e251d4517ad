//! Uses of the result of a function of the file that never returns a value.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprCall, StmtClassDef, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, Stmt, bound_by, calls, expressions, methods, path_of, statements};

const NAME: &str = "function-without-result";

/// Decorators that keep the result of a function.
const KEEPING: &[&str] = &["no_grad", "inference_mode", "enable_grad", "staticmethod", "classmethod"];

#[derive(Default)]
pub(crate) struct FunctionWithoutResult;

impl Rule for FunctionWithoutResult {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        let functions: Vec<&StmtFunctionDef> =
            source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()).collect();
        let only = |name: &str| {
            let mut all = functions.iter().filter(|def| def.name.as_str() == name);
            all.next().filter(|_| all.next().is_none()).copied()
        };
        let module: Vec<&str> =
            source.body.iter().filter_map(|stmt| stmt.as_function_def_stmt()).map(|def| def.name.as_str()).collect();
        for class in source.classes().filter(|class| !is_base(class)) {
            for method in methods(class) {
                let own = |call: &ExprCall| match path_of(&call.func).as_slice() {
                    ["self", name] => methods(class).find(|own| own.name.as_str() == *name).and_then(|_| only(name)),
                    _ => None,
                };
                check(findings, source, method, &own);
            }
        }
        for function in &functions {
            let global = |call: &ExprCall| match path_of(&call.func).as_slice() {
                [name] if module.contains(name) && !binds(source.statements.iter().copied(), name) => only(name),
                _ => None,
            };
            check(findings, source, function, &global);
        }
    }
}

/// Whether the name of a class says that it is a base class.
fn is_base(class: &StmtClassDef) -> bool {
    ["Base", "Abstract", "Mixin"].iter().any(|part| class.name.as_str().contains(part))
}

/// Whether a name is assigned, imported or declared `global`, so that it may be another function.
fn binds<'a>(mut all: impl Iterator<Item = &'a Stmt>, name: &str) -> bool {
    all.any(|stmt| match stmt {
        Stmt::Assign(assign) => assign.targets.iter().any(|target| path_of(target) == [name]),
        Stmt::Import(import) => import.names.iter().any(|alias| bound_by(alias) == name),
        Stmt::ImportFrom(import) => import.names.iter().any(|alias| bound_by(alias) == name),
        Stmt::Global(global) => global.names.iter().any(|global| global.as_str() == name),
        _ => false,
    })
}

/// Reports calls of functions that return nothing, if the result is unpacked, iterated, or used in an
/// operation, or an attribute or element of it is used.
fn check<'a>(
    findings: &mut Findings<'_>,
    source: &Source<'_>,
    function: &'a StmtFunctionDef,
    callee: &dyn Fn(&'a ExprCall) -> Option<&'a StmtFunctionDef>,
) {
    let mut used: Vec<&ExprCall> = Vec::new();
    for stmt in statements(&function.body, false) {
        match stmt {
            Stmt::Assign(assign) => {
                let unpacks = assign.targets.iter().any(|target| matches!(target, Expr::Tuple(_) | Expr::List(_)));
                used.extend(assign.value.as_call_expr().filter(|_| unpacks));
            }
            Stmt::For(each) => used.extend(each.iter.as_call_expr()),
            _ => {}
        }
    }
    for expr in function.body.iter().flat_map(expressions) {
        let part = match expr {
            Expr::Attribute(attribute) => &attribute.value,
            Expr::Subscript(subscript) => &subscript.value,
            Expr::BinOp(operation) => {
                used.extend(operation.right.as_call_expr());
                &operation.left
            }
            _ => continue,
        };
        used.extend(part.as_call_expr());
    }
    for call in used {
        let Some(def) = callee(call).filter(|def| returns_nothing(def)) else { continue };
        let message = format!("`{}` never returns a value, so its result is `None`", def.name);
        let label = Label { span: source.span(def.name.range()), message: "it is defined here".to_owned() };
        findings.report(NAME, Severity::Warning, message, source.span(call.range()), vec![label]);
    }
}

/// Whether a function contains an assignment or a `for`, but never returns a value, raises, yields or exits.
fn returns_nothing(def: &StmtFunctionDef) -> bool {
    let all = statements(&def.body, false);
    let works = all.iter().any(|stmt| matches!(stmt, Stmt::Assign(_) | Stmt::AugAssign(_) | Stmt::For(_)));
    let returns = all.iter().any(|stmt| match stmt {
        Stmt::Return(stmt) => stmt.value.as_deref().is_some_and(|value| !value.is_none_literal_expr()),
        Stmt::Raise(_) => true,
        _ => false,
    });
    let yields = || {
        let parts = def.body.iter().flat_map(expressions);
        parts.into_iter().any(|expr| matches!(expr, Expr::Yield(_) | Expr::YieldFrom(_) | Expr::Await(_)))
    };
    let exits = || def.body.iter().flat_map(calls).any(|call| path_of(&call.func).last() == Some(&"exit"));
    let is_plain = def.decorator_list.iter().all(|decorator| {
        let expression = match &decorator.expression {
            Expr::Call(call) => &*call.func,
            expression => expression,
        };
        path_of(expression).last().is_some_and(|name| KEEPING.contains(name))
    });
    works && !returns && is_plain && !def.is_async && !yields() && !exits()
}
