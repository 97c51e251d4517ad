//! A temporary folder in which torchvet runs.

use std::fs;
use std::process::Output;

use assert_cmd::Command;
use tempfile::TempDir;

/// A temporary folder with files.
pub(crate) struct Sandbox(pub TempDir);

impl Sandbox {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let sandbox = Sandbox(tempfile::tempdir().unwrap());
        for (path, text) in files {
            sandbox.write(path, text);
        }
        sandbox
    }

    pub(crate) fn path(&self, path: &str) -> std::path::PathBuf {
        self.0.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_torchvet"));
        command.current_dir(self.0.path()).args(args);
        command.env_remove("FORCE_COLOR").env_remove("TORCHVET_OUTPUT_FORMAT").env("COLUMNS", "100");
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> String {
        show(&self.command(args).output().unwrap())
    }
}

/// The exit code, standard output and standard error of a run, as text.
pub(crate) fn show(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut all = format!("exit {}\n{}", output.status.code().unwrap_or(-1), text(&output.stdout));
    if !output.stderr.is_empty() {
        all.push_str("--- stderr\n");
        all.push_str(&text(&output.stderr));
    }
    all
}

pub(crate) fn code(output: &str) -> &str {
    output.lines().next().unwrap_or_default()
}

pub(crate) const UNUSED: &str = "x = 1  # torchvet: ignore[TV103]\ny = 2\n";

pub(crate) fn notebook(cells: &[&str]) -> String {
    let cells: Vec<String> = cells
        .iter()
        .map(|source| {
            format!(
                "  {{\n   \"cell_type\": \"code\",\n   \"execution_count\": 1,\n   \"metadata\": {{}},\n   \
                 \"outputs\": [{{\"output_type\": \"stream\", \"name\": \"stdout\", \"text\": \"1e-05\"}}],\n   \
                 \"source\": [{source:?}]\n  }}"
            )
        })
        .collect();
    format!(
        "{{\n \"cells\": [\n{}\n ],\n \"metadata\": {{}},\n \"nbformat\": 4,\n \"nbformat_minor\": 4\n}}\n",
        cells.join(",\n")
    )
}
