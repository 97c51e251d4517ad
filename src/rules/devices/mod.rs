//! TV3: devices.

pub(super) mod checkpoint_without_map_location;
pub(super) mod cuda_default_with_shuffling_loader;
pub(super) mod cuda_in_dataset_worker;
pub(super) mod discarded_to;
pub(super) mod factory_without_device;
pub(super) mod gpu_taken_for_granted;
pub(super) mod lengths_on_device;
pub(super) mod modules_in_plain_container;
pub(super) mod optimizer_state_left_behind;
pub(super) mod parameter_moved_at_creation;
pub(super) mod unregistered_tensor_attribute;
