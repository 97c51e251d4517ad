//! What libraries and rules note of a run and of its objects.
//!
//! Whoever notes something names it by a [`Topic`], a constant of its own room, and says what it is
//! about. On the heap a note is kept like an attribute, but under a name of its own: interned apart
//! from all texts, it equals no name of a program, and nothing is parsed back from it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{LazyLock, Mutex, PoisonError};

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::{ObjId, Sym};

/// A kind of note. Two rooms that speak of the same thing use the same text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Topic(&'static str);

impl Topic {
    pub(crate) const fn new(name: &'static str) -> Topic {
        Topic(name)
    }

    /// A note on this topic about one thing of several.
    pub(crate) fn of(self, about: impl Into<About>) -> Note {
        Note { topic: self, about: about.into() }
    }
}

/// What a note is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum About {
    /// The run as a whole.
    Run,
    Object(ObjId),
    Name(Sym),
    /// A name of a scope, or an attribute of an object.
    Member(ObjId, Sym),
}

/// Under what something is noted.
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

/// A state in which a rule knows something to be: one note, or what led to it in order.
pub(crate) type State = Rc<[Note]>;

static ALL: LazyLock<Mutex<FxHashMap<Note, Sym>>> = LazyLock::new(Mutex::default);

thread_local! {
    /// What a thread has seen: saves the lock for every note but the first sight of it.
    static SEEN: RefCell<FxHashMap<Note, Sym>> = const { RefCell::new(FxHashMap::with_hasher(FxBuildHasher)) };
}

impl Note {
    /// The name under which it is kept: always the same, and no program's.
    pub(super) fn key(self) -> Sym {
        let intern = || {
            let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
            *all.entry(self).or_insert_with(|| Sym::apart(format!("{} {:?}", self.topic.0, self.about)))
        };
        SEEN.with_borrow_mut(|seen| *seen.entry(self).or_insert_with(intern))
    }
}
