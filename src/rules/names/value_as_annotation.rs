//! A value after a colon instead of an equals sign: `shuffle: True`, which assigns nothing.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::StmtAnnAssign;
use crate::syntax::{Expr, Ranged, Stmt, callee_or_itself, path_of};

const NAME: &str = "value-as-annotation";

#[derive(Default)]
pub(crate) struct ValueAsAnnotation;

impl Rule for ValueAsAnnotation {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        let in_order = after_default(source);
        for assign in source.statements.iter().filter_map(|stmt| stmt.as_ann_assign_stmt()) {
            if assign.value.is_some()
                || !matches!(&*assign.annotation, Expr::BooleanLiteral(_) | Expr::NumberLiteral(_))
            {
                continue;
            }
            let text = |expr: &Expr| source.text.get(expr.range().to_std_range()).unwrap_or_default();
            let (name, value) = (text(&assign.target), text(&assign.annotation));
            let follows = in_order.iter().any(|one| std::ptr::eq(*one, assign));
            let (severity, then) = match follows {
                true => (Severity::Error, ", and a field without a default after one with a default is a TypeError"),
                false => (Severity::Warning, ""),
            };
            let message = format!("this assigns nothing: {value} is the annotation of `{name}`{then}");
            findings.report(NAME, severity, message, source.span(assign.range()), Vec::new());
        }
    }
}

/// The fields of plain dataclasses that follow a field with a default.
fn after_default<'a>(source: &Source<'a>) -> Vec<&'a StmtAnnAssign> {
    let classes = source.classes().filter(|class| {
        let is_plain =
            |expr: &Expr| expr.as_call_expr().is_none_or(|call| call.arguments.find_keyword("kw_only").is_none());
        let mut all = class.decorator_list.iter().map(|one| &one.expression);
        all.any(|one| path_of(callee_or_itself(one)).last() == Some(&"dataclass") && is_plain(one))
    });
    let fields = classes.flat_map(|class| {
        let all = class.body.iter().filter_map(Stmt::as_ann_assign_stmt);
        all.skip_while(|field| field.value.is_none()).skip(1)
    });
    fields.collect()
}
