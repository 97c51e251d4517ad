//! The lengths of lists that a loop appends to.
//!
//! If a loop is not unrolled, the lists that grow in it get an unknown length. But if every path
//! through a round appends the same number of elements, whatever the state at the start of the
//! round, the number of rounds determines the final length. This matters for data loading: with 161
//! samples and batches of 32, the last batch has one sample.

use super::context::Mode;
use super::interp::{Interp, Rounds};
use super::stmt::Flow;
use crate::syntax::ast::StmtFor;
use crate::value::{Data, Delta, Items, Mark, ObjId, Value};

/// Longer lists are not stored element by element.
const LONGEST: usize = 4096;
/// Two lengths of the lists. Each is tried in a speculative round, to detect growth that depends on
/// the length.
const SHORT: Option<usize> = Some(3);
const LONG: Option<usize> = Some(1000);

impl<'p> Interp<'p> {
    /// Runs a loop with this number of rounds over elements like `element`, and sets the lengths of
    /// the lists to which it appends, if they are known.
    pub(super) fn counted(
        &mut self,
        stmt: &'p StmtFor,
        rounds: usize,
        element: &Value,
        run: impl FnOnce(&mut Self) -> Flow,
    ) -> Flow {
        let (before, older) = (self.heap.mark(), self.heap.len());
        let flow = run(self);
        let change = self.heap.delta(before);
        let lists = self.grown(before, older, &change);
        if flow != Flow::Next || lists.is_empty() || self.second_round() || !stmt.orelse.is_empty() {
            self.heap.release(before);
            return flow;
        }
        // The first round begins with the state before the loop, the others with the state after a
        // round.
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

    /// The lists whose length was known before the loop but is not known now, with their earlier
    /// contents. Only the first `older` objects, which existed before the loop, are considered: a
    /// list that the loop creates is a new one in each round.
    fn grown(&mut self, before: Mark, older: usize, change: &Delta) -> Vec<(ObjId, Vec<Value>)> {
        self.heap.undo(before);
        let mut lists: Vec<(ObjId, Vec<Value>)> = Vec::new();
        for (id, _) in change.iter().filter(|(id, _)| id.is_among_first(older)) {
            if let Data::List(Items::Exact(items)) = self.heap.get(*id) {
                lists.push((*id, items.clone()));
            }
        }
        self.heap.apply(change);
        lists.retain(|(id, _)| matches!(self.heap.get(*id), Data::List(Items::Many(_))));
        lists
    }

    /// The number of elements that one more round appends to each list. Before the round, each list
    /// has `length` elements, or its current contents if `length` is `None`. The round is
    /// speculative. Returns `None` if the round may leave the loop.
    fn growth(
        &mut self,
        stmt: &'p StmtFor,
        element: &Value,
        lists: &[(ObjId, Vec<Value>)],
        length: Option<usize>,
    ) -> Option<Vec<Option<usize>>> {
        self.on_trial(Mode::Silent, |it, _| {
            let before = it.exits.len();
            let (mark, id) = it.begin_loop(Rounds::default());
            for (list, _) in lists {
                if let (Data::List(Items::Many(element)), Some(length)) = (it.heap.get(*list), length) {
                    let items = vec![element.clone(); length];
                    *it.heap.get_mut(*list) = Data::List(Items::Exact(items));
                }
            }
            it.assign(&stmt.target, element.clone());
            let flow = it.exec_block(&stmt.body);
            let (ends, _) = it.round_ends(flow, mark, id);
            it.heap.undo(mark);
            it.pop_block();
            let stays = it.exits.len() == before;
            let mut growth: Vec<Option<usize>> = vec![None; lists.len()];
            for (n, end) in ends.iter().enumerate() {
                it.heap.apply(end);
                for (slot, (list, have)) in growth.iter_mut().zip(lists) {
                    let more = match it.heap.get(*list) {
                        Data::List(Items::Exact(items)) => items.len().checked_sub(length.unwrap_or(have.len())),
                        _ => None,
                    };
                    *slot = more.filter(|_| n == 0 || *slot == more);
                }
                it.heap.undo(mark);
            }
            it.heap.release(mark);
            stays.then_some(growth)
        })
    }
}
