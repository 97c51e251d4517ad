//! Operations that rearrange a tensor's elements: reshape, permute, join, split.

pub(crate) mod axes;
pub(crate) mod diagonal;
pub(crate) mod expand;
pub(crate) mod grid;
pub(crate) mod join;
pub(crate) mod layout;
pub(crate) mod order;
pub(crate) mod reshape;
pub(crate) mod split;

pub(crate) use axes::transposed_attribute;
pub(crate) use diagonal::diagonal_length;
