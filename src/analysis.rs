//! Analyses one file: interprets it, calls contracts and rules, and collects findings.

mod coverage;
mod defaults;
mod functions;
mod options;
mod starred;
mod witness;

pub(crate) use self::coverage::{Call as CheckedCall, Known};
use self::options::{Assumed, Declared, Run};
use std::borrow::Cow;
use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use serde_json::json;

use crate::contract::{Checked, Contracts};
use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::libraries::LIBRARIES;
use crate::library::Libraries;
use crate::project::{CommandLine, FileKind, Project, Resolved, SourceFile};
use crate::python::{
    Bound, Budget, Certainty, CommandOption, Event, Import, Interp, Observer, RejectKind, Rejection, Skipped, Sources,
};
use crate::rules::{self, Call, Rules, Watch, Watching};
use crate::syntax::{
    self, Bindings, FileId, Imported, LaunchFile, Operand, Span, TextRange, ast, old_python_branches, optional_operands,
};
use crate::value::{self, Sym, Value, sym};

/// The facts about an assigned name, for `torchvet facts`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FactEntry {
    pub name: String,
    /// The place of the assigned name.
    pub span: Span,
    /// The text output: `float32[B, 10] cuda:0`.
    pub text: String,
    /// The `value` key of the JSON output.
    pub json: serde_json::Value,
    /// Whether the program reaches this place. False if the place is reached only from functions
    /// that nothing calls.
    pub reached: bool,
    /// For a tensor: the known facts (`shape`, `dtype`, …), each with the place that determines it.
    pub origins: Vec<(&'static str, Span)>,
    pub known: Known,
}

/// The result of the analysis of a file.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub diagnostics: Vec<Diagnostic>,
    /// Empty unless facts were requested.
    pub facts: Vec<FactEntry>,
    /// The expressions around the requested place, with their source text.
    pub around: Vec<FactEntry>,
    /// The calls in the file that contracts check. Empty unless coverage was requested.
    pub calls: Vec<CheckedCall>,
    /// The step budget was spent: facts after that point are unknown.
    pub exhausted: bool,
}

impl Report {
    fn add(&mut self, found: Vec<Diagnostic>) {
        self.diagnostics.extend(found);
        self.diagnostics.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    }
}

/// The requested results, in addition to findings.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wanted {
    pub facts: bool,
    /// How many conditions of contracts are decided, in addition to the facts.
    pub coverage: bool,
    /// Whether to attach the reported call to each finding, so that a witness can be made.
    pub witnesses: bool,
    /// The facts about the expressions around this offset of a file.
    pub at: Option<(FileId, u32)>,
    /// Whether the file belongs to a program that uses PyTorch, also if the project does not show this.
    pub helps_library: bool,
}

/// The maximum number of callers that are shown as labels of a finding, the nearest ones first.
const MAX_CALLERS: usize = 3;

/// Unwinds the interpreter when an analysis is cancelled.
struct Cancelled;

/// Like [`analyse`], but cancelled when `cancelled` returns true; then there is no report.
pub(crate) fn analyse_unless(
    cancelled: &dyn Fn() -> bool,
    project: &Project,
    file: FileId,
    settings: (&Rules, &Contracts),
    wanted: Wanted,
) -> Option<Report> {
    let (rules, contracts) = settings;
    let work = || run(project, file, rules, contracts, wanted, Some(cancelled));
    match panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(report) => Some(report),
        Err(payload) if payload.is::<Cancelled>() => None,
        Err(payload) => panic::resume_unwind(payload),
    }
}

/// Analyses a file as a program. The findings are not yet filtered by settings or comments, and may
/// be in files that the program imports.
pub(crate) fn analyse(project: &Project, file: FileId, rules: &Rules, contracts: &Contracts, wanted: Wanted) -> Report {
    run(project, file, rules, contracts, wanted, None)
}

