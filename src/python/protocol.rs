//! What an object of unknown type is, according to what the program does with it: an object whose
//! `eval()` or `parameters()` is called is a module, whatever its name is. An unknown argument such
//! as `device=args.device` is a device.

mod body;
mod file;
mod names;

use std::rc::Rc;

use self::body::{
    Passed, accumulating, may_be_over_loader, mentions_tensor, moves_elements, moves_to_host, names_of_self, parts_made,
};
pub(super) use self::body::{calls_any, names_other_class};
pub(super) use self::file::Protocols;
use self::names::{named_device, path_text};
use super::Args;
use super::interp::{Body, Interp};
use crate::syntax::ast::{
    Arguments, ExprAttribute, ExprCall, ParameterWithDefault, StmtClassDef, StmtFor, StmtFunctionDef,
};
use crate::syntax::{Expr, Span, Stmt, calls, expressions, is_empty, path_of, statements};
use crate::value::{Data, Device, DeviceKind, Function, Grad, ObjId, Open, Sym, Type, Value, sym};

/// Whether a value may be a device, and it is not known which.
fn may_be_device(value: &Value) -> bool {
    matches!(value, Value::Unknown | Value::Any(Type::Str))
}

/// The depth to which the parts of a module are searched for moves to the CPU.
const PARTS: u32 = 3;

impl<'p> Interp<'p> {
    /// Gives a name to the unknown devices among the arguments of a library function, or of the
    /// method `to`.
    pub(super) fn name_devices(&self, callee: &Value, arguments: &'p Arguments, is_to: bool, args: &mut Args) {
        if !(is_to || matches!(callee, Value::Path(_) | Value::Method(_))) {
            return;
        }
        // The number of a device that comes from a tensor agrees with this tensor.
        let named_device = |expr| named_device(expr).filter(|_| !self.mentions(".get_device()"));
        for keyword in arguments.keywords.iter().filter(|keyword| keyword.arg.as_deref() == Some("device")) {
            let given = args.kw.iter_mut().find(|(name, _)| name.as_str() == "device");
            if let Some((_, arg)) = given.filter(|(_, arg)| may_be_device(&arg.value))
                && let Some(device) = named_device(&keyword.value)
            {
                arg.value = device;
            }
        }
        // In `x.to(self.dtype)`, the argument is no device.
        if is_to
            && let (Some(expr), Some(arg)) = (arguments.args.first(), args.pos.first_mut())
            && arg.value.is_unknown()
            && path_of(expr).last().is_some_and(|name| name.contains("dtype"))
        {
            args.kw.push((sym("dtype"), args.pos.remove(0)));
            return;
        }
        if is_to
            && let (Some(expr), Some(arg)) = (arguments.args.first(), args.pos.first_mut())
            && may_be_device(&arg.value)
            && let Some(device) = named_device(expr)
        {
            arg.value = device;
        }
    }

    /// `object.name(…)` for an object of unknown type; `None` if nothing is known about the result.
    pub(super) fn call_open_method(&mut self, call: &'p ExprCall, object: &Value, args: &Args) -> Option<Value> {
        let Expr::Attribute(method) = &*call.func else { return None };
        let (name, span) = (method.attr.as_str(), self.span(call));
        if !object.is_unknown() {
            return None;
        }
        // Modules are moved in place, so the device of a module would have to be tracked.
        if self.is_used_as_module(&method.value) {
            return None;
        }
        let library = self.library;
        library.open_method(self, object, sym(name), args, span)
    }

    /// The element that a loop assigns to its target. If the elements are unknown, and the loop
    /// moves a part of them to another device, they are assumed to be batches on the CPU.
    pub(super) fn element_of_batches(&self, stmt: &'p StmtFor, value: Value) -> Value {
        let has_unknown = |value: &Value| matches!(value, Value::Unknown);
        let parts = value.parts();
        let nested = parts.iter().any(|part| part.parts().iter().any(has_unknown));
        // The iterators of torchtext put their batches on a device themselves, and the batches of torch_geometric
        // are moved in place.
        let places = || self.mentions("torchtext") || self.mentions("torch_geometric");
        if nested && may_be_over_loader(&stmt.iter) && moves_elements(stmt) && !places() && !self.fills(&stmt.iter) {
            return on_device_of_batch(&value, self.span(&*stmt.target));
        }
        value
    }

