//! After a thousand random edits of scripts, the server has the same findings as a new `check`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::client::{Client, range};

const EDITS: usize = 1_000;
/// How often the server is compared with `check`.
const COMPARED: usize = 20;

/// The findings: file, code, severity, place, message.
type Findings = BTreeSet<(String, String, String, [u64; 4], String)>;

/// Lehmer's random number generator, which gives the same numbers on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0 * 48_271 % 0x7fff_ffff;
        usize::try_from(self.0).unwrap() % bound.max(1)
    }
}

/// A text in the editor, with the replacements that undo its edits.
struct Buffer {
    path: PathBuf,
    uri: String,
    version: i64,
    text: String,
    undo: Vec<(usize, usize, String)>,
}

impl Buffer {
    /// Replaces bytes, and returns the change for the server.
    fn edit(&mut self, start: usize, end: usize, new: &str) -> Value {
        let place = |at: usize| {
            let before = &self.text[..at];
            let line = before.matches('\n').count() as u64;
            (line, before.rsplit('\n').next().unwrap().encode_utf16().count() as u64)
        };
        let ((line, column), (end_line, end_column)) = (place(start), place(end));
        let old = self.text[start..end].to_owned();
        self.text.replace_range(start..end, new);
        self.undo.push((start, start + new.len(), old));
        json!({"range": range([line, column, end_line, end_column]), "text": new})
    }

    fn random(&mut self, random: &mut Random, others: &[String]) -> Value {
        if let Some((start, end, old)) = (random.below(10) < 4).then(|| self.undo.pop()).flatten() {
            let change = self.edit(start, end, &old);
            self.undo.pop();
            return change;
        }
        let lines: Vec<usize> = std::iter::once(0).chain(self.text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let line = random.below(lines.len());
        let start = lines[line];
        let end = lines.get(line + 1).copied().unwrap_or(self.text.len());
        let at = boundary(&self.text, start + random.below(end - start + 1));
        match random.below(8) {
            // Deletes, duplicates or inserts a line.
            0 => self.edit(start, end, ""),
            1 => {
                let line = self.text[start..end].to_owned();
                self.edit(end, end, &line)
            }
            2 => {
                let other = others[random.below(others.len())].clone();
                self.edit(start, start, &other)
            }
            // Changes a digit, or inserts a comment.
            3 | 4 => match self.text[start..end].find(|c: char| c.is_ascii_digit()) {
                Some(digit) => {
                    let new = random.below(10).to_string();
                    self.edit(start + digit, start + digit + 1, &new)
                }
                None => self.edit(start, start, "# 😀 é\n"),
            },
            5 => {
                let new =
                    ["(", ")", " ", "\n", "x", ".", ",", "'", "\"\"\"", "é", "😀", "0", "#", ":"][random.below(14)];
                self.edit(at, at, new)
            }
            6 => {
                let to = boundary(&self.text, (at + 1 + random.below(6)).min(self.text.len()));
                self.edit(at, to.max(at), "")
            }
            _ => {
                let new = [".cuda()", ".long()", "  # torchvet: ignore[TV103]", "  # noqa", " + 1"][random.below(5)];
                let line_end = start + self.text[start..end].trim_end().len();
                self.edit(line_end, line_end, new)
            }
        }
    }
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[test]
fn random_edits_end_in_what_check_says() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::write(root.join("torchvet.toml"), "").unwrap();
    let mut random = Random(20_261_121);
    let mut files = Vec::new();
    collect(&corpus, &mut files);
    files.sort();
    // Some scripts of a single file, and all files of two packages.
    let alone: Vec<PathBuf> =
        files.iter().filter(|path| path.parent().and_then(Path::parent) == Some(&corpus)).cloned().collect();
    let mut chosen: Vec<PathBuf> = (0..14).map(|_| alone[random.below(alone.len())].clone()).collect();
    let together: BTreeSet<&Path> =
        files.iter().filter(|path| !alone.contains(path)).filter_map(|path| path.parent()).collect();
    for package in together.iter().take(2) {
        chosen.extend(files.iter().filter(|path| path.parent() == Some(package)).cloned());
    }
    chosen.sort();
    chosen.dedup();
    let mut client = Client::start(&root, json!({}), Value::Null);
    let mut buffers: Vec<Buffer> = Vec::new();
    for file in &chosen {
        let path = root.join(file.strip_prefix(&corpus).unwrap());
        let text = fs::read_to_string(file).unwrap().replace("\r\n", "\n");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &text).unwrap();
        let uri = client.open(&path, &text);
        buffers.push(Buffer { path, uri, version: 1, text, undo: Vec::new() });
    }
    let lines: Vec<String> =
        buffers.iter().flat_map(|buffer| buffer.text.split_inclusive('\n')).map(str::to_owned).collect();
    let mut compared = 0;
    for edit in 1..=EDITS {
        let index = random.below(buffers.len());
        let buffer = &mut buffers[index];
        let several = 1 + random.below(4) / 3;
        let changes: Vec<Value> = (0..several).map(|_| buffer.random(&mut random, &lines)).collect();
        buffer.version += 1;
        client.change(&buffer.uri, buffer.version, Value::Array(changes));
        // After every fourth edit, waits until the server has finished, so that its caches are filled.
        if edit % 4 == 0 {
            client.settle(&[&buffer.uri]);
        }
        if edit % (EDITS / COMPARED) == 0 {
            compared += compare(&mut client, &root, &buffers, edit);
        }
    }
    assert!(compared > 100, "too few findings were compared: {compared}");
    assert_eq!(client.end(), Some(0));
}

