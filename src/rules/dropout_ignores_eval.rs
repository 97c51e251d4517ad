//! Dropout that does not know the mode of the module in whose `forward` it stands: functions, which
//! drop in evaluation too unless they are told not to, and layers made for one call, which
//! `eval()` never reaches.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::trace::{is_module, reach};
use super::watch::{Found, Watching, report};
use crate::diagnostic::{Applicability, Edit, Fix, Severity};
use crate::python::{Bound, Interp};
use crate::syntax::Span;
use crate::value::{ObjId, Sym, Value};

const NAME: &str = "dropout-ignores-eval";

#[derive(Default)]
pub struct DropoutIgnoresEval {
    /// Layers that were made in a `forward`, and where.
    made: RefCell<FxHashMap<ObjId, Span>>,
}

impl DropoutIgnoresEval {
    pub fn returned(&self, with: &Watching<'_>, it: &Interp<'_>, (path, result, span): (Sym, &Value, Span)) {
        if is_layer(path.as_str())
            && it.inside("forward")
            && let Some(layer) = result.as_obj()
            && !asks_for_mode(with, it)
        {
            self.made.borrow_mut().insert(layer, span);
        }
    }

    /// Whether a layer was made for one call.
    pub fn made(&self, layer: ObjId) -> bool {
        self.made.borrow().contains_key(&layer)
    }

    pub fn call(
        &self,
        with: &Watching<'_>,
        it: &Interp<'_>,
        (path, bound, span): (Sym, &Bound, Span),
        found: &mut Found,
    ) {
        let Some(module) = it.method_receiver().filter(|r| is_module(it, r)).filter(|_| it.inside("forward")) else {
            return;
        };
        if let Some(class) = path.as_str().strip_suffix(".forward").filter(|class| is_layer(class)) {
            return self.layer(with, it, (class, module, bound), found);
        }
        match path.as_str().strip_prefix("torch.nn.functional.") {
            Some("scaled_dot_product_attention") => attention(with, it, (module, bound, span), found),
            Some(
                name
                @ ("dropout" | "dropout1d" | "dropout2d" | "dropout3d" | "alpha_dropout" | "feature_alpha_dropout"),
            ) => function(with, it, (name, bound, span), found),
            _ => {}
        }
    }

    /// `nn.Dropout(0.5)(x)`: a layer is in training mode until it is told otherwise.
    fn layer(
        &self,
        with: &Watching<'_>,
        it: &Interp<'_>,
        (class, module, bound): (&str, &Value, &Bound),
        found: &mut Found,
    ) {
        let Some(layer) = bound.get("self").as_obj() else { return };
        let Some(made) = self.made.borrow().get(&layer).copied() else { return };
        let mut kept = Vec::new();
        reach(it, module, class, 6, &mut kept);
        let attr = |name: &str| it.heap.attr(layer, name);
        if kept.contains(&layer)
            || attr("training").and_then(|v| v.as_bool()) != Some(true)
            || attr("p").and_then(|p| p.as_f64()) == Some(0.0)
            || asks_for_mode(with, it)
        {
            return;
        }
        let Some(page) = with.rules.find(NAME) else { return };
        let name = class.rsplit('.').next().unwrap_or(class);
        let message =
            format!("this `{name}` is made anew in each call, always in training mode: `eval()` never reaches it");
        report(found, page, Severity::Warning, message, made, Vec::new());
    }
}

fn is_layer(class: &str) -> bool {
    class.strip_prefix("torch.nn.").is_some_and(|name| name.ends_with("Dropout") || name.starts_with("Dropout"))
}

/// Whether the function that is being run speaks of `training` at all.
fn asks_for_mode(with: &Watching<'_>, it: &Interp<'_>) -> bool {
    let code = |line: &str| line.split('#').next().is_some_and(|code| code.contains("training"));
    it.function().and_then(|def| with.source(def)).is_none_or(|text| text.lines().any(code))
}

fn function(with: &Watching<'_>, it: &Interp<'_>, (name, bound, span): (&str, &Bound, Span), found: &mut Found) {
    let never = bound.get("p").as_f64() == Some(0.0);
    let named = with.source(span).is_some_and(|text| text.contains("dropout"));
    // `if self.training: x = F.dropout(x)`
    if bound.open || never || !named || bound.given("training") || it.tests_attribute("training") {
        return;
    }
    let Some(page) = with.rules.find(NAME) else { return };
    let message = match name.contains("alpha") {
        true => format!("`{name}` never drops: its `training` is False unless it is given"),
        false => format!("`{name}` drops whatever mode the model is in: `training` is True unless it is given"),
    };
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

/// Attention has no `training`: where it drops is for the caller to say, by `dropout_p`.
fn attention(with: &Watching<'_>, it: &Interp<'_>, (module, bound, span): (&Value, &Bound, Span), found: &mut Found) {
    let drops = bound.get("dropout_p").as_f64().is_some_and(|p| p > 0.0);
    let evaluated =
        module.as_obj().and_then(|id| it.heap.attr(id, "training")).and_then(|v| v.as_bool()) == Some(false);
    if bound.open || !drops || !evaluated && asks_for_mode(with, it) {
        return;
    }
    let Some(page) = with.rules.find(NAME) else { return };
    let message = "attention drops whatever mode the model is in: `dropout_p` is not 0 in evaluation";
    report(found, page, Severity::Warning, message.to_owned(), span, Vec::new());
}