    /// Whether the current function fills the list with this name: `rows.append(row)`.
    fn fills(&self, list: &Expr) -> bool {
        let Some(def) = self.frames.last().and_then(|frame| self.definition(frame)) else { return false };
        let fills = |call: &ExprCall| {
            let path = path_of(&call.func);
            path.split_last().is_some_and(|(method, of)| {
                matches!(*method, "append" | "extend" | "insert") && !of.is_empty() && of == path_of(list)
            })
        };
        statements(&def.body, false).into_iter().flat_map(calls).any(fills)
    }

    /// The `backward()` in the body of a loop that also contains the `step()` of an optimizer of unknown
    /// type, if neither the function nor a function of the file that the loop calls clears gradients.
    pub(super) fn accumulates(&self, stmt: &'p StmtFor) -> Option<Span> {
        let code = self.frames.last().and_then(|frame| self.code.get(frame.code?.0 as usize))?;
        let Body::Function(def) = code.body else { return None };
        let file = &self.sources.module(self.file()).body;
        Some(self.span(accumulating(&stmt.body, &def.body, file)?))
    }

    /// Whether a parameter of `forward` is a tensor, or contains tensors: its annotation mentions
    /// tensors, or `forward` passes it to a submodule, or uses it as a tensor.
    pub(super) fn holds_tensors(
        &self,
        parameter: &ParameterWithDefault,
        forward: &'p StmtFunctionDef,
        receiver: &Value,
    ) -> bool {
        let annotation = parameter.parameter.annotation.as_deref();
        if annotation.is_some_and(mentions_tensor) {
            return true;
        }
        let passed = Passed::read(parameter.parameter.name.as_str(), &forward.body);
        passed.as_tensor || passed.to.iter().any(|name| self.user_method(receiver, name).is_none())
    }

    /// The result of a call, if it is unknown, the callee is a module, and an argument is on a GPU: the
    /// outputs of a module are assumed to be on the device of its inputs.
    pub(super) fn module_output(&mut self, func: &'p Expr, callee: &Value, args: &Args, span: Span) -> Option<Value> {
        let library = self.library;
        if !library.is_on_gpu(self, args) {
            return None;
        }
        // The output of `decoder.forward_words(…)` is on the device of `decoder`.
        let owner = self.module_of_forward(func);
        let is_module = match callee {
            Value::Unknown => owner.is_some() || self.is_used_as_module(func),
            Value::Obj(_) => self.keeps_device(callee),
            Value::Bound(pair) => {
                let is_forward = func.as_attribute_expr().is_some_and(|method| method.attr.as_str() == "forward");
                is_forward && self.keeps_device(&pair.0)
            }
            _ => false,
        };
        let name = path_text(owner.unwrap_or(func)).filter(|_| is_module)?;
        let module = match callee {
            Value::Bound(pair) => &pair.0,
            callee => callee,
        };
        Some(library.module_output(self, module, &name, span))
    }

    /// Checks the call of an unknown function if the program calls `backward()` on its result. Such
    /// a function computes a loss, so its arguments must be on one device.
    pub(super) fn check_loss(&mut self, func: &'p Expr, callee: &Value, args: &Args, span: Span) {
        if matches!(callee, Value::Unknown)
            && args.pos.len() == 2
            && args.kw.is_empty()
            && let Some(text) = path_text(func)
            && self.protocols().is_loss(&text)
        {
            let library = self.library;
            library.check_loss(self, args, span);
        }
    }

    /// Whether the call at this place loads the state of a module or an optimizer, in a file that
    /// never chooses the device of what it loads.
    pub(crate) fn loads_unmapped_checkpoint(&mut self, call: Span) -> bool {
        call.file == self.file() && self.protocols().is_unmapped_checkpoint(call.start.into())
    }

