//! PyTorch.

pub mod annotation;
pub mod autocast;
pub mod broadcast;
pub mod context;
pub mod data;
pub mod einsum;
pub mod fft;
pub mod indexing;
pub mod inplace;
pub mod linalg;
pub mod matmul;
pub mod nn;
pub mod operators;
pub mod pointwise;
pub mod promotion;
pub mod reduce;
pub mod support;

use super::table::Table;

pub fn register(table: &mut Table) {
    pointwise::register(table);
    inplace::register(table);
    matmul::register(table);
    einsum::register(table);
    linalg::register(table);
    fft::register(table);
    reduce::register(table);
    nn::register(table);
}
