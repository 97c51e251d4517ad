//! Gradients that a `GradScaler` has multiplied, used as they are: clipped, or given to an
//! optimizer.

use std::cell::{Cell, RefCell};

use rustc_hash::FxHashSet;

use super::notes::holds;
use super::trace::{Moment, Trace};
use super::watch::{Found, Watching, report};
use crate::diagnostic::{Label, Severity};
use crate::python::{Bound, Event, Interp};
use crate::syntax::Span;
use crate::value::{ObjId, Sym, Topic, Value};

const NAME: &str = "scaled-gradients-used";
/// Whether the gradients are multiplied.
const STATE: Topic = Topic::new("gradients are scaled");

pub(super) const SCALERS: [&str; 2] = ["torch.amp.GradScaler", "torch.cuda.amp.GradScaler"];

#[derive(Default)]
pub struct ScaledGradientsUsed {
    /// Scalers that are enabled for certain.
    enabled: RefCell<FxHashSet<ObjId>>,
    /// Whether `scaler.step()` is being run, by whatever way it comes to the optimizer.
    stepping: Cell<bool>,
    /// Where an enabled scaler scales.
    scaled: RefCell<FxHashSet<Span>>,
}

pub(super) fn is_scaler(path: &str) -> bool {
    SCALERS.iter().any(|class| path.starts_with(class))
}

/// The scaler that a call made, if that is enabled for certain.
pub(super) fn enabled_scaler(path: Sym, bound: &Bound, result: &Value) -> Option<ObjId> {
    let enabled = bound.extra.iter().find(|(name, _)| name.as_str() == "enabled");
    let is_on = !bound.open && enabled.is_none_or(|(_, arg)| arg.value.as_bool() == Some(true));
    result.as_obj().filter(|_| is_on && SCALERS.contains(&path.as_str()))
}

impl ScaledGradientsUsed {
    pub fn begin(&self, it: &mut Interp<'_>) {
        it.remember(STATE, Value::Bool(false));
    }

    pub fn event(&self, event: Event<'_>) {
        let Event::Returned { path, bound, result, .. } = event else { return };
        if is_scaler(path.as_str()) && path.as_str().ends_with(".step") {
            self.stepping.set(false);
        }
        if let Some(id) = enabled_scaler(path, bound, result) {
            self.enabled.borrow_mut().insert(id);
        }
    }

    pub fn call(
        &self,
        with: &Watching<'_>,
        it: &mut Interp<'_>,
        (path, bound, span): (Sym, &Bound, Span),
        found: &mut Found,
    ) {
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
        } else if matches!(text, "torch.nn.utils.clip_grad_norm_" | "torch.nn.utils.clip_grad_value_") {
            self.used(
                with,
                it,
                span,
                "these gradients are still multiplied by the scale: the limit means little",
                found,
            );
        }
    }

    fn used(&self, with: &Watching<'_>, it: &Interp<'_>, span: Span, message: &str, found: &mut Found) {
        let scaled = holds(it, STATE);
        let Some(page) = with.rules.find(NAME).filter(|_| scaled && !it.speculative()) else { return };
        let by = self.scaled.borrow().iter().max().copied();
        let labels = by.map(|span| Label { span, message: "the loss is scaled here".to_owned() });
        report(found, page, Severity::Error, message.to_owned(), span, labels.into_iter().collect());
    }

    pub fn moment(
        &self,
        with: &Watching<'_>,
        it: &mut Interp<'_>,
        trace: &Trace,
        (moment, span): (&Moment, Span),
        found: &mut Found,
    ) {
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
                    let message =
                        "this steps with gradients that are still multiplied by the scale: `scaler.step(optimizer)`";
                    self.used(with, it, span, message, found);
                }
            }
            Moment::Zero { .. } => it.remember(STATE, Value::Bool(false)),
            Moment::Unclear => it.remember(STATE, Value::Unknown),
            Moment::Backward { .. } => {}
        }
    }
}
