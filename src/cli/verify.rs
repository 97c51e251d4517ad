//! Running the witnesses of what was found: for `check --verify` and `probe verify`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::progress::Progress;
use super::run::Run;
use crate::diagnostic::{Diagnostic, Status, Verdict};
use crate::probe::python::{self, Python};
use crate::probe::verify::{Verifier, not_verifiable};
use crate::rules::Rules;

/// How to verify.
#[derive(clap::Args, Debug, Clone, Default)]
pub struct VerifyArgs {
    /// The Python whose PyTorch judges [default: that of the active virtual environment, else
    /// python3]
    #[arg(long, value_name = "PATH", help_heading = "Verification")]
    python: Option<PathBuf>,
    /// How many seconds each witness may take
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = seconds, help_heading = "Verification")]
    timeout: Duration,
    /// Write each witness into this folder, as a script
    #[arg(long, value_name = "DIR", help_heading = "Verification")]
    emit_repro: Option<PathBuf>,
}

impl VerifyArgs {
    /// Whether anything is asked for that only verification has.
    pub fn is_given(&self) -> bool {
        self.python.is_some() || self.emit_repro.is_some()
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    let limit = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
    if limit.is_zero() || limit > Duration::from_secs(86_400) {
        return Err("must be more than 0, and no more than a day".to_owned());
    }
    Ok(limit)
}

/// What there is to be said in the end.
pub struct Verified {
    /// One line: how many were verified, and by which PyTorch.
    pub summary: String,
    /// Why nothing could be run.
    pub trouble: Option<String>,
}

/// Gives each finding its verdict.
pub fn verify(run: &mut Run, rules: &Rules, args: &VerifyArgs, show_progress: bool) -> Result<Verified, String> {
    let python = Python::ask(python::choose(args.python.as_deref())).and_then(|python| {
        python.needs_torch()?;
        Ok(python)
    });
    let diagnostics = &mut run.diagnostics;
    let (torch, trouble) = match &python {
        Err(reason) => {
            for diagnostic in diagnostics.iter_mut() {
                diagnostic.verdict = Some(Box::new(not_verifiable(reason.clone())));
            }
            (None, Some(reason.clone()))
        }
        Ok(python) => {
            let mut verifier = Verifier::new(python, rules, args.timeout);
            let total = ("verifying", diagnostics.len(), "findings");
            Progress::during(show_progress, total, |progress| {
                for diagnostic in diagnostics.iter_mut() {
                    diagnostic.verdict = Some(Box::new(verifier.verify(diagnostic)));
                    progress.step();
                }
            });
            (verifier.torch().map(|torch| torch.version.clone()), verifier.trouble())
        }
    };
    if let Some(folder) = &args.emit_repro {
        emit(run, folder, torch.as_deref())?;
    }
    let count = |status| {
        let verdicts = run.diagnostics.iter().filter_map(|diagnostic| diagnostic.verdict.as_ref());
        verdicts.filter(|verdict| verdict.status == status).count()
    };
    let by = torch.map(|torch| format!(" by PyTorch {torch}")).unwrap_or_default();
    let summary = format!(
        "{} verified{by}, {} refuted, {} not verifiable",
        count(Status::Verified),
        count(Status::Refuted),
        count(Status::NotVerifiable)
    );
    Ok(Verified { summary, trouble })
}

/// Writes the witnesses, one script each.
fn emit(run: &Run, folder: &Path, torch: Option<&str>) -> Result<(), String> {
    let fault = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(folder).map_err(|error| fault(folder, error))?;
    let mut names: Vec<String> = Vec::new();
    for diagnostic in &run.diagnostics {
        let Some(verdict) = &diagnostic.verdict else { continue };
        let Some(program) = &verdict.witness else { continue };
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

/// What a script says of itself.
fn header(diagnostic: &Diagnostic, verdict: &Verdict, place: &str, torch: Option<&str>) -> String {
    let Diagnostic { code, name, message, .. } = diagnostic;
    let mut text = format!("{code} {name}, at {place}\n{message}\n");
    let torch = torch.map(|torch| format!("PyTorch {torch}: ")).unwrap_or_default();
    let said = verdict.message.as_ref().or(verdict.reason.as_ref());
    text.push_str(&format!("{torch}{}\n", said.map_or("", String::as_str)));
    text.lines().map(|line| format!("# {line}\n")).collect()
}
