//! An image and its mask, transformed with different random numbers, by one transform or by two.
//!
//! The model of the loader compares the parts of a sample. If both parts have a floating dtype, the
//! names to which `__getitem__` assigns them tell which one is the mask. If the program seeds a
//! generator while the sample is computed, the image and the mask may get the same random numbers,
//! so nothing is reported.

use std::cell::RefCell;

use crate::diagnostic::{Label, Severity};
use crate::python::Interp;
use crate::rules::rule::{Call, Context, Rule};
use crate::syntax::Span;
use crate::value::Value;

const NAME: &str = "mask-moved-apart";
/// The path of an internal call, which no program makes. The model of the loader makes it for a
/// mask if the transform of the mask used other random numbers than the transform of the image.
const APART: &str = "torch.utils.data.drawn_apart";

/// Parts of the names of masks.
const MASKS: &[&str] = &["mask", "seg", "label", "annot", "gt"];
/// Beginnings of the names of images.
const IMAGES: &[&str] = &["image", "img", "photo", "picture", "input", "x"];

/// A value whose pixels a random transform moved.
struct Moved {
    function: Option<Span>,
    name: String,
    at: Span,
    draw: u32,
}

#[derive(Default)]
pub(crate) struct MaskMovedApart {
    /// The images and masks that the last `__getitem__` has moved.
    moved: RefCell<Vec<Moved>>,
}

impl Rule for MaskMovedApart {
    fn call(&self, cx: &mut Context<'_, '_>, Call { path, .. }: Call<'_>) {
        let span = cx.span;
        if path.as_str() != APART {
            return;
        }
        // The dtypes show what the names only suggest.
        cx.findings.retract(NAME, span);
        let message = "the mask is transformed with its own random parameters, so it no longer matches the image";
        cx.findings.report(NAME, Severity::Error, message, span, Vec::new());
    }

    fn assigned(&self, cx: &mut Context<'_, '_>, name: &str, value: &Value) {
        let it = &*cx.it;
        if !it.inside("__getitem__") {
            return;
        }
        let Some((at, draw)) = draw(it, value) else { return };
        let function = it.function();
        let mut moved = self.moved.borrow_mut();
        moved.retain(|other| other.function == function && other.name != name);
        let is_mask = |name: &str| MASKS.iter().any(|part| name.to_ascii_lowercase().contains(part));
        let is_image = |name: &str| IMAGES.iter().any(|start| name.starts_with(start)) && !is_mask(name);
        if is_mask(name)
            && let Some(image) = moved.iter().find(|other| is_image(&other.name) && other.draw != draw)
        {
            let message = format!(
                "`{name}` is transformed with its own random parameters, so it no longer matches `{}`",
                image.name
            );
            let label = Label { span: image.at, message: format!("`{}` is transformed here", image.name) };
            let labels = Some(label).filter(|label| label.span != at).into_iter().collect();
            cx.findings.report(NAME, Severity::Warning, message, at, labels);
        }
        moved.push(Moved { function, name: name.to_owned(), at, draw });
    }
}

/// The place and number of the random draw that moved the pixels of an image or tensor.
fn draw(it: &Interp<'_>, value: &Value) -> Option<(Span, u32)> {
    if let Some(tensor) = it.heap.tensor_ref(value) {
        return tensor.past.drawn;
    }
    // A PIL image stores the facts of its pixels in an attribute.
    let image = it.heap.instance_of(value).filter(|_| it.is_instance(value, "PIL.Image.Image"))?;
    image.attrs.values().find_map(|part| it.heap.tensor_ref(part)?.past.drawn)
}
