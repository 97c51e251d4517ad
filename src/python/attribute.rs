//! Attributes: reading and setting them on any value.

use std::path::Path;
use std::rc::Rc;

use super::interp::{Interp, UNCALLED_DEPTH};
use super::payload::DICT_METHODS;
use super::{Args, Event, RejectKind};
use crate::syntax::{FileId, Span};
use crate::value::{Data, Key, ObjId, Sym, Tensor, Type, UserClass, Value, Written, dotted, join, sym};

/// An unknown shape is a [`Value::Method`] with this name, so that unpacking it can be recognised.
const UNKNOWN_SHAPE: &str = "<shape>";

/// The attribute of a property that stores its setter.
pub(super) const SETTER: &str = "__setter__";

pub(super) fn unknown_shape(of: Value) -> Value {
    Value::Method(Rc::new((of, sym(UNKNOWN_SHAPE))))
}

/// The object whose shape a value is, if nothing is known about this shape: `x` for `x.shape` and `x.size()`.
pub(super) fn owner_of_shape(value: &Value) -> Option<&Value> {
    match value {
        Value::Method(pair) if pair.1.as_str() == UNKNOWN_SHAPE => Some(&pair.0),
        _ => None,
    }
}

impl<'p> Interp<'p> {
    /// `object.name`; unknown if it is not known to exist.
    pub(crate) fn getattr(&mut self, object: &Value, name: Sym, span: Span) -> Value {
        let found = self.try_getattr(object, name, span).unwrap_or(Value::Unknown);
        if found.is_unknown() && name.as_str() == "shape" && (object.is_unknown() || self.heap.is_tensor(object)) {
            return unknown_shape(object.clone());
        }
        found
    }

    fn is_hidden_in_subclass(&self, object: &Value, name: Sym) -> bool {
        let class = self.own_class(object).filter(|_| self.context.speculative);
        class.is_some_and(|class| self.sources.sets_in_subclass(self.root, class.name.as_str(), name.as_str()))
    }

    /// Whether an attribute is an empty tensor that other code replaces: `self.cache = torch.tensor([])`.
    fn is_placeholder(&self, object: &Value, name: Sym, value: &Value) -> bool {
        let is_empty = |tensor: &Tensor| matches!(tensor.shape.as_deref(), Some([dim]) if dim.size.known() == Some(0));
        self.heap.tensor_ref(value).is_some_and(is_empty)
            && (self.sets_later(object, name) || self.sources.assigns_from_outside(self.root, name.as_str()))
    }

