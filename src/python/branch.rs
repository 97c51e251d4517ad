//! Branches: if a condition is unknown, each arm runs from the current state, and the states of the
//! arms that continue are joined.
//!
//! [`Interp::fork`] is used for `if`, the ternary, `and` and `or`, filters of comprehensions,
//! `match`, handlers of exception groups, and code that a loop may not reach.

use std::cell::Cell;

use super::cadence::Cadence;
use super::flags::{arms_of, says_gpu};
use super::interp::Interp;
use super::library::{OfCall, RejectKind};
use super::stmt::Flow;
use crate::syntax::Expr;
use crate::syntax::Stmt;
use crate::syntax::ast::{self, StmtIf};
use crate::value::{Sym, Type, Value, join};

/// One arm of a branch. Returns its value, or `None` if its path ends.
pub(super) type Arm<'a, 'p, T> = &'a mut dyn FnMut(&mut Interp<'p>) -> Option<T>;

impl<'p> Interp<'p> {
    /// Runs each arm from the current state, joins the states of the arms that continue, and
    /// returns the value of each arm (`None` if its path ends).
    ///
    /// `is_expression` is true if each arm is a part of an expression. Some runs do not evaluate
    /// this part, so a failure in it does not occur in every run that reaches the line.
    ///
    /// `holds` says what holds in each of two arms, as source text.
    fn fork<T>(
        &mut self,
        cadence: Cadence,
        is_expression: bool,
        holds: Option<[Sym; 2]>,
        arms: &mut [Arm<'_, 'p, T>],
    ) -> Vec<Option<T>> {
        let outside = self.context;
        self.decisions += 1;
        let mark = self.heap.mark();
        let (mut ends, mut results) = (Vec::new(), Vec::new());
        for (at, arm) in arms.iter_mut().enumerate() {
            let cadence = if at == 0 { cadence } else { cadence.other() };
            self.enter_side(outside, cadence);
            self.context.guesses += u32::from(is_expression);
            self.enter_arm(cadence);
            let result = arm(self).filter(|_| !self.stopped);
            self.stopped = false;
            if result.is_some() {
                ends.push(self.heap.delta(mark));
            }
            results.push(result);
            self.heap.undo(mark);
            self.leave_arm();
        }
        self.context = outside;
        // After `if …: return`, the rest of the function runs only if the condition is false, so it
        // is as uncertain as an arm.
        if ends.len() < results.len() {
            self.context.doubts = self.doubted(outside.doubts);
        }
        if ends.is_empty() {
            self.stopped = true;
        } else {
            self.heap.arms = holds;
            self.heap.join_taken(&ends, false, cadence != Cadence::Unclear);
            self.heap.arms = None;
        }
        self.heap.release(mark);
        results
    }

    /// [`Interp::fork`] for statements.
    pub(super) fn branch(&mut self, cadence: Cadence, arms: &mut [Arm<'_, 'p, ()>]) -> Flow {
        self.branch_on(None, cadence, arms)
    }

    fn branch_on(&mut self, holds: Option<[Sym; 2]>, cadence: Cadence, arms: &mut [Arm<'_, 'p, ()>]) -> Flow {
        self.fork(cadence, false, holds, arms);
        if std::mem::take(&mut self.stopped) { Flow::Stopped } else { Flow::Next }
    }

    /// [`Interp::fork`] for two expressions: the join of their values.
    pub(super) fn either(&mut self, arms: &mut [Arm<'_, 'p, Value>; 2]) -> Value {
        self.either_on(None, arms)
    }

    fn either_on(&mut self, holds: Option<[Sym; 2]>, arms: &mut [Arm<'_, 'p, Value>; 2]) -> Value {
        let values = self.fork(Cadence::Unclear, true, holds, arms);
        let mut values = values.into_iter().flatten();
        match (values.next(), values.next()) {
            (Some(a), Some(b)) => {
                self.heap.arms = holds;
                let value = join(&mut self.heap, &a, &b, false);
                self.heap.arms = None;
                value
            }
            (Some(only), None) => only,
            _ => Value::Unknown,
        }
    }

