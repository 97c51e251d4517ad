//! Havoc: the possible writes of unseen code.
//!
//! The contents of an object that escapes to unseen code become unknown. A function of the program
//! that escapes may be called at any time: its syntax shows which outer variables and objects it
//! writes, and these become unknown after each call that may have run it.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::interp::Interp;
use super::payload::PAYLOAD;
use super::writes::{Called, READ_ONLY, Writes};
use super::{Args, Event};
use crate::syntax::Stmt;
use crate::value::{Attrs, CodeId, Data, Dict, Function, Instance, Items, ObjId, Source, Sym, Value, Written, sym};

/// The depth to which calls inside a function are followed.
const MAX_CALLS: u32 = 3;

/// The calls that were already followed, each with the objects among its arguments, and the depth
/// that remained for it.
type Seen = FxHashMap<(CodeId, ObjId, Vec<Option<ObjId>>), u32>;

/// The known arguments of a call.
#[derive(Clone, Default)]
struct Given {
    positional: Vec<Value>,
    named: Vec<(Sym, Value)>,
}

impl Given {
    fn of(args: &Args) -> Given {
        Given {
            positional: args.pos.iter().map(|arg| arg.value.clone()).collect(),
            named: args.kw.iter().map(|(name, arg)| (*name, arg.value.clone())).collect(),
        }
    }

    /// Inserts `first` before the positional arguments.
    fn after(mut self, first: impl IntoIterator<Item = Value>) -> Given {
        self.positional.splice(0..0, first);
        self
    }
}

/// When an escaped function of the program may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hook {
    /// At a call of a module.
    Forward,
    /// In a backward pass.
    Backward,
    /// At the end of the block of an `ExitStack`.
    AtExit,
    /// At any time.
    Anytime,
}

/// The depth to which nested collections are searched for objects that are passed to unseen code.
const MAX_HELD: u32 = 3;

