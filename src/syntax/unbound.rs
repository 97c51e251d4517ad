//! Names that are read although nothing can have bound them: `NameError` and `UnboundLocalError`.
//!
//! Each scope is analysed once. A name counts as bound if *some* path to its use may have bound it,
//! so a use is reported only if no path to it has bound the name.

use std::rc::Rc;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashSet;

use super::bindings::{bound_by, imports, is_type_checking};
use super::scope::{BUILTINS, Bound, Globals, each_name};
use super::search::{callee_or_itself, path_of};

/// If this many loops around a loop are being tried (see [`Walk::trial`]), the body of the loop is not
/// run: all names that it binds count as bound after it.
const MOST_TRIALS: usize = 4;

/// A use of a name that nothing has bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unbound {
    pub name: String,
    pub at: TextRange,
    /// The scope binds the name, but on no path to this use.
    pub later: bool,
    /// The use is in an annotation, which Python evaluates at once before version 3.14 only.
    pub annotation: bool,
    /// The names that the scopes around the use bind.
    pub known: Vec<String>,
}

/// Exceptions other than `NameError`, and than its base classes.
const OTHER_ERRORS: &[&str] = &[
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "BrokenPipeError",
    "ConnectionError",
    "EOFError",
    "Empty",
    "FileExistsError",
    "FileNotFoundError",
    "FloatingPointError",
    "GeneratorExit",
    "HTTPError",
    "IOError",
    "ImportError",
    "IndexError",
    "JSONDecodeError",
    "KeyError",
    "KeyboardInterrupt",
    "LookupError",
    "MemoryError",
    "ModuleNotFoundError",
    "NotImplementedError",
    "OSError",
    "OverflowError",
    "PermissionError",
    "RecursionError",
    "RuntimeError",
    "StopIteration",
    "SystemExit",
    "TimeoutError",
    "TypeError",
    "UnicodeDecodeError",
    "ValueError",
    "ZeroDivisionError",
];

/// The uses of names that nothing has bound, in the order of the source. `starred` holds the names that
/// `from … import *` may bind, if they are known. `package` is the name of the package whose
/// `__init__.py` this is.
pub(crate) fn unbound(body: &[Stmt], starred: Option<&FxHashSet<&str>>, package: Option<&str>) -> Vec<Unbound> {
    let mut collected = Bound::default();
    collected.visit_body(body);
    let (mut names, mut globals) = (collected.names, Globals::default());
    globals.visit_body(body);
    names.extend(&globals.0);
    let mut builtins: FxHashSet<&str> = BUILTINS.split_whitespace().collect();
    builtins.extend(starred.into_iter().flatten());
    builtins.extend(submodules(body, package));
    let module = Rc::new(Scope { names, class: false });
    // A function may have bound the names that it declares as global before anything else runs.
    let bound = globals.0.into_iter().collect();
    let mut walk = Walk {
        builtins: &builtins,
        scopes: vec![module],
        state: Some(bound),
        inner: Vec::new(),
        lazy: false,
        silent: 0,
        annotations: !defers_annotations(body),
        annotation: false,
        trial: 0,
        fatal: FxHashSet::default(),
        jumps: Jumps::default(),
        guarded: 0,
        stars: collected.star && starred.is_none(),
        caught: FxHashSet::default(),
        found: Vec::new(),
        waiting: Vec::new(),
    };
    walk.body(body);
    while let Some(waiting) = walk.waiting.pop() {
        walk.function(waiting);
    }
    walk.found.sort_by_key(|one| one.at.start());
    walk.found.dedup();
    walk.found
}

/// The submodules that a package imports. Python binds each of them in the package: in `__init__.py`,
/// `from .part import name` also binds `part`.
fn submodules<'a>(body: &'a [Stmt], package: Option<&str>) -> FxHashSet<&'a str> {
    let mut found = FxHashSet::default();
    imports(body, &mut |import| {
        let mut parts = import.module.split('.');
        if import.level == 1 || import.level == 0 && package.is_some() && parts.any(|part| Some(part) == package) {
            found.extend(parts.next());
        }
        false
    });
    found
}

/// The names that a scope binds anywhere.
struct Scope<'a> {
    names: FxHashSet<&'a str>,
    /// Whether this is the scope of a class: functions inside the class do not see its names.
    class: bool,
}

