//! The values that are overwritten while the body of a `try` runs. An exception may be raised
//! between two writes to the same place, so a handler may see any earlier value of this place.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::forget::forgotten;
use super::{Heap, trail::Mark};
use crate::value::join::{join, join_data};
use crate::value::{Data, ObjId, Sym, Value};

/// The largest number of values stored for a place; with more, the place becomes unknown.
const MOST: usize = 4;

/// The values of names and objects that were overwritten since the journal was started.
#[derive(Default)]
pub(crate) struct Journal {
    /// The number of objects on the heap when the journal was started.
    older: usize,
    /// The values of each name; `None` if there are too many.
    names: FxHashMap<(ObjId, Sym), Option<Vec<Value>>>,
    /// The states of each object; `None` if there are too many.
    objects: FxHashMap<ObjId, Option<Vec<Rc<Data>>>>,
}

impl Journal {
    /// Whether nothing was overwritten.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty() && self.objects.is_empty()
    }

    pub(super) fn overwrites(&mut self, id: ObjId, data: &Rc<Data>) {
        // Code outside the `try` is assumed not to read the names of scopes that were created
        // inside it.
        if id.is_among_first(self.older) || !matches!(**data, Data::Scope(_)) {
            let old = self.objects.entry(id).or_insert_with(|| Some(Vec::new()));
            keep(old, data, Rc::ptr_eq);
        }
    }

    pub(super) fn overwrites_name(&mut self, id: ObjId, name: Sym, value: &Value, is_scope: bool) {
        if id.is_among_first(self.older) || !is_scope {
            let old = self.names.entry((id, name)).or_insert_with(|| Some(Vec::new()));
            keep(old, value, crate::value::equal::identical);
        }
    }
}

fn keep<T: Clone>(old: &mut Option<Vec<T>>, value: &T, same: impl Fn(&T, &T) -> bool) {
    let Some(values) = old else { return };
    if values.iter().any(|have| same(have, value)) {
        return;
    }
    if values.len() >= MOST {
        *old = None;
    } else {
        values.push(value.clone());
    }
}

impl Heap {
    /// Begins a journal of overwritten values. Journals nest.
    pub(crate) fn begin_journal(&mut self) {
        let older = self.len();
        self.journals.push(Journal { older, ..Journal::default() });
    }

    /// Ends the innermost journal; its values are also added to the enclosing one.
    pub(crate) fn end_journal(&mut self) -> Journal {
        let journal = self.journals.pop().unwrap_or_default();
        if let Some(outer) = self.journals.last_mut() {
            for ((id, name), values) in &journal.names {
                match values {
                    Some(values) => values.iter().for_each(|value| outer.overwrites_name(*id, *name, value, false)),
                    None => _ = outer.names.insert((*id, *name), None),
                }
            }
            for (id, values) in &journal.objects {
                match values {
                    Some(values) => values.iter().for_each(|data| outer.overwrites(*id, data)),
                    None => _ = outer.objects.insert(*id, None),
                }
            }
        }
        journal
    }

    /// Stops recording until [`Heap::resume_journals`].
    pub(crate) fn pause_journals(&mut self) -> Vec<Journal> {
        std::mem::take(&mut self.journals)
    }

    pub(crate) fn resume_journals(&mut self, journals: Vec<Journal>) {
        self.journals = journals;
    }

    /// Joins the current state with every value in the journal.
    pub(crate) fn blend_journal(&mut self, journal: &Journal) {
        for ((id, name), values) in &journal.names {
            let Some(now) = super::names_of(self.get(*id)).and_then(|names| names.get(name)).cloned() else { continue };
            let joined = match values {
                Some(values) => values.iter().fold(now, |now, value| join(self, &now, value, false)),
                None => Value::Unknown,
            };
            self.bind_one(*id, *name, Some(joined));
        }
        for (id, values) in &journal.objects {
            let now = self.share(*id);
            let joined = match values {
                Some(values) => values.iter().try_fold(now, |now, data| self.blended(&now, data)),
                None => None,
            };
            let joined = joined.unwrap_or_else(|| Rc::new(forgotten(self.get(*id), self.get(*id))));
            self.put(*id, joined);
        }
    }

    /// Joins the current state with the state at the mark, because it is not certain that the
    /// changes since then have happened.
    pub(crate) fn blend_since(&mut self, mark: Mark) {
        for (id, name, before) in self.names_since(mark) {
            let Some(now) = super::names_of(self.get(id)).and_then(|names| names.get(&name)).cloned() else { continue };
            let joined = join(self, &now, &before, false);
            self.bind_one(id, name, Some(joined));
        }
        for (id, before) in self.objects_since(mark) {
            let now = self.share(id);
            let joined = self.blended(&now, &before).unwrap_or_else(|| Rc::new(forgotten(&before, &now)));
            self.put(id, joined);
        }
    }

    fn blended(&mut self, now: &Rc<Data>, before: &Rc<Data>) -> Option<Rc<Data>> {
        if Rc::ptr_eq(now, before) {
            return Some(now.clone());
        }
        Some(Rc::new(join_data(self, now, before, false)))
    }
}
