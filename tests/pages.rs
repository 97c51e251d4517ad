//! Checks every rule page: the Example has exactly the findings that it is marked with, Use instead
//! has none, and the fix turns the Example into Use instead.
//!
//! If `TORCHVET_PYTHON` names a Python with PyTorch, a process of `pages_run.py` also checks the
//! pages' claims about PyTorch.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

use torchvet::{FixKind, Page, Rules};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The imports that are put before a block without imports. `pages_run.py` has the same imports.
const PRELUDE: &str = "\
import torch
import torch.nn as nn
import torch.nn.functional as F
import numpy as np
";

fn checker_finds_what_is_marked(path: &Path) -> Result<()> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_torchvet"));
    let output = command.args(["rule", "--python", "no-python", "--test"]).arg(path).output()?;
    if !output.status.success() {
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        return Err(said.into());
    }
    Ok(())
}

fn fix_gives_use_instead(path: &Path) -> Result<()> {
    let (page, example, instead) = blocks(path)?;
    if page.fix == FixKind::None {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("example.py");
    let (prelude, source) = (prelude(&example), without_marks(&example));
    std::fs::write(&file, format!("{prelude}{source}"))?;
    let mut command = torchvet(&page);
    command.arg("--fix").arg(&file);
    if page.fix == FixKind::Unsafe {
        command.arg("--unsafe-fixes");
    }
    let output = command.output()?;
    let fixed = std::fs::read_to_string(&file)?;
    let fixed = fixed.strip_prefix(prelude).unwrap_or(&fixed);
    if fixed != instead {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("--fix gives\n{fixed}\ninstead of\n{instead}\nand says: {said}").into());
    }
    Ok(())
}

fn claims_are_true(path: &Path) -> Result<()> {
    let Some(runner) = RUNNER.as_ref() else {
        return Ok(());
    };
    let mut runner = runner.lock().unwrap_or_else(PoisonError::into_inner);
    let request = serde_json::json!({ "page": std::path::absolute(path)? });
    writeln!(runner.requests, "{request}")?;
    let mut line = String::new();
    runner.answers.read_line(&mut line)?;
    let answer: serde_json::Value = serde_json::from_str(&line).map_err(|_| "tests/pages_run.py ended")?;
    for part in texts(&answer["left_out"]) {
        eprintln!("{}: left out: {part}", path.display());
    }
    match texts(&answer["faults"]).join("\n") {
        faults if faults.is_empty() => Ok(()),
        faults => Err(faults.into()),
    }
}

/// The process of `pages_run.py`, if there is a Python with PyTorch.
struct Runner {
    _process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

static RUNNER: LazyLock<Option<Mutex<Runner>>> = LazyLock::new(|| {
    let Some(python) = std::env::var_os("TORCHVET_PYTHON") else {
        eprintln!("TORCHVET_PYTHON is not set: the pages' claims about PyTorch were not run");
        return None;
    };
    let mut child = Command::new(python)
        .arg("tests/pages_run.py")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("TORCHVET_PYTHON must name a Python");
    let requests = child.stdin.take().expect("stdin is piped");
    let answers = BufReader::new(child.stdout.take().expect("stdout is piped"));
    Some(Mutex::new(Runner { _process: child, requests, answers }))
});

fn texts(list: &serde_json::Value) -> Vec<&str> {
    let items = list.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|item| item.as_str()).collect()
}

/// The page, its Example and its Use instead.
fn blocks(path: &Path) -> Result<(Page, String, String)> {
    let name = path.file_stem().and_then(|stem| stem.to_str());
    let rules = Rules::builtin();
    let page = name.and_then(|name| rules.find(name)).ok_or("no such rule")?;
    let block = |title: &str| {
        let blocks = page.code_blocks(title);
        blocks.first().map(|block| (*block).to_owned())
    };
    let example = block("Example").ok_or("no Example")?;
    let instead = block("Use instead").ok_or("no Use instead")?;
    Ok((page.clone(), example, instead))
}

/// The imports to put before a block. A block with imports of its own is complete and needs none.
fn prelude(block: &str) -> &'static str {
    let imports = |line: &str| line.starts_with("import ") || line.starts_with("from ");
    if block.lines().any(imports) { "" } else { PRELUDE }
}

fn mark(line: &str) -> Option<(&str, &str)> {
    let (code, comment) = line.rsplit_once('#')?;
    let comment = comment.trim();
    ["error", "warning", "info"].contains(&comment).then_some((code.trim_end(), comment))
}

fn without_marks(block: &str) -> String {
    let line = |line| format!("{}\n", mark(line).map_or(line, |(code, _)| code));
    block.lines().map(line).collect()
}

fn torchvet(page: &Page) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_torchvet"));
    command.args(["check", "--isolated"]);
    if !page.default {
        command.args(["--extend-select", &page.code]);
    }
    command
}

datatest_stable::harness! {
    { test = checker_finds_what_is_marked, root = "rules", pattern = r"\.md$" },
    { test = fix_gives_use_instead, root = "rules", pattern = r"\.md$" },
    { test = claims_are_true, root = "rules", pattern = r"\.md$" },
}
