//! `torchvet check`.

use std::env;
use std::fs;
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::json;

use super::args::{ConfigArgs, start_folder};
use super::fix::{Changed, Choice, Fixed, fix, fixable};
use super::run::{Input, Known, Run, run, stdin_path};
use super::verify::{VerifyArgs, verify};
use super::{Failure, Global, Status, say, style, watch};
use crate::analysis::Wanted;
use crate::config::{OutputFormat, Settings};
use crate::diagnostic::Severity;
use crate::findings::baseline::Baseline;
use crate::findings::changes::Changes;
use crate::findings::condense;
use crate::output;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Files and folders to check, or - for standard input
    #[arg(default_value = ".")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    known: KnownArgs,
    /// Apply the safe fixes, which cannot change what a correct program does
    #[arg(long)]
    fix: bool,
    /// Apply the unsafe fixes, too
    #[arg(long)]
    unsafe_fixes: bool,
    /// Print what --fix would change, without changing files
    #[arg(long)]
    diff: bool,
    /// Check again whenever a .py, .ipynb or .toml file in these folders changes
    #[arg(long, short, conflicts_with_all = ["diff", "stdin_filename"])]
    watch: bool,
    /// How to print findings
    #[arg(long, value_name = "FORMAT", env = "TORCHVET_OUTPUT_FORMAT")]
    output_format: Option<OutputFormat>,
    /// Write the findings to this file
    #[arg(long, short, value_name = "FILE")]
    output_file: Option<PathBuf>,
    /// Print the number of findings for each rule
    #[arg(long)]
    statistics: bool,
    /// The file name to use for standard input
    #[arg(long, value_name = "FILE")]
    stdin_filename: Option<PathBuf>,
    /// Exit with code 0 even if there are findings
    #[arg(long)]
    exit_zero: bool,
    /// Run a small program for each finding to test it on PyTorch
    #[arg(long, conflicts_with = "diff")]
    verify: bool,
    #[command(flatten)]
    verification: VerifyArgs,
    #[command(flatten)]
    config: ConfigArgs,
    /// Whether it is an error if nothing can be verified.
    #[arg(skip)]
    must_verify: bool,
}

/// Which findings are hidden because they are not new.
#[derive(clap::Args, Debug, Default)]
pub(super) struct KnownArgs {
    /// Hide findings recorded in this baseline
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Record all findings in the baseline, and report none
    #[arg(long, requires = "baseline", conflicts_with_all = ["fix", "diff", "verify", "watch", "statistics", "diff_base"])]
    update_baseline: bool,
    /// Report only findings that touch lines changed since this git revision
    #[arg(long, value_name = "REVISION")]
    diff_base: Option<String>,
    /// Add an ignore comment at each finding
    #[arg(long, conflicts_with_all = ["fix", "diff", "verify", "watch", "update_baseline"])]
    add_ignore: bool,
}

/// The arguments of `torchvet probe verify`.
#[derive(clap::Args, Debug)]
pub(super) struct VerifyOnly {
    /// Files and folders to check, or - for standard input
    #[arg(default_value = ".")]
    paths: Vec<PathBuf>,
    /// How to print findings
    #[arg(long, value_name = "FORMAT", env = "TORCHVET_OUTPUT_FORMAT")]
    output_format: Option<OutputFormat>,
    /// Write the findings to this file
    #[arg(long, short, value_name = "FILE")]
    output_file: Option<PathBuf>,
    /// The file name to use for standard input
    #[arg(long, value_name = "FILE")]
    stdin_filename: Option<PathBuf>,
    /// Exit with code 0 even if there are findings
    #[arg(long)]
    exit_zero: bool,
    #[command(flatten)]
    verification: VerifyArgs,
    #[command(flatten)]
    config: ConfigArgs,
}

