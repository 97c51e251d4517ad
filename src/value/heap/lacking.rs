//! Attributes that an instance has on some of the joined paths, but not on others.
//!
//! Reading such an attribute returns its value on the paths that have it; `hasattr` and `getattr`
//! with a default check whether it may be missing.

use super::{Heap, names_of};
use crate::value::{Attrs, Data, Instance, ObjId, Sym, Value, sym};

/// The last character of a mark, which is the name of an attribute that may be missing on some
/// path, plus this character. No Python attribute has such a name.
const MARK: char = '?';

/// The name under which an instance notes that an attribute may be missing on some path.
pub(in crate::value) fn mark_of(name: Sym) -> Sym {
    sym(&format!("{name}{MARK}"))
}

/// Whether a name was made by [`mark_of`].
pub(crate) fn is_mark(name: Sym) -> bool {
    name.as_str().ends_with(MARK)
}

impl Heap {
    /// Whether an attribute of an instance may be missing on some path.
    pub(crate) fn may_lack(&self, id: ObjId, name: Sym) -> bool {
        self.lacking && names_of(self.get(id)).is_some_and(|names| names.contains_key(&mark_of(name)))
    }

    /// Whether missing attributes are tracked: only for instances of program classes.
    pub(super) fn follows_presence(&self, id: ObjId) -> bool {
        matches!(self.get(id), Data::Instance(Instance { class: Value::Obj(_), .. }))
    }

    /// Notes that an attribute may be missing on some path.
    pub(super) fn note_lacking(&mut self, id: ObjId, name: Sym) {
        if self.follows_presence(id) && !is_mark(name) {
            self.lacking = true;
            self.bind_one(id, mark_of(name), Some(Value::Bool(true)));
        }
    }

    /// Gives an instance an attribute of unknown value that may be missing.
    pub(crate) fn may_have(&mut self, id: ObjId, name: Sym) {
        self.set_attr(id, name.as_str(), Value::Unknown);
        self.note_lacking(id, name);
    }

    /// Like [`Heap::note_lacking`], but writes the mark to `attrs`, the result of a join.
    pub(in crate::value) fn note_lacking_in(&mut self, attrs: &mut Attrs, name: Sym) {
        if !is_mark(name) {
            self.lacking = true;
            attrs.insert(mark_of(name), Value::Bool(true));
        }
    }

    /// Makes unknown the attributes that may be missing; they may still be missing.
    pub(crate) fn forget_lacking(&mut self, id: ObjId) {
        let Some(names) = names_of(self.get(id)) else { return };
        let names: Vec<Sym> = names.keys().copied().filter(|name| self.may_lack(id, *name)).collect();
        for name in names {
            self.bind_one(id, name, Some(Value::Unknown));
        }
    }

    /// An attribute has been set or deleted, so it is now known whether the attribute is missing.
    pub(super) fn decide_presence(&mut self, id: ObjId, name: Sym) {
        if self.may_lack(id, name) {
            self.bind_one(id, mark_of(name), None);
        }
    }
}
