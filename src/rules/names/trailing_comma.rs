//! `self.conv = nn.Conv1d(…),`: the comma at the end makes a tuple with one element.
//!
//! Such a tuple may be meant. So the rule needs a use of the variable that fails on a tuple (a call, an
//! attribute that tuples lack, or a place in a container of modules), and no use in the whole file that is
//! usual for a tuple.

use crate::diagnostic::{Label, Severity};
use crate::rules::rule::{Findings, Rule, Source};
use crate::syntax::ast::visitor::{Visitor, walk_comprehension, walk_expr, walk_stmt};
use crate::syntax::ast::{CmpOp, Comprehension, ExprCall};
use crate::syntax::{
    Expr, Ranged, Stmt, TextRange, blocks, called, expressions, is_read, methods, path_of, statements,
};

const NAME: &str = "trailing-comma";

/// The attributes of tuples that programs use. Any attribute whose name begins with `__` may be one of a
/// tuple, too.
const OF_TUPLES: &[&str] = &["count", "index"];

/// Classes that take several modules or transforms, none of which may be a tuple.
const CONTAINERS: &[&str] = &["Sequential", "Compose"];

/// Functions and methods that accept tuples, or test what an object is.
const TAKE_TUPLES: &[&str] = &[
    "all",
    "any",
    "callable",
    "cat",
    "chain",
    "dict",
    "enumerate",
    "extend",
    "filter",
    "hasattr",
    "isinstance",
    "iter",
    "len",
    "list",
    "map",
    "max",
    "min",
    "next",
    "reversed",
    "set",
    "sorted",
    "stack",
    "sum",
    "tuple",
    "type",
    "zip",
];

#[derive(Default)]
pub(crate) struct TrailingComma;

impl Rule for TrailingComma {
    fn parsed(&self, findings: &mut Findings<'_>, source: &Source<'_>) {
        for slip in slips(source) {
            let Some(element) = slip.used_as_element() else { continue };
            if used_as_tuple(source.body, &slip.path) {
                continue;
            }
            let message = format!("the comma at the end makes `{}` a tuple with one element", slip.path.join("."));
            let used = "here it is used as the element itself".to_owned();
            let label = Label { span: source.span(element.range()), message: used };
            findings.report(NAME, Severity::Warning, message, source.span(slip.target.range()), vec![label]);
        }
    }
}

/// An assignment of a tuple without parentheses whose only element is a call.
struct Slip<'a> {
    target: &'a Expr,
    path: Vec<&'a str>,
    tuple: TextRange,
    callee: Vec<&'a str>,
    /// The body of the function, or of the file, that contains the assignment.
    body: &'a [Stmt],
    /// The body of the class, if the variable is an attribute of `self`.
    class: Option<&'a [Stmt]>,
}

fn slips<'a>(source: &Source<'a>) -> Vec<Slip<'a>> {
    let mut found = Vec::new();
    for class in source.classes() {
        for method in methods(class) {
            let all = statements(&method.body, false).into_iter();
            found.extend(all.filter_map(|stmt| Slip::of(stmt, &method.body, Some(class.body.as_slice()))));
        }
    }
    let functions = source.statements.iter().filter_map(|stmt| stmt.as_function_def_stmt());
    for body in functions.map(|def| def.body.as_slice()).chain(std::iter::once(source.body)) {
        found.extend(statements(body, false).into_iter().filter_map(|stmt| Slip::of(stmt, body, None)));
    }
    found
}

impl<'a> Slip<'a> {
    fn of(stmt: &'a Stmt, body: &'a [Stmt], class: Option<&'a [Stmt]>) -> Option<Slip<'a>> {
        let Stmt::Assign(assign) = stmt else { return None };
        let [target] = assign.targets.as_slice() else { return None };
        let tuple = assign.value.as_tuple_expr().filter(|tuple| !tuple.parenthesized)?;
        let [Expr::Call(call)] = tuple.elts.as_slice() else { return None };
        let path = path_of(target);
        let is_wanted = match path.as_slice() {
            [_] => class.is_none(),
            ["self", _] => class.is_some(),
            _ => false,
        };
        is_wanted.then(|| Slip { target, path, tuple: tuple.range(), callee: path_of(&call.func), body, class })
    }

    /// The first use that fails on the tuple; `None` if another assignment may have replaced the tuple before
    /// this use.
    fn used_as_element(&self) -> Option<&'a Expr> {
        let later = following(self.body, self.tuple);
        if later.iter().any(|stmt| stores(stmt, &self.path)) {
            return None;
        }
        let mut uses = Uses::of(&self.path, self.class.is_some());
        match self.class {
            None => later.into_iter().for_each(|stmt| uses.visit_stmt(stmt)),
            Some(class) => {
                if class.iter().any(|stmt| self.is_replaced_in(stmt)) {
                    return None;
                }
                uses.visit_body(class);
            }
        }
        uses.element
    }

    /// Whether another method assigns something else to the attribute. `None` and a call of the same function
    /// do not count: they do not show that a tuple is meant. The method that assigns the tuple is not checked
    /// here: in it, only later assignments count.
    fn is_replaced_in(&self, method: &Stmt) -> bool {
        if method.range().contains_range(self.tuple) {
            return false;
        }
        let all = statements(std::slice::from_ref(method), true);
        let harmless = all.into_iter().filter(|stmt| self.is_harmless(stmt)).count();
        expressions(method).into_iter().filter(|expr| is_store(expr, &self.path)).count() != harmless
    }

