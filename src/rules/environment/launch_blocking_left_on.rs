//! `CUDA_LAUNCH_BLOCKING=1` set permanently for training: in a training script, or in a file that
//! launches one.
//!
//! In Python, the rule reports the variable only if it is set on every path of a program that
//! trains, in code that is called. If it is set too late,
//! [`late_launch_blocking`](crate::rules::environment::late_launch_blocking) has already reported
//! it.

use std::cell::{Cell, RefCell};

use crate::diagnostic::Severity;
use crate::python::Event;
use crate::rules::notes::holds;
use crate::rules::rule::{Context, Findings, Rule};
use crate::rules::trace::Moment;
use crate::syntax::Span;
use crate::value::{Topic, Value};

const NAME: &str = "launch-blocking-left-on";
const OTHER: &str = "late-launch-blocking";
const VARIABLE: &str = "CUDA_LAUNCH_BLOCKING";
/// Whether the variable is set.
const STATE: Topic = Topic::new("launch blocking");

#[derive(Default)]
pub(crate) struct LaunchBlockingLeftOn {
    set: RefCell<Vec<Span>>,
    trains: Cell<bool>,
}

impl Rule for LaunchBlockingLeftOn {
    fn begin(&self, cx: &mut Context<'_, '_>) {
        cx.it.remember(STATE, Value::Bool(false));
    }

    fn moment(&self, cx: &mut Context<'_, '_>, _: &Moment) {
        if !cx.it.speculative() {
            self.trains.set(true);
        }
    }

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let it = &mut *cx.it;
        match event {
            Event::SetEnv { name: VARIABLE, value, span } if !it.speculative() => {
                let on = match value {
                    Value::Str(text) => Value::Bool(&**text == "1"),
                    _ => Value::Unknown,
                };
                if on.as_bool() == Some(true) {
                    self.set.borrow_mut().push(span);
                }
                it.remember(STATE, on);
            }
            Event::Unseen { name, .. } if !it.speculative() && matches!(name.as_str(), "fit" | "train") => {
                self.trains.set(true);
            }
            _ => {}
        }
    }

    fn end(&self, cx: &mut Context<'_, '_>) {
        let it = &*cx.it;
        let on = holds(it, STATE);
        let set = self.set.borrow();
        let Some(span) = set.last().filter(|_| on && self.trains.get()) else { return };
        if cx.findings.has(OTHER, *span) {
            return;
        }
        let message = "CUDA_LAUNCH_BLOCKING is set in every training run: the CPU waits for every kernel";
        cx.findings.report(NAME, Severity::Warning, message, *span, Vec::new());
    }

    fn launched(&self, findings: &mut Findings<'_>, variable: &str, span: Span) {
        if variable == VARIABLE {
            let message = "CUDA_LAUNCH_BLOCKING is set for everything that is started here: the CPU waits for every \
                kernel";
            findings.report(NAME, Severity::Warning, message, span, Vec::new());
        }
    }
}
