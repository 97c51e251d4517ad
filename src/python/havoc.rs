//! What code that cannot be seen may have written.
//!
//! An object in its hands loses what it holds. A function of the program in its hands may be
//! called at any time: what its body writes outside of itself is read from its syntax, and is
//! not known any more after each call that may have run it.

use super::interp::{Body, Interp};
use super::payload::PAYLOAD;
use super::{Args, Event};
use crate::syntax::ast::visitor::{Visitor, walk_expr, walk_stmt};
use crate::syntax::ast::{self, Parameters};
use crate::syntax::{Expr, Stmt};
use crate::value::{Attrs, Data, Dict, Function, Instance, Items, ObjId, Source, Sym, Value, sym};

/// How many functions that a function calls are followed, one inside the other.
const MAX_CALLS: u32 = 3;

/// When a function of the program may be called that a library or unknown code was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hook {
    /// Where a module is called.
    Forward,
    /// In a backward pass.
    Backward,
    /// At the end of a block that a stack of managers ends.
    AtExit,
    /// At any time.
    Anytime,
}

/// A name, and the attributes that are read from it: `self.cache`.
type Place = Vec<Sym>;

/// What a function's body writes outside of itself.
#[derive(Default)]
struct Writes {
    /// Names of `nonlocal` and `global`.
    rebound: Vec<(Sym, bool)>,
    /// Names that are the function's own.
    own: Vec<Sym>,
    /// `place.name = …`
    attributes: Vec<(Place, Sym)>,
    /// `setattr(place, …)`
    open: Vec<Place>,
    /// `place[…] = …`, `place.append(…)`
    contents: Vec<Place>,
    /// `place.method(…)`
    methods: Vec<(Place, Sym)>,
    /// `name(…)`, with the places that it is given.
    calls: Vec<(Sym, Vec<Place>)>,
    /// `await`, `async for`, `async with`
    waits: bool,
}

/// Methods of containers that change nothing.
const READ_ONLY: &[&str] = &["get", "items", "keys", "values", "index", "count", "copy", "join", "format", "split"];

fn place_of(expr: &Expr) -> Option<Place> {
    match expr {
        Expr::Name(name) => Some(vec![sym(name.id.as_str())]),
        Expr::Attribute(e) => {
            let mut place = place_of(&e.value)?;
            place.push(sym(e.attr.as_str()));
            Some(place)
        }
        // An element's contents belong to the whole.
        Expr::Subscript(e) => place_of(&e.value),
        _ => None,
    }
}

impl Writes {
    fn target(&mut self, target: &Expr) {
        match target {
            Expr::Name(name) => self.own.push(sym(name.id.as_str())),
            Expr::Attribute(e) => {
                if let Some(place) = place_of(&e.value) {
                    self.attributes.push((place, sym(e.attr.as_str())));
                }
            }
            Expr::Subscript(e) => self.contents.extend(place_of(&e.value)),
            Expr::Starred(e) => self.target(&e.value),
            Expr::Tuple(e) => e.elts.iter().for_each(|e| self.target(e)),
            Expr::List(e) => e.elts.iter().for_each(|e| self.target(e)),
            _ => {}
        }
    }

    fn parameters(&mut self, parameters: &Parameters) {
        self.own.extend(parameters.iter().map(|p| sym(p.name().as_str())));
    }

    fn call(&mut self, call: &ast::ExprCall) {
        match &*call.func {
            Expr::Attribute(method) => {
                if let Some(place) = place_of(&method.value) {
                    let name = method.attr.as_str();
                    if !READ_ONLY.contains(&name) {
                        self.contents.push(place.clone());
                    }
                    self.methods.push((place, sym(name)));
                }
            }
            Expr::Name(name) => {
                let given = call.arguments.args.iter().chain(call.arguments.keywords.iter().map(|k| &k.value));
                let given: Vec<Place> = given.filter_map(place_of).collect();
                if matches!(name.id.as_str(), "setattr" | "delattr") {
                    self.open.extend(given.into_iter().take(1));
                } else {
                    self.calls.push((sym(name.id.as_str()), given));
                }
            }
            _ => {}
        }
    }
}

