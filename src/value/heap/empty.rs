//! Lists of unknown length that are empty in some runs, as `list(range(n))` of an unknown `n` is. Of
//! all others it is taken that they hold something: data that a program reads, and what it makes
//! of them.

use super::Heap;
use crate::value::{Data, Items, ObjId, Value};

impl Heap {
    /// Notes that something of unknown length may be empty.
    pub(crate) fn note_perhaps_empty(&mut self, value: &Value) {
        if let Value::Obj(id) = value {
            self.perhaps_empty.insert(*id);
        }
    }

    pub(crate) fn is_perhaps_empty(&self, value: &Value) -> bool {
        value.as_obj().is_some_and(|id| self.perhaps_empty.contains(&id))
    }

    /// A loop begins of which it is taken that there is a round: what it has filled is not empty.
    pub(crate) fn begin_filling(&mut self) -> u32 {
        self.filling += 1;
        self.filling
    }

    /// What is known of loops as it was before: see [`Heap::begin_filling`].
    pub(crate) fn set_filling(&mut self, filling: u32) -> u32 {
        std::mem::replace(&mut self.filling, filling)
    }

    /// Notes it of a list that is a join of these.
    pub(in crate::value) fn join_emptiness(&mut self, joined: ObjId, parts: [(ObjId, &Data); 2]) {
        let empty = |data: &Data| matches!(data, Data::List(Items::Exact(items)) if items.is_empty());
        let [(a, x), (b, y)] = parts;
        let apart = self.filling == 0 && empty(x) != empty(y);
        if apart || self.perhaps_empty.contains(&a) || self.perhaps_empty.contains(&b) {
            self.perhaps_empty.insert(joined);
        }
    }
}
