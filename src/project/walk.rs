//! The search for files to check.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use ignore::{WalkBuilder, WalkState};

use super::ReadError;
use crate::syntax::LaunchFile;

/// Folders that are skipped by default: version control, environments, caches, build output.
#[rustfmt::skip]
pub const DEFAULT_EXCLUDES: &[&str] = &[
    ".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".ipynb_checkpoints",
    ".mypy_cache", ".nox", ".pants.d", ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache",
    ".svn", ".tox", ".venv", ".vscode", "__pycache__", "__pypackages__", "_build", "buck-out",
    "build", "dist", "node_modules", "site-packages",
];

/// Finds the files below the paths that a user named.
#[derive(Default)]
pub(crate) struct Walker {
    /// Patterns without a slash: they match a file or folder at any depth.
    names: Vec<Glob>,
    /// Patterns with a slash, made absolute.
    paths: Vec<Glob>,
    respect_gitignore: bool,
    force_exclude: bool,
}

/// The result of a walk: files in a stable order, and paths with errors.
#[derive(Default)]
pub(crate) struct Walk {
    pub files: Vec<PathBuf>,
    /// Files that may set environment variables; most of them set no variable that rules check.
    pub launch: Vec<PathBuf>,
    pub errors: Vec<ReadError>,
}

struct Excludes {
    cwd: PathBuf,
    names: GlobSet,
    paths: GlobSet,
}

impl Excludes {
    fn matches(&self, path: &Path) -> bool {
        if path.file_name().is_some_and(|name| self.names.is_match(name)) {
            return true;
        }
        let absolute = || self.cwd.join(path).components().collect::<PathBuf>();
        !self.paths.is_empty() && self.paths.is_match(absolute())
    }
}

/// A pattern from the configuration: relative to `base` if it has a slash; `*` does not match a
/// slash.
pub(crate) fn compile_glob(base: &Path, pattern: &str) -> Result<Glob, globset::Error> {
    let trimmed = pattern.trim_end_matches('/');
    let full = if trimmed.contains('/') {
        let base = globset::escape(&base.to_string_lossy());
        format!("{}/{}", base.trim_end_matches('/'), trimmed.trim_start_matches("./"))
    } else {
        trimmed.to_owned()
    };
    GlobBuilder::new(&full).literal_separator(true).build()
}

impl Walker {
    /// A walker that skips only virtual environments and the files that `.gitignore` and similar files
    /// list.
    pub(crate) fn new() -> Self {
        Walker { respect_gitignore: true, ..Walker::default() }
    }

    /// Skips files and folders that match a pattern; a pattern with a slash is relative to `base`.
    pub(crate) fn exclude(&mut self, base: &Path, pattern: &str) -> Result<(), globset::Error> {
        let glob = compile_glob(base, pattern)?;
        let list = if glob.glob().contains('/') { &mut self.paths } else { &mut self.names };
        list.push(glob);
        Ok(())
    }

    /// Sets whether `.gitignore` and similar files are respected.
    pub(crate) fn respect_gitignore(self, yes: bool) -> Self {
        Walker { respect_gitignore: yes, ..self }
    }

    /// Sets whether excludes also apply to named paths.
    pub(crate) fn force_exclude(self, yes: bool) -> Self {
        Walker { force_exclude: yes, ..self }
    }

    /// Whether a path or a folder above it is excluded.
    pub(crate) fn is_excluded(&self, path: &Path) -> bool {
        let excludes = self.compile();
        path.ancestors().any(|part| excludes.matches(part))
    }

    /// Whether a path, or a folder above it but below `top`, is excluded.
    pub(crate) fn is_excluded_below(&self, top: &Path, path: &Path) -> bool {
        let excludes = self.compile();
        path.ancestors().take_while(|part| *part != top).any(|part| excludes.matches(part))
    }

    fn compile(&self) -> Excludes {
        let set = |globs: &[Glob]| {
            let mut set = GlobSetBuilder::new();
            for glob in globs {
                set.add(glob.clone());
            }
            // This cannot fail, because every pattern was already compiled separately.
            set.build().unwrap_or_else(|_| GlobSet::empty())
        };
        let cwd = std::env::current_dir().unwrap_or_default();
        let cwd = cwd.canonicalize().unwrap_or(cwd);
        Excludes { cwd, names: set(&self.names), paths: set(&self.paths) }
    }

    /// The files to check: every named file and, below every named folder, the `.py` and `.ipynb`
    /// files and the files that launch programs. Excluded files below a folder are skipped. An
    /// excluded path that was named is skipped only with `force_exclude`.
    pub(crate) fn walk(&self, paths: &[PathBuf]) -> Walk {
        let mut walk = Walk::default();
        let mut folders = Vec::new();
        for path in paths {
            match std::fs::metadata(path) {
                Err(error) => walk.errors.push(ReadError::io(path, &error)),
                Ok(_) if self.force_exclude && self.is_excluded(path) => {}
                Ok(metadata) if metadata.is_dir() => folders.push(path),
                Ok(_) => walk.files.push(path.clone()),
            }
        }
        if let Some((first, rest)) = folders.split_first() {
            let mut builder = WalkBuilder::new(first);
            for folder in rest {
                builder.add(folder);
            }
            self.run(&mut builder, &mut walk);
        }
        walk.files.sort();
        walk.files.dedup();
        walk.errors.sort_by(|a, b| a.path.cmp(&b.path));
        walk
    }

    fn run(&self, builder: &mut WalkBuilder, walk: &mut Walk) {
        let excludes = self.compile();
        builder.standard_filters(self.respect_gitignore).hidden(false);
        builder.filter_entry(move |entry| {
            let folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            entry.depth() == 0
                || !(excludes.matches(entry.path()) || folder && entry.path().join("pyvenv.cfg").is_file())
        });
        let found = Mutex::new(walk);
        builder.build_parallel().run(|| {
            Box::new(|entry| {
                let mut walk = found.lock().unwrap_or_else(PoisonError::into_inner);
                match entry {
                    Ok(entry) => {
                        let folder = entry.file_type().is_none_or(|kind| kind.is_dir());
                        let launches = !folder && LaunchFile::of(entry.path()).is_some();
                        if launches || !folder && is_checked(entry.path()) {
                            let path = entry.into_path();
                            let plain = path.strip_prefix("./").map(Path::to_owned);
                            let list = if launches { &mut walk.launch } else { &mut walk.files };
                            list.push(plain.unwrap_or(path));
                        }
                    }
                    Err(error) => walk.errors.extend(walk_error(&error)),
                }
                WalkState::Continue
            })
        });
    }
}

fn is_checked(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "py" || extension == "ipynb")
}

/// Converts an error of the walk; a bad line in a `.gitignore` is not an error.
fn walk_error(error: &ignore::Error) -> Option<ReadError> {
    match error {
        ignore::Error::WithPath { path, err } => {
            let io = err.io_error()?;
            Some(ReadError::io(path, io))
        }
        ignore::Error::WithDepth { err, .. } => walk_error(err),
        _ => None,
    }
}
