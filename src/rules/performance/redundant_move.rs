//! Moves of a tensor to the device where it already is, in every step:
//! [`super::sync_in_training_loop`] reports them.

use crate::rules::rule::Rule;

#[derive(Default)]
pub(crate) struct RedundantMove;

impl Rule for RedundantMove {}
