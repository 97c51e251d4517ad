//! An attribute that is set to a parameter that was moved or converted: the result is a plain tensor, not a
//! parameter.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprCall, StmtClassDef, StmtFunctionDef};
use crate::syntax::{
    Expr, Ranged, Stmt, assignment, calls, expressions, is_method_call, is_module, methods, path_of, statements,
};

const NAME: &str = "parameter-moved-at-creation";

/// Texts in files in which new tensors may already have the device or the dtype of the result.
const DEFAULTS: &[&str] =
    &["set_default_device", "set_default_dtype", "set_default_tensor_type", "with torch.device", "with device:"];

/// Functions that create a tensor on the CPU with the default dtype, unless an argument says otherwise.
const CREATORS: &[&str] =
    &["FloatTensor", "Tensor", "empty", "eye", "full", "linspace", "ones", "rand", "randn", "tensor", "zeros"];

/// Floating and complex dtypes other than the default one.
const DTYPES: &[&str] = &["bfloat16", "complex128", "complex64", "double", "float16", "float64", "half"];

#[derive(Default)]
pub(crate) struct ParameterMovedAtCreation;

impl Rule for ParameterMovedAtCreation {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        let has = |text: &str| source.text.contains(text);
        if !has("Parameter(") || DEFAULTS.iter().any(|text| has(text)) {
            return;
        }
        for class in source.classes().filter(|class| is_trained(class)) {
            for method in methods(class) {
                for stmt in statements(&method.body, false) {
                    let Some((attribute, value)) = attribute_set(stmt, method) else { continue };
                    let Some((parameter, how)) = moved_parameter(value) else { continue };
                    if !is_fresh_parameter(parameter, stmt, how) || is_registered(class, attribute) {
                        continue;
                    }
                    let what = match how {
                        Change::Device => "on a GPU, the move",
                        Change::Dtype => "the conversion",
                    };
                    let message = format!(
                        "{what} returns a plain tensor instead of the parameter: `{attribute}` is not in \
                         `parameters()`, and no optimizer changes it"
                    );
                    findings.report(NAME, Severity::Warning, message, source.span(value.range()), Vec::new());
                }
            }
        }
    }
}

/// What a method call changes about a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Device,
    Dtype,
}

/// Whether a class is a module: its parameters are meant to be found by `parameters()`.
fn is_trained(class: &StmtClassDef) -> bool {
    let has_module = class.bases().iter().any(|base| path_of(base).last().is_some_and(|name| name.ends_with("Module")));
    // A class with `forward` is probably derived from another module of the program.
    let has_forward = || {
        methods(class).any(|method| method.name.as_str() == "forward" && method.decorator_list.is_empty())
            && !class.bases().is_empty()
    };
    is_module(class) || has_module || has_forward()
}

/// The name and the value of an attribute of `self` that a statement sets.
fn attribute_set<'a>(stmt: &'a Stmt, method: &StmtFunctionDef) -> Option<(&'a str, &'a Expr)> {
    let (target, value) = assignment(stmt)?;
    let attribute = target.as_attribute_expr()?;
    let owner = method.parameters.args.first()?.name().as_str();
    (path_of(&attribute.value) == [owner]).then_some((attribute.attr.as_str(), value))
}

/// The call that creates the parameter in `nn.Parameter(…).to(device)`, and what the methods after it change.
fn moved_parameter(value: &Expr) -> Option<(&ExprCall, Change)> {
    let mut call = value.as_call_expr()?;
    let mut change = None;
    loop {
        if matches!(path_of(&call.func).as_slice(), ["Parameter"] | [.., "nn" | "parameter", "Parameter"]) {
            return Some((call, change?));
        }
        let callee = call.func.as_attribute_expr()?;
        let this = match callee.attr.as_str() {
            "cuda" => Some(Change::Device),
            "half" | "double" | "bfloat16" => Some(Change::Dtype),
            "to" => change_by_to(call),
            "float" | "contiguous" => None,
            _ => return None,
        };
        // If there is a move and a conversion, the message is about the move.
        change = if change == Some(Change::Device) { change } else { this.or(change) };
        call = callee.value.as_call_expr()?;
    }
}