fn run(
    project: &Project,
    file: FileId,
    rules: &Rules,
    contracts: &Contracts,
    wanted: Wanted,
    cancelled: Option<&dyn Fn() -> bool>,
) -> Report {
    let source = project.file(file);
    if let Some(kind) = LaunchFile::of(&source.path).filter(|_| source.kind() == FileKind::Launch) {
        let diagnostics = rules::launched(rules, file, &kind.settings(&source.path, source.text()));
        return Report { diagnostics, ..Report::default() };
    }
    // A file that does not seem to use a checked library is not interpreted.
    let is_checked = || {
        let is_of_library = concerns_library(source)
            || runs_library(project, source)
            || wanted.helps_library
            || helps_library(project, file);
        is_of_library && !project.is_source_of_generator(file) && !project.replaces_torch()
    };
    if !wanted.facts && wanted.at.is_none() && !is_checked() {
        return Report::default();
    }
    let job = &Job { project, file, rules, contracts, cancelled };
    let (mut report, run) = job.run(&Assumed::default(), wanted, Arguments::Unknown);
    let again = |arguments| move |assumed: &Assumed| job.run(assumed, Wanted::default(), arguments).1;
    options::weaken(&mut report.diagnostics, &run, &again(Arguments::Unknown));
    if let Some(unknown) = options::for_later_code(&run) {
        let later = job.run(&unknown, wanted, Arguments::Unknown).0;
        let mut found = later.diagnostics;
        found.retain(|d| !report.diagnostics.iter().any(|have| (&have.code, have.span) == (&d.code, d.span)));
        report.add(found);
        (report.facts, report.around, report.calls) = (later.facts, later.around, later.calls);
    }
    let unknown = options::unknown(&run);
    let may_reach = !run.skipped.functions.is_empty() || !unknown.is_empty() && !run.skipped.is_empty();
    if !run.ended_early && may_reach {
        let mut found = job.run(&unknown, Wanted::default(), Arguments::UnknownAlso(&run.skipped)).0.diagnostics;
        found.retain(|d| run.skipped.contains(d.span));
        report.add(found);
    }
    if run.has_defaults && !run.exhausted {
        let wanted = Wanted { witnesses: wanted.witnesses, ..Wanted::default() };
        let (with_defaults, run) = job.run(&Assumed::default(), wanted, Arguments::Defaults);
        let mut found = defaults::new(&report.diagnostics, with_defaults.diagnostics, &run);
        options::weaken(&mut found, &run, &again(Arguments::Defaults));
        found.iter_mut().for_each(defaults::weaken);
        report.add(found);
    }
    // The cells of a notebook may run in any order.
    if source.kind() == FileKind::Python && source.parsed().issues.is_empty() {
        let starred = starred::starred(project, file);
        let is_executed = || starred::is_executed(project, file);
        let excludes = |package: &str, version: &str| project.excludes(file, package, version);
        let missing = |module: &str, level, name: Option<&str>| project.missing_import(file, module, level, name);
        let body = &source.parsed().module.body;
        let setting = |parent: &str, key: &str| {
            let settings = project.settings();
            match settings.keys(parent) {
                Some(keys) if keys.contains(key) => rules::Setting::Present,
                Some(keys) if !settings.may_be_added(key) => {
                    rules::Setting::Missing(keys.iter().map(String::as_str).collect())
                }
                _ => rules::Setting::Unknown,
            }
        };
        let path = source.canonical();
        let package = path.file_name().is_some_and(|name| name == "__init__.py").then(|| path.parent()).flatten();
        let answers = rules::Answers {
            package: package.and_then(|folder| folder.file_name()?.to_str()),
            is_executed: &is_executed,
            excludes: &excludes,
            missing_import: &missing,
            setting: &setting,
            never_logs: &|name: &str| project.never_logs(file, name),
            function: &|path: &[&str]| functions::imported(project, file, path),
            option: &|root: &str, name: &str| match project.option(file, root, name) {
                CommandLine::Defined => rules::Setting::Present,
                CommandLine::Missing(known) => rules::Setting::Missing(known),
                CommandLine::Unknown => rules::Setting::Unknown,
            },
        };
        let parsed = rules::Source::new(file, body, source.text(), starred, answers);
        let mut found = rules::parsed(rules, &parsed);
        // If a run reports an error at this place, the findings of rules that read only the text are
        // dropped.
        let fails_at = |span: Span, have: &Diagnostic| have.severity == Severity::Error && have.span.contains(span);
        found.retain(|d| !report.diagnostics.iter().any(|have| fails_at(d.span, have)));
        // A name that other lines read in any case is a mistake.
        let operands = if found.is_empty() { Vec::new() } else { optional_operands(body) };
        let is_optional = |d: &Diagnostic| operands.iter().any(|it| Span::new(file, it.range).contains(d.span));
        let always_read: FxHashSet<Vec<Span>> =
            found.iter().filter(|d| !d.cause.is_empty() && !is_optional(d)).map(|d| d.cause.clone()).collect();
        weaken_in_operands(project, &mut found, &|d| !always_read.contains(&d.cause));
        report.add(found);
    }
    drop_in_old_code(project, &mut report.diagnostics);
    report
}

/// Turns unsure errors in operands that their line may leave out (see [`Operand`]) into warnings. Drops those about
/// attributes that the line tests for.
fn weaken_in_operands(project: &Project, found: &mut Vec<Diagnostic>, is_unsure: &dyn Fn(&Diagnostic) -> bool) {
    let mut operands: FxHashMap<FileId, Vec<Operand>> = FxHashMap::default();
    found.retain_mut(|d| {
        if d.severity != Severity::Error || !is_unsure(d) {
            return true;
        }
        let file = d.span.file;
        let of_file =
            operands.entry(file).or_insert_with(|| optional_operands(&project.file(file).parsed().module.body));
        let around = of_file.iter().filter(|operand| Span::new(file, operand.range).contains(d.span));
        let Some(is_tested) = around.map(|operand| operand.tests_attribute).reduce(|a, b| a || b) else { return true };
        d.severity = Severity::Warning;
        d.message += " (if this part of the line is evaluated)";
        !(is_tested && d.code == "TV801")
    });
}

/// Drops findings in branches that run only on Python 2.
fn drop_in_old_code(project: &Project, found: &mut Vec<Diagnostic>) {
    let mut branches: FxHashMap<FileId, Vec<TextRange>> = FxHashMap::default();
    found.retain(|d| {
        let of_file = branches.entry(d.span.file).or_insert_with(|| {
            let file = project.file(d.span.file);
            old_python_branches(file.text(), &file.parsed().module.body)
        });
        !of_file.iter().any(|branch| Span::new(d.span.file, *branch).contains(d.span))
    });
}

