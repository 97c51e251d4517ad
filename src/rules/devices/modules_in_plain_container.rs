//! Modules and parameters in a plain list or dictionary of a module.
//!
//! Such a container is correct if its members are also registered in another way, or are excluded
//! on purpose: a teacher that was created elsewhere is often put into a list so that it is not
//! registered. So the rule reports a container only under three conditions: the module created
//! members with parameters that require grad; a `forward` reads the container while gradients are
//! recorded; and no member was passed to code that may have registered, moved or trained it.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostic::{Applicability, Edit, Fix, Severity};
use crate::python::{Event, Interp};
use crate::rules::notes::is_without_gradients;
use crate::rules::rule::{Call, Context, Rule};
use crate::syntax::Span;
use crate::value::{Data, Grad, Items, ObjId, Sym, Tensor, Value};

const NAME: &str = "modules-in-plain-container";
const MODULE: &str = "torch.nn.Module";
/// Methods that move a module.
const MOVES: &[&str] = &["to", "cuda", "cpu"];
/// The largest depth of nested lists, and of modules in modules.
const DEPTH: u32 = 6;

struct Attribute {
    object: ObjId,
    name: Sym,
    container: Value,
    span: Span,
    /// The expression that was assigned.
    from: Option<Span>,
    /// For a class of which the program creates no instance: whether the constructor left
    /// unregistered members in the container.
    supposed: Option<bool>,
}

#[derive(Default)]
pub(crate) struct ModulesInPlainContainer {
    attributes: RefCell<Vec<Attribute>>,
    /// Attributes that a `forward` reads while gradients are recorded.
    used: RefCell<FxHashSet<(ObjId, Sym)>>,
    /// The modules with parameters to train that were appended to each list. The list itself does not
    /// hold them if the number of its elements is not known.
    appended: RefCell<FxHashMap<ObjId, Vec<ObjId>>>,
    /// Objects that were registered, or passed to code that may have registered them.
    handed: RefCell<FxHashSet<ObjId>>,
    /// Modules with a method that calls something in `torch.nn` with arguments that are not all
    /// known. The call may register the members of any container.
    unsure: RefCell<FxHashSet<ObjId>>,
}

impl Rule for ModulesInPlainContainer {
    fn event(&self, cx: &mut Context<'_, '_>, event: Event<'_>) {
        let it = &*cx.it;
        match event {
            Event::SetAttribute { object, name, value, span, from } => {
                let is_container = match value {
                    Value::Tuple(_) => true,
                    Value::Obj(id) => matches!(it.heap.get(*id), Data::List(_) | Data::Dict(_)),
                    _ => false,
                };
                if is_container && it.is_instance(&Value::Obj(object), MODULE) {
                    let container = value.clone();
                    self.attributes.borrow_mut().push(Attribute {
                        object,
                        name,
                        container,
                        span,
                        from,
                        supposed: None,
                    });
                }
                let Some(id) = value.as_obj() else { return };
                match it.heap.get(id) {
                    Data::Instance(_) => self.hand(it, value),
                    Data::Tensor(tensor) if tensor.parameter => {
                        self.handed.borrow_mut().insert(id);
                    }
                    _ => {}
                }
            }
            Event::Appended { list, value, .. } => {
                let Some(id) = value.as_obj().filter(|_| it.is_instance(value, MODULE)) else { return };
                if self.learns(it, value) {
                    self.appended.borrow_mut().entry(list).or_default().push(id);
                }
            }
            Event::Escaped { value } => {
                self.hand_members(it, value, |tensor| tensor.parameter);
            }
            Event::Supposed { object } => {
                let mut attributes = self.attributes.borrow_mut();
                for attribute in attributes.iter_mut().filter(|a| object.as_obj() == Some(a.object)) {
                    attribute.supposed = Some(!registers(it, object) && self.is_unregistered(it, attribute));
                }
            }
            Event::ReadAttribute { object: Some(object), name } => {
                let records = !is_without_gradients(it);
                if records && it.inside("forward") {
                    self.used.borrow_mut().insert((object, name));
                }
            }
            _ => {}
        }
    }

