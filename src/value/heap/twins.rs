//! Objects that may be the same: if a name holds different objects on two paths, their join is a
//! new object that covers both. A write to the new object is a weak update of both, and a write to
//! one of the two is a weak update of the new object.

use super::{FxIndexSet, Heap};
use crate::value::join::join_tensor;
use crate::value::{Data, Items, ObjId, Sym, Tensor, Value};

/// Limits the search for the objects that may be the same as a given one: joins in a loop create
/// chains of such objects.
const MOST: usize = 64;

impl Heap {
    /// Records that an object is one of two others.
    pub(in crate::value) fn relate(&mut self, whole: ObjId, parts: [ObjId; 2]) {
        for part in parts {
            self.parts.entry(whole).or_default().push(part);
            self.wholes.entry(part).or_default().push(whole);
        }
    }

    /// Records that an object may be the same as another one.
    pub(in crate::value) fn may_be(&mut self, one: ObjId, other: ObjId) {
        let is_mutable =
            matches!(self.get(one), Data::List(_) | Data::Set(_) | Data::Dict(_) | Data::Tensor(_) | Data::Instance(_));
        if one != other && is_mutable && !self.parts.get(&one).is_some_and(|parts| parts.contains(&other)) {
            self.parts.entry(one).or_default().push(other);
            self.wholes.entry(other).or_default().push(one);
        }
    }

    /// Records that a collection is one of several: an append to it is an append to one of them.
    pub(crate) fn is_one_of(&mut self, one: &Value, all: &[Value]) {
        let Some(one) = one.as_obj() else { return };
        for other in all.iter().filter_map(Value::as_obj) {
            self.may_be(one, other);
        }
    }

    /// Whether an object stands for one of several older ones: a join created it.
    pub(crate) fn is_joined(&self, id: ObjId) -> bool {
        self.parts.contains_key(&id)
    }

    /// Notes that two tensors share their memory from now on.
    pub(crate) fn share_data(&mut self, one: ObjId, other: ObjId) {
        self.may_be(one, other);
        for base in [one, other].iter().filter_map(|id| self.base_of(*id)).collect::<Vec<_>>() {
            self.may_be(one, base);
        }
        // From now on, views of one are also views of the other.
        let base = self.memory_of(other);
        let version = self.writes_to(base);
        if base != one
            && let Data::Tensor(tensor) = self.get_mut(one)
        {
            (tensor.base, tensor.version) = (Some(base), version);
        }
    }

    /// The other objects that an object may be.
    fn twins(&self, id: ObjId) -> Vec<ObjId> {
        let none = self.parts.is_empty() || !self.parts.contains_key(&id) && !self.wholes.contains_key(&id);
        if none {
            return Vec::new();
        }
        let mut found: FxIndexSet<ObjId> = [id].into_iter().collect();
        let mut at = 0;
        while let Some(next) = found.get_index(at).copied().filter(|_| found.len() < MOST) {
            at += 1;
            found.extend(self.parts.get(&next).into_iter().flatten());
        }
        // An object whose parts include one of these objects may also be the object `id`.
        at = 0;
        while let Some(next) = found.get_index(at).copied().filter(|_| found.len() < 2 * MOST) {
            at += 1;
            found.extend(self.wholes.get(&next).into_iter().flatten());
        }
        found.swap_remove(&id);
        found.into_iter().collect()
    }

    /// Whether the memory of a tensor, or of one that it may be, is older than object number
    /// `since`.
    pub(in crate::value) fn shares_older(&self, id: ObjId, since: usize) -> bool {
        let is_older = |id: ObjId| self.memory_of(id).is_among_first(since);
        is_older(id) || self.twins(id).into_iter().any(is_older)
    }

    /// The elements of a collection changed, so the elements of collections that may be the same
    /// one become unknown.
    pub(super) fn touch(&mut self, id: ObjId) {
        let twins = self.twins(id);
        self.visited += twins.len() as u64;
        for twin in twins {
            match self.write(twin) {
                Data::List(items) | Data::Set(items) => *items = Items::Many(Value::Unknown),
                Data::Dict(dict) => {
                    dict.entries.values_mut().for_each(|value| *value = Value::Unknown);
                    dict.open = Some(Value::Unknown);
                }
                _ => {}
            }
        }
    }

    /// An attribute has been set or deleted, so it becomes unknown in the objects that may be the
    /// same one.
    pub(super) fn touch_name(&mut self, id: ObjId, name: Sym, is_there: bool) {
        let twins = self.twins(id);
        self.visited += twins.len() as u64;
        for twin in twins {
            if let Data::Instance(instance) = self.get(twin) {
                let surely = is_there && instance.attrs.contains_key(&name);
                self.bind_one(twin, name, Some(Value::Unknown));
                if !surely {
                    self.note_lacking(twin, name);
                }
            }
        }
    }

    /// The facts of a tensor changed without a write, so they are joined with the facts of the
    /// objects that may be the same tensor.
    pub(super) fn touch_facts(&mut self, id: ObjId) {
        for twin in self.twins(id) {
            if let (Data::Tensor(one), Data::Tensor(other)) = (self.get(twin), self.get(id)) {
                let joined = Tensor {
                    base: one.base,
                    version: one.version,
                    writes: one.writes,
                    ..join_tensor(one, other, false, None)
                };
                *self.write(twin) = Data::Tensor(joined);
            }
        }
    }

    /// The memory of a tensor was written to; `facts` are its new facts.
    pub(super) fn touch_tensor(&mut self, id: ObjId, facts: &Tensor) {
        for twin in self.twins(id) {
            let Data::Tensor(tensor) = self.get(twin) else { continue };
            // The write to a view is counted for its memory, and must not be counted twice.
            if self.memory_of(twin) == self.memory_of(id) && tensor.sizes() == facts.sizes() {
                continue;
            }
            let mut changed = tensor.clone();
            changed.forget_values();
            if changed.sizes() != facts.sizes() {
                changed.shape = None;
                changed.trailing = std::rc::Rc::default();
            }
            self.overwrite_one(twin, changed);
        }
        // A write through a view is also a write to the objects that its base tensor may be.
        for twin in self.base_of(id).map(|base| self.twins(base)).unwrap_or_default() {
            let Data::Tensor(tensor) = self.get(twin) else { continue };
            if self.memory_of(twin) == self.memory_of(id) {
                continue;
            }
            let mut changed = tensor.clone();
            changed.forget_values();
            self.overwrite_one(twin, changed);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::value::{Data, Heap, Range, Tensor, Value, join};

    #[test]
    fn a_write_to_one_of_two_tensors_is_seen_in_both() {
        let mut heap = Heap::new();
        let known = |hi: f64| Tensor { range: Some(Range::attained(0.0, hi)), ..Tensor::default() };
        let a = heap.alloc(Data::Tensor(known(1.0)));
        let b = heap.alloc(Data::Tensor(known(2.0)));
        let either = join(&mut heap, &Value::Obj(a), &Value::Obj(b), false);
        let Value::Obj(either) = either else { panic!("a tensor") };
        heap.overwrite(either, known(9.0));
        assert!(heap.tensor_of(&Value::Obj(a)).is_some_and(|tensor| tensor.range.is_none()));
        heap.overwrite(b, known(3.0));
        assert!(heap.tensor_of(&Value::Obj(either)).is_some_and(|tensor| tensor.range.is_none()));
    }
}
