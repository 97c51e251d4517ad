//! Classes of the program, their instances, and inheritance.

use std::rc::Rc;

use super::interp::{Body, Code, Frame, Interp};
use super::{Arg, Args};
use crate::syntax::ast::{ExprSubscript, StmtClassDef};
use crate::syntax::{Expr, Span};
use crate::value::{Attrs, Data, ObjId, Scope, Sym, UserClass, Value, dotted, sym};

/// Marks a class that a decorator may have replaced.
pub(super) const DECORATED: &str = "__decorated__";

/// Marks a class whose metaclass may call the constructor with other arguments.
const MEDIATED: &str = "__mediated__";

/// The class of the result of `dataclasses.field`.
const FIELD: &str = "dataclasses.Field";

/// The depth to which base classes are followed.
const MAX_BASES: u32 = 20;

impl<'p> Interp<'p> {
    pub(super) fn define_class(&mut self, def: &'p StmtClassDef) {
        if self.sources.is_broken(self.span(def)) {
            return self.set_name(sym(def.name.as_str()), Value::Unknown);
        }
        let file = self.file();
        let address = std::ptr::from_ref(def) as usize;
        let code = self.code_of(address, || Code::new(file, Body::Class(Some(def))));
        let mut bases = Vec::new();
        let mut open = false;
        let mut keywords = Vec::new();
        let mut is_mediated = false;
        if let Some(arguments) = &def.arguments {
            let args = self.eval_args(arguments);
            open |= args.is_open();
            // A metaclass may change its classes, and create their instances, in any way; `ABCMeta` does not.
            if let Some(metaclass) = args.keyword("metaclass") {
                open |= metaclass.as_path() != Some("abc.ABCMeta");
                is_mediated = metaclass.as_obj().is_some_and(|id| self.member(&self.mro(id), "__call__").is_some());
            }
            let has_all = args.pos.len() == arguments.args.len();
            for (at, value) in args.pos.iter().map(|argument| argument.value.clone()).enumerate() {
                let subscripted = arguments.args.get(at).and_then(Expr::as_subscript_expr).filter(|_| has_all);
                bases.push(subscripted.and_then(|base| self.generic_class(base)).unwrap_or(value));
            }
            keywords = args.kw.into_iter().filter(|(name, _)| name.as_str() != "metaclass").collect();
        }
        open |= bases.iter().any(|b| !self.is_known_class(b));
        let name = sym(def.name.as_str());
        let path = dotted(self.module_name(), name);
        let class = self.heap.alloc(Data::Class(UserClass {
            name,
            path,
            code,
            bases,
            attrs: Attrs::default(),
            fields: Some(Vec::new()),
            // Until its body has run, its attributes are not known.
            open: true,
        }));
        let Some(frame) = self.frames.last() else { return };
        let closure = if frame.class_body.is_some() { frame.closure } else { frame.scope };
        let scope = self.heap.alloc(Data::Scope(Scope { vars: Attrs::default(), parent: Some(closure) }));
        let mut frame = Frame::new(file, scope);
        frame.closure = closure;
        frame.class_body = Some(class);
        self.frames.push(frame);
        self.exec_block(&def.body);
        self.frames.pop();
        let attrs = match self.heap.get(scope) {
            Data::Scope(names) => names.vars.clone(),
            _ => Attrs::default(),
        };
        if let Data::Class(class) = self.heap.get_mut(class) {
            class.attrs = attrs;
            class.open = open;
            if is_mediated {
                class.attrs.insert(sym(MEDIATED), Value::Bool(true));
            }
            if !def.decorator_list.is_empty() {
                class.attrs.insert(sym(DECORATED), Value::Bool(true));
            }
        }
        // A module that is executed lazily may register something in the class.
        if !self.deferred.is_empty() {
            self.forget_filled_in(class);
        }
        self.make_members(class);
        self.note_overridden(class);
        let span = self.span(&def.name);
        self.name_descriptors(class, span);
        let mut value = Value::Obj(class);
        self.begin_subclass(class, keywords, span);
        for decorator in def.decorator_list.iter().rev() {
            value = self.decorate(&decorator.expression, value);
        }
        self.set_name(name, value);
    }

