//! The rules that no contract can express, each watching the run.

use super::anomaly_mode_left_on::AnomalyModeLeftOn;
use super::axes_swapped_by_view::AxesSwappedByView;
use super::copied_random_generator::CopiedRandomGenerator;
use super::cuda_default_with_shuffling_loader::CudaDefaultWithShufflingLoader;
use super::cuda_in_dataset_worker::CudaInDatasetWorker;
use super::discarded_to::DiscardedTo;
use super::dropout_ignores_eval::DropoutIgnoresEval;
use super::evaluation_in_training_mode::EvaluationInTrainingMode;
use super::evaluation_records_gradients::EvaluationRecordsGradients;
use super::head_never_called::HeadNeverCalled;
use super::late_environment_variable::LateEnvironmentVariable;
use super::late_launch_blocking::LateLaunchBlocking;
use super::launch_blocking_left_on::LaunchBlockingLeftOn;
use super::loader_without_workers::LoaderWithoutWorkers;
use super::loss_cut_from_graph::LossCutFromGraph;
use super::mask_moved_apart::MaskMovedApart;
use super::missing_super_init::MissingSuperInit;
use super::model_left_in_eval::ModelLeftInEval;
use super::modules_in_plain_container::ModulesInPlainContainer;
use super::object_in_checkpoint::ObjectInCheckpoint;
use super::optimizer_state_left_behind::OptimizerStateLeftBehind;
use super::replaced_parameters_not_optimized::ReplacedParametersNotOptimized;
use super::sampler_without_set_epoch::SamplerWithoutSetEpoch;
use super::scaled_gradients_used::ScaledGradientsUsed;
use super::scaler_not_updated::ScalerNotUpdated;
use super::scheduler_before_optimizer::SchedulerBeforeOptimizer;
use super::scheduler_length_mismatch::SchedulerLengthMismatch;
use super::seed_after_use::SeedAfterUse;
use super::size_set_on_layer::SizeSetOnLayer;
use super::step_before_backward::StepBeforeBackward;
use super::swallowed_device_assert::SwallowedDeviceAssert;
use super::sync_in_training_loop::SyncInTrainingLoop;
use super::trace::{Moment, Trace};
use super::unregistered_tensor_attribute::UnregisteredTensorAttribute;
use super::untransformed_plain_mask::UntransformedPlainMask;
use super::weights_kept_by_reference::WeightsKeptByReference;
use super::wrapped_module_called::WrappedModuleCalled;
use super::{Page, Rules};
use super::{
    batch_taken_for_sequence, bits_of_mask_flipped, changed_through_data, clipping_after_step, difference_of_all_pairs,
    dsa_environment_variable, forward_called_directly, freed_graph_reused, gradients_not_cleared,
    hidden_state_not_detached, launch_blocking_left_on, loss_summed_with_graph, requires_grad_set_on_module,
    result_assigned_over_object, saved_tensor_modified, softmax_over_batch, untrusted_code,
};
use crate::diagnostic::{Diagnostic, Label, Severity, Witness};
use crate::python::{Bound, Event, Interp, Rejection};
use crate::syntax::{FileId, Setting, Span};
use crate::value::{Sym, Value};

/// What the rules have found so far.
pub type Found = Vec<Diagnostic>;

/// What a rule may look at beside the run itself.
pub struct Watching<'a> {
    pub rules: &'a Rules,
    /// The source text at a place.
    pub source: &'a dyn Fn(Span) -> Option<String>,
}

impl Watching<'_> {
    pub fn source(&self, span: Span) -> Option<String> {
        (self.source)(span)
    }
}

