//! Runs the user's program under the Python half of the probe, and waits until the program ends.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::driver::Asserts;
use super::event::{self, Event, Line};
use super::python::Python;
use super::runtime::{ContractSource, Stage, VERSION};
use crate::diagnostic::Severity;

/// The device for the CUDA tensors of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Device {
    /// The program and the machine determine the device.
    Any,
    /// The GPUs are hidden.
    Cpu,
    /// A GPU is required.
    Cuda,
    /// Tensors are on the CPU, and CUDA is emulated.
    Virtual,
}

/// The program to run.
pub(crate) struct Program {
    pub python: Python,
    /// `script.py args…`, or the arguments after `-m`.
    pub arguments: Vec<OsString>,
    pub module: bool,
    pub device: Device,
    pub terminal: Terminal,
}

/// How the program uses the terminal of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Terminal {
    Shared,
    /// The program gets no input, its output is not shown, and it is stopped after the limit.
    Detached {
        limit: Duration,
    },
}

/// A finding that the checker reported before the run.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Static {
    pub code: String,
    pub filename: PathBuf,
    pub severity: Severity,
    pub first_line: usize,
    pub last_line: usize,
    /// In bytes, counted from 0, as in Python.
    pub first_column: usize,
    pub last_column: usize,
}

/// The task of the Python half.
#[derive(Debug, Serialize)]
pub(crate) struct Task {
    version: u32,
    pub contracts: Vec<ContractSource>,
    pub findings: Vec<Static>,
    pub keep_going: bool,
    pub dump: Option<PathBuf>,
    pub max_steps: Option<u64>,
    pub device: Device,
    /// The number of emulated GPUs.
    pub gpus: u32,
}

impl Task {
    pub(crate) fn new(contracts: Vec<ContractSource>, device: Device, gpus: u32) -> Task {
        Task {
            version: VERSION,
            contracts,
            findings: Vec::new(),
            keep_going: false,
            dump: None,
            max_steps: None,
            device,
            gpus,
        }
    }
}

/// How the program ended, and what was observed.
pub(crate) struct Outcome {
    /// The exit code of the program, or, as in a shell, 128 plus the number of the signal that ended
    /// it.
    pub exit_code: u8,
    pub lines: Vec<Line>,
    pub asserts: Asserts,
    /// The time limit, if the program was stopped because of it.
    pub late: Option<Duration>,
    /// The last line on standard error, if standard error was not shown.
    pub last_line: Option<String>,
}

pub(crate) fn run(program: &Program, task: &Task) -> Result<Outcome, String> {
    let stage = Stage::new(task).map_err(|error| format!("cannot write to the temporary folder: {error}"))?;
    let mut command = Command::new(&program.python.path);
    if program.module {
        command.arg("-m");
    }
    command.args(&program.arguments);
    command.env("TORCHVET_PROBE", stage.folder()).env("PYTHONPATH", stage.python_path());
    match program.device {
        Device::Cpu => _ = command.env("CUDA_VISIBLE_DEVICES", ""),
        // The driver reads the variable at the latest when it creates the context, so a variable
        // that is set before Python starts is always in time.
        Device::Cuda | Device::Any if std::env::var_os("CUDA_LAUNCH_BLOCKING").is_none() => {
            command.env("CUDA_LAUNCH_BLOCKING", "1");
        }
        Device::Cuda | Device::Any => {}
        // Nothing is compiled, because the emulation is written in Python, and compiled code does not
        // run it.
        Device::Virtual => _ = command.env("TORCH_COMPILE_DISABLE", "1"),
    }
    if program.device == Device::Virtual && has_driver() {
        command.env("CUDA_VISIBLE_DEVICES", "");
    }
    let detached = match program.terminal {
        Terminal::Shared => None,
        Terminal::Detached { limit } => Some(limit),
    };
    let reads_stderr =
        detached.is_some() || program.device == Device::Cuda || program.device == Device::Any && has_driver();
    if reads_stderr {
        command.stderr(Stdio::piped());
    }
    if detached.is_some() {
        command.stdin(Stdio::null()).stdout(Stdio::null());
        // Nothing is compiled, because calls in compiled code are not observed. Plots open no window,
        // because nobody would close it.
        command.env("TORCH_COMPILE_DISABLE", "1").env("MPLBACKEND", "Agg");
        own_group(&mut command);
    }
    let signals = Signals::hold()?;
    let shown = program.python.path.display();
    let mut child = command.spawn().map_err(|error| format!("cannot run `{shown}`: {error}"))?;
    let forwarder = signals.forward_to(&child, detached.is_some());
    let reader = child.stderr.take().map(|stderr| {
        let (send, receive) = channel();
        thread::spawn(move || send.send(tee(BufReader::new(stderr), detached.is_none())));
        receive
    });
    let wait = |error: io::Error| format!("cannot wait for `{shown}`: {error}");
    let (status, late) = match detached {
        None => (child.wait().map_err(wait)?, None),
        Some(limit) => wait_for(&mut child, limit).map_err(wait)?,
    };
    let (mut asserts, last_line) = match (reader, detached) {
        (None, _) => Default::default(),
        (Some(reader), None) => reader.recv().unwrap_or_default(),
        // Child processes of the program that are still running may keep the pipe open.
        (Some(reader), Some(_)) => reader.recv_timeout(Duration::from_secs(2)).unwrap_or_default(),
    };
    drop(forwarder);
    let lines = event::read(&stage.events());
    for line in &lines {
        if let Event::Assert { file, condition } = &line.event {
            asserts.add(file.clone(), condition.clone());
        }
    }
    let last_line = last_line.filter(|_| detached.is_some());
    Ok(Outcome { exit_code: code(status), lines, asserts, late, last_line })
}

