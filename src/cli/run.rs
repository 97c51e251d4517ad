//! From paths to findings: walk, read, parse, interpret, filter.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::progress::Progress;
use super::{Level, panics};
use crate::analysis::{FactEntry, Wanted, analyse};
use crate::config::select::{is_known, known_names, matches_rule};
use crate::config::{Settings, project_root};
use crate::contract::Contracts;
use crate::diagnostic::{Diagnostic, Severity};
use crate::output;
use crate::project::suppressions::{Judgement, Suppressions, UNUSED_IGNORE};
use crate::project::{Project, ReadError, ReadErrorKind, SourceFile, mentions};
use crate::syntax::{FileId, Span, TextRange, TextSize, VARIABLES};

/// The code of a syntax error.
pub const INVALID_SYNTAX: &str = "invalid-syntax";
/// After the first few syntax errors of a file, the rest are mostly echoes.
const SYNTAX_ERRORS_SHOWN: usize = 5;

/// What to run over.
#[derive(Debug, Clone, Default)]
pub struct Input {
    pub paths: Vec<PathBuf>,
    /// Texts that shadow what the disk holds: standard input, and files being fixed.
    pub texts: Vec<(PathBuf, String)>,
    pub wanted: Wanted,
    pub show_progress: bool,
}

/// What a run gave.
pub struct Run {
    pub project: Project,
    /// The files that were asked for, in order; not the ones they import.
    pub checked: Vec<FileId>,
    pub diagnostics: Vec<Diagnostic>,
    pub facts: Vec<FactEntry>,
    /// What is to be said about files that could not be checked.
    pub messages: Vec<(Level, String)>,
    /// Some input could not be read.
    pub broken: bool,
    /// torchvet itself failed on some file.
    pub panicked: bool,
    pub times: Times,
}

/// How long each phase took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Times {
    pub walk: Duration,
    pub read: Duration,
    pub parse: Duration,
    pub interpret: Duration,
}

/// Checks what the input names.
pub fn run(settings: &Settings, input: &Input) -> io::Result<Run> {
    let start = super::args::start_folder(input.paths.first().map(PathBuf::as_path));
    let mut run = Run {
        project: Project::new(project_root(&start)),
        checked: Vec::new(),
        diagnostics: Vec::new(),
        facts: Vec::new(),
        messages: Vec::new(),
        broken: false,
        panicked: false,
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
    Ok(run)
}

impl Run {
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

    /// The files that set an environment variable of which a rule speaks. They are read for
    /// these rules only: one that cannot be is no reason to fail.
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
        // Of two names of one file the first counts, whichever thread is faster.
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

    /// All findings, with the files of which not everything is known.
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
        self.times.interpret = clock.elapsed();
        (merge(findings), uncertain)
    }

    /// Drops what settings and comments silence, and reports comments that silence nothing.
    fn filter(&mut self, settings: &Settings, mut findings: Vec<Diagnostic>, uncertain: &FxHashSet<FileId>) {
        let project = &self.project;
        let checked: FxHashSet<FileId> = self.checked.iter().copied().collect();
        let mut suppressions: FxHashMap<FileId, Suppressions> = FxHashMap::default();
        let files = self.checked.iter().copied().chain(findings.iter().map(|d| d.span.file));
        for id in files {
            suppressions.entry(id).or_insert_with(|| Suppressions::scan(project.file(id)));
        }
        let suppressed = |diagnostic: &Diagnostic| {
            let Some(comments) = suppressions.get(&diagnostic.span.file) else {
                return false;
            };
            if diagnostic.code == INVALID_SYNTAX {
                return comments.skips_file();
            }
            comments.covers(diagnostic)
        };
        let excluded = |diagnostic: &Diagnostic| {
            let id = diagnostic.span.file;
            let file = project.file(id);
            !checked.contains(&id) && settings.walker.is_excluded(&file.path)
                || settings.ignores(file.canonical(), diagnostic)
        };
        findings.retain(|diagnostic| {
            diagnostic.code == INVALID_SYNTAX && !suppressed(diagnostic)
                || settings.selection.is_on(&diagnostic.code) && !excluded(diagnostic) && !suppressed(diagnostic)
        });
        if settings.selection.is_on(UNUSED_IGNORE) {
            let known = known_names(&settings.rules);
            for id in self.checked.iter().filter(|id| !uncertain.contains(id)) {
                let Some(comments) = suppressions.get(id) else {
                    continue;
                };
                let unused = comments.unused(&known, |code| judge(settings, code));
                findings.extend(unused.into_iter().filter(|diagnostic| !excluded(diagnostic)));
            }
        }
        for diagnostic in &mut findings {
            diagnostic.severity = settings.severity(diagnostic);
        }
        output::sort(&mut findings, project);
        self.diagnostics = findings;
    }

    fn trouble(&mut self, error: &ReadError) {
        match error.kind {
            ReadErrorKind::Broken => {
                self.broken = true;
                self.messages.push((Level::Error, error.to_string()));
            }
            ReadErrorKind::TooBig => self.messages.push((Level::Warning, error.to_string())),
            ReadErrorKind::NotPython => {}
        }
    }

    fn bug(&mut self, id: FileId, panic: &str) {
        self.panicked = true;
        let path = self.project.file(id).path.display();
        let message = format!("{path}: a bug of torchvet, please report it: {panic}");
        self.messages.push((Level::Error, message));
    }
}

