//! The topics of the notes that libraries write and rules read. `library/notes.rs` also defines
//! these names, because the modules `rules` and `library` do not depend on each other.

use crate::python::Interp;
use crate::value::{Topic, Value};

pub(crate) const GRAD_MODE: Topic = Topic::new("grad mode");
pub(crate) const AUTOCAST: Topic = Topic::new("autocast");
pub(crate) const DEFAULT_DEVICE: Topic = Topic::new("default device");
pub(crate) const DEVICES_BEFORE: Topic = Topic::new("default devices before");
pub(crate) const WORKER: Topic = Topic::new("forked worker");
pub(crate) const COPIED: Topic = Topic::new("worker with a copy");
pub(crate) const SPAWNED: Topic = Topic::new("process of its own");
pub(crate) const PARAMETERS: Topic = Topic::new("parameters");
pub(crate) const BUFFER: Topic = Topic::new("buffer");

/// Whether a note is true on every path that leads here.
pub(crate) fn holds(it: &Interp<'_>, topic: Topic) -> bool {
    it.remembered(topic).and_then(|value| value.as_bool()) == Some(true)
}

/// Whether autograd certainly does not record operations here.
pub(crate) fn is_without_gradients(it: &Interp<'_>) -> bool {
    matches!(it.remembered(GRAD_MODE), Some(Value::Bool(false)))
}
