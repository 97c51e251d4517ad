//! A model that is put into evaluation mode in one iteration of a loop, and trained in this mode in
//! the next iteration.
//!
//! Layers that are frozen in evaluation mode on purpose are in that mode from the first iteration
//! on. So the rule reports models that were trained in training mode before, or that were put into
//! training mode as a whole, then into evaluation mode as a whole, and then evaluated.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::diagnostic::{Label, Severity};
use crate::python::{Bound, Interp};
use crate::rules::notes::is_without_gradients;
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::{Moment, fates, parameters, reach, set_fates};
use crate::syntax::Span;
use crate::value::{ObjId, State, Sym, Topic, Value};

const NAME: &str = "model-left-in-eval";

/// Layers whose result depends on the mode.
const LAYERS: &[&str] =
    &["Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d"];

/// torchvision models with batch norm.
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

/// A layer whose result depends on the mode, and the mode in which it is called.
pub(crate) struct Mode {
    pub class: &'static str,
    pub layer: ObjId,
    pub training: Option<bool>,
}

/// For a call of `forward`: the layer and its mode, if the result depends on the mode.
pub(crate) fn mode_of(it: &Interp<'_>, path: Sym, bound: &Bound) -> Option<Mode> {
    let class = match path.as_str().strip_suffix(".forward")?.strip_prefix("torch")?.strip_prefix("vision.models.") {
        Some(model) => NORMED.contains(&model).then_some("BatchNorm2d")?,
        None => {
            let class = path.as_str().strip_prefix("torch.nn.")?.strip_suffix(".forward")?;
            LAYERS.iter().find(|layer| **layer == class)?
        }
    };
    let layer = bound.get("self").as_obj()?;
    // Without running statistics, a normalisation uses the batch in both modes.
    if it.heap.attr(layer, "track_running_stats").and_then(|tracks| tracks.as_bool()) == Some(false) {
        return None;
    }
    let training = it.heap.attr(layer, "training")?.as_bool();
    Some(Mode { class, layer, training })
}

#[derive(Default)]
pub(crate) struct ModelLeftInEval {
    /// For each result that depends on the mode of a layer: the layer and its mode.
    outputs: RefCell<FxHashMap<ObjId, (ObjId, Option<bool>)>>,
    /// The layers in the graph of the last `backward()`, and their modes.
    last: RefCell<Vec<(ObjId, Option<bool>)>>,
    /// The leaves whose gradients the last `backward()` computed.
    leaves: RefCell<Vec<ObjId>>,
    /// For each layer and each step, the mode in which the layer was trained in the first iteration
    /// of a loop. The modes for two steps may differ on purpose: for example, a GAN's discriminator
    /// is trained on the results of a generator in evaluation mode.
    trained: RefCell<FxHashMap<(ObjId, Span), bool>>,
    /// The place of the last `eval()`.
    eval: RefCell<Option<Span>>,
    /// For each layer, the `eval()` of a model that had been put into training mode as a whole, and
    /// the loops around this call.
    left: RefCell<FxHashMap<ObjId, (Span, Vec<u32>)>>,
}

/// A state of a layer: `train()` was called for the whole model (the subject of the note).
const TRAINED: Topic = Topic::new("train()");
/// A state of a layer: after [`TRAINED`], `eval()` was called for the same model in a loop.
const LEFT: Topic = Topic::new("left in eval()");
/// A state of a layer: after [`LEFT`], the layer ran in evaluation mode without gradients.
const EVALUATED: Topic = Topic::new("evaluated");
/// A state of a layer: `eval()` was called, but not as described for [`LEFT`].
const EVAL: Topic = Topic::new("eval()");
/// The note that stores the state of a layer.
const MODE: Topic = Topic::new("mode");