    fn call(&self, cx: &mut Context<'_, '_>, Call { path, bound }: Call<'_>) {
        let it = &*cx.it;
        let path = path.as_str();
        // Calling a module, or moving it inside `forward`, does not pass it to other code.
        let moves = MOVES.iter().any(|name| path.strip_prefix("torch.nn.Module.") == Some(name));
        if path.starts_with("torch.nn.functional.") || path.ends_with(".forward") || moves && it.inside("forward") {
            return;
        }
        // Layers of `torch.nn` register the modules that they are given. If not all of these
        // modules are known, the module whose method makes the call is added to `unsure`.
        let receives = path.starts_with("torch.nn.");
        let takes_parameters = path.starts_with("torch.optim.") || path.starts_with("torch.nn.");
        if bound.open
            && path.starts_with("torch.nn.")
            && let Some(id) = it.method_receiver().and_then(|v| v.as_obj())
        {
            self.unsure.borrow_mut().insert(id);
        }
        for arg in bound.values.iter().flatten().chain(&bound.rest).chain(bound.extra.iter().map(|(_, arg)| arg)) {
            if let Value::Obj(_) | Value::Tuple(_) = arg.value {
                if receives
                    && is_open(it, &arg.value)
                    && let Some(id) = it.method_receiver().and_then(|v| v.as_obj())
                {
                    self.unsure.borrow_mut().insert(id);
                }
                self.hand_members(it, &arg.value, |_| takes_parameters);
            }
        }
    }

    fn end(&self, cx: &mut Context<'_, '_>) {
        let it = &*cx.it;
        // `super().__setattr__(name, layer)` registers a layer.
        if it.mentions(".__setattr__(") {
            return;
        }
        let used = self.used.borrow();
        for attribute in &*self.attributes.borrow() {
            let Attribute { object, name, container, span, from, supposed } = attribute;
            if !used.contains(&(*object, *name)) || !supposed.unwrap_or_else(|| self.is_unregistered(it, attribute)) {
                continue;
            }
            let mut members = Vec::new();
            collect(it, container, DEPTH, &mut members);
            let kind = match container {
                Value::Tuple(_) => ("tuple", "ModuleList"),
                Value::Obj(id) if matches!(it.heap.get(*id), Data::Dict(_)) => ("dictionary", "ModuleDict"),
                _ => ("list", "ModuleList"),
            };
            let message = format!(
                "`{name}` is a plain {}, which does not register its elements: they are not trained, moved or saved \
                 with the module (use `nn.{}`)",
                kind.0, kind.1
            );
            let only_modules = !members.is_empty() && members.iter().all(|member| it.is_instance(member, MODULE));
            let fix = from.filter(|_| only_modules).and_then(|from| wrapped(cx, from, kind.1));
            let severity = if supposed.is_some() { Severity::Warning } else { Severity::Error };
            if let Some(finding) = cx.findings.report(NAME, severity, message, *span, Vec::new()) {
                finding.fix = fix;
            }
        }
    }
}

impl ModulesInPlainContainer {
    /// Whether the module has created members of the container that have parameters to train and
    /// that nothing may have registered.
    fn is_unregistered(&self, it: &Interp<'_>, attribute: &Attribute) -> bool {
        let Attribute { object, container, .. } = attribute;
        let open = it.heap.instance_of(&Value::Obj(*object)).is_none_or(|instance| instance.open);
        if open || self.unsure.borrow().contains(object) {
            return false;
        }
        let handed = self.handed.borrow();
        let mut members = Vec::new();
        collect(it, container, DEPTH, &mut members);
        let learns = |member: &Value| member.as_obj().is_some_and(|id| id > *object) && self.learns(it, member);
        let appended = self.appended.borrow();
        let appended = container.as_obj().and_then(|id| appended.get(&id)).map_or(&[][..], Vec::as_slice);
        let all = || members.iter().filter_map(Value::as_obj).chain(appended.iter().copied());
        let learning = members.iter().any(learns) || appended.iter().any(|id| id > object);
        !all().any(|id| handed.contains(&id)) && learning
    }

    /// Whether a value has parameters to train, none of which was registered or passed on.
    fn learns(&self, it: &Interp<'_>, value: &Value) -> bool {
        let mut parameters = Vec::new();
        trained(it, value, DEPTH, &mut parameters);
        let handed = self.handed.borrow();
        !parameters.is_empty() && parameters.iter().all(|id| !handed.contains(id))
    }

