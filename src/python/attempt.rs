//! `try`, and the handling of a fatal exception: one after which the process can no longer use the
//! device.

use super::cadence::Cadence;
use super::context::Mode;
use super::interp::Interp;
use super::leave::{BlockKind, Catches, Leave};
use super::library::Event;
use super::stmt::Flow;
use crate::syntax::ast::visitor::{Visitor, walk_expr, walk_stmt};
use crate::syntax::ast::{self, ExceptHandler, ExceptHandlerExceptHandler, StmtTry};
use crate::syntax::{Expr, Stmt, path_of};
use crate::value::{Data, Delta, Journal, Mark, Value, sym};

impl<'p> Interp<'p> {
    pub(super) fn exec_try(&mut self, stmt: &'p StmtTry) -> Flow {
        if stmt.finalbody.is_empty() {
            return self.attempt(stmt);
        }
        let mark = self.heap.mark();
        self.heap.begin_journal();
        self.push_block(mark, BlockKind::Finally(&stmt.finalbody));
        let flow = self.attempt(stmt);
        self.pop_block();
        let journal = self.heap.end_journal();
        let raises = may_raise(&stmt.body) || may_raise(&stmt.orelse) || !stmt.handlers.is_empty();
        if !journal.is_empty() && raises {
            self.finally_after_exception(&stmt.finalbody, mark, flow, &journal);
        }
        self.heap.release(mark);
        // Paths that left the `try` have already run its `finally` block.
        if flow == Flow::Stopped {
            return flow;
        }
        // A line of the `finally` block that fails without an exception may succeed after one.
        let after_exception = has_raise(&stmt.body) || has_raise(&stmt.orelse);
        self.guessing(after_exception, |it| it.exec_block(&stmt.finalbody))
    }

    /// Runs a `finally` block as if an exception had been raised at an unknown place of its `try`
    /// statement, and propagated outwards. Afterwards, the state is restored.
    fn finally_after_exception(&mut self, body: &'p [Stmt], mark: Mark, flow: Flow, journal: &Journal) {
        let (outside, stopped) = (self.context, self.stopped);
        let (raised, uncaught) = (self.raised, self.uncaught);
        let end = self.heap.delta(mark);
        if flow == Flow::Stopped {
            // The changes of paths that left the block do not apply here.
            self.heap.undo(mark);
        }
        let inner = self.heap.mark();
        self.enter_side(outside, Cadence::Unclear);
        self.enter_arm(Cadence::Unclear);
        // A line that fails after an exception may succeed without one.
        self.context.guesses += 1;
        self.heap.blend_journal(journal);
        if self.exec_block(body) == Flow::Next {
            self.leave(Leave::Raise(Value::Unknown));
        }
        self.heap.undo(inner);
        self.heap.release(inner);
        self.leave_arm();
        if flow == Flow::Stopped {
            self.heap.join(&[end], false);
        }
        (self.context, self.stopped) = (outside, stopped);
        (self.raised, self.uncaught) = (raised, uncaught);
    }

