//! An attribute that `forward` replaces with a part of itself: `self.alpha = self.alpha.gather(0, target)`.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{StmtClassDef, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, Stmt, assignment, methods, parts, path_of, statements};

const NAME: &str = "attribute-narrowed-in-forward";

/// Methods whose result has another shape than their object, at each call.
const CHANGING: &[&str] = &["gather", "index_select", "repeat", "repeat_interleave", "take", "unsqueeze"];

#[derive(Default)]
pub(crate) struct AttributeNarrowedInForward;

impl Rule for AttributeNarrowedInForward {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for class in source.classes() {
            for def in methods(class).filter(|def| matches!(def.name.as_str(), "forward" | "__call__")) {
                for stmt in always(&def.body) {
                    let Some((name, change)) = narrowed(stmt, def) else { continue };
                    if is_set_elsewhere(class, name, stmt) {
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
                if CHANGING.contains(&method.attr.as_str()) {
                    change = Some(format!("`{}`", method.attr));
                }
                &method.value
            }
            Expr::Subscript(part) => {
                let parameters = || def.parameters.iter().map(|parameter| parameter.name().as_str());
                let picks = !part.slice.is_slice_expr()
                    && parts(&part.slice).iter().any(|index| {
                        index.as_name_expr().is_some_and(|index| parameters().any(|name| name == index.id.as_str()))
                    });
                if picks {
                    change = Some("an index".to_owned());
                }
                &part.value
            }
            _ => return None,
        };
    }
    Some((name, change?))
}

/// Whether another statement than this one and those of the constructor assigns the attribute.
fn is_set_elsewhere(class: &StmtClassDef, name: &str, stmt: &Stmt) -> bool {
    let mut others = methods(class).filter(|def| def.name.as_str() != "__init__");
    others.any(|def| {
        statements(&def.body, true).into_iter().any(|other| {
            let stored = match other {
                Stmt::Assign(assign) => {
                    assign.targets.iter().flat_map(parts).any(|target| path_of(target) == ["self", name])
                }
                Stmt::AnnAssign(assign) => path_of(&assign.target) == ["self", name],
                _ => false,
            };
            stored && other.range() != stmt.range()
        })
    })
}