    /// Records in `handed` the modules in a value, and the tensors in it that `is_handed` selects.
    fn hand_members(&self, it: &Interp<'_>, value: &Value, is_handed: impl Fn(&Tensor) -> bool) {
        let mut members = Vec::new();
        collect(it, value, DEPTH, &mut members);
        for member in members {
            match member.as_obj().map(|id| (id, it.heap.get(id))) {
                Some((_, Data::Instance(_))) => self.hand(it, &member),
                Some((id, Data::Tensor(tensor))) if is_handed(tensor) => {
                    self.handed.borrow_mut().insert(id);
                }
                _ => {}
            }
        }
    }

    fn hand(&self, it: &Interp<'_>, value: &Value) {
        if let Some(id) = value.as_obj().filter(|_| it.is_instance(value, MODULE)) {
            self.handed.borrow_mut().insert(id);
        }
    }
}

/// The fix: wraps the container in `nn.ModuleList` or `nn.ModuleDict`. The fix calls `torch.nn` by
/// the name that the expression uses.
fn wrapped(cx: &Context<'_, '_>, from: Span, class: &str) -> Option<Fix> {
    let text = cx.source(from)?;
    let module = ["torch.nn.", "nn."].into_iter().find(|module| {
        text.match_indices(module).any(|(at, _)| {
            let before = text.get(..at).and_then(|t| t.chars().next_back());
            before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '.')
        })
    })?;
    // Only an expression that begins with a bracket is wrapped, such as `[nn.Linear(2, 2)]`.
    if !text.starts_with(['[', '{']) {
        return None;
    }
    let opening = format!("{module}{class}(");
    Some(Fix {
        title: format!("Wrap in `{module}{class}`"),
        applicability: Applicability::Unsafe,
        edits: vec![
            Edit { span: Span { end: from.start, ..from }, content: opening },
            Edit { span: Span { start: from.end, ..from }, content: ")".to_owned() },
        ],
    })
}

/// Whether the classes of a module contain a call that may register the members of a container,
/// such as `add_module` or `setattr`.
fn registers(it: &Interp<'_>, module: &Value) -> bool {
    it.classes_call(module, &["add_module", "register_module", "register_parameter", "setattr"])
}

/// The modules and tensors in a value, including those in lists, tuples and dictionaries.
fn collect(it: &Interp<'_>, value: &Value, depth: u32, out: &mut Vec<Value>) {
    if depth == 0 || out.len() > 1000 {
        return;
    }
    match value {
        Value::Tuple(items) => items.iter().for_each(|item| collect(it, item, depth - 1, out)),
        Value::Obj(id) => match it.heap.get(*id) {
            Data::List(items) | Data::Set(items) => each(it, items, depth, out),
            Data::Iter(iter) => each(it, &iter.items, depth, out),
            Data::Dict(dict) => {
                dict.entries.values().chain(&dict.open).for_each(|item| collect(it, item, depth - 1, out));
            }
            Data::Tensor(_) => out.push(value.clone()),
            Data::Instance(_) if it.is_instance(value, MODULE) => out.push(value.clone()),
            _ => {}
        },
        _ => {}
    }
}

/// Whether a container has elements that are not known individually.
fn is_open(it: &Interp<'_>, value: &Value) -> bool {
    match value.as_obj().map(|id| it.heap.get(id)) {
        Some(Data::List(Items::Many(_)) | Data::Set(Items::Many(_))) => true,
        Some(Data::Iter(iter)) => matches!(iter.items, Items::Many(_)),
        Some(Data::Dict(dict)) => dict.open.is_some(),
        _ => false,
    }
}

fn each(it: &Interp<'_>, items: &Items, depth: u32, out: &mut Vec<Value>) {
    match items {
        Items::Exact(all) => all.iter().for_each(|item| collect(it, item, depth - 1, out)),
        Items::Many(one) => collect(it, one, depth - 1, out),
    }
}

/// The parameters of a module that require grad, or the value itself if it is such a parameter.
pub(crate) fn trained(it: &Interp<'_>, value: &Value, depth: u32, out: &mut Vec<ObjId>) {
    let Some(id) = value.as_obj() else { return };
    if depth == 0 || out.len() > 1000 {
        return;
    }
    match it.heap.get(id) {
        Data::Tensor(tensor) if tensor.parameter && tensor.grad == Grad::Leaf => out.push(id),
        Data::Instance(instance) => {
            for member in instance.attrs.values() {
                let mut members = vec![member.clone()];
                if !it.heap.is_tensor(member) {
                    members.clear();
                    collect(it, member, 2, &mut members);
                }
                for member in &members {
                    trained(it, member, depth - 1, out);
                }
            }
        }
        _ => {}
    }
}
