//! Arguments and names of Lightning and torchmetrics that newer versions do not have, arguments that no
//! version has, and calls without the argument `task`, which newer versions of torchmetrics need.

use rustc_hash::{FxHashMap, FxHashSet};

use super::training_argument_removed::replacement;
use crate::diagnostic::Severity;
use crate::python::nearest;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{Expr, ExprCall};
use crate::syntax::{Ranged, Stmt, TextRange, bound_by, calls, expressions, is_read, path_of};

const NAME: &str = "lightning-argument-removed";

/// Something that newer versions lack: its name, a version that lacks it, and what replaces it.
type Removed = (&'static str, &'static str, &'static str);

/// The newest version whose arguments the lists contain.
const NEWEST: &str = "2.6";

/// A class of Lightning. The lists come from a comparison of one version of each minor release from 0.4 to
/// 2.6: the version of a removed argument is the first of these releases that lacks it.
struct Class {
    name: &'static str,
    /// The paths of the class, without `pytorch_lightning` at the beginning and the name at the end.
    modules: &'static [&'static str],
    /// The arguments of version 2.6.
    arguments: &'static [&'static str],
    removed: &'static [Removed],
}

#[rustfmt::skip]
const CLASSES: &[Class] = &[
    Class {
        name: "Trainer",
        modules: &[".", ".trainer.", ".trainer.trainer."],
        arguments: &[
            "accelerator", "accumulate_grad_batches", "barebones", "benchmark", "callbacks", "check_val_every_n_epoch",
            "default_root_dir", "detect_anomaly", "deterministic", "devices", "enable_autolog_hparams",
            "enable_checkpointing", "enable_model_summary", "enable_progress_bar", "fast_dev_run",
            "gradient_clip_algorithm", "gradient_clip_val", "inference_mode", "limit_predict_batches",
            "limit_test_batches", "limit_train_batches", "limit_val_batches", "log_every_n_steps", "logger",
            "max_epochs", "max_steps", "max_time", "min_epochs", "min_steps", "model_registry", "num_nodes",
            "num_sanity_val_steps", "overfit_batches", "plugins", "precision", "profiler",
            "reload_dataloaders_every_n_epochs", "strategy", "sync_batchnorm", "use_distributed_sampler",
            "val_check_interval",
        ],
        removed: &[
            ("add_log_row_interval", "0.5", "`log_every_n_steps`"),
            ("add_row_log_interval", "0.8", "`log_every_n_steps`"),
            ("amp_backend", "2.0", "`precision`"),
            ("amp_level", "2.0", "`precision`"),
            ("auto_lr_find", "2.0", "`Tuner(trainer).lr_find(model)`"),
            ("auto_scale_batch_size", "2.0", "`Tuner(trainer).scale_batch_size(model)`"),
            ("auto_select_gpus", "2.0", "`devices`"),
            ("automatic_optimization", "1.3", "`self.automatic_optimization` of the module"),
            ("checkpoint_callback", "1.7", "`enable_checkpointing`, and `callbacks` for a `ModelCheckpoint`"),
            ("default_save_path", "0.8", "`default_root_dir`"),
            ("distributed_backend", "1.5", "`strategy`"),
            ("early_stop_callback", "1.0", "`callbacks`"),
            ("enable_pl_optimizer", "1.3", ""),
            ("experiment", "0.5", "`logger`"),
            ("flush_logs_every_n_steps", "1.7", "the settings of the logger"),
            ("gpus", "2.0", "`accelerator=\"gpu\", devices=…`"),
            ("gradient_clip", "0.8", "`gradient_clip_val`"),
            ("ipus", "2.0", ""),
            ("log_gpu_memory", "1.7", "the callback `DeviceStatsMonitor`"),
            ("log_save_interval", "1.0", ""),
            ("max_nb_epochs", "0.8", "`max_epochs`"),
            ("min_nb_epochs", "0.8", "`min_epochs`"),
            ("move_metrics_to_cpu", "2.0", ""),
            ("multiple_trainloader_mode", "2.0", "`CombinedLoader(…, mode=…)`"),
            ("nb_gpu_nodes", "0.8", "`num_nodes`"),
            ("nb_sanity_val_steps", "0.8", "`num_sanity_val_steps`"),
            ("num_processes", "2.0", "`accelerator=\"cpu\", devices=…`"),
            ("num_tpu_cores", "0.9", "`accelerator=\"tpu\", devices=…`"),
            ("overfit_pct", "1.0", "`overfit_batches`"),
            ("prepare_data_per_node", "1.7", "`self.prepare_data_per_node` of the module"),
            ("print_nan_grads", "0.9", "`detect_anomaly`"),
            ("print_weights_summary", "0.5", "`enable_model_summary`"),
            ("process_position", "1.7", "`TQDMProgressBar(process_position=…)`"),
            ("progress_bar_callback", "0.8", "`enable_progress_bar`"),
            ("progress_bar_refresh_rate", "1.7", "`TQDMProgressBar(refresh_rate=…)`, or `enable_progress_bar=False`"),
            ("reload_dataloaders_every_epoch", "1.6", "`reload_dataloaders_every_n_epochs=1`"),
            ("replace_sampler_ddp", "2.0", "`use_distributed_sampler`"),
            ("resume_from_checkpoint", "2.0", "`trainer.fit(…, ckpt_path=…)`"),
            ("row_log_interval", "1.0", "`log_every_n_steps`"),
            ("show_progress_bar", "0.9", "`enable_progress_bar`"),
            ("stochastic_weight_avg", "1.7", "the callback `StochasticWeightAveraging`"),
            ("terminate_on_nan", "1.7", "`detect_anomaly`"),
            ("test_percent_check", "1.0", "`limit_test_batches`"),
            ("tpu_cores", "2.0", "`accelerator=\"tpu\", devices=…`"),
            ("track_grad_norm", "2.0", "`grad_norm` in the hook `on_before_optimizer_step`"),
            ("train_percent_check", "1.0", "`limit_train_batches`"),
            ("truncated_bptt_steps", "1.5", ""),
            ("use_amp", "0.9", "`precision`"),
            ("val_percent_check", "1.0", "`limit_val_batches`"),
            ("weights_save_path", "1.8", "`default_root_dir`"),
            ("weights_summary", "1.7", "`enable_model_summary`"),
        ],
    },
    Class {
        name: "ModelCheckpoint",
        modules: &[".callbacks.", ".callbacks.model_checkpoint."],
        arguments: &[
            "auto_insert_metric_name", "dirpath", "enable_version_counter", "every_n_epochs", "every_n_train_steps",
            "filename", "mode", "monitor", "save_last", "save_on_exception", "save_on_train_epoch_end", "save_top_k",
            "save_weights_only", "train_time_interval", "verbose",
        ],
        removed: &[
            ("every_n_val_epochs", "1.6", "`every_n_epochs`"),
            ("filepath", "1.2", "`dirpath` and `filename`"),
            ("period", "1.5", "`every_n_epochs`"),
            ("prefix", "1.3", "`filename`"),
            ("save_best_only", "0.6", "`save_top_k=1`"),
        ],
    },
    Class {
        name: "EarlyStopping",
        modules: &[".callbacks.", ".callbacks.early_stopping."],
        arguments: &[
            "check_finite", "check_on_train_epoch_end", "divergence_threshold", "log_rank_zero_only", "min_delta",
            "mode", "monitor", "patience", "stopping_threshold", "strict", "verbose",
        ],
        removed: &[],
    },
    Class {
        name: "LearningRateMonitor",
        modules: &[".callbacks.", ".callbacks.lr_monitor."],
        arguments: &["log_momentum", "log_weight_decay", "logging_interval"],
        removed: &[],
    },
];

