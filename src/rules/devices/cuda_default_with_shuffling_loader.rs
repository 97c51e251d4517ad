//! A loader that shuffles while CUDA is the default device.
//!
//! The sampler creates its permutation on the default device, but with its own generator, which is
//! on the CPU. PyTorch rejects this if the devices differ. A default set by `with torch.device(…)`
//! is not reported, because the loop over the loader may be outside the block.

use crate::diagnostic::Severity;
use crate::rules::notes::{DEFAULT_DEVICE, DEVICES_BEFORE};
use crate::rules::rule::{Call, Context, Rule};
use crate::value::Value;

const NAME: &str = "cuda-default-with-shuffling-loader";

#[derive(Default)]
pub(crate) struct CudaDefaultWithShufflingLoader;

impl Rule for CudaDefaultWithShufflingLoader {
    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &*cx.it;
        let span = cx.span;
        if path.as_str() != "torch.utils.data.DataLoader" {
            return;
        }
        let cuda = matches!(it.remembered(DEFAULT_DEVICE), Some(Value::Device(device)) if device.is_cuda());
        let nested = it
            .remembered(DEVICES_BEFORE)
            .is_some_and(|v| it.heap.exact_items(&v).is_none_or(|stack| !stack.is_empty()));
        let plain = ["sampler", "batch_sampler", "generator"].iter().all(|name| bound.get(name).is_none());
        // Older versions have no generator for this.
        if it.excludes("torch", "1.9")
            || !cuda
            || nested
            || !plain
            || bound.get("shuffle").as_bool() != Some(true)
            || bound.open
        {
            return;
        }
        let message = "the loader shuffles with a generator on the CPU, but new tensors are on CUDA by default";
        cx.findings.report(NAME, Severity::Error, message, span, Vec::new());
    }
}
