//! How long lists are that a loop appends to. Where the body of a loop is too long to be run for
//! each of its rounds, a list that grows in it is soon one of unknown length. But if every way
//! through a round appends equally much, in any state that rounds begin with, then the number of
//! rounds says how long the list is in the end: a data set of 161 samples leaves one over when it
//! is cut into batches of 32.

use super::Bound;
use super::interp::{Interp, Rounds};
use super::library::{Event, Observer, Rejection};
use super::stmt::Flow;
use crate::syntax::Span;
use crate::syntax::ast::StmtFor;
use crate::value::{Data, Delta, Items, Mark, ObjId, Sym, Value};

/// Longer lists are not written out.
const LONGEST: usize = 4096;
/// Two lengths at which a round is tried: what depends on the length differs between them.
const SHORT: Option<usize> = Some(3);
const LONG: Option<usize> = Some(1000);

impl<'p> Interp<'p> {
    /// Runs a loop of so many rounds, of which each begins with an `element` like this.
    pub(super) fn counted(
        &mut self,
        stmt: &'p StmtFor,
        rounds: usize,
        element: &Value,
        run: impl FnOnce(&mut Self) -> Flow,
    ) -> Flow {
        let before = self.heap.mark();
        let flow = run(self);
        let change = self.heap.delta(before);
        let lists = self.grown(before, &change);
        if flow != Flow::Next || lists.is_empty() || self.showing || !stmt.orelse.is_empty() {
            self.heap.release(before);
            return flow;
        }
        // The first round begins with what was there before, all others with what rounds leave.
        self.heap.undo(before);
        let first = self.growth(stmt, element, &lists, None);
        self.heap.apply(&change);
        self.heap.release(before);
        let growths = [first, self.growth(stmt, element, &lists, SHORT), self.growth(stmt, element, &lists, LONG)];
        let [Some(first), Some(short), Some(long)] = growths else { return flow };
        for ((((id, mut items), first), short), long) in lists.into_iter().zip(first).zip(short).zip(long) {
            let growth = first.filter(|n| Some(*n) == short && Some(*n) == long).and_then(|n| n.checked_mul(rounds));
            let length = growth.and_then(|n| n.checked_add(items.len())).filter(|n| *n <= LONGEST);
            if let (Some(length), Data::List(Items::Many(element))) = (length, self.heap.get(id)) {
                items.resize(length, element.clone());
                *self.heap.get_mut(id) = Data::List(Items::Exact(items));
            }
        }
        flow
    }

    /// The lists that were of known length then and are no longer, as they were.
    fn grown(&mut self, before: Mark, change: &Delta) -> Vec<(ObjId, Vec<Value>)> {
        self.heap.undo(before);
        let mut lists: Vec<(ObjId, Vec<Value>)> = Vec::new();
        for (id, _) in change.iter() {
            if let Data::List(Items::Exact(items)) = self.heap.get(*id) {
                lists.push((*id, items.clone()));
            }
        }
        self.heap.apply(change);
        lists.retain(|(id, _)| matches!(self.heap.get(*id), Data::List(Items::Many(_))));
        lists
    }

    /// By how much each list grows in one more round, if it has this length before, or what it
    /// has: nobody is told of the round, and nothing of it is kept. `None` where the round may leave the loop.
    fn growth(
        &mut self,
        stmt: &'p StmtFor,
        element: &Value,
        lists: &[(ObjId, Vec<Value>)],
        length: Option<usize>,
    ) -> Option<Vec<Option<usize>>> {
        let (observer, refused, raised, kept) = (self.observer, self.refused, self.raised, self.kept());
        self.observer = &Nobody;
        let mark = self.begin_loop(Rounds::default());
        for (id, _) in lists {
            if let (Data::List(Items::Many(element)), Some(length)) = (self.heap.get(*id), length) {
                let items = vec![element.clone(); length];
                *self.heap.get_mut(*id) = Data::List(Items::Exact(items));
            }
        }
        self.assign(&stmt.target, element.clone());
        let flow = self.exec_block(&stmt.body);
        let (mut ends, _): (Vec<Delta>, _) = self.take_continues();
        if flow == Flow::Next {
            ends.push(self.heap.delta(mark));
        }
        self.heap.undo(mark);
        let breaks = self.end_loop();
        let stays = breaks.is_empty() && self.kept() == kept;
        self.drop_kept(kept);
        let mut growth: Vec<Option<usize>> = vec![None; lists.len()];
        for (n, end) in ends.iter().enumerate() {
            self.heap.apply(end);
            for (slot, (id, have)) in growth.iter_mut().zip(lists) {
                let more = match self.heap.get(*id) {
                    Data::List(Items::Exact(items)) => items.len().checked_sub(length.unwrap_or(have.len())),
                    _ => None,
                };
                *slot = more.filter(|_| n == 0 || *slot == more);
            }
            self.heap.undo(mark);
        }
        self.heap.release(mark);
        (self.observer, self.refused, self.raised) = (observer, refused, raised);
        stays.then_some(growth)
    }
}

/// Who watches a round that is only tried.
struct Nobody;

impl Observer for Nobody {
    fn call(&self, _it: &mut Interp<'_>, _path: Sym, _bound: &Bound, _span: Span) {}

    fn watches(&self, _path: Sym) -> bool {
        false
    }

    fn rejected(&self, _it: &mut Interp<'_>, _rejection: Rejection) {}

    fn refused(&self, _it: &Interp<'_>, _before: u32, _path: Sym, _bound: &Bound) {}

    fn assigned(&self, _it: &mut Interp<'_>, _name: &str, _value: &Value, _span: Span) {}

    fn evaluated(&self, _it: &mut Interp<'_>, _value: &Value, _span: Span) {}

    fn event(&self, _it: &mut Interp<'_>, _event: Event<'_>) {}

    fn moments(&self) -> u32 {
        0
    }
}
