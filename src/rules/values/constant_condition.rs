//! Conditions with the same result for all values: `ext == ".pkl" or ".pth"`, `assert (x > 0, "…")`,
//! `["name"] == "a"`.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::words::COMMAND_LINES;
use crate::syntax::ast::comparable::ComparableExpr;
use crate::syntax::ast::{BoolOp, CmpOp, ExprBoolOp, ExprCompare, Number};
use crate::syntax::{Expr, Ranged, Stmt, expressions, path_of};

const NAME: &str = "constant-condition";

#[derive(Default)]
pub(crate) struct ConstantCondition;

impl Rule for ConstantCondition {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        let mut report = |expr: &Expr, message: String| {
            findings.report(NAME, Severity::Warning, message, source.span(expr.range()), Vec::new());
        };
        for stmt in &source.statements {
            match stmt {
                Stmt::Assert(assert) if assert.test.as_tuple_expr().is_some_and(|tuple| !tuple.elts.is_empty()) => {
                    report(&assert.test, "this never fails: a tuple that is not empty is true".to_owned());
                }
                Stmt::If(test) => {
                    let clauses = test.elif_else_clauses.iter().filter_map(|clause| clause.test.as_ref());
                    std::iter::once(&*test.test).chain(clauses).for_each(|test| judge_operands(test, &mut report));
                }
                Stmt::While(test) => judge_operands(&test.test, &mut report),
                _ => {}
            }
        }
        for expr in source.body.iter().flat_map(expressions) {
            match expr {
                Expr::If(choice) => judge_operands(&choice.test, &mut report),
                Expr::Compare(compare) => judge_comparison(expr, compare, &mut report),
                _ => {}
            }
        }
    }
}

/// Finds texts and numbers that a condition combines with a comparison.
fn judge_operands(test: &Expr, report: &mut dyn FnMut(&Expr, String)) {
    match test {
        Expr::BoolOp(ExprBoolOp { op: BoolOp::And, values, .. }) if let Some((a, b)) = two_types(values) => {
            report(test, format!("this is never true: the type cannot be both `{a}` and `{b}`"));
        }
        Expr::BoolOp(ExprBoolOp { op, values, .. }) => {
            let constant = values.iter().find_map(|value| Some((value, truth(value)?)));
            let is_compared = values.iter().any(|value| matches!(value, Expr::Compare(_) | Expr::UnaryOp(_)));
            match constant.filter(|_| is_compared) {
                Some((constant, true)) if *op == BoolOp::Or => {
                    report(constant, "this text or number is true by itself, so the condition always holds".to_owned());
                }
                Some((constant, true)) => {
                    report(
                        constant,
                        "this text or number is true by itself, so it does not change the condition".to_owned(),
                    );
                }
                _ => values.iter().for_each(|value| judge_operands(value, report)),
            }
        }
        Expr::UnaryOp(not) => judge_operands(&not.operand, report),
        _ => {}
    }
}

/// Two classes in `type(x) is A and type(x) is B`.
fn two_types(values: &[Expr]) -> Option<(String, String)> {
    let types = values.iter().filter_map(|value| {
        let compare = value.as_compare_expr()?;
        let ([CmpOp::Is | CmpOp::Eq], [class]) = (&*compare.ops, &*compare.comparators) else { return None };
        let is_type = compare.left.as_call_expr().is_some_and(|call| path_of(&call.func) == ["type"]);
        let class = path_of(class);
        (is_type && !class.is_empty()).then(|| (ComparableExpr::from(&compare.left), class.join(".")))
    });
    let types: Vec<_> = types.collect();
    types.iter().enumerate().find_map(|(at, (object, class))| {
        let (_, other) = types.get(at + 1..)?.iter().find(|(same, other)| same == object && other != class)?;
        Some((class.clone(), other.clone()))
    })
}

/// Whether a text or number counts as true. Flags that are switched by hand (`1`, `0`) have none.
fn truth(expr: &Expr) -> Option<bool> {
    match expr {
        Expr::StringLiteral(text) => Some(!text.value.is_empty()),
        Expr::NumberLiteral(number) => match &number.value {
            Number::Int(int) if int.as_u8().is_some_and(|n| n < 2) => None,
            _ => Some(true),
        },
        _ => None,
    }
}

/// Finds comparisons of a list, tuple or dictionary with a text or number.
fn judge_comparison(expr: &Expr, compare: &ExprCompare, report: &mut dyn FnMut(&Expr, String)) {
    let ([op @ (CmpOp::Eq | CmpOp::NotEq)], [right]) = (&*compare.ops, &*compare.comparators) else { return };
    let is_plain = |kind| matches!(kind, "a string" | "a number" | GIVEN_TEXT);
    let kinds = kind(&compare.left).zip(kind(right));
    let are_apart = |left, right| match (left, right) {
        // Other objects have a `shape` that is a text.
        ("a shape", other) | (other, "a shape") => other == "a number",
        (GIVEN_TEXT, "a number") | ("a number", GIVEN_TEXT) => true,
        _ => is_plain(left) != is_plain(right),
    };
    let Some((left, right)) = kinds.filter(|(left, right)| are_apart(*left, *right)) else { return };
    let result = if *op == CmpOp::Eq { "never true" } else { "always true" };
    report(expr, format!("this comparison is {result}: {left} and {right} are never equal"));
}

/// The kind of what `input()`, `sys.argv` and `os.environ` give.
const GIVEN_TEXT: &str = "a text from outside the program";

/// The kind of a display, a literal, a shape, or a text from outside the program.
fn kind(expr: &Expr) -> Option<&'static str> {
    match expr {
        Expr::List(_) => Some("a list"),
        Expr::Tuple(_) => Some("a tuple"),
        Expr::Dict(_) => Some("a dictionary"),
        Expr::StringLiteral(_) => Some("a string"),
        Expr::NumberLiteral(_) => Some("a number"),
        // An object of the program, or its settings, may call anything `shape`.
        Expr::Attribute(read) if read.attr.as_str() == "shape" => {
            let is_own =
                path_of(&read.value).last().is_some_and(|name| *name == "self" || COMMAND_LINES.contains(name));
            (!is_own).then_some("a shape")
        }
        Expr::Subscript(read) if matches!(path_of(&read.value).as_slice(), ["os", "environ"] | ["sys", "argv"]) => {
            (!read.slice.is_slice_expr()).then_some(GIVEN_TEXT)
        }
        Expr::Call(call) => {
            let has_default = call.arguments.args.len() > 1 || !call.arguments.keywords.is_empty();
            let is_given = match path_of(&call.func).as_slice() {
                ["input"] => true,
                ["os", "getenv"] | ["os", "environ", "get"] => !has_default,
                _ => false,
            };
            is_given.then_some(GIVEN_TEXT)
        }
        _ => None,
    }
}
