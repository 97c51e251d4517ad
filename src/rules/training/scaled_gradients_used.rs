//! Gradients that a `GradScaler` has scaled and that are used without unscaling: for clipping, or
//! in a step of an optimizer.

use std::cell::{Cell, RefCell};

use rustc_hash::FxHashSet;

use crate::diagnostic::{Label, Severity};
use crate::python::Bound;
use crate::rules::notes::holds;
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::Moment;
use crate::syntax::Span;
use crate::value::{ObjId, Sym, Topic, Value};

const NAME: &str = "scaled-gradients-used";
/// Whether the gradients are scaled.
const STATE: Topic = Topic::new("gradients are scaled");

pub(crate) const SCALERS: [&str; 2] = ["torch.amp.GradScaler", "torch.cuda.amp.GradScaler"];

#[derive(Default)]
pub(crate) struct ScaledGradientsUsed {
    /// Scalers that are certainly enabled.
    enabled: RefCell<FxHashSet<ObjId>>,
    /// Whether `scaler.step()` is running. A step of the optimizer inside it is not reported.
    stepping: Cell<bool>,
    /// The places at which an enabled scaler scales a loss.
    scaled: RefCell<FxHashSet<Span>>,
}

pub(crate) fn is_scaler(path: &str) -> bool {
    SCALERS.iter().any(|class| path.starts_with(class))
}

/// The scaler that a call created, if it is certainly enabled.
pub(crate) fn enabled_scaler(path: Sym, bound: &Bound, result: &Value) -> Option<ObjId> {
    let enabled = bound.extra.iter().find(|(name, _)| name.as_str() == "enabled");
    let is_on = !bound.open && enabled.is_none_or(|(_, arg)| arg.value.as_bool() == Some(true));
    result.as_obj().filter(|_| is_on && SCALERS.contains(&path.as_str()))
}

impl Rule for ScaledGradientsUsed {
    const LATER_ROUNDS: bool = true;

    fn begin(&self, cx: &mut Context<'_, '_>) {
        cx.it.remember(STATE, Value::Bool(false));
    }

    fn returned(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>, result: &Value) {
        if is_scaler(path.as_str()) && path.as_str().rsplit('.').next() == Some("step") {
            self.stepping.set(false);
            // The scaler has divided the gradients of this optimizer, unless the optimizer does that
            // itself.
            cx.it.remember(STATE, Value::Unknown);
        }
        if let Some(id) = enabled_scaler(path, bound, result) {
            self.enabled.borrow_mut().insert(id);
        }
    }

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &mut *cx.it;
        let span = cx.span;
        let text = path.as_str();
        if is_scaler(text) {
            match text.rsplit_once('.').map_or("", |(_, name)| name) {
                "scale" => {
                    let by = bound.get("self").as_obj();
                    if by.is_some_and(|id| self.enabled.borrow().contains(&id)) {
                        self.scaled.borrow_mut().insert(span);
                    }
                }
                "unscale_" => it.remember(STATE, Value::Bool(false)),
                "step" => self.stepping.set(true),
                _ => {}
            }
        } else if matches!(text, "torch.nn.utils.clip_grad_norm_" | "torch.nn.utils.clip_grad_value_")
            // Without a limit, the call only computes the norm.
            && bound.get("max_norm").as_f64() != Some(f64::INFINITY)
        {
            self.used(cx, "these gradients are still multiplied by the loss scale, so the limit is wrong");
        }
    }

    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        let it = &mut *cx.it;
        let trace = cx.trace;
        match moment {
            Moment::Backward { loss, accumulates: true, .. } => {
                let scaled = |id: &ObjId| {
                    let node = trace.graph.node(*id)?;
                    (node.function == "scale").then(|| self.scaled.borrow().contains(&node.span))
                };
                let state = match loss.as_slice() {
                    [] => Value::Unknown,
                    all => match all.iter().map(scaled).collect::<Option<Vec<bool>>>() {
                        Some(certain) if certain.iter().all(|c| *c) => Value::Bool(true),
                        Some(_) => Value::Unknown,
                        None => Value::Bool(false),
                    },
                };
                it.remember(STATE, state);
            }
            Moment::Step { .. } => {
                if !self.stepping.get() {
                    let message = "this steps with gradients that are still multiplied by the loss scale: use \
                         `scaler.step(optimizer)`";
                    self.used(cx, message);
                }
            }
            Moment::Zero { .. } => it.remember(STATE, Value::Bool(false)),
            Moment::Unclear => it.remember(STATE, Value::Unknown),
            Moment::Backward { .. } => {}
        }
    }
}

impl ScaledGradientsUsed {
    fn used(&self, cx: &mut Context<'_, '_>, message: &str) {
        if !holds(cx.it, STATE) || cx.it.speculative() {
            return;
        }
        let by = self.scaled.borrow().iter().max().copied();
        let labels = by.map(|span| Label { span, message: "the loss is scaled here".to_owned() });
        cx.findings.report(NAME, Severity::Error, message, cx.span, labels.into_iter().collect());
    }
}
