//! A `DistributedSampler` that shuffles in the same way in every epoch.
//!
//! For validation that does not matter: what is reported is iterated to train, pass after
//! pass, with `set_epoch` on no path between two.

use std::cell::{Cell, RefCell};

use rustc_hash::{FxHashMap, FxHashSet};

use super::trace::{Moment, Trace, reach};
use super::watch::{Found, Watching, report};
use crate::diagnostic::{Label, Severity};
use crate::python::{Bound, Event, Interp};
use crate::syntax::Span;
use crate::value::{ObjId, Sym, Value};

const NAME: &str = "sampler-without-set-epoch";
const SAMPLER: &str = "torch.utils.data.DistributedSampler";

#[derive(Default)]
pub struct SamplerWithoutSetEpoch {
    /// Where each sampler was made, unless code that cannot be seen has it.
    made: RefCell<FxHashMap<ObjId, Span>>,
    /// Passes that began as the one before did.
    stale: RefCell<FxHashMap<ObjId, Span>>,
    /// The sampler of the last loader that was iterated, and those that train.
    last: Cell<Option<ObjId>>,
    trains: RefCell<FxHashSet<ObjId>>,
}

impl SamplerWithoutSetEpoch {
    pub fn call(&self, it: &mut Interp<'_>, path: Sym, bound: &Bound) {
        if path.as_str() == "torch.utils.data.DistributedSampler.set_epoch"
            && let Some(id) = bound.get("self").as_obj()
        {
            it.remember(&key(id), Value::str("set"));
        }
    }

    pub fn moment(&self, moment: &Moment) {
        if let (Moment::Backward { .. }, Some(id)) = (moment, self.last.get()) {
            self.trains.borrow_mut().insert(id);
        }
    }

    pub fn event(&self, it: &mut Interp<'_>, trace: &Trace, event: Event<'_>) {
        match event {
            Event::Returned { path, result: Value::Obj(id), span, .. } if path.as_str() == SAMPLER => {
                self.made.borrow_mut().insert(*id, span);
                it.remember(&key(*id), Value::str("fresh"));
            }
            Event::Iterated { object, span } => {
                let sampler = it.heap.attr(object, "sampler").and_then(|v| v.as_obj());
                let ours = sampler.filter(|id| self.made.borrow().contains_key(id));
                self.last.set(ours);
                let Some(id) = ours else { return };
                trace.note();
                let shuffles = it.heap.attr(id, "shuffle").and_then(|v| v.as_bool()) == Some(true);
                let before = it.remembered(&key(id));
                if shuffles && !it.speculative && before.is_some_and(|v| v.as_str() == Some("used")) {
                    self.stale.borrow_mut().insert(id, span);
                }
                it.remember(&key(id), Value::str("used"));
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

    pub fn end(&self, with: &Watching<'_>, found: &mut Found) {
        let Some(page) = with.rules.find(NAME) else { return };
        let (made, trains) = (self.made.borrow(), self.trains.borrow());
        for (id, span) in &*self.stale.borrow() {
            let Some(at) = made.get(id).filter(|_| trains.contains(id)) else { continue };
            let message = "every pass shuffles the samples in the same way: nothing tells the sampler the epoch";
            let labels = vec![Label { span: *at, message: "the sampler is made here".to_owned() }];
            report(found, page, Severity::Warning, message.to_owned(), *span, labels);
        }
    }
}

fn key(id: ObjId) -> String {
    format!("epoch of {id:?}")
}
