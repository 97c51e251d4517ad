//! Tests findings on PyTorch, for `check --verify` and `probe verify`: runs the witnesses of the
//! findings and, with `--run`, also the scripts.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::probe::WantedDevice;
use super::progress::Progress;
use super::run::Run;
use crate::diagnostic::{Diagnostic, Observation, RunStatus, Verdict, WitnessStatus};
use crate::probe::observe::{self, observe};
use crate::probe::python::{self, Python};
use crate::probe::run::{Program, Static, Task, Terminal};
use crate::probe::runtime::ContractSource;
use crate::probe::verify::{Verifier, undecided};
use crate::project::Project;
use crate::rules::Rules;

/// How to verify.
#[derive(clap::Args, Debug, Clone, Default)]
pub(super) struct VerifyArgs {
    /// The Python whose PyTorch is used [default: the one of the active environment,
    /// otherwise python3, or python on Windows]
    #[arg(long, value_name = "PATH", help_heading = "Verification")]
    python: Option<PathBuf>,
    /// Time limit for each of the small programs, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = seconds, help_heading = "Verification")]
    timeout: Duration,
    /// Write the small programs to this folder
    #[arg(long, value_name = "DIR", help_heading = "Verification")]
    emit_repro: Option<PathBuf>,
    /// Also execute the named scripts, as `python SCRIPT` does, to see whether they fail as reported
    #[arg(long, help_heading = "Verification")]
    run: bool,
    /// Time limit for each script, in seconds
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "300",
        value_parser = seconds,
        requires = "run",
        help_heading = "Verification"
    )]
    run_timeout: Duration,
    /// Hide the GPUs from the scripts, require a GPU, or emulate CUDA on the CPU
    #[arg(long, value_name = "DEVICE", requires = "run", help_heading = "Verification")]
    device: Option<WantedDevice>,
}

impl VerifyArgs {
    /// Whether an argument that only verification uses was given. (Arguments with a default are not
    /// considered, because it is not known whether they were given.)
    pub(super) fn is_given(&self) -> bool {
        self.python.is_some() || self.emit_repro.is_some() || self.run
    }

    /// Whether scripts will be executed.
    pub(super) fn runs(&self) -> bool {
        self.run
    }

    /// The scripts to execute. Folders are rejected: not every file in a folder is meant to be run.
    pub(super) fn scripts<'a>(&self, paths: &'a [PathBuf]) -> Result<&'a [PathBuf], String> {
        if !self.run {
            return Ok(&[]);
        }
        let is_script = |path: &PathBuf| path.is_file() && path.extension().is_some_and(|end| end == "py");
        match paths.iter().find(|path| !is_script(path)) {
            Some(path) => Err(format!("`--run` needs the names of scripts, but `{}` is not a script", path.display())),
            None => Ok(paths),
        }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    let limit = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
    if limit.is_zero() || limit > Duration::from_hours(24) {
        return Err("must be more than 0 and at most 86400 (one day)".to_owned());
    }
    Ok(limit)
}

/// The result of the verification.
pub(super) struct Verified {
    /// Lines that count the verdicts: one line for the witnesses, with the version of PyTorch, and
    /// with `--run` one line for the runs.
    pub summary: Vec<String>,
    /// Why nothing could be run.
    pub trouble: Option<String>,
}

/// Sets the verdict of each finding.
pub(super) fn verify(
    run: &mut Run,
    rules: &Rules,
    args: &VerifyArgs,
    scripts: &[PathBuf],
    show_progress: bool,
) -> Result<Verified, String> {
    let python = Python::ask(python::choose(args.python.as_deref())).and_then(|python| {
        python.needs_torch()?;
        Ok(python)
    });
    let diagnostics = &mut run.diagnostics;
    let (torch, trouble) = match &python {
        Err(reason) => {
            for diagnostic in diagnostics.iter_mut() {
                let observed = args.run.then(|| observe::undecided(reason));
                let verdict = Verdict { witness: undecided(reason.clone()), run: observed };
                diagnostic.verdict = Some(Box::new(verdict));
            }
            (None, Some(reason.clone()))
        }
        Ok(python) => {
            let mut verifier = Verifier::new(python, rules, args.timeout);
            let total = ("verifying", diagnostics.len(), "findings");
            Progress::during(show_progress, total, |progress| {
                for diagnostic in diagnostics.iter_mut() {
                    let verdict = Verdict { witness: verifier.verify(diagnostic), run: None };
                    diagnostic.verdict = Some(Box::new(verdict));
                    progress.step();
                }
            });
            (verifier.torch().map(|torch| torch.version.clone()), verifier.trouble())
        }
    };
    if let (Ok(python), false) = (&python, scripts.is_empty() || run.diagnostics.is_empty()) {
        let total = ("running", scripts.len(), "scripts");
        Progress::during(show_progress, total, |progress| {
            scripts.iter().try_for_each(|script| {
                watch(run, rules, args, python, script)?;
                progress.step();
                Ok::<(), String>(())
            })
        })?;
    }
    if let Some(folder) = &args.emit_repro {
        emit(run, folder, torch.as_deref())?;
    }
    let verdicts: Vec<&Verdict> = run.diagnostics.iter().filter_map(|one| one.verdict.as_deref()).collect();
    let witnessed = |status| verdicts.iter().filter(|verdict| verdict.witness.status == status).count();
    let by = torch.map(|torch| format!(" by PyTorch {torch}")).unwrap_or_default();
    let mut summary = vec![format!(
        "{} reproduced{by}, {} refuted, {} undecided",
        witnessed(WitnessStatus::Reproduced),
        witnessed(WitnessStatus::Refuted),
        witnessed(WitnessStatus::Undecided)
    )];
    if args.run {
        let observed = |status| {
            let runs = verdicts.iter().filter_map(|verdict| verdict.run.as_ref());
            runs.filter(|run| run.status == status).count()
        };
        summary.push(format!(
            "run: {} observed, {} refuted, {} not reached, {} undecided",
            observed(RunStatus::Observed),
            observed(RunStatus::Refuted),
            observed(RunStatus::NotReached),
            observed(RunStatus::Undecided)
        ));
    }
    Ok(Verified { summary, trouble })
}