    /// Runs code that some runs do not reach.
    pub(super) fn perhaps(&mut self, run: &mut dyn FnMut(&mut Self) -> Flow) -> Flow {
        self.branch(Cadence::Unclear, &mut [&mut |it| go_on(run(it)), &mut |_| Some(())])
    }

    /// Runs both arms of a condition, or only one if the condition is known.
    pub(super) fn decide(
        &mut self,
        test: &'p Expr,
        yes: &mut dyn FnMut(&mut Self) -> Flow,
        no: &mut dyn FnMut(&mut Self) -> Flow,
    ) -> Flow {
        let truth = self.condition(test);
        if self.stopped {
            return Flow::Stopped;
        }
        match truth {
            Some(true) => yes(self),
            Some(false) => no(self),
            None => {
                let doubts = self.doubt(test);
                let cadence = self.cadence(test);
                let stops = Cell::new(false);
                let side = |flow: Flow| {
                    stops.set(stops.get() || flow == Flow::Stopped);
                    go_on(flow)
                };
                let flow = self.branch_on(
                    arms_of(test),
                    cadence,
                    &mut [
                        &mut |it| {
                            it.assume(test, true);
                            side(yes(it))
                        },
                        &mut |it| {
                            it.assume(test, false);
                            side(no(it))
                        },
                    ],
                );
                self.settle(doubts, stops.get());
                flow
            }
        }
    }

    pub(super) fn exec_if(&mut self, stmt: &'p StmtIf) -> Flow {
        let mut arms: Vec<(Option<&'p Expr>, &'p [Stmt])> = vec![(Some(&stmt.test), &stmt.body)];
        for clause in &stmt.elif_else_clauses {
            arms.push((clause.test.as_ref(), &clause.body));
        }
        self.exec_arms(&arms)
    }

    fn exec_arms(&mut self, arms: &[(Option<&'p Expr>, &'p [Stmt])]) -> Flow {
        let Some(((test, body), rest)) = arms.split_first() else { return Flow::Next };
        let body: &'p [Stmt] = body;
        match test {
            None => self.exec_block(body),
            Some(test) => self.decide(test, &mut |it| it.exec_block(body), &mut |it| it.exec_arms(rest)),
        }
    }

