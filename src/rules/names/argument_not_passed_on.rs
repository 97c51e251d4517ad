//! A parameter that a function takes, but does not pass on to the function that needs it.

use crate::diagnostic::Severity;
use crate::python::Event;
use crate::rules::rule::{Context, Rule};

const NAME: &str = "argument-not-passed-on";

#[derive(Default)]
pub(crate) struct ArgumentNotPassedOn;

impl Rule for ArgumentNotPassedOn {
    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let Event::KeptBack { name, span } = event else { return };
        let Some(text) = cx.source(span) else { return };
        let callee = text.split('(').next().unwrap_or_default();
        let message = format!("`{name}` is not used: it is not passed on to `{callee}`, which has its own default");
        cx.findings.report(NAME, Severity::Warning, message, span, Vec::new());
    }
}
