//! `torchvet probe`: tests findings and programs on the installed PyTorch.

mod doctor;
mod run;
mod runtime;

use std::path::PathBuf;

use super::{Failure, Global, Status, check};
use crate::probe::python::{self, Python};
use crate::probe::run::Device;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand, Debug)]
enum Verb {
    /// Run a program and check its PyTorch calls against the contracts before they are executed
    Run(run::Args),
    /// Diagnose Python, PyTorch, driver and GPUs
    Doctor(doctor::Args),
    /// Run a small program for each finding to test it on PyTorch
    Verify(check::VerifyOnly),
    /// Print the data that the Python package needs from the binary
    #[command(hide = true)]
    Runtime(runtime::Args),
}

/// Which Python to use.
#[derive(clap::Args, Debug)]
struct PythonArgs {
    /// The Python to use [default: the one of the active environment, otherwise python3, or python on Windows]
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
}

impl PythonArgs {
    /// The Python to use, with or without PyTorch.
    fn choose(&self) -> Result<Python, Failure> {
        Python::ask(python::choose(self.python.as_deref())).map_err(Failure::Message)
    }

    /// The Python to use; an error if it has no PyTorch that the probe can use.
    fn with_torch(&self) -> Result<Python, Failure> {
        let python = self.choose()?;
        python.needs_torch().map_err(Failure::Message)?;
        Ok(python)
    }
}

/// The device on which a program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum WantedDevice {
    Cpu,
    Cuda,
    Virtual,
}

impl WantedDevice {
    pub(super) fn device(wanted: Option<WantedDevice>) -> Device {
        match wanted {
            None => Device::Any,
            Some(WantedDevice::Cpu) => Device::Cpu,
            Some(WantedDevice::Cuda) => Device::Cuda,
            Some(WantedDevice::Virtual) => Device::Virtual,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
}

pub(super) fn main(args: Args, global: &Global) -> Result<Status, Failure> {
    match args.verb {
        Verb::Doctor(args) => doctor::main(&args),
        Verb::Run(args) => run::main(args, global),
        Verb::Verify(args) => check::main(args.into(), global),
        Verb::Runtime(args) => runtime::main(&args),
    }
}
