//! A tensor combined with its own mean (or another reduction) along an axis that is not the first one, without
//! `keepdim=True`.

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprCall, Operator, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, Stmt, expressions, integer, is_method_call, is_read, methods, path_of, statements};

const NAME: &str = "mean-without-keepdim";

/// Functions and methods that remove an axis.
const REDUCTIONS: &[&str] = &["mean", "sum", "norm", "std", "var", "amax", "amin", "logsumexp"];

/// Functions and methods that remove an axis, and also return indices.
const WITH_INDICES: &[&str] = &["max", "min", "median"];

/// Keywords that do not change the axes.
const OF_VALUES: &[&str] = &["p", "ord", "unbiased", "correction", "ddof", "dtype"];

/// Parts of the names of matrices that are often symmetric: dividing their columns by the sums of their rows may be
/// meant.
const SYMMETRIC: &[&str] = &["adj", "affin", "corr", "cov", "dist", "gram", "graph", "kern", "lap", "sim"];

/// Texts in programs with arrays that keep both axes in a reduction, or have labelled axes.
const OTHER_ARRAYS: &[&str] = &["sparse", "pandas", "xarray", "np.mat"];

#[derive(Default)]
pub(crate) struct MeanWithoutKeepdim;

impl Rule for MeanWithoutKeepdim {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("torch") || OTHER_ARRAYS.iter().any(|text| source.text.contains(text)) {
            return;
        }
        let forwards: Vec<&StmtFunctionDef> =
            source.classes().flat_map(methods).filter(|method| method.name.as_str() == "forward").collect();
        for def in source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt()) {
            let is_forward = forwards.iter().any(|forward| forward.range() == def.range());
            Function::of(def, is_forward).check(findings, source);
        }
    }
}

/// A function whose text is checked.
struct Function<'a> {
    all: Vec<&'a Stmt>,
    expressions: Vec<&'a Expr>,
    /// The parameters of `forward`; empty for other functions.
    inputs: Vec<&'a str>,
    is_forward: bool,
}

/// The reduction of a tensor along one axis.
struct Reduction<'a> {
    tensor: Vec<&'a str>,
    axis: i64,
    name: &'a str,
}

impl<'a> Function<'a> {
    fn of(def: &'a StmtFunctionDef, is_forward: bool) -> Self {
        let all = statements(&def.body, false);
        // Compound statements are left out: the list also contains the statements of their blocks.
        let simple = all.iter().copied().filter(|stmt| {
            matches!(stmt, Stmt::Assign(_) | Stmt::AnnAssign(_) | Stmt::AugAssign(_) | Stmt::Expr(_) | Stmt::Return(_))
        });
        let expressions = simple.flat_map(expressions).collect();
        let parameters = def.parameters.iter_non_variadic_params().map(|parameter| parameter.name().as_str());
        let inputs = parameters.filter(|_| is_forward).collect();
        Function { all, expressions, inputs, is_forward }
    }

    fn check(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for stmt in self.all.iter().filter_map(|stmt| stmt.as_aug_assign_stmt()) {
            if is_arithmetic(stmt.op) {
                self.check_pair(findings, source, stmt, &stmt.target, &stmt.value);
            }
        }
        for operation in self.expressions.iter().filter_map(|expr| expr.as_bin_op_expr()) {
            if is_arithmetic(operation.op) {
                self.check_pair(findings, source, operation, &operation.left, &operation.right);
                self.check_pair(findings, source, operation, &operation.right, &operation.left);
            }
        }
    }

    /// Reports an operation of a tensor and its own reduction.
    fn check_pair(
        &self,
        findings: &mut Findings<'_>,
        source: &Source<'_>,
        operation: &impl Ranged,
        tensor: &'a Expr,
        other: &'a Expr,
    ) {
        let path = path_of(tensor);
        let Some(reduction) = self.reduction_of(other, operation).filter(|one| one.tensor == path) else { return };
        if may_be_symmetric(&path) || !self.has_other_axes(&path, reduction.axis) {
            return;
        }
        let message = format!(
            "without `keepdim=True`, axis {} is missing in the result of `{}`, so its remaining axes are aligned \
             with the wrong axes of `{}`",
            reduction.axis,
            reduction.name,
            path.join(".")
        );
        findings.report(NAME, Severity::Warning, message, source.span(operation.range()), Vec::new());
    }