    /// Records which methods of its base classes a new class overrides.
    fn note_overridden(&mut self, class: ObjId) {
        let methods = |id: ObjId| match self.heap.get(id) {
            Data::Class(class) => Some(&class.attrs),
            _ => None,
        };
        let Some(own) = methods(class) else { return };
        let bases: Vec<ObjId> = self.mro(class).iter().skip(1).filter_map(Value::as_obj).collect();
        let mut found = Vec::new();
        for base in bases {
            let of_base = methods(base).into_iter().flat_map(|attrs| attrs.keys());
            found.extend(of_base.filter(|name| own.contains_key(*name)).map(|name| (base, *name)));
        }
        self.overridden.extend(found);
    }

    /// Calls the `__init_subclass__` that a new class inherits.
    fn begin_subclass(&mut self, class: ObjId, keywords: Vec<(Sym, Arg)>, span: Span) {
        let bases = self.mro(class);
        let hook = bases.iter().skip(1).filter_map(Value::as_obj);
        let hook = hook.into_iter().find_map(|base| self.class_attr(base, sym("__init_subclass__")));
        if let Some(hook) = hook {
            let args = Args { kw: keywords, ..Args::positional([Value::Obj(class)], span) };
            self.call(&hook, args, span);
        }
    }

    /// Records an annotated name in a class body: if the class is a dataclass, the name is a field.
    pub(super) fn note_field(&mut self, name: Sym) {
        let class = self.frames.last().and_then(|f| f.class_body);
        if let Some(class) = class
            && let Data::Class(class) = self.heap.get_mut(class)
            && let Some(fields) = &mut class.fields
            && !fields.contains(&name)
        {
            fields.push(name);
        }
    }

    /// The class in `Base[T]`. The parameters of generic classes do not matter when the program runs.
    fn generic_class(&mut self, base: &'p ExprSubscript) -> Option<Value> {
        let class = self.eval(&base.value);
        match &class {
            Value::Path(path) => self.library.bases(*path).is_some().then_some(class),
            Value::Obj(id) if matches!(self.heap.get(*id), Data::Class(_)) => {
                self.member(&self.mro(*id), "__class_getitem__").is_none().then_some(class)
            }
            _ => None,
        }
    }

    fn is_known_class(&self, value: &Value) -> bool {
        match value {
            Value::Path(path) => self.library.bases(*path).is_some() || path.as_str().starts_with("builtins."),
            Value::Obj(id) => match self.heap.get(*id) {
                Data::Class(class) => !class.open,
                _ => false,
            },
            _ => false,
        }
    }

    /// The method resolution order of a class: the class itself and all its base classes, nearest
    /// first.
    pub(super) fn mro(&self, class: ObjId) -> Rc<[Value]> {
        if let Some(mro) = self.mros.borrow().get(&class) {
            return mro.clone();
        }
        let mro: Rc<[Value]> = Rc::from(self.linearize(class, 0));
        self.mros.borrow_mut().insert(class, mro.clone());
        mro
    }

    /// Python's method resolution order, the C3 linearization: each class is before its bases, and
    /// bases are in the order in which a class names them.
    fn linearize(&self, class: ObjId, depth: u32) -> Vec<Value> {
        let mut line = vec![Value::Obj(class)];
        let Data::Class(data) = self.heap.get(class) else { return line };
        if depth > MAX_BASES {
            return line;
        }
        let object = Value::path("builtins.object");
        let mut bases = Vec::new();
        let mut lines: Vec<Vec<Value>> = Vec::new();
        for base in &data.bases {
            let of_base = match base {
                Value::Obj(id) if matches!(self.heap.get(*id), Data::Class(_)) => self.linearize(*id, depth + 1),
                Value::Path(path) => {
                    let inherited = self.library.bases(*path).unwrap_or_default();
                    std::iter::once(*path).chain(inherited.iter().copied()).map(Value::Path).collect()
                }
                _ => continue,
            };
            bases.push(base.clone());
            lines.push(of_base);
        }
        self.append_possible_bases(&bases, &mut lines);
        lines.push(bases);
        // `object` is always the last class. It is removed before the merge, because the tables of
        // libraries do not name it.
        let is_object = |class: &Value| self.is_same(class, &object) == Some(true);
        let names_object = lines.iter_mut().any(|rest| {
            let before = rest.len();
            rest.retain(|class| !is_object(class));
            rest.len() < before
        });
        while lines.iter().any(|rest| !rest.is_empty()) {
            let heads = || lines.iter().filter_map(|rest| rest.first());
            let is_free = |class: &&Value| {
                !lines.iter().any(|rest| rest.iter().skip(1).any(|other| self.is_same(class, other) == Some(true)))
            };
            // If no class can be the next one, Python rejects the hierarchy.
            let Some(next) = heads().find(is_free).or_else(|| heads().next()).cloned() else { break };
            for rest in &mut lines {
                rest.retain(|class| self.is_same(class, &next) != Some(true));
            }
            line.push(next);
        }
        line.extend(names_object.then_some(object));
        line
    }