/// All of them, with what they remember of one run.
#[derive(Default)]
pub struct Watch {
    late_launch_blocking: LateLaunchBlocking,
    discarded_to: DiscardedTo,
    unregistered_tensor_attribute: UnregisteredTensorAttribute,
    modules_in_plain_container: ModulesInPlainContainer,
    cuda_in_dataset_worker: CudaInDatasetWorker,
    cuda_default_with_shuffling_loader: CudaDefaultWithShufflingLoader,
    copied_random_generator: CopiedRandomGenerator,
    untransformed_plain_mask: UntransformedPlainMask,
    mask_moved_apart: MaskMovedApart,
    launch_blocking_left_on: LaunchBlockingLeftOn,
    late_environment_variable: LateEnvironmentVariable,
    axes_swapped_by_view: AxesSwappedByView,
    optimizer_state_left_behind: OptimizerStateLeftBehind,
    dropout_ignores_eval: DropoutIgnoresEval,
    scheduler_length_mismatch: SchedulerLengthMismatch,
    weights_kept_by_reference: WeightsKeptByReference,
    anomaly_mode_left_on: AnomalyModeLeftOn,
    object_in_checkpoint: ObjectInCheckpoint,
    wrapped_module_called: WrappedModuleCalled,
    trace: Trace,
    step_before_backward: StepBeforeBackward,
    swallowed_device_assert: SwallowedDeviceAssert,
    missing_super_init: MissingSuperInit,
    replaced_parameters_not_optimized: ReplacedParametersNotOptimized,
    sampler_without_set_epoch: SamplerWithoutSetEpoch,
    sync_in_training_loop: SyncInTrainingLoop,
    loader_without_workers: LoaderWithoutWorkers,
    seed_after_use: SeedAfterUse,
    model_left_in_eval: ModelLeftInEval,
    scaled_gradients_used: ScaledGradientsUsed,
    scaler_not_updated: ScalerNotUpdated,
    scheduler_before_optimizer: SchedulerBeforeOptimizer,
    loss_cut_from_graph: LossCutFromGraph,
    evaluation_records_gradients: EvaluationRecordsGradients,
    evaluation_in_training_mode: EvaluationInTrainingMode,
    size_set_on_layer: SizeSetOnLayer,
    head_never_called: HeadNeverCalled,
}

impl Watch {
    pub fn new() -> Watch {
        Watch::default()
    }

    /// Before the run.
    pub fn begin(&self, it: &mut Interp<'_>) {
        self.late_launch_blocking.begin(it);
        self.launch_blocking_left_on.begin(it);
        self.late_environment_variable.begin(it);
        self.scaled_gradients_used.begin(it);
        self.seed_after_use.begin(it);
    }

    /// A library function is called.
    pub fn call(
        &self,
        with: &Watching<'_>,
        it: &mut Interp<'_>,
        (path, bound, span): (Sym, &Bound, Span),
        found: &mut Found,
    ) {
        if it.imagining() {
            return self.swallowed_device_assert.handles(path, span);
        }
        let at = (path, bound, span);
        self.scaled_gradients_used.call(with, it, at, found);
        self.scaler_not_updated.call(with, it, &self.trace, at, found);
        if let Some(moment) = self.trace.call(it, path, bound) {
            self.moment(with, it, &moment, span, found);
        }
        self.replaced_parameters_not_optimized.call(path, bound);
        self.sampler_without_set_epoch.call(it, path, bound);
        self.sync_in_training_loop.call(it, at);
        clipping_after_step::call(with, it, &self.trace, (path, span), found);
        self.scheduler_before_optimizer.call(with, it, &self.trace, at, found);
        self.scheduler_length_mismatch.call(it, at);
        self.anomaly_mode_left_on.call(with, it, at);
        self.object_in_checkpoint.call(it, at);
        self.weights_kept_by_reference.call(with, it, at, found);
        self.model_left_in_eval.call(it, at);
        self.evaluation_in_training_mode.call(it, &self.trace, at);
        if it.second_round() {
            return;
        }
        self.dropout_ignores_eval.call(with, it, at, found);
        batch_taken_for_sequence::call(with, it, at, found);
        bits_of_mask_flipped::call(with, it, at, found);
        softmax_over_batch::call(with, it, at, found);
        difference_of_all_pairs::call(with, it, &self.trace, at, found);
        untrusted_code::call(with, at, found);
        result_assigned_over_object::call(with, at, found);
        self.size_set_on_layer.call(with, it, at, found);
        self.head_never_called.call(path, bound);
        self.seed_after_use.call(with, it, (path, span), found);
        self.late_launch_blocking.call(it, path, bound, span);
        self.late_environment_variable.call(it, path, bound);
        self.discarded_to.call(it, path, bound, span);
        self.unregistered_tensor_attribute.call(it, bound, span);
        self.modules_in_plain_container.call(it, path, bound);
        self.cuda_in_dataset_worker.call(with, it, (path, bound, span), found);
        self.cuda_default_with_shuffling_loader.call(with, it, (path, bound, span), found);
        self.copied_random_generator.call(with, it, (path, bound, span), found);
        self.untransformed_plain_mask.call(with, it, (path, bound, span), found);
        self.mask_moved_apart.call(with, it, (path, bound, span), found);
        self.axes_swapped_by_view.call(with, it, (path, bound, span), found);
        self.optimizer_state_left_behind.call(with, it, (path, bound, span), found);
    }

