//! Quotients in places in which a function needs an integer: `nn.Linear(n, n / 2)`. In Python 3, `/` of
//! two numbers always gives a float, so the value of the quotient need not be known.

use rustc_hash::{FxHashMap, FxHashSet};

use super::interp::{Body, Interp};
use super::library::{RejectKind, Rejection};
use crate::syntax::ast::visitor::{Visitor, walk_expr, walk_stmt};
use crate::syntax::ast::{ExprCall, Operator, StmtFunctionDef};
use crate::syntax::{Expr, Span, Stmt, path_of};
use crate::value::{Sym, Value, dotted, sym};

/// Methods whose arguments are sizes. An unknown object with such a method is assumed to be a tensor.
const OF_TENSORS: &[&str] = &["view", "reshape", "expand"];

/// Functions whose results are floats.
const FLOATS: &[&[&str]] =
    &[&["np", "floor"], &["np", "ceil"], &["np", "sqrt"], &["numpy", "sqrt"], &["math", "sqrt"], &["np", "log2"]];

impl<'p> Interp<'p> {
    /// Reports a quotient as an argument that must be an integer. Returns whether the call itself fails, and
    /// not only a later use of its result.
    pub(super) fn refuse_quotient(&mut self, callee: &Value, call: &'p ExprCall) -> bool {
        let path = match callee {
            Value::Path(path) => *path,
            Value::Method(pair) if self.heap.is_tensor(&pair.0) => match self.library.class_of(self, &pair.0) {
                Some(class) => dotted(class, pair.1),
                None => return false,
            },
            callee if callee.is_unknown() => match &*call.func {
                Expr::Attribute(method) if OF_TENSORS.contains(&method.attr.as_str()) => {
                    dotted(sym(self.library.words().tensor), sym(method.attr.as_str()))
                }
                _ => return false,
            },
            _ => return false,
        };
        let Some((now, later)) = self.library.integers(path) else { return false };
        if let Some((argument, message)) = self.quotient_for(path, now, call) {
            let span = self.span(argument);
            self.in_any_arm(|it| it.report_missing(RejectKind::Value, message, span));
            return true;
        }
        if let Some((argument, message)) = self.quotient_for(path, later, call) {
            let span = self.span(argument);
            let assumed = Some("when the result is used");
            let rejection =
                Rejection { kind: RejectKind::Value, message, reads: Vec::new(), span, assumed, of_python: true };
            self.in_any_arm(|it| it.suspect(rejection));
        }
        false
    }

    /// The first argument for one of these parameters that is a quotient, and the message.
    fn quotient_for(&mut self, path: Sym, names: &str, call: &'p ExprCall) -> Option<(&'p Expr, String)> {
        let wanted: Vec<&str> = names.split_whitespace().collect();
        let arguments = &call.arguments;
        let spreads = arguments.args.iter().any(Expr::is_starred_expr);
        // A file that Python 3 cannot read, because it mixes tabs with spaces, may be one for Python 2, whose
        // quotients of integers are integers.
        let is_broken = |it: &Self| it.sources.is_broken(Span { file: it.file(), start: 0, end: u32::MAX });
        if wanted.is_empty() || spreads || is_broken(self) {
            return None;
        }
        let given = arguments.args.iter().chain(arguments.keywords.iter().map(|keyword| &keyword.value));
        if !given.into_iter().any(|argument| is_quotient(argument, &mut |name| self.names_quotient(name))) {
            return None;
        }
        let parameters = self.library.parameters(path).unwrap_or_default();
        let is_wanted =
            |at: usize| wanted == ["*"] || parameters.get(at).is_some_and(|name| wanted.contains(&name.as_str()));
        let by_position = arguments.args.iter().enumerate().filter(|(at, _)| is_wanted(*at)).map(|(_, one)| one);
        let by_keyword = arguments
            .keywords
            .iter()
            .filter(|keyword| keyword.arg.as_ref().is_some_and(|name| wanted.contains(&name.as_str())));
        let mut given = by_position.chain(by_keyword.map(|keyword| &keyword.value));
        let found = given.find(|argument| is_quotient(argument, &mut |name| self.names_quotient(name)))?;
        Some((found, "this must be an integer, but it is a float: use `//` or `int(…)`".to_owned()))
    }

    /// Whether the current function binds this name only once, by a plain assignment of a value that is
    /// certainly a float, such as `k = n / 2`. False for parameters.
    fn names_quotient(&mut self, name: &str) -> bool {
        let Some(code) = self.frames.last().and_then(|frame| frame.code) else { return false };
        if let Some(names) = self.quotients.get(&code) {
            return names.contains(name);
        }
        let names = match self.code.get(code.0 as usize).map(|code| code.body) {
            Some(Body::Function(def)) => Assigned::quotients(def),
            _ => FxHashSet::default(),
        };
        let found = names.contains(name);
        self.quotients.insert(code, names);
        found
    }
}

/// Whether an expression is certainly a float, or a tuple or list with such an element.
/// `is_named` tells whether a name is such a value.
fn is_quotient(expr: &Expr, is_named: &mut dyn FnMut(&str) -> bool) -> bool {
    match expr {
        Expr::BinOp(operation) => match operation.op {
            // `folder / "name"` is a path.
            Operator::Div => !operation.left.is_string_literal_expr() && !operation.right.is_string_literal_expr(),
            // A list or a string cannot be multiplied by a float.
            Operator::Add | Operator::Sub | Operator::Mult => {
                is_quotient(&operation.left, is_named) || is_quotient(&operation.right, is_named)
            }
            _ => false,
        },
        Expr::UnaryOp(operation) => is_quotient(&operation.operand, is_named),
        Expr::Tuple(tuple) => tuple.elts.iter().any(|element| is_quotient(element, is_named)),
        Expr::List(list) => list.elts.iter().any(|element| is_quotient(element, is_named)),
        Expr::Call(call) => FLOATS.contains(&path_of(&call.func).as_slice()),
        Expr::Name(name) => is_named(name.id.as_str()),
        _ => false,
    }
}

/// The assignments in a function, including those in nested functions.
#[derive(Default)]
struct Assigned {
    /// The number of places that bind each name.
    counts: FxHashMap<String, usize>,
    quotients: FxHashSet<String>,
}

impl Assigned {
    /// The names whose only assignment in a function is a quotient; parameters are left out.
    fn quotients(def: &StmtFunctionDef) -> FxHashSet<String> {
        let mut assigned = Assigned::default();
        assigned.visit_body(&def.body);
        let Assigned { counts, mut quotients } = assigned;
        let is_parameter = |name: &str| def.parameters.iter().any(|parameter| parameter.name().as_str() == name);
        quotients.retain(|name| counts.get(name) == Some(&1) && !is_parameter(name));
        quotients
    }
}

impl<'a> Visitor<'a> for Assigned {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::Assign(assign) = stmt
            && let [Expr::Name(name)] = assign.targets.as_slice()
            && is_quotient(&assign.value, &mut |_| false)
        {
            self.quotients.insert(name.id.as_str().to_owned());
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(name) = expr
            && !name.ctx.is_load()
        {
            *self.counts.entry(name.id.as_str().to_owned()).or_default() += 1;
        }
        walk_expr(self, expr);
    }
}
