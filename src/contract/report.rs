//! Turns the result of a contract, or a rejected call, into a diagnostic.

use super::Source;
use super::eval::Finding;
use crate::diagnostic::{Applicability, Diagnostic, Edit, Fix, Label, Severity};
use crate::python::{Bound, Rejection};
use crate::rules::{Assignment, FixKind, Page};
use crate::syntax::Span;
use crate::value::{Origin, Sym};

/// The maximum number of labels of a finding. With more labels, the source would be hard to read.
const MAX_LABELS: usize = 6;

pub(super) fn diagnostic(
    page: &Page,
    finding: Finding,
    path: Sym,
    bound: &Bound,
    span: Span,
    source: &Source<'_>,
) -> Diagnostic {
    let mut severity = finding.statement.severity(page.severity);
    if finding.weak {
        severity = severity.min(Severity::Warning);
    }
    let blamed = finding.reads.iter().find(|read| read.blame).and_then(|read| Some((read.at?, read.label.clone())));
    let mut reads: Vec<(String, Origin)> =
        finding.reads.into_iter().filter(|read| !read.blame).map(|read| (read.label, read.at)).collect();
    let place = match blamed {
        Some((place, label)) => {
            reads.insert(0, (label, Some(span)));
            place
        }
        None => span,
    };
    let labels = labels(reads, place);
    Diagnostic {
        cause: cause(&labels),
        code: page.code.clone(),
        name: page.name.clone(),
        severity,
        message: finding.message,
        span: place,
        labels,
        help: page.help.clone(),
        fix: if place == span { fix(page, path, bound, span, source) } else { None },
        witness: None,
        verdict: None,
        repeats: Vec::new(),
    }
}

pub(super) fn rejected(page: &Page, rejection: Rejection) -> Diagnostic {
    let labels = labels(rejection.reads, rejection.span);
    let (severity, message) = match rejection.assumed {
        None => (page.severity, rejection.message),
        Some(assumed) => (page.severity.min(Severity::Warning), format!("{assumed}, {}", rejection.message)),
    };
    Diagnostic {
        cause: cause(&labels),
        code: page.code.clone(),
        name: page.name.clone(),
        severity,
        message,
        span: rejection.span,
        labels,
        help: page.help.clone(),
        fix: None,
        witness: None,
        verdict: None,
        repeats: Vec::new(),
    }
}

/// The origins of the facts of a finding.
fn cause(labels: &[Label]) -> Vec<Span> {
    let mut places: Vec<Span> = labels.iter().map(|label| label.span).collect();
    places.sort();
    places.dedup();
    places
}

fn labels(reads: impl IntoIterator<Item = (String, Origin)>, primary: Span) -> Vec<Label> {
    let mut labels: Vec<Label> = Vec::new();
    for (message, at) in reads {
        if let Some(span) = at
            && span != primary
            && !labels.iter().any(|l| l.span == span && l.message == message)
        {
            labels.push(Label { span, message });
        }
    }
    labels.truncate(MAX_LABELS);
    labels
}

/// The page's fix for this call, if the call is written in the form that the fix rewrites.
fn fix(page: &Page, path: Sym, bound: &Bound, span: Span, source: &Source<'_>) -> Option<Fix> {
    let applicability = match page.fix {
        FixKind::None => return None,
        FixKind::Safe => Applicability::Safe,
        FixKind::Unsafe => Applicability::Unsafe,
    };
    let (title, edit) = if let Some(Assignment { argument, template }) = &page.replace {
        let at = bound.span(argument).filter(|at| span.contains(*at) && *at != span)?;
        let text = source(at)?;
        // A method call needs parentheses around its receiver, unless the receiver is a name, call
        // or subscript.
        let simple = text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | ']' | '(' | ')'));
        let text = if simple { text } else { format!("({text})") };
        let content = template.replace(&format!("{{{argument}}}"), &text);
        (format!("Replace with `{content}`"), Edit { span: at, content })
    } else if let Some(Assignment { argument: name, template: value }) = &page.set {
        let call = source(span)?;
        let function = path.as_str().rsplit_once('.').map_or(path.as_str(), |(_, name)| name);
        let (callee, _) = call.split_once('(')?;
        // The call must name the function itself, not a variable that refers to it.
        if !callee.trim_end().ends_with(function) || !call.ends_with(')') || !bound.takes(name) {
            return None;
        }
        let edit = match bound.span(name).filter(|at| span.contains(*at)) {
            Some(at) => Edit { span: at, content: value.clone() },
            None => {
                let end = Span { start: span.end - 1, end: span.end - 1, ..span };
                let inside = call.get(callee.len() + 1..call.len() - 1)?.trim_end();
                let comma = if inside.is_empty() {
                    ""
                } else if inside.ends_with(',') {
                    " "
                } else {
                    ", "
                };
                Edit { span: end, content: format!("{comma}{name}={value}") }
            }
        };
        (format!("Set `{name}={value}`"), edit)
    } else {
        return None;
    };
    Some(Fix { title, applicability, edits: vec![edit] })
}
