//! A batch from a loader, with the samples first, as input of a layer that expects the steps of a
//! sequence first.

use crate::diagnostic::{Label, Severity};
use crate::python::Interp;
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::{reach, tensor};
use crate::value::{Dim, ObjId, Value, dims_text};

const NAME: &str = "batch-taken-for-sequence";
/// Layers that expect `[steps, batch, features]` by default, and the parameter that takes the
/// input.
const SEQUENTIAL: &[(&str, &str)] = &[
    ("torch.nn.RNN.forward", "input"),
    ("torch.nn.GRU.forward", "input"),
    ("torch.nn.LSTM.forward", "input"),
    ("torch.nn.MultiheadAttention.forward", "query"),
    ("torch.nn.TransformerEncoderLayer.forward", "src"),
    ("torch.nn.TransformerEncoder.forward", "src"),
    ("torch.nn.Transformer.forward", "src"),
];

#[derive(Default)]
pub(crate) struct BatchTakenForSequence;

impl Rule for BatchTakenForSequence {
    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &*cx.it;
        let span = cx.span;
        let Some((_, parameter)) = SEQUENTIAL.iter().find(|(layer, _)| *layer == path.as_str()) else { return };
        let Some(input) = bound.get(parameter).as_obj().and_then(|id| tensor(it, id)) else { return };
        let Some(dims @ [first, second, _]) = input.shape.as_deref() else { return };
        let judged = is_batch(first) && !second.batch && second.size.known() != Some(1);
        if !judged || batch_first(it, &bound.get("self")) != Some(false) {
            return;
        }
        let message = format!(
            "`{parameter}` is {} with the batch first, but the layer was made without `batch_first=True`: it treats \
             the {} samples as time steps",
            dims_text(dims),
            first.size
        );
        cx.findings.report(NAME, Severity::Warning, message, span, made_here(first));
    }
}

pub(crate) fn is_batch(dim: &Dim) -> bool {
    dim.batch && dim.size.known() != Some(1)
}

/// The `batch_first` of a layer, or of the attention layers in it.
fn batch_first(it: &Interp<'_>, layer: &Value) -> Option<bool> {
    let id = layer.as_obj()?;
    let own = |id: ObjId| it.heap.attr(id, "batch_first").and_then(|first| first.as_bool());
    if let Some(first) = own(id) {
        return Some(first);
    }
    let mut inside = Vec::new();
    reach(it, layer, "torch.nn.MultiheadAttention", 6, &mut inside);
    let (first, others) = inside.split_first()?;
    let first = own(*first)?;
    others.iter().all(|other| own(*other) == Some(first)).then_some(first)
}

pub(crate) fn made_here(dim: &Dim) -> Vec<Label> {
    let label = |span| Label { span, message: "the batches are created here".to_owned() };
    dim.at.map(label).into_iter().collect()
}
