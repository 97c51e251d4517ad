//! Operators and attributes defined by classes of the program: `__add__`, `__eq__`, `__setattr__`,
//! descriptors.

use super::interp::Interp;
use super::library::BinOp;
use super::operator::dunder;
use super::{Arg, Args, Event};
use crate::syntax::Span;
use crate::value::{Data, ObjId, Sym, Value, is_mark, join, sym};

impl Interp<'_> {
    /// The result of the program's comparison methods; `None` if no operand defines one, or if each
    /// of them returns `NotImplemented`.
    pub(super) fn compared(&mut self, op: BinOp, left: &Value, right: &Value, span: Span) -> Option<Value> {
        if self.heap.instance_of(left).is_none() && self.heap.instance_of(right).is_none() {
            return None;
        }
        if op == BinOp::Ne {
            // Without `__ne__`, `!=` is the opposite of `==`.
            let own = [left, right].iter().any(|v| self.user_method(v, "__ne__").is_some());
            if !own {
                let equal = self.compared(BinOp::Eq, left, right, span)?;
                return Some(self.truth(&equal).map_or(Value::Any(crate::value::Type::Bool), |t| Value::Bool(!t)));
            }
        }
        // An unknown operand may compare itself with the other one.
        if left.is_unknown() {
            return Some(Value::Unknown);
        }
        let (name, reflected) = dunder(op);
        for (object, other, name) in self.sides(left, right, (name, reflected)) {
            let Some(method) = self.user_method(&object, name) else { continue };
            let value = self.call(&method, Args::positional([object, other], span), span);
            if self.stopped {
                return Some(Value::Unknown);
            }
            if !is_not_implemented(&value) {
                return Some(value);
            }
        }
        None
    }

    /// The operands whose methods Python calls for an operator, in order: the right operand comes
    /// first if its class is a subclass of the left operand's class and has the reflected method.
    pub(super) fn sides(
        &self,
        left: &Value,
        right: &Value,
        (name, reflected): (&'static str, &'static str),
    ) -> [(Value, Value, &'static str); 2] {
        let first = (left.clone(), right.clone(), name);
        let second = (right.clone(), left.clone(), reflected);
        let class = |v: &Value| self.heap.instance_of(v).map(|i| i.class.clone());
        let below = match (class(left), class(right)) {
            (Some(above), Some(below)) => {
                self.is_same(&above, &below) != Some(true)
                    && self.mro_of(right).iter().any(|c| self.is_same(c, &above) == Some(true))
                    && self.user_method(right, reflected).is_some()
            }
            _ => false,
        };
        if below { [second, first] } else { [first, second] }
    }

    /// The method `__setattr__` or `__getattribute__` of an object, if a class of the program
    /// defines it as a function.
    fn own_function(&self, object: &Value, name: &str) -> Option<Value> {
        let method = self.user_method(object, name)?;
        matches!(self.heap.get(method.as_obj()?), Data::Function(_)).then_some(method)
    }

    /// Calls the program's `__setattr__`. Returns whether there is one.
    pub(super) fn set_through_method(&mut self, object: &Value, name: Sym, value: &Value, span: Span) -> bool {
        let Some(method) = self.own_function(object, "__setattr__") else { return false };
        let args = [object.clone(), Value::str(name.as_str()), value.clone()];
        self.call(&method, Args::positional(args, span), span);
        true
    }

    /// The result of the program's `__getattribute__`.
    pub(super) fn get_through_method(&mut self, object: &Value, name: Sym, span: Span) -> Option<Value> {
        if name.as_str().starts_with("__") {
            return None;
        }
        let method = self.own_function(object, "__getattribute__")?;
        let args = [object.clone(), Value::str(name.as_str())];
        Some(self.call(&method, Args::positional(args, span), span))
    }

    /// `object.__setattr__(self, name, value)` and similar methods: their effect on the instance
    /// itself.
    pub(super) fn plain_attribute(&mut self, method: &str, args: &Args, span: Span) -> Option<Value> {
        let values: Vec<&Value> = args.pos.iter().map(|a: &Arg| &a.value).collect();
        Some(match (method, values.as_slice()) {
            ("__setattr__", [object, name, value]) => {
                let (object, name, value) = ((*object).clone(), (*name).clone(), (*value).clone());
                match name.as_str() {
                    Some(name) => self.set_plainly(&object, sym(name), value, span),
                    None => self.set_any(&object, &name, &value),
                }
                Value::None
            }
            ("__getattribute__", [object, name]) => {
                let (object, name) = ((*object).clone(), name.as_str().map(sym));
                match (object.as_obj(), name) {
                    (Some(id), Some(name)) if self.heap.instance_of(&object).is_some() => {
                        self.instance_attr(id, &object, name, span).unwrap_or(Value::Unknown)
                    }
                    _ => Value::Unknown,
                }
            }
            ("__delattr__", [object, name]) => {
                match (object.as_obj(), name.as_str()) {
                    (Some(id), Some(name)) => self.heap.bind(id, sym(name), None),
                    _ => {
                        let object = (*object).clone();
                        self.open(&object);
                    }
                }
                Value::None
            }
            _ => return None,
        })
    }

    /// `setattr(object, name, value)` with an unknown name.
    pub(super) fn set_any(&mut self, object: &Value, name: &Value, value: &Value) {
        self.event(Event::Escaped { value });
        self.havoc(value);
        let Some(id) = object.as_obj() else { return };
        let Some(instance) = self.heap.instance_of(object) else { return };
        let among: Option<Vec<Sym>> = match name {
            Value::Among(among) => Some(among.texts.iter().map(|text| sym(text)).collect()),
            _ => None,
        };
        let stored: Vec<(Sym, Value)> = instance.attrs.iter().map(|(name, value)| (*name, value.clone())).collect();
        for (name, before) in stored.into_iter().filter(|(name, _)| !is_mark(*name)) {
            let may_be = among.as_ref().is_none_or(|names| names.contains(&name));
            // It is assumed that programs compute the names of attributes that hold modules, tensors or functions
            // only to replace tensors by tensors: `for name in vars(self): setattr(self, name, …)`.
            let part = before.as_obj().is_some_and(|id| match self.heap.get(id) {
                Data::Instance(_) | Data::Function(_) => true,
                Data::Tensor(_) => !self.heap.is_tensor(value),
                _ => false,
            });
            if may_be && (among.is_some() || !part) && !name.as_str().starts_with('<') {
                let joined = join(&mut self.heap, &before, value, false);
                self.heap.bind(id, name, Some(joined));
            }
        }
        self.open(object);
    }

    /// The result of reading a class attribute that is a descriptor.
    pub(super) fn described(&mut self, descriptor: &Value, object: &Value, class: Value, span: Span) -> Option<Value> {
        let method = self.user_method(descriptor, "__get__")?;
        Some(self.call(&method, Args::positional([descriptor.clone(), object.clone(), class], span), span))
    }

    /// The result of a data descriptor, which takes precedence over the instance's own attributes.
    pub(super) fn data_descriptor(&mut self, object: &Value, name: Sym, span: Span) -> Option<Value> {
        if !self.has_descriptors {
            return None;
        }
        let descriptor = self.user_method(object, name.as_str())?;
        self.user_method(&descriptor, "__set__")?;
        let class = self.heap.instance_of(object).map_or(Value::Unknown, |i| i.class.clone());
        self.described(&descriptor, object, class, span)
    }

    /// Sets an attribute through a descriptor. Returns whether there is one.
    pub(super) fn set_described(&mut self, object: &Value, name: Sym, value: &Value, span: Span) -> bool {
        if !self.has_descriptors {
            return false;
        }
        let Some(descriptor) = self.user_method(object, name.as_str()) else { return false };
        let Some(method) = self.user_method(&descriptor, "__set__") else { return false };
        self.call(&method, Args::positional([descriptor, object.clone(), value.clone()], span), span);
        true
    }

    /// Calls `__set_name__` of the descriptors of a new class.
    pub(super) fn name_descriptors(&mut self, class: ObjId, span: Span) {
        let Data::Class(data) = self.heap.get(class) else { return };
        let attrs: Vec<(Sym, Value)> = data.attrs.iter().map(|(name, value)| (*name, value.clone())).collect();
        self.has_descriptors |= attrs.iter().any(|(name, _)| name.as_str() == "__get__");
        for (name, value) in attrs {
            if let Some(method) = self.user_method(&value, "__set_name__") {
                let args = [value, Value::Obj(class), Value::str(name.as_str())];
                self.call(&method, Args::positional(args, span), span);
            }
        }
    }
}

pub(super) fn is_not_implemented(value: &Value) -> bool {
    value.as_path() == Some("builtins.NotImplemented")
}
