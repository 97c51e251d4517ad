//! An assignment to an attribute whose name is almost `requires_grad`.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprAttribute, StmtFor};
use crate::syntax::{Expr, Ranged, expressions, is_method_call, path_of};

const NAME: &str = "misspelt-requires-grad";

const RIGHT: &str = "requires_grad";

/// Names of objects that may have attributes of any name.
const OTHER_OBJECTS: &[&str] =
    &["self", "cls", "args", "opt", "opts", "options", "cfg", "config", "params", "hparams", "flags", "FLAGS"];

#[derive(Default)]
pub(crate) struct MisspeltRequiresGrad;

impl Rule for MisspeltRequiresGrad {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("torch") {
            return;
        }
        for assign in source.statements.iter().filter_map(|stmt| stmt.as_assign_stmt()) {
            for target in assign.targets.iter().filter_map(Expr::as_attribute_expr) {
                let name = target.attr.as_str();
                if !is_misspelt(name) || is_used(source, name) {
                    continue;
                }
                // Objects of other classes may have this attribute, but it is rarely set to `True` or
                // `False`.
                let is_other = is_other_object(target) || !assign.value.is_boolean_literal_expr();
                if is_other && !is_parameter(source, target) {
                    continue;
                }
                let message = if name == "requires_grad_" {
                    "this replaces the method `requires_grad_`, and does not change `requires_grad`".to_owned()
                } else {
                    format!("this sets a new attribute `{name}`, which PyTorch does not read (its flag is `{RIGHT}`)")
                };
                findings.report(NAME, Severity::Warning, message, source.span(target.attr.range()), Vec::new());
            }
        }
    }
}

fn is_misspelt(name: &str) -> bool {
    let is_near = strsim::levenshtein(name, RIGHT) <= 3 || name == "requires_gradient";
    // "required_grade" and "requires_graph" are other words.
    let has_part = name.contains("grad") && !name.contains("grade");
    name != RIGHT && name.starts_with("requ") && has_part && is_near
}

fn is_other_object(target: &ExprAttribute) -> bool {
    path_of(&target.value).iter().any(|part| OTHER_OBJECTS.contains(part) && *part != "self")
        || path_of(&target.value) == ["self"]
}

/// Whether the object is the variable of a loop over `model.parameters()` or `model.named_parameters()`.
fn is_parameter(source: &Source<'_>, target: &ExprAttribute) -> bool {
    let Expr::Name(object) = &*target.value else { return false };
    let binds = |each: &StmtFor| match &*each.target {
        Expr::Tuple(tuple) => tuple.elts.iter().any(|part| path_of(part) == [object.id.as_str()]),
        one => path_of(one) == [object.id.as_str()],
    };
    source.statements.iter().filter_map(|stmt| stmt.as_for_stmt()).any(|each| {
        let iterated = each.iter.as_call_expr();
        iterated.is_some_and(|call| is_method_call(call, "parameters") || is_method_call(call, "named_parameters"))
            && binds(each)
            && each.range().contains_range(target.range())
    })
}

/// Whether the file itself may use an attribute of this name: it reads one, names it in a string, or defines
/// a method. `requires_grad_` does not count: files use it as a method of PyTorch.
fn is_used(source: &Source<'_>, name: &str) -> bool {
    let uses = |expr: &Expr| match expr {
        Expr::Attribute(attribute) => attribute.ctx.is_load() && attribute.attr.as_str() == name,
        Expr::StringLiteral(literal) => literal.value.to_str() == name,
        _ => false,
    };
    let mut defined = source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt());
    name != "requires_grad_"
        && (source.body.iter().flat_map(expressions).any(uses) || defined.any(|def| def.name.as_str() == name))
}