/// A function whose body is analysed later: its scopes from the module inwards, and its body.
struct Waiting<'a> {
    scopes: Vec<Rc<Scope<'a>>>,
    parameters: FxHashSet<&'a str>,
    body: Code<'a>,
}

enum Code<'a> {
    Body(&'a [Stmt]),
    Value(&'a Expr),
}

/// The names that are bound on the paths that end in a `continue` or a `break` of the innermost loop;
/// `None` if there is no such path.
#[derive(Default)]
struct Jumps<'a> {
    continues: Option<FxHashSet<&'a str>>,
    breaks: Option<FxHashSet<&'a str>>,
}

struct Walk<'a, 'b> {
    builtins: &'b FxHashSet<&'b str>,
    /// From the module inwards.
    scopes: Vec<Rc<Scope<'a>>>,
    /// The names that some path to this place has bound in the innermost scope; `None` if no path
    /// leads here.
    state: Option<FxHashSet<&'a str>>,
    /// The targets of the comprehensions around this place.
    inner: Vec<FxHashSet<&'a str>>,
    /// The code may run later than the code around it.
    lazy: bool,
    /// If this is above 0, nothing is reported, because a handler may catch the exception.
    silent: u32,
    /// Whether Python before version 3.14 evaluates the annotations of the module.
    annotations: bool,
    /// This place is in an annotation.
    annotation: bool,
    /// The number of loops around this place whose body is run only to find the state at its beginning.
    /// If it is above 0, nothing is reported, and the use of an unbound name ends its path, unless the use
    /// may be skipped.
    trial: usize,
    /// The names whose use has ended a path in such a run of the innermost loop.
    fatal: FxHashSet<&'a str>,
    jumps: Jumps<'a>,
    /// Above 0 inside a part of an expression that may be skipped.
    guarded: u32,
    /// The module imports `*`, so its names are not known.
    stars: bool,
    /// The names that handlers written for Python 2 bind.
    caught: FxHashSet<&'a str>,
    found: Vec<Unbound>,
    waiting: Vec<Waiting<'a>>,
}