/// The arguments of functions that nothing calls.
#[derive(Debug, Clone, Copy)]
enum Arguments<'s> {
    Unknown,
    /// Unknown. The functions in which the calls of the program do not reach all the code are treated as
    /// if nothing called them.
    UnknownAlso(&'s Skipped),
    /// The defaults of the parameters, except defaults such as `None` or 0. Unknown for the others.
    Defaults,
}

/// The input of a run of the interpreter.
struct Job<'a> {
    project: &'a Project,
    file: FileId,
    rules: &'a Rules,
    contracts: &'a Contracts,
    cancelled: Option<&'a dyn Fn() -> bool>,
}

impl Job<'_> {
    fn run(&self, assumed: &Assumed, wanted: Wanted, arguments: Arguments<'_>) -> (Report, Run) {
        let Job { project, file, rules, contracts, cancelled } = *self;
        let budget = budget(project, project.file(file));
        let watcher = Watcher {
            rules,
            contracts,
            failures: RefCell::default(),
            watch: Watch::default(),
            found: RefCell::default(),
            facts: (wanted.facts || wanted.coverage).then(RefCell::default),
            conditions: wanted.coverage.then(RefCell::default),
            around: wanted.at.map(|at| (at, RefCell::default())),
            cancelled,
            witnesses: wanted.witnesses,
            refused: RefCell::default(),
            callers: RefCell::default(),
            inner: RefCell::default(),
            options: RefCell::default(),
            assumed,
            project,
        };
        let sources = Tree::of(project);
        let mut interp = Interp::new(&sources, &Libraries, &watcher, file, budget);
        interp.spot = wanted.at;
        match arguments {
            Arguments::Unknown => {}
            Arguments::UnknownAlso(skipped) => interp.also_uncalled.clone_from(&skipped.functions),
            Arguments::Defaults => interp.with_defaults = true,
        }
        let source = |span: Span| watcher.source(span);
        watcher.watch.begin(Watching { rules, source: &source, found: &mut watcher.found.borrow_mut() }, &mut interp);
        interp.run();
        watcher.watch.end(Watching { rules, source: &source, found: &mut watcher.found.borrow_mut() }, &mut interp);
        let facts = watcher.facts.as_ref().map(|facts| listed(&interp, project, &facts.borrow())).unwrap_or_default();
        let around =
            watcher.around.as_ref().map(|(_, seen)| listed(&interp, project, &seen.borrow())).unwrap_or_default();
        let exhausted = interp.exhausted();
        // The finding of a doubtful failure is dropped if a call at the same place succeeded, or
        // may have succeeded, in another context. The finding of a guessed failure is always
        // dropped.
        let failures = watcher.failures.take();
        let in_doubt = |span: Span, certainty: Certainty| match certainty {
            Certainty::Certain => false,
            Certainty::Doubtful => interp.passed.contains(&span) || interp.unjudged.contains(&span),
            Certainty::Guessed => true,
        };
        let is_doubtful = |span: Span, failure: &Failure| in_doubt(span, failure.certainty);
        watcher.found.borrow_mut().retain(|d| !failures.get(&d.span).is_some_and(|how| is_doubtful(d.span, how)));
        watcher.report_outer_calls();
        let is_unsure = |d: &Diagnostic| failures.get(&d.span).is_some_and(|how| how.certainty != Certainty::Certain);
        weaken_in_operands(project, &mut watcher.found.borrow_mut(), &is_unsure);
        // The parser guesses what a call with a syntax error means.
        watcher.found.borrow_mut().retain(|d| !Sources::is_broken(&sources, d.span));
        let places = |of: &dyn Fn(Span, &Failure) -> bool| {
            failures.iter().filter(|(span, how)| of(**span, how)).map(|(span, _)| *span).collect()
        };
        let failed = places(&|span, how| !is_doubtful(span, how));
        let supposed = places(&|_, how| how.supposed);
        let excluded = places(&|_, how| how.excluded);
        let passed = std::mem::take(&mut interp.passed);
        watcher.name_callers(&passed);
        let mut diagnostics = watcher.found.take();
        diagnostics.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()).then(b.severity.cmp(&a.severity)));
        diagnostics.dedup_by(|later, first| later.code == first.code && later.span == first.span);
        let calls = watcher.conditions.as_ref().map(|calls| calls.take().into_values().collect()).unwrap_or_default();
        // Only the code that the first run skips is checked again.
        let is_first = assumed.is_empty() && matches!(arguments, Arguments::Unknown);
        let skipped = if is_first { interp.skipped() } else { Skipped::default() };
        let report = Report { diagnostics, facts, around, calls, exhausted };
        let run = Run {
            options: watcher.options.take(),
            passed,
            unjudged: std::mem::take(&mut interp.unjudged),
            failed,
            supposed,
            excluded,
            found: options::in_question(&report),
            steps: interp.spent(),
            ended_early: interp.ended_early,
            skipped,
            has_defaults: interp.has_defaults,
            exhausted,
        };
        (report, run)
    }
}

/// The number of files up to which modules of packages get a larger budget.
const FEW_FILES: usize = 300;

