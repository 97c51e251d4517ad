//! A result that the next statement overwrites before anything reads it.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::ExprCall;
use crate::syntax::{Expr, Ranged, Stmt, assignment, parts, path_of};

const NAME: &str = "result-overwritten";

#[derive(Default)]
pub(crate) struct ResultOverwritten;

impl Rule for ResultOverwritten {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for block in source.blocks() {
            for pair in block.windows(2) {
                let [first, second] = pair else { continue };
                let Some(target) = overwritten(source.text, first, second) else { continue };
                let message = format!("this value of `{target}` is never used: the next statement sets it again");
                let again = Label { span: source.span(second.range()), message: "it is set again here".to_owned() };
                findings.report(NAME, Severity::Warning, message, source.span(first.range()), vec![again]);
            }
        }
    }
}

/// The variable or attribute to which both statements assign, if the value of the first is lost.
fn overwritten(text: &str, first: &Stmt, second: &Stmt) -> Option<String> {
    let ((target, lost), (again, kept)) = (assignment(first)?, assignment(second)?);
    let (target, again) = (path_of(target), path_of(again));
    let (lost, kept) = (lost.as_call_expr()?, kept.as_call_expr()?);
    let source = |call: &ExprCall| text.get(call.range().to_std_range()).unwrap_or_default();
    if target.is_empty()
        || target != again
        || target.iter().any(|name| name.starts_with('_'))
        || source(lost) == source(kept)
    {
        return None;
    }
    // The second value may be made from the first one.
    let reads = |expr: &Expr| path_of(expr) == target;
    if kept.arguments.args.iter().chain(kept.arguments.keywords.iter().map(|k| &k.value)).flat_map(parts).any(reads)
        || parts(&kept.func).into_iter().any(reads)
    {
        return None;
    }
    let same_callee = path_of(&lost.func) == path_of(&kept.func) && !path_of(&lost.func).is_empty();
    // `self.block6 = Block(64)` and `self.block6 = Block(128)`; `args.a = getattr(args, "b")`.
    let is_attribute = target.len() > 1 && same_callee && lost.arguments.args.len() + lost.arguments.keywords.len() > 0;
    (is_attribute || target.len() == 1 && [lost, kept].iter().all(|call| computes(call, text)))
        .then(|| target.join("."))
}

/// Whether a call computes a tensor from others: of a layer of `self`, or of a function of `torch.nn.functional`.
/// Methods of the file's own classes may also change something.
fn computes(call: &ExprCall, text: &str) -> bool {
    let is_pure = match path_of(&call.func).as_slice() {
        ["self", name] => !text.contains(&format!("def {name}(")),
        ["F", _] | ["torch", "nn" | "functional", ..] => true,
        _ => false,
    };
    is_pure && !call.arguments.args.is_empty()
}
