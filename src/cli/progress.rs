//! A progress line on the terminal during long runs.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// Runs that are shorter than this show no progress.
const PATIENCE: Duration = Duration::from_millis(1500);

/// The progress of a run.
#[derive(Default)]
pub(super) struct Progress {
    done: AtomicUsize,
    over: AtomicBool,
}

impl Progress {
    /// Counts one finished item.
    pub(super) fn step(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Runs a function, and shows its progress if this is enabled and the function takes long.
    pub(super) fn during<T: Send>(
        wanted: bool,
        (doing, total, what): (&str, usize, &str),
        work: impl FnOnce(&Progress) -> T + Send,
    ) -> T {
        let progress = Progress::default();
        if !wanted || !io::stderr().is_terminal() {
            return work(&progress);
        }
        std::thread::scope(|scope| {
            let display = scope.spawn(|| progress.show(doing, total, what));
            // Ends the display even if the work panics.
            let _end = End(&progress, display.thread());
            work(&progress)
        })
    }

    fn show(&self, doing: &str, total: usize, what: &str) {
        let start = Instant::now();
        let mut shown = false;
        while !self.over.load(Ordering::Relaxed) {
            std::thread::park_timeout(Duration::from_millis(50));
            if start.elapsed() > PATIENCE {
                let done = self.done.load(Ordering::Relaxed);
                let _ = write!(io::stderr(), "\r{doing} {done}/{total} {what}\x1b[K");
                shown = true;
            }
        }
        if shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

struct End<'a>(&'a Progress, &'a Thread);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::Relaxed);
        self.1.unpark();
    }
}
