//! Keys of the result of `configure_optimizers` that Lightning does not read, and keys of a group of parameters that no
//! optimizer reads: `group["params"] = …` and `group["wd"] = 0.1`.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::ExprDict;
use crate::syntax::{Expr, Ranged, assignment, entries, entry, expressions, path_of};

const NAME: &str = "optimizer-settings-ignored";

/// The keys that Lightning reads (`_validate_optim_conf` in `pytorch_lightning/core/optimizer.py`).
/// Version 1 also reads `frequency`.
const OF_OPTIMIZER: &[&str] = &["optimizer", "lr_scheduler", "monitor", "frequency"];

/// The keys of the dictionary under `lr_scheduler` (`LRSchedulerConfig` in
/// `pytorch_lightning/utilities/types.py`). Version 1 also reads `opt_idx`.
const OF_SCHEDULER: &[&str] =
    &["scheduler", "name", "interval", "frequency", "reduce_on_plateau", "monitor", "strict", "opt_idx"];

/// Names that programs use for the settings of optimizers, but that no optimizer of PyTorch reads.
const OF_OTHERS: &[(&str, &str)] = &[
    ("wd", "weight_decay"),
    ("decay", "weight_decay"),
    ("weightdecay", "weight_decay"),
    ("weight_decays", "weight_decay"),
    ("learning_rate", "lr"),
    ("learningrate", "lr"),
];

#[derive(Default)]
pub(crate) struct OptimizerSettingsIgnored;

impl Rule for OptimizerSettingsIgnored {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        check_groups(findings, source);
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

/// Reports keys of groups of parameters that no optimizer reads. A program that reads such a key itself may use it.
fn check_groups(findings: &mut Findings<'_>, source: &Source<'_>) {
    let optimizers = ["Adam", "AdamW", "SGD", "RMSprop", "Adagrad"];
    let uses = optimizers.iter().any(|name| source.text.contains(&format!("{name}(")));
    if !source.contains_any(&["\"params\"", "'params'"]) || !uses {
        return;
    }
    let mut set: Vec<(&Expr, &Expr, &str)> = Vec::new();
    for (target, _) in source.statements.iter().filter_map(|stmt| assignment(stmt)) {
        let Some(subscript) = target.as_subscript_expr() else { continue };
        if let Expr::StringLiteral(key) = &*subscript.slice {
            set.push((&subscript.value, target, key.value.to_str()));
        }
    }
    for expr in source.body.iter().flat_map(expressions) {
        let Some(dict) = expr.as_dict_expr().filter(|dict| entry(dict, "params").is_some()) else { continue };
        for (key, name, _) in entries(dict) {
            report_key(findings, source, key, name);
        }
    }
    for (group, target, name) in &set {
        let is_group = set.iter().any(|(other, _, key)| *key == "params" && path_of(other) == path_of(group));
        if is_group && !path_of(group).is_empty() {
            report_key(findings, source, target, name);
        }
    }
}

fn report_key(findings: &mut Findings<'_>, source: &Source<'_>, key: &Expr, name: &str) {
    let Some((_, meant)) = OF_OTHERS.iter().find(|(other, _)| *other == name) else { return };
    let reads = |expr: &Expr| {
        let read = expr.as_subscript_expr().filter(|subscript| subscript.ctx.is_load());
        read.is_some_and(|read| matches!(&*read.slice, Expr::StringLiteral(text) if text.value.to_str() == name))
    };
    if source.body.iter().flat_map(expressions).any(reads) {
        return;
    }
    let message = format!("no optimizer of PyTorch reads the key \"{name}\" of a group: did you mean \"{meant}\"?");
    findings.report(NAME, Severity::Warning, message, source.span(key.range()), Vec::new());
}