/// Modules, classes, functions and class methods that newer versions do not have.
#[rustfmt::skip]
const NAMES: &[Removed] = &[
    ("pytorch_lightning.Trainer.add_argparse_args", "2.0", "`LightningCLI`, or options of your own"),
    ("pytorch_lightning.Trainer.from_argparse_args", "2.0", "`Trainer(…)` with the arguments"),
    ("pytorch_lightning.Trainer.parse_argparser", "2.0", ""),
    ("pytorch_lightning.EvalResult", "1.0", "`self.log`"),
    ("pytorch_lightning.TrainResult", "1.0", "`self.log`"),
    ("pytorch_lightning.callbacks.GPUStatsMonitor", "1.7", "`DeviceStatsMonitor`"),
    ("pytorch_lightning.callbacks.LearningRateLogger", "1.0", "`LearningRateMonitor`"),
    ("pytorch_lightning.callbacks.ProgressBarBase", "2.0", "`pytorch_lightning.callbacks.ProgressBar`"),
    ("pytorch_lightning.callbacks.base", "1.9", "`pytorch_lightning.callbacks`"),
    ("pytorch_lightning.callbacks.lr_logger", "1.0", "`LearningRateMonitor`"),
    ("pytorch_lightning.callbacks.progress.ProgressBarBase", "2.0", "`pytorch_lightning.callbacks.ProgressBar`"),
    ("pytorch_lightning.core.decorators", "1.7", ""),
    ("pytorch_lightning.core.lightning", "1.9", "`pytorch_lightning`"),
    ("pytorch_lightning.core.memory", "1.7", "`pytorch_lightning.utilities.model_summary`"),
    ("pytorch_lightning.core.step_result", "1.4", "`self.log`"),
    ("pytorch_lightning.lite", "2.0", "`lightning.fabric`"),
    ("pytorch_lightning.loggers.LightningLoggerBase", "1.9", "`pytorch_lightning.loggers.logger.Logger`"),
    ("pytorch_lightning.loggers.LoggerCollection", "1.8", "a list of loggers"),
    ("pytorch_lightning.loggers.TestTubeLogger", "1.7", "`TensorBoardLogger`"),
    ("pytorch_lightning.loggers.base", "1.9", "`pytorch_lightning.loggers.logger`"),
    ("pytorch_lightning.metrics", "1.5", "`torchmetrics`"),
    ("pytorch_lightning.overrides.data_parallel", "2.0", ""),
    ("pytorch_lightning.plugins.DDPPlugin", "1.8", "`pytorch_lightning.strategies.DDPStrategy`"),
    ("pytorch_lightning.plugins.DDPSpawnPlugin", "1.8", "`strategy=\"ddp_spawn\"`"),
    ("pytorch_lightning.plugins.DeepSpeedPlugin", "1.8", "`pytorch_lightning.strategies.DeepSpeedStrategy`"),
    ("pytorch_lightning.plugins.NativeMixedPrecisionPlugin", "2.0", "`MixedPrecision`"),
    ("pytorch_lightning.plugins.training_type", "1.8", "`pytorch_lightning.strategies`"),
    ("pytorch_lightning.profiler", "2.0", "`pytorch_lightning.profilers`"),
    ("pytorch_lightning.strategies.DDPSpawnStrategy", "2.0", "`DDPStrategy(start_method=\"spawn\")`"),
    ("pytorch_lightning.strategies.DataParallelStrategy", "2.0", "`DDPStrategy`"),
    ("pytorch_lightning.trainer.supporters", "2.0", "`pytorch_lightning.utilities.combined_loader`"),
    ("pytorch_lightning.utilities.apply_func", "2.0", "`lightning_utilities.core.apply_func`"),
    ("pytorch_lightning.utilities.cli", "1.9", "`pytorch_lightning.cli`"),
    ("pytorch_lightning.utilities.cloud_io", "2.0", ""),
    ("pytorch_lightning.utilities.distributed.rank_zero_only", "2.0", "`pytorch_lightning.utilities.rank_zero_only`"),
    ("pytorch_lightning.utilities.distributed", "2.1", "`pytorch_lightning.utilities.rank_zero`"),
    ("pytorch_lightning.utilities.seed.seed_everything", "2.0", "`pytorch_lightning.seed_everything`"),
    ("torchmetrics.F1", "0.8", "`F1Score`"),
    ("torchmetrics.FBeta", "0.8", "`FBetaScore`"),
    ("torchmetrics.Hinge", "0.8", "`HingeLoss`"),
    ("torchmetrics.IoU", "0.8", "`JaccardIndex`"),
    ("torchmetrics.MAP", "0.7", "`torchmetrics.detection.MeanAveragePrecision`"),
    ("torchmetrics.MatthewsCorrcoef", "0.8", "`MatthewsCorrCoef`"),
    ("torchmetrics.PSNR", "0.8", "`torchmetrics.image.PeakSignalNoiseRatio`"),
    ("torchmetrics.PearsonCorrcoef", "0.8", "`PearsonCorrCoef`"),
    ("torchmetrics.SSIM", "0.8", "`torchmetrics.image.StructuralSimilarityIndexMeasure`"),
    ("torchmetrics.SpearmanCorrcoef", "0.8", "`SpearmanCorrCoef`"),
    ("torchmetrics.WER", "0.8", "`torchmetrics.text.WordErrorRate`"),
    ("torchmetrics.AUC", "0.11", "`torchmetrics.utilities.compute.auc`"),
    ("torchmetrics.Dice", "1.7", "`torchmetrics.segmentation.DiceScore`"),
    ("torchmetrics.functional.dice", "1.7", "`torchmetrics.functional.segmentation.dice_score`"),
    ("torchmetrics.functional.f1", "0.8", "`f1_score`"),
    ("torchmetrics.functional.fbeta", "0.8", "`fbeta_score`"),
    ("torchmetrics.functional.iou", "0.8", "`jaccard_index`"),
    ("torchmetrics.functional.precision_recall", "0.11", "`precision` and `recall`"),
    ("torchmetrics.functional.psnr", "0.8", "`torchmetrics.functional.image.peak_signal_noise_ratio`"),
    ("torchmetrics.functional.ssim", "0.8", "`torchmetrics.functional.image.structural_similarity_index_measure`"),
    ("torchmetrics.functional.wer", "0.8", "`torchmetrics.functional.text.word_error_rate`"),
];

