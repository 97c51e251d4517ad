//! `torch.nn.Module`: registered members, moves to devices, and calls.
//!
//! [`super::layer`] describes how registered members differ from plain attributes.

use rustc_hash::FxHashSet;

use super::state;
use crate::library::notes::BUFFER;
use crate::library::torch::attributes;
use crate::library::{Cx, Table};
use crate::python::{Arg, Args, Bound, Interp, RejectKind};
use crate::syntax::Span;
use crate::value::{
    Data, Device, DeviceKind, Dict, Grad, Heap, Items, Key, ObjId, Sym, Tensor, Topic, Type, Value, sym,
};

pub(crate) const MODULE: &str = "torch.nn.Module";

pub(crate) fn register(t: &mut Table) {
    let class = t.class(MODULE, &[], "*args, **kwargs");
    class.keeps_arguments = false;
    class.init = Some(|cx, object, _| begin(cx, object));
    class.invoke = Some(invoke);
    class.attribute = Some(attribute);
    for base in [
        "_ConvNd",
        "_BatchNorm",
        "_InstanceNorm",
        "_MaxPoolNd",
        "_ConstantPadNd",
        "_ReflectionPadNd",
        "_ReplicationPadNd",
        "_CircularPadNd",
        "_Loss",
    ] {
        subclass(t, base, "Module");
    }
    subclass(t, "_ConvTransposeNd", "_ConvNd");
    subclass(t, "_WeightedLoss", "_Loss");
    let m = "torch.nn.Module.";
    t.def(&format!("{m}train"), "self, mode=True", train);
    t.def(&format!("{m}eval"), "self", train);
    t.def(&format!("{m}requires_grad_"), "self, requires_grad=True", requires_grad);
    t.def(&format!("{m}zero_grad"), "self, set_to_none=True", |cx, b| {
        attributes::gradients_cleared(cx, &b.get("set_to_none"));
        Value::None
    });
    t.family(m, "share_memory", "self", |_, b| b.get("self"));
    t.def(&format!("{m}compile"), "self, *args, **kwargs", |_, _| Value::None);
    t.def(&format!("{m}apply"), "self, fn", apply);
    t.def(&format!("{m}register_buffer"), "self, name, tensor, persistent=True", register_buffer);
    t.family(m, "register_parameter", "self, name, param", add_member);
    t.family(m, "add_module register_module", "self, name, module", add_member);
    t.def(&format!("{m}parameters"), "self, recurse=True", parameters);
    t.def(&format!("{m}named_parameters"), "self, prefix='', recurse=True, remove_duplicate=True", parameters);
    t.def(&format!("{m}buffers"), "self, recurse=True", parameters);
    t.def(&format!("{m}named_buffers"), "self, prefix='', recurse=True, remove_duplicate=True", parameters);
    t.def(&format!("{m}children"), "self", children);
    t.def(&format!("{m}named_children"), "self", children);
    t.def(&format!("{m}modules"), "self", children);
    t.def(&format!("{m}named_modules"), "self, memo=None, prefix='', remove_duplicate=True", children);
    t.def(&format!("{m}state_dict"), "self, *args, destination=None, prefix='', keep_vars=False", state_dict);
    t.def(&format!("{m}load_state_dict"), "self, state_dict, strict=True, assign=False", load_state_dict);
    t.family(m, "get_parameter get_buffer get_submodule", "self, target", member_at);
    t.family(m, "extra_repr", "self", |_, _| Value::Any(Type::Str));
    t.family(m, "register_load_state_dict_post_hook", "self, hook, *args, **kwargs", |_, _| Value::Unknown);
    t.listed("torch.nn.", "Parameter", new_parameter);
    t.alias("torch.nn.parameter.Parameter", "torch.nn.Parameter");
    t.listed("torch.nn.", "Buffer", new_buffer);
    t.alias("torch.nn.parameter.Buffer", "torch.nn.Buffer");
}

fn subclass(t: &mut Table, name: &str, base: &str) {
    let class = t.class(&format!("torch.nn.{name}"), &[&format!("torch.nn.{base}")], "*args, **kwargs");
    class.keeps_arguments = false;
    class.init = Some(|cx, object, _| begin(cx, object));
}

/// Sets the attribute `training`, as `Module.__init__` does.
pub(crate) fn begin(cx: &mut Cx<'_, '_>, object: ObjId) {
    cx.it.heap.set_attr(object, "training", Value::Bool(true));
}

