//! Loops over a list that the body changes: round `i` reads the current element at index `i`.

use std::rc::Rc;

use super::interp::{Interp, Rounds};
use super::stmt::Flow;
use crate::syntax::ast::StmtFor;
use crate::syntax::{Expr, Stmt};
use crate::value::{Data, Dict, Items, Iter, Key, ObjId, Value, same};

/// The largest number of rounds beyond the original length that are run one by one.
const MORE: usize = 24;

/// The lists and dictionaries that a loop iterates over, with their contents before the loop.
pub(super) type Sources = Vec<(ObjId, Rc<Data>)>;

/// What a loop iterates over.
pub(super) enum Over {
    /// The keys of a dictionary.
    Keys((ObjId, Rc<Data>)),
    /// Elements that come from these objects.
    Sources(Sources),
}

impl<'p> Interp<'p> {
    /// The list that a loop iterates over, if the iterable is a name, an attribute or a subscript.
    pub(super) fn changing(&self, iterable: &Value, stmt: &StmtFor) -> Option<ObjId> {
        let id = iterable.as_obj().filter(|id| matches!(self.heap.get(*id), Data::List(_)))?;
        matches!(&*stmt.iter, Expr::Name(_) | Expr::Attribute(_) | Expr::Subscript(_)).then_some(id)
    }

    /// The join of the current elements, if one of the lists was written to since the loop began;
    /// otherwise `None`.
    pub(super) fn element_by_now(&mut self, iterator: &Value, over: &Sources) -> Option<Value> {
        if !self.heap.have_changed(over) {
            return None;
        }
        match iterator.as_obj().map(|id| self.heap.get(id)) {
            Some(Data::List(items)) => {
                let items = items.clone();
                Some(items.element(&mut self.heap))
            }
            Some(Data::Iter(Iter { items: Items::Exact(items), .. })) => {
                let items = self.entries_by_now(items, over).map(Items::Exact);
                Some(items.map_or(Value::Unknown, |items| items.element(&mut self.heap)))
            }
            Some(Data::Iter(Iter { items: Items::Many(element), .. })) => {
                let pairs = is_pair(element);
                Some(self.entry_by_now(pairs, over).unwrap_or(Value::Unknown))
            }
            _ => Some(Value::Unknown),
        }
    }

    /// Any current element of `items()` (if `pairs` is true) or `values()` of a dictionary with
    /// unknown keys that was written to during the loop.
    fn entry_by_now(&mut self, pairs: bool, over: &Sources) -> Option<Value> {
        let [(id, before)] = over.as_slice() else { return None };
        let (Data::Dict(before), Data::Dict(now)) = (&**before, self.heap.get(*id)) else { return None };
        let values = |dict: &Dict| dict.entries.values().chain(&dict.open).cloned().collect::<Vec<Value>>();
        // If all values are pairs, it is not known whether the loop is over `values()` or `items()`.
        if pairs && values(before).iter().all(is_pair) {
            return None;
        }
        let value = Items::Exact(values(now)).element(&mut self.heap);
        Some(if pairs { Value::tuple(vec![Value::Unknown, value]) } else { value })
    }

    /// The current elements of `items()` or `values()` of a dictionary that was written to during
    /// the loop, if its keys did not change.
    fn entries_by_now(&self, items: &[Value], over: &Sources) -> Option<Vec<Value>> {
        let [(id, before)] = over.as_slice() else { return None };
        let (Data::Dict(before), Data::Dict(now)) = (&**before, self.heap.get(*id)) else { return None };
        if now.open.is_some() || !now.entries.keys().eq(before.entries.keys()) {
            return None;
        }
        let entries = before.entries.iter().zip(now.entries.values()).zip(items);
        let one = |(((key, old), new), item): (((&Key, &Value), &Value), &Value)| {
            if same(&self.heap, item, old) { new.clone() } else { Value::tuple(vec![key.value(), new.clone()]) }
        };
        Some(entries.map(one).collect())
    }

    /// Whether a dictionary certainly has another number of keys than before.
    fn has_other_size(&self, over: &Sources) -> bool {
        let [(id, before)] = over.as_slice() else { return false };
        let (Data::Dict(before), Data::Dict(now)) = (&**before, self.heap.get(*id)) else { return false };
        before.open.is_none() && now.open.is_none() && before.entries.len() != now.entries.len()
    }

    /// A loop over known elements that come from lists or a dictionary (`zip`, `enumerate`,
    /// `items()`). After one of the lists, or the keys of the dictionary, have changed, the
    /// elements and their number are unknown.
    pub(super) fn unrolled_over(
        &mut self,
        mut items: Vec<Value>,
        over: Over,
        rounds: Rounds,
        orelse: &'p [Stmt],
        round: &dyn Fn(&mut Self, Value) -> Flow,
    ) -> Flow {
        let (over, keys) = match over {
            Over::Keys(dictionary) => (vec![dictionary], true),
            Over::Sources(sources) => (sources, false),
        };
        if over.is_empty() {
            return self.unrolled(items, rounds, orelse, &mut |it, value| round(it, value));
        }
        // An additional last round only checks whether the lists have grown.
        let length = items.len();
        let first = items.clone();
        let mut left = length;
        let mut changed = false;
        items.push(Value::Unknown);
        self.unrolled(items, rounds, orelse, &mut |it, value| {
            if changed {
                return Flow::Next;
            }
            let mut value = value;
            if it.heap.have_changed(&over) {
                if keys && it.has_other_size(&over) {
                    // "dictionary changed size during iteration"
                    it.raise("RuntimeError");
                    return Flow::Stopped;
                }
                let now = it.entries_by_now(&first, &over).map(|now| if keys { first.clone() } else { now });
                let Some(now) = now else {
                    changed = true;
                    // There may be no further round.
                    return it.guessing(true, |it| {
                        it.over_items(Items::Many(Value::Unknown), 0, &mut |it, value| round(it, value))
                    });
                };
                value = now.get(length - left).cloned().unwrap_or(value);
            }
            match left.checked_sub(1) {
                Some(rest) => {
                    left = rest;
                    round(it, value)
                }
                None => Flow::Next,
            }
        })
    }

    /// The indices of a list of this length, and of elements that may be added.
    pub(super) fn places(&self, length: usize) -> Vec<Value> {
        (0..length + MORE).map(super::containers::int).collect()
    }

    /// Runs one round, if the list has an element for it.
    pub(super) fn round_at(
        &mut self,
        list: ObjId,
        place: &Value,
        last: usize,
        round: &dyn Fn(&mut Self, Value) -> Flow,
    ) -> Flow {
        let at = place.as_int().and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
        let Data::List(items) = self.heap.get(list) else { return Flow::Next };
        match items {
            Items::Exact(items) => match items.get(at).cloned() {
                Some(value) => {
                    let longer = at == last && items.len() > at + 1;
                    let flow = round(self, value);
                    if !longer || flow == Flow::Stopped {
                        return flow;
                    }
                    // The number and the values of the remaining elements are unknown.
                    self.over_items(Items::Many(Value::Unknown), 0, &mut |it, value| round(it, value))
                }
                None => Flow::Next,
            },
            Items::Many(element) => {
                let element = element.clone();
                let mut run = |it: &mut Self| round(it, element.clone());
                self.perhaps(&mut run)
            }
        }
    }
}

fn is_pair(value: &Value) -> bool {
    matches!(value, Value::Tuple(items) if items.len() == 2)
}
