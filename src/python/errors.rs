//! Exceptions that are certain. Those of Python itself end the path. After a call that a library
//! refuses the path is run on, for its facts, but it is marked: no run comes there, and what seems
//! wrong there is no finding.

use super::interp::Interp;
use super::leave::Leave;
use crate::syntax::Span;
use crate::value::{Topic, Value};

/// Where a call has raised on the way here.
const RAISED: Topic = Topic::new("a call has raised");

impl Interp<'_> {
    /// Ends the present path with a builtin exception.
    pub(super) fn raise(&mut self, class: &str) -> Value {
        if !self.stopped {
            self.leave(Leave::Raise(Value::path(&format!("builtins.{class}"))));
            self.stopped = true;
        }
        Value::Unknown
    }

    /// Marks the present path as one that no run follows: a call has raised, as the finding at
    /// this place says.
    pub fn give_up_path(&mut self, place: Span) {
        // What the program waits for does not end it; the first failure is what a run sees.
        if !self.expects_failure() && self.raised_at().is_none() {
            self.remember(RAISED, Value::place(place));
        }
    }

    /// Begins something that runs whatever was raised before: a function by itself, a cell.
    pub(super) fn begin_path(&mut self) {
        self.remember(RAISED, Value::None);
    }

    /// Where every path that leads here has raised before.
    pub fn raised_at(&self) -> Option<Span> {
        self.remembered(RAISED)?.as_place()
    }
}
