//! `setattr(model, name, layer)` in a loop over `model.named_modules()`: for a nested layer, `name` is a path
//! with dots, and the model gets a new attribute with dots in its name.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprCall, StmtFor};
use crate::syntax::{Expr, Ranged, Stmt, calls, expressions, is_method_call, path_of};

const NAME: &str = "module-set-under-dotted-name";

#[derive(Default)]
pub(crate) struct ModuleSetUnderDottedName;

impl Rule for ModuleSetUnderDottedName {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("named_modules(") || !source.text.contains("setattr(") {
            return;
        }
        for each in source.statements.iter().filter_map(|stmt| stmt.as_for_stmt()) {
            let Some((model, name)) = named_modules(each) else { continue };
            if each.body.iter().any(|stmt| tells_nested_apart(stmt, name)) {
                continue;
            }
            for call in each.body.iter().flat_map(calls).filter(|call| sets(call, &model, name)) {
                let message = format!(
                    "for a nested layer, `{name}` is a path with dots: this does not replace the layer, but adds \
                     another one to `{}`",
                    model.join(".")
                );
                findings.report(NAME, Severity::Warning, message, source.span(call.range()), Vec::new());
            }
        }
    }
}

/// The model and the variable of the names in `for name, module in model.named_modules():`.
fn named_modules(each: &StmtFor) -> Option<(Vec<&str>, &str)> {
    let [Expr::Name(name), _] = each.target.as_tuple_expr()?.elts.as_slice() else { return None };
    let mut call = each.iter.as_call_expr()?;
    // `list(model.named_modules())`
    if matches!(path_of(&call.func).as_slice(), ["list" | "tuple"]) {
        call = call.arguments.args.first()?.as_call_expr()?;
    }
    if !is_method_call(call, "named_modules") {
        return None;
    }
    let model = path_of(&call.func.as_attribute_expr()?.value);
    (!model.is_empty()).then_some((model, name.id.as_str()))
}

/// Whether a call is `setattr(model, name, …)`.
fn sets(call: &ExprCall, model: &[&str], name: &str) -> bool {
    let [object, key, _] = &*call.arguments.args else { return false };
    path_of(&call.func) == ["setattr"] && path_of(object) == model && path_of(key) == [name]
}

/// Whether a statement may treat names with dots in another way: it assigns the name, calls one of its methods,
/// or compares it.
fn tells_nested_apart(stmt: &Stmt, name: &str) -> bool {
    let is_name = |expr: &Expr| path_of(expr) == [name];
    expressions(stmt).into_iter().any(|expr| match expr {
        Expr::Name(target) => target.ctx.is_store() && target.id.as_str() == name,
        Expr::Attribute(method) => is_name(&method.value),
        Expr::Compare(compare) => is_name(&compare.left) || compare.comparators.iter().any(is_name),
        _ => false,
    })
}