    /// A library refuses a call. Whether a rule spoke for it.
    pub fn rejected(&self, with: &Watching<'_>, it: &Interp<'_>, rejection: &Rejection, found: &mut Found) -> bool {
        self.unregistered_tensor_attribute.rejected(with, it, rejection, found)
            || self.loss_cut_from_graph.rejected(with, it, &self.trace, rejection, found)
    }

    /// How many moments of training there were so far.
    pub fn moments(&self) -> u32 {
        self.trace.moments()
    }

    /// A moment of training, and then what it changes.
    fn moment(&self, with: &Watching<'_>, it: &mut Interp<'_>, moment: &Moment, span: Span, found: &mut Found) {
        let (trace, at) = (&self.trace, (moment, span));
        self.launch_blocking_left_on.trains();
        gradients_not_cleared::moment(with, it, trace, at, found);
        self.step_before_backward.moment(it, trace, at);
        self.weights_kept_by_reference.moment(with, it, trace, at, found);
        self.wrapped_module_called.moment(with, it, trace, at, found);
        self.anomaly_mode_left_on.moment(it, moment);
        self.loss_cut_from_graph.moment(with, it, trace, at, found);
        freed_graph_reused::moment(with, it, trace, at, found);
        hidden_state_not_detached::moment(with, it, trace, at, found);
        saved_tensor_modified::moment(with, it, trace, at, found);
        changed_through_data::moment(with, it, trace, at, found);
        self.evaluation_records_gradients.moment(trace, moment);
        self.evaluation_in_training_mode.moment(trace, moment);
        self.replaced_parameters_not_optimized.moment(with, it, trace, at, found);
        self.sampler_without_set_epoch.moment(it, moment);
        self.sync_in_training_loop.moment(it, moment);
        self.model_left_in_eval.moment(with, it, trace, at, found);
        self.scaled_gradients_used.moment(with, it, trace, at, found);
        self.swallowed_device_assert.moment(it, trace, moment);
        trace.pass(it, moment, span);
    }

