//! The report of `torchvet probe run`, computed from the events of the run.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::driver::Assert;
use super::event::{End, Event, Exception, Finding, Frame, Judged};
use super::observe::observe;
use super::run::{Outcome, Static};
use super::runtime::VERSION;
use crate::diagnostic::RunStatus;
use crate::rules::Rules;
use crate::value::counted;

/// The report at the end of a run.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    version: u32,
    /// The exit code of the program.
    pub exit_code: u8,
    /// The version of PyTorch; `None` if the program did not import it.
    torch: Option<String>,
    /// The number of emulated GPUs, with `--device virtual`.
    virtual_gpus: Option<u32>,
    /// The number of processes that imported PyTorch, or were forked by multiprocessing afterwards.
    processes: usize,
    pub findings: Vec<Found>,
    exception: Option<Exception>,
    asserts: Vec<Assert>,
    /// The number of contracts of the enabled rules. A contract whose function was not called is
    /// included.
    contracts: usize,
    calls: u64,
    seconds: f64,
    judged: Vec<Judged>,
    checker: Vec<Checked>,
    /// Calls of compiled code, in which nothing is checked.
    compiled_calls: u64,
    /// The number of steps after which the program was stopped.
    steps: Option<u64>,
    refused: Option<String>,
}

/// A violation, with the ranks in which it occurred.
#[derive(Debug, Serialize)]
pub(crate) struct Found {
    #[serde(flatten)]
    pub finding: Finding,
    ranks: Vec<u32>,
}

/// A finding of the checker, and its verdict.
#[derive(Debug, Serialize)]
struct Checked {
    code: String,
    filename: PathBuf,
    line: usize,
    verdict: RunStatus,
    /// The message of PyTorch or of the rule's contract.
    message: Option<String>,
    /// Why the finding was not observed.
    reason: Option<String>,
}

impl Report {
    /// The report of a run, with a verdict on each finding of the checker.
    pub(crate) fn new(outcome: Outcome, checker: &[Static], contracts: usize, rules: &Rules, root: &Path) -> Report {
        let observations = observe(checker, rules, &outcome, root);
        let Outcome { exit_code, lines, asserts, .. } = outcome;
        let mut report = Report {
            version: VERSION,
            exit_code,
            torch: None,
            virtual_gpus: None,
            processes: 0,
            findings: Vec::new(),
            exception: None,
            asserts: asserts.explain(rules),
            contracts,
            calls: 0,
            seconds: 0.0,
            judged: Vec::new(),
            checker: Vec::new(),
            compiled_calls: 0,
            steps: None,
            refused: None,
        };
        let mut judged: BTreeMap<String, Judged> = BTreeMap::new();
        for line in lines {
            match line.event {
                Event::Start(start) => {
                    report.processes += 1;
                    report.torch.get_or_insert(start.torch);
                    report.virtual_gpus = report.virtual_gpus.or(start.gpus);
                }
                Event::Finding(finding) => report.found(*finding, line.rank),
                Event::Exception(exception) => report.exception = Some(exception),
                Event::Enough { steps } => report.steps = Some(steps),
                Event::Refused { reason } => report.refused = Some(reason),
                Event::End(End { calls, contracts, compiled_calls, .. }) => {
                    report.calls += calls;
                    report.compiled_calls += compiled_calls;
                    for one in contracts {
                        let empty = Judged { code: one.code.clone(), calls: 0, seconds: 0.0 };
                        let sum = judged.entry(one.code.clone()).or_insert(empty);
                        sum.calls += one.calls;
                        sum.seconds += one.seconds;
                    }
                }
                Event::Assert { .. } | Event::Call { .. } | Event::Untraced { .. } | Event::Other => {}
            }
        }
        report.judged = judged.into_values().filter(|one| one.calls > 0).collect();
        report.seconds = report.judged.iter().fold(0.0, |sum, one| sum + one.seconds);
        let checked = checker.iter().zip(observations).map(|(finding, observation)| Checked {
            code: finding.code.clone(),
            filename: finding.filename.clone(),
            line: finding.first_line,
            verdict: observation.status,
            message: observation.message,
            reason: observation.reason,
        });
        report.checker = checked.collect();
        report
    }

