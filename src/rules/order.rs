//! The calls about gradients in one block of a script, in the order in which they are written.

use crate::syntax::ast::ExprCall;
use crate::syntax::{Ranged, Stmt, TextRange, called, calls, path_of};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `x.zero_grad()`
    Clear,
    /// `loss.backward()`, or a statement that contains such a call.
    Backward,
    /// `clip_grad_norm_(…)`
    Clip,
    /// `x.step()` without arguments.
    Step,
    /// A statement that may do several of these, in an order that is not known.
    Several,
}

pub(super) struct Operation<'a> {
    pub kind: Kind,
    /// The object whose method is called.
    pub owner: Vec<&'a str>,
    pub range: TextRange,
    /// The number of the statement in the block.
    pub at: usize,
    pub call: Option<&'a ExprCall>,
}

/// Parts of the names of functions that may compute or use gradients.
const TRAINING: &[&str] = &["backward", "step", "train", "update", "closure", "fit", "optim", "accumulate", "scale"];

/// The calls about gradients in a block. Other statements are left out.
pub(super) fn operations(body: &[Stmt]) -> Vec<Operation<'_>> {
    body.iter().enumerate().filter_map(|(at, stmt)| operation(at, stmt)).collect()
}

fn operation(at: usize, stmt: &Stmt) -> Option<Operation<'_>> {
    let all = calls(stmt);
    let single = match stmt {
        Stmt::Expr(stmt) => stmt.value.as_call_expr(),
        Stmt::Assign(assign) => assign.value.as_call_expr(),
        _ => None,
    };
    if let Some(call) = single
        && let Some(kind) = kind(call)
    {
        let owner = call.func.as_attribute_expr().map(|callee| path_of(&callee.value)).unwrap_or_default();
        return Some(Operation { kind, owner, range: call.range(), at, call: Some(call) });
    }
    let names = || all.iter().copied().filter_map(called);
    let is_training = |name: &str| TRAINING.iter().any(|part| name.contains(part));
    let only_backward = names().any(|name| name == "backward")
        && !names().any(|name| name != "backward" && (is_training(name) || name == "zero_grad"));
    let range = stmt.range();
    if only_backward {
        return Some(Operation { kind: Kind::Backward, owner: Vec::new(), range, at, call: None });
    }
    let is_part = names().any(|name| is_training(name) || name == "zero_grad" || name.contains("clip_grad"));
    is_part.then(|| Operation { kind: Kind::Several, owner: Vec::new(), range, at, call: None })
}

fn kind(call: &ExprCall) -> Option<Kind> {
    let name = called(call)?;
    let is_method = call.func.is_attribute_expr();
    Some(match name {
        "zero_grad" if is_method => Kind::Clear,
        "backward" if is_method => Kind::Backward,
        "clip_grad_norm_" | "clip_grad_value_" | "clip_grad_norm" => Kind::Clip,
        "step" if is_method && call.arguments.is_empty() => Kind::Step,
        _ => return None,
    })
}
