//! Operations that rearrange a tensor's elements: other shapes, other orders, joined, split.

mod axes;
mod diagonal;
mod expand;
mod grid;
mod join;
pub mod layout;
mod order;
mod reshape;
mod split;

use crate::library::Table;

pub use axes::transposed_attribute;
pub use diagonal::diagonal_length;
pub use split::narrowed;

pub fn register(t: &mut Table) {
    axes::register(t);
    diagonal::register(t);
    expand::register(t);
    grid::register(t);
    join::register(t);
    order::register(t);
    reshape::register(t);
    split::register(t);
}
