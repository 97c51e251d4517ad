//! `model.features.requires_grad = False`: parameters have this flag, modules do not.

use crate::diagnostic::{Applicability, Edit, Fix, Severity};
use crate::python::{Event, Interp};
use crate::rules::rule::{Context, Rule};
use crate::rules::trace::is_module;
use crate::syntax::Span;
use crate::value::{Grad, ObjId, Value};

const NAME: &str = "requires-grad-set-on-module";

#[derive(Default)]
pub(crate) struct RequiresGradSetOnModule;

impl Rule for RequiresGradSetOnModule {
    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let it = &*cx.it;
        let Event::SetAttribute { object, name, value, span, from } = event else { return };
        if name.as_str() != "requires_grad" || !is_module(it, &Value::Obj(object)) {
            return;
        }
        // The statement has no effect, but the parameters already have the intended flag.
        let intended = match value.as_bool() {
            Some(true) => Some(Grad::Leaf),
            Some(false) => Some(Grad::Off),
            None => None,
        };
        if intended.is_some_and(|intended| all_have(it, object, intended)) {
            return;
        }
        // A module may define its own attribute with this name.
        let own = it.heap.attr(object, "requires_grad").is_some();
        let Some(text) = cx.source(span).filter(|text| !own && !text.starts_with("self.requires_grad")) else { return };
        let module = text.strip_suffix(".requires_grad").unwrap_or(&text);
        let message = format!("`{module}` is a module: setting `requires_grad` on it has no effect on its parameters");
        // Setting `True` is only a warning: if no parameter was frozen, the statement is not
        // needed.
        let severity = if value.as_bool() == Some(true) { Severity::Warning } else { Severity::Error };
        let finding = cx.findings.report(NAME, severity, message, span, Vec::new());
        if let (Some(from), Value::Bool(flag)) = (from, value)
            && let Some(finding) = finding
        {
            let flag = if *flag { "True" } else { "False" };
            finding.help = Some(format!("use `{module}.requires_grad_({flag})`, which sets it for all parameters"));
            finding.fix = Some(Fix {
                title: format!("Call `{module}.requires_grad_({flag})`"),
                applicability: Applicability::Unsafe,
                edits: vec![Edit {
                    span: Span { end: from.end, ..span },
                    content: format!("{module}.requires_grad_({flag})"),
                }],
            });
        }
    }
}

/// Whether a layer has parameters but no submodules, and all its parameters already have this flag.
fn all_have(it: &Interp<'_>, layer: ObjId, flag: Grad) -> bool {
    let Some(instance) = it.heap.instance_of(&Value::Obj(layer)) else { return false };
    let parameters: Vec<_> =
        instance.attrs.values().filter_map(|value| it.heap.tensor_ref(value)).filter(|t| t.parameter).collect();
    let parts = instance.attrs.values().any(|value| is_module(it, value));
    !parts && !parameters.is_empty() && parameters.iter().all(|t| t.grad == flag)
}