    /// A `try` without its `finally`.
    fn attempt(&mut self, stmt: &'p StmtTry) -> Flow {
        if stmt.handlers.is_empty() || stmt.body.iter().all(ast::Stmt::is_pass_stmt) {
            let flow = self.exec_block(&stmt.body);
            return if flow == Flow::Next { self.exec_block(&stmt.orelse) } else { flow };
        }
        let mark = self.heap.mark();
        let only_imports = stmt.body.iter().all(|s| matches!(s, Stmt::Import(_) | Stmt::ImportFrom(_)));
        let since = (self.observer().moments(), self.heap.len());
        self.heap.begin_journal();
        let catches = match () {
            () if stmt.handlers.iter().any(takes_all) => Catches::All,
            () if stmt.handlers.iter().all(takes_outer) => Catches::Outer,
            () => Catches::Some,
        };
        let id = self.push_block(mark, BlockKind::Try(catches));
        let flow = self.exec_handled(stmt);
        self.pop_block();
        let journal = self.heap.end_journal();
        let reached = self.heap.delta(mark);
        let mut raised = self.take_exits(id);
        let mut ends: Vec<Delta> = Vec::new();
        // For a value with which a line here fails, the body may have raised.
        if flow == Flow::Next && self.guessing(true, |it| it.exec_block(&stmt.orelse)) == Flow::Next {
            ends.push(self.heap.delta(mark));
        }
        self.heap.undo(mark);
        if stmt.is_star {
            // The exceptions of a group may go to several handlers, one after the other.
            let mut entries = vec![Delta::new(), reached];
            entries.extend(raised.into_iter().map(|exit| exit.state));
            self.heap.join(&entries, false);
            self.heap.blend_journal(&journal);
            for handler in &stmt.handlers {
                let ExceptHandler::ExceptHandler(handler) = handler;
                self.perhaps(&mut |it| it.exec_block(&handler.body));
            }
            ends.push(self.heap.delta(mark));
            return if self.meet(mark, &ends) { Flow::Next } else { Flow::Stopped };
        }
        let outside = self.context;
        // A handler may not catch one of these exceptions, or an earlier handler may. But it may catch another exception
        // that was raised just before.
        let mut before: Vec<Delta> = vec![Delta::new(), reached.clone()];
        before.extend(raised.iter().filter(|exit| matches!(exit.how, Leave::Raise(_))).map(|exit| exit.state.clone()));
        for handler in &stmt.handlers {
            let ExceptHandler::ExceptHandler(handler) = handler;
            self.enter_side(outside, Cadence::Unclear);
            // The handler is often for other versions of a library.
            self.context.in_handler = true;
            if flow == Flow::Next && self.frames.len() == 1 {
                self.context.guesses = self.context.guesses.saturating_add(1);
            }
            raised.retain(|exit| {
                let Leave::Raise(exception) = &exit.how else { return false };
                self.takes(handler, exception) != Some(true)
            });
            // Other exceptions may be raised anywhere in the body.
            self.heap.join(&before, false);
            self.heap.blend_journal(&journal);
            if let Some(name) = &handler.name {
                self.set_name(sym(name.as_str()), Value::Unknown);
            }
            // If the `try` contains only imports, the modules are assumed to be installed, so the
            // handler's path does not continue.
            if self.exec_block(&handler.body) == Flow::Next && !(only_imports && flow == Flow::Next) {
                ends.push(self.heap.delta(mark));
            }
            self.heap.undo(mark);
        }
        self.context = outside;
        if self.observer().moments() != since.0 {
            self.show_fatal(stmt, &reached, since);
        }
        if self.meet(mark, &ends) { Flow::Next } else { Flow::Stopped }
    }

    /// Whether a handler catches an exception, given as an instance or a class.
    fn takes(&mut self, handler: &'p ExceptHandlerExceptHandler, exception: &Value) -> Option<bool> {
        let class = match self.heap.instance_of(exception) {
            Some(instance) => instance.class.clone(),
            None => exception.clone(),
        };
        let line: Vec<Value> = match &class {
            Value::Obj(id) if matches!(self.heap.get(*id), Data::Class(_)) => self.mro(*id).to_vec(),
            Value::Path(_) => vec![class.clone()],
            _ => Vec::new(),
        };
        self.any_type(handler, |it, ty| {
            if line.iter().any(|class| it.is_same(class, ty) == Some(true)) {
                return Some(true);
            }
            let builtin = line.iter().rev().find_map(Value::as_path)?.strip_prefix("builtins.")?;
            let Some(wanted) = ty.as_path().and_then(|path| path.strip_prefix("builtins.")) else {
                return matches!(ty, Value::Obj(_)).then_some(false);
            };
            Some(exceptions_above(builtin)?.contains(&wanted))
        })
    }

