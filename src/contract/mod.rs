//! Evaluates the contracts of rule pages over facts, in three-valued logic.

use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::python::{Bound, Interp, Rejection};
use crate::rules::Rules;
use crate::syntax::Span;
use crate::value::Sym;

/// The contracts of all pages, by the function that they speak of.
pub struct Contracts<'p> {
    rules: &'p Rules,
}

/// The source text at a place.
pub type Source<'a> = dyn Fn(Span) -> Option<&'a str> + 'a;

impl<'p> Contracts<'p> {
    pub fn of(rules: &'p Rules) -> Contracts<'p> {
        Contracts { rules }
    }

    /// Whether a contract speaks of this function.
    pub fn concern(&self, _path: Sym) -> bool {
        let _ = self.rules;
        false
    }

    pub fn check(
        &self,
        _it: &mut Interp<'_>,
        _path: Sym,
        _bound: &Bound,
        _span: Span,
        _source: &Source<'_>,
        _found: &mut Vec<Diagnostic>,
    ) {
    }

    pub fn rejected(&self, _it: &mut Interp<'_>, rejection: Rejection, found: &mut Vec<Diagnostic>) {
        found.push(Diagnostic {
            code: format!("TV4-{}", rejection.kind.as_str()).into(),
            name: rejection.kind.as_str().into(),
            severity: Severity::Error,
            message: rejection.message,
            span: rejection.span,
            labels: rejection
                .reads
                .into_iter()
                .filter_map(|(message, origin)| Some(Label { span: origin?, message }))
                .collect(),
            help: None,
            fix: None,
        });
    }
}
