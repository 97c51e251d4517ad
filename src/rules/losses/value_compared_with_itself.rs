//! A loss that gets one value twice, and a normalisation with the mean as the standard deviation.

use crate::diagnostic::Severity;
use crate::rules::rule::{Call, Context, Rule};

const NAME: &str = "value-compared-with-itself";

/// Functions, each with two parameters whose arguments must differ.
const PAIRS: &[(&str, &str, &str)] = &[
    ("torch.nn.functional.mse_loss", "input", "target"),
    ("torch.nn.functional.l1_loss", "input", "target"),
    ("torch.nn.functional.smooth_l1_loss", "input", "target"),
    ("torch.nn.functional.huber_loss", "input", "target"),
    ("torch.nn.functional.cross_entropy", "input", "target"),
    ("torch.nn.functional.nll_loss", "input", "target"),
    ("torch.nn.functional.binary_cross_entropy", "input", "target"),
    ("torch.nn.functional.binary_cross_entropy_with_logits", "input", "target"),
    ("torch.nn.functional.kl_div", "input", "target"),
    ("torchvision.transforms.Normalize", "mean", "std"),
    ("torchvision.transforms.functional.normalize", "mean", "std"),
];

#[derive(Default)]
pub(crate) struct ValueComparedWithItself;

impl Rule for ValueComparedWithItself {
    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let Some((_, first, second)) = PAIRS.iter().find(|(known, ..)| *known == path.as_str()) else { return };
        let (Some(a), Some(b)) = (bound.span(first), bound.span(second)) else { return };
        let texts = (cx.source(a), cx.source(b));
        let (Some(a), Some(b)) = texts else { return };
        // Numbers such as 0.5 are often the same, and a call may give another value each time.
        let is_name = a.starts_with(|c: char| c.is_alphabetic() || c == '_') && !a.contains("rand");
        if a != b || !is_name || bound.span(first) == bound.span(second) || cx.it.expects_failure() {
            return;
        }
        let message = format!("`{first}` and `{second}` are both `{a}`");
        cx.findings.report(NAME, Severity::Warning, message, cx.span, Vec::new());
    }
}
