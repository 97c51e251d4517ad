//! Tests of Python's semantics: each `python` block of `tests/semantics/*.md` is a program, and the
//! sentence above it says what the program shows.
//!
//! `# reveal: float32[4, 11] cpu` at the end of a line is the fact that `torchvet facts` must print
//! for the name that the line assigns (`1; None` for two names, from left to right). The range and
//! the role of a tensor may be omitted. `unknown` is right if nothing better can be known, `never`
//! if the line never runs. The facts about a list describe its final content, so a block reveals a
//! tuple of the list.
//!
//! `# error: TV103` (or `warning`, `info`; several after commas) is the finding that `torchvet check`
//! must report on the line; no other line may have an error or a warning. Before a block
//! without imports, the test adds four imports, the same as for the blocks of rule pages. The info string `python cuda` marks a program that runs only
//! on a GPU, and `python static` one that only torchvet can test.
//!
//! `UPDATE=1` writes torchvet's facts into the reveals. `semantics_run.py` checks whether these are
//! true: it runs each block on PyTorch.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use regex::Regex;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The differences, one per line. The harness prints errors with `Debug`.
struct Differences(String);

impl std::fmt::Debug for Differences {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Display for Differences {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Differences {}

/// The imports that are put before a block without imports. `semantics_run.py` has the same text.
const PRELUDE: &str = "\
import torch
import torch.nn as nn
import torch.nn.functional as F
import numpy as np
";

/// Line of the Markdown file → texts.
type Lines = BTreeMap<usize, Vec<String>>;

/// One program.
struct Block {
    /// The line of the page on which it begins, from 1.
    first: usize,
    source: String,
}

impl Block {
    fn prelude(&self) -> &'static str {
        let imports = |line: &str| {
            let line = line.trim_start();
            line.starts_with("import ") || line.starts_with("from ")
        };
        if self.source.lines().any(imports) { "" } else { PRELUDE }
    }

    /// The name of the file to which the program is written.
    fn name(&self) -> String {
        format!("{:04}.py", self.first)
    }
}

fn facts_and_findings_are_as_marked(path: &Path) -> Result<()> {
    let text = std::fs::read_to_string(path)?;
    let blocks = blocks(&text);
    if blocks.is_empty() {
        return Err("no block of Python".into());
    }
    let folder = tempfile::tempdir()?;
    for block in &blocks {
        std::fs::write(folder.path().join(block.name()), format!("{}{}", block.prelude(), block.source))?;
    }
    let facts = facts(folder.path(), &blocks)?;
    let findings = findings(folder.path(), &blocks)?;
    let mut updated: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut failures = Vec::new();
    for block in &blocks {
        for (row, line) in (block.first..).zip(block.source.lines()) {
            let at = format!("{}:{row}", path.display());
            let said = facts.get(&row).map(Vec::as_slice).unwrap_or_default();
            if let Some(wanted) = revealed(line)
                && let Some(instead) = difference(wanted, said)
            {
                failures.push(format!("{at}: revealed {wanted}, torchvet says {instead}"));
                if let Some(line) = updated.get_mut(row - 1) {
                    *line = line.replacen(&format!("# reveal: {wanted}"), &format!("# reveal: {instead}"), 1);
                }
            }
            compare(&at, &marks(line), findings.get(&row).map(Vec::as_slice).unwrap_or_default(), &mut failures);
        }
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, updated.join("\n") + "\n")?;
        failures.retain(|failure| !failure.contains(": revealed "));
    }
    if failures.is_empty() { Ok(()) } else { Err(Box::new(Differences(failures.join("\n")))) }
}

/// The programs of a page.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (row, line) in (1..).zip(text.lines()) {
        match &mut open {
            None if line.starts_with("```python") => open = Some(Block { first: row + 1, source: String::new() }),
            None => {}
            Some(_) if line == "```" => blocks.extend(open.take()),
            Some(block) => {
                block.source.push_str(line);
                block.source.push('\n');
            }
        }
    }
    blocks
}

/// The text after `# reveal: `.
fn revealed(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("# reveal: ")?;
    Some(rest.split("  # ").next().unwrap_or(rest).trim_end())
}

/// `# error: TV103, warning: TV106`, as `error: TV103` and `warning: TV106`.
fn marks(line: &str) -> Vec<String> {
    let places = ["# error: TV", "# warning: TV", "# info: TV"];
    let Some(at) = places.iter().filter_map(|mark| line.find(mark)).min() else { return Vec::new() };
    let mut severity = "";
    let mut marks = Vec::new();
    for part in line.get(at + 2..).unwrap_or_default().split(',') {
        let code = match part.split_once(':') {
            Some((level, code)) => {
                severity = level.trim();
                code.trim()
            }
            None => part.trim(),
        };
        marks.push(format!("{severity}: {code}"));
    }
    marks
}

