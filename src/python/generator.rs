//! Generators, coroutines, `map` and similar objects: code that runs later, when its elements are
//! requested or when it is awaited.
//!
//! The caller passes a [`Consumer`]. The code runs in its own frame. At each `yield`, this frame
//! waits, and the consumer gets the value and runs in the caller's frame; then the code continues.
//! So the bodies of a loop and of its generator run alternately, as in Python. If it is not known
//! at which `yield` the code waits, the code runs from its start, and any of its yields may be the
//! next one.

use std::rc::Rc;

use super::args::Args;
use super::branch::go_on;
use super::cadence::Cadence;
use super::interp::{Body, Code, Frame, Interp, Rounds};
use super::leave::Leave;
use super::stmt::Flow;
use crate::syntax::Span;
use crate::value::{Data, Items, ObjId, Progress, Scope, Source, Suspended, Value};

/// The callback for each value that a generator yields.
pub(super) type Consumer<'p> = Rc<dyn Fn(&mut Interp<'p>, Value) -> Flow + 'p>;

/// If there are more elements than this, they are not handled one by one: the consumer runs until a
/// fixpoint.
const MOST: usize = 256;

impl<'p> Interp<'p> {
    /// Passes all elements of an iterator, such as suspended code, to the consumer.
    pub(super) fn drive(&mut self, iterator: &Value, span: Span, consumer: Consumer<'p>) -> Flow {
        let Some((id, Suspended { source, progress })) = self.heap.suspended(iterator) else {
            let items = self.iterate(iterator, span);
            let rounds = Rounds { perhaps_none: self.heap.is_perhaps_empty(iterator), ..Rounds::default() };
            return self.over_items_in(rounds, items, MOST, &mut |it, value| consumer(it, value));
        };
        match progress {
            Progress::Done => return Flow::Next,
            Progress::Fresh => {
                self.heap.set_progress(id, Progress::Started);
                let flow = self.run_source(&source, consumer);
                if flow == Flow::Next {
                    self.heap.set_progress(id, Progress::Done);
                }
                return flow;
            }
            Progress::Started => {}
        }
        // It is not known at which `yield` the code continues, so it runs from its start. The state
        // at each `yield` is joined with the current state, because the code before that `yield`
        // may not run again.
        let now = self.heap.mark();
        let flow = self.run_source(
            &source,
            Rc::new(move |it: &mut Self, value: Value| {
                it.heap.blend_since(now);
                it.perhaps(&mut |it| consumer(it, value.clone()))
            }),
        );
        // The code may already have ended.
        match flow {
            Flow::Next => self.heap.blend_since(now),
            Flow::Stopped => self.heap.undo(now),
        }
        self.heap.release(now);
        Flow::Next
    }

    fn run_source(&mut self, source: &Source, consumer: Consumer<'p>) -> Flow {
        match source {
            Source::Call { function, vars, first, call } => {
                let data = self.heap.share(*function);
                let Data::Function(function) = &*data else { return Flow::Next };
                self.run_function(function, vars.clone(), first.clone(), *call, Some(consumer));
                if std::mem::take(&mut self.stopped) { Flow::Stopped } else { Flow::Next }
            }
            Source::Expression { code, scope, iterable, method } => {
                let Some(code) = self.code.get(code.0 as usize).cloned() else { return Flow::Next };
                let Body::Expression(expression) = code.body else { return Flow::Next };
                let inner = self.heap.alloc(Data::Scope(Scope { vars: Default::default(), parent: Some(*scope) }));
                let mut frame = Frame::new(code.file, inner);
                (frame.home, frame.owner) = (*scope, method.clone());
                frame.consumer = Some(consumer);
                self.frames.push(frame);
                let iterable = iterable.clone();
                let flow = self.comprehend(&expression.generators, Some(iterable), &mut |it| {
                    let value = it.eval(&expression.elt);
                    it.give(value);
                    if std::mem::take(&mut it.stopped) { Flow::Stopped } else { Flow::Next }
                });
                self.frames.pop();
                // A filter that raised has ended only the paths on which the iterable has elements.
                // The path on which the iterable is empty continues.
                self.stopped = false;
                flow
            }
            Source::Map { function, over, call } => {
                let (function, call) = (function.clone(), *call);
                let give = move |it: &mut Self, row: Value| {
                    let args = it.heap.exact_items(&row).unwrap_or_default();
                    let value = it.call(&function, Args::positional(args, call), call);
                    if std::mem::take(&mut it.stopped) { Flow::Stopped } else { consumer(it, value) }
                };
                self.drive_rows(over, call, Rc::new(give))
            }
            Source::Zip { over, call } => self.drive_rows(over, *call, consumer),
            Source::Filter { function, over, call } => {
                let (function, call) = (function.clone(), *call);
                let give = move |it: &mut Self, value: Value| {
                    let test = match &function {
                        Value::None => value.clone(),
                        function => it.call(function, Args::positional([value.clone()], call), call),
                    };
                    if std::mem::take(&mut it.stopped) {
                        return Flow::Stopped;
                    }
                    match it.truth(&test) {
                        Some(true) => consumer(it, value),
                        Some(false) => Flow::Next,
                        None => it.perhaps(&mut |it| consumer(it, value.clone())),
                    }
                };
                self.drive(over, call, Rc::new(give))
            }
            Source::Enumerate { over, start, call } => {
                // The count depends on the path, so it is on the heap.
                let counter = self.heap.instance(Value::path("builtins.object"));
                self.heap.set_attr(counter, "next", Value::Int(*start));
                let (call, one) = (*call, Value::Int(1));
                let give = move |it: &mut Self, value: Value| {
                    let at = it.heap.attr(counter, "next").unwrap_or(Value::Unknown);
                    let next = it.binary(super::BinOp::Add, &at, &one, call);
                    it.heap.set_attr(counter, "next", next);
                    consumer(it, Value::tuple(vec![at, value]))
                };
                self.drive(over, call, Rc::new(give))
            }
        }
    }

