use std::cell::RefCell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{LazyLock, Mutex};

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

/// An interned name or dotted path: compared and hashed by address.
///
/// The text lives as long as the process. Most interned texts are names in the sources and in
/// the library tables, so their number stays small.
#[derive(Clone, Copy)]
pub(crate) struct Sym(&'static str);

impl Sym {
    pub(crate) fn as_str(self) -> &'static str {
        self.0
    }

    /// A name that differs from every other, even from one with the same text; it lives as long as
    /// the process.
    pub(super) fn apart(text: String) -> Sym {
        Sym(Box::leak(text.into_boxed_str()))
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

impl Ord for Sym {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(other.0)
    }
}

impl PartialOrd for Sym {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
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

/// A cache for each thread, so that only the first use of a name takes the lock.
struct Seen {
    /// Short strings, found by their bytes without access to the stored string.
    short: FxHashMap<Short, Sym>,
    long: FxHashMap<&'static str, Sym>,
    dotted: FxHashMap<(Sym, Sym), Sym>,
}

thread_local! {
    static SEEN: RefCell<Seen> = const {
        RefCell::new(Seen {
            short: FxHashMap::with_hasher(FxBuildHasher),
            long: FxHashMap::with_hasher(FxBuildHasher),
            dotted: FxHashMap::with_hasher(FxBuildHasher),
        })
    };
}

/// A text of at most 16 bytes: its leading and its trailing bytes (which may overlap), and its
/// length.
#[derive(PartialEq, Eq, Hash, Clone, Copy)]
struct Short(u64, u64, usize);

impl Short {
    fn of(text: &str) -> Option<Short> {
        let bytes = text.as_bytes();
        let (head, tail) = match bytes.len() {
            0..4 => (bytes.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)), 0),
            4..8 => (u32::from_le_bytes(*bytes.first_chunk()?).into(), u32::from_le_bytes(*bytes.last_chunk()?).into()),
            8..=16 => (u64::from_le_bytes(*bytes.first_chunk()?), u64::from_le_bytes(*bytes.last_chunk()?)),
            _ => return None,
        };
        Some(Short(head, tail, bytes.len()))
    }
}

/// Interns a text.
pub(crate) fn sym(text: &str) -> Sym {
    SEEN.with_borrow_mut(|seen| match Short::of(text) {
        Some(short) => *seen.short.entry(short).or_insert_with(|| intern(text)),
        None => match seen.long.get(text) {
            Some(found) => *found,
            None => {
                let new = intern(text);
                seen.long.insert(new.0, new);
                new
            }
        },
    })
}

/// `path.name`
pub(crate) fn dotted(path: Sym, name: Sym) -> Sym {
    let seen = SEEN.with_borrow(|seen| seen.dotted.get(&(path, name)).copied());
    seen.unwrap_or_else(|| {
        let whole = sym(&format!("{path}.{name}"));
        SEEN.with_borrow_mut(|seen| seen.dotted.insert((path, name), whole));
        whole
    })
}

fn intern(text: &str) -> Sym {
    let mut all = ALL.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    match all.get(text) {
        Some(stored) => Sym(stored),
        None => {
            let leaked: &'static str = Box::leak(text.to_owned().into_boxed_str());
            all.insert(leaked);
            Sym(leaked)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{dotted, sym};

    #[test]
    fn the_same_text_is_the_same_symbol() {
        let texts = ["", "a", "ab", "abc", "abcd", "abcdefg", "abcdefgh", "abcdefghijklmnop", "abcdefghijklmnopq"];
        for (i, a) in texts.iter().enumerate() {
            for (j, b) in texts.iter().enumerate() {
                assert_eq!(sym(a) == sym(&String::from(*b)), i == j);
            }
            assert_eq!(sym(a).as_str(), *a);
        }
        assert_eq!(dotted(sym("torch"), sym("nn")), sym("torch.nn"));
    }
}
