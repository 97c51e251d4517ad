//! The truth value of a parameter that is a tensor or `None`: `if mask:` instead of `if mask is not None:`.
//!
//! The rule knows that the parameter is a tensor from its annotation or, without one, from a call of a method
//! that lists, strings and numbers lack.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::visitor::{Visitor, walk_comprehension, walk_expr, walk_stmt};
use crate::syntax::ast::{
    CmpOp, Comprehension, ExprCompare, ExprName, Operator, ParameterWithDefault, StmtFunctionDef, UnaryOp,
};
use crate::syntax::{Expr, Ranged, Stmt, TextSize, called, expressions, is_read, path_of, statements};

const NAME: &str = "truth-of-optional-tensor";

/// The types of tensors in annotations.
const TENSORS: &[&str] =
    &["Tensor", "FloatTensor", "DoubleTensor", "HalfTensor", "LongTensor", "IntTensor", "ByteTensor", "BoolTensor"];

/// Methods of tensors or arrays that lists, strings and numbers lack.
const METHODS: &[&str] = &[
    "argmax",
    "argmin",
    "expand_as",
    "index_select",
    "masked_fill",
    "masked_fill_",
    "max",
    "min",
    "permute",
    "repeat_interleave",
    "squeeze",
    "unsqueeze",
    "unsqueeze_",
    "view_as",
];

/// Functions that test what an object is, or that accept only tensors with one element.
const DISTINGUISH: &[&str] = &["bool", "callable", "float", "hasattr", "int", "is_tensor", "isinstance", "len", "type"];

/// Beginnings of the names of flags, whose annotations are often copied from those of the parameters beside them.
const FLAGS: &[&str] = &["output_", "return_", "use_", "is_", "has_", "with_", "do_"];

#[derive(Default)]
pub(crate) struct TruthOfOptionalTensor;

impl Rule for TruthOfOptionalTensor {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !["import torch", "from torch"].iter().any(|import| source.text.contains(import)) {
            return;
        }
        for function in source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()) {
            for parameter in function.parameters.iter_non_variadic_params() {
                if parameter.default().is_some_and(|default| default.is_none_literal_expr()) {
                    check(findings, source, function, parameter);
                }
            }
        }
    }
}

fn check(
    findings: &mut Findings<'_>,
    source: &Source<'_>,
    function: &StmtFunctionDef,
    parameter: &ParameterWithDefault,
) {
    let name = parameter.name().as_str();
    let tests = Tests::of(function, name);
    if tests.0.is_empty() {
        return;
    }
    let uses = Parameter::of(function, name);
    let is_tensor = match parameter.annotation() {
        Some(annotation) => is_tensor_or_none(annotation) && !FLAGS.iter().any(|flag| name.starts_with(flag)),
        None => uses.calls_method_of_tensors(),
    };
    if !is_tensor {
        return;
    }
    // Only the first test is reported.
    let Some(test) = tests.0.into_iter().min_by_key(|test| test.start()) else { return };
    if uses.is_known_before(test.start()) {
        return;
    }
    let message = format!(
        "the truth value of `{name}` raises an error if it is a tensor with several elements: `{name} is not None` \
         tests whether it was given"
    );
    let label = Label { span: source.span(parameter.range()), message: "it is a tensor or None".to_owned() };
    findings.report(NAME, Severity::Warning, message, source.span(test.range()), vec![label]);
}

/// Whether an annotation allows tensors and arrays, and nothing else but `None`.
fn is_tensor_or_none(annotation: &Expr) -> bool {
    let mut types = Vec::new();
    members(annotation, &mut types);
    !types.is_empty() && types.into_iter().all(is_tensor)
}

/// The types in `Optional[Tensor]`, `Union[Tensor, None]` and `Tensor | None`, without `None`.
fn members<'a>(annotation: &'a Expr, found: &mut Vec<&'a Expr>) {
    match annotation {
        Expr::NoneLiteral(_) => {}
        Expr::BinOp(either) if either.op == Operator::BitOr => {
            members(&either.left, found);
            members(&either.right, found);
        }
        Expr::Subscript(generic) if matches!(path_of(&generic.value).last(), Some(&("Optional" | "Union"))) => {
            match &*generic.slice {
                Expr::Tuple(tuple) => tuple.elts.iter().for_each(|one| members(one, found)),
                one => members(one, found),
            }
        }
        other => found.push(other),
    }
}

fn is_tensor(annotation: &Expr) -> bool {
    match path_of(annotation).as_slice() {
        ["np" | "numpy", "ndarray"] => true,
        [name] | ["torch", name] => TENSORS.contains(name),
        _ => false,
    }
}

/// A parameter, and the expressions of its function.
struct Parameter<'a> {
    name: &'a str,
    all: Vec<&'a Expr>,
    /// The places after which the name may have another value.
    assigned: Vec<TextSize>,
}

