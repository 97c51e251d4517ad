//! Rules about order: their methods, the context they get, and how they report.

use rustc_hash::FxHashSet;

use super::trace::{Moment, Trace};
use super::{Found, Rules};
use crate::diagnostic::{Diagnostic, Label, Severity, Witness};
use crate::python::{Bound, Event, Interp, Rejection};
use crate::syntax::ast::{StmtClassDef, StmtFunctionDef};
use crate::syntax::{Expr, FileId, Span, Stmt, TextRange, blocks, has_base, methods, statements};
use crate::value::{Sym, Value};

/// A rule that a contract cannot express, created again for each run.
///
/// A rule implements the methods for the events it needs; the default methods do nothing. State
/// that depends on the path is stored on the heap, as notes; state of the whole run is stored in
/// the rule's fields. Rules are called in the order of their codes.
///
/// For one library call, the order is: `moment` is called, the trace applies the moment, `call` is
/// called, the library function runs, `returned` is called.
pub(super) trait Rule: Default {
    /// Whether `call` and `event` are also called in replayed iterations
    /// ([`Interp::second_round`]). The methods `moment`, `returned` and `assigned` are always
    /// called there. Set the constant to true if the rule must see what `call` or `event` does in later
    /// iterations, for example because it keeps notes that change from one iteration to the next.
    const LATER_ROUNDS: bool = false;

    /// The run begins.
    fn begin(&self, _: &mut Context<'_, '_>) {}

