//! PyTorch.

pub mod annotation;
pub mod attributes;
pub mod autocast;
pub mod autograd;
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
pub mod optim;
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
