//! `torch.cuda.empty_cache()` in every step: [`super::sync_in_training_loop`] reports it.

use crate::rules::rule::Rule;

#[derive(Default)]
pub(crate) struct EmptyCacheInLoop;

impl Rule for EmptyCacheInLoop {}
