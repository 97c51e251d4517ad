//! `backward` of a custom `autograd.Function` that does not use the gradients of the outputs.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprContext, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, Stmt, expressions, is_autograd_function, methods, path_of, statements};

const NAME: &str = "gradient-of-output-unused";

#[derive(Default)]
pub(crate) struct GradientOfOutputUnused;

impl Rule for GradientOfOutputUnused {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for class in source.classes() {
            if !class.bases().iter().any(is_autograd_function) {
                continue;
            }
            let Some(backward) = methods(class).find(|method| method.name.as_str() == "backward") else { continue };
            if returns_gradient(backward) && !reads_parameters(backward) {
                let message = "`backward` does not use the gradient of the output: the gradients of everything that follows \
                               this function are lost";
                let at = source.span(backward.name.range());
                findings.report(NAME, Severity::Warning, message, at, Vec::new());
            }
        }
    }
}

/// Whether the method returns something other than literals such as `None`, and contains no `raise`.
fn returns_gradient(backward: &StmtFunctionDef) -> bool {
    let all = statements(&backward.body, true);
    let returned = all.iter().filter_map(|stmt| stmt.as_return_stmt()?.value.as_deref());
    let mut parts = returned.flat_map(|value| match value {
        Expr::Tuple(tuple) => tuple.elts.as_slice(),
        one => std::slice::from_ref(one),
    });
    parts.any(|part| !part.is_literal_expr()) && !all.iter().any(|stmt| matches!(stmt, Stmt::Raise(_)))
}

/// Whether the method reads any of its parameters after the first one (`ctx`), or may do so: it has no such
/// parameters (`*args`), or is not static.
fn reads_parameters(backward: &StmtFunctionDef) -> bool {
    let given = || backward.parameters.iter().skip(1).map(|parameter| parameter.name().as_str());
    let reads = |expr: &&Expr| match expr {
        Expr::Name(name) => name.ctx == ExprContext::Load && given().any(|parameter| parameter == name.id.as_str()),
        _ => false,
    };
    let is_static = backward.decorator_list.iter().any(|decorator| path_of(&decorator.expression) == ["staticmethod"]);
    // The methods of legacy functions, which PyTorch now rejects, are not static. They are not checked.
    !is_static || given().next().is_none() || backward.body.iter().flat_map(expressions).any(|expr| reads(&expr))
}
