//! Tensors that are created on the CPU and moved in every step: [`super::sync_in_training_loop`]
//! reports them.

use crate::rules::rule::Rule;

#[derive(Default)]
pub(crate) struct TensorMadeOnCpu;

impl Rule for TensorMadeOnCpu {}
