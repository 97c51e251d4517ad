//! Assignments after `while True:` without `break`, which nothing ever runs.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{Number, StmtWhile};
use crate::syntax::{Expr, Ranged, Stmt, TextRange, TextSize, blocks};

const NAME: &str = "code-after-endless-loop";

#[derive(Default)]
pub(crate) struct CodeAfterEndlessLoop;

impl Rule for CodeAfterEndlessLoop {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for block in source.blocks() {
            let mut rest = block.iter().skip_while(|stmt| !stmt.as_while_stmt().is_some_and(is_endless));
            let Some(endless) = rest.next() else { continue };
            let Some(first) = rest.find(|stmt| matches!(stmt, Stmt::Assign(_) | Stmt::AugAssign(_))) else { continue };
            let message = "this is never reached: the loop before it has no end and no `break`";
            let head = TextRange::at(endless.start(), TextSize::of("while"));
            let label = Label { span: source.span(head), message: "the loop begins here".to_owned() };
            findings.report(NAME, Severity::Warning, message, source.span(first.range()), vec![label]);
        }
    }
}

/// Whether a loop is `while True:` or `while 1:`, and no `break` ends it.
fn is_endless(one: &StmtWhile) -> bool {
    let always = match &*one.test {
        Expr::BooleanLiteral(literal) => literal.value,
        Expr::NumberLiteral(number) => matches!(&number.value, Number::Int(int) if int.as_u8() == Some(1)),
        _ => false,
    };
    always && !breaks(&one.body)
}

/// Whether a block contains a `break` of the loop around it.
fn breaks(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Break(_) => true,
        Stmt::For(each) => breaks(&each.orelse),
        Stmt::While(each) => breaks(&each.orelse),
        Stmt::FunctionDef(_) | Stmt::ClassDef(_) => false,
        stmt => blocks(stmt).into_iter().any(breaks),
    })
}
