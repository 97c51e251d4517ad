//! `x.device == "cpu"`, which is never true.

use crate::diagnostic::Severity;
use crate::python::Event;
use crate::rules::rule::{Context, Findings, Rule, Source};
use crate::syntax::ast::CmpOp;
use crate::syntax::{Expr, Ranged, expressions, path_of};

const NAME: &str = "device-compared-with-text";

#[derive(Default)]
pub(crate) struct DeviceComparedWithText;

impl Rule for DeviceComparedWithText {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("device") || !source.text.contains("parameters") {
            return;
        }
        for expr in source.body.iter().flat_map(expressions) {
            let Expr::Compare(compare) = expr else { continue };
            let ([op @ (CmpOp::Eq | CmpOp::NotEq)], [right]) = (&*compare.ops, &*compare.comparators) else { continue };
            if is_device_of_parameter(&compare.left) && right.is_string_literal_expr() {
                findings.report(
                    NAME,
                    Severity::Warning,
                    message(*op == CmpOp::Eq),
                    source.span(expr.range()),
                    Vec::new(),
                );
            }
        }
    }

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let Event::DeviceAgainstText { equal, span } = event else { return };
        if !cx.findings.any_at(span) {
            cx.findings.report(NAME, Severity::Warning, message(equal), span, Vec::new());
        }
    }
}

fn message(equal: bool) -> String {
    let result = if equal { "never true" } else { "always true" };
    format!("a `torch.device` is not equal to any string: this comparison is {result}")
}

/// `next(model.parameters()).device`
fn is_device_of_parameter(expr: &Expr) -> bool {
    let Some(device) = expr.as_attribute_expr().filter(|it| it.attr.as_str() == "device") else { return false };
    let Some(next) = device.value.as_call_expr().filter(|call| path_of(&call.func) == ["next"]) else { return false };
    let first = next.arguments.args.first().and_then(Expr::as_call_expr);
    first.is_some_and(|call| path_of(&call.func).last() == Some(&"parameters"))
}