/// `module(…)`: runs the hooks and `forward`. A `forward` of the program takes precedence over that
/// of the library.
fn invoke(cx: &mut Cx<'_, '_>, object: &Value, args: Args) -> Option<Value> {
    super::hooks::around(cx, object, args, run_forward)
}

fn run_forward(cx: &mut Cx<'_, '_>, object: &Value, args: Args) -> Option<Value> {
    let span = cx.span;
    let Some(forward) = cx.it.try_getattr(object, sym("forward"), span) else {
        // The `forward` of an unseen base class may call the object's other methods.
        cx.it.forget_assigned(object);
        return Some(Value::Unknown);
    };
    if cx.it.refuse_passed_on(object, &forward, &args, span) {
        return Some(cx.it.fail("TypeError"));
    }
    Some(cx.it.call(&forward, args, span))
}

fn attribute(cx: &mut Cx<'_, '_>, object: &Value, name: Sym) -> Option<Value> {
    let wanted = match name.as_str() {
        "_modules" => visible_children_of(cx, object),
        "_parameters" => own_tensors(cx, object, Kind::Parameters),
        "_buffers" => own_tensors(cx, object, Kind::Buffers),
        _ => return super::containers::attribute(cx, object, name),
    };
    // A program that empties the dictionary also empties the module, but the dictionary here is
    // only a copy.
    if cx.it.mentions(".popitem()") {
        return Some(Value::Unknown);
    }
    let entries = wanted.found.into_iter().map(|(name, value)| (Key::Str(name.as_str().into()), value)).collect();
    let open = (!wanted.complete).then_some(Value::Unknown);
    Some(cx.it.heap.dict(Dict { entries, open }))
}

/// `object.name = value`. On a module, parameters and sub-modules are registered because of their
/// type; an assignment to an attribute of a tensor changes the facts of the tensor.
pub(crate) fn set_attribute(
    it: &mut Interp<'_>,
    class: Sym,
    object: &Value,
    name: Sym,
    value: &Value,
    span: Span,
) -> bool {
    if !it.heap.is_tensor(object) {
        if is_module(it, value) {
            super::containers::set_member(it, object, name.as_str(), value);
        }
        set_buffer(it, object, name, value);
        return false;
    }
    attributes::set(&mut Cx { it, path: class, span }, object, name.as_str(), value)
}

/// A note of a tensor that `torch.nn.Buffer` created: whether it is persistent.
const MADE_BUFFER: Topic = Topic::new("made as a buffer");

/// `nn.Buffer(t)`: a tensor that is registered as a buffer when it becomes an attribute of a
/// module.
fn new_buffer(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let data = b.get("data");
    let tensor = Tensor { grad: Grad::Off, ..cx.tensor(&data).unwrap_or_default() };
    let tensor = match data.as_obj() {
        Some(id) if cx.it.heap.is_tensor(&data) => cx.it.heap.share_memory(tensor, id),
        _ => tensor,
    };
    let value = cx.out(tensor);
    if let Some(id) = value.as_obj() {
        cx.it.remember(MADE_BUFFER.of(id), b.get("persistent"));
    }
    value
}

/// Registers an attribute as a buffer if its value is an `nn.Buffer`. (If another tensor replaces
/// the value later, the attribute stays registered.)
fn set_buffer(it: &mut Interp<'_>, object: &Value, name: Sym, value: &Value) {
    let Some((tensor, module)) = value.as_obj().zip(object.as_obj()) else { return };
    if it.heap.is_tensor(value)
        && let Some(persistent) = it.remembered(MADE_BUFFER.of(tensor))
    {
        it.heap.set_note(module, BUFFER.of(name), persistent);
    }
}

/// `nn.Parameter(t)`: a leaf that shares the memory of `t`.
fn new_parameter(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let data = b.get("data");
    let tensor = cx.tensor(&data).unwrap_or_default();
    let grad = match b.get("requires_grad").as_bool() {
        Some(true) => Grad::Leaf,
        Some(false) => Grad::Off,
        None => Grad::Unknown,
    };
    let tensor = match data.as_obj() {
        Some(id) if cx.it.heap.is_tensor(&data) => cx.it.heap.share_memory(tensor, id),
        _ => tensor,
    };
    super::layer::new_parameter(cx, tensor, grad)
}

// Iteration over modules.