    /// An unknown class may inherit from any library class from which another base inherits. It is
    /// assumed to do so: the library class then comes after the unknown class, so that a method of
    /// the unknown class is found first.
    fn append_possible_bases(&self, bases: &[Value], lines: &mut [Vec<Value>]) {
        let is_unknown = |class: &Value| matches!(class, Value::Path(_)) && !self.is_known_class(class);
        if !lines.iter().flatten().any(is_unknown) {
            return;
        }
        let contains = |line: &[Value], class: &Value| line.iter().any(|c| self.is_same(c, class) == Some(true));
        let inherited: Vec<Value> = lines
            .iter()
            .filter_map(|line| line.get(1..))
            .flatten()
            .filter(|class| matches!(class, Value::Path(_)) && !is_unknown(class) && !contains(bases, class))
            .cloned()
            .collect();
        for line in lines.iter_mut().filter(|line| line.iter().any(is_unknown)) {
            for class in &inherited {
                if !contains(line, class) {
                    line.push(class.clone());
                }
            }
        }
    }

    /// The classes of an instance, nearest first: program classes as [`Value::Obj`], library
    /// classes as [`Value::Path`]. Empty if the value is not an instance.
    pub(crate) fn mro_of(&self, object: &Value) -> Rc<[Value]> {
        let Some(instance) = self.heap.instance_of(object) else { return Rc::default() };
        match &instance.class {
            Value::Path(path) => {
                if let Some(line) = self.lines.borrow().get(path) {
                    return line.clone();
                }
                let bases = self.library.bases(*path).unwrap_or_default();
                let line: Rc<[Value]> = std::iter::once(*path).chain(bases.iter().copied()).map(Value::Path).collect();
                self.lines.borrow_mut().insert(*path, line.clone());
                line
            }
            Value::Obj(class) => self.mro(*class),
            _ => Rc::default(),
        }
    }

    /// Whether a value is an instance of the library class or one of its subclasses.
    pub(crate) fn is_instance(&self, object: &Value, class: &str) -> bool {
        self.mro_of(object).iter().any(|c| c.as_path() == Some(class))
    }

    /// An attribute of a program class itself, without its base classes.
    pub(super) fn class_attr(&self, class: ObjId, name: Sym) -> Option<Value> {
        match self.heap.get(class) {
            Data::Class(class) => {
                let value = self.unless_field(class.attrs.get(&name)?)?;
                // In a function that nothing calls, `None` and empty collections are assumed to be placeholders:
                // subclasses and other code may have set or filled the attribute.
                let is_placeholder = value.is_none()
                    || matches!(&value, Value::Tuple(items) if items.is_empty())
                    || self.is_empty_collection(&value);
                Some(if is_placeholder && self.context.speculative { Value::Unknown } else { value })
            }
            _ => None,
        }
    }

    /// The first attribute of this name in a method resolution order, among the classes of the program.
    pub(super) fn member(&self, mro: &[Value], name: &str) -> Option<Value> {
        mro.iter().filter_map(Value::as_obj).find_map(|class| self.class_attr(class, sym(name)))
    }

    /// The value of a class attribute. If it is a field of a dataclass (`dataclasses.field(…)`),
    /// its value is the default of the field, if there is one.
    fn unless_field(&self, value: &Value) -> Option<Value> {
        match value.as_obj().filter(|_| self.is_instance(value, FIELD)) {
            Some(id) => self.heap.attr(id, "default"),
            None => Some(value.clone()),
        }
    }

