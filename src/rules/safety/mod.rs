//! TV9: security and reproducibility.

pub mod seed_after_use;
pub mod untrusted_code;
