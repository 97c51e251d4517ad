//! `torchvet config`: prints the settings and where each comes from.

use std::io::{self, Write};
use std::path::PathBuf;

use super::args::{ConfigArgs, start_folder};
use super::{Failure, Status};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Print the settings for this path
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Print the JSON Schema of the configuration file
    #[arg(long)]
    schema: bool,
    #[command(flatten)]
    config: ConfigArgs,
}

pub(super) fn main(args: &Args) -> Result<Status, Failure> {
    let mut out = io::stdout().lock();
    if args.schema {
        write!(out, "{}", crate::config::schema())?;
        return Ok(Status::Clean);
    }
    let settings = args.config.settings(&start_folder(Some(&args.path)))?;
    for (key, value, origin) in &settings.described {
        writeln!(out, "{key} = {value}  # {origin}")?;
    }
    writeln!(out, "\n# rules that run: {}", settings.selection.codes().join(", "))?;
    Ok(Status::Clean)
}
