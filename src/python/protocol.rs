//! What an object of unknown type is, according to what the program does with it: an object whose
//! `eval()` or `parameters()` is called is a module, whatever its name is. An unknown argument
//! `device=` is a device.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::interp::{Body, Interp};
use super::{Args, Words};
use crate::syntax::ast::visitor::{Visitor, walk_expr, walk_stmt};
use crate::syntax::ast::{Arguments, ExprAttribute, ExprCall, ParameterWithDefault, StmtFor, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, Span, Stmt, TextSize};
use crate::value::{Data, Device, DeviceKind, Grad, ObjId, Open, Type, Value, sym};

/// A name or attributes of a name as text: `self.model`.
pub(super) fn path_text(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Name(name) => Some(name.id.as_str().to_owned()),
        Expr::Attribute(attribute) => Some(format!("{}.{}", path_text(&attribute.value)?, attribute.attr.as_str())),
        _ => None,
    }
}

/// Whether a value may be a device, and it is not known which.
fn may_be_device(value: &Value) -> bool {
    matches!(value, Value::Unknown | Value::Any(Type::Str))
}

/// The device that an expression of unknown value names, if it is named as a device that may be a
/// GPU: `self.device`, `args["device"]`.
fn named_device(expr: &Expr) -> Option<Value> {
    let (text, name) = match expr {
        Expr::Subscript(subscript) => {
            let key = subscript.slice.as_string_literal_expr()?.value.to_str();
            (format!("{}[\"{key}\"]", path_text(&subscript.value)?), key)
        }
        Expr::Attribute(attribute) => (path_text(expr)?, attribute.attr.as_str()),
        Expr::Name(name) => (path_text(expr)?, name.id.as_str()),
        _ => return None,
    };
    let name = name.to_ascii_lowercase();
    let is_device = name.contains("device") || name == "dev";
    let may_be_host = ["cpu", "host", "storage", "offload", "devices"].iter().any(|word| name.contains(word));
    (is_device && !may_be_host).then(|| Value::Device(Device::of(DeviceKind::Named(sym(&format!("`{text}`"))))))
}

