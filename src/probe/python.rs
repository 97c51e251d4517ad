//! The user's Python: its version, and whether the probe can use it.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// The minimum versions for the probe.
const PYTHON: (u32, u32) = (3, 9);
const TORCH: (u32, u32) = (2, 1);

/// A Python whose versions are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Python {
    pub path: PathBuf,
    /// The version of PyTorch, found without importing it.
    pub torch: Option<String>,
}

#[derive(Deserialize)]
struct Answer {
    python: (u32, u32),
    torch: Option<String>,
}

/// Asks only for versions, because importing PyTorch here would take as long as in the program.
const QUESTION: &str = "\
import sys
sys.path[:] = [path for path in sys.path if path]  # not from the user's project
import json
try:
    from importlib.metadata import version
    torch = version('torch')
except Exception:
    torch = None
print(json.dumps({'python': sys.version_info[:2], 'torch': torch}))
";

/// The Python to use: the given one, otherwise that of the active virtual or conda environment,
/// otherwise `python3` (`python` on Windows).
pub(crate) fn choose(named: Option<&Path>) -> PathBuf {
    if let Some(path) = named {
        return path.to_owned();
    }
    let environment = ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().find_map(env::var_os);
    environment.and_then(python_of).unwrap_or_else(|| PathBuf::from(if cfg!(windows) { "python" } else { "python3" }))
}

fn python_of(environment: OsString) -> Option<PathBuf> {
    let folder = PathBuf::from(environment);
    let inside = if cfg!(windows) { ["Scripts/python.exe", "python.exe"] } else { ["bin/python", "bin/python3"] };
    inside.iter().map(|name| folder.join(name)).find(|path| path.is_file())
}

impl Python {
    /// Asks a Python interpreter for its version and that of its PyTorch. An error if Python is too old.
    pub(crate) fn ask(path: PathBuf) -> Result<Python, String> {
        let shown = path.display();
        let output = Command::new(&path).args(["-c", QUESTION]).env_remove("TORCHVET_PROBE").output();
        let output = output.map_err(|error| format!("cannot run `{shown}`: {error}; choose a Python with --python"))?;
        let answer: Answer = serde_json::from_slice(last_line(&output.stdout)).map_err(|_| {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.trim().lines().last().unwrap_or("unexpected output").to_owned();
            format!("the probe cannot use `{shown}`: {said}")
        })?;
        if answer.python < PYTHON {
            let (major, minor) = answer.python;
            return Err(format!(
                "`{shown}` is Python {major}.{minor}; the probe needs {}.{} or newer",
                PYTHON.0, PYTHON.1
            ));
        }
        Ok(Python { torch: answer.torch, path })
    }

    /// Checks that the PyTorch of this Python can be used; the error says why not.
    pub(crate) fn needs_torch(&self) -> Result<(), String> {
        let shown = self.path.display();
        let Some(torch) = &self.torch else {
            return Err(format!("`{shown}` has no PyTorch; use --python to choose a Python that has it"));
        };
        let mut parts = torch.split(['.', '+', 'a', 'r']).map(str::parse::<u32>);
        match (parts.next(), parts.next()) {
            (Some(Ok(major)), Some(Ok(minor))) if (major, minor) < TORCH => {
                Err(format!("`{shown}` has PyTorch {torch}; the probe needs {}.{} or newer", TORCH.0, TORCH.1))
            }
            _ => Ok(()),
        }
    }
}

/// The last line: the user's `sitecustomize` may print something before it.
fn last_line(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii_end().rsplit(|&byte| byte == b'\n').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn torch(version: Option<&str>) -> Result<(), String> {
        Python { path: PathBuf::from("python"), torch: version.map(str::to_owned) }.needs_torch()
    }

    #[test]
    fn old_versions_are_refused() {
        assert_eq!(torch(Some("2.15.0+cu132")), Ok(()));
        assert_eq!(torch(Some("2.1.0a0+git1234")), Ok(()));
        assert_eq!(torch(Some("nightly")), Ok(()));
        assert!(torch(Some("1.13.1")).is_err_and(|said| said.contains("needs 2.1")));
        assert!(torch(None).is_err_and(|said| said.contains("no PyTorch")));
    }

    #[test]
    fn a_named_python_is_used() {
        assert_eq!(choose(Some(Path::new("/opt/python"))), PathBuf::from("/opt/python"));
    }
}
