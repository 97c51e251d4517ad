//! `CUDA_LAUNCH_BLOCKING` set too late.
//!
//! `import torch` makes no CUDA call, so the write after it still works, but only until the
//! first call that touches CUDA, which the next edit may move before it: advice. After
//! `torch.cuda.is_available()` the driver is initialised but no context exists, and when it
//! reads the variable is not documented: a warning too. After a tensor lives on the GPU the
//! driver ignores the write, and PyTorch, which does see it, drops the hint that stack traces
//! are late: an error. (pytorch-contracts: environment variables.)

use std::cell::RefCell;

use super::Rules;
use super::watch::report;
use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::python::{Bound, Event, Interp};
use crate::syntax::Span;
use crate::value::{Sym, Topic, Value};

const NAME: &str = "late-launch-blocking";
/// How far CUDA has come.
const PROGRESS: Topic = Topic::new("progress of CUDA");

pub(super) const IMPORTED: i64 = 1;
pub(super) const QUERIED: i64 = 2;
pub(super) const INITIALISED: i64 = 3;

/// Packages whose import imports torch.
const IMPORTERS: &[&str] = &[
    "torch",
    "torchvision",
    "torchaudio",
    "torchtext",
    "torchmetrics",
    "pytorch_lightning",
    "lightning",
    "accelerate",
    "diffusers",
    "timm",
    "kornia",
    "monai",
    "ultralytics",
    "segmentation_models_pytorch",
    "fastai",
    "sentence_transformers",
    "torch_geometric",
];

/// Calls that ask the driver without making a context.
const QUERIES: &[&str] = &["torch.cuda.is_available", "torch.cuda.device_count"];

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

/// The first call of each kind, for the labels.
#[derive(Default)]
pub struct LateLaunchBlocking {
    reached: RefCell<Vec<(i64, Span)>>,
}

impl LateLaunchBlocking {
    pub fn begin(&self, it: &mut Interp<'_>) {
        it.remember(PROGRESS, Value::Int(0));
    }

    pub fn call(&self, it: &mut Interp<'_>, path: Sym, bound: &Bound, span: Span) {
        let name = path.as_str();
        if touches_cuda(path, bound) {
            self.reach(it, INITIALISED, span);
        } else if QUERIES.contains(&name) {
            self.reach(it, QUERIED, span);
        }
    }

    fn reach(&self, it: &mut Interp<'_>, level: i64, span: Span) {
        if progress(it).is_none_or(|have| have < level) {
            it.remember(PROGRESS, Value::Int(level));
        }
        let mut reached = self.reached.borrow_mut();
        if !reached.iter().any(|(have, _)| *have == level) {
            reached.push((level, span));
        }
    }

    pub fn event(&self, rules: &Rules, it: &mut Interp<'_>, event: Event<'_>, found: &mut Vec<Diagnostic>) {
        match event {
            Event::Import { path, span } => {
                let package = path.as_str().split('.').next().unwrap_or_default();
                if IMPORTERS.contains(&package) {
                    self.reach(it, IMPORTED, span);
                }
            }
            Event::SetEnv { name: "CUDA_LAUNCH_BLOCKING", value, span } => {
                // In a function that nothing calls, what came before is not known.
                if it.speculative() || matches!(value.as_str(), Some("0" | "")) {
                    return;
                }
                let Some(page) = rules.find(NAME) else { return };
                let certain = progress(it);
                let level = certain
                    .unwrap_or_else(|| self.reached.borrow().iter().map(|(level, _)| *level).max().unwrap_or_default());
                let (mut severity, message) = match level {
                    INITIALISED => (
                        Severity::Error,
                        "CUDA_LAUNCH_BLOCKING is set after CUDA was initialised: it has no effect, and stack traces stay late",
                    ),
                    QUERIED => (
                        Severity::Warning,
                        "CUDA_LAUNCH_BLOCKING is set after the CUDA driver was asked for devices: it may have no effect",
                    ),
                    IMPORTED => (
                        Severity::Info,
                        "CUDA_LAUNCH_BLOCKING is set after `import torch`: it works as long as nothing before it touches CUDA",
                    ),
                    _ => return,
                };
                if certain.is_none() {
                    severity = severity.min(Severity::Warning);
                }
                let labels = self.labels(level);
                report(found, page, severity, message.to_owned(), span, labels);
            }
            _ => {}
        }
    }

    fn labels(&self, level: i64) -> Vec<Label> {
        let reached = self.reached.borrow();
        let what = match level {
            INITIALISED => "this initialises CUDA",
            QUERIED => "this asks the driver",
            _ => "torch is imported here",
        };
        reached
            .iter()
            .filter(|(have, _)| *have == level)
            .map(|(_, span)| Label { span: *span, message: what.to_owned() })
            .collect()
    }
}

/// How far CUDA has come; `None` where that depends on the path.
pub(super) fn progress(it: &Interp<'_>) -> Option<i64> {
    it.remembered(PROGRESS).and_then(|value| value.as_int())
}

/// Whether a call needs CUDA to be initialised.
pub(super) fn touches_cuda(path: Sym, bound: &Bound) -> bool {
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
