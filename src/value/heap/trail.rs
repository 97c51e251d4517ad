//! Marks: states of the heap that can be restored; deltas: the changes since a mark; and joins of
//! deltas.

use std::ops::Deref;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::lacking::{is_mark, mark_of};
use super::{Heap, names_mut, names_of, writes_in};
use crate::value::equal::{DEPTH, identical, same, same_data};
use crate::value::join::{join as join_values, join_data, side_by_side};
use crate::value::{Data, ObjId, Sym, Tensor, Value};

/// An older state, to be restored later.
pub(super) enum Saved {
    Whole {
        id: ObjId,
        data: Rc<Data>,
        stamp: u32,
    },
    /// One name of a scope or instance.
    Name {
        id: ObjId,
        name: Sym,
        value: Option<Value>,
    },
}

impl Saved {
    fn id(&self) -> ObjId {
        match self {
            Saved::Whole { id, .. } | Saved::Name { id, .. } => *id,
        }
    }
}

/// A moment in the history of the heap.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    trail: usize,
    /// The number of objects.
    objects: usize,
}

/// How an object differs from its state at a mark.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Whole(Rc<Data>),
    /// Some names of a scope or instance.
    Names(Vec<(Sym, Option<Value>)>),
}

/// A state to which the heap can return.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    trail: usize,
    outer_serial: u32,
    /// The number of marks that were open before this one.
    depth: usize,
}

/// The changes of the heap since a mark, on one path.
#[derive(Debug, Clone, Default)]
pub(crate) struct Delta {
    changes: Vec<(ObjId, Change)>,
    /// The objects that the path created, as ranges of their numbers.
    made: Vec<(usize, usize)>,
}

impl Delta {
    /// The delta of a path without changes.
    pub(crate) fn new() -> Delta {
        Delta::default()
    }

    fn has(&self, id: ObjId) -> bool {
        self.made.iter().any(|(from, to)| !id.is_among_first(*from) && id.is_among_first(*to))
    }
}

impl Deref for Delta {
    type Target = [(ObjId, Change)];

    fn deref(&self) -> &Self::Target {
        &self.changes
    }
}

/// The record of an open mark.
pub(super) struct Open {
    /// The number of objects at the mark.
    older: usize,
    /// The serial number of the last delta relative to the mark; 0 if there is none.
    kept: u32,
    /// The objects created after the mark and before `since` that exist on the current path, as
    /// ranges of their numbers.
    made: Vec<(usize, usize)>,
    /// All objects from this number on exist on the current path, too.
    since: usize,
}

impl Heap {
    /// Opens a mark: a state to return to. Marks nest: each is ended by [`Heap::release`].
    pub(crate) fn mark(&mut self) -> Mark {
        self.next_serial += 1;
        let mark = Mark { trail: self.trail.len(), outer_serial: self.serial, depth: self.open.len() };
        self.serial = self.next_serial;
        let older = self.len();
        self.open.push(Open { older, kept: 0, made: Vec::new(), since: older });
        mark
    }

    /// The current moment, for [`Heap::keep_made_since`].
    pub(crate) fn moment(&self) -> Moment {
        Moment { trail: self.trail.len(), objects: self.len() }
    }

    /// What was created since the moment stays as it is now, whatever the open marks undo: a module runs only once,
    /// although it is imported in a call that is undone.
    pub(crate) fn keep_made_since(&mut self, moment: Moment) {
        let since = self.trail.split_off(moment.trail.min(self.trail.len()));
        self.trail.extend(since.into_iter().filter(|saved| saved.id().is_among_first(moment.objects)));
        for slot in self.slots.iter_mut().skip(moment.objects) {
            // The next write saves this state.
            slot.stamp = 0;
        }
    }