    /// `object.name`, or `None` if it is not known to exist.
    pub(crate) fn try_getattr(&mut self, object: &Value, name: Sym, span: Span) -> Option<Value> {
        match object {
            Value::Open(_) if let Some(value) = self.library.open_attribute(object, name) => Some(value),
            Value::Unknown | Value::Open(_) => {
                if name.as_str() == "grad" {
                    self.event(Event::ReadAttribute { object: None, name });
                }
                (name.as_str() == "size").then(|| Value::Method(Rc::new((Value::Unknown, name))))
            }
            Value::Path(path) if name.as_str() == "__name__" && self.library.bases(*path).is_some() => {
                Some(Value::str(path.as_str().rsplit('.').next().unwrap_or_default()))
            }
            _ if name.as_str() == "__dict__" && self.is_namespace(object) => {
                Some(Value::Method(Rc::new((object.clone(), name))))
            }
            Value::Path(path) => Some(self.path_member(*path, name)),
            Value::Super(pair) => {
                let (class, receiver) = (pair.0, pair.1.clone());
                let found = self.super_attr(class, &receiver, name, span);
                if found.is_none() {
                    // An unseen base class may do anything to the instance.
                    self.havoc(&receiver);
                }
                found
            }
            Value::Obj(id) => {
                let id = *id;
                match self.heap.get(id) {
                    Data::Instance(_) => {
                        if let Some(value) = self.get_through_method(object, name, span) {
                            return Some(value);
                        }
                        let found = self.instance_attr(id, object, name, span);
                        if found.as_ref().is_some_and(|value| self.is_collection(value)) {
                            self.event(Event::ReadAttribute { object: Some(id), name });
                        }
                        match found {
                            Some(value) if self.is_placeholder(object, name, &value) => Some(Value::Unknown),
                            // The object may be of a subclass with an attribute that hides the method.
                            Some(Value::Bound(_)) if self.is_hidden_in_subclass(object, name) => Some(Value::Unknown),
                            found => found,
                        }
                    }
                    Data::Class(_) => self.class_member(id, name, span),
                    Data::Module { scope, file } => {
                        let (scope, file) = (*scope, *file);
                        Some(match self.scope_var(scope, name) {
                            Some(value)
                                if self.context.speculative
                                    && (self.is_set_from_outside(file, name)
                                        || self.is_filled_from_outside(&value, name)
                                        || self.may_be_other_global(file, name, &value)) =>
                            {
                                Value::Unknown
                            }
                            Some(value) => value,
                            None => self.package_member(id, name),
                        })
                    }
                    Data::Function(function) => match function.attrs.get(&name) {
                        // Another file may set the attribute, and then call the function that runs
                        // now.
                        Some(_) if self.context.speculative && !name.as_str().starts_with('_') => Some(Value::Unknown),
                        Some(value) => Some(value.clone()),
                        None if name.as_str() == "__name__" => Some(Value::str(function.name.as_str())),
                        None if name.as_str() == "cache_clear" => {
                            let memo = function.attrs.get(&sym(super::MEMO))?;
                            Some(Value::Method(Rc::new((memo.clone(), sym("clear")))))
                        }
                        None => None,
                    },
                    Data::Tensor(_) => self.native_attr(object, name, span),
                    // Some dictionaries, such as batches of tokenizers, allow keys as attributes; a
                    // plain dict does not.
                    Data::Dict(dict)
                        if !DICT_METHODS.contains(&name.as_str())
                            && let Some(value) = dict.entries.get(&Key::Str(name.as_str().into())) =>
                    {
                        Some(value.clone())
                    }
                    Data::List(_) | Data::Dict(_) | Data::Set(_) | Data::Iter(_) => self
                        .native_attr(object, name, span)
                        .or_else(|| Some(Value::Method(Rc::new((object.clone(), name))))),
                    Data::Scope(_) => None,
                }
            }
            Value::Str(_) | Value::Among(_) | Value::Any(Type::Str) => {
                Some(Value::Method(Rc::new((object.clone(), name))))
            }
            Value::Tuple(_) => self
                .native_class_attr(sym("builtins.tuple"), object, name, span)
                .or_else(|| Some(Value::Method(Rc::new((object.clone(), name))))),
            Value::Int(_)
            | Value::Float(_)
            | Value::Bool(_)
            | Value::Any(_)
            | Value::Ranged(_)
            | Value::Floats(_)
            | Value::Size(_) => {
                match name.as_str() {
                    // Members of an `IntEnum` are modelled as numbers.
                    "real" | "numerator" | "value" => Some(object.clone()),
                    _ => Some(Value::Method(Rc::new((object.clone(), name)))),
                }
            }
            Value::Dtype(_) | Value::Device(_) => self.native_attr(object, name, span),
            Value::Partial(partial) if name.as_str() == "func" => Some(partial.func.clone()),
            Value::Bound(pair) if name.as_str() == "__self__" => Some(pair.0.clone()),
            object if self.dict_owner(object).is_some() => Some(Value::Method(Rc::new((object.clone(), name)))),
            _ => None,
        }
    }

    fn is_collection(&self, value: &Value) -> bool {
        match value {
            Value::Tuple(_) => true,
            Value::Obj(id) => matches!(self.heap.get(*id), Data::List(_) | Data::Dict(_)),
            _ => false,
        }
    }

    fn path_member(&mut self, path: Sym, name: Sym) -> Value {
        if let Some(module) = path.as_str().strip_prefix("project.") {
            let full = format!("{module}.{name}");
            let from = self.file();
            return match self.sources.resolve(self.root, from, &full, 0) {
                super::Import::File(file) => self.modules.get(&file).map_or(Value::Unknown, |m| Value::Obj(*m)),
                _ => Value::path(&format!("project.{full}")),
            };
        }
        let library = self.library;
        let member = library.member(self, path, name);
        if !self.replaced.is_empty() && self.is_replaced(library.canonical(dotted(path, name))) {
            return Value::Unknown;
        }
        member
    }

    /// Whether the program contains `module.name = …` for this module.
    fn is_set_from_outside(&self, module: FileId, name: Sym) -> bool {
        let stem = self.sources.own_path(module).and_then(|path| Path::new(path).file_stem()?.to_str());
        stem.is_some_and(|stem| self.sources.assigns(self.root, &format!("{stem}.{name}")))
    }

