//! Which part of the data a name is about: training, validation or test.

use super::words::words;
use crate::syntax::ast::ExprCall;
use crate::syntax::{Expr, called, keyed, parts};

/// The part of the data that a loader or a dataset contains, according to its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Split {
    Train,
    Validation,
    Test,
}

impl Split {
    /// The only part that a name tells: `train_loader`, `self.val_dl`, `loaders["test"]`.
    pub(super) fn of(expr: &Expr) -> Option<Split> {
        let text = dotted(expr)?;
        let spaced = words(&text);
        let of_word = |word: &String| match word.as_str() {
            "val" | "valid" | "validation" | "eval" | "evaluation" | "dev" => Some(Split::Validation),
            word if ["valid", "valload", "valdata", "valset"].iter().any(|start| word.starts_with(start)) => {
                Some(Split::Validation)
            }
            word if word.starts_with("train") => Some(Split::Train),
            word if word.starts_with("test") => Some(Split::Test),
            _ => None,
        };
        let mut found = spaced.iter().filter_map(of_word);
        let first = found.next()?;
        found.all(|other| other == first).then_some(first)
    }
}

/// The names in what a loop is over. Of `range(len(loader))`, only what is counted.
pub(super) fn iterated(iter: &Expr) -> Vec<&Expr> {
    let is_range = iter.as_call_expr().and_then(called) == Some("range");
    match is_range {
        true => parts(iter).into_iter().filter_map(counted).collect(),
        false => parts(iter),
    }
}

/// What `len(…)` or `float(len(…))` counts.
pub(super) fn counted(divisor: &Expr) -> Option<&Expr> {
    let call = divisor.as_call_expr()?;
    let ExprCall { arguments, .. } = call;
    let [argument] = &*arguments.args else { return None };
    match called(call)? {
        "len" => Some(argument),
        "float" | "int" => counted(argument),
        _ => None,
    }
}

/// `self.loaders["train"]` as `self.loaders.train`.
pub(super) fn dotted(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(attribute) => Some(format!("{}.{}", dotted(&attribute.value)?, attribute.attr)),
        expr => {
            let (object, key) = keyed(expr)?;
            Some(format!("{}.{key}", dotted(object)?))
        }
    }
}
