//! The files that a line with an import statement may name. The line is read as text, without its folders and
//! search paths, so there may be more files than Python would load.

use std::ffi::OsStr;
use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};

use super::SourceFile;
use crate::libraries;

pub(super) struct ImportLines<'f> {
    files: &'f [&'f SourceFile],
    /// The indices of the files of each module, by the last part of its name.
    by_name: FxHashMap<&'f str, Vec<usize>>,
    /// The names of all folders above the files.
    folders: FxHashSet<&'f OsStr>,
}

impl<'f> ImportLines<'f> {
    pub(super) fn new(files: &'f [&'f SourceFile]) -> ImportLines<'f> {
        let mut by_name: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        let mut above: FxHashSet<&Path> = FxHashSet::default();
        let mut folders = FxHashSet::default();
        for (index, file) in files.iter().enumerate() {
            if let Some(name) = module_of(file.canonical()).file_stem().and_then(|name| name.to_str()) {
                by_name.entry(name).or_default().push(index);
            }
            // The folders above a folder that was seen before were seen with it.
            let new = file.canonical().ancestors().skip(1).take_while(|folder| above.insert(folder));
            folders.extend(new.filter_map(Path::file_name));
        }
        ImportLines { files, by_name, folders }
    }

    /// The indices of the files that this line of `file` may import or execute.
    pub(super) fn targets<'a>(&'a self, file: &'a SourceFile, line: &'a str) -> Vec<usize> {
        let Some(names) = names(line) else { return Vec::new() };
        let Some((head, is_whole)) = head(line) else { return self.with_names(names).collect() };
        let is_own = self.by_name.contains_key(head) || self.folders.contains(OsStr::new(head));
        if !is_own && libraries::is_known(head) {
            return Vec::new();
        }
        // Python searches the folder of the script first.
        let near: Vec<usize> = if is_whole {
            self.with_names([head].into_iter()).filter(|&at| self.is_above(at, file)).collect()
        } else {
            Vec::new()
        };
        if near.is_empty() { self.with_names(names).collect() } else { near }
    }

    fn with_names<'a>(&'a self, names: impl Iterator<Item = &'a str>) -> impl Iterator<Item = usize> {
        names.flat_map(|name| self.by_name.get(name).into_iter().flatten().copied())
    }

    /// Whether a module without submodules is in the folder of a file, or in a folder above it.
    fn is_above(&self, at: usize, other: &SourceFile) -> bool {
        let plain = self.files.get(at).map(|file| file.canonical()).filter(|path| module_of(path) == *path);
        plain.and_then(Path::parent).is_some_and(|folder| other.canonical().starts_with(folder))
    }
}

/// The path of a module: that of its file, or that of its folder if the file is `__init__.py`.
fn module_of(path: &Path) -> &Path {
    let is_package = path.file_name() == Some(OsStr::new("__init__.py"));
    path.parent().filter(|_| is_package).unwrap_or(path)
}

/// The names in an import statement, or in a line that executes another file, such as
/// `exec(open("steps/shuffle.py").read())`.
fn names(line: &str) -> Option<impl Iterator<Item = &str>> {
    let line = line.trim_start();
    let executes = || line.strip_prefix("exec(").filter(|rest| rest.contains(".py"));
    let rest = after_from(line).or_else(|| line.strip_prefix("import ")).or_else(executes)?;
    Some(rest.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|name| !name.is_empty() && *name != "import"))
}

/// What follows `from`; `from.module import name` needs no space.
fn after_from(line: &str) -> Option<&str> {
    line.strip_prefix("from").filter(|rest| rest.starts_with([' ', '.', '\t']))
}

/// The first part of the module in `from module import …` or in `import module`, and whether it is the whole name.
/// `None` for relative imports, and for statements that import several modules.
fn head(line: &str) -> Option<(&str, bool)> {
    let line = line.trim_start();
    let module = match after_from(line) {
        Some(rest) => rest.split_whitespace().next()?,
        None => line.strip_prefix("import ").filter(|rest| !rest.contains([',', ';']))?.split_whitespace().next()?,
    };
    match module.split_once('.') {
        Some(("", _)) => None,
        Some((head, _)) => Some((head, false)),
        None => Some((module, true)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{ImportLines, head, names};
    use crate::project::Project;

    #[test]
    fn files_that_an_import_statement_may_name() {
        let dir = tempfile::tempdir().unwrap();
        let project = Project::new(dir.path().canonicalize().unwrap());
        for file in ["a/main.py", "a/utils.py", "a/models/net.py", "b/utils.py", "b/net.py", "a/models/__init__.py"] {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            project.load(&path).unwrap();
        }
        let files: Vec<_> = project.files().collect();
        let imports = ImportLines::new(&files);
        let targets = |from: usize, line| imports.targets(files[from], line);
        // The folder of the file, and those above it.
        assert_eq!(targets(0, "from utils import seed"), [1]);
        assert_eq!(targets(2, "import utils"), [1]);
        assert_eq!(targets(4, "from utils import seed"), [3]);
        // A package is its `__init__.py`.
        assert_eq!(targets(0, "import models"), [5]);
        // Several files may be meant.
        assert_eq!(targets(0, "from models import net"), [5, 2, 4]);
        assert_eq!(targets(0, "from ..b import utils"), [1, 3]);
        assert_eq!(targets(0, "import sys, utils"), [1, 3]);
        // A library has modules with the same names.
        assert!(targets(0, "from torch.utils.data import DataLoader").is_empty());
        assert_eq!(targets(0, "from unknown.utils import f"), [1, 3]);
    }

    #[test]
    fn heads_of_import_statements() {
        let found = ["from a.b import c", "  from a import b, c", "import a as b", "import a, b", "from . import a"];
        assert_eq!(found.map(head), [Some(("a", false)), Some(("a", true)), Some(("a", true)), None, None]);
        assert_eq!(head("exec(open('a.py').read())"), None);
        let found: Vec<_> = names("exec(open('a/b.py').read())").into_iter().flatten().collect();
        assert!(found.contains(&"b"));
    }
}
