//! Resolves imports to files of the project.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::{Project, SourceFile};
use crate::libraries::{self, is_standard};
use crate::syntax::FileId;

/// The module of an import statement.
pub(crate) enum Resolved<'p> {
    /// A module of the project; for a package its `__init__.py`.
    File(&'p SourceFile),
    /// A folder without `__init__.py`, from which only submodules can be imported.
    Namespace(#[cfg_attr(not(test), expect(dead_code, reason = "for tests"))] PathBuf),
    /// A library, or a module that could not be found or read.
    External,
}

/// The entries of a folder: name and kind.
pub(super) type Listing = FxHashMap<OsString, Kind>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
}

/// The result of resolving a module's name, before the module is read.
enum Found {
    File(PathBuf),
    Namespace(PathBuf),
    /// The first part of the name exists, but the rest does not: Python does not search further.
    Broken,
    Nothing,
}

impl Project {
    /// Resolves `import module` (level 0) or `from ..module import x` (level 2) in a file. `module`
    /// is empty for `from . import x`; to find out whether `x` is a submodule, ask again with
    /// `module` set to `x`.
    ///
    /// This follows Python's rules for a script of the project. A relative import is searched in
    /// the folder of the file (level 1) or a folder above it. Absolute imports of a script are
    /// searched beside the script, then in the project's root and its `src`. Absolute imports of a
    /// module in a package are searched beside the topmost package first, and beside the module
    /// last. A module outside the root is found only if the importing file is also outside, and
    /// only in the folder of this file. The name of a known library means the library, unless a
    /// `.py` file of this name (other than `torch.py`) is beside the script, or beside the topmost
    /// package. If the name is a common word, a package beside them takes precedence, too. For the
    /// name of a module of the standard library, only a module beside the script is found.
    pub(crate) fn resolve_import(&self, from: FileId, module: &str, level: u32) -> Resolved<'_> {
        let Some(folder) = self.file(from).canonical().parent() else {
            return Resolved::External;
        };
        let parts: Vec<&str> = module.split('.').filter(|part| !part.is_empty()).collect();
        let found = match level {
            0 => self.absolute_import(self.file(from), folder, &parts),
            level => self.relative(folder, &parts, level),
        };
        match found {
            Found::File(path) => self.load(&path).map_or(Resolved::External, Resolved::File),
            Found::Namespace(path) => Resolved::Namespace(path),
            Found::Broken | Found::Nothing => Resolved::External,
        }
    }

    /// The module of this name beside a script. When the script runs, its folder comes first on Python's
    /// path. A file of a package is no script, and libraries are never beside one.
    pub(crate) fn module_beside(&self, script: FileId, module: &str) -> Option<&SourceFile> {
        let folder = self.file(script).canonical().parent()?;
        let parts: Vec<&str> = module.split('.').collect();
        let top = *parts.first()?;
        if self.has(folder, "__init__.py", Kind::File) || libraries::is_known(top) {
            return None;
        }
        match self.find(folder, &parts) {
            Found::File(path) => self.load(&path).ok(),
            _ => None,
        }
    }

    fn relative(&self, folder: &Path, parts: &[&str], level: u32) -> Found {
        let mut base = folder;
        for _ in 1..level {
            match base.parent() {
                Some(parent) if self.reachable(parent, folder) => base = parent,
                _ => return Found::Nothing,
            }
        }
        self.find(base, parts)
    }

    /// Whether a file imports from the package that it belongs to: `from . import a`, `from package.a import b`,
    /// `import package.a`.
    fn imports_own_package(&self, file: &SourceFile) -> bool {
        let Some(folder) = file.canonical().parent() else { return false };
        let parent = self.package_parent(folder);
        let package = folder.strip_prefix(&parent).ok().and_then(|below| below.iter().next()?.to_str());
        let Some(package) = package else { return false };
        file.text().lines().map(str::trim_start).filter_map(imported).any(|module| {
            module.starts_with('.') || module.strip_prefix(package).is_some_and(|rest| rest.starts_with(['.', ' ']))
        })
    }

    fn absolute_import(&self, from: &SourceFile, folder: &Path, parts: &[&str]) -> Found {
        let Some(&top) = parts.first() else {
            return Found::Nothing;
        };
        let script = !self.has(folder, "__init__.py", Kind::File);
        if let Some(library) = libraries::find(top) {
            // A module beside the script takes precedence over a library.
            let beside = if script { folder.to_owned() } else { self.package_parent(folder) };
            // A file named `torch.py` is ignored: a program beside it could not import PyTorch.
            let own = top != "torch" && self.has(&beside, &format!("{top}.py"), Kind::File)
                || library.is_common_word && self.has(&beside.join(top), "__init__.py", Kind::File);
            return if own && self.reachable(&beside, folder) { self.find(&beside, parts) } else { Found::Nothing };
        }
        // The script's own folder comes first on Python's path, before the standard library.
        let bases: Vec<PathBuf> = if is_standard(top) {
            // A folder inside a package is hardly one of scripts.
            let in_package = || folder.parent().is_some_and(|above| self.has(above, "__init__.py", Kind::File));
            if !script || in_package() && !from.text().contains("__main__") {
                return Found::Nothing;
            }
            vec![folder.to_owned()]
        } else {
            let beside = (folder.to_owned(), self.package_parent(folder));
            let (first, second) = if script { beside } else { (beside.1, beside.0) };
            let src = self.root.join("src");
            // A script in a folder above may import this file: its folder comes first on Python's path.
            // The folder `src` of a project inside the repository is on the path if the project is installed.
            let above: Vec<PathBuf> = first
                .ancestors()
                .take_while(|above| above.starts_with(&self.root) && **above != self.root)
                .flat_map(|above| [above.to_owned(), above.join("src")])
                .collect();
            let (before, after) = match script {
                true => (vec![first, second], None),
                // A file that imports its own package is hardly run as a script, so its folder is not on Python's path.
                false => (vec![first], Some(second).filter(|_| !self.imports_own_package(from))),
            };
            before.into_iter().chain(above).chain([self.root.clone(), src]).chain(after).collect()
        };
        // A namespace package is used only if no folder has a module or regular package of this
        // name.
        let mut namespace = Found::Nothing;
        for base in bases.iter().filter(|base| self.reachable(base, folder)) {
            match self.find(base, parts) {
                Found::Nothing => {}
                Found::Namespace(path) => {
                    if matches!(namespace, Found::Nothing) {
                        namespace = Found::Namespace(path);
                    }
                }
                // A module of a package may also be run as a script. If it then imports another module,
                // it is not known which one is meant.
                Found::File(path)
                    if !script
                        && base != folder
                        && matches!(self.find(folder, parts), Found::File(own) if own != path) =>
                {
                    return Found::Nothing;
                }
                // A module of a program that runs in another folder finds the module of that folder.
                Found::File(path)
                    if script
                        && parts.len() > 1
                        && base == folder
                        && !from.text().contains("__main__")
                        && bases.iter().any(|other| {
                            other != base
                                && self.reachable(other, folder)
                                && matches!(self.find(other, parts), Found::File(other) if other != path)
                        }) =>
                {
                    return Found::Nothing;
                }
                // Relative imports fail in a module that is not imported as a part of its package. A module that
                // imports its own name means a library, and so does a package whose name is that of the module.
                Found::File(path)
                    if !script
                        && base == folder
                        && path.parent() == Some(folder)
                        && (folder.file_name().is_some_and(|name| name == top)
                            || self
                                .load(&path)
                                .is_ok_and(|file| imports_relatively(file) || imports_name(file, top))) =>
                {
                    return Found::Nothing;
                }
                // The file changes where Python searches, and several folders have a module of this name.
                Found::File(path)
                    if base != folder && from.text().contains("sys.path") && self.is_ambiguous(&path, parts) =>
                {
                    return Found::Nothing;
                }
                found => return found,
            }
        }
        namespace
    }

    /// Whether another named file than this one could be the module of a dotted name.
    fn is_ambiguous(&self, found: &Path, parts: &[&str]) -> bool {
        let name: PathBuf = parts.iter().collect();
        let (module, package) = (name.with_extension("py"), name.join("__init__.py"));
        self.named_files().any(|file| {
            let path = file.canonical();
            path != found && (path.ends_with(&module) || path.ends_with(&package))
        })
    }

    /// Follows a dotted name down from a folder.
    fn find(&self, base: &Path, parts: &[&str]) -> Found {
        let mut folder = base.to_owned();
        let mut regular = false;
        for (index, part) in parts.iter().enumerate() {
            let last = index + 1 == parts.len();
            let missing = if regular { Found::Broken } else { Found::Nothing };
            let inner = folder.join(part);
            let is_folder = self.has(&folder, part, Kind::Folder);
            if is_folder && self.has(&inner, "__init__.py", Kind::File) {
                regular = true;
            } else if self.has(&folder, &format!("{part}.py"), Kind::File) {
                let module = folder.join(format!("{part}.py"));
                return if last { Found::File(module) } else { Found::Broken };
            } else if !is_folder {
                return missing;
            }
            folder = inner;
        }
        if self.has(&folder, "__init__.py", Kind::File) {
            Found::File(folder.join("__init__.py"))
        } else {
            Found::Namespace(folder)
        }
    }

    /// The folder that contains the topmost package around a folder.
    fn package_parent(&self, folder: &Path) -> PathBuf {
        let mut at = folder;
        while self.has(at, "__init__.py", Kind::File) {
            match at.parent() {
                Some(parent) => at = parent,
                None => break,
            }
        }
        at.to_owned()
    }

    /// Whether a file belongs to a package. Such a file is usually imported, not run.
    pub(crate) fn is_packaged(&self, file: FileId) -> bool {
        self.file(file).canonical().parent().is_some_and(|folder| self.has(folder, "__init__.py", Kind::File))
    }

    /// Whether a file is the source from which the generator of transformers wrote the file beside it
    /// (`modular_bert.py` and `modeling_bert.py`). Nothing runs such a source, and it may use names
    /// that only the generated file has.
    pub(crate) fn is_source_of_generator(&self, file: FileId) -> bool {
        let path = self.file(file).canonical();
        let Some((folder, name)) = path.parent().zip(path.file_name().and_then(|name| name.to_str())) else {
            return false;
        };
        let model = name.strip_prefix("modular_");
        model.is_some_and(|model| self.has(folder, &format!("modeling_{model}"), Kind::File))
    }

    /// Whether the project is another package with the name `torch`, for example one for browsers. PyTorch's own
    /// sources have `_torch_docs.py`.
    pub(crate) fn replaces_torch(&self) -> bool {
        let folders = [self.root().to_owned(), self.root().join("src")];
        let inner = self.listing(self.root()).iter().filter(|(_, kind)| **kind == Kind::Folder);
        let inner = inner.map(|(name, _)| self.root().join(name));
        folders.into_iter().chain(inner).map(|folder| folder.join("torch")).any(|folder| {
            self.has(&folder, "__init__.py", Kind::File) && !self.has(&folder, "_torch_docs.py", Kind::File)
        })
    }

    /// Whether a folder may be searched: below the root, or, for a file outside the root, the
    /// file's own folder.
    fn reachable(&self, folder: &Path, own: &Path) -> bool {
        folder.starts_with(&self.root) || (folder == own && !own.starts_with(&self.root))
    }

    pub(super) fn has(&self, folder: &Path, name: &str, kind: Kind) -> bool {
        self.disk.has(self.listing(folder), folder, name, kind)
    }

    pub(super) fn listing(&self, folder: &Path) -> &Listing {
        match self.folders.get(folder) {
            Some(listing) => listing,
            None => self.folders.insert(folder.to_owned(), self.disk.list(folder)),
        }
    }
}

