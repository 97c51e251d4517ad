//! A loader that gives each process of distributed training all samples: `DataLoader(dataset, shuffle=True)`.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::{Ranged, called, calls};

const NAME: &str = "loader-not-distributed";

/// Texts of programs that may divide the samples among the processes, or that need not, such as those of libraries
/// that replace the loader.
const DIVIDES: &[&str] = &[
    "Sampler",
    "sampler",
    "shard",
    "Shard",
    "split_dataset_by_node",
    "IterableDataset",
    "random_split",
    "Subset",
    "WebLoader",
    "webdataset",
    "accelerat",
    "Accelerat",
    "lightning",
    "Trainer(",
    "deepspeed",
    "rank::",
    "% world",
    "/ world",
    "// world",
    "num_replicas",
];

#[derive(Default)]
pub(crate) struct LoaderNotDistributed;

impl Rule for LoaderNotDistributed {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        let wraps = source.contains_any(&["DistributedDataParallel(", "DDP("]);
        if !wraps || !source.text.contains("init_process_group(") || DIVIDES.iter().any(|one| source.text.contains(one))
        {
            return;
        }
        for call in source.body.iter().flat_map(calls).filter(|call| called(call) == Some("DataLoader")) {
            let shuffles = call.arguments.find_keyword("shuffle").and_then(|one| one.value.as_boolean_literal_expr());
            if !shuffles.is_some_and(|literal| literal.value) || call.arguments.find_keyword("batch_sampler").is_some()
            {
                continue;
            }
            let message =
                "each process gets all samples, so they do not share the work: an epoch trains as many times \
                           on each sample as there are processes"
                    .to_owned();
            findings.report(NAME, Severity::Warning, message, source.span(call.range()), Vec::new());
        }
    }
}
