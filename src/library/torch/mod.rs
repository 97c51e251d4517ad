//! PyTorch.

pub mod annotation;
mod autograd;
mod collate;
pub mod broadcast;
pub mod context;
pub mod data;
pub mod indexing;
pub mod inplace;
pub mod nn;
pub mod operators;
mod optim;
pub mod pointwise;
pub mod promotion;
pub mod support;

use super::table::Table;

pub fn register(table: &mut Table) {
    pointwise::register(table);
    inplace::register(table);
    nn::register(table);
    data::register(table);
    optim::register(table);
    context::register(table);
    autograd::register(table);
}
