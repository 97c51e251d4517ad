//! A process of the user's Python that answers requests with JSON lines over pipes. The Python half
//! is sent through standard input, so no file is written.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::python::Python;
use super::runtime::{self, VERSION};

/// What Python runs: a function in a module of the Python half.
pub(super) struct Work {
    pub module: &'static str,
    pub function: &'static str,
    pub arguments: serde_json::Value,
    pub environment: Vec<(&'static str, &'static str)>,
    /// Whether the output on standard error is needed, because the driver prints there.
    pub reads_stderr: bool,
}

pub(super) struct Worker {
    child: Child,
    requests: Option<ChildStdin>,
    answers: Receiver<String>,
    stderr: Option<JoinHandle<String>>,
}

/// The result of waiting for an answer.
#[derive(Debug)]
pub(super) enum Answer<T> {
    Said(T),
    /// The process has ended.
    Gone,
    /// No answer came within the limit.
    Late,
}

/// The maximum number of bytes of standard error to keep.
const MOST_STDERR: u64 = 1 << 20;

impl Worker {
    pub(super) fn start(python: &Python, work: &Work) -> Result<Worker, String> {
        let mut command = Command::new(&python.path);
        command.args(["-B", "-c", runtime::BOOTSTRAP]);
        command.env_remove("TORCHVET_PROBE").env("PYTHONIOENCODING", "utf-8");
        command.envs(work.environment.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(if work.reads_stderr { Stdio::piped() } else { Stdio::null() });
        let shown = python.path.display();
        let mut child = command.spawn().map_err(|error| format!("cannot run `{shown}`: {error}"))?;
        let requests = child.stdin.take();
        let stdout = child.stdout.take().ok_or("no pipe")?;
        let (send, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        let stderr = child.stderr.take().map(|stderr| {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                let _ = stderr.take(MOST_STDERR).read_to_end(&mut bytes);
                String::from_utf8_lossy(&bytes).into_owned()
            })
        });
        let mut worker = Worker { child, requests, answers, stderr };
        let Work { module, function, arguments, .. } = work;
        let modules = runtime::modules();
        worker.ask(&json!({ "modules": modules, "module": module, "function": function, "arguments": arguments }));
        Ok(worker)
    }

    /// Sends a request. An error is not reported here: the worker then sends no answer.
    pub(super) fn ask(&mut self, request: &impl Serialize) {
        let Ok(mut line) = serde_json::to_vec(request) else { return };
        line.push(b'\n');
        if let Some(pipe) = &mut self.requests {
            let _ = pipe.write_all(&line).and_then(|()| pipe.flush());
        }
    }

    /// The next answer with this protocol version.
    pub(super) fn answer<T: DeserializeOwned>(&self, limit: Duration) -> Answer<T> {
        loop {
            let line = match self.answers.recv_timeout(limit) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => return Answer::Late,
                Err(RecvTimeoutError::Disconnected) => return Answer::Gone,
            };
            let Ok(value) = serde_json::from_str::<serde_json::Value>(&line) else { continue };
            let ours = value.get("version").and_then(serde_json::Value::as_u64) == Some(u64::from(VERSION));
            if let Some(answer) = ours.then(|| serde_json::from_value(value).ok()).flatten() {
                return Answer::Said(answer);
            }
        }
    }

    /// Ends the process. Returns its exit status (`None` if it was killed after the limit) and its
    /// output on standard error.
    pub(super) fn end(mut self, limit: Duration) -> (Option<ExitStatus>, String) {
        self.requests = None;
        let mut waited = Duration::ZERO;
        let pause = Duration::from_millis(10);
        let mut status = None;
        while waited < limit {
            status = self.child.try_wait().ok().flatten();
            if status.is_some() {
                break;
            }
            std::thread::sleep(pause);
            waited += pause;
        }
        if status.is_none() {
            self.kill();
        }
        let said = self.stderr.take().and_then(|reader| reader.join().ok()).unwrap_or_default();
        (status, said)
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}
