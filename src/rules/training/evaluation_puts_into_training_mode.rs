//! A function that calls `model.train()` instead of `model.eval()` before it evaluates the model.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprCall, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, Stmt, called, calls, is_method_call, path_of, statements};

const NAME: &str = "evaluation-puts-into-training-mode";

/// Words in the names of functions that evaluate.
const EVALUATES: &[&str] = &["eval", "evaluate", "evaluating", "evaluation", "val", "valid", "validate", "validation"];

/// Names of functions that test a model. Other names with `test` may be those of unit tests.
const TESTS: &[&str] = &["test", "test_epoch", "test_loop", "test_model", "test_one_epoch"];

/// Functions and methods whose calls show that a function also trains, or chooses the mode.
const TRAINS: &[&str] = &["backward", "eval", "step", "zero_grad"];

/// Texts in programs that evaluate in training mode on purpose: to sample predictions with dropout, to adapt
/// batch norm to other data, or because a detector returns its losses only in training mode.
const ON_PURPOSE: &[&str] = &[
    "adapt",
    "bayes",
    "calibrat",
    "detection",
    "dropout",
    "ensemble",
    "monte",
    "rcnn",
    "recompute",
    "retinanet",
    "swa",
    "uncertain",
    "variance",
];

#[derive(Default)]
pub(crate) struct EvaluationPutsIntoTrainingMode;

impl Rule for EvaluationPutsIntoTrainingMode {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains(".train(") {
            return;
        }
        let text = source.text.to_ascii_lowercase();
        if ON_PURPOSE.iter().any(|part| text.contains(part)) {
            return;
        }
        for function in source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()) {
            let all: Vec<&ExprCall> = function.body.iter().flat_map(calls).collect();
            let trains = || all.iter().any(|call| called(call).is_some_and(|name| TRAINS.contains(&name)));
            if !says_evaluation(function) || trains() {
                continue;
            }
            let Some(call) = puts_into_training_mode(&function.body) else { continue };
            let Some(used) = evaluated_after(function, call) else { continue };
            let message = format!(
                "`{}` evaluates the model in training mode: dropout is active, and batch norm uses the statistics of \
                 each batch",
                function.name.as_str()
            );
            let label = Label { span: source.span(used.range()), message: "the model is used here".to_owned() };
            findings.report(NAME, Severity::Warning, message, source.span(call.range()), vec![label]);
        }
    }
}

/// Whether the name of a function says that it evaluates, and does not contain `train`.
fn says_evaluation(function: &StmtFunctionDef) -> bool {
    let name = function.name.as_str();
    let evaluates = name.split('_').any(|word| EVALUATES.contains(&word)) || TESTS.contains(&name);
    evaluates && !name.contains("train")
}

/// The first call of `model.train()` or `model.train(True)` in a block, or in the `for` and `with` statements
/// of the block.
fn puts_into_training_mode(block: &[Stmt]) -> Option<&ExprCall> {
    block.iter().find_map(|stmt| match stmt {
        Stmt::Expr(one) => one.value.as_call_expr().filter(|call| {
            let is_on = match (&*call.arguments.args, &*call.arguments.keywords) {
                ([], []) => true,
                ([Expr::BooleanLiteral(mode)], []) => mode.value,
                _ => false,
            };
            is_method_call(call, "train") && is_on
        }),
        Stmt::For(each) => puts_into_training_mode(&each.body),
        Stmt::With(with) => puts_into_training_mode(&with.body),
        _ => None,
    })
}

/// The first call of the model in a `for` loop after the call that sets its mode. `None` if the function asks
/// the model for losses, which some models return only in training mode.
fn evaluated_after<'a>(function: &'a StmtFunctionDef, mode: &ExprCall) -> Option<&'a ExprCall> {
    let mut model = path_of(&mode.func);
    model.pop();
    let is_model = |call: &&ExprCall| !model.is_empty() && path_of(&call.func) == model && call.start() > mode.start();
    let all = statements(&function.body, false);
    let mut assigned = all.iter().filter_map(|stmt| stmt.as_assign_stmt());
    let gives_losses = assigned.any(|assign| {
        let from_model = assign.value.as_call_expr().is_some_and(|call| is_model(&call));
        from_model && assign.targets.iter().flat_map(path_of).any(|name| name.contains("loss"))
    });
    let mut loops = all.iter().filter_map(|stmt| stmt.as_for_stmt());
    let used = loops.find_map(|each| each.body.iter().flat_map(calls).find(|call| is_model(call)));
    used.filter(|_| !gives_losses)
}
