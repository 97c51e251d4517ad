//! The lines that changed since a git revision.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::diagnostic::Diagnostic;
use crate::project::Project;
use crate::syntax::Span;

/// Changed lines by file; the paths are canonical.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changes {
    lines: BTreeMap<PathBuf, Vec<RangeInclusive<usize>>>,
}

impl Changes {
    /// The changes of the working tree since the merge base with `revision`. In a file that git
    /// neither tracks nor ignores, all lines are new.
    pub(crate) fn since(revision: &str, folder: &Path) -> Result<Changes, String> {
        let top = git(folder, &["rev-parse", "--show-toplevel"])?;
        let top = PathBuf::from(top.trim_end());
        let top = top.canonicalize().unwrap_or(top);
        // With `--end-of-options`, a revision that begins with a dash is not read as an option.
        // Histories without a common ancestor are compared directly.
        let commit = format!("{revision}^{{commit}}");
        let base = git(&top, &["merge-base", "--end-of-options", revision, "HEAD"])
            .or_else(|_| git(&top, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]))
            .map_err(|_| format!("git does not know the revision `{revision}`"))?;
        let diff = git(
            &top,
            &[
                "-c",
                "core.quotePath=false",
                "diff",
                "--unified=0",
                "--no-color",
                "--no-ext-diff",
                "--no-prefix",
                "--no-renames",
                base.trim_end(),
                "--",
            ],
        )?;
        let mut lines = parse(&diff, &top);
        let new = git(&top, &["ls-files", "-z", "--others", "--exclude-standard"])?;
        for path in new.split('\0').filter(|path| !path.is_empty()) {
            lines.insert(top.join(path), vec![1..=usize::MAX]);
        }
        Ok(Changes { lines })
    }

    /// Whether a finding, or a place that contributes to it, is on a changed line. The places are
    /// included, because a changed layer may cause a failure in another file.
    pub(crate) fn touch(&self, diagnostic: &Diagnostic, project: &Project) -> bool {
        let spans = diagnostic.labels.iter().map(|label| label.span);
        std::iter::once(diagnostic.span).chain(spans).any(|span| self.contain(span, project))
    }

    /// The lines of a notebook's file do not correspond to the lines of its cells. So if one line
    /// of the file has changed, all lines of the cells are treated as changed.
    fn contain(&self, span: Span, project: &Project) -> bool {
        let file = project.file(span.file);
        let Some(changed) = self.lines.get(file.canonical()) else { return false };
        let (first, last) = (file.line_of(span.start), file.line_of(span.end.max(span.start)));
        file.json().is_some() || changed.iter().any(|lines| *lines.start() <= last && first <= *lines.end())
    }
}

fn git(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git").current_dir(folder).args(arguments).output();
    let output = output.map_err(|error| format!("cannot run `git`: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("git: {}", said.trim().trim_start_matches("fatal: ")))
}

/// Reads the lines `+++ path` and `@@ -a,b +c,d @@` of a diff.
fn parse(diff: &str, top: &Path) -> BTreeMap<PathBuf, Vec<RangeInclusive<usize>>> {
    let mut lines: BTreeMap<PathBuf, Vec<RangeInclusive<usize>>> = BTreeMap::new();
    let mut file: Option<PathBuf> = None;
    // The remaining lines of the hunk are counted, because a changed line may begin with `+++`,
    // too.
    let (mut removed, mut added) = (0usize, 0usize);
    for line in diff.lines() {
        match line.bytes().next() {
            Some(b'-') if removed > 0 => removed -= 1,
            Some(b'+') if added > 0 => added -= 1,
            _ => {
                if let Some(path) = line.strip_prefix("+++ ") {
                    // Git adds a tab after a name that contains a space.
                    let path = path.trim_end_matches('\t');
                    file = (path != "/dev/null").then(|| top.join(path));
                } else if let Some((before, (start, count))) = hunk(line) {
                    (removed, added) = (before, count);
                    if let Some(file) = file.as_ref().filter(|_| count > 0) {
                        lines.entry(file.clone()).or_default().push(start..=start.saturating_add(count - 1));
                    }
                }
            }
        }
    }
    lines
}

/// The number of lines that a hunk removes, the number of the first line that it adds, and the
/// number of added lines.
fn hunk(line: &str) -> Option<(usize, (usize, usize))> {
    let mut words = line.strip_prefix("@@ ")?.split(' ');
    let mut part = |sign: char| {
        let part = words.next()?.strip_prefix(sign)?;
        // Git omits a count of one.
        let (start, count) = part.split_once(',').unwrap_or((part, "1"));
        Some((start.parse::<usize>().ok()?, count.parse::<usize>().ok()?))
    };
    let (_, before) = part('-')?;
    Some((before, part('+')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_lines_are_read_from_a_diff() {
        let diff = "\
diff --git train.py train.py
--- train.py
+++ train.py
@@ -3 +3,2 @@ def f():
-+++ old
+++ new
+more
@@ -9,2 +10,0 @@
-a
-b
diff --git gone.py gone.py
--- gone.py
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a b.py a b.py
--- /dev/null
+++ a b.py\t
@@ -0,0 +1 @@
+y
";
        let lines = parse(diff, Path::new("/top"));
        let found: Vec<_> =
            lines.iter().map(|(path, lines)| (path.to_str().unwrap_or_default(), lines.clone())).collect();
        assert_eq!(found, [("/top/a b.py", vec![1..=1]), ("/top/train.py", vec![3..=4])]);
    }
}
