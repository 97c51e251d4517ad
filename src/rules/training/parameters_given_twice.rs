//! Parameters that an optimizer gets twice: `chain(a.parameters(), a.parameters())`.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::Operator;
use crate::syntax::{Expr, Ranged, expressions, is_method_call, path_of};

const NAME: &str = "parameters-given-twice";

#[derive(Default)]
pub(crate) struct ParametersGivenTwice;

impl Rule for ParametersGivenTwice {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if source.text.matches(".parameters()").count() < 2 {
            return;
        }
        // The largest expression that joins parameters comes first, and its parts are not judged again.
        let mut end = 0;
        for expr in source.body.iter().flat_map(expressions) {
            if u32::from(expr.start()) < end || !joins(expr) {
                continue;
            }
            end = expr.end().into();
            let groups: Vec<Vec<&str>> = modules(expr);
            let Some(twice) = groups
                .iter()
                .enumerate()
                .find_map(|(at, module)| groups.get(at + 1..)?.iter().find(|other| *other == module))
            else {
                continue;
            };
            let message = format!("the parameters of `{}` are in this list twice", twice.join("."));
            findings.report(NAME, Severity::Warning, message, source.span(expr.range()), Vec::new());
        }
    }
}

/// Whether an expression may join the parameters of several modules.
fn joins(expr: &Expr) -> bool {
    match expr {
        Expr::List(_) => true,
        Expr::BinOp(e) => e.op == Operator::Add,
        Expr::Call(e) => matches!(path_of(&e.func).as_slice(), [.., "chain"]),
        _ => false,
    }
}

/// The modules whose parameters an expression joins.
fn modules(expr: &Expr) -> Vec<Vec<&str>> {
    match expr {
        Expr::List(e) => e.elts.iter().flat_map(modules).collect(),
        Expr::Tuple(e) => e.elts.iter().flat_map(modules).collect(),
        Expr::Starred(e) => modules(&e.value),
        Expr::BinOp(e) if e.op == Operator::Add => {
            [&e.left, &e.right].into_iter().flat_map(|side| modules(side)).collect()
        }
        // A group of an optimizer: `{"params": net.parameters(), "lr": 0.1}`.
        Expr::Dict(e) => e
            .items
            .iter()
            .filter(|item| {
                let key = item.key.as_ref().and_then(Expr::as_string_literal_expr);
                key.is_some_and(|key| key.value.to_str() == "params")
            })
            .flat_map(|item| modules(&item.value))
            .collect(),
        Expr::Call(e) => match path_of(&e.func).as_slice() {
            [.., "chain"] | ["list" | "tuple"] => e.arguments.args.iter().flat_map(modules).collect(),
            [module @ .., "parameters"] if is_method_call(e, "parameters") && e.arguments.is_empty() => {
                vec![module.to_vec()]
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}
