//! A loader that shuffles while new tensors are made on CUDA by default.
//!
//! The sampler draws its permutation with a generator of its own, which is on the CPU, into
//! a tensor on the default device. A default that `with torch.device(…)` sets is left alone:
//! what counts is the default where the loader is iterated.

use super::notes::{DEFAULT_DEVICE, DEVICES_BEFORE};
use super::watch::{Found, Watching, report};
use crate::diagnostic::Severity;
use crate::python::{Bound, Interp};
use crate::syntax::Span;
use crate::value::{Sym, Value};

const NAME: &str = "cuda-default-with-shuffling-loader";

#[derive(Default)]
pub struct CudaDefaultWithShufflingLoader;

impl CudaDefaultWithShufflingLoader {
    pub fn call(
        &self,
        with: &Watching<'_>,
        it: &Interp<'_>,
        (path, bound, span): (Sym, &Bound, Span),
        found: &mut Found,
    ) {
        if path.as_str() != "torch.utils.data.DataLoader" {
            return;
        }
        let cuda = matches!(it.remembered(DEFAULT_DEVICE), Some(Value::Device(device)) if device.is_cuda());
        let nested = it
            .remembered(DEVICES_BEFORE)
            .is_some_and(|v| it.heap.exact_items(&v).is_none_or(|stack| !stack.is_empty()));
        let plain = ["sampler", "batch_sampler", "generator"].iter().all(|name| bound.get(name).is_none());
        if !cuda || nested || !plain || bound.get("shuffle").as_bool() != Some(true) || bound.open {
            return;
        }
        let Some(page) = with.rules.find(NAME) else { return };
        let message = "the loader shuffles with a generator on the CPU, while new tensors are made on CUDA by default";
        report(found, page, Severity::Error, message.to_owned(), span, Vec::new());
    }
}
