//! A decoder that gets the tokens that it must predict: `out = model(src, trg)`, and the loss compares `out` with the
//! same `trg`.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprCall, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, Stmt, called, calls, expressions, path_of, statements};

const NAME: &str = "target-not-shifted";

/// Names of the tokens that a decoder predicts.
const TARGETS: &[&str] = &["trg", "tgt", "trgs", "tgts", "target_seq", "tgt_seq", "trg_seq", "target_ids", "tgt_ids"];

#[derive(Default)]
pub(crate) struct TargetNotShifted;

impl Rule for TargetNotShifted {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        // The model may shift the tokens itself.
        let shifts = ["range(1,", "range(1 ,", "shift", "roll(", "narrow("];
        if !source.contains_any(TARGETS) || source.contains_any(&shifts) || slices_target(source.body) {
            return;
        }
        for def in source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()) {
            let Some((name, model)) = decoded(def) else { continue };
            let Some(loss) = def.body.iter().flat_map(calls).find(|call| compares(call, name)) else { continue };
            if loss.start() < model.start() {
                continue;
            }
            let message = format!(
                "the model gets `{name}`, and the loss compares its output with the same tokens: it learns to copy \
                 each token instead of predicting the next one"
            );
            let label = Label { span: source.span(loss.range()), message: "the loss compares them here".to_owned() };
            findings.report(NAME, Severity::Warning, message, source.span(model.range()), vec![label]);
        }
    }
}

/// Whether any code takes a part of the tokens: `trg[:-1]`, `tgt[:, 1:]`.
fn slices_target(body: &[Stmt]) -> bool {
    let is_part = |expr: &Expr| {
        let part = expr.as_subscript_expr();
        part.is_some_and(|part| path_of(&part.value).last().is_some_and(|name| TARGETS.contains(name)))
    };
    body.iter().flat_map(expressions).any(is_part)
}

/// The name of the tokens and the call in `out = model(src, trg)`.
fn decoded(def: &StmtFunctionDef) -> Option<(&str, &ExprCall)> {
    statements(&def.body, false).into_iter().filter_map(Stmt::as_assign_stmt).find_map(|assign| {
        let call = assign.value.as_call_expr()?;
        let [_, target] = &*call.arguments.args else { return None };
        let name = target.as_name_expr()?.id.as_str();
        let is_model = called(call).is_some_and(|callee| {
            let callee = callee.to_ascii_lowercase();
            ["model", "net", "seq2seq", "transformer"].iter().any(|word| callee.contains(word))
        });
        (is_model && TARGETS.contains(&name) && call.arguments.keywords.is_empty()).then_some((name, call))
    })
}

/// Whether a call is `criterion(output, trg)`, with the tokens as they are, or only with another shape.
fn compares(call: &ExprCall, name: &str) -> bool {
    let [_, target] = &*call.arguments.args else { return false };
    let is_loss = called(call).is_some_and(|callee| {
        let callee = callee.to_ascii_lowercase();
        ["criterion", "loss", "cross_entropy"].iter().any(|word| callee.contains(word))
    });
    is_loss && path_of(unshaped(target)) == [name]
}

/// An expression without calls that only change its shape: `trg.contiguous().view(-1)`.
fn unshaped(expr: &Expr) -> &Expr {
    let call = expr.as_call_expr();
    let is_shape = |call: &&ExprCall| {
        called(call).is_some_and(|name| matches!(name, "view" | "reshape" | "contiguous" | "flatten" | "to" | "long"))
    };
    match call.filter(is_shape).and_then(|call| call.func.as_attribute_expr()) {
        Some(method) => unshaped(&method.value),
        None => expr,
    }
}
