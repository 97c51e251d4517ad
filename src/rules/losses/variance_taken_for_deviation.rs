//! `noise * exp(logvar)`: the noise of a variational autoencoder is multiplied by the variance, not by the
//! standard deviation.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprCall, Operator, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, Stmt, called, expressions, integer, path_of, statements};

const NAME: &str = "variance-taken-for-deviation";

/// Functions that draw standard normal noise.
const NORMAL: &[&str] = &["randn_like", "randn", "normal_"];

#[derive(Default)]
pub(crate) struct VarianceTakenForDeviation;

impl Rule for VarianceTakenForDeviation {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        let has_root = source.text.contains("sqrt") || source.text.contains(".5");
        let sums = has_root.then(|| source.body.iter().flat_map(expressions).filter_map(Expr::as_bin_op_expr));
        for sum in sums.into_iter().flatten() {
            if let Some((noise, of)) = mixed(&sum.left, &sum.right).or_else(|| mixed(&sum.right, &sum.left))
                && sum.op == Operator::Add
            {
                let message = format!(
                    "the noise is multiplied by the variance `1 - {of}`, but the signal by the square root of `{of}`: \
                     `sqrt(1 - {of})` is the standard deviation"
                );
                findings.report(NAME, Severity::Warning, message, source.span(noise.range()), Vec::new());
            }
        }
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

/// The noise of a diffusion model, multiplied by a variance, and the name of the variance of the signal:
/// `sqrt(alpha) * x` and `(1 - alpha) * noise`.
fn mixed<'a>(signal: &'a Expr, noise: &'a Expr) -> Option<(&'a Expr, &'a str)> {
    let pair = |expr: &'a Expr| factors(expr).map(|(_, left, right)| [(left, right), (right, left)]);
    let of = pair(signal)?.into_iter().find_map(|(root, _)| under_root(root))?;
    let is_noise = |expr: &Expr| {
        let name = path_of(core(expr)).last().map(|name| name.to_ascii_lowercase()).unwrap_or_default();
        name.contains("noise") || matches!(name.as_str(), "eps" | "epsilon" | "z")
    };
    let is_rest = |expr: &Expr| {
        let rest = core(expr).as_bin_op_expr().filter(|rest| rest.op == Operator::Sub);
        rest.is_some_and(|rest| integer(&rest.left) == Some(1) && path_of(core(&rest.right)).last() == Some(&of))
    };
    let is_mixed = pair(noise)?.into_iter().any(|(rest, of_noise)| is_rest(rest) && is_noise(of_noise));
    is_mixed.then_some((noise, of))
}

/// The name under a square root: `alpha.sqrt()`, `torch.sqrt(alpha)`, `alpha ** 0.5`.
fn under_root(expr: &Expr) -> Option<&str> {
    let of = match core(expr) {
        Expr::Call(call) if called(call) == Some("sqrt") => operand(call)?,
        Expr::BinOp(power) if power.op == Operator::Pow => {
            let exponent = power.right.as_number_literal_expr()?.value.as_float()?;
            (*exponent == 0.5).then_some(&*power.left)?
        }
        _ => return None,
    };
    path_of(core(of)).last().copied()
}

/// An expression without the indices and views around it: `alpha` of `alpha[t].view(-1, 1)`.
fn core(expr: &Expr) -> &Expr {
    match expr {
        Expr::Subscript(subscript) => core(&subscript.value),
        Expr::Call(call) => match (&*call.func, called(call)) {
            (
                Expr::Attribute(method),
                Some("view" | "reshape" | "unsqueeze" | "to" | "float" | "expand" | "gather" | "view_as" | "expand_as"),
            ) => core(&method.value),
            _ => expr,
        },
        _ => expr,
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
    let Some(of) = operand(call) else { return false };
    let name = path_of(of).last().map(|name| name.to_ascii_lowercase().replace('_', "")).unwrap_or_default();
    // The function may have halved the variable.
    name.contains("logvar") && value_of(of, def).is_none()
}

/// The operand of a function or method with one: `x` of `torch.exp(x)` and `x.exp()`.
fn operand(call: &ExprCall) -> Option<&Expr> {
    match (&*call.arguments.args, call.func.as_attribute_expr()) {
        ([of], _) => Some(of),
        ([], Some(method)) => Some(&method.value),
        _ => None,
    }
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
