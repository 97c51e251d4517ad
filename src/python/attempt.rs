//! `try`, and what its handlers do with the one exception after which nothing works any more.

use super::interp::Interp;
use super::library::Event;
use super::stmt::Flow;
use crate::syntax::ast::{ExceptHandler, ExceptHandlerExceptHandler, ExprCall, StmtTry};
use crate::syntax::{Expr, Stmt};
use crate::value::{Delta, Mark, Value, sym};

impl<'p> Interp<'p> {
    pub(super) fn exec_try(&mut self, stmt: &'p StmtTry) -> Flow {
        let mark = self.heap.mark();
        let only_imports = stmt.body.iter().all(|s| matches!(s, Stmt::Import(_) | Stmt::ImportFrom(_)));
        let since = self.observer.moments();
        let flow = self.exec_handled(stmt);
        // An exception may come anywhere in the body: handlers begin between its start and
        // where it got to.
        let reached = self.heap.delta(mark);
        let mut ends: Vec<Delta> = Vec::new();
        if flow == Flow::Next && self.exec_block(&stmt.orelse) == Flow::Next {
            ends.push(self.heap.delta(mark));
        }
        self.heap.undo(mark);
        self.undecided += 1;
        for handler in &stmt.handlers {
            let ExceptHandler::ExceptHandler(handler) = handler;
            self.heap.join(&[Delta::new(), reached.clone()], false);
            if let Some(ty) = &handler.type_ {
                self.eval(ty);
            }
            if let Some(name) = &handler.name {
                self.set_name(sym(name.as_str()), Value::Unknown);
            }
            // The default run is one in which the imports that it tries are there.
            if self.exec_block(&handler.body) == Flow::Next && !(only_imports && flow == Flow::Next) {
                ends.push(self.heap.delta(mark));
            }
            self.heap.undo(mark);
        }
        self.undecided -= 1;
        if self.observer.moments() != since {
            self.show_fatal(stmt, mark, &reached, since);
        }
        let alive = !ends.is_empty();
        if alive {
            self.heap.join(&ends, false);
        }
        self.heap.release(mark);
        let last = self.exec_block(&stmt.finalbody);
        if alive && last == Flow::Next { Flow::Next } else { Flow::Stopped }
    }

    /// Runs the handler that takes [`Library::fatal`] as if that had been raised, for the
    /// observer only: nothing of it is kept.
    fn show_fatal(&mut self, stmt: &'p StmtTry, mark: Mark, reached: &Delta, since: u32) {
        let in_loop = self.frames.last().is_some_and(|f| !f.loops.is_empty());
        if !in_loop || self.showing || self.speculative {
            return;
        }
        let (class, bases, message) = self.library.fatal();
        let takes = |it: &mut Self, handler: &'p ExceptHandlerExceptHandler| {
            let Some(ty) = &handler.type_ else { return Some(true) };
            let ty = it.eval(ty);
            let all = it.heap.exact_items(&ty).unwrap_or_else(|| vec![ty]);
            let one = |ty: &Value| {
                let path = ty.as_path()?;
                Some(path == class.as_str() || path.strip_prefix("builtins.").is_some_and(|n| bases.contains(&n)))
            };
            let all: Vec<Option<bool>> = all.iter().map(one).collect();
            if all.contains(&Some(true)) {
                Some(true)
            } else {
                all.into_iter().collect::<Option<Vec<_>>>().map(|_| false)
            }
        };
        for handler in &stmt.handlers {
            let ExceptHandler::ExceptHandler(handler) = handler;
            match takes(self, handler) {
                Some(true) => {}
                Some(false) => continue,
                // It may take it, or leave it to the next.
                None => return,
            }
            self.heap.join(&[Delta::new(), reached.clone()], false);
            if let Some(name) = &handler.name {
                let exception = self.heap.instance(Value::Path(class));
                self.heap.set_attr(exception, "args", Value::tuple(vec![Value::str(message)]));
                self.set_name(sym(name.as_str()), Value::Obj(exception));
            }
            let (before, raised) = (self.kept(), self.raised);
            (self.showing, self.imagining) = (true, true);
            let flow = self.exec_block(&handler.body);
            (self.showing, self.imagining) = (false, false);
            let after = self.kept();
            self.heap.undo(mark);
            self.drop_kept(before);
            let leaves = after.returns > before.returns || after.breaks > before.breaks || self.raised != raised;
            let goes_on = !leaves && (flow == Flow::Next || after.continues > before.continues);
            let (attempt, span) = (self.span(stmt), self.span(handler));
            return self.event(Event::Handled { attempt, handler: span, goes_on, since });
        }
    }

    /// Whether a call does not return: the program ends.
    pub(super) fn ends_program(&mut self, call: &'p ExprCall) -> bool {
        let name = match &*call.func {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(method) => method.attr.as_str(),
            _ => return false,
        };
        matches!(name, "exit" | "_exit" | "quit" | "abort")
            && matches!(self.eval(&call.func), Value::Path(path) if ENDS.contains(&path.as_str()))
    }
}

/// Functions that end the program.
const ENDS: &[&str] = &["sys.exit", "os._exit", "os.abort", "builtins.exit", "builtins.quit"];