/// The members of a module that were found, with their names, and whether the list is certainly
/// complete.
pub(crate) struct Found {
    pub found: Vec<(String, Value)>,
    pub complete: bool,
}

pub(crate) fn is_module(it: &Interp<'_>, value: &Value) -> bool {
    it.heap.instance_of(value).is_some() && it.is_instance(value, MODULE)
}

/// Whether a value is a module, or an instance that unseen code may have changed, for example because a
/// base class is unknown.
pub(super) fn may_be_module(it: &Interp<'_>, value: &Value) -> bool {
    is_module(it, value) || it.heap.instance_of(value).is_some_and(|instance| instance.open)
}

/// The direct sub-modules of a module, in the order of registration.
pub(crate) fn named_children_of(cx: &Cx<'_, '_>, object: &Value) -> Found {
    let mut out = Found { found: Vec::new(), complete: true };
    let Some(instance) = cx.it.heap.instance_of(object) else { return Found { found: Vec::new(), complete: false } };
    out.complete = !instance.open;
    if let Some(contents) = super::containers::contents(cx.it, object) {
        out.found = contents.found;
        // A member of which nothing is known is a module, too, but not one that can be listed.
        let is_known = |value: &Value| value.is_none() || is_module(cx.it, value);
        out.complete &= contents.complete && out.found.iter().all(|(_, value)| is_known(value));
        out.found.retain(|(_, value)| is_module(cx.it, value));
    }
    for (name, value) in &instance.attrs {
        if name.as_str().contains(' ') || name.as_str().contains(':') {
            continue;
        }
        match value {
            Value::Unknown | Value::Open(_) => out.complete = false,
            // A member of a container may also be an attribute; it is listed once.
            value if is_module(cx.it, value) && !out.found.iter().any(|(have, _)| have == name.as_str()) => {
                out.found.push((name.to_string(), value.clone()));
            }
            _ => {}
        }
    }
    out
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Parameters,
    Buffers,
}

/// The parameters or buffers of a module itself, without sub-modules.
pub(crate) fn own_tensors(cx: &Cx<'_, '_>, object: &Value, kind: Kind) -> Found {
    let (Some(id), Some(instance)) = (object.as_obj(), cx.it.heap.instance_of(object)) else {
        return Found { found: Vec::new(), complete: false };
    };
    let mut out = Found { found: Vec::new(), complete: !instance.open };
    if let Some(contents) = super::containers::contents(cx.it, object) {
        out.complete &= contents.complete;
        let tensors = contents.found.into_iter().filter(|(_, v)| cx.it.heap.is_tensor(v) && kind == Kind::Parameters);
        out.found.extend(tensors);
    }
    for (name, value) in &instance.attrs {
        if value.is_unknown() && !name.as_str().contains(' ') {
            out.complete = false;
        }
        let Some(tensor) = cx.it.heap.tensor_ref(value) else { continue };
        let registered = match kind {
            Kind::Parameters => tensor.parameter,
            Kind::Buffers => !tensor.parameter && cx.it.heap.note(id, BUFFER.of(*name)).is_some(),
        };
        if registered {
            out.found.push((name.to_string(), value.clone()));
        }
    }
    out
}

/// A module and all its sub-modules, each once, with dotted names.
pub(crate) fn named_modules_of(cx: &Cx<'_, '_>, object: &Value) -> Found {
    let mut out = Found { found: Vec::new(), complete: true };
    let mut seen = FxHashSet::default();
    walk(cx, object, String::new(), &mut seen, &mut out);
    out
}

fn walk(cx: &Cx<'_, '_>, object: &Value, name: String, seen: &mut FxHashSet<ObjId>, out: &mut Found) {
    let Some(id) = object.as_obj() else { return };
    if !seen.insert(id) || seen.len() > 20_000 {
        return;
    }
    let children = named_children_of(cx, object);
    out.complete &= children.complete;
    out.found.push((name.clone(), object.clone()));
    for (child, value) in children.found {
        let path = if name.is_empty() { child } else { format!("{name}.{child}") };
        walk(cx, &value, path, seen, out);
    }
}

