//! A layer or a parameter that `forward` creates: it is new in each call, so it is never trained.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprCall, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, blocks, calls, expressions, is_module, methods, path_of, statements};

const NAME: &str = "layer-made-in-forward";

/// Classes of `torch.nn` that have parameters, or the beginnings of their names.
const LAYERS: &[&str] = &[
    "Parameter",
    "Linear",
    "LazyLinear",
    "Bilinear",
    "Conv",
    "BatchNorm",
    "LayerNorm",
    "GroupNorm",
    "Embedding",
    "LSTM",
    "GRU",
    "RNN",
    "PReLU",
    "MultiheadAttention",
    "Transformer",
];

#[derive(Default)]
pub(crate) struct LayerMadeInForward;

impl Rule for LayerMadeInForward {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for class in source.classes().filter(|class| is_module(class)) {
            for forward in methods(class).filter(|method| method.name.as_str() == "forward") {
                for (call, name) in made(forward) {
                    let what = if name == "Parameter" { "parameter" } else { "layer" };
                    let message =
                        format!("this creates a new {what} in each call of `forward`: no optimizer trains it");
                    let span = source.span(call.range());
                    findings.report(NAME, Severity::Warning, message, span, Vec::new());
                }
            }
        }
    }
}

/// The calls in a method that create layers or parameters. Empty if the method sets weights.
fn made(method: &StmtFunctionDef) -> Vec<(&ExprCall, &str)> {
    // Code that sets weights may use the layer as a function with weights that it chooses or computes.
    let sets_weights = method.body.iter().flat_map(expressions).any(|expr| {
        matches!(expr, Expr::Attribute(a) if a.ctx.is_store() || a.attr.as_str() == "data" || a.attr.ends_with('_'))
    });
    if sets_weights {
        return Vec::new();
    }
    let simple = statements(&method.body, false).into_iter().filter(|stmt| blocks(stmt).is_empty());
    simple.flat_map(calls).filter_map(|call| Some((call, layer(call)?))).collect()
}

/// The class of a layer, if a call creates one that has trainable parameters.
fn layer(call: &ExprCall) -> Option<&str> {
    let name = match path_of(&call.func).as_slice() {
        ["nn", name] | ["torch", .., "nn", name] => *name,
        _ => return None,
    };
    let is_layer = LAYERS.iter().any(|layer| match *layer {
        "Conv" | "BatchNorm" | "Transformer" => name.starts_with(layer),
        _ => name == *layer,
    });
    let frozen = call.arguments.find_keyword("requires_grad").is_some()
        || call.arguments.find_keyword("affine").is_some()
        || call.arguments.find_keyword("elementwise_affine").is_some();
    // The second argument of `nn.Parameter` is `requires_grad`.
    let frozen = frozen || name == "Parameter" && call.arguments.args.len() > 1;
    (is_layer && !frozen).then_some(name)
}
