//! The public names of modules and classes, as `data/names.txt` lists them: what is not among them
//! does not exist.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

/// Names by the dotted path of their module or class.
type Names = FxHashMap<&'static str, FxHashSet<&'static str>>;

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let lines = include_str!("data/names.txt").lines();
    lines.filter_map(|line| line.split_once(':')).map(|(path, names)| (path, names.split(' ').collect())).collect()
});

/// All public names of a module or class; `None` where they are not listed.
pub(super) fn of(path: &str) -> Option<&'static FxHashSet<&'static str>> {
    NAMES.get(path)
}