    /// The changes since the mark. From now on, writes to objects that were created since the mark
    /// are also saved, because the delta contains these objects.
    pub(crate) fn delta(&mut self, mark: Mark) -> Delta {
        let changes = self.changes(mark);
        self.next_serial += 1;
        self.serial = self.next_serial;
        let (serial, len) = (self.serial, self.len());
        let mut made = Vec::new();
        if let Some(open) = self.open.get_mut(mark.depth) {
            open.kept = serial;
            made.clone_from(&open.made);
            if open.since < len {
                made.push((open.since, len));
            }
        }
        Delta { changes, made }
    }

    fn changes(&self, mark: Mark) -> Vec<(ObjId, Change)> {
        let since = self.trail.get(mark.trail..).unwrap_or_default();
        // Sorted by object, then in the order of writing; `None` means the whole object.
        let mut written: Vec<(ObjId, usize, Option<Sym>)> = since
            .iter()
            .enumerate()
            .map(|(at, saved)| match saved {
                Saved::Whole { id, .. } => (*id, at, None),
                Saved::Name { id, name, .. } => (*id, at, Some(*name)),
            })
            .collect();
        written.sort_unstable_by_key(|(id, at, _)| (*id, *at));
        written
            .chunk_by(|a, b| a.0 == b.0)
            .filter_map(|writes| {
                let id = writes.first()?.0;
                let data = &self.slot(id).data;
                let mut names: Vec<Sym> = Vec::with_capacity(writes.len());
                let mut seen = FxHashSet::default();
                for (.., name) in writes {
                    let Some(name) = name else { return Some((id, Change::Whole(data.clone()))) };
                    let new = if writes.len() > 16 { seen.insert(*name) } else { !names.contains(name) };
                    if new {
                        names.push(*name);
                    }
                }
                let now = names_of(data)?;
                Some((id, Change::Names(names.into_iter().map(|name| (name, now.get(&name).cloned())).collect())))
            })
            .collect()
    }

    /// Returns to the state at the mark, which stays open.
    pub(crate) fn undo(&mut self, mark: Mark) {
        let len = self.len();
        if let Some(open) = self.open.get_mut(mark.depth) {
            open.made.clear();
            open.since = len;
        }
        while self.trail.len() > mark.trail {
            match self.trail.pop() {
                Some(Saved::Whole { id, data, stamp }) => {
                    let slot = &mut self.slots[id.0 as usize];
                    slot.data = data;
                    slot.stamp = stamp;
                }
                Some(Saved::Name { id, name, value }) => {
                    let slot = &mut self.slots[id.0 as usize];
                    let Some(names) = names_mut(Rc::make_mut(&mut slot.data)) else { continue };
                    match value {
                        Some(value) => _ = names.insert(name, value),
                        // Usually, the name is the last one.
                        None if names.last().is_some_and(|(last, _)| *last == name) => _ = names.pop(),
                        None => _ = names.shift_remove(&name),
                    }
                }
                None => {}
            }
        }
    }

    /// For each name that was bound at the mark and has been written since: its value at the mark.
    pub(super) fn names_since(&self, mark: Mark) -> Vec<(ObjId, Sym, Value)> {
        let mut seen = FxHashSet::default();
        let since = self.trail.get(mark.trail..).unwrap_or_default();
        let name = |saved: &Saved| match saved {
            Saved::Name { id, name, value } => seen.insert((*id, *name)).then(|| Some((*id, *name, value.clone()?)))?,
            Saved::Whole { .. } => None,
        };
        since.iter().filter_map(name).collect()
    }

    /// For each object that has been replaced as a whole since the mark: its state at the mark.
    pub(super) fn objects_since(&self, mark: Mark) -> Vec<(ObjId, Rc<Data>)> {
        let mut seen = FxHashSet::default();
        let since = self.trail.get(mark.trail..).unwrap_or_default();
        let object = |saved: &Saved| match saved {
            Saved::Whole { id, data, .. } => seen.insert(*id).then(|| (*id, data.clone())),
            Saved::Name { .. } => None,
        };
        since.iter().filter_map(object).collect()
    }

