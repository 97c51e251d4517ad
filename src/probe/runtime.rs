//! The files of the Python half, and the temporary folder to which `probe run` writes them together
//! with its task.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use serde::Serialize;
use tempfile::TempDir;

use crate::rules::Rules;

/// The version of the task and of the events. Both halves belong to one binary, but a process of
/// the program may outlive this run of the binary.
pub(crate) const VERSION: u32 = 1;

macro_rules! files {
    ($($name:literal),*) => { &[$(($name, include_str!(concat!("runtime/", $name)))),*] };
}

const PACKAGE: &str = "torchvet_probe";
/// The code with which a worker starts. The first request to the worker contains [`modules`].
pub(crate) const BOOTSTRAP: &str = include_str!("runtime/bootstrap.py");
static WORKER: &[(&str, &str)] = files!("contracts.py", "doctor.py", "verify.py");

/// The modules of a worker: name and source.
pub(crate) fn modules() -> BTreeMap<&'static str, &'static str> {
    WORKER.iter().map(|(name, text)| (name.trim_end_matches(".py"), *text)).collect()
}

static FILES: &[(&str, &str)] = files!(
    "__init__.py",
    "begin.py",
    "calls.py",
    "contracts.py",
    "describe.py",
    "hooks.py",
    "place.py",
    "session.py",
    "watch.py",
    "virtual/__init__.py",
    "virtual/asserts.py",
    "virtual/autocast.py",
    "virtual/cuda.py",
    "virtual/mixes.py",
    "virtual/mode.py",
    "virtual/storages.py",
    "virtual/tags.py",
    "virtual/tensors.py",
    "virtual/world.py"
);
static START: (&str, &str) = ("sitecustomize.py", include_str!("runtime/sitecustomize.py"));

/// The Python half: each file of the package, and its text.
pub(crate) fn files() -> &'static [(&'static str, &'static str)] {
    FILES
}

/// The contract of a page, in the form for the Python half.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ContractSource {
    pub code: String,
    pub name: String,
    /// The place of the contract, for Python's error messages about the contract.
    pub path: String,
    pub line: usize,
    pub source: String,
    pub contract_of: Vec<String>,
}

impl ContractSource {
    /// The contracts of the enabled rules.
    pub(crate) fn all(rules: &Rules, is_on: impl Fn(&str) -> bool) -> Vec<ContractSource> {
        let pages = rules.pages.iter().filter(|page| is_on(&page.code));
        let of_page = |page: &crate::rules::Page| {
            let source = page.contract().filter(|_| !page.contract_of.is_empty())?;
            Some(ContractSource {
                code: page.code.to_string(),
                name: page.name.to_string(),
                path: format!("rules/{}.md", page.name),
                line: page.line_of(source),
                source: source.to_owned(),
                contract_of: page.contract_of.clone(),
            })
        };
        pages.filter_map(of_page).collect()
    }
}

/// The folder of one run of the probe; it is deleted on drop.
pub(crate) struct Stage {
    folder: TempDir,
}

impl Stage {
    /// Writes the Python half and its task.
    pub(crate) fn new(task: &impl Serialize) -> io::Result<Stage> {
        let stage = Stage { folder: tempfile::Builder::new().prefix("torchvet-").tempdir()? };
        let package = stage.start().join(PACKAGE);
        fs::create_dir_all(package.join("virtual"))?;
        for (name, text) in FILES {
            fs::write(package.join(name), text)?;
        }
        fs::write(stage.start().join(START.0), START.1)?;
        fs::write(stage.events(), "")?;
        fs::write(stage.folder().join("task.json"), serde_json::to_vec(task)?)?;
        Ok(stage)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The folder in which Python finds `sitecustomize` and the package.
    pub(crate) fn start(&self) -> PathBuf {
        self.folder().join("start")
    }

    pub(crate) fn events(&self) -> PathBuf {
        self.folder().join("events.jsonl")
    }

    /// PYTHONPATH with the folder of the probe in front.
    pub(crate) fn python_path(&self) -> OsString {
        let start = self.start();
        let rest = env::var_os("PYTHONPATH").filter(|path| !path.is_empty());
        let rest = rest.iter().flat_map(env::split_paths);
        env::join_paths(std::iter::once(start.clone()).chain(rest)).unwrap_or_else(|_| start.into_os_string())
    }
}
