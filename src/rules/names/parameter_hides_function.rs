//! A call of a parameter whose default is a number or a truth value, if the file has a function or class of the same
//! name: `def images(x, decode=True): return decode(x)`.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::Identifier;
use crate::syntax::{Expr, Ranged, Stmt, calls, expressions};

const NAME: &str = "parameter-hides-function";

#[derive(Default)]
pub(crate) struct ParameterHidesFunction;

impl Rule for ParameterHidesFunction {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        let functions: Vec<&Identifier> = source.body.iter().filter_map(defined).collect();
        for def in source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()) {
            for parameter in def.parameters.iter_non_variadic_params() {
                let name = parameter.name().as_str();
                let Some(default) = parameter.default.as_deref().filter(|default| is_value(default)) else { continue };
                let Some(hidden) = functions.iter().find(|function| function.as_str() == name) else { continue };
                let is_own = |expr: &Expr| expr.as_name_expr().is_some_and(|one| one.id.as_str() == name);
                let is_assigned = |expr: &Expr| expr.as_name_expr().is_some_and(|one| !one.ctx.is_load());
                if def.body.iter().flat_map(expressions).any(|expr| is_own(expr) && is_assigned(expr)) {
                    continue;
                }
                let Some(call) = def.body.iter().flat_map(calls).find(|call| is_own(&call.func)) else { continue };
                let value = source.text.get(default.range().to_std_range()).unwrap_or_default();
                let message = format!(
                    "`{name}` is the parameter here, by default {value}, and not what the file defines under this name"
                );
                let label = |range, message: &str| Label { span: source.span(range), message: message.to_owned() };
                let labels = vec![
                    label(parameter.range(), "the parameter of this name"),
                    label(hidden.range(), "what it hides"),
                ];
                findings.report(NAME, Severity::Warning, message, source.span(call.func.range()), labels);
            }
        }
    }
}

/// The name of a function or class.
fn defined(stmt: &Stmt) -> Option<&Identifier> {
    match stmt {
        Stmt::FunctionDef(def) => Some(&def.name),
        Stmt::ClassDef(class) => Some(&class.name),
        _ => None,
    }
}

/// Whether an expression is a number or a truth value.
fn is_value(expr: &Expr) -> bool {
    matches!(expr, Expr::BooleanLiteral(_) | Expr::NumberLiteral(_))
}
