//! `optimizer.load_state_dict(checkpoint["optimizer"].state_dict())`, although the checkpoint contains a state.
//!
//! Programs may also store whole objects under the same key, and modules are often loaded from the files of other
//! programs. So the rule is about optimizers, schedulers and scalers only, and everything that the file stores under
//! the key must be the result of `state_dict()`.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::ExprCall;
use crate::syntax::{Expr, Ranged, Stmt, calls, entries, expressions, is_method_call, keyed, path_of};

const NAME: &str = "state-of-a-state";

/// Parts of the names of objects whose states are rarely loaded from the files of other programs.
const OBJECTS: &[&str] = &["optim", "sched", "scaler"];

#[derive(Default)]
pub(crate) struct StateOfAState;

impl Rule for StateOfAState {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("].state_dict()") || !source.text.contains("save(") {
            return;
        }
        for call in source.body.iter().flat_map(calls) {
            let Some((object, state, key)) = loaded(call) else { continue };
            let Some(saved) = saved_state(source, key) else { continue };
            let message = format!(
                "`[\"{key}\"]` is a dictionary if this program has saved it, and has no method `state_dict`: \
                 pass it to `{}` directly",
                object.join(".")
            );
            let label = Label { span: source.span(saved.range()), message: "a state is saved here".to_owned() };
            findings.report(NAME, Severity::Warning, message, source.span(state.range()), vec![label]);
        }
    }
}

/// The object, the argument and the key in `object.load_state_dict(checkpoint["key"].state_dict())`.
fn loaded(call: &ExprCall) -> Option<(Vec<&str>, &Expr, &str)> {
    if !is_method_call(call, "load_state_dict") {
        return None;
    }
    let object = path_of(&call.func.as_attribute_expr()?.value);
    let name = object.last()?.to_ascii_lowercase();
    let state = call.arguments.find_argument_value("state_dict", 0)?;
    let inner = state.as_call_expr().filter(|inner| is_method_call(inner, "state_dict"))?;
    let (_, key) = keyed(&inner.func.as_attribute_expr()?.value)?;
    OBJECTS.iter().any(|part| name.contains(part)).then_some((object, state, key))
}

/// The first state that the file stores under this key; `None` if it may store another value under it.
fn saved_state<'a>(source: &Source<'a>, key: &str) -> Option<&'a Expr> {
    let mut stored = Vec::new();
    for stmt in &source.statements {
        if let Stmt::Assign(assign) = stmt
            && assign.targets.iter().any(|target| is_entry(target, key))
        {
            stored.push(&*assign.value);
        }
    }
    for expr in source.body.iter().flat_map(expressions) {
        match expr {
            Expr::Dict(dict) => {
                stored.extend(entries(dict).filter(|(_, name, _)| *name == key).map(|(.., value)| value));
            }
            // `dict(optimizer=…)`, `save_checkpoint(path, optimizer=…)`
            Expr::Call(call) => stored.extend(call.arguments.find_keyword(key).map(|keyword| &keyword.value)),
            _ => {}
        }
    }
    stored.iter().all(|value| is_state(value)).then(|| stored.first().copied()).flatten()
}

fn is_entry(target: &Expr, key: &str) -> bool {
    keyed(target).is_some_and(|(_, name)| name == key)
}

fn is_state(value: &Expr) -> bool {
    match value {
        Expr::If(choice) => {
            is_state(&choice.body) && (is_state(&choice.orelse) || choice.orelse.is_none_literal_expr())
        }
        _ => value.as_call_expr().is_some_and(|call| is_method_call(call, "state_dict")),
    }
}