    /// Whether other code may have filled a placeholder in a module, under any name of the module.
    fn is_filled_from_outside(&self, value: &Value, name: Sym) -> bool {
        value.is_none() && self.sources.assigns_from_outside(self.root, name.as_str())
    }

    /// A submodule that another file has imported.
    fn package_member(&mut self, module: ObjId, name: Sym) -> Value {
        let Data::Module { file, .. } = *self.heap.get(module) else { return Value::Unknown };
        match self.sources.resolve(self.root, file, name.as_str(), 1) {
            super::Import::File(file) => self.modules.get(&file).map_or(Value::Unknown, |m| Value::Obj(*m)),
            _ => Value::Unknown,
        }
    }

    fn native_class_attr(&mut self, class: Sym, object: &Value, name: Sym, span: Span) -> Option<Value> {
        if self.replaces_in_class(class, name) {
            return Some(self.read_replaced(object));
        }
        let library = self.library;
        library.attribute(self, class, object, name, span)
    }

    fn native_attr(&mut self, object: &Value, name: Sym, span: Span) -> Option<Value> {
        let class = self.library.class_of(self, object)?;
        self.native_class_attr(class, object, name, span)
    }

    pub(super) fn instance_attr(&mut self, id: ObjId, object: &Value, name: Sym, span: Span) -> Option<Value> {
        if let Some(value) = self.data_descriptor(object, name, span) {
            return Some(value);
        }
        let own = self.heap.attr(id, name.as_str());
        let may_lack = self.heap.may_lack(id, name);
        // A function that nothing calls may run after other code has filled a placeholder of settings.
        let is_placeholder = own.as_ref().is_some_and(Value::is_none) && self.context.speculative;
        if is_placeholder && !self.is_analysed_object(id) && self.is_set_somewhere(name) {
            return Some(Value::Unknown);
        }
        if own.is_some() && !may_lack {
            return own;
        }
        // On the paths where the instance does not have the attribute, its class may have it.
        let other = self.attr_of_class(id, object, name, span, may_lack);
        match (own, other) {
            (Some(own), Some(other)) => Some(join(&mut self.heap, &own, &other, false)),
            (own, other) => own.or(other),
        }
    }

    /// Whether an object is the receiver of the method that runs because nothing calls it, or was created in this run.
    fn is_analysed_object(&self, id: ObjId) -> bool {
        let Some(first) = self.frames.get(UNCALLED_DEPTH - 1) else { return true };
        let receiver = first.owner.as_ref().and_then(|owner| owner.1.as_ref()?.as_obj());
        receiver == Some(id) || id > first.home
    }

    /// Whether the program assigns an attribute of this name, or passes an argument of this name.
    fn is_set_somewhere(&self, name: Sym) -> bool {
        self.sources.assigns(self.root, name.as_str()) || self.mentions(sym(&format!("({name}=")).as_str())
    }

    /// An attribute that an instance gets from its class, or from the `__getattr__` of its class.
    /// `may_lack` is true if the instance may lack an attribute of its own on some paths.
    fn attr_of_class(&mut self, id: ObjId, object: &Value, name: Sym, span: Span, may_lack: bool) -> Option<Value> {
        for class in self.mro_of(object).iter().cloned() {
            let found = match class {
                Value::Obj(class) => self.class_attr(class, name).map(|v| self.bind_attr(v, object, class, span)),
                Value::Path(path) => self.native_class_attr(path, object, name, span),
                _ => None,
            };
            // The constructor of an unseen base class fills placeholders, and the fields that the class annotates.
            let is_open = || self.heap.instance_of(object).is_some_and(|instance| instance.open);
            if found.as_ref().is_some_and(Value::is_none) && is_open()
                || found.is_some() && is_open() && self.annotates(object, name)
            {
                return Some(Value::Unknown);
            }
            if found.is_some() {
                return found;
            }
        }
        if let Some(method) = method_of_object(object, name) {
            return Some(method);
        }
        match name.as_str() {
            "__class__" => self.heap.instance_of(object).map(|i| i.class.clone()),
            _ if may_lack => self.user_method(object, "__getattr__").map(|_| Value::Unknown),
            _ => self.missing_attr(id, object, name, span),
        }
    }

    /// Whether a class of an object annotates an attribute: `items: list[Split] = []`.
    fn annotates(&self, object: &Value, name: Sym) -> bool {
        let line = self.mro_of(object);
        line.iter().filter_map(Value::as_obj).any(|class| {
            let Data::Class(class) = self.heap.get(class) else { return false };
            class.fields.as_ref().is_some_and(|fields| fields.contains(&name))
        })
    }

