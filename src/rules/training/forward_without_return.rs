//! A `forward` that computes a result and does not return it.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::Expr;
use crate::syntax::{Ranged, Stmt, is_module, may_give_result, methods, path_of};

const NAME: &str = "forward-without-return";

#[derive(Default)]
pub(crate) struct ForwardWithoutReturn;

impl Rule for ForwardWithoutReturn {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        let modules = source.classes().filter(|class| is_module(class));
        let forwards = modules.flat_map(methods).filter(|def| def.name.as_str() == "forward" && !def.is_async);
        for forward in forwards {
            let Some(last) = forward.body.last().filter(|last| is_lost(last, &forward.body)) else { continue };
            if may_give_result(&forward.body) {
                continue;
            }
            let message = "`forward` does not return what it computes here: a call of the module gives None";
            let span = source.span(last.range());
            findings.report(NAME, Severity::Warning, message, span, Vec::new());
        }
    }
}

/// Whether a function of the module `torch` is called for its effect, and returns nothing.
fn is_effect(name: &str) -> bool {
    name.starts_with('_')
        || name.starts_with("set_")
        || name.starts_with("use_")
        || matches!(name, "manual_seed" | "seed" | "save" | "assert_close")
}

/// Whether a statement at the end of a function computes something that nothing uses: it assigns a
/// local name, or calls a function of PyTorch.
fn is_lost(last: &Stmt, body: &[Stmt]) -> bool {
    match last {
        Stmt::Assign(assign) => match assign.targets.as_slice() {
            [Expr::Name(name)] => {
                let is_outer = |stmt: &Stmt| match stmt {
                    Stmt::Global(global) => global.names.iter().any(|other| other.as_str() == name.id.as_str()),
                    Stmt::Nonlocal(outer) => outer.names.iter().any(|other| other.as_str() == name.id.as_str()),
                    _ => false,
                };
                matches!(&*assign.value, Expr::Call(_) | Expr::BinOp(_) | Expr::Subscript(_))
                    && !body.iter().any(is_outer)
            }
            _ => false,
        },
        Stmt::Expr(expr) => match &*expr.value {
            Expr::Call(call) => match path_of(&call.func).as_slice() {
                // A name that ends with `_` is an in-place function, such as those of `nn.init`.
                [.., name] if name.ends_with('_') || is_effect(name) => false,
                ["torch", "cuda" | "distributed" | "testing" | "backends" | "random" | "compiler", ..] => false,
                ["F" | "torch", ..] | ["nn", "functional", ..] => true,
                _ => false,
            },
            _ => false,
        },
        _ => false,
    }
}
