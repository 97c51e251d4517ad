//! Where the names and the attributes of a file get their values, according to its syntax.

use rustc_hash::FxHashMap;

use crate::syntax::ast::visitor::{Visitor, walk_stmt};
use crate::syntax::ast::{self, StmtFunctionDef};
use crate::syntax::{Expr, Ranged as _, Stmt, bound_by};

/// What binds a name.
#[derive(Debug, Clone, Copy)]
pub(super) enum From<'p> {
    /// The name, or a part of the target that contains it, is assigned this value.
    Value(&'p Expr),
    /// An element of this value, in a loop.
    Element(&'p Expr),
    Parameter(&'p StmtFunctionDef),
    /// The top-level module of an import.
    Import(&'p str),
    /// A function or class of the file, or something that has no value of interest.
    Definition,
}

/// A binding, at the offset of its name.
#[derive(Debug, Clone, Copy)]
struct Binding<'p> {
    at: u32,
    from: From<'p>,
}

/// A function or the module; classes are a part of the scope around them.
#[derive(Debug)]
struct Scope<'p> {
    start: u32,
    end: u32,
    names: FxHashMap<&'p str, Vec<Binding<'p>>>,
}

/// The definitions of a file.
#[derive(Debug)]
pub(super) struct Definitions<'p> {
    /// The scopes in the order in which they begin. The first one is the module.
    scopes: Vec<Scope<'p>>,
    /// The values that the file assigns to attributes of `self`, by name.
    attributes: FxHashMap<&'p str, &'p Expr>,
    /// The scope of the statements that are being read.
    current: usize,
}

impl<'p> Definitions<'p> {
    pub(super) fn of(body: &'p [Stmt]) -> Definitions<'p> {
        let module = Scope { start: 0, end: u32::MAX, names: FxHashMap::default() };
        let mut found = Definitions { scopes: vec![module], attributes: FxHashMap::default(), current: 0 };
        found.visit_body(body);
        found
    }

    /// What a name at this offset refers to: the last binding before it in the innermost function
    /// that binds it, or else the first one after it.
    pub(super) fn of_name(&self, name: &str, at: u32) -> Option<From<'p>> {
        let mut around = self.scopes.iter().rev().filter(|scope| (scope.start..=scope.end).contains(&at));
        let bindings = around.find_map(|scope| scope.names.get(name))?;
        let before = bindings.iter().rev().find(|binding| binding.at < at);
        before.or(bindings.first()).map(|binding| binding.from)
    }

    /// What the assigned name at this offset gets.
    pub(super) fn assigned(&self, name: &str, at: u32) -> Option<From<'p>> {
        let all = self.scopes.iter().filter_map(|scope| scope.names.get(name)).flatten();
        all.into_iter().find(|binding| binding.at == at).map(|binding| binding.from)
    }

    /// A value that the file assigns to `self.name`.
    pub(super) fn of_attribute(&self, name: &str) -> Option<&'p Expr> {
        self.attributes.get(name).copied()
    }

    fn bind(&mut self, name: &'p str, at: u32, from: From<'p>) {
        if let Some(scope) = self.scopes.get_mut(self.current) {
            scope.names.entry(name).or_default().push(Binding { at, from });
        }
    }

    fn target(&mut self, target: &'p Expr, from: From<'p>) {
        match target {
            Expr::Name(name) => self.bind(&name.id, name.start().to_u32(), from),
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                for element in elts {
                    self.target(element, from);
                }
            }
            Expr::Starred(starred) => self.target(&starred.value, from),
            Expr::Attribute(attribute) => {
                let of_self = attribute.value.as_name_expr().is_some_and(|name| name.id.as_str() == "self");
                if let (true, From::Value(value)) = (of_self, from) {
                    self.attributes.entry(&attribute.attr).or_insert(value);
                }
            }
            _ => {}
        }
    }

    fn function(&mut self, def: &'p StmtFunctionDef) {
        let range = def.range();
        let (start, end) = (range.start().to_u32(), range.end().to_u32());
        let outer = std::mem::replace(&mut self.current, self.scopes.len());
        self.scopes.push(Scope { start, end, names: FxHashMap::default() });
        for parameter in &*def.parameters {
            let name = parameter.name();
            self.bind(name.as_str(), name.start().to_u32(), From::Parameter(def));
        }
        self.visit_body(&def.body);
        self.current = outer;
    }
}

impl<'p> Visitor<'p> for Definitions<'p> {
    fn visit_stmt(&mut self, stmt: &'p Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => {
                self.bind(&def.name, def.name.start().to_u32(), From::Definition);
                self.function(def);
                return;
            }
            Stmt::ClassDef(def) => self.bind(&def.name, def.name.start().to_u32(), From::Definition),
            Stmt::Assign(assign) => {
                assign.targets.iter().for_each(|target| self.target(target, From::Value(&assign.value)));
            }
            Stmt::AugAssign(assign) => self.target(&assign.target, From::Value(&assign.value)),
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.target(&assign.target, From::Value(value));
                }
            }
            Stmt::For(each) => self.target(&each.target, From::Element(&each.iter)),
            Stmt::With(with) => {
                for item in &with.items {
                    if let Some(target) = &item.optional_vars {
                        self.target(target, From::Value(&item.context_expr));
                    }
                }
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    let top = alias.name.split('.').next().unwrap_or_default();
                    self.bind(bound_by(alias), alias.start().to_u32(), From::Import(top));
                }
            }
            Stmt::ImportFrom(import) => {
                let module = import.module.as_ref().filter(|_| import.level == 0);
                let top = module.and_then(|module| module.as_str().split('.').next());
                for alias in &import.names {
                    let from = top.map_or(From::Definition, From::Import);
                    self.bind(bound_by(alias), alias.start().to_u32(), from);
                }
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'p Expr) {
        if let Expr::Named(named) = expr {
            self.target(&named.target, From::Value(&named.value));
        }
        ast::visitor::walk_expr(self, expr);
    }

    fn visit_comprehension(&mut self, comprehension: &'p ast::Comprehension) {
        self.target(&comprehension.target, From::Element(&comprehension.iter));
        ast::visitor::walk_comprehension(self, comprehension);
    }
}
