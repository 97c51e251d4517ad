//! Computes the findings of paths: walks, reads, parses, interprets and filters.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::progress::Progress;
use super::{Global, Level, Status, say};
use crate::analysis::{CheckedCall, FactEntry, Wanted, analyse, chosen};
use crate::config::{Settings, project_root};
use crate::contract::Contracts;
use crate::diagnostic::Diagnostic;
use crate::findings::baseline::Baseline;
use crate::findings::changes::Changes;
use crate::findings::identity::Identity;
use crate::findings::{Sieve, merge, syntax_errors};
use crate::output;
use crate::panics;
use crate::project::{Project, ReadError, ReadErrorKind, mentions};
use crate::syntax::{FileId, VARIABLES};

/// The input of a run.
#[derive(Debug, Clone, Default)]
pub(super) struct Input {
    pub paths: Vec<PathBuf>,
    /// Texts that replace files on disk: standard input, and files that are being fixed.
    pub texts: Vec<(PathBuf, String)>,
    pub wanted: Wanted,
    pub show_progress: bool,
    pub known: Known,
}

/// Determines which findings are hidden because they are not new: those in the baseline, and those
/// that touch no changed line.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    pub baseline: Option<Baseline>,
    pub changes: Option<Changes>,
}

/// The result of a run.
pub(super) struct Run {
    pub project: Project,
    /// The checked files, in order, without the files that they import.
    pub checked: Vec<FileId>,
    pub diagnostics: Vec<Diagnostic>,
    pub facts: Vec<FactEntry>,
    /// The calls that contracts check, if coverage was requested.
    pub calls: Vec<CheckedCall>,
    /// Messages, such as those about files that could not be checked and stale entries of the
    /// baseline.
    pub messages: Vec<(Level, String)>,
    /// Some input could not be read.
    pub broken: bool,
    /// torchvet crashed on some file.
    pub panicked: bool,
    /// The number of paths that could not be read, or that crashed torchvet.
    pub unchecked: usize,
    pub times: Times,
}

/// The duration of each phase.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Times {
    pub walk: Duration,
    pub read: Duration,
    pub parse: Duration,
    pub interpret: Duration,
}

/// Checks the files of the input.
pub(super) fn run(settings: &Settings, input: &Input) -> io::Result<Run> {
    let start = super::args::start_folder(input.paths.first().map(PathBuf::as_path));
    let mut run = Run {
        project: Project::new(project_root(&start)),
        checked: Vec::new(),
        diagnostics: Vec::new(),
        facts: Vec::new(),
        calls: Vec::new(),
        messages: Vec::new(),
        broken: false,
        panicked: false,
        unchecked: 0,
        times: Times::default(),
    };
    for (path, text) in &input.texts {
        if let Err(error) = run.project.add_text(path, text) {
            run.trouble(&error);
        }
    }
    let files = run.walk(settings, input);
    run.read(&files);
    if files.is_empty() && !run.broken {
        let message = "there are no Python files to check".to_owned();
        run.messages.push((Level::Warning, message));
    }
    run.parse();
    let contracts = Contracts::compile(&settings.rules).map_err(io::Error::other)?;
    let (findings, uncertain) = run.interpret(settings, &contracts, input);
    run.filter(settings, findings, &uncertain);
    run.pass_over(&input.known);
    Ok(run)
}

impl Run {
    /// Prints the messages of the run; its notes only with `--verbose`.
    pub(super) fn tell(&self, global: &Global) {
        for (level, message) in &self.messages {
            if *level != Level::Note || global.verbose {
                say(*level, message);
            }
        }
    }

    /// The exit status if there were no findings.
    pub(super) fn status(&self) -> Status {
        if self.panicked {
            Status::Internal
        } else if self.broken {
            Status::Failed
        } else {
            Status::Clean
        }
    }

    fn walk(&mut self, settings: &Settings, input: &Input) -> Vec<PathBuf> {
        let clock = Instant::now();
        let given = |path: &PathBuf| input.texts.iter().any(|(text, _)| text == path);
        let (texts, paths): (Vec<PathBuf>, Vec<PathBuf>) = input.paths.iter().cloned().partition(|path| given(path));
        let mut walk = settings.walker.walk(&paths);
        for error in &walk.errors {
            self.trouble(error);
        }
        walk.files.extend(texts);
        let launch = self.launch(&walk.launch);
        walk.files.extend(launch);
        self.times.walk = clock.elapsed();
        walk.files
    }

    /// Selects the launch files, such as shell scripts and Dockerfiles, that mention one of the
    /// environment variables in [`VARIABLES`]. A launch file that cannot be read is not an error,
    /// because only the rules about these variables need it.
    fn launch(&mut self, files: &[PathBuf]) -> Vec<PathBuf> {
        let wanted: Vec<Result<bool, ReadError>> = files.par_iter().map(|path| mentions(path, VARIABLES)).collect();
        let mut chosen = Vec::new();
        for (path, wanted) in files.iter().zip(wanted) {
            match wanted.and_then(|wanted| if wanted { self.project.load(path).map(|_| true) } else { Ok(false) }) {
                Ok(true) => chosen.push(path.clone()),
                Ok(false) => {}
                Err(error) => self.messages.push((Level::Note, format!("skipped {error}"))),
            }
        }
        chosen
    }

