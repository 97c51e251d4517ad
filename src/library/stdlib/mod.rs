//! The parts of Python's standard library that training scripts use.
//!
//! The tables contain only functions whose results have known facts, and functions that have an
//! effect on the program. A function that is in no table returns an unknown value, which is right
//! for most functions.

pub(crate) mod argparse;
pub(crate) mod concurrent;
pub(crate) mod containers;
pub(crate) mod contexts;
pub(crate) mod copying;
pub(crate) mod counting;
pub(crate) mod functional;
pub(crate) mod iterating;
pub(crate) mod json;
pub(crate) mod math;
pub(crate) mod random;
pub(crate) mod system;

pub(crate) use copying::deepcopy;
pub(crate) use random::shuffle;
