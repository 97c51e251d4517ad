//! `for` and `while`: unrolled where few elements are known, else run until nothing changes.

use super::cadence::Cadence;
use super::entry::blocks;
use super::interp::{Interp, Loop, Rounds};
use super::stmt::Flow;
use crate::syntax::ast::{StmtFor, StmtWhile};
use crate::syntax::{Expr, Ranged, Span, Stmt};
use crate::value::{Data, Delta, Items, Value};

/// A loop over this many known elements is run element by element.
const UNROLL: usize = 8;
/// … or over more, if the body is this short (in bytes of source).
const UNROLL_LONG: usize = 96;
const SHORT_BODY: u32 = 600;
/// … or over more still, if the body is shorter (lists that grow keep their length).
const UNROLL_LONGER: usize = 512;
const SHORTER_BODY: u32 = 120;
/// How often a loop's body is run before what still changes is taken as it is.
const MAX_ROUNDS: usize = 5;

/// How much the paths that left a function, or a round of a loop, have left behind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Kept {
    pub returns: usize,
    pub yields: usize,
    pub breaks: usize,
    pub continues: usize,
}

impl<'p> Interp<'p> {
    pub(super) fn exec_for(&mut self, stmt: &'p StmtFor) -> Flow {
        let span = self.span(&*stmt.iter);
        let since = self.heap.len();
        let iterable = self.eval(&stmt.iter);
        let certain = self.surely_not_empty(&iterable);
        let rounds = self.rounds_of(stmt, &iterable);
        let items = self.iterate(&iterable, span);
        let body_size = stmt.body.last().map_or(0, |last| last.end().to_u32())
            - stmt.body.first().map_or(0, |f| f.start().to_u32());
        match items {
            Items::Exact(items) if items.is_empty() => self.exec_block(&stmt.orelse),
            Items::Exact(items) if unrolls(&items, stmt, body_size) => {
                // What stands in it may come in some of its rounds only.
                self.unrolled(stmt, items, Rounds { count: None, ..rounds })
            }
            Items::Exact(items) => {
                // The first element may differ in kind from the rest: what any is like.
                let count = items.len();
                let element = Items::Exact(items).element(&mut self.heap);
                self.counted(stmt, count, &element, |it| {
                    it.widened((&stmt.body, &stmt.orelse), rounds, true, None, &mut |it| {
                        it.assign(&stmt.target, element.clone());
                        None
                    })
                })
            }
            Items::Many(element) => {
                let mut first = match iterable.as_obj().map(|id| self.heap.get(id)) {
                    Some(Data::Iter(iter)) => iter.first.clone(),
                    _ => None,
                };
                // A batch is no round's but its own: what is written to it is not in the next.
                let made = self.heap.renewed(&element, since);
                let last = Some((&*stmt.target, &iterable, span));
                self.widened((&stmt.body, &stmt.orelse), rounds, certain, last, &mut |it| {
                    let value = first.take().unwrap_or_else(|| it.heap.renewed(&made, since));
                    it.assign(&stmt.target, value);
                    None
                })
            }
        }
    }

    /// Whether a loop over it surely runs at least once: what a library yields is taken as
    /// not empty (a data loader), a list of unknown length is not.
    fn surely_not_empty(&self, iterable: &Value) -> bool {
        match iterable {
            Value::Obj(id) => !matches!(self.heap.get(*id), Data::List(_) | Data::Dict(_) | Data::Set(_)),
            _ => false,
        }
    }

    /// How often a `for` goes round.
    fn rounds_of(&mut self, stmt: &'p StmtFor, iterable: &Value) -> Rounds {
        Rounds { run: 0, count: self.count_of(&stmt.iter, iterable), leaves: leaves(&stmt.body) }
    }

