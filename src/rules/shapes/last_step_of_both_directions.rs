//! The last step of a bidirectional RNN: `out[:, -1]`, where the backward direction has read one step only.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprCall, StmtClassDef, StmtFunctionDef};
use crate::syntax::{
    Expr, Ranged, Stmt, assignment, called, expressions, integer, methods, names_in, parts, path_of, statements,
};

const NAME: &str = "last-step-of-both-directions";

#[derive(Default)]
pub(crate) struct LastStepOfBothDirections;

impl Rule for LastStepOfBothDirections {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("bidirectional") {
            return;
        }
        for class in source.classes() {
            for rnn in networks(class) {
                for def in methods(class) {
                    let Some(step) = last_step(def, &rnn) else { continue };
                    let text = source.text.get(step.range().to_std_range()).unwrap_or_default();
                    let message = format!(
                        "`{text}` is the output of the last step, where the backward direction of `self.{}` has read \
                         only this step",
                        rnn.name
                    );
                    let label =
                        Label { span: source.span(rnn.call.range()), message: "it has two directions".to_owned() };
                    findings.report(NAME, Severity::Warning, message, source.span(step.range()), vec![label]);
                }
            }
        }
    }
}

/// A bidirectional RNN that is an attribute of a class.
struct Network<'a> {
    name: &'a str,
    call: &'a ExprCall,
    batch_first: bool,
}

/// The bidirectional networks that a class assigns once.
fn networks(class: &StmtClassDef) -> Vec<Network<'_>> {
    let all: Vec<(&str, &Expr)> = statements(&class.body, true)
        .into_iter()
        .filter_map(assignment)
        .filter_map(|(target, value)| match path_of(target).as_slice() {
            ["self", name] => Some((*name, value)),
            _ => None,
        })
        .collect();
    let once = |name: &str| all.iter().filter(|(other, _)| *other == name).count() == 1;
    all.iter().filter(|(name, _)| once(name)).filter_map(|(name, value)| network(name, value)).collect()
}

/// A bidirectional network whose layout is known.
fn network<'a>(name: &'a str, value: &'a Expr) -> Option<Network<'a>> {
    let call = value.as_call_expr()?;
    let is_rnn = matches!(
        path_of(&call.func).as_slice(),
        ["nn", "LSTM" | "GRU" | "RNN"] | ["LSTM" | "GRU"] | ["torch", "nn", "LSTM" | "GRU" | "RNN"]
    );
    let flag = |name: &str| call.arguments.find_keyword(name).map(|keyword| keyword.value.as_boolean_literal_expr());
    let is_both = matches!(flag("bidirectional"), Some(Some(literal)) if literal.value);
    let batch_first = match flag("batch_first") {
        None => false,
        Some(literal) => literal?.value,
    };
    (is_rnn && is_both).then_some(Network { name, call, batch_first })
}

/// The last step of the output of a network, if the method reads no other step.
fn last_step<'a>(def: &'a StmtFunctionDef, rnn: &Network<'_>) -> Option<&'a Expr> {
    let mut output: Option<&str> = None;
    let mut found = None;
    for stmt in statements(&def.body, false) {
        // The statement is read before its target is assigned; blocks are visited by their own statements.
        let is_simple = !matches!(stmt, Stmt::If(_) | Stmt::For(_) | Stmt::While(_) | Stmt::With(_) | Stmt::Try(_));
        if let Some(name) = output.filter(|_| is_simple) {
            let all = expressions(stmt);
            let steps = all.iter().filter(|expr| {
                expr.as_subscript_expr()
                    .is_some_and(|part| path_of(&part.value) == [name] && is_last(&part.slice, rnn.batch_first))
            });
            let steps: Vec<&Expr> = steps.copied().collect();
            let reads = all.iter().filter(|expr| expr.as_name_expr().is_some_and(|read| read.id.as_str() == name));
            let is_cut = |step: &Expr| {
                let mut outer = all.iter().filter_map(|expr| expr.as_subscript_expr());
                outer.any(|outer| outer.value.range() == step.range())
            };
            // If the method also reads other steps, or one direction, it knows what the directions are.
            let is_stored = assignment(stmt).is_some_and(|(target, _)| names_in(target).contains(&name));
            if reads.count() > steps.len() + usize::from(is_stored) || steps.iter().any(|step| is_cut(step)) {
                return None;
            }
            found = found.or(steps.first().copied());
        }
        let Some((target, value)) = assignment(stmt) else { continue };
        if let Some(name) = output_of(target, value, rnn) {
            output = Some(name);
        } else if output.is_some_and(|name| names_in(target).contains(&name)) {
            output = None;
        }
    }
    found
}

/// The name of the output in `out, hidden = self.rnn(x)` and `out = self.rnn(x)[0]`.
fn output_of<'a>(target: &'a Expr, value: &Expr, rnn: &Network<'_>) -> Option<&'a str> {
    let is_call = |expr: &Expr| {
        let call = expr.as_call_expr().filter(|call| path_of(&call.func) == ["self", rnn.name]);
        // A sequence of one step: `self.lstm(x.unsqueeze(1))`.
        let is_single = |part: &&Expr| {
            part.is_none_literal_expr() || part.as_call_expr().is_some_and(|call| called(call) == Some("unsqueeze"))
        };
        call.is_some_and(|call| !call.arguments.args.first().is_some_and(|input| parts(input).iter().any(is_single)))
    };
    let name = match target {
        Expr::Tuple(tuple) if is_call(value) && tuple.elts.len() == 2 => tuple.elts.first()?,
        target => {
            let part = value.as_subscript_expr().filter(|part| integer(&part.slice) == Some(0))?;
            is_call(&part.value).then_some(target)?
        }
    };
    Some(name.as_name_expr()?.id.as_str())
}

/// Whether an index picks the last step and all features.
fn is_last(index: &Expr, batch_first: bool) -> bool {
    let is_full = |expr: &Expr| {
        expr.as_slice_expr().is_some_and(|slice| slice.lower.is_none() && slice.upper.is_none() && slice.step.is_none())
    };
    match index {
        Expr::Tuple(tuple) => match (&*tuple.elts, batch_first) {
            ([batch, step, rest @ ..], true) => is_full(batch) && integer(step) == Some(-1) && rest.iter().all(is_full),
            ([step, rest @ ..], false) => integer(step) == Some(-1) && rest.iter().all(is_full),
            _ => false,
        },
        index => !batch_first && integer(index) == Some(-1),
    }
}