impl<'p> Interp<'p> {
    /// Gives a name to the unknown devices among the arguments of a library function, or of the
    /// method `to`.
    pub(super) fn name_devices(&self, callee: &Value, arguments: &'p Arguments, is_to: bool, args: &mut Args) {
        if !(is_to || matches!(callee, Value::Path(_) | Value::Method(_))) {
            return;
        }
        for keyword in arguments.keywords.iter().filter(|keyword| keyword.arg.as_deref() == Some("device")) {
            let given = args.kw.iter_mut().find(|(name, _)| name.as_str() == "device");
            if let Some((_, arg)) = given.filter(|(_, arg)| may_be_device(&arg.value))
                && let Some(device) = named_device(&keyword.value)
            {
                arg.value = device;
            }
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

    /// The element that a loop assigns to its target. If the program moves a part of the elements,
    /// which are unknown, to another device, they are assumed to be batches on the CPU.
    pub(super) fn element_of_batches(&self, stmt: &'p StmtFor, value: Value) -> Value {
        let has_unknown = |value: &Value| matches!(value, Value::Unknown);
        let parts = value.parts();
        let nested = parts.iter().any(|part| part.parts().iter().any(has_unknown));
        if nested && may_be_over_loader(&stmt.iter) && moves_elements(stmt) {
            return on_device_of_batch(&value, self.span(&*stmt.target));
        }
        value
    }

    /// The `backward()` in the body of a loop that also contains the `step()` of an optimizer of
    /// unknown type, if nothing in the function clears gradients.
    pub(super) fn accumulates(&self, stmt: &'p StmtFor) -> Option<Span> {
        let code = self.frames.last().and_then(|frame| self.code.get(frame.code?.0 as usize))?;
        let Body::Function(def) = code.body else { return None };
        let mut training = Training::default();
        training.visit_body(&stmt.body);
        let backward = training.backward.filter(|_| training.steps && !training.clears)?;
        let mut outside = Training::default();
        outside.visit_body(&def.body);
        (!outside.clears).then(|| self.span(backward))
    }

    /// Whether a parameter of `forward` is a tensor, or contains tensors: its annotation mentions
    /// tensors, or `forward` passes it to a submodule, or uses it as several dimensions.
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
        let mut passed = Passed { name: parameter.parameter.name.as_str(), to: Vec::new(), sliced: false };
        passed.visit_body(&forward.body);
        passed.sliced || passed.to.iter().any(|name| self.user_method(receiver, name).is_none())
    }

    /// The result of a call, if it is unknown and the callee is a module: the outputs of a module
    /// are assumed to be on the device of its inputs.
    pub(super) fn module_output(&mut self, func: &'p Expr, callee: &Value, args: &Args, span: Span) -> Option<Value> {
        let is_module = match callee {
            Value::Unknown => self.is_used_as_module(func),
            Value::Obj(_) => self.keeps_device(callee),
            Value::Bound(pair) => {
                let is_forward = func.as_attribute_expr().is_some_and(|method| method.attr.as_str() == "forward");
                is_forward && self.keeps_device(&pair.0)
            }
            _ => false,
        };
        let name = path_text(func).filter(|_| is_module)?;
        let library = self.library;
        library.module_output(self, &name, args, span)
    }

    /// Checks the call of an unknown function on whose result the program calls `backward()`: a
    /// loss, whose tensors must be on one device.
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

    /// Whether an expression is the device of a tensor: the object is one, or the file reads
    /// attributes of tensors from it. Nothing shows that this device is a GPU.
    pub(super) fn is_device_of_tensor(&mut self, object: &Value, attribute: &ExprAttribute) -> bool {
        // `next(model.parameters()).device`
        attribute.attr.as_str() == "device"
            && !attribute.value.is_call_expr()
            && (self.heap.is_tensor(object)
                || path_text(&attribute.value).is_some_and(|text| self.protocols().tensors.contains(&text)))
    }

    /// Whether the file calls methods of modules on the object that this expression refers to.
    fn is_used_as_module(&mut self, expr: &Expr) -> bool {
        let Some(text) = path_text(expr) else { return false };
        self.protocols().modules.contains(&text)
    }

    /// What the objects of the current file are.
    fn protocols(&mut self) -> Rc<Protocols> {
        let file = self.file();
        if let Some(known) = self.protocols.get(&file) {
            return known.clone();
        }
        let mut found = Protocols { words: self.library.words(), ..Protocols::default() };
        found.visit_body(&self.sources.module(file).body);
        let found = Rc::new(found);
        self.protocols.insert(file, found.clone());
        found
    }

    /// Whether an object is a module of the program whose `forward` contains nothing that moves
    /// tensors to the CPU.
    fn keeps_device(&self, object: &Value) -> bool {
        let is_module = self.mro_of(object).iter().any(|class| class.as_path() == Some(self.library.words().module));
        let forward = self.user_method(object, "forward").filter(|_| is_module);
        let function = forward.and_then(|method| Some(self.heap.get(function_of(&method)?)));
        let Some(Data::Function(function)) = function else { return false };
        match self.code.get(function.code.0 as usize).map(|code| &code.body) {
            Some(Body::Function(def)) => {
                let mut moves = MovesToHost { words: self.library.words(), found: false };
                moves.visit_body(&def.body);
                !moves.found
            }
            _ => false,
        }
    }
}

/// The function of a method.
fn function_of(method: &Value) -> Option<ObjId> {
    match method {
        Value::Bound(pair) => pair.1.as_obj(),
        function => function.as_obj(),
    }
}

/// Whether an annotation contains the name `Tensor`.
fn mentions_tensor(annotation: &Expr) -> bool {
    match annotation {
        Expr::Name(name) => name.id.as_str() == "Tensor",
        Expr::Attribute(attribute) => attribute.attr.as_str() == "Tensor",
        Expr::Subscript(subscript) => mentions_tensor(&subscript.slice),
        Expr::Tuple(tuple) => tuple.elts.iter().any(mentions_tensor),
        Expr::BinOp(union) => mentions_tensor(&union.left) || mentions_tensor(&union.right),
        _ => false,
    }
}

/// How a function uses a parameter: the attributes of `self` to which it passes it as the first
/// argument, and whether it indexes several dimensions of it.
struct Passed<'a> {
    name: &'a str,
    to: Vec<&'a str>,
    sliced: bool,
}

