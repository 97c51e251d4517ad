//! Attributes that an instance inherits from its class.

use super::Heap;
use crate::value::{Data, ObjId, Sym, Value, sym};

/// The depth to which base classes are followed.
const DEPTH: u32 = 20;

impl Heap {
    /// The class of an instance; `None` for other objects.
    pub(super) fn class_of(&self, id: ObjId) -> Option<Value> {
        match self.get(id) {
            Data::Instance(instance) => Some(instance.class.clone()),
            _ => None,
        }
    }

    /// The value that a class supplies for a name which an instance does not have itself: the value
    /// in the first program class that binds the name. If no class binds it, but one defines
    /// `__getattr__`, the value is unknown. Otherwise, the result is `None`.
    pub(in crate::value) fn inherited(&self, class: &Value, name: Sym) -> Option<Value> {
        let found = self.class_member(class, name, DEPTH);
        found.or_else(|| self.class_member(class, sym("__getattr__"), DEPTH).map(|_| Value::Unknown))
    }

    fn class_member(&self, class: &Value, name: Sym, depth: u32) -> Option<Value> {
        let id = class.as_obj()?;
        let Data::Class(data) = self.get(id) else { return None };
        if self.is_unjoined(id) {
            return Some(Value::Unknown);
        }
        if let Some(value) = data.attrs.get(&name) {
            // A function becomes a new bound method at each read.
            let bound = value.as_obj().is_some_and(|id| matches!(self.get(id), Data::Function(_)));
            // The class attribute for a field of a dataclass is the default of the field, if there
            // is one.
            if let Some(Data::Instance(field)) = value.as_obj().map(|id| self.get(id))
                && field.class.as_path() == Some("dataclasses.Field")
            {
                return field.attrs.get(&sym("default")).cloned();
            }
            return Some(if bound { Value::Unknown } else { value.clone() });
        }
        let below = depth.checked_sub(1)?;
        data.bases.iter().find_map(|base| self.class_member(base, name, below))
    }
}