/// The budget for the analysis of a file. In a module of a package, following calls is less useful
/// than in a script, because such modules often import each other. So a module of a package has a
/// smaller budget, unless it contains `if __name__ == "__main__":`.
fn budget(project: &Project, source: &SourceFile) -> Budget {
    let bytes = u64::try_from(source.text().len()).unwrap_or(0);
    let script = Budget {
        steps: 100_000 + 4 * bytes,
        // Functions that nothing calls run once, not in every possible call context, so fewer steps
        // are enough.
        uncalled: 20_000 + 3 * bytes,
        inlining: 10_000 + bytes / 2,
        eager: 48 * 1024,
        visits: 100_000,
        longest_visit: 100_000,
    };
    if project.is_packaged(source.id) && !source.bindings().is_main {
        let is_small = project.files().nth(FEW_FILES).is_none();
        let (visits, longest_visit) = if is_small { (20_000, 3_000) } else { (2_000, 300) };
        Budget { inlining: 2_000 + bytes / 8, eager: 0, visits, longest_visit, ..script }
    } else {
        script
    }
}

/// Whether a file itself seems to use a checked library: it imports one (a star import may do so
/// indirectly), or mentions an environment variable such as `CUDA_LAUNCH_BLOCKING`.
fn concerns_library(source: &SourceFile) -> bool {
    let checked = || LIBRARIES.iter().filter(|library| library.is_checked).map(|library| library.name);
    // A module counts if its top-level name contains the name of a checked library: `torchmetrics`.
    let mentions = |text: &str| checked().any(|name| text.contains(name));
    let mut is_checked = |import: Imported<'_>| match import.name {
        _ if import.level == 0 && import.module.split('.').next().is_some_and(mentions) => true,
        // `from common import *` is assumed to import a checked library if the file uses the name
        // of the library.
        Some("*") => checked().any(|name| source.text().contains(&format!("{name}."))),
        Some(name) => checked().any(|library| library == name),
        None => false,
    };
    syntax::imports(&source.parsed().module.body, &mut is_checked) || source.text().contains("CUDA_")
}

/// The largest number of modules between a script and the module that imports a checked library.
const IMPORTS_FOLLOWED: u32 = 3;

/// Whether a file is a script that imports, directly or through other modules, a module of the project
/// that uses a checked library.
fn runs_library(project: &Project, source: &SourceFile) -> bool {
    let is_script = !project.is_packaged(source.id) || source.bindings().is_main;
    is_script && imports_library(project, source, IMPORTS_FOLLOWED, &mut FxHashSet::default())
}

/// Whether a file imports a module of the project that uses a checked library, directly or through at
/// most `depth` other modules.
fn imports_library(project: &Project, source: &SourceFile, depth: u32, seen: &mut FxHashSet<FileId>) -> bool {
    let mut uses = |import: Imported<'_>| {
        let inner = import.name.map(|name| match import.module {
            "" => name.to_owned(),
            module => format!("{module}.{name}"),
        });
        [Some(import.module), inner.as_deref()].into_iter().flatten().any(|module| {
            match project.resolve_import(source.id, module, import.level) {
                Resolved::File(file) if seen.insert(file.id) => {
                    concerns_library(file) || depth > 0 && imports_library(project, file, depth - 1, seen)
                }
                _ => false,
            }
        })
    };
    syntax::imports(&source.parsed().module.body, &mut uses)
}

/// Texts of files that import PyTorch, or a package whose name begins with its name.
const IMPORTS: [&str; 2] = ["import torch", "from torch"];

/// Whether a file belongs to a program that imports PyTorch, as its settings do, for example.
pub(crate) fn helps_library(project: &Project, file: FileId) -> bool {
    IMPORTS.iter().any(|import| project.mentions(file, import))
}

/// Whether a text seems to import PyTorch itself.
pub(crate) fn imports_torch(text: &str) -> bool {
    IMPORTS.iter().any(|import| text.contains(import))
}

/// The project, as a source of modules for the interpreter.
struct Tree<'p> {
    project: &'p Project,
    /// The targets of the imports that were resolved, by script, importing file, level and module.
    resolved: RefCell<FxHashMap<(FileId, FileId, u32, Sym), Import>>,
}

