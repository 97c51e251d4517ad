//! TV7: performance.

pub(super) mod empty_cache_in_loop;
pub(super) mod loader_without_workers;
pub(super) mod redundant_move;
pub(super) mod sync_in_training_loop;
pub(super) mod tensor_made_on_cpu;