/// What `.to(…)` changes. Nothing is known about `.to(x)` and `.to(dtype)`.
fn change_by_to(call: &ExprCall) -> Option<Change> {
    let arguments = || call.arguments.args.iter().chain(call.arguments.keywords.iter().map(|keyword| &keyword.value));
    if arguments().any(is_gpu) {
        return Some(Change::Device);
    }
    let is_dtype = |expr: &Expr| matches!(path_of(expr).as_slice(), ["torch", dtype] if DTYPES.contains(dtype));
    arguments().any(is_dtype).then_some(Change::Dtype)
}

/// Whether an expression may name a GPU: `"cuda"`, `device`, `self.device`, `torch.device("cuda" if … else "cpu")`.
fn is_gpu(expr: &Expr) -> bool {
    match expr {
        Expr::StringLiteral(text) => text.value.to_str().starts_with("cuda"),
        Expr::If(e) => is_gpu(&e.body) || is_gpu(&e.orelse),
        Expr::Call(call) => {
            path_of(&call.func).last() == Some(&"device") && call.arguments.args.first().is_some_and(is_gpu)
        }
        _ => path_of(expr).last().is_some_and(|name| name.to_ascii_lowercase().contains("device")),
    }
}

/// Whether a parameter is trained, and is created on the CPU and, for a change of the dtype, with the default
/// dtype. If it already has the new device and dtype, the change returns the parameter itself.
fn is_fresh_parameter(parameter: &ExprCall, stmt: &Stmt, how: Change) -> bool {
    let arguments = &parameter.arguments;
    let is_true = |expr: &Expr| expr.as_boolean_literal_expr().is_some_and(|literal| literal.value);
    let is_trained = arguments.find_argument_value("requires_grad", 1).is_none_or(is_true);
    let is_fresh = arguments.find_argument_value("data", 0).is_some_and(is_fresh);
    let is_placed = calls(stmt).into_iter().filter(|call| arguments.range().contains_range(call.range())).any(|call| {
        let has = |keyword: &str| call.arguments.find_keyword(keyword).is_some();
        let changed = |names: &[&str]| names.iter().any(|name| is_method_call(call, name));
        let has_dtype = || {
            let of_values = path_of(&call.func).last() == Some(&"tensor");
            of_values || has("dtype") || changed(&["type", "half", "double", "bfloat16"])
        };
        has("device") || changed(&["to", "cuda", "type_as"]) || (how == Change::Dtype && has_dtype())
    });
    is_trained && is_fresh && !is_placed
}

/// Whether an expression is, or is computed from, a tensor that `torch` creates here.
fn is_fresh(expr: &Expr) -> bool {
    match expr {
        Expr::BinOp(e) => is_fresh(&e.left) || is_fresh(&e.right),
        Expr::UnaryOp(e) => is_fresh(&e.operand),
        Expr::Call(call) => {
            let path = path_of(&call.func);
            let creates = matches!(path.as_slice(), ["torch", name] if CREATORS.contains(name));
            let is_method = || call.func.as_attribute_expr().is_some_and(|callee| is_fresh(&callee.value));
            // The functions of `nn.init` return the tensor that they fill.
            let fills = || {
                path.last().is_some_and(|name| name.ends_with('_')) && call.arguments.args.first().is_some_and(is_fresh)
            };
            creates || is_method() || fills()
        }
        _ => false,
    }
}

/// Whether the class makes a parameter from the attribute, or registers one under its name:
/// `self.x = nn.Parameter(self.x)`.
fn is_registered(class: &StmtClassDef, attribute: &str) -> bool {
    let names = |expr: &Expr| match expr {
        Expr::StringLiteral(text) => text.value.to_str() == attribute,
        _ => path_of(expr).get(1) == Some(&attribute),
    };
    let registers = |call: &&ExprCall| {
        matches!(path_of(&call.func).last(), Some(&("Parameter" | "register_parameter" | "setattr")))
    };
    class.body.iter().any(|stmt| {
        let all = expressions(stmt);
        calls(stmt).into_iter().filter(registers).any(|call| {
            let range = call.arguments.range();
            all.iter().any(|expr| range.contains_range(expr.range()) && names(expr))
        })
    })
}
