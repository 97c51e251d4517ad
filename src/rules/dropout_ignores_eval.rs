//! `F.dropout(x)` in a module: without `training=self.training` it drops in evaluation, too.

use super::trace::is_module;
use super::watch::{Found, Watching, report};
use crate::diagnostic::{Applicability, Edit, Fix, Severity};
use crate::python::{Bound, Interp};
use crate::syntax::Span;
use crate::value::Sym;

const NAME: &str = "dropout-ignores-eval";

pub fn call(with: &Watching<'_>, it: &Interp<'_>, (path, bound, span): (Sym, &Bound, Span), found: &mut Found) {
    let name = match path.as_str().strip_prefix("torch.nn.functional.") {
        Some(name @ ("dropout" | "dropout1d" | "dropout2d" | "dropout3d" | "alpha_dropout")) => name,
        _ => return,
    };
    let never = bound.get("p").as_f64() == Some(0.0);
    let named = with.source(span).is_some_and(|text| text.contains("dropout"));
    if bound.open || never || !named || bound.given("training") || !it.inside("forward") {
        return;
    }
    // `if self.training: x = F.dropout(x)`
    if it.tests_attribute("training") {
        return;
    }
    let (Some(page), Some(_)) = (with.rules.find(NAME), it.method_receiver().filter(|r| is_module(it, r))) else {
        return;
    };
    let message = format!("`{name}` drops whatever mode the model is in: `training` is True unless it is given");
    report(found, page, Severity::Warning, message, span, Vec::new());
    let close = Span { start: span.end.saturating_sub(1), ..span };
    if let Some(diagnostic) = found.last_mut().filter(|d| d.span == span && d.code == page.code)
        && let Some(text) = with.source(span)
        && text.ends_with(')')
        && !text.trim_end_matches([')', ' ', '\n']).ends_with(',')
    {
        diagnostic.fix = Some(Fix {
            title: "Let it follow the module's mode".to_owned(),
            applicability: Applicability::Unsafe,
            edits: vec![Edit {
                span: Span { end: close.start, ..close },
                content: ", training=self.training".to_owned(),
            }],
        });
    }
}
