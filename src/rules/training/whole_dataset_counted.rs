//! `correct / len(loader.dataset)` if the loader draws only a part of the dataset, with a
//! `SubsetRandomSampler`.
//!
//! The file must assign both the loader and the sampler exactly once. If a function gets the loader as an
//! argument, every call of this function in the file must pass a variable of the same name.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprCall, Operator, StmtFunctionDef};
use crate::syntax::{
    Expr, Ranged, Stmt, TextRange, called, calls, expressions, integer, is_read, owner_of_counted_dataset, path_of,
    statements,
};

const NAME: &str = "whole-dataset-counted";

/// Functions that give all indices.
const ALL: &[&str] = &["range", "arange", "randperm", "permutation"];

#[derive(Default)]
pub(crate) struct WholeDatasetCounted;

impl Rule for WholeDatasetCounted {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("SubsetRandomSampler") {
            return;
        }
        let functions = source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt());
        for def in functions {
            check(findings, source, &def.body, Some(def));
        }
        check(findings, source, source.body, None);
    }
}

fn check(findings: &mut Findings<'_>, source: &Source<'_>, body: &[Stmt], def: Option<&StmtFunctionDef>) {
    let changes = statements(body, false).into_iter().filter_map(|stmt| stmt.as_aug_assign_stmt());
    let mut divisors: Vec<&Expr> =
        changes.filter(|change| change.op == Operator::Div).map(|change| &*change.value).collect();
    let own = body.iter().filter(|stmt| !matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)));
    let quotients = own.flat_map(expressions).filter_map(|expr| expr.as_bin_op_expr());
    divisors.extend(
        quotients.filter(|one| one.op == Operator::Div && !is_count(&one.left)).map(|quotient| &*quotient.right),
    );
    for divisor in divisors {
        let Some(loader) = loader_of(divisor) else { continue };
        let path = path_of(loader);
        let is_parameter = |def: &StmtFunctionDef| path.len() == 1 && parameter(def, &path).is_some();
        if def.is_some_and(|def| is_parameter(def) && !always_gets(source, def, &path)) {
            continue;
        }
        let Some(sampler) = sampler_of(source, &path) else { continue };
        let name = path.join(".");
        let message =
            format!("`len({name}.dataset)` counts all samples of the dataset, but `{name}` draws only a part of them");
        let label = Label { span: source.span(sampler), message: "this sampler draws a part".to_owned() };
        findings.report(NAME, Severity::Warning, message, source.span(divisor.range()), vec![label]);
    }
}

/// Whether a dividend is a number of samples, as in the part `len(indices) / len(loader.dataset)`, or a constant.
fn is_count(dividend: &Expr) -> bool {
    let is_len = |expr: &Expr| expr.as_call_expr().is_some_and(|call| path_of(&call.func) == ["len"]);
    match dividend {
        // `batch * len(x) / len(loader.dataset)` shows the progress.
        Expr::BinOp(operation) => is_len(&operation.left) || is_len(&operation.right),
        _ => is_len(dividend) || dividend.is_number_literal_expr(),
    }
}

/// The loader in `len(loader.dataset)`.
fn loader_of(divisor: &Expr) -> Option<&Expr> {
    owner_of_counted_dataset(divisor).filter(|loader| matches!(path_of(loader).as_slice(), [_] | ["self", _]))
}

/// The position of the parameter with this name.
fn parameter(def: &StmtFunctionDef, path: &[&str]) -> Option<usize> {
    def.parameters.iter_non_variadic_params().position(|parameter| path == [parameter.name().as_str()])
}

/// Whether all calls of a function, at least one, pass a variable under the name of its parameter.
fn always_gets(source: &Source<'_>, def: &StmtFunctionDef, path: &[&str]) -> bool {
    let (Some(at), [name]) = (parameter(def, path), path) else { return false };
    let all = source.body.iter().flat_map(calls).filter(|call| called(call) == Some(def.name.as_str()));
    let passed: Vec<Option<&Expr>> = all.map(|call| call.arguments.find_argument_value(name, at)).collect();
    !passed.is_empty() && passed.iter().all(|passed| passed.is_some_and(|passed| path_of(passed) == path))
}

/// The place of the `SubsetRandomSampler` of a loader.
fn sampler_of(source: &Source<'_>, loader: &[&str]) -> Option<TextRange> {
    let load = call_of(value_of(source, loader)?, "DataLoader")?;
    let sampler = load.arguments.find_argument_value("sampler", 3)?;
    let path = path_of(sampler);
    let value = if path.is_empty() { sampler } else { value_of(source, &path)? };
    let call = call_of(value, "SubsetRandomSampler")?;
    let indices = call.arguments.find_argument_value("indices", 0)?;
    (!may_draw_all(source, indices)).then_some(sampler.range())
}

/// The call of a class in a value.
fn call_of<'a>(value: &'a Expr, class: &str) -> Option<&'a ExprCall> {
    value.as_call_expr().filter(|call| called(call) == Some(class))
}

/// The value of a variable that the file binds exactly once, in an assignment.
fn value_of<'a>(source: &Source<'a>, path: &[&str]) -> Option<&'a Expr> {
    let is_bound = |expr: &&Expr| !is_read(expr) && path_of(expr) == path;
    if source.body.iter().flat_map(expressions).filter(is_bound).count() != 1 {
        return None;
    }
    let assigned = source.statements.iter().filter_map(|stmt| stmt.as_assign_stmt());
    let mut values = assigned
        .filter(|assign| assign.targets.iter().any(|target| path_of(target) == path))
        .map(|assign| &*assign.value);
    values.next()
}

/// Whether indices may be all indices of the dataset: `range(n)`, `list(range(n))`, or a variable with such a
/// value.
fn may_draw_all(source: &Source<'_>, indices: &Expr) -> bool {
    let path = path_of(indices);
    if path.is_empty() {
        return calls_all(indices);
    }
    let mut assigned = source.statements.iter().filter_map(|stmt| stmt.as_assign_stmt());
    assigned.any(|assign| assign.targets.iter().any(|target| path_of(target) == path) && calls_all(&assign.value))
}

/// Whether a value is a call of a function that gives all indices, perhaps in calls such as `list(…)`.
fn calls_all(value: &Expr) -> bool {
    let Expr::Call(call) = value else { return false };
    // `range(800, 1000)`
    let begins_later =
        call.arguments.args.len() > 1 && call.arguments.args.first().is_some_and(|first| integer(first) != Some(0));
    let is_all = called(call).is_some_and(|name| ALL.contains(&name)) && !begins_later;
    // `torch.randperm(n).tolist()`
    let receiver = call.func.as_attribute_expr().map(|method| &*method.value);
    is_all || call.arguments.args.iter().chain(receiver).any(calls_all)
}
