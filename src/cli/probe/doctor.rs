//! `torchvet probe doctor`.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use super::super::{Failure, Status};
use super::{Format, PythonArgs};
use crate::probe::doctor::examine;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    python: PythonArgs,
    /// How to print the report
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    output_format: Format,
    /// Write the report to this file
    #[arg(long, short, value_name = "FILE")]
    output_file: Option<PathBuf>,
}

pub(super) fn main(args: &Args) -> Result<Status, Failure> {
    let health = examine(&args.python.choose()?).map_err(Failure::Message)?;
    let mut out: Box<dyn Write> = match &args.output_file {
        Some(path) => {
            let file = File::create(path);
            Box::new(file.map_err(|error| Failure::Message(format!("{}: {error}", path.display())))?)
        }
        None => Box::new(io::stdout().lock()),
    };
    match args.output_format {
        Format::Json => health.write_json(&mut out)?,
        Format::Text => health.write_text(&mut out)?,
    }
    out.flush()?;
    // Problems of the machine do not change the exit code.
    Ok(Status::Clean)
}
