//! An evaluation that loops over the training data: `for x, y in self.train_loader:` in `def validate(self)`.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::split::{Split, dotted, iterated};
use crate::rules::words::words;
use crate::syntax::ast::StmtFunctionDef;
use crate::syntax::{Expr, Ranged, Stmt, TextRange, assignment, expressions, statements};

const NAME: &str = "training-loader-in-evaluation";

/// Words in the names of functions that evaluate a model.
const EVALUATION: &[&str] =
    &["val", "valid", "validate", "validation", "eval", "evaluate", "evaluation", "test", "testing"];

/// Words in the names of functions that need the training data to evaluate a model, or do more than that.
const WITH_TRAINING: &[&str] = &["train", "fit", "knn", "bn", "probe", "linear", "calibrate", "overfit", "loader"];

#[derive(Default)]
pub(crate) struct TrainingLoaderInEvaluation;

impl Rule for TrainingLoaderInEvaluation {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("train") || source.contains_any(&["import pytest", "import unittest", "TestCase"]) {
            return;
        }
        // The program has other data: `self.val_loader`.
        let others = || source.statements.iter().flat_map(|stmt| expressions(stmt)).filter(|expr| is_other(expr));
        for def in source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()) {
            let Some((place, name)) = training_data(source, def) else { continue };
            if others().next().is_none() {
                continue;
            }
            let message = format!("`{}` evaluates the model with the training data `{name}`", def.name);
            findings.report(NAME, Severity::Warning, message, source.span(place), Vec::new());
        }
    }
}

/// The training data over which a function that evaluates a model loops, if it reads no other data.
fn training_data(source: &Source<'_>, def: &StmtFunctionDef) -> Option<(TextRange, String)> {
    let name = words(&def.name);
    let has = |list: &[&str]| name.iter().any(|word| list.contains(&word.as_str()));
    if !has(EVALUATION) || has(WITH_TRAINING) || name.iter().any(|word| word.contains("train")) {
        return None;
    }
    let text = source.text.get(def.range().to_std_range()).unwrap_or_default();
    let evaluates = ["no_grad", "inference_mode", ".eval()"].iter().any(|one| text.contains(one));
    if !evaluates || text.contains("backward(") {
        return None;
    }
    let mut data = def.body.iter().flat_map(expressions).filter(|expr| is_data(expr));
    if data.any(|expr| Split::of(expr).is_some_and(|split| split != Split::Train) && !is_assigned_training(def, expr)) {
        return None;
    }
    let mut found = None;
    for stmt in statements(&def.body, false) {
        let each = match stmt {
            Stmt::For(each) => &*each.iter,
            stmt => match renamed(stmt) {
                Some(value) => value,
                None => continue,
            },
        };
        let training = iterated(each).into_iter().find(|part| Split::of(part) == Some(Split::Train) && is_data(part));
        if let Some(training) = training {
            found = found.or_else(|| Some((training.range(), dotted(training)?)));
        }
    }
    let (_, name) = found.as_ref()?;
    // The caller decides what a parameter is.
    let root = name.split('.').next().unwrap_or_default();
    let is_parameter = def.parameters.iter().any(|parameter| parameter.name().as_str() == root && root != "self");
    found.filter(|_| !is_parameter)
}

/// The value of `valid_loader = self.train_loader`.
fn renamed(stmt: &Stmt) -> Option<&Expr> {
    let (target, value) = assignment(stmt)?;
    let is_other = Split::of(target).is_some_and(|split| split != Split::Train) && is_data(target);
    (is_other && Split::of(value) == Some(Split::Train) && is_data(value)).then_some(value)
}

/// Whether a function gives a name of other data to training data.
fn is_assigned_training(def: &StmtFunctionDef, expr: &Expr) -> bool {
    let renamed = statements(&def.body, false).into_iter().filter(|stmt| renamed(stmt).is_some());
    let mut names = renamed.filter_map(|stmt| dotted(assignment(stmt)?.0));
    dotted(expr).is_some_and(|name| names.any(|renamed| renamed == name))
}

/// Whether an expression is about data, and not about a metric of the data, according to its name.
fn is_data(expr: &Expr) -> bool {
    let is_name = matches!(expr, Expr::Name(_) | Expr::Attribute(_) | Expr::Subscript(_));
    is_name && dotted(expr).is_some_and(|name| name.to_lowercase().contains("load"))
}

/// Whether an expression is a loader of validation or test data.
fn is_other(expr: &Expr) -> bool {
    is_data(expr) && Split::of(expr).is_some_and(|split| split != Split::Train)
}
