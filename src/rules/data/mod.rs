//! TV5: data and masks.

pub(super) mod boxes_as_width_height;
pub(super) mod copied_random_generator;
pub(super) mod iterable_dataset_not_sharded;
pub(super) mod loader_not_distributed;
pub(super) mod mask_moved_apart;
pub(super) mod other_split_used;
pub(super) mod sample_not_returned;
pub(super) mod training_loader_in_evaluation;
pub(super) mod transform_set_on_subset;
pub(super) mod untransformed_plain_mask;
pub(super) mod weights_of_classes_for_samples;
