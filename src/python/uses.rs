//! How a function uses its parameters, according to its syntax. Uses that occur in every run can
//! determine the type of a parameter's value.

use crate::syntax::ast::visitor::{Visitor, walk_expr};
use crate::syntax::{Expr, Stmt, calls, path_of};

/// How a function uses the object that a parameter holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Use<'p> {
    /// An attribute that is read.
    Attribute(&'p str),
    /// A method that is called, and the number of its arguments.
    Method(&'p str, usize),
    /// A method that is called with the argument `dim=…`, which is not a string: `x.mean(dim=1)`.
    MethodOverDim,
    /// An operand of arithmetic whose other operand is `self.name`.
    Operand,
    /// The first argument of the function at this path: `F.relu(x)`.
    Argument(Vec<&'p str>),
}

/// The uses, in every run of a body, of the object that a name refers to at the start of the body. Each
/// `for` loop is assumed to have an iteration.
pub(super) fn uses<'p>(body: &'p [Stmt], name: &str) -> Vec<Use<'p>> {
    let mut found = Uses { name, all: Vec::new() };
    found.block(body);
    found.all
}

struct Uses<'p, 'n> {
    name: &'n str,
    all: Vec<Use<'p>>,
}

impl<'p> Uses<'p, '_> {
    /// Reads the statements of a block. Returns whether the statements after the block are read,
    /// too: every run reaches them, and the name still has the same value.
    fn block(&mut self, body: &'p [Stmt]) -> bool {
        body.iter().all(|stmt| self.statement(stmt))
    }

    fn statement(&mut self, stmt: &'p Stmt) -> bool {
        match stmt {
            Stmt::Expr(s) => self.visit_expr(&s.value),
            Stmt::Assign(s) => {
                self.visit_expr(&s.value);
                return !s.targets.iter().any(|target| self.binds(target));
            }
            Stmt::AnnAssign(s) => {
                s.value.iter().for_each(|value| self.visit_expr(value));
                return !self.binds(&s.target);
            }
            Stmt::AugAssign(s) => {
                self.visit_expr(&s.value);
                return !self.binds(&s.target);
            }
            Stmt::Return(s) => {
                s.value.iter().for_each(|value| self.visit_expr(value));
                return false;
            }
            Stmt::Assert(s) => self.visit_expr(&s.test),
            // A condition on the object may distinguish kinds of objects. The attributes that are read
            // after it do not determine the type then, and those that it reads never do.
            Stmt::If(s) => return !distinguishes(&s.test, self.name) && !assigned(stmt, self.name),
            Stmt::For(s) => {
                self.visit_expr(&s.iter);
                // A loop is assumed to have a first iteration.
                if !self.binds(&s.target) {
                    self.block(&s.body);
                }
                return !assigned(stmt, self.name);
            }
            Stmt::With(s) => {
                s.items.iter().for_each(|item| self.visit_expr(&item.context_expr));
                return self.block(&s.body) && !assigned(stmt, self.name);
            }
            Stmt::Pass(_) | Stmt::Import(_) | Stmt::ImportFrom(_) | Stmt::FunctionDef(_) => {}
            _ => return false,
        }
        true
    }

    fn binds(&self, target: &Expr) -> bool {
        match target {
            Expr::Name(name) => name.id.as_str() == self.name,
            Expr::Tuple(tuple) => tuple.elts.iter().any(|target| self.binds(target)),
            Expr::List(list) => list.elts.iter().any(|target| self.binds(target)),
            Expr::Starred(starred) => self.binds(&starred.value),
            _ => false,
        }
    }
}

impl<'p> Visitor<'p> for Uses<'p, '_> {
    fn visit_expr(&mut self, expr: &'p Expr) {
        let own = |value: &Expr| matches!(value, Expr::Name(name) if name.id.as_str() == self.name);
        match expr {
            Expr::Call(call) => {
                if let Expr::Attribute(method) = &*call.func
                    && own(&method.value)
                {
                    self.all.push(Use::Method(method.attr.as_str(), call.arguments.len()));
                    // xarray names its dimensions.
                    let dim = call.arguments.find_keyword("dim").map(|keyword| &keyword.value);
                    self.all.extend(dim.filter(|dim| !dim.is_string_literal_expr()).map(|_| Use::MethodOverDim));
                }
                if call.arguments.args.first().is_some_and(own) {
                    let mut path = path_of(&call.func);
                    // A method of a result: `torch.rand(3).type_as(x)`
                    if let (true, Expr::Attribute(method)) = (path.is_empty(), &*call.func) {
                        path.push(method.attr.as_str());
                    }
                    self.all.push(Use::Argument(path));
                }
                walk_expr(self, expr);
            }
            Expr::Attribute(attribute) => {
                if own(&attribute.value) {
                    self.all.push(Use::Attribute(attribute.attr.as_str()));
                }
                walk_expr(self, expr);
            }
            Expr::BinOp(e) => {
                if own(&e.left) && is_of_self(&e.right) || own(&e.right) && is_of_self(&e.left) {
                    self.all.push(Use::Operand);
                }
                walk_expr(self, expr);
            }
            // Of these expressions, only the first operand or the condition is always evaluated.
            Expr::BoolOp(e) => e.values.iter().take(1).for_each(|first| self.visit_expr(first)),
            Expr::If(e) => self.visit_expr(&e.test),
            Expr::Lambda(_)
            | Expr::ListComp(_)
            | Expr::SetComp(_)
            | Expr::DictComp(_)
            | Expr::Generator(_)
            | Expr::Named(_) => {}
            _ => walk_expr(self, expr),
        }
    }
}

