//! Checks that a contract uses only the language of contracts, because a typo must not produce a
//! contract that never fails. The check runs once, when the contract is compiled.
//!
//! The language is the small part of Python that [`super::eval`] can evaluate.

use super::helpers::HELPERS;
use crate::syntax::ast::{
    self, CmpOp, FStringPart, InterpolatedStringElement, Number, Operator, StmtFunctionDef, UnaryOp,
};
use crate::syntax::{Expr, Ranged, Stmt};
use crate::value::{Dtype, counted};

/// The attributes of tensors that a contract may read.
pub(super) const ATTRIBUTES: &[&str] = &["shape", "ndim", "dtype", "device", "is_cuda", "requires_grad"];
/// The methods of tensors that a contract may call, each with its number of arguments.
pub(super) const METHODS: &[(&str, usize)] = &[("numel", 0), ("dim", 0), ("size", 1), ("is_floating_point", 0)];
/// The three reports, each with a condition and a message.
pub(super) const CLAIMS: &[&str] = &["require", "suspect", "advise"];

/// A mistake in a contract, and its place in the text: an offset in bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    pub offset: usize,
    pub message: String,
}

type Checked = Result<(), Mistake>;

fn mistake(node: &impl Ranged, message: impl Into<String>) -> Mistake {
    Mistake { offset: node.range().start().to_usize(), message: message.into() }
}

/// Checks a top-level statement of a contract: it must be the definition of a function. `judged`
/// holds the paths in the page's `contract-of`.
pub(super) fn function(stmt: Stmt, judged: &[String]) -> Result<StmtFunctionDef, Mistake> {
    let Stmt::FunctionDef(function) = stmt else {
        return Err(mistake(&stmt, "a contract contains only functions"));
    };
    for decorator in &function.decorator_list {
        of(&decorator.expression, judged)?;
    }
    let mut names = Vec::new();
    for parameter in function.parameters.iter_non_variadic_params() {
        names.push(parameter.parameter.name.as_str());
        if let Some(default) = parameter.default.as_deref() {
            expression(default, &[])?;
        }
    }
    if let Some(parameter) = function.parameters.vararg.as_ref().or(function.parameters.kwarg.as_ref()) {
        return Err(mistake(
            &**parameter,
            "the parameters of a contract are listed by name: `*args` and `**kwargs` are not allowed",
        ));
    }
    block(&function.body, &mut names)?;
    Ok(function)
}

/// `@of("torch.nn.functional.nll_loss")`
fn of(decorator: &Expr, judged: &[String]) -> Checked {
    let Expr::Call(call) = decorator else {
        return Err(mistake(decorator, "the only decorator is `@of(\"path\", …)`"));
    };
    if !matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "of") || !call.arguments.keywords.is_empty() {
        return Err(mistake(decorator, "the only decorator is `@of(\"path\", …)`"));
    }
    for path in &call.arguments.args {
        let Expr::StringLiteral(path) = path else {
            return Err(mistake(path, "`of` takes dotted paths as strings"));
        };
        if !judged.iter().any(|judged| judged == path.value.to_str()) {
            return Err(mistake(path, format!("`contract-of` does not name `{}`", path.value.to_str())));
        }
    }
    Ok(())
}

fn block<'a>(body: &'a [Stmt], names: &mut Vec<&'a str>) -> Checked {
    body.iter().try_for_each(|stmt| statement(stmt, names))
}

fn statement<'a>(stmt: &'a Stmt, names: &mut Vec<&'a str>) -> Checked {
    match stmt {
        Stmt::Return(s) => match &s.value {
            None => Ok(()),
            Some(value) => Err(mistake(&**value, "a contract returns no value: write `return` alone")),
        },
        Stmt::Assign(s) => {
            let [Expr::Name(name)] = s.targets.as_slice() else {
                return Err(mistake(s, "an assignment in a contract has one name on its left side"));
            };
            expression(&s.value, names)?;
            names.push(name.id.as_str());
            Ok(())
        }
        Stmt::If(s) => {
            expression(&s.test, names)?;
            block(&s.body, names)?;
            for clause in &s.elif_else_clauses {
                if let Some(test) = &clause.test {
                    expression(test, names)?;
                }
                block(&clause.body, names)?;
            }
            Ok(())
        }
        Stmt::Expr(s) => match &*s.value {
            Expr::Call(call) => claim(call, names),
            // A docstring.
            Expr::StringLiteral(_) => Ok(()),
            other => Err(mistake(other, "an expression alone has no effect")),
        },
        other => Err(mistake(
            other,
            "statement not allowed in a contract: use `if`, `return`, assignment, `require`, `suspect` or `advise`",
        )),
    }
}

