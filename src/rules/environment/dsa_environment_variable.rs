//! `TORCH_USE_CUDA_DSA` in the environment, which has no effect.

use crate::diagnostic::Severity;
use crate::python::Event;
use crate::rules::rule::{Context, Findings, Rule};
use crate::syntax::Span;
use crate::value::Value;

const NAME: &str = "dsa-environment-variable";
const VARIABLE: &str = "TORCH_USE_CUDA_DSA";

#[derive(Default)]
pub(crate) struct DsaEnvironmentVariable;

impl Rule for DsaEnvironmentVariable {
    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let Event::SetEnv { name: VARIABLE, value, span } = event else { return };
        if !matches!(value, Value::Str(text) if matches!(&**text, "0" | "")) {
            said(&mut cx.findings, span);
        }
    }

    fn launched(&self, findings: &mut Findings<'_>, variable: &str, span: Span) {
        if variable == VARIABLE {
            said(findings, span);
        }
    }
}

fn said(findings: &mut Findings<'_>, span: Span) {
    let message = "TORCH_USE_CUDA_DSA has no effect as an environment variable: it is a macro for compiling PyTorch";
    findings.report(NAME, Severity::Warning, message, span, Vec::new());
}
