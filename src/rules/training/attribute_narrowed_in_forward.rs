//! An attribute that `forward` replaces with a part of itself: `self.alpha = self.alpha.gather(0, target)`.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::words::has_word;
use crate::syntax::ast::{ExprCall, StmtClassDef, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, Stmt, assignment, called, calls, expressions, methods, parts, path_of, statements};

const NAME: &str = "attribute-narrowed-in-forward";

/// Methods whose result has another shape than their object, at each call.
const CHANGING: &[&str] = &["gather", "index_select", "repeat", "repeat_interleave", "take", "unsqueeze"];

/// Words in the names of the classes of samples.
const LABELS: &[&str] = &["label", "labels", "target", "targets"];
/// Methods that may be called before or after these.
const KEEPING: &[&str] =
    &["clone", "contiguous", "cpu", "cuda", "detach", "double", "float", "half", "long", "to", "type_as", "view"];

#[derive(Default)]
pub(crate) struct AttributeNarrowedInForward;

impl Rule for AttributeNarrowedInForward {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for class in source.classes() {
            for def in methods(class).filter(|def| matches!(def.name.as_str(), "forward" | "__call__")) {
                for stmt in always(&def.body) {
                    let Some((name, change)) = narrowed(stmt, def) else { continue };
                    if !constructor_sets(class, name) || is_set_elsewhere(source, name, stmt) {
                        continue;
                    }
                    let message =
                        format!("`self.{name}` keeps the result of {change}, so the next call starts from this result");
                    findings.report(NAME, Severity::Warning, message, source.span(stmt.range()), Vec::new());
                }
            }
        }
    }
}

/// The statements that run at every call.
fn always(body: &[Stmt]) -> Vec<&Stmt> {
    body.iter()
        .flat_map(|stmt| match stmt {
            Stmt::With(with) => always(&with.body),
            stmt => vec![stmt],
        })
        .collect()
}

/// The attribute in `self.name = self.name.gather(…)`, and what changes it.
fn narrowed<'a>(stmt: &'a Stmt, def: &StmtFunctionDef) -> Option<(&'a str, String)> {
    let (target, value) = assignment(stmt)?;
    let ["self", name] = *path_of(target).as_slice() else { return None };
    let is_own = |expr: &Expr| path_of(expr) == ["self", name];
    // The operations on the attribute, from the last to the first.
    let mut object = value;
    let mut change = None;
    while !is_own(object) {
        object = match object {
            Expr::Call(call) => {
                let method = call.func.as_attribute_expr()?;
                match method.attr.as_str() {
                    name if CHANGING.contains(&name) && change.is_none() => change = Some(format!("`{name}`")),
                    name if KEEPING.contains(&name) => {}
                    _ => return None,
                }
                &method.value
            }
            Expr::Subscript(part) => {
                let parameters = || def.parameters.iter().map(|parameter| parameter.name().as_str());
                // With other indices, the attribute may be a state that moves on.
                let picks = !part.slice.is_slice_expr()
                    && parts(&part.slice).iter().any(|index| {
                        let name = index.as_name_expr().map_or("", |index| index.id.as_str());
                        parameters().any(|parameter| parameter == name) && has_word(&[name], LABELS)
                    });
                if !picks || change.is_some() {
                    return None;
                }
                change = Some("an index".to_owned());
                &part.value
            }
            _ => return None,
        };
    }
    Some((name, change?))
}

fn constructor_sets(class: &StmtClassDef, name: &str) -> bool {
    let mut constructors = methods(class).filter(|def| def.name.as_str() == "__init__");
    constructors.any(|def| {
        statements(&def.body, false).into_iter().any(|stmt| {
            assignment(stmt).is_some_and(|(target, _)| path_of(target) == ["self", name])
                || calls(stmt).into_iter().any(|call| called(call) == Some("register_buffer") && names(call, name))
        })
    })
}

/// Whether the first argument of a call is this text.
fn names(call: &ExprCall, name: &str) -> bool {
    let text = call.arguments.args.first().and_then(Expr::as_string_literal_expr);
    text.is_some_and(|text| text.value.to_str() == name)
}

/// Whether the file sets an attribute of this name in another statement than this one and those of constructors:
/// it may be a state that is set anew for each sequence.
fn is_set_elsewhere(source: &Source<'_>, name: &str, stmt: &Stmt) -> bool {
    let in_constructor = |other: &Stmt| {
        let constructors = source.classes().flat_map(methods).filter(|def| def.name.as_str() == "__init__");
        constructors.into_iter().any(|def| def.range().contains_range(other.range()))
    };
    let sets = |other: &Stmt| {
        let targets: Vec<&Expr> = match other {
            Stmt::Assign(assign) => assign.targets.iter().flat_map(parts).collect(),
            Stmt::AnnAssign(assign) => vec![&assign.target],
            Stmt::AugAssign(assign) => vec![&assign.target],
            // `self.register_buffer("name", …)`, `setattr(model, "name", …)`
            Stmt::Expr(call) => {
                let quoted =
                    |expr: &&Expr| expr.as_string_literal_expr().is_some_and(|text| text.value.to_str() == name);
                return expressions(other).iter().any(quoted) && call.value.is_call_expr();
            }
            _ => Vec::new(),
        };
        targets.into_iter().filter_map(Expr::as_attribute_expr).any(|target| target.attr.as_str() == name)
    };
    source.statements.iter().any(|other| other.range() != stmt.range() && sets(other) && !in_constructor(other))
}
