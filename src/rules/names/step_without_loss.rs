//! A `training_step` of Lightning that returns a dictionary without a loss, or nothing.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{StmtClassDef, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, Stmt, has_base, may_give_result, methods, statements};

const NAME: &str = "step-without-loss";

/// Texts in programs that compute the gradients themselves, with manual optimization or with Fabric.
const MANUAL: &[&str] = &["automatic_optimization", "manual_backward", "Fabric"];

/// Methods that get the result of `training_step` (Lightning 1), or that decide whether it is called.
const OVERRIDES: &[&str] = &["training_step_end", "optimizer_step"];

#[derive(Default)]
pub(crate) struct StepWithoutLoss;

impl Rule for StepWithoutLoss {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        let has = |text: &str| source.text.contains(text);
        if !has("lightning") || MANUAL.iter().any(|text| has(text)) {
            return;
        }
        for class in source.classes().filter(|class| is_complete(class, source)) {
            let Some(step) = step(class) else { continue };
            if let Some(loss) = unreturned_loss(step) {
                let message = "`training_step` does not return the loss that it computes here: with automatic \
                               optimization, Lightning's trainer then skips the batch";
                findings.report(NAME, Severity::Warning, message, source.span(loss.range()), Vec::new());
            }
            let Some(result) = result_without_loss(step) else { continue };
            let message = "the dictionary that `training_step` returns has no key \"loss\": with automatic \
                           optimization, Lightning's trainer raises an error";
            findings.report(NAME, Severity::Error, message, source.span(result.range()), Vec::new());
        }
    }
}

/// Whether a class is a Lightning module that is trained as it is. A class without optimizers, or with a
/// subclass, may be a base class to which subclasses add the loss.
fn is_complete(class: &StmtClassDef, source: &Source<'_>) -> bool {
    let name = class.name.as_str();
    let has = |wanted: &str| methods(class).any(|method| method.name.as_str() == wanted);
    class.bases().len() == 1
        && has_base(class, "LightningModule")
        && has("configure_optimizers")
        && !OVERRIDES.iter().any(|method| has(method))
        && !["Base", "Abstract"].iter().any(|word| name.contains(word))
        && !source.classes().any(|other| has_base(other, name))
}

fn step(class: &StmtClassDef) -> Option<&StmtFunctionDef> {
    methods(class).find(|method| method.name.as_str() == "training_step" && method.decorator_list.is_empty())
}

/// The last assignment to a name with "loss" in a step that returns nothing.
fn unreturned_loss(step: &StmtFunctionDef) -> Option<&Stmt> {
    if step.is_async || may_give_result(&step.body) {
        return None;
    }
    let is_loss = |target: &Expr| target.as_name_expr().is_some_and(|name| name.id.as_str().contains("loss"));
    statements(&step.body, false)
        .into_iter()
        .rfind(|stmt| stmt.as_assign_stmt().is_some_and(|assign| assign.targets.iter().any(is_loss)))
}

/// The first result of a step, if all its results are dictionaries that have no loss.
fn result_without_loss(step: &StmtFunctionDef) -> Option<&Expr> {
    let mut first = None;
    for stmt in statements(&step.body, false).into_iter().filter_map(|stmt| stmt.as_return_stmt()) {
        let value = stmt.value.as_deref()?;
        for item in &value.as_dict_expr()?.items {
            // `**others` has no key, and may contain the loss.
            if item.key.as_ref()?.as_string_literal_expr()?.value.to_str() == "loss" {
                return None;
            }
        }
        first = first.or(Some(value));
    }
    first
}
