//! TV1: losses and their targets.

pub mod difference_of_all_pairs;
