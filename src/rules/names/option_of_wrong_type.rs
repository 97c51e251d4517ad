//! Options whose value on the command line is a text, although the program needs a number, as in
//! `parser.add_argument("--lr", default=0.1)`, or for which every text means true, as with `type=bool`.

use rustc_hash::FxHashSet;

use crate::diagnostic::Severity;
use crate::rules::rule::{Findings, Rule, Source};
use crate::rules::words::COMMAND_LINES;
use crate::syntax::ast::{CmpOp, ExprCall, Identifier, Keyword, Number, Operator};
use crate::syntax::{Expr, Ranged, assignment, calls, expressions, is_method_call, path_of};

const NAME: &str = "option-of-wrong-type";

/// Arguments of PyTorch's classes and functions that must be numbers.
const NUMBERS: &[&str] = &[
    "lr",
    "weight_decay",
    "momentum",
    "eps",
    "label_smoothing",
    "num_workers",
    "batch_size",
    "step_size",
    "gamma",
    "patience",
    "T_max",
    "max_norm",
];

#[derive(Default)]
pub(crate) struct OptionOfWrongType;

impl Rule for OptionOfWrongType {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        if !source.text.contains("add_argument(") {
            return;
        }
        let (mut numbers, mut equal, mut converted) =
            (FxHashSet::default(), FxHashSet::default(), FxHashSet::default());
        for expr in source.body.iter().flat_map(expressions) {
            numbers.extend(needed_numbers(expr).into_iter().filter_map(option));
            equal.extend(compared_with_number(expr).and_then(option));
            if let Expr::Call(call) = expr
                && matches!(path_of(&call.func).as_slice(), ["int" | "float" | "str" | "bool"] | [.., "literal_eval"])
            {
                converted.extend(call.arguments.args.iter().filter_map(option));
            }
        }
        let targets = source.statements.iter().filter_map(|stmt| assignment(stmt)).map(|(target, _)| target);
        for name in targets.filter_map(option) {
            equal.remove(name);
        }
        for call in source.body.iter().flat_map(calls).filter(|call| is_method_call(call, "add_argument")) {
            if let Some(message) = always_true(call) {
                findings.report(NAME, Severity::Info, message.to_owned(), source.span(call.range()), Vec::new());
            }
            let mut report = |message: String| {
                findings.report(NAME, Severity::Warning, message, source.span(call.range()), Vec::new());
            };
            let Some(flag) = text_flag(call) else { continue };
            if let Some(choice) = numeric_choice(call) {
                report(format!("`{flag}` has no `type`: a given `{choice}` is a text, so it is not among the choices"));
            }
            let Some(default) = default(call) else { continue };
            let stored = call.arguments.find_keyword("dest").and_then(|dest| dest.value.as_string_literal_expr());
            let name = stored.map_or_else(|| flag.trim_start_matches('-').replace('-', "_"), |s| s.value.to_string());
            let name = name.as_str();
            let is_number = default == Default::Number && call.arguments.find_keyword("type").is_none();
            let is_text = default == Default::Text;
            if is_number && (numbers.contains(name) || equal.contains(name)) && !converted.contains(name) {
                report(format!("`{flag}` has no `type`: given on the command line, it is a text, not a number"));
            }
            if is_text && equal.contains(name) && !converted.contains(name) {
                report(format!("`{flag}` is a text, and never equal to the number that it is compared with"));
            }
        }
    }
}

/// The message for an option that is true for every text: of the type `bool`, or without a type and with a bool as
/// default.
fn always_true(call: &ExprCall) -> Option<&'static str> {
    let arguments = &call.arguments;
    let is_given = |name: &str| arguments.find_keyword(name).is_some();
    if !arguments.args.first()?.as_string_literal_expr()?.value.to_str().starts_with('-') {
        return None;
    }
    match arguments.find_keyword("type") {
        Some(given) if path_of(&given.value) == ["bool"] => {
            Some("`type=bool` makes every text true, also `False`: use `action=argparse.BooleanOptionalAction`")
        }
        Some(_) => None,
        None if ["action", "choices", "nargs"].into_iter().any(is_given) => None,
        None => arguments.find_keyword("default")?.value.is_boolean_literal_expr().then_some(
            "without `type` and `action`, every text is true, also `False`: use `action=argparse.BooleanOptionalAction`",
        ),
    }
}

