//! A positional encoding that is read at one position in place of the first ones: `x + self.pe[:, x.size(1)]`.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::words::has_word;
use crate::syntax::ast::Operator;
use crate::syntax::{Expr, Ranged, expressions, integer, path_of};

const NAME: &str = "position-instead-of-slice";

/// Words in the names of positional encodings.
const ENCODINGS: &[&str] = &["pe", "pos", "position", "positions", "positional", "posenc"];

#[derive(Default)]
pub(crate) struct PositionInsteadOfSlice;

impl Rule for PositionInsteadOfSlice {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for stmt in source
            .statements
            .iter()
            .filter(|stmt| stmt.is_assign_stmt() || stmt.is_return_stmt() || stmt.is_aug_assign_stmt())
        {
            // Each summand with the other one.
            let added = expressions(stmt).into_iter().filter_map(|expr| expr.as_bin_op_expr());
            let sides = added
                .filter(|sum| sum.op == Operator::Add)
                .flat_map(|sum| [(&*sum.left, &*sum.right), (&*sum.right, &*sum.left)]);
            let increment = stmt.as_aug_assign_stmt().filter(|sum| sum.op == Operator::Add);
            for (side, other) in sides.chain(increment.map(|sum| (&*sum.value, &*sum.target))) {
                let Some(length) = position(side, other) else { continue };
                let text = source.text.get(length.range().to_std_range()).unwrap_or_default();
                let message = format!(
                    "`{text}` is one position, the one after the last: all steps get its encoding (the first ones are \
                     `:{text}`)"
                );
                findings.report(NAME, Severity::Warning, message, source.span(side.range()), Vec::new());
            }
        }
    }
}

/// The length in `self.pe[:, x.size(1)]`, beside the summand `x`. The length of another tensor, such as a cache, may
/// be the position of `x`.
fn position<'a>(side: &'a Expr, other: &Expr) -> Option<&'a Expr> {
    let part = side.as_subscript_expr().filter(|part| has_word(&path_of(&part.value), ENCODINGS))?;
    let indices = match &*part.slice {
        Expr::Tuple(tuple) => tuple.elts.as_slice(),
        one => std::slice::from_ref(one),
    };
    let has_slice = indices.iter().any(Expr::is_slice_expr);
    let other = path_of(other);
    indices.iter().find(|index| !other.is_empty() && is_size_of(index, &other)).filter(|_| has_slice)
}

/// Whether an expression is `x.size(1)` or `x.shape[1]`.
fn is_size_of(expr: &Expr, tensor: &[&str]) -> bool {
    match expr {
        Expr::Call(call) => {
            let of = call.func.as_attribute_expr().filter(|method| method.attr.as_str() == "size");
            of.is_some_and(|method| path_of(&method.value) == tensor)
                && matches!(&*call.arguments.args, [dim] if integer(dim).is_some())
        }
        Expr::Subscript(part) => {
            let of = part.value.as_attribute_expr().filter(|shape| shape.attr.as_str() == "shape");
            of.is_some_and(|shape| path_of(&shape.value) == tensor) && integer(&part.slice).is_some()
        }
        _ => false,
    }
}
