//! A tensor that a function makes on the CPU, although it makes at least two other tensors on `device`.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprCall, StmtClassDef, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, Stmt, blocks, expressions, methods, path_of, statements};

const NAME: &str = "factory-without-device";

/// Functions of PyTorch that make a tensor on the default device unless they get another one.
const FACTORIES: &[&str] =
    &["arange", "empty", "eye", "full", "linspace", "ones", "rand", "randint", "randn", "tensor", "zeros"];

/// Factories whose tensors are often indices, which may stay on the CPU.
const OF_INDICES: &[&str] = &["arange", "randint", "tensor"];

/// Methods that move a tensor, or give its values to code on the CPU.
const MOVING: &[&str] = &["cpu", "cuda", "item", "numpy", "pin_memory", "share_memory_", "to", "tolist", "type_as"];

/// Functions that join tensors, which must be on one device.
const JOINING: &[&str] = &["cat", "hstack", "stack", "vstack"];

/// Texts in programs that may change the default device.
const DEFAULTS: &[&str] = &["set_default_device", "set_default_tensor_type", "with torch.device(", "with device:"];

/// Texts in classes that may move all their tensors at once.
const ALL_AT_ONCE: &[&str] = &["__dict__", "setattr(", "vars(self)", "def to(", "def cuda(", "def _apply("];

#[derive(Default)]
pub(crate) struct FactoryWithoutDevice;

impl Rule for FactoryWithoutDevice {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("device") || DEFAULTS.iter().any(|text| source.text.contains(text)) {
            return;
        }
        for def in source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()) {
            let Some(function) = Function::of(def) else { continue };
            let mut found = function.in_expressions();
            found.extend(function.returned());
            for class in source.classes().filter(|class| methods(class).any(|method| method.range() == def.range())) {
                found.extend(function.attributes(source, class));
            }
            for call in found {
                let message = "this tensor is on the CPU, but other tensors of this function are made on `device`";
                let made = function.on_device.first().map(|other| Label {
                    span: source.span(other.range()),
                    message: "this one is made on `device`".to_owned(),
                });
                let labels = made.into_iter().collect();
                findings.report(NAME, Severity::Warning, message, source.span(call.range()), labels);
            }
        }
    }
}

/// A function that makes several tensors on `device`.
struct Function<'a> {
    def: &'a StmtFunctionDef,
    all: Vec<&'a Stmt>,
    expressions: Vec<&'a Expr>,
    on_device: Vec<&'a ExprCall>,
}

impl<'a> Function<'a> {
    fn of(def: &'a StmtFunctionDef) -> Option<Self> {
        let all = statements(&def.body, false);
        let simple = all.iter().copied().filter(|stmt| {
            matches!(stmt, Stmt::Assign(_) | Stmt::AnnAssign(_) | Stmt::AugAssign(_) | Stmt::Expr(_) | Stmt::Return(_))
        });
        let expressions: Vec<&Expr> = simple.flat_map(expressions).collect();
        let on_device: Vec<&ExprCall> =
            expressions.iter().copied().filter_map(factory).filter(|call| is_on_device(call)).collect();
        let function = Function { def, all, expressions, on_device };
        (function.on_device.len() >= 2 && function.has_one_device()).then_some(function)
    }

    /// Whether `device` is a parameter that is not assigned, or a name that is assigned once, from the
    /// attribute `device` of an object.
    fn has_one_device(&self) -> bool {
        let is_parameter = self.def.parameters.includes("device");
        let mut values = self.values(&["device"]);
        match (is_parameter, values.next(), values.next()) {
            (true, None, _) => true,
            (false, Some(value), None) => path_of(value).last() == Some(&"device"),
            _ => false,
        }
    }

