//! The open documents and their findings. Each document is analysed as a program, together with its
//! imports.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use gen_lsp_types::{Diagnostic as LspDiagnostic, Uri};
use rustc_hash::FxHashSet;

use super::convert::{Lens, Open};
use super::documents::Document;
use super::settings::{Cache, Loaded};
use crate::analysis::{FactEntry, Wanted, analyse_unless, chosen, helps_library, imports_torch};
use crate::config::marked_root;
use crate::diagnostic::Diagnostic;
use crate::findings::{Sieve, condense_by, merge_by, syntax_errors};
use crate::panics;
use crate::project::{Disk, Project};
use crate::syntax::PositionEncoding;

/// For the facts about a file, at most this many other programs that import it are analysed.
const CALLERS: usize = 3;

/// Why an analysis has no result.
#[derive(Debug)]
pub(super) enum Stopped {
    /// Cancelled, because newer work must be done.
    Cancelled,
    /// torchvet crashed, with this message.
    Bug(String),
}

/// Whether to cancel the current work.
pub(super) type Cancelled<'a> = &'a dyn Fn() -> bool;

/// An open document, analysed as a program.
struct Root {
    /// The project that the analysis has read. The spans of findings refer to it.
    project: Project,
    reads: FxHashSet<PathBuf>,
    /// Syntax errors, and the findings in the document and its imports.
    found: Vec<Diagnostic>,
    /// The analysis is incomplete, so a comment that suppresses nothing may still be needed.
    uncertain: bool,
    /// The analysis is out of date: for example, a file that it has read has changed.
    stale: bool,
    /// The answer of [`Workspace::helps_library`] for the analysis.
    helps_library: Option<bool>,
}

impl Root {
    fn concerns(&self, path: &Path) -> bool {
        self.found.iter().any(|finding| self.project.file(finding.span.file).canonical() == path)
    }
}

/// The result of the analysis of a document.
pub(super) struct Analysed {
    /// The files whose findings may have changed, including the document.
    pub concerned: Vec<PathBuf>,
    /// torchvet crashed, with this message.
    pub bug: Option<String>,
}

/// A finding, and the project to which its places refer.
pub(super) struct Reported<'w> {
    pub finding: Diagnostic,
    pub project: &'w Project,
}

pub(super) struct Workspace {
    encoding: PositionEncoding,
    pub settings: Cache,
    pub folders: Vec<PathBuf>,
    disk: Arc<Disk>,
    open: Open,
    roots: BTreeMap<PathBuf, Root>,
    /// All open documents in one project, which shows the programs to which they belong.
    programs: OnceLock<Project>,
}

impl Workspace {
    pub(super) fn new(encoding: PositionEncoding) -> Self {
        Workspace {
            encoding,
            settings: Cache::default(),
            folders: Vec::new(),
            disk: Arc::default(),
            open: Open::default(),
            roots: BTreeMap::new(),
            programs: OnceLock::new(),
        }
    }