    fn count_of(&mut self, iter: &'p Expr, iterable: &Value) -> Option<i64> {
        let Expr::Call(call) = iter else { return self.length_of(iterable) };
        let name = match &*call.func {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => "",
        };
        let first = call.arguments.args.first()?;
        match (name, &*call.arguments.args) {
            ("range" | "trange", [_]) => self.eval(first).as_int(),
            ("range" | "trange", [_, end]) => Some(self.eval(end).as_int()?.saturating_sub(self.eval(first).as_int()?)),
            // What they are given they go over once.
            ("enumerate" | "tqdm" | "track", _) => match first {
                Expr::Name(_) | Expr::Attribute(_) => {
                    let inner = self.eval(first);
                    self.length_of(&inner)
                }
                Expr::Call(_) => self.count_of(first, &Value::Unknown),
                _ => None,
            },
            _ => self.length_of(iterable),
        }
    }

    fn length_of(&mut self, iterable: &Value) -> Option<i64> {
        match iterable.as_obj() {
            Some(id) if matches!(self.heap.get(id), Data::List(_) | Data::Instance(_)) => {
                let library = self.library;
                let known = self.heap.exact_items(iterable).map(|items| items.len());
                let known = known.and_then(|n| i64::try_from(n).ok());
                known.or_else(|| library.length(self, iterable)?.as_int())
            }
            _ => None,
        }
    }

    pub(super) fn begin_loop(&mut self, rounds: Rounds) -> crate::value::Mark {
        let mark = self.heap.mark();
        self.begun = self.begun.wrapping_add(1);
        let rounds = Rounds { run: self.begun, ..rounds };
        if let Some(frame) = self.frames.last_mut() {
            let (withs, undecided) = (frame.withs.len(), self.undecided);
            frame.loops.push(Loop {
                mark,
                breaks: Vec::new(),
                continues: Vec::new(),
                apart: true,
                rounds,
                withs,
                undecided,
                shown: false,
            });
        }
        mark
    }

    /// The ways in which a round was cut short, and whether each is certainly taken now and then.
    pub(super) fn take_continues(&mut self) -> (Vec<Delta>, bool) {
        let innermost = self.frames.last_mut().and_then(|f| f.loops.last_mut());
        innermost.map(|l| (std::mem::take(&mut l.continues), std::mem::replace(&mut l.apart, true))).unwrap_or_default()
    }

    pub(super) fn end_loop(&mut self) -> Vec<Delta> {
        self.frames.last_mut().and_then(|f| f.loops.pop()).map(|l| l.breaks).unwrap_or_default()
    }

    fn unrolled(&mut self, stmt: &'p StmtFor, items: Vec<Value>, rounds: Rounds) -> Flow {
        let mark = self.begin_loop(rounds);
        let (mut alive, outer) = (true, self.later);
        for (round, item) in items.into_iter().enumerate() {
            if round > 0 {
                self.later = Some(self.heap.len());
            }
            self.assign(&stmt.target, item);
            let flow = self.exec_block(&stmt.body);
            let (mut ends, apart) = self.take_continues();
            if ends.is_empty() && flow == Flow::Next {
                continue;
            }
            if flow == Flow::Next {
                ends.push(self.heap.delta(mark));
            }
            self.heap.undo(mark);
            if ends.is_empty() {
                alive = false;
                break;
            }
            self.heap.join_taken(&ends, false, apart);
        }
        self.later = outer;
        if alive && !stmt.orelse.is_empty() && self.exec_block(&stmt.orelse) == Flow::Stopped {
            self.heap.undo(mark);
            alive = false;
        }
        let mut exits = self.end_loop();
        if !exits.is_empty() {
            if alive {
                exits.push(self.heap.delta(mark));
                self.heap.undo(mark);
            }
            self.heap.join(&exits, false);
            alive = true;
        }
        self.heap.release(mark);
        if alive { Flow::Next } else { Flow::Stopped }
    }

