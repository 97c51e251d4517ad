//! `layer.out_features = n` on an existing layer, whose weight does not change.
//!
//! The assignment of a number is reported when the layer computes with its old weight: before that,
//! the program may still replace the weight. The assignment of a module is reported at once.

use std::cell::RefCell;

use crate::diagnostic::{Label, Severity};
use crate::python::Event;
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::{is_module, reach, tensor};
use crate::syntax::Span;
use crate::value::{ObjId, Sym, Value};

const NAME: &str = "size-set-on-layer";
/// Attributes that only describe a size, and the dimension of the weight that has this size.
const SIZES: &[(&str, i64)] = &[
    ("out_features", 0),
    ("in_features", 1),
    ("out_channels", 0),
    ("in_channels", 1),
    ("num_embeddings", 0),
    ("embedding_dim", 1),
];
/// Layers whose weights have these dimensions.
const LAYERS: &[&str] =
    &["torch.nn.Linear", "torch.nn.Embedding", "torch.nn.Conv1d", "torch.nn.Conv2d", "torch.nn.Conv3d"];

struct Set {
    layer: ObjId,
    class: &'static str,
    weight: ObjId,
    name: Sym,
    value: Value,
    dim: i64,
    span: Span,
}

#[derive(Default)]
pub(crate) struct SizeSetOnLayer {
    set: RefCell<Vec<Set>>,
}

impl Rule for SizeSetOnLayer {
    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let it = &*cx.it;
        let Event::SetAttribute { object: layer, name, value, span, .. } = event else { return };
        let Some((_, dim)) = SIZES.iter().find(|(size, _)| *size == name.as_str()) else { return };
        let weight = it.heap.attr(layer, "weight").and_then(|weight| weight.as_obj());
        if let Some(weight) = weight
            && it.heap.attr(layer, name.as_str()).is_some()
            && let Some(class) = LAYERS.iter().find(|class| it.is_instance(&Value::Obj(layer), class))
        {
            if is_module(it, value) {
                let message = format!("`{name}` is only a number: a layer that is assigned to it is never called");
                cx.findings.report(NAME, Severity::Error, message, span, Vec::new());
                return;
            }
            // The weight of a grouped convolution has only the input channels of one group.
            let groups = it.heap.attr(layer, "groups").map_or(Some(1), |groups| groups.as_int());
            if name.as_str() == "in_channels" && groups != Some(1) {
                return;
            }
            self.set.borrow_mut().push(Set { layer, class, weight, name, value: value.clone(), dim: *dim, span });
        }
    }

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &*cx.it;
        if self.set.borrow().is_empty() || !path.as_str().ends_with(".forward") {
            return;
        }
        let Some(called) = bound.get("self").as_obj() else { return };
        // Library networks are not interpreted: when a network is called, all layers in it are
        // assumed to be called.
        let closed = path.as_str().starts_with("torchvision.models.");
        let calls = |set: &&Set| {
            let mut inside = Vec::new();
            if closed {
                reach(it, &Value::Obj(called), set.class, 6, &mut inside);
            }
            called == set.layer || inside.contains(&set.layer)
        };
        for set in self.set.borrow().iter().filter(calls) {
            let weight = it.heap.attr(set.layer, "weight").and_then(|weight| weight.as_obj());
            let dim = tensor(it, set.weight).and_then(|weight| weight.dim(set.dim));
            let Some(dim) = dim.filter(|_| weight == Some(set.weight)) else { continue };
            let same = set.value.as_size().and_then(|size| size.equals(&dim.size));
            if same != Some(false) {
                continue;
            }
            let name = set.name;
            let message =
                format!("setting `{name}` does not change the weight of the layer, whose size is still {}", dim.size);
            let made = dim.at.map(|span| Label { span, message: format!("size {} is set here", dim.size) });
            cx.findings.report(NAME, Severity::Error, message, set.span, made.into_iter().collect());
        }
    }
}
