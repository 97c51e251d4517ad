//! An image and its mask, transformed with different random numbers, by one transform or by two.
//!
//! The model of the loader compares the parts of a sample. If the program seeds a generator while
//! the sample is computed, the image and the mask may get the same random numbers, so nothing is
//! reported.

use crate::diagnostic::Severity;
use crate::rules::rule::{Call, Context, Rule};

const NAME: &str = "mask-moved-apart";
/// The path of an internal call, which no program makes. The model of the loader makes it for a
/// mask if the transform of the mask used other random numbers than the transform of the image.
const APART: &str = "torch.utils.data.drawn_apart";

#[derive(Default)]
pub(crate) struct MaskMovedApart;

impl Rule for MaskMovedApart {
    fn call(&self, cx: &mut Context<'_, '_>, Call { path, .. }: Call<'_>) {
        let span = cx.span;
        if path.as_str() != APART {
            return;
        }
        let message = "the mask is transformed with its own random parameters, so it no longer matches the image";
        cx.findings.report(NAME, Severity::Error, message, span, Vec::new());
    }
}
