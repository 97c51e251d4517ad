//! Lists, iterators and tensors of unknown length that are treated as possibly empty, such as
//! `list(range(n))` for an unknown `n`. All other collections of unknown length, such as lists of
//! data that the program reads, are assumed to have elements when facts about their values are
//! computed. A loop over such a collection may still have no iteration.

use super::Heap;
use crate::value::{Data, Items, ObjId, Value};

impl Heap {
    /// Marks a list, iterator or tensor of unknown length that may be empty.
    pub(crate) fn note_perhaps_empty(&mut self, value: &Value) {
        if let Value::Obj(id) = value {
            self.perhaps_empty.insert(*id);
        }
    }

    pub(crate) fn is_perhaps_empty(&self, value: &Value) -> bool {
        value.as_obj().is_some_and(|id| self.perhaps_empty.contains(&id))
    }

    /// Begins a loop that is assumed to run at least once: a list that it fills is not empty.
    pub(crate) fn begin_filling(&mut self) -> u32 {
        self.filling += 1;
        self.filling
    }

    /// Sets the number of active loops that are assumed to run at least once; returns the old
    /// number.
    pub(crate) fn set_filling(&mut self, filling: u32) -> u32 {
        std::mem::replace(&mut self.filling, filling)
    }

    /// Marks the join of two lists or iterators, if it may be empty.
    pub(in crate::value) fn join_emptiness(&mut self, joined: ObjId, parts: [(ObjId, &Data); 2]) {
        let empty = |data: &Data| matches!(data, Data::List(Items::Exact(items)) if items.is_empty());
        let [(a, x), (b, y)] = parts;
        let apart = self.filling == 0 && empty(x) != empty(y);
        if apart || self.perhaps_empty.contains(&a) || self.perhaps_empty.contains(&b) {
            self.perhaps_empty.insert(joined);
        }
    }
}
