//! TV7: performance.

pub mod empty_cache_in_loop;
pub mod loader_without_workers;
pub mod redundant_move;
pub mod sync_in_training_loop;
pub mod tensor_made_on_cpu;
