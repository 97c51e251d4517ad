//! Targets of Q-learning that go on after the end of an episode: `reward + gamma * next_q`, without `(1 - done)`.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::words::has_word;
use crate::syntax::ast::Operator;
use crate::syntax::{Expr, Ranged, Stmt, TextRange, blocks, expressions, is_read, parts, path_of, statements};

const NAME: &str = "terminal-states-not-masked";

#[derive(Default)]
pub(crate) struct TerminalStatesNotMasked;

impl Rule for TerminalStatesNotMasked {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !["done", "terminal", "terminated"].iter().any(|word| source.text.contains(word)) {
            return;
        }
        let functions = source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt());
        for body in functions.map(|def| def.body.as_slice()) {
            let all = statements(body, true);
            let Some(sum) = body.iter().flat_map(expressions).find(|expr| is_target(expr)) else { continue };
            let Some((name, place)) = all.iter().find_map(|stmt| unpacked_flag(stmt)) else { continue };
            if place.start() > sum.start() || is_used(&all, name) {
                continue;
            }
            let message = format!(
                "`{name}` is not used: the target of the last state of an episode contains the value of a state after \
                 the end"
            );
            let label = Label { span: source.span(place), message: format!("`{name}` is assigned here") };
            findings.report(NAME, Severity::Warning, message, source.span(sum.range()), vec![label]);
        }
    }
}

fn is_reward(expr: &Expr) -> bool {
    has_word(&path_of(expr), &["reward", "rewards", "rew", "rews"])
}

fn is_flag(expr: &Expr) -> bool {
    has_word(&path_of(expr), &["done", "dones", "terminal", "terminals", "terminated"])
}

/// Whether an expression is `reward + gamma * next_q`.
fn is_target(expr: &Expr) -> bool {
    let Some(sum) = expr.as_bin_op_expr().filter(|sum| sum.op == Operator::Add) else { return false };
    let is_discounted = |expr: &Expr| {
        expr.as_bin_op_expr().is_some_and(|product| {
            product.op == Operator::Mult
                && parts(expr).into_iter().any(|part| has_word(&path_of(part), &["gamma", "discount"]))
        })
    };
    is_reward(&sum.left) && is_discounted(&sum.right) || is_reward(&sum.right) && is_discounted(&sum.left)
}

/// The flag that is unpacked beside a reward: `state, action, reward, next_state, done = …`.
fn unpacked_flag(stmt: &Stmt) -> Option<(&str, TextRange)> {
    let targets = stmt.as_assign_stmt()?.targets.first()?;
    let elements = &targets.as_tuple_expr()?.elts;
    let flag = elements.iter().find(|element| is_flag(element))?;
    let name = flag.as_name_expr()?.id.as_str();
    (elements.len() >= 4 && elements.iter().any(is_reward)).then_some((name, flag.range()))
}

/// Whether a statement uses a flag, other than to convert it: `done = torch.as_tensor(done)`.
fn is_used(all: &[&Stmt], name: &str) -> bool {
    let reads = |stmt: &Stmt| {
        let is_name = |expr: &&Expr| expr.as_name_expr().is_some_and(|one| one.id.as_str() == name) && is_read(expr);
        blocks(stmt).is_empty() && expressions(stmt).iter().any(is_name)
    };
    let converts = |stmt: &Stmt| {
        let targets = stmt.as_assign_stmt().map(|assign| assign.targets.as_slice()).unwrap_or_default();
        targets.iter().any(|target| path_of(target) == [name])
    };
    let in_head = |stmt: &Stmt| {
        let test = match stmt {
            Stmt::If(one) => Some(&one.test),
            Stmt::While(each) => Some(&each.test),
            Stmt::For(each) => Some(&each.iter),
            _ => None,
        };
        test.is_some_and(|test| parts(test).into_iter().any(|part| path_of(part) == [name]))
    };
    all.iter().any(|stmt| reads(stmt) && !converts(stmt) || in_head(stmt))
}
