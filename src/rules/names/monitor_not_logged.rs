//! `ModelCheckpoint(monitor="val_loss")`, although the program logs no `val_loss`.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprCall, ExprStringLiteral};
use crate::syntax::{Expr, Ranged, calls, entry, expressions, path_of};

const NAME: &str = "monitor-not-logged";

#[derive(Default)]
pub(crate) struct MonitorNotLogged;

impl Rule for MonitorNotLogged {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("monitor") && !source.text.contains("EarlyStopping") || source.text.contains("keras") {
            return;
        }
        let callbacks = source.body.iter().flat_map(calls).filter_map(monitor);
        let configured = source.configurations().into_iter().flat_map(|(result, body)| {
            let inside = body.into_iter().flat_map(expressions);
            let dicts = std::iter::once(result).chain(inside).filter_map(|expr| expr.as_dict_expr());
            dicts.filter_map(|dict| entry(dict, "monitor")?.as_string_literal_expr()).collect::<Vec<_>>()
        });
        for name in callbacks.chain(configured) {
            let text = name.value.to_str();
            if (source.never_logs)(text) {
                let message = format!("nothing in the program logs `{text}`, which this monitors");
                findings.report(NAME, Severity::Warning, message, source.span(name.range()), Vec::new());
            }
        }
    }
}

/// The name that a callback of Lightning monitors.
fn monitor(call: &ExprCall) -> Option<&ExprStringLiteral> {
    let path = path_of(&call.func);
    let class = path.last()?;
    let is_stopping = *class == "EarlyStopping";
    if !is_stopping && *class != "ModelCheckpoint" {
        return None;
    }
    let first = call.arguments.args.first().filter(|_| is_stopping);
    let given = call.arguments.find_keyword("monitor").map(|keyword| &keyword.value).or(first);
    given.and_then(Expr::as_string_literal_expr)
}
