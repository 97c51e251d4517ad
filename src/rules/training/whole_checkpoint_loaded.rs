//! `optimizer.load_state_dict(checkpoint)` beside `model.load_state_dict(checkpoint["model"])`.
//!
//! Programs that read two formats of checkpoints have both forms in different branches. So both calls must be
//! statements of the same block, and nothing may change the checkpoint between them. The body of a `with`
//! counts as a part of the block around it. A class with its own `load_state_dict` may take the whole
//! checkpoint, so files that define this method are not checked.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::ExprCall;
use crate::syntax::{Expr, Ranged, Stmt, expressions, is_method_call, is_read, keyed, path_of};

const NAME: &str = "whole-checkpoint-loaded";

const LOAD: &str = "load_state_dict";

/// Parts of the names of objects whose state is never a whole checkpoint.
const PARTS: &[&str] = &["optim", "sched", "scaler"];

/// Names of modules.
const MODULES: &[&str] = &["model", "net", "network", "generator", "discriminator", "encoder", "decoder"];

#[derive(Default)]
pub(crate) struct WholeCheckpointLoaded;

impl Rule for WholeCheckpointLoaded {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if source.text.matches(LOAD).count() < 2 || source.text.contains("def load_state_dict") {
            return;
        }
        for block in source.blocks() {
            let mut stmts = Vec::new();
            flatten(block, &mut stmts);
            check(findings, source, &stmts);
        }
    }
}

/// A statement `object.load_state_dict(state)`, or an assignment of its result.
struct Load<'a> {
    /// The index of the statement.
    at: usize,
    call: &'a ExprCall,
    state: &'a Expr,
}

impl<'a> Load<'a> {
    fn of((at, stmt): (usize, &&'a Stmt)) -> Option<Load<'a>> {
        let value = match stmt {
            Stmt::Expr(stmt) => &stmt.value,
            Stmt::Assign(assign) => &assign.value,
            _ => return None,
        };
        let call = value.as_call_expr().filter(|call| is_method_call(call, LOAD))?;
        let state = call.arguments.find_argument_value("state_dict", 0)?;
        Some(Load { at, call, state })
    }

    fn object(&self) -> Vec<&'a str> {
        self.call.func.as_attribute_expr().map(|callee| path_of(&callee.value)).unwrap_or_default()
    }

    /// The name of the checkpoint, and the key, in `object.load_state_dict(checkpoint["key"])`.
    fn part(&self) -> Option<(Vec<&'a str>, &'a str)> {
        keyed(self.state).map(|(checkpoint, key)| (path_of(checkpoint), key))
    }

    /// Whether the object needs only a part of the checkpoint. With further arguments, such as
    /// `strict=False`, a module may take only the keys that it knows.
    fn needs_part(&self) -> bool {
        let object = self.object();
        let name = object.last().copied().unwrap_or_default().to_ascii_lowercase();
        self.call.arguments.len() == 1
            && (PARTS.iter().any(|part| name.contains(part)) || MODULES.contains(&name.as_str()))
    }
}

fn check(findings: &mut Findings<'_>, source: &Source<'_>, stmts: &[&Stmt]) {
    let loads: Vec<Load<'_>> = stmts.iter().enumerate().filter_map(Load::of).collect();
    for whole in loads.iter().filter(|load| load.needs_part()) {
        let checkpoint = path_of(whole.state);
        if checkpoint.is_empty() {
            continue;
        }
        let found = loads.iter().find_map(|load| {
            let (owner, key) = load.part()?;
            let (first, last) = (load.at.min(whole.at), load.at.max(whole.at));
            let between = stmts.get(first + 1..last).unwrap_or_default();
            let is_same = owner == checkpoint && load.object() != whole.object();
            (is_same && !between.iter().any(|stmt| may_change(stmt, &checkpoint))).then_some((load, key))
        });
        let Some((other, key)) = found else { continue };
        let (name, object) = (checkpoint.join("."), whole.object().join("."));
        let message = format!(
            "`{object}` gets the whole checkpoint `{name}`, although `{name}[\"{key}\"]` shows that it consists \
             of parts"
        );
        let label = Label {
            span: source.span(other.state.range()),
            message: format!("here `{}` gets a part of it", other.object().join(".")),
        };
        findings.report(NAME, Severity::Warning, message, source.span(whole.state.range()), vec![label]);
    }
}

/// The statements of a block, including those in `with`.
fn flatten<'a>(block: &'a [Stmt], found: &mut Vec<&'a Stmt>) {
    for stmt in block {
        found.push(stmt);
        if let Stmt::With(with) = stmt {
            flatten(&with.body, found);
        }
    }
}

/// Whether a statement may change a checkpoint: it assigns or deletes the checkpoint or a part of it, uses
/// one of its attributes or methods, or passes it to a function other than `load_state_dict`.
fn may_change(stmt: &Stmt, checkpoint: &[&str]) -> bool {
    let is = |expr: &Expr| path_of(expr) == checkpoint;
    expressions(stmt).into_iter().any(|expr| match expr {
        Expr::Call(call) if !is_method_call(call, LOAD) => {
            let keywords = call.arguments.keywords.iter().map(|keyword| &keyword.value);
            call.arguments.args.iter().chain(keywords).any(is)
        }
        Expr::Attribute(attribute) => is(&attribute.value) || !is_read(expr) && is(expr),
        Expr::Subscript(subscript) => is(&subscript.value) && !subscript.ctx.is_load(),
        Expr::Name(_) => !is_read(expr) && is(expr),
        _ => false,
    })
}