/// Classes of torchmetrics whose first argument is `task` since version 0.11.
const METRICS: &[&str] = &[
    "AUROC",
    "Accuracy",
    "AveragePrecision",
    "CalibrationError",
    "CohenKappa",
    "ConfusionMatrix",
    "F1Score",
    "FBetaScore",
    "HammingDistance",
    "HingeLoss",
    "JaccardIndex",
    "MatthewsCorrCoef",
    "Precision",
    "PrecisionRecallCurve",
    "ROC",
    "Recall",
    "Specificity",
    "StatScores",
];
/// Functions of torchmetrics whose third argument is `task` since version 0.11.
const FUNCTIONS: &[&str] = &[
    "accuracy",
    "auroc",
    "average_precision",
    "calibration_error",
    "cohen_kappa",
    "confusion_matrix",
    "f1_score",
    "fbeta_score",
    "hamming_distance",
    "hinge_loss",
    "jaccard_index",
    "matthews_corrcoef",
    "precision",
    "precision_recall_curve",
    "recall",
    "roc",
    "specificity",
    "stat_scores",
];

#[derive(Default)]
pub(crate) struct LightningArgumentRemoved;

impl Rule for LightningArgumentRemoved {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        let has = |text: &str| source.text.contains(text);
        if !(has("lightning") || has("torchmetrics")) || source.tests_versions() || has("RequirementCache") {
            return;
        }
        let attempted = source.attempted();
        let is_attempted = |range: TextRange| attempted.iter().any(|stmt| stmt.range().contains_range(range));
        let mut report = |at: TextRange, message: String| {
            if !is_attempted(at) {
                findings.report(NAME, Severity::Warning, message, source.span(at), Vec::new());
            }
        };
        for (path, at) in source.statements.iter().flat_map(|stmt| imported(stmt)) {
            if let Some(message) = removed_name(&canonical(&path), source) {
                report(at, message);
            }
        }
        let bound = bound_names(source);
        for call in source.body.iter().flat_map(calls) {
            let called = path_of(&call.func);
            let Some((imported, rest)) = called.split_first().and_then(|(first, rest)| Some((bound.get(first)?, rest)))
            else {
                continue;
            };
            let path = canonical(&rest.iter().fold(imported.clone(), |path, name| format!("{path}.{name}")));
            // A removed name that an import binds was reported there.
            if removed(&canonical(imported)).is_some() {
                continue;
            }
            if let Some(message) = removed_name(&path, source) {
                report(call.func.range(), message);
            } else if let Some(class) = class_of(&path) {
                for keyword in &call.arguments.keywords {
                    if let Some(name) = &keyword.arg
                        && let Some(message) = wrong_argument(class, name.as_str(), source)
                    {
                        report(name.range(), message);
                    }
                }
            } else if path.starts_with("torchmetrics.") {
                report_metric(call, &path, source, &mut report);
            }
        }
    }
}