    /// Whether `one` is true for one of the exception types that a handler names; always true for a
    /// bare `except`, which catches every exception.
    fn any_type(
        &mut self,
        handler: &'p ExceptHandlerExceptHandler,
        one: impl Fn(&Self, &Value) -> Option<bool>,
    ) -> Option<bool> {
        let Some(ty) = &handler.type_ else { return Some(true) };
        let ty = self.eval(ty);
        let all = self.heap.exact_items(&ty).unwrap_or_else(|| vec![ty]);
        let all: Vec<Option<bool>> = all.iter().map(|ty| one(self, ty)).collect();
        if all.contains(&Some(true)) { Some(true) } else { all.into_iter().collect::<Option<Vec<_>>>().map(|_| false) }
    }

    /// For a `try` in a loop: runs the handler that catches the exception of
    /// [`Library::fatal`](super::Library::fatal), as if this exception had been raised. Only the
    /// observer sees this run: its effects are discarded.
    fn show_fatal(&mut self, stmt: &'p StmtTry, reached: &Delta, since: (u32, usize)) {
        let in_loop = self.frames.last().is_some_and(|f| f.loops().next().is_some());
        if !in_loop || !self.is_live() || self.context.speculative {
            return;
        }
        let (class, bases, message) = self.library.fatal();
        let is_fatal = |_: &Self, ty: &Value| {
            let path = ty.as_path()?;
            Some(path == class.as_str() || path.strip_prefix("builtins.").is_some_and(|n| bases.contains(&n)))
        };
        for handler in &stmt.handlers {
            let ExceptHandler::ExceptHandler(handler) = handler;
            match self.any_type(handler, is_fatal) {
                Some(true) => {}
                Some(false) => continue,
                // It is not known whether the handler catches the exception.
                None => return,
            }
            let goes_on = self.on_trial(Mode::Hypothetical, |it, _| {
                it.heap.join(&[Delta::new(), reached.clone()], false);
                if let Some(name) = &handler.name {
                    let exception = it.heap.instance(Value::Path(class));
                    it.heap.set_attr(exception, "args", Value::tuple(vec![Value::str(message)]));
                    it.set_name(sym(name.as_str()), Value::Obj(exception));
                }
                let (exits, raised) = (it.exits.len(), it.raised);
                let flow = it.exec_block(&handler.body);
                let left = it.exits.get(exits..).unwrap_or_default();
                let (goes_round, leaves): (Vec<_>, Vec<_>) =
                    left.iter().partition(|exit| matches!(exit.how, Leave::Continue));
                leaves.is_empty() && it.raised == raised && (flow == Flow::Next || !goes_round.is_empty())
            });
            let (handler, (since, objects)) = (self.span(handler), since);
            return self.event(Event::Handled { handler, goes_on, since, objects });
        }
    }

    /// Ends the path if the call ends the program; returns whether it does.
    pub(super) fn ends_program(&mut self, callee: &Value) -> bool {
        let ends = callee.as_path().is_some_and(|path| ENDS.contains(&path));
        if ends {
            let class = match callee.as_path() {
                // These raise no exception.
                Some("os._exit" | "os.abort") => None,
                _ => Some("builtins.SystemExit"),
            };
            match class {
                Some(class) => _ = self.leave(Leave::Raise(Value::path(class))),
                None => {
                    self.raised = self.raised.wrapping_add(1);
                    self.uncaught = self.uncaught.wrapping_add(1);
                }
            }
            self.stopped = true;
        }
        ends
    }
}

/// Functions that end the program.
const ENDS: &[&str] = &["sys.exit", "os._exit", "os.abort", "builtins.exit", "builtins.quit"];

/// Whether a block contains a `raise` statement.
fn has_raise(body: &[Stmt]) -> bool {
    struct Search(bool);
    impl<'a> Visitor<'a> for Search {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            match stmt {
                Stmt::Raise(_) => self.0 = true,
                Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
                _ => walk_stmt(self, stmt),
            }
        }
    }
    let mut search = Search(false);
    for stmt in body {
        search.visit_stmt(stmt);
    }
    search.0
}