impl<'a> Visitor<'a> for Passed<'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        let own = |value: &Expr| value.as_name_expr().is_some_and(|name| name.id.as_str() == self.name);
        match expr {
            Expr::Call(call)
                if let Expr::Attribute(method) = &*call.func
                    && method.value.as_name_expr().is_some_and(|object| object.id.as_str() == "self")
                    && call.arguments.args.first().is_some_and(own) =>
            {
                self.to.push(method.attr.as_str());
            }
            Expr::Subscript(subscript) if own(&subscript.value) => {
                let dims = subscript.slice.as_tuple_expr();
                self.sliced |= dims.is_some_and(|dims| dims.elts.iter().any(Expr::is_slice_expr));
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

/// The moments of training in a block of statements, by the names of methods.
#[derive(Default)]
struct Training<'a> {
    backward: Option<&'a ExprCall>,
    /// An optimizer makes a step.
    steps: bool,
    /// Something may clear gradients, or create the optimizer.
    clears: bool,
}

fn names_optimizer(expr: &Expr) -> bool {
    let text = path_text(expr).unwrap_or_default().to_ascii_lowercase();
    text.rsplit('.').next().is_some_and(|name| name.contains("optim") || name.starts_with("opt"))
}

impl<'a> Visitor<'a> for Training<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            // A loop inside accumulates gradients on purpose, or is checked itself.
            Stmt::For(_) | Stmt::While(_) if self.backward.is_some() || self.steps => self.clears = true,
            Stmt::Assign(assign) => self.clears |= assign.targets.iter().any(names_optimizer),
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Attribute(attribute) => {
                let name = attribute.attr.as_str();
                self.clears |= name.contains("zero") || name.contains("reset") || name == "grad";
            }
            Expr::Name(name) => self.clears |= name.id.as_str().contains("zero"),
            Expr::Call(call) => {
                let method = call.func.as_attribute_expr();
                let name = method.map_or("", |method| method.attr.as_str());
                match name {
                    "backward" if call.arguments.args.is_empty() => self.backward = Some(call),
                    // `accelerator.backward(loss)`
                    "backward" => self.clears = true,
                    "step" if method.is_some_and(|method| names_optimizer(&method.value)) => {
                        // A closure computes the gradients.
                        self.steps = true;
                        self.clears |= !call.arguments.is_empty();
                    }
                    "step" => self.steps |= call.arguments.args.iter().any(names_optimizer),
                    // `scaler.unscale_(optimizer)`
                    "unscale_" | "update" | "clip_grad_norm_" => {}
                    // The function may clear the gradients of the optimizer.
                    _ => self.clears |= call.arguments.args.iter().any(names_optimizer),
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

/// The names that a target of an assignment binds.
fn bound_names<'a>(target: &'a Expr, names: &mut FxHashSet<&'a str>) {
    match target {
        Expr::Name(name) => {
            names.insert(name.id.as_str());
        }
        Expr::Tuple(tuple) => tuple.elts.iter().for_each(|target| bound_names(target, names)),
        Expr::List(list) => list.elts.iter().for_each(|target| bound_names(target, names)),
        Expr::Starred(starred) => bound_names(&starred.value, names),
        _ => {}
    }
}

/// The name of which an expression is a part, or the result of a method: `x` for `x["a"].float()`.
fn root(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => root(&attribute.value),
        Expr::Subscript(subscript) => root(&subscript.value),
        Expr::Call(call) => call.func.as_attribute_expr().and_then(|method| root(&method.value)),
        _ => None,
    }
}

/// Whether the body of a loop moves an element of the loop, or a part of it, to another device.
fn moves_elements(stmt: &StmtFor) -> bool {
    struct Moves<'a> {
        names: FxHashSet<&'a str>,
        found: bool,
    }
    impl<'a> Visitor<'a> for Moves<'a> {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            // `x, y = batch`
            if let Stmt::Assign(assign) = stmt {
                let values: &[Expr] = match &*assign.value {
                    Expr::Tuple(tuple) => &tuple.elts,
                    one => std::slice::from_ref(one),
                };
                if values.iter().all(|value| root(value).is_some_and(|name| self.names.contains(name))) {
                    assign.targets.iter().for_each(|target| bound_names(target, &mut self.names));
                }
            }
            walk_stmt(self, stmt);
        }

        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Call(call) = expr
                && let Expr::Attribute(method) = &*call.func
                && matches!(method.attr.as_str(), "to" | "cuda")
                && root(&method.value).is_some_and(|name| self.names.contains(name))
            {
                self.found = true;
            }
            walk_expr(self, expr);
        }
    }
    let mut moves = Moves { names: FxHashSet::default(), found: false };
    bound_names(&stmt.target, &mut moves.names);
    moves.visit_body(&stmt.body);
    moves.found
}

