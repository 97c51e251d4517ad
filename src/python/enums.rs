//! Enumerations of the program: members are instances of their class.

use super::interp::Interp;
use crate::value::{Attrs, Data, Instance, ObjId, Value, sym};

/// The base classes of enumerations whose members are modelled as objects. Members of `IntEnum` and
/// `StrEnum` are modelled as numbers and strings.
const BASES: &[&str] = &["enum.Enum", "enum.Flag"];

impl Interp<'_> {
    /// Converts the names in the body of an enumeration to members.
    pub(super) fn make_members(&mut self, class: ObjId) {
        if !self.mro(class).iter().any(|c| c.as_path().is_some_and(|p| BASES.contains(&p))) {
            return;
        }
        let Data::Class(data) = self.heap.get(class) else { return };
        let bound: Vec<_> = data.attrs.iter().map(|(name, value)| (*name, value.clone())).collect();
        for (name, value) in bound {
            let member = match value.as_obj().map(|id| self.heap.get(id)) {
                Some(Data::Function(_) | Data::Class(_)) => false,
                _ => !name.as_str().starts_with('_'),
            };
            if !member {
                continue;
            }
            let mut attrs = Attrs::default();
            attrs.insert(sym("name"), Value::str(name.as_str()));
            attrs.insert(sym("value"), value);
            let instance = Instance { class: Value::Obj(class), attrs, open: false };
            let instance = self.heap.alloc(Data::Instance(instance));
            if let Data::Class(data) = self.heap.get_mut(class) {
                data.attrs.insert(name, Value::Obj(instance));
            }
        }
    }

    /// The members of an enumeration; `None` if the class is not an enumeration.
    pub(super) fn members(&self, class: &Value) -> Option<Vec<Value>> {
        let id = class.as_obj()?;
        let Data::Class(data) = self.heap.get(id) else { return None };
        let members: Vec<Value> = data
            .attrs
            .values()
            .filter(|v| self.heap.instance_of(v).is_some_and(|i| i.class.as_obj() == Some(id)))
            .cloned()
            .collect();
        (!members.is_empty() && members.iter().all(|m| self.member_value(m).is_some())).then_some(members)
    }

    fn member_value(&self, member: &Value) -> Option<Value> {
        self.heap.instance_of(member)?.attrs.get(&sym("value")).cloned()
    }

    /// `Class(value)`: the member with this value, if it is known.
    pub(super) fn member_of(&self, class: ObjId, value: &Value) -> Value {
        let members = self.members(&Value::Obj(class)).unwrap_or_default();
        for member in members {
            let Some(have) = self.member_value(&member) else { return Value::Unknown };
            match self.equals(&have, value) {
                Some(true) => return member,
                Some(false) => {}
                None => return Value::Unknown,
            }
        }
        Value::Unknown
    }

    /// Whether two values are known to be different members of one enumeration.
    pub(super) fn are_members_apart(&self, a: &Value, b: &Value) -> bool {
        let (Some(x), Some(y)) = (self.heap.instance_of(a), self.heap.instance_of(b)) else { return false };
        x.class.as_obj() == y.class.as_obj()
            && a.as_obj() != b.as_obj()
            && self
                .members(&x.class)
                .is_some_and(|all| [a, b].iter().all(|v| all.iter().any(|m| m.as_obj() == v.as_obj())))
    }
}
