//! `backward` of a custom `autograd.Function` that does not return one gradient for each input of `forward`.

use std::ops::RangeInclusive;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{Decorator, ExprContext, StmtClassDef, StmtFunctionDef, UnaryOp};
use crate::syntax::{
    Expr, Ranged, Stmt, calls, expressions, has_base, is_autograd_function, methods, path_of, spreads, statements,
};
use crate::value::counted;

const NAME: &str = "gradients-of-inputs-miscounted";

/// Decorators that change neither the parameters of a method nor the number of its results.
const DECORATORS: &[&str] = &["staticmethod", "custom_fwd", "custom_bwd", "once_differentiable"];

/// Methods of a tensor that return one tensor.
const METHODS: &[&str] = &[
    "add",
    "clamp",
    "clone",
    "contiguous",
    "detach",
    "div",
    "double",
    "expand",
    "expand_as",
    "float",
    "half",
    "masked_fill",
    "mul",
    "neg",
    "permute",
    "reshape",
    "squeeze",
    "sub",
    "sum",
    "t",
    "to",
    "transpose",
    "type_as",
    "unsqueeze",
    "view",
    "view_as",
];

#[derive(Default)]
pub(crate) struct GradientsOfInputsMiscounted;

impl Rule for GradientsOfInputsMiscounted {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("autograd") {
            return;
        }
        for class in source.classes() {
            let Some((forward, backward)) = passes(class) else { continue };
            let separate = methods(class).any(|method| method.name.as_str() == "setup_context");
            let Some(inputs) = inputs(forward, separate).and_then(|all| given(class, source, &all)) else { continue };
            let Some((value, count)) = miscounted(backward, &inputs) else { continue };
            if is_used_otherwise(class, source) {
                continue;
            }
            let message = format!(
                "`backward` returns {}, but `forward` has {}: PyTorch raises an error",
                counted(count, "gradient"),
                expected(&inputs, count)
            );
            findings.report(NAME, Severity::Error, message, source.span(value.range()), Vec::new());
        }
    }
}

/// The number of inputs, as the message states it.
fn expected(inputs: &RangeInclusive<usize>, returned: usize) -> String {
    let (least, most) = (*inputs.start(), *inputs.end());
    match (least == most, returned < least) {
        (true, _) => counted(most, "input"),
        (false, true) => format!("at least {}", counted(least, "input")),
        (false, false) => format!("at most {}", counted(most, "input")),
    }
}

/// `forward` and `backward`, if a class is derived from `autograd.Function` and from nothing else.
fn passes(class: &StmtClassDef) -> Option<(&StmtFunctionDef, &StmtFunctionDef)> {
    let [base] = class.bases() else { return None };
    if !is_autograd_function(base) {
        return None;
    }
    Some((only_method(class, "forward")?, only_method(class, "backward")?))
}

/// The only method of this name, if it is static and has no decorator that could change it.
fn only_method<'a>(class: &'a StmtClassDef, name: &str) -> Option<&'a StmtFunctionDef> {
    let mut all = methods(class).filter(|method| method.name.as_str() == name);
    let (Some(method), None) = (all.next(), all.next()) else { return None };
    let decorators: Option<Vec<&str>> = method.decorator_list.iter().map(decorator_name).collect();
    let decorators = decorators?;
    let known = decorators.iter().all(|decorator| DECORATORS.contains(decorator));
    (known && decorators.contains(&"staticmethod")).then_some(method)
}

/// `custom_fwd` of `@torch.amp.custom_fwd(device_type="cuda")`.
fn decorator_name(decorator: &Decorator) -> Option<&str> {
    let function = match &decorator.expression {
        Expr::Call(call) => &*call.func,
        other => other,
    };
    path_of(function).last().copied()
}

/// The smallest and the largest number of inputs of a call. A call that leaves out an input with a default
/// has one input fewer, and needs one gradient fewer.
fn inputs(forward: &StmtFunctionDef, separate: bool) -> Option<RangeInclusive<usize>> {
    let parameters = &forward.parameters;
    if parameters.vararg.is_some() || parameters.kwarg.is_some() || !parameters.kwonlyargs.is_empty() {
        return None;
    }
    // With `setup_context`, `forward` has no parameter `ctx`.
    let all = || parameters.posonlyargs.iter().chain(&parameters.args).skip(usize::from(!separate));
    let required = all().filter(|parameter| parameter.default.is_none()).count();
    Some(required..=all().count())
}

/// The number of inputs, if all calls in the file pass the same number: they decide about inputs with a default.
fn given(class: &StmtClassDef, source: &Source<'_>, all: &RangeInclusive<usize>) -> Option<RangeInclusive<usize>> {
    let applied = [class.name.as_str(), "apply"];
    let uses = source.body.iter().flat_map(expressions).filter(|expr| path_of(expr) == applied).count();
    let calls = source.body.iter().flat_map(calls).filter(|call| path_of(&call.func) == applied);
    let counts: Vec<usize> = calls.filter(|call| !spreads(call)).map(|call| call.arguments.len()).collect();
    match counts.first() {
        Some(first) if uses == counts.len() && counts.iter().all(|count| count == first && all.contains(count)) => {
            Some(*first..=*first)
        }
        _ => Some(all.clone()),
    }
}

