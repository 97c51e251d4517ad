//! `TORCH_USE_CUDA_DSA` in the environment, where nothing reads it.

use super::Rules;
use super::watch::{Found, report};
use crate::diagnostic::Severity;
use crate::python::Event;
use crate::syntax::{FileId, Span};
use crate::value::Value;

const NAME: &str = "dsa-environment-variable";
const VARIABLE: &str = "TORCH_USE_CUDA_DSA";

pub fn event(rules: &Rules, event: Event<'_>, found: &mut Found) {
    let Event::SetEnv { name: VARIABLE, value, span } = event else { return };
    if !matches!(value, Value::Str(text) if matches!(&**text, "0" | "")) {
        said(rules, span, found);
    }
}

/// What launch files set.
pub fn launched(rules: &Rules, file: FileId, (variable, at): (&str, std::ops::Range<usize>), found: &mut Found) {
    let offset = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    if variable == VARIABLE {
        said(rules, Span { file, start: offset(at.start), end: offset(at.end) }, found);
    }
}

fn said(rules: &Rules, span: Span, found: &mut Found) {
    let Some(page) = rules.find(NAME) else { return };
    let message = "TORCH_USE_CUDA_DSA is no environment variable: PyTorch reads it when it is compiled";
    report(found, page, Severity::Warning, message.to_owned(), span, Vec::new());
}
