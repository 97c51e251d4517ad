//! Loading of files that may run code: pickles, and models with their own Python code.

use crate::diagnostic::Severity;
use crate::rules::rule::{Call, Context, Rule};
use crate::value::Value;

const NAME: &str = "untrusted-code";

#[derive(Default)]
pub(crate) struct UntrustedCode;

impl Rule for UntrustedCode {
    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let span = cx.span;
        let flag = |name: &str| {
            let extra = bound.extra.iter().find(|(have, _)| have.as_str() == name).map(|(_, arg)| arg.value.clone());
            extra.unwrap_or_else(|| if bound.given(name) { bound.get(name) } else { Value::Unknown })
        };
        let message = if path.as_str() == "torch.load" && flag("weights_only").as_bool() == Some(false) {
            "`weights_only=False` allows the file to run any code while it is loaded"
        } else if flag("trust_remote_code").as_bool() == Some(true) {
            "`trust_remote_code=True` runs Python code from the model's repository, which can change at any time"
        } else {
            return;
        };
        cx.findings.report(NAME, Severity::Info, message, span, Vec::new());
    }
}
