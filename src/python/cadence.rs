//! How often an unknown condition holds in the rounds of a loop.
//!
//! A flag may be true in all rounds or in none, and `i == last` holds once. A condition on a
//! counter (`i % 10 == 0`) or on data (`isfinite(loss)`) is assumed to recur: each of its arms runs
//! in some rounds.

use super::interp::Interp;
use crate::syntax::ast::{self, CmpOp, Operator};
use crate::syntax::{Expr, Span};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cadence {
    /// Not known.
    Unclear,
    /// The condition recurs, at no fixed interval.
    Sometimes,
    /// The condition holds in every `n`th round, with `n >= 2`. Contains `n` and the place of the
    /// test.
    Every(i64, Span),
}

impl Cadence {
    /// How often the condition does not hold.
    pub(super) fn other(self) -> Cadence {
        match self {
            Cadence::Every(..) => Cadence::Sometimes,
            same => same,
        }
    }
}

impl<'p> Interp<'p> {
    pub(super) fn cadence(&mut self, test: &'p Expr) -> Cadence {
        match self.cadence_of(test) {
            Cadence::Every(n, _) => Cadence::Every(n, self.span(test)),
            other => other,
        }
    }

    fn cadence_of(&mut self, test: &'p Expr) -> Cadence {
        match test {
            Expr::UnaryOp(e) if e.op == ast::UnaryOp::Not => match self.remainder(&e.operand) {
                Some(every) => every,
                None => self.cadence(&e.operand).other(),
            },
            Expr::BinOp(_) => self.remainder(test).map_or(Cadence::Unclear, Cadence::other),
            Expr::Compare(e) => match (&*e.ops, self.remainder(&e.left)) {
                ([CmpOp::Eq], Some(every)) => every,
                ([_], Some(every)) => every.other(),
                _ => asks_of_data(test),
            },
            Expr::BoolOp(e) => {
                let all: Vec<Cadence> = e.values.iter().map(|v| self.cadence(v)).collect();
                let regular = all.iter().find(|c| matches!(c, Cadence::Every(..)));
                let clear = all.iter().any(|c| *c != Cadence::Unclear);
                // `i % n == 0 or i == last` holds at least in every `n`th round.
                // `i % n == 0 and i == last` does not.
                match (e.op, regular) {
                    (ast::BoolOp::Or, Some(every)) => *every,
                    (ast::BoolOp::Or, None) if clear => Cadence::Sometimes,
                    _ if !all.contains(&Cadence::Unclear) => Cadence::Sometimes,
                    _ => Cadence::Unclear,
                }
            }
            _ => asks_of_data(test),
        }
    }

    /// How often `a % n` equals a given number.
    fn remainder(&mut self, expr: &'p Expr) -> Option<Cadence> {
        let Expr::BinOp(e) = expr else { return None };
        if e.op != Operator::Mod {
            return None;
        }
        let simple = matches!(&*e.right, Expr::Name(_) | Expr::Attribute(_) | Expr::NumberLiteral(_));
        let n = simple.then(|| self.eval(&e.right)).and_then(|n| n.as_int());
        Some(match n {
            Some(n) if n >= 2 => Cadence::Every(n, self.span(expr)),
            Some(_) => Cadence::Unclear,
            None => Cadence::Sometimes,
        })
    }

    /// Whether a condition tests a remainder, such as `step % 10 == 0`, so that it holds in some
    /// rounds of a loop.
    pub(super) fn is_periodic(&mut self, test: &'p Expr) -> bool {
        let divided = match test {
            Expr::Compare(e) => &*e.left,
            other => other,
        };
        matches!(self.remainder(divided), Some(Cadence::Every(..)))
    }

    pub(super) fn enter_arm(&mut self, cadence: Cadence) {
        if let Some(frame) = self.frames.last_mut() {
            frame.arms.push(cadence);
        }
    }

    pub(super) fn leave_arm(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.arms.pop();
        }
    }
}

/// Recognises conditions on values that are computed from batches: `torch.isfinite(norm)`,
/// `torch.isnan(loss).any()`.
fn asks_of_data(test: &Expr) -> Cadence {
    let Expr::Call(call) = test else { return Cadence::Unclear };
    let (name, object) = match &*call.func {
        Expr::Attribute(e) => (e.attr.as_str(), Some(&*e.value)),
        Expr::Name(e) => (e.id.as_str(), None),
        _ => return Cadence::Unclear,
    };
    match (name, object) {
        ("isfinite" | "isnan" | "isinf", _) => Cadence::Sometimes,
        ("any" | "all" | "item", Some(inner)) if call.arguments.args.is_empty() => asks_of_data(inner),
        _ => call.arguments.args.first().map_or(Cadence::Unclear, asks_of_data),
    }
}
