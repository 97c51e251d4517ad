//! `loss.requires_grad_()` and `Variable(loss, requires_grad=True)` before `loss.backward()`.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::ExprCall;
use crate::syntax::{Expr, Ranged, Stmt, calls, path_of};

const NAME: &str = "gradient-required-of-loss";

/// Functions and methods whose results may be leaves of the graph.
const CREATE: &[&str] =
    &["tensor", "zeros", "ones", "rand", "randn", "full", "empty", "Variable", "Tensor", "detach", "clone"];

#[derive(Default)]
pub(crate) struct GradientRequiredOfLoss;

impl Rule for GradientRequiredOfLoss {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for block in source.blocks() {
            for (at, stmt) in block.iter().enumerate() {
                let Some((name, how)) = required(stmt) else { continue };
                let (before, after) = block.split_at(at);
                let is_result = how == How::Copied || computed(&name, before);
                if !is_result || !after.iter().take(6).any(|stmt| goes_backward(stmt, &name)) {
                    continue;
                }
                let name = name.join(".");
                let message = match how {
                    How::Copied => format!(
                        "this makes a copy of `{name}` without its graph: `backward()` computes no gradients for the \
                         parameters of the model"
                    ),
                    How::Set => format!(
                        "if `{name}` needs this, it is not connected to the model, and `backward()` computes no \
                         gradients for the parameters of the model"
                    ),
                };
                findings.report(NAME, Severity::Warning, message, source.span(stmt.range()), Vec::new());
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum How {
    /// `loss.requires_grad_()`, `loss.requires_grad = True`.
    Set,
    /// `loss = Variable(loss, requires_grad=True)`.
    Copied,
}

/// The tensor for which a statement sets `requires_grad`, and how.
fn required(stmt: &Stmt) -> Option<(Vec<&str>, How)> {
    match stmt {
        Stmt::Expr(expr) => {
            let callee = expr.value.as_call_expr()?.func.as_attribute_expr()?;
            let name = path_of(&callee.value);
            let no = is_false(expr.value.as_call_expr()?.arguments.args.first());
            (callee.attr.as_str() == "requires_grad_" && !name.is_empty() && !no).then_some((name, How::Set))
        }
        Stmt::Assign(assign) => {
            let [target] = assign.targets.as_slice() else { return None };
            if let Expr::Attribute(attribute) = target {
                let name = path_of(&attribute.value);
                let is_set = attribute.attr.as_str() == "requires_grad" && is_true(Some(&assign.value));
                return (is_set && !name.is_empty()).then_some((name, How::Set));
            }
            let call = assign.value.as_call_expr()?;
            let name = path_of(target);
            let makes = matches!(path_of(&call.func).last(), Some(&("Variable" | "tensor")));
            let requires = call.arguments.find_keyword("requires_grad").is_some_and(|k| is_true(Some(&k.value)));
            // The new tensor must replace the one that it copies.
            let same = call.arguments.args.first().is_some_and(|argument| {
                let mut parts = vec![argument];
                if let Expr::Attribute(data) = argument
                    && data.attr.as_str() == "data"
                {
                    parts.push(&data.value);
                }
                parts.iter().any(|part| path_of(part) == name)
            });
            (makes && requires && same && !name.is_empty()).then_some((name, How::Copied))
        }
        _ => None,
    }
}

fn is_true(expr: Option<&Expr>) -> bool {
    expr.and_then(Expr::as_boolean_literal_expr).is_some_and(|literal| literal.value)
}

fn is_false(expr: Option<&Expr>) -> bool {
    expr.and_then(Expr::as_boolean_literal_expr).is_some_and(|literal| !literal.value)
}

/// Whether the last assignment of a name in a block computes it from other values.
fn computed(name: &[&str], block: &[Stmt]) -> bool {
    let of_name = block.iter().rev().find_map(|stmt| match stmt {
        Stmt::Assign(assign) if assign.targets.iter().any(|target| path_of(target) == name) => Some(&assign.value),
        Stmt::AugAssign(assign) if path_of(&assign.target) == name => Some(&assign.value),
        _ => None,
    });
    of_name.is_some_and(|value| match &**value {
        Expr::Call(call) => {
            let called = call.func.as_attribute_expr().map(|callee| callee.attr.as_str());
            let called = called.or_else(|| path_of(&call.func).last().copied());
            called.is_some_and(|name| !CREATE.contains(&name) && !name.ends_with("_like"))
        }
        Expr::BinOp(_) => true,
        _ => false,
    })
}

/// Whether a statement calls `name.backward()` or `scaler.scale(name).backward()`.
fn goes_backward(stmt: &Stmt, name: &[&str]) -> bool {
    let starts = |call: &&ExprCall| match &*call.func {
        Expr::Attribute(callee) if callee.attr.as_str() == "backward" => {
            path_of(&callee.value) == name
                || callee
                    .value
                    .as_call_expr()
                    .is_some_and(|scale| scale.arguments.args.first().is_some_and(|argument| path_of(argument) == name))
        }
        _ => false,
    };
    calls(stmt).iter().any(starts)
}
