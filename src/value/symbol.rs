use std::cell::RefCell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{LazyLock, Mutex};

use rustc_hash::{FxHashMap, FxHashSet};

/// An interned name or dotted path: compared and hashed by address.
///
/// The text lives as long as the process; what is interned is bounded by the distinct names
/// of the sources and library tables read.
#[derive(Clone, Copy)]
pub struct Sym(&'static str);

impl Sym {
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

impl PartialEq for Sym {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0.as_ptr(), other.0.as_ptr()) && self.0.len() == other.0.len()
    }
}

impl Eq for Sym {}

impl Hash for Sym {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.0.as_ptr() as usize).hash(state);
    }
}

impl fmt::Debug for Sym {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl fmt::Display for Sym {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

static ALL: LazyLock<Mutex<FxHashSet<&'static str>>> = LazyLock::new(Mutex::default);

thread_local! {
    /// Saves the lock for every name but a thread's first sight of it.
    static SEEN: RefCell<FxHashMap<&'static str, Sym>> = RefCell::default();
}

/// Interns a text.
pub fn sym(text: &str) -> Sym {
    SEEN.with_borrow_mut(|seen| {
        if let Some(found) = seen.get(text) {
            return *found;
        }
        let mut all = ALL.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let stored: &'static str = match all.get(text) {
            Some(stored) => stored,
            None => {
                let leaked: &'static str = Box::leak(text.to_owned().into_boxed_str());
                all.insert(leaked);
                leaked
            }
        };
        seen.insert(stored, Sym(stored));
        Sym(stored)
    })
}
