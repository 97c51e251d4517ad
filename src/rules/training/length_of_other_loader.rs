//! A sum over the batches of one loader that is divided by the length of another one:
//! `for x in val_loader: total += …`, and then `total / len(train_loader)`.

use rustc_hash::FxHashMap;

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::split::{Split, counted, dotted, iterated};
use crate::syntax::ast::{ExprBinOp, Operator, StmtAugAssign};
use crate::syntax::{Expr, Ranged, Stmt, TextRange, assignment, blocks, expressions, parts, statements};

const NAME: &str = "length-of-other-loader";

/// The loops in which a variable is increased: over one split, or over other things.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Over {
    Split(Split, TextRange),
    Other,
}

#[derive(Default)]
pub(crate) struct LengthOfOtherLoader;

impl Rule for LengthOfOtherLoader {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("torch") || !source.text.contains("len(") {
            return;
        }
        let functions = source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt());
        for body in functions.map(|def| def.body.as_slice()).chain(std::iter::once(source.body)) {
            let mut sums = FxHashMap::default();
            find_sums(body, Over::Other, &mut sums);
            if sums.values().any(|over| over.is_some_and(|over| over != Over::Other)) {
                find_quotients(findings, source, body, &sums);
            }
        }
    }
}

/// The variables that a block increases, each with the only loop that does so. `None` if there are several.
fn find_sums(block: &[Stmt], over: Over, sums: &mut FxHashMap<String, Option<Over>>) {
    for stmt in block {
        let inner = match stmt {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => continue,
            Stmt::For(each) => {
                let over_what = iterated(&each.iter);
                let mut splits = over_what.into_iter().filter_map(Split::of);
                match splits.next() {
                    Some(split) if splits.all(|other| other == split) => Over::Split(split, each.iter.range()),
                    Some(_) => Over::Other,
                    None => over,
                }
            }
            _ => over,
        };
        if let Some(sum) = increased(stmt).and_then(dotted) {
            let known = sums.entry(sum).or_insert(Some(over));
            let is_same = match (*known, over) {
                (Some(Over::Split(a, _)), Over::Split(b, _)) => a == b,
                (known, over) => known == Some(over),
            };
            *known = known.filter(|_| is_same);
        }
        for block in blocks(stmt) {
            find_sums(block, inner, sums);
        }
    }
}

/// The target of `total += x` and of `total = total + x`.
fn increased(stmt: &Stmt) -> Option<&Expr> {
    if let Stmt::AugAssign(StmtAugAssign { target, op: Operator::Add, .. }) = stmt {
        return Some(target);
    }
    let (target, value) = assignment(stmt)?;
    let ExprBinOp { left, op: Operator::Add, .. } = value.as_bin_op_expr()? else { return None };
    (dotted(left).is_some() && dotted(left) == dotted(target)).then_some(target)
}

fn find_quotients(
    findings: &mut Findings<'_>,
    source: &Source<'_>,
    body: &[Stmt],
    sums: &FxHashMap<String, Option<Over>>,
) {
    let own = body.iter().filter(|stmt| !matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)));
    let inner = statements(body, false);
    let changes = inner.iter().filter_map(|stmt| stmt.as_aug_assign_stmt()).filter(|stmt| stmt.op == Operator::Div);
    let quotients = own.flat_map(expressions).filter_map(Expr::as_bin_op_expr);
    let quotients = quotients.filter(|one| one.op == Operator::Div).map(|one| (&*one.left, &*one.right));
    for (sum, divisor) in changes.map(|change| (&*change.target, &*change.value)).chain(quotients) {
        let Some((counted, split)) = counted(divisor).and_then(|one| Some((one, Split::of(one)?))) else { continue };
        let over = parts(sum).into_iter().find_map(|part| sums.get(&dotted(part)?).copied().flatten());
        let Some(Over::Split(summed, each)) = over else { continue };
        if summed != split {
            let name = dotted(counted).unwrap_or_default();
            let each_text = source.text.get(each.to_std_range()).unwrap_or_default();
            let message = format!("the sum over `{each_text}` is divided by the length of `{name}`");
            let label = Label { span: source.span(each), message: "the sum is over these batches".to_owned() };
            findings.report(NAME, Severity::Warning, message, source.span(divisor.range()), vec![label]);
        }
    }
}
