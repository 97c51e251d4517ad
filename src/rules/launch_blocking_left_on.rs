//! `CUDA_LAUNCH_BLOCKING=1` in what trains for good: hard-coded in a training script, or in
//! what launches it.
//!
//! In Python it must be set on every path, by a program that trains; where it is set too late
//! [`super::late_launch_blocking`] has said so already.

use std::cell::{Cell, RefCell};

use super::Rules;
use super::notes::holds;
use super::watch::{Found, report};
use crate::diagnostic::Severity;
use crate::python::{Event, Interp};
use crate::syntax::{FileId, Span};
use crate::value::{Topic, Value};

const NAME: &str = "launch-blocking-left-on";
const OTHER: &str = "late-launch-blocking";
const VARIABLE: &str = "CUDA_LAUNCH_BLOCKING";
/// Whether it is on.
const STATE: Topic = Topic::new("launch blocking");

#[derive(Default)]
pub struct LaunchBlockingLeftOn {
    set: RefCell<Vec<Span>>,
    trains: Cell<bool>,
}

impl LaunchBlockingLeftOn {
    pub fn begin(&self, it: &mut Interp<'_>) {
        it.remember(STATE, Value::Bool(false));
    }

    /// A model is trained.
    pub fn trains(&self) {
        self.trains.set(true);
    }

    pub fn event(&self, it: &mut Interp<'_>, event: Event<'_>) {
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
            Event::Unseen { name, .. } if matches!(name.as_str(), "fit" | "train") => self.trains(),
            _ => {}
        }
    }

    pub fn end(&self, rules: &Rules, it: &Interp<'_>, found: &mut Found) {
        let on = holds(it, STATE);
        let (set, Some(page)) = (self.set.borrow(), rules.find(NAME)) else { return };
        let Some(span) = set.last().filter(|_| on && self.trains.get()) else { return };
        if found.iter().any(|d| d.name == OTHER && d.span == *span) {
            return;
        }
        let message = "CUDA_LAUNCH_BLOCKING is set whenever this trains: every kernel is waited for";
        report(found, page, Severity::Warning, message.to_owned(), *span, Vec::new());
    }
}

/// What launch files set.
pub fn launched(rules: &Rules, file: FileId, (variable, at): (&str, std::ops::Range<usize>), found: &mut Found) {
    let Some(page) = rules.find(NAME).filter(|_| variable == VARIABLE) else { return };
    let offset = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let span = Span { file, start: offset(at.start), end: offset(at.end) };
    let message = "CUDA_LAUNCH_BLOCKING is set for all that is run from here: every kernel is waited for";
    report(found, page, Severity::Warning, message.to_owned(), span, Vec::new());
}
