//! `one_hot` of predicted classes without the number of classes.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprCall, Parameters};
use crate::syntax::{Expr, Ranged, Stmt, expressions, names_in, path_of, statements};

const NAME: &str = "one-hot-of-predictions";

/// Methods that keep the values of a tensor.
const KEEPING: &[&str] =
    &["clone", "cpu", "cuda", "detach", "flatten", "int", "long", "reshape", "squeeze", "to", "view"];

/// How many calls and names are followed from `one_hot` back to `argmax`.
const MOST: u32 = 6;

#[derive(Default)]
pub(crate) struct OneHotOfPredictions;

impl Rule for OneHotOfPredictions {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("one_hot(") || !source.text.contains("argmax(") {
            return;
        }
        check(findings, source, &Scope { all: statements(source.body, false), parameters: None });
        for def in source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()) {
            let scope = Scope { all: statements(&def.body, false), parameters: Some(&def.parameters) };
            check(findings, source, &scope);
        }
    }
}

/// Reports the calls in the body of a function or of the file.
fn check(findings: &mut Findings<'_>, source: &Source<'_>, scope: &Scope<'_>) {
    // Compound statements are left out: the list also contains the statements of their blocks.
    let simple = scope.all.iter().copied().filter(|stmt| {
        matches!(stmt, Stmt::Assign(_) | Stmt::AnnAssign(_) | Stmt::AugAssign(_) | Stmt::Expr(_) | Stmt::Return(_))
    });
    for call in simple.flat_map(expressions).filter_map(|expr| expr.as_call_expr()) {
        if !encoded(source, call).is_some_and(|classes| scope.is_prediction(classes, MOST)) {
            continue;
        }
        let message = "without `num_classes`, `one_hot` has as many columns as the largest predicted class needs: the \
                       number differs between batches";
        findings.report(NAME, Severity::Warning, message, source.span(call.range()), Vec::new());
    }
}

/// The argument of a call of PyTorch's `one_hot`, if there is only one.
fn encoded<'a>(source: &Source<'_>, call: &'a ExprCall) -> Option<&'a Expr> {
    let path = path_of(&call.func);
    let is_torch = matches!(
        path.as_slice(),
        ["F" | "functional", "one_hot"] | ["nn", "functional", "one_hot"] | ["torch", .., "functional", "one_hot"]
    ) || (path == ["one_hot"] && source.imports_from("torch", "one_hot"));
    match &*call.arguments.args {
        [only] if is_torch && call.arguments.keywords.is_empty() => Some(only),
        _ => None,
    }
}

/// The statements of a function or of the file, and the parameters of the function.
struct Scope<'a> {
    all: Vec<&'a Stmt>,
    parameters: Option<&'a Parameters>,
}

impl<'a> Scope<'a> {
    /// Whether an expression is the result of `argmax`, possibly passed through methods of [`KEEPING`].
    fn is_prediction(&self, expr: &Expr, depth: u32) -> bool {
        let Some(next) = depth.checked_sub(1) else { return false };
        match expr {
            Expr::Name(name) => self.value_of(name.id.as_str()).is_some_and(|value| self.is_prediction(value, next)),
            Expr::Call(call) => call.func.as_attribute_expr().is_some_and(|callee| match callee.attr.as_str() {
                "argmax" => is_along_axis(call) && !matches!(path_of(&callee.value).as_slice(), ["np" | "numpy", ..]),
                method => KEEPING.contains(&method) && self.is_prediction(&callee.value, next),
            }),
            _ => false,
        }
    }

    /// The value of a name that is assigned once, and is not a parameter.
    fn value_of(&self, name: &str) -> Option<&'a Expr> {
        if self.parameters.is_some_and(|parameters| parameters.includes(name)) {
            return None;
        }
        let mut bound = self.all.iter().copied().filter(|stmt| binds(stmt, name));
        let first = bound.next()?.as_assign_stmt()?;
        let is_plain = matches!(first.targets.as_slice(), [Expr::Name(_)]);
        (bound.next().is_none() && is_plain).then_some(&*first.value)
    }
}

/// Whether a call of `argmax` gets an axis. Without one, its result is an index into the whole tensor, not a
/// class.
fn is_along_axis(call: &ExprCall) -> bool {
    let given = call.arguments.args.len() + call.arguments.keywords.len();
    let is_function = path_of(&call.func).first() == Some(&"torch");
    given > usize::from(is_function)
}

/// Whether an assignment or a loop binds a name.
fn binds(stmt: &Stmt, name: &str) -> bool {
    let is_bound = |target: &Expr| names_in(target).contains(&name);
    match stmt {
        Stmt::Assign(assign) => assign.targets.iter().any(is_bound),
        Stmt::AnnAssign(assign) => is_bound(&assign.target),
        Stmt::AugAssign(assign) => is_bound(&assign.target),
        Stmt::For(each) => is_bound(&each.target),
        _ => false,
    }
}
