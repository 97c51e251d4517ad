//! A function that is used as a condition, compared with a value, or written as a statement, but not called.

use crate::diagnostic::Severity;
use crate::python::Event;
use crate::rules::rule::{Context, Findings, Rule, Source};
use crate::syntax::Ranged;

const NAME: &str = "uncalled-function";

#[derive(Default)]
pub(crate) struct UncalledFunction;

/// Methods and functions that programs call for their effect. A statement without parentheses does not call
/// them.
const METHODS: &[&str] = &[
    "backward",
    "close",
    "cpu",
    "cuda",
    "detach",
    "detach_",
    "eval",
    "flush",
    "synchronize",
    "step",
    "train",
    "update",
    "zero_",
    "zero_grad",
    "empty_cache",
    "show",
    "barrier",
    "init_process_group",
    "requires_grad_",
];

impl Rule for UncalledFunction {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for stmt in &source.statements {
            let Some(attribute) = stmt.as_expr_stmt().and_then(|stmt| stmt.value.as_attribute_expr()) else { continue };
            if !METHODS.contains(&attribute.attr.as_str()) {
                continue;
            }
            let message = format!("`{}` is not called here: this statement does nothing", attribute.attr);
            findings.report(NAME, Severity::Warning, message, source.span(stmt.range()), Vec::new());
        }
    }

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let Event::Uncalled { tested, span } = event else { return };
        // A `try` may test whether the function exists.
        if cx.it.is_in_try() {
            return;
        }
        let Some(text) = cx.source(span) else { return };
        let result = if tested { "a function counts as true" } else { "a function equals no other value" };
        let message = format!("`{text}` is not called here, and {result}");
        cx.findings.report(NAME, Severity::Warning, message, span, Vec::new());
    }
}
