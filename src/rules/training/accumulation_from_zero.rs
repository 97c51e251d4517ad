//! Gradients that are accumulated with a counter from 0: `if i % steps == 0: optimizer.step()` steps after the first
//! batch.

use crate::diagnostic::{Applicability, Edit, Fix, Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::words::has_word;
use crate::syntax::ast::{CmpOp, Operator, StmtFor, StmtIf};
use crate::syntax::{Expr, Ranged, Stmt, assignment, called, calls, integer, names_in, path_of, statements};

const NAME: &str = "accumulation-from-zero";

/// Words in the names of the number of batches for one step.
const COUNTS: &[&str] = &["accum", "accumulate", "accumulation", "accumulations", "accumulated", "accumulating", "acc"];

#[derive(Default)]
pub(crate) struct AccumulationFromZero;

impl Rule for AccumulationFromZero {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("enumerate(") || !source.text.contains("step()") {
            return;
        }
        for each in source.statements.iter().filter_map(|stmt| stmt.as_for_stmt()) {
            let Some(counter) = counter(each) else { continue };
            let body = statements(&each.body, false);
            let changes = |stmt: &&Stmt| match stmt {
                Stmt::AugAssign(change) => path_of(&change.target) == [counter],
                stmt => assignment(stmt).is_some_and(|(target, _)| names_in(target).contains(&counter)),
            };
            if body.iter().any(changes) {
                continue;
            }
            for one in body.iter().filter_map(|stmt| stmt.as_if_stmt()) {
                let Some((read, steps)) = every_some_batches(one, counter) else { continue };
                let computes = |stmt: &&&Stmt| {
                    stmt.is_expr_stmt() && calls(stmt).iter().any(|call| called(call) == Some("backward"))
                };
                // A step at the beginning of an iteration uses the gradients of the batches before it.
                let backward = body.iter().find(computes).filter(|stmt| stmt.range().end() < one.range().start());
                let (Some(backward), true) = (backward, steps_once(one)) else { continue };
                let message = format!(
                    "`{counter}` starts at 0, so the first step uses the gradients of one batch only, and a step lacks the \
                     last batches of the epoch"
                );
                let label = Label {
                    span: source.span(backward.range()),
                    message: format!("a step should use `{}` of these", steps.join(".")),
                };
                let span = source.span(one.test.range());
                if let Some(finding) = findings.report(NAME, Severity::Warning, message, span, vec![label]) {
                    finding.fix = Some(Fix {
                        title: format!("Count `{counter}` from 1"),
                        applicability: Applicability::Unsafe,
                        edits: vec![Edit { span: source.span(read.range()), content: format!("({counter} + 1)") }],
                    });
                }
            }
        }
    }
}

/// The counter of `for i, batch in enumerate(loader)`.
fn counter(each: &StmtFor) -> Option<&str> {
    let target = each.target.as_tuple_expr()?.elts.first()?.as_name_expr()?;
    // `tqdm(enumerate(loader))`
    let mut iterated = each.iter.as_call_expr()?;
    if called(iterated) != Some("enumerate") {
        iterated = iterated.arguments.args.first()?.as_call_expr()?;
    }
    let from_zero = matches!(&*iterated.arguments.args, [_]) && iterated.arguments.keywords.is_empty();
    (path_of(&iterated.func) == ["enumerate"] && from_zero).then(|| target.id.as_str())
}

/// The counter and the number of batches in `if i % steps == 0`.
fn every_some_batches<'a>(one: &'a StmtIf, counter: &str) -> Option<(&'a Expr, Vec<&'a str>)> {
    let compare = one.test.as_compare_expr().filter(|compare| *compare.ops == [CmpOp::Eq])?;
    let [0] = compare.comparators.iter().map(integer).collect::<Option<Vec<i64>>>()?.as_slice() else { return None };
    let remainder = compare.left.as_bin_op_expr().filter(|remainder| remainder.op == Operator::Mod)?;
    let steps = path_of(&remainder.right);
    let is_meant = path_of(&remainder.left) == [counter] && has_word(&steps, COUNTS);
    (is_meant && one.elif_else_clauses.is_empty()).then_some((&remainder.left, steps))
}

/// Whether a branch makes a step of an optimizer.
fn steps_once(one: &StmtIf) -> bool {
    let optimizer = ["optim", "optimizer", "opt", "scaler"];
    statements(&one.body, false).into_iter().filter(|stmt| stmt.is_expr_stmt()).flat_map(calls).any(|call| {
        let method = call.func.as_attribute_expr().filter(|method| method.attr.as_str() == "step");
        method.is_some_and(|method| has_word(&path_of(&method.value), &optimizer))
    })
}