    fn found(&mut self, finding: Finding, rank: Option<u32>) {
        let same = |found: &&mut Found| {
            let other = &found.finding;
            other.code == finding.code && other.filename == finding.filename && other.line == finding.line
        };
        match self.findings.iter_mut().find(same) {
            Some(found) => {
                found.ranks.extend(rank);
                found.finding.stopped |= finding.stopped;
            }
            None => self.findings.push(Found { finding, ranks: rank.into_iter().collect() }),
        }
    }

    /// Whether a contract is certainly violated.
    pub(crate) fn has_violation(&self) -> bool {
        self.findings.iter().any(|found| found.finding.severity == "error")
    }

    /// Why nothing was checked, if that is the case.
    pub(crate) fn refused(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    pub(crate) fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    /// The report for people. With `quiet`, only violations and failed asserts are printed.
    pub(crate) fn write_text(&self, root: &Path, quiet: bool, out: &mut dyn Write) -> io::Result<()> {
        for found in &self.findings {
            found.write(root, out)?;
        }
        for assert in &self.asserts {
            let Assert { file, condition, threads, rules } = assert;
            match self.virtual_gpus {
                Some(_) => writeln!(out, "torchvet: on a GPU this assert fails: `{condition}`, in {file}")?,
                None => {
                    let threads = counted(*threads, "thread");
                    writeln!(
                        out,
                        "torchvet: the driver reports a failed assert: `{condition}`, in {file} ({threads})"
                    )?;
                }
            }
            match rules.as_slice() {
                [] => writeln!(out, "  no rule covers it")?,
                [rule] => writeln!(out, "  {rule} explains it: `torchvet rule {rule}`")?,
                [first, ..] => writeln!(out, "  {} explain it: `torchvet rule {first}`", rules.join(", "))?,
            }
        }
        if quiet {
            return Ok(());
        }
        if self.torch.is_none() {
            return writeln!(out, "torchvet: the program did not import PyTorch: nothing was checked");
        }
        if let Some(gpus) = self.virtual_gpus {
            let found = match &self.exception {
                Some(Exception { kind, stack, .. }) => match own(stack) {
                    Some(frame) => {
                        let path = shown(Path::new(&frame.filename), root);
                        format!("; the {kind} at {path}:{} was raised on the virtual device", frame.line)
                    }
                    None => format!("; the {kind} was raised on the virtual device"),
                },
                None => String::new(),
            };
            writeln!(out, "torchvet: {} on the CPU{found}", counted(gpus, "virtual GPU"))?;
        }
        if let Some(steps) = self.steps {
            writeln!(out, "torchvet: stopped after {}, as requested", counted(steps, "optimizer step"))?;
        }
        write!(out, "torchvet: {}", counted(self.findings.len(), "violation"))?;
        write!(out, "; {}, {} checked", counted(self.contracts, "contract"), counted(self.calls, "call"))?;
        write!(out, " in {:.2} s", self.seconds)?;
        if let Some(slowest) = self.judged.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds)) {
            write!(out, " (slowest: {}, {:.2} s)", slowest.code, slowest.seconds)?;
        }
        match self.processes {
            0 | 1 => writeln!(out)?,
            more => writeln!(out, ", in {more} processes")?,
        }
        if !self.checker.is_empty() {
            let count = |verdict| self.checker.iter().filter(|one| one.verdict == verdict).count();
            writeln!(
                out,
                "torchvet: findings of the checker: {} observed, {} refuted, {} not reached, {} undecided",
                count(RunStatus::Observed),
                count(RunStatus::Refuted),
                count(RunStatus::NotReached),
                count(RunStatus::Undecided),
            )?;
            for one in self.checker.iter().filter(|one| one.verdict == RunStatus::Refuted) {
                let reason = one.reason.as_deref().unwrap_or_default();
                writeln!(out, "  refuted: {}:{} {}: {reason}", shown(&one.filename, root), one.line, one.code)?;
            }
        }
        if self.compiled_calls > 0 {
            let calls = counted(self.compiled_calls, "call");
            writeln!(out, "torchvet: {calls} in compiled code not checked; TORCH_COMPILE_DISABLE=1 runs it in Python")?;
        }
        Ok(())
    }
}