impl<'a> Walk<'a, '_> {
    fn function(&mut self, waiting: Waiting<'a>) {
        let Waiting { scopes, parameters, body } = waiting;
        let mut names = parameters.clone();
        let mut own = Bound::default();
        match body {
            Code::Body(body) => own.visit_body(body),
            // `lambda x: (y := x.next) and y.value`
            Code::Value(value) => own.visit_expr(value),
        }
        names.extend(own.names.difference(&own.outer));
        names.retain(|name| !own.outer.contains(name));
        self.scopes = scopes;
        self.scopes.push(Rc::new(Scope { names, class: false }));
        self.state = Some(parameters);
        match body {
            Code::Body(body) => self.body(body),
            Code::Value(value) => self.visit_expr(value),
        }
    }

    /// Records the code of a function, which is analysed later, in the scopes of this place.
    fn later(&mut self, parameters: Option<&'a ast::Parameters>, types: Option<&'a ast::TypeParams>, body: Code<'a>) {
        let mut names: FxHashSet<&'a str> = self.inner.iter().flatten().copied().collect();
        if let Some(parameters) = parameters {
            names.extend(parameters.iter().map(|parameter| parameter.name().as_str()));
        }
        if let Some(types) = types {
            names.extend(types.iter().map(|one| one.name().as_str()));
        }
        if self.trial > 0 {
            return;
        }
        let scopes = self.scopes.iter().filter(|scope| !scope.class).cloned().collect();
        self.waiting.push(Waiting { scopes, parameters: names, body });
    }

    fn defaults(&mut self, parameters: &'a ast::Parameters) {
        for parameter in parameters.iter_non_variadic_params() {
            if let Some(default) = &parameter.default {
                self.visit_expr(default);
            }
        }
    }

    fn body(&mut self, body: &'a [Stmt]) {
        for stmt in body {
            self.visit_stmt(stmt);
        }
    }

    fn bind(&mut self, name: &'a str) {
        if let Some(state) = &mut self.state {
            state.insert(name);
        }
    }

    /// The parts of a tuple are assigned from left to right: `key, table[key] = pair`.
    fn bind_target(&mut self, target: &'a Expr) {
        match target {
            Expr::Tuple(tuple) => return tuple.elts.iter().for_each(|part| self.bind_target(part)),
            Expr::List(list) => return list.elts.iter().for_each(|part| self.bind_target(part)),
            _ => {}
        }
        self.visit_expr(target);
        each_name(target, &mut |name| self.bind(name));
    }

    /// Binds all names that a block may bind.
    fn bind_all(&mut self, body: &'a [Stmt]) {
        self.bind_all_but(body, &FxHashSet::default());
    }

    fn bind_all_but(&mut self, body: &'a [Stmt], except: &FxHashSet<&'a str>) {
        let mut bound = Bound::default();
        bound.visit_body(body);
        if let Some(state) = &mut self.state {
            state.extend(bound.names.into_iter().filter(|name| !except.contains(name)));
        }
    }

    /// Runs alternatives from the same state, and joins those that continue.
    fn fork(&mut self, arms: impl IntoIterator<Item = &'a [Stmt]>) {
        let before = self.state.clone();
        let mut joined: Option<FxHashSet<&'a str>> = None;
        for arm in arms {
            self.state.clone_from(&before);
            self.body(arm);
            join(&mut joined, self.state.take());
        }
        self.state = joined;
    }

    /// Runs the body of a loop. A later iteration sees the names that an earlier one has bound, unless the
    /// use of an unbound name ends every path to the binding.
    fn repeat(&mut self, body: &'a [Stmt], orelse: &'a [Stmt]) {
        let outer = std::mem::take(&mut self.jumps);
        let fatal = std::mem::take(&mut self.fatal);
        while self.trial < MOST_TRIALS {
            let before = self.state.clone();
            self.trial += 1;
            self.body(body);
            self.trial -= 1;
            let end = self.state.take();
            self.state.clone_from(&before);
            join(&mut self.state, end);
            join(&mut self.state, self.jumps.continues.take());
            if self.state == before {
                break;
            }
        }
        if self.trial == 0 {
            if !self.fatal.is_empty() {
                // Only the names whose use ends the paths are reported, not those that are bound behind it.
                let fatal = std::mem::take(&mut self.fatal);
                self.bind_all_but(body, &fatal);
            }
            let before = self.state.clone();
            self.body(body);
            join(&mut self.state, before);
            // One report for each name is enough: after the loop, all names of its body count as bound.
            self.bind_all(body);
        } else if self.trial == MOST_TRIALS {
            self.bind_all(body);
        }
        let breaks = self.jumps.breaks.take();
        self.jumps = outer;
        self.fatal = fatal;
        // `break` skips the `else`.
        self.body(orelse);
        join(&mut self.state, breaks);
    }

    fn attempt(&mut self, attempt: &'a ast::StmtTry) {
        let before = self.state.clone();
        let catches = attempt.handlers.iter().any(may_catch);
        self.silent += u32::from(catches);
        self.body(&attempt.body);
        self.silent -= u32::from(catches);
        self.body(&attempt.orelse);
        let mut joined = self.state.take();
        for handler in &attempt.handlers {
            let ast::ExceptHandler::ExceptHandler(handler) = handler;
            self.state.clone_from(&before);
            self.bind_all(&attempt.body);
            match handler.type_.as_deref() {
                // `except Error, name:` of Python 2
                Some(Expr::Tuple(kinds)) if !kinds.parenthesized => {
                    for name in kinds.elts.iter().skip(1) {
                        each_name(name, &mut |name| _ = self.caught.insert(name));
                    }
                }
                Some(kind) => self.visit_expr(kind),
                None => {}
            }
            if let Some(name) = &handler.name {
                self.bind(name);
            }
            self.body(&handler.body);
            join(&mut joined, self.state.take());
        }
        if attempt.finalbody.is_empty() {
            self.state = joined;
            return;
        }
        // `finally` also runs after an exception, in any of the earlier states.
        let ended = joined.is_none();
        self.state = joined.or(before);
        self.bind_all(&attempt.body);
        self.bind_all(&attempt.orelse);
        for ast::ExceptHandler::ExceptHandler(handler) in &attempt.handlers {
            self.bind_all(&handler.body);
        }
        self.body(&attempt.finalbody);
        if ended {
            // The paths that leave the block with `continue` or `break` also run the `finally` block.
            let state = self.state.take();
            for jump in [&mut self.jumps.continues, &mut self.jumps.breaks].into_iter().filter(|jump| jump.is_some()) {
                join(jump, state.clone());
            }
        }
    }

    fn comprehension(&mut self, generators: &'a [ast::Comprehension], parts: &[&'a Expr], lazy: bool) {
        let was_lazy = self.lazy;
        self.guarded += 1;
        self.inner.push(FxHashSet::default());
        for (index, generator) in generators.iter().enumerate() {
            // The first iterable is evaluated at once, outside of the comprehension.
            self.lazy = was_lazy || lazy && index > 0;
            self.visit_expr(&generator.iter);
            self.lazy = was_lazy || lazy;
            if let Some(inner) = self.inner.last_mut() {
                each_name(&generator.target, &mut |name| _ = inner.insert(name));
            }
            self.visit_expr(&generator.target);
            generator.ifs.iter().for_each(|test| self.visit_expr(test));
        }
        for part in parts {
            self.visit_expr(part);
        }
        self.inner.pop();
        self.guarded -= 1;
        self.lazy = was_lazy;
    }

    fn read(&mut self, name: &'a ast::ExprName) {
        let Some(state) = &self.state else { return };
        let text = name.id.as_str();
        let (Some((scope, outer)), 0) = (self.scopes.split_last(), self.silent) else { return };
        if text.starts_with("__") || self.builtins.contains(text) || self.inner.iter().any(|inner| inner.contains(text))
        {
            return;
        }
        let is_own = scope.names.contains(text);
        if is_own && (self.lazy || state.contains(text)) {
            return;
        }
        // In the body of a class, a name that is not yet bound is searched outside.
        let is_local = is_own && !scope.class;
        let is_global_scope = outer.is_empty();
        let elsewhere = outer.iter().any(|scope| !scope.class && scope.names.contains(text));
        let may_be_imported = self.stars && (!is_local || is_global_scope);
        if elsewhere && !is_local || may_be_imported || self.caught.contains(text) {
            return;
        }
        if self.trial > 0 {
            // A name that nothing binds is a mistake of its own: the later rounds are judged as if it were corrected.
            if self.guarded == 0 && is_local {
                self.state = None;
                self.fatal.insert(text);
            }
            return;
        }
        let known = self.scopes.iter().flat_map(|scope| &scope.names).map(|name| (*name).to_owned()).collect();
        self.found.push(Unbound {
            name: text.to_owned(),
            at: name.range(),
            later: is_local,
            annotation: self.annotation,
            known,
        });
    }
}