/// Runs a script under the probe, and compares the findings with the run. The findings in a module
/// that several scripts import are compared with the runs of all these scripts.
fn watch(run: &mut Run, rules: &Rules, args: &VerifyArgs, python: &Python, script: &Path) -> Result<(), String> {
    let findings: Vec<Static> = run.diagnostics.iter().map(|one| place(one, &run.project)).collect();
    let contracts = ContractSource::all(rules, |code| findings.iter().any(|finding| finding.code == code));
    let device = WantedDevice::device(args.device);
    let mut task = Task::new(contracts, device, 1);
    task.findings = findings;
    // The program continues after a violation, because PyTorch's own result is needed.
    task.keep_going = true;
    let program = Program {
        python: python.clone(),
        arguments: vec![script.into()],
        module: false,
        device,
        terminal: Terminal::Detached { limit: args.run_timeout },
    };
    let outcome = crate::probe::run::run(&program, &task)?;
    let root = std::env::current_dir().map_err(|error| error.to_string())?;
    let observations = observe(&task.findings, rules, &outcome, &root);
    for (diagnostic, observation) in run.diagnostics.iter_mut().zip(observations) {
        let Some(verdict) = &mut diagnostic.verdict else { continue };
        // If the runs of two scripts give the same status, the result of the script that contains
        // the finding is kept.
        let is_own = run.project.file(diagnostic.span.file).path == script;
        let says_more = |before: &Observation| (observation.status, is_own) > (before.status, false);
        if verdict.run.as_ref().is_none_or(says_more) {
            verdict.run = Some(observation);
        }
    }
    Ok(())
}

/// Converts a finding to the form that the probe compares with the calls of a program.
pub(super) fn place(diagnostic: &Diagnostic, project: &Project) -> Static {
    let file = project.file(diagnostic.span.file);
    let at = |offset: u32| {
        let line = file.line_of(offset);
        let column = offset.saturating_sub(file.line_range(line).start().to_u32());
        (line, usize::try_from(column).unwrap_or(usize::MAX))
    };
    let ((first_line, first_column), (last_line, last_column)) = (at(diagnostic.span.start), at(diagnostic.span.end));
    Static {
        code: diagnostic.code.to_string(),
        filename: std::path::absolute(&file.path).unwrap_or_else(|_| file.path.clone()),
        severity: diagnostic.severity,
        first_line,
        last_line,
        first_column,
        last_column,
    }
}

/// Writes the witnesses, one script each.
fn emit(run: &Run, folder: &Path, torch: Option<&str>) -> Result<(), String> {
    let fault = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(folder).map_err(|error| fault(folder, error))?;
    let mut names: Vec<String> = Vec::new();
    for diagnostic in &run.diagnostics {
        let Some(verdict) = &diagnostic.verdict else { continue };
        let Some(program) = &verdict.witness.program else { continue };
        let file = run.project.file(diagnostic.span.file);
        let at = file.position(diagnostic.span.start);
        let stem = file.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let cell = at.cell.map(|cell| format!("-cell{cell}")).unwrap_or_default();
        let name = format!("{}-{stem}{cell}-{}", diagnostic.code, at.line);
        let number = names.iter().filter(|have| **have == name).count();
        let path = folder.join(if number == 0 { format!("{name}.py") } else { format!("{name}-{}.py", number + 1) });
        names.push(name);
        let place = format!("{}{}:{}:{}", file.path.display(), cell.replace("-cell", ":cell "), at.line, at.column);
        fs::write(&path, format!("{}{program}", header(diagnostic, verdict, &place, torch)))
            .map_err(|error| fault(&path, error))?;
    }
    Ok(())
}

/// The comment at the beginning of a witness.
fn header(diagnostic: &Diagnostic, verdict: &Verdict, place: &str, torch: Option<&str>) -> String {
    let Diagnostic { code, name, message, .. } = diagnostic;
    let mut text = format!("{code} {name}, at {place}\n{message}\n");
    let torch = torch.map(|torch| format!("PyTorch {torch}: ")).unwrap_or_default();
    let said = verdict.witness.message.as_ref().or(verdict.witness.reason.as_ref());
    text.push_str(&format!("{torch}{}\n", said.map_or("", String::as_str)));
    text.lines().map(|line| format!("# {line}\n")).collect()
}