/// Whether a loop may be over a loader: over a name or attribute, or `enumerate`, `zip` or a
/// progress bar of it.
fn may_be_over_loader(iterable: &Expr) -> bool {
    match iterable {
        Expr::Name(_) | Expr::Attribute(_) => true,
        Expr::Call(call) => {
            let name = path_text(&call.func).unwrap_or_default();
            let name = name.rsplit('.').next().unwrap_or_default();
            let wraps = matches!(name, "enumerate" | "zip" | "tqdm" | "trange" | "track" | "progress_bar" | "islice");
            wraps && call.arguments.args.first().is_some_and(may_be_over_loader)
        }
        _ => false,
    }
}

/// An element of a loop in which everything unknown is on the device of the batch.
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

/// What the objects of a file are, according to the methods that it calls. The objects are
/// identified by the text of their names.
#[derive(Default)]
pub(super) struct Protocols {
    words: &'static Words,
    /// Objects on which the file calls methods of modules.
    modules: FxHashSet<String>,
    /// The functions that compute each name: `criterion` for `loss = criterion(x, y)`.
    makers: Vec<(String, String)>,
    /// Objects on which the file calls `backward()`.
    differentiated: FxHashSet<String>,
    /// Objects of which the file reads attributes of tensors.
    tensors: FxHashSet<String>,
    /// The calls of functions named `load`.
    loads: Vec<Load>,
    /// The objects of which the file passes a part to `load_state_dict`.
    restored: FxHashSet<String>,
    /// The calls whose results the file passes to `load_state_dict`.
    restored_calls: FxHashSet<TextSize>,
    /// What the file passes to functions named `save`, after the object: paths of files.
    saved: FxHashSet<String>,
    /// Some call in the file has an argument `map_location`.
    maps_location: bool,
}

impl Protocols {
    /// Whether the call at this place loads a checkpoint that the file does not save, and the file
    /// never chooses the device of what it loads.
    fn is_unmapped_checkpoint(&self, call: TextSize) -> bool {
        let Some(load) = self.loads.iter().find(|load| load.call == call) else { return false };
        let is_restored = load.name.as_ref().is_some_and(|name| self.restored.contains(name));
        let is_saved = load.path.as_ref().is_some_and(|path| self.saved.contains(path));
        !self.maps_location && !is_saved && (is_restored || self.restored_calls.contains(&call))
    }

