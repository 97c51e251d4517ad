//! The command line: one file per verb.

mod args;
mod check;
mod config;
mod coverage;
mod facts;
mod fix;
mod manual;
mod probe;
mod progress;
mod rule;
mod run;
mod server;
mod shared;
mod verify;
mod watch;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::panics;
use shared::{Failure, Global, Level, STACK, Status, say, style};

/// A static checker for PyTorch training scripts.
#[derive(Parser)]
#[command(name = "torchvet", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    global: Global,
}

#[derive(Subcommand)]
enum Verb {
    /// Check files and the files that they import
    Check(check::Args),
    /// Explain a rule
    Rule(rule::Args),
    /// Print what is known about each variable
    Facts(facts::Args),
    /// Show how much is known about a program, and what would make more known
    Coverage(coverage::Args),
    /// Test findings, or a whole program, on your installed PyTorch
    Probe(probe::Args),
    /// Start the language server for editors
    Server(server::Args),
    /// Print the settings and where each comes from
    Config(config::Args),
    /// Print completions for a shell
    Completions(manual::CompletionsArgs),
    /// Print the manual page
    Man(manual::ManArgs),
    /// Print the version
    Version,
}

/// Runs the program.
pub fn main() -> ExitCode {
    panics::install();
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(run_verb);
    let status = match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(status)) => status,
        // The panic hook has printed the reason.
        Ok(Err(_)) => Status::Internal,
        Err(error) => {
            say(Level::Error, &format!("cannot start: {error}"));
            Status::Failed
        }
    };
    ExitCode::from(status.code())
}

fn run_verb() -> Status {
    let cli = Cli::parse();
    // The pool is created once; if that fails, rayon falls back to its own pool.
    let _ = rayon::ThreadPoolBuilder::new().stack_size(STACK).build_global();
    let result = match cli.verb {
        Verb::Check(args) => check::main(args, &cli.global),
        Verb::Rule(args) => rule::main(&args),
        Verb::Facts(args) => facts::main(args, &cli.global),
        Verb::Coverage(args) => coverage::main(args, &cli.global),
        Verb::Probe(args) => probe::main(args, &cli.global),
        Verb::Server(args) => server::main(&args),
        Verb::Config(args) => config::main(&args),
        Verb::Completions(args) => manual::completions(&args),
        Verb::Man(args) => manual::man(&args),
        Verb::Version => version(),
    };
    match result {
        Ok(status) => status,
        Err(Failure::BrokenPipe) => Status::Clean,
        Err(Failure::Message(message)) => {
            say(Level::Error, &message);
            Status::Failed
        }
    }
}

fn version() -> Result<Status, Failure> {
    writeln!(io::stdout(), "torchvet {}", env!("CARGO_PKG_VERSION"))?;
    Ok(Status::Clean)
}