    pub(super) fn lens(&self) -> Lens<'_> {
        Lens { open: &self.open, encoding: self.encoding }
    }

    pub(super) fn document(&self, path: &Path) -> Option<&Arc<Document>> {
        self.open.get(path)
    }

    pub(super) fn documents(&self) -> impl Iterator<Item = &Arc<Document>> {
        self.open.values()
    }

    /// Stores the newest state of a document.
    pub(super) fn set(&mut self, document: Arc<Document>) {
        let path = document.path.clone();
        match &document.content {
            Some(content) => self.disk.shadow(&path, content.clone()),
            None => self.disk.unshadow(&path),
        }
        self.programs = OnceLock::new();
        let known = self.open.insert(path.clone(), document).is_some();
        self.changed(&path, !known && !path.exists());
        self.roots.entry(path).and_modify(|root| root.stale = true);
    }

    /// Forgets a document. Returns the files in which it had findings.
    pub(super) fn close(&mut self, path: &Path) -> Vec<PathBuf> {
        let concerned = self.concerned(path);
        self.disk.unshadow(path);
        self.programs = OnceLock::new();
        self.open.remove(path);
        self.roots.remove(path);
        self.changed(path, !path.exists());
        concerned
    }

    /// Records that a file has changed: programs that have read it must be analysed again. If it
    /// was created or deleted, any import may have another meaning.
    pub(super) fn changed(&mut self, path: &Path, born_or_gone: bool) {
        let now = self.open.get(path).and_then(|document| document.content.as_ref());
        for root in self.roots.values_mut() {
            let same = || {
                let before = root.project.files().find(|file| file.canonical() == path);
                before.zip(now).is_some_and(|(before, now)| before.text() == now.text())
            };
            if born_or_gone || root.reads.contains(path) && !same() {
                root.stale = true;
            }
        }
    }

    /// Records that everything must be analysed again.
    pub(super) fn all_changed(&mut self) {
        for root in self.roots.values_mut() {
            root.stale = true;
        }
    }

    /// Whether the analysis of a document is out of date.
    pub(super) fn is_stale(&self, path: &Path) -> bool {
        let is_stale = |root: &Root| root.stale || root.helps_library != self.helps_library(path);
        self.open.contains_key(path) && self.roots.get(path).is_none_or(is_stale)
    }

    /// Whether a document that does not import PyTorch belongs to a program that does, as far as the open documents
    /// show. `None` for other documents.
    fn helps_library(&self, path: &Path) -> Option<bool> {
        let document = self.open.get(path)?;
        if imports_torch(document.content.as_ref()?.text()) {
            return None;
        }
        let programs = self.programs.get_or_init(|| {
            let project = Project::with_disk(self.top(path), self.disk.clone());
            for (path, _) in self.open.iter().filter(|(_, document)| document.content.is_some()) {
                // A document that cannot be read belongs to no program.
                drop(project.load(path));
            }
            project.all_named();
            project
        });
        let file = programs.load(path).ok()?;
        Some(helps_library(programs, file.id))
    }

    /// Analyses a document, unless the work is cancelled.
    pub(super) fn analyse(&mut self, path: &Path, cancelled: Cancelled) -> Option<Analysed> {
        let loaded = self.settings_of(path);
        let before = self.concerned(path);
        let project = Project::with_disk(self.top(path), self.disk.clone());
        let wanted = self.open.get(path).is_some_and(|document| document.content.is_some());
        let wanted = wanted && self.settings.options().is_on() && !self.passes_over(path, &loaded);
        let file = project.load(path).ok().filter(|_| wanted).map(|file| file.id);
        let helps_library = self.helps_library(path);
        let (reads, found) = (FxHashSet::default(), Vec::new());
        let mut root = Root { reads, found, uncertain: true, stale: false, helps_library, project };
        let mut bug = None;
        if let Some(id) = file {
            let rules = (&loaded.settings.rules, &loaded.contracts);
            let work = || {
                injected_panic(root.project.file(id).text());
                let wanted = Wanted { helps_library: helps_library == Some(true), ..Wanted::default() };
                analyse_unless(cancelled, &root.project, id, rules, wanted)
            };
            match panics::catch(work) {
                Ok(None) => return None,
                Ok(Some(report)) => {
                    root.found = report.diagnostics;
                    root.uncertain = report.exhausted;
                }
                Err(panic) => bug = Some(panic),
            }
            if bug.is_none() {
                let errors = syntax_errors(root.project.file(id));
                root.uncertain |= !errors.is_empty();
                root.found.splice(0..0, errors);
            }
        }
        root.reads = root.project.paths().collect();
        self.roots.insert(path.to_owned(), root);
        let mut concerned = self.concerned(path);
        concerned.extend(before);
        concerned.sort();
        concerned.dedup();
        Some(Analysed { concerned, bug })
    }

    /// The files in which the analysis of a document has findings, and the document.
    fn concerned(&self, path: &Path) -> Vec<PathBuf> {
        let Some(root) = self.roots.get(path) else { return vec![path.to_owned()] };
        let found = root.found.iter().map(|finding| root.project.file(finding.span.file).canonical().to_owned());
        found.chain([path.to_owned()]).collect()
    }

    /// A document that must be analysed before the findings in a file are known: the file itself,
    /// or a program that had findings in it.
    pub(super) fn awaited(&self, path: &Path) -> Option<PathBuf> {
        if self.is_stale(path) {
            return Some(path.to_owned());
        }
        let mut others = self.roots.iter().filter(|(_, root)| root.stale && root.concerns(path));
        others.next().map(|(own, _)| own.clone())
    }

    /// The findings in a file; `None` while some part of them is not known yet.
    pub(super) fn reported(&mut self, path: &Path) -> Option<Vec<Reported<'_>>> {
        if self.awaited(path).is_some() {
            return None;
        }
        let loaded = self.settings_of(path);
        let this = &*self;
        let open = this.open.contains_key(path);
        let contributors = this.roots.iter().filter(|(own, root)| *own == path || root.concerns(path));
        let contributors: Vec<&Root> = contributors.map(|(_, root)| root).collect();
        // An open file has a project of its own. Any other file is part of the project of a
        // program that imports it.
        let Some(home) = this.roots.get(path).or_else(|| contributors.first().copied()) else {
            return Some(Vec::new());
        };
        let Some(file) = home.project.files().find(|file| file.canonical() == path) else { return Some(Vec::new()) };
        let mut all: Vec<Reported> = Vec::new();
        for root in &contributors {
            let inside = root.found.iter().filter(|finding| root.project.file(finding.span.file).canonical() == path);
            all.extend(inside.map(|finding| {
                let mut finding = finding.clone();
                finding.span.file = file.id;
                Reported { finding, project: &root.project }
            }));
        }
        let mut all = merge_by(all, |reported| &reported.finding);
        let passed_over = !open && this.passes_over(path, &loaded);
        let sieve = Sieve::new(&loaded.settings, file, passed_over);
        all.retain(|reported| sieve.keeps(&reported.finding));
        if open && !home.uncertain {
            all.extend(sieve.unused().into_iter().map(|finding| Reported { finding, project: &home.project }));
        }
        for reported in &mut all {
            reported.finding.severity = loaded.settings.severity(&reported.finding);
            // From here on, the places refer to the finding's own project again.
            let own = reported.project.files().find(|file| file.canonical() == path);
            reported.finding.span.file = own.map_or(reported.finding.span.file, |file| file.id);
        }
        all.sort_by(|a, b| {
            let key = |r: &Reported| (r.finding.span.start, r.finding.span.end);
            (key(a), &a.finding.code).cmp(&(key(b), &b.finding.code))
        });
        condense_by(&mut all, |reported| &mut reported.finding, |a, b| std::ptr::eq(a.project, b.project));
        Some(all)
    }

    /// The findings in a file, in the editor's form, each with the URI under which it is shown.
    /// `None` while some part of them is not known yet.
    pub(super) fn shown(&mut self, path: &Path) -> Option<Vec<(Uri, LspDiagnostic)>> {
        let encoding = self.encoding;
        let open = self.open.clone();
        let lens = Lens { open: &open, encoding };
        let found = self.reported(path)?;
        Some(found.iter().map(|reported| lens.finding(reported.project, &reported.finding)).collect())
    }

    /// The facts about the variables of a document, or about the expressions around an offset. If
    /// the document's own run does not reach some code, a program that imports the document may
    /// reach it.
    pub(super) fn facts(&mut self, path: &Path, at: Option<u32>, cancelled: Cancelled) -> Result<Facts, Stopped> {
        let project = Project::with_disk(self.top(path), self.disk.clone());
        let Ok(id) = project.load(path).map(|file| file.id) else { return Ok(Facts::none(project)) };
        let loaded = self.settings_of(path);
        let rules = (&loaded.settings.rules, &loaded.contracts);
        let wanted = Wanted { facts: at.is_none(), at: at.map(|at| (id, at)), ..Wanted::default() };
        let callers = self.roots.iter().filter(|(own, root)| *own != path && root.reads.contains(path));
        let mut all = Vec::new();
        let callers = callers.map(|(own, _)| own.as_path()).take(CALLERS);
        for root in std::iter::once(path).chain(callers) {
            let Ok(root) = project.load(root).map(|file| file.id) else { continue };
            let report = panics::catch(|| analyse_unless(cancelled, &project, root, rules, wanted));
            let report = report.map_err(Stopped::Bug)?.ok_or(Stopped::Cancelled)?;
            let facts = if at.is_some() { report.around } else { report.facts };
            all.extend(facts.into_iter().filter(|fact| fact.span.file == id).map(|fact| (root, fact)));
        }
        let mut entries = chosen(all);
        entries.sort_by_key(|fact| (fact.span.start, fact.span.end));
        Ok(Facts { project, entries })
    }

    pub(super) fn settings_of(&mut self, path: &Path) -> Arc<Loaded> {
        self.settings.of(path.parent().unwrap_or(path))
    }

    /// The folder in which imports of a file are searched.
    fn top(&self, path: &Path) -> PathBuf {
        let folder = path.parent().unwrap_or(path);
        let around =
            || self.folders.iter().filter(|top| folder.starts_with(top)).max_by_key(|top| top.as_os_str().len());
        let top = marked_root(folder).or_else(|| around().map(PathBuf::as_path));
        top.unwrap_or(folder).to_owned()
    }

    fn passes_over(&self, path: &Path, loaded: &Loaded) -> bool {
        loaded.settings.walker.is_excluded_below(&self.top(path), path)
    }
}

/// Facts about some places, and the project to which they refer.
pub(super) struct Facts {
    pub project: Project,
    pub entries: Vec<FactEntry>,
}

impl Facts {
    fn none(project: Project) -> Self {
        Facts { project, entries: Vec::new() }
    }
}

/// In debug builds, panics if the text contains a certain comment. This tests that the server
/// survives a panic.
fn injected_panic(text: &str) {
    #[expect(clippy::manual_assert, reason = "the panic is intended")]
    if cfg!(debug_assertions) && text.contains("# torchvet-test: panic") {
        panic!("on demand");
    }
}
