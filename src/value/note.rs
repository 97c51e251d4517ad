//! Notes that libraries and rules keep on a run and on its objects.
//!
//! A note has a [`Topic`] (a constant of the module that writes the note) and a subject. On the
//! heap, a note is stored like an attribute, but under a name that is interned separately: it
//! differs from every name of a program, and is never parsed.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{LazyLock, Mutex, PoisonError};

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::{ObjId, Sym};

/// A kind of note. Modules that share a note use the same text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Topic(&'static str);

impl Topic {
    pub(crate) const fn new(name: &'static str) -> Topic {
        Topic(name)
    }

    /// A note on this topic about a subject.
    pub(crate) fn of(self, about: impl Into<About>) -> Note {
        Note { topic: self, about: about.into() }
    }
}

/// The subject of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum About {
    /// The run as a whole.
    Run,
    Object(ObjId),
    Name(Sym),
    /// A name of a scope, or an attribute of an object.
    Member(ObjId, Sym),
}

/// The key of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Note {
    pub topic: Topic,
    pub about: About,
}

impl From<Topic> for Note {
    fn from(topic: Topic) -> Note {
        Note { topic, about: About::Run }
    }
}

impl From<ObjId> for About {
    fn from(object: ObjId) -> About {
        About::Object(object)
    }
}

impl From<Sym> for About {
    fn from(name: Sym) -> About {
        About::Name(name)
    }
}

impl From<(Option<ObjId>, Sym)> for About {
    fn from((owner, name): (Option<ObjId>, Sym)) -> About {
        owner.map_or(About::Name(name), |owner| About::Member(owner, name))
    }
}

/// A rule state: the sequence of notes that led to it, often a single one.
pub(crate) type State = Rc<[Note]>;

static ALL: LazyLock<Mutex<FxHashMap<Note, Sym>>> = LazyLock::new(Mutex::default);

thread_local! {
    /// A cache for each thread, so that only the first use of a note takes the lock.
    static SEEN: RefCell<FxHashMap<Note, Sym>> = const { RefCell::new(FxHashMap::with_hasher(FxBuildHasher)) };
}

impl Note {
    /// The name of the note on the heap: always the same, and unusable in a program.
    pub(super) fn key(self) -> Sym {
        let intern = || {
            let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
            *all.entry(self).or_insert_with(|| Sym::apart(format!("{} {:?}", self.topic.0, self.about)))
        };
        SEEN.with_borrow_mut(|seen| *seen.entry(self).or_insert_with(intern))
    }
}
