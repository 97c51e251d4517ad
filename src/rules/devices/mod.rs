//! TV3: devices.

pub mod cuda_default_with_shuffling_loader;
pub mod cuda_in_dataset_worker;
pub mod discarded_to;
pub mod modules_in_plain_container;
pub mod optimizer_state_left_behind;
pub mod unregistered_tensor_attribute;