/// The facts that torchvet prints, if they differ from `wanted`.
fn difference(wanted: &str, said: &[String]) -> Option<String> {
    if said.is_empty() {
        return (wanted != "never").then(|| "never".to_owned());
    }
    let count = wanted.split("; ").count();
    let said = said.get(..count).unwrap_or(said);
    let fits = |(wanted, said): (&str, &String)| wanted == said || wanted == bare(said);
    let same = said.len() == count && wanted.split("; ").zip(said).all(fits);
    (!same).then(|| said.iter().map(|said| bare(said)).collect::<Vec<_>>().join("; "))
}

/// A fact without the ranges and the roles of its tensors.
fn bare(fact: &str) -> String {
    BARE.replace_all(fact, "$1").into_owned()
}

static BARE: LazyLock<Regex> = LazyLock::new(|| {
    let tensor = r"\w\[[^\]\[]*\](?: (?:cpu|cuda(?::\d+)?|mps|xpu|meta|numpy)\b)?";
    let part = r"-?[\w.]+(?: to -?[\w.]+)?";
    let range = format!("{part}(?:(?:, {part})* and {part})?");
    let pattern = format!(r"({tensor})(?: with -?[\w.]+| in {range})?(?: \([a-z-]+\))?");
    Regex::new(&pattern).expect("the pattern is valid")
});

/// Each marked finding must be reported, and nothing else except infos.
fn compare(at: &str, marked: &[String], found: &[String], failures: &mut Vec<String>) {
    let is_found = |mark: &String| found.iter().any(|f| f.starts_with(&format!("{mark} ")));
    for mark in marked.iter().filter(|mark| !is_found(mark)) {
        failures.push(format!("{at}: {mark} is not found"));
    }
    let is_marked = |finding: &String| marked.iter().any(|mark| finding.starts_with(&format!("{mark} ")));
    for finding in found.iter().filter(|f| !f.starts_with("info: ") && !is_marked(f)) {
        failures.push(format!("{at}: {finding}"));
    }
}

/// The output of `torchvet facts` for the names that each line assigns, from left to right.
fn facts(folder: &Path, blocks: &[Block]) -> Result<Lines> {
    let mut lines = Lines::new();
    for line in torchvet(folder, &["facts"])?.lines() {
        let parts = line.split_once(".py:").and_then(|(file, rest)| Some((file, rest.split_once(": ")?)));
        let (file, (row, fact)) = parts.ok_or_else(|| format!("no fact: {line}"))?;
        let (_, value) = fact.split_once(" = ").ok_or_else(|| format!("no value: {line}"))?;
        if let Some(row) = row_on_page(blocks, &format!("{file}.py"), row.parse()?) {
            lines.entry(row).or_default().push(value.to_owned());
        }
    }
    Ok(lines)
}

/// The findings of `torchvet check` by line, each as `error: TV401 the message`.
fn findings(folder: &Path, blocks: &[Block]) -> Result<Lines> {
    let mut lines = Lines::new();
    let json: serde_json::Value = serde_json::from_str(&torchvet(folder, &["check", "--output-format", "json"])?)?;
    for finding in json.as_array().ok_or("no array")? {
        let text = |key: &str| finding[key].as_str().unwrap_or_default();
        let row = finding["location"]["row"].as_u64().and_then(|row| usize::try_from(row).ok()).unwrap_or_default();
        let row = row_on_page(blocks, text("filename"), row)
            .ok_or_else(|| format!("a finding outside the blocks: {finding}"))?;
        let said = format!("{}: {} {}", text("severity"), text("code"), text("message"));
        lines.entry(row).or_default().push(said);
    }
    Ok(lines)
}

fn row_on_page(blocks: &[Block], file: &str, row: usize) -> Option<usize> {
    let file = Path::new(file).file_name()?.to_str()?;
    let block = blocks.iter().find(|block| block.name() == file)?;
    let row = row.checked_sub(block.prelude().lines().count() + 1)?;
    Some(block.first + row)
}

fn torchvet(folder: &Path, args: &[&str]) -> Result<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_torchvet"))
        .args(args)
        .args(["--isolated", "--quiet", "."])
        .current_dir(folder)
        .env_remove("TORCHVET_OUTPUT_FORMAT")
        .output()?;
    if output.status.code().is_none_or(|code| code > 1) {
        return Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

datatest_stable::harness! {
    { test = facts_and_findings_are_as_marked, root = "tests/semantics", pattern = r"\.md$" },
}
