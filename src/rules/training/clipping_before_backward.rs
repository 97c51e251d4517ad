//! Clipping between `zero_grad()` and `backward()`, when there are no gradients.
//!
//! Each optimizer has a stage on the heap: cleared, clipped or filled. The stage is unknown if the
//! paths disagree on it. Everything that may compute, change or clip the gradients of the optimizer
//! in another way makes its stage unknown. A call that clips existing gradients makes the stage
//! unknown, too. Findings are reported at the end of the run, because a call that clips gradients
//! in another iteration is not useless.

use std::cell::RefCell;
use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::diagnostic::{Label, Severity};
use crate::python::{Event, Interp};
use crate::rules::order::{Kind, operations};
use crate::rules::rule::{Call, Context, Findings, Rule, Source};
use crate::rules::trace::{Gradients, Moment, Trace, parameters};
use crate::syntax::{Span, blocks, called, calls, is_method_call};
use crate::value::{ObjId, Topic, Value};

const NAME: &str = "clipping-before-backward";
const MESSAGE: &str = "there are no gradients to clip: `zero_grad()` has cleared them, and `backward()` comes later";
/// For an optimizer: the index of its stage in [`ClippingBeforeBackward::stages`].
const STAGE: Topic = Topic::new("stage of clipping");

/// What has happened to the gradients of an optimizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// They were cleared.
    Cleared,
    /// They were cleared, and then clipped at this place.
    Clipped(Span),
    /// They were cleared, clipped at the first place and computed at the second.
    Filled(Span, Span),
}

#[derive(Default)]
pub(crate) struct ClippingBeforeBackward {
    /// All stages that have occurred.
    stages: RefCell<Vec<Stage>>,
    /// Useless calls, each with the `backward()` and the step that follow.
    useless: RefCell<BTreeMap<Span, (Span, Span)>>,
    /// Calls that certainly clip gradients in some iteration.
    useful: RefCell<FxHashSet<Span>>,
}

impl ClippingBeforeBackward {
    /// The stage of an optimizer, if all paths agree on it.
    fn stage(&self, it: &Interp<'_>, optimizer: ObjId) -> Option<Stage> {
        let index = it.remembered(STAGE.of(optimizer))?.as_int()?;
        self.stages.borrow().get(usize::try_from(index).ok()?).copied()
    }

    fn set(&self, it: &mut Interp<'_>, optimizer: ObjId, to: Option<Stage>) {
        let index = to.and_then(|to| {
            let mut stages = self.stages.borrow_mut();
            let index = stages.iter().position(|stage| *stage == to).unwrap_or_else(|| {
                stages.push(to);
                stages.len() - 1
            });
            i64::try_from(index).ok()
        });
        it.remember(STAGE.of(optimizer), index.map_or(Value::Unknown, Value::Int));
    }

    fn forget(&self, it: &mut Interp<'_>, trace: &Trace) {
        for optimizer in trace.optimizers.all() {
            self.set(it, optimizer, None);
        }
    }
}

fn labels(backward: Span, step: Span) -> Vec<Label> {
    vec![
        Label { span: backward, message: "this computes the gradients".to_owned() },
        Label { span: step, message: "this step uses the unclipped gradients".to_owned() },
    ]
}

/// The tensors whose gradients are clipped, if all are known.
fn clipped(it: &Interp<'_>, given: &Value) -> Option<Vec<ObjId>> {
    if it.heap.is_tensor(given) {
        return given.as_obj().map(|id| vec![id]);
    }
    let items = it.heap.exact_items(given)?;
    items.iter().map(|item| item.as_obj().filter(|_| it.heap.is_tensor(item))).collect()
}

impl Rule for ClippingBeforeBackward {
    const LATER_ROUNDS: bool = true;

