//! A function that returns several values in one branch and a single one in another, if each call in the file unpacks
//! the result.

use crate::diagnostic::{Label, Severity};
use crate::rules::arms::arms;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprCall, StmtFunctionDef, StmtReturn};
use crate::syntax::{Expr, Ranged, Stmt, assignment, blocks, called, calls, expressions, parts, path_of, statements};

const NAME: &str = "results-of-different-length";

#[derive(Default)]
pub(crate) struct ResultsOfDifferentLength;

impl Rule for ResultsOfDifferentLength {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        let functions: Vec<&StmtFunctionDef> =
            source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()).collect();
        for def in &functions {
            let name = def.name.as_str();
            let is_only = functions.iter().filter(|other| other.name.as_str() == name).count() == 1;
            if !is_only || name.starts_with("__") || !def.decorator_list.is_empty() {
                continue;
            }
            let Some((length, single, several)) = differing(def) else { continue };
            let Some(unpacked) = unpacked_everywhere(source, &functions, def, length, &single.tests) else { continue };
            let message = format!("`{name}` returns one value here, but each call unpacks {length} values");
            let labels = vec![
                Label { span: source.span(several.range()), message: format!("here, it returns {length} values") },
                Label { span: source.span(unpacked.range()), message: "this call unpacks the result".to_owned() },
            ];
            findings.report(NAME, Severity::Warning, message, source.span(single.stmt.range()), labels);
        }
    }
}

/// A `return` statement, and the conditions of the branches around it.
struct Return<'a> {
    stmt: &'a StmtReturn,
    tests: Vec<&'a Expr>,
}

fn returns<'a>(body: &'a [Stmt], tests: &[&'a Expr], found: &mut Vec<Return<'a>>) {
    for stmt in body {
        match stmt {
            Stmt::Return(stmt) => found.push(Return { stmt, tests: tests.to_vec() }),
            Stmt::If(one) => {
                let arms = arms(one);
                let all: Vec<&Expr> = tests.iter().copied().chain(arms.iter().filter_map(|arm| arm.test)).collect();
                for arm in arms {
                    returns(arm.body, &all, found);
                }
            }
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            stmt => {
                for block in blocks(stmt) {
                    returns(block, tests, found);
                }
            }
        }
    }
}

/// The number of values that a function returns in some branches, a branch with a single value, and one with several.
/// The parameters must not decide which branch runs: they are the caller's way to choose.
fn differing(def: &StmtFunctionDef) -> Option<(usize, Return<'_>, &StmtReturn)> {
    let mut all = Vec::new();
    returns(&def.body, &[], &mut all);
    let lengths: Vec<usize> = all.iter().filter_map(|found| length(found.stmt)).collect();
    let length_of_all = lengths.first().copied().filter(|first| lengths.iter().all(|length| length == first))?;
    let several = all.iter().find(|found| length(found.stmt).is_some())?.stmt;
    let is_chosen = |test: &Expr| {
        let names = parts(test).into_iter().filter_map(|part| part.as_name_expr()).map(|name| name.id.as_str());
        names
            .into_iter()
            .any(|name| name != "self" && def.parameters.iter().any(|parameter| parameter.name().as_str() == name))
    };
    let is_single =
        |found: &Return<'_>| found.stmt.value.as_deref().is_some_and(is_one_value) && !found.tests.is_empty();
    let single = all.into_iter().find(|found| is_single(found) && !found.tests.iter().any(|test| is_chosen(test)))?;
    (length_of_all > 1).then_some((length_of_all, single, several))
}

/// The number of values in `return a, b`.
fn length(stmt: &StmtReturn) -> Option<usize> {
    let tuple = stmt.value.as_deref()?.as_tuple_expr()?;
    tuple.elts.iter().all(|element| !element.is_starred_expr()).then_some(tuple.elts.len())
}

/// Whether an expression is a number, a text, or a computed tensor, and not a tuple.
fn is_one_value(expr: &Expr) -> bool {
    match expr {
        Expr::BinOp(operation) => is_one_value(&operation.left) || is_one_value(&operation.right),
        Expr::NumberLiteral(_) | Expr::StringLiteral(_) | Expr::FString(_) | Expr::BooleanLiteral(_) => true,
        Expr::Call(call) => {
            let is_made = matches!(
                path_of(&call.func).as_slice(),
                ["torch", "zeros" | "ones" | "tensor" | "zeros_like" | "ones_like" | "cat" | "stack"]
            );
            is_made || matches!(called(call), Some("clone" | "unsqueeze" | "detach" | "item" | "zeros_like"))
        }
        _ => false,
    }
}

/// A call of the function, if each use of its name in the file is a call whose result is unpacked into this number of
/// variables, in a function that does not read what the conditions read.
fn unpacked_everywhere<'a>(
    source: &Source<'a>,
    functions: &[&'a StmtFunctionDef],
    def: &StmtFunctionDef,
    length: usize,
    tests: &[&Expr],
) -> Option<&'a ExprCall> {
    let name = def.name.as_str();
    let is_call = |call: &ExprCall| matches!(path_of(&call.func).as_slice(), [own] | ["self", own] if *own == name);
    let mut unpacked = source.statements.iter().filter_map(|stmt| {
        let (target, value) = assignment(stmt)?;
        let call = value.as_call_expr().filter(|call| is_call(call))?;
        let targets = &target.as_tuple_expr()?.elts;
        (targets.len() == length && !targets.iter().any(Expr::is_starred_expr)).then_some(call)
    });
    let first = unpacked.next()?;
    let count = 1 + unpacked.count();
    let uses = source.body.iter().flat_map(expressions).filter(|expr| path_of(expr).last() == Some(&name)).count();
    let decisive: Vec<Vec<&str>> =
        tests.iter().flat_map(|test| parts(test)).map(path_of).filter(|path| path.len() > 1).collect();
    let knows = functions.iter().filter(|other| other.name.as_str() != name).any(|other| {
        let all = statements(&other.body, false);
        let calls_it = all.iter().flat_map(|stmt| calls(stmt)).any(is_call);
        calls_it && other.body.iter().flat_map(expressions).any(|expr| decisive.contains(&path_of(expr)))
    });
    (uses == count && !knows).then_some(first)
}
