//! Arguments and names of old fine-tuning programs that newer versions of transformers do not have.

use rustc_hash::FxHashMap;

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprCall, StmtImportFrom};
use crate::syntax::{Expr, Ranged, Stmt, TextRange, calls, methods, path_of};

const NAME: &str = "training-argument-removed";

/// Arguments of `TrainingArguments`: the name, a version that does not have it, and what replaces it. The
/// names come from a comparison of the fields of the versions 4.30, 4.40, 4.45, 4.46, 4.47, 4.49, 4.50, 4.51, 4.57, 5.0
/// and 5.24: the version is the first of these that lacks the field.
const ARGUMENTS: &[(&str, &str, &str)] = &[
    ("evaluation_strategy", "4.51", "`eval_strategy`"),
    ("dispatch_batches", "4.51", "`accelerator_config`"),
    ("split_batches", "4.51", "`accelerator_config`"),
    ("use_ipex", "4.57", ""),
    ("sharded_ddp", "4.40", "`fsdp`"),
    ("xpu_backend", "4.40", "`ddp_backend`"),
    ("adafactor", "5.0", "`optim=\"adafactor\"`"),
    ("fp16_backend", "5.0", ""),
    ("fp16_opt_level", "5.0", ""),
    ("fsdp_min_num_params", "5.0", "`fsdp_config`"),
    ("fsdp_transformer_layer_cls_to_wrap", "5.0", "`fsdp_config`"),
    ("half_precision_backend", "5.0", ""),
    ("include_inputs_for_metrics", "5.0", "`include_for_metrics=[\"inputs\"]`"),
    ("include_tokens_per_second", "5.0", "`include_num_input_tokens_seen`"),
    ("jit_mode_eval", "5.0", ""),
    ("mp_parameters", "5.0", ""),
    ("no_cuda", "5.0", "`use_cpu`"),
    ("overwrite_output_dir", "5.0", ""),
    ("past_index", "5.0", ""),
    ("per_gpu_eval_batch_size", "5.0", "`per_device_eval_batch_size`"),
    ("per_gpu_train_batch_size", "5.0", "`per_device_train_batch_size`"),
    ("push_to_hub_model_id", "5.0", "`hub_model_id`"),
    ("push_to_hub_organization", "5.0", "`hub_model_id`"),
    ("push_to_hub_token", "5.0", "`hub_token`"),
    ("ray_scope", "5.0", ""),
    ("save_safetensors", "5.0", ""),
    ("torchdynamo", "5.0", "`torch_compile_backend`"),
    ("tpu_metrics_debug", "5.0", "`debug`"),
    ("tpu_num_cores", "5.0", ""),
    ("use_legacy_prediction_loop", "5.0", ""),
    ("use_mps_device", "5.0", ""),
    ("group_by_length", "5.24", "`train_sampling_strategy=\"group_by_length\"`"),
    ("logging_dir", "5.24", ""),
    ("warmup_ratio", "5.24", "`warmup_steps`"),
];

/// Names that `transformers` exported: the name, a version without it, and what replaces it.
const NAMES: &[(&str, &str, &str)] = &[
    ("AdamW", "4.50", "`torch.optim.AdamW`"),
    ("AutoModelWithLMHead", "5.0", "`AutoModelForCausalLM`, `AutoModelForMaskedLM` or `AutoModelForSeq2SeqLM`"),
    ("Conversation", "4.46", ""),
    ("ConversationalPipeline", "4.46", ""),
    ("GlueDataTrainingArguments", "5.24", ""),
    ("GlueDataset", "5.24", ""),
    ("LineByLineTextDataset", "5.0", ""),
    ("LineByLineWithRefDataset", "5.0", ""),
    ("SquadDataset", "5.24", ""),
    ("SummarizationPipeline", "5.0", ""),
    ("Text2TextGenerationPipeline", "5.0", ""),
    ("TextDataset", "5.0", ""),
    ("TextDatasetForNextSentencePrediction", "5.0", ""),
    ("TranslationPipeline", "5.0", ""),
    ("top_k_top_p_filtering", "4.40", ""),
];

#[derive(Default)]
pub(crate) struct TrainingArgumentRemoved;

