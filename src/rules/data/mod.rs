//! TV5: data and masks.

pub(super) mod copied_random_generator;
pub(super) mod mask_moved_apart;
pub(super) mod untransformed_plain_mask;