    /// Whether a library class in a method resolution order has no constructor of its own, so that the one
    /// of a later class of the program is called: `class Sounds(Dataset, Parser)`.
    pub(super) fn leaves_constructor(&self, line: &[Value], at: usize) -> bool {
        let is_plain =
            line.get(at).and_then(Value::as_path).is_some_and(|path| self.library.words().plain_bases.contains(&path));
        let init = sym("__init__");
        is_plain && line.iter().skip(at).filter_map(Value::as_obj).any(|class| self.class_attr(class, init).is_some())
    }

    /// Creates an instance of a program class.
    pub(super) fn instantiate(&mut self, class: ObjId, args: Args, span: Span) -> Value {
        let mro = self.mro(class);
        if self.member(&mro, MEDIATED).is_some() {
            self.havoc_args(&args);
            return Value::Unknown;
        }
        let object = self.heap.instance(Value::Obj(class));
        let value = Value::Obj(object);
        self.give_payload(object, &mro);
        // `__new__` may set attributes, also of the class, and may replace `__init__`.
        let new = self.member(&mro, "__new__");
        let mut open = new.is_some();
        if let Some(new) = new {
            let args = args.clone().prepend(Arg::new(Value::Obj(class), span));
            if !self.takes_arguments(&new, &args) {
                return Value::Unknown;
            }
            self.call(&new, args, span);
            if self.stopped {
                return Value::Unknown;
            }
        }
        for (at, ancestor) in mro.iter().enumerate() {
            match ancestor {
                Value::Path(_) if self.leaves_constructor(&mro, at) => {}
                Value::Obj(id) => {
                    if let Data::Class(data) = self.heap.get(*id) {
                        open |= data.open;
                    }
                    if let Some(init) = self.class_attr(*id, sym("__init__")) {
                        let args = args.prepend(Arg::new(value.clone(), span));
                        if !self.takes_arguments(&init, &args) {
                            return Value::Unknown;
                        }
                        // A constructor that is not known may set any attribute.
                        self.set_open(object, open || init.is_unknown());
                        self.call(&init, args, span);
                        return value;
                    }
                    if self.generates_constructor(*id) {
                        self.set_open(object, open);
                        self.init_fields(object, &mro, args, span);
                        return value;
                    }
                }
                Value::Path(path) => match path.as_str() {
                    "enum.Enum" | "enum.Flag" => {
                        let value = args.pos.first().map_or(Value::Unknown, |a| a.value.clone());
                        return self.member_of(class, &value);
                    }
                    "enum.IntEnum" | "enum.StrEnum" => return Value::Unknown,
                    "typing.NamedTuple" => {
                        let named: Vec<Value> =
                            mro.iter().filter(|class| self.names_elements(class)).cloned().collect();
                        self.init_fields(object, &named, args, span);
                        return value;
                    }
                    text if text.starts_with("builtins.") => self.fill_payload(&value, &args, span),
                    _ => {
                        self.set_open(object, open);
                        let library = self.library;
                        if library.bases(*path).is_none() {
                            // The unseen class, or a later call of one of its methods, may change them: move a
                            // model, for example.
                            self.havoc_args(&args);
                        }
                        library.init(self, *path, object, args, span);
                        return value;
                    }
                },
                _ => {}
            }
        }
        // The arguments go to an unseen constructor, which may store them as attributes of the same
        // names.
        for (name, _) in &args.kw {
            self.heap.set_attr(object, name.as_str(), Value::Unknown);
        }
        let unseen = !mro.iter().any(|c| matches!(c.as_path(), Some(path) if path.starts_with("builtins.")));
        if unseen {
            self.havoc_args(&args);
        }
        self.set_open(object, open || unseen && (!args.pos.is_empty() || !args.kw.is_empty() || args.is_open()));
        value
    }

    fn set_open(&mut self, object: ObjId, open: bool) {
        if open && let Some(instance) = self.heap.instance_mut(object) {
            instance.open = true;
        }
    }

