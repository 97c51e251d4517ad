//! Modules: project modules run when they are first imported, or are executed lazily; library
//! modules are paths.

use std::rc::Rc;

use super::interp::{Frame, Interp};
use super::leave::BlockKind;
use super::library::Event;
use super::library::RejectKind;
use super::stmt::Flow;
use crate::libraries;
use crate::syntax::ast::{ModModule, StmtImport, StmtImportFrom};
use crate::syntax::{Bindings, Expr, FileId, Place, Span, Stmt};
use crate::value::{Data, Items, Lazy, ObjId, Scope, Sym, Type, Value, sym};

/// The target of an import.
#[derive(Clone, Copy)]
pub(crate) enum Import {
    /// A file of the project.
    File(FileId),
    /// A folder of the project without an `__init__.py`.
    Namespace,
    /// A module from outside the project.
    External,
}

/// The interface of the project to the interpreter.
pub(crate) trait Sources<'p> {
    fn module(&self, file: FileId) -> &'p ModModule;

    /// Whether the parser found a syntax error in this part of a file, so that the syntax tree of
    /// this part is a guess.
    fn is_broken(&self, part: Span) -> bool;

    /// Whether a file contains tests, according to its path. Tests usually run on the CPU.
    fn is_test(&self, file: FileId) -> bool;

    /// Whether a file is a notebook, which shows the result of the last statement of a cell.
    fn is_notebook(&self, file: FileId) -> bool;

    /// The statements of a module that bind each name.
    fn bindings(&self, file: FileId) -> &'p Bindings;

    /// The file from which `from module import name, …` gets these names: `found`, which a search for the module
    /// gives, or, if it lacks a name, the only other module of this name that has all of them.
    fn defining(&self, from: FileId, found: FileId, module: &str, names: &[&str]) -> FileId;

    /// The path of a file relative to the root of the project; for a file outside the root, its
    /// name.
    fn own_path(&self, file: FileId) -> Option<&'p str>;

    /// The text of a settings file that the code in the file `from` opens by this path.
    fn data(&self, from: FileId, path: &str) -> Option<&'p str>;

    /// Whether any file of the same program contains this text, not counting lines that are
    /// comments.
    fn mentions(&self, file: FileId, text: &'static str) -> bool;

    /// Whether this file contains a text.
    fn contains(&self, file: FileId, text: &str) -> bool;

    /// Whether any file of the same program assigns this attribute, written as `name` or
    /// `owner.name`.
    fn assigns(&self, file: FileId, attribute: &str) -> bool;

    /// Whether the same program may assign this attribute to an object of a class of this name. The lines of the
    /// class `besides` do not count.
    fn may_assign_to(&self, file: FileId, class: &str, name: &str, besides: Option<&str>) -> bool;

    /// Whether a subclass of a class of this name, in the same program, has a member of this name, too.
    fn overrides(&self, file: FileId, class: &str, name: &str) -> bool;

    /// Whether a subclass of a class of this name, in the same program, assigns this attribute to `self`.
    fn sets_in_subclass(&self, file: FileId, class: &str, name: &str) -> bool;

    /// Whether the same program may set options by names that are only known when it runs.
    fn may_set_options(&self, file: FileId) -> bool;

    /// Whether the same program may set attributes of objects of a class of this name by names that are only known
    /// when it runs.
    fn may_set_by_name(&self, file: FileId, class: &str) -> bool;

    /// Whether a class body of the same program binds this name, or code may set an attribute of this
    /// name by a string.
    fn binds_attribute(&self, file: FileId, name: &str) -> bool;

    /// Whether any file of the same program calls a function or class of this name.
    fn calls(&self, file: FileId, name: &str) -> bool;

    /// Whether the requirements of the project exclude a version of a package and all newer ones.
    fn excludes(&self, file: FileId, package: &str, version: &str) -> bool;

    /// Whether the project's requirements ask for a build of PyTorch without CUDA: `torch==2.0.1+cpu`.
    fn needs_no_gpu(&self, file: FileId) -> bool;

    /// Whether a class of the same program may have a last base of this name. The base in
    /// `class Dataset(Dataset):` does not count.
    fn derives(&self, file: FileId, name: &str) -> bool;

    /// Whether the program assigns an attribute of this name to anything but `self`.
    fn assigns_from_outside(&self, file: FileId, name: &str) -> bool;

    /// Whether a class of the same program has this base and, after it, another one, which may complete it.
    fn is_mixed(&self, file: FileId, name: &str) -> bool;

    /// Whether the program calls functions of this name in constructors, and nowhere else.
    fn constructs_with(&self, file: FileId, name: &str) -> bool;

    /// The length of a file's source, in bytes.
    fn size(&self, file: FileId) -> usize;

    /// Why a module of the project certainly lacks a name that a program reads as its attribute, and the
    /// names that the module has.
    fn missing_member(&self, from: FileId, module: FileId, name: &str) -> Option<(String, Vec<&'p str>)>;

    /// Resolves `import module` (with `level` leading dots) as written in a file, in a run of `script`. The
    /// modules beside the script come first.
    fn resolve(&self, script: FileId, from: FileId, module: &str, level: u32) -> Import;
}

/// The largest depth of nested bindings: to bind one name, other names may have to be bound first.
const MAX_DEMANDS: usize = 24;

/// A lazily executed module.
pub(super) struct Deferred<'p> {
    file: FileId,
    bindings: &'p Bindings,
}