/// What an idle code in a suppressing comment means under these settings.
fn judge(settings: &Settings, code: &str) -> Judgement {
    let narrowed = settings.selection.is_narrowed();
    if code.is_empty() || code.eq_ignore_ascii_case("ALL") {
        return if narrowed { Judgement::NotRun } else { Judgement::Ran };
    }
    if code == UNUSED_IGNORE {
        return Judgement::NotRun;
    }
    if !is_known(code, &settings.rules) {
        return Judgement::Unknown;
    }
    let pages = settings.rules.pages.iter();
    let mut named = pages.filter(|page| matches_rule(code, &page.code, &page.name));
    if named.all(|page| settings.selection.is_on(&page.code)) { Judgement::Ran } else { Judgement::NotRun }
}

/// The first few syntax errors of a file, one for a line: the next one on a line is mostly
/// an echo.
fn syntax_errors(file: &SourceFile) -> Vec<Diagnostic> {
    let mut issues = file.parsed().issues.clone();
    issues.dedup_by_key(|issue| file.line_of(issue.range.start().to_u32()));
    // What is missing at the end is missing after the last thing that is there.
    let end = TextSize::of(file.text().trim_end());
    let place = |range: TextRange| {
        if range.start() > end { TextRange::empty(end) } else { range }
    };
    let shown = issues.into_iter().take(SYNTAX_ERRORS_SHOWN);
    shown.map(|issue| syntax_error(Span::new(file.id, place(issue.range)), issue.message)).collect()
}

fn syntax_error(span: Span, message: String) -> Diagnostic {
    let escape = |c: char| match c.is_control() {
        true => c.escape_unicode().to_string(),
        false => c.to_string(),
    };
    let message = message.chars().map(escape).collect();
    Diagnostic {
        code: INVALID_SYNTAX.into(),
        name: INVALID_SYNTAX.into(),
        severity: Severity::Error,
        message,
        span,
        labels: Vec::new(),
        help: None,
        fix: None,
        witness: None,
        verdict: None,
    }
}

/// A finding that several files lead to is one finding: the most severe is kept.
fn merge(findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut at: FxHashMap<(String, Span), usize> = FxHashMap::default();
    let mut merged: Vec<Diagnostic> = Vec::new();
    for finding in findings {
        let key = (finding.code.to_string(), finding.span);
        match at.get(&key).and_then(|&index| merged.get_mut(index)) {
            Some(kept) if kept.severity < finding.severity => *kept = finding,
            Some(_) => {}
            None => {
                at.insert(key, merged.len());
                merged.push(finding);
            }
        }
    }
    merged
}

/// The path of a text that came from standard input.
pub fn stdin_path(name: Option<&Path>) -> PathBuf {
    name.map_or_else(|| PathBuf::from("-"), Path::to_owned)
}

/// Of each variable the facts of its own file run as the program; of a function that only
/// other files call, what they give it, where they agree.
fn chosen(facts: Vec<(FileId, FactEntry)>) -> Vec<FactEntry> {
    let mut own: FxHashMap<Span, FactEntry> = FxHashMap::default();
    let mut called: FxHashMap<Span, Option<FactEntry>> = FxHashMap::default();
    for (root, fact) in facts {
        if fact.span.file == root {
            own.insert(fact.span, fact);
        } else if fact.reached {
            called
                .entry(fact.span)
                .and_modify(|have| {
                    if have.as_ref().is_some_and(|have| have.text != fact.text) {
                        *have = None;
                    }
                })
                .or_insert(Some(fact));
        }
    }
    let pick = |fact: FactEntry| match called.remove(&fact.span) {
        Some(Some(other)) if !fact.reached => other,
        _ => fact,
    };
    own.into_values().map(pick).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_of_several_files_is_one() {
        let span = |start| Span { file: FileId(0), start, end: 9 };
        let finding = |start, severity| Diagnostic { severity, ..syntax_error(span(start), String::new()) };
        let merged = merge(vec![
            finding(0, Severity::Warning),
            finding(1, Severity::Error),
            finding(0, Severity::Error),
            finding(1, Severity::Info),
        ]);
        let kept: Vec<_> = merged.iter().map(|d| (d.span.start, d.severity)).collect();
        assert_eq!(kept, [(0, Severity::Error), (1, Severity::Error)]);
    }

    #[test]
    fn a_panic_becomes_its_message() {
        super::panics::install();
        let caught = panics::catch(|| {
            if true {
                panic!("no such luck")
            }
        });
        assert!(caught.is_err_and(|message| message.contains("no such luck")));
        assert_eq!(panics::catch(|| 1), Ok(1));
    }
}
