//! A function for `LambdaLR` that returns a learning rate instead of a factor.

use rustc_hash::FxHashMap;

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprCall, Number, Operator};
use crate::syntax::{Expr, Ranged, Stmt, calls, path_of};

const NAME: &str = "rate-multiplied-twice";

/// The optimizers of PyTorch that are used with schedulers.
const OPTIMIZERS: &[&str] = &["Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "SGD"];

#[derive(Default)]
pub(crate) struct RateMultipliedTwice;

impl Rule for RateMultipliedTwice {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("LambdaLR") {
            return;
        }
        for block in source.blocks() {
            // The learning rates of the optimizers that this block has created so far, by name.
            let mut rates: FxHashMap<Vec<&str>, &Expr> = FxHashMap::default();
            for stmt in block {
                for call in calls(stmt).into_iter().filter(|call| path_of(&call.func).last() == Some(&"LambdaLR")) {
                    let (Some(optimizer), Some(function)) =
                        (argument(call, 0, "optimizer"), argument(call, 1, "lr_lambda"))
                    else {
                        continue;
                    };
                    let Some(rate) = rates.get(&path_of(optimizer)) else { continue };
                    let Some(factor) = result_of(function, block).filter(|factor| multiplies(factor, rate)) else {
                        continue;
                    };
                    let message = "this function returns a learning rate, but `LambdaLR` multiplies the optimizer's learning \
                                   rate by its result";
                    let label = Label {
                        span: source.span(rate.range()),
                        message: "the optimizer's learning rate is set here".to_owned(),
                    };
                    findings.report(NAME, Severity::Warning, message, source.span(factor.range()), vec![label]);
                }
                if let Stmt::Assign(assign) = stmt
                    && let ([target], Some(call)) = (assign.targets.as_slice(), assign.value.as_call_expr())
                    && path_of(&call.func).last().is_some_and(|class| OPTIMIZERS.contains(class))
                    && let Some(rate) = argument(call, 1, "lr")
                {
                    rates.insert(path_of(target), rate);
                }
            }
        }
    }
}

fn argument<'a>(call: &'a ExprCall, at: usize, name: &str) -> Option<&'a Expr> {
    call.arguments.find_argument_value(name, at)
}

/// The expression that a function returns: a lambda, also one with a name in this block, or a function of
/// this block with one path.
fn result_of<'a>(function: &'a Expr, block: &'a [Stmt]) -> Option<&'a Expr> {
    if let Expr::Lambda(lambda) = function {
        return Some(&lambda.body);
    }
    let name = function.as_name_expr()?.id.as_str();
    block.iter().find_map(|stmt| match stmt {
        Stmt::FunctionDef(def) if def.name.as_str() == name => match def.body.as_slice() {
            [before @ .., Stmt::Return(result)] if before.iter().all(Stmt::is_assign_stmt) => result.value.as_deref(),
            _ => None,
        },
        Stmt::Assign(assign) if assign.targets.iter().any(|target| path_of(target) == [name]) => {
            assign.value.as_lambda_expr().map(|lambda| &*lambda.body)
        }
        _ => None,
    })
}

fn float(expr: &Expr) -> Option<f64> {
    match expr.as_number_literal_expr()?.value {
        Number::Float(value) => Some(value),
        _ => None,
    }
}

/// Whether an expression is the rate, or a product or quotient that contains it as a factor, or a sum with such a
/// term: `args.lr * 0.95 ** epoch`.
fn multiplies(expr: &Expr, rate: &Expr) -> bool {
    let is_rate = match (float(rate), float(expr)) {
        // A larger number may be a factor.
        (Some(rate), Some(number)) => rate <= 0.01 && number == rate,
        _ => !path_of(rate).is_empty() && path_of(expr) == path_of(rate),
    };
    match expr {
        Expr::If(e) => multiplies(&e.body, rate) && multiplies(&e.orelse, rate),
        Expr::BinOp(e) if e.op == Operator::Mult => multiplies(&e.left, rate) || multiplies(&e.right, rate),
        Expr::BinOp(e) if e.op == Operator::Div => multiplies(&e.left, rate),
        // A number may also be the smallest factor.
        Expr::BinOp(e) if e.op == Operator::Add && !path_of(rate).is_empty() => {
            multiplies(&e.left, rate) || multiplies(&e.right, rate)
        }
        _ => is_rate,
    }
}
