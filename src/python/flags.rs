//! Conditions that decide whether the program uses a GPU: `use_cuda`, `args.gpu is not None`.

use super::interp::Interp;
use crate::syntax::ast::{BoolOp, CmpOp, UnaryOp};
use crate::syntax::{Expr, is_method_call, path_of};
use crate::value::{Sym, Topic, Value, sym};

/// A note of the run: `true` if a condition says that the tensors are on the CPU here.
pub(crate) const ON_CPU: Topic = Topic::new("on the cpu");

impl<'p> Interp<'p> {
    /// Notes that the path uses the CPU, if this truth value of the condition shows it.
    pub(super) fn note_cpu(&mut self, test: &'p Expr, truth: bool) {
        let flag = says_gpu(test) == Some(!truth);
        let decided =
            || arms_of(test).is_some_and(|[yes, no]| self.heap.conditions.contains(if truth { &no } else { &yes }));
        if flag || says_cpu(test, truth) || decided() {
            self.remember(ON_CPU, Value::Bool(true));
        }
    }
}

/// What a flag such as `use_cuda` or `config.no_gpu` means if it is true: whether the program uses a
/// GPU. `None` for other conditions.
pub(super) fn says_gpu(test: &Expr) -> Option<bool> {
    let name = path_of(test).last()?.to_ascii_lowercase();
    let is_negative = ["no_", "nocuda", "nogpu", "not_", "disable", "without", "cpu"];
    let is_negative = is_negative.iter().any(|prefix| name.starts_with(prefix));
    (name.contains("cuda") || name.contains("gpu")).then_some(!is_negative)
}

/// Whether a condition with this truth value says that a tensor, or the device of the program, is
/// not a GPU: `x.device.type == "cpu"`, `not x.is_cuda`.
fn says_cpu(test: &Expr, truth: bool) -> bool {
    match test {
        Expr::Attribute(a) => matches!((a.attr.as_str(), truth), ("is_cuda", false) | ("is_cpu", true)),
        Expr::Compare(e) => {
            let ([op], [right]) = (&*e.ops, &*e.comparators) else { return false };
            let Some(name) = device_text(right) else { return false };
            let equal = match op {
                CmpOp::Eq => truth,
                CmpOp::NotEq => !truth,
                _ => return false,
            };
            let left = match &*e.left {
                Expr::Attribute(a) => a.attr.as_str(),
                Expr::Name(name) => name.id.as_str(),
                _ => return false,
            };
            let is_device = left == "type" || left.contains("device");
            is_device && if equal { name == "cpu" } else { name.starts_with("cuda") }
        }
        _ => false,
    }
}

/// The device in `"cpu"`, `torch.device("cpu")` and `CPU_DEVICE`.
fn device_text(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::StringLiteral(text) => Some(text.value.to_str()),
        Expr::Call(call) if path_of(&call.func).last() == Some(&"device") => device_text(call.arguments.args.first()?),
        Expr::Name(name) => name.id.as_str().to_ascii_lowercase().contains("cpu").then_some("cpu"),
        _ => None,
    }
}

/// What holds in the two arms of a condition, as source text. A supported condition is an [`operand`], the
/// comparison of an operand with a constant, or a combination of these with `not` and `and`. `None` for
/// other conditions.
pub(super) fn arms_of(test: &Expr) -> Option<[Sym; 2]> {
    match test {
        Expr::UnaryOp(e) if e.op == UnaryOp::Not => arms_of(&e.operand).map(|[yes, no]| [no, yes]),
        Expr::Compare(e) => {
            let ([op], [right]) = (&*e.ops, &*e.comparators) else { return None };
            let (left, right) = (operand(&e.left)?, constant(right)?);
            let text = |op: CmpOp| sym(&format!("{left} {op} {right}"));
            Some([text(*op), text(op.negate())])
        }
        // `torch.cuda.is_available()` is assumed to be true.
        Expr::BoolOp(e) if e.op == BoolOp::And => {
            let others =
                e.values.iter().filter(|e| !e.as_call_expr().is_some_and(|e| is_method_call(e, "is_available")));
            let all: Vec<[Sym; 2]> = others.map(arms_of).collect::<Option<_>>()?;
            match all.as_slice() {
                [] => None,
                [only] => Some(*only),
                all => {
                    let text = all.iter().map(|[yes, _]| yes.as_str()).collect::<Vec<_>>().join(" and ");
                    Some([sym(&text), sym(&format!("not ({text})"))])
                }
            }
        }
        _ => operand(test).map(|text| [sym(&text), sym(&format!("not {text}"))]),
    }
}

/// The source text of `args.cuda`, `args["cuda"]`, `len(gpus)`. `None` for other kinds of expressions.
fn operand(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Call(e) => match (&*e.arguments.args, e.func.as_name_expr()) {
            ([of], Some(name)) if name.id.as_str() == "len" => Some(format!("len({})", operand(of)?)),
            _ => None,
        },
        Expr::Subscript(e) => {
            Some(format!("{}[\"{}\"]", operand(&e.value)?, e.slice.as_string_literal_expr()?.value.to_str()))
        }
        _ => Some(path_of(expr).join(".")).filter(|path| !path.is_empty()),
    }
}

fn constant(expr: &Expr) -> Option<String> {
    match expr {
        Expr::NoneLiteral(_) => Some("None".to_owned()),
        Expr::BooleanLiteral(e) => Some(if e.value { "True" } else { "False" }.to_owned()),
        Expr::StringLiteral(e) => Some(format!("\"{}\"", e.value.to_str())),
        Expr::NumberLiteral(e) => Some(e.value.as_int()?.to_string()),
        Expr::UnaryOp(e) if e.op == UnaryOp::USub => Some(format!("-{}", constant(&e.operand)?)),
        _ => None,
    }
}