impl From<VerifyOnly> for Args {
    fn from(only: VerifyOnly) -> Args {
        let VerifyOnly { paths, output_format, output_file, stdin_filename, exit_zero, verification, config } = only;
        Args {
            paths,
            known: KnownArgs::default(),
            fix: false,
            unsafe_fixes: false,
            diff: false,
            watch: false,
            output_format,
            output_file,
            statistics: false,
            stdin_filename,
            exit_zero,
            verify: true,
            verification,
            config,
            must_verify: true,
        }
    }
}

pub(super) fn main(args: Args, global: &Global) -> Result<Status, Failure> {
    if args.verification.is_given() && !args.verify {
        return Err(Failure::Message("--python, --emit-repro and --run need --verify".to_owned()));
    }
    // `--fix` and `--add-ignore` change the files to execute, and `--watch` would execute them again
    // and again.
    if args.verification.runs() && (args.watch || args.fix || args.known.add_ignore) {
        let message = "`--run` cannot be combined with `--watch`, `--fix` or `--add-ignore`";
        return Err(Failure::Message(message.to_owned()));
    }
    if !args.watch {
        return check(&args, global);
    }
    if args.paths.iter().any(|path| path == Path::new("-")) {
        return Err(Failure::Message("standard input cannot be watched".to_owned()));
    }
    watch::watch(&args.paths, || {
        if io::stdout().is_terminal() {
            write!(io::stdout(), "\x1b[2J\x1b[H")?;
        }
        match check(&args, global) {
            // The user can correct a mistake in the settings while torchvet watches.
            Err(Failure::Message(message)) => say(super::Level::Error, &message),
            Err(gone) => return Err(gone),
            Ok(_) => {}
        }
        if !global.quiet {
            writeln!(io::stderr(), "Watching for changes (press Ctrl-C to stop).")?;
        }
        Ok(())
    })?;
    Ok(Status::Clean)
}

fn check(args: &Args, global: &Global) -> Result<Status, Failure> {
    let changes_files = args.fix || args.known.add_ignore;
    let scripts = args.verification.scripts(&args.paths).map_err(Failure::Message)?;
    let (input, from_stdin) = input(args, global)?;
    let settings = args.config.settings(&start_folder(input.paths.first().map(PathBuf::as_path)))?;
    let mut fixed = if args.known.add_ignore {
        fix(&settings, &input, Choice::Ignore)?
    } else if args.fix || args.diff {
        fix(&settings, &input, if args.unsafe_fixes { Choice::All } else { Choice::Safe })?
    } else {
        Fixed { run: run(&settings, &input)?, changed: Vec::new(), count: 0 }
    };
    let verified = if args.verify {
        let verified = verify(&mut fixed.run, &settings.rules, &args.verification, scripts, !global.quiet);
        Some(verified.map_err(Failure::Message)?)
    } else {
        None
    };
    if args.known.update_baseline {
        return update_baseline(args, &fixed.run, global);
    }
    let mut status = status(&fixed.run, args);
    if let Some(trouble) = verified.as_ref().and_then(|verified| verified.trouble.as_ref()) {
        let level = if args.must_verify { super::Level::Error } else { super::Level::Warning };
        say(level, &format!("no finding was verified: {trouble}"));
        if args.must_verify {
            status = status.max(Status::Failed);
        }
    }
    // Fixes, baselines and comments need each finding; reports show each mistake once.
    condense(&mut fixed.run.diagnostics);
    fixed.run.tell(global);
    if args.diff {
        return diff(&fixed, global).map(|found| status_of_diff(status, found));
    }
    // The fixed text of standard input goes to standard output, so findings go to standard error.
    if changes_files && from_stdin {
        io::stdout().write_all(&fixed_text(&fixed))?;
    } else {
        for error in fixed.changed.iter().filter_map(|changed| Changed::write(changed).err()) {
            say(super::Level::Error, &error);
            status = status.max(Status::Failed);
        }
    }
    let clock = Instant::now();
    let closing = verified.map(|verified| verified.summary).unwrap_or_default();
    let reported = report(args, global, &settings, &fixed, (changes_files && from_stdin, closing));
    if global.verbose {
        let times = fixed.run.times;
        let report = clock.elapsed();
        writeln!(
            io::stderr(),
            "walk {:.1?}, read {:.1?}, parse {:.1?}, interpret {:.1?}, report {report:.1?}",
            times.walk,
            times.read,
            times.parse,
            times.interpret,
        )?;
    }
    match reported {
        // A reader such as `head` has closed the output; the exit code stays the same.
        Err(Failure::BrokenPipe) => {}
        Err(failure) => return Err(failure),
        Ok(()) => {}
    }
    if !args.watch {
        // The process ends now, so freeing every syntax tree would only take time.
        std::mem::forget(fixed);
    }
    Ok(status)
}

