//! Operations that rearrange a tensor's elements: other shapes, other orders, joined, split.

pub mod axes;
pub mod diagonal;
pub mod expand;
pub mod grid;
pub mod join;
pub mod layout;
pub mod order;
pub mod reshape;
pub mod split;

pub use axes::transposed_attribute;
pub use diagonal::diagonal_length;