/// Reads a folder; an unreadable one is treated as empty.
pub(super) fn list(folder: &Path) -> Listing {
    let Ok(entries) = fs::read_dir(folder) else {
        return Listing::default();
    };
    let kind = |entry: &fs::DirEntry| {
        let found = entry.file_type().ok()?;
        let (file, directory) = if found.is_symlink() {
            let target = fs::metadata(entry.path()).ok()?;
            (target.is_file(), target.is_dir())
        } else {
            (found.is_file(), found.is_dir())
        };
        match (file, directory) {
            (true, _) => Some(Kind::File),
            (_, true) => Some(Kind::Folder),
            _ => None,
        }
    };
    entries.flatten().filter_map(|entry| Some((entry.file_name(), kind(&entry)?))).collect()
}

/// Whether a file imports a module of this name.
fn imports_name(file: &SourceFile, name: &str) -> bool {
    file.text()
        .lines()
        .filter_map(imported)
        .any(|module| module.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', ' '])))
}

/// What follows `import` or `from` in a line.
fn imported(line: &str) -> Option<&str> {
    line.strip_prefix("import ").or_else(|| line.strip_prefix("from "))
}

fn imports_relatively(file: &SourceFile) -> bool {
    file.text().lines().any(|line| line.trim_start().starts_with("from ."))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::Resolved;
    use crate::project::Project;

    /// A project folder with these files, all empty.
    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        folder
    }

    fn resolve(root: &Path, from: &str, module: &str, level: u32) -> String {
        let project = Project::new(root.to_owned());
        let from = project.load(&root.join(from)).unwrap().id;
        let relative = |path: &Path| {
            let root = root.canonicalize().unwrap();
            path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/")
        };
        match project.resolve_import(from, module, level) {
            Resolved::File(file) => relative(file.canonical()),
            Resolved::Namespace(path) => format!("namespace {}", relative(&path)),
            Resolved::External => "external".to_owned(),
        }
    }

    #[test]
    fn a_scripts_neighbours_come_first() {
        let dir = folder(&["ex/train.py", "ex/model.py", "model.py", "ex/types.py", "src/lib/__init__.py"]);
        let from_script = |module| resolve(dir.path(), "ex/train.py", module, 0);
        assert_eq!(from_script("model"), "ex/model.py");
        assert_eq!(from_script("types"), "ex/types.py");
        assert_eq!(from_script("lib"), "src/lib/__init__.py");
        assert_eq!(from_script("train"), "ex/train.py");
        assert_eq!(from_script("os"), "external");
        assert_eq!(from_script("model.layers"), "external");
    }

    #[test]
    fn folders_above_come_before_the_root() {
        let dir = folder(&["ex/evaluate.py", "ex/models/bert.py", "ex/parts/a.py", "parts/a.py", "parts/b.py"]);
        assert_eq!(resolve(dir.path(), "ex/models/bert.py", "parts.a", 0), "ex/parts/a.py");
        assert_eq!(resolve(dir.path(), "ex/models/bert.py", "parts.b", 0), "parts/b.py");
        let project = Project::new(dir.path().to_owned());
        let script = project.load(&dir.path().join("ex/evaluate.py")).unwrap().id;
        assert!(project.module_beside(script, "parts.a").unwrap().canonical().ends_with("ex/parts/a.py"));
        assert!(project.module_beside(script, "parts.b").is_none());
    }

    #[test]
    fn tests_beside_src_import_from_it() {
        let dir = folder(&["a/src/pkg/model.py", "a/tests/__init__.py", "a/tests/test_model.py", "b/train.py"]);
        assert_eq!(resolve(dir.path(), "a/tests/test_model.py", "pkg.model", 0), "a/src/pkg/model.py");
        assert_eq!(resolve(dir.path(), "b/train.py", "pkg.model", 0), "external");
    }

    #[test]
    fn packages_import_from_their_top() {
        let dir = folder(&["pkg/__init__.py", "pkg/a.py", "pkg/random.py", "pkg/sub/__init__.py", "pkg/sub/b.py"]);
        let from = |module, level| resolve(dir.path(), "pkg/sub/b.py", module, level);
        assert_eq!(from("pkg.a", 0), "pkg/a.py");
        assert_eq!(from("pkg", 0), "pkg/__init__.py");
        assert_eq!(from("", 1), "pkg/sub/__init__.py");
        assert_eq!(from("a", 2), "pkg/a.py");
        assert_eq!(from("", 2), "pkg/__init__.py");
        assert_eq!(from("x", 9), "external");
        assert_eq!(resolve(dir.path(), "pkg/a.py", "random", 0), "external");
        assert_eq!(resolve(dir.path(), "pkg/a.py", "sub.b", 1), "pkg/sub/b.py");
        assert_eq!(resolve(dir.path(), "pkg/a.py", "sub.b", 0), "pkg/sub/b.py");
    }

    #[test]
    fn a_scripts_own_module_comes_before_a_library() {
        let dir = folder(&["train.py", "datasets.py", "ex/train.py", "ex/evaluate/__init__.py", "wandb.py"]);
        assert_eq!(resolve(dir.path(), "train.py", "datasets", 0), "datasets.py");
        assert_eq!(resolve(dir.path(), "ex/train.py", "evaluate", 0), "ex/evaluate/__init__.py");
        assert_eq!(resolve(dir.path(), "ex/train.py", "datasets", 0), "external");
    }

    #[test]
    fn libraries_stay_external() {
        let dir = folder(&["train.py", "torch/__init__.py", "torch/nn.py", "wandb/run.py"]);
        assert_eq!(resolve(dir.path(), "train.py", "torch", 0), "external");
        assert_eq!(resolve(dir.path(), "train.py", "torch.nn", 0), "external");
        assert_eq!(resolve(dir.path(), "torch/__init__.py", "torch.nn", 0), "external");
        assert_eq!(resolve(dir.path(), "torch/__init__.py", "nn", 1), "torch/nn.py");
        assert_eq!(resolve(dir.path(), "train.py", "wandb", 0), "external");
    }

    #[test]
    fn namespaces_and_the_root() {
        let dir = folder(&["root/tools/train.py", "root/models/net.py", "outside.py"]);
        let root = dir.path().join("root");
        let from = |module, level| resolve(&root, "tools/train.py", module, level);
        assert_eq!(from("models", 0), "namespace models");
        assert_eq!(from("models.net", 0), "models/net.py");
        assert_eq!(from("outside", 0), "external");
        assert_eq!(from("outside", 3), "external");
    }

    #[cfg(unix)]
    #[test]
    fn link_loops_end() {
        let dir = folder(&["train.py"]);
        std::os::unix::fs::symlink("loop.py", dir.path().join("loop.py")).unwrap();
        std::os::unix::fs::symlink(".", dir.path().join("again")).unwrap();
        assert_eq!(resolve(dir.path(), "train.py", "loop", 0), "external");
        assert_eq!(resolve(dir.path(), "train.py", "again.again.train", 0), "train.py");
    }
}
