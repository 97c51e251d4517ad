//! The code of called functions that no path has reached: an arm of a condition that the arguments
//! of all calls, or the defaults of options, decide.

use rustc_hash::FxHashSet;

use super::interp::{Body, Interp};
use crate::syntax::ast::StmtFunctionDef;
use crate::syntax::{Expr, FileId, Ranged, Span, Stmt, TextRange, expressions, statements};

/// The places of the root file that the run has reached.
#[derive(Debug, Default)]
pub(super) struct Reached {
    /// Statements, and the operands and arms that some evaluations of an expression skip.
    places: FxHashSet<TextRange>,
    /// The names of the functions that the program called, where they are defined.
    called: FxHashSet<TextRange>,
}

/// The code of called functions that no path has reached.
#[derive(Debug, Default)]
pub(crate) struct Skipped {
    /// The names of the functions, where they are defined.
    pub functions: FxHashSet<TextRange>,
    places: Vec<Span>,
}

impl Skipped {
    /// Whether no path has reached a place in a called function.
    pub(crate) fn contains(&self, place: Span) -> bool {
        let covers = |span: &Span| span.file == place.file && span.start <= place.start && place.end <= span.end;
        self.places.iter().any(covers)
    }
}

impl Interp<'_> {
    /// Records that the run has reached a place.
    pub(super) fn reach(&mut self, place: &impl Ranged) {
        if self.is_live() && self.frames.last().is_some_and(|frame| frame.file == self.root) {
            self.reached.places.insert(place.range());
        }
    }

    /// Records which functions of the root file the program has called until now.
    pub(super) fn record_called(&mut self) {
        for id in &self.executed {
            let Some(code) = self.code.get(id.0 as usize) else { continue };
            if let (Body::Function(def), true) = (code.body, code.file == self.root) {
                self.reached.called.insert(def.name.range());
            }
        }
    }

    /// The code that no path has reached, in the functions that the program called.
    pub(crate) fn skipped(&self) -> Skipped {
        let mut skipped = Skipped::default();
        for stmt in statements(&self.sources.module(self.root).body, true) {
            let Stmt::FunctionDef(def) = stmt else { continue };
            if self.reached.called.contains(&def.name.range()) {
                self.reached.add_skipped(def, self.root, &mut skipped);
            }
        }
        skipped
    }
}

impl Reached {
    fn add_skipped(&self, def: &StmtFunctionDef, file: FileId, skipped: &mut Skipped) {
        let mut add = |place: TextRange| {
            if !self.places.contains(&place) {
                skipped.functions.insert(def.name.range());
                skipped.places.push(Span { file, start: place.start().to_u32(), end: place.end().to_u32() });
            }
        };
        statements(&def.body, false).into_iter().filter(|stmt| !is_short(stmt)).for_each(|stmt| add(stmt.range()));
        for expr in def.body.iter().flat_map(expressions) {
            match expr {
                Expr::BoolOp(e) => e.values.iter().skip(1).for_each(|operand| add(operand.range())),
                Expr::If(e) => [&e.body, &e.orelse].iter().for_each(|arm| add(arm.range())),
                _ => {}
            }
        }
    }
}

/// Whether a statement does so little that it is not worth another run.
fn is_short(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Return(s) => s.value.as_deref().is_none_or(|value| value.is_literal_expr() || value.is_name_expr()),
        Stmt::Raise(_) | Stmt::Pass(_) | Stmt::Continue(_) | Stmt::Break(_) => true,
        _ => false,
    }
}
