//! A function that is used as a condition, compared with a value, or written as a statement, but not called.

use crate::diagnostic::Severity;
use crate::python::Event;
use crate::rules::rule::{Context, Findings, Rule, Source};
use crate::syntax::{Expr, Ranged, expressions, path_of};

const NAME: &str = "uncalled-function";

#[derive(Default)]
pub(crate) struct UncalledFunction;

/// Methods and functions that programs call for their effect. A statement without parentheses does not call
/// them.
const METHODS: &[&str] = &[
    "backward",
    "close",
    "cpu",
    "cuda",
    "detach",
    "detach_",
    "eval",
    "flush",
    "synchronize",
    "step",
    "train",
    "update",
    "zero_",
    "zero_grad",
    "empty_cache",
    "show",
    "barrier",
    "init_process_group",
    "requires_grad_",
];

/// The methods in `torch.save(model.state_dict, path)`, `torch.save({"model": model.state_dict}, path)` and
/// `model.load_state_dict(other.state_dict)`.
fn uncalled_states(expr: &Expr) -> Vec<&Expr> {
    let Some(call) = expr.as_call_expr() else { return Vec::new() };
    let is_method = |expr: &&Expr| expr.as_attribute_expr().is_some_and(|it| it.attr.as_str() == "state_dict");
    match (path_of(&call.func).as_slice(), call.arguments.args.first()) {
        (["torch", "save"], Some(Expr::Dict(saved))) => {
            saved.items.iter().map(|item| &item.value).filter(is_method).collect()
        }
        (["torch", "save"] | [.., "load_state_dict"], Some(given)) => {
            Some(given).filter(is_method).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

impl Rule for UncalledFunction {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for stmt in &source.statements {
            let Some(attribute) = stmt.as_expr_stmt().and_then(|stmt| stmt.value.as_attribute_expr()) else { continue };
            // `show` may be a property of a class of the program.
            let is_plot = || path_of(&attribute.value) == ["plt"];
            if !METHODS.contains(&attribute.attr.as_str()) || attribute.attr.as_str() == "show" && !is_plot() {
                continue;
            }
            let message = format!("`{}` is not called here: this statement does nothing", attribute.attr);
            findings.report(NAME, Severity::Warning, message, source.span(stmt.range()), Vec::new());
        }
        // The program may have objects with a field of this name.
        let fields = ["state_dict:", ".state_dict =", "\"state_dict\",", "def state_dict(self)"];
        if !source.text.contains("state_dict") || fields.iter().any(|text| source.text.contains(text)) {
            return;
        }
        for attribute in source.body.iter().flat_map(expressions).flat_map(uncalled_states) {
            let message = "`state_dict` is not called here: this is the method, not the state";
            findings.report(NAME, Severity::Warning, message, source.span(attribute.range()), Vec::new());
        }
    }

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let Event::Uncalled { tested, span } = event else { return };
        // A `try` may test whether the function exists.
        if cx.it.is_in_try() {
            return;
        }
        let Some(text) = cx.source(span) else { return };
        let result = if tested { "a function counts as true" } else { "a function equals no other value" };
        let message = format!("`{text}` is not called here, and {result}");
        cx.findings.report(NAME, Severity::Warning, message, span, Vec::new());
    }
}
