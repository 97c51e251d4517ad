//! Which statements of a module bind which names.

use ruff_python_ast::{self as ast, Expr, Stmt};
use rustc_hash::{FxHashMap, FxHashSet};

use super::search::statements;

/// The top-level statements of a module, by the names that they bind or change. With them, the
/// meaning of one name can be found without running the whole module.
#[derive(Debug, Default)]
pub(crate) struct Bindings {
    names: FxHashMap<Box<str>, Vec<Place>>,
    /// The indices of the statements `from module import *`.
    pub stars: Vec<u32>,
    /// Some block, such as `try:`, contains `from module import *`.
    pub has_inner_star: bool,
    /// The names that a `global` statement declares, or that the file sets as `globals()["name"]`.
    pub globals: FxHashSet<Box<str>>,
    /// There is code under `if __name__ == "__main__"`: the module may be run as a script.
    pub is_main: bool,
}

/// A statement at the top of a module, by its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Place {
    Stmt(u32),
    /// An import that only type checkers read: the index of the `if TYPE_CHECKING:` statement, and
    /// the index in its body.
    Typing(u32, u32),
}

/// The name in a target `globals()["name"]`.
fn set_by_name(target: &Expr) -> Option<Box<str>> {
    let subscript = target.as_subscript_expr()?;
    let call = subscript.value.as_call_expr()?;
    let is_globals = call.func.as_name_expr().is_some_and(|name| name.id.as_str() == "globals");
    Some(subscript.slice.as_string_literal_expr().filter(|_| is_globals)?.value.to_str().into())
}

impl Bindings {
    pub(crate) fn of(body: &[Stmt]) -> Bindings {
        let mut all = Bindings::default();
        for (index, stmt) in (0..).zip(body) {
            if is_star(stmt) {
                all.stars.push(index);
            }
            all.is_main |= matches!(stmt, Stmt::If(test) if asks_for_main(&test.test));
            all.add(stmt, Place::Stmt(index));
        }
        all.has_inner_star = statements(body, false).into_iter().filter(|stmt| is_star(stmt)).count() > all.stars.len();
        for stmt in statements(body, true) {
            match stmt {
                Stmt::Global(global) => all.globals.extend(global.names.iter().map(|name| Box::from(name.as_str()))),
                Stmt::Assign(assign) => all.globals.extend(assign.targets.iter().filter_map(set_by_name)),
                _ => {}
            }
        }
        // Imports for type checkers are used only if nothing else binds the name.
        for (index, stmt) in (0..).zip(body) {
            if let Stmt::If(test) = stmt
                && is_type_checking(&test.test)
            {
                for (inner, stmt) in (0..).zip(&test.body) {
                    all.add_typing(stmt, Place::Typing(index, inner));
                }
            }
        }
        all
    }

    /// The statements that bind or change a name, in order.
    pub(crate) fn of_name(&self, name: &str) -> &[Place] {
        self.names.get(name).map_or(&[], Vec::as_slice)
    }

    /// All names, in the order of the statements that bind them first.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let mut all: Vec<(&Place, &str)> =
            self.names.iter().filter_map(|(name, places)| Some((places.first()?, &**name))).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, name)| name)
    }

    fn add_typing(&mut self, stmt: &Stmt, place: Place) {
        let mut bind = |name: &str| {
            self.names.entry(name.into()).or_insert_with(|| vec![place]);
        };
        match stmt {
            Stmt::Import(import) => bound_by_import(import, &mut bind),
            Stmt::ImportFrom(import) => bound_by_import_from(import, &mut bind),
            _ => {}
        }
    }

    fn add(&mut self, stmt: &Stmt, place: Place) {
        let mut bind = |name: &str| {
            let places = self.names.entry(name.into()).or_default();
            if places.last() != Some(&place) {
                places.push(place);
            }
        };
        bound(stmt, &mut bind);
    }
}

fn bound_by_import(import: &ast::StmtImport, bind: &mut dyn FnMut(&str)) {
    import.names.iter().for_each(|alias| bind(bound_by(alias)));
}

fn bound_by_import_from(import: &ast::StmtImportFrom, bind: &mut dyn FnMut(&str)) {
    import.names.iter().for_each(|alias| bind(bound_by(alias)));
}

/// The name that a part of an import statement binds: `a` for `import a.b`.
pub(crate) fn bound_by(alias: &ast::Alias) -> &str {
    match &alias.asname {
        Some(name) => name.as_str(),
        None => alias.name.split('.').next().unwrap_or_default(),
    }
}

/// One module or name that an import statement imports.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Imported<'a> {
    /// The module's dotted name; empty for `from . import x`.
    pub module: &'a str,
    /// The number of dots of a relative import.
    pub level: u32,
    /// The name after `from … import`.
    pub name: Option<&'a str>,
}

/// Whether some import statement, at any place, imports something for which `wanted` returns true.
pub(crate) fn imports<'a>(body: &'a [Stmt], wanted: &mut dyn FnMut(Imported<'a>) -> bool) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Import(import) => {
            import.names.iter().any(|alias| wanted(Imported { module: &alias.name, level: 0, name: None }))
        }
        Stmt::ImportFrom(import) => {
            let module = import.module.as_ref().map_or("", |module| module.as_str());
            import.names.iter().any(|alias| wanted(Imported { module, level: import.level, name: Some(&alias.name) }))
        }
        Stmt::FunctionDef(def) => imports(&def.body, wanted),
        Stmt::ClassDef(def) => imports(&def.body, wanted),
        Stmt::If(test) => {
            imports(&test.body, wanted) || test.elif_else_clauses.iter().any(|clause| imports(&clause.body, wanted))
        }
        Stmt::For(each) => imports(&each.body, wanted) || imports(&each.orelse, wanted),
        Stmt::While(each) => imports(&each.body, wanted) || imports(&each.orelse, wanted),
        Stmt::With(with) => imports(&with.body, wanted),
        Stmt::Try(attempt) => {
            let mut handled = attempt.handlers.iter().map(|ast::ExceptHandler::ExceptHandler(handler)| &handler.body);
            imports(&attempt.body, wanted)
                || handled.any(|body| imports(body, wanted))
                || imports(&attempt.orelse, wanted)
                || imports(&attempt.finalbody, wanted)
        }
        Stmt::Match(choice) => choice.cases.iter().any(|case| imports(&case.body, wanted)),
        _ => false,
    })
}