impl Interp<'_> {
    /// Makes unknown everything that an unseen function may have changed in its arguments, such as
    /// the contents of lists and dicts.
    pub(super) fn havoc_args(&mut self, args: &Args) {
        for arg in args.pos.iter().chain(args.kw.iter().map(|(_, a)| a)) {
            self.event(Event::Escaped { value: &arg.value });
            self.havoc(&arg.value);
        }
    }

    /// The effect of `exec(text)`: the text may write to everything that the scope holds. In a module or
    /// in the body of a class, it may also bind the scope's names again; the variables of a function
    /// stay as they are.
    pub(super) fn havoc_scope(&mut self) {
        let Some(frame) = self.frames.last() else { return };
        let (scope, home) = (frame.scope, frame.home);
        let rebinds = frame.class_body.is_some() || home == self.module_scope();
        // Inside a comprehension, the scope has only the comprehension's own names.
        let outer = (home != scope).then_some(home);
        for scope in std::iter::once(scope).chain(outer) {
            for (name, value) in self.data_variables(scope) {
                self.havoc(&value);
                if rebinds {
                    self.heap.bind(scope, name, Some(Value::Unknown));
                }
            }
        }
    }

    /// The variables of a scope that hold data: no function or class of the program, and nothing
    /// imported from a library.
    pub(super) fn data_variables(&self, scope: ObjId) -> Vec<(Sym, Value)> {
        let Data::Scope(names) = self.heap.get(scope) else { return Vec::new() };
        let is_data = |value: &Value| !matches!(value, Value::Lazy(_) | Value::Path(_)) && !self.is_callable(value);
        names.vars.iter().filter(|(_, value)| is_data(value)).map(|(name, value)| (*name, value.clone())).collect()
    }

    /// Records the functions among the arguments of unseen code, which may store them, and the functions that
    /// these return.
    pub(super) fn hook_args(&mut self, args: &Args) {
        for arg in args.pos.iter().chain(args.kw.iter().map(|(_, a)| a)) {
            let mut held = self.held(&arg.value, MAX_HELD);
            held.push(arg.value.clone());
            for value in held {
                if self.is_function(&value) || self.heap.suspended(&value).is_some() {
                    let mut returned = self.returned_from(&value);
                    returned.retain(|value| self.is_plain_function(value));
                    for function in std::iter::once(value).chain(returned) {
                        self.hook(Hook::Anytime, function);
                    }
                }
            }
        }
    }

    fn is_plain_function(&self, value: &Value) -> bool {
        match value {
            Value::Obj(id) => matches!(self.heap.get(*id), Data::Function(_)),
            Value::Bound(_) | Value::Partial(_) => true,
            _ => false,
        }
    }

    /// Whether a value is a function, a method or a callable object of the program, or a `partial`.
    fn is_function(&self, value: &Value) -> bool {
        self.is_plain_function(value)
            || self.heap.instance_of(value).is_some() && self.user_method(value, "__call__").is_some()
    }

    /// Records that unseen code may call a function. The end of a branch does not undo this.
    pub(crate) fn hook(&mut self, when: Hook, function: Value) {
        let known = |(_, have): &(Hook, Value)| match (have, &function) {
            (Value::Obj(a), Value::Obj(b)) => a == b,
            (Value::Bound(a), Value::Bound(b)) => a.0.as_obj() == b.0.as_obj() && a.1.as_obj() == b.1.as_obj(),
            (Value::Partial(a), Value::Partial(b)) => {
                let parts = |p: &crate::value::Partial| {
                    let named = p.kwargs.iter().map(|(_, value)| value);
                    std::iter::once(&p.func).chain(&p.args).chain(named).map(Value::as_obj).collect::<Vec<_>>()
                };
                parts(a) == parts(b)
            }
            _ => false,
        };
        if !self.hooks.iter().any(|have| have.0 == when && known(have)) {
            self.hooks.push((when, function));
        }
    }

    /// Makes unknown what the recorded functions of these kinds write: they may have run.
    pub(crate) fn havoc_hooks(&mut self, which: fn(Hook) -> bool) {
        if self.hooks.is_empty() {
            return;
        }
        let all: Vec<Value> =
            self.hooks.iter().filter(|(when, _)| which(*when)).map(|(_, function)| function.clone()).collect();
        let mut seen = Seen::default();
        for function in all {
            self.havoc_call(&function, Given::default(), MAX_CALLS, &mut seen);
        }
    }

    /// Makes unknown everything that unseen code may have changed in an object: its contents, those
    /// of its attributes, and, for a function, everything that a call of it may write.
    pub(crate) fn havoc(&mut self, value: &Value) {
        self.havoc_argument(value, MAX_CALLS, &mut Seen::default());
    }

    /// Like [`Interp::havoc`], with the calls that were already followed: a function may pass
    /// itself to another function.
    fn havoc_argument(&mut self, value: &Value, depth: u32, seen: &mut Seen) {
        for item in self.held(value, MAX_HELD) {
            // A method of an object in the collection may have set the object's attributes, and a
            // function in the collection may have run.
            if let Some(id) = item.as_obj() {
                self.forget_own(id);
            }
            if self.is_function(&item) {
                self.havoc_call(&item, Given::default(), depth, seen);
            }
        }
        match value {
            Value::Obj(id) => self.havoc_object(*id, depth, seen),
            Value::Bound(pair) => {
                self.havoc_argument(&pair.0.clone(), depth, seen);
                self.havoc_call(value, Given::default(), depth, seen);
            }
            Value::Partial(_) => self.havoc_call(value, Given::default(), depth, seen),
            _ => {}
        }
    }

    /// The values in a list, tuple or dict and in the collections inside it, down to this depth.
    fn held(&self, value: &Value, depth: u32) -> Vec<Value> {
        let Some(below) = depth.checked_sub(1) else { return Vec::new() };
        let mut held: Vec<Value> = match value {
            Value::Tuple(items) => items.to_vec(),
            Value::Obj(id) => match self.heap.get(*id) {
                Data::List(Items::Exact(items)) => items.clone(),
                Data::List(Items::Many(item)) => vec![item.clone()],
                Data::Dict(dict) => dict.entries.values().chain(&dict.open).cloned().collect(),
                _ => return Vec::new(),
            },
            _ => return Vec::new(),
        };
        let inner: Vec<Value> = held.iter().flat_map(|item| self.held(item, below)).collect();
        held.extend(inner);
        held
    }

    fn havoc_object(&mut self, id: ObjId, depth: u32, seen: &mut Seen) {
        match self.heap.get(id) {
            Data::Instance(instance) if matches!(instance.class, Value::Obj(_)) => {
                let library = self.library;
                library.unseen(self, id);
                self.forget_own(id);
                self.forget_contents(&Value::Obj(id));
            }
            Data::Class(_) => self.havoc_class(id),
            Data::Function(_) | Data::Iter(_) => self.havoc_call(&Value::Obj(id), Given::default(), depth, seen),
            _ => self.havoc_container(id),
        }
    }

    /// Makes unknown the contents of the collections that are attributes of an instance or of its
    /// classes: a method may fill a collection that the class body has created.
    pub(crate) fn forget_contents(&mut self, object: &Value) {
        let parts: Vec<ObjId> = match self.heap.instance_of(object) {
            Some(instance) => instance.attrs.values().filter_map(Value::as_obj).collect(),
            None => return,
        };
        for part in parts {
            self.havoc_container(part);
        }
        for class in self.mro_of(object).iter().filter_map(Value::as_obj) {
            self.havoc_class(class);
        }
    }

    /// Makes unknown the contents of the collections that are attributes of a class.
    fn havoc_class(&mut self, id: ObjId) {
        let Data::Class(class) = self.heap.get(id) else { return };
        let parts: Vec<ObjId> = class.attrs.values().filter_map(Value::as_obj).collect();
        for part in parts {
            if self.heap.is_collection(part) {
                self.havoc_container(part);
            }
        }
    }

    /// For a function of the program whose body is not run: makes unknown what it may write. The
    /// objects that it returns are recorded with `Heap::lose`: a later write to the unknown result
    /// of the call may be a write to one of them.
    pub(super) fn havoc_body(&mut self, function: &Function, vars: &Attrs) {
        self.havoc_function(function.code, function.scope, vars.clone(), MAX_CALLS, &mut Seen::default());
        let Some(writes) = self.writes(function.code) else { return };
        for place in &writes.returned {
            if let Some(value) = self.at_place(place, function.scope, &writes.own, vars) {
                self.heap.lose(&value);
            }
        }
    }

    /// Makes unknown what a call may write.
    fn havoc_call(&mut self, callee: &Value, args: Given, depth: u32, seen: &mut Seen) {
        match callee {
            Value::Obj(id) => match self.heap.get(*id) {
                Data::Function(function) => {
                    let (code, scope) = (function.code, function.scope);
                    let Some(writes) = self.writes(code) else { return };
                    let by_position = writes.positional.iter().copied().zip(args.positional);
                    self.havoc_function(code, scope, by_position.chain(args.named).collect(), depth, seen);
                }
                Data::Instance(_) => {
                    if let Some(method) = self.user_method(callee, "__call__") {
                        self.havoc_call(&method, args.after([callee.clone()]), depth, seen);
                    }
                }
                // Unseen code runs the coroutine or generator.
                Data::Iter(_) => {
                    if let Some((_, suspended)) = self.heap.suspended(callee)
                        && let Source::Call { function, vars, .. } = &*suspended.source
                        && let Data::Function(function) = self.heap.get(*function)
                    {
                        let (code, scope, given) = (function.code, function.scope, vars.clone());
                        self.havoc_function(code, scope, given, depth, seen);
                    }
                }
                _ => {}
            },
            Value::Bound(pair) => self.havoc_call(&pair.1, args.after([pair.0.clone()]), depth, seen),
            Value::Partial(partial) => {
                let mut args = args.after(partial.args.iter().cloned());
                // If a keyword is given twice, the value in the call replaces the value stored in
                // the `partial`.
                args.named.splice(0..0, partial.kwargs.iter().cloned());
                self.havoc_call(&partial.func, args, depth, seen);
            }
            Value::Method(pair) if !READ_ONLY.contains(&pair.1.as_str()) => self.havoc_contents(&pair.0),
            Value::Unknown | Value::Open(_) => {
                let named = args.named.iter().map(|(_, value)| value);
                args.positional.iter().chain(named).for_each(|arg| self.havoc_argument(arg, depth, seen));
            }
            _ => {}
        }
    }

    /// Whether a coroutine may wait for others before it ends: its function contains `await`,
    /// `async for` or `async with`, or the function is not known.
    pub(crate) fn waits(&self, coroutine: &Value) -> bool {
        let Some((_, suspended)) = self.heap.suspended(coroutine) else { return true };
        let Source::Call { function, .. } = &*suspended.source else { return true };
        let Data::Function(function) = self.heap.get(*function) else { return true };
        let code = function.code;
        self.writes(code).is_none_or(|writes| writes.waits)
    }

    /// Whether a method of the class, other than the constructor, calls one of these methods on its
    /// own object. Only methods that the program defines are considered.
    pub(crate) fn calls_on_itself(&self, class: ObjId, names: &[&str]) -> bool {
        let classes = self.mro(class);
        let methods = classes.iter().filter_map(Value::as_obj).filter_map(|class| match self.heap.get(class) {
            Data::Class(class) => Some(class.attrs.iter().filter(|(name, _)| name.as_str() != "__init__")),
            _ => None,
        });
        let functions = methods.flatten().filter_map(|(_, value)| match self.heap.get(value.as_obj()?) {
            Data::Function(function) => self.writes(function.code),
            _ => None,
        });
        functions.into_iter().any(|writes| {
            let own = writes.positional.first();
            let is_own = |callee: &[Sym]| matches!(callee, [object, name] if Some(object) == own && names.contains(&name.as_str()));
            writes.calls.iter().any(|called| is_own(&called.callee))
        })
    }

    pub(super) fn writes(&self, code: CodeId) -> Option<Rc<Writes>> {
        let code = self.code.get(code.0 as usize)?;
        Some(code.writes.get_or_init(|| Rc::new(Writes::of(code.body))).clone())
    }

    /// Makes unknown the contents of the collections in outer variables that the body of a function
    /// may fill.
    pub(super) fn forget_filled(&mut self, code: CodeId, scope: ObjId) {
        let Some(writes) = self.writes(code) else { return };
        for place in writes.contents.iter().filter(|place| place.len() == 1) {
            let Some(value) = self.at_place(place, scope, &writes.own, &Attrs::default()) else { continue };
            if value.as_obj().is_some_and(|id| self.heap.is_collection(id)) {
                self.havoc(&value);
            }
        }
    }

    fn havoc_function(&mut self, code: CodeId, scope: ObjId, given: Attrs, depth: u32, seen: &mut Seen) {
        let call = (code, scope, given.values().map(Value::as_obj).collect());
        // The same call was already followed to at least this depth.
        match seen.get(&call) {
            Some(before) if *before >= depth => return,
            _ => seen.insert(call, depth),
        };
        let Some(writes) = self.writes(code) else { return };
        self.havoc_writes(&writes, scope, (&writes.own, &given), depth, seen);
    }

    /// Makes unknown what a block of the current function may write.
    pub(super) fn havoc_block(&mut self, body: &[Stmt]) {
        let Some(scope) = self.frames.last().map(|frame| frame.scope) else { return };
        let writes = Writes::of_block(body);
        self.havoc_writes(&writes, scope, (&[], &Attrs::default()), MAX_CALLS, &mut Seen::default());
        for name in &writes.own {
            let at = self.scope_of(scope, *name, false).unwrap_or(scope);
            self.heap.bind(at, *name, Some(Value::Unknown));
        }
    }

    /// Makes unknown what code in this scope may write. `locals` contains the local names of the
    /// code, which are not names of this scope, and their known values.
    fn havoc_writes(&mut self, writes: &Writes, scope: ObjId, locals: (&[Sym], &Attrs), depth: u32, seen: &mut Seen) {
        let (own, given) = locals;
        let places = writes.attributes.len() + writes.open.len() + writes.contents.len() + writes.calls.len();
        self.heap.visited += 1 + places as u64;
        for (name, is_global) in &writes.rebound {
            if let Some(at) = self.scope_of(scope, *name, *is_global) {
                self.heap.bind(at, *name, Some(Value::Unknown));
            }
        }
        for (place, name) in &writes.attributes {
            if let Some(object) = self.at_place(place, scope, own, given) {
                self.havoc_attribute(&object, *name);
            }
        }
        for place in &writes.open {
            if let Some(id) = self.at_place(place, scope, own, given).and_then(|object| object.as_obj())
                && let Some(instance) = self.heap.instance_mut(id)
            {
                instance.open = true;
                instance.attrs.values_mut().for_each(|value| *value = Value::Unknown);
            }
        }
        for place in &writes.contents {
            if let Some(object) = self.at_place(place, scope, own, given) {
                self.havoc_contents(&object);
            }
        }
        if depth == 0 {
            return;
        }
        for called in &writes.calls {
            let Some((name, object)) = called.callee.split_last() else { continue };
            if called.is_result {
                for function in self.returned_by(&called.callee, scope, locals) {
                    let args = self.given_to(called, scope, own, given);
                    self.havoc_call(&function, args, depth - 1, seen);
                }
                continue;
            }
            let object = self.at_place(object, scope, own, given);
            // An attribute of the object may hold another function than the method of this name.
            let held = |object: &Value| object.as_obj().and_then(|id| self.heap.attr(id, name.as_str()));
            if let Some(object) = object.filter(|object| held(object).is_none())
                && let Some(method) = self.user_method(&object, name.as_str())
            {
                let args = self.given_to(called, scope, own, given);
                self.havoc_call(&method, args.after([object]), depth - 1, seen);
            } else if let Some(callee) = self.at_place(&called.callee, scope, own, given)
                && !matches!(callee, Value::Path(_))
            {
                let args = self.given_to(called, scope, own, given);
                self.havoc_call(&callee, args, depth - 1, seen);
            }
        }
        for name in &writes.passed {
            let passed = self.at_place(&[*name], scope, own, given);
            if let Some(function) = passed.filter(|value| self.is_plain_function(value)) {
                self.havoc_call(&function, Given::default(), depth - 1, seen);
            }
        }
    }

    /// The known arguments of a call. An argument that is not known has no effect.
    fn given_to(&mut self, called: &Called, scope: ObjId, own: &[Sym], given: &Attrs) -> Given {
        let positional = called.positional.iter();
        let positional = positional.map(|place| self.at_place(place.as_ref()?, scope, own, given));
        let positional = positional.map(|value| value.unwrap_or(Value::None)).collect();
        let named = called.named.iter();
        let named = named.filter_map(|(name, place)| Some((*name, self.at_place(place, scope, own, given)?)));
        Given { positional, named: named.collect() }
    }

    /// The values of the places that a function of the program returns, if they do not depend on its arguments.
    fn returned_by(&mut self, function: &[Sym], scope: ObjId, (own, given): (&[Sym], &Attrs)) -> Vec<Value> {
        let function = self.at_place(function, scope, own, given);
        function.map_or_else(Vec::new, |function| self.returned_from(&function))
    }

    /// Like [`Interp::returned_by`], for a function that is a value.
    fn returned_from(&mut self, function: &Value) -> Vec<Value> {
        let function = function.as_obj().map(|id| self.heap.get(id));
        let Some(Data::Function(function)) = function else { return Vec::new() };
        let (code, scope) = (function.code, function.scope);
        let Some(writes) = self.writes(code) else { return Vec::new() };
        let places = writes.returned.iter();
        places.filter_map(|place| self.at_place(place, scope, &writes.own, &Attrs::default())).collect()
    }

    /// Havocs everything that a method of an unknown value may write. The value may be any object of
    /// `Heap::lost`.
    pub(super) fn havoc_unknown(&mut self, method: &str, args: &Args) {
        if let Some(written) = written_by(method) {
            self.heap.write_lost(written);
        }
        // pytest: `monkeypatch.setattr(torch, "load", fake)`
        if method == "setattr"
            && let [object, name, value, ..] = &*args.pos
            && let (Value::Path(path), Some(name)) = (&object.value, name.value.as_str())
        {
            self.replace_member(*path, sym(name), &value.value);
        }
        for id in self.heap.lost().collect::<Vec<_>>() {
            let object = Value::Obj(id);
            if self.heap.instance_of(&object).is_none() {
                continue;
            }
            // The method may be a library's own, such as a model's `to`.
            let library = self.library;
            library.unseen_method(self, id, method);
            if let Some(method) = self.user_method(&object, method) {
                self.havoc_call(&method, Given::of(args).after([object]), MAX_CALLS, &mut Seen::default());
            }
        }
    }

    /// Makes unknown what a call of an unknown value may write: the value may be any of
    /// `Heap::lost_functions`.
    pub(super) fn havoc_unknown_call(&mut self, args: &Args) {
        self.forget_named_members(args);
        let mut seen = Seen::default();
        for (function, receiver) in self.heap.lost_functions().collect::<Vec<_>>() {
            let given = Given::of(args).after(receiver.map(Value::Obj));
            self.havoc_call(&Value::Obj(function), given, MAX_CALLS, &mut seen);
        }
    }

    /// Makes unknown the members of a class that are named in the same call: `properties(Table, "columns")`.
    fn forget_named_members(&mut self, args: &Args) {
        let names: Vec<Sym> = args.pos.iter().filter_map(|arg| arg.value.as_str()).map(sym).collect();
        for class in args.pos.iter().filter_map(|arg| arg.value.as_obj()) {
            for name in &names {
                if let Data::Class(data) = self.heap.get(class)
                    && data.attrs.contains_key(name)
                    && let Data::Class(data) = self.heap.get_mut(class)
                {
                    data.attrs.insert(*name, Value::Unknown);
                }
            }
        }
    }

    /// The object that an expression such as `a.b.c` in a function's body refers to, where `a` is a
    /// parameter or a name of an enclosing scope.
    fn at_place(&mut self, place: &[Sym], scope: ObjId, own: &[Sym], given: &Attrs) -> Option<Value> {
        let (name, attributes) = place.split_first()?;
        let mut value = match given.get(name) {
            Some(value) => value.clone(),
            None if own.contains(name) => return None,
            None => self.seen_from(scope, *name, false)?.1,
        };
        for name in attributes {
            let own = self.heap.attr(value.as_obj()?, name.as_str());
            // An attribute of the class body, such as a list, is shared by all instances.
            let line = || match value.as_obj().map(|id| (id, self.heap.get(id))) {
                Some((id, Data::Class(_))) => self.mro(id),
                _ => self.mro_of(&value),
            };
            let shared = || line().iter().filter_map(Value::as_obj).find_map(|c| self.class_attr(c, *name));
            value = own.or_else(shared)?;
        }
        Some(value)
    }

    /// The scope that binds a name, seen from this scope.
    fn scope_of(&mut self, scope: ObjId, name: Sym, is_global: bool) -> Option<ObjId> {
        self.seen_from(scope, name, is_global).map(|(scope, _)| scope)
    }

    /// The scope that binds a name, seen from this scope, and the value of the name.
    pub(super) fn seen_from(&mut self, scope: ObjId, name: Sym, is_global: bool) -> Option<(ObjId, Value)> {
        let mut at = Some(scope);
        while let Some(id) = at {
            let Data::Scope(names) = self.heap.get(id) else { return None };
            let parent = names.parent;
            if (parent.is_none() || !is_global)
                && let Some(value) = self.scope_var(id, name)
            {
                return Some((id, value));
            }
            at = parent;
        }
        None
    }

    fn havoc_attribute(&mut self, object: &Value, name: Sym) {
        let Some(id) = object.as_obj() else { return };
        match self.heap.get(id) {
            Data::Instance(_) => self.heap.bind(id, name, Some(Value::Unknown)),
            Data::Class(_) => {
                if let Data::Class(class) = self.heap.get_mut(id) {
                    class.attrs.insert(name, Value::Unknown);
                }
            }
            Data::Tensor(_) => self.havoc_container(id),
            _ => {}
        }
    }

    fn havoc_contents(&mut self, object: &Value) {
        let Some(id) = object.as_obj() else { return };
        match self.heap.get(id) {
            Data::Tensor(_) => {
                if let Some(mut tensor) = self.heap.tensor_of(object) {
                    tensor.forget_values();
                    tensor.grad = crate::value::Grad::Unknown;
                    self.heap.overwrite(id, tensor);
                }
            }
            _ => self.havoc_container(id),
        }
    }

    pub(super) fn havoc_container(&mut self, id: ObjId) {
        match self.heap.get(id) {
            Data::List(items) => {
                let library = self.library;
                let items = match items {
                    Items::Exact(items) => items.clone(),
                    Items::Many(item) => vec![item.clone()],
                };
                for item in items
                    .iter()
                    .filter_map(Value::as_obj)
                    .filter(|id| self.heap.is_tensor(&Value::Obj(*id)))
                    .collect::<Vec<_>>()
                {
                    library.unseen(self, item);
                }
                *self.heap.get_mut(id) = Data::List(Items::Many(Value::Unknown));
            }
            Data::Set(_) => *self.heap.get_mut(id) = Data::Set(Items::Many(Value::Unknown)),
            Data::Dict(_) => {
                let dict = Dict { open: Some(Value::Unknown), ..Dict::default() };
                *self.heap.get_mut(id) = Data::Dict(dict);
            }
            Data::Instance(instance) if let Some(Value::Obj(payload)) = instance.attrs.get(&sym(PAYLOAD)) => {
                let payload = *payload;
                self.havoc_container(payload);
            }
            Data::Tensor(_) | Data::Instance(Instance { class: Value::Path(_), .. }) => {
                let library = self.library;
                library.unseen(self, id);
            }
            _ => {}
        }
    }
}

/// The kind of write that a method of this name does to its receiver, whose type is not known.
fn written_by(method: &str) -> Option<Written> {
    Some(match method {
        "share_memory_" | "rename_" => return None,
        "requires_grad_" | "detach_" => Written::Grad,
        "t_" | "transpose_" | "swapaxes_" | "swapdims_" | "squeeze_" | "unsqueeze_" | "resize_" | "resize_as_"
        | "as_strided_" | "set_" => Written::Shape,
        "append"
        | "extend"
        | "insert"
        | "remove"
        | "reverse"
        | "appendleft"
        | "popleft"
        | "extendleft"
        | "rotate"
        | "add"
        | "discard"
        | "update"
        | "setdefault"
        | "move_to_end"
        | "intersection_update"
        | "difference_update"
        | "symmetric_difference_update"
        | "subtract" => Written::Items,
        "pop" | "popitem" | "clear" | "__delitem__" => Written::Removed,
        // Methods of lists and arrays.
        "sort" | "__setitem__" => Written::Elements,
        "fill" | "put" | "partition" | "itemset" => Written::Memory,
        _ if method.ends_with('_') && !method.ends_with("__") => Written::Memory,
        _ => return None,
    })
}
