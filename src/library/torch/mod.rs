//! The models of the functions and classes of PyTorch.

pub(crate) mod annotation;
pub(crate) mod attributes;
pub(crate) mod autocast;
pub(crate) mod autograd;
pub(crate) mod broadcast;
pub(crate) mod carry;
pub(crate) mod cast;
mod collate;
pub(crate) mod context;
pub(crate) mod convert;
pub(crate) mod data;
pub(crate) mod defaults;
pub(crate) mod distributions;
pub(crate) mod draws;
pub(crate) mod einsum;
pub(crate) mod factory;
pub(crate) mod fft;
pub(crate) mod function;
pub(crate) mod gather;
pub(crate) mod generator;
pub(crate) mod graph;
pub(crate) mod indexing;
pub(crate) mod inplace;
pub(crate) mod linalg;
pub(crate) mod masked;
pub(crate) mod masks;
pub(crate) mod matmul;
pub(crate) mod nn;
pub(crate) mod open;
pub(crate) mod operators;
pub(crate) mod optim;
pub(crate) mod picks;
pub(crate) mod pointwise;
pub(crate) mod promotion;
pub(crate) mod reduce;
pub(crate) mod return_types;
pub(crate) mod scatter;
pub(crate) mod support;
pub(crate) mod trailing;
pub(crate) mod views;

/// The message of PyTorch 2.15 after a failed device-side assert.
pub(crate) const DEVICE_ASSERT: &str = "CUDA error: device-side assert triggered
CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.
For debugging consider passing CUDA_LAUNCH_BLOCKING=1";
