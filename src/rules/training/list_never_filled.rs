//! `recalls = []`, and later `np.mean(recalls)` or `if recall not in recalls`, although nothing appends to the list.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::training::metric_never_updated::paired;
use crate::syntax::ast::{CmpOp, ExprCall};
use crate::syntax::{Expr, Ranged, Stmt, TextRange, assignment, called, expressions, path_of, statements};

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
        if source.contains_any(DYNAMIC) {
            return;
        }
        for def in source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()) {
            let inside = statements(&def.body, false);
            let empty: Vec<(&str, &Expr)> = inside.iter().flat_map(|stmt| empty_collections(stmt)).collect();
            if empty.is_empty() {
                continue;
            }
            let all: Vec<&Expr> = def.body.iter().flat_map(expressions).collect();
            for (name, value) in empty {
                let loops = inside.iter().filter(|stmt| matches!(stmt, Stmt::For(_) | Stmt::While(_)));
                let loops = loops.map(|stmt| stmt.range()).filter(|range| range.start() >= value.end());
                let is_in_loop = |place: TextRange| loops.clone().any(|range| range.contains_range(place));
                let found = read_only(&all, name, &is_in_loop).filter(|_| !is_left_out(source.text, name));
                if let Some(read) = found {
                    let message = format!("`{name}` is always empty here: nothing adds an item to it");
                    let label = Label { span: source.span(value.range()), message: "it is made here".to_owned() };
                    findings.report(NAME, Severity::Warning, message, source.span(read), vec![label]);
                }
            }
        }
    }
}

/// The names to which a statement assigns an empty list or set: `a = []`, `a, b = [], set()`.
fn empty_collections(stmt: &Stmt) -> Vec<(&str, &Expr)> {
    let Some((target, value)) = assignment(stmt) else { return Vec::new() };
    let is_empty = |value: &Expr| match value {
        Expr::List(list) => list.elts.is_empty(),
        Expr::Call(call) => matches!(path_of(&call.func).as_slice(), ["list" | "set"]) && call.arguments.is_empty(),
        _ => false,
    };
    let pairs = paired(target, value).into_iter();
    let names = pairs.filter_map(|(target, value)| Some((target.as_name_expr()?.id.as_str(), value)));
    names.filter(|(_, value)| is_empty(value)).collect()
}

/// The first call that reduces a collection, or the first test in a loop of what it contains, if the name of the
/// collection is bound once, and all its other uses leave it as it is.
fn read_only(all: &[&Expr], name: &str, is_in_loop: &dyn Fn(TextRange) -> bool) -> Option<TextRange> {
    let is_name = |expr: &Expr| expr.as_name_expr().is_some_and(|one| one.id.as_str() == name);
    let uses = all.iter().filter(|expr| is_name(expr)).count();
    let takes = |call: &ExprCall, functions: &[&str]| {
        call.arguments.args.first().is_some_and(is_name)
            && called(call).is_some_and(|function| functions.contains(&function))
    };
    let reads = all.iter().filter_map(|expr| match expr {
        Expr::Call(call) if takes(call, REDUCES) => Some((call.range(), true)),
        Expr::Call(call) if takes(call, READS) => Some((call.range(), false)),
        Expr::Compare(compare) => match (&*compare.ops, &*compare.comparators) {
            ([CmpOp::In | CmpOp::NotIn], [container]) if is_name(container) => {
                Some((compare.range(), is_in_loop(compare.range())))
            }
            _ => None,
        },
        _ => None,
    });
    let reads: Vec<(TextRange, bool)> = reads.collect();
    // One of the uses is the assignment.
    let known = reads.len() + 1 == uses;
    reads.into_iter().find(|(_, needs_items)| *needs_items).map(|(range, _)| range).filter(|_| known)
}

/// Whether a comment adds to the list: the program leaves this out on purpose.
fn is_left_out(text: &str, name: &str) -> bool {
    let adds = ["append", "extend", "add", "update"].map(|method| format!("{name}.{method}"));
    let adds = adds.into_iter().chain([format!("{name} +=")]).collect::<Vec<_>>();
    text.lines()
        .filter_map(|line| line.split_once('#'))
        .any(|(_, comment)| adds.iter().any(|add| comment.contains(add)))
}
