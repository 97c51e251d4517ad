//! The writes of a function's body to outer objects, read from its syntax.

use super::interp::Body;
use crate::syntax::ast::visitor::{Visitor, walk_expr, walk_stmt};
use crate::syntax::ast::{self, Parameters};
use crate::syntax::{Expr, Stmt, bound_by};
use crate::value::{Sym, sym};

/// A name, and the attributes that are read from it: `self.cache`.
pub(super) type Place = Vec<Sym>;

/// A call in a function's body, and those of its arguments that are places.
pub(super) struct Called {
    pub callee: Place,
    /// The result of the callee is called: `callee()(…)`.
    pub is_result: bool,
    pub positional: Vec<Option<Place>>,
    pub named: Vec<(Sym, Place)>,
}

/// The writes of a function's body to outer objects.
#[derive(Default)]
pub(super) struct Writes {
    /// The positional parameters.
    pub positional: Vec<Sym>,
    /// `nonlocal` names, with false, and `global` names, with true.
    pub rebound: Vec<(Sym, bool)>,
    /// The function's local names.
    pub own: Vec<Sym>,
    /// `place.name = …`
    pub attributes: Vec<(Place, Sym)>,
    /// `setattr(place, …)`, `delattr(place, …)`
    pub open: Vec<Place>,
    /// `place[…] = …`, `place.append(…)`
    pub contents: Vec<Place>,
    /// `name(…)`, `place.method(…)`
    pub calls: Vec<Called>,
    /// Names that are arguments of calls: a function of this name may be called.
    pub passed: Vec<Sym>,
    /// `return place`
    pub returned: Vec<Place>,
    /// `await`, `async for`, `async with`
    pub waits: bool,
}

/// Methods of containers and strings that do not change the receiver.
pub(super) const READ_ONLY: &[&str] =
    &["get", "items", "keys", "values", "index", "count", "copy", "join", "format", "split"];

fn place_of(expr: &Expr) -> Option<Place> {
    match expr {
        Expr::Name(name) => Some(vec![sym(name.id.as_str())]),
        Expr::Attribute(e) => {
            let mut place = place_of(&e.value)?;
            place.push(sym(e.attr.as_str()));
            Some(place)
        }
        // A write to an element's contents is recorded as a write to the container.
        Expr::Subscript(e) => place_of(&e.value),
        _ => None,
    }
}

impl Writes {
    pub(super) fn of(body: Body<'_>) -> Writes {
        let mut writes = Writes::default();
        match body {
            Body::Function(def) => {
                writes.visit_body(&def.body);
                writes.of_parameters(&def.parameters);
            }
            Body::Lambda(lambda) => {
                writes.visit_expr(&lambda.body);
                if let Some(parameters) = lambda.parameters.as_deref() {
                    writes.of_parameters(parameters);
                }
            }
            Body::Class(_) | Body::Expression(_) => {}
        }
        writes.own.retain(|own| !writes.rebound.iter().any(|(name, _)| name == own));
        writes
    }

    /// The writes of a block inside a function; `own` contains the names that the block binds.
    pub(super) fn of_block(body: &[Stmt]) -> Writes {
        let mut writes = Writes::default();
        writes.visit_body(body);
        writes
    }

    fn of_parameters(&mut self, parameters: &Parameters) {
        let positional = parameters.posonlyargs.iter().chain(&parameters.args);
        self.positional = positional.map(|p| sym(p.parameter.name.as_str())).collect();
        self.parameters(parameters);
    }

    fn target(&mut self, target: &Expr) {
        match target {
            Expr::Name(name) => self.own.push(sym(name.id.as_str())),
            Expr::Attribute(e) => {
                if let Some(place) = place_of(&e.value) {
                    self.attributes.push((place, sym(e.attr.as_str())));
                }
            }
            Expr::Subscript(e) => self.contents.extend(place_of(&e.value)),
            Expr::Starred(e) => self.target(&e.value),
            Expr::Tuple(e) => e.elts.iter().for_each(|e| self.target(e)),
            Expr::List(e) => e.elts.iter().for_each(|e| self.target(e)),
            _ => {}
        }
    }

    fn parameters(&mut self, parameters: &Parameters) {
        self.own.extend(parameters.iter().map(|p| sym(p.name().as_str())));
    }

    fn call(&mut self, call: &ast::ExprCall) {
        let given = || call.arguments.args.iter().chain(call.arguments.keywords.iter().map(|k| &k.value));
        self.passed.extend(given().filter_map(|arg| arg.as_name_expr()).map(|name| sym(name.id.as_str())));
        let mut places = given().filter_map(place_of);
        match &*call.func {
            Expr::Attribute(method) => {
                // `x.__setattr__(name, value)` and `object.__setattr__(x, name, value)`.
                if matches!(method.attr.as_str(), "__setattr__" | "__delattr__") {
                    self.open.extend(place_of(&method.value).into_iter().chain(places.next()));
                }
                if let Some(place) = place_of(&method.value)
                    && !READ_ONLY.contains(&method.attr.as_str())
                {
                    self.contents.push(place);
                }
            }
            Expr::Name(name) if matches!(name.id.as_str(), "setattr" | "delattr") => {
                self.open.extend(places.next());
                return;
            }
            _ => {}
        }
        let (is_result, func) = match &*call.func {
            Expr::Call(inner) => (true, &inner.func),
            _ => (false, &call.func),
        };
        if let Some(callee) = place_of(func).filter(|_| !func.is_subscript_expr()) {
            let named = call.arguments.keywords.iter();
            self.calls.push(Called {
                callee,
                is_result,
                positional: call.arguments.args.iter().map(place_of).collect(),
                named: named.filter_map(|k| Some((sym(k.arg.as_deref()?), place_of(&k.value)?))).collect(),
            });
        }
    }
}

impl<'a> Visitor<'a> for Writes {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assign(s) => s.targets.iter().for_each(|t| self.target(t)),
            Stmt::AugAssign(s) => {
                // This is an in-place write if the value of the target is an array or a list.
                self.contents.extend(place_of(&s.target));
                self.target(&s.target);
            }
            Stmt::AnnAssign(s) => self.target(&s.target),
            Stmt::Return(s) => self.returned.extend(s.value.as_deref().and_then(place_of)),
            Stmt::Delete(s) => s.targets.iter().for_each(|t| self.target(t)),
            Stmt::For(s) => {
                self.waits |= s.is_async;
                self.target(&s.target);
            }
            Stmt::With(s) => {
                self.waits |= s.is_async;
                s.items.iter().filter_map(|i| i.optional_vars.as_deref()).for_each(|t| self.target(t));
            }
            Stmt::Nonlocal(s) => self.rebound.extend(s.names.iter().map(|n| (sym(n.as_str()), false))),
            Stmt::Global(s) => self.rebound.extend(s.names.iter().map(|n| (sym(n.as_str()), true))),
            Stmt::FunctionDef(s) => {
                self.own.push(sym(s.name.as_str()));
                self.parameters(&s.parameters);
            }
            Stmt::ClassDef(s) => self.own.push(sym(s.name.as_str())),
            Stmt::Import(ast::StmtImport { names, .. }) | Stmt::ImportFrom(ast::StmtImportFrom { names, .. }) => {
                self.own.extend(names.iter().map(|alias| sym(bound_by(alias))));
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Call(call) => self.call(call),
            Expr::Await(_) => self.waits = true,
            Expr::Named(e) => self.target(&e.target),
            Expr::Lambda(e) => {
                if let Some(parameters) = e.parameters.as_deref() {
                    self.parameters(parameters);
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}
