//! TV6: autograd and loops.

pub(super) mod changed_through_data;
pub(super) mod clipping_after_step;
pub(super) mod dropout_ignores_eval;
pub(super) mod evaluation_in_training_mode;
pub(super) mod evaluation_records_gradients;
pub(super) mod forward_called_directly;
pub(super) mod freed_graph_reused;
pub(super) mod gradients_not_cleared;
pub(super) mod hidden_state_not_detached;
pub(super) mod loss_cut_from_graph;
pub(super) mod loss_summed_with_graph;
pub(super) mod missing_super_init;
pub(super) mod model_left_in_eval;
pub(super) mod object_in_checkpoint;
pub(super) mod replaced_parameters_not_optimized;
pub(super) mod requires_grad_set_on_module;
pub(super) mod result_assigned_over_object;
pub(super) mod sampler_without_set_epoch;
pub(super) mod saved_tensor_modified;
pub(super) mod scaled_gradients_used;
pub(super) mod scaler_not_updated;
pub(super) mod scheduler_before_optimizer;
pub(super) mod scheduler_length_mismatch;
pub(super) mod step_before_backward;
pub(super) mod weights_kept_by_reference;
pub(super) mod wrapped_module_called;