/// The parameters or buffers of a module, each once. If `recurse` is true, those of its sub-modules
/// are included.
pub(crate) fn tensors_of(cx: &Cx<'_, '_>, object: &Value, kind: Kind, recurse: bool) -> Found {
    let modules = match recurse {
        true => named_modules_of(cx, object),
        false => Found { found: vec![(String::new(), object.clone())], complete: true },
    };
    let mut out = Found { found: Vec::new(), complete: modules.complete };
    let mut seen = FxHashSet::default();
    for (prefix, module) in modules.found {
        let own = own_tensors(cx, &module, kind);
        out.complete &= own.complete;
        for (name, value) in own.found {
            if value.as_obj().is_some_and(|id| seen.insert(id)) {
                let path = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
                out.found.push((path, value));
            }
        }
    }
    // A method that nothing calls may be meant for instances of subclasses, which may have more
    // tensors.
    let bare = out.found.is_empty() && cx.it.speculative();
    out.complete &= !bare;
    out
}

/// The tensors that move with a module: its parameters and buffers, and those of its sub-modules.
pub(super) fn registered(cx: &Cx<'_, '_>, object: &Value) -> Vec<ObjId> {
    let mut all = tensors_of(cx, object, Kind::Parameters, true).found;
    all.extend(tensors_of(cx, object, Kind::Buffers, true).found);
    all.iter().filter_map(|(_, value)| value.as_obj()).collect()
}

// Training and evaluation mode.

fn train(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let is_eval = cx.name() == "eval";
    let mode = if is_eval { Value::Bool(false) } else { b.get("mode") };
    set_mode(cx, &object, &mode);
    // PyTorch calls `train(mode)` of each sub-module, and `eval()` calls `train(False)`.
    for (_, module) in named_modules_of(cx, &object).found {
        if module.as_obj() != object.as_obj() {
            own_train(cx, &module, &mode);
        }
    }
    if is_eval && cx.it.user_method(&object, "eval").is_none() {
        own_train(cx, &object, &mode);
    }
    object
}

/// Calls the method `train` with which the program overrides that of a module.
fn own_train(cx: &mut Cx<'_, '_>, module: &Value, mode: &Value) {
    let span = cx.span;
    if cx.it.user_method(module, "train").is_some()
        && let Some(method) = cx.it.try_getattr(module, sym("train"), span)
    {
        let args = Args::positional([mode.clone()], span);
        if !cx.it.refuse_passed_on(module, &method, &args, span) {
            cx.it.call(&method, args, span);
        }
    }
}

fn set_mode(cx: &mut Cx<'_, '_>, object: &Value, training: &Value) {
    for (_, module) in named_modules_of(cx, object).found {
        if let Some(id) = module.as_obj() {
            cx.it.heap.set_attr(id, "training", training.clone());
        }
    }
}

/// Handles a module's method that is analysed on its own, not from a call. If only constructors
/// call the method, the module may not have been moved yet. If the program uses evaluation mode
/// somewhere, a method other than `forward` may run in that mode.
pub(crate) fn uncalled(it: &mut Interp<'_>, object: &Value, method: &str) {
    if !is_module(it, object) {
        return;
    }
    if it.constructs_with(method) {
        super::moves::forget_registered(it, object);
    }
    if method == "forward" || !EVALUATING.iter().any(|text| it.mentions(text)) {
        return;
    }
    let span = Span { file: it.root, start: 0, end: 0 };
    let cx = &mut Cx { it, path: sym(MODULE), span };
    set_mode(cx, object, &Value::Any(Type::Bool));
}

/// Texts that suggest that a program uses a model in evaluation mode.
const EVALUATING: &[&str] = &[".eval()", ".train(False)", ".train(mode="];

fn requires_grad(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let grad = match b.get("requires_grad").as_bool() {
        Some(true) => Grad::Leaf,
        Some(false) => Grad::Off,
        None => Grad::Unknown,
    };
    for (_, value) in tensors_of(cx, &object, Kind::Parameters, true).found {
        if let Some(id) = value.as_obj() {
            cx.it.heap.update_tensor(id, |t| t.grad = grad);
        }
    }
    object
}

fn apply(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (object, function) = (b.get("self"), b.get("fn"));
    let span = cx.span;
    // Like PyTorch, calls the function for the sub-modules first.
    for (_, module) in named_modules_of(cx, &object).found.into_iter().rev() {
        cx.call(&function, Args::positional([module], span));
    }
    object
}

// Registering members.

/// A note of a module, one for each name of a parameter or module that a call has registered.
const MEMBER: Topic = Topic::new("member");

