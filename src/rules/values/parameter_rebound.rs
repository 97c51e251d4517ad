//! `for p in model.parameters(): p = p * 0.5`, which changes no parameter.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::StmtFor;
use crate::syntax::{Expr, Ranged, Stmt, TextRange, called, expressions, path_of, statements};

const NAME: &str = "parameter-rebound";

/// Methods that return the parts of a module.
const PARTS: &[&str] = &[
    "parameters",
    "named_parameters",
    "buffers",
    "named_buffers",
    "modules",
    "named_modules",
    "children",
    "state_dict",
];

#[derive(Default)]
pub(crate) struct ParameterRebound;

impl Rule for ParameterRebound {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for outer in source.statements.iter().filter_map(|stmt| stmt.as_for_stmt()) {
            let Some(parts) = parts(&outer.iter) else {
                if let Some((name, statement)) = only_rebinds(outer) {
                    let message =
                        format!("the loop only binds the name `{name}` to another object: it changes no element");
                    findings.report(NAME, Severity::Warning, message, source.span(statement.range()), Vec::new());
                }
                continue;
            };
            for (name, statement) in lost(outer) {
                let message = format!(
                    "this binds the name `{name}` to a new object: it does not change what `{parts}()` returns"
                );
                findings.report(NAME, Severity::Warning, message, source.span(statement.range()), Vec::new());
            }
        }
    }
}

/// The only statement of a loop over several collections, if it gives one of the variables the value of another:
/// `for p, q in zip(params, ema_params): p = q`.
fn only_rebinds(outer: &StmtFor) -> Option<(&str, &Stmt)> {
    let [statement @ Stmt::Assign(assign)] = outer.body.as_slice() else { return None };
    let [Expr::Name(target)] = assign.targets.as_slice() else { return None };
    let variables = outer.target.as_tuple_expr()?.elts.iter().filter_map(Expr::as_name_expr);
    let names: Vec<&str> = variables.map(|name| name.id.as_str()).collect();
    let (target, value) = (target.id.as_str(), path_of(&assign.value));
    let is_zip = outer.iter.as_call_expr().and_then(called) == Some("zip");
    let rebinds =
        names.contains(&target) && value.first().is_some_and(|value| names.contains(value) && *value != target);
    (is_zip && rebinds).then_some((target, statement))
}

/// The method in an expression that returns the parts of a module.
fn parts(iterated: &Expr) -> Option<&str> {
    let Expr::Call(call) = iterated else { return None };
    let own = call.func.as_attribute_expr().map(|callee| callee.attr.as_str());
    own.filter(|name| PARTS.contains(name)).or_else(|| {
        // `zip(a.parameters(), b.parameters())`, `enumerate(…)`, `state_dict().items()`
        let inner = call.func.as_attribute_expr().filter(|callee| callee.attr.as_str() == "items");
        inner.map(|callee| &*callee.value).into_iter().chain(&call.arguments.args).find_map(parts)
    })
}

/// Assignments to a loop's variables whose values nothing after them in the loop reads.
fn lost(outer: &StmtFor) -> Vec<(&str, &Stmt)> {
    let variables: Vec<&str> = match &*outer.target {
        Expr::Name(name) => vec![name.id.as_str()],
        Expr::Tuple(tuple) => tuple.elts.iter().filter_map(|e| Some(e.as_name_expr()?.id.as_str())).collect(),
        _ => return Vec::new(),
    };
    let reads: Vec<(&str, TextRange)> = outer
        .body
        .iter()
        .flat_map(expressions)
        .filter_map(Expr::as_name_expr)
        .filter(|name| name.ctx.is_load())
        .map(|name| (name.id.as_str(), name.range()))
        .collect();
    statements(&outer.body, false)
        .into_iter()
        .filter_map(|stmt| {
            let assign = stmt.as_assign_stmt()?;
            let [Expr::Name(target)] = assign.targets.as_slice() else { return None };
            let name = target.id.as_str();
            if is_same_object(&assign.value, name) {
                return None;
            }
            let is_read = reads.iter().any(|(read, at)| *read == name && at.start() >= stmt.end());
            (variables.contains(&name) && !is_read).then_some((name, stmt))
        })
        .collect()
}

/// Whether an expression is a call that may work in place and return the same object: of a method of the variable
/// (`p.mul_(2)`, or `module.to(device)` for a module), or of a function of the program.
fn is_same_object(value: &Expr, name: &str) -> bool {
    let callee = match value.as_call_expr().map(|call| &*call.func) {
        Some(Expr::Name(_)) => return true,
        Some(Expr::Attribute(callee)) => callee,
        _ => return false,
    };
    let of_variable = callee.value.as_name_expr().is_some_and(|object| object.id.as_str() == name);
    let of_modules =
        matches!(callee.attr.as_str(), "to" | "cuda" | "cpu" | "half" | "float" | "train" | "eval" | "apply");
    of_variable && (callee.attr.ends_with('_') || of_modules)
}