fn compare(client: &mut Client, root: &Path, buffers: &[Buffer], edit: usize) -> usize {
    let uris: Vec<&str> = buffers.iter().map(|buffer| buffer.uri.as_str()).collect();
    client.settle(&uris);
    let texts: BTreeMap<String, &str> = buffers.iter().map(|b| (shown(&b.path, root), b.text.as_str())).collect();
    let mut served = Findings::new();
    for (uri, (_, found)) in &client.published {
        let name = shown(Path::new(uri.strip_prefix("file://").unwrap()), root);
        for found in found {
            let text = texts.get(&name).unwrap_or_else(|| panic!("{name} is not open"));
            let at = |key: &str| {
                let place = &found["range"][key];
                let (line, units) = (place["line"].as_u64().unwrap(), place["character"].as_u64().unwrap());
                (line + 1, characters(text, line, units) + 1)
            };
            let ((row, column), (end_row, end_column)) = (at("start"), at("end"));
            let severity =
                ["", "error", "warning", "info"][usize::try_from(found["severity"].as_u64().unwrap()).unwrap()];
            let message = found["message"].as_str().unwrap().split('\n').next().unwrap();
            served.insert((
                name.clone(),
                found["code"].as_str().unwrap().to_owned(),
                severity.to_owned(),
                [row, column, end_row, end_column],
                message.to_owned(),
            ));
        }
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_torchvet"));
    command.args(["check", "--output-format", "json"]);
    for buffer in buffers {
        fs::write(&buffer.path, &buffer.text).unwrap();
        command.arg(&buffer.path);
    }
    let output = command.current_dir(root).output().unwrap();
    let entries: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let mut fresh = Findings::new();
    for entry in entries.as_array().unwrap() {
        let at = |key: &str| (entry[key]["row"].as_u64().unwrap(), entry[key]["column"].as_u64().unwrap());
        let ((row, column), (end_row, end_column)) = (at("location"), at("end_location"));
        let text = |key: &str| entry[key].as_str().unwrap().to_owned();
        let message = text("message").split('\n').next().unwrap().to_owned();
        fresh.insert((text("filename"), text("code"), text("severity"), [row, column, end_row, end_column], message));
    }
    let only_served: Vec<_> = served.difference(&fresh).collect();
    let only_fresh: Vec<_> = fresh.difference(&served).collect();
    assert!(
        only_served.is_empty() && only_fresh.is_empty(),
        "after {edit} edits\nonly the server: {only_served:#?}\nonly check: {only_fresh:#?}"
    );
    served.len()
}

fn shown(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

/// The number of characters in the first `units` UTF-16 units of a line.
fn characters(text: &str, line: u64, units: u64) -> u64 {
    let line = text.split('\n').nth(usize::try_from(line).unwrap()).unwrap_or_default();
    let (mut seen, mut count) = (0, 0);
    for c in line.chars() {
        if seen >= units {
            break;
        }
        seen += c.len_utf16() as u64;
        count += 1;
    }
    count
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "py") {
            files.push(path);
        }
    }
}
