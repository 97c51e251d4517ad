//! An `IterableDataset` in a loader with several workers: each worker iterates over all samples,
//! unless the program divides them.

use crate::diagnostic::Severity;
use crate::rules::rule::{Call, Context, Rule};
use crate::value::{Data, Value};

const NAME: &str = "iterable-dataset-not-sharded";
const ITERABLE: &str = "torch.utils.data.IterableDataset";

/// Texts of programs that divide the samples between the workers or processes, or may do so.
const DIVIDES: &[&str] = &[
    "worker_info",
    "worker_init_fn",
    "worker_id",
    "get_rank",
    "_rank",
    "num_shards",
    "shard_id",
    ".shard(",
    "webdataset",
];

/// Names of functions of classes that create random samples: these differ in each worker.
const RANDOM: &[&str] = &[
    "rand",
    "randn",
    "randint",
    "random",
    "choice",
    "choices",
    "sample",
    "shuffle",
    "uniform",
    "normal",
    "randperm",
    "permutation",
    "reset",
    "step",
];

#[derive(Default)]
pub(crate) struct IterableDatasetNotSharded;

impl Rule for IterableDatasetNotSharded {
    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        if path.as_str() != "torch.utils.data.DataLoader" {
            return;
        }
        let it = &*cx.it;
        let dataset = bound.get("dataset");
        let Some(workers) = bound.get("num_workers").as_int().filter(|workers| *workers > 1) else { return };
        let class = it.heap.instance_of(&dataset).and_then(|instance| instance.class.as_obj());
        let Some(Data::Class(class)) = class.map(|class| it.heap.get(class)) else { return };
        if !it.is_instance(&dataset, ITERABLE)
            || bound.open
            || !matches!(bound.get("worker_init_fn"), Value::None)
            || it.classes_call(&dataset, RANDOM)
            || DIVIDES.iter().any(|text| it.mentions(text))
        {
            return;
        }
        let message = format!(
            "each of the {workers} workers iterates over the whole `{}`, so the loader returns every sample {workers} \
             times",
            class.name
        );
        cx.findings.report(NAME, Severity::Warning, message, cx.span, Vec::new());
    }
}