/// Waits until the program ends or the limit is reached. Then kills the program, if it still runs,
/// and, on Unix, the other processes of its process group.
fn wait_for(child: &mut Child, limit: Duration) -> io::Result<(ExitStatus, Option<Duration>)> {
    let start = Instant::now();
    let ended = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if start.elapsed() >= limit {
            break None;
        }
        thread::sleep(Duration::from_millis(20));
    };
    kill_group(child);
    match ended {
        Some(status) => Ok((status, None)),
        None => {
            // The program may have ended by itself in the meantime.
            let _ = child.kill();
            Ok((child.wait()?, Some(limit)))
        }
    }
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

/// Kills the remaining processes of the program's process group.
#[cfg(unix)]
fn kill_group(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill_group(_: &Child) {}

/// Whether there may be a GPU, so that an assert in a kernel is possible. With `Device::Any`, the
/// standard error of a program on the user's terminal is read only in this case, because a program
/// may behave differently if standard error is not a terminal.
fn has_driver() -> bool {
    cfg!(windows) || std::path::Path::new("/dev/nvidiactl").exists() || std::path::Path::new("/dev/dxg").exists()
}

/// Reads the output, and forwards it if `passes_on` is set. Progress bars have no line ends, so output
/// is forwarded at once. Returns the asserts that the driver has printed, and the last line that is
/// not blank.
fn tee(mut from: impl BufRead, passes_on: bool) -> (Asserts, Option<String>) {
    let mut asserts = Asserts::default();
    let mut line = Vec::new();
    let mut last = None;
    let mut to = io::stderr();
    loop {
        let taken = match from.fill_buf() {
            Ok([]) | Err(_) => break,
            Ok(bytes) => {
                if passes_on {
                    let _ = to.write_all(bytes).and_then(|()| to.flush());
                }
                for &byte in bytes {
                    if byte == b'\n' {
                        let text = String::from_utf8_lossy(&line);
                        asserts.line(&text);
                        if !text.trim().is_empty() {
                            last = Some(text.trim().to_owned());
                        }
                        line.clear();
                    } else if line.len() < 4096 {
                        line.push(byte);
                    }
                }
                bytes.len()
            }
        };
        from.consume(taken);
    }
    (asserts, last)
}

fn code(status: ExitStatus) -> u8 {
    let code = status.code().and_then(|code| u8::try_from(code & 0xff).ok());
    #[cfg(unix)]
    let code = code.or_else(|| {
        use std::os::unix::process::ExitStatusExt;
        u8::try_from(status.signal()? + 128).ok()
    });
    code.unwrap_or(1)
}

/// Keeps signals from ending this process while the program runs, and forwards them to the program.
/// Signals from the keyboard (Ctrl-C) are not forwarded if the terminal sends them to the program,
/// too.
#[cfg(unix)]
struct Signals {
    signals: signal_hook::iterator::Signals,
}

#[cfg(unix)]
struct Forwarder {
    handle: signal_hook::iterator::Handle,
}

#[cfg(unix)]
impl Drop for Forwarder {
    fn drop(&mut self) {
        self.handle.close();
    }
}

#[cfg(unix)]
impl Signals {
    fn hold() -> Result<Signals, String> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
        let signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT]);
        signals.map(|signals| Signals { signals }).map_err(|error| format!("cannot watch for signals: {error}"))
    }

    /// A program in its own process group gets no signals from the keyboard, so they are forwarded.
    fn forward_to(mut self, child: &Child, is_own_group: bool) -> Forwarder {
        use rustix::process::{Pid, Signal, kill_process};
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let forwarder = Forwarder { handle: self.signals.handle() };
        thread::spawn(move || {
            for number in self.signals.forever() {
                let from_keyboard = [Signal::INT.as_raw(), Signal::QUIT.as_raw()].contains(&number);
                if from_keyboard && !is_own_group && in_foreground() {
                    continue;
                }
                if let (Some(pid), Some(signal)) = (pid, Signal::from_named_raw(number)) {
                    let _ = kill_process(pid, signal);
                }
            }
        });
        forwarder
    }
}

/// Whether signals from the keyboard reach this process, and therefore also a program in the same
/// process group.
#[cfg(unix)]
fn in_foreground() -> bool {
    let group = std::fs::File::open("/dev/tty").ok().and_then(|tty| rustix::termios::tcgetpgrp(tty).ok());
    group.is_some_and(|group| group == rustix::process::getpgrp())
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn hold() -> Result<Signals, String> {
        Ok(Signals)
    }

    fn forward_to(self, _: &Child, _: bool) {}
}
