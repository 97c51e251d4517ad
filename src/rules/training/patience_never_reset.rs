//! A counter for early stopping that an improvement does not set back to 0:
//! `if loss < best: best = loss`, `else: bad_epochs += 1`.

use crate::diagnostic::{Label, Severity};
use crate::rules::arms::arms;
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::words::has_word;
use crate::syntax::ast::{CmpOp, Operator, StmtAugAssign, StmtIf};
use crate::syntax::{Expr, Ranged, Stmt, assignment, expressions, integer, parts, path_of, statements};

const NAME: &str = "patience-never-reset";

/// Words in the names of such counters.
const COUNTERS: &[&str] =
    &["bad", "count", "counter", "early", "epochs", "improve", "improved", "patience", "stagnant", "stop", "wait"];

/// Words in the names of the values that a training keeps.
const BEST: &[&str] = &["best", "highest", "last", "lowest", "max", "min", "minimum", "maximum", "prev", "previous"];

#[derive(Default)]
pub(crate) struct PatienceNeverReset;

impl Rule for PatienceNeverReset {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for class in source.classes() {
            check(findings, source, &class.body, true);
        }
        let functions = source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt());
        for body in functions.map(|def| def.body.as_slice()).chain(std::iter::once(source.body)) {
            check(findings, source, body, false);
        }
    }
}

/// Checks the attributes of a class, or the variables of a function.
fn check(findings: &mut Findings<'_>, source: &Source<'_>, body: &[Stmt], of_class: bool) {
    let all = statements(body, of_class);
    for one in all.iter().filter_map(|stmt| stmt.as_if_stmt()) {
        for (count, best) in kept_counts(one) {
            let counter = path_of(&count.target);
            if (counter.len() > 1) != of_class || !limits(&all, &counter) {
                continue;
            }
            // The only assignment must be the start, before the loop or in the constructor.
            let assigned: Vec<&&Stmt> = all.iter().filter(|stmt| assigns(stmt, &counter)).collect();
            let [start] = assigned.as_slice() else { continue };
            if one.range().contains_range(start.range()) || !of_class && is_in_same_loop(&all, start, one) {
                continue;
            }
            let name = counter.join(".");
            let message = format!(
                "`{name}` is never set back to 0, so it counts all epochs without an improvement, not consecutive ones"
            );
            let message_of_best = "an improvement does not reset it".to_owned();
            let label = Label { span: source.span(best.range()), message: message_of_best };
            findings.report(NAME, Severity::Warning, message, source.span(count.range()), vec![label]);
        }
    }
}

/// Each `counter += 1` in one branch of an `if`, and the `best = …` in another branch. The conditions of the `if`
/// must read `best`.
fn kept_counts(one: &StmtIf) -> Vec<(&StmtAugAssign, &Stmt)> {
    let arms = arms(one);
    let counts = |change: &&StmtAugAssign| {
        change.op == Operator::Add && integer(&change.value) == Some(1) && has_word(&path_of(&change.target), COUNTERS)
    };
    let tested: Vec<Vec<&str>> = arms.iter().filter_map(|arm| arm.test).flat_map(parts).map(path_of).collect();
    let keeps = |stmt: &&Stmt| {
        let target = assignment(stmt).map(|(target, _)| path_of(target));
        target.is_some_and(|target| !target.is_empty() && has_word(&target, BEST) && tested.contains(&target))
    };
    let mut found = Vec::new();
    for (at, arm) in arms.iter().enumerate() {
        let mut others = arms.iter().enumerate().filter(|(other, _)| *other != at).flat_map(|(_, arm)| arm.body);
        if let Some(best) = others.find(keeps) {
            let changes = arm.body.iter().filter_map(|stmt| stmt.as_aug_assign_stmt()).filter(counts);
            found.extend(changes.map(|count| (count, best)));
        }
    }
    found
}

/// Whether some condition compares the counter with a limit.
fn limits(all: &[&Stmt], counter: &[&str]) -> bool {
    let compares = all.iter().flat_map(|stmt| expressions(stmt)).filter_map(Expr::as_compare_expr);
    compares.into_iter().any(|compare| {
        let is_order =
            compare.ops.iter().all(|op| matches!(op, CmpOp::Gt | CmpOp::GtE | CmpOp::Eq | CmpOp::Lt | CmpOp::LtE));
        is_order && std::iter::once(&*compare.left).chain(&compare.comparators).any(|side| path_of(side) == counter)
    })
}

/// Whether a statement assigns a value to a variable.
fn assigns(stmt: &Stmt, variable: &[&str]) -> bool {
    let targets: Vec<&Expr> = match stmt {
        Stmt::Assign(assign) => assign.targets.iter().flat_map(parts).collect(),
        Stmt::AnnAssign(assign) if assign.value.is_some() => vec![&assign.target],
        Stmt::For(each) => parts(&each.target),
        _ => Vec::new(),
    };
    targets.into_iter().any(|target| path_of(target) == variable)
}

/// Whether the innermost loop around the `if` also contains the start of the counter.
fn is_in_same_loop(all: &[&Stmt], start: &Stmt, one: &StmtIf) -> bool {
    let loops = all.iter().filter(|stmt| matches!(stmt, Stmt::For(_) | Stmt::While(_)));
    let around = loops.filter(|each| each.range().contains_range(one.range()));
    let innermost = around.min_by_key(|each| each.range().len());
    // Without a loop, the function runs once for every epoch, and the counter is an argument or a global variable.
    innermost.is_none_or(|each| each.range().contains_range(start.range()))
}
