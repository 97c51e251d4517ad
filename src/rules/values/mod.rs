//! TV2: indices and values.

pub(super) mod bits_of_mask_flipped;
pub(super) mod ceil_of_floor_division;
pub(super) mod code_after_endless_loop;
pub(super) mod comparison_around_operator;
pub(super) mod constant_condition;
pub(super) mod device_compared_with_text;
pub(super) mod discarded_result;
pub(super) mod function_without_result;
pub(super) mod nan_comparison;
pub(super) mod parameter_rebound;
pub(super) mod result_never_returned;
pub(super) mod result_overwritten;
pub(super) mod results_of_different_length;
pub(super) mod return_in_one_branch;
pub(super) mod truth_of_optional_tensor;
