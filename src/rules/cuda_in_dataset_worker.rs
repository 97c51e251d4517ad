//! CUDA in the worker processes of a loader.
//!
//! On Linux workers are forked unless the program says otherwise, and CUDA does not survive
//! a fork: once the program has used it, a worker cannot. While it has not, a worker that
//! does is merely a bad idea.

use super::late_launch_blocking::{INITIALISED, progress, touches_cuda};
use super::notes::{WORKER, holds};
use super::watch::{Found, Watching, report};
use crate::diagnostic::Severity;
use crate::python::{Bound, Interp};
use crate::syntax::Span;
use crate::value::Sym;

const NAME: &str = "cuda-in-dataset-worker";

#[derive(Default)]
pub struct CudaInDatasetWorker;

impl CudaInDatasetWorker {
    pub fn call(
        &self,
        with: &Watching<'_>,
        it: &Interp<'_>,
        (path, bound, span): (Sym, &Bound, Span),
        found: &mut Found,
    ) {
        if !holds(it, WORKER) || !touches_cuda(path, bound) {
            return;
        }
        let Some(page) = with.rules.find(NAME) else { return };
        let (severity, message) = match progress(it) {
            Some(INITIALISED) => (
                Severity::Error,
                "CUDA is used in a worker process of the loader, which was forked after the program had used CUDA",
            ),
            _ => (Severity::Warning, "CUDA is used in a worker process of the loader"),
        };
        report(found, page, severity, message.to_owned(), span, Vec::new());
    }
}
