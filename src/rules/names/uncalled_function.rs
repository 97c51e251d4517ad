//! A function that is used as a condition, compared with a value, or written as a statement, but not called.

use crate::diagnostic::Severity;
use crate::python::{Event, OfCall};
use crate::rules::rule::{Context, Findings, Rule, Source};
use crate::syntax::ast::ExprAttribute;
use crate::syntax::{Expr, Ranged, Stmt, expressions, path_of};

const NAME: &str = "uncalled-function";

#[derive(Default)]
pub(crate) struct UncalledFunction;

/// Methods and functions that programs call for their effect. A statement without parentheses does not call
/// them.
const METHODS: &[&str] = &[
    "backward",
    "close",
    "cpu",
    "cuda",
    "detach",
    "detach_",
    "eval",
    "flush",
    "synchronize",
    "step",
    "train",
    "update",
    "zero_",
    "zero_grad",
    "empty_cache",
    "show",
    "barrier",
    "init_process_group",
    "requires_grad_",
];

/// The methods in `torch.save(model.state_dict, path)`, `torch.save({"model": model.state_dict}, path)` and
/// `model.load_state_dict(other.state_dict)`.
fn uncalled_states(expr: &Expr) -> Vec<&Expr> {
    let Some(call) = expr.as_call_expr() else { return Vec::new() };
    let is_method = |expr: &&Expr| expr.as_attribute_expr().is_some_and(|it| it.attr.as_str() == "state_dict");
    match (path_of(&call.func).as_slice(), call.arguments.args.first()) {
        (["torch", "save"], Some(Expr::Dict(saved))) => {
            saved.items.iter().map(|item| &item.value).filter(is_method).collect()
        }
        (["torch", "save"] | [.., "load_state_dict"], Some(given)) => {
            Some(given).filter(is_method).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Methods of tensors without parameters that change where a tensor is, or how it is stored.
const MOVES: &[&str] = &["cpu", "cuda", "detach", "numpy", "contiguous"];

/// Whether an attribute is one of a module: `torch.cuda` and `cupy.cuda` are modules, too.
fn is_of_module(attribute: &ExprAttribute, source: &Source<'_>) -> bool {
    let [name] = path_of(&attribute.value)[..] else { return false };
    let imports = source.statements.iter().filter_map(|stmt| stmt.as_import_stmt());
    imports.flat_map(|import| &import.names).any(|alias| match &alias.asname {
        Some(other) => other.as_str() == name,
        None => alias.name.split('.').next() == Some(name),
    })
}

/// Methods of tensors that change them in place, without their `_`.
const IN_PLACE: &[&str] = &["copy", "fill", "zero", "add", "sub", "mul", "div", "clamp", "normal", "uniform"];

/// One of [`MOVES`], read as an attribute.
fn read_move(expr: &Expr) -> Option<&ExprAttribute> {
    expr.as_attribute_expr().filter(|attribute| MOVES.contains(&attribute.attr.as_str()))
}

/// A method of a tensor that is read, but not called, although the tensor is needed: `x.cpu.numpy()`,
/// `net(Variable(x).cuda)`.
fn uncalled_move(expr: &Expr) -> Option<&ExprAttribute> {
    match expr {
        Expr::Attribute(outer) if outer.attr.as_str() != "cuda" && MOVES.contains(&outer.attr.as_str()) => {
            read_move(&outer.value)
        }
        // Functions get other functions as arguments, but a method of a new tensor is of no use to them.
        Expr::Call(call) => call.arguments.args.iter().filter_map(read_move).find(|method| method.value.is_call_expr()),
        _ => None,
    }
}

/// The method in `x = x.cuda`.
fn assigned_move(stmt: &Stmt) -> Option<&ExprAttribute> {
    let assign = stmt.as_assign_stmt()?;
    let attribute = assign.value.as_attribute_expr().filter(|it| MOVES.contains(&it.attr.as_str()))?;
    let [target] = assign.targets.as_slice() else { return None };
    let same = !path_of(target).is_empty() && path_of(target) == path_of(&attribute.value);
    same.then_some(attribute)
}

/// The targets such as `parameter.data.copy` and `parameter.grad.zero_` in an assignment.
fn replaced_methods(stmt: &Stmt) -> Vec<&ExprAttribute> {
    let targets = stmt.as_assign_stmt().map(|assign| assign.targets.as_slice()).unwrap_or_default();
    let is_method = |attribute: &&ExprAttribute| {
        IN_PLACE.contains(&attribute.attr.as_str().trim_end_matches('_'))
            && matches!(path_of(&attribute.value).as_slice(), [_, .., "data" | "grad"])
    };
    targets.iter().filter_map(Expr::as_attribute_expr).filter(is_method).collect()
}

impl Rule for UncalledFunction {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for stmt in &source.statements {
            let Some(attribute) = stmt.as_expr_stmt().and_then(|stmt| stmt.value.as_attribute_expr()) else { continue };
            // `show` may be a property of a class of the program.
            let is_plot = || path_of(&attribute.value) == ["plt"];
            if !METHODS.contains(&attribute.attr.as_str())
                || attribute.attr.as_str() == "show" && !is_plot()
                || is_of_module(attribute, source)
            {
                continue;
            }
            let message = format!("`{}` is not called here: this statement does nothing", attribute.attr);
            findings.report(NAME, Severity::Warning, message, source.span(stmt.range()), Vec::new());
        }
        let read = source.body.iter().flat_map(expressions).filter_map(uncalled_move);
        let assigned = source.statements.iter().filter_map(|stmt| assigned_move(stmt));
        for attribute in read.chain(assigned).filter(|attribute| !is_of_module(attribute, source)) {
            let message = format!("`{}` is not called here: this is the method, not a tensor", attribute.attr);
            findings.report(NAME, Severity::Warning, message, source.span(attribute.range()), Vec::new());
        }
        for attribute in source.statements.iter().flat_map(|stmt| replaced_methods(stmt)) {
            let name = attribute.attr.as_str().trim_end_matches('_');
            let message = format!("this sets an attribute and changes no tensor: did you mean `{name}_(…)`?");
            findings.report(NAME, Severity::Warning, message, source.span(attribute.range()), Vec::new());
        }
        // The program may have objects with a field of this name.
        let fields = ["state_dict:", ".state_dict =", "\"state_dict\",", "def state_dict(self)"];
        if !source.text.contains("state_dict") || fields.iter().any(|text| source.text.contains(text)) {
            return;
        }
        for attribute in source.body.iter().flat_map(expressions).flat_map(uncalled_states) {
            let message = "`state_dict` is not called here: this is the method, not the state";
            findings.report(NAME, Severity::Warning, message, source.span(attribute.range()), Vec::new());
        }
    }

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let Event::Uncalled { in_place, span } = event else { return };
        // A `try` may test whether the function exists.
        if cx.it.is_in_try() {
            return;
        }
        let Some(text) = cx.source(span) else { return };
        let result = match in_place {
            OfCall::Test => "a function counts as true",
            OfCall::Equality => "a function equals no other value",
            OfCall::Order => "a function has no order",
        };
        let message = format!("`{text}` is not called here, and {result}");
        cx.findings.report(NAME, Severity::Warning, message, span, Vec::new());
    }
}