    /// Passes the rows of `zip(…)`, or of the arguments of `map`, to the consumer. The elements of
    /// the first suspended argument are requested one by one; the elements of the other arguments
    /// are all requested beforehand.
    fn drive_rows(&mut self, over: &[Value], span: Span, consumer: Consumer<'p>) -> Flow {
        if let [only] = over {
            return self.drive(only, span, Rc::new(move |it, value| consumer(it, Value::tuple(vec![value]))));
        }
        let Some(at) = over.iter().position(|value| self.heap.suspended(value).is_some()) else {
            let rows = self.zipped(over, span);
            return self.over_items(rows, MOST, &mut |it, row| consumer(it, row));
        };
        let mut others = Vec::new();
        for (place, value) in over.iter().enumerate().filter(|(place, _)| *place != at) {
            let filled = self.surely_not_empty(value);
            others.push((place, self.iterate(value, span), filled));
        }
        let counter = self.heap.instance(Value::path("builtins.object"));
        self.heap.set_attr(counter, "next", Value::Int(0));
        let Some(driven) = over.get(at) else { return Flow::Next };
        let mark = self.heap.mark();
        let id = self.block_id();
        // The shortest argument ends the loop.
        let end = move |it: &mut Self| {
            it.keep_exit(id, mark, Leave::Close);
            Flow::Stopped
        };
        let give = move |it: &mut Self, value: Value| {
            let index = it.heap.attr(counter, "next").unwrap_or(Value::Unknown);
            let next = it.binary(super::BinOp::Add, &index, &Value::Int(1), span);
            it.heap.set_attr(counter, "next", next);
            let index = index.as_int().and_then(|n| usize::try_from(n).ok());
            let (mut row, mut ends) = (vec![value], Some(false));
            for (place, items, filled) in &others {
                let value = match (items, index) {
                    (Items::Exact(values), Some(n)) if n >= values.len() => return end(it),
                    (Items::Exact(values), Some(n)) => values.get(n).cloned().unwrap_or(Value::Unknown),
                    (items, index) => {
                        if !filled || index != Some(0) {
                            ends = None;
                        }
                        items.element(&mut it.heap)
                    }
                };
                row.insert((*place).min(row.len()), value);
            }
            let row = Value::tuple(row);
            match ends {
                Some(_) => consumer(it, row),
                None => it.branch(
                    Cadence::Unclear,
                    &mut [&mut |it| go_on(consumer(it, row.clone())), &mut |it| go_on(end(it))],
                ),
            }
        };
        let flow = self.drive(driven, span, Rc::new(give));
        let mut ends: Vec<_> = self.take_exits(id).into_iter().map(|exit| exit.state).collect();
        if flow == Flow::Next {
            ends.push(self.heap.delta(mark));
        }
        if self.meet(mark, &ends) { Flow::Next } else { Flow::Stopped }
    }

