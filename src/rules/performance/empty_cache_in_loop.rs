//! `torch.cuda.empty_cache()` in every step: found by [`super::sync_in_training_loop`], which
//! looks for all that every step pays for.

use crate::rules::rule::Rule;

#[derive(Default)]
pub struct EmptyCacheInLoop;

impl Rule for EmptyCacheInLoop {}
