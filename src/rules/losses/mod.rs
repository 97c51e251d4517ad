//! TV1: losses and their targets.

pub(super) mod difference_of_all_pairs;