    /// Ends the mark and keeps the current state.
    pub(crate) fn release(&mut self, mark: Mark) {
        self.open.truncate(mark.depth);
        self.serial = self.open.iter().fold(mark.outer_serial, |serial, open| serial.max(open.kept));
        if self.serial == 0 {
            self.trail.truncate(mark.trail);
        }
    }

    /// Brings the heap from the state at a mark to the state of a delta relative to this mark.
    pub(crate) fn apply(&mut self, delta: &Delta) {
        self.adopt(delta);
        for (id, change) in delta.iter() {
            match change {
                Change::Whole(data) => self.put(*id, data.clone()),
                Change::Names(names) => {
                    for (name, value) in names {
                        self.bind_one(*id, *name, value.clone());
                    }
                }
            }
        }
    }

    /// Notes that the objects which a path created also exist on the current path.
    pub(super) fn adopt(&mut self, delta: &Delta) {
        let Some(open) = self.open.last_mut() else { return };
        for range in &delta.made {
            match open.made.iter_mut().find(|(from, to)| *from <= range.1 && range.0 <= *to) {
                Some((from, to)) => (*from, *to) = ((*from).min(range.0), (*to).max(range.1)),
                None => open.made.push(*range),
            }
        }
    }

    /// Brings the heap from the state at the mark to the join of the states of the deltas. With
    /// `widen`, facts that differ become unknown at once. Returns whether the join differs from the
    /// first of these states.
    pub(crate) fn join(&mut self, deltas: &[Delta], widen: bool) -> bool {
        self.join_taken(deltas, widen, false)
    }

    /// Like [`Heap::join`]. If `apart` is true, the rule states of the paths are stored separately
    /// ([`Value::Fates`]); it is set only if every path is assumed to run again in later rounds. If a path already has
    /// several states, states that differ between the paths become unknown, because the conditions
    /// may depend on each other.
    pub(crate) fn join_taken(&mut self, deltas: &[Delta], widen: bool, apart: bool) -> bool {
        if let [only] = deltas {
            self.apply(only);
            return false;
        }
        for delta in deltas {
            self.adopt(delta);
        }
        let older = self.open.last().map_or(0, |open| open.older);
        let mut ids: Vec<ObjId> = deltas.iter().flat_map(|delta| delta.iter()).map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids.dedup();
        // If the object was created on some of the paths, only these take part in its join. If it
        // is older than the mark, all paths do.
        let changes_of = |id: ObjId| -> Vec<Option<&Change>> {
            let is_there = |delta: &&Delta| id.is_among_first(older) || delta.has(id);
            deltas
                .iter()
                .map(|delta| (change_of(delta, id), delta))
                .filter(|(change, delta)| change.is_some() || is_there(delta))
                .map(|(change, _)| change)
                .collect()
        };
        self.visited += ids.len() as u64;
        // An object that is alike on all its paths, such as one that only one path creates, needs no join of others.
        let (alike, different): (Vec<_>, Vec<_>) =
            ids.into_iter().map(|id| (id, changes_of(id))).partition(|(_, changes)| are_alike(changes));
        let mut changed = false;
        for (id, changes) in alike {
            changed |= self.join_object(id, &changes, widen, apart);
        }
        let mut different: FxHashMap<ObjId, Vec<Option<&Change>>> = different.into_iter().collect();
        for id in self.begin_join(different.keys().copied().collect()) {
            changed |= self.join_object(id, &different.remove(&id).unwrap_or_default(), widen, apart);
            self.end_join(id);
        }
        changed
    }

    fn join_object(&mut self, id: ObjId, changes: &[Option<&Change>], widen: bool, apart: bool) -> bool {
        if changes.iter().any(|change| matches!(change, Some(Change::Whole(_)))) {
            self.join_whole(id, changes, widen)
        } else {
            self.join_names(id, changes, widen, apart)
        }
    }

    /// The order in which objects are joined: a value that refers to an object needs that object's
    /// join first. An object that is read before its own join is unknown.
    pub(super) fn begin_join(&mut self, mut ids: Vec<ObjId>) -> Vec<ObjId> {
        ids.sort_unstable_by_key(|id| (rank(self.get(*id)), *id));
        ids.dedup();
        for id in &ids {
            self.slots[id.0 as usize].unjoined = true;
        }
        ids
    }