impl<'a> Visitor<'a> for Writes {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assign(s) => s.targets.iter().for_each(|t| self.target(t)),
            Stmt::AugAssign(s) => {
                // In place, where what the name means is an array or a list.
                self.contents.extend(place_of(&s.target));
                self.target(&s.target);
            }
            Stmt::AnnAssign(s) => self.target(&s.target),
            Stmt::Delete(s) => s.targets.iter().for_each(|t| self.target(t)),
            Stmt::For(s) => {
                self.waits |= s.is_async;
                self.target(&s.target);
            }
            Stmt::With(s) => {
                self.waits |= s.is_async;
                s.items.iter().filter_map(|i| i.optional_vars.as_deref()).for_each(|t| self.target(t));
            }
            Stmt::Nonlocal(s) => self.rebound.extend(s.names.iter().map(|n| (sym(n.as_str()), false))),
            Stmt::Global(s) => self.rebound.extend(s.names.iter().map(|n| (sym(n.as_str()), true))),
            Stmt::FunctionDef(s) => {
                self.own.push(sym(s.name.as_str()));
                self.parameters(&s.parameters);
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Call(call) => self.call(call),
            Expr::Await(_) => self.waits = true,
            Expr::Named(e) => self.target(&e.target),
            Expr::Lambda(e) => {
                if let Some(parameters) = e.parameters.as_deref() {
                    self.parameters(parameters);
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

impl<'p> Interp<'p> {
    /// What an unseen function may have changed in its arguments: the contents of lists and
    /// dicts.
    pub(super) fn havoc_args(&mut self, args: &Args) {
        for arg in args.pos.iter().chain(args.kw.iter().map(|(_, a)| a)) {
            self.event(Event::Escaped { value: &arg.value });
            self.havoc(&arg.value);
        }
    }

    /// Notes the functions among the arguments of code that cannot be seen: it may keep them.
    pub(super) fn hook_args(&mut self, args: &Args) {
        for arg in args.pos.iter().chain(args.kw.iter().map(|(_, a)| a)) {
            let is_function = match &arg.value {
                Value::Obj(id) => matches!(self.heap.get(*id), Data::Function(_)),
                Value::Bound(_) | Value::Partial(_) => true,
                _ => false,
            };
            if is_function || self.heap.suspended(&arg.value).is_some() {
                self.hook(Hook::Anytime, arg.value.clone());
            }
        }
    }

    /// Notes that a function may be called where nobody sees it. No branch takes that back.
    pub fn hook(&mut self, when: Hook, function: Value) {
        let known = |(_, have): &(Hook, Value)| match (have, &function) {
            (Value::Obj(a), Value::Obj(b)) => a == b,
            (Value::Bound(a), Value::Bound(b)) => a.0.as_obj() == b.0.as_obj() && a.1.as_obj() == b.1.as_obj(),
            (Value::Partial(a), Value::Partial(b)) => {
                let parts = |p: &crate::value::Partial| {
                    std::iter::once(&p.func).chain(&p.args).map(Value::as_obj).collect::<Vec<_>>()
                };
                parts(a) == parts(b)
            }
            _ => false,
        };
        if !self.hooks.iter().any(|have| have.0 == when && known(have)) {
            self.hooks.push((when, function));
        }
    }

    /// Makes what such functions write unknown: they may have run.
    pub fn havoc_hooks(&mut self, which: fn(Hook) -> bool) {
        if self.hooks.is_empty() {
            return;
        }
        let all: Vec<Value> =
            self.hooks.iter().filter(|(when, _)| which(*when)).map(|(_, function)| function.clone()).collect();
        for function in all {
            self.havoc_call(&function, &[], MAX_CALLS);
        }
    }

    /// Makes an object forget what code that cannot be seen may have changed in it: the
    /// contents of lists and dicts, its own, its attributes', and what it changes when it is a
    /// function that may now be called at any time.
    pub fn havoc(&mut self, value: &Value) {
        match value {
            Value::Obj(id) => self.havoc_object(*id),
            Value::Bound(pair) => {
                self.havoc(&pair.0.clone());
                self.havoc_call(value, &[], MAX_CALLS);
            }
            Value::Partial(_) => self.havoc_call(value, &[], MAX_CALLS),
            _ => {}
        }
    }

    fn havoc_object(&mut self, id: ObjId) {
        match self.heap.get(id) {
            Data::Instance(instance) if matches!(instance.class, Value::Obj(_)) => {
                self.forget_own(id);
                let Data::Instance(instance) = self.heap.get(id) else { return };
                let parts: Vec<ObjId> = instance.attrs.values().filter_map(Value::as_obj).collect();
                for part in parts {
                    self.havoc_container(part);
                }
            }
            Data::Function(_) | Data::Iter(_) => self.havoc_call(&Value::Obj(id), &[], MAX_CALLS),
            _ => self.havoc_container(id),
        }
    }

    /// Makes unknown what a call of something may write.
    fn havoc_call(&mut self, callee: &Value, args: &[Value], depth: u32) {
        let with = |first: &[Value]| first.iter().chain(args).cloned().collect::<Vec<Value>>();
        match callee {
            Value::Obj(id) => match self.heap.get(*id) {
                Data::Function(function) => {
                    let function = function.clone();
                    let given = self.given(&function, args);
                    self.havoc_function(&function, given, depth);
                }
                Data::Instance(_) => {
                    if let Some(method) = self.user_method(callee, "__call__") {
                        self.havoc_call(&method, &with(std::slice::from_ref(callee)), depth);
                    }
                }
                // A coroutine or generator that somebody else runs.
                Data::Iter(_) => {
                    if let Some((_, suspended)) = self.heap.suspended(callee)
                        && let Source::Call { function, vars, .. } = &*suspended.source
                        && let Data::Function(function) = self.heap.get(*function)
                    {
                        let function = function.clone();
                        self.havoc_function(&function, vars.clone(), depth);
                    }
                }
                _ => {}
            },
            Value::Bound(pair) => self.havoc_call(&pair.1, &with(std::slice::from_ref(&pair.0)), depth),
            Value::Partial(partial) => self.havoc_call(&partial.func, &with(&partial.args), depth),
            Value::Method(pair) if !READ_ONLY.contains(&pair.1.as_str()) => self.havoc_contents(&pair.0),
            Value::Unknown => args.iter().for_each(|arg| self.havoc(arg)),
            _ => {}
        }
    }

    /// What the first parameters of a function get.
    fn given(&self, function: &Function, args: &[Value]) -> Attrs {
        let parameters = match self.code.get(function.code.0 as usize).map(|c| c.body) {
            Some(Body::Function(def)) => Some(&*def.parameters),
            Some(Body::Lambda(lambda)) => lambda.parameters.as_deref(),
            Some(Body::Class | Body::Expression(_)) | None => None,
        };
        let names = parameters.into_iter().flat_map(|p| p.posonlyargs.iter().chain(&p.args));
        names.map(|p| sym(p.parameter.name.as_str())).zip(args.iter().cloned()).collect()
    }

    /// Whether a coroutine of the program waits for others before its end.
    pub fn waits(&self, coroutine: &Value) -> bool {
        let Some((_, suspended)) = self.heap.suspended(coroutine) else { return true };
        let Source::Call { function, .. } = &*suspended.source else { return true };
        let Data::Function(function) = self.heap.get(*function) else { return true };
        let Some(Body::Function(def)) = self.code.get(function.code.0 as usize).map(|c| c.body) else { return true };
        let mut writes = Writes::default();
        writes.visit_body(&def.body);
        writes.waits
    }

    fn havoc_function(&mut self, function: &Function, given: Attrs, depth: u32) {
        let mut writes = Writes::default();
        let parameters = match self.code.get(function.code.0 as usize).map(|c| c.body) {
            Some(Body::Function(def)) => {
                writes.visit_body(&def.body);
                Some(&*def.parameters)
            }
            Some(Body::Lambda(lambda)) => {
                writes.visit_expr(&lambda.body);
                lambda.parameters.as_deref()
            }
            Some(Body::Class | Body::Expression(_)) | None => None,
        };
        if let Some(parameters) = parameters {
            writes.parameters(parameters);
        }
        let scope = function.scope;
        for (name, is_global) in &writes.rebound {
            if let Some(at) = self.scope_of(scope, *name, *is_global) {
                self.heap.bind(at, *name, Some(Value::Unknown));
            }
            writes.own.retain(|own| own != name);
        }
        for (place, name) in &writes.attributes {
            if let Some(object) = self.at_place(place, scope, &writes.own, &given) {
                self.havoc_attribute(&object, *name);
            }
        }
        for place in &writes.open {
            if let Some(id) = self.at_place(place, scope, &writes.own, &given).and_then(|object| object.as_obj())
                && let Some(instance) = self.heap.instance_mut(id)
            {
                instance.open = true;
                instance.attrs.values_mut().for_each(|value| *value = Value::Unknown);
            }
        }
        for place in &writes.contents {
            if let Some(object) = self.at_place(place, scope, &writes.own, &given) {
                self.havoc_contents(&object);
            }
        }
        if depth == 0 {
            return;
        }
        for (place, name) in &writes.methods {
            if let Some(object) = self.at_place(place, scope, &writes.own, &given)
                && let Some(method) = self.user_method(&object, name.as_str())
            {
                self.havoc_call(&method, std::slice::from_ref(&object), depth - 1);
            }
        }
        for (name, places) in &writes.calls {
            let callee = self.at_place(&[*name], scope, &writes.own, &given);
            let args = places.iter().map(|place| self.at_place(place, scope, &writes.own, &given));
            let args: Vec<Value> = args.map(|arg| arg.unwrap_or(Value::None)).collect();
            if let Some(callee) = callee {
                self.havoc_call(&callee, &args, depth - 1);
            }
        }
    }

    /// What a place means in a function's body: a parameter, or what is around the function.
    fn at_place(&mut self, place: &[Sym], scope: ObjId, own: &[Sym], given: &Attrs) -> Option<Value> {
        let (name, attributes) = place.split_first()?;
        let mut value = match given.get(name) {
            Some(value) => value.clone(),
            None if own.contains(name) => return None,
            None => {
                let at = self.scope_of(scope, *name, false)?;
                self.scope_var(at, *name)?
            }
        };
        for name in attributes {
            value = self.heap.attr(value.as_obj()?, name.as_str())?;
        }
        Some(value)
    }

    /// The scope that binds a name, as seen from this one.
    fn scope_of(&mut self, scope: ObjId, name: Sym, is_global: bool) -> Option<ObjId> {
        let mut at = Some(scope);
        while let Some(id) = at {
            let Data::Scope(names) = self.heap.get(id) else { return None };
            let parent = names.parent;
            if (parent.is_none() || !is_global) && self.scope_var(id, name).is_some() {
                return Some(id);
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
