//! Evaluates the contracts of rule pages over facts, in three-valued logic.
//!
//! A contract is a few lines of Python in a page. It is compiled once, and evaluated for each call
//! of the functions that it checks: a false condition is reported, an unknown condition is not. The
//! probe runs the same lines over real tensors, so its helpers (`probe/runtime/contracts.py`) must
//! have the same meaning.

mod check;
mod eval;
mod helpers;
mod report;
mod value;

use rustc_hash::FxHashMap;

use crate::diagnostic::{Diagnostic, Severity};
use crate::python::{Interp, RejectKind, Rejection};
use crate::rules::{Call, Page, Rejects, Rules};
use crate::syntax::{self, Expr, Span, ast::StmtFunctionDef};
use crate::value::{Sym, sym};

/// The source text at a place.
pub(crate) type Source<'a> = dyn Fn(Span) -> Option<String> + 'a;

/// One function of a page's contract.
struct Contract {
    page: usize,
    function: StmtFunctionDef,
}

/// The compiled contracts of all pages, by the function that they check.
pub(crate) struct Contracts {
    #[expect(clippy::struct_field_names, reason = "`contracts` is the list, the other fields are indices into it")]
    contracts: Vec<Contract>,
    by_path: FxHashMap<Sym, Vec<usize>>,
    by_rejection: FxHashMap<&'static str, usize>,
}

fn kind(rejects: Rejects) -> RejectKind {
    match rejects {
        Rejects::Shape => RejectKind::Shape,
        Rejects::Dtype => RejectKind::Dtype,
        Rejects::Device => RejectKind::Device,
        Rejects::Rank => RejectKind::Rank,
        Rejects::Dim => RejectKind::Dim,
        Rejects::Value => RejectKind::Value,
        Rejects::Index => RejectKind::Index,
        Rejects::Layout => RejectKind::Layout,
        Rejects::Host => RejectKind::Host,
        Rejects::Name => RejectKind::Name,
        Rejects::Arguments => RejectKind::Arguments,
        Rejects::Operation => RejectKind::Operation,
        Rejects::Recursion => RejectKind::Recursion,
    }
}

impl Contracts {
    /// Compiles the pages' contracts; the error is `path:line:column: message`.
    pub(crate) fn compile(rules: &Rules) -> Result<Contracts, String> {
        let mut all =
            Contracts { contracts: Vec::new(), by_path: FxHashMap::default(), by_rejection: FxHashMap::default() };
        for (index, page) in rules.pages.iter().enumerate() {
            if let Some(rejects) = page.rejects {
                all.by_rejection.insert(kind(rejects).as_str(), index);
            }
            if let Some(text) = page.contract() {
                all.add(index, page, text)?;
            }
        }
        Ok(all)
    }

    fn add(&mut self, index: usize, page: &Page, text: &str) -> Result<(), String> {
        let parsed = syntax::parse(text, false);
        if let Some(issue) = parsed.issues.first() {
            return Err(fault(page, text, issue.range.start().to_usize(), &issue.message));
        }
        for stmt in parsed.module.body {
            let function = check::function(stmt, &page.contract_of)
                .map_err(|mistake| fault(page, text, mistake.offset, &mistake.message))?;
            let mut paths: Vec<String> = Vec::new();
            for decorator in &function.decorator_list {
                if let Expr::Call(call) = &decorator.expression {
                    for arg in &call.arguments.args {
                        if let Expr::StringLiteral(text) = arg {
                            paths.push(text.value.to_str().to_owned());
                        }
                    }
                }
            }
            if paths.is_empty() {
                paths.clone_from(&page.contract_of);
            }
            let at = self.contracts.len();
            self.contracts.push(Contract { page: index, function });
            for path in paths {
                self.by_path.entry(sym(&path)).or_default().push(at);
            }
        }
        Ok(())
    }

    /// Whether a contract checks this function.
    pub(crate) fn concern(&self, path: Sym) -> bool {
        self.by_path.contains_key(&path)
    }

    /// Evaluates the contracts for a call.
    pub(crate) fn check(
        &self,
        rules: &Rules,
        it: &Interp<'_>,
        Call { path, bound }: Call<'_>,
        span: Span,
        source: &Source<'_>,
        found: &mut Vec<Diagnostic>,
    ) -> Checked {
        let mut checked = Checked::default();
        let Some(indices) = self.by_path.get(&path) else { return checked };
        for index in indices {
            let Some(contract) = self.contracts.get(*index) else { continue };
            let Some(page) = rules.pages.get(contract.page) else { continue };
            let judgement = eval::judge(it, &contract.function, bound, source);
            checked.conditions.add(judgement.conditions);
            if let Some(finding) = judgement.finding {
                let silent = finding.silent;
                let diagnostic = report::diagnostic(page, finding, path, bound, span, source);
                checked.fails |= page.raises() && !silent && diagnostic.severity == Severity::Error;
                push(found, diagnostic);
            }
        }
        checked
    }

    /// Reports a rejected call under the page for its kind.
    pub(crate) fn rejected<'r>(
        &self,
        rules: &'r Rules,
        rejection: Rejection,
        found: &mut Vec<Diagnostic>,
    ) -> Option<&'r Page> {
        let page = rules.pages.get(*self.by_rejection.get(rejection.kind.as_str())?)?;
        push(found, report::rejected(page, rejection));
        Some(page)
    }
}

/// The result of the contracts of one call.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Checked {
    /// The call certainly raises.
    pub fails: bool,
    pub conditions: Conditions,
}

/// How many conditions of contracts the facts decide.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Conditions {
    /// The condition is known to be true or false.
    pub decided: usize,
    /// Neither is known. The conditions after an undecided `if` of a contract count as one.
    pub undecided: usize,
}

impl Conditions {
    pub(crate) fn add(&mut self, other: Conditions) {
        let Conditions { decided, undecided } = other;
        self.decided += decided;
        self.undecided += undecided;
    }
}

/// An error in a page, at an offset in bytes of its contract.
fn fault(page: &Page, contract: &str, offset: usize, message: &str) -> String {
    let before = contract.get(..offset).unwrap_or(contract);
    let line = page.line_of(contract) + before.matches('\n').count();
    let column = before.rsplit('\n').next().map_or(0, |text| text.chars().count()) + 1;
    format!("{}:{line}:{column}: {message}", page.file)
}

/// Adds a finding. If there already is a finding of the same rule at the same place, because the
/// line was run in another context, only the more severe of the two is kept.
pub(crate) fn push(found: &mut Vec<Diagnostic>, diagnostic: Diagnostic) {
    match found.iter_mut().find(|d| d.code == diagnostic.code && d.span == diagnostic.span) {
        Some(have) if have.severity < diagnostic.severity => *have = diagnostic,
        // The existing finding is at least as severe.
        Some(_) => {}
        None => found.push(diagnostic),
    }
}