fn asks_for_main(test: &Expr) -> bool {
    matches!(test, Expr::Compare(compare) if matches!(&*compare.left, Expr::Name(name) if name.id.as_str() == "__name__"))
}

/// Whether a statement is `from module import *`.
fn is_star(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::ImportFrom(import) if import.names.iter().any(|alias| alias.name.as_str() == "*"))
}

/// Whether a condition is true only for type checkers.
pub(super) fn is_type_checking(test: &Expr) -> bool {
    match test {
        Expr::Name(name) => name.id.as_str() == "TYPE_CHECKING",
        Expr::Attribute(attribute) => attribute.attr.as_str() == "TYPE_CHECKING",
        _ => false,
    }
}

/// Collects the names that a statement binds in its own scope, or whose objects it changes.
fn bound(stmt: &Stmt, bind: &mut dyn FnMut(&str)) {
    match stmt {
        Stmt::FunctionDef(def) => bind(def.name.as_str()),
        Stmt::ClassDef(def) => bind(def.name.as_str()),
        Stmt::Assign(assign) => assign.targets.iter().for_each(|target| bound_by_target(target, bind)),
        Stmt::AugAssign(assign) => bound_by_target(&assign.target, bind),
        Stmt::AnnAssign(assign) => bound_by_target(&assign.target, bind),
        Stmt::TypeAlias(alias) => bound_by_target(&alias.name, bind),
        Stmt::Delete(delete) => delete.targets.iter().for_each(|target| bound_by_target(target, bind)),
        Stmt::Import(import) => bound_by_import(import, bind),
        Stmt::ImportFrom(import) => bound_by_import_from(import, bind),
        // `names.update(…)`
        Stmt::Expr(expr) => {
            if let Expr::Call(call) = &*expr.value
                && let Expr::Attribute(method) = &*call.func
            {
                bound_by_target(&method.value, bind);
            }
        }
        Stmt::If(test) => {
            if !is_type_checking(&test.test) {
                all_bound(&test.body, bind);
            }
            test.elif_else_clauses.iter().for_each(|clause| all_bound(&clause.body, bind));
        }
        Stmt::For(each) => {
            bound_by_target(&each.target, bind);
            all_bound(&each.body, bind);
            all_bound(&each.orelse, bind);
        }
        Stmt::While(each) => {
            all_bound(&each.body, bind);
            all_bound(&each.orelse, bind);
        }
        Stmt::With(with) => {
            for item in &with.items {
                if let Some(target) = &item.optional_vars {
                    bound_by_target(target, bind);
                }
            }
            all_bound(&with.body, bind);
        }
        Stmt::Try(attempt) => {
            all_bound(&attempt.body, bind);
            for handler in &attempt.handlers {
                let ast::ExceptHandler::ExceptHandler(handler) = handler;
                all_bound(&handler.body, bind);
            }
            all_bound(&attempt.orelse, bind);
            all_bound(&attempt.finalbody, bind);
        }
        Stmt::Match(choice) => choice.cases.iter().for_each(|case| all_bound(&case.body, bind)),
        _ => {}
    }
}

fn all_bound(body: &[Stmt], bind: &mut dyn FnMut(&str)) {
    for stmt in body {
        bound(stmt, bind);
    }
}

fn bound_by_target(target: &Expr, bind: &mut dyn FnMut(&str)) {
    match target {
        Expr::Name(name) => bind(name.id.as_str()),
        Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
            for target in elts {
                bound_by_target(target, bind);
            }
        }
        Expr::Starred(starred) => bound_by_target(&starred.value, bind),
        // `names["key"] = …` changes `names`.
        Expr::Attribute(attribute) => bound_by_target(&attribute.value, bind),
        Expr::Subscript(subscript) => bound_by_target(&subscript.value, bind),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::{Bindings, Place};

    #[test]
    fn finds_the_statements_that_bind_a_name() {
        let text = "\
from typing import TYPE_CHECKING
import a.b
NAMES = {}
NAMES['x'] = 1
def f(): inner = 1
if TYPE_CHECKING:
    from .model import Model, f
else:
    first, *rest = f()
try:
    import c as d
except ImportError:
    d = None
NAMES.update(y=2)
";
        let parsed = crate::syntax::parse(text, false);
        let all = Bindings::of(&parsed.module.body);
        assert_eq!(all.of_name("NAMES"), [Place::Stmt(2), Place::Stmt(3), Place::Stmt(7)]);
        assert_eq!(all.of_name("a"), [Place::Stmt(1)]);
        assert_eq!(all.of_name("d"), [Place::Stmt(6)]);
        assert_eq!(all.of_name("rest"), [Place::Stmt(5)]);
        assert_eq!(all.of_name("f"), [Place::Stmt(4)]);
        assert_eq!(all.of_name("Model"), [Place::Typing(5, 0)]);
        assert!(all.of_name("inner").is_empty());
    }
}
