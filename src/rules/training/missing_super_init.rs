//! A module that gets submodules or parameters before `Module.__init__` has created the
//! dictionaries that register them.

use std::cell::RefCell;

use rustc_hash::FxHashSet;

use crate::diagnostic::Severity;
use crate::python::{Event, Interp};
use crate::rules::rule::{Call, Context, Rule, witness};
use crate::rules::trace::{is_module, tensor};
use crate::value::{Data, ObjId, UserClass, Value, sym};

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

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let what = match path.as_str() {
            "torch.nn.Module.register_buffer" => "a buffer",
            "torch.nn.Module.register_parameter" => "a parameter",
            "torch.nn.Module.add_module" | "torch.nn.Module.register_module" => "a module",
            _ => return,
        };
        let Some(object) = bound.get("self").as_obj().filter(|object| self.surely_lacks_init(cx.it, *object)) else {
            return;
        };
        let class = cx.it.heap.instance_of(&Value::Obj(object)).map(|instance| instance.class.clone());
        let class = class.and_then(|class| match cx.it.heap.get(class.as_obj()?) {
            Data::Class(class) => Some(class.name),
            _ => None,
        });
        let Some(class) = class else { return };
        let message = format!("`{class}` registers {what}, but `super().__init__()` has not run yet");
        let finding = cx.findings.report(NAME, Severity::Error, message, cx.span, Vec::new());
        witness(finding, SETUP, "module.register_buffer('buffer', None)");
        self.ends(cx.it, object);
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
                let what = match value.as_obj().and_then(|id| tensor(it, id)) {
                    Some(tensor) if tensor.parameter => "a parameter",
                    None if is_module(it, value) => "a module",
                    _ => return,
                };
                if !self.surely_lacks_init(it, object) {
                    return;
                }
                let message = format!("`{name}` is {what}, but `super().__init__()` has not run yet");
                let finding = cx.findings.report(NAME, Severity::Error, message, span, Vec::new());
                witness(finding, SETUP, "module.layer = nn.Identity()");
                self.ends(it, object);
            }
            _ => {}
        }
    }
}

impl MissingSuperInit {
    /// A failure that is certain ends the constructor, so later ones are not reached.
    fn ends(&self, it: &Interp<'_>, object: ObjId) {
        if it.undecided() == 0 {
            self.made.borrow_mut().insert(object);
        }
    }

    /// Whether the constructor that runs now has certainly not called `Module.__init__` of its object.
    fn surely_lacks_init(&self, it: &Interp<'_>, object: ObjId) -> bool {
        let module = Value::Obj(object);
        if !it.constructs(object) || self.made.borrow().contains(&object) || !is_module(it, &module) {
            return false;
        }
        // Other base classes, metaclasses and decorators may call `Module.__init__` unseen.
        let plain = it.mro_of(&module).iter().all(|class| match class {
            Value::Path(path) => path.as_str().starts_with("torch.nn.") || path.as_str() == "builtins.object",
            Value::Obj(id) => matches!(it.heap.get(*id), Data::Class(class) if !class.open && is_plain(it, class)),
            _ => false,
        });
        let open = it.heap.instance_of(&module).is_none_or(|instance| instance.open);
        let own = it.method_receiver().and_then(Value::as_obj) == Some(object);
        plain && own && !open
    }
}

/// Whether the class has no constructor, or one that a decorator has not replaced, and does not set attributes in its
/// own way.
fn is_plain(it: &Interp<'_>, class: &UserClass) -> bool {
    let init = sym("__init__");
    if class.attrs.contains_key(&sym("__setattr__")) {
        return false;
    }
    class.attrs.get(&init).is_none_or(|function| {
        let function = function.as_obj().map(|id| it.heap.get(id));
        matches!(function, Some(Data::Function(function)) if function.name == init)
    })
}
