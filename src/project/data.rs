//! Settings files that a script reads at run time: YAML and JSON files of the project.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Project, normalise};
use crate::syntax::FileId;

/// A larger file is assumed to hold data, not settings.
const MAX_BYTES: u64 = 256 << 10;
const EXTENSIONS: &[&str] = &["yaml", "yml", "json"];

impl Project {
    /// The text of a settings file, by the path with which the script opens it: relative to the
    /// folder of the script, or to the project's root, where scripts are usually started. Only
    /// files below the root are read; for a script outside the root, only files below the script's
    /// folder. A file that cannot be read is treated as missing.
    pub(crate) fn data(&self, from: FileId, path: &str) -> Option<&str> {
        let path = Path::new(path);
        let known = path.extension().and_then(OsStr::to_str).is_some_and(|e| EXTENSIONS.contains(&e));
        if !known || path.is_absolute() {
            return None;
        }
        let folder = self.file(from).canonical().parent()?;
        [folder, self.root()].into_iter().find_map(|base| self.data_below(folder, &normalise(&base.join(path))))
    }

    /// The text of a small file, if it is below the root. If `folder` is outside the root, the file must be
    /// below `folder` instead.
    pub(super) fn data_below(&self, folder: &Path, path: &Path) -> Option<&str> {
        if let Some(text) = self.texts.get(path) {
            return Some(text);
        }
        let real = path.canonicalize().ok()?;
        let top = if folder.starts_with(self.root()) { self.root() } else { folder };
        if !real.starts_with(top) {
            return None;
        }
        let metadata = fs::metadata(&real).ok()?;
        if !metadata.is_file() || metadata.len() > MAX_BYTES {
            return None;
        }
        let text = fs::read_to_string(&real).ok()?;
        Some(self.texts.insert(PathBuf::from(path), text))
    }

    /// The path of a file as scripts write it: relative to the project's root, or only the name of
    /// the file if it is outside the root.
    pub(crate) fn own_path(&self, file: FileId) -> Option<&str> {
        let path = self.file(file).canonical();
        path.strip_prefix(self.root()).ok().map(Path::as_os_str).or_else(|| path.file_name())?.to_str()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::project::Project;

    #[test]
    fn settings_are_looked_for_beside_the_script_and_at_the_root() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        fs::create_dir_all(root.join("tools")).unwrap();
        fs::write(root.join("tools/train.py"), "").unwrap();
        fs::write(root.join("tools/own.yaml"), "a: 1").unwrap();
        fs::write(root.join("top.json"), "{}").unwrap();
        fs::write(root.join("notes.txt"), "text").unwrap();
        fs::write(root.join("big.json"), " ".repeat(300 << 10)).unwrap();
        fs::write(dir.path().join("outside.yaml"), "a: 1").unwrap();
        let project = Project::new(root.clone());
        let from = project.load(&root.join("tools/train.py")).unwrap().id;
        assert_eq!(project.data(from, "own.yaml"), Some("a: 1"));
        assert_eq!(project.data(from, "./tools/own.yaml"), Some("a: 1"));
        assert_eq!(project.data(from, "../top.json"), Some("{}"));
        assert_eq!(project.data(from, "top.json"), Some("{}"));
        for none in ["notes.txt", "big.json", "missing.yaml", "../../outside.yaml", "tools"] {
            assert_eq!(project.data(from, none), None, "{none}");
        }
        assert_eq!(project.own_path(from), Some("tools/train.py"));
    }
}
