//! Hooks, and the argument `optimizer_idx` of `training_step`, that Lightning 2 has removed.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::{Ranged, has_base, methods};

const NAME: &str = "lightning-hook-removed";

/// The removed hooks, each with the one that replaces it
/// (`pytorch_lightning/trainer/configuration_validator.py` of version 2.0).
const REMOVED: &[(&str, &str)] = &[
    ("training_epoch_end", "on_train_epoch_end"),
    ("validation_epoch_end", "on_validation_epoch_end"),
    ("test_epoch_end", "on_test_epoch_end"),
];

/// Beginnings of names that are no hooks in any version, each with that of the hooks that are meant.
const MISSPELT: &[(&str, &str)] = &[
    ("on_val_", "on_validation_"),
    ("on_valid_", "on_validation_"),
    ("on_training_", "on_train_"),
    ("on_testing_", "on_test_"),
];
/// The ends of the names of hooks.
const ENDS: &[&str] = &["epoch_end", "epoch_start", "batch_end", "batch_start", "start", "end"];

#[derive(Default)]
pub(crate) struct LightningHookRemoved;

impl Rule for LightningHookRemoved {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        misspelt(findings, source);
        // Programs that import `lightning` are assumed to use version 2; `pytorch_lightning` may be an older
        // version.
        let imports = |package: &str| {
            ["import", "from"].iter().any(|word| {
                let import = format!("{word} {package}");
                let end = |at: usize| source.text.get(at + import.len()..).and_then(|rest| rest.chars().next());
                // `lightning_utilities` is another package.
                source
                    .text
                    .match_indices(&import)
                    .any(|(at, _)| end(at).is_none_or(|c| c != '_' && !c.is_alphanumeric()))
            })
        };
        if ["lightning", "pytorch-lightning"].iter().any(|package| (source.excludes)(package, "2.0")) {
            return;
        }
        let (severity, version) = match (imports("lightning"), imports("pytorch_lightning")) {
            (true, _) => (Severity::Error, "Lightning 2"),
            (false, true) if !source.text.contains("__version__") => {
                (Severity::Warning, "with pytorch_lightning 2.0 or newer, Lightning")
            }
            _ => return,
        };
        for class in source.classes() {
            if !has_base(class, "LightningModule") {
                continue;
            }
            for method in methods(class) {
                let has_index = method.parameters.iter().any(|parameter| parameter.name().as_str() == "optimizer_idx");
                if method.name.as_str() == "training_step" && has_index {
                    let message = format!(
                        "{version} does not pass `optimizer_idx` to `training_step`: several optimizers need manual \
                         optimization"
                    );
                    findings.report(NAME, severity, message, source.span(method.name.range()), Vec::new());
                }
                let Some((old, new)) = REMOVED.iter().find(|(old, _)| *old == method.name.as_str()) else { continue };
                let message = format!(
                    "{version} has no hook `{old}`: the trainer raises an error (the new hook is `{new}(self)`)"
                );
                findings.report(NAME, severity, message, source.span(method.name.range()), Vec::new());
            }
        }
    }
}

/// Reports methods that Lightning never calls: `on_val_epoch_end`. A class that is derived from a module of the program
/// is recognised by its steps.
fn misspelt(findings: &mut Findings<'_>, source: &Source<'_>) {
    if !source.text.contains("self.log(") {
        return;
    }
    for class in source.classes() {
        let has = |name: &str| methods(class).any(|method| method.name.as_str() == name);
        if !has("training_step") || !(has("validation_step") || has("configure_optimizers")) {
            continue;
        }
        for method in methods(class) {
            let name = method.name.as_str();
            let hook = MISSPELT.iter().find_map(|(wrong, right)| {
                let end = name.strip_prefix(wrong)?;
                ENDS.contains(&end).then(|| format!("{right}{end}"))
            });
            let Some(hook) = hook.filter(|_| !source.text.contains(&format!(".{name}("))) else { continue };
            let message = format!("Lightning has no hook `{name}`, so it never calls this method: use `{hook}`");
            findings.report(NAME, Severity::Warning, message, source.span(method.name.range()), Vec::new());
        }
    }
}