/// What is wrong with an argument of a class of Lightning.
fn wrong_argument(class: &Class, argument: &str, source: &Source<'_>) -> Option<String> {
    let Class { name, arguments, removed, .. } = class;
    if arguments.contains(&argument) {
        return None;
    }
    if let Some((_, version, new)) = removed.iter().find(|(old, ..)| *old == argument) {
        let what = format!("`{name}` has no argument `{argument}`{}", replacement(new));
        return (!excluded(name, version, source)).then(|| format!("with Lightning {version} or newer, {what}"));
    }
    let old = || removed.iter().map(|(old, ..)| *old);
    let plural = format!("{argument}s");
    let near = nearest(argument, arguments.iter().copied())
        .or_else(|| nearest(argument, old()))
        .or_else(|| arguments.iter().copied().chain(old()).find(|other| *other == plural));
    let hint = match (near, removed.iter().find(|(old, ..)| Some(*old) == near)) {
        (_, Some((old, version, new))) if !excluded(name, version, source) => {
            let new = if new.is_empty() { String::new() } else { format!(": use {new}") };
            format!(" (`{old}` was removed in {version}{new})")
        }
        (Some(near), _) => format!(" (did you mean `{near}`?)"),
        (None, _) => String::new(),
    };
    Some(format!("`{name}` has no argument `{argument}` in any version of Lightning up to {NEWEST}{hint}"))
}

