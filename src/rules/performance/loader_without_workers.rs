//! A `DataLoader` that loads in the process that trains on the GPU.

use std::cell::RefCell;

use crate::diagnostic::Severity;
use crate::python::{Bound, Event, Interp};
use crate::rules::environment::late_launch_blocking::{Progress, progress};
use crate::rules::rule::{Call, Context, Rule};
use crate::syntax::Span;
use crate::value::{ObjId, Value};

const NAME: &str = "loader-without-workers";

struct Made {
    loader: ObjId,
    span: Span,
    lazy: bool,
}

#[derive(Default)]
pub(crate) struct LoaderWithoutWorkers {
    made: RefCell<Vec<Made>>,
}

impl Rule for LoaderWithoutWorkers {
    const LATER_ROUNDS: bool = true;

    fn returned(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>, result: &Value) {
        if path.as_str() == "torch.utils.data.DataLoader"
            && let Some(loader) = result.as_obj()
        {
            self.made.borrow_mut().push(Made { loader, span: cx.span, lazy: is_lazy(cx.it, bound) });
        }
    }

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let it = &*cx.it;
        let Event::Iterated { object, .. } = event else { return };
        if !it.in_loop() || progress(it) != Some(Progress::Initialised) {
            return;
        }
        let made = self.made.borrow();
        let Some(made) = made.iter().find(|made| made.loader == object && made.lazy) else { return };
        if it.speculative() {
            return;
        }
        let message = "the loader has no workers, so the GPU waits while batches are loaded";
        cx.findings.report(NAME, Severity::Info, message, made.span, Vec::new());
    }
}

/// Whether nothing is loaded in advance: there are no workers, and the dataset is not in memory as
/// tensors.
fn is_lazy(it: &Interp<'_>, bound: &Bound) -> bool {
    let dataset = bound.get("dataset");
    let in_memory = it.is_instance(&dataset, "torch.utils.data.TensorDataset");
    !bound.open && !in_memory && !dataset.is_unknown() && bound.get("num_workers").as_int() == Some(0)
}