    pub(super) fn end_join(&mut self, id: ObjId) {
        self.slots[id.0 as usize].unjoined = false;
    }

    /// Joins the states of an object. Returns whether the join differs from the first state.
    fn join_whole(&mut self, id: ObjId, changes: &[Option<&Change>], widen: bool) -> bool {
        let base = self.slot(id).data.clone();
        let is_new = !id.is_among_first(self.open.last().map_or(0, |open| open.older));
        let mut merged: Option<Rc<Data>> = None;
        let mut changed = false;
        for change in changes {
            let version = changed_by(&base, *change);
            merged = Some(match merged {
                None => version,
                Some(have) if Rc::ptr_eq(&have, &version) => have,
                Some(have) => {
                    let joined = join_data(self, &have, &version, widen);
                    let differs = !same_data(self, &joined, &have, DEPTH);
                    if matches!(joined, Data::List(_)) {
                        self.join_emptiness(id, [(id, &have), (id, &version)]);
                    }
                    // A round of a loop may make a view, to whose memory the next round writes. That this makes the number
                    // of writes unsure would be a change in every round.
                    changed |= differs && !(is_new && differs_in_surety(self, &joined, &have));
                    // The number of writes must grow, so that the facts of views and masks from
                    // before the last write are not treated as current.
                    if differs || writes_in(&joined) > writes_in(&have) { Rc::new(joined) } else { have }
                }
            });
        }
        let Some(merged) = merged else { return false };
        if !Rc::ptr_eq(&merged, &base) {
            self.put(id, merged);
        }
        changed
    }

    /// Joins the names of a scope or instance that some path changed. For a name that only one path
    /// binds, the other path contributes the value in the class. If the class has none, the name
    /// keeps its value, because reading it on the other path would raise.
    fn join_names(&mut self, id: ObjId, changes: &[Option<&Change>], widen: bool, apart: bool) -> bool {
        let mut written: Vec<Sym> = Vec::new();
        let mut seen = FxHashSet::default();
        let lists: Vec<&[(Sym, Option<Value>)]> = changes
            .iter()
            .map(|change| match change {
                Some(Change::Names(names)) => names.as_slice(),
                _ => &[],
            })
            .collect();
        let many = lists.iter().map(|names| names.len()).sum::<usize>() > 16;
        for (name, _) in lists.iter().copied().flatten() {
            let new = if many { seen.insert(*name) } else { !written.contains(name) };
            if new {
                written.push(*name);
            }
        }
        let class = self.class_of(id);
        let follows_presence = self.follows_presence(id);
        let mut lacking: Vec<Sym> = Vec::new();
        let mut changed = false;
        for (at, name) in written.into_iter().enumerate() {
            let base = names_of(self.get(id)).and_then(|names| names.get(&name)).cloned();
            let mut merged: Option<Value> = None;
            // Usually, the paths write the same names in the same order.
            let own = |names: &'_ [(Sym, Option<Value>)]| match names.get(at) {
                Some((here, value)) if *here == name => Some(value.clone()),
                _ => names.iter().find(|(have, _)| *have == name).map(|(_, value)| value.clone()),
            };
            let versions = lists.iter().map(|names| own(names).unwrap_or_else(|| base.clone()));
            let mut versions: Vec<Option<Value>> = versions.collect();
            if apart && let Some(fates) = side_by_side(&versions) {
                changed = true;
                self.bind_one(id, name, Some(fates));
                continue;
            }
            let only_some = versions.iter().any(Option::is_none) && versions.iter().any(Option::is_some);
            // On the paths where a class does not have an attribute, its base class may have it.
            if only_some && matches!(self.get(id), Data::Class(_)) {
                changed |= versions.first().is_some_and(Option::is_none);
                versions
                    .iter_mut()
                    .filter(|version| version.is_none())
                    .for_each(|version| *version = Some(Value::Unknown));
            } else if only_some
                && let Some(class) = &class
                && let Some(inherited) = self.inherited(class, name)
            {
                changed |= versions.first().is_some_and(Option::is_none);
                for version in versions.iter_mut().filter(|version| version.is_none()) {
                    *version = Some(inherited.clone());
                }
            }
            if follows_presence
                && versions.iter().any(Option::is_none)
                && versions.iter().any(Option::is_some)
                && !is_mark(name)
            {
                lacking.push(name);
            }
            for (place, version) in versions.iter().enumerate() {
                match (&merged, version) {
                    (_, None) => {}
                    (None, Some(value)) => {
                        changed |= place > 0;
                        merged = Some(value.clone());
                    }
                    (Some(have), Some(value)) if identical(have, value) => {}
                    (Some(have), Some(value)) => {
                        let joined = join_values(self, have, value, widen);
                        changed |= !same(self, &joined, have);
                        merged = Some(joined);
                    }
                }
            }
            let kept = match (&merged, &base) {
                (Some(merged), Some(base)) => identical(merged, base),
                (None, None) => true,
                _ => false,
            };
            if !kept {
                self.bind_one(id, name, merged);
            }
        }
        for name in lacking {
            let first = lists.first().and_then(|names| names.iter().find(|(have, _)| *have == mark_of(name)));
            changed |= first.map_or_else(|| !self.may_lack(id, name), |(_, value)| value.is_none());
            self.note_lacking(id, name);
        }
        changed
    }

    /// Whether a note of an instance has separate states of several paths.
    pub(crate) fn has_fates_apart(&self, id: ObjId) -> bool {
        let apart = |value: &Value| matches!(value, Value::Fates(fates) if fates.len() > 1);
        names_of(self.get(id)).is_some_and(|names| names.values().any(apart))
    }
}

