//! A picture and its mask, moved by two random draws of the same or of different transforms.
//!
//! The model of the loader compares what a sample consists of; a generator that is seeded anew
//! between the draws repeats them, and nothing is announced.

use super::watch::{Found, Watching, report};
use crate::diagnostic::Severity;
use crate::python::{Bound, Interp};
use crate::syntax::Span;
use crate::value::Sym;

const NAME: &str = "mask-moved-apart";
/// The name under which the model of the loader announces such a mask.
const APART: &str = "torch.utils.data.drawn_apart";

#[derive(Default)]
pub struct MaskMovedApart;

impl MaskMovedApart {
    pub fn call(&self, with: &Watching<'_>, _: &Interp<'_>, (path, _, span): (Sym, &Bound, Span), found: &mut Found) {
        if path.as_str() != APART {
            return;
        }
        let Some(page) = with.rules.find(NAME) else { return };
        let message = "the mask is moved by a random draw of its own: picture and mask no longer show the same place";
        report(found, page, Severity::Error, message.to_owned(), span, Vec::new());
    }
}
