//! TV6: autograd and loops.

pub mod changed_through_data;
pub mod clipping_after_step;
pub mod dropout_ignores_eval;
pub mod evaluation_in_training_mode;
pub mod evaluation_records_gradients;
pub mod forward_called_directly;
pub mod freed_graph_reused;
pub mod gradients_not_cleared;
pub mod hidden_state_not_detached;
pub mod loss_cut_from_graph;
pub mod loss_summed_with_graph;
pub mod missing_super_init;
pub mod model_left_in_eval;
pub mod object_in_checkpoint;
pub mod replaced_parameters_not_optimized;
pub mod requires_grad_set_on_module;
pub mod result_assigned_over_object;
pub mod sampler_without_set_epoch;
pub mod saved_tensor_modified;
pub mod scaled_gradients_used;
pub mod scaler_not_updated;
pub mod scheduler_before_optimizer;
pub mod scheduler_length_mismatch;
pub mod step_before_backward;
pub mod weights_kept_by_reference;
pub mod wrapped_module_called;
