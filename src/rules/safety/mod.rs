//! TV9: security and reproducibility.

pub(super) mod seed_after_use;
pub(super) mod untrusted_code;
