//! Statements.

use super::cadence::Cadence;
use super::interp::Interp;
use super::library::Event;
use crate::syntax::ast::{self, ModModule, StmtIf, StmtWith};
use crate::syntax::{Expr, Stmt};
use crate::value::{Data, Value, sym};

/// Whether execution goes on after a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    /// This path returned, raised, broke out or continued; what it left behind is kept
    /// where it will be joined.
    Stopped,
}

impl<'p> Interp<'p> {
    pub(super) fn exec_module(&mut self, module: &'p ModModule) {
        self.exec_block(&module.body);
    }

    pub(super) fn exec_block(&mut self, body: &'p [Stmt]) -> Flow {
        for stmt in body {
            if self.exec(stmt) == Flow::Stopped {
                return Flow::Stopped;
            }
        }
        Flow::Next
    }

    pub(super) fn exec(&mut self, stmt: &'p Stmt) -> Flow {
        if !self.step() {
            return Flow::Next;
        }
        match stmt {
            Stmt::Expr(s) => {
                let value = self.eval(&s.value);
                if let Expr::Call(call) = &*s.value {
                    let span = self.span(call);
                    self.event(Event::Discarded { call: span, value: &value });
                    if self.ends_program(call) {
                        self.raised = self.raised.wrapping_add(1);
                        return Flow::Stopped;
                    }
                }
            }
            Stmt::Assign(s) => self.assign_stmt(s),
            Stmt::AugAssign(s) => self.aug_assign(s),
            Stmt::AnnAssign(s) => {
                if let Some(value) = &s.value {
                    let value = self.eval(value);
                    self.assign(&s.target, value);
                } else if let Expr::Name(name) = &*s.target {
                    self.note_field(sym(name.id.as_str()));
                }
                if let (Some(_), Expr::Name(name)) = (&s.value, &*s.target) {
                    self.note_field(sym(name.id.as_str()));
                }
            }
            Stmt::FunctionDef(s) => self.define_function(s),
            Stmt::ClassDef(s) => self.define_class(s),
            Stmt::Return(s) => {
                let value = s.value.as_ref().map_or(Value::None, |v| self.eval(v));
                self.leave_withs(0);
                self.keep_return(value);
                return Flow::Stopped;
            }
            Stmt::If(s) => return self.exec_if(s),
            Stmt::For(s) => return self.exec_for(s),
            Stmt::While(s) => return self.exec_while(s),
            Stmt::With(s) => return self.exec_with(s),
            Stmt::Try(s) => return self.exec_try(s),
            Stmt::Match(s) => return self.exec_match(s),
            Stmt::Raise(s) => {
                if let Some(exc) = &s.exc {
                    self.eval(exc);
                }
                self.raised = self.raised.wrapping_add(1);
                return Flow::Stopped;
            }
            Stmt::Assert(s) => {
                if self.condition(&s.test) == Some(false) {
                    return Flow::Stopped;
                }
                self.assume(&s.test, true);
            }
            Stmt::Import(s) => self.import(s),
            Stmt::ImportFrom(s) => self.import_from(s),
            Stmt::Global(s) => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.globals.extend(s.names.iter().map(|n| sym(n.as_str())));
                }
            }
            Stmt::Nonlocal(s) => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.nonlocals.extend(s.names.iter().map(|n| sym(n.as_str())));
                }
            }
            Stmt::Delete(s) => {
                for target in &s.targets {
                    self.delete(target);
                }
            }
            Stmt::Break(_) => {
                self.leave_loop(true);
                return Flow::Stopped;
            }
            Stmt::Continue(_) => {
                self.leave_loop(false);
                return Flow::Stopped;
            }
            Stmt::IpyEscapeCommand(s) => self.magic(s),
            Stmt::TypeAlias(_) | Stmt::Pass(_) => {}
        }
        Flow::Next
    }

    /// `%env NAME=value` in a notebook.
    fn magic(&mut self, stmt: &'p ast::StmtIpyEscapeCommand) {
        let Some((name, value)) = stmt.value.strip_prefix("env ").and_then(|rest| rest.split_once(['=', ' '])) else {
            return;
        };
        let (value, span) = (Value::str(value.trim()), self.span(stmt));
        self.event(Event::SetEnv { name: name.trim(), value: &value, span });
    }

    // Leaving.

    pub(super) fn keep_return(&mut self, value: Value) {
        let Some(mark) = self.frames.last().and_then(|f| f.mark) else { return };
        let delta = self.heap.delta(mark);
        if let Some(frame) = self.frames.last_mut() {
            frame.apart &= frame.arms.last() != Some(&Cadence::Unclear);
            frame.returns.push((delta, value));
        }
    }

    /// Runs the ends of the `with` blocks that are left, innermost first; they stay on the
    /// frame's list, for the other paths.
    pub(super) fn leave_withs(&mut self, down_to: usize) {
        let open: Vec<Value> =
            self.frames.last().map(|f| f.withs.iter().skip(down_to).rev().cloned().collect()).unwrap_or_default();
        for manager in open {
            self.exit_manager(&manager);
        }
    }

    // Branches.

    fn exec_if(&mut self, stmt: &'p StmtIf) -> Flow {
        let mut arms: Vec<(Option<&'p Expr>, &'p [Stmt])> = vec![(Some(&stmt.test), &stmt.body)];
        for clause in &stmt.elif_else_clauses {
            arms.push((clause.test.as_ref(), &clause.body));
        }
        self.exec_arms(&arms)
    }

    fn exec_arms(&mut self, arms: &[(Option<&'p Expr>, &'p [Stmt])]) -> Flow {
        let Some(((test, body), rest)) = arms.split_first() else { return Flow::Next };
        let Some(test) = test else { return self.exec_block(body) };
        match self.condition(test) {
            Some(true) => self.exec_block(body),
            Some(false) => self.exec_arms(rest),
            None => {
                let body: &'p [Stmt] = body;
                let rest: Vec<_> = rest.to_vec();
                let doubts = self.doubt(test);
                let cadence = self.cadence(test);
                let (mut left, mut right) = (Flow::Next, Flow::Next);
                let flow = self.branch(
                    cadence,
                    &mut [
                        &mut |it| {
                            it.assume(test, true);
                            left = it.exec_block(body);
                            left
                        },
                        &mut |it| {
                            it.assume(test, false);
                            right = it.exec_arms(&rest);
                            right
                        },
                    ],
                );
                if (left, right) == (Flow::Next, Flow::Next) {
                    self.settle(doubts);
                }
                flow
            }
        }
    }

    /// Runs each arm from the present state and joins those that go on.
    pub(super) fn branch(&mut self, cadence: Cadence, arms: &mut [&mut dyn FnMut(&mut Self) -> Flow]) -> Flow {
        let mark = self.heap.mark();
        let unsure = self.unsure;
        let mut ends = Vec::new();
        let count = arms.len();
        self.undecided += 1;
        for (at, arm) in arms.iter_mut().enumerate() {
            self.unsure = self.in_arm(unsure);
            self.enter_arm(if at == 0 { cadence } else { cadence.other() });
            if arm(self) == Flow::Next {
                ends.push(self.heap.delta(mark));
            }
            self.heap.undo(mark);
            self.leave_arm();
        }
        self.undecided -= 1;
        // Past `if …: return`, the rest of the function is the other side.
        self.unsure = if ends.len() < count { self.in_arm(unsure) } else { unsure };
        if !ends.is_empty() {
            self.heap.join_taken(&ends, false, cadence != Cadence::Unclear);
        }
        self.heap.release(mark);
        if ends.is_empty() { Flow::Stopped } else { Flow::Next }
    }

    // with.

    fn exec_with(&mut self, stmt: &'p StmtWith) -> Flow {
        let depth = self.frames.last().map_or(0, |f| f.withs.len());
        let awaited = stmt.items.iter().any(|item| self.awaits_exception(&item.context_expr));
        for item in &stmt.items {
            let span = self.span(&item.context_expr);
            let manager = self.eval(&item.context_expr);
            let value = self.enter_manager(&manager, span);
            if let Some(target) = &item.optional_vars {
                self.assign(target, value);
            }
            if let Some(frame) = self.frames.last_mut() {
                frame.withs.push(manager);
            }
        }
        let flow = if awaited { self.exec_raising(&stmt.body) } else { self.exec_block(&stmt.body) };
        if flow == Flow::Next {
            self.leave_withs(depth);
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.withs.truncate(depth);
        }
        flow
    }

    pub(super) fn enter_manager(&mut self, manager: &Value, span: crate::syntax::Span) -> Value {
        let library = self.library;
        if let Some(value) = library.enter(self, manager, span) {
            return value;
        }
        // A `@contextmanager` generator: what it yields.
        if let Some(Data::Iter(iter)) = manager.as_obj().map(|id| self.heap.get(id)) {
            let items = iter.items.clone();
            return items.element(&mut self.heap);
        }
        match self.try_getattr(manager, sym("__enter__"), span) {
            Some(enter) => self.call(&enter, super::Args::default(), span),
            None => Value::Unknown,
        }
    }

    pub(super) fn exit_manager(&mut self, manager: &Value) {
        let library = self.library;
        library.exit(self, manager);
    }
}
