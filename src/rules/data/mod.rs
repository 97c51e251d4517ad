//! TV5: data and masks.

pub mod copied_random_generator;
pub mod mask_moved_apart;
pub mod untransformed_plain_mask;
