//! Labels of a language model that contain the padding: `labels = input_ids.clone()` after
//! `tokenizer(text, padding="max_length")`.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprCall, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, Stmt, TextRange, called, calls, entries, expressions, keyed, path_of, statements};

const NAME: &str = "padding-in-labels";

/// Texts of code that excludes padding from the loss, or that makes other labels.
const EXCLUDES: &[&str] =
    &["-100", "ignore_index", "DataCollator", "pad_token_id, ", "!= tokenizer.pad", "masked_fill", "torch.where"];

/// Language models that compute their loss from `labels`.
const MODELS: &[&str] = &["ForCausalLM", "LMHeadModel", "ForSeq2SeqLM", "ForConditionalGeneration"];

#[derive(Default)]
pub(crate) struct PaddingInLabels;

impl Rule for PaddingInLabels {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !MODELS.iter().any(|model| source.text.contains(model)) || source.contains_any(EXCLUDES) {
            return;
        }
        for def in source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()) {
            if !def.body.iter().flat_map(calls).any(pads) {
                continue;
            }
            if let Some(place) = copied_labels(def) {
                let message = "these labels contain the padding, which the loss then counts as tokens to predict";
                findings.report(NAME, Severity::Warning, message, source.span(place), Vec::new());
            }
        }
    }
}

/// Whether a call pads texts: `tokenizer(text, padding="max_length")`.
fn pads(call: &ExprCall) -> bool {
    let is_tokenizer = called(call).is_some_and(|name| name.contains("tokenizer") || name == "encode_plus");
    let padding = call.arguments.find_keyword("padding").map(|keyword| &keyword.value);
    is_tokenizer
        && padding.is_some_and(|value| match value {
            Expr::StringLiteral(text) => matches!(text.value.to_str(), "max_length" | "longest"),
            Expr::BooleanLiteral(flag) => flag.value,
            _ => false,
        })
}

/// The place where a function makes the labels by copying the ids of the tokens.
fn copied_labels(def: &StmtFunctionDef) -> Option<TextRange> {
    let is_labels = |target: &Expr| match target {
        Expr::Name(name) => name.id.as_str() == "labels",
        target => keyed(target).is_some_and(|(_, key)| key == "labels"),
    };
    let assigned = statements(&def.body, false).into_iter().filter_map(Stmt::as_assign_stmt).filter_map(|assign| {
        let is_copy = assign.targets.iter().any(is_labels) && is_ids(&assign.value);
        is_copy.then(|| assign.value.range())
    });
    let written = def.body.iter().flat_map(expressions).filter_map(Expr::as_dict_expr).flat_map(entries);
    let entered =
        written.filter(|(_, key, value)| *key == "labels" && is_ids(value)).map(|(_, _, value)| value.range());
    assigned.chain(entered).next()
}

/// Whether an expression is the ids of the tokens, or a copy of them.
fn is_ids(expr: &Expr) -> bool {
    match expr {
        Expr::Call(call) => {
            let method = call.func.as_attribute_expr();
            let copies = |name: &str| matches!(name, "clone" | "copy" | "squeeze" | "detach" | "flatten");
            method.is_some_and(|method| copies(method.attr.as_str()) && is_ids(&method.value))
        }
        Expr::Subscript(part) => match &*part.slice {
            Expr::StringLiteral(key) => key.value.to_str() == "input_ids",
            // `encoded.input_ids[0]`
            Expr::NumberLiteral(_) => is_ids(&part.value),
            _ => false,
        },
        expr => path_of(expr).last() == Some(&"input_ids"),
    }
}
