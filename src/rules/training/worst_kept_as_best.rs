//! `if best_loss < loss: best_loss = loss`, which keeps the largest loss. Likewise, a comparison that keeps
//! the smallest accuracy.

use crate::diagnostic::{Label, Severity};
use crate::rules::arms::arms;
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::words::words;
use crate::syntax::ast::{BoolOp, CmpOp, StmtAssign, StmtIf, UnaryOp};
use crate::syntax::{Expr, Ranged, Stmt, TextRange, path_of};

const NAME: &str = "worst-kept-as-best";

/// Words for the best value of a loss (`SMALLEST`) and of a metric (`LARGEST`).
const SMALLEST: &[&str] = &["best", "lowest", "min", "minimal", "minimum", "smallest"];
const LARGEST: &[&str] = &["best", "highest", "largest", "max", "maximal", "maximum"];

/// Metrics for which larger values are better.
const METRICS: &[&str] =
    &["acc", "accuracy", "auc", "auroc", "bleu", "dice", "f1", "iou", "map", "miou", "psnr", "ssim"];

/// Texts in programs that look for the worst value on purpose, or whose losses and metrics have the other
/// sign.
const ON_PURPOSE: &[&str] =
    &["advers", "attack", "elbo", "likelihood", "maximi", "minus", "neg_", "perturb", "pgd", "reward", "worst"];

#[derive(Default)]
pub(crate) struct WorstKeptAsBest;

impl Rule for WorstKeptAsBest {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for stmt in &source.statements {
            match stmt {
                Stmt::If(one) => {
                    for (test, taken, skipped) in conditions(one) {
                        let compared = Comparison::of(test, source.text).map(|comparison| {
                            let worse = if comparison.holds_if_worse { taken } else { skipped };
                            (comparison, worse)
                        });
                        // Of `new < best and …`, only the branch that runs if it holds shows what is kept.
                        let parts = test.as_bool_op_expr().filter(|operation| operation.op == BoolOp::And);
                        let parts = parts.into_iter().flat_map(|operation| &operation.values);
                        let parts = parts.filter_map(|part| Comparison::of(part, source.text));
                        let parts = parts.filter(|part| part.holds_if_worse).map(|part| (part, taken));
                        for (comparison, worse) in compared.into_iter().chain(parts) {
                            if let Some(kept) = worse.iter().find_map(|stmt| comparison.keeps(stmt, source.text)) {
                                report(findings, source, &comparison, (test.range(), kept.range()));
                            }
                        }
                    }
                }
                // `is_best = loss > best_loss`, and then `best_loss = max(loss, best_loss)`
                Stmt::Assign(assign) => {
                    let Some(comparison) = Comparison::of(&assign.value, source.text) else { continue };
                    let is_best = assign.targets.iter().any(|target| has_word(path_of(target).last(), "best"));
                    let mut kept =
                        source.statements.iter().filter_map(|stmt| comparison.keeps_extreme(stmt, source.text));
                    if let Some(kept) = kept.find(|_| is_best && comparison.holds_if_worse) {
                        report(findings, source, &comparison, (assign.value.range(), kept.range()));
                    }
                }
                _ => {}
            }
        }
    }
}

/// Reports a reversed comparison, and the place where the worse value is kept.
fn report(
    findings: &mut Findings<'_>,
    source: &Source<'_>,
    comparison: &Comparison<'_>,
    (test, kept): (TextRange, TextRange),
) {
    let text = source.text.to_ascii_lowercase();
    let starts = comparison.starts(source);
    let is_meant = starts.iter().any(|value| comparison.is_other_end(slice(source.text, value)));
    // The program decides which of the two values is better.
    let both = source
        .statements
        .iter()
        .filter_map(|stmt| stmt.as_if_stmt())
        .flat_map(conditions)
        .any(|(test, ..)| Comparison::of(test, source.text).is_some_and(|other| other.is_opposite(comparison)));
    if is_meant || both || ON_PURPOSE.iter().any(|part| text.contains(part)) {
        return;
    }
    let (best, which) = (comparison.best.join("."), if comparison.is_loss { "largest" } else { "smallest" });
    let message = format!("`{best}` becomes the {which} value: the comparison is reversed");
    let label = |span, message: &str| Label { span: source.span(span), message: message.to_owned() };
    let mut labels = vec![label(kept, "the worse value is kept here")];
    let start = starts.into_iter().find(|value| comparison.is_wrong_start(slice(source.text, value)));
    labels.extend(start.map(|value| label(value.range(), "every loss is larger than this first value")));
    findings.report(NAME, Severity::Warning, message, source.span(test), labels);
}

/// Whether a name contains a word.
fn has_word(name: Option<&&str>, word: &str) -> bool {
    name.is_some_and(|name| words(name).iter().any(|one| one == word))
}

