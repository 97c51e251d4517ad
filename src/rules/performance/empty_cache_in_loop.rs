//! `torch.cuda.empty_cache()` in every step: found by [`super::sync_in_training_loop`], which finds
//! all costs of every step.

use crate::rules::rule::Rule;

#[derive(Default)]
pub(crate) struct EmptyCacheInLoop;

impl Rule for EmptyCacheInLoop {}
