//! The groups of files that belong to one program: those that import each other, directly or
//! indirectly. Module names are compared by their last parts, so a group may be larger than
//! necessary.

use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::SourceFile;
use crate::syntax::FileId;

#[derive(Default)]
pub(super) struct Programs {
    /// A number for each file; files of one program have the same number.
    of: FxHashMap<FileId, usize>,
    /// Cached answers, for each program.
    mentions: Mutex<FxHashMap<(usize, &'static str), bool>>,
}

impl Programs {
    pub(super) fn of<'a>(files: impl Iterator<Item = &'a SourceFile>) -> Programs {
        let files: Vec<&SourceFile> = files.collect();
        let mut groups = Groups { parents: (0..files.len()).collect() };
        let mut by_stem: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (index, file) in files.iter().enumerate() {
            if let Some(stem) = file.path.file_stem().and_then(|stem| stem.to_str()) {
                by_stem.entry(stem).or_default().push(index);
            }
        }
        for (index, file) in files.iter().enumerate() {
            for name in file.text().lines().filter_map(imported).flatten() {
                for &other in by_stem.get(name).into_iter().flatten() {
                    groups.unite(index, other);
                }
            }
        }
        let of = files.iter().enumerate().map(|(index, file)| (file.id, groups.find(index))).collect();
        Programs { of, mentions: Mutex::default() }
    }

    /// Whether one of these files belongs to the same program as `file` and contains the text.
    pub(super) fn mention<'a>(
        &self,
        file: &SourceFile,
        text: &'static str,
        mut files: impl Iterator<Item = &'a SourceFile>,
    ) -> bool {
        let Some(&program) = self.of.get(&file.id) else { return file.text().contains(text) };
        let mut mentions = self.mentions.lock().unwrap_or_else(PoisonError::into_inner);
        *mentions.entry((program, text)).or_insert_with(|| {
            files.any(|other| self.of.get(&other.id) == Some(&program) && other.text().contains(text))
        })
    }
}

/// The names in an import statement.
fn imported(line: &str) -> Option<impl Iterator<Item = &str>> {
    let line = line.trim_start();
    let rest = line.strip_prefix("from ").or_else(|| line.strip_prefix("import "))?;
    Some(rest.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|name| !name.is_empty() && *name != "import"))
}

/// Disjoint sets that are merged step by step.
struct Groups {
    parents: Vec<usize>,
}

impl Groups {
    fn find(&self, mut at: usize) -> usize {
        while let Some(&parent) = self.parents.get(at)
            && parent != at
        {
            at = parent;
        }
        at
    }

    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        if let Some(parent) = self.parents.get_mut(a.max(b)) {
            *parent = a.min(b);
        }
    }
}
