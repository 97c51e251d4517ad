//! A `DistributedSampler` that shuffles in the same way in every epoch.
//!
//! For validation, this does not matter. So the rule reports samplers that are iterated several
//! times for training, if no path from one pass to the next calls `set_epoch`.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::diagnostic::{Label, Severity};
use crate::python::Event;
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::{Moment, reach};
use crate::syntax::Span;
use crate::value::{ObjId, Topic, Value};

const NAME: &str = "sampler-without-set-epoch";
/// For a sampler: whether a pass has trained with it since its last `set_epoch`.
const USED: Topic = Topic::new("epoch used");
const SAMPLER: &str = "torch.utils.data.DistributedSampler";

#[derive(Default)]
pub(crate) struct SamplerWithoutSetEpoch {
    /// The place at which each sampler was created, unless it escaped to unseen code.
    made: RefCell<FxHashMap<ObjId, Span>>,
    /// For each sampler, the place of a training pass with the same order as the pass before it.
    stale: RefCell<FxHashMap<ObjId, Span>>,
    /// The passes that have started and may continue, from the outermost to the innermost.
    passes: RefCell<Vec<Pass>>,
}

/// A pass over a loader.
#[derive(Clone, Copy)]
struct Pass {
    sampler: Option<ObjId>,
    span: Span,
    /// The number of loops that were open when it started.
    outside: usize,
    /// An earlier pass trained, and `set_epoch` was not called since.
    stale: bool,
}

impl Rule for SamplerWithoutSetEpoch {
    const LATER_ROUNDS: bool = true;

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &mut *cx.it;
        if path.as_str() == "torch.utils.data.DistributedSampler.set_epoch"
            && let Some(id) = bound.get("self").as_obj()
        {
            it.remember(USED.of(id), Value::Bool(false));
        }
    }

    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        let it = &mut *cx.it;
        let Moment::Backward { .. } = moment else { return };
        // Removes finished passes, which may have run inside the pass that trains.
        let open = it.open_loops();
        let mut passes = self.passes.borrow_mut();
        while passes.last().is_some_and(|pass| pass.outside >= open) {
            passes.pop();
        }
        let Some(Pass { sampler: Some(sampler), span, stale, .. }) = passes.last().copied() else { return };
        if stale && !it.speculative() {
            self.stale.borrow_mut().insert(sampler, span);
        }
        it.remember(USED.of(sampler), Value::Bool(true));
    }

    fn returned(&self, cx: &mut Context<'_, '_>, Call { path, .. }: Call<'_>, result: &Value) {
        if let Value::Obj(id) = result
            && path.as_str() == SAMPLER
        {
            self.made.borrow_mut().insert(*id, cx.span);
            cx.it.remember(USED.of(*id), Value::Bool(false));
        }
    }

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let it = &mut *cx.it;
        let trace = cx.trace;
        match event {
            Event::Iterated { object, span } => {
                let sampler = it.heap.attr(object, "sampler").and_then(|v| v.as_obj());
                let ours = sampler.filter(|id| self.made.borrow().contains_key(id));
                let stale = ours.is_some_and(|sampler| {
                    let shuffles = it.heap.attr(sampler, "shuffle").and_then(|v| v.as_bool()) == Some(true);
                    shuffles && it.remembered(USED.of(sampler)).is_some_and(|v| v.as_bool() == Some(true))
                });
                let outside = it.open_loops();
                let mut passes = self.passes.borrow_mut();
                passes.retain(|pass| pass.outside < outside);
                passes.push(Pass { sampler: ours, span, outside, stale });
                if ours.is_some() {
                    trace.note();
                }
            }
            Event::Unseen { name, .. } if name.as_str() == "set_epoch" => self.made.borrow_mut().clear(),
            Event::Escaped { value } if !self.made.borrow().is_empty() => {
                let mut reached = Vec::new();
                reach(it, value, SAMPLER, 4, &mut reached);
                self.made.borrow_mut().retain(|id, _| !reached.contains(id));
            }
            _ => {}
        }
    }

    fn end(&self, cx: &mut Context<'_, '_>) {
        let made = self.made.borrow();
        for (id, span) in &*self.stale.borrow() {
            let Some(at) = made.get(id) else { continue };
            let message = "every epoch has the same order of samples: `set_epoch()` is not called between epochs";
            let labels = vec![Label { span: *at, message: "the sampler is created here".to_owned() }];
            cx.findings.report(NAME, Severity::Warning, message, *span, labels);
        }
    }
}