    /// The value of `x.device`, if `x` is a tensor or an unknown module on an unknown device. If the program puts
    /// other tensors on this device, their devices can then be compared. `None` if `x` may be something else.
    pub(super) fn device_of_tensor(&mut self, object: &Value, attribute: &'p ExprAttribute) -> Option<Value> {
        // `next(model.parameters()).device` is the device of a module.
        if attribute.attr.as_str() != "device" || attribute.value.is_call_expr() {
            return None;
        }
        let is_tensor = self.heap.is_tensor(object);
        let is_used_as_tensor =
            |it: &mut Self| path_text(&attribute.value).is_some_and(|text| it.protocols().is_tensor(&text));
        let is_module = |it: &mut Self| {
            let text = path_text(&attribute.value).filter(|_| object.is_unknown());
            text.is_some_and(|text| it.protocols().is_called_on_device(&text))
        };
        if !is_tensor && !is_used_as_tensor(self) && !is_module(self) {
            return None;
        }
        // If the program calls `x.numpy()`, `x` is on the CPU, so its device is not assumed to be a GPU.
        let place = path_text(&attribute.value).filter(|text| !self.mentions(sym(&format!("{text}.numpy()")).as_str()));
        let kind = match place {
            Some(text) => DeviceKind::Named(sym(&format!("`{text}.device`"))),
            None => DeviceKind::Symbolic(self.heap.device_symbol()),
        };
        Some(Value::Device(Device::of(kind)))
    }

    /// Whether the file calls methods of modules on the object that this expression refers to.
    fn is_used_as_module(&mut self, expr: &Expr) -> bool {
        let Some(text) = path_text(expr) else { return false };
        self.protocols().is_module(&text)
    }

    /// The object of a method such as `decoder.forward_words`, if the file uses this object as a
    /// module, and the method computes the outputs of the module from tensors.
    fn module_of_forward<'e>(&mut self, expr: &'e Expr) -> Option<&'e Expr> {
        let method = expr.as_attribute_expr()?;
        let name = method.attr.as_str();
        let computes = name.starts_with("forward")
            || ["encode", "decode", "embed", "extract"].iter().any(|verb| name.starts_with(verb));
        (computes && self.is_used_as_module(&method.value)).then_some(&*method.value)
    }

    /// What the objects of the current file are, according to the methods that it calls.
    fn protocols(&mut self) -> Rc<Protocols> {
        let file = self.file();
        if let Some(known) = self.protocols.get(&file) {
            return known.clone();
        }
        let found = Rc::new(Protocols::read(&self.sources.module(file).body, self.library.words()));
        self.protocols.insert(file, found.clone());
        found
    }

    /// Whether the source of an object's classes contains a call of a function or method of one of
    /// these names.
    pub(crate) fn classes_call(&self, object: &Value, names: &[&str]) -> bool {
        self.class_bodies(object).any(|body| calls_any(body, names))
    }

    /// Whether a method of an object is abstract, raises `NotImplementedError` on every call, or is empty
    /// although another method calls it: other classes are derived from the object's class.
    pub(super) fn is_abstract(&self, object: &Value) -> bool {
        let methods = self.class_bodies(object).flatten().filter_map(Stmt::as_function_def_stmt);
        let is_hook =
            |method: &StmtFunctionDef| is_empty(&method.body) && self.classes_call(object, &[method.name.as_str()]);
        methods.filter(|method| is_left_to_subclasses(method) || is_hook(method)).any(|method| {
            let resolved = self.method_def(object, method.name.as_str());
            resolved.is_none_or(|resolved| std::ptr::eq(resolved, method))
        })
    }

    /// Whether a class of an object has a method whose name differs from this one only in its underscores.
    pub(super) fn has_almost(&self, object: &Value, name: Sym) -> bool {
        let bare = |name: &str| name.replace('_', "");
        let wanted = bare(name.as_str());
        let mut methods = self.class_bodies(object).flatten().filter_map(Stmt::as_function_def_stmt);
        methods.any(|method| bare(method.name.as_str()) == wanted)
    }

    /// Whether a method of an object, other than its constructor, assigns an attribute.
    pub(super) fn sets_later(&self, object: &Value, name: Sym) -> bool {
        let methods = self.class_bodies(object).flatten().filter_map(Stmt::as_function_def_stmt);
        let mut others = methods.filter(|method| method.name.as_str() != "__init__");
        others.any(|method| {
            let stored = |expr: &&Expr| expr.as_attribute_expr().is_some_and(|target| target.ctx.is_store());
            let all = method.body.iter().flat_map(expressions);
            all.into_iter().filter(stored).any(|target| path_of(target) == ["self", name.as_str()])
        })
    }

    /// The bodies of the program's classes of which an object is an instance.
    fn class_bodies(&self, object: &Value) -> impl Iterator<Item = &'p [Stmt]> {
        self.class_definitions(object).map(|def| def.body.as_slice())
    }

    /// The definitions of an object's classes that the program contains, nearest first.
    pub(super) fn class_definitions(&self, object: &Value) -> impl Iterator<Item = &'p StmtClassDef> {
        let line = self.mro_of(object);
        (0..line.len()).filter_map(move |at| {
            let Data::Class(data) = self.heap.get(line.get(at)?.as_obj()?) else { return None };
            match self.code.get(data.code.0 as usize).map(|code| code.body) {
                Some(Body::Class(Some(def))) => Some(def),
                _ => None,
            }
        })
    }

    /// Whether the program calls the class of an object.
    pub(super) fn is_constructed(&self, object: &Value) -> bool {
        self.class_definitions(object).next().is_some_and(|def| self.calls_name(sym(def.name.as_str())))
    }

    /// Whether an object is a module of the program whose `forward` contains nothing that moves
    /// tensors to the CPU, or returns tensors that it makes there.
    fn keeps_device(&mut self, object: &Value) -> bool {
        let classes = self.mro_of(object);
        let is_module = classes.iter().any(|class| class.as_path() == Some(self.library.words().module));
        is_module && self.forward_keeps_device(&classes, PARTS) == Some(true)
    }

    /// Whether this is so for the `forward` of a class and for those of the parts that it uses. `None` if the
    /// class has no `forward`. The constructor may not have run, so its text says what the parts are:
    /// `self.part = Part(…)`.
    fn forward_keeps_device(&mut self, classes: &[Value], depth: u32) -> Option<bool> {
        let (forward, constructor) = (self.member(classes, "forward"), self.member(classes, "__init__"));
        let def = self.def_of(&forward?)?;
        if moves_to_host(&def.body, self.library.words()) {
            return Some(false);
        }
        let constructor = constructor.and_then(|method| Some((self.def_of(&method)?, function_of(&method)?)));
        let (Some((init, id)), Some(below)) = (constructor, depth.checked_sub(1)) else { return Some(true) };
        let Data::Function(Function { scope, .. }) = *self.heap.get(id) else { return Some(true) };
        for class in parts_made(&init.body, &names_of_self(&def.body)) {
            let class = self.seen_from(scope, sym(class), false).and_then(|(_, class)| class.as_obj());
            let Some(class) = class.filter(|class| matches!(self.heap.get(*class), Data::Class(_))) else { continue };
            let line = self.mro(class);
            if self.forward_keeps_device(&line, below) == Some(false) {
                return Some(false);
            }
        }
        Some(true)
    }

    /// The definition of a method of the program.
    pub(super) fn method_def(&self, object: &Value, name: &str) -> Option<&'p StmtFunctionDef> {
        self.def_of(&self.user_method(object, name)?)
    }

    /// The definition of a function or bound method of the program.
    pub(super) fn def_of(&self, function: &Value) -> Option<&'p StmtFunctionDef> {
        let Data::Function(function) = self.heap.get(function_of(function)?) else { return None };
        match self.code.get(function.code.0 as usize).map(|code| code.body) {
            Some(Body::Function(def)) => Some(def),
            _ => None,
        }
    }
}

