//! `torchvet rule --test`: tests whether the claims of a page are true.
//!
//! The checker must report exactly the marked lines of the Example, and nothing in Use instead. If
//! PyTorch is installed, the blocks are also executed, with CUDA replaced by the CPU in the Example
//! and in Use instead. If the page has the key `cpu`, a marked line of the Example must raise an
//! error that matches this pattern; otherwise, the Example must run without an error. An Example
//! that needs CUDA is not run. Use instead and Evidence must run without an error.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use regex::Regex;

use super::super::run::{Input, run};
use super::super::{Failure, Status};
use crate::config::{Layer, Settings};
use crate::probe::python::{self, Python};
use crate::rules::{Needs, Page, Rules};

/// The lines that run before a block without imports. `tests/pages_run.py` uses the same lines.
const PRELUDE: &str = "\
import torch
import torch.nn as nn
import torch.nn.functional as F
import numpy as np
";

/// How long a block may run.
const LIMIT: Duration = Duration::from_mins(2);

/// A mark or a finding: line of the page, severity, code.
type Finding = (usize, String, String);

/// The result of testing one page.
#[derive(Default)]
struct Tested {
    passed: Vec<&'static str>,
    /// What was skipped, and why.
    left_out: Vec<String>,
    /// `path:line: what is wrong`
    faults: Vec<String>,
}

/// Tests pages. A page is named by its file or, if it belongs to torchvet, by its code or name.
pub(super) fn main(names: &[String], python: Option<&Path>, out: &mut dyn Write) -> Result<Status, Failure> {
    let python = Python::ask(python::choose(python)).and_then(|python| {
        python.needs_torch()?;
        Ok(python)
    });
    let mut failed = 0;
    for name in names {
        let (page, settings) = load(name)?;
        let mut tested = Tested::default();
        statically(&page, &settings, &mut tested)?;
        match &python {
            Ok(python) => on_pytorch(&page, python, &mut tested)?,
            Err(reason) => tested.left_out.push(format!("on PyTorch: {reason}")),
        }
        failed += usize::from(!tested.faults.is_empty());
        for fault in &tested.faults {
            writeln!(out, "{fault}")?;
        }
        writeln!(
            out,
            "{}: {}",
            page.file,
            if tested.passed.is_empty() { "no check passed".into() } else { tested.passed.join(", ") }
        )?;
        for part in &tested.left_out {
            writeln!(out, "{}: skipped: {part}", page.file)?;
        }
    }
    let torch = python.ok().and_then(|python| python.torch).map(|version| format!(" on PyTorch {version}"));
    let pages = if names.len() == 1 { "page" } else { "pages" };
    writeln!(out, "{} {pages} tested{}: {failed} with faults", names.len(), torch.unwrap_or_default())?;
    Ok(if failed == 0 { Status::Clean } else { Status::Findings })
}

/// The page, and settings that enable its rule and all default rules.
fn load(name: &str) -> Result<(Page, Settings), Failure> {
    let mut rules = Rules::builtin();
    let path = Path::new(name);
    let own = if path.is_file() {
        built(&rules, path)?
    } else {
        rules.find(name).or_else(|| rules.find(&name.to_ascii_uppercase()))
    };
    let (options, wanted) = if let Some(page) = own {
        (format!("extend-select = ['{}']", page.code), page.code.to_string())
    } else {
        rules.load_user(path, path).map_err(Failure::Message)?;
        let code = rules.pages.last().map(|page| page.code.to_string()).unwrap_or_default();
        let path = toml::Value::String(std::path::absolute(path)?.to_string_lossy().into_owned());
        (format!("rules = [{path}]\nextend-select = ['{code}']"), code)
    };
    let told = |error: crate::config::ConfigError| Failure::Message(error.to_string());
    let settings = Settings::resolve(&[Layer::from_flag(&options).map_err(told)?]).map_err(told)?;
    match settings.rules.find(&wanted).cloned() {
        Some(page) => Ok((page, settings)),
        None => Err(Failure::Message(format!("unknown rule `{name}`"))),
    }
}

