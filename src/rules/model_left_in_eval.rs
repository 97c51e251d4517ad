//! A model that is put into evaluation mode in one round of a loop, and trained in the next.
//!
//! Layers are frozen in evaluation mode on purpose, then from the first round on. What is
//! reported was trained in training mode before.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::trace::{Moment, Trace};
use super::watch::{Found, Watching, report};
use crate::diagnostic::{Label, Severity};
use crate::python::{Bound, Interp};
use crate::syntax::Span;
use crate::value::{ObjId, Sym, Value};

const NAME: &str = "model-left-in-eval";

/// Layers that differ between the modes.
const LAYERS: &[&str] =
    &["Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d"];

/// Models of torchvision that are full of batch norm.
const NORMED: &[&str] = &[
    "resnet.ResNet",
    "densenet.DenseNet",
    "mobilenetv2.MobileNetV2",
    "mobilenetv3.MobileNetV3",
    "mnasnet.MNASNet",
    "efficientnet.EfficientNet",
    "googlenet.GoogLeNet",
    "inception.Inception3",
    "shufflenetv2.ShuffleNetV2",
];

/// A layer that differs between the modes, and the mode in which it is called.
pub(super) struct Mode {
    pub class: &'static str,
    pub layer: ObjId,
    pub training: bool,
}

/// Of the call of a `forward`: the layer's mode, where that makes a difference and is known.
pub(super) fn mode_of(it: &Interp<'_>, path: Sym, bound: &Bound) -> Option<Mode> {
    let class = match path.as_str().strip_suffix(".forward")?.strip_prefix("torch")?.strip_prefix("vision.models.") {
        Some(model) => NORMED.contains(&model).then_some("BatchNorm2d")?,
        None => {
            let class = path.as_str().strip_prefix("torch.nn.")?.strip_suffix(".forward")?;
            LAYERS.iter().find(|layer| **layer == class)?
        }
    };
    let layer = bound.get("self").as_obj()?;
    let training = it.heap.attr(layer, "training")?.as_bool()?;
    Some(Mode { class, layer, training })
}

#[derive(Default)]
pub struct ModelLeftInEval {
    /// The functions behind such layers, by their results: the layer and its mode.
    outputs: RefCell<FxHashMap<ObjId, (ObjId, bool)>>,
    /// The layers in the graph of the last `backward()`, and their modes.
    last: RefCell<Vec<(ObjId, bool)>>,
    /// The mode in which each layer was trained in the first round of a loop.
    trained: RefCell<FxHashMap<ObjId, bool>>,
    /// The last `eval()`.
    eval: RefCell<Option<Span>>,
}

impl ModelLeftInEval {
    pub fn call(&self, path: Sym, span: Span) {
        if path.as_str() == "torch.nn.Module.eval" {
            *self.eval.borrow_mut() = Some(span);
        }
    }

    pub fn returned(&self, it: &Interp<'_>, (path, bound, result): (Sym, &Bound, &Value)) {
        if let (Some(Mode { layer, training, .. }), Some(output)) = (mode_of(it, path, bound), result.as_obj()) {
            self.outputs.borrow_mut().insert(output, (layer, training));
        }
    }

    pub fn moment(
        &self,
        with: &Watching<'_>,
        it: &Interp<'_>,
        trace: &Trace,
        (moment, span): (&Moment, Span),
        found: &mut Found,
    ) {
        match moment {
            Moment::Backward { loss, accumulates: true, .. } => {
                let outputs = self.outputs.borrow();
                let layers = trace.graph.attached(it, loss).into_iter().filter_map(|id| outputs.get(&id).copied());
                *self.last.borrow_mut() = layers.collect();
            }
            Moment::Step { .. } if !it.speculative => {
                for (layer, training) in &*self.last.borrow() {
                    let before = self.trained.borrow().get(layer).copied();
                    if before.is_none() || !it.later_round() {
                        self.trained.borrow_mut().insert(*layer, *training);
                    } else if before == Some(true) && !training {
                        let (Some(page), Some(eval)) = (with.rules.find(NAME), *self.eval.borrow()) else { return };
                        let message = "the model stays in evaluation mode, and is trained so from the next round on";
                        let what = "this trains it, without dropout or batch statistics".to_owned();
                        let labels = vec![Label { span, message: what }];
                        report(found, page, Severity::Error, message.to_owned(), eval, labels);
                        return;
                    }
                }
            }
            _ => {}
        }
    }
}
