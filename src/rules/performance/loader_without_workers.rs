//! A `DataLoader` that loads in the process that trains on the GPU.

use std::cell::RefCell;

use crate::diagnostic::Severity;
use crate::python::{Bound, Event, Interp};
use crate::rules::environment::late_launch_blocking::{Progress, progress};
use crate::rules::rule::{Call, Context, Rule};
use crate::syntax::Span;
use crate::value::{Data, Items, ObjId, Value};

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
    !bound.open && bound.get("num_workers").as_int() == Some(0) && loads(it, &bound.get("dataset"), 8)
}

/// Whether a dataset is assumed to load its samples when they are requested, like every known
/// dataset except a `TensorDataset`. A `Subset`, `ConcatDataset` or `ChainDataset` does so if one
/// of the datasets in it does.
fn loads(it: &Interp<'_>, dataset: &Value, depth: u32) -> bool {
    if depth == 0 || dataset.is_unknown() || it.is_instance(dataset, "torch.utils.data.TensorDataset") {
        return false;
    }
    let (Some(id), Some(instance)) = (dataset.as_obj(), it.heap.instance_of(dataset)) else { return true };
    let held = |name: &str| it.heap.attr(id, name).unwrap_or(Value::Unknown);
    match instance.class.as_path() {
        Some("torch.utils.data.Subset") => loads(it, &held("dataset"), depth - 1),
        Some("torch.utils.data.ConcatDataset" | "torch.utils.data.ChainDataset") => match held("datasets") {
            Value::Tuple(all) => all.iter().any(|one| loads(it, one, depth - 1)),
            all => match all.as_obj().map(|id| it.heap.get(id)) {
                Some(Data::List(Items::Exact(all))) => all.iter().any(|one| loads(it, one, depth - 1)),
                _ => false,
            },
        },
        _ => true,
    }
}
