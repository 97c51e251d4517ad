//! Instances that are dictionaries or lists, and the dictionary of an instance's attributes.
//!
//! The entries of an instance of a subclass of `dict` or `list` are stored in a separate object,
//! its payload. Configuration classes are often such subclasses: `__getattr__` or
//! `self.__dict__ = self` makes their keys readable as attributes.

use std::rc::Rc;

use super::interp::Interp;
use super::{Arg, Args};
use crate::syntax::Span;
use crate::value::{Data, Dict, Items, Key, ObjId, Sym, Value, is_mark, sym};

/// The attribute that holds the payload.
pub(super) use crate::value::PAYLOAD;
/// The name of the attribute with the dictionary of all attributes.
const DICT: &str = "__dict__";

pub(super) const DICT_METHODS: &[&str] = &[
    "get",
    "keys",
    "values",
    "items",
    "update",
    "pop",
    "popitem",
    "setdefault",
    "copy",
    "clear",
    "__getitem__",
    "__setitem__",
    "__contains__",
    "__len__",
    "__iter__",
    "__delitem__",
];
const LIST_METHODS: &[&str] = &[
    "append",
    "extend",
    "insert",
    "pop",
    "remove",
    "reverse",
    "sort",
    "index",
    "count",
    "copy",
    "clear",
    "__getitem__",
    "__setitem__",
    "__contains__",
    "__len__",
    "__iter__",
    "__delitem__",
];