fn claim(call: &ast::ExprCall, names: &[&str]) -> Checked {
    let name = match &*call.func {
        Expr::Name(name) if CLAIMS.contains(&name.id.as_str()) => name.id.as_str(),
        other => {
            return Err(mistake(
                other,
                format!(
                    "this call is not allowed in a contract: use `require`, `suspect` or `advise`{}",
                    near_claim(other)
                ),
            ));
        }
    };
    let [condition, message] = &*call.arguments.args else {
        return Err(mistake(call, format!("`{name}` takes a condition and a message")));
    };
    let says_that_it_goes_on = |keyword: &ast::Keyword| {
        keyword.arg.as_ref().is_some_and(|name| name.as_str() == "raises")
            && matches!(&keyword.value, Expr::BooleanLiteral(value) if !value.value)
    };
    match &*call.arguments.keywords {
        [] => {}
        [keyword] if name == "require" && says_that_it_goes_on(keyword) => {}
        [keyword, ..] => {
            return Err(mistake(
                keyword,
                "of `require`, `suspect` and `advise`, only `require` takes a keyword argument: `raises=False`",
            ));
        }
    }
    expression(condition, names)?;
    match message {
        Expr::StringLiteral(_) | Expr::FString(_) | Expr::If(_) => expression(message, names),
        other => {
            Err(mistake(other, "the message must be a string, an f-string, or a choice of two by `if` and `else`"))
        }
    }
}

fn near_claim(callee: &Expr) -> String {
    match callee {
        Expr::Name(name) => did_you_mean(name.id.as_str(), CLAIMS.iter().copied()),
        _ => String::new(),
    }
}

fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    crate::selector::nearest(name, known).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

fn expression(expr: &Expr, names: &[&str]) -> Checked {
    match expr {
        Expr::Name(name) => {
            if names.contains(&name.id.as_str()) {
                return Ok(());
            }
            let hint = did_you_mean(name.id.as_str(), names.iter().copied());
            Err(mistake(expr, format!("`{}` is not a parameter and was not assigned{hint}", name.id)))
        }
        Expr::NumberLiteral(number) => match number.value {
            Number::Complex { .. } => Err(mistake(expr, "complex numbers are not allowed in a contract")),
            Number::Int(_) | Number::Float(_) => Ok(()),
        },
        Expr::StringLiteral(_) | Expr::BooleanLiteral(_) | Expr::NoneLiteral(_) => Ok(()),
        Expr::FString(f) => f.value.iter().try_for_each(|part| match part {
            FStringPart::Literal(_) => Ok(()),
            FStringPart::FString(f) => f.elements.iter().try_for_each(|element| match element {
                InterpolatedStringElement::Literal(_) => Ok(()),
                InterpolatedStringElement::Interpolation(part) => expression(&part.expression, names),
            }),
        }),
        Expr::Tuple(tuple) => all(&tuple.elts, names),
        Expr::Attribute(attribute) => self::attribute(attribute, names),
        Expr::Call(call) => self::call(call, names),
        Expr::Subscript(subscript) => {
            expression(&subscript.value, names)?;
            match &*subscript.slice {
                Expr::Slice(slice) => match &slice.step {
                    Some(step) => Err(mistake(&**step, "a slice in a contract has no step")),
                    None => [&slice.lower, &slice.upper].into_iter().flatten().try_for_each(|e| expression(e, names)),
                },
                index => expression(index, names),
            }
        }
        Expr::BoolOp(e) => all(&e.values, names),
        Expr::UnaryOp(e) => match e.op {
            UnaryOp::Not | UnaryOp::USub => expression(&e.operand, names),
            UnaryOp::UAdd | UnaryOp::Invert => {
                Err(mistake(expr, "the only unary operators of contracts are `not` and `-`"))
            }
        },
        Expr::BinOp(e) => match e.op {
            Operator::Add | Operator::Sub | Operator::Mult | Operator::Mod => {
                expression(&e.left, names)?;
                expression(&e.right, names)
            }
            _ => Err(mistake(expr, "the only binary operators of contracts are `+`, `-`, `*` and `%`")),
        },
        Expr::Compare(e) => {
            expression(&e.left, names)?;
            for (op, right) in e.ops.iter().zip(&*e.comparators) {
                if matches!(op, CmpOp::In | CmpOp::NotIn) && !matches!(right, Expr::Tuple(_)) {
                    return Err(mistake(right, "the right side of `in` must be a tuple: `x in (1, 2)`"));
                }
                expression(right, names)?;
            }
            Ok(())
        }
        Expr::If(e) => [&e.test, &e.body, &e.orelse].into_iter().try_for_each(|e| expression(e, names)),
        _ => Err(mistake(expr, "expression not allowed in a contract")),
    }
}