/// Whether a block may raise an exception outside its `raise` statements.
pub(super) fn may_raise(body: &[Stmt]) -> bool {
    struct Raises(bool);
    impl<'a> Visitor<'a> for Raises {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            match stmt {
                Stmt::Raise(_) => {}
                Stmt::With(_) | Stmt::For(_) | Stmt::Assert(_) | Stmt::Delete(_) | Stmt::AugAssign(_) => self.0 = true,
                _ => walk_stmt(self, stmt),
            }
        }

        fn visit_expr(&mut self, expr: &'a Expr) {
            match expr {
                Expr::Name(_) | Expr::Lambda(_) => {}
                Expr::Tuple(_) | Expr::List(_) | Expr::Dict(_) => walk_expr(self, expr),
                _ => self.0 |= !expr.is_literal_expr(),
            }
        }
    }
    let mut raises = Raises(false);
    for stmt in body {
        raises.visit_stmt(stmt);
    }
    raises.0
}

/// Whether a handler catches every exception.
fn takes_all(handler: &ExceptHandler) -> bool {
    let ExceptHandler::ExceptHandler(handler) = handler;
    handler.type_.as_deref().is_none_or(|ty| matches!(ty, Expr::Name(name) if name.id.as_str() == "BaseException"))
}

/// Exceptions that no mistake in the code raises.
#[rustfmt::skip]
const OUTER: &[&str] = &[
    "BrokenPipeError", "CalledProcessError", "ConnectionError", "EOFError", "Empty", "FileNotFoundError", "Full",
    "IOError", "JSONDecodeError", "KeyboardInterrupt", "LinAlgError", "OSError", "OutOfMemoryError",
    "PermissionError", "StopIteration", "SystemExit", "TimeoutError", "UnicodeDecodeError",
];

/// Whether a handler catches only exceptions that come from outside the program.
fn takes_outer(handler: &ExceptHandler) -> bool {
    fn is_outer(exception: &Expr) -> bool {
        match exception {
            Expr::Tuple(all) => all.elts.iter().all(is_outer),
            one => path_of(one).last().is_some_and(|name| OUTER.contains(name)),
        }
    }
    let ExceptHandler::ExceptHandler(handler) = handler;
    handler.type_.as_deref().is_some_and(is_outer)
}

/// A builtin exception and its base classes.
fn exceptions_above(name: &str) -> Option<&'static [&'static str]> {
    const EXCEPTIONS: &[&[&str]] = &[
        &["BaseException"],
        &["Exception", "BaseException"],
        &["ArithmeticError", "Exception", "BaseException"],
        &["AssertionError", "Exception", "BaseException"],
        &["AttributeError", "Exception", "BaseException"],
        &["FileNotFoundError", "OSError", "IOError", "Exception", "BaseException"],
        &["GeneratorExit", "BaseException"],
        &["ImportError", "Exception", "BaseException"],
        &["IndexError", "LookupError", "Exception", "BaseException"],
        &["KeyError", "LookupError", "Exception", "BaseException"],
        &["KeyboardInterrupt", "BaseException"],
        &["LookupError", "Exception", "BaseException"],
        &["MemoryError", "Exception", "BaseException"],
        &["ModuleNotFoundError", "ImportError", "Exception", "BaseException"],
        &["NameError", "Exception", "BaseException"],
        &["UnboundLocalError", "NameError", "Exception", "BaseException"],
        &["NotImplementedError", "RuntimeError", "Exception", "BaseException"],
        &["OSError", "IOError", "Exception", "BaseException"],
        &["OverflowError", "ArithmeticError", "Exception", "BaseException"],
        &["RuntimeError", "Exception", "BaseException"],
        &["StopIteration", "Exception", "BaseException"],
        &["SystemExit", "BaseException"],
        &["TypeError", "Exception", "BaseException"],
        &["ValueError", "Exception", "BaseException"],
        &["ZeroDivisionError", "ArithmeticError", "Exception", "BaseException"],
    ];
    EXCEPTIONS.iter().find(|line| line.first() == Some(&name)).copied()
}