impl<'p> Tree<'p> {
    fn of(project: &'p Project) -> Tree<'p> {
        Tree { project, resolved: RefCell::default() }
    }

    fn target(&self, script: FileId, from: FileId, module: &str, level: u32) -> Import {
        if level == 0
            && from != script
            && let Some(file) = self.project.module_beside(script, module).filter(|file| file.id != from)
        {
            return Import::File(file.id);
        }
        match self.project.resolve_import(from, module, level) {
            // A module that imports its own name is assumed to import an installed package of this
            // name.
            Resolved::File(file) if file.id == from && level == 0 => Import::External,
            Resolved::File(file) => Import::File(file.id),
            Resolved::Namespace(_) => Import::Namespace,
            Resolved::External => Import::External,
        }
    }
}

impl<'p> Sources<'p> for Tree<'p> {
    fn module(&self, file: FileId) -> &'p ast::ModModule {
        &self.project.file(file).parsed().module
    }

    fn is_broken(&self, part: Span) -> bool {
        let file = self.project.file(part.file);
        let (start, end) = (part.start as usize, part.end as usize);
        file.parsed().issues.iter().any(|issue| {
            let at = issue.range.start().to_usize();
            // If the part ends where the error is, such as at `<<<<<<< HEAD`, the part may continue
            // after the error, as it does after a line with too small an indentation.
            let is_outer = |line: &str| line.starts_with(|c: char| c.is_alphabetic() || c == '@');
            let reaches = |end| file.text().get(end..at).is_none_or(|between| !between.lines().skip(1).any(is_outer));
            start <= at && reaches(end)
        })
    }

    fn is_test(&self, file: FileId) -> bool {
        let path = &self.project.file(file).path;
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let folder = path.parent().and_then(|folder| folder.file_name()).and_then(|name| name.to_str());
        let is_in_tests = folder.is_some_and(|name| matches!(name, "test" | "tests"));
        stem.starts_with("test_")
            || stem.ends_with("_test")
            || stem == "conftest"
            || is_in_tests && stem.contains("test")
    }

    fn is_notebook(&self, file: FileId) -> bool {
        let text = self.project.file(file).text();
        // Editors run the cells of a script, which begin with such a comment, like those of a notebook.
        self.project.file(file).kind() == FileKind::Notebook || text.contains("\n# %%") || text.contains("\n#%%")
    }

    fn bindings(&self, file: FileId) -> &'p Bindings {
        self.project.file(file).bindings()
    }

    fn defining(&self, from: FileId, found: FileId, module: &str, names: &[&str]) -> FileId {
        self.project.defining(from, found, module, names)
    }

    fn contains(&self, file: FileId, text: &str) -> bool {
        self.project.file(file).text().contains(text)
    }

    fn mentions(&self, file: FileId, text: &'static str) -> bool {
        self.project.mentions(file, text)
    }

    fn assigns(&self, file: FileId, attribute: &str) -> bool {
        self.project.assigns(file, attribute)
    }

    fn may_assign_to(&self, file: FileId, class: &str, name: &str, besides: Option<&str>) -> bool {
        self.project.may_assign_to(file, class, name, besides)
    }

    fn overrides(&self, file: FileId, class: &str, name: &str) -> bool {
        self.project.overrides(file, class, name)
    }

    fn sets_in_subclass(&self, file: FileId, class: &str, name: &str) -> bool {
        self.project.sets_in_subclass(file, class, name)
    }

    fn may_set_options(&self, file: FileId) -> bool {
        self.project.may_set_options(file)
    }

    fn may_set_by_name(&self, file: FileId, class: &str) -> bool {
        self.project.may_set_by_name(file, class)
    }

    fn missing_member(&self, from: FileId, module: FileId, name: &str) -> Option<(String, Vec<&'p str>)> {
        self.project.missing_member(from, module, name)
    }

    fn binds_attribute(&self, file: FileId, name: &str) -> bool {
        self.project.binds_attribute(file, name)
    }

    fn calls(&self, file: FileId, name: &str) -> bool {
        self.project.calls(file, name)
    }

    fn excludes(&self, file: FileId, package: &str, version: &str) -> bool {
        self.project.excludes(file, package, version)
    }

    fn needs_no_gpu(&self, file: FileId) -> bool {
        self.project.needs_no_gpu(file)
    }

    fn derives(&self, file: FileId, name: &str) -> bool {
        self.project.derives(file, name)
    }

    fn assigns_from_outside(&self, file: FileId, name: &str) -> bool {
        self.project.assigns_from_outside(file, name)
    }

    fn is_mixed(&self, file: FileId, name: &str) -> bool {
        self.project.is_mixed(file, name)
    }

    fn constructs_with(&self, file: FileId, name: &str) -> bool {
        self.project.constructs_with(file, name)
    }

    fn own_path(&self, file: FileId) -> Option<&'p str> {
        self.project.own_path(file)
    }

    fn data(&self, from: FileId, path: &str) -> Option<&'p str> {
        self.project.data(from, path)
    }

    fn size(&self, file: FileId) -> usize {
        self.project.file(file).text().len()
    }

    fn resolve(&self, script: FileId, from: FileId, module: &str, level: u32) -> Import {
        let key = (script, from, level, sym(module));
        if let Some(target) = self.resolved.borrow().get(&key) {
            return *target;
        }
        let target = self.target(script, from, module, level);
        self.resolved.borrow_mut().insert(key, target);
        target
    }
}

/// The calls that led to a call with findings, innermost first.
struct Callers {
    calls: Vec<Span>,
    /// The place is certainly reached from these calls.
    reach: bool,
}

type Facts = IndexMap<Span, (String, Value, bool), FxBuildHasher>;

/// The contexts in which the calls at one place fail.
#[derive(Debug, Clone, Copy)]
struct Failure {
    /// The highest certainty of these contexts.
    certainty: Certainty,
    /// Each of these contexts is in an arm of an unknown condition, or in a function that nothing
    /// calls.
    supposed: bool,
    /// Each of these contexts is in a function that was not called, although the program contains a
    /// call of a function of the same name.
    excluded: bool,
}