/// Whether a method is abstract, or raises `NotImplementedError` on every call that ends.
pub(super) fn is_left_to_subclasses(method: &StmtFunctionDef) -> bool {
    let names_it = |expr: &Expr| path_of(expr).last() == Some(&"NotImplementedError");
    let is_abstract = |decorator: &Expr| path_of(decorator).last().is_some_and(|name| name.starts_with("abstract"));
    method.decorator_list.iter().any(|one| is_abstract(&one.expression))
        || method.body.iter().filter_map(Stmt::as_raise_stmt).any(|raise| match raise.exc.as_deref() {
            Some(Expr::Call(call)) => names_it(&call.func),
            raised => raised.is_some_and(names_it),
        })
}

/// The function of a method.
fn function_of(method: &Value) -> Option<ObjId> {
    match method {
        Value::Bound(pair) => pair.1.as_obj(),
        function => function.as_obj(),
    }
}

/// An element of a loop, with its unknown parts on the device of the batch.
fn on_device_of_batch(value: &Value, at: Span) -> Value {
    match value {
        Value::Unknown => {
            let device = Device::of(DeviceKind::Batch);
            Value::Open(Rc::new(Open { device, device_at: Some(at), grad: Grad::Unknown }))
        }
        Value::Tuple(parts) => Value::tuple(parts.iter().map(|part| on_device_of_batch(part, at)).collect()),
        other => other.clone(),
    }
}
