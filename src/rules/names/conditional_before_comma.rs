//! `a, b = f(x) if c else None, None`: the tuple contains the conditional expression, and not the other way round.
//!
//! Perhaps only the first element is meant to be conditional. So the rule needs a sign that the whole tuple
//! was meant: the file shows that the function returns tuples of this length, or the code uses another target
//! as an object, although only the constant is ever assigned to this target.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::comparable::ComparableExpr;
use crate::syntax::ast::{ExprCall, ExprIf, ExprTuple};
use crate::syntax::{Expr, Ranged, Stmt, expressions, is_read, path_of, statements};

const NAME: &str = "conditional-before-comma";

#[derive(Default)]
pub(crate) struct ConditionalBeforeComma;

impl Rule for ConditionalBeforeComma {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        let functions = source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt());
        for scope in functions.map(|def| def.body.as_slice()).chain(std::iter::once(source.body)) {
            for stmt in statements(scope, false) {
                let Some(slip) = Slip::of(stmt) else { continue };
                if !slip.calls_function_of_tuples(source) && !slip.uses_constant(scope) {
                    continue;
                }
                let count = slip.tuple.elts.len();
                let message = format!(
                    "Python reads this as a tuple of {count} elements, and only the first is conditional: the \
                     tuple after `else` needs parentheses"
                );
                findings.report(NAME, Severity::Warning, message, source.span(slip.tuple.range()), Vec::new());
            }
        }
    }
}

/// A tuple without parentheses: `f(x) if c else None, None`.
struct Slip<'a> {
    tuple: &'a ExprTuple,
    call: &'a ExprCall,
    /// The targets of the assignment; empty for `return`.
    targets: &'a [Expr],
}

impl<'a> Slip<'a> {
    fn of(stmt: &'a Stmt) -> Option<Slip<'a>> {
        let (value, targets) = match stmt {
            Stmt::Return(result) => (result.value.as_deref()?, None),
            Stmt::Assign(assign) => match assign.targets.as_slice() {
                [Expr::Tuple(target)] => (&*assign.value, Some(target.elts.as_slice())),
                [Expr::List(target)] => (&*assign.value, Some(target.elts.as_slice())),
                _ => return None,
            },
            _ => return None,
        };
        let tuple = value.as_tuple_expr().filter(|tuple| !tuple.parenthesized)?;
        let (first, others) = tuple.elts.split_first()?;
        let conditional = first.as_if_expr()?;
        // If the conditional expression is in parentheses, it begins after the start of the tuple.
        let is_plain = conditional.start() == tuple.start() && !others.is_empty();
        let is_unpacked = targets.is_none_or(|targets| targets.len() == tuple.elts.len());
        let call = conditional.body.as_call_expr()?;
        (is_plain && is_unpacked && repeats_constant(conditional, others)).then(|| Slip {
            tuple,
            call,
            targets: targets.unwrap_or_default(),
        })
    }

    /// Whether the file shows that the called function returns tuples of this length: it unpacks another call
    /// of the function into as many targets, or contains a function of this name that returns such a tuple.
    fn calls_function_of_tuples(&self, source: &Source<'_>) -> bool {
        let callee = path_of(&self.call.func);
        let count = self.tuple.elts.len();
        let name = match callee.as_slice() {
            [name] | ["self" | "cls", name] => Some(*name),
            _ => None,
        };
        !callee.is_empty()
            && source.statements.iter().any(|stmt| match stmt {
                Stmt::Assign(assign) => {
                    let is_same = assign.value.as_call_expr().is_some_and(|call| path_of(&call.func) == callee);
                    is_same && assign.targets.iter().any(|target| has_length(target, count))
                }
                Stmt::FunctionDef(def) if name == Some(def.name.as_str()) => {
                    let all = statements(&def.body, false);
                    let mut results = all.iter().filter_map(|stmt| stmt.as_return_stmt()?.value.as_deref());
                    results.any(|result| has_length(result, count))
                }
                _ => false,
            })
    }

    /// Whether the code uses a target after the first one as an object, although nothing else is assigned to it. Other
    /// files may assign to an attribute, so only variables count.
    fn uses_constant(&self, scope: &[Stmt]) -> bool {
        let mut others = self.targets.iter().skip(1).filter(|target| target.is_name_expr());
        others.any(|target| is_used_unchanged(scope, target) && !is_shared(scope, target))
    }
}

/// Whether the value after `else` and all other elements are the same constant.
fn repeats_constant(conditional: &ExprIf, others: &[Expr]) -> bool {
    let constant = ComparableExpr::from(&conditional.orelse);
    conditional.orelse.is_literal_expr() && others.iter().all(|other| ComparableExpr::from(other) == constant)
}

fn has_length(expr: &Expr, count: usize) -> bool {
    match expr {
        Expr::Tuple(tuple) => tuple.elts.len() == count && !tuple.elts.iter().any(Expr::is_starred_expr),
        _ => false,
    }
}

/// Whether code assigns to a variable only once, and then reads an attribute or an element of it, or calls
/// it.
fn is_used_unchanged(body: &[Stmt], variable: &Expr) -> bool {
    let path = path_of(variable);
    let is = |expr: &Expr| is_read(expr) && expr.start() > variable.start() && path_of(expr) == path;
    let all: Vec<&Expr> = body.iter().flat_map(expressions).collect();
    let stores = all.iter().filter(|expr| !is_read(expr) && path_of(expr) == path).count();
    let is_use = |expr: &&Expr| match expr {
        Expr::Attribute(attribute) => is(&attribute.value),
        Expr::Subscript(subscript) => is(&subscript.value),
        Expr::Call(call) => is(&call.func),
        _ => false,
    };
    stores == 1 && all.iter().any(is_use)
}

/// Whether another function may assign to the variable.
fn is_shared(scope: &[Stmt], variable: &Expr) -> bool {
    let path = path_of(variable);
    let names = |stmt: &&Stmt| match stmt {
        Stmt::Global(outer) => outer.names.iter().any(|name| path == [name.as_str()]),
        Stmt::Nonlocal(outer) => outer.names.iter().any(|name| path == [name.as_str()]),
        _ => false,
    };
    statements(scope, true).iter().any(names)
}
