//! The interface through which a project reads its source files and lists folders: the disk, and
//! texts that replace files on it. Settings files of scripts are read in `data.rs`.
//!
//! Content is cached while the file is unchanged on disk. The language server creates a project for
//! each analysis, and these projects share the syntax trees of unchanged files.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use rustc_hash::FxHashMap;

use super::content::Content;
use super::imports::{self, Kind, Listing};
use super::read::{self, ReadError};

/// The clock of a file system is coarse: if a file changed less than this time before it was read,
/// it may change again without a new time stamp.
const SETTLED: Duration = Duration::from_secs(2);

/// The files as a project reads them.
#[derive(Default)]
pub(crate) struct Disk {
    /// Texts that replace files on disk, by canonical path.
    texts: Mutex<FxHashMap<PathBuf, Arc<Content>>>,
    files: Mutex<FxHashMap<PathBuf, (Stamp, Arc<Content>)>>,
    folders: Mutex<FxHashMap<PathBuf, (Stamp, Arc<Listing>)>>,
}

/// Identifies the state of a file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    changed: SystemTime,
    length: u64,
}

impl Stamp {
    /// The stamp of a file or folder; `None` if its state cannot be identified reliably.
    fn of(metadata: &Metadata) -> Option<Stamp> {
        let changed = metadata.modified().ok()?;
        let settled = SystemTime::now().duration_since(changed).is_ok_and(|age| age > SETTLED);
        settled.then_some(Stamp { changed, length: metadata.len() })
    }
}

impl Disk {
    /// Makes projects read a text instead of a file. The file need not exist.
    pub(crate) fn shadow(&self, path: &Path, content: Arc<Content>) {
        let path = self.canonical(path).unwrap_or_else(|_| path.to_owned());
        lock(&self.texts).insert(path, content);
    }

    /// Removes the text that replaces a file, so that the file on disk is used again.
    pub(crate) fn unshadow(&self, path: &Path) {
        let path = self.canonical(path).unwrap_or_else(|_| path.to_owned());
        lock(&self.texts).remove(&path);
    }

    /// The real path of a file, with links resolved.
    pub(super) fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        path.canonicalize().or_else(|error| {
            let shadowed = lock(&self.texts).contains_key(path);
            if shadowed { Ok(path.to_owned()) } else { Err(error) }
        })
    }

    /// The content of a file. `path` is its name in messages.
    pub(super) fn read(&self, path: &Path, canonical: &Path) -> Result<Arc<Content>, ReadError> {
        if let Some(content) = lock(&self.texts).get(canonical) {
            return Ok(content.clone());
        }
        let stamp = fs::metadata(canonical).ok().and_then(|metadata| Stamp::of(&metadata));
        if let Some((known, content)) = lock(&self.files).get(canonical)
            && Some(*known) == stamp
        {
            return Ok(content.clone());
        }
        let content = Arc::new(read::read(path, canonical)?);
        if let Some(stamp) = stamp {
            lock(&self.files).insert(canonical.to_owned(), (stamp, content.clone()));
        }
        Ok(content)
    }

    /// The entries of a folder on disk.
    pub(super) fn list(&self, folder: &Path) -> Arc<Listing> {
        let stamp = fs::metadata(folder).ok().and_then(|metadata| Stamp::of(&metadata));
        if let Some((known, listing)) = lock(&self.folders).get(folder)
            && Some(*known) == stamp
        {
            return listing.clone();
        }
        let listing = Arc::new(imports::list(folder));
        if let Some(stamp) = stamp {
            lock(&self.folders).insert(folder.to_owned(), (stamp, listing.clone()));
        }
        listing
    }

    /// Whether a folder contains a file or folder of this name.
    pub(super) fn has(&self, listing: &Listing, folder: &Path, name: &str, kind: Kind) -> bool {
        listing.get(OsStr::new(name)) == Some(&kind)
            || kind == Kind::File && {
                let texts = lock(&self.texts);
                !texts.is_empty() && texts.contains_key(&folder.join(name))
            }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Project;

    #[test]
    fn unchanged_files_are_shared_between_projects() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.py");
        fs::write(&path, "x = 1\n").unwrap();
        let old = SystemTime::now() - Duration::from_mins(1);
        fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
        let disk = Arc::new(Disk::default());
        let content = || {
            let project = Project::with_disk(dir.path().to_owned(), disk.clone());
            project.load(&path).unwrap().content().clone()
        };
        let first = content();
        assert!(Arc::ptr_eq(&first, &content()));
        fs::write(&path, "x = 2\n").unwrap();
        assert_eq!(content().text(), "x = 2\n");
        fs::write(&path, "x = 3\n").unwrap();
        assert_eq!(content().text(), "x = 3\n", "within one tick of the clock");
    }

    #[test]
    fn texts_shadow_the_disk_in_imports_too() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().canonicalize().unwrap().join(name);
        fs::write(path("train.py"), "").unwrap();
        fs::write(path("model.py"), "x = 1\n").unwrap();
        let disk = Arc::new(Disk::default());
        let text = |name: &str, text: &str| {
            disk.shadow(&path(name), Arc::new(Content::of_text(&path(name), text).unwrap()));
        };
        text("model.py", "x = 2\n");
        text("new.py", "x = 3\n");
        let import = |module: &str| {
            let project = Project::with_disk(dir.path().to_owned(), disk.clone());
            let from = project.load(&path("train.py")).unwrap().id;
            match project.resolve_import(from, module, 0) {
                crate::project::Resolved::File(file) => file.text().to_owned(),
                _ => "nothing".to_owned(),
            }
        };
        assert_eq!([import("model"), import("new")], ["x = 2\n", "x = 3\n"]);
        disk.unshadow(&path("model.py"));
        disk.unshadow(&path("new.py"));
        assert_eq!([import("model"), import("new")], ["x = 1\n", "nothing"]);
    }
}
