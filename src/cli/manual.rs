//! `torchvet completions` and `torchvet man`: completions and manual pages of the command line.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Cli, Failure, Status};

#[derive(clap::Args, Debug)]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

#[derive(clap::Args, Debug)]
pub(super) struct ManArgs {
    /// Write the pages of all commands to this folder, instead of the main page to standard output
    folder: Option<PathBuf>,
}

pub(super) fn completions(args: &CompletionsArgs) -> Result<Status, Failure> {
    // The script is written to memory first, because `generate` panics if its writer fails.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "torchvet", &mut script);
    io::stdout().write_all(&script)?;
    Ok(Status::Clean)
}

pub(super) fn man(args: &ManArgs) -> Result<Status, Failure> {
    let Some(folder) = &args.folder else {
        clap_mangen::Man::new(Cli::command()).render(&mut io::stdout().lock())?;
        return Ok(Status::Clean);
    };
    let fail = |error: io::Error| Failure::Message(format!("{}: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(fail)?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(fail)?;
    Ok(Status::Clean)
}
