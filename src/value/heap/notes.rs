//! Notes of an object. They are stored like its attributes, so that the end of a branch restores
//! them, joins merge them and copies keep them. Their names cannot occur in a program.

use super::Heap;
use crate::value::{Data, Note, ObjId, Value};

impl Heap {
    pub(crate) fn note(&self, id: ObjId, note: impl Into<Note>) -> Option<Value> {
        match self.get(id) {
            Data::Instance(instance) => instance.attrs.get(&note.into().key()).cloned(),
            _ => None,
        }
    }

    /// Notes something as if it had been noted from the beginning: the end of a branch does not
    /// undo it.
    pub(crate) fn settle_note(&mut self, id: ObjId, note: impl Into<Note>, value: Value) {
        self.settle(id, note.into().key(), value);
    }

    pub(crate) fn set_note(&mut self, id: ObjId, note: impl Into<Note>, value: Value) {
        if matches!(self.get(id), Data::Instance(_)) {
            self.bind(id, note.into().key(), Some(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Topic, sym};

    const COUNT: Topic = Topic::new("count");

    #[test]
    fn notes_are_undone_and_joined() {
        let mut heap = Heap::new();
        let [object, other] = [(); 2].map(|()| heap.instance(Value::path("torchvet.some")));
        let count = |heap: &Heap, note: Note| heap.note(object, note).and_then(|value| value.as_int());
        heap.set_note(object, COUNT, Value::Int(1));
        let mark = heap.mark();
        heap.set_note(object, COUNT, Value::Int(2));
        heap.set_note(object, COUNT.of(other), Value::Int(7));
        let left = heap.delta(mark);
        heap.undo(mark);
        assert_eq!((count(&heap, COUNT.into()), count(&heap, COUNT.of(other))), (Some(1), None));
        let right = heap.delta(mark);
        assert!(heap.join(&[right, left], false));
        assert_eq!((count(&heap, COUNT.into()), count(&heap, COUNT.of(other))), (None, Some(7)));
        heap.release(mark);
    }

    #[test]
    fn no_name_of_a_program_is_a_note() {
        let mut heap = Heap::new();
        let object = heap.instance(Value::path("torchvet.some"));
        heap.set_note(object, COUNT, Value::Int(1));
        assert!(heap.attr(object, "count").is_none());
        heap.set_attr(object, "count", Value::Int(2));
        assert_eq!(heap.note(object, COUNT).and_then(|value| value.as_int()), Some(1));
        assert!(heap.note(object, COUNT.of(sym("count"))).is_none());
        assert!(heap.note(object, COUNT.of(object)).is_none());
    }
}
