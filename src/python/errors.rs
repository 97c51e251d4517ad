//! Exceptions that Python certainly raises, which end the path.

use rustc_hash::FxHashSet;

use super::Args;
use super::interp::{Body, Interp};
use super::leave::Leave;
use super::missing::{
    WrongArguments, doubled_argument, is_meant_as_base, missing_argument, surplus_arguments, unknown_argument,
};
use crate::syntax::ast::visitor::{Visitor, walk_expr, walk_stmt};
use crate::syntax::ast::{self, ExprCall, StmtFunctionDef};
use crate::syntax::{Expr, Span, Stmt, callee_or_itself, path_of, spreads};
use crate::value::{Data, Function, ObjId, Sym, Type, Value, sym};

/// Decorators that do not change a function's signature.
const PLAIN: &[&str] = &["staticmethod", "classmethod", "abstractmethod"];

impl Interp<'_> {
    /// Ends the current path with a builtin exception.
    pub(crate) fn raise(&mut self, class: &str) -> Value {
        if !self.stopped {
            self.leave(Leave::Raise(Value::path(&format!("builtins.{class}"))));
            self.stopped = true;
        }
        Value::Unknown
    }

    /// The end of an operation that was reported because it raises an exception of this class. If nothing may catch
    /// the exception, the analysis goes on with an unknown value, to find the next mistakes, too.
    pub(crate) fn fail(&mut self, class: &str) -> Value {
        let may_catch = self.frames.iter().any(|frame| frame.handling > 0 || frame.raising > 0);
        if may_catch || self.is_in_try() {
            return self.raise(class);
        }
        self.went_on = self.refused.1;
        Value::Unknown
    }

    /// What is wrong with the arguments of a call of a program's function or class: a name that is
    /// not a parameter, too many arguments, or a missing one.
    pub(super) fn surely_refuses(&self, callee: &Value, call: &ExprCall) -> Option<WrongArguments> {
        if let Some(message) = self.call_of_class(callee, call) {
            return Some(message);
        }
        let (function, bound) = match callee {
            // In a function that nothing calls, `cls` and `self.__class__` may be a subclass.
            Value::Obj(id) if matches!(self.heap.get(*id), Data::Class(_)) => {
                let is_certain = !self.context.speculative || self.is_global(&call.func);
                (self.plain_constructor(*id).filter(|_| is_certain)?, 1)
            }
            callee => self.sure_function(callee)?,
        };
        self.mismatch_of(callee, function, bound, call)
    }

    /// Like [`Interp::surely_refuses`], for one of several possible functions or classes.
    pub(super) fn misses_parameters(&self, callee: &Value, call: &ExprCall) -> Option<WrongArguments> {
        let id = callee.as_obj()?;
        let (function, bound) = match self.heap.get(id) {
            Data::Class(_) => (self.plain_constructor(id)?, 1),
            Data::Function(function) if function.owner.is_none() => (id, 0),
            _ => return None,
        };
        self.mismatch_of(callee, function, bound, call)
    }

    /// What is wrong with the arguments of a call of a function whose first `bound` parameters are given.
    fn mismatch_of(&self, callee: &Value, function: ObjId, bound: usize, call: &ExprCall) -> Option<WrongArguments> {
        let Data::Function(function) = self.heap.get(function) else { return None };
        let parameters = self.parameters(function)?;
        let name = match callee {
            Value::Obj(id) if let Data::Class(class) = self.heap.get(*id) => class.name,
            _ => function.name,
        };
        let arguments = &call.arguments;
        let given = Given {
            positional: arguments.args.len(),
            keywords: arguments.keywords.iter().filter_map(|k| k.arg.as_ref()).map(|k| k.as_str()).collect(),
            spreads: arguments.args.iter().any(Expr::is_starred_expr),
            unpacks: arguments.keywords.iter().any(|keyword| keyword.arg.is_none()),
        };
        mismatch(name.as_str(), parameters, bound, &given)
    }

    /// The message for a call of a class that has no constructor for these arguments.
    fn call_of_class(&self, callee: &Value, call: &ExprCall) -> Option<WrongArguments> {
        let message = self.lacks_methods(callee).or_else(|| self.lacks_constructor(callee, call));
        message.map(WrongArguments::from).or_else(|| self.misses_field(callee, call))
    }

    /// The message for a call of an abstract class.
    fn lacks_methods(&self, callee: &Value) -> Option<String> {
        let id = callee.as_obj()?;
        let Data::Class(class) = self.heap.get(id) else { return None };
        let mro = self.mro(id);
        let is_abstract = mro.iter().any(|ancestor| ancestor.as_path() == Some("abc.ABC"));
        if !is_abstract || self.context.speculative {
            return None;
        }
        let mut seen: FxHashSet<Sym> = FxHashSet::default();
        for ancestor in mro.iter() {
            let data = match ancestor {
                Value::Obj(id) => match self.heap.get(*id) {
                    Data::Class(data) if !data.open && !data.attrs.contains_key(&sym("__new__")) => data,
                    _ => return None,
                },
                // A class of a library may define the method.
                Value::Path(path) if matches!(path.as_str(), "abc.ABC" | "builtins.object") => continue,
                _ => return None,
            };
            for (name, value) in &data.attrs {
                let is_first = seen.insert(*name);
                let Some(Data::Function(function)) = value.as_obj().map(|id| self.heap.get(id)) else { continue };
                if is_first && function.attrs.contains_key(&sym(super::decorator::ABSTRACT)) {
                    return Some(format!("`{}` is abstract: it does not define `{name}`", class.name));
                }
            }
        }
        None
    }

    /// The message for a call of a dataclass with a name that is no field, or without a value for a field.
    fn misses_field(&self, callee: &Value, call: &ExprCall) -> Option<WrongArguments> {
        let class = callee.as_obj()?;
        let Data::Class(data) = self.heap.get(class) else { return None };
        let name = data.name;
        if self.context.speculative && !self.is_global(&call.func) {
            return None;
        }
        let (mut fields, mut required): (Vec<Sym>, Vec<Sym>) = (Vec::new(), Vec::new());
        for ancestor in self.mro(class).iter().rev() {
            let id = match ancestor {
                Value::Obj(id) => *id,
                Value::Path(path) if matches!(path.as_str(), "builtins.object" | "abc.ABC") => continue,
                _ => return None,
            };
            let Data::Class(data) = self.heap.get(id) else { return None };
            let own = ["__new__", "__init__"];
            let Some(Body::Class(Some(def))) = self.code.get(data.code.0 as usize).map(|code| code.body) else {
                return None;
            };
            if data.open || own.iter().any(|name| data.attrs.contains_key(&sym(name))) {
                return None;
            }
            // Only the plain decorator: `@dataclass(init=False)` makes no constructor.
            let [decorator] = &*def.decorator_list else { return None };
            if path_of(&decorator.expression).last() != Some(&"dataclass") {
                return None;
            }
            for stmt in def.body.iter().filter_map(Stmt::as_ann_assign_stmt) {
                let Expr::Name(target) = &*stmt.target else { return None };
                let root = path_of(callee_or_itself(&stmt.annotation));
                // `ClassVar[int]` is no field; texts and other annotations that contain such a name are not read.
                let is_plain = !root.is_empty() && !matches!(root.last(), Some(&("ClassVar" | "InitVar" | "KW_ONLY")));
                let is_subscript = stmt
                    .annotation
                    .as_subscript_expr()
                    .is_some_and(|of| !matches!(path_of(&of.value).last(), None | Some(&("ClassVar" | "InitVar"))));
                // `field(init=False)` is no parameter.
                let is_field = stmt.value.as_deref().and_then(Expr::as_call_expr).is_none_or(|value| {
                    let options = ["init", "kw_only"];
                    options.iter().all(|option| value.arguments.find_keyword(option).is_none())
                });
                if !(is_plain || is_subscript) || !is_field {
                    return None;
                }
                let field = sym(target.id.as_str());
                required.retain(|have| *have != field);
                if stmt.value.is_none() {
                    required.push(field);
                }
                if !fields.contains(&field) {
                    fields.push(field);
                }
            }
        }
        let arguments = &call.arguments;
        if spreads(call) {
            return None;
        }
        let given: Vec<&str> = arguments.keywords.iter().filter_map(|k| Some(k.arg.as_ref()?.as_str())).collect();
        if let Some(unknown) = given.iter().find(|name| !fields.iter().any(|field| field.as_str() == **name)) {
            return Some(unknown_argument(name.as_str(), unknown, fields.iter().map(|field| field.as_str())).0);
        }
        if arguments.args.len() > fields.len() {
            return Some(surplus_arguments(name.as_str(), fields.len(), arguments.args.len()));
        }
        let by_position = fields.get(..arguments.args.len())?;
        let missing = required.iter().find(|field| !by_position.contains(field) && !given.contains(&field.as_str()))?;
        Some(missing_argument(name.as_str(), missing.as_str()))
    }

    /// The message for a call, with arguments, of a class without a constructor.
    fn lacks_constructor(&self, callee: &Value, call: &ExprCall) -> Option<String> {
        let Data::Class(class) = self.heap.get(callee.as_obj()?) else { return None };
        let has_arguments = !call.arguments.args.is_empty() || !call.arguments.keywords.is_empty();
        if !has_arguments || self.context.speculative && !self.is_global(&call.func) {
            return None;
        }
        let mro = self.mro(callee.as_obj()?);
        let is_plain = |ancestor: &Value| match ancestor {
            Value::Obj(id) => match self.heap.get(*id) {
                Data::Class(data) => {
                    let own = ["__new__", "__init__", "__dataclass__", super::class::DECORATED];
                    !data.open && !own.iter().any(|name| data.attrs.contains_key(&sym(name)))
                }
                _ => false,
            },
            Value::Path(path) => matches!(path.as_str(), "builtins.object" | "abc.ABC"),
            _ => false,
        };
        let is_empty = call.arguments.args.iter().all(Expr::is_starred_expr)
            && call.arguments.keywords.iter().all(|keyword| keyword.arg.is_none());
        let meant = ["__init", "_init_", "_init__", "__init_", "init", "__int__", "__inti__", "__ini__", "__intit__"];
        let near = class.attrs.keys().find(|name| {
            let text = name.as_str();
            meant.contains(&text) || text.ends_with("__init")
        });
        let hint = near.map_or_else(String::new, |near| format!(" (is `{near}` meant as `__init__`?)"));
        (!is_empty && mro.iter().all(is_plain))
            .then(|| format!("`{}` takes no arguments: the class has no `__init__`{hint}", class.name))
    }

    /// Reports arguments that a method of the object does not accept. A library calls this method
    /// with the arguments of the call of the object: for example, `forward` of a module. Returns
    /// whether there are such arguments.
    pub(crate) fn refuse_passed_on(&mut self, object: &Value, method: &Value, args: &Args, span: Span) -> bool {
        let Value::Bound(pair) = method else { return false };
        let Some(Data::Function(function)) = pair.1.as_obj().map(|id| self.heap.get(id)) else { return false };
        // In a function that nothing calls, the receiver and its parts may be of a subclass.
        let is_open = self.heap.instance_of(object).is_none_or(|instance| instance.open);
        let Some(parameters) = self.parameters(function).filter(|_| !is_open) else { return false };
        let given = Given {
            positional: args.pos.len(),
            keywords: args.kw.iter().map(|(name, _)| name.as_str()).collect(),
            spreads: args.more_pos,
            unpacks: args.more_kw,
        };
        let Some(wrong) = mismatch(function.name.as_str(), parameters, 1, &given) else { return false };
        let rejection = self.rejection_of(wrong, span);
        self.in_arm_of(object, |it| it.reject(rejection, span));
        true
    }

    /// The names of the parameters of a function, as `inspect.signature` lists them; `None` if they
    /// are not known.
    pub(crate) fn parameter_names(&self, callee: &Value) -> Option<Vec<Sym>> {
        let (function, bound) = self.sure_function(callee)?;
        let Data::Function(function) = self.heap.get(function) else { return None };
        let parameters = self.parameters(function)?.iter().map(|parameter| sym(parameter.name().as_str()));
        Some(parameters.skip(bound).collect())
    }

    /// The function that certainly runs if this function or method is called, and the number of its
    /// parameters that are bound to a receiver: 0 or 1.
    pub(super) fn sure_function(&self, callee: &Value) -> Option<(ObjId, usize)> {
        match callee {
            Value::Bound(pair) if self.context.speculative && self.may_be_overridden(&pair.0, &pair.1) => None,
            Value::Bound(pair) => Some((pair.1.as_obj()?, 1)),
            callee if self.context.speculative && self.may_be_replaced(callee) => None,
            callee => Some((callee.as_obj()?, 0)),
        }
    }

    /// Whether a static method may be replaced in a subclass, or by an assignment.
    fn may_be_replaced(&self, method: &Value) -> bool {
        let Some(Data::Function(function)) = method.as_obj().map(|id| self.heap.get(id)) else { return false };
        function.owner.is_some_and(|owner| self.differs_elsewhere(owner, function.name))
    }

    /// Whether a subclass has another method of this name than its class, or the program may replace the method.
    pub(super) fn differs_elsewhere(&self, owner: ObjId, name: Sym) -> bool {
        // `Subclass.method = function` replaces it, too.
        self.is_overridden_in_subclass(owner, name) || self.sources.assigns(self.root, name.as_str())
    }

    /// Whether a subclass in the program has another method of this name.
    pub(super) fn is_overridden_in_subclass(&self, owner: ObjId, name: Sym) -> bool {
        let class = match self.heap.get(owner) {
            Data::Class(class) => class.name,
            _ => return false,
        };
        self.overridden.contains(&(owner, name)) || self.sources.overrides(self.root, class.as_str(), name.as_str())
    }

    /// Whether another method of this name may run instead, in a function that nothing calls: the receiver
    /// may be an instance of a subclass, or the program may replace the method.
    fn may_be_overridden(&self, receiver: &Value, method: &Value) -> bool {
        if self.is_made_here(receiver) {
            return false;
        }
        let Some(Data::Function(function)) = method.as_obj().map(|id| self.heap.get(id)) else { return true };
        let Some(Data::Class(class)) =
            self.mro_of(receiver).first().and_then(Value::as_obj).map(|id| self.heap.get(id))
        else {
            return true;
        };
        // Python adds the name of the class to the names of private methods.
        if function.name.as_str().starts_with("__") && !function.name.as_str().ends_with("__") {
            return false;
        }
        let is_stub = match self.code.get(function.code.0 as usize).map(|code| code.body) {
            Some(Body::Function(def)) => def.body.iter().all(|stmt| !matches!(stmt, Stmt::Assign(_) | Stmt::Return(_))),
            _ => true,
        };
        is_stub
            || function.owner.is_none_or(|owner| self.is_overridden_in_subclass(owner, function.name))
            || is_meant_as_base(class.name)
            || self.sources.derives(self.root, class.name.as_str())
            // The program may replace methods of objects.
            || self.sources.assigns(self.root, function.name.as_str())
            || self.mentions("monkeypatch")
    }

    /// The names of the positional parameters of a function, including the receiver.
    pub(super) fn positional_names(&self, function: &Value) -> Option<Vec<String>> {
        let Some(Data::Function(function)) = function.as_obj().map(|id| self.heap.get(id)) else { return None };
        let parameters = self.parameters(function)?;
        let names = parameters.posonlyargs.iter().chain(&parameters.args);
        Some(names.map(|parameter| parameter.name().as_str().to_owned()).collect())
    }

    /// For each positional parameter of a function, the kind of its default, if this is a number, a text or a truth
    /// value.
    pub(super) fn kinds_of_defaults(&self, function: &Value) -> Vec<Option<Type>> {
        let Some(Data::Function(function)) = function.as_obj().map(|id| self.heap.get(id)) else { return Vec::new() };
        let Some(parameters) = self.parameters(function) else { return Vec::new() };
        let kind = |default: &Expr| match default {
            Expr::BooleanLiteral(_) => Some(Type::Bool),
            Expr::NumberLiteral(_) => Some(Type::Float),
            Expr::StringLiteral(_) => Some(Type::Str),
            _ => None,
        };
        let all = parameters.posonlyargs.iter().chain(&parameters.args);
        all.map(|parameter| parameter.default.as_deref().and_then(kind)).collect()
    }

    /// Whether a function has no decorators.
    pub(super) fn is_undecorated(&self, function: &Function) -> bool {
        let body = self.code.get(function.code.0 as usize).map(|code| code.body);
        matches!(body, Some(Body::Function(def)) if def.decorator_list.is_empty())
    }

    /// The parameters of a function, if its decorators do not change them.
    pub(super) fn parameters(&self, function: &Function) -> Option<&ast::Parameters> {
        match self.code.get(function.code.0 as usize)?.body {
            Body::Function(def) if def.decorator_list.iter().all(|d| is_plain(&d.expression)) => Some(&def.parameters),
            Body::Lambda(lambda) => lambda.parameters.as_deref(),
            _ => None,
        }
    }

    /// The `__init__` that runs with the unchanged arguments if an instance is created; `None` if
    /// this is not certain.
    pub(super) fn plain_constructor(&self, class: ObjId) -> Option<ObjId> {
        let mro = self.mro(class);
        let plain = mro.iter().all(|ancestor| match ancestor {
            Value::Obj(id) => match self.heap.get(*id) {
                Data::Class(data) => {
                    let has = |name: &str| data.attrs.contains_key(&sym(name));
                    !data.open && !has("__new__") && !has("__dataclass__") && !has(super::class::DECORATED)
                }
                _ => false,
            },
            // Enumerations, strings and tuples create instances in other ways.
            Value::Path(path) => {
                let from = path.as_str().split('.').next();
                path.as_str() == "builtins.object" || !matches!(from, Some("builtins" | "enum" | "typing"))
            }
            _ => false,
        });
        plain.then(|| self.own_init(&mro)).flatten()
    }

    /// The `__init__` that an instance runs, if a class of the program defines it; `None` if the
    /// method of a library's class comes first.
    pub(super) fn own_init(&self, mro: &[Value]) -> Option<ObjId> {
        let mut classes = mro.iter().map_while(Value::as_obj);
        classes.find_map(|class| self.class_attr(class, sym("__init__")))?.as_obj()
    }

    /// Whether a name is a variable of the current function, or of the program's main module, that
    /// no path has assigned yet.
    pub(super) fn is_unbound(&self, name: Sym) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        if self.frames.len() == 1 && frame.file == self.root && frame.class_body.is_none() {
            return self.is_unbound_in_script(name);
        }
        let Some(id) = frame.code.filter(|_| !self.context.speculative && frame.class_body.is_none()) else {
            return false;
        };
        // In comprehensions and generators, it is not known which variables are unbound.
        if frame.scope != frame.home || self.suspends(id) {
            return false;
        }
        if let Data::Scope(names) = self.heap.get(frame.home)
            && names.vars.contains_key(&name)
        {
            return false;
        }
        self.is_own_variable(name)
    }

    /// Whether assignments, loops or `with` of the current function bind a name, so that the name is never that of
    /// an outer scope.
    pub(super) fn is_own_variable(&self, name: Sym) -> bool {
        let code = self.frames.last().and_then(|frame| self.code.get(frame.code?.0 as usize));
        let Some((code, Body::Function(def))) = code.map(|code| (code, code.body)) else { return false };
        code.locals.get_or_init(|| Locals::of_function(def)).contains(&name)
    }

    /// [`Interp::is_unbound`] for the module that is run as the program. Always false for a
    /// notebook, because its cells may have been run in another order.
    fn is_unbound_in_script(&self, name: Sym) -> bool {
        let Some(frame) = self.frames.last().filter(|frame| frame.scope == frame.home) else { return false };
        if self.context.speculative
            || matches!(self.heap.get(frame.home), Data::Scope(names) if names.vars.contains_key(&name))
        {
            return false;
        }
        let script = self.script.get_or_init(|| {
            let dynamic = ["import *", "globals()", "exec(", "vars(", "__dict__", "setattr("];
            let has_cells =
                self.sources.own_path(self.root).is_none_or(|path| path.rsplit('.').next() == Some("ipynb"));
            if has_cells || dynamic.iter().any(|text| self.mentions(text)) {
                return FxHashSet::default();
            }
            Locals::of_module(&self.sources.module(self.root).body)
        });
        script.contains(&name)
    }
}

