//! A loss that gets one value as input and target, or a normalisation that gets the mean as the standard
//! deviation.

use crate::diagnostic::Severity;
use crate::rules::rule::{Call, Context, Rule};

const NAME: &str = "value-compared-with-itself";

/// Functions, each with two parameters whose arguments should differ.
const PAIRS: &[(&str, &str, &str)] = &[
    ("torch.nn.functional.mse_loss", "input", "target"),
    ("torch.nn.functional.l1_loss", "input", "target"),
    ("torch.nn.functional.smooth_l1_loss", "input", "target"),
    ("torch.nn.functional.huber_loss", "input", "target"),
    ("torch.nn.functional.cross_entropy", "input", "target"),
    ("torch.nn.functional.nll_loss", "input", "target"),
    ("torch.nn.functional.binary_cross_entropy", "input", "target"),
    ("torch.nn.functional.binary_cross_entropy_with_logits", "input", "target"),
    ("torchvision.transforms.Normalize", "mean", "std"),
    ("torchvision.transforms.functional.normalize", "mean", "std"),
];

#[derive(Default)]
pub(crate) struct ValueComparedWithItself;

impl Rule for ValueComparedWithItself {
    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let Some((_, first, second)) = PAIRS.iter().find(|(known, ..)| *known == path.as_str()) else { return };
        // With `reduction="none"`, this may compute the entropy of each probability.
        if path.as_str().contains("binary") && bound.get("reduction").as_str() == Some("none") {
            return;
        }
        let (Some(a), Some(b)) = (bound.span(first), bound.span(second)) else { return };
        let texts = (cx.source(a), cx.source(b));
        let (Some(a), Some(b)) = texts else { return };
        // `Normalize(halves, halves)` takes values from [0, 1] to [-1, 1].
        let is_of_one = || ["mean", "std", "avg", "var"].iter().any(|word| a.to_lowercase().contains(word));
        if path.as_str().ends_with("ormalize") && !is_of_one() {
            return;
        }
        if a != b || !is_one_value(&a) || bound.span(first) == bound.span(second) || cx.it.expects_failure() {
            return;
        }
        let message = format!("`{first}` and `{second}` are both `{a}`");
        cx.findings.report(NAME, Severity::Warning, message, cx.span, Vec::new());
    }
}

/// Whether an expression begins with a name, and has the same value each time it is evaluated. Numbers such
/// as 0.5 do not count, because they are often the same on purpose. Calls other than those in `PURE` do not
/// count, because they may return a different value each time.
fn is_one_value(text: &str) -> bool {
    /// Calls that return the same value each time.
    const PURE: &[&str] = &[".tolist()", ".numpy()", ".detach()", ".cpu()", ".float()", ".item()"];
    let name = PURE.iter().fold(text.to_owned(), |text, call| text.replace(call, ""));
    name.starts_with(|c: char| c.is_alphabetic() || c == '_') && !name.contains('(')
}