/// Reports a call of torchmetrics without the argument `task`, or with `compute_on_step`.
fn report_metric(call: &ExprCall, path: &str, source: &Source<'_>, report: &mut impl FnMut(TextRange, String)) {
    let (keywords, name) = (&call.arguments.keywords, path.rsplit('.').next().unwrap_or_default());
    for keyword in keywords {
        if keyword.arg.as_ref().is_some_and(|name| name.as_str() == "compute_on_step")
            && name.starts_with(char::is_uppercase)
            && !excluded(path, "0.9", source)
        {
            report(
                keyword.range(),
                format!("with torchmetrics 0.9 or newer, `{name}` has no argument `compute_on_step`"),
            );
        }
    }
    let before = match path.split('.').collect::<Vec<_>>().as_slice() {
        ["torchmetrics", _] | ["torchmetrics", "classification", _] | ["torchmetrics", "classification", _, _]
            if METRICS.contains(&name) =>
        {
            0
        }
        ["torchmetrics", "functional", _]
        | ["torchmetrics", "functional", "classification", _]
        | ["torchmetrics", "functional", "classification", _, _]
            if FUNCTIONS.contains(&name) =>
        {
            2
        }
        _ => return,
    };
    let given = &call.arguments.args;
    let may_have_task = given.iter().any(Expr::is_starred_expr)
        || given.get(before).is_some_and(|task| !task.is_number_literal_expr())
        || keywords.iter().any(|keyword| keyword.arg.as_ref().is_none_or(|name| name.as_str() == "task"));
    if !may_have_task && !excluded(path, "0.11", source) {
        report(
            call.func.range(),
            format!(
                "with torchmetrics 0.11 or newer, `{name}` needs the argument `task` (such as `task=\"multiclass\"`)"
            ),
        );
    }
}