impl Interp<'_> {
    pub(super) fn payload(&self, object: &Value) -> Option<Value> {
        self.heap.instance_of(object)?.attrs.get(&sym(PAYLOAD)).cloned()
    }

    /// Gives a new instance an empty payload, if its class derives from a container.
    pub(super) fn give_payload(&mut self, object: ObjId, mro: &[Value]) {
        let data = mro.iter().find_map(|class| match class.as_path()? {
            "builtins.dict" | "collections.UserDict" => Some(Data::Dict(Dict::default())),
            "builtins.list" | "collections.UserList" => Some(Data::List(Items::Exact(Vec::new()))),
            _ => None,
        });
        if let Some(data) = data {
            let payload = self.heap.alloc(data);
            self.heap.set_attr(object, PAYLOAD, Value::Obj(payload));
        }
    }

    /// The effect of the constructor of `dict` or `list` on an instance of a subclass.
    pub(super) fn fill_payload(&mut self, object: &Value, args: &Args, span: Span) {
        let Some(payload) = self.payload(object) else { return };
        let method = if self.heap.dict_of(&payload).is_some() { "update" } else { "extend" };
        if args.is_open() && args.pos.is_empty() {
            self.havoc(&payload);
        } else if !args.pos.is_empty() || !args.kw.is_empty() {
            self.container_method(&payload, sym(method), args, span);
        }
    }

    /// A method of the container class of an instance.
    pub(super) fn payload_method(&self, object: &Value, name: Sym) -> Option<Value> {
        let payload = self.payload(object)?;
        let known = if self.heap.dict_of(&payload).is_some() { DICT_METHODS } else { LIST_METHODS };
        known.contains(&name.as_str()).then(|| Value::Method(Rc::new((payload, name))))
    }

    /// An attribute that is not stored: `__dict__`, a method of the container, an entry (if the
    /// instance is its own `__dict__`), or the result of `__getattr__`.
    pub(super) fn missing_attr(&mut self, id: ObjId, object: &Value, name: Sym, span: Span) -> Option<Value> {
        if name.as_str() == DICT {
            return Some(Value::Method(Rc::new((object.clone(), name))));
        }
        if let Some(method) = self.payload_method(object, name) {
            return Some(method);
        }
        if name.as_str().starts_with("__") {
            return None;
        }
        if self.is_own_dict(id) {
            let payload = self.payload(object)?;
            return Some(self.subscript(&payload, &Value::str(name.as_str()), span));
        }
        let value = Value::str(name.as_str());
        match self.user_method(object, "__getattr__")? {
            Value::Path(path) => {
                let method = path.as_str().rsplit('.').next().unwrap_or_default();
                let method = self.payload_method(object, sym(method))?;
                Some(self.call(&method, Args::positional([value], span), span))
            }
            method => {
                let value = self.call(&method, Args::positional([object.clone(), value], span), span);
                // `__getattr__` often returns `None` only until another object is attached, to which it then forwards.
                Some(if value.is_none() { Value::Unknown } else { value })
            }
        }
    }

    fn is_own_dict(&self, id: ObjId) -> bool {
        matches!(self.heap.attr(id, DICT), Some(Value::Obj(dict)) if dict == id)
    }

    /// `object.name = value`, if this sets an entry of an instance that is a dictionary. Returns
    /// whether it does.
    pub(super) fn set_entry(&mut self, object: &Value, name: Sym, value: &Value, span: Span) -> bool {
        let Some(id) = object.as_obj() else { return false };
        let Some(payload) = self.payload(object) else { return false };
        if name.as_str().starts_with("__") {
            return false;
        }
        let method = self.user_method(object, "__setattr__");
        // `__setattr__ = dict.__setitem__`
        let entry = self.is_own_dict(id) || method.is_some_and(|m| m.as_path().is_some());
        if entry {
            self.set_subscript(&payload, &Value::str(name.as_str()), value.clone(), span);
        }
        entry
    }

    /// Returns the instance or module whose `__dict__` this value is.
    pub(super) fn dict_owner(&self, value: &Value) -> Option<Value> {
        match value {
            Value::Method(pair) if pair.1.as_str() == DICT => Some(pair.0.clone()),
            _ => None,
        }
    }

    /// Whether a value is a module or a member of a library: its `__dict__` contains its members.
    pub(super) fn is_namespace(&self, value: &Value) -> bool {
        match value {
            Value::Path(_) => true,
            Value::Obj(id) => matches!(self.heap.get(*id), Data::Module { .. }),
            _ => false,
        }
    }

    /// The attributes of an instance as a new dictionary.
    pub(super) fn attributes(&mut self, object: &Value) -> Value {
        let Some(instance) = self.heap.instance_of(object) else { return Value::Unknown };
        let mut dict = Dict { open: instance.open.then_some(Value::Unknown), ..Dict::default() };
        // An attribute may be missing on some path.
        let lacks = |name: Sym| object.as_obj().is_some_and(|id| self.heap.may_lack(id, name));
        for (name, value) in instance.attrs.iter().filter(|(name, _)| name.as_str() != PAYLOAD && !is_mark(**name)) {
            if value.is_unknown() || lacks(*name) {
                dict.open = Some(Value::Unknown);
            } else {
                dict.entries.insert(Key::Str(name.as_str().into()), value.clone());
            }
        }
        self.heap.dict(dict)
    }

    /// A method of an instance's `__dict__`.
    pub(super) fn attributes_method(&mut self, owner: &Value, name: Sym, args: Args, span: Span) -> Value {
        if self.is_namespace(owner) {
            let mut given = args.pos.iter().map(|arg| arg.value.clone());
            return match (name.as_str(), given.next()) {
                ("get" | "__getitem__", Some(key)) => {
                    let default = given.next();
                    self.getattr_call(owner, Some(&key), default.as_ref(), span)
                }
                _ => Value::Unknown,
            };
        }
        let before = self.attributes(owner);
        let was_open = self.heap.dict_of(&before).is_none_or(|dict| dict.open.is_some());
        let value = self.call(&Value::Method(Rc::new((before.clone(), name))), args, span);
        if matches!(name.as_str(), "update" | "setdefault" | "pop" | "__setitem__" | "clear") {
            let Some(after) = self.heap.dict_of(&before).cloned() else { return value };
            // The dictionary of [`Interp::attributes`] does not contain the attributes that are
            // missing on some path, but a write of an unknown name may have set them.
            if let Some(id) = owner.as_obj().filter(|_| after.open.is_some()) {
                self.heap.forget_lacking(id);
            }
            if let Some(instance) = owner.as_obj().and_then(|id| self.heap.instance_mut(id)) {
                instance.open |= after.open.is_some() && !was_open;
            }
            for (key, value) in after.entries {
                if let Key::Str(name) = key {
                    self.set_in_dict(owner, sym(&name), value, span);
                }
            }
        }
        value
    }

    /// Sets an attribute through the `__dict__` of an instance, which does not call `__setattr__`.
    fn set_in_dict(&mut self, owner: &Value, name: Sym, value: Value, span: Span) {
        let own = self.user_method(owner, "__setattr__").is_some() || self.user_method(owner, name.as_str()).is_some();
        match owner.as_obj() {
            Some(id) if own => self.heap.set_attr(id, name.as_str(), value),
            _ => self.setattr(owner, name, value, span),
        }
    }

    /// Calls a special method of a container, such as `__len__`. Returns `None` for other methods.
    pub(super) fn syntax_method(&mut self, receiver: &Value, name: Sym, args: &Args, span: Span) -> Option<Value> {
        let first = args.pos.first().map(|a: &Arg| a.value.clone());
        let second = args.pos.get(1).map(|a| a.value.clone());
        Some(match (name.as_str(), first, second) {
            ("__getitem__", Some(index), _) => self.subscript(receiver, &index, span),
            ("__setitem__", Some(index), Some(value)) => {
                self.set_subscript(receiver, &index, value, span);
                Value::None
            }
            ("__delitem__", Some(index), _) => {
                self.delete_item(receiver, &index);
                Value::None
            }
            ("__len__", ..) => self.length(receiver, span),
            ("__iter__", ..) => {
                let items = self.iterate(receiver, span);
                self.heap.iter(items)
            }
            _ => return None,
        })
    }
}
