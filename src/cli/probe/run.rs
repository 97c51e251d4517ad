//! `torchvet probe run`.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use super::super::args::{ConfigArgs, start_folder};
use super::super::run::{Input, run};
use super::super::{Failure, Global, Level, Status, say, verify};
use super::{Format, PythonArgs, WantedDevice};
use crate::config::Settings;
use crate::probe::report::Report;
use crate::probe::run::{Device, Program, Static, Task, Terminal};
use crate::probe::runtime::ContractSource;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The script and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
    /// The program is a module, as for `python -m`
    #[arg(short)]
    module: bool,
    #[command(flatten)]
    python: PythonArgs,
    /// Hide the GPUs, require a GPU, or emulate CUDA on the CPU
    #[arg(long, value_name = "DEVICE")]
    device: Option<WantedDevice>,
    /// The number of GPUs of `--device virtual` [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    gpus: Option<u32>,
    /// Stop the program after this number of optimizer steps
    #[arg(long, value_name = "N")]
    max_steps: Option<u64>,
    /// Write the arguments of the call at which the program stops to files in this folder
    #[arg(long, value_name = "DIR")]
    dump: Option<PathBuf>,
    /// Report violations without stopping the program
    #[arg(long)]
    keep_going: bool,
    /// How to print the report
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    output_format: Format,
    /// Write the report to this file [default: standard error]
    #[arg(long, short, value_name = "FILE")]
    output_file: Option<PathBuf>,
    #[command(flatten)]
    config: ConfigArgs,
}

pub(super) fn main(args: Args, global: &Global) -> Result<Status, Failure> {
    let python = args.python.with_torch()?;
    let script = script(&args)?;
    let settings = args.config.settings(&start_folder(script.as_deref()))?;
    let contracts = ContractSource::all(&settings.rules, |code| settings.selection.is_on(code));
    let device = WantedDevice::device(args.device);
    if args.gpus.is_some() && device != Device::Virtual {
        return Err(Failure::Message("`--gpus` needs `--device virtual`".to_owned()));
    }
    let mut task = Task::new(contracts, device, args.gpus.unwrap_or(1));
    task.findings = script.map(|script| findings(&settings, script)).transpose()?.unwrap_or_default();
    task.keep_going = args.keep_going;
    task.dump = args.dump.as_deref().map(std::path::absolute).transpose()?;
    task.max_steps = args.max_steps;
    let mut out: Box<dyn Write> = match &args.output_file {
        Some(path) => {
            let file = File::create(path);
            Box::new(file.map_err(|error| Failure::Message(format!("{}: {error}", path.display())))?)
        }
        None => Box::new(io::stderr()),
    };
    let program = Program { python, arguments: args.program, module: args.module, device, terminal: Terminal::Shared };
    let outcome = crate::probe::run::run(&program, &task).map_err(Failure::Message)?;
    let root = env::current_dir()?;
    let report = Report::new(outcome, &task.findings, task.contracts.len(), &settings.rules, &root);
    if let Some(reason) = report.refused() {
        say(Level::Error, reason);
    }
    match args.output_format {
        Format::Json => report.write_json(&mut out)?,
        Format::Text => report.write_text(&root, global.quiet, &mut out)?,
    }
    out.flush()?;
    Ok(match report.exit_code {
        // The program's own exit code is kept unless it is 0, which would hide a violation.
        0 if report.refused().is_some() => Status::Failed,
        0 if report.has_violation() => Status::Findings,
        code => Status::Program(code),
    })
}

/// The script to run; `None` for a module.
fn script(args: &Args) -> Result<Option<PathBuf>, Failure> {
    if args.module {
        return Ok(None);
    }
    let Some(first) = args.program.first() else { return Ok(None) };
    let path = PathBuf::from(first);
    if path.is_file() {
        return Ok(Some(path));
    }
    Err(Failure::Message(format!("there is no script `{}`; use `-m` to run a module", path.display())))
}

/// The checker's findings in the script and the files that it imports.
fn findings(settings: &Settings, script: PathBuf) -> Result<Vec<Static>, Failure> {
    let checked = run(settings, &Input { paths: vec![script], ..Input::default() })?;
    let of_rules = checked.diagnostics.iter().filter(|one| settings.rules.find(&one.code).is_some());
    Ok(of_rules.map(|diagnostic| verify::place(diagnostic, &checked.project)).collect())
}