impl Interp<'_> {
    /// Runs the analysed file as a program: `__name__` is `"__main__"`. Returns its scope, and how the run
    /// ended.
    pub(super) fn run_main(&mut self) -> (ObjId, Flow) {
        let (_, scope) = self.enter_module(self.root, "__main__");
        let flow = self.run_module(self.root, scope);
        (scope, flow)
    }

    /// Creates the module object of a file and its scope, which binds only `__name__` and
    /// `__file__`.
    fn enter_module(&mut self, file: FileId, name: &str) -> (ObjId, ObjId) {
        let scope = self.heap.alloc(Data::Scope(Scope::default()));
        let module = self.heap.alloc(Data::Module { file, scope });
        self.modules.insert(file, module);
        self.heap.settle(scope, sym("__name__"), Value::str(name));
        let own = self.sources.own_path(file).map_or(Value::Any(Type::Str), Value::str);
        self.heap.settle(scope, sym("__file__"), own);
        (module, scope)
    }

    fn run_module(&mut self, file: FileId, scope: ObjId) -> Flow {
        if self.frames.len() >= super::interp::MAX_DEPTH {
            return Flow::Next;
        }
        // A handler around the import does not see a module that is half executed.
        let (journals, moment) = (self.heap.pause_journals(), self.heap.moment());
        self.frames.push(Frame::new(file, scope));
        let flow = self.exec_block(&self.sources.module(file).body);
        self.frames.pop();
        self.heap.keep_made_since(moment);
        self.heap.resume_journals(journals);
        flow
    }

    /// The module object of a file and its scope. The first import runs the module. If too much
    /// source has been imported already, the module is executed lazily instead.
    fn load(&mut self, file: FileId, name: &str) -> (Value, ObjId) {
        if let Some(module) = self.modules.get(&file)
            && let Data::Module { scope, .. } = self.heap.get(*module)
        {
            return (Value::Obj(*module), *scope);
        }
        let (module, scope) = self.enter_module(file, name);
        let size = self.sources.size(file);
        if size > self.meter.eager {
            self.foreign.insert(file);
            if self.deferred.is_empty() {
                self.forget_global_registries();
            }
            self.deferred.insert(scope, Deferred { file, bindings: self.sources.bindings(file) });
        } else {
            self.meter.eager -= size;
            // The importing code continues only if the import succeeds. So a condition in the module
            // (`if not folder.exists(): sys.exit(1)`) does not make the code after the import uncertain.
            let context = self.context;
            self.run_module(file, scope);
            self.context = context;
        }
        (Value::Obj(module), scope)
    }

    /// The value of a module or of one of its names. If the module is executed lazily, each of its
    /// names is a deferred import until it is used.
    fn load_name(&mut self, file: FileId, module: &str, name: Option<Sym>) -> Option<Value> {
        let (value, scope) = self.load(file, module);
        let Some(name) = name else { return Some(value) };
        if self.deferred.contains_key(&scope) {
            let settled = match self.heap.get(scope) {
                Data::Scope(names) => names.vars.get(&name).cloned(),
                _ => None,
            };
            let lazy = || Value::Lazy(Rc::new(Lazy { file, module: sym(module), name: Some(name) }));
            return Some(settled.unwrap_or_else(lazy));
        }
        self.scope_var(scope, name)
    }

    /// Executes a deferred import.
    pub(super) fn force(&mut self, lazy: &Lazy) -> Value {
        let (module, scope) = self.load(lazy.file, lazy.module.as_str());
        let Some(name) = lazy.name else { return module };
        if let Some(value) = self.scope_var(scope, name) {
            return value;
        }
        // A submodule of a package.
        match self.sources.resolve(self.root, lazy.file, name.as_str(), 1) {
            Import::File(file) if file != lazy.file => self.load(file, name.as_str()).0,
            _ => Value::Unknown,
        }
    }

    /// A name of a lazily executed module: runs the statements that bind or change it, in a new
    /// scope inside the scope of the module.
    pub(super) fn demand(&mut self, scope: ObjId, name: Sym) -> Option<Value> {
        let deferred = self.deferred.get(&scope)?;
        let (file, bindings) = (deferred.file, deferred.bindings);
        let places = bindings.of_name(name.as_str());
        if places.is_empty() {
            return self.starred(file, bindings, scope, name);
        }
        if !self.may_demand(scope, name) {
            return Some(Value::Unknown);
        }
        let own = self.heap.alloc(Data::Scope(Scope { parent: Some(scope), ..Scope::default() }));
        self.demands.push((scope, name));
        let (visit, journals, moment) = (self.meter.pause(), self.heap.pause_journals(), self.heap.moment());
        self.frames.push(Frame { is_lazy_module: true, ..Frame::new(file, own) });
        let body = &self.sources.module(file).body;
        for place in places {
            if let Some(stmt) = statement(body, *place)
                && self.exec(stmt) == Flow::Stopped
            {
                break;
            }
        }
        self.frames.pop();
        self.meter.resume(visit);
        self.demands.pop();
        let found = self.settle_demanded(scope, own, name, (bindings, places));
        self.heap.keep_made_since(moment);
        self.heap.resume_journals(journals);
        match found {
            Some(Value::Lazy(_)) => self.scope_var(scope, name),
            found => found,
        }
    }

    /// Binds the names that the statements at these places have bound in the scope `own`. Returns the value of `name`.
    fn settle_demanded(
        &mut self,
        scope: ObjId,
        own: ObjId,
        name: Sym,
        (bindings, places): (&Bindings, &[Place]),
    ) -> Option<Value> {
        // If the budget for lazily executed modules is spent, a statement may be unfinished, so the
        // results are discarded.
        if !self.meter.may_import() {
            return Some(Value::Unknown);
        }
        let bound = match self.heap.get(own) {
            Data::Scope(names) => names.vars.clone(),
            _ => return None,
        };
        let mut found = None;
        for (bound, value) in bound {
            let complete = bindings.of_name(bound.as_str()).iter().all(|place| places.contains(place));
            // Functions of the module fill an empty collection, and statements that are not run here may
            // call them: `register("resnet", ResNet)`.
            let is_empty = match value.as_obj().map(|id| self.heap.get(id)) {
                Some(Data::List(Items::Exact(items))) => items.is_empty(),
                Some(Data::Dict(dict)) => dict.entries.is_empty(),
                _ => false,
            };
            if is_empty {
                self.havoc(&value);
            }
            if self.context.speculative {
                self.forget_constants(&value);
            }
            if bound == name {
                found = Some(value.clone());
            }
            let known = matches!(self.heap.get(scope), Data::Scope(names) if names.vars.contains_key(&bound));
            if complete && !known {
                self.heap.settle(scope, bound, value);
            }
        }
        found
    }

    /// Whether the statements that bind a name may be run now. They may not if they are already
    /// running (names can depend on each other in cycles), or if a limit of depth or budget is
    /// reached.
    fn may_demand(&self, scope: ObjId, name: Sym) -> bool {
        let deep = self.demands.len() >= MAX_DEMANDS || self.frames.len() >= super::interp::MAX_DEPTH;
        !deep && self.meter.may_import() && !self.demands.contains(&(scope, name))
    }

    /// A name that `from module import *` may bind.
    fn starred(&mut self, from: FileId, bindings: &Bindings, scope: ObjId, name: Sym) -> Option<Value> {
        if bindings.stars.is_empty()
            || name.as_str().starts_with('_')
            || self.unstarred.contains(&(scope, name))
            || !self.may_demand(scope, name)
        {
            return None;
        }
        self.demands.push((scope, name));
        let body = &self.sources.module(from).body;
        let found = bindings.stars.iter().rev().find_map(|at| {
            let Some(Stmt::ImportFrom(import)) = body.get(*at as usize) else { return None };
            let module = import.module.as_ref().map_or("", |m| m.as_str());
            let Import::File(file) = self.sources.resolve(self.root, from, module, import.level) else { return None };
            let (_, scope) = self.load(file, module);
            if self.keeps_from_stars(file, scope, name) {
                return None;
            }
            self.scope_var(scope, name)
        });
        self.demands.pop();
        if self.demands.is_empty() {
            self.unstarred.clear();
        } else if found.is_none() {
            self.unstarred.insert((scope, name));
        }
        found
    }

    /// Whether an `import *` of the current file, or another cell of a notebook, may bind the name of a builtin.
    pub(super) fn may_bind_builtin(&self, name: &str) -> bool {
        let bindings = self.sources.bindings(self.file());
        let is_in_other_cell = || self.is_notebook() && !bindings.of_name(name).is_empty();
        !bindings.stars.is_empty() || bindings.has_inner_star || is_in_other_cell()
    }

    /// Whether the current file has an `import *` of a module that cannot be seen. It may bind any name, such as `max`.
    /// Names from the other modules are found when they are read.
    pub(crate) fn has_unseen_star(&self) -> bool {
        let file = self.file();
        let bindings = self.sources.bindings(file);
        let body = &self.sources.module(file).body;
        bindings.stars.iter().any(|at| {
            let Some(Stmt::ImportFrom(import)) = body.get(*at as usize) else { return false };
            let module = import.module.as_ref().map_or("", |module| module.as_str());
            let is_known = crate::libraries::is_known(module.split('.').next().unwrap_or_default());
            !is_known && !matches!(self.sources.resolve(self.root, file, module, import.level), Import::File(_))
        })
    }

    /// Whether the `__all__` of a module does not list a name, so that `import *` leaves it out.
    fn keeps_from_stars(&mut self, file: FileId, scope: ObjId, name: Sym) -> bool {
        if self.sources.bindings(file).of_name("__all__").len() != 1 {
            return false;
        }
        let listed = self.scope_var(scope, sym("__all__")).and_then(|all| self.heap.exact_items(&all));
        listed.is_some_and(|listed| listed.iter().all(|one| one.as_str().is_some_and(|one| one != name.as_str())))
    }

    pub(super) fn import(&mut self, stmt: &StmtImport) {
        for alias in &stmt.names {
            let name = alias.name.as_str();
            let span = self.span(alias);
            let value = match &alias.asname {
                Some(_) => self.import_module(name, 0, span),
                None => {
                    // `import a.b` imports `a` and `a.b`, and binds `a`.
                    let whole = self.import_module(name, 0, span);
                    match name.split_once('.') {
                        None => whole,
                        Some((first, rest)) => {
                            let parent = self.import_module(first, 0, span);
                            self.bind_submodule(&parent, rest, whole);
                            parent
                        }
                    }
                }
            };
            let bound = alias.asname.as_ref().map_or_else(|| name.split('.').next().unwrap_or(name), |a| a.as_str());
            self.set_name(sym(bound), value);
        }
    }

    /// Makes `b` an attribute of `a` after `import a.b`. For `import a.b.c`, no attribute is set.
    fn bind_submodule(&mut self, parent: &Value, rest: &str, module: Value) {
        if let Value::Obj(id) = parent
            && let Data::Module { scope, .. } = *self.heap.get(*id)
            && !rest.contains('.')
        {
            self.heap.bind(scope, sym(rest), Some(module));
        }
    }

    /// The module `name`, with `level` leading dots.
    fn import_module(&mut self, name: &str, level: u32, span: Span) -> Value {
        let from = self.file();
        match self.sources.resolve(self.root, from, name, level) {
            Import::File(file) => self.load_name(file, name, None).unwrap_or(Value::Unknown),
            Import::Namespace => Value::path(&format!("project.{name}")),
            Import::External if level == 0 => {
                let path = self.library.canonical(sym(name));
                self.imported(path, span);
                Value::Path(path)
            }
            Import::External => Value::Unknown,
        }
    }

    fn imported(&mut self, path: Sym, span: Span) {
        self.event(Event::Import { path, span });
        let library = self.library;
        // `import torch.mn` fails if `torch` has no module `mn`.
        let text = path.as_str();
        for (at, _) in text.match_indices('.') {
            let (parent, rest) = text.split_at(at);
            let name = rest.trim_start_matches('.').split('.').next().unwrap_or_default();
            if library.lists_modules(parent) {
                self.report_name(sym(parent), sym(name), span);
            }
        }
        // `import torch.utils.data.Dataset`
        if let Some((module, class)) = text.rsplit_once('.')
            && text.starts_with("torch")
            && class.starts_with(|c: char| c.is_ascii_uppercase())
            && library.bases(path).is_some()
            && !self.is_in_try()
        {
            let message = format!("`{text}` is a class, not a module: write `from {module} import {class}`");
            self.in_any_arm(|it| it.report_missing(RejectKind::Name, message, span));
        }
        library.imported(self, path);
    }

    /// Forgets the functions and classes of the program that names of the current scope hold: an import of all
    /// names of a module that is not known may bind these names. In a `try`, the names that the current module has
    /// not bound yet become unknown, too: a handler may bind those that the import would have bound.
    fn rebind_all(&mut self) {
        let Some(frame) = self.frames.last() else { return };
        let (scope, file) = (frame.scope, frame.file);
        let is_tried = frame.blocks.iter().any(|block| matches!(block.kind, BlockKind::Try(_)));
        let Data::Scope(names) = self.heap.get(scope) else { return };
        let later = self.sources.bindings(file).names().map(sym).filter(|name| !names.vars.contains_key(name));
        let later: Vec<Sym> = later.filter(|_| is_tried).collect();
        let is_own = |value: &Value| {
            value.as_obj().is_some_and(|id| matches!(self.heap.get(id), Data::Function(_) | Data::Class(_)))
        };
        let own: Vec<Sym> = names.vars.iter().filter(|(_, value)| is_own(value)).map(|(name, _)| *name).collect();
        for name in own.into_iter().chain(later) {
            self.set_name(name, Value::Unknown);
        }
    }

    pub(super) fn import_from(&mut self, stmt: &StmtImportFrom) {
        let module_name = stmt.module.as_ref().map_or("", |m| m.as_str());
        let from = self.file();
        let span = self.span(stmt);
        let resolved = match self.sources.resolve(self.root, from, module_name, stmt.level) {
            Import::File(file) if stmt.level == 0 => {
                let names: Vec<&str> = stmt.names.iter().map(|alias| alias.name.as_str()).collect();
                Import::File(self.sources.defining(from, file, module_name, &names))
            }
            other => other,
        };
        for alias in &stmt.names {
            let name = alias.name.as_str();
            if name == "*" {
                match resolved {
                    Import::File(file) => self.import_star(file, module_name),
                    Import::External if !libraries::is_known(module_name.split('.').next().unwrap_or_default()) => {
                        self.rebind_all();
                    }
                    _ => {}
                }
                continue;
            }
            let bound = sym(alias.asname.as_ref().map_or(name, |a| a.as_str()));
            let value = match resolved {
                Import::File(file) if file == from && stmt.level > 0 => self.submodule(module_name, stmt.level, name),
                Import::File(file) => match self.load_name(file, module_name, Some(sym(name))) {
                    Some(value) if self.is_also_submodule(file, name, stmt.level, &value) => Value::Unknown,
                    Some(value) => value,
                    None => self.submodule(module_name, stmt.level, name),
                },
                Import::Namespace => self.submodule(module_name, stmt.level, name),
                Import::External if stmt.level == 0 => {
                    let path = self.library.canonical(sym(module_name));
                    self.imported(path, span);
                    let place = self.span(alias);
                    self.report_name(path, sym(name), place);
                    let library = self.library;
                    let member = library.member(self, path, sym(name));
                    // `from torch import multiprocessing` imports a module.
                    if let Value::Path(path) = member {
                        self.event(Event::Import { path, span });
                    }
                    member
                }
                Import::External => Value::Unknown,
            };
            self.set_name(bound, value);
        }
    }

    /// Whether a package has a submodule of this name, although the name means something else once the package is
    /// imported. For an import inside the package, it depends on the time which of the two it gets.
    fn is_also_submodule(&mut self, package: FileId, name: &str, level: u32, value: &Value) -> bool {
        let is_other = |file| file != package;
        if level == 0
            || !matches!(self.sources.resolve(self.root, package, name, 1), Import::File(file) if is_other(file))
        {
            return false;
        }
        let now = match value {
            // The names of star imports are not known before they run.
            Value::Lazy(lazy) if !self.sources.bindings(package).stars.is_empty() => self.force(&lazy.clone()),
            Value::Lazy(_) => return false,
            value => value.clone(),
        };
        !now.as_obj().is_some_and(|id| matches!(self.heap.get(id), Data::Module { .. }))
    }

    /// `importlib.import_module(name)` with an absolute name.
    pub(crate) fn import_named(&mut self, name: &str, span: Span) -> Value {
        if name.is_empty() || name.starts_with('.') { Value::Unknown } else { self.import_module(name, 0, span) }
    }

    /// The value of a dotted path, in a library or in the project.
    pub(crate) fn object_at(&mut self, path: &str, span: Span) -> Value {
        let Some((module, name)) = path.rsplit_once('.') else { return Value::Unknown };
        let module = self.import_module(module, 0, span);
        self.getattr(&module, sym(name), span)
    }

    fn submodule(&mut self, module: &str, level: u32, name: &str) -> Value {
        let full = if module.is_empty() { name.to_owned() } else { format!("{module}.{name}") };
        let from = self.file();
        match self.sources.resolve(self.root, from, &full, level) {
            Import::File(file) => self.load_name(file, &full, None).unwrap_or(Value::Unknown),
            Import::Namespace => Value::path(&format!("project.{full}")),
            Import::External => Value::Unknown,
        }
    }

    fn import_star(&mut self, file: FileId, name: &str) {
        let (_, scope) = self.load(file, name);
        let listed = self.scope_var(scope, sym("__all__")).and_then(|all| self.heap.exact_items(&all));
        let listed: Option<Vec<Sym>> = listed.and_then(|all| all.iter().map(|name| name.as_str().map(sym)).collect());
        let listed = listed.or_else(|| if file == self.root { self.listed_later(file) } else { None });
        let is_public = |name: &str| match &listed {
            Some(listed) => listed.iter().any(|one| one.as_str() == name),
            None => !name.starts_with('_'),
        };
        let Data::Scope(names) = self.heap.get(scope) else { return };
        let mut public: Vec<(Sym, Value)> =
            names.vars.iter().filter(|(k, _)| is_public(k.as_str())).map(|(k, v)| (*k, v.clone())).collect();
        let module = sym(name);
        let lazy = |name| Value::Lazy(Rc::new(Lazy { file, module, name: Some(name) }));
        if let Some(deferred) = self.deferred.get(&scope) {
            let waiting = deferred.bindings.names().filter(|name| is_public(name)).map(sym);
            public.splice(0..0, waiting.map(|name| (name, lazy(name))));
        }
        // The analysed file has not bound all its names yet. Python would execute it completely first.
        if file == self.root {
            let later = self.sources.bindings(file).names().filter(|name| is_public(name)).map(sym);
            let later: Vec<Sym> = later.filter(|name| public.iter().all(|(bound, _)| bound != name)).collect();
            public.extend(later.into_iter().map(|name| (name, lazy(name))));
        }
        for (key, value) in public {
            self.set_name(key, value);
        }
    }

    /// The names in the only `__all__` of a file that has not bound it yet.
    fn listed_later(&self, file: FileId) -> Option<Vec<Sym>> {
        let [place] = self.sources.bindings(file).of_name("__all__") else { return None };
        let all = match statement(&self.sources.module(file).body, *place)? {
            Stmt::Assign(assign) => &*assign.value,
            _ => return None,
        };
        let names = match all {
            Expr::List(list) => &list.elts,
            Expr::Tuple(tuple) => &tuple.elts,
            _ => return None,
        };
        names.iter().map(|name| Some(sym(name.as_string_literal_expr()?.value.to_str()))).collect()
    }

    /// A name that the scope itself binds.
    pub(super) fn scope_var(&mut self, scope: ObjId, name: Sym) -> Option<Value> {
        let Data::Scope(names) = self.heap.get(scope) else { return None };
        match names.vars.get(&name) {
            None => self.demand(scope, name),
            Some(Value::Lazy(lazy)) => {
                let lazy = lazy.clone();
                if !self.may_demand(scope, name) {
                    return Some(Value::Unknown);
                }
                self.demands.push((scope, name));
                let value = self.force(&lazy);
                self.demands.pop();
                self.heap.settle(scope, name, value.clone());
                Some(value)
            }
            Some(value) => Some(value.clone()),
        }
    }
}

/// The statement at a place of a module.
fn statement(body: &[Stmt], place: Place) -> Option<&Stmt> {
    match place {
        Place::Stmt(at) => body.get(at as usize),
        Place::Typing(at, inner) => match body.get(at as usize)? {
            Stmt::If(test) => test.body.get(inner as usize),
            _ => None,
        },
    }
}
