//! Applies fixes in rounds, until nothing is left to fix or the limit of rounds is reached. One
//! round never applies two overlapping fixes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use similar::TextDiff;

use super::run::{Input, Run, run};
use crate::config::Settings;
use crate::diagnostic::{Applicability, Diagnostic, Edit};
use crate::findings::INVALID_SYNTAX;
use crate::project::suppressions::{Suppressions, UNUSED_IGNORE};
use crate::project::{Encoding, SourceFile};
use crate::syntax::{self, FileId, Notebook};

/// The maximum number of rounds; a fix in one round may make another fix possible in the next.
const MAX_ROUNDS: usize = 10;

/// What to do with findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// Apply the fixes that cannot change what a correct program does.
    Safe,
    /// Apply all fixes.
    All,
    /// Add comments that suppress the findings.
    Ignore,
}

/// A file that was changed by fixes.
pub(super) struct Changed {
    /// The path, as it is printed in reports.
    pub path: PathBuf,
    canonical: PathBuf,
    encoding: Encoding,
    /// The original content: Python source, or a notebook's JSON.
    before: String,
    pub after: String,
}

/// The result of fixing.
pub(super) struct Fixed {
    /// The run over the fixed texts.
    pub run: Run,
    pub changed: Vec<Changed>,
    /// The number of fixed findings.
    pub count: usize,
}

/// Checks the input, and then fixes and checks it again in rounds, until nothing is left to fix or
/// [`MAX_ROUNDS`] is reached. Does not write files.
pub(super) fn fix(settings: &Settings, input: &Input, choice: Choice) -> io::Result<Fixed> {
    let mut input = input.clone();
    let mut changed: Vec<Changed> = Vec::new();
    let mut count = 0;
    let mut last = run(settings, &input)?;
    for _ in 0..MAX_ROUNDS {
        let chosen = choose(&last, choice);
        let mut progress = 0;
        for (id, edits, fixes) in chosen {
            let file = last.project.file(id);
            let Some(after) = apply(file, &edits) else {
                continue;
            };
            progress += fixes;
            input.texts.retain(|(path, _)| *path != file.path);
            input.texts.push((file.path.clone(), after.clone()));
            match changed.iter_mut().find(|one| one.path == file.path) {
                Some(one) => one.after = after,
                None => changed.push(Changed {
                    path: file.path.clone(),
                    canonical: file.canonical().to_owned(),
                    encoding: file.encoding,
                    before: file.json().unwrap_or(file.text()).to_owned(),
                    after,
                }),
            }
        }
        if progress == 0 {
            break;
        }
        count += progress;
        last = run(settings, &input)?;
    }
    changed.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Fixed { run: last, changed, count })
}

/// The number of findings with a safe fix, or with any fix if `unsafe_too`. `--fix` may apply fewer:
/// it does not change files that were not checked.
pub(super) fn fixable(diagnostics: &[Diagnostic], unsafe_too: bool) -> usize {
    diagnostics.iter().filter(|diagnostic| edits_of(diagnostic, unsafe_too).is_some()).count()
}

fn edits_of(diagnostic: &Diagnostic, unsafe_too: bool) -> Option<&[Edit]> {
    let fix = diagnostic.fix.as_ref()?;
    let wanted = unsafe_too || fix.applicability == Applicability::Safe;
    (wanted && !fix.edits.is_empty()).then_some(&fix.edits)
}

/// Whether a comment can suppress the finding. This is false for syntax errors and for findings
/// about unused comments.
fn takes_comment(diagnostic: &Diagnostic) -> bool {
    diagnostic.code != INVALID_SYNTAX && diagnostic.code != UNUSED_IGNORE
}