impl<'a> Visitor<'a> for Walk<'a, '_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => {
                def.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
                self.defaults(&def.parameters);
                if def.type_params.is_none() {
                    let parameters = def.parameters.iter().filter_map(|parameter| parameter.annotation());
                    parameters.chain(def.returns.as_deref()).for_each(|annotation| self.visit_annotation(annotation));
                }
                self.later(Some(&def.parameters), def.type_params.as_deref(), Code::Body(&def.body));
                self.bind(&def.name);
            }
            Stmt::ClassDef(def) => {
                def.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
                if def.type_params.is_none()
                    && let Some(arguments) = &def.arguments
                {
                    self.visit_arguments(arguments);
                }
                let mut own = Bound::default();
                own.visit_body(&def.body);
                let outer = self.state.replace(FxHashSet::default());
                let types = def.type_params.iter().flat_map(|types| types.iter().map(|one| one.name().as_str()));
                self.inner.push(types.collect());
                self.scopes.push(Rc::new(Scope { names: own.names, class: true }));
                // The names of a function around a class count as bound in the class.
                if outer.is_some() {
                    self.body(&def.body);
                }
                self.scopes.pop();
                self.inner.pop();
                self.state = outer;
                self.bind(&def.name);
            }
            Stmt::Return(_) | Stmt::Raise(_) => {
                walk_stmt(self, stmt);
                self.state = None;
            }
            Stmt::Break(_) => join(&mut self.jumps.breaks, self.state.take()),
            Stmt::Continue(_) => join(&mut self.jumps.continues, self.state.take()),
            Stmt::Expr(one) => {
                self.visit_expr(&one.value);
                if ends_the_program(&one.value) {
                    self.state = None;
                }
            }
            Stmt::Assign(assign) => {
                self.visit_expr(&assign.value);
                assign.targets.iter().for_each(|target| self.bind_target(target));
            }
            Stmt::AugAssign(assign) => {
                self.visit_expr(&assign.value);
                if let Expr::Name(name) = &*assign.target {
                    self.read(name);
                }
                self.bind_target(&assign.target);
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.visit_expr(value);
                }
                // In a function, nothing evaluates the annotation of a variable.
                if self.scopes.len() == 1 || self.scopes.last().is_some_and(|scope| scope.class) {
                    self.visit_annotation(&assign.annotation);
                }
                self.bind_target(&assign.target);
            }
            Stmt::TypeAlias(alias) => each_name(&alias.name, &mut |name| self.bind(name)),
            Stmt::Import(ast::StmtImport { names, .. }) | Stmt::ImportFrom(ast::StmtImportFrom { names, .. }) => {
                for alias in names {
                    self.bind(bound_by(alias));
                }
            }
            // A deleted name still counts as bound.
            Stmt::Global(_) | Stmt::Nonlocal(_) => {}
            // Nothing runs the first arm.
            Stmt::If(test) if is_type_checking(&test.test) || is_false(&test.test) => {
                self.bind_all(&test.body);
                for clause in &test.elif_else_clauses {
                    clause.test.iter().for_each(|test| self.visit_expr(test));
                    self.body(&clause.body);
                }
            }
            Stmt::If(test) => {
                let mut joined: Option<FxHashSet<&'a str>> = None;
                let clauses = test.elif_else_clauses.iter().map(|clause| (clause.test.as_ref(), &*clause.body));
                for (test, body) in std::iter::once((Some(&*test.test), &*test.body)).chain(clauses) {
                    if let Some(test) = test {
                        self.visit_expr(test);
                    }
                    // The next condition is evaluated only if this one is false.
                    let before = self.state.clone().filter(|_| test.is_some());
                    self.body(body);
                    join(&mut joined, self.state.take());
                    self.state = before;
                }
                join(&mut joined, self.state.take());
                self.state = joined;
            }
            Stmt::For(each) => {
                self.visit_expr(&each.iter);
                self.bind_target(&each.target);
                self.repeat(&each.body, &each.orelse);
            }
            Stmt::While(each) => {
                self.visit_expr(&each.test);
                self.repeat(&each.body, &each.orelse);
            }
            Stmt::With(with) => {
                for item in &with.items {
                    self.visit_expr(&item.context_expr);
                    if let Some(target) = &item.optional_vars {
                        self.bind_target(target);
                    }
                }
                let before = self.state.clone();
                self.body(&with.body);
                // The manager may suppress an exception that its body raises anywhere.
                if self.state.is_none() && !with.items.iter().all(passes_exceptions) {
                    self.state = before;
                }
                self.bind_all(&with.body);
            }
            Stmt::Try(attempt) => self.attempt(attempt),
            Stmt::Match(choice) => {
                self.visit_expr(&choice.subject);
                for case in &choice.cases {
                    let mut bound = Bound::default();
                    bound.visit_pattern(&case.pattern);
                    bound.names.into_iter().for_each(|name| self.bind(name));
                }
                self.fork(choice.cases.iter().map(|case| &*case.body).chain([&[][..]]));
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_annotation(&mut self, annotation: &'a Expr) {
        if self.annotations {
            let outer = std::mem::replace(&mut self.annotation, true);
            self.visit_expr(annotation);
            self.annotation = outer;
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            // `del name` also fails if the name has no value.
            Expr::Name(name) if !name.ctx.is_store() => self.read(name),
            Expr::Name(_) => {}
            Expr::If(choice) => {
                self.visit_expr(&choice.test);
                self.guarded += 1;
                self.visit_expr(&choice.body);
                self.visit_expr(&choice.orelse);
                self.guarded -= 1;
            }
            Expr::BoolOp(operands) => {
                let outer = self.guarded;
                for operand in &operands.values {
                    self.visit_expr(operand);
                    // Only the first operand is always evaluated.
                    self.guarded = outer + 1;
                }
                self.guarded = outer;
            }
            Expr::Named(named) => {
                self.visit_expr(&named.value);
                each_name(&named.target, &mut |name| self.bind(name));
            }
            Expr::Lambda(lambda) => {
                if let Some(parameters) = lambda.parameters.as_deref() {
                    self.defaults(parameters);
                }
                self.later(lambda.parameters.as_deref(), None, Code::Value(&lambda.body));
            }
            Expr::ListComp(one) => self.comprehension(&one.generators, &[&one.elt], false),
            Expr::SetComp(one) => self.comprehension(&one.generators, &[&one.elt], false),
            Expr::DictComp(one) => {
                let parts: Vec<&'a Expr> = one.key.iter().chain([&one.value]).map(|part| &**part).collect();
                self.comprehension(&one.generators, &parts, false);
            }
            Expr::Generator(one) => self.comprehension(&one.generators, &[&one.elt], true),
            _ => walk_expr(self, expr),
        }
    }
}

