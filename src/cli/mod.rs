//! The command line: one file per verb.

mod args;
mod check;
mod config;
mod facts;
mod fix;
mod manual;
mod probe;
mod progress;
mod rule;
mod run;
mod server;
mod verify;
mod watch;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

use crate::output::Style;
use crate::panics;

/// Syntax trees are recursive, and so is the code that visits them. This is address space, not
/// memory: a page is allocated when it is first used.
const STACK: usize = 256 << 20;

/// A static checker for PyTorch training scripts.
#[derive(Parser)]
#[command(name = "torchvet", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    global: Global,
}

/// Flags that all verbs share.
#[derive(clap::Args, Debug, Clone)]
struct Global {
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: Color,
    /// Print only findings
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Print details of the run, such as timings
    #[arg(long, short, global = true)]
    verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Subcommand)]
enum Verb {
    /// Check files and the files that they import
    Check(check::Args),
    /// Explain a rule
    Rule(rule::Args),
    /// Print what is known about each variable
    Facts(facts::Args),
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

/// How a run ended. Of two, the greater one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Status {
    /// No errors and no warnings.
    Clean,
    /// There are errors or warnings.
    Findings,
    /// Wrong usage, wrong settings, unreadable input.
    Failed,
    /// torchvet crashed.
    Internal,
    /// A program was run and ended with this exit code.
    Program(u8),
}

impl Status {
    fn code(self) -> u8 {
        match self {
            Status::Clean => 0,
            Status::Findings => 1,
            Status::Failed => 2,
            Status::Internal => 101,
            Status::Program(code) => code,
        }
    }
}

/// Why a verb could not do its work.
enum Failure {
    /// Printed to standard error, with exit code 2.
    Message(String),
    /// The reader of the output has closed it, so nothing is printed.
    BrokenPipe,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
            _ => Failure::Message(error.to_string()),
        }
    }
}

impl From<crate::config::ConfigError> for Failure {
    fn from(error: crate::config::ConfigError) -> Self {
        Failure::Message(error.to_string())
    }
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Error,
    Warning,
    /// Printed only with `--verbose`.
    Note,
}

/// Prints a message to standard error. Errors while printing are ignored.
fn say(level: Level, message: &str) {
    let (name, code) = match level {
        Level::Error => ("error", "1;31"),
        Level::Warning => ("warning", "1;33"),
        Level::Note => ("note", "1;36"),
    };
    let mut out = io::stderr().lock();
    let _ = if colors_wanted(io::stderr().is_terminal()) {
        writeln!(out, "\x1b[{code}m{name}\x1b[0m: {message}")
    } else {
        writeln!(out, "{name}: {message}")
    };
}

fn colors_wanted(terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    !set("NO_COLOR") && (set("FORCE_COLOR") || terminal && !dumb)
}

/// The style of text on standard output.
fn style(color: Color, to_file: bool) -> Style {
    let color = match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => !to_file && colors_wanted(io::stdout().is_terminal()),
    };
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    Style { color, width: columns.filter(|&columns: &usize| columns >= 40) }
}