/// Rejects a name that an attribute of the object already has. PyTorch lets a buffer replace a buffer,
/// and likewise for parameters and modules, so only other values are checked.
fn check_free(cx: &mut Cx<'_, '_>, object: &Value, name: &Value) {
    let (Some(id), Some(name)) = (object.as_obj(), name.as_str()) else { return };
    // A layer of a library may have registered a parameter or module that is `None`: `bias=False`.
    let mro = cx.it.mro_of(object);
    let is_layer = mro
        .iter()
        .any(|class| class.as_path().is_some_and(|path| !matches!(path, "torch.nn.Module" | "builtins.object")));
    let is_plain = |heap: &Heap, value: &Value| match value {
        Value::Unknown | Value::Open(_) => false,
        Value::None => !is_layer,
        // A property may have no value yet.
        Value::Obj(id) => matches!(heap.get(*id), Data::List(_) | Data::Dict(_)),
        _ => true,
    };
    let in_class = cx.it.mro_of(object).iter().any(|class| match class.as_obj().map(|class| cx.it.heap.get(class)) {
        Some(Data::Class(class)) => class.attrs.get(&sym(name)).is_some_and(|value| is_plain(&cx.it.heap, value)),
        _ => false,
    });
    let is_member = [BUFFER, MEMBER].iter().any(|topic| cx.it.heap.note(id, topic.of(sym(name))).is_some());
    let in_object = || {
        let is_sure = cx.it.constructs(id) && !cx.it.heap.may_lack(id, sym(name));
        is_sure && cx.it.heap.attr(id, name).is_some_and(|value| is_plain(&cx.it.heap, &value))
    };
    if !is_member && (in_class || in_object()) {
        let message = format!("the module already has an attribute `{name}`, which is not registered");
        cx.reject(RejectKind::Value, message, Vec::new());
    }
}

fn register_buffer(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    check_free(cx, &object, &b.get("name"));
    if let (Some(id), Some(name)) = (object.as_obj(), b.get("name").as_str()) {
        cx.it.heap.set_attr(id, name, b.get("tensor"));
        cx.it.heap.set_note(id, BUFFER.of(sym(name)), b.get("persistent"));
    } else if let Some(instance) = object.as_obj().and_then(|id| cx.it.heap.instance_mut(id)) {
        instance.open = true;
    }
    Value::None
}

fn add_member(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let value = if cx.name() == "register_parameter" { b.get("param") } else { b.get("module") };
    check_free(cx, &object, &b.get("name"));
    let Some(id) = object.as_obj() else { return Value::None };
    if let Some(name) = b.get("name").as_str() {
        cx.it.heap.set_note(id, MEMBER.of(sym(name)), Value::Bool(true));
    }
    match b.get("name").as_str() {
        Some(name) if super::containers::add(cx.it, &object, name, &value) => {}
        Some(name) => cx.it.heap.set_attr(id, name, value),
        None => {
            // The name of the new member is unknown, so any member may be replaced.
            super::containers::escaped(cx.it, &object);
            if let Some(instance) = cx.it.heap.instance_mut(id) {
                instance.open = true;
            }
        }
    }
    Value::None
}

// Listing members.

/// A list of values, or of pairs of names and values. If some values may be missing, the length of
/// the list is unknown.
fn listing(cx: &mut Cx<'_, '_>, found: Found, named: bool) -> Value {
    let values: Vec<Value> = found
        .found
        .into_iter()
        .map(|(name, value)| if named { Value::tuple(vec![Value::str(&name), value]) } else { value })
        .collect();
    let items = match found.complete {
        true => Items::Exact(values),
        // The missing values may be of another kind.
        false => {
            Items::Many(if named { Value::tuple(vec![Value::Any(Type::Str), Value::Unknown]) } else { Value::Unknown })
        }
    };
    cx.it.heap.iter(items)
}

fn parameters(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let name = cx.name();
    let kind = if name.ends_with("buffers") { Kind::Buffers } else { Kind::Parameters };
    let recurse = b.get("recurse").as_bool().unwrap_or(true);
    let mut found = tensors_of(cx, &b.get("self"), kind, recurse);
    prefix(&mut found, &b.get("prefix"));
    let complete = found.complete;
    if !complete {
        // The missing elements are tensors, too.
        let device = super::moves::stays_on_cpu(cx.it, &b.get("self")).then_some(Device::CPU);
        let element = cx.it.heap.tensor(Tensor::default().with_device(device, None));
        let named = name.starts_with("named");
        let one = if named { Value::tuple(vec![Value::Any(Type::Str), element]) } else { element };
        return cx.it.heap.iter(Items::Many(one));
    }
    listing(cx, found, name.starts_with("named"))
}

