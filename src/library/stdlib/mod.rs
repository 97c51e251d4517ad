//! What training scripts use of Python's standard library.
//!
//! Only what adds or carries facts is here: a function in no table gives an unknown value,
//! which is the right answer for most of the rest.

pub(crate) mod argparse;
pub(crate) mod concurrent;
pub(crate) mod containers;
pub(crate) mod contexts;
pub(crate) mod copying;
pub(crate) mod counting;
pub(crate) mod functional;
pub(crate) mod iterating;
pub(crate) mod math;
pub(crate) mod random;
pub(crate) mod system;

pub(crate) use copying::deepcopy;
pub(crate) use random::shuffle;
