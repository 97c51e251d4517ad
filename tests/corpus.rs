//! The corpus: complete scripts, and exactly the findings that torchvet must report for them.
//!
//! The comment `# error: TV103` at the end of a line (or `warning`, `info`; several after commas)
//! means that a finding of this severity must be reported there. Lines without such a comment must
//! have no findings. `# error: TV103 (missed)` marks a bug that torchvet does not find yet:
//! such bugs are counted separately, and `(missed)` must be removed once torchvet finds the bug.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Extensions of scripts, and of the files that launch them.
const KINDS: &[&str] = &["py", "ipynb", "sh", "sbatch", "env", "yml", "yaml"];

/// Path, cell and line → the findings there.
type Findings = BTreeMap<(String, u64, u64), Vec<String>>;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut failures = String::new();
    let (mut expected_total, mut scripts, mut missed) = (0, 0, 0);
    for part in ["buggy", "clean"] {
        let folder = root.join("corpus").join(part);
        let mut files = Vec::new();
        collect(&folder, &mut files);
        files.sort();
        scripts += files.len();
        let mut expected = Findings::new();
        for file in &files {
            for (cell, line, text) in lines(file) {
                if let Some(said) = expectation(&text) {
                    if text.contains("(missed)") {
                        missed += said.len();
                        continue;
                    }
                    expected_total += said.len();
                    expected.insert((relative(root, file), cell, line), said);
                }
            }
        }
        let found = check(root, &folder);
        compare(&expected, &found, &mut failures);
    }
    named_scripts_exist(root, &mut failures);
    if !failures.is_empty() {
        println!("{failures}");
    }
    let wrong = failures.lines().count();
    println!(
        "corpus: {scripts} files, {expected_total} expected findings, {wrong} differences; {missed} more are known to be missed"
    );
    let failed = usize::from(wrong > 0);
    println!("test result: {}. {} passed; {failed} failed", if wrong == 0 { "ok" } else { "FAILED" }, 1 - failed);
    std::process::exit(i32::from(wrong > 0));
}

/// Checks that every script named in SIGNATURES.md exists.
fn named_scripts_exist(root: &Path, failures: &mut String) {
    let corpus = root.join("corpus");
    let text = std::fs::read_to_string(corpus.join("SIGNATURES.md")).expect("SIGNATURES.md is readable");
    for row in text.lines().filter(|line| line.starts_with("| ")).skip(2) {
        let cells: Vec<&str> = row.split(" | ").collect();
        for (part, cell) in ["buggy", "clean"].into_iter().zip(cells.iter().skip(1)) {
            for name in cell.split('`').skip(1).step_by(2) {
                let script = corpus.join(part).join(name);
                if !["py", "ipynb"].iter().any(|e| script.with_extension(e).exists()) && !script.is_dir() {
                    let _ = writeln!(failures, "ABSENT corpus/SIGNATURES.md: {part}/{name}");
                }
            }
        }
    }
}

fn compare(expected: &Findings, found: &Findings, failures: &mut String) {
    let mut places: Vec<_> = expected.keys().chain(found.keys()).collect();
    places.sort();
    places.dedup();
    for place in places {
        let none = Vec::new();
        let (want, have) = (expected.get(place).unwrap_or(&none), found.get(place).unwrap_or(&none));
        let codes: Vec<String> = have.iter().map(|f| f.split(" | ").next().unwrap_or_default().to_owned()).collect();
        let (path, cell, line) = place;
        let at = if *cell > 0 { format!("{path}:cell {cell}:{line}") } else { format!("{path}:{line}") };
        for code in want.iter().filter(|c| !codes.contains(c)) {
            let _ = writeln!(failures, "MISSED {at}: {code}");
        }
        for finding in have.iter().zip(&codes).filter(|(_, code)| !want.contains(code)).map(|(f, _)| f) {
            let _ = writeln!(failures, "EXTRA  {at}: {finding}");
        }
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().and_then(|e| e.to_str()).is_some_and(|e| KINDS.contains(&e)) {
            files.push(path);
        }
    }
}

fn relative(root: &Path, file: &Path) -> String {
    file.strip_prefix(root).unwrap_or(file).display().to_string()
}

/// The lines of a file: cell (0 in a script), line number, text.
fn lines(file: &Path) -> Vec<(u64, u64, String)> {
    let text = std::fs::read_to_string(file).expect("a corpus file is readable");
    if file.extension().is_none_or(|e| e != "ipynb") {
        return (1..).zip(text.lines()).map(|(n, line)| (0, n, line.to_owned())).collect();
    }
    let json: serde_json::Value = serde_json::from_str(&text).expect("a corpus notebook is JSON");
    let mut out = Vec::new();
    for (index, cell) in (1..).zip(json["cells"].as_array().expect("cells")) {
        if cell["cell_type"] != "code" {
            continue;
        }
        let source = match &cell["source"] {
            serde_json::Value::Array(lines) => lines.iter().filter_map(|l| l.as_str()).collect::<String>(),
            other => other.as_str().unwrap_or_default().to_owned(),
        };
        out.extend((1..).zip(source.lines()).map(|(n, line)| (index, n, line.to_owned())));
    }
    out
}

/// The expected findings of a line that ends in a comment like `# error: TV103, warning: TV106`.
fn expectation(line: &str) -> Option<Vec<String>> {
    let at = ["# error: TV", "# warning: TV", "# info: TV"].iter().filter_map(|mark| line.find(mark)).min()?;
    let comment = line.get(at + 2..)?;
    let mut severity = "";
    let mut said = Vec::new();
    for part in comment.split([',', ';']) {
        let part = part.trim().trim_start_matches("# ");
        let code = match part.split_once(':') {
            Some((level, code)) => {
                severity = level.trim();
                code.trim()
            }
            None => part,
        };
        said.push(format!("{severity}: {}", code.split_whitespace().next().unwrap_or_default()));
    }
    Some(said)
}

fn check(root: &Path, folder: &Path) -> Findings {
    let output = Command::new(env!("CARGO_BIN_EXE_torchvet"))
        .args(["check", "--isolated", "--output-format", "json"])
        .arg(folder)
        .current_dir(root)
        .output()
        .expect("torchvet runs");
    assert!(output.status.code().is_some_and(|c| c < 2), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let mut found = Findings::new();
    for finding in json.as_array().expect("an array") {
        let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        let said = format!("{}: {} | {}", text("severity"), text("code"), text("message"));
        // `repeats` contains the other places with the same cause.
        for place in std::iter::once(finding).chain(finding["repeats"].as_array().expect("an array")) {
            let file = place["filename"].as_str().unwrap_or_default().to_owned();
            let (cell, row) = (place["cell"].as_u64().unwrap_or(0), place["location"]["row"].as_u64().unwrap_or(0));
            found.entry((file, cell, row)).or_default().push(said.clone());
        }
    }
    found
}
