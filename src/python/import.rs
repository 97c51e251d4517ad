//! Modules: of the project, run when first imported; of libraries, paths.

use std::rc::Rc;

use super::interp::{Frame, Interp};
use super::library::Event;
use crate::syntax::ast::{ModModule, StmtImport, StmtImportFrom};
use crate::syntax::{FileId, Span};
use crate::value::{Data, Lazy, ObjId, Scope, Sym, Value, sym};

/// What an imported name stands for.
pub enum Import {
    /// A file of the project.
    File(FileId),
    /// A folder of the project without an `__init__.py`, or no project module at all but
    /// the parent of one.
    Namespace,
    /// From outside the project.
    External,
}

/// The project, as far as the interpreter needs it.
pub trait Sources<'p> {
    fn module(&self, file: FileId) -> &'p ModModule;

    /// The length of a file's source, in bytes.
    fn size(&self, file: FileId) -> usize;

    /// Resolves `import module` (with `level` leading dots) as written in a file.
    fn resolve(&self, from: FileId, module: &str, level: u32) -> Import;
}

/// Modules are run where they are imported, as Python does, as long as they are no longer
/// than this together (in bytes of source); the modules of a large package wait until one
/// of their names is used.
const EAGER: usize = 48 * 1024;

impl Interp<'_> {
    /// Runs the file as the program: `__name__` is `"__main__"`.
    pub(super) fn run_main(&mut self) -> ObjId {
        self.load(self.root, "__main__").1
    }

    /// The module object of a file and its scope, run if it has not been.
    fn load(&mut self, file: FileId, name: &str) -> (Value, ObjId) {
        if let Some(module) = self.modules.get(&file)
            && let Data::Module { scope, .. } = self.heap.get(*module)
        {
            return (Value::Obj(*module), *scope);
        }
        let scope = self.heap.alloc(Data::Scope(Scope::default()));
        let module = self.heap.alloc(Data::Module { file, scope });
        self.modules.insert(file, module);
        if let Data::Scope(names) = self.heap.get_mut(scope) {
            names.vars.insert(sym("__name__"), Value::str(name));
            names.vars.insert(sym("__file__"), Value::Any(crate::value::Type::Str));
        }
        if self.frames.len() < super::interp::MAX_DEPTH {
            self.frames.push(Frame::new(file, scope));
            self.exec_module(self.sources.module(file));
            self.frames.pop();
        }
        (Value::Obj(module), scope)
    }

    /// The module, or one of its names: at once, or when it is used.
    fn load_name(&mut self, file: FileId, module: &str, name: Option<Sym>) -> Option<Value> {
        if !self.modules.contains_key(&file) {
            let size = self.sources.size(file);
            if self.eager + size > EAGER {
                let lazy = Lazy { file, module: sym(module), name };
                return Some(Value::Lazy(Rc::new(lazy)));
            }
            self.eager += size;
        }
        let (value, scope) = self.load(file, module);
        match name {
            None => Some(value),
            Some(name) => self.scope_var(scope, name),
        }
    }

    /// Carries out an import that has waited.
    pub(super) fn force(&mut self, lazy: &Lazy) -> Value {
        let (module, scope) = self.load(lazy.file, lazy.module.as_str());
        let Some(name) = lazy.name else { return module };
        if let Some(value) = self.scope_var(scope, name) {
            return value;
        }
        // A submodule of a package.
        match self.sources.resolve(lazy.file, name.as_str(), 1) {
            Import::File(file) if file != lazy.file => self.load(file, name.as_str()).0,
            _ => Value::Unknown,
        }
    }

    pub(super) fn import(&mut self, stmt: &StmtImport) {
        for alias in &stmt.names {
            let name = alias.name.as_str();
            let span = self.span(alias);
            let value = match &alias.asname {
                Some(_) => self.import_module(name, 0, span),
                None => {
                    // `import a.b` binds `a`, after importing both.
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

    /// Makes `a.b.c` reachable from `a` after `import a.b.c`.
    fn bind_submodule(&mut self, parent: &Value, rest: &str, module: Value) {
        if let Value::Obj(id) = parent
            && let Data::Module { scope, .. } = *self.heap.get(*id)
            && !rest.contains('.')
            && let Data::Scope(names) = self.heap.get_mut(scope)
        {
            names.vars.insert(sym(rest), module);
        }
    }

    /// The module `name`, with `level` leading dots.
    fn import_module(&mut self, name: &str, level: u32, span: Span) -> Value {
        let from = self.file();
        match self.sources.resolve(from, name, level) {
            Import::File(file) => self.load_name(file, name, None).unwrap_or(Value::Unknown),
            Import::Namespace => Value::path(&format!("project.{name}")),
            Import::External if level == 0 => {
                let path = self.library.canonical(sym(name));
                self.event(Event::Import { path, span });
                Value::Path(path)
            }
            Import::External => Value::Unknown,
        }
    }

    pub(super) fn import_from(&mut self, stmt: &StmtImportFrom) {
        let module_name = stmt.module.as_ref().map_or("", |m| m.as_str());
        let from = self.file();
        let span = self.span(stmt);
        let resolved = self.sources.resolve(from, module_name, stmt.level);
        for alias in &stmt.names {
            let name = alias.name.as_str();
            if name == "*" {
                if let Import::File(file) = resolved {
                    self.import_star(file, module_name);
                }
                continue;
            }
            let bound = sym(alias.asname.as_ref().map_or(name, |a| a.as_str()));
            let value = match resolved {
                Import::File(file) if file == from && stmt.level > 0 => self.submodule(module_name, stmt.level, name),
                Import::File(file) => match self.load_name(file, module_name, Some(sym(name))) {
                    Some(value) => value,
                    None => self.submodule(module_name, stmt.level, name),
                },
                Import::Namespace => self.submodule(module_name, stmt.level, name),
                Import::External if stmt.level == 0 => {
                    let path = self.library.canonical(sym(module_name));
                    self.event(Event::Import { path, span });
                    let library = self.library;
                    library.member(self, path, sym(name))
                }
                Import::External => Value::Unknown,
            };
            self.set_name(bound, value);
        }
    }

    fn submodule(&mut self, module: &str, level: u32, name: &str) -> Value {
        let full = if module.is_empty() { name.to_owned() } else { format!("{module}.{name}") };
        let from = self.file();
        match self.sources.resolve(from, &full, level) {
            Import::File(file) => self.load_name(file, &full, None).unwrap_or(Value::Unknown),
            Import::Namespace => Value::path(&format!("project.{full}")),
            Import::External => Value::Unknown,
        }
    }

    fn import_star(&mut self, file: FileId, name: &str) {
        let (_, scope) = self.load(file, name);
        let Data::Scope(names) = self.heap.get(scope) else { return };
        let public: Vec<(Sym, Value)> =
            names.vars.iter().filter(|(k, _)| !k.as_str().starts_with('_')).map(|(k, v)| (*k, v.clone())).collect();
        for (key, value) in public {
            self.set_name(key, value);
        }
    }

    /// A name that a scope itself binds.
    pub(super) fn scope_var(&mut self, scope: ObjId, name: Sym) -> Option<Value> {
        let Data::Scope(names) = self.heap.get(scope) else { return None };
        match names.vars.get(&name)? {
            Value::Lazy(lazy) => {
                let lazy = lazy.clone();
                let value = self.force(&lazy);
                if let Data::Scope(names) = self.heap.get_mut(scope) {
                    names.vars.insert(name, value.clone());
                }
                Some(value)
            }
            value => Some(value.clone()),
        }
    }
}

impl Frame {
    pub(super) fn new(file: FileId, scope: ObjId) -> Frame {
        Frame {
            file,
            scope,
            closure: scope,
            code: None,
            call: None,
            owner: None,
            class_body: None,
            mark: None,
            returns: Vec::new(),
            yields: Vec::new(),
            loops: Vec::new(),
            withs: Vec::new(),
            globals: Vec::new(),
            nonlocals: Vec::new(),
        }
    }
}
