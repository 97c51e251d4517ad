//! `model.forward(x)` called instead of `model(x)`.

use crate::diagnostic::{Applicability, Edit, Fix, Severity};
use crate::python::Event;
use crate::rules::rule::{Context, Rule};
use crate::rules::trace::is_module;
use crate::syntax::Span;
use crate::value::Value;

const NAME: &str = "forward-called-directly";

#[derive(Default)]
pub(crate) struct ForwardCalledDirectly;

impl Rule for ForwardCalledDirectly {
    const LATER_ROUNDS: bool = true;

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let it = &*cx.it;
        let Event::Method { object, name, span } = event else { return };
        if name.as_str() != "forward" || !is_module(it, &Value::Obj(object)) {
            return;
        }
        // A class may call its own `forward`, or the one of its base class.
        if it.method_receiver().and_then(Value::as_obj) == Some(object) {
            return;
        }
        let Some(text) = cx.source(span) else { return };
        let message = "`forward` is called directly, so hooks and wrappers are skipped";
        let finding = cx.findings.report(NAME, Severity::Info, message, span, Vec::new());
        if let (Some(at), Some(finding)) = (text.find(".forward("), finding) {
            let start = span.start + u32::try_from(at).unwrap_or(0);
            let place = Span { start, end: start + 8, ..span };
            finding.fix = Some(Fix {
                title: "Call the module".to_owned(),
                applicability: Applicability::Unsafe,
                edits: vec![Edit { span: place, content: String::new() }],
            });
        }
    }
}
