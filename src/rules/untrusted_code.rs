//! Loading what may run code of its own: pickles, and models that bring their Python along.

use super::watch::{Found, Watching, report};
use crate::diagnostic::Severity;
use crate::python::Bound;
use crate::syntax::Span;
use crate::value::{Sym, Value};

const NAME: &str = "untrusted-code";

pub fn call(with: &Watching<'_>, (path, bound, span): (Sym, &Bound, Span), found: &mut Found) {
    let flag = |name: &str| {
        let extra = bound.extra.iter().find(|(have, _)| have.as_str() == name).map(|(_, arg)| arg.value.clone());
        extra.unwrap_or_else(|| if bound.given(name) { bound.get(name) } else { Value::Unknown })
    };
    let message = if path.as_str() == "torch.load" && flag("weights_only").as_bool() == Some(false) {
        "`weights_only=False` lets the file run any code while it is loaded"
    } else if flag("trust_remote_code").as_bool() == Some(true) {
        "`trust_remote_code=True` runs Python from the model's repository, whatever it holds by then"
    } else {
        return;
    };
    if let Some(page) = with.rules.find(NAME) {
        report(found, page, Severity::Info, message.to_owned(), span, Vec::new());
    }
}
