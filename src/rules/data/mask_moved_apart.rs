//! A picture and its mask, moved by two random draws of the same or of different transforms.
//!
//! The model of the loader compares what a sample consists of; a generator that is seeded anew
//! between the draws repeats them, and nothing is announced.

use crate::diagnostic::Severity;
use crate::rules::rule::{Call, Context, Rule};

const NAME: &str = "mask-moved-apart";
/// The name under which the model of the loader announces such a mask.
const APART: &str = "torch.utils.data.drawn_apart";

#[derive(Default)]
pub struct MaskMovedApart;

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
