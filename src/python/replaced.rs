//! Members of libraries that the program replaces or adds: `torch.load = …`,
//! `torch.nn.Module.add = …`. From the assignment on, nothing is known about them.

use super::interp::Interp;
use crate::value::{Sym, Value, dotted, sym};

impl Interp<'_> {
    /// Records `path.name = value`. Settings such as `torch.backends.cudnn.benchmark = True` are
    /// not replacements. `os.environ |= …` is not a replacement either, because it assigns the same
    /// object.
    pub(super) fn replace_member(&mut self, path: Sym, name: Sym, value: &Value) {
        let is_setting = matches!(
            value,
            Value::None
                | Value::Bool(_)
                | Value::Int(_)
                | Value::Float(_)
                | Value::Str(_)
                | Value::Dtype(_)
                | Value::Any(_)
                | Value::Ranged(_)
                | Value::Floats(_)
                | Value::Among(_)
        );
        let member = self.library.canonical(dotted(path, name));
        if !is_setting && value.as_path() != Some(member.as_str()) {
            self.replaced.insert(member);
        }
    }

    /// Whether the program replaced the function or class at a canonical path.
    pub(super) fn is_replaced(&self, path: Sym) -> bool {
        !self.replaced.is_empty() && self.replaced.contains(&path)
    }

    /// Whether the program replaced or added a member of a library's class or of one of its bases.
    pub(super) fn replaces_in_class(&self, class: Sym, name: Sym) -> bool {
        if self.replaced.is_empty() {
            return false;
        }
        let bases = self.library.bases(class).unwrap_or_default();
        std::iter::once(&class).chain(bases).any(|class| self.replaced.contains(&dotted(*class, name)))
    }

    /// A member that the program replaced or added is read from an instance: a call of this member
    /// may change the instance.
    pub(super) fn read_replaced(&mut self, object: &Value) -> Value {
        self.open(object);
        self.havoc(object);
        let library = self.library;
        library.changed_by_method(self, object);
        Value::Unknown
    }

    /// Whether a call of an instance of a library's class runs code of the program.
    pub(super) fn replaces_call(&self, class: Sym) -> bool {
        ["forward", "__call__"].iter().any(|name| self.replaces_in_class(class, sym(name)))
    }
}
