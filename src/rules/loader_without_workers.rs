//! A `DataLoader` that loads in the process that trains on the GPU.

use std::cell::RefCell;

use super::late_launch_blocking::{INITIALISED, progress};
use super::watch::{Found, Watching, report};
use crate::diagnostic::Severity;
use crate::python::{Bound, Event, Interp};
use crate::syntax::Span;
use crate::value::ObjId;

const NAME: &str = "loader-without-workers";

#[derive(Default)]
pub struct LoaderWithoutWorkers {
    made: RefCell<Vec<(ObjId, Span, bool)>>,
}

impl LoaderWithoutWorkers {
    pub fn event(&self, with: &Watching<'_>, it: &Interp<'_>, event: Event<'_>, found: &mut Found) {
        match event {
            Event::Returned { path, bound, result, span } if path.as_str() == "torch.utils.data.DataLoader" => {
                if let Some(id) = result.as_obj() {
                    self.made.borrow_mut().push((id, span, lazy(it, bound)));
                }
            }
            Event::Iterated { object, .. } if it.in_loop() && progress(it) == Some(INITIALISED) => {
                let made = self.made.borrow();
                let Some((_, span, _)) = made.iter().find(|(id, _, lazy)| *id == object && *lazy) else { return };
                let Some(page) = with.rules.find(NAME).filter(|_| !it.speculative()) else { return };
                let message = "batches are loaded while the GPU waits: the loader has no workers".to_owned();
                report(found, page, Severity::Info, message, *span, Vec::new());
            }
            _ => {}
        }
    }
}

/// Whether nothing is loaded ahead: there are no workers, and the data set is not a tensor in
/// memory already.
fn lazy(it: &Interp<'_>, bound: &Bound) -> bool {
    let dataset = bound.get("dataset");
    let in_memory = it.is_instance(&dataset, "torch.utils.data.TensorDataset");
    !bound.open && !in_memory && !dataset.is_unknown() && bound.get("num_workers").as_int() == Some(0)
}
