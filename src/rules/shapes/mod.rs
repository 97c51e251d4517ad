//! TV4: shapes and dtypes.

pub(super) mod axes_swapped_by_view;
pub(super) mod batch_taken_for_sequence;
pub(super) mod head_never_called;
pub(super) mod last_step_of_both_directions;
pub(super) mod lengths_not_sorted;
pub(super) mod mean_without_keepdim;
pub(super) mod position_instead_of_slice;
pub(super) mod size_set_on_layer;
pub(super) mod softmax_over_batch;
pub(super) mod view_of_transposed_matches;