    /// The reduction whose result an expression is: the expression itself, or the value of a name that is
    /// assigned once.
    fn reduction_of(&self, expr: &'a Expr, operation: &impl Ranged) -> Option<Reduction<'a>> {
        let core = without_guard(expr);
        let Expr::Name(name) = core else { return reduction(core) };
        let path = [name.id.as_str()];
        let mut bound = self.bindings(&path);
        let first = bound.next()?;
        if bound.next().is_some() {
            return None;
        }
        let mut assigned = self.all.iter().filter_map(|stmt| stmt.as_assign_stmt());
        let assign =
            assigned.find(|assign| matches!(assign.targets.as_slice(), [one] if one.range() == first.range()))?;
        let reduction = reduction(without_guard(&assign.value))?;
        // The tensor must not be assigned in between.
        let around = self.all.iter().filter(|stmt| stmt.range().contains_range(operation.range()));
        let here = around.map(|stmt| stmt.start()).max()?;
        let is_same = !self.bindings(&reduction.tensor).any(|at| at.start() > assign.start() && at.end() < here);
        (is_same && assign.start() < here).then_some(reduction)
    }

    /// The places where a name or an attribute is assigned, including the targets of loops.
    fn bindings<'s>(&'s self, path: &'s [&'s str]) -> impl Iterator<Item = &'a Expr> + 's {
        let loops = self.all.iter().filter_map(|stmt| stmt.as_for_stmt()).flat_map(|each| parts(&each.target));
        let all = self.expressions.iter().copied().chain(loops);
        all.filter(move |expr| !is_read(expr) && path_of(expr) == path)
    }

    /// Whether the tensor has other axes than the one that is reduced, and is expected to hold several samples.
    fn has_other_axes(&self, tensor: &[&str], axis: i64) -> bool {
        let shows = || {
            let is_unpacked = self.all.iter().any(|stmt| unpacks_shape(stmt, tensor));
            is_unpacked || self.expressions.iter().any(|expr| reads_second_axis(expr, tensor))
        };
        match axis {
            1.. => self.is_forward || shows(),
            // A tensor that is assigned again may have one axis at one place, and two at another. An input of
            // `forward` holds several samples.
            _ => {
                let bound = self.bindings(tensor).count();
                let is_input = || matches!(tensor, [name] if bound == 0 && self.inputs.contains(name));
                bound <= 1 && (shows() || is_input())
            }
        }
    }
}

fn is_arithmetic(operator: Operator) -> bool {
    matches!(operator, Operator::Add | Operator::Sub | Operator::Mult | Operator::Div)
}

fn parts(target: &Expr) -> Vec<&Expr> {
    match target {
        Expr::Tuple(tuple) => tuple.elts.iter().flat_map(parts).collect(),
        one => vec![one],
    }
}

/// The reduction in `x.norm(dim=1) + eps` and in `x.norm(dim=1).clamp(min=eps)`.
fn without_guard(expr: &Expr) -> &Expr {
    match expr {
        Expr::BinOp(sum) if sum.op == Operator::Add && (sum.right.is_number_literal_expr() || is_plain(&sum.right)) => {
            &sum.left
        }
        Expr::Call(call) if is_method_call(call, "clamp") => {
            call.func.as_attribute_expr().map_or(expr, |callee| &*callee.value)
        }
        _ => expr,
    }
}

/// Whether an expression is a name or an attribute that contains `eps`.
fn is_plain(expr: &Expr) -> bool {
    path_of(expr).last().is_some_and(|name| name.to_ascii_lowercase().contains("eps"))
}