    /// The class that `collections.namedtuple` creates.
    pub(crate) fn named_tuple(&mut self, name: &str, fields: &[Sym], defaults: &[Value]) -> Value {
        let file = self.file();
        // A named tuple has no class body, so all named tuples share one `Code`.
        let code = self.code_of(1, || Code::new(file, Body::Class(None)));
        let (name, module) = (sym(name), self.module_name());
        let names = Value::tuple(fields.iter().map(|field| Value::str(field.as_str())).collect());
        let mut attrs = Attrs::default();
        attrs.insert(sym("_fields"), names.clone());
        attrs.insert(sym("__match_args__"), names);
        let first = fields.len().saturating_sub(defaults.len());
        attrs.extend(fields.iter().skip(first).copied().zip(defaults.iter().cloned()));
        Value::Obj(self.heap.alloc(Data::Class(UserClass {
            name,
            path: dotted(module, name),
            code,
            bases: vec![Value::path("typing.NamedTuple")],
            attrs,
            fields: Some(fields.to_vec()),
            open: false,
        })))
    }

    /// The value of a field without an argument: `field(default_factory=list)` creates a new list.
    fn field_default(&mut self, default: &Value, span: Span) -> Value {
        let Some(id) = default.as_obj().filter(|_| self.is_instance(default, FIELD)) else { return default.clone() };
        if let Some(default) = self.heap.attr(id, "default") {
            return default;
        }
        match self.heap.attr(id, "default_factory") {
            Some(factory) => self.call(&factory, Args::default(), span),
            None => Value::Unknown,
        }
    }

    /// Whether the annotations of a class name the elements of a tuple. This holds only for direct
    /// subclasses of `NamedTuple`: annotations in their subclasses name no elements.
    fn names_elements(&self, class: &Value) -> bool {
        let class = class.as_obj().map(|id| self.heap.get(id));
        matches!(class, Some(Data::Class(c)) if c.bases.iter().any(|b| b.as_path() == Some("typing.NamedTuple")))
    }

    /// The names of the elements of an instance of a `typing.NamedTuple`, in order.
    pub(crate) fn element_names(&self, object: &Value) -> Vec<Sym> {
        let line = self.mro_of(object);
        let classes = line.iter().filter(|class| self.names_elements(class)).filter_map(Value::as_obj);
        let fields = classes.filter_map(|id| match self.heap.get(id) {
            Data::Class(class) => class.fields.clone(),
            _ => None,
        });
        fields.flatten().collect()
    }

    /// The elements of an instance of a `typing.NamedTuple`, in order.
    pub(crate) fn named_elements(&self, object: &Value) -> Vec<Value> {
        let element = |field: Sym| object.as_obj().and_then(|id| self.heap.attr(id, field.as_str()));
        self.element_names(object).into_iter().map(|field| element(field).unwrap_or(Value::Unknown)).collect()
    }

    /// Whether a class without a constructor of its own gets one from `@dataclass`.
    pub(super) fn generates_constructor(&self, class: ObjId) -> bool {
        self.class_attr(class, sym("__dataclass__")).is_some()
    }

    /// The constructor that `@dataclass` generates for the first class of `mro`.
    pub(super) fn init_fields(&mut self, object: ObjId, mro: &[Value], args: Args, span: Span) {
        let mut fields: Vec<(Sym, Option<Value>)> = Vec::new();
        for class in mro.iter().rev().filter_map(Value::as_obj) {
            let Data::Class(data) = self.heap.get(class) else { continue };
            for field in data.fields.iter().flatten() {
                let default = data.attrs.get(field).cloned();
                match fields.iter_mut().find(|(name, _)| name == field) {
                    Some(have) => have.1 = default,
                    None => fields.push((*field, default)),
                }
            }
        }
        // Other decorators, such as `@gin.configurable`, may give other values to the constructor.
        let open = args.is_open() || self.is_decorated(&Value::Obj(object));
        let mut pos = args.pos.into_iter();
        for (field, default) in fields {
            let given = pos.next().or_else(|| args.kw.iter().find(|(k, _)| *k == field).map(|(_, a)| a.clone()));
            let value = match given {
                Some(arg) => arg.value,
                None if open => Value::Unknown,
                None => match default {
                    Some(default) => self.field_default(&default, span),
                    None => Value::Unknown,
                },
            };
            self.heap.set_attr(object, field.as_str(), value);
        }
        let value = Value::Obj(object);
        if let Some(after) = self.try_getattr(&value, sym("__post_init__"), span) {
            self.call(&after, Args::default(), span);
        }
    }
}
