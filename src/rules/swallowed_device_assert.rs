//! A handler that takes a device-side assert, after which the training loop goes on.
//!
//! Handlers for want of memory are left alone: what they are for can be told from what they do
//! (`empty_cache`) and say.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::trace::{Moment, Trace, tensor};
use super::watch::{Found, Watching, report};
use crate::diagnostic::{Label, Severity};
use crate::python::{Event, Interp};
use crate::syntax::Span;
use crate::value::{Device, Sym};

const NAME: &str = "swallowed-device-assert";

#[derive(Default)]
pub struct SwallowedDeviceAssert {
    /// The number of the last moment in which gradients were computed on a GPU.
    on_gpu: Cell<u32>,
    /// What the handler that is being shown calls: whether `empty_cache`, and where `torch.save`.
    cache: Cell<bool>,
    saves: RefCell<Vec<Span>>,
    /// Each handler, whether it swallows the assert whenever it is run, and where it saves.
    handlers: RefCell<BTreeMap<Span, (bool, Vec<Span>)>>,
}

impl SwallowedDeviceAssert {
    /// A handler that is being shown calls this.
    pub fn handles(&self, path: Sym, span: Span) {
        match path.as_str() {
            "torch.cuda.empty_cache" => self.cache.set(true),
            "torch.save" => self.saves.borrow_mut().push(span),
            _ => {}
        }
    }

    pub fn moment(&self, it: &Interp<'_>, trace: &Trace, moment: &Moment) {
        if let Moment::Backward { loss, .. } = moment
            && loss.iter().any(|id| tensor(it, *id).and_then(|t| t.device).is_some_and(Device::is_cuda))
        {
            self.on_gpu.set(trace.moments());
        }
    }

    pub fn event(&self, with: &Watching<'_>, trace: &Trace, event: Event<'_>) {
        let Event::Handled { attempt, handler, goes_on, since } = event else { return };
        let (cache, saves) = (self.cache.take(), self.saves.take());
        if self.on_gpu.get() <= since {
            return;
        }
        // What is made anew in each round is another program's each time: a benchmark's, a test's.
        let own = trace.optimizers.all().into_iter().filter_map(|id| trace.optimizers.known(id));
        let inside = |span: Span| span.file == attempt.file && attempt.start <= span.start && span.end <= attempt.end;
        let swallows = goes_on
            && !cache
            && !with.source(handler).is_some_and(|text| is_about_memory(&text))
            && !own.into_iter().any(|known| inside(known.made));
        let mut handlers = self.handlers.borrow_mut();
        let entry = handlers.entry(handler).or_insert((true, Vec::new()));
        entry.0 &= swallows;
        entry.1.extend(saves);
    }

    pub fn end(&self, with: &Watching<'_>, found: &mut Found) {
        let Some(page) = with.rules.find(NAME) else { return };
        for (handler, (_, saves)) in self.handlers.borrow().iter().filter(|(_, (swallows, _))| *swallows) {
            let message = "a device-side assert is caught here and the loop goes on, but every later call on this GPU fails in this process";
            let what = "what is on the GPU cannot be saved any more";
            let labels = saves.iter().map(|span| Label { span: *span, message: what.to_owned() }).collect();
            report(found, page, Severity::Warning, message.to_owned(), first_line(with, *handler), labels);
        }
    }
}

/// Whether a handler speaks of memory, but does not test for it: what it does with other errors
/// is then seen.
fn is_about_memory(handler: &str) -> bool {
    let text = handler.to_lowercase();
    !text.contains("out of memory") && ["memory", "oom"].iter().any(|word| text.contains(word))
}

/// `except RuntimeError as error:`, without what the handler does.
fn first_line(with: &Watching<'_>, handler: Span) -> Span {
    let length = with.source(handler).map_or(0, |text| text.lines().next().map_or(0, |line| line.trim_end().len()));
    let end = u32::try_from(length).map_or(handler.end, |length| handler.start.saturating_add(length));
    Span { end, ..handler }
}