    /// Applies the replacement of a class attribute to instances. If an instance sets the attribute
    /// on only some paths, the join of its own value and the class's value is stored in the
    /// instance. Therefore, every value that an instance of the class stores under this name is
    /// joined with the new value.
    fn join_with_class(&mut self, class: ObjId, name: Sym, value: &Value) {
        for id in self.heap.ids() {
            let own = self.heap.instance_of(&Value::Obj(id)).and_then(|instance| instance.attrs.get(&name)).cloned();
            if let Some(own) = own
                && self.mro_of(&Value::Obj(id)).iter().any(|line| line.as_obj() == Some(class))
            {
                let joined = join(&mut self.heap, &own, value, false);
                self.heap.bind(id, name, Some(joined));
            }
        }
    }

    /// The value of a class attribute that is read through an instance: functions become methods,
    /// properties are called.
    fn bind_attr(&mut self, value: Value, object: &Value, class: ObjId, span: Span) -> Value {
        let Value::Obj(id) = &value else {
            return value;
        };
        let id = *id;
        let own = match object {
            Value::Obj(receiver) if matches!(self.heap.get(*receiver), Data::Class(_)) => object.clone(),
            _ => self.heap.instance_of(object).map_or(Value::Obj(class), |i| i.class.clone()),
        };
        let Data::Function(function) = self.heap.get(id) else {
            if self.has_descriptors && self.heap.instance_of(&value).is_some() {
                return self.described(&value, object, own, span).unwrap_or(value);
            }
            return value;
        };
        let name = function.name;
        match function.attrs.get(&sym("__kind__")).and_then(|k| k.as_str().map(str::to_owned)).as_deref() {
            Some("static") => value,
            Some("class") => Value::Bound(Rc::new((own, value))),
            Some("property") => self.call(&value, Args::positional([object.clone()], span), span),
            Some("cached") => {
                let found = self.call(&value, Args::positional([object.clone()], span), span);
                if let Some(id) = object.as_obj().filter(|_| !self.stopped) {
                    self.heap.set_attr(id, name.as_str(), found.clone());
                }
                found
            }
            _ => Value::Bound(Rc::new((object.clone(), value))),
        }
    }

    fn class_member(&mut self, class: ObjId, name: Sym, span: Span) -> Option<Value> {
        for ancestor in self.mro(class).iter() {
            match ancestor {
                Value::Obj(id) => {
                    let Some(value) = self.class_attr(*id, name) else { continue };
                    if let Value::Obj(function) = &value
                        && let Data::Function(function) = self.heap.get(*function)
                        && function.attrs.get(&sym("__kind__")).and_then(Value::as_str) == Some("class")
                    {
                        return Some(Value::Bound(Rc::new((Value::Obj(class), value))));
                    }
                    if self.has_descriptors && self.heap.instance_of(&value).is_some() {
                        let described = self.described(&value, &Value::None, Value::Obj(class), span);
                        return described.or(Some(value));
                    }
                    return Some(value);
                }
                Value::Path(path) if self.library.bases(*path).is_some() => {
                    let full = dotted(*path, name);
                    if self.library.words().class_methods.contains(&full.as_str()) {
                        return Some(Value::Bound(Rc::new((Value::Obj(class), Value::Path(full)))));
                    }
                    // A member of a library class, read through a subclass in the program.
                    let member = self.path_member(*path, name);
                    if !member.is_unknown() && !matches!(name.as_str(), "__name__" | "__doc__") {
                        return Some(Value::Unknown);
                    }
                }
                _ => {}
            }
        }
        match (name.as_str(), self.heap.get(class)) {
            ("__name__" | "__qualname__", Data::Class(class)) => Some(Value::str(class.name.as_str())),
            _ => None,
        }
    }

    pub(super) fn make_super(&mut self, arguments: &'p crate::syntax::ast::Arguments) -> Value {
        let args = self.eval_args(arguments);
        match args.pos.as_slice() {
            [class, receiver] => match class.value {
                Value::Obj(class) if self.is_foreign(class, &receiver.value) => {
                    if let Data::Class(data) = self.heap.get(class) {
                        let message = format!(
                            "the first argument of `super()` is `{}`, but the second is not an instance or subclass of it",
                            data.name
                        );
                        let span = self.span(arguments);
                        self.report_arguments(message, span);
                    }
                    self.raise("TypeError")
                }
                Value::Obj(class) => Value::Super(Rc::new((class, receiver.value.clone()))),
                // The class is not known, so any constructor may run.
                _ => {
                    let receiver = receiver.value.clone();
                    self.open(&receiver);
                    Value::Unknown
                }
            },
            _ => match self.frames.iter().rev().find_map(|f| f.owner.clone()) {
                Some((class, Some(receiver))) => Value::Super(Rc::new((class, receiver))),
                _ => Value::Unknown,
            },
        }
    }