/// The reduction that an expression computes, if it removes an axis other than the first one.
fn reduction(expr: &Expr) -> Option<Reduction<'_>> {
    let (expr, is_selected) = match expr {
        Expr::Subscript(subscript) if integer(&subscript.slice) == Some(0) => (&*subscript.value, true),
        Expr::Attribute(attribute) if attribute.attr.as_str() == "values" => (&*attribute.value, true),
        _ => (expr, false),
    };
    let call = expr.as_call_expr()?;
    let callee = call.func.as_attribute_expr()?;
    let name = callee.attr.as_str();
    let owner = path_of(&callee.value);
    let is_numpy = matches!(owner.as_slice(), ["np" | "numpy"] | ["np" | "numpy", "linalg"]);
    let is_function = is_numpy || matches!(owner.as_slice(), ["torch"] | ["torch", "linalg"]);
    let (tensor, given) = match (&*call.arguments.args, is_function) {
        ([first, rest @ ..], true) => (path_of(first), rest),
        (all, false) => (owner, all),
        _ => return None,
    };
    let axis = axis_of(call, given, usize::from(name == "norm"))?;
    // NumPy's `max` returns no indices. The keyword `axis` suggests an array of NumPy.
    let is_array = is_numpy || call.arguments.find_keyword("axis").is_some();
    let is_values = match is_selected {
        true => WITH_INDICES.contains(&name) && !is_array,
        false => REDUCTIONS.contains(&name) || (WITH_INDICES.contains(&name) && is_array),
    };
    (is_values && !tensor.is_empty() && (axis >= 1 || axis == -1)).then_some(Reduction { tensor, axis, name })
}

/// The constant axis of a reduction that does not keep it. `given` are the positional arguments after the
/// tensor, and `before` is the number of those before the axis.
fn axis_of(call: &ExprCall, given: &[Expr], before: usize) -> Option<i64> {
    let keyword = |name: &str| call.arguments.find_keyword(name).map(|keyword| &keyword.value);
    let is_known = call.arguments.keywords.iter().all(|keyword| {
        let name = keyword.arg.as_ref().map_or("", |name| name.as_str());
        let keeps = matches!(name, "keepdim" | "keepdims");
        let is_false = matches!(&keyword.value, Expr::BooleanLiteral(value) if !value.value);
        matches!(name, "dim" | "axis") || OF_VALUES.contains(&name) || (keeps && is_false)
    });
    // Further arguments may be `keepdim`.
    if !is_known || given.len() > before + 1 || given.iter().any(|argument| argument.is_starred_expr()) {
        return None;
    }
    integer(keyword("dim").or_else(|| keyword("axis")).or_else(|| given.get(before))?)
}

/// Whether the name of a tensor suggests a square matrix: `adj`, or a single capital letter.
fn may_be_symmetric(path: &[&str]) -> bool {
    path.last().is_some_and(|name| {
        let lower = name.to_ascii_lowercase();
        let is_letter = name.len() == 1 && *name != lower;
        is_letter || SYMMETRIC.iter().any(|part| lower.contains(part))
    })
}

/// Whether a statement gives names to several sizes of a tensor: `b, c = x.shape`.
fn unpacks_shape(stmt: &Stmt, tensor: &[&str]) -> bool {
    let Some(assign) = stmt.as_assign_stmt() else { return false };
    let is_several = assign.targets.iter().any(|target| target.as_tuple_expr().is_some_and(|all| all.elts.len() > 1));
    let shape = match &*assign.value {
        Expr::Attribute(attribute) if attribute.attr.as_str() == "shape" => &attribute.value,
        Expr::Call(call) if is_method_call(call, "size") && call.arguments.is_empty() => match &*call.func {
            Expr::Attribute(callee) => &callee.value,
            _ => return false,
        },
        _ => return false,
    };
    is_several && path_of(shape) == tensor
}

/// Whether an expression is the size of the second or a later axis (`x.shape[1]`, `x.size(1)`), or uses at
/// least two axes (`x[:, 0]`).
fn reads_second_axis(expr: &Expr, tensor: &[&str]) -> bool {
    let is_later = |axis: &Expr| integer(axis).is_some_and(|axis| axis >= 1);
    match expr {
        Expr::Subscript(subscript) => match (&*subscript.value, &*subscript.slice) {
            (Expr::Attribute(shape), axis) if shape.attr.as_str() == "shape" => {
                is_later(axis) && path_of(&shape.value) == tensor
            }
            (value, Expr::Tuple(axes)) => {
                axes.elts.len() > 1 && axes.elts.iter().all(is_axis) && path_of(value) == tensor
            }
            _ => false,
        },
        Expr::Call(call) if is_method_call(call, "size") => {
            let object = call.func.as_attribute_expr().map(|callee| path_of(&callee.value));
            call.arguments.args.iter().any(is_later) && object.is_some_and(|object| object == tensor)
        }
        _ => false,
    }
}

/// Whether an index uses one axis of the tensor: `None` uses none, and `...` any number.
fn is_axis(index: &Expr) -> bool {
    !index.is_none_literal_expr() && !index.is_ellipsis_literal_expr()
}
