//! Moves to where a tensor is already, in every step: found by
//! [`super::sync_in_training_loop`], which looks for all that every step pays for.

use crate::rules::rule::Rule;

#[derive(Default)]
pub struct RedundantMove;

impl Rule for RedundantMove {}