    /// The values that statements of the function assign to a name or an attribute.
    fn values<'s>(&'s self, target: &'s [&'s str]) -> impl Iterator<Item = &'a Expr> + 's {
        self.all.iter().filter_map(move |stmt| {
            let assign = stmt.as_assign_stmt()?;
            assign.targets.iter().any(|one| path_of(one) == target).then_some(&*assign.value)
        })
    }

    /// The call of a factory whose result an expression is: the expression itself, or the value of a name
    /// that is assigned once and is neither a parameter nor moved.
    fn made(&self, expr: &'a Expr) -> Option<&'a ExprCall> {
        let Expr::Name(name) = expr else { return factory(expr) };
        let path = [name.id.as_str()];
        let mut values = self.values(&path);
        let call = values.next().and_then(factory).filter(|_| values.next().is_none())?;
        let is_bound = self.all.iter().copied().any(|stmt| binds_otherwise(stmt, name.id.as_str()));
        let is_moved = self.expressions.iter().copied().any(|expr| moves(expr, &path));
        (!is_bound && !is_moved && !self.def.parameters.includes(name.id.as_str())).then_some(call)
    }

    /// Tensors on the CPU that an operator or a join combines with tensors on `device`.
    fn in_expressions(&self) -> Vec<&'a ExprCall> {
        let mut found = Vec::new();
        for expr in self.expressions.iter().copied() {
            let parts: Vec<&'a Expr> = match expr {
                Expr::BinOp(operation) => vec![&*operation.left, &*operation.right],
                Expr::Call(call) => joined(call),
                _ => continue,
            };
            let made: Vec<&ExprCall> = parts.into_iter().filter_map(|part| self.made(part)).collect();
            if made.iter().any(|call| is_on_device(call)) {
                found.extend(made.into_iter().filter(|call| is_on_cpu(call)));
            }
        }
        found
    }

    /// Tensors on the CPU that the function makes in a `return`, if it uses no method of [`MOVING`].
    fn returned(&self) -> Vec<&'a ExprCall> {
        let moves_some = self
            .expressions
            .iter()
            .any(|expr| expr.as_attribute_expr().is_some_and(|attribute| MOVING.contains(&attribute.attr.as_str())));
        if moves_some {
            return Vec::new();
        }
        let results = self.all.iter().filter_map(|stmt| stmt.as_return_stmt()?.value.as_deref());
        results.filter_map(factory).filter(|call| is_on_cpu(call)).collect()
    }

    /// Tensors on the CPU that a block assigns to attributes, if it also assigns at least two tensors on
    /// `device` to attributes.
    fn attributes(&self, source: &Source<'_>, class: &'a StmtClassDef) -> Vec<&'a ExprCall> {
        let range = class.range();
        let text = source.text.get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default();
        if ALL_AT_ONCE.iter().any(|part| text.contains(part)) {
            return Vec::new();
        }
        let inner = self.all.iter().copied().filter(|stmt| !matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)));
        let mut found = Vec::new();
        for block in std::iter::once(&*self.def.body).chain(inner.flat_map(blocks)) {
            let set: Vec<(Vec<&str>, &ExprCall)> = block.iter().filter_map(attribute_of_self).collect();
            if set.iter().filter(|(_, call)| is_on_device(call)).count() < 2 {
                continue;
            }
            let on_cpu = set.into_iter().filter(|(path, call)| {
                let is_index = path_of(&call.func).last().is_some_and(|name| OF_INDICES.contains(name));
                is_on_cpu(call) && !is_index && !is_used_elsewhere(class, path)
            });
            found.extend(on_cpu.map(|(_, call)| call));
        }
        found
    }
}

/// Whether the class moves an attribute, uses it as an index, or sets it to anything but a new tensor on the CPU.
fn is_used_elsewhere(class: &StmtClassDef, path: &[&str]) -> bool {
    let all = class.body.iter().flat_map(expressions);
    let mut used = all.filter(|expr| moves(expr, path) || indexes(expr, path));
    let body = statements(&class.body, true);
    let mut others = body.iter().filter_map(|stmt| stmt.as_assign_stmt()).filter(|assign| {
        let sets = assign.targets.iter().flat_map(targets).any(|target| path_of(target) == path);
        sets && !factory(&assign.value).is_some_and(is_on_cpu)
    });
    used.next().is_some() || others.next().is_some()
}

