//! Hooks of Lightning whose parameters do not fit the arguments with which Lightning calls them.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{StmtClassDef, StmtFunctionDef};
use crate::syntax::{Ranged, methods, path_of};

const NAME: &str = "lightning-hook-arguments";

/// Hooks that modules and callbacks have, with the arguments of a module's hook. A callback's hook
/// gets the trainer and the module before them. Only hooks whose arguments are the same in all
/// versions since 1.0 are listed (`pytorch_lightning/core/hooks.py`).
const HOOKS: &[(&str, &[&str])] = &[
    ("on_fit_start", &[]),
    ("on_fit_end", &[]),
    ("on_train_start", &[]),
    ("on_train_end", &[]),
    ("on_train_epoch_start", &[]),
    ("on_validation_start", &[]),
    ("on_validation_end", &[]),
    ("on_validation_epoch_start", &[]),
    ("on_validation_epoch_end", &[]),
    ("on_test_start", &[]),
    ("on_test_end", &[]),
    ("on_test_epoch_start", &[]),
    ("on_test_epoch_end", &[]),
    ("on_after_backward", &[]),
    ("on_before_zero_grad", &["optimizer"]),
];

#[derive(Default)]
pub(crate) struct LightningHookArguments;

impl Rule for LightningHookArguments {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("lightning") {
            return;
        }
        for class in source.classes() {
            let Some(passed) = passed(class) else { continue };
            for method in methods(class) {
                let Some((name, arguments)) = HOOKS.iter().find(|(name, _)| *name == method.name.as_str()) else {
                    continue;
                };
                let arguments = [passed, *arguments].concat();
                if !method.decorator_list.is_empty() || accepts(method, arguments.len()) {
                    continue;
                }
                let message = match arguments.as_slice() {
                    [] => format!("Lightning calls `{name}` without arguments"),
                    arguments => format!("Lightning calls `{name}` with the arguments `{}`", arguments.join(", ")),
                };
                let at = source.span(method.name.range());
                findings.report(NAME, Severity::Error, message, at, Vec::new());
            }
        }
    }
}

/// The arguments that Lightning passes before those of a module's hook. `None` if the class is neither a
/// module nor a callback.
fn passed(class: &StmtClassDef) -> Option<&'static [&'static str]> {
    class.bases().iter().find_map(|base| match path_of(base).last() {
        Some(&"LightningModule") => Some(&[][..]),
        Some(&"Callback") => Some(&["trainer", "pl_module"][..]),
        _ => None,
    })
}

/// Whether a method accepts this number of positional arguments after `self`.
fn accepts(method: &StmtFunctionDef, given: usize) -> bool {
    let positional = method.parameters.posonlyargs.iter().chain(&method.parameters.args);
    let (all, required) = positional
        .fold((0, 0), |(all, required), parameter| (all + 1, required + usize::from(parameter.default.is_none())));
    let required_keyword = method.parameters.kwonlyargs.iter().any(|parameter| parameter.default.is_none());
    let fits = (given < all || method.parameters.vararg.is_some()) && required <= given + 1;
    fits && !required_keyword
}
