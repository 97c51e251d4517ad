//! `WeightedRandomSampler` with one weight for each class instead of one for each sample.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{Comprehension, ExprCall, Operator, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, Stmt, called, calls, path_of, statements};

const NAME: &str = "weights-of-classes-for-samples";

/// Functions that count how often each value occurs.
const COUNTING: &[&str] = &["bincount", "Counter", "value_counts", "histc"];
/// Functions that change the type of the weights, but not their number.
const CONVERTING: &[&str] = &["as_tensor", "tensor", "from_numpy", "DoubleTensor", "FloatTensor", "Tensor", "list"];

#[derive(Default)]
pub(crate) struct WeightsOfClassesForSamples;

impl Rule for WeightsOfClassesForSamples {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("WeightedRandomSampler") {
            return;
        }
        let functions = source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt());
        for body in functions.map(|def| def.body.as_slice()).chain([source.body]) {
            let scope = statements(body, false);
            for call in scope.iter().flat_map(|stmt| own_calls(stmt)) {
                if called(call) != Some("WeightedRandomSampler") {
                    continue;
                }
                let Some(weights) = call.arguments.find_argument_value("weights", 0) else { continue };
                if counts_classes(&source.statements, &scope, weights, 4) != Some(Count::Inverse) {
                    continue;
                }
                let message = "these are the weights of the classes: the sampler draws indices below their number, so \
                               only the first samples. It needs one weight for each sample, such as `weights[labels]`"
                    .to_owned();
                findings.report(NAME, Severity::Warning, message, source.span(weights.range()), Vec::new());
            }
        }
    }
}

/// What a value tells about the samples of each class.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Count {
    /// The number of samples.
    Number,
    /// A number that is smaller for more samples.
    Inverse,
}

/// What the elements of an expression are, if there is one for each class. `depth` limits the number of names and
/// functions that are looked up, among the statements of the file (`all`) and of the function (`scope`).
fn counts_classes(all: &[&Stmt], scope: &[&Stmt], expr: &Expr, depth: usize) -> Option<Count> {
    match expr {
        Expr::Name(name) => counts_classes(all, scope, value_of(scope, name.id.as_str())?, depth.checked_sub(1)?),
        Expr::BinOp(operation) => {
            let (left, right) = (&operation.left, &operation.right);
            let of = |side: &Expr| counts_classes(all, scope, side, depth);
            match (operation.op, of(right)) {
                (Operator::Div, Some(Count::Number)) => Some(Count::Inverse),
                (Operator::Div | Operator::Mult | Operator::Add, None) => of(left),
                (Operator::Mult | Operator::Add, found) => found,
                _ => None,
            }
        }
        Expr::ListComp(list) => {
            let [Comprehension { target, iter, ifs, .. }] = list.generators.as_slice() else { return None };
            let Expr::BinOp(division) = &*list.elt else { return None };
            let is_inverse = division.op == Operator::Div && path_of(&division.right) == path_of(target);
            let of_counts = || counts_classes(all, scope, iter, depth) == Some(Count::Number);
            (is_inverse && !path_of(target).is_empty() && ifs.is_empty() && of_counts()).then_some(Count::Inverse)
        }
        Expr::Call(call) => {
            let name = called(call)?;
            let method = call.func.as_attribute_expr().filter(|method| path_of(&method.value).first() != Some(&"np"));
            match name {
                _ if COUNTING.contains(&name) => Some(Count::Number),
                _ if CONVERTING.contains(&name) => counts_classes(all, scope, call.arguments.args.first()?, depth),
                "double" | "float" | "to" | "numpy" | "tolist" | "values" | "clamp" => {
                    counts_classes(all, scope, &method?.value, depth)
                }
                _ => {
                    let (def, result) = result_of(all, name)?;
                    let inner = statements(&def.body, false);
                    counts_classes(all, &inner, result, depth.checked_sub(1)?)
                }
            }
        }
        _ => None,
    }
}

/// The only function or method of this name in a file, and what it returns if that is only one expression.
fn result_of<'a>(all: &[&'a Stmt], name: &str) -> Option<(&'a StmtFunctionDef, &'a Expr)> {
    let mut found = all.iter().filter_map(|stmt| stmt.as_function_def_stmt()).filter(|def| def.name.as_str() == name);
    let def = found.next().filter(|_| found.next().is_none())?;
    let mut results = statements(&def.body, false).into_iter().filter_map(Stmt::as_return_stmt);
    let result = results.next().filter(|_| results.next().is_none())?.value.as_deref()?;
    Some((def, result))
}

/// The value of a name that the scope assigns once, and does not change.
fn value_of<'a>(scope: &[&'a Stmt], name: &str) -> Option<&'a Expr> {
    let is_name = |target: &Expr| path_of(target).first() == Some(&name);
    let is_target =
        |target: &Expr| is_name(target) || target.as_tuple_expr().is_some_and(|tuple| tuple.elts.iter().any(is_name));
    let mut found = None;
    for stmt in scope {
        match stmt {
            Stmt::Assign(assign) => match assign.targets.as_slice() {
                [Expr::Name(target)] if target.id.as_str() == name => match found {
                    None => found = Some(&*assign.value),
                    Some(_) => return None,
                },
                targets if targets.iter().any(|target| is_target(target) || is_element(target, name)) => return None,
                _ => {}
            },
            Stmt::AugAssign(assign) if is_target(&assign.target) || is_element(&assign.target, name) => return None,
            Stmt::For(stmt) if is_target(&stmt.target) => return None,
            _ => {}
        }
    }
    found
}

/// Whether a target is an element of the variable: `weights[0]`.
fn is_element(target: &Expr, name: &str) -> bool {
    target.as_subscript_expr().is_some_and(|subscript| path_of(&subscript.value) == [name])
}

/// The calls in a statement, without those in the blocks that it contains.
fn own_calls(stmt: &Stmt) -> Vec<&ExprCall> {
    match stmt {
        Stmt::Assign(_) | Stmt::Expr(_) | Stmt::Return(_) | Stmt::AnnAssign(_) => calls(stmt),
        _ => Vec::new(),
    }
}
