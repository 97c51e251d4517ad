//! Methods of a subclass of transformers' `Trainer` that do not accept the arguments that newer versions
//! pass.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{StmtClassDef, StmtFunctionDef};
use crate::syntax::{Ranged, has_base, methods, path_of};

const NAME: &str = "trainer-method-arguments";

/// Trainers that call the methods as `transformers.Trainer` does, each with the package that contains it.
const TRAINERS: &[(&str, &str)] = &[
    ("transformers", "Trainer"),
    ("transformers", "Seq2SeqTrainer"),
    ("trl", "SFTTrainer"),
    ("trl", "DPOTrainer"),
    ("trl", "RewardTrainer"),
];

/// How the trainer calls a method (`transformers/trainer.py` of the versions 4.30 to 5.24).
struct Hook {
    name: &'static str,
    /// The arguments that are passed by position.
    positional: &'static [&'static str],
    /// The argument that is passed by name.
    keyword: Option<&'static str>,
    /// A version whose trainer makes this call. All later versions that were compared make it, too.
    version: &'static str,
    /// Methods that contain the call: a class that overrides one of them may call the method with other
    /// arguments.
    callers: &'static [&'static str],
}

const HOOKS: &[Hook] = &[
    Hook {
        name: "compute_loss",
        positional: &["model", "inputs"],
        keyword: Some("num_items_in_batch"),
        version: "4.46",
        callers: &["training_step", "_inner_training_loop", "_run_epoch", "train"],
    },
    Hook {
        name: "training_step",
        positional: &["model", "inputs", "num_items_in_batch"],
        keyword: None,
        version: "4.46",
        callers: &["_inner_training_loop", "_run_epoch", "train"],
    },
    Hook {
        name: "log",
        positional: &["logs", "start_time"],
        keyword: None,
        version: "4.47",
        callers: &["_maybe_log_save_evaluate", "_inner_training_loop", "_run_epoch", "train"],
    },
    Hook {
        name: "_get_train_sampler",
        positional: &["train_dataset"],
        keyword: None,
        version: "4.57",
        callers: &["get_train_dataloader", "_get_dataloader", "_inner_training_loop", "train"],
    },
];

#[derive(Default)]
pub(crate) struct TrainerMethodArguments;

impl Rule for TrainerMethodArguments {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        let has = |text: &str| source.text.contains(text);
        if !(has("transformers") || has("trl")) || source.tests_versions() {
            return;
        }
        for class in source.classes().filter(|class| is_trainer(class, source)) {
            for method in methods(class) {
                let Some(hook) = HOOKS.iter().find(|hook| hook.name == method.name.as_str()) else { continue };
                let Some(argument) = unaccepted(method, hook) else { continue };
                if methods(class).any(|other| hook.callers.contains(&other.name.as_str()))
                    || (source.excludes)("transformers", hook.version)
                {
                    continue;
                }
                let message = format!(
                    "with transformers {} or newer, the trainer passes `{argument}` to `{}`, but this method does not \
                     accept it",
                    hook.version, hook.name
                );
                findings.report(NAME, Severity::Warning, message, source.span(method.name.range()), Vec::new());
            }
        }
    }
}

/// Whether a class is derived from one of the trainers and from nothing else, and has no subclass in this
/// file: a subclass may replace its methods.
fn is_trainer(class: &StmtClassDef, source: &Source<'_>) -> bool {
    let [base] = class.bases() else { return false };
    let base = path_of(base);
    let is_base = TRAINERS.iter().any(|(package, name)| match base.as_slice() {
        [first, last] => first == package && last == name,
        [only] => only == name && source.imports_from(package, name),
        _ => false,
    });
    is_base && !source.classes().any(|other| has_base(other, class.name.as_str()))
}

/// The first argument of the trainer's call that a method does not accept.
fn unaccepted(method: &StmtFunctionDef, hook: &Hook) -> Option<&'static str> {
    // A decorator may return a function with other parameters.
    if !method.decorator_list.is_empty() {
        return None;
    }
    let parameters = &method.parameters;
    let positional = || parameters.posonlyargs.iter().chain(&parameters.args).skip(1);
    if parameters.vararg.is_none()
        && let Some(argument) = hook.positional.get(positional().count())
    {
        return Some(*argument);
    }
    let keyword = hook.keyword?;
    let mut named = parameters.args.iter().chain(&parameters.kwonlyargs);
    (parameters.kwarg.is_none() && !named.any(|parameter| parameter.name().as_str() == keyword)).then_some(keyword)
}
