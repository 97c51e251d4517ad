//! `((values - returns) ** 2).mean()`, where one operand is an output `[B, 1]` of a network and the
//! other is `[B]`: the same mistake as `silent-loss-broadcast`, in a handwritten loss.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::tensor;
use crate::syntax::Span;
use crate::value::{Role, Tensor};

const NAME: &str = "difference-of-all-pairs";

#[derive(Default)]
pub(crate) struct DifferenceOfAllPairs;

impl Rule for DifferenceOfAllPairs {
    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &*cx.it;
        let trace = cx.trace;
        let squares = match path.as_str() {
            "torch.pow" => bound.get("exponent").as_f64() == Some(2.0),
            "torch.square" => true,
            _ => false,
        };
        let difference = bound.get("input").as_obj().filter(|_| squares).and_then(|id| trace.graph.node(id));
        let Some(node) = difference.filter(|node| node.function == "sub") else { return };
        let [a, b] = node.inputs.as_slice() else { return };
        let (Some(a), Some(b)) = (tensor(it, *a), tensor(it, *b)) else { return };
        let Some((output, other)) = [(a, b), (b, a)].into_iter().find(|(output, other)| is_column(output, other))
        else {
            return;
        };
        let Some(size) = other.dim(0).map(|dim| dim.size.clone()) else { return };
        let message = format!(
            "the output is [{size}, 1] and the other side is [{size}], so their difference is [{size}, {size}]: every \
             output minus every value"
        );
        let label = |(at, message): (Option<Span>, String)| at.map(|span| Label { span, message });
        let sides = [
            (output.shape_at, format!("shape [{size}, 1] is set here")),
            (other.shape_at, format!("shape [{size}] is set here")),
        ];
        cx.findings.report(NAME, Severity::Warning, message, node.span, sides.into_iter().filter_map(label).collect());
    }
}

/// Whether one operand is a column that a network has computed, and the other operand is a vector
/// of the same length.
fn is_column(output: &Tensor, other: &Tensor) -> bool {
    let (Some([rows, one]), Some([count])) = (output.shape.as_deref(), other.shape.as_deref()) else { return false };
    output.role == Some(Role::Logits)
        && other.role.is_none()
        && one.size.known() == Some(1)
        && count.size.known() != Some(1)
        && rows.size.equals(&count.size) == Some(true)
}
