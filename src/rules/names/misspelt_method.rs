//! A special method, such as `__init__`, or a method that a library calls, such as `forward`, under a misspelt name.

use crate::diagnostic::Severity;
use crate::python::nearest;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{StmtClassDef, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, calls, expressions, has_base, is_module, methods, path_of};

const NAME: &str = "misspelt-method";

/// Special methods that classes of training scripts define, without their underscores.
const SPECIAL: &[&str] = &["init", "len", "call", "iter", "next", "enter", "exit", "getitem", "setitem"];
/// Further special methods whose names are similar to these.
const OTHERS: &[&str] = &["__getitems__", "__int__", "__aenter__", "__aexit__", "__aiter__", "__anext__"];

#[derive(Default)]
pub(crate) struct MisspeltMethod;

impl Rule for MisspeltMethod {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for class in source.classes() {
            for method in methods(class) {
                let name = method.name.as_str();
                let Some(meant) = meant(class, method).or_else(|| hook(class, method)) else { continue };
                // If the program refers to the name elsewhere, except with `super()`, the name was chosen on purpose.
                let refers = |before: &str| {
                    mentions(&source.text.replace(&format!(").{name}("), ""), &format!("{before}{name}"))
                };
                let is_used = [".", "\"", "'"].into_iter().any(refers);
                if is_used || methods(class).any(|other| other.name.as_str() == meant) {
                    continue;
                }
                let at = source.span(method.name.range());
                let message = format!("nothing calls `{name}`: is it a misspelling of `{meant}`?");
                findings.report(NAME, Severity::Warning, message, at, Vec::new());
            }
        }
    }
}

/// The methods that PyTorch or Lightning calls, for each base class.
const HOOKS: &[(&str, &[&str])] = &[
    ("Module", &["forward"]),
    (
        "LightningModule",
        &["training_step", "validation_step", "configure_optimizers", "train_dataloader", "val_dataloader"],
    ),
];

/// The method of the only base class that the author of this method probably meant to define.
fn hook(class: &StmtClassDef, method: &StmtFunctionDef) -> Option<String> {
    let [base] = class.bases() else { return None };
    let (_, hooks) = HOOKS.iter().find(|(name, _)| path_of(base).last() == Some(name))?;
    let name = method.name.as_str();
    let meant = nearest(name, hooks.iter().copied()).filter(|meant| *meant != name)?;
    // `forward2`, `forward_`
    let is_variant = name.strip_prefix(meant).is_some_and(|rest| rest.chars().all(|c| c == '_' || c.is_ascii_digit()));
    let sets = |expr: &Expr| path_of(expr) == ["self", meant];
    let is_set = class.body.iter().flat_map(expressions).any(sets);
    (!is_variant && !is_set && method.decorator_list.is_empty()).then(|| meant.to_owned())
}

/// The special method that the author of this method probably meant to define.
fn meant(class: &StmtClassDef, method: &StmtFunctionDef) -> Option<String> {
    let name = method.name.as_str();
    let core = name.trim_matches('_');
    let (before, after) = (leading(name), name.len() - core.len() - leading(name));
    let has_more = method.parameters.len() > 1;
    // It calls the constructor of the base class, perhaps under the same wrong name.
    let is_constructor = || {
        method.body.iter().flat_map(calls).filter_map(|call| call.func.as_attribute_expr()).any(|callee| {
            let is_super = || callee.value.as_call_expr().is_some_and(|owner| path_of(&owner.func) == ["super"]);
            callee.attr.as_str() == "__init__" || callee.attr.as_str() == name && is_super()
        })
    };
    if name == "__int__" {
        // `int(x)` calls `__int__(self)`. Some classes pass all arguments on: `def __int__(self, *args)`.
        let named = method.parameters.posonlyargs.len() + method.parameters.args.len();
        return (named > 1 || is_constructor() && !has_more).then(|| "__init__".to_owned());
    }
    // `_init` and `init__` may be chosen on purpose.
    if before == 0 || before + after < 2 || OTHERS.contains(&name) {
        return None;
    }
    let plain = core.replace('_', "");
    let special = SPECIAL.iter().copied().find(|special| *special == plain).or_else(|| {
        // A similar name counts only with two underscores at both ends.
        let long = SPECIAL.iter().copied().filter(|special| special.len() > 3);
        nearest(&plain, long).filter(|_| before == 2 && after == 2)
    })?;
    if name == format!("__{special}__") {
        return None;
    }
    // `__init` and `_init_` may be private helpers, unless they do what only a constructor does, or the class needs
    // such a method.
    let is_needed = || match special {
        "getitem" | "len" => has_base(class, "Dataset"),
        "init" => has_more && (has_base(class, "Dataset") || is_module(class)),
        _ => false,
    };
    let is_sure = before == 2 && after == 2 || special == "init" && is_constructor() || is_needed();
    is_sure.then(|| format!("__{special}__"))
}

/// Whether a text contains this name, and the next character is not a letter, a digit or an underscore.
fn mentions(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let after = text.get(at + name.len()..).and_then(|rest| rest.chars().next());
        !after.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

fn leading(name: &str) -> usize {
    name.len() - name.trim_start_matches('_').len()
}