fn is_plain(decorator: &Expr) -> bool {
    decorator.as_name_expr().is_some_and(|name| PLAIN.contains(&name.id.as_str()))
}

/// The names that a function or module binds, to find the variables that are bound only by
/// assignments, loops and `with`.
#[derive(Default)]
struct Locals {
    bound: FxHashSet<Sym>,
    /// Parameters, `global` names, and names that other statements bind or delete.
    other: FxHashSet<Sym>,
    /// The number of enclosing nested functions and classes.
    inner: u32,
}

impl Locals {
    fn of_function(def: &StmtFunctionDef) -> FxHashSet<Sym> {
        let mut locals = Locals::default();
        locals.other.extend(def.parameters.iter().map(|p| sym(p.name().as_str())));
        locals.visit_body(&def.body);
        locals.surely_bound()
    }

    fn of_module(body: &[Stmt]) -> FxHashSet<Sym> {
        let mut locals = Locals::default();
        locals.visit_body(body);
        locals.surely_bound()
    }

    fn surely_bound(self) -> FxHashSet<Sym> {
        let Locals { mut bound, other, .. } = self;
        bound.retain(|name| !other.contains(name));
        bound
    }

    fn target(&mut self, target: &Expr) {
        match target {
            Expr::Name(name) => {
                self.bound.insert(sym(name.id.as_str()));
            }
            Expr::Starred(e) => self.target(&e.value),
            Expr::Tuple(e) => e.elts.iter().for_each(|e| self.target(e)),
            Expr::List(e) => e.elts.iter().for_each(|e| self.target(e)),
            _ => {}
        }
    }

