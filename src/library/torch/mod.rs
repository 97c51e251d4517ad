//! PyTorch.

pub mod annotation;
pub mod attributes;
mod autograd;
pub mod broadcast;
pub mod carry;
pub mod cast;
mod collate;
pub mod context;
pub mod convert;
pub mod data;
pub mod factory;
pub mod gather;
pub mod indexing;
pub mod inplace;
pub mod masks;
pub mod nn;
pub mod operators;
mod optim;
pub mod pointwise;
pub mod promotion;
pub mod scatter;
pub mod support;
pub mod views;

use super::table::Table;

pub fn register(table: &mut Table) {
    pointwise::register(table);
    inplace::register(table);
    nn::register(table);
    data::register(table);
    optim::register(table);
    context::register(table);
    autograd::register(table);
    attributes::register(table);
    convert::register(table);
    factory::register(table);
    gather::register(table);
    views::register(table);
}