/// Records the findings in the baseline file.
fn update_baseline(args: &Args, run: &Run, global: &Global) -> Result<Status, Failure> {
    let Some(path) = &args.known.baseline else { return Ok(Status::Clean) };
    let before = if path.exists() { Baseline::read(path).map_err(Failure::Message)? } else { Baseline::at(path) };
    let after = before.updated(&run.diagnostics, &run.project, &run.checked);
    let fail = |error: io::Error| Failure::Message(format!("{}: {error}", path.display()));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(fail)?;
    file.write_all(after.to_json().as_bytes()).map_err(fail)?;
    file.persist(path).map_err(|error| fail(error.error))?;
    if !global.quiet {
        writeln!(io::stderr(), "Recorded {} in {}.", findings(after.count()), path.display())?;
    }
    run.tell(global);
    Ok(run.status())
}

/// Reads the baseline and the changed lines, which decide which findings are hidden because they
/// are not new.
fn known(args: &KnownArgs, start: &Path) -> Result<Known, String> {
    let baseline = args.baseline.as_ref().filter(|_| !args.update_baseline);
    let baseline = baseline.map(|path| {
        Baseline::read(path).map_err(|error| match path.exists() {
            true => error,
            false => format!("{error}; create it with `--update-baseline`"),
        })
    });
    let changes = args.diff_base.as_ref().map(|revision| Changes::since(revision, start));
    Ok(Known { baseline: baseline.transpose()?, changes: changes.transpose()? })
}

/// The fixed text of standard input, as the bytes to write.
fn fixed_text(fixed: &Fixed) -> Vec<u8> {
    if let Some(changed) = fixed.changed.first() {
        return changed.encode().unwrap_or_default();
    }
    let Some(&id) = fixed.run.checked.first() else {
        return Vec::new();
    };
    let file = fixed.run.project.file(id);
    file.encoding.encode(file.json().unwrap_or(file.text())).unwrap_or_default()
}

/// Reads standard input if it is named. Returns the input of the run, and whether it came from
/// standard input.
fn input(args: &Args, global: &Global) -> Result<(Input, bool), Failure> {
    let dash = |path: &PathBuf| path == Path::new("-");
    let show_progress = !global.quiet;
    let wanted = Wanted { witnesses: args.verify, ..Wanted::default() };
    let start = start_folder(args.paths.first().map(PathBuf::as_path));
    let known = known(&args.known, &start).map_err(Failure::Message)?;
    let mut input = Input { wanted, show_progress, known, ..Input::default() };
    let from_stdin = args.paths.iter().any(dash);
    if from_stdin {
        if args.paths.len() > 1 {
            let message = "`-` (standard input) cannot be combined with other paths";
            return Err(Failure::Message(message.to_owned()));
        }
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes)?;
        let path = stdin_path(args.stdin_filename.as_deref());
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            Failure::Message(format!("standard input is not UTF-8 (byte {at})"))
        })?;
        input.paths.push(path.clone());
        input.texts.push((path, text));
    } else {
        input.paths.clone_from(&args.paths);
    }
    Ok((input, from_stdin))
}