    /// Whether `super(class, receiver)` raises, because the receiver is not an instance of the
    /// class.
    fn is_foreign(&self, class: ObjId, receiver: &Value) -> bool {
        let Data::Class(data) = self.heap.get(class) else { return false };
        let name = data.name;
        let line = match receiver {
            Value::Obj(id) if matches!(self.heap.get(*id), Data::Class(_)) => self.mro(*id),
            _ => self.mro_of(receiver),
        };
        // An unseen base is a class of another file, which cannot derive from a class of this one.
        let is_beside = |other: &UserClass| {
            let file = |class: &UserClass| self.code.get(class.code.0 as usize).map(|code| code.file);
            file(other) == file(data) && !self.may_be_completed(other.name)
        };
        // A class of the same name may be another version of this class: from another branch, or
        // from before a decorator.
        let differs = |other: &Value| match other.as_obj().map(|id| self.heap.get(id)) {
            Some(Data::Class(other)) => other.name != name && (!other.open || is_beside(other)),
            Some(_) => false,
            None => true,
        };
        let made = || self.heap.instance_of(receiver).is_none_or(|instance| !instance.open);
        let own = line.first().and_then(Value::as_obj).map(|id| self.heap.get(id));
        let cannot_derive = || matches!(own, Some(Data::Class(own)) if is_beside(own));
        !line.is_empty() && line.iter().all(differs) && (made() || cannot_derive())
    }

    fn super_attr(&mut self, class: ObjId, receiver: &Value, name: Sym, span: Span) -> Option<Value> {
        let line = match receiver {
            // In a class method, the receiver is the class.
            Value::Obj(id) if matches!(self.heap.get(*id), Data::Class(_)) => self.mro(*id),
            _ => self.mro_of(receiver),
        };
        let after = line.iter().position(|c| c.as_obj() == Some(class))?;
        for (at, ancestor) in line.iter().cloned().enumerate().skip(after + 1) {
            match ancestor {
                Value::Path(_) if name.as_str() == "__init__" && self.leaves_constructor(&line, at) => {}
                Value::Obj(id) => {
                    if let Some(value) = self.class_attr(id, name) {
                        return Some(self.bind_attr(value, receiver, id, span));
                    }
                    if name.as_str() == "__init__" && self.generates_constructor(id) {
                        return Some(Value::Bound(Rc::new((receiver.clone(), ancestor))));
                    }
                }
                Value::Path(path) if name.as_str() == "__init__" => {
                    let method = Value::path(&format!("{path}.__init__"));
                    return Some(Value::Bound(Rc::new((receiver.clone(), method))));
                }
                Value::Path(path) if path.as_str().starts_with("builtins.") && self.payload(receiver).is_some() => {
                    if let Some(method) = self.payload_method(receiver, name) {
                        return Some(method);
                    }
                }
                Value::Path(path) => match self.native_class_attr(path, receiver, name, span) {
                    Some(Value::Method(_)) => {
                        let method = Value::path(&format!("{path}.{name}"));
                        return Some(Value::Bound(Rc::new((receiver.clone(), method))));
                    }
                    Some(value) => return Some(value),
                    None => {}
                },
                _ => {}
            }
        }
        method_of_object(receiver, name)
    }

    /// The setter of a property (`@name.setter`): `Some(None)` if the property has no setter,
    /// `None` if `name` is not a property.
    pub(super) fn property(&self, object: &Value, name: Sym) -> Option<Option<Value>> {
        let property = self.user_method(object, name.as_str())?;
        match self.heap.get(property.as_obj()?) {
            Data::Function(function) if function.attrs.get(&sym("__kind__"))?.as_str() == Some("property") => {
                Some(function.attrs.get(&sym(SETTER)).cloned())
            }
            _ => None,
        }
    }

