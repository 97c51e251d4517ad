//! `with`: context managers of libraries and of the program, and generators of `@contextmanager`.

use std::rc::Rc;

use super::Args;
use super::attempt::may_raise;
use super::generator::Consumer;
use super::interp::Interp;
use super::leave::{BlockKind, Catches, Exit, Leave};
use super::library::{RejectKind, Rejection};
use super::stmt::Flow;
use crate::syntax::ast::StmtWith;
use crate::syntax::{Expr, Span, Stmt, is_method_call, statements};
use crate::value::{Delta, Value, sym};

impl<'p> Interp<'p> {
    pub(super) fn exec_with(&mut self, stmt: &'p StmtWith) -> Flow {
        self.with_items(stmt, 0)
    }

    /// Enters the managers from index `at` on, and runs the body.
    fn with_items(&mut self, stmt: &'p StmtWith, at: usize) -> Flow {
        let Some(item) = stmt.items.get(at) else { return self.exec_block(&stmt.body) };
        if let Expr::BoolOp(both) = &item.context_expr
            && both.op.is_and()
            && both.values.iter().all(Expr::is_call_expr)
            && !both.values.iter().any(sets_mode)
        {
            let span = self.span(both);
            // The line does not fail.
            let message = "`and` gives only the last context manager, and the others are never entered: separate them \
                           with commas"
                .to_owned();
            let (kind, assumed) = (RejectKind::Arguments, Some("in every run"));
            self.suspect(Rejection { kind, message, reads: Vec::new(), span, assumed, of_python: true });
        }
        let awaited = self.awaits_exception(&item.context_expr);
        let span = self.span(&item.context_expr);
        let manager = self.eval(&item.context_expr);
        if self.stopped {
            return Flow::Stopped;
        }
        let inside = move |it: &mut Self, value: Value| {
            if let Some(target) = &item.optional_vars {
                it.assign(target, value);
            }
            it.with_items(stmt, at + 1)
        };
        if self.heap.suspended(&manager).is_some() {
            return self.inside_generator(&manager, span, Rc::new(inside));
        }
        let value = self.enter_manager(&manager, span);
        if awaited {
            return self.suppressing(&mut |it| it.raising(|it| inside(it, value.clone())));
        }
        self.managed(manager, may_raise(&stmt.body), &mut |it| inside(it, value.clone()))
    }

    /// Runs a body inside a manager that was entered. `may_raise` is false if no part of the body,
    /// except `raise` statements, can raise an exception.
    pub(super) fn managed(&mut self, manager: Value, may_raise: bool, body: &mut dyn FnMut(&mut Self) -> Flow) -> Flow {
        let user = self.heap.instance_of(&manager).is_some_and(|i| i.class.as_obj().is_some());
        let mark = self.heap.mark();
        if user {
            self.heap.begin_journal();
        }
        let id = self.push_block(mark, BlockKind::With(manager.clone()));
        let flow = if self.may_suppress(&manager) { self.raising(|it| body(it)) } else { body(self) };
        self.pop_block();
        let mut ends: Vec<Delta> = Vec::new();
        if user {
            let journal = self.heap.end_journal();
            let reached = self.heap.delta(mark);
            let suppressed = self.take_exits(id);
            let passes = flow == Flow::Next || !suppressed.is_empty();
            if flow == Flow::Next {
                self.exit_manager(&manager, false);
            }
            // `__exit__` itself may raise.
            let raised = std::mem::take(&mut self.stopped);
            if flow == Flow::Next && !raised {
                ends.push(self.heap.delta(mark));
            }
            if passes && may_raise {
                // The manager may suppress exceptions, so the body may have ended anywhere.
                self.heap.undo(mark);
                self.heap.join(&[Delta::new(), reached], false);
                self.heap.blend_journal(&journal);
                let suppresses = self.exit_manager(&manager, true) != Some(false);
                if suppresses && !std::mem::take(&mut self.stopped) {
                    ends.push(self.heap.delta(mark));
                }
            }
            ends.extend(suppressed.into_iter().map(|exit| exit.state));
            if self.meet(mark, &ends) { Flow::Next } else { Flow::Stopped }
        } else {
            self.heap.release(mark);
            if flow == Flow::Next {
                self.exit_manager(&manager, false);
            }
            flow
        }
    }

    /// Whether the `__exit__` of a manager of the program returns a value, so that it may suppress exceptions.
    fn may_suppress(&self, manager: &Value) -> bool {
        let Some(exit) = self.method_def(manager, "__exit__") else { return false };
        let returned = statements(&exit.body, false).into_iter().filter_map(Stmt::as_return_stmt);
        returned.filter_map(|stmt| stmt.value.as_deref()).any(|value| match value {
            Expr::BooleanLiteral(flag) => flag.value,
            value => !value.is_none_literal_expr(),
        })
    }

