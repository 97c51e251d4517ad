//! What training scripts use of Python's standard library.
//!
//! Only what adds or carries facts is here: a function in no table gives an unknown value,
//! which is the right answer for most of the rest.

mod argparse;
mod concurrent;
mod containers;
pub mod contexts;
mod copying;
mod counting;
mod functional;
mod iterating;
mod math;
mod random;
mod system;

pub use copying::deepcopy;
pub use functional::IDENTITY;
pub use random::shuffle;

use super::table::Table;

pub fn register(t: &mut Table) {
    argparse::register(t);
    concurrent::register(t);
    containers::register(t);
    contexts::register(t);
    copying::register(t);
    counting::register(t);
    functional::register(t);
    iterating::register(t);
    math::register(t);
    random::register(t);
    system::register(t);
}
