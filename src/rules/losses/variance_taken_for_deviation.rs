//! `noise * exp(logvar)`: the noise of a variational autoencoder is multiplied by the variance, not by the
//! standard deviation.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{Operator, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, Stmt, called, expressions, path_of, statements};

const NAME: &str = "variance-taken-for-deviation";

/// Functions that draw standard normal noise.
const NORMAL: &[&str] = &["randn_like", "randn", "normal_"];

#[derive(Default)]
pub(crate) struct VarianceTakenForDeviation;

impl Rule for VarianceTakenForDeviation {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("var") || !source.text.contains("exp(") {
            return;
        }
        for def in source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()) {
            let products = || def.body.iter().flat_map(expressions).filter_map(factors);
            for (product, left, right) in products() {
                let is_one = |noise: &Expr, scale: &Expr| is_noise(noise, def) && is_variance(scale, def);
                // Models that scale the noise by a temperature, too, are flows: VITS names the logarithm of a
                // deviation `log_variances`.
                let is_scaled =
                    || products().any(|(_, a, b)| a.range() == product.range() || b.range() == product.range());
                if !is_one(left, right) && !is_one(right, left) || is_scaled() {
                    continue;
                }
                let message = "the noise is multiplied by the variance `exp(logvar)`, not by the standard deviation \
                               `exp(0.5 * logvar)`";
                findings.report(NAME, Severity::Warning, message, source.span(product.range()), Vec::new());
            }
        }
    }
}

/// The expression and its factors, if it is a product.
fn factors(expr: &Expr) -> Option<(&Expr, &Expr, &Expr)> {
    let binary = expr.as_bin_op_expr().filter(|binary| binary.op == Operator::Mult)?;
    Some((expr, &binary.left, &binary.right))
}

/// Whether an expression is normal noise, or a variable that was assigned such noise once.
fn is_noise(expr: &Expr, def: &StmtFunctionDef) -> bool {
    let draws = |expr: &Expr| expr.as_call_expr().and_then(called).is_some_and(|name| NORMAL.contains(&name));
    draws(expr) || value_of(expr, def).is_some_and(draws)
}

/// Whether an expression is `exp(logvar)` or `logvar.exp()`, or a variable that was assigned it once.
fn is_variance(expr: &Expr, def: &StmtFunctionDef) -> bool {
    exponentiates(expr, def) || value_of(expr, def).is_some_and(|value| exponentiates(value, def))
}

fn exponentiates(expr: &Expr, def: &StmtFunctionDef) -> bool {
    let Some(call) = expr.as_call_expr().filter(|call| called(call) == Some("exp")) else { return false };
    let of = match (&*call.arguments.args, call.func.as_attribute_expr()) {
        ([of], _) => of,
        ([], Some(method)) => &method.value,
        _ => return false,
    };
    let name = path_of(of).last().map(|name| name.to_ascii_lowercase().replace('_', "")).unwrap_or_default();
    // The function may have halved the variable.
    name.contains("logvar") && value_of(of, def).is_none()
}

/// The value of a variable that the function assigns exactly once.
fn value_of<'a>(expr: &Expr, def: &'a StmtFunctionDef) -> Option<&'a Expr> {
    let name = expr.as_name_expr()?.id.as_str();
    let mut values = statements(&def.body, false)
        .into_iter()
        .filter_map(Stmt::as_assign_stmt)
        .filter_map(|assign| assign.targets.iter().any(|target| path_of(target) == [name]).then_some(&*assign.value));
    let first = values.next()?;
    values.next().is_none().then_some(first)
}