/// The built-in page that this file contains; `None` for a page of the user. A built-in page is
/// tested as it was compiled into torchvet, so it is an error if the file has changed since then.
fn built<'r>(rules: &'r Rules, path: &Path) -> Result<Option<&'r Page>, Failure> {
    let page = Rules::read(path, path).map_err(Failure::Message)?;
    if !page.code.starts_with("TV") {
        return Ok(None);
    }
    let (path, code) = (path.display(), &page.code);
    match rules.find(code) {
        Some(built) if built.text == page.text => Ok(Some(built)),
        Some(_) => Err(Failure::Message(format!(
            "{path}: torchvet was built with another version of this page; run `cargo build` first"
        ))),
        None => Err(Failure::Message(format!(
            "{path}: torchvet was built without {code}; run `cargo build` first (codes of your own must not begin \
             with TV)"
        ))),
    }
}

fn statically(page: &Page, settings: &Settings, tested: &mut Tested) -> Result<(), Failure> {
    for (title, marked) in [("Example", true), ("Use instead", false)] {
        let Some(block) = page.code_blocks(title).first().copied() else { continue };
        let first = page.line_of(block);
        let wanted = if marked { marks(page, block) } else { BTreeSet::new() };
        if marked && wanted.is_empty() {
            let message = "no line of the Example is marked with `# error`, `# warning` or `# info`";
            tested.faults.push(format!("{}:{first}: {message}", page.file));
            continue;
        }
        let found = findings(page, settings, block)?;
        for (line, severity, code) in wanted.difference(&found) {
            let message = format!("{title} has a `# {severity}` mark here, but {code} reports no {severity}");
            tested.faults.push(format!("{}:{line}: {message}", page.file));
        }
        for (line, severity, code) in found.difference(&wanted) {
            tested
                .faults
                .push(format!("{}:{line}: {title} has a finding without a mark: {severity}[{code}]", page.file));
        }
        if wanted == found {
            tested.passed.push(if marked {
                "the marks in Example match the findings"
            } else {
                "Use instead has no \
                findings"
            });
        }
    }
    Ok(())
}

/// The findings in a block.
fn findings(page: &Page, settings: &Settings, block: &str) -> Result<BTreeSet<Finding>, Failure> {
    let prelude = prelude(block);
    let path = PathBuf::from("page.py");
    let input =
        Input { texts: vec![(path.clone(), format!("{prelude}{block}"))], paths: vec![path], ..Input::default() };
    let run = run(settings, &input)?;
    let before = prelude.lines().count();
    let first = page.line_of(block);
    let finding = |found: &crate::diagnostic::Diagnostic| {
        let row = run.project.file(found.span.file).line_of(found.span.start);
        (first + row.saturating_sub(before + 1), found.severity.as_str().to_owned(), found.code.to_string())
    };
    Ok(run.diagnostics.iter().map(finding).collect())
}