impl Rule for TrainingArgumentRemoved {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        let has = |text: &str| source.text.contains(text);
        if !has("transformers") || source.tests_versions() {
            return;
        }
        let attempted = source.attempted();
        let is_attempted = |range: TextRange| attempted.iter().any(|stmt| stmt.range().contains_range(range));
        for stmt in &source.statements {
            if let Stmt::ImportFrom(import) = stmt
                && !is_attempted(import.range())
            {
                report_names(findings, source, import);
            }
        }
        for (call, class) in instantiations(source) {
            if is_attempted(call.range()) {
                continue;
            }
            for keyword in &call.arguments.keywords {
                let Some(name) = &keyword.arg else { continue };
                let Some((version, new)) = removed_argument(class, name.as_str()) else { continue };
                if (source.excludes)("transformers", version) {
                    continue;
                }
                let message = format!(
                    "with transformers {version} or newer, `{class}` has no argument `{}`{}",
                    name.as_str(),
                    replacement(new)
                );
                findings.report(NAME, Severity::Warning, message, source.span(name.range()), Vec::new());
            }
        }
    }
}

/// The part of a message that names the replacement.
pub(super) fn replacement(new: &str) -> String {
    if new.is_empty() { String::new() } else { format!(" (use {new})") }
}

fn report_names(findings: &mut Findings<'_>, source: &Source<'_>, import: &StmtImportFrom) {
    let module = import.module.as_ref().map_or("", |module| module.as_str());
    for alias in &import.names {
        // `AdamW` was also a name of this module, from which some programs import it.
        let is_adam = module == "transformers.optimization" && alias.name.as_str() == "AdamW";
        if import.level != 0 || !(module == "transformers" || is_adam) {
            continue;
        }
        let Some((name, version, new)) = NAMES.iter().find(|(name, ..)| *name == alias.name.as_str()) else { continue };
        if (source.excludes)("transformers", version) {
            continue;
        }
        let message =
            format!("with transformers {version} or newer, `{module}.{name}` does not exist{}", replacement(new));
        findings.report(NAME, Severity::Warning, message, source.span(alias.range()), Vec::new());
    }
}

/// The calls that reach the constructor of a class of `transformers`, with this class: those of the class, of a
/// subclass without a constructor of its own, and `super().__init__(…)` in the constructor of a subclass.
fn instantiations<'a>(source: &Source<'a>) -> Vec<(&'a ExprCall, &'a str)> {
    let mut of_super = Vec::new();
    let mut subclasses: FxHashMap<&str, &str> = FxHashMap::default();
    for class in source.classes() {
        let [base] = class.bases() else { continue };
        let Some(base) = class_of(base, source) else { continue };
        match methods(class).find(|method| method.name.as_str() == "__init__") {
            Some(init) => {
                let inits = init.body.iter().flat_map(calls).filter(|call| is_init_of_super(call));
                of_super.extend(inits.map(|call| (call, base)));
            }
            None => drop(subclasses.insert(class.name.as_str(), base)),
        }
    }
    let direct = source.body.iter().flat_map(calls).filter_map(|call| {
        let name = call.func.as_name_expr().map(|name| name.id.as_str());
        Some((call, class_of(&call.func, source).or_else(|| subclasses.get(name?).copied())?))
    });
    of_super.into_iter().chain(direct).collect()
}

/// `super().__init__(…)` or `super(Own, self).__init__(…)`
fn is_init_of_super(call: &ExprCall) -> bool {
    let Some(callee) = call.func.as_attribute_expr().filter(|it| it.attr.as_str() == "__init__") else { return false };
    callee.value.as_call_expr().is_some_and(|owner| path_of(&owner.func) == ["super"])
}

/// The class of `transformers` that an expression names.
fn class_of<'a>(expr: &'a Expr, source: &Source<'_>) -> Option<&'a str> {
    match path_of(expr).as_slice() {
        ["transformers", class] => Some(*class),
        [class] if is_imported(source, class) => Some(*class),
        _ => None,
    }
}

/// Whether a file imports a name from `transformers`, and does not define a class of this name.
fn is_imported(source: &Source<'_>, name: &str) -> bool {
    source.imports_from("transformers", name) && !source.classes().any(|class| class.name.as_str() == name)
}

/// A version in which a class lacks an argument, and what replaces the argument.
fn removed_argument(class: &str, argument: &str) -> Option<(&'static str, &'static str)> {
    match class {
        "TrainingArguments" | "Seq2SeqTrainingArguments" => {
            let found = ARGUMENTS.iter().find(|(name, ..)| *name == argument)?;
            Some((found.1, found.2))
        }
        "Trainer" | "Seq2SeqTrainer" if argument == "tokenizer" => Some(("5.0", "`processing_class`")),
        _ => None,
    }
}
