//! `model.forward(x)` where `model(x)` is meant.

use super::trace::is_module;
use super::watch::{Found, Watching, report};
use crate::diagnostic::{Applicability, Edit, Fix, Severity};
use crate::python::{Event, Interp};
use crate::syntax::Span;
use crate::value::Value;

const NAME: &str = "forward-called-directly";

pub fn event(with: &Watching<'_>, it: &Interp<'_>, event: Event<'_>, found: &mut Found) {
    let Event::Method { object, name, span } = event else { return };
    if name.as_str() != "forward" || !is_module(it, &Value::Obj(object)) {
        return;
    }
    // A class may call its own, or its base's.
    if it.method_receiver().and_then(Value::as_obj) == Some(object) {
        return;
    }
    let (Some(page), Some(text)) = (with.rules.find(NAME), with.source(span)) else { return };
    let message = "`forward` is called directly: hooks do not run, nor what wraps the call".to_owned();
    report(found, page, Severity::Info, message, span, Vec::new());
    if let (Some(at), Some(diagnostic)) =
        (text.find(".forward("), found.last_mut().filter(|d| d.span == span && d.code == page.code))
    {
        let start = span.start + u32::try_from(at).unwrap_or(0);
        let place = Span { start, end: start + 8, ..span };
        diagnostic.fix = Some(Fix {
            title: "Call the module".to_owned(),
            applicability: Applicability::Unsafe,
            edits: vec![Edit { span: place, content: String::new() }],
        });
    }
}