/// Whether an object is in the same state after all these changes.
fn are_alike(changes: &[Option<&Change>]) -> bool {
    let Some((first, rest)) = changes.split_first() else { return true };
    rest.iter().all(|change| match (first, change) {
        (None, None) => true,
        (Some(Change::Whole(a)), Some(Change::Whole(b))) => Rc::ptr_eq(a, b),
        (Some(Change::Names(a)), Some(Change::Names(b))) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|((x, v), (y, w))| {
                    x == y
                        && match (v, w) {
                            (Some(v), Some(w)) => identical(v, w),
                            _ => v.is_none() && w.is_none(),
                        }
                })
        }
        _ => false,
    })
}

/// An object after a change; `base` is its state at the mark.
pub(super) fn changed_by(base: &Rc<Data>, change: Option<&Change>) -> Rc<Data> {
    match change {
        None => base.clone(),
        Some(Change::Whole(data)) => data.clone(),
        Some(Change::Names(names)) => {
            let mut data = Data::clone(base);
            if let Some(have) = names_mut(&mut data) {
                for (name, value) in names {
                    match value {
                        Some(value) => _ = have.insert(*name, value.clone()),
                        None => _ = have.shift_remove(name),
                    }
                }
            }
            Rc::new(data)
        }
    }
}

/// The order of kinds in a join: objects that others usually refer to come first.
fn rank(data: &Data) -> u8 {
    match data {
        Data::Tensor(_) => 0,
        Data::List(_) | Data::Set(_) | Data::Dict(_) | Data::Iter(_) => 1,
        Data::Function(_) | Data::Class(_) | Data::Module { .. } => 2,
        Data::Instance(_) => 3,
        Data::Scope(_) => 4,
    }
}

/// The change of an object in a delta.
pub(super) fn change_of(delta: &[(ObjId, Change)], id: ObjId) -> Option<&Change> {
    let at = delta.binary_search_by_key(&id, |(have, _)| *have).ok()?;
    delta.get(at).map(|(_, change)| change)
}