/// The observer of a run: it forwards interpreter events to contracts and rules.
struct Watcher<'p> {
    rules: &'p Rules,
    contracts: &'p Contracts,
    /// The places where a call fails, because a library or a contract rejects it.
    failures: RefCell<FxHashMap<Span, Failure>>,
    watch: Watch,
    found: RefCell<Vec<Diagnostic>>,
    facts: Option<RefCell<Facts>>,
    /// The calls in the analysed file that contracts check.
    conditions: Option<RefCell<coverage::Calls>>,
    /// A place, and the values of the expressions around it.
    around: Option<((FileId, u32), RefCell<Facts>)>,
    cancelled: Option<&'p dyn Fn() -> bool>,
    witnesses: bool,
    /// The findings about rejected calls for which [`Observer::refused`] has not delivered the
    /// arguments yet. Each entry has the rule, the place, and the number of rejected calls when the
    /// finding was made.
    refused: RefCell<Vec<(Cow<'static, str>, Span, u32)>>,
    callers: RefCell<FxHashMap<(Cow<'static, str>, Span), Callers>>,
    /// The findings at calls in functions that nothing calls, if these calls certainly fail in another function.
    /// They are reported if this function accepts the values of other calls.
    inner: RefCell<Vec<Diagnostic>>,
    /// The options that the program has read.
    options: RefCell<IndexMap<Span, Declared, FxBuildHasher>>,
    /// The options to which this run gives a value other than their default.
    assumed: &'p Assumed,
    project: &'p Project,
}

impl Watcher<'_> {
    /// Cancels the analysis if its result is no longer needed.
    fn give_up(&self) {
        if self.cancelled.is_some_and(|cancelled| cancelled()) {
            panic::resume_unwind(Box::new(Cancelled));
        }
    }

    /// Notes that a call in a function that nothing calls certainly fails at the place of this rejection.
    fn note_outer_call(&self, it: &Interp<'_>, rejection: &Rejection, call: Span) {
        let is_about_tensors =
            matches!(rejection.kind, RejectKind::Shape | RejectKind::Rank | RejectKind::Dtype) && !rejection.of_python;
        if !is_about_tensors || rejection.assumed.is_some() || it.excluded() {
            return;
        }
        let mut outer = rejection.clone();
        outer.span = call;
        outer.reads.insert(0, ("the call fails here".to_owned(), Some(rejection.span)));
        self.contracts.rejected(self.rules, outer, &mut self.inner.borrow_mut());
    }

    /// Reports the calls of [`Watcher::inner`] whose failures are not reported where they occur.
    fn report_outer_calls(&self) {
        let found = &mut self.found.borrow_mut();
        for outer in self.inner.take() {
            let is_reported = |d: &Diagnostic| d.code == outer.code && outer.labels.iter().any(|l| l.span == d.span);
            if !found.iter().any(is_reported) {
                crate::contract::push(found, outer);
            }
        }
    }

    fn note_failure(&self, it: &Interp<'_>, place: Span) {
        let certainty = match it.certainty() {
            Certainty::Doubtful if it.passed_before(place) => Certainty::Guessed,
            certainty => certainty,
        };
        let now = Failure { certainty, supposed: it.speculative() || it.undecided() > 0, excluded: it.excluded() };
        let merge = |have: &mut Failure| {
            have.certainty = now.certainty.max(have.certainty);
            have.supposed &= now.supposed;
            have.excluded &= now.excluded;
        };
        self.failures.borrow_mut().entry(place).and_modify(merge).or_insert(now);
    }

    /// Stores a finding about a call, and the calls that led to it.
    fn keep(&self, it: &Interp<'_>, diagnostic: Diagnostic, found: &mut Vec<Diagnostic>) {
        let calls = it.callers();
        if !calls.is_empty() {
            // In an arm of an unknown condition, the place may not be reached from these callers.
            let reach = it.certainty() == Certainty::Certain || it.inlined();
            let key = (diagnostic.code.clone(), diagnostic.span);
            self.callers.borrow_mut().entry(key).or_insert(Callers { calls, reach });
        }
        crate::contract::push(found, diagnostic);
    }

    /// Labels findings in a function with the callers of this function, if a finding may not hold
    /// for every call of the function, or has no other label.
    fn name_callers(&self, passed: &FxHashSet<Span>) {
        let callers = self.callers.borrow();
        for diagnostic in self.found.borrow_mut().iter_mut() {
            let Some(Callers { calls, reach }) = callers.get(&(diagnostic.code.clone(), diagnostic.span)) else {
                continue;
            };
            // If a caller is in another file, more files may call the function with other values.
            let in_one_file = calls.iter().all(|call| call.file == diagnostic.span.file);
            // If the module can be run as a program, programs that import it may call the function
            // with other values.
            let in_one_file = in_one_file && !self.project.file(diagnostic.span.file).bindings().is_main;
            if !passed.contains(&diagnostic.span) && !diagnostic.labels.is_empty() && in_one_file {
                continue;
            }
            let mut words = "called from here";
            for &span in calls.iter().take(if *reach { MAX_CALLERS } else { 0 }) {
                if span != diagnostic.span && !diagnostic.labels.iter().any(|label| label.span == span) {
                    diagnostic.labels.push(Label { span, message: words.to_owned() });
                }
                words = "the caller is called from here";
            }
            // Other callers may pass other values.
            let first = calls.last().filter(|_| passed.contains(&diagnostic.span) || !in_one_file);
            if let Some(name) = first.and_then(|call| self.project.file(call.file).path.file_name()) {
                diagnostic.message += &format!(" (called from `{}`)", name.to_string_lossy());
            }
        }
    }

    fn source(&self, span: Span) -> Option<String> {
        self.project.file(span.file).text().get(span.start as usize..span.end as usize).map(str::to_owned)
    }
}

