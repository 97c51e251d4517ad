//! `torchvet server`: findings in an editor.

use super::{Failure, STACK, Status};

#[derive(clap::Args, Debug)]
pub struct Args {
    /// Speak over standard input and output: the only way, which some editors spell out
    #[arg(long, hide = true)]
    stdio: bool,
}

pub fn main(_: &Args) -> Result<Status, Failure> {
    crate::server::run(STACK).map_err(Failure::Message)?;
    Ok(Status::Clean)
}