    /// Blocks with the calls `x.zero_grad()`, clipping, `backward()` and `x.step()`, if the optimizer is not known.
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for block in source.statements.iter().flat_map(|stmt| blocks(stmt)) {
            let all = operations(block);
            for window in all.windows(4) {
                let [clear, clip, backward, step] = window else { continue };
                let kinds = [clear.kind, clip.kind, backward.kind, step.kind];
                // Another call may compute gradients, and another tensor may keep its gradients.
                let between = block.get(clear.at + 1..backward.at).unwrap_or_default();
                let others = between.iter().flat_map(calls).filter_map(called);
                let is_plain = step.at == backward.at + 1
                    && others.into_iter().all(|name| name.contains("norm") || name == "parameters")
                    && clip
                        .call
                        .and_then(|call| call.arguments.args.first()?.as_call_expr())
                        .is_some_and(|all| is_method_call(all, "parameters"));
                if kinds == [Kind::Clear, Kind::Clip, Kind::Backward, Kind::Step]
                    && clear.owner == step.owner
                    && is_plain
                {
                    let labels = labels(source.span(backward.range), source.span(step.range));
                    findings.report(NAME, Severity::Warning, MESSAGE, source.span(clip.range), labels);
                }
            }
        }
    }

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &mut *cx.it;
        let trace = cx.trace;
        if !path.as_str().contains("clip_grad") {
            return;
        }
        // The optimizers of the clipped tensors, if each tensor has one.
        let checked = matches!(path.as_str(), "torch.nn.utils.clip_grad_norm_" | "torch.nn.utils.clip_grad_value_");
        let tensors = clipped(it, &bound.get("parameters")).filter(|tensors| checked && !tensors.is_empty());
        let owners = tensors.and_then(|tensors| {
            let held = trace.optimizers.all().into_iter().filter_map(|id| Some((id, parameters(it, id)?)));
            let mut held: Vec<_> = held.collect();
            held.retain(|(_, held)| held.iter().any(|p| tensors.contains(p)));
            let owned = tensors.iter().all(|p| held.iter().any(|(_, held)| held.contains(p)));
            owned.then(|| held.into_iter().map(|(id, _)| id).collect::<Vec<_>>())
        });
        let Some(owners) = owners else { return self.forget(it, trace) };
        let states: Vec<_> = owners.iter().map(|id| trace.optimizers.gradients(it, *id)).collect();
        if states.iter().flatten().any(|state| !matches!(state, Gradients::Blank | Gradients::Empty)) {
            self.useful.borrow_mut().insert(cx.span);
        }
        let cleared = states.iter().all(|state| *state == Some(Gradients::Empty))
            && owners.iter().all(|id| self.stage(it, *id) == Some(Stage::Cleared));
        for id in owners {
            self.set(it, id, cleared.then_some(Stage::Clipped(cx.span)));
        }
    }

    fn returned(&self, cx: &mut Context<'_, '_>, _: Call<'_>, result: &Value) {
        // The stage of a new optimizer is unknown. Otherwise, a stage that only one path sets would
        // hold on the others, too.
        if let Some(id) = result.as_obj().filter(|id| cx.trace.optimizers.known(*id).is_some()) {
            self.set(cx.it, id, None);
        }
    }

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        match event {
            Event::Unseen { .. } | Event::Escaped { .. } => self.forget(cx.it, cx.trace),
            Event::ReadAttribute { name, .. } if name.as_str() == "grad" => self.forget(cx.it, cx.trace),
            _ => {}
        }
    }

    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        let it = &mut *cx.it;
        let trace = cx.trace;
        match moment {
            Moment::Zero { optimizer } => self.set(it, *optimizer, Some(Stage::Cleared)),
            Moment::Backward { loss, accumulates: true, .. } => {
                let reached = trace.graph.ancestors(loss, |_| true);
                for optimizer in trace.optimizers.all() {
                    let trained =
                        parameters(it, optimizer).is_some_and(|held| held.iter().any(|p| reached.contains(p)));
                    let to = match self.stage(it, optimizer) {
                        Some(Stage::Clipped(clip)) if trained => Some(Stage::Filled(clip, cx.span)),
                        Some(Stage::Filled(clip, backward)) => Some(Stage::Filled(clip, backward)),
                        _ => None,
                    };
                    self.set(it, optimizer, to);
                }
            }
            Moment::Backward { .. } => {}
            Moment::Step { optimizer, .. } => {
                if let Some(Stage::Filled(clip, backward)) = self.stage(it, *optimizer)
                    && !it.speculative()
                {
                    self.useless.borrow_mut().insert(clip, (backward, cx.span));
                }
                self.set(it, *optimizer, None);
            }
            Moment::Unclear => self.forget(it, trace),
        }
    }

    fn end(&self, cx: &mut Context<'_, '_>) {
        if cx.it.exhausted() {
            return;
        }
        for (clip, (backward, step)) in self.useless.borrow().iter() {
            if self.useful.borrow().contains(clip) {
                continue;
            }
            cx.findings.report(NAME, Severity::Error, MESSAGE, *clip, labels(*backward, *step));
        }
    }
}