/// Whether two states of a tensor differ only in whether the number of writes is sure.
fn differs_in_surety(heap: &Heap, a: &Data, b: &Data) -> bool {
    let (Data::Tensor(x), Data::Tensor(y)) = (a, b) else { return false };
    x.unsure != y.unsure && same_data(heap, &Data::Tensor(Tensor { unsure: y.unsure, ..x.clone() }), b, DEPTH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Items, Scope, sym};

    /// `if …: x.append(2); y = x` and `else: y = [1]`.
    #[test]
    fn an_object_is_joined_in_its_state_on_each_path() {
        let mut heap = Heap::new();
        let vars = heap.alloc(Data::Scope(Scope::default()));
        let list = heap.alloc(Data::List(Items::Exact(vec![Value::Int(1)])));
        let mark = heap.mark();
        *heap.get_mut(list) = Data::List(Items::Exact(vec![Value::Int(1), Value::Int(2)]));
        heap.bind(vars, sym("y"), Some(Value::Obj(list)));
        let left = heap.delta(mark);
        heap.undo(mark);
        let other = heap.list(vec![Value::Int(1)]);
        heap.bind(vars, sym("y"), Some(other));
        let right = heap.delta(mark);
        heap.undo(mark);
        heap.join(&[left, right], false);
        heap.release(mark);
        let y = names_of(heap.get(vars)).and_then(|names| names.get(&sym("y"))).cloned();
        assert!(heap.exact_items(&y.unwrap()).is_none());
    }

    /// A call that is undone runs a module: `x = []`, and `if …: x.append(1)`.
    #[test]
    fn what_a_module_makes_stays() {
        let mut heap = Heap::new();
        let call = heap.mark();
        let moment = heap.moment();
        let list = heap.alloc(Data::List(Items::Exact(Vec::new())));
        let arm = heap.mark();
        *heap.get_mut(list) = Data::List(Items::Exact(vec![Value::Int(1)]));
        heap.release(arm);
        heap.keep_made_since(moment);
        *heap.get_mut(list) = Data::List(Items::Exact(vec![Value::Int(2)]));
        heap.undo(call);
        heap.release(call);
        assert_eq!(heap.exact_items(&Value::Obj(list)).map(|items| items[0].as_int()), Some(Some(1)));
    }

    #[test]
    fn branches_are_undone_and_joined() {
        let mut heap = Heap::new();
        let list = heap.alloc(Data::List(Items::Exact(vec![Value::Int(1)])));
        let mark = heap.mark();
        *heap.get_mut(list) = Data::List(Items::Exact(vec![Value::Int(2)]));
        let left = heap.delta(mark);
        heap.undo(mark);
        assert_eq!(heap.exact_items(&Value::Obj(list)).map(|v| v[0].as_int()), Some(Some(1)));
        let right = heap.delta(mark);
        assert!(right.is_empty());
        assert!(heap.join(&[left, right], false));
        heap.release(mark);
        let items = heap.exact_items(&Value::Obj(list)).unwrap_or_default();
        assert!(matches!(items.as_slice(), [Value::Ranged(both)] if both.range.parts() == [(1.0, 2.0)]));
    }

    /// A loop that ends with a `break` has created a list, which is used after the loop.
    #[test]
    fn an_object_newer_than_the_mark_is_joined_in_its_state_on_each_path() {
        let mut heap = Heap::new();
        let vars = heap.alloc(Data::Scope(Scope::default()));
        let mark = heap.mark();
        let list = heap.alloc(Data::List(Items::Exact(vec![Value::Int(1)])));
        heap.bind(vars, sym("x"), Some(Value::Obj(list)));
        let inner = heap.mark();
        let left = heap.delta(mark);
        heap.undo(inner);
        heap.release(inner);
        *heap.get_mut(list) = Data::List(Items::Exact(vec![Value::Int(1), Value::Int(2)]));
        let end = heap.delta(mark);
        heap.undo(mark);
        heap.join(&[left, end], false);
        heap.release(mark);
        assert!(heap.exact_items(&Value::Obj(list)).is_none());
    }
}