/// Whether the file contains a subclass, which may have another `forward`, or calls `backward` itself, and
/// may use fewer results.
fn is_used_otherwise(class: &StmtClassDef, source: &Source<'_>) -> bool {
    let name = class.name.as_str();
    source.text.contains(&format!("{name}.backward")) || source.classes().any(|other| has_base(other, name))
}

/// The first result with a gradient, and its number of values, if all results have a wrong number of values.
/// Results that contain only `None` are usual for a function without gradients, whose `backward` never runs.
fn miscounted<'a>(backward: &'a StmtFunctionDef, inputs: &RangeInclusive<usize>) -> Option<(&'a Expr, usize)> {
    let all = statements(&backward.body, false);
    let tensors = tensors(backward, &all);
    let mut first = None;
    for stmt in all.iter().filter_map(|stmt| stmt.as_return_stmt()) {
        let value = stmt.value.as_deref()?;
        let parts = match value {
            Expr::Tuple(tuple) => tuple.elts.as_slice(),
            // PyTorch takes a list as one value.
            one if one.is_list_expr() || is_tensor(one, &tensors) => std::slice::from_ref(one),
            _ => return None,
        };
        // PyTorch ignores surplus values that are `None`.
        let surplus = parts.get(*inputs.end()..).unwrap_or_default();
        let is_wrong = parts.len() < *inputs.start() || surplus.iter().any(|part| is_value(part, &tensors));
        if !is_wrong || parts.iter().any(|part| part.is_starred_expr()) {
            return None;
        }
        if first.is_none() && !parts.iter().all(|part| part.is_none_literal_expr()) {
            first = Some((value, parts.len()));
        }
    }
    first
}

/// Whether an expression is certainly not `None`.
fn is_value(expr: &Expr, tensors: &FxHashSet<&str>) -> bool {
    match expr {
        Expr::BinOp(_) | Expr::List(_) | Expr::Tuple(_) => true,
        Expr::Call(call) if path_of(&call.func).first() == Some(&"torch") => true,
        _ => (expr.is_literal_expr() && !expr.is_none_literal_expr()) || is_tensor(expr, tensors),
    }
}

/// Whether an expression is certainly one tensor. An operation with a tensor gives a tensor, but an operation
/// without one may give a tuple: `(None,) * 3`.
fn is_tensor(expr: &Expr, tensors: &FxHashSet<&str>) -> bool {
    match expr {
        Expr::Name(name) => tensors.contains(name.id.as_str()),
        Expr::BinOp(e) => is_tensor(&e.left, tensors) || is_tensor(&e.right, tensors),
        Expr::UnaryOp(e) => e.op != UnaryOp::Not && is_tensor(&e.operand, tensors),
        Expr::Call(call) => call
            .func
            .as_attribute_expr()
            .is_some_and(|callee| METHODS.contains(&callee.attr.as_str()) && is_tensor(&callee.value, tensors)),
        _ => false,
    }
}

/// The names that always hold one tensor: the gradients that `backward` gets, and names to which only tensors
/// computed from such names are assigned.
fn tensors<'a>(backward: &'a StmtFunctionDef, all: &[&'a Stmt]) -> FxHashSet<&'a str> {
    let mut assigned: Vec<(&str, Option<&Expr>)> = Vec::new();
    for stmt in all {
        match stmt {
            Stmt::Assign(assign) => {
                if let [Expr::Name(name)] = assign.targets.as_slice() {
                    assigned.push((name.id.as_str(), Some(&*assign.value)));
                }
            }
            // `tensor += x` is a tensor for any `x`.
            Stmt::AugAssign(assign) => {
                if let Expr::Name(name) = &*assign.target {
                    assigned.push((name.id.as_str(), None));
                }
            }
            _ => {}
        }
    }
    // Loops, `with` and assignments to several names bind names, too.
    let mut bound: FxHashMap<&str, usize> = FxHashMap::default();
    for expr in backward.body.iter().flat_map(expressions) {
        if let Expr::Name(name) = expr
            && name.ctx != ExprContext::Load
        {
            *bound.entry(name.id.as_str()).or_default() += 1;
        }
    }
    let parameters = backward.parameters.posonlyargs.iter().chain(&backward.parameters.args).skip(1);
    let parameters = parameters.map(|parameter| parameter.name().as_str());
    let computed = assigned.iter().filter(|(_, value)| value.is_some()).map(|(name, _)| *name);
    let is_seen = |name: &&str| {
        let seen = assigned.iter().filter(|(other, _)| other == name).count();
        bound.get(name).copied().unwrap_or_default() == seen
    };
    let mut tensors: FxHashSet<&str> = parameters.chain(computed).filter(is_seen).collect();
    loop {
        let holds = |name: &&str| {
            let mut values = assigned.iter().filter(|(other, _)| other == name).filter_map(|(_, value)| *value);
            values.all(|value| is_tensor(value, &tensors))
        };
        let kept: FxHashSet<&str> = tensors.iter().copied().filter(holds).collect();
        if kept.len() == tensors.len() {
            return kept;
        }
        tensors = kept;
    }
}