fn prefix(found: &mut Found, prefix: &Value) {
    if let Some(prefix) = prefix.as_str().filter(|p| !p.is_empty()) {
        for (name, _) in &mut found.found {
            *name = if name.is_empty() { prefix.to_owned() } else { format!("{prefix}.{name}") };
        }
    }
}

/// The sub-modules of a module. If there are none, a method that nothing calls may be meant for
/// instances of subclasses, or for instances that get sub-modules in another file. The result is
/// then marked as incomplete.
fn visible_children_of(cx: &Cx<'_, '_>, object: &Value) -> Found {
    let mut children = named_children_of(cx, object);
    children.complete &= !(children.found.is_empty() && cx.it.speculative());
    children
}

fn children(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let name = cx.name();
    let object = b.get("self");
    let mut found = match name.ends_with("children") {
        true => visible_children_of(cx, &object),
        false => named_modules_of(cx, &object),
    };
    prefix(&mut found, &b.get("prefix"));
    listing(cx, found, name.starts_with("named"))
}

fn state_dict(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let object = b.get("self");
    let mut all = tensors_of(cx, &object, Kind::Parameters, true);
    let buffers = tensors_of(cx, &object, Kind::Buffers, true);
    all.found.extend(buffers.found);
    prefix(&mut all, &b.get("prefix"));
    let mut dict = Dict::default();
    for (name, value) in all.found {
        if let Some(tensor) = cx.tensor(&value) {
            let detached = cx.view_of(&value, Tensor { grad: Grad::Off, ..tensor });
            dict.entries.insert(Key::Str(name.as_str().into()), detached);
        }
    }
    // A tensor with several names has a key for each name.
    if !all.complete || !buffers.complete || state::is_tied(cx, &object) {
        // `get_extra_state` may return any object.
        let is_tensor = !cx.it.mentions("extra_state");
        dict.open = Some(if is_tensor { cx.some_tensor() } else { Value::Unknown });
    }
    cx.it.heap.dict(dict)
}

/// `load_state_dict`: writes new values into the existing tensors, whose shapes stay. Without
/// `assign`, their dtypes and devices stay, too. With `assign`, dtypes and devices come from the
/// loaded tensors, and are unknown.
fn load_state_dict(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    state::check(cx, b);
    let object = b.get("self");
    for id in registered(cx, &object) {
        if let Data::Tensor(tensor) = cx.it.heap.get(id) {
            let mut facts = tensor.clone();
            facts.forget_values();
            if b.get("assign").as_bool() != Some(false) {
                (facts.dtype, facts.device) = (None, None);
            }
            cx.it.heap.overwrite(id, facts);
        }
    }
    Value::Unknown
}

fn member_at(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let mut value = b.get("self");
    let target = b.get("target");
    let Some(path) = target.as_str() else { return Value::Unknown };
    let span = cx.span;
    for name in path.split('.').filter(|n| !n.is_empty()) {
        value = cx.it.getattr(&value, sym(name), span);
    }
    value
}

/// Moves an argument to the current CUDA device, like `DataParallel`.
pub(crate) fn scattered(cx: &mut Cx<'_, '_>, value: &Value) -> Value {
    let at = cx.at();
    if let Some(tensor) = cx.tensor(value) {
        let device = Device::of(DeviceKind::Cuda);
        return cx.out(tensor.with_device(Some(device), at));
    }
    match value {
        Value::Tuple(items) => {
            let items = items.iter().map(|v| scattered(cx, v)).collect();
            Value::tuple(items)
        }
        other => match cx.it.heap.exact_items(other) {
            Some(items) => {
                let items = items.iter().map(|v| scattered(cx, v)).collect();
                cx.list(items)
            }
            None => other.clone(),
        },
    }
}

/// Calls a wrapped module.
pub(crate) fn call_wrapped(cx: &mut Cx<'_, '_>, wrapped: &Value, args: Vec<Arg>, kw: Vec<(Sym, Arg)>) -> Value {
    let span = cx.span;
    cx.it.call(wrapped, Args { pos: args, kw, ..Args::default() }, span)
}
