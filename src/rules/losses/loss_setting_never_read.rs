//! A setting of a loss that its constructor stores, but that nothing reads: `self.temperature = temperature`.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::words::has_word;
use crate::syntax::ast::{StmtClassDef, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, Stmt, assignment, expressions, is_empty, methods, path_of};

const NAME: &str = "loss-setting-never-read";

/// Settings that change the value of a loss.
const SETTINGS: &[&str] = &[
    "alpha",
    "beta",
    "gamma",
    "ignore_index",
    "label_smoothing",
    "margin",
    "reduction",
    "smoothing",
    "tau",
    "temperature",
    "weight",
];
/// Texts of code that may read attributes by name.
const BY_NAME: &[&str] = &["getattr(", "vars(", "__dict__", "locals()", "super().__init__(**"];

#[derive(Default)]
pub(crate) struct LossSettingNeverRead;

impl Rule for LossSettingNeverRead {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if BY_NAME.iter().any(|text| source.text.contains(text)) {
            return;
        }
        for class in source.classes().filter(|class| is_loss(class)) {
            let all: Vec<&StmtFunctionDef> = methods(class).collect();
            let Some(init) = all.iter().find(|def| def.name.as_str() == "__init__") else { continue };
            // A class without code of its own only passes its settings to others.
            let computes =
                all.iter().any(|def| matches!(def.name.as_str(), "forward" | "__call__") && !is_empty(&def.body));
            for (name, stmt) in init.body.iter().filter_map(stored).filter(|_| computes) {
                let is_setting = init.parameters.iter().any(|parameter| parameter.name().as_str() == name);
                if is_setting && SETTINGS.contains(&name) && !is_read(source, init, name, stmt) {
                    let message = format!("`{name}` has no effect on this loss: nothing reads `self.{name}`");
                    findings.report(NAME, Severity::Warning, message, source.span(stmt.range()), Vec::new());
                }
            }
        }
    }
}

fn is_loss(class: &StmtClassDef) -> bool {
    let base_is_plain = class.bases().iter().all(|base| matches!(path_of(base).as_slice(), [.., "Module" | "object"]));
    base_is_plain && has_word(&[class.name.as_str()], &["loss", "losses", "criterion"])
}

/// The name in `self.name = name`.
fn stored(stmt: &Stmt) -> Option<(&str, &Stmt)> {
    let (target, value) = assignment(stmt)?;
    let ["self", name] = *path_of(target).as_slice() else { return None };
    (path_of(value) == [name]).then_some((name, stmt))
}

/// Whether something reads the attribute, in any object of the file, or the parameter in another statement.
fn is_read(source: &Source<'_>, init: &StmtFunctionDef, name: &str, stmt: &Stmt) -> bool {
    let reads_attribute = |expr: &&Expr| {
        let read = expr.as_attribute_expr().filter(|read| read.ctx.is_load());
        read.is_some_and(|read| read.attr.as_str() == name)
    };
    let reads_name = |expr: &&Expr| {
        let is_name = expr.as_name_expr().is_some_and(|read| read.id.as_str() == name);
        is_name && !stmt.range().contains_range(expr.range())
    };
    source.body.iter().flat_map(expressions).any(|expr| reads_attribute(&expr))
        || init.body.iter().flat_map(expressions).any(|expr| reads_name(&expr))
}
