//! `recalls = []`, and later `np.mean(recalls)`, although nothing appends to the list.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::ExprCall;
use crate::syntax::{Expr, Ranged, Stmt, assignment, called, expressions, path_of, statements};

const NAME: &str = "list-never-filled";

/// Functions that have no useful result for an empty list.
const REDUCES: &[&str] = &[
    "average",
    "cat",
    "concat",
    "concatenate",
    "dstack",
    "fmean",
    "hstack",
    "max",
    "mean",
    "median",
    "min",
    "nanmean",
    "stack",
    "std",
    "vstack",
];

/// Functions that leave their arguments as they are.
const READS: &[&str] =
    &["array", "asarray", "bar", "enumerate", "hist", "len", "plot", "print", "sum", "tensor", "zip"];

/// Texts in files that may fill a list in other ways.
const DYNAMIC: &[&str] = &["exec(", "globals()", "locals()", "vars("];

#[derive(Default)]
pub(crate) struct ListNeverFilled;

impl Rule for ListNeverFilled {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if DYNAMIC.iter().any(|text| source.text.contains(text)) {
            return;
        }
        for def in source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()) {
            let lists: Vec<(&str, &Expr)> = statements(&def.body, false).into_iter().filter_map(empty_list).collect();
            if lists.is_empty() {
                continue;
            }
            let all: Vec<&Expr> = def.body.iter().flat_map(expressions).collect();
            for (name, value) in lists {
                if let Some(call) = reduced_only(&all, name).filter(|_| !is_left_out(source.text, name)) {
                    let message = format!("`{name}` is always empty here: nothing adds an item to it");
                    let label = Label { span: source.span(value.range()), message: "it is made here".to_owned() };
                    findings.report(NAME, Severity::Warning, message, source.span(call.range()), vec![label]);
                }
            }
        }
    }
}

/// The name to which a statement assigns an empty list.
fn empty_list(stmt: &Stmt) -> Option<(&str, &Expr)> {
    let (target, value) = assignment(stmt)?;
    let is_empty = match value {
        Expr::List(list) => list.elts.is_empty(),
        Expr::Call(call) => path_of(&call.func) == ["list"] && call.arguments.is_empty(),
        _ => false,
    };
    Some((target.as_name_expr()?.id.as_str(), value)).filter(|_| is_empty)
}

/// The first call that reduces a list, if the name of the list is bound once, and all its other uses are arguments
/// of functions that leave it as it is.
fn reduced_only<'a>(all: &[&'a Expr], name: &str) -> Option<&'a ExprCall> {
    let is_name = |expr: &Expr| expr.as_name_expr().is_some_and(|one| one.id.as_str() == name);
    let uses = all.iter().filter(|expr| is_name(expr)).count();
    let takes = |call: &ExprCall, functions: &[&str]| {
        call.arguments.args.first().is_some_and(is_name)
            && called(call).is_some_and(|function| functions.contains(&function))
    };
    let calls = || all.iter().filter_map(|expr| expr.as_call_expr());
    let known = calls().filter(|call| takes(call, REDUCES) || takes(call, READS)).count();
    // One of the uses is the assignment.
    calls().find(|call| takes(call, REDUCES)).filter(|_| known + 1 == uses)
}

/// Whether a comment adds to the list: the program leaves this out on purpose.
fn is_left_out(text: &str, name: &str) -> bool {
    let adds = [format!("{name}.append"), format!("{name}.extend"), format!("{name} +=")];
    text.lines()
        .filter_map(|line| line.split_once('#'))
        .any(|(_, comment)| adds.iter().any(|add| comment.contains(add)))
}
