//! `--watch`: checks again whenever a Python file, a notebook or a TOML file changes.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use notify::{Event, EventKind, RecursiveMode, Watcher};

use super::Failure;

/// Editors write a file in several steps. So the work begins only when there was no change for this
/// long.
const SETTLE: Duration = Duration::from_millis(100);

/// Does the work now and after each change of a `.py`, `.ipynb` or `.toml` file below the paths,
/// until the process is stopped. Changes that follow each other closely are handled together.
pub(super) fn watch(paths: &[PathBuf], mut work: impl FnMut() -> Result<(), Failure>) -> Result<(), Failure> {
    let failed = |error: notify::Error| Failure::Message(format!("cannot watch: {error}"));
    let (send, changes) = mpsc::channel();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        if event.is_ok_and(|event| is_change(&event)) {
            let _ = send.send(());
        }
    })
    .map_err(failed)?;
    for path in paths {
        watcher.watch(path, RecursiveMode::Recursive).map_err(failed)?;
    }
    loop {
        work()?;
        if changes.recv().is_err() {
            return Ok(());
        }
        loop {
            match changes.recv_timeout(SETTLE) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }
}

fn is_change(event: &Event) -> bool {
    let read_only = matches!(event.kind, EventKind::Access(_));
    !read_only && event.paths.iter().any(|path| is_ours(path))
}

fn is_ours(path: &Path) -> bool {
    let ours = |extension: &std::ffi::OsStr| extension == "py" || extension == "ipynb" || extension == "toml";
    path.extension().is_some_and(ours)
}
