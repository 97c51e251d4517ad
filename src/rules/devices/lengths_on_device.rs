//! `pack_padded_sequence` with lengths that a method of a module computes from its inputs and does not move
//! to the CPU.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::{ExprCall, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, Stmt, called, calls, methods, names_in, path_of, statements};

const NAME: &str = "lengths-on-device";

/// Methods and functions that work element by element or change only the shape. Their results are on the
/// device of their input.
const ELEMENTWISE: &[&str] = &[
    "abs",
    "bool",
    "detach",
    "eq",
    "float",
    "ge",
    "gt",
    "int",
    "le",
    "logical_not",
    "long",
    "lt",
    "ne",
    "squeeze",
    "unsqueeze",
];

/// Methods and functions that keep lengths on their device.
const KEEPING: &[&str] = &["clone", "contiguous", "detach", "flatten", "int", "long", "squeeze"];

/// How many expressions are followed back from the lengths to an input.
const MOST: u32 = 8;

#[derive(Default)]
pub(crate) struct LengthsOnDevice;

impl Rule for LengthsOnDevice {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("pack_padded_sequence(") {
            return;
        }
        for class in source.classes() {
            // The inputs of a module are on the device of the module.
            if !methods(class).any(|method| method.name.as_str() == "forward") {
                continue;
            }
            for method in methods(class).filter(|method| method.name.as_str() != "__init__") {
                check(findings, source, &Method::of(method));
            }
        }
    }
}

fn check(findings: &mut Findings<'_>, source: &Source<'_>, method: &Method<'_>) {
    let simple = method
        .all
        .iter()
        .copied()
        .filter(|stmt| matches!(stmt, Stmt::Assign(_) | Stmt::AnnAssign(_) | Stmt::Expr(_) | Stmt::Return(_)));
    for call in simple.flat_map(calls) {
        if path_of(&call.func).last() != Some(&"pack_padded_sequence") {
            continue;
        }
        let Some(lengths) = call.arguments.find_argument_value("lengths", 1) else { continue };
        let Some(sum) = method.sum(lengths, MOST) else { continue };
        let message = "`pack_padded_sequence` needs lengths on the CPU: if the inputs are on a GPU, these lengths are \
                       there, too";
        let label = Label { span: source.span(sum.range()), message: "the lengths are computed here".to_owned() };
        findings.report(NAME, Severity::Warning, message, source.span(call.range()), vec![label]);
    }
}

/// A method of a module: its parameters after `self`, and its statements.
struct Method<'a> {
    inputs: Vec<&'a str>,
    all: Vec<&'a Stmt>,
}

/// A value that is assigned to a name: an expression, or one item of it.
type Given<'a> = (&'a Expr, Option<usize>);

impl<'a> Method<'a> {
    fn of(method: &'a StmtFunctionDef) -> Self {
        let names = method.parameters.iter_non_variadic_params().map(|parameter| parameter.name().as_str());
        Method { inputs: names.skip(1).collect(), all: statements(&method.body, false) }
    }

    /// All values that are assigned to a name. `None` if a loop, or an annotated or augmented assignment,
    /// binds it.
    fn values(&self, name: &str) -> Option<Vec<Given<'a>>> {
        let mut values = Vec::new();
        for stmt in self.all.iter().copied() {
            match stmt {
                Stmt::Assign(assign) => {
                    for target in &assign.targets {
                        let at = match target {
                            Expr::Tuple(tuple) => tuple.elts.iter().position(|one| path_of(one) == [name]).map(Some),
                            one => (path_of(one) == [name]).then_some(None),
                        };
                        values.extend(at.map(|at| (&*assign.value, at)));
                    }
                }
                Stmt::AugAssign(assign) if path_of(&assign.target) == [name] => return None,
                Stmt::AnnAssign(assign) if path_of(&assign.target) == [name] => return None,
                Stmt::For(each) if names_in(&each.target).contains(&name) => return None,
                _ => {}
            }
        }
        Some(values)
    }

    /// Whether a tensor is an input, or is computed from an input by comparisons, unary operators and
    /// [`ELEMENTWISE`].
    fn is_from_input(&self, expr: &Expr, depth: u32) -> bool {
        let Some(next) = depth.checked_sub(1) else { return false };
        match expr {
            Expr::Name(name) => {
                let name = name.id.as_str();
                self.values(name).is_some_and(|values| match values.as_slice() {
                    [] => self.inputs.contains(&name),
                    values => values.iter().all(|(value, at)| at.is_none() && self.is_from_input(value, next)),
                })
            }
            Expr::Compare(compare) => self.is_from_input(&compare.left, next),
            Expr::UnaryOp(unary) => self.is_from_input(&unary.operand, next),
            Expr::Call(call) => {
                called(call).is_some_and(|name| ELEMENTWISE.contains(&name))
                    && receiver(call).is_some_and(|tensor| self.is_from_input(tensor, next))
            }
            _ => false,
        }
    }

    /// The call of `sum` or `count_nonzero` from which lengths are computed, if they stay on its device.
    fn sum(&self, expr: &'a Expr, depth: u32) -> Option<&'a Expr> {
        let next = depth.checked_sub(1)?;
        match expr {
            Expr::Name(name) => {
                let values = self.values(name.id.as_str())?;
                let sums: Vec<&Expr> = values
                    .into_iter()
                    .map(|(value, at)| match at {
                        None => self.sum(value, next),
                        Some(0) => self.sum(sorted(value)?, next),
                        Some(_) => None,
                    })
                    .collect::<Option<_>>()?;
                sums.first().copied()
            }
            Expr::Call(call) => match called(call)? {
                "sum" | "count_nonzero" if is_along_axis(call) => {
                    self.is_from_input(receiver(call)?, next).then_some(expr)
                }
                name if KEEPING.contains(&name) => self.sum(receiver(call)?, next),
                _ => None,
            },
            // `lengths[order]`
            Expr::Subscript(subscript) => self.sum(&subscript.value, next),
            _ => None,
        }
    }
}

/// The first tensor that a method or a function of PyTorch gets: `x` in `x.sum(1)` and in `torch.sum(x, 1)`.
fn receiver(call: &ExprCall) -> Option<&Expr> {
    let callee = call.func.as_attribute_expr()?;
    if path_of(&callee.value) == ["torch"] { call.arguments.args.first() } else { Some(&*callee.value) }
}

/// Whether a sum has arguments, such as an axis. It then contains one number for each sample, not one for the
/// whole batch.
fn is_along_axis(call: &ExprCall) -> bool {
    let is_function = path_of(&call.func).first() == Some(&"torch");
    call.arguments.args.len() + call.arguments.keywords.len() > usize::from(is_function)
}

/// The tensor that `sort` or `topk` sorts: the first result contains its values.
fn sorted(expr: &Expr) -> Option<&Expr> {
    let call = expr.as_call_expr()?;
    matches!(called(call)?, "sort" | "topk").then(|| receiver(call)).flatten()
}
