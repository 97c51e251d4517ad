//! A seed that is set when random numbers were drawn already.

use std::cell::Cell;

use super::notes::holds;
use super::watch::{Found, Watching, report};
use crate::diagnostic::{Label, Severity};
use crate::python::{Event, Interp};
use crate::syntax::Span;
use crate::value::{Sym, Topic, Value};

const NAME: &str = "seed-after-use";
/// Whether random numbers were drawn.
const DRAWN: Topic = Topic::new("random numbers drawn");

#[derive(Default)]
pub struct SeedAfterUse {
    first: Cell<Option<Span>>,
    seeded: Cell<bool>,
}

impl SeedAfterUse {
    pub fn begin(&self, it: &mut Interp<'_>) {
        it.remember(DRAWN, Value::Bool(false));
    }

    /// Layers draw their initial weights when they are made.
    pub fn event(&self, it: &mut Interp<'_>, event: Event<'_>) {
        let Event::Returned { path, span, .. } = event else { return };
        let path = path.as_str();
        let layer = matches!(
            path.strip_prefix("torch.nn."),
            Some("Linear" | "Conv1d" | "Conv2d" | "Conv3d" | "Embedding" | "LSTM" | "GRU")
        );
        let drawn = layer || matches!(path, "torch.rand" | "torch.randn" | "torch.randint" | "torch.randperm");
        if drawn && !it.speculative() && self.first.get().is_none() {
            self.first.set(Some(span));
            it.remember(DRAWN, Value::Bool(true));
        }
    }

    pub fn call(&self, with: &Watching<'_>, it: &Interp<'_>, (path, span): (Sym, Span), found: &mut Found) {
        if path.as_str() != "torch.manual_seed" || it.speculative() {
            return;
        }
        let drawn = holds(it, DRAWN);
        // Whoever seeds again, starts something anew.
        if self.seeded.replace(true) || !drawn || it.in_loop() {
            return;
        }
        let (Some(page), Some(first)) = (with.rules.find(NAME), self.first.get()) else { return };
        let message = "the seed is set after random numbers were drawn: those differ from run to run".to_owned();
        let labels = vec![Label { span: first, message: "the first are drawn here".to_owned() }];
        report(found, page, Severity::Info, message, span, labels);
    }
}
