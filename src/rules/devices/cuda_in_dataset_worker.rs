//! CUDA in the worker processes of a loader.
//!
//! On Linux before Python 3.14, workers are forked unless the program changes the start method. If
//! the program has used CUDA before the fork, a worker that uses CUDA fails. Otherwise, CUDA in a
//! worker is only inefficient.

use crate::diagnostic::Severity;
use crate::rules::environment::late_launch_blocking::{Progress, progress, touches_cuda};
use crate::rules::notes::{WORKER, holds};
use crate::rules::rule::{Call, Context, Rule};

const NAME: &str = "cuda-in-dataset-worker";

#[derive(Default)]
pub(crate) struct CudaInDatasetWorker;

impl Rule for CudaInDatasetWorker {
    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &*cx.it;
        let span = cx.span;
        if !holds(it, WORKER) || !touches_cuda(path, bound) {
            return;
        }
        let (severity, message) = match progress(it) {
            Some(Progress::Initialised) => (
                Severity::Error,
                "CUDA is used in a worker process of the loader, which is forked from a process that has used CUDA (the \
                 default on Linux before Python 3.14)",
            ),
            _ => (Severity::Warning, "CUDA is used in a worker process of the loader"),
        };
        cx.findings.report(NAME, severity, message, span, Vec::new());
    }
}
