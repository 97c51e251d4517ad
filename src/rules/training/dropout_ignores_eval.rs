//! Dropout that ignores the mode of the module whose `forward` uses it: functions that are called
//! without `training`, attention with a fixed `dropout_p`, and layers that are created for one
//! call, which `eval()` never reaches.

use crate::diagnostic::{Applicability, Edit, Fix, Severity};
use crate::python::Bound;
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::{is_module, reach};
use crate::syntax::Span;
use crate::value::{Data, Value};

const NAME: &str = "dropout-ignores-eval";

/// Texts in programs whose dropout is meant to act in evaluation mode, to sample predictions.
const MONTE_CARLO: &[&str] = &["MCDropout", "MC_Dropout", "mc_dropout", "MC dropout", "Monte Carlo", "Monte-Carlo"];

#[derive(Default)]
pub(crate) struct DropoutIgnoresEval;

impl Rule for DropoutIgnoresEval {
    fn returned(&self, cx: &mut Context<'_, '_>, Call { path, .. }: Call<'_>, result: &Value) {
        let it = &*cx.it;
        let span = cx.span;
        if is_layer(path.as_str())
            && it.inside("forward")
            && let Some(layer) = result.as_obj()
            && !asks_for_mode(cx)
        {
            cx.trace.throwaways.borrow_mut().insert(layer, span);
        }
    }

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &*cx.it;
        if !["ropout", "scaled_dot_product_attention"].iter().any(|name| path.as_str().contains(name)) {
            return;
        }
        let receiver = it.method_receiver().filter(|r| is_module(it, r)).filter(|_| it.inside("forward"));
        let Some(module) = receiver.cloned() else { return };
        if MONTE_CARLO.iter().any(|name| it.mentions(name)) {
            return;
        }
        if let Some(class) = path.as_str().strip_suffix(".forward").filter(|class| is_layer(class)) {
            return layer(cx, class, &module, bound);
        }
        match path.as_str().strip_prefix("torch.nn.functional.") {
            Some("scaled_dot_product_attention") => attention(cx, &module, bound),
            Some(
                name
                @ ("dropout" | "dropout1d" | "dropout2d" | "dropout3d" | "alpha_dropout" | "feature_alpha_dropout"),
            ) => function(cx, name, &module, bound),
            _ => {}
        }
    }
}

/// `nn.Dropout(0.5)(x)`: a new layer is in training mode.
fn layer(cx: &mut Context<'_, '_>, class: &str, module: &Value, bound: &Bound) {
    let it = &*cx.it;
    let Some(layer) = bound.get("self").as_obj() else { return };
    let Some(made) = cx.trace.throwaways.borrow().get(&layer).copied() else { return };
    let mut kept = Vec::new();
    reach(it, module, class, 6, &mut kept);
    let attr = |name: &str| it.heap.attr(layer, name);
    if kept.contains(&layer)
        || attr("training").and_then(|v| v.as_bool()) != Some(true)
        || attr("p").is_some_and(|p| match p.as_f64() {
            Some(p) => p == 0.0,
            None => cx.source(made).is_some_and(|text| is_off_by_default(cx, module, argument(&text))),
        })
        || asks_for_mode(cx)
    {
        return;
    }
    let name = class.rsplit('.').next().unwrap_or(class);
    let message = format!("this `{name}` is created in each call, always in training mode: `eval()` never reaches it");
    cx.findings.report(NAME, Severity::Warning, message, made, Vec::new());
}

fn is_layer(class: &str) -> bool {
    class.strip_prefix("torch.nn.").is_some_and(|name| name.ends_with("Dropout") || name.starts_with("Dropout"))
}

/// Whether the current function contains `training` outside comments.
fn asks_for_mode(cx: &Context<'_, '_>) -> bool {
    let code = |line: &str| line.split('#').next().is_some_and(|code| code.contains("training"));
    cx.it.function().and_then(|def| cx.source(def)).is_none_or(|text| text.lines().any(code))
}

/// The text of the arguments of a call.
fn argument(call: &str) -> &str {
    call.split_once('(').map_or("", |(_, rest)| rest.trim_end_matches(')'))
}

/// Whether a probability is an option of the constructor with the default 0. `probability` is the
/// source text, such as `p=self.dropout`; the option is then a parameter `dropout=0.0` of
/// `__init__`.
fn is_off_by_default(cx: &Context<'_, '_>, module: &Value, probability: &str) -> bool {
    let option = probability.rsplit(['.', '=']).next().map_or("", str::trim);
    let constructor = cx.it.user_method(module, "__init__").and_then(|init| init.as_obj());
    match constructor.map(|id| cx.it.heap.get(id)) {
        Some(Data::Function(init)) => {
            let default = init.defaults.iter().find(|(name, _)| name.as_str() == option);
            default.is_some_and(|(_, value)| value.as_f64() == Some(0.0))
        }
        _ => false,
    }
}

fn function(cx: &mut Context<'_, '_>, name: &str, module: &Value, bound: &Bound) {
    let span = cx.span;
    let never = match bound.get("p").as_f64() {
        Some(p) => p == 0.0,
        None => {
            let given = bound.span("p").and_then(|span| cx.source(span));
            given.is_some_and(|text| is_off_by_default(cx, module, &text))
        }
    };
    let named = cx.source(span).is_some_and(|text| text.contains("dropout"));
    // `if self.training: x = F.dropout(x)` is correct.
    if bound.open || never || !named || bound.given("training") || cx.it.tests_attribute("training") {
        return;
    }
    // The caller may decide according to the mode.
    if cx.it.depends_on_parameter(span) || cx.it.depends_on_switch(module, span) {
        return;
    }
    let message = match name.contains("alpha") {
        true => format!("`{name}` never drops values: `training` is False by default"),
        false => format!("`{name}` drops values in evaluation mode too: `training` is True by default"),
    };
    let close = Span { start: span.end.saturating_sub(1), ..span };
    let text = cx.source(span);
    if let Some(finding) = cx.findings.report(NAME, Severity::Warning, message, span, Vec::new())
        && let Some(text) = text
        && text.ends_with(')')
        && !text.trim_end_matches([')', ' ', '\n']).ends_with(',')
    {
        finding.fix = Some(Fix {
            title: "Use the module's training mode".to_owned(),
            applicability: Applicability::Unsafe,
            edits: vec![Edit {
                span: Span { end: close.start, ..close },
                content: ", training=self.training".to_owned(),
            }],
        });
    }
}

/// Attention has no `training` argument: the caller decides with `dropout_p`.
fn attention(cx: &mut Context<'_, '_>, module: &Value, bound: &Bound) {
    let drops = bound.get("dropout_p").as_f64().is_some_and(|p| p > 0.0);
    let evaluated =
        module.as_obj().and_then(|id| cx.it.heap.attr(id, "training")).and_then(|v| v.as_bool()) == Some(false);
    if bound.open || !drops || !evaluated && asks_for_mode(cx) {
        return;
    }
    let message = "attention drops values in evaluation mode too: `dropout_p` is not 0 in that mode";
    cx.findings.report(NAME, Severity::Warning, message, cx.span, Vec::new());
}
