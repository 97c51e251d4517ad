//! A `train(mode)` of a module that calls `super().train()` without the mode.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprCall, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, blocks, calls, expressions, methods};

const NAME: &str = "mode-not-passed-on";

#[derive(Default)]
pub(crate) struct ModeNotPassedOn;

impl Rule for ModeNotPassedOn {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for class in source.classes() {
            // Without a base class or without `forward`, this may not be a module, and `train` may mean
            // something else.
            if class.bases().is_empty() || !methods(class).any(|method| method.name.as_str() == "forward") {
                continue;
            }
            for method in methods(class).filter(|method| method.name.as_str() == "train") {
                let Some(call) = dropped(method) else { continue };
                let span = source.span(call.range());
                let message = "`eval()` calls `train(False)`, but this does not pass the mode on: the module is in \
                               training mode after `eval()`";
                findings.report(NAME, Severity::Warning, message, span, Vec::new());
            }
        }
    }
}

/// The call of `super().train()` that a method `train(self, mode)` makes on every path. `None` if the method
/// reads `mode` or may set the mode in another way.
fn dropped(method: &StmtFunctionDef) -> Option<&ExprCall> {
    let mode = method.parameters.iter_non_variadic_params().nth(1)?.name().as_str();
    // The method may set the mode in another way, or test it first.
    let is_mode = |expr: &&Expr| match expr {
        Expr::Name(name) => name.id.as_str() == mode,
        Expr::Attribute(attribute) => match attribute.attr.as_str() {
            "training" => true,
            "eval" => attribute.value.is_call_expr() || attribute.value.is_name_expr(),
            _ => false,
        },
        _ => false,
    };
    if method.body.iter().flat_map(expressions).any(|expr| is_mode(&expr)) {
        return None;
    }
    method.body.iter().filter(|stmt| blocks(stmt).is_empty()).flat_map(calls).find(|call| is_plain(call))
}

/// `super().train()` or `super(Net, self).train()`.
fn is_plain(call: &ExprCall) -> bool {
    let Expr::Attribute(callee) = &*call.func else { return false };
    let of_super = callee
        .value
        .as_call_expr()
        .is_some_and(|inner| inner.func.as_name_expr().is_some_and(|name| name.id.as_str() == "super"));
    callee.attr.as_str() == "train" && of_super && call.arguments.is_empty()
}
