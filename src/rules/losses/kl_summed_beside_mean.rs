//! The loss of a VAE whose two terms are reduced in different ways: `F.mse_loss(x, y) - 0.5 * torch.sum(1 + …)`.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprBinOp, Number, Operator, UnaryOp};
use crate::syntax::{Expr, Ranged, Stmt, assignment, called, expressions, integer, parts, path_of, statements};

const NAME: &str = "kl-summed-beside-mean";

/// Losses whose default is a mean over all values.
const MEANS: &[&str] =
    &["mse_loss", "l1_loss", "smooth_l1_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits"];

#[derive(Default)]
pub(crate) struct KlSummedBesideMean;

impl Rule for KlSummedBesideMean {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("exp(") || !MEANS.iter().any(|loss| source.text.contains(loss)) {
            return;
        }
        let functions = source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt());
        for body in functions.map(|def| def.body.as_slice()).chain(std::iter::once(source.body)) {
            let all = statements(body, false);
            for (mean, sum) in all
                .iter()
                .filter(|stmt| is_simple(stmt))
                .flat_map(|stmt| expressions(stmt))
                .filter_map(|expr| terms(expr, &all))
            {
                let message = "this is a sum over the batch, but the other term is a mean over all values: it \
                               outweighs the reconstruction";
                let label = Label { span: source.span(mean.range()), message: "this term is a mean".to_owned() };
                findings.report(NAME, Severity::Warning, message, source.span(sum.range()), vec![label]);
            }
        }
    }
}

fn is_simple(stmt: &Stmt) -> bool {
    stmt.is_assign_stmt() || stmt.is_return_stmt() || stmt.is_expr_stmt()
}

/// The mean and the sum that an expression adds.
fn terms<'a>(expr: &'a Expr, all: &[&'a Stmt]) -> Option<(&'a Expr, &'a Expr)> {
    let sum = expr.as_bin_op_expr().filter(|sum| matches!(sum.op, Operator::Add | Operator::Sub))?;
    let (left, right) = (resolved(&sum.left, all)?, resolved(&sum.right, all)?);
    if is_mean(left) && is_divergence(right) {
        Some((left, right))
    } else {
        (is_mean(right) && is_divergence(left)).then_some((right, left))
    }
}

/// The value of a name that a function assigns once; any other expression itself.
fn resolved<'a>(expr: &'a Expr, all: &[&'a Stmt]) -> Option<&'a Expr> {
    let Some(name) = expr.as_name_expr() else { return Some(expr) };
    let changes = all
        .iter()
        .any(|stmt| stmt.as_aug_assign_stmt().is_some_and(|change| path_of(&change.target) == [name.id.as_str()]));
    let mut values =
        all.iter().filter_map(|stmt| assignment(stmt)).filter(|(target, _)| path_of(target) == [name.id.as_str()]);
    match (values.next(), values.next(), changes) {
        (Some((_, value)), None, false) => Some(value),
        _ => None,
    }
}

/// Whether an expression is a loss with the default reduction.
fn is_mean(expr: &Expr) -> bool {
    expr.as_call_expr().is_some_and(|call| {
        let is_loss =
            matches!(path_of(&call.func).as_slice(), ["F", name] | [.., "functional", name] if MEANS.contains(name));
        is_loss && call.arguments.args.len() == 2 && call.arguments.keywords.is_empty()
    })
}

/// Whether an expression is the KL divergence of a normal distribution, summed over all values:
/// `-0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())`.
fn is_divergence(expr: &Expr) -> bool {
    match expr {
        Expr::UnaryOp(negated) if negated.op == UnaryOp::USub => is_divergence(&negated.operand),
        Expr::BinOp(product) if product.op == Operator::Mult => {
            // Another factor is a weight.
            let is_half = |side: &Expr| match side {
                Expr::UnaryOp(negated) => is_one_half(&negated.operand),
                side => is_one_half(side),
            };
            is_half(&product.left) && is_divergence(&product.right)
                || is_half(&product.right) && is_divergence(&product.left)
        }
        Expr::Call(call) => {
            let summed = match (path_of(&call.func).as_slice(), &*call.arguments.args) {
                (["torch", "sum"], [summed]) => Some(summed),
                (_, []) => {
                    call.func.as_attribute_expr().filter(|sum| sum.attr.as_str() == "sum").map(|sum| &*sum.value)
                }
                _ => None,
            };
            let of_normal = |summed: &Expr| {
                let is_sum = |sum: &ExprBinOp| matches!(sum.op, Operator::Add | Operator::Sub);
                if !summed.as_bin_op_expr().is_some_and(is_sum) {
                    return false;
                }
                let all = parts(summed);
                let has_exp =
                    all.iter().any(|part| part.as_call_expr().is_some_and(|call| called(call) == Some("exp")));
                has_exp && all.iter().any(|part| integer(part) == Some(1))
            };
            call.arguments.keywords.is_empty() && summed.is_some_and(of_normal)
        }
        _ => false,
    }
}

fn is_one_half(expr: &Expr) -> bool {
    let value = expr.as_number_literal_expr().map(|literal| &literal.value);
    matches!(value, Some(Number::Float(value)) if *value == 0.5)
}