impl Rule for ModelLeftInEval {
    const LATER_ROUNDS: bool = true;

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &mut *cx.it;
        let span = cx.span;
        let on = match path.as_str() {
            "torch.nn.Module.eval" => Some(false),
            "torch.nn.Module.train" => bound.get("mode").as_bool(),
            _ => return,
        };
        if path.as_str() == "torch.nn.Module.eval" {
            *self.eval.borrow_mut() = Some(span);
        }
        let Some(model) = bound.get("self").as_obj().filter(|_| !it.speculative()) else { return };
        let mut layers = Vec::new();
        for class in LAYERS {
            reach(it, &Value::Obj(model), &format!("torch.nn.{class}"), 8, &mut layers);
        }
        let trained = TRAINED.of(model);
        for layer in layers {
            let mode = MODE.of(layer);
            let before = fates(it, mode);
            let after = match on {
                Some(true) => vec![[trained].into()],
                Some(false) if before.iter().any(|fate| **fate == [trained]) && it.in_loop() => {
                    self.left.borrow_mut().insert(layer, (span, runs(it)));
                    vec![[LEFT.into()].into()]
                }
                Some(false) if before.iter().any(|fate| is(fate, LEFT) || is(fate, EVALUATED)) => continue,
                Some(false) => vec![[EVAL.into()].into()],
                None => Vec::new(),
            };
            set_fates(it, mode, after);
        }
    }

    fn returned(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>, result: &Value) {
        let it = &mut *cx.it;
        if let (Some(Mode { layer, training, .. }), Some(output)) = (mode_of(it, path, bound), result.as_obj()) {
            self.outputs.borrow_mut().insert(output, (layer, training));
            if training == Some(false)
                && is_without_gradients(it)
                && matches!(fates(it, MODE.of(layer)).as_slice(), [only] if is(only, LEFT))
            {
                set_fates(it, MODE.of(layer), vec![[EVALUATED.into()].into()]);
            }
        }
    }

    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        let it = &*cx.it;
        let trace = cx.trace;
        let span = cx.span;
        match moment {
            Moment::Backward { loss, accumulates: true, .. } => {
                let outputs = self.outputs.borrow();
                let layers = trace.graph.attached(it, loss).into_iter().filter_map(|id| outputs.get(&id).copied());
                *self.last.borrow_mut() = layers.collect();
                *self.leaves.borrow_mut() = trace.graph.leaves(it, loss);
            }
            Moment::Step { optimizer, .. } if !it.speculative() => {
                // The step may use the gradients of another loss, or those of its closure.
                let leaves = self.leaves.borrow();
                let is_other = |held: Vec<ObjId>| !leaves.is_empty() && !held.iter().any(|id| leaves.contains(id));
                if parameters(it, *optimizer).is_some_and(is_other) {
                    return;
                }
                for (layer, training) in &*self.last.borrow() {
                    if fates(it, MODE.of(*layer)).iter().any(|fate| is(fate, EVALUATED)) {
                        let left = self.left.borrow().get(layer).cloned();
                        let Some((eval, around)) = left else { return };
                        // After the loop that called `eval()`, evaluation mode may be intended.
                        if !runs(it).iter().any(|run| around.contains(run)) {
                            continue;
                        }
                        let message = "the model stays in evaluation mode while it is trained";
                        let what = "it is trained here, without dropout or batch statistics".to_owned();
                        let labels = vec![Label { span, message: what }];
                        cx.findings.report(NAME, Severity::Error, message, eval, labels);
                        return;
                    }
                    let Some(training) = training else { continue };
                    let before = self.trained.borrow().get(&(*layer, span)).copied();
                    if before.is_none() || !it.later_round() {
                        self.trained.borrow_mut().insert((*layer, span), *training);
                    } else if before == Some(true) && !training {
                        let Some(eval) = *self.eval.borrow() else { return };
                        let message = "from the next iteration on, the model stays in evaluation mode while it is \
                            trained";
                        let what = "it is trained here, without dropout or batch statistics".to_owned();
                        let labels = vec![Label { span, message: what }];
                        cx.findings.report(NAME, Severity::Error, message, eval, labels);
                        return;
                    }
                }
            }
            _ => {}
        }
    }
}

/// The loops that are running at this point.
fn runs(it: &Interp<'_>) -> Vec<u32> {
    it.rounds().iter().map(|rounds| rounds.run).collect()
}

fn is(state: &State, topic: Topic) -> bool {
    **state == [topic.into()]
}
