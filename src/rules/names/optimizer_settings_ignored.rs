//! Keys of the result of `configure_optimizers` that Lightning does not read.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::ExprDict;
use crate::syntax::{Expr, Ranged, entries, entry};

const NAME: &str = "optimizer-settings-ignored";

/// The keys that Lightning reads (`_validate_optim_conf` in `pytorch_lightning/core/optimizer.py`).
/// Version 1 also reads `frequency`.
const OF_OPTIMIZER: &[&str] = &["optimizer", "lr_scheduler", "monitor", "frequency"];

/// The keys of the dictionary under `lr_scheduler` (`LRSchedulerConfig` in
/// `pytorch_lightning/utilities/types.py`). Version 1 also reads `opt_idx`.
const OF_SCHEDULER: &[&str] =
    &["scheduler", "name", "interval", "frequency", "reduce_on_plateau", "monitor", "strict", "opt_idx"];

#[derive(Default)]
pub(crate) struct OptimizerSettingsIgnored;

impl Rule for OptimizerSettingsIgnored {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for optimizer in source.configurations().into_iter().flat_map(|(result, _)| optimizers(result)) {
            for (key, name) in unknown_keys(optimizer, OF_OPTIMIZER) {
                let message = format!("Lightning ignores the key \"{name}\"{}", reason(optimizer, name));
                findings.report(NAME, Severity::Warning, message, source.span(key.range()), Vec::new());
            }
            let scheduler = entry(optimizer, "lr_scheduler").and_then(Expr::as_dict_expr);
            let Some(scheduler) = scheduler else { continue };
            for (key, name) in unknown_keys(scheduler, OF_SCHEDULER) {
                let message = format!("Lightning ignores the key \"{name}\" of the scheduler's dictionary");
                findings.report(NAME, Severity::Warning, message, source.span(key.range()), Vec::new());
            }
        }
    }
}

/// The dictionaries with optimizers in a result of `configure_optimizers`: the result itself, or the elements
/// of a list or tuple.
fn optimizers(result: &Expr) -> Vec<&ExprDict> {
    let parts = match result {
        Expr::Tuple(tuple) => tuple.elts.as_slice(),
        Expr::List(list) => list.elts.as_slice(),
        one => std::slice::from_ref(one),
    };
    let dictionaries = parts.iter().filter_map(Expr::as_dict_expr);
    dictionaries.filter(|dict| entry(dict, "optimizer").is_some()).collect()
}

fn unknown_keys<'a>(dict: &'a ExprDict, known: &[&str]) -> Vec<(&'a Expr, &'a str)> {
    entries(dict).filter(|(_, name, _)| !known.contains(name)).map(|(key, name, _)| (key, name)).collect()
}

/// The end of the message about an ignored key of the optimizer's dictionary: where the key belongs, or the
/// consequence.
fn reason(optimizer: &ExprDict, name: &str) -> &'static str {
    let has_scheduler = entry(optimizer, "lr_scheduler").is_some();
    let has_other_entries = optimizer.items.iter().any(|item| item.key.is_none());
    if OF_SCHEDULER.contains(&name) && has_scheduler {
        ": it belongs in a dictionary under \"lr_scheduler\""
    } else if name.to_ascii_lowercase().contains("sched") && !has_scheduler && !has_other_entries {
        ": the scheduler never takes a step, because only the one under \"lr_scheduler\" is used"
    } else {
        ""
    }
}