    /// Passes a value to the consumer, and returns the value of the `yield` expression.
    pub(super) fn give(&mut self, value: Value) -> Value {
        if self.stopped {
            return Value::Unknown;
        }
        let Some(frame) = self.frames.pop() else { return Value::Unknown };
        let Some(consumer) = frame.consumer.clone() else {
            // The generator is being closed.
            self.frames.push(frame);
            self.stopped = true;
            return Value::Unknown;
        };
        self.waiting.push(frame);
        let visit = self.meter.pause();
        let flow = consumer(self, value);
        self.meter.resume(visit);
        if let Some(frame) = self.waiting.pop() {
            self.frames.push(frame);
        }
        if flow == Flow::Stopped {
            self.stopped = true;
        }
        Value::Unknown
    }

    /// All elements of suspended code, as a list.
    pub(super) fn collected(&mut self, iterator: &Value, span: Span) -> Items {
        let list = self.heap.alloc(Data::List(Items::Exact(Vec::new())));
        let mark = self.heap.mark();
        let id = self.block_id();
        let flow = self.drive(
            iterator,
            span,
            Rc::new(move |it: &mut Self, value: Value| {
                it.push_item(list, value);
                it.keep_exit(id, mark, Leave::Close);
                Flow::Next
            }),
        );
        let mut ends: Vec<_> = self.take_exits(id).into_iter().map(|exit| exit.state).collect();
        // If the code never ends, the program is assumed to request an unknown number of elements.
        if flow == Flow::Next {
            ends = vec![self.heap.delta(mark)];
        }
        let endless = flow == Flow::Stopped;
        if !self.meet(mark, &ends) {
            self.stopped = true;
        }
        if endless && let Data::List(items) = self.heap.get(list) {
            let items = items.clone();
            return Items::Many(items.element(&mut self.heap));
        }
        self.perhaps_none = self.heap.is_perhaps_empty(&Value::Obj(list));
        match self.heap.get(list) {
            Data::List(items) => items.clone(),
            _ => Items::Many(Value::Unknown),
        }
    }

    /// Appends a value to a list that collects the elements of an iteration.
    pub(super) fn push_item(&mut self, list: ObjId, value: Value) {
        let element = match self.heap.get(list) {
            Data::List(Items::Many(element)) => element.clone(),
            _ => {
                if let Data::List(Items::Exact(items)) = self.heap.get_mut(list) {
                    items.push(value);
                }
                return;
            }
        };
        let joined = crate::value::join(&mut self.heap, &element, &value, false);
        *self.heap.get_mut(list) = Data::List(Items::Many(joined));
    }

    /// The next element of suspended code; `default` if there is none.
    pub(super) fn first_given(&mut self, iterator: &Value, default: Option<&Value>, span: Span) -> Value {
        let mark = self.heap.mark();
        let id = self.block_id();
        let flow = self.drive(
            iterator,
            span,
            Rc::new(move |it: &mut Self, value: Value| {
                it.keep_exit(id, mark, Leave::Return(value));
                Flow::Stopped
            }),
        );
        let mut values = Vec::new();
        let mut ends = Vec::new();
        for exit in self.take_exits(id) {
            if let Leave::Return(value) = exit.how {
                values.push(value);
                ends.push(exit.state);
            }
        }
        if flow == Flow::Next {
            match default {
                Some(default) => {
                    values.push(default.clone());
                    ends.push(self.heap.delta(mark));
                }
                None => _ = self.leave(Leave::Raise(Value::path("builtins.StopIteration"))),
            }
        }
        if !self.meet(mark, &ends) {
            self.stopped = true;
            return Value::Unknown;
        }
        self.join_values(values)
    }

    /// Whether any element of suspended code is true. If `stops_at` is false: whether all elements
    /// are true. Like Python, requests no more elements than necessary.
    pub(super) fn any_given(&mut self, iterator: &Value, stops_at: bool, span: Span) -> Value {
        let mark = self.heap.mark();
        let id = self.block_id();
        let flow = self.drive(
            iterator,
            span,
            Rc::new(move |it: &mut Self, value: Value| match it.truth(&value) {
                Some(truth) if truth != stops_at => Flow::Next,
                known => {
                    it.keep_exit(id, mark, Leave::Return(Value::Bool(stops_at)));
                    if known.is_some() { Flow::Stopped } else { Flow::Next }
                }
            }),
        );
        let mut ends: Vec<_> = self.take_exits(id).into_iter().map(|exit| exit.state).collect();
        let stopped = !ends.is_empty();
        if flow == Flow::Next {
            ends.push(self.heap.delta(mark));
        }
        if !self.meet(mark, &ends) {
            self.stopped = true;
        }
        match (stopped, flow) {
            (true, Flow::Stopped) => Value::Bool(stops_at),
            (false, _) => Value::Bool(!stops_at),
            _ => Value::Any(crate::value::Type::Bool),
        }
    }

