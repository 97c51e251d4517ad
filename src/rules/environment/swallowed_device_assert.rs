//! A handler that catches a device-side assert, after which the training loop continues.
//!
//! Handlers for running out of memory are not reported: handlers that call `empty_cache`, and those
//! whose text mentions memory without testing for "out of memory".

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use crate::diagnostic::{Label, Severity};
use crate::python::Event;
use crate::rules::rule::{Call, Context, Rule};
use crate::rules::trace::{Moment, tensor};
use crate::syntax::Span;
use crate::value::Device;

const NAME: &str = "swallowed-device-assert";

#[derive(Default)]
pub(crate) struct SwallowedDeviceAssert {
    /// The number of the last moment of training that computed gradients on a GPU.
    on_gpu: Cell<u32>,
    /// Whether the current handler calls `empty_cache`.
    cache: Cell<bool>,
    /// The places at which the current handler calls `torch.save`.
    saves: RefCell<Vec<Span>>,
    handlers: RefCell<BTreeMap<Span, Handler>>,
}

struct Handler {
    /// The handler swallows the exception whenever it runs.
    swallows: bool,
    saves: Vec<Span>,
}

impl Rule for SwallowedDeviceAssert {
    const LATER_ROUNDS: bool = true;

    fn handles(&self, cx: &mut Context<'_, '_>, Call { path, .. }: Call<'_>) {
        match path.as_str() {
            "torch.cuda.empty_cache" => self.cache.set(true),
            "torch.save" => self.saves.borrow_mut().push(cx.span),
            _ => {}
        }
    }

    fn moment(&self, cx: &mut Context<'_, '_>, moment: &Moment) {
        let it = &*cx.it;
        let trace = cx.trace;
        if let Moment::Backward { loss, .. } = moment
            && loss.iter().any(|id| tensor(it, *id).and_then(|t| t.device).is_some_and(Device::is_cuda))
        {
            self.on_gpu.set(trace.moments());
        }
    }

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let trace = cx.trace;
        let Event::Handled { handler, goes_on, since, objects } = event else { return };
        let (cache, saves) = (self.cache.take(), self.saves.take());
        if self.on_gpu.get() <= since {
            return;
        }
        // If the `try` creates an optimizer, each iteration is a separate training run, as in a
        // benchmark or a test.
        let creates = trace.optimizers.all().into_iter().any(|id| !id.is_among_first(objects));
        let swallows = goes_on && !cache && !cx.source(handler).is_some_and(|text| is_about_memory(&text)) && !creates;
        let mut handlers = self.handlers.borrow_mut();
        let entry = handlers.entry(handler).or_insert(Handler { swallows: true, saves: Vec::new() });
        entry.swallows &= swallows;
        entry.saves.extend(saves);
    }

    fn end(&self, cx: &mut Context<'_, '_>) {
        for (handler, Handler { saves, .. }) in self.handlers.borrow().iter().filter(|(_, handler)| handler.swallows) {
            let message = "a device-side assert is caught here and the loop continues, but every later call on this \
                GPU fails in this process";
            let what = "data on the GPU can no longer be saved";
            let at = first_line(cx, *handler);
            let labels = saves.iter().map(|span| Label { span: *span, message: what.to_owned() }).collect();
            cx.findings.report(NAME, Severity::Warning, message, at, labels);
        }
    }
}

/// Whether a handler mentions memory, but does not test for "out of memory". (If it contains this
/// test, the run of the handler shows what it does with other errors.)
fn is_about_memory(handler: &str) -> bool {
    let text = handler.to_lowercase();
    !text.contains("out of memory") && ["memory", "oom"].iter().any(|word| text.contains(word))
}

/// `except RuntimeError as error:`, without the body of the handler.
fn first_line(cx: &Context<'_, '_>, handler: Span) -> Span {
    let length = cx.source(handler).map_or(0, |text| text.lines().next().map_or(0, |line| line.trim_end().len()));
    let end = u32::try_from(length).map_or(handler.end, |length| handler.start.saturating_add(length));
    Span { end, ..handler }
}
