//! Reads files and notebooks, finds those to check, resolves their imports, and reads their
//! suppressing comments.
//!
//! A [`Project`] can be shared between threads. It never drops a file, so a `&SourceFile` is valid
//! as long as its project exists.

mod content;
mod data;
mod disk;
mod import_lines;
mod imports;
mod logged;
mod options;
mod own_imports;
mod owners;
mod programs;
mod read;
mod requirements;
mod settings;
mod source;
pub(crate) mod suppressions;
mod walk;
mod words;

use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use elsa::sync::{FrozenMap, FrozenVec};
use rustc_hash::FxHashMap;

pub(crate) use content::{Content, FileKind};
pub(crate) use disk::Disk;
pub(crate) use imports::Resolved;
pub(crate) use read::{Encoding, ReadError, ReadErrorKind, mentions};
pub(crate) use source::{Position, SourceFile};
pub use walk::DEFAULT_EXCLUDES;
pub(crate) use walk::{Walker, compile_glob};

use crate::syntax::FileId;
use imports::Listing;
pub(crate) use options::CommandLine;
use programs::Programs;
use requirements::Stated;
use settings::Settings;

/// The files that were read, and the folder in which their imports are searched.
pub(crate) struct Project {
    /// Imports are never searched outside this folder, with one exception: the imports of a file
    /// that is itself outside are searched in the file's own folder.
    root: PathBuf,
    /// Reports show paths relative to this folder.
    cwd: PathBuf,
    files: FrozenVec<Box<SourceFile>>,
    /// The files, by canonical path and by every path under which they were requested.
    by_path: Mutex<FxHashMap<PathBuf, FileId>>,
    disk: Arc<Disk>,
    /// The entries of folders, as they were at the first read.
    folders: FrozenMap<PathBuf, Arc<Listing>>,
    /// Settings files that scripts open, and files that state requirements, by path.
    texts: FrozenMap<PathBuf, String>,
    /// The number of files that were read before anything was imported.
    named: OnceLock<usize>,
    /// The named files, in one group for each program.
    programs: OnceLock<Programs>,
    /// What the requirements in a folder say, by folder.
    stated: FrozenMap<PathBuf, Box<Stated>>,
    /// The answers of [`Project::excludes`], by folder, and by package and version.
    exclusions: Mutex<FxHashMap<(PathBuf, String), bool>>,
    settings: OnceLock<Settings>,
}

impl Project {
    /// An empty project with this root folder.
    pub(crate) fn new(root: PathBuf) -> Self {
        Self::with_disk(root, Arc::default())
    }

    /// Like [`Project::new`], but shares the files that another project has read.
    pub(crate) fn with_disk(root: PathBuf, disk: Arc<Disk>) -> Self {
        let cwd = std::env::current_dir().unwrap_or_default();
        let cwd = cwd.canonicalize().unwrap_or(cwd);
        let root = cwd.join(root);
        Project {
            root: root.canonicalize().unwrap_or(root),
            cwd,
            files: FrozenVec::new(),
            by_path: Mutex::default(),
            disk,
            folders: FrozenMap::new(),
            texts: FrozenMap::new(),
            named: OnceLock::new(),
            programs: OnceLock::new(),
            stated: FrozenMap::new(),
            exclusions: Mutex::default(),
            settings: OnceLock::new(),
        }
    }

    /// Reads a file. Repeated requests, also under other names, return the same file.
    pub(crate) fn load(&self, path: &Path) -> Result<&SourceFile, ReadError> {
        let absolute = self.absolute(path);
        if let Some(file) = self.known(&absolute) {
            return Ok(file);
        }
        let canonical = self.disk.canonical(&absolute).map_err(|error| ReadError::io(path, &error))?;
        if let Some(file) = self.known(&canonical) {
            self.names().insert(absolute, file.id);
            return Ok(file);
        }
        let content = self.disk.read(path, &canonical)?;
        Ok(self.add(self.shown(path), absolute, canonical, content))
    }

    /// Adds a text, such as standard input, under a path. The project reads the text instead of the
    /// file on disk.
    pub(crate) fn add_text(&self, path: &Path, text: &str) -> Result<&SourceFile, ReadError> {
        let content = Content::of_text(path, text)?;
        let absolute = self.absolute(path);
        self.disk.shadow(&absolute, Arc::new(content));
        self.names().remove(&absolute);
        let canonical = self.disk.canonical(&absolute).map_err(|error| ReadError::io(path, &error))?;
        self.names().remove(&canonical);
        self.load(path)
    }

    /// The file with this id, which must be an id of this project.
    pub(crate) fn file(&self, id: FileId) -> &SourceFile {
        let index = usize::try_from(id.0).unwrap_or(usize::MAX);
        match self.files.get(index) {
            Some(file) => file,
            None => unreachable!("file {index} belongs to another project"),
        }
    }

    /// All files that have been read so far, including imported ones.
    pub(crate) fn files(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter()
    }

    /// Records that all *named* files (the files to check) were read. Files that are read later are
    /// imported by others, and their order is not predictable.
    pub(crate) fn all_named(&self) {
        self.named.get_or_init(|| self.files.len());
    }

    /// Whether some named file that belongs to the same program as `file` contains this text, not
    /// counting comment lines, and lines that begin with a call that prints or logs.
    pub(crate) fn mentions(&self, file: FileId, text: &'static str) -> bool {
        self.programs().mention(self.file(file), text, self.named_files())
    }

    /// The texts of the files of the same program.
    pub(crate) fn program_texts(&self, file: FileId) -> Vec<&str> {
        self.programs().texts(self.file(file), self.named_files())
    }

