//! Code that no path has reached, although the program runs the code around it: arms of conditions that are
//! decided by the arguments of all calls, or by the defaults of options.

use rustc_hash::FxHashSet;

use super::interp::{Body, Interp};
use crate::syntax::{Expr, FileId, Ranged, Span, Stmt, TextRange, blocks, expressions, statements};

/// The places of the root file that the run has reached.
#[derive(Debug, Default)]
pub(super) struct Reached {
    /// Statements, and the operands and arms that some evaluations of an expression skip.
    places: FxHashSet<TextRange>,
    /// The functions that the program called. Each is given as the range of its name in its definition.
    called: FxHashSet<TextRange>,
}

/// The code of called functions, and of the module itself, that no path has reached.
#[derive(Debug, Default)]
pub(crate) struct Skipped {
    /// The called functions with such code. Each is given as the range of its name in its definition.
    pub functions: FxHashSet<TextRange>,
    places: Vec<Span>,
}

impl Skipped {
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether a place is in this code.
    pub(crate) fn contains(&self, place: Span) -> bool {
        self.places.iter().any(|span| span.contains(place))
    }
}

impl Interp<'_> {
    /// Records that the run has reached a place.
    pub(super) fn reach(&mut self, place: &impl Ranged) {
        if self.frames.last().is_some_and(|frame| frame.file == self.root) {
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

    /// The code that no path has reached, in the module and in the functions that the program called.
    pub(crate) fn skipped(&self) -> Skipped {
        let mut skipped = Skipped::default();
        let body = &self.sources.module(self.root).body;
        self.reached.add_skipped(body, self.root, &mut skipped);
        for stmt in statements(body, true) {
            let Stmt::FunctionDef(def) = stmt else { continue };
            if self.reached.called.contains(&def.name.range())
                && self.reached.add_skipped(&def.body, self.root, &mut skipped)
            {
                skipped.functions.insert(def.name.range());
            }
        }
        skipped
    }
}

impl Reached {
    /// Adds the code of a body that no path has reached; returns whether there is any.
    fn add_skipped(&self, body: &[Stmt], file: FileId, skipped: &mut Skipped) -> bool {
        let mut places = Vec::new();
        self.add_arms(body, &mut places);
        skipped.places.extend(places.iter().map(|place| Span::new(file, *place)));
        !places.is_empty()
    }

    /// Adds the arms of conditions in a block that no path has reached, except arms that do very little.
    /// Code after a statement at which every path ended is left out: perhaps no arguments lead to it.
    fn add_arms(&self, block: &[Stmt], places: &mut Vec<TextRange>) {
        for stmt in block {
            if !self.places.contains(&stmt.range()) {
                return;
            }
            let inner =
                if matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) { Vec::new() } else { blocks(stmt) };
            let begin = inner.iter().filter_map(|arm| arm.first()).map(|first| first.start()).min();
            for arm in inner {
                let (Some(first), Some(last)) = (arm.first(), arm.last()) else { continue };
                if self.places.contains(&first.range()) {
                    self.add_arms(arm, places);
                } else if !stmt.is_try_stmt() && !arm.iter().all(is_short) {
                    places.push(TextRange::new(first.start(), last.end()));
                }
            }
            let is_own = |expr: &&Expr| begin.is_none_or(|begin| expr.end() <= begin);
            for expr in expressions(stmt).into_iter().filter(is_own) {
                let arms: Vec<TextRange> = match expr {
                    Expr::BoolOp(e) => e.values.iter().skip(1).map(Ranged::range).collect(),
                    Expr::If(e) => vec![e.body.range(), e.orelse.range()],
                    _ => continue,
                };
                places.extend(arms.into_iter().filter(|arm| !self.places.contains(arm)));
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
