//! A numbered layer that is never used, while `forward` calls another layer of its row instead.
//!
//! A row consists of the layers of one class whose names differ only in their numbers: `conv1`, `conv2`,
//! `conv3`. Programs also share layers on purpose, and keep layers that they no longer need. So `forward`
//! must contain as many calls of layers of the row as the row has layers, and the call in the place of the
//! unused layer must be that of another layer, which is also called in its own place.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::words::places;
use crate::syntax::ast::{ExprCall, StmtClassDef, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, Stmt, TextRange, calls, expressions, methods, path_of, statements};

const NAME: &str = "layer-never-called";

/// Texts in a class that show that it may reach its layers in other ways.
const DYNAMIC: &[&str] = &[
    "getattr(",
    "setattr(",
    "children(",
    "modules(",
    "_modules",
    "__dict__",
    "vars(",
    "locals(",
    "exec(",
    "eval(f",
    "eval(\"",
    "eval('",
];

/// Parts of the names of classes that usually have no parameters: sharing their instances changes nothing.
const STATELESS: &[&str] = &[
    "relu",
    "elu",
    "activation",
    "sigmoid",
    "tanh",
    "softmax",
    "softplus",
    "mish",
    "silu",
    "swish",
    "pool",
    "drop",
    "upsample",
    "upsampling",
    "interpol",
    "flatten",
    "identity",
    "shuffle",
    "pad",
    "loss",
    "fold",
    "noise",
];

#[derive(Default)]
pub(crate) struct LayerNeverCalled;

impl Rule for LayerNeverCalled {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("def forward") {
            return;
        }
        for class in source.classes() {
            let method = |name: &str| methods(class).find(|method| method.name.as_str() == name);
            let (Some(init), Some(forward)) = (method("__init__"), method("forward")) else { continue };
            if !is_dynamic(source, class) {
                check(findings, source, &layers(init), &sequence(forward), forward);
            }
        }
    }
}

/// `self.down7 = Down(…)`
struct Layer<'a> {
    name: &'a str,
    class: Vec<&'a str>,
    at: TextRange,
}

impl Layer<'_> {
    fn is_in_row_of(&self, other: &Layer<'_>) -> bool {
        let is_numbered = stem(self.name) != self.name;
        is_numbered && stem(self.name) == stem(other.name) && self.class == other.class
    }

    fn has_parameters(&self) -> bool {
        let class = self.class.last().copied().unwrap_or_default().to_ascii_lowercase();
        !class.is_empty() && !STATELESS.iter().any(|part| class.contains(part))
    }
}

/// A name without its digits.
fn stem(name: &str) -> String {
    name.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// The layers that a constructor creates, in order.
fn layers(init: &StmtFunctionDef) -> Vec<Layer<'_>> {
    let mut found: Vec<Layer<'_>> = Vec::new();
    for stmt in statements(&init.body, false) {
        let Stmt::Assign(assign) = stmt else { continue };
        let ([target], Some(call)) = (assign.targets.as_slice(), assign.value.as_call_expr()) else { continue };
        if let ["self", name] = path_of(target).as_slice()
            && !found.iter().any(|layer| layer.name == *name)
        {
            found.push(Layer { name, class: path_of(&call.func), at: target.range() });
        }
    }
    found
}

/// The attributes of `self` that a method calls whenever it runs, each with its call, in the order of the calls.
fn sequence(forward: &StmtFunctionDef) -> Vec<(&str, &ExprCall)> {
    let mut found = Vec::new();
    sequence_of(&forward.body, &mut found);
    // `self.down2(self.down1(x))`: the inner call comes first.
    found.sort_by_key(|(_, call)| call.end());
    found
}

fn sequence_of<'a>(block: &'a [Stmt], found: &mut Vec<(&'a str, &'a ExprCall)>) {
    for stmt in block {
        match stmt {
            Stmt::With(with) => sequence_of(&with.body, found),
            Stmt::Assign(_) | Stmt::AnnAssign(_) | Stmt::AugAssign(_) | Stmt::Expr(_) | Stmt::Return(_)
                if !expressions(stmt).into_iter().any(branches) =>
            {
                found.extend(calls(stmt).into_iter().filter_map(|call| Some((called_layer(call)?, call))));
            }
            _ => {}
        }
    }
}

/// Whether a part of an expression may be skipped, or evaluated more than once.
fn branches(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::If(_)
            | Expr::BoolOp(_)
            | Expr::Lambda(_)
            | Expr::ListComp(_)
            | Expr::SetComp(_)
            | Expr::DictComp(_)
            | Expr::Generator(_)
    )
}

/// The name in `self.name(…)`.
fn called_layer(call: &ExprCall) -> Option<&str> {
    match path_of(&call.func).as_slice() {
        ["self", name] => Some(name),
        _ => None,
    }
}

fn check(
    findings: &mut Findings<'_>,
    source: &Source<'_>,
    layers: &[Layer<'_>],
    sequence: &[(&str, &ExprCall)],
    forward: &StmtFunctionDef,
) {
    let all: Vec<&str> = forward.body.iter().flat_map(calls).filter_map(called_layer).collect();
    for unused in layers.iter().filter(|layer| layer.has_parameters() && places(source.text, layer.name).count() == 1) {
        let row: Vec<&Layer<'_>> = layers.iter().filter(|layer| layer.is_in_row_of(unused)).collect();
        let is_in_row = |name: &str| row.iter().any(|layer| layer.name == name);
        let row_calls: Vec<&(&str, &ExprCall)> = sequence.iter().filter(|(name, _)| is_in_row(name)).collect();
        let total = all.iter().filter(|name| is_in_row(name)).count();
        if row_calls.len() != row.len() || total != row.len() || shares_others(source, layers, &all, &is_in_row) {
            continue;
        }
        let place = row.iter().position(|layer| layer.name == unused.name);
        let Some((sibling, call)) = place.and_then(|place| row_calls.get(place)) else { continue };
        let own_place = row.iter().position(|layer| layer.name == *sibling).and_then(|place| row_calls.get(place));
        if own_place.is_none_or(|(name, _)| name != sibling) {
            continue;
        }
        let times = row_calls.iter().filter(|(name, _)| name == sibling).count();
        let name = unused.name;
        let message = format!("`self.{name}` is never used, but `self.{sibling}` is called {times} times in `forward`");
        let label = Label { span: source.span(unused.at), message: format!("`self.{name}` is made here") };
        findings.report(NAME, Severity::Warning, message, source.span(call.func.range()), vec![label]);
    }
}

/// Whether `forward` also calls a layer outside of the row several times, although no layer in the row of
/// that layer is unused: it may share its layers on purpose, for example to compare two inputs.
fn shares_others(source: &Source<'_>, layers: &[Layer<'_>], all: &[&str], is_in_row: &dyn Fn(&str) -> bool) -> bool {
    let is_unused = |layer: &Layer<'_>| places(source.text, layer.name).count() == 1;
    let has_unused = |layer: &Layer<'_>| layers.iter().any(|other| other.is_in_row_of(layer) && is_unused(other));
    let mut others =
        layers.iter().filter(|layer| layer.has_parameters() && !is_in_row(layer.name) && !has_unused(layer));
    others.any(|layer| all.iter().filter(|name| **name == layer.name).count() > 1)
}

fn is_dynamic(source: &Source<'_>, class: &StmtClassDef) -> bool {
    let range = class.range();
    let text = source.text.get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default();
    DYNAMIC.iter().any(|dynamic| text.contains(dynamic))
}