    pub(super) fn join_values(&mut self, values: Vec<Value>) -> Value {
        let mut values = values.into_iter();
        let first = values.next().unwrap_or(Value::None);
        values.fold(first, |acc, v| crate::value::join(&mut self.heap, &acc, &v, false))
    }

    /// `await value`: runs a coroutine of the program now.
    pub(crate) fn awaited(&mut self, value: &Value) -> Value {
        let Some((id, Suspended { source, progress })) = self.heap.suspended(value) else {
            // While one coroutine waits, others may run, and assign to the objects in its variables.
            self.havoc_hooks(|when| when == super::Hook::Anytime);
            if let Some(scope) = self.frames.last().map(|frame| frame.home) {
                self.forget_constants_in(scope);
            }
            return if self.heap.instance_of(value).is_some() { Value::Unknown } else { value.clone() };
        };
        let Source::Call { function, vars, first, call } = &*source else { return Value::Unknown };
        let data = self.heap.share(*function);
        let Data::Function(function) = &*data else { return Value::Unknown };
        let body = self.code.get(function.code.0 as usize).map(|code| code.body);
        let yields = matches!(body, Some(Body::Function(def)) if super::entry::has_yield(&def.body));
        if progress != Progress::Fresh || yields {
            return Value::Unknown;
        }
        self.heap.set_progress(id, Progress::Done);
        self.run_function(function, vars.clone(), first.clone(), *call, None)
    }

    /// Calls a method of a generator.
    pub(super) fn generator_method(&mut self, generator: &Value, name: &str, span: Span) -> Option<Value> {
        let (id, _) = self.heap.suspended(generator)?;
        Some(match name {
            "__next__" | "send" => self.first_given(generator, None, span),
            "close" => {
                self.close(generator, span);
                self.heap.set_progress(id, Progress::Done);
                Value::None
            }
            "__iter__" | "__aiter__" => generator.clone(),
            _ => {
                self.havoc(generator);
                Value::Unknown
            }
        })
    }

    /// Closes a generator at the `yield` at which it waits: runs its `finally` blocks and exits its
    /// `with` blocks.
    fn close(&mut self, generator: &Value, span: Span) {
        if self.heap.suspended(generator).is_none_or(|(_, suspended)| suspended.progress != Progress::Started) {
            return;
        }
        let mark = self.heap.mark();
        let id = self.block_id();
        let end = move |it: &mut Self, _: Value| {
            it.close_innermost();
            it.keep_exit(id, mark, Leave::Close);
            Flow::Stopped
        };
        let flow = self.drive(generator, span, Rc::new(end));
        let mut ends: Vec<_> = self.take_exits(id).into_iter().map(|exit| exit.state).collect();
        if flow == Flow::Next {
            ends.push(self.heap.delta(mark));
        }
        self.meet(mark, &ends);
    }

    /// The iterator that the program's `__iter__` or `__aiter__` returns; without such a method,
    /// the value itself.
    pub(super) fn iterator_of(&mut self, iterable: &Value, span: Span) -> Value {
        for name in ["__iter__", "__aiter__"] {
            if let Some(iter) = self.user_method(iterable, name) {
                return self.call(&iter, Args::positional([iterable.clone()], span), span);
            }
        }
        iterable.clone()
    }

    /// Whether a call of the function only creates a generator or coroutine.
    pub(super) fn suspends(&self, code: crate::value::CodeId) -> bool {
        let Some(code) = self.code.get(code.0 as usize) else { return false };
        *code.suspends.get_or_init(|| match code.body {
            Body::Function(def) => def.is_async || super::entry::has_yield(&def.body),
            Body::Lambda(_) | Body::Class(_) | Body::Expression(_) => false,
        })
    }

    /// `(f(x) for x in …)`
    pub(super) fn generator_expression(&mut self, expression: &'p crate::syntax::ast::ExprGenerator) -> Value {
        let Some(first) = expression.generators.first() else { return Value::Unknown };
        let iterable = self.eval(&first.iter);
        let file = self.file();
        let address = std::ptr::from_ref(expression) as usize;
        let code = self.code_of(address, || Code::new(file, Body::Expression(expression)));
        let Some(frame) = self.frames.last() else { return Value::Unknown };
        let (scope, method) = (frame.scope, frame.owner.clone());
        self.heap.suspend(Source::Expression { code, scope, iterable, method })
    }
}
