//! The gradient penalty of a WGAN, `(gradients.norm(2, dim=1) - 1) ** 2`, of gradients with more than
//! two dimensions: the norm is taken over the channels of each pixel, not over the whole sample.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::tensor;
use crate::value::{Value, dims_text};

const NAME: &str = "penalty-of-each-pixel";

#[derive(Default)]
pub(crate) struct PenaltyOfEachPixel;

impl Rule for PenaltyOfEachPixel {
    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &*cx.it;
        let order = match path.as_str() {
            "torch.norm" => "p",
            "torch.linalg.norm" | "torch.linalg.vector_norm" => "ord",
            _ => return,
        };
        let is_euclidean = match bound.get(order) {
            Value::None => true,
            Value::Str(name) => &*name == "fro",
            other => other.as_f64() == Some(2.0),
        };
        let Some(id) = bound.get(if order == "p" { "input" } else { "A" }).as_obj().or(bound.get("x").as_obj()) else {
            return;
        };
        let is_gradient = cx.trace.graph.function(id) == Some("grad");
        let Some(dims) = tensor(it, id).and_then(|t| t.shape.as_deref()).filter(|dims| dims.len() > 2) else { return };
        let over = match bound.get("dim") {
            Value::Tuple(items) => match &*items {
                [only] => only.as_int(),
                _ => None,
            },
            dim => dim.as_int(),
        };
        if is_gradient && is_euclidean && over == Some(1) {
            let message = format!(
                "the gradients are {}, so this is the norm over dimension 1 of each pixel, not of each sample",
                dims_text(dims)
            );
            let made = cx
                .trace
                .graph
                .node(id)
                .map(|node| Label { span: node.span, message: "the gradients are computed here".to_owned() });
            cx.findings.report(NAME, Severity::Warning, message, cx.span, made.into_iter().collect());
        }
    }
}
