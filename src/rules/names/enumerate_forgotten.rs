//! `for i, (x, y) in loader:`, without `enumerate`.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::words::has_word;
use crate::syntax::{Expr, Ranged, path_of};

const NAME: &str = "enumerate-forgotten";

/// Names of counters. A batch may begin with indices of samples, which have names such as `idx`.
const COUNTERS: &[&str] = &[
    "i",
    "step",
    "iteration",
    "it",
    "n_iter",
    "iter_num",
    "batch_i",
    "batch_idx",
    "batch_id",
    "batch_index",
    "i_batch",
];

#[derive(Default)]
pub(crate) struct EnumerateForgotten;

impl Rule for EnumerateForgotten {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for each in source.statements.iter().filter_map(|stmt| stmt.as_for_stmt()) {
            let Expr::Tuple(targets) = &*each.target else { continue };
            let [Expr::Name(counter), Expr::Tuple(batch)] = targets.elts.as_slice() else { continue };
            let counter = counter.id.as_str();
            let loader = path_of(&each.iter);
            if batch.elts.len() > 1 && COUNTERS.contains(&counter) && has_word(&loader, &["loader", "dataloader"]) {
                let message = format!(
                    "`{}` yields batches, not pairs of a number and a batch: `enumerate` is missing",
                    loader.join(".")
                );
                findings.report(NAME, Severity::Warning, message, source.span(each.iter.range()), Vec::new());
            }
        }
    }
}
