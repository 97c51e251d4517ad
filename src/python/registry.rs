//! Registries: collections in the bodies of classes that methods of these classes fill. Other modules may fill them
//! before a function runs that nothing calls, or while they are executed lazily.

use rustc_hash::FxHashSet;

use super::interp::Interp;
use crate::value::{Data, ObjId, Sym, Value};

impl Interp<'_> {
    /// [`Interp::forget_filled_classes`] for all modules.
    pub(super) fn forget_global_registries(&mut self) {
        for scope in self.module_scopes() {
            self.forget_filled_classes(scope);
        }
    }

    /// Makes unknown the contents of the collections in the bodies of classes that the methods of these classes fill,
    /// for the classes and objects that the variables of a scope hold.
    fn forget_filled_classes(&mut self, scope: ObjId) {
        let Data::Scope(names) = self.heap.get(scope) else { return };
        let class_of = |id: ObjId| match self.heap.get(id) {
            Data::Class(_) => Some(id),
            Data::Instance(instance) => instance.class.as_obj(),
            _ => None,
        };
        let classes: FxHashSet<ObjId> = names.vars.values().filter_map(Value::as_obj).filter_map(class_of).collect();
        for class in classes {
            self.forget_filled_in(class);
        }
    }

    /// Makes unknown the contents of the collections in the body of a class that its methods fill: a registry.
    pub(super) fn forget_filled_in(&mut self, class: ObjId) {
        let Data::Class(data) = self.heap.get(class) else { return };
        let is_collection = |value: &Value| value.as_obj().is_some_and(|id| self.heap.is_collection(id));
        let collections: Vec<(Sym, Value)> =
            data.attrs.iter().filter(|(_, value)| is_collection(value)).map(|(n, v)| (*n, v.clone())).collect();
        if collections.is_empty() {
            return;
        }
        let filled = self.attributes_set_by(class);
        for (_, value) in collections.iter().filter(|(name, _)| filled.contains(name)) {
            self.havoc(value);
        }
    }
}
