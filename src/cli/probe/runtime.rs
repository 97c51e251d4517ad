//! `torchvet probe runtime`: prints the Python half of the probe and the contracts for the Python
//! package `torchvet`, which contains no copy of them.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::super::args::{ConfigArgs, start_folder};
use super::super::{Failure, Status};
use crate::probe::runtime::{ContractSource, VERSION, files};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
}

#[derive(Serialize)]
struct Runtime {
    version: u32,
    files: BTreeMap<&'static str, &'static str>,
    contracts: Vec<ContractSource>,
}

pub(super) fn main(args: &Args) -> Result<Status, Failure> {
    let settings = args.config.settings(&start_folder(None))?;
    let contracts = ContractSource::all(&settings.rules, |code| settings.selection.is_on(code));
    let runtime = Runtime { version: VERSION, files: files().iter().copied().collect(), contracts };
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, &runtime).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(Status::Clean)
}
