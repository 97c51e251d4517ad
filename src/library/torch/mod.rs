//! PyTorch.

pub mod annotation;
pub mod attributes;
pub mod autocast;
mod autograd;
pub mod broadcast;
pub mod carry;
pub mod cast;
mod collate;
pub mod context;
pub mod convert;
pub mod data;
pub mod distributions;
pub mod einsum;
pub mod factory;
pub mod fft;
pub mod gather;
pub mod generator;
pub mod indexing;
pub mod inplace;
pub mod linalg;
pub mod masked;
pub mod masks;
pub mod matmul;
pub mod nn;
pub mod operators;
mod optim;
pub mod picks;
pub mod pointwise;
pub mod promotion;
pub mod reduce;
pub mod return_types;
pub mod scatter;
pub mod support;
pub mod trailing;
pub mod views;

/// What PyTorch says after an assert of a kernel failed (2.15).
pub const DEVICE_ASSERT: &str = "CUDA error: device-side assert triggered
CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.
For debugging consider passing CUDA_LAUNCH_BLOCKING=1";

use super::table::Table;

pub fn register(table: &mut Table) {
    pointwise::register(table);
    inplace::register(table);
    matmul::register(table);
    einsum::register(table);
    linalg::register(table);
    fft::register(table);
    reduce::register(table);
    masked::register(table);
    return_types::register(table);
    nn::register(table);
    data::register(table);
    distributions::register(table);
    optim::register(table);
    context::register(table);
    autograd::register(table);
    attributes::register(table);
    convert::register(table);
    factory::register(table);
    gather::register(table);
    generator::register(table);
    views::register(table);
}