/// Joins the state of a path with the joined state of other paths. `None` means that there is no
/// path.
fn join<'a>(joined: &mut Option<FxHashSet<&'a str>>, state: Option<FxHashSet<&'a str>>) {
    match (&mut *joined, state) {
        (Some(joined), Some(state)) => joined.extend(state),
        (None, state) => *joined = state,
        (Some(_), None) => {}
    }
}

/// Whether a condition never holds, whatever the variables are.
pub(crate) fn is_false(test: &Expr) -> bool {
    match test {
        Expr::BooleanLiteral(literal) => !literal.value,
        Expr::BoolOp(operands) if operands.op.is_and() => operands.values.iter().any(is_false),
        Expr::NumberLiteral(literal) => matches!(&literal.value, ast::Number::Int(int) if *int == ast::Int::ZERO),
        _ => false,
    }
}

/// Whether a call ends the program: `exit()`, `sys.exit()`, `os._exit()`.
pub(crate) fn ends_the_program(expr: &Expr) -> bool {
    let Expr::Call(call) = expr else { return false };
    match &*call.func {
        Expr::Name(name) => matches!(name.id.as_str(), "exit" | "quit"),
        Expr::Attribute(method) => matches!(method.attr.as_str(), "exit" | "_exit" | "abort"),
        _ => false,
    }
}