impl<'a> Parameter<'a> {
    fn of(function: &'a StmtFunctionDef, name: &'a str) -> Parameter<'a> {
        let all: Vec<&Expr> = function.body.iter().flat_map(expressions).collect();
        let body = statements(&function.body, true);
        let stores = all.iter().filter(|expr| !is_read(expr) && path_of(expr) == [name]);
        // The value of `mask = mask or other` is computed before the assignment.
        let place = |expr: &&Expr| body.iter().find(|stmt| assigns(stmt, expr)).map_or(expr.start(), |stmt| stmt.end());
        let assigned = stores.map(place).collect();
        Parameter { name, all, assigned }
    }

    fn is(&self, expr: &Expr) -> bool {
        path_of(expr) == [self.name]
    }

    fn is_assigned_before(&self, at: TextSize) -> bool {
        self.assigned.iter().any(|place| *place < at)
    }

    /// Whether the function calls a method of tensors, before it assigns another value.
    fn calls_method_of_tensors(&self) -> bool {
        self.all.iter().filter_map(|expr| expr.as_call_expr()).any(|call| {
            let callee = call.func.as_attribute_expr();
            callee.is_some_and(|callee| METHODS.contains(&callee.attr.as_str()) && self.is(&callee.value))
                && !self.is_assigned_before(call.start())
        })
    }

    /// Whether the function assigns another value to the parameter, or compares it (usually with `None`),
    /// before this place, or tests anywhere what the parameter is.
    fn is_known_before(&self, at: TextSize) -> bool {
        self.is_assigned_before(at)
            || self.all.iter().any(|expr| match expr {
                Expr::Compare(compare) => {
                    self.is_compared(compare) && compare.start() < at && !self.is_over(compare, at)
                }
                Expr::Call(call) => {
                    let asks = called(call).is_some_and(|name| DISTINGUISH.contains(&name));
                    asks && call.arguments.args.iter().any(|argument| self.is(argument))
                }
                Expr::Attribute(attribute) => {
                    matches!(attribute.attr.as_str(), "item" | "numel" | "ndim" | "dim") && self.is(&attribute.value)
                }
                _ => false,
            })
    }

    /// Whether a comparison is the condition of a conditional expression that ends before this place:
    /// `0 if mask is None else mask.sum()`. It says nothing about the code after this expression.
    fn is_over(&self, compare: &ExprCompare, at: TextSize) -> bool {
        self.all
            .iter()
            .filter_map(|expr| expr.as_if_expr())
            .any(|one| one.test.range() == compare.range && one.end() < at)
    }

    fn is_compared(&self, compare: &ExprCompare) -> bool {
        let identity = |op: &CmpOp| matches!(op, CmpOp::Is | CmpOp::IsNot | CmpOp::Eq | CmpOp::NotEq);
        self.is(&compare.left) && compare.ops.iter().any(identity)
    }
}

/// Whether a statement computes a value and assigns it to this target, or to one that contains it.
fn assigns(stmt: &Stmt, part: &Expr) -> bool {
    let targets = match stmt {
        Stmt::Assign(assign) => assign.targets.as_slice(),
        Stmt::AnnAssign(assign) => std::slice::from_ref(&*assign.target),
        Stmt::AugAssign(assign) => std::slice::from_ref(&*assign.target),
        _ => &[],
    };
    targets.iter().any(|target| target.range().contains_range(part.range()))
}

/// The places where a function takes the truth value of a name, except in nested functions.
struct Tests<'a>(Vec<&'a ExprName>);

impl<'a> Tests<'a> {
    fn of(function: &'a StmtFunctionDef, name: &str) -> Tests<'a> {
        let mut tests = Tests(Vec::new());
        tests.visit_body(&function.body);
        tests.0.retain(|test| test.id.as_str() == name);
        tests
    }

    /// Adds an expression whose truth value is taken. `visit_expr` adds the operands of `not`, and all
    /// operands of `and` and `or` except the last one.
    fn add(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => self.0.push(name),
            Expr::BoolOp(operation) => operation.values.last().into_iter().for_each(|last| self.add(last)),
            _ => {}
        }
    }
}

impl<'a> Visitor<'a> for Tests<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => return,
            Stmt::If(one) => {
                self.add(&one.test);
                one.elif_else_clauses.iter().filter_map(|clause| clause.test.as_ref()).for_each(|test| self.add(test));
            }
            Stmt::While(one) => self.add(&one.test),
            Stmt::Assert(one) => self.add(&one.test),
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Lambda(_) => return,
            Expr::If(one) => self.add(&one.test),
            Expr::UnaryOp(one) if one.op == UnaryOp::Not => self.add(&one.operand),
            Expr::BoolOp(operation) => {
                if let Some((_, tested)) = operation.values.split_last() {
                    for value in tested {
                        self.add(value);
                    }
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }

    fn visit_comprehension(&mut self, comprehension: &'a Comprehension) {
        comprehension.ifs.iter().for_each(|test| self.add(test));
        walk_comprehension(self, comprehension);
    }
}