    /// The effect of `object.__setattr__`.
    pub(super) fn set_plainly(&mut self, object: &Value, name: Sym, value: Value, span: Span) {
        let library = self.library;
        let classes = self.native_classes(object);
        // In the setter itself, a library class stores the value without it: `nn.Module.__setattr__(self, name, layer)`.
        let is_inside = |setter: &Value| {
            let current = self.frames.last().and_then(|frame| self.definition(frame));
            let own = self.def_of(setter);
            current.zip(own).is_some_and(|(current, own)| std::ptr::eq(current, own))
        };
        match self.property(object, name).filter(|setter| classes.is_empty() || !setter.as_ref().is_some_and(is_inside))
        {
            Some(Some(setter)) => {
                self.call(&setter, Args::positional([object.clone(), value], span), span);
                return;
            }
            // A library class may set the attribute in its own way.
            Some(None) if classes.is_empty() && !self.heap.instance_of(object).is_none_or(|i| i.open) => {
                if !self.is_in_try() {
                    let message = format!("`{name}` is a property without a setter");
                    self.report_missing(RejectKind::Name, message, span);
                }
                self.raise("AttributeError");
                return;
            }
            _ => {}
        }
        if self.set_described(object, name, &value, span) {
            return;
        }
        for class in classes {
            if library.set_attribute(self, class, object, name, &value, span) {
                return;
            }
        }
        if self.set_entry(object, name, &value, span) {
            return;
        }
        if let Some(id) = object.as_obj() {
            // An unseen base class may have a property of this name, whose setter converts the number.
            let is_converted = value.number_type().is_some() && self.may_have_setter(object);
            self.heap.set_attr(id, name.as_str(), if is_converted { Value::Unknown } else { value });
        }
    }

    /// Whether an object that the current method did not get as `self` has a class with unseen bases.
    fn may_have_setter(&self, object: &Value) -> bool {
        let is_self = self
            .frames
            .last()
            .and_then(|frame| frame.owner.as_ref())
            .is_some_and(|(_, own)| own.as_ref().is_some_and(|own| own.as_obj() == object.as_obj()));
        let is_open = |class: &Value| match class {
            Value::Obj(id) => matches!(self.heap.get(*id), Data::Class(class) if class.open),
            Value::Path(_) => false,
            _ => true,
        };
        !is_self && self.mro_of(object).iter().any(is_open)
    }

    pub(crate) fn setattr(&mut self, object: &Value, name: Sym, value: Value, span: Span) {
        self.setattr_from(object, name, value, span, None);
    }

    /// Sets an attribute to the value of the expression at `from`.
    pub(super) fn setattr_from(&mut self, object: &Value, name: Sym, value: Value, span: Span, from: Option<Span>) {
        let library = self.library;
        let Value::Obj(id) = object else {
            self.event(Event::Unseen { name, span });
            self.event(Event::Escaped { value: &value });
            self.havoc(&value);
            self.heap.write_lost(if name.as_str() == "data" { Written::Data } else { Written::Attribute(name) });
            library.unseen_member(self, name);
            if let Value::Path(path) = object {
                self.replace_member(*path, name, &value);
            }
            return;
        };
        match self.heap.get(*id) {
            Data::Instance(_) => {
                self.event(Event::SetAttribute { object: *id, name, value: &value, span, from });
                if !self.set_through_method(object, name, &value, span) {
                    self.set_plainly(object, name, value, span);
                }
            }
            Data::Class(class) => {
                if class.attrs.contains_key(&name) {
                    self.join_with_class(*id, name, &value);
                }
                if let Data::Class(class) = self.heap.get_mut(*id) {
                    class.attrs.insert(name, value);
                }
            }
            Data::Function(_) => {
                if let Data::Function(function) = self.heap.get_mut(*id) {
                    function.attrs.insert(name, value);
                }
            }
            Data::Module { scope, .. } => {
                let scope = *scope;
                self.heap.bind(scope, name, Some(value));
            }
            // Some dictionaries, such as configurations, allow keys as attributes.
            Data::Dict(_) => self.set_subscript(object, &Value::str(name.as_str()), value, span),
            Data::Tensor(_) => {
                self.event(Event::SetAttribute { object: *id, name, value: &value, span, from });
                if let Some(class) = self.library.class_of(self, object) {
                    library.set_attribute(self, class, object, name, &value, span);
                }
            }
            _ => {}
        }
    }
}

/// The methods by which `object` itself reads and sets attributes.
fn method_of_object(receiver: &Value, name: Sym) -> Option<Value> {
    matches!(name.as_str(), "__setattr__" | "__getattribute__" | "__delattr__").then(|| {
        let method = Value::path(&format!("builtins.object.{name}"));
        Value::Bound(Rc::new((receiver.clone(), method)))
    })
}
