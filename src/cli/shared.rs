//! Global flags, exit statuses and messages, which the verbs share.

use std::io::{self, IsTerminal, Write};

use clap::ValueEnum;

use crate::output::Style;

/// The stack size of a thread. Syntax trees are recursive, and so is the code that visits them. The
/// size only reserves address space: a page of memory is allocated when it is first used.
pub(super) const STACK: usize = 256 << 20;

/// Flags that all verbs share.
#[derive(clap::Args, Debug, Clone)]
pub(super) struct Global {
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(super) color: Color,
    /// Print only findings
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Print details of the run, such as timings
    #[arg(long, short, global = true)]
    pub(super) verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    Auto,
    Always,
    Never,
}

/// How a run ended. If two variants apply, the later one in this list is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Status {
    /// No errors and no warnings.
    Clean,
    /// There are errors or warnings.
    Findings,
    /// Wrong usage, wrong settings, unreadable input.
    Failed,
    /// torchvet crashed.
    Internal,
    /// The exit code of an executed program, or of the language server.
    Program(u8),
}

impl Status {
    pub(super) fn code(self) -> u8 {
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
pub(super) enum Failure {
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Error,
    Warning,
    /// Printed only with `--verbose`.
    Note,
}

/// Prints a message to standard error. Errors while printing are ignored.
pub(super) fn say(level: Level, message: &str) {
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

pub(super) fn colors_wanted(terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    !set("NO_COLOR") && (set("FORCE_COLOR") || terminal && !dumb)
}

/// The style of the text that is written to standard output or, with `to_file`, to a file.
pub(super) fn style(color: Color, to_file: bool) -> Style {
    let color = match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => !to_file && colors_wanted(io::stdout().is_terminal()),
    };
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    Style { color, width: columns.filter(|&columns: &usize| columns >= 40) }
}
