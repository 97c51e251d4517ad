//! A call of a tensor method under a misspelt name: `x.sequeeze(1)`, `loss.detatch()`.
//!
//! Objects of other classes may have a method of any name. So the rule knows only long names of tensor
//! methods. The written name must begin and end with the same letters as the method, and have one letter
//! missing, one too many, or two neighbours exchanged. It must occur only once in the file.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::{Ranged, Stmt, TextRange, calls, path_of};

const NAME: &str = "misspelt-attribute";

/// Methods of tensors whose misspellings are not words themselves.
const METHODS: &[&str] = &[
    "argmax",
    "argmin",
    "argsort",
    "backward",
    "bernoulli_",
    "contiguous",
    "cumprod",
    "cumsum",
    "detach",
    "detach_",
    "element_size",
    "expand_as",
    "flatten",
    "index_select",
    "log_softmax",
    "logsumexp",
    "masked_fill",
    "masked_fill_",
    "masked_select",
    "permute",
    "repeat_interleave",
    "requires_grad_",
    "reshape",
    "reshape_as",
    "scatter_",
    "scatter_add_",
    "sigmoid",
    "softmax",
    "squeeze",
    "squeeze_",
    "transpose",
    "unflatten",
    "uniform_",
    "unsqueeze",
    "unsqueeze_",
    "view_as",
];

#[derive(Default)]
pub(crate) struct MisspeltAttribute;

impl Rule for MisspeltAttribute {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("import torch") && !source.text.contains("from torch") {
            return;
        }
        let is_try = |stmt: &&&Stmt| matches!(stmt, Stmt::Try(_));
        let tried: Vec<TextRange> = source.statements.iter().filter(is_try).map(|stmt| stmt.range()).collect();
        for call in source.body.iter().flat_map(calls) {
            let Some(callee) = call.func.as_attribute_expr() else { continue };
            let name = callee.attr.as_str();
            // Other libraries have methods such as `argKmin`.
            if name.contains(|c: char| c.is_ascii_uppercase()) {
                continue;
            }
            let Some(meant) = METHODS.iter().find(|method| is_slip(name, method)) else { continue };
            let is_own = matches!(path_of(&callee.value).as_slice(), ["self" | "cls"]);
            let is_tried = tried.iter().any(|range| range.contains_range(call.range()));
            // The text also contains strings, definitions and comments.
            if is_own || is_tried || source.text.matches(name).count() > 1 {
                continue;
            }
            let message = format!("nothing else in the file is called `{name}`: is it a misspelling of `{meant}`?");
            findings.report(NAME, Severity::Warning, message, source.span(callee.attr.range()), Vec::new());
        }
    }
}

/// Whether a name is another one with one typing mistake: the first and last letters are the same, and one
/// letter is missing, one is too many, or two neighbours are exchanged.
fn is_slip(name: &str, right: &str) -> bool {
    let (longer, shorter) = if name.len() > right.len() { (name, right) } else { (right, name) };
    let has_same_ends =
        name.chars().next() == right.chars().next() && name.chars().next_back() == right.chars().next_back();
    // Other libraries use underscores differently: `logsoftmax`.
    let has_same_words = name.matches('_').count() == right.matches('_').count();
    has_same_ends
        && has_same_words
        && match longer.len() - shorter.len() {
            // An exchange of two neighbours is one edit for `damerau_levenshtein`, and two for `levenshtein`.
            0 => strsim::damerau_levenshtein(name, right) == 1 && strsim::levenshtein(name, right) == 2,
            1 => strsim::levenshtein(name, right) == 1,
            _ => false,
        }
}
