//! `torchvet server`: findings in an editor.

use super::{Failure, STACK, Status};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Use standard input and output: the only way, but some editors pass the flag
    #[arg(long, hide = true)]
    stdio: bool,
}

pub(super) fn main(_: &Args) -> Result<Status, Failure> {
    let orderly = crate::server::run(STACK).map_err(Failure::Message)?;
    // The protocol requires this exit code if the server was not shut down before it ends.
    Ok(if orderly { Status::Clean } else { Status::Program(1) })
}