    fn programs(&self) -> &Programs {
        self.programs.get_or_init(|| Programs::of(self.named_files()))
    }

    fn named_files(&self) -> impl Iterator<Item = &SourceFile> {
        let named = *self.named.get_or_init(|| self.files.len());
        self.files.iter().take(named)
    }

    /// Whether this is the path of a named file.
    fn is_named(&self, path: &Path) -> bool {
        self.names()
            .get(path)
            .is_some_and(|id| usize::try_from(id.0).is_ok_and(|at| self.named.get().is_none_or(|named| at < *named)))
    }

    /// Whether some named file that belongs to the same program as `file` assigns this
    /// attribute, written as `name` or `owner.name`.
    pub(crate) fn assigns(&self, file: FileId, attribute: &str) -> bool {
        self.programs().assigns(self.file(file), attribute)
    }

    /// Whether the program of `file` may assign this attribute to an object of a class of this name. The lines of
    /// the class `besides` do not count.
    pub(crate) fn may_assign_to(&self, file: FileId, class: &str, name: &str, besides: Option<&str>) -> bool {
        self.programs().may_assign_to(self.file(file), class, name, besides)
    }

    /// Whether a subclass of a class of this name, in the program of `file`, has a member of this name, too.
    pub(crate) fn overrides(&self, file: FileId, class: &str, name: &str) -> bool {
        self.programs().overrides(self.file(file), class, name)
    }

    /// Whether a subclass of a class of this name, in the program of `file`, assigns this attribute to `self`.
    pub(crate) fn sets_in_subclass(&self, file: FileId, class: &str, name: &str) -> bool {
        self.programs().sets_in_subclass(self.file(file), class, name)
    }

    /// Whether the program of `file` may set options by names that are only known when it runs.
    pub(crate) fn may_set_options(&self, file: FileId) -> bool {
        self.programs().may_set_options(self.file(file))
    }

    /// Whether the program of `file` may set attributes of objects of a class of this name by names that are only
    /// known when it runs.
    pub(crate) fn may_set_by_name(&self, file: FileId, class: &str) -> bool {
        self.programs().may_set_by_name(self.file(file), class)
    }

    /// Whether a class body of the program of `file` binds this name, or code may set an attribute of
    /// this name by a string.
    pub(crate) fn binds_attribute(&self, file: FileId, name: &str) -> bool {
        self.programs().binds_attribute(self.file(file), name)
    }

    /// Whether some named file that belongs to the same program as `file` calls a function or class
    /// of this name.
    pub(crate) fn calls(&self, file: FileId, name: &str) -> bool {
        self.programs().calls(self.file(file), name)
    }

    /// Whether a class of the program of `file` may have a last base of this name. The base in
    /// `class Data(Data):` does not count.
    pub(crate) fn derives(&self, file: FileId, name: &str) -> bool {
        self.programs().derives(self.file(file), name)
    }

    /// Whether the program of `file` sets attributes of modules that it takes from `sys.modules`.
    fn sets_in_modules(&self, file: FileId) -> bool {
        self.programs().sets_in_modules(self.file(file))
    }

    /// Whether a function of the program of `file` may bind names in the module that calls it.
    fn sets_in_callers(&self, file: FileId) -> bool {
        self.programs().sets_in_callers(self.file(file))
    }

    /// Whether the program of `file` assigns an attribute of this name to anything but `self`.
    pub(crate) fn assigns_from_outside(&self, file: FileId, name: &str) -> bool {
        self.programs().assigns_from_outside(self.file(file), name)
    }

    /// Whether a class of the program of `file` has this base and, after it, another one.
    pub(crate) fn is_mixed(&self, file: FileId, name: &str) -> bool {
        self.programs().is_mixed(self.file(file), name)
    }

    /// Whether the program of `file` calls functions of this name in constructors, and nowhere else.
    pub(crate) fn constructs_with(&self, file: FileId, name: &str) -> bool {
        self.programs().constructs_with(self.file(file), name)
    }

    /// The paths of all files that were read, including settings files of scripts.
    pub(crate) fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.files().map(|file| file.canonical().to_owned()).chain(self.texts.keys_cloned())
    }

    /// The root folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    fn add(&self, shown: PathBuf, absolute: PathBuf, canonical: PathBuf, content: Arc<Content>) -> &SourceFile {
        let mut names = self.names();
        // Another thread may have read the same file in the meantime.
        if let Some(&id) = names.get(&canonical) {
            names.insert(absolute, id);
            return self.file(id);
        }
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        let file = SourceFile::new(id, shown, canonical.clone(), content);
        let file = self.files.push_get(Box::new(file));
        names.insert(canonical, id);
        names.insert(absolute, id);
        file
    }

    fn known(&self, path: &Path) -> Option<&SourceFile> {
        let id = self.names().get(path).copied()?;
        Some(self.file(id))
    }

    fn names(&self) -> MutexGuard<'_, FxHashMap<PathBuf, FileId>> {
        self.by_path.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        normalise(&self.cwd.join(path))
    }

    /// The path as reports print it: relative to the working directory, if the file is below this
    /// directory.
    fn shown(&self, path: &Path) -> PathBuf {
        let absolute = self.absolute(path);
        match absolute.strip_prefix(&self.cwd) {
            Ok(relative) if relative.components().next().is_some() => relative.to_owned(),
            _ => path.to_owned(),
        }
    }
}

/// Removes `.` from a path. `..` stays, because it may follow a symbolic link.
fn normalise(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}
