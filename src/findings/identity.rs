//! The identity of a finding, which stays the same if its lines move: its rule, its file and the text
//! of its lines.

use std::path::{Component, Path};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::diagnostic::Diagnostic;
use crate::project::{Project, SourceFile};

/// The properties of a finding that stay the same while the text of its lines stays the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Identity {
    pub path: String,
    pub code: String,
    /// The lines of the finding, each without white space at its start and end.
    pub text: String,
}

impl Identity {
    /// `base` is the folder to which paths are relative.
    pub(crate) fn of(diagnostic: &Diagnostic, project: &Project, base: &Path) -> Identity {
        let file = project.file(diagnostic.span.file);
        let first = file.line_of(diagnostic.span.start);
        let last = file.line_of(diagnostic.span.end.max(diagnostic.span.start));
        let lines: Vec<&str> = (first..=last).map(|line| file.slice(file.line_range(line)).trim()).collect();
        Identity { path: relative(file, base), code: diagnostic.code.to_string(), text: lines.join("\n") }
    }
}

/// The path of a file relative to a folder, with `/` as separator; an absolute path if the file is
/// not in the folder.
pub(crate) fn relative(file: &SourceFile, base: &Path) -> String {
    relative_path(file.canonical(), base)
}

/// Like [`relative`], for any path. Both paths must be canonical.
pub(crate) fn relative_path(path: &Path, base: &Path) -> String {
    let inner = path.strip_prefix(base).unwrap_or(path);
    let parts = inner.components().map(|part| match part {
        Component::RootDir => String::new(),
        part => part.as_os_str().to_string_lossy().into_owned(),
    });
    parts.collect::<Vec<_>>().join("/")
}

/// A unique text for each finding. It depends only on the identity of the finding, and on the
/// number of findings with the same identity before it.
pub(crate) fn fingerprints(diagnostics: &[Diagnostic], project: &Project, base: &Path) -> Vec<String> {
    let mut seen: FxHashMap<Identity, usize> = FxHashMap::default();
    let one = |diagnostic| {
        let identity = Identity::of(diagnostic, project, base);
        let nth = seen.entry(identity.clone()).or_default();
        *nth += 1;
        let text = format!("{}\0{}\0{}\0{nth}", identity.path, identity.code, identity.text);
        let digest = Sha256::digest(text.as_bytes());
        digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    };
    diagnostics.iter().map(one).collect()
}
