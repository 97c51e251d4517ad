//! A dataset whose `__getitem__` returns a value only under a flag.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{StmtClassDef, StmtFunctionDef, StmtIf, UnaryOp};
use crate::syntax::{Expr, Ranged, Stmt, methods, path_of, statements};

const NAME: &str = "sample-not-returned";

#[derive(Default)]
pub(crate) struct SampleNotReturned;

impl Rule for SampleNotReturned {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for class in source.classes().filter(|class| is_dataset(class)) {
            let Some(getitem) = methods(class).find(|method| method.name.as_str() == "__getitem__") else { continue };
            let Some((last, flag)) = returns_under_flag(getitem) else { continue };
            let Some(set) = may_be(class, flag) else { continue };
            let value = if flag.wanted { "false" } else { "true" };
            let message = format!("if `self.{}` is {value}, `__getitem__` returns None", flag.name);
            let label = Label { span: source.span(set.range()), message: format!("here it may be {value}") };
            findings.report(NAME, Severity::Warning, message, source.span(last.test.range()), vec![label]);
        }
    }
}

/// Whether a base of a class has a name that ends with `Dataset`, other than `IterableDataset`.
fn is_dataset(class: &StmtClassDef) -> bool {
    class.bases().iter().any(|base| {
        // `Dataset[int]`
        let base = base.as_subscript_expr().map_or(base, |generic| &generic.value);
        path_of(base).last().is_some_and(|name| name.ends_with("Dataset") && *name != "IterableDataset")
    })
}

/// A flag of an object, and the value for which the condition holds.
#[derive(Clone, Copy)]
struct Flag<'a> {
    name: &'a str,
    wanted: bool,
}

impl<'a> Flag<'a> {
    fn of(test: &'a Expr) -> Option<Flag<'a>> {
        match test {
            Expr::UnaryOp(operation) if operation.op == UnaryOp::Not => {
                let flag = Flag::of(&operation.operand)?;
                Some(Flag { wanted: !flag.wanted, ..flag })
            }
            _ => match path_of(test).as_slice() {
                ["self", name] => Some(Flag { name, wanted: true }),
                _ => None,
            },
        }
    }
}

/// The `if` at the end of a method, and its flag, if the method returns a value only in the body of this
/// `if`.
fn returns_under_flag(getitem: &StmtFunctionDef) -> Option<(&StmtIf, Flag<'_>)> {
    let (Stmt::If(last), before) = getitem.body.split_last()? else { return None };
    let returns = |block: &[Stmt]| statements(block, false).iter().any(|stmt| stmt.is_return_stmt());
    let gives_value = matches!(last.body.last(), Some(Stmt::Return(result)) if result.value.is_some());
    let is_only = gives_value && last.elif_else_clauses.is_empty() && !returns(before);
    Some((last, Flag::of(&last.test).filter(|_| is_only)?))
}

/// The assigned value that shows that a flag may have the other value: the other value itself, or a parameter
/// of the constructor with this default or without a default. `None` if the class sets the flag in several
/// places.
fn may_be<'a>(class: &'a StmtClassDef, flag: Flag<'_>) -> Option<&'a Expr> {
    let init = methods(class).find(|method| method.name.as_str() == "__init__")?;
    let assigned: Vec<_> = statements(&class.body, true)
        .into_iter()
        .filter_map(|stmt| stmt.as_assign_stmt())
        .filter(|assign| assign.targets.iter().any(|target| path_of(target) == ["self", flag.name]))
        .collect();
    let [assign] = assigned.as_slice() else { return None };
    let is_other = |value: &Expr| value.as_boolean_literal_expr().is_some_and(|literal| literal.value != flag.wanted);
    let is_set = match &*assign.value {
        Expr::Name(name) => init
            .parameters
            .iter_non_variadic_params()
            .any(|parameter| parameter.name().as_str() == name.id.as_str() && parameter.default().is_none_or(is_other)),
        value => is_other(value),
    };
    is_set.then_some(&*assign.value)
}