    /// Runs the body of a `with` statement if an exception may end the body at any point, as in
    /// `with suppress(…)` and `with pytest.raises(…)`.
    fn suppressing(&mut self, body: &mut dyn FnMut(&mut Self) -> Flow) -> Flow {
        let mark = self.heap.mark();
        self.heap.begin_journal();
        let id = self.push_block(mark, BlockKind::Try(Catches::Some));
        let flow = body(self);
        self.pop_block();
        let journal = self.heap.end_journal();
        let reached = self.heap.delta(mark);
        let mut ends: Vec<Delta> = self.take_exits(id).into_iter().map(|exit| exit.state).collect();
        self.heap.undo(mark);
        self.heap.join(&[Delta::new(), reached.clone()], false);
        self.heap.blend_journal(&journal);
        ends.push(self.heap.delta(mark));
        if flow == Flow::Next {
            ends.push(reached);
        }
        if self.meet(mark, &ends) { Flow::Next } else { Flow::Stopped }
    }

    /// Runs a body at the `yield` of a generator. On every exit from the body, the generator
    /// continues.
    fn inside_generator(&mut self, manager: &Value, span: Span, body: Consumer<'p>) -> Flow {
        let mark = self.heap.mark();
        let id = self.push_block(mark, BlockKind::Resumes);
        let left: Rc<std::cell::RefCell<Vec<Option<Leave>>>> = Rc::default();
        let ways = left.clone();
        let flow = self.drive(
            manager,
            span,
            Rc::new(move |it: &mut Self, value: Value| {
                let round = it.heap.mark();
                it.set_innermost_mark(round);
                let flow = body(it, value);
                let exits = it.take_exits(id);
                let mut ends: Vec<Delta> = Vec::new();
                if flow == Flow::Next {
                    ways.borrow_mut().push(None);
                    ends.push(it.heap.delta(round));
                }
                for Exit { how, state, .. } in exits {
                    match how {
                        // The exception is raised at the `yield` of the generator.
                        Leave::Raise(exception) => {
                            it.heap.undo(round);
                            it.heap.apply(&state);
                            if it.raise_in_waiting(exception) {
                                ways.borrow_mut().push(None);
                            }
                        }
                        how => {
                            ways.borrow_mut().push(Some(how));
                            ends.push(state);
                        }
                    }
                }
                if it.meet(round, &ends) { Flow::Next } else { Flow::Stopped }
            }),
        );
        self.pop_block();
        self.heap.release(mark);
        let ways = left.take();
        if flow == Flow::Stopped {
            return flow;
        }
        let goes_on = ways.is_empty() || ways.iter().any(Option::is_none);
        for how in ways.into_iter().flatten() {
            let mark = self.heap.mark();
            self.leave(how);
            self.heap.undo(mark);
            self.heap.release(mark);
        }
        if goes_on { Flow::Next } else { Flow::Stopped }
    }

    pub(crate) fn enter_manager(&mut self, manager: &Value, span: Span) -> Value {
        let library = self.library;
        if let Some(value) = library.enter(self, manager, span) {
            return value;
        }
        for name in ["__enter__", "__aenter__"] {
            if let Some(enter) = self.try_getattr(manager, sym(name), span) {
                let value = self.call(&enter, Args::default(), span);
                return if name == "__aenter__" { self.awaited(&value) } else { value };
            }
        }
        Value::Unknown
    }

    /// Ends the block of a manager; returns whether the manager suppresses the exception that ends
    /// the block.
    pub(crate) fn exit_manager(&mut self, manager: &Value, raised: bool) -> Option<bool> {
        let library = self.library;
        library.exit(self, manager);
        let (method, is_async) = match self.user_method(manager, "__exit__") {
            Some(method) => (method, false),
            None => match self.user_method(manager, "__aexit__") {
                Some(method) => (method, true),
                None => return Some(false),
            },
        };
        let span = self.function().unwrap_or(Span { file: self.file(), start: 0, end: 0 });
        let given = if raised { Value::Unknown } else { Value::None };
        let args = [manager.clone(), given.clone(), given.clone(), given];
        // The method runs at every exit from the block: a call that fails at one exit may succeed
        // at another.
        let in_doubt = std::mem::replace(&mut self.context.in_doubt, true);
        let value = self.call(&method, Args::positional(args, span), span);
        let value = if is_async { self.awaited(&value) } else { value };
        self.context.in_doubt = in_doubt;
        self.truth(&value)
    }
}

/// Whether an expression is `model.eval()` or `model.train()`, which is no context manager and has done its work.
fn sets_mode(expr: &Expr) -> bool {
    expr.as_call_expr().is_some_and(|call| is_method_call(call, "eval") || is_method_call(call, "train"))
}
