//! Tensors created on the CPU and moved in every step: found by [`super::sync_in_training_loop`],
//! which finds all costs of every step.

use crate::rules::rule::Rule;

#[derive(Default)]
pub(crate) struct TensorMadeOnCpu;

impl Rule for TensorMadeOnCpu {}