/// Whether a handler may catch a `NameError`, and does not raise an exception itself.
fn may_catch(handler: &ast::ExceptHandler) -> bool {
    let ast::ExceptHandler::ExceptHandler(handler) = handler;
    let is_other = |kind: &Expr| path_of(kind).last().is_some_and(|name| OTHER_ERRORS.contains(name));
    let catches = match handler.type_.as_deref() {
        Some(Expr::Tuple(kinds)) => !kinds.elts.iter().all(is_other),
        Some(kind) => !is_other(kind),
        None => true,
    };
    catches && !matches!(handler.body.last(), Some(Stmt::Raise(_)))
}

/// Whether the module says that annotations are not evaluated: `from __future__ import annotations`.
fn defers_annotations(body: &[Stmt]) -> bool {
    body.iter().filter_map(Stmt::as_import_from_stmt).any(|import| {
        import.module.as_deref() == Some("__future__") && import.names.iter().any(|name| &*name.name == "annotations")
    })
}

/// Whether a context manager is known to suppress no exception.
fn passes_exceptions(item: &ast::WithItem) -> bool {
    let known = ["no_grad", "enable_grad", "inference_mode", "set_grad_enabled", "autocast", "open"];
    path_of(callee_or_itself(&item.context_expr)).last().is_some_and(|name| known.contains(name))
}

#[cfg(test)]
mod tests {
    use super::unbound;