/// The edits of one round, by file. If fixes overlap, only the first is applied.
fn choose(run: &Run, choice: Choice) -> Vec<(FileId, Vec<Edit>, usize)> {
    let mut chosen: Vec<(FileId, Vec<Edit>, usize)> = Vec::new();
    for diagnostic in &run.diagnostics {
        let ignore;
        let edits = match choice {
            Choice::Ignore if takes_comment(diagnostic) => {
                let file = run.project.file(diagnostic.span.file);
                ignore = [Suppressions::scan(file).addition(diagnostic.span, &diagnostic.code)];
                Some(&ignore[..])
            }
            Choice::Ignore => None,
            Choice::Safe | Choice::All => edits_of(diagnostic, choice == Choice::All),
        };
        let Some(edits) = edits else { continue };
        // A fix in several files is not applied, because the files cannot be written as one atomic
        // change.
        let Some(id) = edits.first().map(|edit| edit.span.file) else {
            continue;
        };
        if edits.iter().any(|edit| edit.span.file != id) || !run.checked.contains(&id) {
            continue;
        }
        let index = chosen.iter().position(|(file, ..)| *file == id);
        let index = index.unwrap_or_else(|| {
            chosen.push((id, Vec::new(), 0));
            chosen.len() - 1
        });
        let Some((_, taken, fixes)) = chosen.get_mut(index) else {
            continue;
        };
        let clash =
            |a: &Edit, b: &Edit| a.span.start < b.span.end && b.span.start < a.span.end || a.span.start == b.span.start;
        if edits.iter().any(|edit| taken.iter().any(|other| clash(edit, other))) {
            continue;
        }
        taken.extend_from_slice(edits);
        *fixes += 1;
    }
    for (_, edits, _) in &mut chosen {
        edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    }
    chosen
}

/// The file's new content (source, or a notebook's JSON); `None` if the edits do not fit the text or
/// would break its syntax.
fn apply(file: &SourceFile, edits: &[Edit]) -> Option<String> {
    let issues = file.parsed().issues.len();
    let Some(json) = file.json() else {
        let after = splice(file.text(), 0, edits)?;
        return (syntax::parse(&after, false).issues.len() <= issues).then_some(after);
    };
    let mut sources = Vec::new();
    let mut fitting = 0;
    for cell in file.cells() {
        let (start, end) = (cell.range.start().to_u32(), cell.range.end().to_u32());
        let within = |edit: &&Edit| start <= edit.span.start && edit.span.end <= end;
        let mine: Vec<Edit> = edits.iter().filter(within).cloned().collect();
        if mine.is_empty() {
            continue;
        }
        fitting += mine.len();
        let after = splice(file.slice(cell.range), start, &mine)?;
        if syntax::parse(&after, true).issues.len() > issues {
            return None;
        }
        sources.push((cell.number, after));
    }
    if fitting != edits.len() {
        return None;
    }
    Notebook::replace_sources(json, &sources).ok()
}

/// Applies sorted edits to a text that starts at an offset of the file.
fn splice(text: &str, start: u32, edits: &[Edit]) -> Option<String> {
    let crlf = text.find('\n').is_some_and(|at| text[..at].ends_with('\r'));
    let mut out = String::with_capacity(text.len());
    let mut done = 0usize;
    for edit in edits {
        let from = usize::try_from(edit.span.start.checked_sub(start)?).ok()?;
        let to = usize::try_from(edit.span.end.checked_sub(start)?).ok()?;
        out.push_str(text.get(done..from)?);
        if crlf {
            out.push_str(&edit.content.replace("\r\n", "\n").replace('\n', "\r\n"));
        } else {
            out.push_str(&edit.content);
        }
        text.get(from..to)?;
        done = to;
    }
    out.push_str(text.get(done..)?);
    Some(out)
}

impl Changed {
    /// The change as a patch.
    pub(super) fn diff(&self) -> String {
        let name = self.path.display().to_string();
        let diff = TextDiff::from_lines(&self.before, &self.after);
        diff.unified_diff().header(&name, &name).to_string()
    }

    /// The new content in the encoding of the old one.
    pub(super) fn encode(&self) -> Option<Vec<u8>> {
        self.encoding.encode(&self.after)
    }

    /// Writes the new content atomically: a reader sees the old or the new content, never a part.
    pub(super) fn write(&self) -> Result<(), String> {
        let fail = |error: io::Error| format!("{}: {error}", self.path.display());
        let Some(bytes) = self.encode() else {
            return Err(format!("{}: the fixed text cannot be written in the file's encoding", self.path.display()));
        };
        replace(&self.canonical, &bytes).map_err(fail)
    }
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.torchvet-{}", std::process::id()));
    let written = fs::write(&beside, bytes)
        .and_then(|()| fs::set_permissions(&beside, fs::metadata(path)?.permissions()))
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}