impl Watcher<'_> {
    /// Evaluates the contracts for a call.
    fn judge(&self, it: &mut Interp<'_>, call: Call<'_>, span: Span, found: &mut Vec<Diagnostic>) {
        let source = |span: Span| self.source(span);
        let mut judged = Vec::new();
        // A replay of a loop's second iteration is only for the rules about order.
        let checked = match it.second_round() {
            true => Checked::default(),
            false => self.contracts.check(self.rules, it, call, span, &source, &mut judged),
        };
        if let Some(conditions) = self.conditions.as_ref().filter(|_| span.file == it.root) {
            coverage::note(&mut conditions.borrow_mut(), it, call.bound, span, checked.conditions);
        }
        // A call that raises an expected exception is correct.
        let raises = |d: &Diagnostic| self.rules.find(&d.code).is_some_and(rules::Page::raises);
        let expected = it.expects_failure();
        for mut diagnostic in judged.into_iter().filter(|d| !(expected && raises(d))) {
            if self.witnesses {
                diagnostic.witness = Some(witness::of(it, call.path, call.bound));
            }
            self.keep(it, diagnostic, found);
        }
        if checked.fails {
            self.note_failure(it, span);
            it.refuse(span);
        }
    }
}

/// Whether code names a device by a variable: `x.to(self.device)`, `zeros(3, device=DEVICE)`.
fn chooses_device(code: &str) -> bool {
    let is_literal = ["\"cpu\"", "'cpu'", ".cpu("].iter().any(|text| code.contains(text));
    !is_literal && code.to_ascii_lowercase().contains("device")
}

impl Observer for Watcher<'_> {
    fn call(&self, it: &mut Interp<'_>, path: Sym, bound: &Bound, span: Span) {
        self.give_up();
        let source = |span: Span| self.source(span);
        let (call, found) = (Call { path, bound }, &mut self.found.borrow_mut());
        // A replay of a loop's second iteration is only for the rules about order.
        if !it.second_round() {
            self.judge(it, call, span, found);
        }
        self.watch.call(Watching { rules: self.rules, source: &source, found }, it, call, span);
    }

    fn watches(&self, path: Sym) -> bool {
        self.contracts.concern(path)
    }

    fn rejected(&self, it: &mut Interp<'_>, rejection: Rejection) {
        // Once the budget is spent, statements no longer run, so values may be old.
        let is_unsure = it.second_round() || it.expects_failure() || it.exhausted();
        if let Some(call) = it.call_that_gets_here().filter(|_| !is_unsure) {
            self.note_outer_call(it, &rejection, call);
        }
        // If the function is in another file, and its caller is a function that nothing calls, the
        // analysis of the function's own file is more precise.
        if it.inlined() && rejection.span.file != it.root || is_unsure {
            return;
        }
        // What is known about dtypes and values does not hold for such old versions, nor, for those in which a
        // number may be a tensor of one element, what is known about ranks and indices.
        let first = match rejection.kind {
            RejectKind::Dtype | RejectKind::Value | RejectKind::Layout => Some("1.8"),
            RejectKind::Rank | RejectKind::Index => Some("1.0"),
            _ => None,
        };
        if first.is_some_and(|first| !rejection.of_python && it.excludes("torch", first)) {
            return;
        }
        // A program that takes this device from a setting uses one device for both.
        let on_chosen_cpu = |(text, at): &(String, Option<Span>)| {
            let code = at.and_then(|at| self.source(at));
            text.ends_with(" on cpu here") && code.is_some_and(|code| chooses_device(&code))
        };
        if rejection.assumed.is_some() && rejection.reads.iter().any(on_chosen_cpu) {
            return;
        }
        if rejection.assumed.is_none() {
            self.note_failure(it, rejection.span);
        }
        let source = |span: Span| self.source(span);
        let is_name = rejection.kind == RejectKind::Name;
        let mut new = Vec::new();
        if !self.watch.rejected(Watching { rules: self.rules, source: &source, found: &mut new }, it, &rejection) {
            self.contracts.rejected(self.rules, rejection, &mut new);
        }
        let found = &mut self.found.borrow_mut();
        let refuses = |d: &Diagnostic| self.rules.find(&d.code).is_some_and(|page| page.rejects.is_some());
        for mut diagnostic in new {
            // The first failure of a call ends the program, so a later one at the same place is not
            // reached.
            let fails = |d: &&Diagnostic| d.span == diagnostic.span && d.severity == Severity::Error && refuses(d);
            if found.iter().any(|d| d.code != diagnostic.code && fails(&d)) {
                continue;
            }
            if is_name && diagnostic.cause.is_empty() {
                // The wrong name itself is the cause, wherever the file uses it.
                let same = |d: &&Diagnostic| d.message == diagnostic.message && d.span.file == diagnostic.span.file;
                diagnostic.cause = vec![found.iter().find(same).map_or(diagnostic.span, |first| first.span)];
            }
            self.refused.borrow_mut().push((diagnostic.code.clone(), diagnostic.span, it.refused.0));
            self.keep(it, diagnostic, found);
        }
    }

    fn refused(&self, it: &Interp<'_>, before: u32, path: Sym, bound: &Bound) {
        let mut about = self.refused.take();
        about.retain(|(.., count)| *count > before);
        if !self.witnesses || about.is_empty() {
            return;
        }
        let witness = witness::of(it, path, bound);
        for diagnostic in self.found.borrow_mut().iter_mut() {
            if diagnostic.witness.is_none()
                && about.iter().any(|(code, at, _)| (code, at) == (&diagnostic.code, &diagnostic.span))
            {
                diagnostic.witness = Some(witness.clone());
            }
        }
    }

    fn assigned(&self, it: &mut Interp<'_>, name: &str, value: &Value, span: Span) {
        self.give_up();
        let (source, found) = (|span: Span| self.source(span), &mut self.found.borrow_mut());
        self.watch.assigned(Watching { rules: self.rules, source: &source, found }, it, name, value, span);
        if let Some(facts) = self.facts.as_ref().filter(|_| !it.second_round()) {
            note(facts, it, name, value, span);
        }
        if self
            .around
            .as_ref()
            .is_some_and(|((file, at), _)| span.file == *file && (span.start..=span.end).contains(at))
        {
            self.evaluated(it, value, span);
        }
    }

    fn evaluated(&self, it: &mut Interp<'_>, value: &Value, span: Span) {
        let Some((_, around)) = self.around.as_ref().filter(|_| !it.second_round()) else { return };
        let text = self.source(span).unwrap_or_default();
        note(around, it, &text, value, span);
    }

    fn option(&self, it: &mut Interp<'_>, option: &CommandOption<'_>) -> Option<Value> {
        let texts = || self.project.program_texts(option.made.file);
        self.options.borrow_mut().entry(option.made).or_insert_with(|| Declared::new(option, texts));
        self.assumed.get(&option.made).map(|other| options::value(it, option, other))
    }

    fn moments(&self) -> u32 {
        self.watch.moments()
    }

    fn event(&self, it: &mut Interp<'_>, event: Event<'_>) {
        // The value of the last expression of a cell is displayed, not discarded.
        if let Event::Discarded { call, .. } = event
            && let file = self.project.file(call.file)
            && let Some(cell) = file.cell_at(call.start)
            && file
                .text()
                .get(call.end as usize..cell.range.end().to_usize())
                .is_some_and(|rest| rest.trim().is_empty())
        {
            return;
        }
        let (source, found) = (|span: Span| self.source(span), &mut self.found.borrow_mut());
        self.watch.event(Watching { rules: self.rules, source: &source, found }, it, event);
    }
}

