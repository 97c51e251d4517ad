//! `torchvet server`: findings in an editor.

use super::{Failure, STACK, Status};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Use standard input and output. The server always does, but some editors pass this flag
    #[arg(long, hide = true)]
    stdio: bool,
}

pub(super) fn main(_: &Args) -> Result<Status, Failure> {
    let orderly = crate::server::run(STACK).map_err(Failure::Message)?;
    // The protocol requires exit code 1 if `exit` arrives without a `shutdown` before it.
    Ok(if orderly { Status::Clean } else { Status::Program(1) })
}