/// Whether a condition may distinguish kinds of objects that `name` refers to: it mentions the name
/// other than as in `name.ndim` and `len(name)`.
fn distinguishes(test: &Expr, name: &str) -> bool {
    struct Mentions<'n> {
        name: &'n str,
        found: bool,
    }
    impl<'e> Visitor<'e> for Mentions<'_> {
        fn visit_expr(&mut self, expr: &'e Expr) {
            let is_own = |value: &Expr| matches!(value, Expr::Name(name) if name.id.as_str() == self.name);
            match expr {
                Expr::Attribute(attribute) if is_own(&attribute.value) => {}
                Expr::Call(call) if path_of(&call.func) == ["len"] && call.arguments.args.iter().all(is_own) => {}
                Expr::Name(_) => self.found |= is_own(expr),
                _ => walk_expr(self, expr),
            }
        }
    }
    let mut mentions = Mentions { name, found: false };
    mentions.visit_expr(test);
    mentions.found
}

/// Whether an expression is `self.name`.
fn is_of_self(expr: &Expr) -> bool {
    let owner = expr.as_attribute_expr().and_then(|attribute| attribute.value.as_name_expr());
    owner.is_some_and(|owner| owner.id.as_str() == "self")
}

/// Whether a body uses the value of a name as a dictionary, whatever the name's annotation is.
pub(super) fn is_mapping(body: &[Stmt], name: &str) -> bool {
    struct Mapping<'n> {
        name: &'n str,
        found: bool,
    }
    impl<'p> Visitor<'p> for Mapping<'_> {
        fn visit_expr(&mut self, expr: &'p Expr) {
            let own = |value: &Expr| value.as_name_expr().is_some_and(|name| name.id.as_str() == self.name);
            self.found |= match expr {
                Expr::Subscript(s) => own(&s.value) && matches!(&*s.slice, Expr::StringLiteral(_) | Expr::FString(_)),
                Expr::Attribute(a) => own(&a.value) && matches!(a.attr.as_str(), "items" | "keys" | "get" | "update"),
                _ => false,
            };
            walk_expr(self, expr);
        }
    }
    let mut mapping = Mapping { name, found: false };
    mapping.visit_body(body);
    mapping.found
}

/// Whether a body calls the value of a name, whatever the name's annotation is.
pub(super) fn is_called(body: &[Stmt], name: &str) -> bool {
    let mut callees = body.iter().flat_map(calls).filter_map(|call| call.func.as_name_expr());
    callees.any(|callee| callee.id.as_str() == name)
}

/// Whether a statement, or one inside it, rebinds the name.
fn assigned(stmt: &Stmt, name: &str) -> bool {
    struct Assigned<'n> {
        name: &'n str,
        found: bool,
    }
    impl<'p> Visitor<'p> for Assigned<'_> {
        fn visit_expr(&mut self, expr: &'p Expr) {
            if let Expr::Name(name) = expr {
                self.found |= name.ctx.is_store() && name.id.as_str() == self.name;
            }
            walk_expr(self, expr);
        }
    }
    let mut assigned = Assigned { name, found: false };
    assigned.visit_stmt(stmt);
    assigned.found
}

#[cfg(test)]
mod tests {
    use super::{Use, uses};
    use crate::syntax::{Stmt, parse};

    fn read(body: &str) -> String {
        let text: String =
            std::iter::once("def f(x):\n".to_owned()).chain(body.lines().map(|line| format!("    {line}\n"))).collect();
        let parsed = parse(&text, false);
        let Some(Stmt::FunctionDef(function)) = parsed.module.body.first() else { return "no function".to_owned() };
        let found = uses(&function.body, "x");
        found
            .iter()
            .filter_map(|one| match one {
                Use::Attribute(name) => Some((*name).to_owned()),
                Use::Method(name, _) => Some(format!("{name}()")),
                Use::MethodOverDim => Some("(dim)".to_owned()),
                Use::Operand => Some("(operand)".to_owned()),
                Use::Argument(path) if path.len() > 1 => Some("(functional)".to_owned()),
                Use::Argument(_) => None,
            })
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn what_every_run_reads_is_told() {
        assert_eq!(read("y = x.view(x.shape[0], -1)\nz = x.mean()"), "view() view shape mean() mean");
        assert_eq!(read("for a in b:\n    a.step()\nreturn x.t()"), "t() t");
        assert_eq!(read("with g():\n    y = x.t()"), "t() t");
        assert_eq!(read("for a in b:\n    y = torch.sum(x)\n    x = y\n    x.t()"), "(functional)");
    }

    #[test]
    fn uses_as_an_argument_or_operand_are_told() {
        assert_eq!(read("y = F.relu(x) - self.mean\nz = x * self.scale"), "(functional) (operand)");
        assert_eq!(read("y = f(x) - x * 2\nz = F.relu(y, x)"), "");
    }

    #[test]
    fn what_only_some_runs_read_is_not() {
        assert_eq!(read("if a:\n    x.t()\ny = b and x.u()"), "");
        assert_eq!(read("if x is None:\n    return\nx.t()"), "");
        assert_eq!(read("if a:\n    x = b(x)\nx.t()"), "");
        assert_eq!(read("x = b(x)\nx.t()"), "");
        assert_eq!(read("y = [x.t() for z in w]\ny = x.u() if a else 1"), "");
    }
}