fn status(run: &Run, args: &Args) -> Status {
    let failing = run.diagnostics.iter().any(|d| d.severity >= Severity::Warning && !d.is_refuted());
    if failing && !args.exit_zero { run.status().max(Status::Findings) } else { run.status() }
}

/// With `--diff`, the exit code depends on whether something would change, not on findings.
fn status_of_diff(status: Status, found: bool) -> Status {
    match status {
        Status::Clean | Status::Findings if found => Status::Findings,
        Status::Findings => Status::Clean,
        other => other,
    }
}

fn diff(fixed: &Fixed, global: &Global) -> Result<bool, Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    for changed in &fixed.changed {
        write!(out, "{}", changed.diff())?;
    }
    out.flush()?;
    if !global.quiet && fixed.count > 0 {
        writeln!(io::stderr(), "Would fix {}.", findings(fixed.count))?;
    }
    Ok(fixed.count > 0)
}

fn findings(count: usize) -> String {
    if count == 1 { "1 finding".to_owned() } else { format!("{count} findings") }
}

fn report(
    args: &Args,
    global: &Global,
    settings: &Settings,
    fixed: &Fixed,
    (to_stderr, verified): (bool, Vec<String>),
) -> Result<(), Failure> {
    let format = args.output_format.or(settings.output_format).unwrap_or(OutputFormat::Text);
    let style = style(global.color, args.output_file.is_some());
    let mut out: Box<dyn Write> = match &args.output_file {
        Some(path) => {
            let file = fs::File::create(path);
            let file = file.map_err(|e| Failure::Message(format!("{}: {e}", path.display())))?;
            Box::new(BufWriter::new(file))
        }
        None if to_stderr => Box::new(BufWriter::new(io::stderr().lock())),
        None => Box::new(BufWriter::new(io::stdout().lock())),
    };
    let Run { diagnostics, project, checked, .. } = &fixed.run;
    if args.statistics {
        statistics(fixed, format, out.as_mut())?;
    } else {
        let base = env::current_dir()?;
        let base = base.canonicalize().unwrap_or(base);
        let report = output::Report { diagnostics, project, rules: &settings.rules, base: &base };
        output::write(format, &report, style, out.as_mut())?;
    }
    let for_people = matches!(format, OutputFormat::Text | OutputFormat::Concise | OutputFormat::Grouped);
    if for_people && !global.quiet {
        if fixed.count > 0 {
            let done = if args.known.add_ignore { "Ignored" } else { "Fixed" };
            writeln!(out, "{done} {}.", findings(fixed.count))?;
        }
        writeln!(out, "{}", output::summary(diagnostics, checked.len(), fixed.run.unchecked))?;
        for line in verified.iter().filter(|_| !diagnostics.is_empty()) {
            writeln!(out, "{line}")?;
        }
        let (safe, all) = (fixable(diagnostics, false), fixable(diagnostics, true));
        if safe > 0 && !args.fix {
            writeln!(out, "{safe} fixable with `--fix`")?;
        }
        if all > safe && !args.unsafe_fixes {
            writeln!(out, "{} fixable with `--fix --unsafe-fixes`", all - safe)?;
        }
    }
    out.flush()?;
    Ok(())
}

fn statistics(fixed: &Fixed, format: OutputFormat, out: &mut dyn Write) -> io::Result<()> {
    let counts = output::statistics(&fixed.run.diagnostics);
    if matches!(format, OutputFormat::Json | OutputFormat::JsonLines) {
        let entry = |&(count, code, name): &(usize, &str, &str)| json!({"code": code, "name": name, "count": count});
        let entries: Vec<serde_json::Value> = counts.iter().map(entry).collect();
        serde_json::to_writer_pretty(&mut *out, &entries)?;
        return writeln!(out);
    }
    let width = counts.first().map_or(0, |(count, ..)| count.to_string().len());
    for (count, code, name) in counts {
        writeln!(out, "{count:width$}  {code}  {name}")?;
    }
    Ok(())
}
