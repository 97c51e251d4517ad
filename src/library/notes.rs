//! The topics of notes that libraries write about the run or an object. `rules/notes.rs` repeats
//! the definitions of the topics that rules read.

use crate::value::Topic;

/// Whether operations record gradients: a bool.
pub(crate) const GRAD_MODE: Topic = Topic::new("grad mode");
/// The setting of autocast: `None`, or a tuple of a device and a dtype.
pub(crate) const AUTOCAST: Topic = Topic::new("autocast");
pub(crate) const DEFAULT_DTYPE: Topic = Topic::new("default dtype");
pub(crate) const DEFAULT_DEVICE: Topic = Topic::new("default device");
/// The default devices saved by blocks of `with torch.device(…)`, as a tuple.
pub(crate) const DEVICES_BEFORE: Topic = Topic::new("default devices before");
/// The current code runs in a forked worker process.
pub(crate) const WORKER: Topic = Topic::new("forked worker");
/// The current code runs in a worker process of any start method, which has its own copy of the
/// dataset.
pub(crate) const COPIED: Topic = Topic::new("worker with a copy");
/// The current code runs in a process that the program started. This process shares no state with
/// the program.
pub(crate) const SPAWNED: Topic = Topic::new("process of its own");
/// A note of an optimizer: its parameters as a list.
pub(crate) const PARAMETERS: Topic = Topic::new("parameters");
/// A note of a module, one for each name of a buffer: whether `state_dict` contains the buffer.
pub(crate) const BUFFER: Topic = Topic::new("buffer");
