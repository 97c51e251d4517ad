//! The baseline: known findings that are left for later, recorded in a file next to the code.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::INVALID_SYNTAX;
use super::identity::Identity;
use crate::diagnostic::Diagnostic;
use crate::project::Project;
use crate::syntax::FileId;

const VERSION: u32 = 1;

/// The recorded findings, each with its number of occurrences. Paths are relative to the folder of
/// the baseline file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Baseline {
    /// The path of the file.
    pub path: PathBuf,
    known: BTreeMap<Identity, usize>,
}

/// The format of the file. It is sorted, so that diffs are easy to read.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    findings: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    path: String,
    code: String,
    text: String,
    #[serde(default = "once", skip_serializing_if = "is_once")]
    count: usize,
}

fn once() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
fn is_once(count: &usize) -> bool {
    *count == 1
}

impl Baseline {
    /// An empty baseline.
    pub(crate) fn at(path: &Path) -> Baseline {
        Baseline { path: path.to_owned(), known: BTreeMap::new() }
    }

    pub(crate) fn read(path: &Path) -> Result<Baseline, String> {
        let fail = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| fail(&error))?;
        let document: Document = serde_json::from_str(&text).map_err(|error| fail(&error))?;
        if document.version != VERSION {
            return Err(fail(&format!("unsupported baseline format {} (expected {VERSION})", document.version)));
        }
        let mut known = BTreeMap::new();
        for Entry { path, code, text, count } in document.findings {
            *known.entry(Identity { path, code, text }).or_default() += count;
        }
        Ok(Baseline { path: path.to_owned(), known })
    }

    /// The folder to which the recorded paths are relative.
    fn base(&self) -> PathBuf {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
    }

    /// Removes known findings. Returns the recorded findings that no longer occur, but only those
    /// in files that were checked or that no longer exist.
    pub(crate) fn drop_known(
        &self,
        findings: &mut Vec<Diagnostic>,
        project: &Project,
        checked: &[FileId],
    ) -> Vec<Identity> {
        let base = self.base();
        let mut left = self.known.clone();
        findings.retain(|diagnostic| {
            if diagnostic.code == INVALID_SYNTAX {
                return true;
            }
            match left.get_mut(&Identity::of(diagnostic, project, &base)) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                _ => true,
            }
        });
        let gone = |identity: &Identity| {
            let path = base.join(&identity.path);
            checked.iter().any(|id| project.file(*id).canonical() == path) || !path.exists()
        };
        left.into_iter()
            .filter(|(identity, count)| *count > 0 && gone(identity))
            .map(|(identity, _)| identity)
            .collect()
    }

    /// The new content of the file: these findings, and the recorded ones of files that were not
    /// checked.
    pub(crate) fn updated(&self, findings: &[Diagnostic], project: &Project, checked: &[FileId]) -> Baseline {
        let base = self.base();
        let stays = |identity: &Identity| {
            let path = base.join(&identity.path);
            path.exists() && !checked.iter().any(|id| project.file(*id).canonical() == path)
        };
        let mut known: BTreeMap<Identity, usize> =
            self.known.iter().filter(|(identity, _)| stays(identity)).map(|(id, n)| (id.clone(), *n)).collect();
        for diagnostic in findings.iter().filter(|diagnostic| diagnostic.code != INVALID_SYNTAX) {
            *known.entry(Identity::of(diagnostic, project, &base)).or_default() += 1;
        }
        Baseline { path: self.path.clone(), known }
    }

    /// The number of recorded findings.
    pub(crate) fn count(&self) -> usize {
        self.known.values().sum()
    }

    pub(crate) fn to_json(&self) -> String {
        let entry = |(identity, count): (&Identity, &usize)| {
            let Identity { path, code, text } = identity.clone();
            Entry { path, code, text, count: *count }
        };
        let document = Document { version: VERSION, findings: self.known.iter().map(entry).collect() };
        let text = serde_json::to_string_pretty(&document).unwrap_or_default();
        format!("{text}\n")
    }
}
