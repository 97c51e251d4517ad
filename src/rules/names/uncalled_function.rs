//! A function in a condition, or compared with a value, instead of the result of its call.

use crate::diagnostic::Severity;
use crate::python::Event;
use crate::rules::rule::{Context, Rule};

const NAME: &str = "uncalled-function";

#[derive(Default)]
pub(crate) struct UncalledFunction;

impl Rule for UncalledFunction {
    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let Event::Uncalled { tested, span } = event else { return };
        // A `try` may find out whether the function exists.
        if cx.it.is_in_try() {
            return;
        }
        let Some(text) = cx.source(span) else { return };
        let result = if tested { "a function counts as true" } else { "a function equals no other value" };
        let message = format!("`{text}` is not called here, and {result}");
        cx.findings.report(NAME, Severity::Warning, message, span, Vec::new());
    }
}
