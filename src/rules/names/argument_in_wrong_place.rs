//! A positional argument that has the name of one parameter, but is given to another.

use crate::diagnostic::Severity;
use crate::python::Event;
use crate::rules::rule::{Context, Findings, Rule, Source};
use crate::rules::words::has_word;
use crate::syntax::ast::{ParameterWithDefault, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, assignment, path_of, statements};

const NAME: &str = "argument-in-wrong-place";

/// Words in names of labels, and in names of predictions.
const LABELS: &[&str] = &["gold", "label", "labels", "reference", "references", "target", "targets", "true"];
const PREDICTIONS: &[&str] =
    &["logits", "output", "outputs", "pred", "prediction", "predictions", "preds", "score", "scores"];

#[derive(Default)]
pub(crate) struct ArgumentInWrongPlace;

impl Rule for ArgumentInWrongPlace {
    /// An `EvalPrediction` of transformers gives the predictions first.
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !["eval_pred", "EvalPrediction"].iter().any(|text| source.text.contains(text)) {
            return;
        }
        for def in source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()) {
            let Some(name) = def.parameters.args.iter().find(|one| is_evaluated(one)) else { continue };
            let Some(targets) = unpacked(def, name.parameter.name.as_str()) else { continue };
            let message = "an `EvalPrediction` contains the predictions first, and then the labels";
            findings.report(NAME, Severity::Warning, message, source.span(targets.range()), Vec::new());
        }
    }

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let Event::Misplaced { own, other, span } = event else { return };
        let Some(text) = cx.source(span) else { return };
        let message = format!("`{text}` is passed to the parameter `{other}`, not to the parameter `{own}`");
        cx.findings.report(NAME, Severity::Warning, message, span, Vec::new());
    }
}

/// Whether a parameter gets an `EvalPrediction`, by its annotation or its name.
fn is_evaluated(parameter: &ParameterWithDefault) -> bool {
    let annotation = parameter.parameter.annotation.as_deref();
    annotation.is_some_and(|annotation| path_of(annotation).last() == Some(&"EvalPrediction"))
        || matches!(parameter.parameter.name.as_str(), "eval_pred" | "eval_preds" | "eval_prediction")
}

/// The targets of `labels, predictions = eval_pred`.
fn unpacked<'a>(def: &'a StmtFunctionDef, name: &str) -> Option<&'a Expr> {
    let assigned = statements(&def.body, false).into_iter().filter_map(assignment);
    let (targets, _) = assigned.into_iter().find(|(_, value)| path_of(value) == [name])?;
    let [first, second] = targets.as_tuple_expr()?.elts.as_slice() else { return None };
    let has = |expr: &Expr, wanted: &[&str]| has_word(&path_of(expr), wanted);
    let is_swapped = has(first, LABELS) && has(second, PREDICTIONS) && !has(first, PREDICTIONS) && !has(second, LABELS);
    is_swapped.then_some(targets)
}