    /// A library's function is about to be called.
    fn call(&self, _: &mut Context<'_, '_>, _: Call<'_>) {}

    /// A library's function has returned.
    fn returned(&self, _: &mut Context<'_, '_>, _: Call<'_>, _result: &Value) {}

    /// A moment of training, before the trace records it.
    fn moment(&self, _: &mut Context<'_, '_>, _: &Moment) {}

    /// Any other event.
    fn event(&self, _: &mut Context<'_, '_>, _: Event<'_>) {}

    /// A name is assigned.
    fn assigned(&self, _: &mut Context<'_, '_>, _name: &str, _: &Value) {}

    /// A library rejects a call. Returns whether this rule has reported it.
    fn rejected(&self, _: &mut Context<'_, '_>, _: &Rejection) -> bool {
        false
    }

    /// A library's function is called in a handler that runs as if it had caught the fatal
    /// exception.
    fn handles(&self, _: &mut Context<'_, '_>, _: Call<'_>) {}

    /// The run has ended.
    fn end(&self, _: &mut Context<'_, '_>) {}

    /// A Python file was parsed without errors.
    fn parsed(&self, _: &mut Findings<'_>, _: &Source<'_>) {}

    /// A file that launches programs sets an environment variable.
    fn launched(&self, _: &mut Findings<'_>, _variable: &str, _: Span) {}
}

/// The context of a rule's method.
pub(super) struct Context<'c, 'p> {
    pub it: &'c mut Interp<'p>,
    /// The place of the event; the beginning of the file for events without a place.
    pub span: Span,
    pub trace: &'c Trace,
    pub findings: Findings<'c>,
    pub(super) source: &'c dyn Fn(Span) -> Option<String>,
}

impl Context<'_, '_> {
    /// The source text at a place.
    pub(super) fn source(&self, span: Span) -> Option<String> {
        (self.source)(span)
    }
}

/// What the settings files of a project say about a key, or the code about an option of the command line.
pub(crate) enum Setting<'a> {
    Present,
    /// No file has it, and the code does not seem to add it. The keys or options that are there instead.
    Missing(Vec<&'a str>),
    Unknown,
}

/// What a project knows about a file; see the fields of [`Source`].
pub(crate) struct Answers<'a> {
    pub package: Option<&'a str>,
    pub is_executed: &'a dyn Fn() -> bool,
    pub excludes: &'a dyn Fn(&str, &str) -> bool,
    pub missing_import: MissingImport<'a>,
    pub setting: &'a dyn Fn(&str, &str) -> Setting<'a>,
    pub never_logs: &'a dyn Fn(&str) -> bool,
    pub function: ImportedFunction<'a>,
    pub option: &'a dyn Fn(&str, &str) -> Setting<'a>,
}

/// A Python file without syntax errors.
pub(crate) struct Source<'a> {
    file: FileId,
    pub(super) body: &'a [Stmt],
    pub(super) text: &'a str,
    /// The names that `from … import *` may bind; `None` if they are not known.
    pub(super) starred: Option<FxHashSet<&'a str>>,
    /// The name of the package whose `__init__.py` this is.
    pub(super) package: Option<&'a str>,
    /// Whether another file of the program may execute this one in its own namespace, with `exec`. This is a
    /// function because the answer needs the texts of all files.
    pub(super) is_executed: &'a dyn Fn() -> bool,
    /// Whether the project's requirements exclude a version of a package and all newer ones.
    pub(super) excludes: &'a dyn Fn(&str, &str) -> bool,
    /// Why an import fails, if the project itself shows it.
    pub(super) missing_import: MissingImport<'a>,
    /// What the settings files of the project say about a key below another one, or about a key at any place if
    /// the first name is empty.
    pub(super) setting: &'a dyn Fn(&str, &str) -> Setting<'a>,
    /// Whether the program logs values with Lightning, but none under this name.
    pub(super) never_logs: &'a dyn Fn(&str) -> bool,
    /// The function of another file that a call of `name(…)` or `module.name(…)` runs.
    pub(super) function: ImportedFunction<'a>,
    /// Whether the program defines an option of the command line, which the code reads as an attribute of a variable.
    pub(super) option: &'a dyn Fn(&str, &str) -> Setting<'a>,
    /// All statements, including those in functions and classes.
    pub(super) statements: Vec<&'a Stmt>,
}

impl<'a> Source<'a> {
    /// Whether the file contains one of these texts, not as the end of a longer name: `vars(`, but not `make_vars(`.
    pub(super) fn contains_any(&self, texts: &[&str]) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        texts.iter().any(|text| {
            let mut found = self.text.match_indices(text);
            found.any(|(at, _)| {
                let before = self.text.get(..at).and_then(|before| before.chars().next_back());
                !(text.starts_with(is_part) && before.is_some_and(is_part))
            })
        })
    }

    pub(crate) fn new(
        file: FileId,
        body: &'a [Stmt],
        text: &'a str,
        starred: Option<FxHashSet<&'a str>>,
        project: Answers<'a>,
    ) -> Source<'a> {
        let statements = statements(body, true);
        let Answers { package, is_executed, excludes, missing_import, setting, never_logs, function, option } = project;
        Source {
            file,
            body,
            text,
            starred,
            package,
            is_executed,
            excludes,
            missing_import,
            setting,
            never_logs,
            function,
            option,
            statements,
        }
    }

    pub(super) fn span(&self, range: TextRange) -> Span {
        Span::new(self.file, range)
    }

    /// All class definitions.
    pub(super) fn classes(&self) -> impl Iterator<Item = &'a StmtClassDef> {
        self.statements.iter().filter_map(|stmt| stmt.as_class_def_stmt())
    }

    /// The results of `configure_optimizers` of Lightning's modules, each with the statements of its method.
    /// Methods with decorators are left out. The list is empty if the file calls the method itself, because
    /// it may use the result in another way.
    pub(super) fn configurations(&self) -> Vec<(&'a Expr, Vec<&'a Stmt>)> {
        if !self.text.contains("lightning") || self.text.contains(".configure_optimizers()") {
            return Vec::new();
        }
        let classes = self.classes().filter(|class| has_base(class, "LightningModule"));
        let all = classes.flat_map(methods).filter(|method| method.name.as_str() == "configure_optimizers");
        all.filter(|method| method.decorator_list.is_empty())
            .flat_map(|method| {
                let body = statements(&method.body, false);
                let results: Vec<&Expr> =
                    body.iter().filter_map(|stmt| stmt.as_return_stmt()?.value.as_deref()).collect();
                results.into_iter().map(move |result| (result, body.clone())).collect::<Vec<_>>()
            })
            .collect()
    }

    /// Whether the program may adapt its code to the installed version of a library.
    pub(super) fn tests_versions(&self) -> bool {
        ["__version__", "packaging", "inspect.signature", "is_transformers_version", "importlib.metadata"]
            .iter()
            .any(|text| self.text.contains(text))
    }

