//! `correct[:k].view(-1)`, where `correct` is a comparison with a transposed matrix: its rows are not adjacent in memory.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{CmpOp, ExprCall, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, assignment, called, calls, integer, path_of, statements};

const NAME: &str = "view-of-transposed-matches";

#[derive(Default)]
pub(crate) struct ViewOfTransposedMatches;

impl Rule for ViewOfTransposedMatches {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains(".view(-1)") {
            return;
        }
        for def in source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()) {
            let all = statements(&def.body, false);
            let assigned: Vec<(&str, &Expr)> =
                all.iter().filter_map(|stmt| assignment(stmt)).filter_map(named).collect();
            for view in def.body.iter().flat_map(calls) {
                let Some(matches) = viewed_rows(view) else { continue };
                // The names of the usual function are assigned once each, except `pred`, which is transposed last.
                let value =
                    |name: &str| assigned.iter().rev().find(|(target, _)| *target == name).map(|(_, value)| *value);
                let Some(compared) = value(matches).and_then(compared) else { continue };
                let Some(transposed) = value(compared).filter(|value| is_transposed(value)) else { continue };
                if takes_one_row(def, source) {
                    continue;
                }
                let message =
                    format!("`view(-1)` of several rows of `{matches}` raises: they are not adjacent in memory");
                let label = Label {
                    span: source.span(transposed.range()),
                    message: format!("`{matches}` has the memory layout of this transposed matrix"),
                };
                findings.report(NAME, Severity::Warning, message, source.span(view.range()), vec![label]);
            }
        }
    }
}

fn named<'a>((target, value): (&'a Expr, &'a Expr)) -> Option<(&'a str, &'a Expr)> {
    Some((target.as_name_expr()?.id.as_str(), value))
}

/// The name in `name[:k].view(-1)`, unless `k` is 1.
fn viewed_rows(view: &ExprCall) -> Option<&str> {
    let callee = view.func.as_attribute_expr().filter(|callee| callee.attr.as_str() == "view")?;
    let [size] = &*view.arguments.args else { return None };
    let rows = callee.value.as_subscript_expr()?;
    let slice = rows.slice.as_slice_expr().filter(|slice| slice.lower.is_none() && slice.step.is_none())?;
    let is_one = slice.upper.as_deref().and_then(integer) == Some(1);
    let name = rows.value.as_name_expr()?.id.as_str();
    (integer(size) == Some(-1) && !is_one).then_some(name)
}

/// The name in `name.eq(…)` and `name == …`.
fn compared(value: &Expr) -> Option<&str> {
    let name = match value {
        Expr::Call(call) if called(call) == Some("eq") => &call.func.as_attribute_expr()?.value,
        Expr::Compare(compare) if *compare.ops == [CmpOp::Eq] => &compare.left,
        _ => return None,
    };
    Some(name.as_name_expr()?.id.as_str())
}

/// `pred.t()`, `pred.T`
fn is_transposed(value: &Expr) -> bool {
    match value {
        Expr::Call(call) => called(call) == Some("t") && call.arguments.is_empty(),
        Expr::Attribute(attribute) => attribute.attr.as_str() == "T",
        _ => false,
    }
}

/// Whether the function is used only with its default `topk=(1,)`, as far as the file shows.
fn takes_one_row(def: &StmtFunctionDef, source: &Source<'_>) -> bool {
    let is_one = |expr: &Expr| match expr {
        Expr::Tuple(tuple) => tuple.elts.iter().all(|element| integer(element) == Some(1)),
        _ => false,
    };
    let defaults = def.parameters.iter_non_variadic_params().filter_map(|parameter| parameter.default.as_deref());
    let has_default = defaults.into_iter().any(is_one);
    let all: Vec<&ExprCall> = source
        .body
        .iter()
        .flat_map(calls)
        .filter(|call| path_of(&call.func).last() == Some(&def.name.as_str()))
        .collect();
    has_default && !all.is_empty() && all.iter().all(|call| call.arguments.len() < 3)
}