    /// The names found in a program, with `!` if the scope binds the name elsewhere.
    fn found(text: &str) -> String {
        let parsed = crate::syntax::parse(text, false);
        let names = unbound(&parsed.module.body, None, Some("pack")).into_iter();
        names.map(|one| format!("{}{}", one.name, if one.later { "!" } else { "" })).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn names_that_nothing_binds() {
        assert_eq!(found("def f(x):\n    return x + y\n"), "y");
        assert_eq!(found("def f(x):\n    return x + y\ny = 1\n"), "");
        assert_eq!(found("def f(x):\n    global y\n    y = x\ndef g():\n    return y\n"), "");
        assert_eq!(found("class A:\n    n = 1\n    m = n + 1\n    def f(self):\n        return n\n"), "n");
        assert_eq!(found("f = lambda x, k=z: [x + a for a in x if b]\n"), "z b");
        assert_eq!(
            found("def f():\n    with no_grad():\n        raise NotImplementedError\n    return x\nno_grad = 1\n"),
            ""
        );
        assert_eq!(found("from a import *\nprint(x)\ndef f():\n    print(y)\n"), "");
        assert_eq!(found("from .part import x\nprint(part)\nimport pack.a.b\ndel a\nfrom other.b import c\nb"), "b");
        assert_eq!(found("try:\n    unknown\nexcept NameError:\n    other\n"), "other");
        assert_eq!(found("if False and x:\n    a\nelif b:\n    c\n"), "b c");
        assert_eq!(found("def f(x: Missing) -> Other:\n    y: Third = x\n    return y\n"), "Missing Other");
        assert_eq!(found("from __future__ import annotations\ndef f(x: Missing): pass\n"), "");
        assert_eq!(found("x: Missing = 1\nclass A:\n    y: 'A'\n"), "Missing");
        assert_eq!(found("try:\n    unknown\nexcept (KeyError, ValueError):\n    pass\n"), "unknown");
        assert_eq!(found("try:\n    unknown\nexcept Exception as e:\n    print(e)\n    raise\n"), "unknown");
        assert_eq!(found("try:\n    unknown\nexcept Exception as e:\n    print(e)\n"), "");
        assert_eq!(
            found("def f(x):\n    def g():\n        return x + h() + later\n    later = 1\n    return g\n"),
            "h"
        );
    }

    #[test]
    fn names_that_no_path_has_bound() {
        assert_eq!(found("def f(p):\n    c = g(c)\n    return c\ng = len\n"), "c!");
        assert_eq!(found("def f(p):\n    if p:\n        s = 1\n    else:\n        return s\n    return s\n"), "s!");
        assert_eq!(found("count = 0\ndef f():\n    count += 1\n"), "count!");
        assert_eq!(
            found("def f(xs):\n    for x in xs:\n        if x:\n            print(last)\n        last = x\n"),
            ""
        );
        assert_eq!(found("def f(xs):\n    for x in xs:\n        s = s + x\n"), "s!");
        assert_eq!(
            found(
                "def f(xs):\n    for x in xs:\n        y = missing(x)\n        if x:\n            s = s + y\n        else:\n            s = y\n"
            ),
            "missing"
        );
        assert_eq!(found("def f(xs):\n    for x in xs:\n        if x:\n            s = s + x\n    return s\n"), "s!");
        // What is bound behind the use of `s` is not reported, too.
        assert_eq!(
            found(
                "def f(xs):\n    for x in xs:\n        t(s)\n        if x:\n            u = 1\n        else:\n            t(u)\n        s = x\nt = print\n"
            ),
            "s!"
        );
        assert_eq!(
            found(
                "def f(xs):\n    for x in xs:\n        if x:\n            s = 1\n            continue\n        s += x\n"
            ),
            ""
        );
        assert_eq!(
            found("def f(xs):\n    while xs:\n        for x in xs:\n            s = s + x\n        t = s\n"),
            "s!"
        );
        for read in ["a + 1 if x else x", "x and a", "[a for _ in range(x)]"] {
            assert_eq!(found(&format!("def f(xs):\n    for x in xs:\n        b = {read}\n        a = b\n")), "");
        }
        assert_eq!(found("def f():\n    try:\n        a = 1\n    except OSError:\n        pass\n    return a\n"), "");
        assert_eq!(found("def f():\n    try:\n        g = 1\n    except OSError, e:\n        print(e)\n"), "");
        assert_eq!(found("def f():\n    while True:\n        a = 1\n        break\n    return a\n"), "");
        let searches = "def f(xs):\n    if xs:\n        a = 1\n    for x in xs:\n        if x:\n            break\n    else:\n        return\n    return a\n";
        assert_eq!(found(searches), "");
        assert_eq!(found("def f():\n    with open('a') as g:\n        return h\n    h = 1\n"), "h!");
        let suppressed = "with s():\n    if x:\n        a = 1\n        raise ValueError\nprint(a)\n";
        assert_eq!(found(&format!("from m import s, x\n{suppressed}")), "");
        assert_eq!(found("def f():\n    raise ValueError\n    return a\n    a = 1\n"), "");
        assert_eq!(found("print(a)\na = 1\n"), "a!");
        assert_eq!(
            found("def f(v):\n    match v:\n        case [a, *b]:\n            return a, b, c\n    return c\n"),
            "c c"
        );
        assert_eq!(found("def f(v):\n    return (w for w in v if (n := w)), n\n"), "");
    }
}
