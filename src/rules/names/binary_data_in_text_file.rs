//! Tensors or pickled objects in a file that is open for text: `with open(path, "w") as f: torch.save(x, f)`.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::ExprCall;
use crate::syntax::{Expr, Ranged, Stmt, assignment, calls, path_of};

const NAME: &str = "binary-data-in-text-file";

/// Functions that need a file for bytes, with the position of the file among the arguments.
const BINARY: &[(&[&str], usize)] = &[
    (&["torch", "save"], 1),
    (&["torch", "load"], 0),
    (&["pickle", "dump"], 1),
    (&["pickle", "load"], 0),
    (&["np", "save"], 0),
    (&["np", "load"], 0),
    (&["numpy", "save"], 0),
    (&["numpy", "load"], 0),
];

#[derive(Default)]
pub(crate) struct BinaryDataInTextFile;

impl Rule for BinaryDataInTextFile {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("open(") {
            return;
        }
        for call in source.body.iter().flat_map(calls) {
            if let Some(open) = file(call).and_then(opened) {
                report(findings, source, call, open);
            }
        }
        for stmt in source.statements.iter().filter_map(|stmt| stmt.as_with_stmt()) {
            for item in &stmt.items {
                let Some((name, open)) =
                    item.optional_vars.as_deref().and_then(as_name).zip(opened(&item.context_expr))
                else {
                    continue;
                };
                report_uses(findings, source, name, open, &stmt.body);
            }
        }
        for block in source.blocks() {
            for (at, stmt) in block.iter().enumerate() {
                let Some((target, value)) = assignment(stmt) else { continue };
                let Some((name, open)) = as_name(target).zip(opened(value)) else { continue };
                let rest = block.get(at + 1..).unwrap_or_default();
                let end =
                    rest.iter().position(|later| assignment(later).is_some_and(|(to, _)| as_name(to) == Some(name)));
                report_uses(findings, source, name, open, rest.get(..end.unwrap_or(rest.len())).unwrap_or_default());
            }
        }
    }
}

/// Reports the calls in statements that need a file for bytes, but get the variable.
fn report_uses(findings: &mut Findings<'_>, source: &Source<'_>, name: &str, open: &ExprCall, body: &[Stmt]) {
    for call in body.iter().flat_map(calls).filter(|call| file(call).and_then(as_name) == Some(name)) {
        report(findings, source, call, open);
    }
}

fn report(findings: &mut Findings<'_>, source: &Source<'_>, call: &ExprCall, open: &ExprCall) {
    let function = path_of(&call.func).join(".");
    let message = format!("`{function}` needs a file that is open for bytes, but this one is open for text");
    let label = Label { span: source.span(open.range()), message: "the mode has no `b`".to_owned() };
    findings.report(NAME, Severity::Error, message, source.span(call.range()), vec![label]);
}

/// The argument for the file of a function of [`BINARY`].
fn file(call: &ExprCall) -> Option<&Expr> {
    let path = path_of(&call.func);
    let (_, at) = BINARY.iter().find(|(function, _)| *function == path)?;
    call.arguments.args.get(*at)
}

fn as_name(expr: &Expr) -> Option<&str> {
    expr.as_name_expr().map(|name| name.id.as_str())
}

/// A call of `open` with a mode for text.
fn opened(expr: &Expr) -> Option<&ExprCall> {
    let call = expr.as_call_expr().filter(|call| path_of(&call.func) == ["open"])?;
    let is_text = match call.arguments.find_argument_value("mode", 1) {
        // `open` itself rejects a mode with other letters.
        Some(mode) => mode.as_string_literal_expr()?.value.to_str().chars().all(|c| "rwxat+".contains(c)),
        None => call.arguments.find_keyword("mode").is_none(),
    };
    is_text.then_some(call)
}