fn all(exprs: &[Expr], names: &[&str]) -> Checked {
    exprs.iter().try_for_each(|expr| expression(expr, names))
}

fn attribute(attribute: &ast::ExprAttribute, names: &[&str]) -> Checked {
    let name = attribute.attr.as_str();
    if matches!(&*attribute.value, Expr::Name(module) if module.id.as_str() == "torch") {
        return match Dtype::parse(name) {
            Some(_) => Ok(()),
            None => Err(mistake(&attribute.attr, format!("`torch.{name}` is not a dtype"))),
        };
    }
    expression(&attribute.value, names)?;
    if ATTRIBUTES.contains(&name) {
        return Ok(());
    }
    let hint = did_you_mean(name, ATTRIBUTES.iter().copied());
    Err(mistake(&attribute.attr, format!("the attribute `.{name}` is not allowed in a contract{hint}")))
}

fn call(call: &ast::ExprCall, names: &[&str]) -> Checked {
    let given = call.arguments.args.len();
    match &*call.func {
        Expr::Attribute(method) => {
            let name = method.attr.as_str();
            let Some((_, takes)) = METHODS.iter().find(|(known, _)| *known == name) else {
                let hint = did_you_mean(name, METHODS.iter().map(|(known, _)| *known));
                return Err(mistake(
                    &method.attr,
                    format!("the method `.{name}()` is not allowed in a contract{hint}"),
                ));
            };
            if given != *takes || !call.arguments.keywords.is_empty() {
                return Err(mistake(call, format!("`.{name}()` takes {} here", counted(takes, "argument"))));
            }
            expression(&method.value, names)?;
        }
        Expr::Name(callee) => {
            let name = callee.id.as_str();
            let Some(helper) = HELPERS.iter().find(|helper| helper.name == name) else {
                let hint = did_you_mean(name, HELPERS.iter().map(|helper| helper.name));
                return Err(mistake(callee, format!("contracts have no helper `{name}`{hint}")));
            };
            if let Some(keyword) = call.arguments.keywords.iter().find(|k| {
                let keyword = k.arg.as_ref().map(|name| name.as_str());
                keyword.is_none() || keyword != helper.keyword
            }) {
                return Err(mistake(keyword, format!("`{name}` has no such argument")));
            }
            if !helper.takes.contains(&given) {
                let (least, most) = (helper.takes.start(), helper.takes.end());
                let takes = match (least, most) {
                    (least, &usize::MAX) => format!("at least {}", counted(least, "argument")),
                    (least, most) if least == most => counted(least, "argument"),
                    (least, most) => format!("{least} to {most} arguments"),
                };
                return Err(mistake(call, format!("`{name}` takes {takes}, but gets {given}")));
            }
        }
        other => return Err(mistake(other, "a contract calls only helpers and methods of tensors")),
    }
    all(&call.arguments.args, names)?;
    call.arguments.keywords.iter().try_for_each(|keyword| expression(&keyword.value, names))
}

#[cfg(test)]
mod tests {
    use super::function;
    use crate::syntax;

    /// The message about the mistake in a contract, and the text from the mistake to the end of the
    /// line.
    fn slip(contract: &str) -> Option<(String, &str)> {
        let parsed = syntax::parse(contract, false);
        assert_eq!(parsed.issues.len(), 0, "{contract}");
        let judged = ["torch.mm".to_owned()];
        let found = parsed.module.body.into_iter().find_map(|stmt| function(stmt, &judged).err())?;
        Some((found.message, contract.get(found.offset..)?.lines().next()?))
    }

    /// The mistake in a contract whose body is this line.
    fn in_body(line: &str) -> Option<(String, String)> {
        let contract = format!("def f(x, dim=None):\n    {line}\n");
        slip(&contract).map(|(message, at)| (message, at.to_owned()))
    }