/// The conditions of an `if`, each with the statements that run if it holds, and those of the `else` that follows it.
fn conditions(one: &StmtIf) -> Vec<(&Expr, &[Stmt], &[Stmt])> {
    let arms = arms(one);
    let otherwise = |at: usize| arms.get(at + 1).filter(|next| next.test.is_none()).map_or(&[][..], |next| next.body);
    arms.iter().enumerate().filter_map(|(at, arm)| Some((arm.test?, arm.body, otherwise(at)))).collect()
}

/// A comparison of a new value with the best one so far.
struct Comparison<'a> {
    best: Vec<&'a str>,
    new: &'a str,
    is_loss: bool,
    /// Whether the condition holds if the new value is worse.
    holds_if_worse: bool,
}

impl<'a> Comparison<'a> {
    fn of(test: &'a Expr, text: &'a str) -> Option<Comparison<'a>> {
        if let Expr::UnaryOp(operation) = test {
            let inner = Comparison::of(&operation.operand, text).filter(|_| operation.op == UnaryOp::Not)?;
            return Some(Comparison { holds_if_worse: !inner.holds_if_worse, ..inner });
        }
        let compare = test.as_compare_expr()?;
        let ([op], [right]) = (&*compare.ops, &*compare.comparators) else { return None };
        let is_less = match op {
            CmpOp::Lt | CmpOp::LtE => true,
            CmpOp::Gt | CmpOp::GtE => false,
            _ => return None,
        };
        let left = &*compare.left;
        Comparison::between(left, right, is_less, text).or_else(|| Comparison::between(right, left, !is_less, text))
    }

    /// `is_larger` tells whether the condition holds if the new value is the larger one.
    fn between(best: &'a Expr, new: &'a Expr, is_larger: bool, text: &'a str) -> Option<Comparison<'a>> {
        let path = path_of(best);
        let (name, new) = (words(path.last()?), slice(text, new));
        let of_new = words(new);
        let has = |all: &[String], wanted: &[&str]| all.iter().any(|word| wanted.contains(&word.as_str()));
        if has(&of_new, SMALLEST) || has(&of_new, LARGEST) || new.starts_with('-') {
            return None;
        }
        let is_loss = has(&name, SMALLEST) && has(&name, &["loss"]) && has(&of_new, &["loss", "losses"]);
        let is_metric =
            || has(&name, LARGEST) && METRICS.iter().any(|metric| has(&name, &[metric]) && has(&of_new, &[metric]));
        (is_loss || is_metric()).then_some(Comparison {
            best: path,
            new,
            is_loss,
            holds_if_worse: is_loss == is_larger,
        })
    }

    /// Whether this compares the same values in the other direction.
    fn is_opposite(&self, other: &Comparison<'_>) -> bool {
        self.best == other.best && self.new == other.new && self.holds_if_worse != other.holds_if_worse
    }

    /// The statement, if it assigns the new value to the best one.
    fn keeps<'s>(&self, stmt: &'s Stmt, text: &str) -> Option<&'s StmtAssign> {
        let assign = stmt.as_assign_stmt()?;
        let is_best = assign.targets.iter().any(|target| path_of(target) == self.best);
        (is_best && slice(text, &assign.value).contains(self.new)).then_some(assign)
    }

    /// The statement, if it keeps the worse of the two values: `best_loss = max(loss, best_loss)`.
    fn keeps_extreme<'s>(&self, stmt: &'s Stmt, text: &str) -> Option<&'s StmtAssign> {
        let assign = self.keeps(stmt, text)?;
        let function = assign.value.as_call_expr().map(|call| path_of(&call.func))?;
        (function == [if self.is_loss { "max" } else { "min" }]).then_some(assign)
    }

    /// The values that the file assigns to the variable of the best value.
    fn starts<'s>(&self, source: &Source<'s>) -> Vec<&'s Expr> {
        let all = source.statements.iter().filter_map(|stmt| stmt.as_assign_stmt());
        all.filter(|assign| assign.targets.iter().any(|target| path_of(target).last() == self.best.last()))
            .map(|assign| &*assign.value)
            .collect()
    }

    /// Whether a first value shows that the comparison is meant: a negative number other than -1 for a loss,
    /// infinity for a metric.
    fn is_other_end(&self, value: &str) -> bool {
        let is_negative = value.starts_with('-') || value.contains("-inf");
        if self.is_loss { is_negative && !is_minus_one(value) } else { !is_negative && value.contains("inf") }
    }

    /// Whether a first value is -1 or 0, which is smaller than usual losses.
    fn is_wrong_start(&self, value: &str) -> bool {
        self.is_loss && (is_minus_one(value) || matches!(value, "0" | "0.0" | "0."))
    }
}

/// Whether a value is -1, which is usual for the first value of an accuracy.
fn is_minus_one(value: &str) -> bool {
    matches!(value, "-1" | "-1.0" | "-1.")
}

fn slice<'a>(text: &'a str, at: &Expr) -> &'a str {
    text.get(at.start().to_usize()..at.end().to_usize()).unwrap_or_default()
}
