//! Accuracy from one index for the whole batch: `model(x).argmax()` without a dimension.

use rustc_hash::FxHashSet;

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{CmpOp, ExprCall, ExprCompare};
use crate::syntax::{Expr, Ranged, Stmt, called, expressions, path_of, statements};

const NAME: &str = "argmax-over-batch";

/// Names under which programs call models: `model(x)`, `self.model(x)` or `self(x)`.
const MODELS: &[&str] = &["model", "net", "network", "classifier", "self"];

/// Functions and methods that change neither the shape of the outputs nor their order.
const KEEPING: &[&str] = &["softmax", "log_softmax", "sigmoid", "detach", "cpu", "numpy", "float"];

/// Texts in programs whose batches may have one sample. Such a program may compare one index.
const SINGLE: &[&str] = &["batch_size=1)", "batch_size=1,", "batch_size = 1\n", ".squeeze("];

#[derive(Default)]
pub(crate) struct ArgmaxOverBatch;

impl Rule for ArgmaxOverBatch {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains(".argmax(") || SINGLE.iter().any(|text| source.text.contains(text)) {
            return;
        }
        check(findings, source, source.body);
        for def in source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()) {
            check(findings, source, &def.body);
        }
    }
}

/// Reports the comparisons in the body of a function or of the file.
fn check(findings: &mut Findings<'_>, source: &Source<'_>, body: &[Stmt]) {
    let scope = Scope { all: statements(body, false) };
    let targets = scope.targets();
    let simple = || scope.all.iter().copied().filter(|stmt| matches!(stmt, Stmt::Assign(_) | Stmt::AugAssign(_)));
    // A program that uses the number of targets expects batches of several samples.
    let counted: FxHashSet<&str> =
        simple().flat_map(expressions).filter_map(size_of).filter(|name| targets.contains(name)).collect();
    for comparison in simple().flat_map(expressions).filter_map(summed) {
        let Some((index, target)) = sides(comparison) else { continue };
        let found = [(index, target), (target, index)].into_iter().find_map(|(index, target)| {
            let name = target.as_name_expr()?.id.as_str();
            scope.index(index).filter(|_| counted.contains(name))
        });
        let Some(call) = found else { continue };
        let message = "without a dimension, `argmax` returns one index for the whole batch, not one for each sample";
        findings.report(NAME, Severity::Warning, message, source.span(call.range()), Vec::new());
    }
}

/// The statements of a function or of the file.
struct Scope<'a> {
    all: Vec<&'a Stmt>,
}

impl<'a> Scope<'a> {
    /// The names that a loop over batches, or `x, y = batch`, binds.
    fn targets(&self) -> FxHashSet<&'a str> {
        let bound = self.all.iter().copied().filter_map(|stmt| match stmt {
            Stmt::For(each) => Some(&*each.target),
            Stmt::Assign(assign) if assign.value.is_name_expr() => assign.targets.first(),
            _ => None,
        });
        let mut names = FxHashSet::default();
        for target in bound {
            let parts = target.as_tuple_expr().map_or(&[][..], |tuple| tuple.elts.as_slice());
            for part in parts {
                // `for i, (x, y) in enumerate(loader)`
                let inner = part.as_tuple_expr().map_or(std::slice::from_ref(part), |tuple| tuple.elts.as_slice());
                names.extend(inner.iter().filter_map(|one| Some(one.as_name_expr()?.id.as_str())));
            }
        }
        names
    }

    /// The value of a name that is assigned once. Any other expression is its own value.
    fn value_of(&self, expr: &'a Expr) -> Option<&'a Expr> {
        let Expr::Name(name) = expr else { return Some(expr) };
        let mut values = self.all.iter().copied().filter_map(|stmt| match stmt {
            Stmt::Assign(assign) => {
                let is_it = assign.targets.iter().any(|target| path_of(target) == [name.id.as_str()]);
                is_it.then_some(&*assign.value)
            }
            _ => None,
        });
        let first = values.next()?;
        values.next().is_none().then_some(first)
    }

    /// The call of `argmax` that computes an index, if it has no dimension and gets the outputs of a model.
    fn index(&self, expr: &'a Expr) -> Option<&'a ExprCall> {
        let call = self.value_of(expr)?.as_call_expr()?;
        let arguments = &call.arguments;
        let callee = call.func.as_attribute_expr().filter(|callee| callee.attr.as_str() == "argmax")?;
        let input = match (path_of(&callee.value).as_slice(), &*arguments.args) {
            (["torch" | "np" | "numpy"], [input]) => input,
            (["torch" | "np" | "numpy"], _) => return None,
            (_, []) => &*callee.value,
            _ => return None,
        };
        (arguments.keywords.is_empty() && self.is_output(input, 6)).then_some(call)
    }

    /// Whether an expression is the output of a model, possibly passed through functions of [`KEEPING`].
    fn is_output(&self, expr: &'a Expr, depth: u32) -> bool {
        let Some(Expr::Call(call)) = self.value_of(expr) else { return false };
        let path = path_of(&call.func);
        let is_model = match path.as_slice() {
            [only] | ["self", only] => MODELS.contains(only),
            _ => false,
        };
        let Some(next) = depth.checked_sub(1) else { return false };
        let keeps = called(call).is_some_and(|name| KEEPING.contains(&name));
        let is_function = matches!(path.as_slice(), [_] | ["torch" | "F" | "nn" | "functional", ..]);
        let input = match &*call.func {
            Expr::Attribute(callee) if !is_function => Some(&*callee.value),
            _ => call.arguments.args.first(),
        };
        is_model || (keeps && input.is_some_and(|input| self.is_output(input, next)))
    }
}

/// The name whose size an expression reads: `y.size(0)`, `y.shape[0]`, `len(y)`.
fn size_of(expr: &Expr) -> Option<&str> {
    let object = match expr {
        Expr::Call(call) if path_of(&call.func) == ["len"] => call.arguments.args.first()?,
        Expr::Call(call) => {
            let callee = call.func.as_attribute_expr()?;
            matches!(callee.attr.as_str(), "size" | "numel").then_some(&*callee.value)?
        }
        Expr::Attribute(attribute) if attribute.attr.as_str() == "shape" => &*attribute.value,
        _ => return None,
    };
    Some(object.as_name_expr()?.id.as_str())
}

/// The comparison that an expression sums: `(index == y).sum()`, `torch.sum(index == y)`.
fn summed(expr: &Expr) -> Option<&ExprCompare> {
    let call = expr.as_call_expr()?;
    let callee = call.func.as_attribute_expr().filter(|callee| callee.attr.as_str() == "sum")?;
    let summed = match path_of(&callee.value).as_slice() {
        ["torch"] => call.arguments.args.first()?,
        _ => &*callee.value,
    };
    summed.as_compare_expr()
}

/// The two sides of `a == b`.
fn sides(comparison: &ExprCompare) -> Option<(&Expr, &Expr)> {
    match (&*comparison.ops, &*comparison.comparators) {
        ([CmpOp::Eq], [right]) => Some((&*comparison.left, right)),
        _ => None,
    }
}
