//! The places at which the statements of a scope bind names.

use crate::syntax::ast::visitor::{Visitor, walk_pattern};
use crate::syntax::ast::{self, ExceptHandler, Pattern};
use crate::syntax::{Expr, Ranged, Stmt, TextRange, TextSize, bound_by, captured, expressions, parts};

/// The names that the statements of a scope bind, each with a place: an assignment binds its targets at its end, other
/// statements at their beginning. `inside` holds all statements of the scope.
pub(super) fn places<'a>(body: &'a [Stmt], inside: &[&'a Stmt]) -> Vec<(&'a str, TextSize)> {
    let named = body.iter().flat_map(expressions).filter_map(|expr| expr.as_named_expr());
    let named = named.flat_map(|named| names_of(&named.target).map(|(name, _)| (name, named.start())));
    inside.iter().flat_map(|stmt| bound_at(stmt)).chain(named).collect()
}

fn bound_at(stmt: &Stmt) -> Vec<(&str, TextSize)> {
    let (at, names): (_, Vec<&str>) = match stmt {
        Stmt::Assign(assign) => (stmt.end(), names_in(&assign.targets)),
        Stmt::AnnAssign(assign) => (stmt.end(), names_in([&*assign.target])),
        Stmt::AugAssign(assign) => (stmt.end(), names_in([&*assign.target])),
        Stmt::For(each) => (stmt.start(), names_in([&*each.target])),
        Stmt::Delete(delete) => (stmt.start(), names_in(&delete.targets)),
        Stmt::With(with) => {
            (stmt.start(), names_in(with.items.iter().filter_map(|item| item.optional_vars.as_deref())))
        }
        Stmt::FunctionDef(def) => (stmt.start(), vec![def.name.as_str()]),
        Stmt::ClassDef(def) => (stmt.start(), vec![def.name.as_str()]),
        Stmt::Import(ast::StmtImport { names, .. }) | Stmt::ImportFrom(ast::StmtImportFrom { names, .. }) => {
            (stmt.start(), names.iter().map(bound_by).collect())
        }
        Stmt::Try(attempt) => {
            let names = attempt.handlers.iter().filter_map(|ExceptHandler::ExceptHandler(one)| one.name.as_ref());
            (stmt.start(), names.map(ast::Identifier::as_str).collect())
        }
        Stmt::Match(one) => {
            let mut captured = Captured(Vec::new());
            one.cases.iter().for_each(|case| captured.visit_pattern(&case.pattern));
            (stmt.start(), captured.0)
        }
        _ => return Vec::new(),
    };
    names.into_iter().map(|name| (name, at)).collect()
}

fn names_in<'a>(targets: impl IntoIterator<Item = &'a Expr>) -> Vec<&'a str> {
    targets.into_iter().flat_map(names_of).map(|(name, _)| name).collect()
}

/// The names that an assignment to a target binds, with their places in the text.
pub(super) fn names_of(target: &Expr) -> impl Iterator<Item = (&str, TextRange)> {
    parts(target).into_iter().filter(|part| is_stored(part)).filter_map(|part| {
        let name = part.as_name_expr()?;
        Some((name.id.as_str(), name.range()))
    })
}

pub(super) fn is_stored(expr: &Expr) -> bool {
    match expr {
        Expr::Name(name) => !name.ctx.is_load(),
        Expr::Attribute(attribute) => !attribute.ctx.is_load(),
        _ => false,
    }
}

/// The names that patterns bind.
struct Captured<'a>(Vec<&'a str>);

impl<'a> Visitor<'a> for Captured<'a> {
    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        self.0.extend(captured(pattern));
        walk_pattern(self, pattern);
    }
}
