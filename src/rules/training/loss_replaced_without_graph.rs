//! A loss that is not finite is replaced with a new tensor, on which `backward()` fails: `if torch.isnan(loss): loss =
//! torch.tensor(0.0)`.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::words::has_word;
use crate::syntax::ast::{CmpOp, ExprCall, Operator, StmtIf, UnaryOp};
use crate::syntax::{Expr, Ranged, Stmt, assignment, called, calls, expressions, parts, path_of, statements};

const NAME: &str = "loss-replaced-without-graph";

/// Functions that make a new tensor, which does not require grad.
const FACTORIES: &[&str] =
    &["tensor", "zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "FloatTensor", "as_tensor", "Tensor"];
/// Methods whose result still does not require grad.
const KEPT: &[&str] = &["to", "cuda", "cpu", "float", "half", "double", "mean", "sum", "squeeze", "clone"];

/// Words in the names of numbers by which a loss is divided.
const COUNTS: &[&str] =
    &["accum", "accumulate", "accumulation", "batches", "count", "divisor", "length", "n", "num", "size", "steps"];

#[derive(Default)]
pub(crate) struct LossReplacedWithoutGraph;

impl Rule for LossReplacedWithoutGraph {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("backward(") || !source.contains_any(&["isnan(", "isinf(", "isfinite("]) {
            return;
        }
        let functions = source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt());
        for body in functions.map(|def| def.body.as_slice()).chain(std::iter::once(source.body)) {
            let all = statements(body, false);
            for one in all.iter().filter_map(|stmt| stmt.as_if_stmt()) {
                let Some((name, value)) = replaced(one) else { continue };
                let Some(backward) = backward_of(&all, one, &name) else { continue };
                let name = name.join(".");
                let kind = if value.is_call_expr() { "a new tensor without a graph" } else { "a number" };
                let message = format!("`{name}` becomes {kind} here, so its `backward()` fails");
                let label =
                    Label { span: source.span(backward.range()), message: "this needs a loss with a graph".to_owned() };
                findings.report(NAME, Severity::Warning, message, source.span(value.range()), vec![label]);
            }
        }
    }
}

/// The name that a branch for values that are not finite replaces, and the new value.
fn replaced(one: &StmtIf) -> Option<(Vec<&str>, &Expr)> {
    let tested = not_finite(&one.test)?;
    let new = one.body.iter().filter_map(assignment).filter(|(target, _)| path_of(target) == tested).last();
    let (_, value) = new.filter(|(_, value)| has_no_graph(value))?;
    // The branch may leave, or set a flag that is tested later, or make the new tensor a leaf.
    let decides = |stmt: &Stmt| match stmt {
        Stmt::Assign(assign) => assign.targets.iter().any(|target| path_of(target) != tested),
        stmt => !stmt.is_expr_stmt() && !stmt.is_aug_assign_stmt(),
    };
    (!one.body.iter().any(decides)).then_some((tested, value))
}

/// The value that a condition tests for NaN or infinity.
fn not_finite(test: &Expr) -> Option<Vec<&str>> {
    match test {
        Expr::BoolOp(either) if either.op.is_or() => either.values.iter().find_map(not_finite),
        Expr::UnaryOp(not) if not.op == UnaryOp::Not => of(within(&not.operand), &["isfinite"]),
        Expr::Compare(compare) if *compare.ops == [CmpOp::NotEq] => {
            let path = path_of(&compare.left);
            (!path.is_empty() && compare.comparators.iter().all(|other| path_of(other) == path)).then_some(path)
        }
        test => of(within(test), &["isnan", "isinf"]),
    }
}

/// The value that one of these functions or methods gets.
fn of<'a>(expr: &'a Expr, functions: &[&str]) -> Option<Vec<&'a str>> {
    let call = expr.as_call_expr().filter(|call| called(call).is_some_and(|name| functions.contains(&name)))?;
    let argument = match (&*call.arguments.args, &*call.func) {
        ([argument], _) => argument,
        ([], Expr::Attribute(method)) => &*method.value,
        _ => return None,
    };
    let path = path_of_item(argument);
    (!path.is_empty()).then_some(path)
}

/// The call in `isnan(x).any()`.
fn within(test: &Expr) -> &Expr {
    let reduces = |call: &&ExprCall| matches!(called(call), Some("any" | "all" | "item")) && call.arguments.is_empty();
    let method = test.as_call_expr().filter(reduces).and_then(|call| call.func.as_attribute_expr());
    method.map_or(test, |method| within(&method.value))
}

/// The name of a loss that is passed as a number: `loss.item()`.
fn path_of_item(expr: &Expr) -> Vec<&str> {
    match within(expr) {
        Expr::Call(call) if called(call) == Some("detach") => {
            call.func.as_attribute_expr().map_or(Vec::new(), |method| path_of(&method.value))
        }
        expr => path_of(expr),
    }
}