    #[test]
    fn the_language_of_contracts_is_accepted() {
        for line in [
            "\"\"\"What it is about.\"\"\"",
            "return",
            "n = x.shape[0] if x.ndim > 1 else -1",
            "require(within(x, 0, x.shape[-1] - 1, ignoring=-100), f\"x holds {outside(x, 0, 3)}\")",
            "require(x.ndim == 1, \"text\", raises=False)",
            "suspect(x.dtype in (torch.int64, torch.uint8) or not floating(x.dtype), \"text\")",
            "advise(x.shape[1:] == x.shape[:2] + (3,) and dim is None, \"a\" if x.numel() == 0 else \"b\")",
        ] {
            assert_eq!(in_body(line), None, "{line}");
        }
        assert_eq!(slip("@of(\"torch.mm\")\ndef f(input): return\n"), None);
    }

    #[test]
    fn typing_errors_are_found() {
        let slips = [
            (
                "require(withinn(x, 0, 1), \"\")",
                "contracts have no helper `withinn`; did you mean `within`?",
                "withinn(",
            ),
            (
                "require(x.shpae == (1,), \"\")",
                "the attribute `.shpae` is not allowed in a contract; did you mean `shape`?",
                "shpae =",
            ),
            (
                "require(x.sizes(0) == 1, \"\")",
                "the method `.sizes()` is not allowed in a contract; did you mean `size`?",
                "sizes(",
            ),
            ("require(x.size() == 1, \"\")", "`.size()` takes 1 argument here", "x.size("),
            (
                "suspect(x.ndim == 1, \"\", raises=False)",
                "of `require`, `suspect` and `advise`, only `require` takes a keyword argument: `raises=False`",
                "raises=",
            ),
            (
                "require(x.ndim == 1, \"\", raises=True)",
                "of `require`, `suspect` and `advise`, only `require` takes a keyword argument: `raises=False`",
                "raises=",
            ),
            (
                "requier(x.ndim == 1, \"\")",
                "this call is not allowed in a contract: use `require`, `suspect` or `advise`; did you mean `require`?",
                "requier(",
            ),
            ("require(x.ndim == 1)", "`require` takes a condition and a message", "require("),
            ("require(within(x, 0), \"\")", "`within` takes 3 to 4 arguments, but gets 2", "within(x, 0)"),
            ("require(within(x, 0, 1, ignore=2), \"\")", "`within` has no such argument", "ignore=2"),
            ("require(y.ndim == 1, \"\")", "`y` is not a parameter and was not assigned", "y.ndim"),
            ("require(x.dtype == torch.int63, \"\")", "`torch.int63` is not a dtype", "int63"),
            ("require(x.ndim in dims(x), \"\")", "the right side of `in` must be a tuple: `x in (1, 2)`", "dims(x)"),
            (
                "require(x.ndim ** 2 == 4, \"\")",
                "the only binary operators of contracts are `+`, `-`, `*` and `%`",
                "x.ndim ** 2",
            ),
            ("require(all(d for d in x.shape), \"\")", "contracts have no helper `all`", "all("),
            ("x.ndim == 1", "an expression alone has no effect", "x.ndim"),
            ("return x", "a contract returns no value: write `return` alone", "x"),
            ("for d in x.shape: return", "statement not allowed in a contract", "for d"),
            ("import os", "statement not allowed in a contract", "import os"),
        ];
        for (line, message, at) in slips {
            let found = in_body(line);
            let told = found.as_ref().is_some_and(|(said, from)| said.starts_with(message) && from.starts_with(at));
            assert!(told, "{line}: {found:?}");
        }
    }

    #[test]
    fn decorators_and_parameters_are_checked() {
        let told = |contract| slip(contract).map(|(message, _)| message);
        assert_eq!(
            told("@of(\"torch.bmm\")\ndef f(input): return\n").as_deref(),
            Some("`contract-of` does not name `torch.bmm`")
        );
        assert_eq!(told("@cache\ndef f(input): return\n").as_deref(), Some("the only decorator is `@of(\"path\", …)`"));
        assert_eq!(told("import os\n").as_deref(), Some("a contract contains only functions"));
        assert_eq!(
            told("def f(*args): return\n").as_deref(),
            Some("the parameters of a contract are listed by name: `*args` and `**kwargs` are not allowed")
        );
    }
}