    fn is_harmless(&self, stmt: &Stmt) -> bool {
        let Stmt::Assign(assign) = stmt else { return false };
        let [target] = assign.targets.as_slice() else { return false };
        let is_same = || assign.value.as_call_expr().is_some_and(|call| path_of(&call.func) == self.callee);
        path_of(target) == self.path && (assign.value.is_none_literal_expr() || is_same())
    }
}

fn is_store(expr: &Expr, path: &[&str]) -> bool {
    !is_read(expr) && path_of(expr) == path
}

fn stores(stmt: &Stmt, path: &[&str]) -> bool {
    expressions(stmt).into_iter().any(|expr| is_store(expr, path))
}

/// The statements that follow the one at `at` in its block and in the blocks around it, up to the first block
/// that a `return`, `raise`, `break` or `continue` leaves. The other branches of an `if` are not among them.
fn following(block: &[Stmt], at: TextRange) -> Vec<&Stmt> {
    let Some(index) = block.iter().position(|stmt| stmt.range().contains_range(at)) else { return Vec::new() };
    let inner = block.get(index).map(blocks).unwrap_or_default();
    let mut found: Vec<&Stmt> = inner.into_iter().flat_map(|inner| following(inner, at)).collect();
    let leaves = |stmt: &&Stmt| matches!(stmt, Stmt::Return(_) | Stmt::Raise(_) | Stmt::Break(_) | Stmt::Continue(_));
    if !found.iter().any(leaves) {
        found.extend(block.get(index + 1..).unwrap_or_default());
    }
    found
}

fn used_as_tuple(body: &[Stmt], path: &[&str]) -> bool {
    let mut uses = Uses::of(path, true);
    uses.visit_body(body);
    uses.as_tuple
}

/// How code uses a variable.
struct Uses<'a, 's> {
    path: &'s [&'s str],
    /// Whether nested functions, classes and lambdas count. In these, the name may belong to another
    /// variable.
    definitions: bool,
    /// The first use that fails on a tuple.
    element: Option<&'a Expr>,
    as_tuple: bool,
}

impl<'s> Uses<'_, 's> {
    fn of(path: &'s [&'s str], definitions: bool) -> Self {
        Uses { path, definitions, element: None, as_tuple: false }
    }

    fn is(&self, expr: &Expr) -> bool {
        path_of(expr) == self.path
    }

    /// Whether a call gets the variable as an argument, directly or in a list.
    fn takes(&self, call: &ExprCall) -> bool {
        let keywords = call.arguments.keywords.iter().map(|keyword| &keyword.value);
        call.arguments.args.iter().chain(keywords).any(|argument| match argument {
            Expr::List(list) => list.elts.iter().any(|element| self.is(element)),
            other => self.is(other),
        })
    }

    fn is_use_as_element(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Call(call) => {
                let contains = called(call).is_some_and(|name| CONTAINERS.contains(&name)) && self.takes(call);
                self.is(&call.func) || contains
            }
            Expr::Attribute(attribute) => self.is(&attribute.value) && !is_of_tuples(attribute.attr.as_str()),
            _ => false,
        }
    }

    fn is_use_as_tuple(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Call(call) => called(call).is_some_and(|name| TAKE_TUPLES.contains(&name)) && self.takes(call),
            Expr::Attribute(attribute) => self.is(&attribute.value) && is_of_tuples(attribute.attr.as_str()),
            Expr::Subscript(subscript) => self.is(&subscript.value),
            Expr::Starred(starred) => self.is(&starred.value),
            Expr::YieldFrom(one) => self.is(&one.value),
            Expr::BinOp(operation) => self.is(&operation.left) || self.is(&operation.right),
            Expr::Compare(compare) => {
                let identity = compare.ops.iter().all(|op| matches!(op, CmpOp::Is | CmpOp::IsNot));
                !identity && (self.is(&compare.left) || compare.comparators.iter().any(|other| self.is(other)))
            }
            _ => false,
        }
    }
}

fn is_of_tuples(attribute: &str) -> bool {
    OF_TUPLES.contains(&attribute) || attribute.starts_with("__")
}

impl<'a> Visitor<'a> for Uses<'a, '_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        let unpacks = |target: &Expr| target.is_tuple_expr() || target.is_list_expr();
        self.as_tuple |= match stmt {
            Stmt::For(each) => self.is(&each.iter),
            Stmt::Assign(assign) => assign.targets.iter().any(unpacks) && self.is(&assign.value),
            Stmt::AugAssign(assign) => self.is(&assign.target) || self.is(&assign.value),
            _ => false,
        };
        if self.definitions || !matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) {
            walk_stmt(self, stmt);
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if !self.definitions && expr.is_lambda_expr() {
            return;
        }
        if self.element.is_none() && self.is_use_as_element(expr) {
            self.element = Some(expr);
        }
        self.as_tuple |= self.is_use_as_tuple(expr);
        walk_expr(self, expr);
    }

    fn visit_comprehension(&mut self, comprehension: &'a Comprehension) {
        self.as_tuple |= self.is(&comprehension.iter);
        walk_comprehension(self, comprehension);
    }
}