    /// `yes if test else no`
    pub(super) fn ternary(&mut self, e: &'p ast::ExprIf) -> Value {
        let truth = self.condition(&e.test);
        if self.stopped {
            return Value::Unknown;
        }
        match truth {
            Some(truth) => {
                let arm = if truth { &e.body } else { &e.orelse };
                self.reach(&**arm);
                self.eval(arm)
            }
            None => {
                let doubts = self.doubt(&e.test);
                let stops = Cell::new(false);
                let arm = |it: &mut Self, truth: bool, expr: &'p Expr| {
                    it.assume(&e.test, truth);
                    it.reach(expr);
                    let value = it.eval(expr);
                    stops.set(stops.get() || it.stopped);
                    Some(value)
                };
                let arms: &mut [Arm<'_, 'p, Value>; 2] =
                    &mut [&mut |it| arm(it, true, &e.body), &mut |it| arm(it, false, &e.orelse)];
                let value = self.either_on(arms_of(&e.test), arms);
                self.settle(doubts, stops.get());
                value
            }
        }
    }

    /// Whether a condition holds. `unknown and False` is false, although its value is unknown.
    pub(super) fn condition(&mut self, test: &'p Expr) -> Option<bool> {
        match test {
            Expr::UnaryOp(e) if e.op == ast::UnaryOp::Not => self.condition(&e.operand).map(|truth| !truth),
            Expr::BoolOp(e) => self.all_conditions(e.op == ast::BoolOp::Or, &e.values),
            _ => {
                let value = self.eval(test);
                if self.heap.is_tensor(&value) {
                    let span = self.span(test);
                    self.event(super::Event::Read { value: &value, how: "a condition", span });
                }
                let truth = self.truth_at(&value, test);
                self.declines_gpu |= truth.is_some() && says_gpu(test) == truth.map(|truth| !truth);
                // The replayed round stands for any later round, also if the counter is known.
                truth.filter(|_| !self.second_round() || !self.is_periodic(test))
            }
        }
    }

    /// The truth value of `value`, which the program tests at `expr`. If `value` certainly has no
    /// truth value (a tensor of several elements), reports this and raises.
    pub(super) fn truth_at(&mut self, value: &Value, expr: &'p Expr) -> Option<bool> {
        let span = self.span(expr);
        self.decisions += 1;
        self.note_uncalled(value, expr, OfCall::Test);
        if !self.heap.is_tensor(value) {
            // In another round or call, the value may have another type, and no truth value.
            if value.is_unknown() {
                self.pass_unjudged(span);
            } else {
                self.pass(span);
            }
            return self.truth(value);
        }
        if let Some((exception, message)) = self.library.without_truth(&self.heap, value) {
            self.report_missing(RejectKind::Value, message, span);
            self.raise(exception);
            return None;
        }
        self.pass(span);
        self.truth(value)
    }

    /// `a and b and …`, which stops at the first false operand. If `stops_at` is true:
    /// `a or b or …`, which stops at the first true operand.
    fn all_conditions(&mut self, stops_at: bool, operands: &'p [Expr]) -> Option<bool> {
        let (first, rest) = operands.split_first()?;
        self.reach(first);
        let truth = self.condition(first);
        if rest.is_empty() || self.stopped || truth == Some(stops_at) {
            return truth;
        }
        if truth.is_some() {
            return self.all_conditions(stops_at, rest);
        }
        let doubts = self.doubt(first);
        let stops = Cell::new(false);
        let truths = self.fork(
            Cadence::Unclear,
            true,
            None,
            &mut [
                &mut |it| {
                    it.assume(first, !stops_at);
                    let truth = it.all_conditions(stops_at, rest);
                    stops.set(it.stopped);
                    Some(truth)
                },
                &mut |it| {
                    it.assume(first, stops_at);
                    Some(Some(stops_at))
                },
            ],
        );
        self.settle(doubts, stops.get());
        // The result is `stops_at` if the path ends in the other operands, or if they also give
        // `stops_at`.
        match truths.first() {
            Some(Some(None)) => None,
            Some(Some(Some(truth))) => Some(stops_at).filter(|_| *truth == stops_at),
            _ => Some(stops_at),
        }
    }

    /// `a and b and …` as a value: the last operand that was evaluated.
    pub(super) fn bool_op(&mut self, e: &'p ast::ExprBoolOp) -> Value {
        self.last_evaluated(e.op == ast::BoolOp::Or, &e.values)
    }

    fn last_evaluated(&mut self, stops_at: bool, operands: &'p [Expr]) -> Value {
        let Some((first, rest)) = operands.split_first() else { return Value::Unknown };
        self.reach(first);
        let value = self.eval(first);
        if rest.is_empty() || self.stopped {
            return value;
        }
        let truth = self.truth_at(&value, first);
        if self.stopped {
            return Value::Unknown;
        }
        match truth {
            Some(truth) if truth == stops_at => value,
            Some(_) => self.last_evaluated(stops_at, rest),
            None => {
                // If the truth value of x is unknown, nothing is known about the result of `x or
                // default`, unless x is a bool.
                let left = match value {
                    Value::Any(Type::Bool) => Value::Any(Type::Bool),
                    value => join(&mut self.heap, &value, &Value::Unknown, false),
                };
                let doubts = self.doubt(first);
                let stops = Cell::new(false);
                let value = self.either(&mut [
                    &mut |it| {
                        it.assume(first, !stops_at);
                        let value = it.last_evaluated(stops_at, rest);
                        stops.set(it.stopped);
                        Some(value)
                    },
                    &mut |it| {
                        it.assume(first, stops_at);
                        Some(left.clone())
                    },
                ]);
                self.settle(doubts, stops.get());
                value
            }
        }
    }
}

/// The result of an arm that is a statement.
pub(super) fn go_on(flow: Flow) -> Option<()> {
    (flow == Flow::Next).then_some(())
}