    /// The statements in all blocks of `try` statements: the program handles the exception, perhaps with code
    /// for another version.
    pub(super) fn attempted(&self) -> Vec<&'a Stmt> {
        let attempts = self.statements.iter().filter(|stmt| stmt.is_try_stmt());
        let attempted = attempts.flat_map(|attempt| blocks(attempt));
        attempted.flat_map(|block| statements(block, false)).collect()
    }

    /// Whether the file contains `from package import name` without `as`, also from a module of the package.
    pub(super) fn imports_from(&self, package: &str, name: &str) -> bool {
        self.statements.iter().filter_map(|stmt| stmt.as_import_from_stmt()).any(|import| {
            let module = import.module.as_ref().map_or("", |module| module.as_str());
            let is_wanted = import.names.iter().any(|alias| alias.name.as_str() == name && alias.asname.is_none());
            import.level == 0 && module.split('.').next() == Some(package) && is_wanted
        })
    }

    /// The body of the file, and the blocks of all statements.
    pub(super) fn blocks(&self) -> impl Iterator<Item = &'a [Stmt]> {
        std::iter::once(self.body).chain(self.statements.iter().flat_map(|stmt| blocks(stmt)))
    }
}

/// A call of a library's function.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub path: Sym,
    pub bound: &'a Bound,
}

/// A function that takes the module of an import, the number of its leading dots, and the imported name. It
/// returns why the import fails and the names that the module defines instead, or `None` if the import may
/// succeed.
pub(crate) type MissingImport<'a> = &'a dyn Fn(&str, u32, Option<&str>) -> Option<(String, Vec<&'a str>)>;

/// A function that takes the path of a callee, and returns the function of another file that the call runs.
pub(crate) type ImportedFunction<'a> = &'a dyn Fn(&[&str]) -> Option<&'a StmtFunctionDef>;

/// The findings of rules.
pub(super) struct Findings<'c> {
    pub(super) rules: &'c Rules,
    pub(super) found: &'c mut Found,
}

impl Findings<'_> {
    /// Reports a finding of a page, once per place. Returns the finding, so that a fix or a witness
    /// can be added. Returns `None` if there is no such page, or if the finding was reported before
    /// and is no longer the last one.
    pub(super) fn report(
        &mut self,
        name: &str,
        severity: Severity,
        message: impl Into<String>,
        span: Span,
        labels: Vec<Label>,
    ) -> Option<&mut Diagnostic> {
        let page = self.rules.find(name)?;
        if !self.found.iter().any(|d| d.code == page.code && d.span == span) {
            self.found.push(Diagnostic {
                code: page.code.clone(),
                name: page.name.clone(),
                severity,
                message: message.into(),
                span,
                labels,
                help: page.help.clone(),
                fix: None,
                witness: None,
                verdict: None,
                cause: Vec::new(),
                repeats: Vec::new(),
            });
        }
        self.found.last_mut().filter(|d| d.code == page.code && d.span == span)
    }

    /// Withdraws a finding of a page at a place, because later events show that it is harmless.
    pub(super) fn retract(&mut self, name: &str, span: Span) {
        self.found.retain(|d| d.name != name || d.span != span);
    }

    /// The number of findings so far.
    pub(super) fn count(&self) -> usize {
        self.found.len()
    }

    /// Says in the errors after the first `before` findings that they need a second iteration of the loop.
    pub(super) fn say_assumed_round(&mut self, before: usize) {
        for error in self.found.iter_mut().skip(before).filter(|d| d.severity == Severity::Error) {
            error.message += " (from the second iteration of the loop on)";
        }
    }

    /// Whether any finding was reported at this place.
    pub(super) fn any_at(&self, span: Span) -> bool {
        self.found.iter().any(|d| d.span == span)
    }

    /// Whether a finding of this page was reported at this place.
    pub(super) fn has(&self, name: &str, span: Span) -> bool {
        self.found.iter().any(|d| d.name == name && d.span == span)
    }
}

/// Adds a witness to a finding: `setup` prepares the call, and `call` is the line that fails.
pub(super) fn witness(finding: Option<&mut Diagnostic>, setup: &'static str, call: &'static str) {
    if let Some(finding) = finding {
        finding.witness.get_or_insert_with(|| Box::new(Witness::Program { setup, call }));
    }
}
