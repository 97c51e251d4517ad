//! `if loss < best_loss: save(model)`, although nothing assigns the new value to `best_loss`.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::training::worst_kept_as_best::{LARGEST, METRICS, SMALLEST, words};
use crate::syntax::ast::{CmpOp, Number, StmtIf};
use crate::syntax::{Expr, Ranged, Stmt, TextRange, TextSize, assignment, expressions, parts, path_of, statements};

const NAME: &str = "best-never-updated";

/// Further words for values that training compares.
const VALUES: &[&str] = &["err", "error", "loss", "losses", "metric", "ppl", "score"];

#[derive(Default)]
pub(crate) struct BestNeverUpdated;

impl Rule for BestNeverUpdated {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        let functions = source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt());
        for body in functions.map(|def| def.body.as_slice()).chain([source.body]) {
            let inside = statements(body, false);
            let starts: Vec<(&str, &Expr)> = inside.iter().filter_map(|stmt| first_value(stmt)).collect();
            if starts.is_empty() {
                continue;
            }
            let loops = inside.iter().filter(|stmt| matches!(stmt, Stmt::For(_) | Stmt::While(_)));
            let tests = loops.flat_map(|stmt| {
                let inside = statements(std::slice::from_ref(*stmt), false);
                inside.into_iter().filter_map(|inner| Some((stmt.start(), inner.as_if_stmt()?)))
            });
            let tests: Vec<(TextSize, &StmtIf)> = tests.filter(|(_, one)| goes_on(one)).collect();
            let all: Vec<&Expr> = body.iter().flat_map(expressions).collect();
            for (name, value) in starts {
                let is_later = |start: TextSize| value.end() <= start;
                let found = tests.iter().find(|(start, one)| is_later(*start) && compares(&one.test, name));
                let Some((_, test)) = found else { continue };
                if !is_bound_once(&all, name) || is_shared(source, name) {
                    continue;
                }
                let message = format!("`{name}` keeps its first value: nothing assigns the new one to it");
                let label =
                    |range: TextRange| Label { span: source.span(range), message: "the first value".to_owned() };
                let span = source.span(test.test.range());
                findings.report(NAME, Severity::Warning, message, span, vec![label(value.range())]);
            }
        }
    }
}

/// The name of a best value, and its first value: `best_loss = float("inf")`.
fn first_value(stmt: &Stmt) -> Option<(&str, &Expr)> {
    let (target, value) = assignment(stmt)?;
    let name = target.as_name_expr()?.id.as_str();
    (is_first_value(value) && is_best(name)).then_some((name, value))
}

/// A value that is worse than all others: `0`, `-1`, `1e9`, `float("inf")`, `-np.inf`, `sys.maxsize`. A number between 0
/// and 1 is often a limit.
fn is_first_value(value: &Expr) -> bool {
    match value {
        Expr::NumberLiteral(number) => match &number.value {
            Number::Int(_) => true,
            Number::Float(x) => *x == 0.0 || *x >= 1.0,
            Number::Complex { .. } => false,
        },
        Expr::UnaryOp(operation) => is_first_value(&operation.operand),
        Expr::Call(call) => {
            path_of(&call.func) == ["float"] && call.arguments.args.first().is_some_and(Expr::is_string_literal_expr)
        }
        value => path_of(value).last().is_some_and(|name| matches!(*name, "inf" | "Inf" | "maxsize")),
    }
}

/// Whether a name is that of the best loss or metric so far.
fn is_best(name: &str) -> bool {
    let words = words(name);
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    (has(SMALLEST) || has(LARGEST)) && (has(METRICS) || has(VALUES))
}

/// Whether the branch of a comparison goes on: a branch that leaves the loop shows that the variable is a limit.
fn goes_on(one: &StmtIf) -> bool {
    !matches!(one.body.last(), Some(Stmt::Break(_) | Stmt::Return(_) | Stmt::Continue(_) | Stmt::Raise(_)))
}

/// Whether a condition compares a value with the best one.
fn compares(test: &Expr, name: &str) -> bool {
    let is_name = |expr: &Expr| expr.as_name_expr().is_some_and(|one| one.id.as_str() == name);
    parts(test).into_iter().filter_map(Expr::as_compare_expr).any(|compare| {
        let is_order = compare.ops.iter().all(|op| matches!(op, CmpOp::Lt | CmpOp::LtE | CmpOp::Gt | CmpOp::GtE));
        is_order && (is_name(&compare.left) || compare.comparators.iter().any(is_name))
    })
}

fn is_bound_once(all: &[&Expr], name: &str) -> bool {
    let bound = all.iter().filter_map(|expr| expr.as_name_expr());
    bound.filter(|one| one.id.as_str() == name && !one.ctx.is_load()).count() == 1
}

/// Whether another function may set the name.
fn is_shared(source: &Source<'_>, name: &str) -> bool {
    ["global ", "nonlocal "].iter().any(|word| source.text.contains(&format!("{word}{name}")))
        || ["exec(", "globals()", "locals()"].iter().any(|text| source.text.contains(text))
}
