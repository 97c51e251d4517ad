//! Exceptions that Python itself raises for certain: the path ends there.

use super::interp::Interp;
use super::leave::Leave;
use crate::value::Value;

impl Interp<'_> {
    /// Ends the present path with a builtin exception.
    pub(super) fn raise(&mut self, class: &str) -> Value {
        if !self.stopped {
            self.leave(Leave::Raise(Value::path(&format!("builtins.{class}"))));
            self.stopped = true;
        }
        Value::Unknown
    }
}