    /// Whether `backward()` is called on a result of the function.
    fn is_loss(&self, function: &str) -> bool {
        self.makers.iter().any(|(name, maker)| maker == function && self.differentiated.contains(name))
    }
}

/// A call of a function named `load`.
struct Load {
    call: TextSize,
    /// The name to which the result is assigned.
    name: Option<String>,
    /// The file, as text.
    path: Option<String>,
}

impl Load {
    fn new(call: &ExprCall, name: Option<String>) -> Load {
        Load { call: call.start(), name, path: call.arguments.args.first().and_then(file_text) }
    }
}

/// The path of a file as text, if it is a name or a literal.
fn file_text(expr: &Expr) -> Option<String> {
    match expr {
        Expr::StringLiteral(text) => Some(text.value.to_str().to_owned()),
        expr => path_text(expr),
    }
}

/// Whether a call is one of `module.name`.
fn is_named(call: &ExprCall, name: &str) -> bool {
    call.func.as_attribute_expr().is_some_and(|function| function.attr.as_str() == name)
}

/// The function whose result an expression scales or adds to others.
fn maker(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Call(call) => path_text(&call.func),
        Expr::BinOp(e) => maker(&e.left),
        _ => None,
    }
}

impl<'a> Visitor<'a> for Protocols {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::Assign(assign) = stmt
            && let [target] = &*assign.targets
            && let (Some(name), Some(maker)) = (path_text(target), maker(&assign.value))
        {
            self.makers.push((name, maker));
        }
        if let Stmt::Assign(assign) = stmt
            && let [Expr::Name(target)] = &*assign.targets
            && let Expr::Call(call) = &*assign.value
            && is_named(call, "load")
        {
            self.loads.push(Load::new(call, Some(target.id.as_str().to_owned())));
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Attribute(attribute) = expr
            && self.words.tensor_attributes.contains(&attribute.attr.as_str())
            && let Some(text) = path_text(&attribute.value)
        {
            self.tensors.insert(text);
        }
        if let Expr::Call(call) = expr {
            self.maps_location |= call.arguments.find_keyword("map_location").is_some();
            if is_named(call, "save") {
                self.saved.extend(call.arguments.args.get(1).and_then(file_text));
            }
            let is_restoring = call.func.as_attribute_expr().is_some_and(|m| m.attr.as_str() == "load_state_dict");
            match call.arguments.args.first().filter(|_| is_restoring) {
                Some(Expr::Call(load)) if is_named(load, "load") => {
                    self.restored_calls.insert(load.start());
                    self.loads.push(Load::new(load, None));
                }
                Some(state) => self.restored.extend(root(state).map(str::to_owned)),
                None => {}
            }
        }
        if let Expr::Call(call) = expr
            && let Expr::Attribute(method) = &*call.func
            && let Some(text) = path_text(&method.value)
        {
            // `trainer.train(loader)` is not the method of modules.
            let is_flag = |arg: &Expr| arg.is_boolean_literal_expr();
            match method.attr.as_str() {
                "backward" => self.differentiated.insert(text),
                "train" if !call.arguments.args.iter().all(is_flag) => false,
                name => {
                    self.words.module_methods.contains(&name) && call.arguments.len() <= 2 && self.modules.insert(text)
                }
            };
        }
        walk_expr(self, expr);
    }
}

/// Whether a function mentions a method that moves a tensor to the CPU.
struct MovesToHost {
    words: &'static Words,
    found: bool,
}

impl<'a> Visitor<'a> for MovesToHost {
    fn visit_expr(&mut self, expr: &'a Expr) {
        self.found |= match expr {
            Expr::Attribute(attribute) => self.words.to_host.contains(&attribute.attr.as_str()),
            Expr::StringLiteral(text) => text.value.to_str() == "cpu",
            _ => false,
        };
        walk_expr(self, expr);
    }
}