fn on_pytorch(page: &Page, python: &Python, tested: &mut Tested) -> Result<(), Failure> {
    for (title, says) in [
        ("Example", "Example behaves on PyTorch as the page says"),
        ("Use instead", "Use instead runs on PyTorch"),
        ("Evidence", "Evidence holds on PyTorch"),
    ] {
        let Some(block) = page.code_blocks(title).first().copied() else { continue };
        if let (Some(Needs::Cuda), "Example") = (page.needs, title) {
            tested.left_out.push("Example on PyTorch: it needs CUDA".to_owned());
            continue;
        }
        let source = if title == "Evidence" { block.to_owned() } else { on_cpu(block) };
        let prelude = prelude(block);
        let ended = execute(python, &format!("{prelude}{source}"))?;
        let first = page.line_of(block);
        let line = ended.line.map_or(first, |line| first + line.saturating_sub(prelude.lines().count() + 1));
        if let Some(missing) = ended.missing() {
            tested.left_out.push(format!("{title} on PyTorch: the module {missing} is not installed"));
            continue;
        }
        let expected = page.cpu.as_deref().filter(|_| title == "Example");
        let fault = match (expected, &ended.error) {
            (None, None) => None,
            (None, Some(error)) => Some(format!("{title} fails on PyTorch: {error}")),
            (Some(cpu), None) => Some(format!("{title} raises nothing on PyTorch, but `cpu` expects `{cpu}`")),
            (Some(cpu), Some(error)) if !Regex::new(cpu).is_ok_and(|cpu| cpu.is_match(error)) => {
                Some(format!("{title} fails with `{error}`, but `cpu` expects `{cpu}`"))
            }
            (Some(_), Some(_)) if !marks(page, block).iter().any(|(marked, ..)| *marked == line) => {
                Some(format!("{title} fails on this line, which is not marked"))
            }
            (Some(_), Some(_)) => None,
        };
        match fault {
            None => tested.passed.push(says),
            Some(fault) => tested.faults.push(format!("{}:{line}: {fault}", page.file)),
        }
    }
    Ok(())
}

/// How a program ended.
struct Ended {
    /// `Type: message`, if it failed.
    error: Option<String>,
    /// The line of the program at which it failed.
    line: Option<usize>,
}

impl Ended {
    /// The module that could not be imported.
    fn missing(&self) -> Option<&str> {
        let rest = self.error.as_deref()?.strip_prefix("ModuleNotFoundError: No module named '")?;
        rest.split('\'').next()
    }
}

fn execute(python: &Python, program: &str) -> Result<Ended, Failure> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("block.py");
    std::fs::write(&file, program)?;
    let mut child = Command::new(&python.path)
        .arg(&file)
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let stderr = child.stderr.take().map(|mut stderr| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = stderr.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        })
    });
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if start.elapsed() > LIMIT {
            child.kill()?;
            child.wait()?;
            break None;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let said = stderr.and_then(|reader| reader.join().ok()).unwrap_or_default();
    let error = match status {
        None => Some(format!("it did not finish within {} s", LIMIT.as_secs())),
        Some(status) if status.success() => None,
        Some(status) => {
            let raised = said.lines().rev().find(|line| is_exception(line));
            Some(raised.map_or_else(|| format!("ended with {status}"), str::to_owned))
        }
    };
    let own = format!("File \"{}\", line ", file.display());
    let line = said.lines().filter_map(|line| line.trim_start().strip_prefix(&own)).next_back();
    let line = line.and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
    Ok(Ended { error, line })
}

/// Whether a line may be the last line of a traceback, such as `IndexError: Target 3 is out of
/// bounds.`, or only the name of an exception.
fn is_exception(line: &str) -> bool {
    let name = line.split(':').next().unwrap_or_default();
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    name.chars().next().is_some_and(char::is_alphabetic) && name.chars().all(plain)
}

/// The lines that run before this block. A block with an import is a complete program, so nothing
/// runs before it.
fn prelude(block: &str) -> &'static str {
    let imports = |line: &str| line.starts_with("import ") || line.starts_with("from ");
    if block.lines().any(imports) { "" } else { PRELUDE }
}

/// Replaces CUDA by the CPU in a block. Pages write `"cuda"` as users do, but the Example and Use
/// instead are run on the CPU.
fn on_cpu(block: &str) -> String {
    block.replace(".cuda()", "").replace("\"cuda\"", "\"cpu\"").replace("'cuda'", "'cpu'")
}

fn marks(page: &Page, block: &str) -> BTreeSet<Finding> {
    let first = page.line_of(block);
    let marked = block.lines().enumerate().filter_map(|(index, line)| {
        let comment = line.rsplit_once('#')?.1.trim();
        let known = ["error", "warning", "info"].contains(&comment);
        known.then(|| (first + index, comment.to_owned(), page.code.to_string()))
    });
    marked.collect()
}
