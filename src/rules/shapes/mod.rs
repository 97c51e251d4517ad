//! TV4: shapes and dtypes.

pub mod axes_swapped_by_view;
pub mod batch_taken_for_sequence;
pub mod head_never_called;
pub mod size_set_on_layer;
pub mod softmax_over_batch;