/// The flag of an option that stores the given text: without a type or with `type=str`, and without an action.
fn text_flag(call: &ExprCall) -> Option<&str> {
    let arguments = &call.arguments;
    let names: Vec<&str> =
        arguments.args.iter().map(|arg| Some(arg.as_string_literal_expr()?.value.to_str())).collect::<Option<_>>()?;
    let changes_value = |keyword: &Keyword| match keyword.arg.as_ref().map(Identifier::as_str) {
        None | Some("action" | "nargs") => true,
        Some("type") => path_of(&keyword.value) != ["str"],
        Some(_) => false,
    };
    if arguments.keywords.iter().any(changes_value) {
        return None;
    }
    let flag = names.iter().find(|name| name.starts_with("--")).or(names.first())?;
    flag.starts_with('-').then_some(flag)
}

/// A number among the `choices` of an option.
fn numeric_choice(call: &ExprCall) -> Option<String> {
    let first = match &call.arguments.find_keyword("choices")?.value {
        Expr::List(list) => list.elts.first()?,
        Expr::Tuple(tuple) => tuple.elts.first()?,
        Expr::Call(range) if path_of(&range.func) == ["range"] => return Some("1".to_owned()),
        _ => return None,
    };
    match &first.as_number_literal_expr()?.value {
        Number::Int(int) => Some(int.to_string()),
        _ => Some("number".to_owned()),
    }
}

/// What an option is if it is not given.
#[derive(PartialEq)]
enum Default {
    Number,
    Text,
}

fn default(call: &ExprCall) -> Option<Default> {
    let Some(default) = call.arguments.find_keyword("default") else { return Some(Default::Text) };
    let default = match &default.value {
        Expr::UnaryOp(e) => &e.operand,
        default => default,
    };
    match default {
        Expr::NumberLiteral(_) => Some(Default::Number),
        Expr::StringLiteral(_) | Expr::NoneLiteral(_) => Some(Default::Text),
        _ => None,
    }
}

/// The operand of `==` or `!=` whose other operand is a number.
fn compared_with_number(expr: &Expr) -> Option<&Expr> {
    let compare = expr.as_compare_expr()?;
    let ([CmpOp::Eq | CmpOp::NotEq], [right]) = (&*compare.ops, &*compare.comparators) else { return None };
    let is_number = |e: &Expr| match e {
        Expr::UnaryOp(e) => e.operand.is_number_literal_expr(),
        e => e.is_number_literal_expr(),
    };
    match (is_number(&compare.left), is_number(right)) {
        (false, true) => Some(&compare.left),
        (true, false) => Some(right),
        _ => None,
    }
}

/// The name in `args.lr` or `self.args.lr`.
fn option(expr: &Expr) -> Option<&str> {
    match path_of(expr).as_slice() {
        [root, name] | ["self", root, name] if COMMAND_LINES.contains(root) => Some(*name),
        _ => None,
    }
}

/// The parts of an expression that must be numbers. A text can be multiplied by a number, and formatted by `%`.
fn needed_numbers(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::BinOp(e) => match e.op {
            Operator::Sub | Operator::Div | Operator::FloorDiv | Operator::Pow => vec![&e.left, &e.right],
            Operator::Mod if !e.left.is_string_literal_expr() && !e.left.is_f_string_expr() => vec![&e.right],
            Operator::Add if e.left.is_number_literal_expr() => vec![&e.right],
            Operator::Add if e.right.is_number_literal_expr() => vec![&e.left],
            _ => Vec::new(),
        },
        Expr::Compare(e) if matches!(*e.ops, [CmpOp::Lt | CmpOp::LtE | CmpOp::Gt | CmpOp::GtE]) => {
            std::iter::once(&*e.left).chain(&e.comparators).collect()
        }
        Expr::Call(e) => match path_of(&e.func).as_slice() {
            ["range"] => e.arguments.args.iter().collect(),
            ["torch" | "nn" | "optim" | "F", ..] | ["DataLoader" | "Adam" | "AdamW" | "SGD"] => {
                let is_number = |name: &str| NUMBERS.contains(&name);
                let keywords = e.arguments.keywords.iter();
                keywords
                    .filter(|k| k.arg.as_ref().is_some_and(|name| is_number(name.as_str())))
                    .map(|k| &k.value)
                    .collect()
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}
