//! `F.one_hot(labels)` in a loss or a model: the number of classes is that of the largest label of the batch.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::words::has_word;
use crate::syntax::ast::{ExprCall, Operator, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, called, calls, expressions, is_module, methods, path_of};

const NAME: &str = "one-hot-without-classes";

/// Words in the names of classes of samples, and of actions.
const LABELS: &[&str] = &["label", "labels", "target", "targets", "action", "actions", "gt", "truth"];
/// Words in the names of functions that compare predictions with labels.
const LOSSES: &[&str] = &["loss", "losses", "dice", "focal", "iou", "jaccard", "criterion", "step"];

#[derive(Default)]
pub(crate) struct OneHotWithoutClasses;

impl Rule for OneHotWithoutClasses {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("one_hot(") {
            return;
        }
        let of_modules = source.classes().filter(|class| is_module(class)).flat_map(methods);
        let forwards = of_modules.filter(|def| matches!(def.name.as_str(), "forward" | "__call__"));
        let functions = source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt());
        let losses = functions.filter(|def| has_word(&[def.name.as_str()], LOSSES));
        for def in forwards.chain(losses) {
            if def.body.iter().flat_map(expressions).any(compares_rows) {
                continue;
            }
            for call in made_from_labels(def) {
                let message = "the number of classes is not given, so it is that of the largest label of each batch";
                findings.report(NAME, Severity::Warning, message, source.span(call.range()), Vec::new());
            }
        }
    }
}

/// Whether an expression multiplies matrices, which is right for any number of classes, or pads a tensor, perhaps with
/// the missing classes.
fn compares_rows(expr: &Expr) -> bool {
    match expr {
        Expr::BinOp(product) => product.op == Operator::MatMult,
        Expr::Attribute(attribute) => matches!(attribute.attr.as_str(), "T" | "mT"),
        Expr::Call(call) => {
            matches!(called(call), Some("bmm" | "einsum" | "matmul" | "mm" | "pad" | "t" | "transpose"))
        }
        _ => false,
    }
}

/// The calls `one_hot(labels)` in a function.
fn made_from_labels(def: &StmtFunctionDef) -> impl Iterator<Item = &ExprCall> {
    def.body.iter().flat_map(calls).filter(|call| {
        let is_own = matches!(path_of(&call.func).as_slice(), ["F", "one_hot"] | [.., "functional", "one_hot"]);
        let [labels] = &*call.arguments.args else { return false };
        is_own && call.arguments.keywords.is_empty() && has_word(&path_of(converted(labels)), LABELS)
    })
}

/// The tensor that `labels.long()` or `labels.to(torch.int64)` converts.
fn converted(expr: &Expr) -> &Expr {
    let Some(call) = expr.as_call_expr() else { return expr };
    let converts = matches!(called(call), Some("long" | "to" | "type" | "squeeze" | "flatten"));
    call.func.as_attribute_expr().filter(|_| converts).map_or(expr, |method| converted(&method.value))
}
