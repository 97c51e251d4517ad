//! TV2: indices and values.

pub mod bits_of_mask_flipped;