    pub fn event(&self, with: &Watching<'_>, it: &mut Interp<'_>, event: Event<'_>, found: &mut Found) {
        if it.imagining() {
            return;
        }
        if let Some(moment) = self.trace.event(it, event) {
            let span = match event {
                Event::Unseen { span, .. } | Event::SetAttribute { span, .. } => span,
                _ => return,
            };
            self.moment(with, it, &moment, span, found);
        }
        self.sampler_without_set_epoch.event(it, &self.trace, event);
        self.weights_kept_by_reference.event(it, event);
        self.scaler_not_updated.event(it, event);
        self.sync_in_training_loop.event(it, event);
        match event {
            Event::Returned { path, bound, result, span } => {
                let at = (path, bound, result, span);
                loss_summed_with_graph::returned(with, it, &self.trace, at, found);
                self.evaluation_records_gradients.returned(it, at);
                self.model_left_in_eval.returned(it, (path, bound, result));
                self.step_before_backward.returned((path, bound, result));
                self.dropout_ignores_eval.returned(with, it, (path, result, span));
                self.scheduler_length_mismatch.returned(it, at);
                self.wrapped_module_called.returned(with, it, at);
                self.weights_kept_by_reference.returned(it, (path, bound, result));
                self.evaluation_in_training_mode.returned(it, &self.dropout_ignores_eval, at);
                self.missing_super_init.event(with, it, event, found);
                self.scaled_gradients_used.event(event);
                self.loader_without_workers.event(with, it, event, found);
                self.seed_after_use.event(it, event);
                return;
            }
            Event::Escaped { value } => {
                self.evaluation_records_gradients.escaped(it, &self.trace, value);
                return;
            }
            Event::Written { .. } | Event::Viewed { .. } | Event::Read { .. } => return,
            Event::Appended { list, value, span } => {
                return loss_summed_with_graph::appended(with, it, &self.trace, (list, value, span), found);
            }
            Event::Handled { .. } => return self.swallowed_device_assert.event(with, &self.trace, event),
            Event::Method { .. } => return forward_called_directly::event(with, it, event, found),
            Event::Iterated { .. } => return self.loader_without_workers.event(with, it, event, found),
            _ if it.second_round() => return,
            _ => {}
        }
        self.launch_blocking_left_on.event(it, event);
        self.late_environment_variable.event(it, event);
        self.missing_super_init.event(with, it, event, found);
        if let Event::Unseen { .. } = event {
            return;
        }
        self.replaced_parameters_not_optimized.event(it, &self.trace, event);
        dsa_environment_variable::event(with.rules, event, found);
        self.late_launch_blocking.event(with.rules, it, event, found);
        self.discarded_to.event(with, it, event, found);
        self.unregistered_tensor_attribute.event(it, event);
        self.modules_in_plain_container.event(it, event);
        self.copied_random_generator.event(it, event);
        self.optimizer_state_left_behind.event(event);
        self.size_set_on_layer.event(it, event);
        requires_grad_set_on_module::event(with, it, event, found);
        self.head_never_called.event(it, event);
    }

    /// A name is assigned.
    pub fn assigned(&self, it: &mut Interp<'_>, name: &str, value: &Value, span: Span) {
        if !it.imagining() {
            self.weights_kept_by_reference.assigned(it, name, value, span);
        }
    }

    /// After the run.
    pub fn end(&self, with: &Watching<'_>, it: &Interp<'_>, found: &mut Found) {
        self.modules_in_plain_container.end(with, it, found);
        self.launch_blocking_left_on.end(with.rules, it, found);
        self.late_environment_variable.end(with.rules, found);
        self.step_before_backward.end(with, found);
        self.scheduler_length_mismatch.end(with, found);
        self.anomaly_mode_left_on.end(with, found);
        self.object_in_checkpoint.end(with, found);
        self.swallowed_device_assert.end(with, found);
        self.scaler_not_updated.end(with, it, found);
        self.sampler_without_set_epoch.end(with, found);
        self.sync_in_training_loop.end(with, found);
        self.evaluation_records_gradients.end(with, found);
        self.evaluation_in_training_mode.end(with, found);
        self.head_never_called.end(with, it, found);
    }
}

/// What a file that launches programs sets in their environment.
pub fn launched(rules: &Rules, file: FileId, settings: Vec<Setting>) -> Found {
    let mut found = Found::new();
    for setting in settings {
        dsa_environment_variable::launched(rules, file, setting.clone(), &mut found);
        launch_blocking_left_on::launched(rules, file, setting, &mut found);
    }
    found
}

/// What shows the finding that was reported last: a few lines of Python that lead to it, and the
/// line that then fails.
pub(super) fn witnessed(found: &mut Found, page: &Page, setup: &'static str, call: &'static str) {
    if let Some(last) = found.last_mut().filter(|last| last.code == page.code) {
        last.witness.get_or_insert_with(|| Box::new(Witness::Program { setup, call }));
    }
}

/// A finding of a page, once per place.
pub(super) fn report(
    found: &mut Found,
    page: &Page,
    severity: Severity,
    message: String,
    span: Span,
    labels: Vec<Label>,
) {
    if found.iter().any(|d| d.code == page.code && d.span == span) {
        return;
    }
    found.push(Diagnostic {
        code: page.code.clone(),
        name: page.name.clone(),
        severity,
        message,
        span,
        labels,
        help: page.help.clone(),
        fix: None,
        witness: None,
        verdict: None,
        cause: Vec::new(),
        repeats: Vec::new(),
    });
}