    fn read(&mut self, files: &[PathBuf]) {
        let clock = Instant::now();
        let real: Vec<Option<PathBuf>> = files.par_iter().map(|p| p.canonicalize().ok()).collect();
        // If a file has two paths, the first path is used, so that the order of threads has no effect.
        let mut named = FxHashSet::default();
        let mut once = |real: Option<PathBuf>| real.is_none_or(|real| named.insert(real));
        let files: Vec<&PathBuf> =
            files.iter().zip(real).filter_map(|(path, real)| once(real).then_some(path)).collect();
        let read: Vec<Result<FileId, ReadError>> =
            files.par_iter().map(|path| self.project.load(path).map(|file| file.id)).collect();
        let mut seen = FxHashSet::default();
        for result in read {
            match result {
                Ok(id) if seen.insert(id) => self.checked.push(id),
                Ok(_) => {}
                Err(error) => self.trouble(&error),
            }
        }
        self.project.all_named();
        let Run { project, checked, .. } = self;
        checked.sort_by(|a, b| project.file(*a).path.cmp(&project.file(*b).path));
        self.times.read = clock.elapsed();
    }

    fn parse(&mut self) {
        let clock = Instant::now();
        let parsed: Vec<Result<(), String>> =
            self.checked.par_iter().map(|&id| panics::catch(|| _ = self.project.file(id).parsed())).collect();
        let checked = std::mem::take(&mut self.checked);
        for (id, result) in checked.into_iter().zip(parsed) {
            match result {
                Ok(()) => self.checked.push(id),
                Err(panic) => self.bug(id, &panic),
            }
        }
        self.times.parse = clock.elapsed();
    }

    /// All findings, and the files that could not be analysed completely.
    fn interpret(
        &mut self,
        settings: &Settings,
        contracts: &Contracts,
        input: &Input,
    ) -> (Vec<Diagnostic>, FxHashSet<FileId>) {
        let clock = Instant::now();
        let project = &self.project;
        let total = self.checked.len();
        let reports: Vec<_> = Progress::during(input.show_progress, ("checking", total, "files"), |progress| {
            let one = |&id: &FileId| {
                let report = panics::catch(|| analyse(project, id, &settings.rules, contracts, input.wanted));
                progress.step();
                (id, report)
            };
            self.checked.par_iter().map(one).collect()
        });
        let mut uncertain = FxHashSet::default();
        let mut findings = Vec::new();
        let mut facts = Vec::new();
        let mut calls = Vec::new();
        for (id, report) in reports {
            let file = self.project.file(id);
            findings.extend(syntax_errors(file));
            if !file.parsed().issues.is_empty() {
                uncertain.insert(id);
            }
            match report {
                Ok(report) => {
                    findings.extend(report.diagnostics);
                    facts.extend(report.facts.into_iter().map(|fact| (id, fact)));
                    calls.extend(report.calls);
                    if report.exhausted {
                        uncertain.insert(id);
                    }
                }
                Err(panic) => {
                    uncertain.insert(id);
                    self.bug(id, &panic);
                }
            }
        }
        self.facts = chosen(facts);
        self.calls = calls;
        self.times.interpret = clock.elapsed();
        (merge(findings), uncertain)
    }

    /// Drops findings that settings and comments suppress, and reports comments that suppress nothing.
    fn filter(&mut self, settings: &Settings, mut findings: Vec<Diagnostic>, uncertain: &FxHashSet<FileId>) {
        let project = &self.project;
        let checked: FxHashSet<FileId> = self.checked.iter().copied().collect();
        let mut sieves: FxHashMap<FileId, Sieve> = FxHashMap::default();
        for id in self.checked.iter().copied().chain(findings.iter().map(|d| d.span.file)) {
            let file = project.file(id);
            let passed_over = || !checked.contains(&id) && settings.walker.is_excluded(&file.path);
            sieves.entry(id).or_insert_with(|| Sieve::new(settings, file, passed_over()));
        }
        findings.retain(|diagnostic| sieves.get(&diagnostic.span.file).is_some_and(|sieve| sieve.keeps(diagnostic)));
        for id in self.checked.iter().filter(|id| !uncertain.contains(id)) {
            findings.extend(sieves.get(id).map(Sieve::unused).into_iter().flatten());
        }
        for diagnostic in &mut findings {
            diagnostic.severity = settings.severity(diagnostic);
        }
        output::sort(&mut findings, project);
        self.diagnostics = findings;
    }

    /// Drops findings that are not new.
    fn pass_over(&mut self, known: &Known) {
        let project = &self.project;
        if let Some(baseline) = &known.baseline {
            let stale = baseline.drop_known(&mut self.diagnostics, project, &self.checked);
            let path = baseline.path.display();
            self.messages.extend(stale.into_iter().map(|Identity { path: file, code, text }| {
                let line = text.lines().next().unwrap_or_default();
                (
                    Level::Warning,
                    format!(
                        "{path}: {code} in {file} is no longer found: `{line}`; remove it with \
                    `--update-baseline`"
                    ),
                )
            }));
        }
        if let Some(changes) = &known.changes {
            self.diagnostics.retain(|diagnostic| changes.touch(diagnostic, project));
        }
    }

    fn trouble(&mut self, error: &ReadError) {
        match error.kind {
            ReadErrorKind::Broken => {
                self.broken = true;
                self.unchecked += 1;
                self.messages.push((Level::Error, error.to_string()));
            }
            ReadErrorKind::TooBig => self.messages.push((Level::Warning, error.to_string())),
            ReadErrorKind::NotPython => {}
        }
    }

    fn bug(&mut self, id: FileId, panic: &str) {
        self.panicked = true;
        self.unchecked += 1;
        let path = self.project.file(id).path.display();
        let message = format!("{path}: torchvet crashed; please report it: {panic}");
        self.messages.push((Level::Error, message));
    }
}

/// The path to show for a text that came from standard input.
pub(super) fn stdin_path(name: Option<&Path>) -> PathBuf {
    name.map_or_else(|| PathBuf::from("-"), Path::to_owned)
}