/// Whether a value is a number or a new tensor that does not require grad.
fn has_no_graph(value: &Expr) -> bool {
    match value {
        Expr::NumberLiteral(_) => true,
        Expr::Call(call) => match &*call.func {
            Expr::Attribute(method) if KEPT.contains(&method.attr.as_str()) && method.value.is_call_expr() => {
                has_no_graph(&method.value)
            }
            function => {
                let is_factory = path_of(function).last().is_some_and(|name| FACTORIES.contains(name));
                is_factory && call.arguments.find_keyword("requires_grad").is_none()
            }
        },
        _ => false,
    }
}

/// The `backward()` on the replaced value that follows the `if` on every path.
fn backward_of<'a>(all: &[&'a Stmt], one: &StmtIf, name: &[&str]) -> Option<&'a Expr> {
    let mut names: Vec<Vec<&str>> = vec![name.to_vec()];
    let after = all.iter().filter(|stmt| stmt.range().start() >= one.range().end());
    // The innermost loop around the `if`: what follows it is another iteration, or is after the loop.
    let holds = |stmt: &&&Stmt| stmt.range().contains_range(one.range());
    let around = all.iter().filter(|stmt| matches!(stmt, Stmt::For(_) | Stmt::While(_))).filter(holds);
    let end = around.map(|stmt| stmt.range().end()).min();
    for stmt in after.filter(|stmt| end.is_none_or(|end| stmt.range().start() < end)) {
        match stmt {
            Stmt::Expr(expression) if !calls(stmt).iter().any(|call| called(call) == Some("requires_grad_")) => {
                if let Some(backward) = backward(&expression.value, &names) {
                    let all_run = all.iter().filter(|outer| outer.range().contains_range(stmt.range()));
                    let mut outer = all_run.filter(|outer| !outer.range().contains_range(one.range()));
                    return outer.all(|outer| always_runs(outer, stmt, name)).then_some(backward);
                }
            }
            Stmt::AugAssign(change) if names.contains(&path_of(&change.target)) => {
                if !matches!(change.op, Operator::Div | Operator::Mult) {
                    return None;
                }
            }
            stmt => {
                // `if not loss.requires_grad: continue`, `loss.requires_grad = True`
                let asks = |expr: &Expr| matches!(path_of(expr).last(), Some(&("requires_grad" | "requires_grad_")));
                if expressions(stmt).into_iter().any(asks) {
                    return None;
                }
                let Some((target, value)) = assignment(stmt) else { continue };
                let (target, is_made) = (path_of(target), is_made_of(value, &names));
                names.retain(|known| *known != target);
                if is_made && !target.is_empty() {
                    names.push(target);
                }
                if names.is_empty() {
                    return None;
                }
            }
        }
    }
    None
}

/// Whether a block that the `if` is not in runs for every value of the loss.
fn always_runs(outer: &Stmt, stmt: &Stmt, name: &[&str]) -> bool {
    match outer {
        Stmt::With(_) | Stmt::Expr(_) => true,
        Stmt::If(test) => {
            let conditions = std::iter::once(&*test.test)
                .chain(test.elif_else_clauses.iter().filter_map(|clause| clause.test.as_ref()));
            outer == stmt || !conditions.flat_map(parts).any(|part| path_of(part).starts_with(name))
        }
        _ => false,
    }
}

/// The `backward()` call on one of these names: `scaler.scale(loss).backward()`, `accelerator.backward(loss)`.
fn backward<'a>(expr: &'a Expr, names: &[Vec<&str>]) -> Option<&'a Expr> {
    let call = expr.as_call_expr()?;
    let method = call.func.as_attribute_expr().filter(|method| method.attr.as_str() == "backward")?;
    let receives = |expr: &Expr| is_made_of(expr, names);
    let is_own = receives(&method.value) || call.arguments.args.first().is_some_and(receives);
    is_own.then_some(expr)
}

/// Whether a value is computed only from these names and from numbers: `loss / steps`, `scaler.scale(loss)`.
fn is_made_of(value: &Expr, names: &[Vec<&str>]) -> bool {
    match value {
        // Other factors may be parameters, which have a graph.
        Expr::BinOp(operation) if matches!(operation.op, Operator::Div | Operator::Mult) => {
            let plain = |side: &Expr| side.is_number_literal_expr() || has_word(&path_of(side), COUNTS);
            let made = |side: &Expr| is_made_of(side, names);
            made(&operation.left) && plain(&operation.right) || made(&operation.right) && plain(&operation.left)
        }
        Expr::Call(call) if called(call) == Some("scale") => {
            matches!(&*call.arguments.args, [scaled] if is_made_of(scaled, names))
        }
        Expr::Call(call) => call
            .func
            .as_attribute_expr()
            .is_some_and(|method| KEPT.contains(&method.attr.as_str()) && is_made_of(&method.value, names)),
        value => names.contains(&path_of(value)),
    }
}
