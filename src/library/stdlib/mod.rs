//! What training scripts use of Python's standard library.
//!
//! Only what adds or carries facts is here: a function in no table gives an unknown value,
//! which is the right answer for most of the rest.

pub mod argparse;
pub mod concurrent;
pub mod containers;
pub mod contexts;
pub mod copying;
pub mod counting;
pub mod functional;
pub mod iterating;
pub mod math;
pub mod random;
pub mod system;

pub use copying::deepcopy;
pub use random::shuffle;