/// The class of Lightning that a dotted path names.
fn class_of(path: &str) -> Option<&'static Class> {
    let inner = path.strip_prefix("pytorch_lightning")?;
    CLASSES.iter().find(|class| inner.strip_suffix(class.name).is_some_and(|module| class.modules.contains(&module)))
}

/// The removed name that is the path, or the beginning of the path.
fn removed(path: &str) -> Option<&'static Removed> {
    NAMES.iter().find(|(name, ..)| path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}

fn removed_name(path: &str, source: &Source<'_>) -> Option<String> {
    let (name, version, new) = removed(path)?;
    let library = if name.starts_with("torchmetrics") { "torchmetrics" } else { "Lightning" };
    (!excluded(name, version, source))
        .then(|| format!("with {library} {version} or newer, `{name}` does not exist{}", replacement(new)))
}

/// Whether the requirements of the project exclude a version, and all newer ones, of the library to which a
/// path belongs.
fn excluded(path: &str, version: &str, source: &Source<'_>) -> bool {
    let packages: &[&str] =
        if path.starts_with("torchmetrics") { &["torchmetrics"] } else { &["pytorch-lightning", "lightning"] };
    packages.iter().any(|package| (source.excludes)(package, version))
}

/// Translates a path in Lightning's package `lightning` to the path in `pytorch_lightning`. A program may
/// have its own package with the name `lightning`, so only `lightning.pytorch` and `lightning.Trainer` are
/// translated.
fn canonical(path: &str) -> String {
    let under = |package: &str| path.strip_prefix(package).filter(|rest| rest.is_empty() || rest.starts_with('.'));
    match (under("lightning.pytorch"), under("lightning.Trainer"), path) {
        (Some(rest), ..) => format!("pytorch_lightning{rest}"),
        (_, Some(rest), _) => format!("pytorch_lightning.Trainer{rest}"),
        _ => path.to_owned(),
    }
}

/// What a statement imports: the dotted paths, with the places.
fn imported(stmt: &Stmt) -> Vec<(String, TextRange)> {
    match stmt {
        Stmt::Import(import) => {
            import.names.iter().map(|alias| (alias.name.as_str().to_owned(), alias.range())).collect()
        }
        Stmt::ImportFrom(import) if import.level == 0 => {
            let module = import.module.as_ref().map_or("", |module| module.as_str());
            import.names.iter().map(|alias| (format!("{module}.{}", alias.name), alias.range())).collect()
        }
        _ => Vec::new(),
    }
}

/// The names that imports bind, with the paths that they stand for. A name that two imports bind to different
/// things, or that an assignment, a loop, a definition or a parameter binds anywhere in the file, is left
/// out.
fn bound_names<'a>(source: &Source<'a>) -> FxHashMap<&'a str, String> {
    let mut others: FxHashSet<&str> = FxHashSet::default();
    let mut bound: FxHashMap<&str, String> = FxHashMap::default();
    for stmt in &source.statements {
        let (aliases, module) = match stmt {
            Stmt::Import(import) => (&import.names, None),
            Stmt::ImportFrom(import) => {
                let module = import.module.as_ref().map_or("", |module| module.as_str());
                (&import.names, Some(if import.level == 0 { module } else { "" }))
            }
            Stmt::ClassDef(class) => {
                others.insert(class.name.as_str());
                continue;
            }
            Stmt::FunctionDef(function) => {
                others.insert(function.name.as_str());
                others.extend(function.parameters.iter().map(|parameter| parameter.name().as_str()));
                continue;
            }
            _ => continue,
        };
        for alias in aliases {
            let name = bound_by(alias);
            let path = match module {
                Some(module) => format!("{module}.{}", alias.name),
                None if alias.asname.is_some() => alias.name.as_str().to_owned(),
                None => name.to_owned(),
            };
            if bound.get(name).is_some_and(|other| canonical(other) != canonical(&path)) {
                others.insert(name);
            }
            bound.insert(name, path);
        }
    }
    let names = source.body.iter().flat_map(expressions).filter(|expr| !is_read(expr));
    others.extend(names.filter_map(|expr| Some(expr.as_name_expr()?.id.as_str())));
    bound.retain(|name, _| !others.contains(name));
    bound
}
