//! Statements.

use super::Args;
use super::interp::Interp;
use super::leave::Leave;
use super::library::Event;
use crate::syntax::ast;
use crate::syntax::{Expr, Stmt};
use crate::value::{Type, Value, sym};

/// Whether execution continues after a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    /// This path ended with `return`, `break`, `continue` or an exception: see [`super::leave`].
    Stopped,
}

impl<'p> Interp<'p> {
    pub(super) fn exec_block(&mut self, body: &'p [Stmt]) -> Flow {
        for stmt in body {
            if self.exec(stmt) == Flow::Stopped {
                return Flow::Stopped;
            }
        }
        Flow::Next
    }

    pub(super) fn exec(&mut self, stmt: &'p Stmt) -> Flow {
        if std::mem::take(&mut self.stopped) {
            return Flow::Stopped;
        }
        if !self.step() {
            return Flow::Next;
        }
        self.reach(stmt);
        let before = self.before();
        let flow = self.exec_stmt(stmt);
        if std::mem::take(&mut self.stopped) {
            return Flow::Stopped;
        }
        // After a statement that certainly raises, the execution continues in the handler.
        let simple =
            matches!(stmt, Stmt::Expr(_) | Stmt::Assign(_) | Stmt::AugAssign(_) | Stmt::AnnAssign(_) | Stmt::Return(_));
        let raises = simple && self.surely_rejected(before);
        if flow == Flow::Next && raises && self.frames.last().is_some_and(|frame| frame.handling > 0) {
            // A handler of this function catches the exception, so the caller continues.
            self.refused_in.0 = u32::MAX;
            return self.leave(Leave::Raise(Value::Unknown));
        }
        flow
    }

    fn exec_stmt(&mut self, stmt: &'p Stmt) -> Flow {
        match stmt {
            Stmt::Expr(s) => {
                let value = self.eval(&s.value);
                if let Expr::Call(call) = &*s.value {
                    let span = self.span(call);
                    self.event(Event::Discarded { call: span, value: &value });
                }
            }
            // The parser has guessed the value.
            Stmt::Assign(s) if self.sources.is_broken(self.span(s)) => {
                for target in &s.targets {
                    self.assign(target, Value::Unknown);
                }
            }
            Stmt::Assign(s) => self.assign_stmt(s),
            Stmt::AugAssign(s) => self.aug_assign(s),
            Stmt::AnnAssign(s) => self.annotated_assign(s),
            Stmt::FunctionDef(s) => self.define_function(s),
            Stmt::ClassDef(s) => self.define_class(s),
            Stmt::Return(s) => {
                let value = s.value.as_ref().map_or(Value::None, |v| self.eval_kept(v));
                return if self.stopped { Flow::Stopped } else { self.leave(Leave::Return(value)) };
            }
            Stmt::If(s) => return self.exec_if(s),
            Stmt::For(s) => return self.looping(&s.body, |it| it.exec_for(s)),
            Stmt::While(s) => return self.looping(&s.body, |it| it.exec_while(s)),
            Stmt::With(s) => return self.exec_with(s),
            Stmt::Try(s) => return self.exec_try(s),
            Stmt::Match(s) => return self.exec_match(s),
            Stmt::Raise(s) => {
                let mut exception = s.exc.as_ref().map_or(Value::Unknown, |exc| self.eval(exc));
                // `raise ValueError(…)`: handlers need only the class.
                if let (true, Some(Expr::Call(call))) = (exception.is_unknown(), s.exc.as_deref()) {
                    exception = self.eval(&call.func);
                }
                return if self.stopped { Flow::Stopped } else { self.leave(Leave::Raise(exception)) };
            }
            Stmt::Assert(s) => {
                let truth = self.condition(&s.test);
                if truth == Some(false) {
                    return self.leave(Leave::Raise(Value::path("builtins.AssertionError")));
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
            Stmt::Break(_) => return self.leave(Leave::Break),
            Stmt::Continue(_) => return self.leave(Leave::Continue),
            Stmt::IpyEscapeCommand(s) => self.magic(s),
            Stmt::TypeAlias(_) | Stmt::Pass(_) => {}
        }
        Flow::Next
    }

    /// Runs `%env NAME=value` in a notebook.
    fn magic(&mut self, stmt: &'p ast::StmtIpyEscapeCommand) {
        let Some((name, value)) = stmt.value.strip_prefix("env ").and_then(|rest| rest.split_once(['=', ' '])) else {
            return;
        };
        // `$NAME` and `{NAME}` stand for variables of the notebook.
        let value = if value.contains(['$', '{']) { Value::Any(Type::Str) } else { Value::str(value.trim()) };
        let span = self.span(stmt);
        let args = Args::positional([Value::str(name.trim()), value], span);
        self.call_function("os.environ.__setitem__", &args, span);
    }
}
