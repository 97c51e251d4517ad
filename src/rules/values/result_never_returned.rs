//! A function that computes a result, returns nothing, and has no other effect.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::StmtFunctionDef;
use crate::syntax::{Expr, Ranged, Stmt, assignment, expressions, is_read, path_of, statements};

const NAME: &str = "result-never-returned";

/// Methods that fill a list, a dictionary or a set.
const FILLING: &[&str] = &["append", "extend", "insert", "add", "update", "setdefault"];

/// Modules whose functions have no effect besides their results.
const PURE: &[&str] = &["torch", "np", "numpy", "F"];

#[derive(Default)]
pub(crate) struct ResultNeverReturned;

impl Rule for ResultNeverReturned {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for def in source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()) {
            let Some((name, last)) = lost_result(def) else { continue };
            let message = format!("`{}` computes `{name}`, but returns nothing, and has no other effect", def.name);
            findings.report(NAME, Severity::Warning, message, source.span(last.range()), Vec::new());
        }
    }
}

/// The variable with the result of a function without any effect, and the last statement that sets it.
fn lost_result(def: &StmtFunctionDef) -> Option<(&str, &Stmt)> {
    let is_other = ["test", "main", "forward", "_"].iter().any(|start| def.name.starts_with(start));
    let takes_data = def.parameters.iter().any(|parameter| !matches!(parameter.name().as_str(), "self" | "cls"));
    if is_other || !takes_data || !def.decorator_list.is_empty() {
        return None;
    }
    let all = statements(&def.body, false);
    let made: Vec<&str> = all.iter().filter_map(|stmt| fresh_container(stmt)).collect();
    if !all.iter().all(|stmt| is_local(stmt, &made)) {
        return None;
    }
    let all_parts: Vec<&Expr> = def.body.iter().flat_map(expressions).collect();
    let is_used = |name: &str| {
        let reads = all_parts.iter().filter(|part| is_read(part) && path_of(part) == [name]).count();
        reads > all.iter().filter(|stmt| filled(stmt) == Some(name)).count()
    };
    let last = last_statement(&def.body)?;
    let name = match assignment(last) {
        Some((Expr::Name(target), value)) if is_computed(value) => target.id.as_str(),
        _ => filled(last).filter(|name| made.contains(name))?,
    };
    let is_parameter = def.parameters.iter().any(|parameter| parameter.name().as_str() == name);
    (!is_parameter && !name.starts_with('_') && !is_used(name)).then_some((name, last))
}

/// The statement that a function or a branch of it ends with.
fn last_statement(body: &[Stmt]) -> Option<&Stmt> {
    match body.last()? {
        Stmt::If(one) if one.elif_else_clauses.is_empty() => last_statement(&one.body),
        Stmt::For(each) => last_statement(&each.body),
        Stmt::With(with) => last_statement(&with.body),
        last => Some(last),
    }
}

/// The name that is bound to a new and empty container.
fn fresh_container(stmt: &Stmt) -> Option<&str> {
    let (target, value) = assignment(stmt)?;
    let is_fresh = match value {
        Expr::List(list) => list.elts.is_empty(),
        Expr::Dict(dict) => dict.items.is_empty(),
        Expr::Call(call) => {
            call.arguments.is_empty() && matches!(path_of(&call.func).as_slice(), ["list" | "dict" | "set"])
        }
        _ => false,
    };
    target.as_name_expr().filter(|_| is_fresh).map(|name| name.id.as_str())
}

/// The variable whose container a statement fills: `result["key"] = value`, `result.append(value)`.
fn filled(stmt: &Stmt) -> Option<&str> {
    match stmt {
        Stmt::Assign(assign) => match assign.targets.as_slice() {
            [Expr::Subscript(target)] => target.value.as_name_expr().map(|name| name.id.as_str()),
            _ => None,
        },
        Stmt::Expr(stmt) => match path_of(&stmt.value.as_call_expr()?.func).as_slice() {
            [name, method] if FILLING.contains(method) => Some(*name),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a statement changes nothing but local variables and these containers, and leaves the function only with an
/// exception.
fn is_local(stmt: &Stmt, made: &[&str]) -> bool {
    match stmt {
        Stmt::If(_) | Stmt::For(_) | Stmt::Pass(_) | Stmt::Continue(_) | Stmt::Raise(_) | Stmt::Assert(_) => true,
        Stmt::AugAssign(assign) => assign.target.is_name_expr(),
        Stmt::Expr(stmt) if stmt.value.is_string_literal_expr() => true,
        Stmt::Expr(_) => filled(stmt).is_some_and(|name| made.contains(&name)),
        stmt => match assignment(stmt) {
            Some((Expr::Name(_), _)) => !gives_control(stmt),
            Some((Expr::Tuple(tuple), _)) => tuple.elts.iter().all(Expr::is_name_expr) && !gives_control(stmt),
            Some((Expr::Subscript(_), _)) => filled(stmt).is_some_and(|name| made.contains(&name)),
            _ => false,
        },
    }
}

/// Whether a statement contains an expression that gives the control to the caller.
fn gives_control(stmt: &Stmt) -> bool {
    expressions(stmt).iter().any(|expr| matches!(expr, Expr::Yield(_) | Expr::YieldFrom(_) | Expr::Await(_)))
}

/// Whether an expression computes a value and certainly has no effect of its own.
fn is_computed(expr: &Expr) -> bool {
    match expr {
        Expr::BinOp(_) | Expr::Tuple(_) | Expr::List(_) | Expr::Dict(_) | Expr::ListComp(_) | Expr::DictComp(_) => true,
        Expr::Call(call) => path_of(&call.func).first().is_some_and(|module| PURE.contains(module)),
        _ => false,
    }
}
