//! A module that gets submodules or parameters before `Module.__init__` has created the
//! dictionaries that register them.

use std::cell::RefCell;

use rustc_hash::FxHashSet;

use crate::diagnostic::Severity;
use crate::python::Event;
use crate::rules::rule::{Call, Context, Rule, witness};
use crate::rules::trace::{is_module, tensor};
use crate::value::{Data, ObjId, Value};

const NAME: &str = "missing-super-init";

/// Creates a module whose `Module.__init__` was not called.
const SETUP: &str = "module = nn.Module.__new__(nn.Module)";

#[derive(Default)]
pub(crate) struct MissingSuperInit {
    /// Objects whose library constructor has run, or may have run.
    made: RefCell<FxHashSet<ObjId>>,
}

impl Rule for MissingSuperInit {
    fn returned(&self, cx: &mut Context<'_, '_>, _: Call<'_>, result: &Value) {
        if let Value::Obj(id) = result
            && cx.it.heap.instance_of(result).is_some()
        {
            self.made.borrow_mut().insert(*id);
        }
    }

    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let it = &*cx.it;
        match event {
            // An unseen constructor may call `Module.__init__`. The event does not name the object,
            // so the receiver of the current method is used.
            Event::Unseen { name, .. } if name.as_str() == "__init__" => {
                if let Some(Value::Obj(id)) = it.method_receiver() {
                    self.made.borrow_mut().insert(*id);
                }
            }
            // Unseen code may call `Module.__init__`, too. A wrapper passes the object in a tuple,
            // as one of `*args`.
            Event::Escaped { value } => {
                let held = std::iter::once(value).chain(value.parts()).filter_map(Value::as_obj);
                self.made.borrow_mut().extend(held);
            }
            Event::SetAttribute { object, name, value, span, .. } => {
                let module = Value::Obj(object);
                if !it.constructs(object) || self.made.borrow().contains(&object) || !is_module(it, &module) {
                    return;
                }
                let what = match value.as_obj().and_then(|id| tensor(it, id)) {
                    Some(tensor) if tensor.parameter => "a parameter",
                    None if is_module(it, value) => "a module",
                    _ => return,
                };
                // Other base classes, metaclasses and decorators may call `Module.__init__` unseen.
                let plain = it.mro_of(&module).iter().all(|class| match class {
                    Value::Path(path) => path.as_str().starts_with("torch.nn.") || path.as_str() == "builtins.object",
                    Value::Obj(id) => matches!(it.heap.get(*id), Data::Class(class) if !class.open),
                    _ => false,
                });
                let open = it.heap.instance_of(&module).is_none_or(|instance| instance.open);
                let own = it.method_receiver().and_then(Value::as_obj) == Some(object);
                if !plain || !own || open {
                    return;
                }
                let message = format!("`{name}` is {what}, but `super().__init__()` has not run yet");
                let finding = cx.findings.report(NAME, Severity::Error, message, span, Vec::new());
                witness(finding, SETUP, "module.layer = nn.Identity()");
            }
            _ => {}
        }
    }
}