/// The elements of a tuple, nested ones included. For any other expression, the expression itself.
fn targets(target: &Expr) -> Vec<&Expr> {
    match target {
        Expr::Tuple(tuple) => tuple.elts.iter().flat_map(targets).collect(),
        one => vec![one],
    }
}

/// Whether a statement binds a name in a tuple, in an annotated or augmented assignment, or in a loop.
fn binds_otherwise(stmt: &Stmt, name: &str) -> bool {
    let is_bound = |target: &Expr| targets(target).into_iter().any(|one| path_of(one) == [name]);
    match stmt {
        Stmt::Assign(assign) => assign.targets.iter().any(|target| target.is_tuple_expr() && is_bound(target)),
        Stmt::AnnAssign(assign) => is_bound(&assign.target),
        Stmt::AugAssign(assign) => is_bound(&assign.target),
        Stmt::For(each) => is_bound(&each.target),
        _ => false,
    }
}

/// A call of a factory: `torch.zeros(…)`.
fn factory(expr: &Expr) -> Option<&ExprCall> {
    let call = expr.as_call_expr()?;
    matches!(path_of(&call.func).as_slice(), ["torch", name] if FACTORIES.contains(name)).then_some(call)
}

fn is_on_device(call: &ExprCall) -> bool {
    call.arguments.find_keyword("device").is_some_and(|keyword| path_of(&keyword.value) == ["device"])
}

/// Whether a factory makes a tensor on the CPU that has at least one axis. A 0-d tensor on the CPU may be
/// combined with tensors on any device.
fn is_on_cpu(call: &ExprCall) -> bool {
    let keywords = call.arguments.keywords.iter().map(|keyword| keyword.arg.as_ref().map(|name| name.as_str()));
    let mut keywords = keywords.filter(|name| matches!(name, None | Some("device" | "out" | "pin_memory" | "size")));
    let is_array = match &*call.arguments.args {
        [] => false,
        [Expr::Tuple(tuple), ..] => !tuple.elts.is_empty(),
        [Expr::List(list), ..] => !list.elts.is_empty(),
        [first, ..] => {
            let is_tensor = path_of(&call.func).last() == Some(&"tensor");
            !first.is_starred_expr() && (!is_tensor || first.is_list_comp_expr())
        }
    };
    keywords.next().is_none() && is_array
}

/// The tensors that a call joins.
fn joined(call: &ExprCall) -> Vec<&Expr> {
    let is_join = matches!(path_of(&call.func).as_slice(), ["torch", name] if JOINING.contains(name));
    let first = call.arguments.args.first().filter(|_| is_join);
    match first {
        Some(Expr::List(list)) => list.elts.iter().collect(),
        Some(Expr::Tuple(tuple)) => tuple.elts.iter().collect(),
        _ => Vec::new(),
    }
}

/// Whether an expression names a method of [`MOVING`] of a tensor, of a part of it, or of the result of one
/// of its methods: `x.to`, `x[0].to`, `x.float().to`.
fn moves(expr: &Expr, tensor: &[&str]) -> bool {
    let Some(attribute) = expr.as_attribute_expr() else { return false };
    let mut inner = &*attribute.value;
    loop {
        inner = match inner {
            Expr::Subscript(subscript) => &*subscript.value,
            Expr::Call(call) => &*call.func,
            _ => break,
        };
    }
    MOVING.contains(&attribute.attr.as_str()) && path_of(inner).starts_with(tensor)
}

/// Whether an expression uses a tensor as an index.
fn indexes(expr: &Expr, tensor: &[&str]) -> bool {
    let Some(subscript) = expr.as_subscript_expr() else { return false };
    targets(&subscript.slice).into_iter().any(|index| path_of(index) == tensor)
}

/// `self.name = torch.zeros(…)`
fn attribute_of_self(stmt: &Stmt) -> Option<(Vec<&str>, &ExprCall)> {
    let assign = stmt.as_assign_stmt()?;
    let [target] = assign.targets.as_slice() else { return None };
    let path = path_of(target);
    let call = factory(&assign.value)?;
    matches!(path.as_slice(), ["self", _]).then_some((path, call))
}