/// The facts of each variable, from the run in which its file is the program. If that run reaches a
/// variable only in functions that nothing calls, but other programs call these functions, the
/// facts come from the other programs, provided that all of them agree.
pub(crate) fn chosen(facts: Vec<(FileId, FactEntry)>) -> Vec<FactEntry> {
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

/// Stores the value at a place, joined with the values stored there before.
fn note(facts: &RefCell<Facts>, it: &mut Interp<'_>, name: &str, value: &Value, span: Span) {
    let now = as_it_is(it, value, TUPLES);
    let reached = !it.speculative();
    let before = facts.borrow().get(&span).map(|(_, value, reached)| (value.clone(), *reached));
    let joined = match before {
        // Values in code that the program reaches take precedence over those in functions that
        // nothing calls.
        Some((_, true)) if !reached => return,
        Some((before, before_reached)) if before_reached == reached => value::join(&mut it.heap, &before, &now, false),
        _ => now,
    };
    facts.borrow_mut().insert(span, (name.to_owned(), joined, reached));
}

/// The depth to which nested tuples are copied. The elements of deeper tuples are never printed.
const TUPLES: u32 = 3;

/// Copies a tensor, or the tensors in a tuple, because they may change later. Other values are not
/// copied.
fn as_it_is(it: &mut Interp<'_>, value: &Value, depth: u32) -> Value {
    match value {
        Value::Tuple(items) if depth > 0 => {
            Value::tuple(items.iter().map(|item| as_it_is(it, item, depth - 1)).collect())
        }
        _ => match it.heap.tensor_of(value) {
            Some(tensor) => it.heap.tensor(tensor),
            None => value.clone(),
        },
    }
}

fn listed(interp: &Interp<'_>, project: &Project, facts: &Facts) -> Vec<FactEntry> {
    let place = |origin: Option<Span>| match origin {
        None => serde_json::Value::Null,
        Some(span) => {
            let file = project.file(span.file);
            let at = file.position(span.start);
            json!({ "filename": file.path.display().to_string(), "cell": at.cell, "row": at.line, "column": at.column })
        }
    };
    let mut entries: Vec<FactEntry> = facts
        .iter()
        .map(|(span, (name, value, reached))| FactEntry {
            reached: *reached,
            name: name.clone(),
            span: *span,
            text: value::to_text(&interp.heap, value),
            json: value::to_json(&interp.heap, value, &place),
            origins: value::origins(&interp.heap, value),
            known: Known::of(&interp.heap, value),
        })
        .collect();
    entries.sort_by_key(|entry| (entry.span.file, entry.span.start, entry.span.end));
    entries
}

#[cfg(test)]
mod tests {
    use crate::library::notes as noted;
    use crate::rules::notes as read;

    /// Libraries write notes, and rules read them. The modules `library` and `rules` do not depend
    /// on each other, so each defines the topics.
    #[test]
    fn notes_have_one_name_in_both_modules() {
        assert_eq!(noted::GRAD_MODE, read::GRAD_MODE);
        assert_eq!(noted::AUTOCAST, read::AUTOCAST);
        assert_eq!(noted::DEFAULT_DEVICE, read::DEFAULT_DEVICE);
        assert_eq!(noted::DEVICES_BEFORE, read::DEVICES_BEFORE);
        assert_eq!(noted::WORKER, read::WORKER);
        assert_eq!(noted::COPIED, read::COPIED);
        assert_eq!(noted::SPAWNED, read::SPAWNED);
        assert_eq!(noted::PARAMETERS, read::PARAMETERS);
        assert_eq!(noted::BUFFER, read::BUFFER);
    }
}
