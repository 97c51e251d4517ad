//! Environment variables that are set after they were read.
//!
//! The time at which each variable is read was determined by experiment. Variables that were not
//! tested in this way are not reported. A variable that is set too late for this process may be
//! meant for child processes, so nothing is reported in programs that import or call one of
//! [`STARTERS`] or [`OS_STARTERS`]. The workers of a `DataLoader` do not count.

use std::cell::{Cell, RefCell};

use crate::diagnostic::Severity;
use crate::python::{Certainty, Event};
use crate::rules::environment::late_launch_blocking::{Progress, progress};
use crate::rules::notes::holds;
use crate::rules::rule::{Call, Context, Rule};
use crate::syntax::Span;
use crate::value::{Device, Topic, Value};

const NAME: &str = "late-environment-variable";
/// Whether cuBLAS has been used.
const CUBLAS: Topic = Topic::new("cuBLAS used");
/// Whether there is a process group.
const GROUP: Topic = Topic::new("process group");

/// The time at which a variable is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Read {
    Import,
    /// When the driver is initialised, perhaps already by the first query of devices.
    Driver,
    /// At the first use of CUDA.
    Cuda,
    /// At the first matrix product on the GPU.
    Cublas,
    /// When the process group is created.
    Group,
}

#[rustfmt::skip]
const VARIABLES: &[(&str, Read, &str)] = &[
    ("OMP_NUM_THREADS", Read::Import, "torch.set_num_threads() works at any time"),
    ("MKL_NUM_THREADS", Read::Import, "torch.set_num_threads() works at any time"),
    ("TORCH_LOGS", Read::Import, "torch._logging.set_logs() works at any time"),
    ("TORCH_CUDA_SANITIZER", Read::Import, "set it before torch is imported"),
    ("TORCH_DISTRIBUTED_DEBUG", Read::Import, "set it before torch is imported"),
    ("TORCH_SHOW_CPP_STACKTRACES", Read::Import, "set it before torch is imported"),
    ("CUDA_VISIBLE_DEVICES", Read::Driver, "set it before CUDA is used, or use torch.cuda.set_device()"),
    ("CUDA_DEVICE_ORDER", Read::Driver, "set it before CUDA is used"),
    ("PYTORCH_CUDA_ALLOC_CONF", Read::Cuda, "set it before CUDA is used"),
    ("PYTORCH_ALLOC_CONF", Read::Cuda, "set it before CUDA is used"),
    ("PYTORCH_NO_CUDA_MEMORY_CACHING", Read::Cuda, "set it before CUDA is used"),
    ("CUBLAS_WORKSPACE_CONFIG", Read::Cublas, "set it before the first matrix product"),
    ("TORCH_NCCL_BLOCKING_WAIT", Read::Group, "set it before init_process_group()"),
    ("TORCH_NCCL_ASYNC_ERROR_HANDLING", Read::Group, "set it before init_process_group()"),
];

/// Modules and functions with which programs start other processes.
const STARTERS: &[&str] = &[
    "subprocess",
    "multiprocessing",
    "torch.multiprocessing",
    "torch.distributed.run",
    "torch.distributed.launch",
    "torch.distributed.launcher",
    "torch.distributed.elastic",
    "concurrent",
    "submitit",
    "ray",
    "joblib",
    "pexpect",
];

/// The beginnings of the names of such functions of `os`: `os.execve`, `os.spawnlp`.
const OS_STARTERS: &[&str] = &["os.system", "os.popen", "os.fork", "os.posix_spawn", "os.exec", "os.spawn"];

/// Whether a path is one of [`STARTERS`], a member of one, or one of [`OS_STARTERS`].
fn is_starter(path: &str) -> bool {
    OS_STARTERS.iter().any(|name| path.starts_with(name))
        || STARTERS
            .iter()
            .any(|name| path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}

struct Late {
    span: Span,
    name: &'static str,
    read: Read,
    certain: bool,
    advice: &'static str,
}

#[derive(Default)]
pub(crate) struct LateEnvironmentVariable {
    late: RefCell<Vec<Late>>,
    starts_others: Cell<bool>,
    /// The program limits PyTorch's threads itself. It then sets the variables for other libraries.
    sets_threads: Cell<bool>,
}

impl Rule for LateEnvironmentVariable {
    fn begin(&self, cx: &mut Context<'_, '_>) {
        let it = &mut *cx.it;
        it.remember(CUBLAS, Value::Bool(false));
        it.remember(GROUP, Value::Bool(false));
    }

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &mut *cx.it;
        if is_starter(path.as_str()) {
            self.starts_others.set(true);
        }
        if path.as_str() == "torch.set_num_threads" {
            self.sets_threads.set(true);
        }
        match path.as_str() {
            "torch.nn.functional.linear" | "torch.matmul" | "torch.mm" | "torch.bmm" | "torch.addmm" => {
                let first = bound.get("input");
                let on = it.heap.tensor_ref(&first).and_then(|t| t.device);
                if on.is_some_and(Device::is_cuda) && !holds(it, CUBLAS) {
                    it.remember(CUBLAS, Value::Bool(true));
                }
            }
            "torch.distributed.init_process_group" => it.remember(GROUP, Value::Bool(true)),
            _ => {}
        }
    }

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let it = &*cx.it;
        match event {
            Event::Import { path, .. } if is_starter(path.as_str()) => self.starts_others.set(true),
            Event::Unseen { name, .. }
                if matches!(name.as_str(), "spawn" | "system" | "Popen" | "launch" | "SubprocVecEnv") =>
            {
                self.starts_others.set(true);
            }
            // In a script that another file imports, the variable may be set in time for the script itself.
            Event::SetEnv { name, span, .. } if !it.speculative() && !it.is_other_script(span.file) => {
                let Some((name, read, advice)) = VARIABLES.iter().find(|(have, ..)| *have == name) else { return };
                let level = progress(it).unwrap_or(Progress::Untouched);
                let flag = |topic: Topic| holds(it, topic);
                let (late, certain) = match read {
                    Read::Import => (level >= Progress::Imported, true),
                    // No experiment has shown which variables the driver has read after a query of
                    // devices.
                    Read::Driver => (level >= Progress::Queried, level >= Progress::Initialised),
                    Read::Cuda => (level >= Progress::Initialised, true),
                    Read::Cublas => (flag(CUBLAS), true),
                    Read::Group => (flag(GROUP), true),
                };
                // The condition of the arm may exclude the runs in which CUDA was used before.
                if late && it.certainty() != Certainty::Guessed {
                    self.late.borrow_mut().push(Late { span, name, read: *read, certain, advice });
                }
            }
            _ => {}
        }
    }

    fn end(&self, cx: &mut Context<'_, '_>) {
        if self.starts_others.get() {
            return;
        }
        for late in &*self.late.borrow() {
            if self.sets_threads.get() && late.name.ends_with("_NUM_THREADS") {
                continue;
            }
            let when = match late.read {
                Read::Import => "torch was imported",
                Read::Driver if late.certain => "CUDA was initialised",
                Read::Driver => "the CUDA devices were queried",
                Read::Cuda => "CUDA was initialised",
                Read::Cublas => "cuBLAS was used",
                Read::Group => "the process group was created",
            };
            let effect = if late.certain { "it has no effect" } else { "it may have no effect" };
            let message = format!("{} is set after {when}: {effect} ({})", late.name, late.advice);
            let severity = if late.certain { Severity::Error } else { Severity::Warning };
            cx.findings.report(NAME, severity, message, late.span, Vec::new());
        }
    }
}
