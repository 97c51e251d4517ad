//! `CUDA_LAUNCH_BLOCKING` set too late.
//!
//! The severity depends on what ran before the variable is set:
//! * Info after `import torch`: the import makes no CUDA call, so the variable still has an effect,
//!   but a later edit may insert a CUDA call between the two lines.
//! * Warning after `torch.cuda.is_available()`: the driver is initialised but has no context, and
//!   NVIDIA does not document when the driver reads the variable.
//! * Error after CUDA was initialised, for example by a tensor on the GPU: the driver ignores the
//!   variable, but PyTorch reads it and no longer says that stack traces may be wrong.

use std::cell::RefCell;

use crate::diagnostic::{Label, Severity};
use crate::libraries;
use crate::python::{Bound, Event, Interp};
use crate::rules::notes::{COPIED, SPAWNED, WORKER, holds};
use crate::rules::rule::{Call, Context, Rule};
use crate::syntax::Span;
use crate::value::{Sym, Topic, Value};

const NAME: &str = "late-launch-blocking";
/// How far CUDA is initialised, as a [`Progress`].
const PROGRESS: Topic = Topic::new("progress of CUDA");

/// How far CUDA is initialised, stored on the heap as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Progress {
    Untouched,
    /// PyTorch is imported.
    Imported,
    /// The program has queried the devices.
    Queried,
    Initialised,
}

impl Progress {
    const ALL: [Progress; 4] = [Progress::Untouched, Progress::Imported, Progress::Queried, Progress::Initialised];
}

/// Calls that query the driver without creating a context.
const QUERIES: &[&str] = &["torch.cuda.is_available"];

/// Calls that initialise CUDA.
const INITIALISERS: &[&str] = &[
    "torch.cuda.init",
    "torch.cuda.current_device",
    "torch.cuda.set_device",
    "torch.cuda.get_device_name",
    "torch.cuda.get_device_properties",
    "torch.cuda.get_device_capability",
    "torch.cuda.mem_get_info",
    "torch.cuda.synchronize",
    "torch.cuda.current_stream",
    "torch.Tensor.cuda",
    "torch.nn.Module.cuda",
];

struct Reached {
    level: Progress,
    span: Span,
}

#[derive(Default)]
pub(crate) struct LateLaunchBlocking {
    /// The first call that reached each level, for the labels.
    reached: RefCell<Vec<Reached>>,
}

impl Rule for LateLaunchBlocking {
    fn begin(&self, cx: &mut Context<'_, '_>) {
        remember(cx.it, Progress::Untouched);
    }

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &mut *cx.it;
        let span = cx.span;
        let name = path.as_str();
        if is_in_other_process(it) {
            return;
        }
        if touches_cuda(path, bound) {
            self.reach(it, Progress::Initialised, span);
        } else if QUERIES.contains(&name) {
            self.reach(it, Progress::Queried, span);
        }
    }

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let it = &mut *cx.it;
        match event {
            Event::Import { path, span } => {
                let package = path.as_str().split('.').next().unwrap_or_default();
                if libraries::find(package).is_some_and(|library| library.imports_torch) {
                    self.reach(it, Progress::Imported, span);
                }
            }
            Event::SetEnv { name: "CUDA_LAUNCH_BLOCKING", value, span } => {
                // In a function that nothing calls, it is not known what ran before.
                if it.speculative() || is_in_other_process(it) || matches!(value.as_str(), Some("0" | "")) {
                    return;
                }
                let certain = progress(it);
                let highest = || self.reached.borrow().iter().map(|reached| reached.level).max();
                let Some(level) = certain.or_else(highest) else { return };
                let (mut severity, message) = match level {
                    Progress::Initialised => (
                        Severity::Error,
                        "CUDA_LAUNCH_BLOCKING is set after CUDA was initialised: it has no effect, and stack traces \
                         still point at the wrong line",
                    ),
                    Progress::Queried => (
                        Severity::Warning,
                        "CUDA_LAUNCH_BLOCKING is set after the CUDA devices were queried: it may have no \
                         effect",
                    ),
                    Progress::Imported => (
                        Severity::Info,
                        "CUDA_LAUNCH_BLOCKING is set after `import torch`: it works only if no earlier line uses \
                         CUDA",
                    ),
                    Progress::Untouched => return,
                };
                if certain.is_none() {
                    severity = severity.min(Severity::Warning);
                }
                let labels = self.labels(level);
                cx.findings.report(NAME, severity, message, span, labels);
            }
            _ => {}
        }
    }
}

impl LateLaunchBlocking {
    fn reach(&self, it: &mut Interp<'_>, level: Progress, span: Span) {
        if progress(it).is_none_or(|have| have < level) {
            remember(it, level);
        }
        let mut reached = self.reached.borrow_mut();
        if !reached.iter().any(|reached| reached.level == level) {
            reached.push(Reached { level, span });
        }
    }

    fn labels(&self, level: Progress) -> Vec<Label> {
        let reached = self.reached.borrow();
        let what = match level {
            Progress::Initialised => "this initialises CUDA",
            Progress::Queried => "this queries the driver",
            _ => "torch is imported here",
        };
        reached
            .iter()
            .filter(|reached| reached.level == level)
            .map(|reached| Label { span: reached.span, message: what.to_owned() })
            .collect()
    }
}

/// Whether the current code runs in a worker of a loader or in a process that the program started:
/// each process initialises CUDA separately.
fn is_in_other_process(it: &Interp<'_>) -> bool {
    [WORKER, COPIED, SPAWNED].into_iter().any(|topic| holds(it, topic))
}

/// How far CUDA is initialised; `None` if that depends on the path.
pub(crate) fn progress(it: &Interp<'_>) -> Option<Progress> {
    let number = it.remembered(PROGRESS)?.as_int()?;
    Progress::ALL.into_iter().find(|progress| *progress as i64 == number)
}

fn remember(it: &mut Interp<'_>, progress: Progress) {
    it.remember(PROGRESS, Value::Int(progress as i64));
}

/// Whether a call initialises CUDA, if no earlier call did.
pub(crate) fn touches_cuda(path: Sym, bound: &Bound) -> bool {
    INITIALISERS.contains(&path.as_str()) || to_cuda(bound)
}

/// Whether an argument puts something on a CUDA device.
fn to_cuda(bound: &Bound) -> bool {
    let cuda = |value: &Value| match value {
        Value::Device(device) => device.is_cuda(),
        Value::Str(text) => text.starts_with("cuda"),
        _ => false,
    };
    let takes_device = |name: &str| matches!(name, "device" | "other" | "dtype" | "args");
    bound
        .sig
        .params
        .iter()
        .zip(&bound.values)
        .any(|(param, value)| takes_device(param.name.as_str()) && value.as_ref().is_some_and(|a| cuda(&a.value)))
        || bound.rest.iter().any(|a| cuda(&a.value))
}