    /// Runs a loop's body from what is known on entry, then from what is known where rounds
    /// end, until that does not change: an accumulator is a number before the loop and a
    /// tensor in it. `begin` binds the target or evaluates the condition: `Some(false)` ends
    /// the loop, `None` may end it. `certain` says that the body runs at least once, `last` what
    /// is gone over, and the target: the last round may bind something of its own.
    fn widened(
        &mut self,
        (body, orelse): (&'p [Stmt], &'p [Stmt]),
        rounds: Rounds,
        certain: bool,
        last: Option<(&'p Expr, &Value, Span)>,
        begin: &mut dyn FnMut(&mut Self) -> Option<bool>,
    ) -> Flow {
        let mark = self.begin_loop(rounds);
        // What is known where a round ends; none has yet.
        let mut state: Option<Delta> = None;
        let mut endless = false;
        let (moments, outer, before) = (self.observer.moments(), self.rounds, self.kept());
        for _ in 0..MAX_ROUNDS {
            self.heap.undo(mark);
            self.heap.apply(state.as_deref().unwrap_or_default());
            self.rounds = outer + u32::from(state.is_some());
            let enters = begin(self);
            endless = enters == Some(true);
            if enters == Some(false) {
                break;
            }
            let flow = self.exec_block(body);
            let (mut ends, apart) = self.take_continues();
            if flow == Flow::Next {
                ends.push(self.heap.delta(mark));
            }
            self.heap.undo(mark);
            if ends.is_empty() {
                break;
            }
            let first = state.is_none();
            if first && outer == 0 && !self.showing && self.observer.moments() != moments {
                self.show_second_round(mark, (&ends, apart), body, begin);
            }
            ends.splice(0..0, state.take());
            let changed = self.heap.join_taken(&ends, !first, first && apart);
            state = Some(self.heap.delta(mark));
            // A second round that is being shown needs of the loops in it one round.
            if self.showing || !(first || changed) || !self.step() {
                break;
            }
        }
        self.heap.undo(mark);
        // It comes where nothing leaves the loop before.
        if let (Some((target, iterable, span)), Some(state)) = (last, &state)
            && !self.showing
            && self.kept() == before
        {
            self.heap.apply(state);
            if let Some(last) = self.last_of(iterable, span) {
                self.assign(target, last);
                self.exec_block(body);
            }
            self.heap.undo(mark);
            self.drop_kept(before);
        }
        self.rounds = outer;
        // Where the loop ends by itself.
        let mut exits = Vec::new();
        if !(certain || self.showing && state.is_some()) {
            exits.push(Delta::new());
        }
        if !endless {
            exits.extend(state);
        }
        let breaks = self.end_loop();
        if !orelse.is_empty() && !exits.is_empty() {
            self.heap.join(&exits, false);
            exits.clear();
            if self.exec_block(orelse) == Flow::Next {
                exits.push(self.heap.delta(mark));
            }
            self.heap.undo(mark);
        }
        exits.extend(breaks);
        let alive = !exits.is_empty();
        if alive {
            self.heap.join(&exits, false);
        }
        self.heap.release(mark);
        if alive { Flow::Next } else { Flow::Stopped }
    }

    /// Runs a loop's body from the state in which its first round ended, for the observer
    /// only: nothing of it is kept. Where what is done now and then was done in that round and
    /// not in the first, the next one is shown, too.
    fn show_second_round(
        &mut self,
        mark: crate::value::Mark,
        (ends, apart): (&[Delta], bool),
        body: &'p [Stmt],
        begin: &mut dyn FnMut(&mut Self) -> Option<bool>,
    ) {
        let before = self.kept();
        self.heap.join_taken(ends, false, apart);
        let outer = self.later;
        let decided = !self.heap.has_fates_apart(self.state);
        if let Some((ends, apart)) = self.show_round(body, begin)
            && decided
        {
            let ends: Vec<Delta> = ends.into_iter().chain([self.heap.delta(mark)]).collect();
            self.heap.undo(mark);
            self.heap.join_taken(&ends, false, apart);
            if self.heap.has_fates_apart(self.state) {
                self.show_round(body, begin);
            }
        }
        self.later = outer;
        self.heap.undo(mark);
        self.drop_kept(before);
    }

    /// One more round for the observer: the other ways in which it ended, where it came to its end.
    fn show_round(
        &mut self,
        body: &'p [Stmt],
        begin: &mut dyn FnMut(&mut Self) -> Option<bool>,
    ) -> Option<(Vec<Delta>, bool)> {
        (self.showing, self.later) = (true, Some(self.heap.len()));
        self.mark_shown(true);
        let flow = if begin(self) == Some(false) { Flow::Stopped } else { self.exec_block(body) };
        self.showing = false;
        self.mark_shown(false);
        let ends = self.take_continues();
        (flow == Flow::Next).then_some(ends)
    }

    fn mark_shown(&mut self, shown: bool) {
        if let Some(innermost) = self.frames.last_mut().and_then(|f| f.loops.last_mut()) {
            innermost.shown = shown;
        }
    }

    /// What the innermost function and the innermost loop in it have kept so far.
    pub(super) fn kept(&self) -> Kept {
        let frame = self.frames.last();
        let innermost = frame.and_then(|f| f.loops.last());
        Kept {
            returns: frame.map_or(0, |f| f.returns.len()),
            yields: frame.map_or(0, |f| f.yields.len()),
            breaks: innermost.map_or(0, |l| l.breaks.len()),
            continues: innermost.map_or(0, |l| l.continues.len()),
        }
    }

    /// Drops what was kept since then.
    pub(super) fn drop_kept(&mut self, before: Kept) {
        if let Some(frame) = self.frames.last_mut() {
            frame.returns.truncate(before.returns);
            frame.yields.truncate(before.yields);
            if let Some(innermost) = frame.loops.last_mut() {
                innermost.breaks.truncate(before.breaks);
                innermost.continues.truncate(before.continues);
            }
        }
    }

    pub(super) fn exec_while(&mut self, stmt: &'p StmtWhile) -> Flow {
        let first = self.condition(&stmt.test);
        if first == Some(false) {
            return self.exec_block(&stmt.orelse);
        }
        self.widened((&stmt.body, &stmt.orelse), Rounds::default(), first == Some(true), None, &mut |it| {
            let truth = it.condition(&stmt.test);
            it.assume(&stmt.test, true);
            truth
        })
    }

    pub(super) fn leave_loop(&mut self, breaks: bool) {
        let Some((mark, withs)) = self.frames.last().and_then(|f| f.loops.last()).map(|l| (l.mark, l.withs)) else {
            return;
        };
        self.leave_withs(withs);
        let delta = self.heap.delta(mark);
        let Some(frame) = self.frames.last_mut() else { return };
        let apart = frame.arms.last() != Some(&Cadence::Unclear);
        if let Some(innermost) = frame.loops.last_mut() {
            innermost.apart &= breaks || apart;
            if breaks { innermost.breaks.push(delta) } else { innermost.continues.push(delta) }
        }
    }
}

/// Whether a loop over known elements is run element by element.
fn unrolls(items: &[Value], stmt: &StmtFor, body_size: u32) -> bool {
    if has_loop(&stmt.body) {
        // Rounds that only count, such as epochs, are alike; records each have data of their own.
        return items.len() <= UNROLL && items.iter().any(|item| item.as_int().is_none());
    }
    items.len() <= UNROLL
        || items.len() <= UNROLL_LONG && body_size <= SHORT_BODY
        || items.len() <= UNROLL_LONGER && body_size <= SHORTER_BODY
}

/// Whether a loop's body may end it.
fn leaves(body: &[Stmt]) -> bool {
    body.iter().any(|s| match s {
        Stmt::Break(_) | Stmt::Return(_) => true,
        // What ends an inner loop does not end this one, a `return` does.
        Stmt::For(s) => returns(&s.body),
        Stmt::While(s) => returns(&s.body),
        _ => blocks(s).into_iter().any(leaves),
    })
}

fn returns(body: &[Stmt]) -> bool {
    body.iter().any(|s| matches!(s, Stmt::Return(_)) || blocks(s).into_iter().any(returns))
}

/// Whether a loop stands directly in a body: unrolling a loop of loops multiplies.
fn has_loop(body: &[Stmt]) -> bool {
    body.iter().any(|s| match s {
        Stmt::For(_) | Stmt::While(_) => true,
        Stmt::If(s) => has_loop(&s.body) || s.elif_else_clauses.iter().any(|c| has_loop(&c.body)),
        Stmt::With(s) => has_loop(&s.body),
        Stmt::Try(s) => has_loop(&s.body),
        _ => false,
    })
}
