//! A positional argument that has the name of one parameter, but is given to another.

use crate::diagnostic::Severity;
use crate::python::Event;
use crate::rules::rule::{Context, Rule};

const NAME: &str = "argument-in-wrong-place";

#[derive(Default)]
pub(crate) struct ArgumentInWrongPlace;

impl Rule for ArgumentInWrongPlace {
    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let Event::Misplaced { own, other, span } = event else { return };
        let Some(text) = cx.source(span) else { return };
        let message = format!("`{text}` is passed to the parameter `{other}`, not to the parameter `{own}`");
        cx.findings.report(NAME, Severity::Warning, message, span, Vec::new());
    }
}