impl Found {
    fn write(&self, root: &Path, out: &mut dyn Write) -> io::Result<()> {
        let Finding { code, name, severity, message, filename, line, .. } = &self.finding;
        let path = shown(Path::new(filename), root);
        writeln!(out, "{path}:{line}: {severity}[{code}] {message}")?;
        if let Some(source) = source_line(Path::new(filename), *line) {
            let number = line.to_string();
            writeln!(out, "  {number} | {}", source.trim())?;
        }
        if let Some(offence) = &self.finding.offence {
            let values: Vec<String> = offence.values.iter().map(|one| times(&one.value, one.count)).collect();
            let more = if offence.distinct > values.len() as u64 { ", …" } else { "" };
            write!(
                out,
                "  {}: {} of {}: {}{more}",
                offence.argument,
                offence.count,
                counted(offence.of, "value"),
                values.join(", ")
            )?;
            if !offence.samples.is_empty() {
                let samples: Vec<String> = offence.samples.iter().map(u64::to_string).collect();
                let more = if offence.samples_total > samples.len() as u64 { ", …" } else { "" };
                let noun = if offence.samples_total == 1 { "batch index" } else { "batch indices" };
                write!(out, "; {noun} {}{more}", samples.join(", "))?;
            }
            writeln!(out)?;
        }
        if let Some(raised) = &self.finding.raised {
            writeln!(out, "  PyTorch, on the virtual device: {}", raised.replace('\n', "\n    "))?;
        }
        let given = self.finding.arguments.iter().filter(|argument| argument.text != "None");
        let named: Vec<String> = given.map(|argument| format!("{}: {}", argument.name, argument.text)).collect();
        writeln!(out, "  {}({})", self.finding.call, named.join("; "))?;
        for frame in self.finding.stack.iter().filter(|frame| frame.line != *line || frame.filename != *filename) {
            let Frame { filename, line, function } = frame;
            writeln!(out, "  called from {}:{line} in {function}", shown(Path::new(filename), root))?;
        }
        if self.finding.guessed {
            writeln!(out, "  the meaning of an argument is guessed from its values, so the program is not stopped")?;
        }
        if !self.ranks.is_empty() {
            let ranks: Vec<String> = self.ranks.iter().map(u32::to_string).collect();
            writeln!(out, "  on rank {}", ranks.join(", "))?;
        }
        if let Some(dump) = &self.finding.dump {
            writeln!(out, "  arguments: {dump}")?;
        }
        writeln!(out, "  {name}: `torchvet rule {code}` explains it")
    }
}

/// The innermost frame outside installed libraries; if all frames are in installed libraries, the
/// innermost frame.
pub(super) fn own(stack: &[Frame]) -> Option<&Frame> {
    let installed = |frame: &&Frame| {
        frame.filename.contains("site-packages")
            || frame.filename.contains("dist-packages")
            || frame.filename.contains("/lib/python")
    };
    stack.iter().find(|frame| !installed(frame)).or(stack.first())
}

fn times(value: &str, count: u64) -> String {
    if count == 1 { value.to_owned() } else { format!("{value} ({count} times)") }
}

/// A path, relative to `root` if it is below `root`.
pub(super) fn shown(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

fn source_line(path: &Path, line: usize) -> Option<String> {
    let text = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&text);
    text.lines().nth(line.checked_sub(1)?).map(str::to_owned)
}