    fn other(&mut self, name: &str) {
        self.other.insert(sym(name));
    }
}

impl<'a> Visitor<'a> for Locals {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            // Nested functions have their own variables, except for `nonlocal` names.
            Stmt::FunctionDef(ast::StmtFunctionDef { name, .. }) | Stmt::ClassDef(ast::StmtClassDef { name, .. }) => {
                self.other(name.as_str());
                self.inner += 1;
                walk_stmt(self, stmt);
                self.inner -= 1;
                return;
            }
            Stmt::Nonlocal(ast::StmtNonlocal { names, .. }) | Stmt::Global(ast::StmtGlobal { names, .. }) => {
                for name in names {
                    self.other(name.as_str());
                }
            }
            _ if self.inner > 0 => {}
            Stmt::Assign(s) => s.targets.iter().for_each(|t| self.target(t)),
            Stmt::AugAssign(s) => self.target(&s.target),
            Stmt::AnnAssign(s) => self.target(&s.target),
            Stmt::For(s) => self.target(&s.target),
            Stmt::With(s) => s.items.iter().filter_map(|i| i.optional_vars.as_deref()).for_each(|t| self.target(t)),
            Stmt::Import(s) => s.names.iter().for_each(|alias| {
                let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
                self.other(name.split('.').next().unwrap_or(name));
            }),
            Stmt::ImportFrom(s) => {
                s.names.iter().for_each(|alias| self.other(alias.asname.as_ref().unwrap_or(&alias.name).as_str()));
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Lambda(_) => return,
            Expr::Name(name) if name.ctx == ast::ExprContext::Del => self.other(name.id.as_str()),
            Expr::Named(e) => {
                if let Expr::Name(name) = &*e.target {
                    self.other(name.id.as_str());
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }

    fn visit_except_handler(&mut self, handler: &'a ast::ExceptHandler) {
        let ast::ExceptHandler::ExceptHandler(inner) = handler;
        if let Some(name) = &inner.name {
            self.other(name.as_str());
        }
        ast::visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a ast::Pattern) {
        let name = match pattern {
            ast::Pattern::MatchAs(p) => p.name.as_ref(),
            ast::Pattern::MatchStar(p) => p.name.as_ref(),
            ast::Pattern::MatchMapping(p) => p.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = name {
            self.other(name.as_str());
        }
        ast::visitor::walk_pattern(self, pattern);
    }
}

/// The arguments of a call.
struct Given<'a> {
    positional: usize,
    keywords: Vec<&'a str>,
    /// Whether there is a `*args`.
    spreads: bool,
    /// Whether there is a `**kwargs`.
    unpacks: bool,
}

/// What is wrong with the arguments of a call of a function. The receiver is already bound to the
/// first `bound` parameters.
fn mismatch(name: &str, parameters: &ast::Parameters, bound: usize, given: &Given<'_>) -> Option<WrongArguments> {
    let all: Vec<&ast::ParameterWithDefault> = parameters.posonlyargs.iter().chain(&parameters.args).collect();
    let positional = given.positional + bound;
    if parameters.vararg.is_none() && !given.spreads && positional > all.len() {
        if bound > all.len() {
            return Some(format!("`{name}` has no parameter for the instance, such as `self`").into());
        }
        return Some(surplus_arguments(name, all.len().saturating_sub(bound), given.positional));
    }
    let named = |p: &&ast::ParameterWithDefault, name: &str| p.parameter.name.as_str() == name;
    let by_name: Vec<&ast::ParameterWithDefault> = parameters.args.iter().chain(&parameters.kwonlyargs).collect();
    if parameters.kwarg.is_none()
        && let Some(unknown) = given.keywords.iter().find(|keyword| !by_name.iter().any(|p| named(p, keyword)))
    {
        let known = by_name.iter().map(|p| p.parameter.name.as_str());
        return Some(unknown_argument(name, unknown, known).0);
    }
    let by_position =
        all.iter().skip(parameters.posonlyargs.len()).take(positional.saturating_sub(parameters.posonlyargs.len()));
    let mut by_position = by_position.map(|p| p.parameter.name.as_str());
    if !given.spreads
        && let Some(twice) = by_position.find(|name| given.keywords.contains(name))
    {
        return Some(doubled_argument(name, twice));
    }
    let mut needed = all.into_iter().skip(positional).chain(&parameters.kwonlyargs).filter(|p| p.default.is_none());
    let missing = needed.find(|p| !given.keywords.contains(&p.parameter.name.as_str()))?;
    (!given.spreads && !given.unpacks).then(|| missing_argument(name, missing.parameter.name.as_str()))
}
