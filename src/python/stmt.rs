//! Statements.

use super::interp::{Interp, Loop};
use super::library::Event;
use crate::syntax::ast::{
    self, ExceptHandler, ModModule, StmtAssign, StmtAugAssign, StmtFor, StmtIf, StmtTry, StmtWhile, StmtWith,
};
use crate::syntax::{Expr, Ranged, Stmt};
use crate::value::{Data, Delta, Items, ObjId, Sym, Value, sym};

/// Whether execution goes on after a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    /// This path returned, raised, broke out or continued; what it left behind is kept
    /// where it will be joined.
    Stopped,
}

/// A loop over this many known elements is run element by element.
const UNROLL: usize = 8;
/// … or over more, if the body is this short (in bytes of source).
const UNROLL_LONG: usize = 96;
const SHORT_BODY: u32 = 600;
/// … or over more still, if the body is shorter (lists that grow keep their length).
const UNROLL_LONGER: usize = 512;
const SHORTER_BODY: u32 = 120;
/// How often a loop's body is run before what still changes is taken as it is.
const MAX_ROUNDS: usize = 5;

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

    // Assignment.

    fn assign_stmt(&mut self, stmt: &'p StmtAssign) {
        let value = self.eval(&stmt.value);
        if let [Expr::Attribute(attribute)] = &*stmt.targets {
            let object = self.eval(&attribute.value);
            let (span, from) = (self.span(attribute), self.span(&*stmt.value));
            self.setattr_from(&object, sym(attribute.attr.as_str()), value, span, Some(from));
            return;
        }
        for target in &stmt.targets {
            self.assign(target, value.clone());
        }
    }

    pub(super) fn assign(&mut self, target: &'p Expr, value: Value) {
        match target {
            Expr::Name(name) => {
                let span = self.span(name);
                let observer = self.observer;
                observer.assigned(self, name.id.as_str(), &value, span);
                self.set_name(sym(name.id.as_str()), value);
            }
            Expr::Attribute(attribute) => {
                let object = self.eval(&attribute.value);
                let span = self.span(attribute);
                self.setattr(&object, sym(attribute.attr.as_str()), value, span);
            }
            Expr::Subscript(subscript) => {
                let object = self.eval(&subscript.value);
                let index = self.eval(&subscript.slice);
                let span = self.span(subscript);
                self.set_subscript(&object, &index, value, span);
            }
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                self.unpack(elts, &value);
            }
            Expr::Starred(starred) => self.assign(&starred.value, value),
            _ => {}
        }
    }

    fn unpack(&mut self, targets: &'p [Expr], value: &Value) {
        let star = targets.iter().position(Expr::is_starred_expr);
        if let Some(values) = self.unpack_shape(targets, value, star) {
            for (target, value) in targets.iter().zip(values) {
                self.assign(target, value);
            }
            return;
        }
        let at = targets.first().map(|t| self.span(t));
        let items = match at {
            Some(at) => self.iterate(value, at),
            None => Items::Many(Value::Unknown),
        };
        match (items, star) {
            (Items::Exact(values), None) if values.len() == targets.len() => {
                for (target, value) in targets.iter().zip(values) {
                    self.assign(target, value);
                }
            }
            (Items::Exact(mut values), Some(star)) if values.len() + 1 >= targets.len() => {
                let after = targets.len() - star - 1;
                let tail = values.split_off(values.len() - after);
                let middle = values.split_off(star);
                for (target, value) in targets.iter().zip(values) {
                    self.assign(target, value);
                }
                if let Some(target) = targets.get(star) {
                    let list = self.heap.list(middle);
                    self.assign(target, list);
                }
                for (target, value) in targets.iter().skip(star + 1).zip(tail) {
                    self.assign(target, value);
                }
            }
            (Items::Many(element), _) => {
                for target in targets {
                    let value = if target.is_starred_expr() {
                        Value::Obj(self.heap.alloc(Data::List(Items::Many(element.clone()))))
                    } else {
                        self.another(&element)
                    };
                    self.assign(target, value);
                }
            }
            _ => {
                for target in targets {
                    self.assign(target, Value::Unknown);
                }
            }
        }
    }

    /// One of many tensors of which the same is known: what is found out of it later is not
    /// true of the others.
    pub(super) fn another(&mut self, element: &Value) -> Value {
        match self.heap.tensor_of(element) {
            Some(tensor) => self.heap.tensor(tensor),
            None => element.clone(),
        }
    }

    /// `B, C, H, W = x.shape` of an unknown shape: the names become the dimensions' symbols.
    fn unpack_shape(&mut self, targets: &'p [Expr], value: &Value, star: Option<usize>) -> Option<Vec<Value>> {
        let Value::Method(pair) = value else { return None };
        if star.is_some() || pair.1.as_str() != super::attribute::UNKNOWN_SHAPE {
            return None;
        }
        let tensor = pair.0.clone();
        let mut sizes = Vec::new();
        for target in targets {
            let name = match target {
                Expr::Name(name) => name.id.as_str(),
                _ => "n",
            };
            let name = if name == "_" { "n" } else { name };
            let symbol = self.heap.symbol(name);
            sizes.push(crate::value::Size::symbol(symbol));
        }
        let at = targets.first().map(|t| self.span(t));
        if let Some(id) = tensor.as_obj() {
            let dims = sizes.iter().map(|s| crate::value::Dim::new(s.clone(), at)).collect();
            self.heap.update_tensor(id, |t| {
                t.shape = Some(dims);
                t.shape_at = at;
            });
        }
        Some(sizes.iter().map(Value::size).collect())
    }

    fn aug_assign(&mut self, stmt: &'p StmtAugAssign) {
        let span = self.span(stmt);
        let left = self.eval(&stmt.target);
        let right = self.eval(&stmt.value);
        let op = super::operator::binop(stmt.op);
        let library = self.library;
        let value = match library.augmented(self, op, &left, &right, span) {
            Some(value) => value,
            None => self.augmented(op, &left, &right, span),
        };
        self.assign(&stmt.target, value);
    }

    pub(super) fn set_name(&mut self, name: Sym, value: Value) {
        let Some(frame) = self.frames.last() else { return };
        let scope = if frame.globals.contains(&name) {
            self.module_scope()
        } else if frame.nonlocals.contains(&name) {
            self.binding_scope(frame.closure, name).unwrap_or(frame.scope)
        } else {
            frame.scope
        };
        self.heap.bind(scope, name, Some(value));
    }

    /// The scope of the module that is being run.
    pub(super) fn module_scope(&self) -> ObjId {
        let mut scope = self.frames.last().map_or(self.state, |f| f.closure);
        while let Data::Scope(names) = self.heap.get(scope)
            && let Some(parent) = names.parent
        {
            scope = parent;
        }
        scope
    }

    fn binding_scope(&self, from: ObjId, name: Sym) -> Option<ObjId> {
        let Data::Scope(own) = self.heap.get(from) else { return None };
        let mut scope = own.parent;
        while let Some(id) = scope {
            let Data::Scope(names) = self.heap.get(id) else { return None };
            if names.vars.contains_key(&name) {
                return Some(id);
            }
            scope = names.parent;
        }
        None
    }

    fn delete(&mut self, target: &'p Expr) {
        match target {
            Expr::Name(name) => {
                let key = sym(name.id.as_str());
                if let Some(scope) = self.frames.last().map(|f| f.scope) {
                    self.heap.bind(scope, key, None);
                }
            }
            Expr::Attribute(attribute) => {
                let object = self.eval(&attribute.value);
                if let Some(id) = object.as_obj()
                    && matches!(self.heap.get(id), Data::Instance(_))
                {
                    self.heap.bind(id, sym(attribute.attr.as_str()), None);
                }
            }
            Expr::Subscript(subscript) => {
                let object = self.eval(&subscript.value);
                let index = self.eval(&subscript.slice);
                self.delete_item(&object, &index);
            }
            Expr::Tuple(tuple) => {
                for element in &tuple.elts {
                    self.delete(element);
                }
            }
            _ => {}
        }
    }

    // Leaving.

    pub(super) fn keep_return(&mut self, value: Value) {
        let Some(mark) = self.frames.last().and_then(|f| f.mark) else { return };
        let delta = self.heap.delta(mark);
        if let Some(frame) = self.frames.last_mut() {
            frame.returns.push((delta, value));
        }
    }

    /// Runs the ends of the `with` blocks that are left, innermost first; they stay on the
    /// frame's list, for the other paths.
    fn leave_withs(&mut self, down_to: usize) {
        let open: Vec<Value> =
            self.frames.last().map(|f| f.withs.iter().skip(down_to).rev().cloned().collect()).unwrap_or_default();
        for manager in open {
            self.exit_manager(&manager);
        }
    }

    fn leave_loop(&mut self, breaks: bool) {
        let Some((mark, withs)) = self.frames.last().and_then(|f| f.loops.last()).map(|l| (l.mark, l.withs)) else {
            return;
        };
        self.leave_withs(withs);
        let delta = self.heap.delta(mark);
        if let Some(innermost) = self.frames.last_mut().and_then(|f| f.loops.last_mut()) {
            if breaks { innermost.breaks.push(delta) } else { innermost.continues.push(delta) }
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
                let (mut left, mut right) = (Flow::Next, Flow::Next);
                let flow = self.branch(&mut [
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
                ]);
                if (left, right) == (Flow::Next, Flow::Next) {
                    self.settle(doubts);
                }
                flow
            }
        }
    }

    /// Runs each arm from the present state and joins those that go on.
    pub(super) fn branch(&mut self, arms: &mut [&mut dyn FnMut(&mut Self) -> Flow]) -> Flow {
        let mark = self.heap.mark();
        let unsure = self.unsure;
        let mut ends = Vec::new();
        let count = arms.len();
        self.undecided += 1;
        for arm in arms {
            self.unsure = self.in_arm(unsure);
            if arm(self) == Flow::Next {
                ends.push(self.heap.delta(mark));
            }
            self.heap.undo(mark);
        }
        self.undecided -= 1;
        // Past `if …: return`, the rest of the function is the other side.
        self.unsure = if ends.len() < count { self.in_arm(unsure) } else { unsure };
        if !ends.is_empty() {
            self.heap.join(&ends, false);
        }
        self.heap.release(mark);
        if ends.is_empty() { Flow::Stopped } else { Flow::Next }
    }

    // Loops.

    fn exec_for(&mut self, stmt: &'p StmtFor) -> Flow {
        let span = self.span(&*stmt.iter);
        let iterable = self.eval(&stmt.iter);
        let certain = self.surely_not_empty(&iterable);
        let items = self.iterate(&iterable, span);
        let body_size = stmt.body.last().map_or(0, |last| last.end().to_u32())
            - stmt.body.first().map_or(0, |f| f.start().to_u32());
        match items {
            Items::Exact(items) if items.is_empty() => self.exec_block(&stmt.orelse),
            Items::Exact(items) if unrolls(&items, stmt, body_size) => self.unrolled(stmt, items),
            Items::Exact(items) => {
                // The first element may differ in kind from the rest: what any is like.
                let element = Items::Exact(items).element(&mut self.heap);
                self.widened(&stmt.body, &stmt.orelse, true, &mut |it| {
                    it.assign(&stmt.target, element.clone());
                    None
                })
            }
            Items::Many(element) => {
                let mut first = match iterable.as_obj().map(|id| self.heap.get(id)) {
                    Some(Data::Iter(iter)) => iter.first.clone(),
                    _ => None,
                };
                self.widened(&stmt.body, &stmt.orelse, certain, &mut |it| {
                    let value = first.take().unwrap_or_else(|| element.clone());
                    it.assign(&stmt.target, value);
                    None
                })
            }
        }
    }

    /// Whether a loop over it surely runs at least once: what a library yields is taken as
    /// not empty (a data loader), a list of unknown length is not.
    fn surely_not_empty(&self, iterable: &Value) -> bool {
        match iterable {
            Value::Obj(id) => !matches!(self.heap.get(*id), Data::List(_) | Data::Dict(_) | Data::Set(_)),
            _ => false,
        }
    }

    fn begin_loop(&mut self) -> crate::value::Mark {
        let mark = self.heap.mark();
        if let Some(frame) = self.frames.last_mut() {
            let (withs, undecided) = (frame.withs.len(), self.undecided);
            frame.loops.push(Loop { mark, breaks: Vec::new(), continues: Vec::new(), withs, undecided });
        }
        mark
    }

    fn take_continues(&mut self) -> Vec<Delta> {
        let innermost = self.frames.last_mut().and_then(|f| f.loops.last_mut());
        innermost.map(|l| std::mem::take(&mut l.continues)).unwrap_or_default()
    }

    fn end_loop(&mut self) -> Vec<Delta> {
        self.frames.last_mut().and_then(|f| f.loops.pop()).map(|l| l.breaks).unwrap_or_default()
    }

    fn unrolled(&mut self, stmt: &'p StmtFor, items: Vec<Value>) -> Flow {
        let mark = self.begin_loop();
        let (mut alive, outer) = (true, self.later);
        for (round, item) in items.into_iter().enumerate() {
            if round > 0 {
                self.later = Some(self.heap.len());
            }
            self.assign(&stmt.target, item);
            let flow = self.exec_block(&stmt.body);
            let mut ends = self.take_continues();
            if ends.is_empty() && flow == Flow::Next {
                continue;
            }
            if flow == Flow::Next {
                ends.push(self.heap.delta(mark));
            }
            self.heap.undo(mark);
            if ends.is_empty() {
                alive = false;
                break;
            }
            self.heap.join(&ends, false);
        }
        self.later = outer;
        if alive && !stmt.orelse.is_empty() && self.exec_block(&stmt.orelse) == Flow::Stopped {
            self.heap.undo(mark);
            alive = false;
        }
        let mut exits = self.end_loop();
        if !exits.is_empty() {
            if alive {
                exits.push(self.heap.delta(mark));
                self.heap.undo(mark);
            }
            self.heap.join(&exits, false);
            alive = true;
        }
        self.heap.release(mark);
        if alive { Flow::Next } else { Flow::Stopped }
    }

    /// Runs a loop's body from what is known on entry, then from what is known where rounds
    /// end, until that does not change: an accumulator is a number before the loop and a
    /// tensor in it. `begin` binds the target or evaluates the condition: `Some(false)` ends
    /// the loop, `None` may end it. `certain` says that the body runs at least once.
    fn widened(
        &mut self,
        body: &'p [Stmt],
        orelse: &'p [Stmt],
        certain: bool,
        begin: &mut dyn FnMut(&mut Self) -> Option<bool>,
    ) -> Flow {
        let mark = self.begin_loop();
        // What is known where a round ends; none has yet.
        let mut state: Option<Delta> = None;
        let mut endless = false;
        let (moments, rounds) = (self.observer.moments(), self.rounds);
        for _ in 0..MAX_ROUNDS {
            self.heap.undo(mark);
            self.heap.apply(state.as_deref().unwrap_or_default());
            self.rounds = rounds + u32::from(state.is_some());
            let enters = begin(self);
            endless = enters == Some(true);
            if enters == Some(false) {
                break;
            }
            let flow = self.exec_block(body);
            let mut ends = self.take_continues();
            if flow == Flow::Next {
                ends.push(self.heap.delta(mark));
            }
            self.heap.undo(mark);
            if ends.is_empty() {
                break;
            }
            let first = state.is_none();
            if first && rounds == 0 && !self.showing && self.observer.moments() != moments {
                self.show_second_round(mark, &ends, body, begin);
            }
            ends.splice(0..0, state.take());
            let changed = self.heap.join(&ends, !first);
            state = Some(self.heap.delta(mark));
            // A second round that is being shown needs of the loops in it one round.
            if self.showing || !(first || changed) || !self.step() {
                break;
            }
        }
        self.rounds = rounds;
        self.heap.undo(mark);
        // Where the loop ends by itself.
        let mut exits = Vec::new();
        if !(certain || self.showing && state.is_some()) {
            exits.push(Delta::new());
        }
        if !endless {
            exits.extend(state);
        }
        let breaks = self.end_loop();
        if !orelse.is_empty() && !exits.is_empty() {
            self.heap.join(&exits, false);
            exits.clear();
            if self.exec_block(orelse) == Flow::Next {
                exits.push(self.heap.delta(mark));
            }
            self.heap.undo(mark);
        }
        exits.extend(breaks);
        let alive = !exits.is_empty();
        if alive {
            self.heap.join(&exits, false);
        }
        self.heap.release(mark);
        if alive { Flow::Next } else { Flow::Stopped }
    }

    /// Runs a loop's body from the state in which its first round ended, for the observer
    /// only: nothing of it is kept.
    fn show_second_round(
        &mut self,
        mark: crate::value::Mark,
        ends: &[Delta],
        body: &'p [Stmt],
        begin: &mut dyn FnMut(&mut Self) -> Option<bool>,
    ) {
        let kept = |it: &Self| {
            let frame = it.frames.last();
            let breaks = frame.and_then(|f| f.loops.last()).map_or(0, |l| l.breaks.len());
            frame.map_or((0, 0, 0), |f| (f.returns.len(), f.yields.len(), breaks))
        };
        let (returns, yields, breaks) = kept(self);
        self.heap.join(ends, false);
        let outer = self.later;
        (self.showing, self.later) = (true, Some(self.heap.len()));
        if begin(self) != Some(false) {
            self.exec_block(body);
        }
        (self.showing, self.later) = (false, outer);
        self.heap.undo(mark);
        self.take_continues();
        if let Some(frame) = self.frames.last_mut() {
            frame.returns.truncate(returns);
            frame.yields.truncate(yields);
            if let Some(innermost) = frame.loops.last_mut() {
                innermost.breaks.truncate(breaks);
            }
        }
    }

    fn exec_while(&mut self, stmt: &'p StmtWhile) -> Flow {
        let first = self.condition(&stmt.test);
        if first == Some(false) {
            return self.exec_block(&stmt.orelse);
        }
        self.widened(&stmt.body, &stmt.orelse, first == Some(true), &mut |it| {
            let truth = it.condition(&stmt.test);
            it.assume(&stmt.test, true);
            truth
        })
    }

    // with, try.

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

    fn exec_try(&mut self, stmt: &'p StmtTry) -> Flow {
        let mark = self.heap.mark();
        let only_imports = stmt.body.iter().all(|s| matches!(s, Stmt::Import(_) | Stmt::ImportFrom(_)));
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
        let alive = !ends.is_empty();
        if alive {
            self.heap.join(&ends, false);
        }
        self.heap.release(mark);
        let last = self.exec_block(&stmt.finalbody);
        if alive && last == Flow::Next { Flow::Next } else { Flow::Stopped }
    }
}

/// Whether a loop over known elements is run element by element.
fn unrolls(items: &[Value], stmt: &StmtFor, body_size: u32) -> bool {
    if has_loop(&stmt.body) {
        // Rounds that only count, such as epochs, are alike; records each have data of their own.
        return items.len() <= UNROLL && items.iter().any(|item| item.as_int().is_none());
    }
    items.len() <= UNROLL
        || items.len() <= UNROLL_LONG && body_size <= SHORT_BODY
        || items.len() <= UNROLL_LONGER && body_size <= SHORTER_BODY
}

/// Whether a loop stands directly in a body: unrolling a loop of loops multiplies.
fn has_loop(body: &[Stmt]) -> bool {
    body.iter().any(|s| match s {
        Stmt::For(_) | Stmt::While(_) => true,
        Stmt::If(s) => has_loop(&s.body) || s.elif_else_clauses.iter().any(|c| has_loop(&c.body)),
        Stmt::With(s) => has_loop(&s.body),
        Stmt::Try(s) => has_loop(&s.body),
        _ => false,
    })
}
