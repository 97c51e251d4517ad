//! Calls: the callee, the binding of arguments to parameters, and the result.

use std::path::Path;

use rustc_hash::FxHashSet;

use super::budget::Abroad;
use super::context::Mode;
use super::decorator::WRAPPED;
use super::expected::is_expected_to_fail;
use super::generator::Consumer;
use super::interp::{Body, Code, Frame, Interp, MAX_DEPTH, MAX_RECURSION, UNCALLED_DEPTH};
use super::leave::{BlockKind, Leave};
use super::memo::Recall;
use super::parameters;
use super::protocol::calls_any;
use super::stmt::Flow;
use super::types::Operation;
use super::{Arg, Args, Event, RejectKind};
use crate::libraries;
use crate::syntax::ast::{self, Parameters, StmtFunctionDef};
use crate::syntax::{FileId, Span, is_empty};
use crate::value::{
    ArrayKind, Attrs, CodeId, Data, Dim, Function, Items, ObjId, Scope, Source, Sym, Tensor, Topic, Type, Value,
    Written, dotted, sym,
};

/// A note on an object whose type is known only from a parameter's annotation. Python does not
/// check annotations, so the type may be wrong.
pub(crate) const SUPPOSED: Topic = Topic::new("supposed");

/// The depth to which [`Interp::forget_assigned`] follows the parts of an object. A container and its list are two
/// levels.
const MAX_PARTS: u32 = 4;

impl<'p> Interp<'p> {
    /// Calls anything that can be called.
    pub(crate) fn call(&mut self, callee: &Value, args: Args, span: Span) -> Value {
        if self.stopped || !self.step() {
            return Value::Unknown;
        }
        match callee {
            Value::Path(path) if !self.is_replaced(*path) => self.call_path(*path, args, span),
            Value::Obj(id) => match self.heap.get(*id) {
                Data::Function(_) => self.call_memoized(*id, args, span),
                Data::Class(_) => self.instantiate(*id, args, span),
                Data::Instance(_) => self.call_instance(callee, args, span),
                Data::List(_) | Data::Dict(_) | Data::Set(_) => self.refuse_callee(callee, span),
                Data::Module { file, scope } => self.refuse_module((*file, *scope), span),
                _ => self.refuse_unsupported(Operation::Call, callee, span).unwrap_or(Value::Unknown),
            },
            Value::Bound(pair) => {
                let (receiver, func) = (pair.0.clone(), pair.1.clone());
                match func {
                    Value::Path(path) => self.call_bound_path(path, receiver, args, span),
                    // The generated constructor of a dataclass, called through `super()`.
                    Value::Obj(class) if matches!(self.heap.get(class), Data::Class(_)) => {
                        if let Some(object) = receiver.as_obj() {
                            let line = self.mro(class);
                            self.init_fields(object, &line, args, span);
                        }
                        Value::None
                    }
                    func => self.call(&func, args.prepend(Arg::new(receiver, span)), span),
                }
            }
            Value::Method(pair) => {
                let (receiver, name) = (pair.0.clone(), pair.1);
                let refused = self.refused.0;
                let value = self.call_native_method(&receiver, name, args, span);
                // A later call at this place may have another receiver and fail.
                if !self.stopped && self.refused.0 == refused {
                    self.pass(span);
                }
                value
            }
            Value::Partial(partial) => {
                let mut all = Args::positional(partial.args.iter().cloned(), span);
                all.pos.extend(args.pos);
                all.kw = args.kw;
                for (name, value) in &partial.kwargs {
                    if !all.kw.iter().any(|(k, _)| k == name) {
                        all.kw.push((*name, Arg::new(value.clone(), span)));
                    }
                }
                all.more_pos = args.more_pos;
                all.more_kw = args.more_kw;
                let func = partial.func.clone();
                self.call(&func, all, span)
            }
            // `np.float32(x)`: some values of libraries are callable.
            Value::Dtype(_) if let Some(class) = self.library.class_of(self, callee) => {
                let library = self.library;
                library.invoke(self, class, callee, args, span).unwrap_or(Value::Unknown)
            }
            Value::Tuple(_) | Value::Str(_) => self.refuse_callee(callee, span),
            // TV828 finds flags that hide a function.
            value if value.number_type().is_some_and(|kind| kind != Type::Bool) => self.refuse_callee(callee, span),
            Value::None => self.refuse_unsupported(Operation::Call, callee, span).unwrap_or(Value::Unknown),
            _ => {
                self.pass_unjudged(span);
                self.hook_args(&args);
                self.havoc_args(&args);
                self.havoc_unknown_call(&args);
                self.havoc_hooks(|_| true);
                Value::Unknown
            }
        }
    }

    /// Rejects the call of a value that cannot be called, such as the tuple that a comma at the end of
    /// an assignment makes.
    fn refuse_callee(&mut self, callee: &Value, span: Span) -> Value {
        let (what, is_comma) = match callee {
            Value::Tuple(items) => ("a tuple", matches!(&**items, [Value::Obj(_)])),
            Value::Str(_) => ("a string", false),
            value if value.number_type().is_some() => ("a number", false),
            Value::Obj(id) if matches!(self.heap.get(*id), Data::Dict(_)) => ("a dictionary", false),
            Value::Obj(id) if matches!(self.heap.get(*id), Data::Set(_)) => ("a set", false),
            _ => ("a list", false),
        };
        let hint = if is_comma { ": is there a comma at the end of its assignment?" } else { "" };
        let message = format!("{what} cannot be called{hint}");
        self.in_arm_of(callee, |it| it.report_missing(RejectKind::Arguments, message, span));
        self.raise("TypeError")
    }

    /// Rejects the call of a module that defines a function or class of its own name, which is meant.
    fn refuse_module(&mut self, (file, scope): (FileId, ObjId), span: Span) -> Value {
        let stem = self.sources.own_path(file).and_then(|path| Path::new(path).file_stem()?.to_str());
        let Some(name) = stem else { return Value::Unknown };
        let meant = self.scope_var(scope, sym(name));
        if !meant.is_some_and(|meant| self.is_callable(&meant)) || self.mentions("sys.modules") || self.is_in_try() {
            return Value::Unknown;
        }
        self.report_arguments(format!("`{name}` is a module: call `{name}.{name}`"), span);
        self.raise("TypeError")
    }

    fn call_path(&mut self, path: Sym, args: Args, span: Span) -> Value {
        let text = path.as_str();
        if self.ends_program(&Value::Path(path)) {
            return Value::Unknown;
        }
        if let Some((_, method)) = text.rsplit_once('.')
            && let Some(value) = self.plain_attribute(method, &args, span)
        {
            return value;
        }
        if let Some(name) = text.strip_prefix("builtins.") {
            return self.call_builtin(name, args, span);
        }
        let library = self.library;
        if let Some(class) = text.strip_suffix(".__init__")
            && let Some((first, rest)) = split_first(args.clone())
            && let Some(object) = first.as_obj()
        {
            self.init_by_library(sym(class), object, rest, span);
            return Value::None;
        }
        self.write_unknown_argument(text, &args);
        let result = library.call(self, path, args.clone(), span);
        let root = text.split('.').next().unwrap_or_default();
        if result.is_unknown() && !libraries::find(root).is_some_and(|library| library.only_reads) {
            self.havoc_args(&args);
            self.havoc_hooks(|_| true);
        }
        if result.is_unknown() && !libraries::is_known(root) {
            self.forget_placeholders(&args);
        }
        result
    }

    /// Forgets the shapes of tensors with a last dimension of 0 or 1 that are passed by position to a
    /// function of an unseen library: extensions resize such tensors to hold their results.
    fn forget_placeholders(&mut self, args: &Args) {
        for value in args.pos.iter().map(|arg| &arg.value) {
            let is_placeholder = |tensor: &Tensor| {
                let last = tensor.shape.as_deref().and_then(<[Dim]>::last).and_then(|dim| dim.size.known());
                tensor.array == ArrayKind::Torch && last.is_some_and(|length| length <= 1)
            };
            let Some(id) = value.as_obj() else { continue };
            if self.heap.tensor_ref(value).is_some_and(is_placeholder) {
                self.heap.update_tensor(id, |tensor| (tensor.shape, tensor.layout) = (None, None));
            }
        }
    }

    /// Applies the write of a library function to an unknown argument: `out=x`,
    /// `nn.init.zeros_(x)`.
    fn write_unknown_argument(&mut self, path: &str, args: &Args) {
        let named = |name: &str| args.kw.iter().find(|(have, _)| have.as_str() == name).map(|(_, arg)| &arg.value);
        let first = args.pos.first().is_some_and(|arg| arg.value.is_unknown());
        let in_place = first && (path.ends_with('_') || named("inplace").is_some_and(|v| v.as_bool() != Some(false)));
        if in_place || named("out").is_some_and(Value::is_unknown) {
            self.heap.write_lost(Written::Elements);
        }
    }

    /// Calls a library method that was accessed through `super()` or its class.
    fn call_bound_path(&mut self, path: Sym, receiver: Value, args: Args, span: Span) -> Value {
        let Some((class, name)) = path.as_str().rsplit_once('.') else { return Value::Unknown };
        let library = self.library;
        if matches!(name, "__setattr__" | "__getattribute__" | "__delattr__") {
            let args = args.prepend(Arg::new(receiver, span));
            return self.plain_attribute(name, &args, span).unwrap_or(Value::Unknown);
        }
        if name == "__init__" {
            if self.payload(&receiver).is_some() && class.starts_with("builtins.") {
                self.fill_payload(&receiver, &args, span);
            } else if let Some(object) = receiver.as_obj() {
                self.init_by_library(sym(class), object, args, span);
            }
            return Value::None;
        }
        library.method(self, sym(class), &receiver, sym(name), args, span).unwrap_or(Value::Unknown)
    }

    /// Calls the constructor of a library's class. The constructor of an unseen class may keep its arguments.
    fn init_by_library(&mut self, class: Sym, object: ObjId, args: Args, span: Span) {
        let library = self.library;
        library.init(self, class, object, args.clone(), span);
        if library.bases(class).is_none() {
            self.hook_args(&args);
            self.havoc_args(&args);
            self.havoc_hooks(|_| true);
        }
    }

    fn call_native_method(&mut self, receiver: &Value, name: Sym, args: Args, span: Span) -> Value {
        if receiver.is_unknown() {
            let library = self.library;
            library.unseen_member(self, name);
            // `x.size()` of an unknown value: unpacking the result into names binds new symbols.
            return if name.as_str() == "size" && args.pos.is_empty() && args.kw.is_empty() {
                super::attribute::unknown_shape(Value::Unknown)
            } else {
                Value::Unknown
            };
        }
        if let Some(value) = self.generator_method(receiver, name.as_str(), span) {
            return value;
        }
        if let Some(owner) = self.dict_owner(receiver) {
            return self.attributes_method(&owner, name, args, span);
        }
        if self.refuse_method_call(receiver, name, &args, span) {
            return Value::Unknown;
        }
        if let Some(value) = self.container_method(receiver, name, &args, span) {
            return value;
        }
        let library = self.library;
        for class in self.native_classes(receiver) {
            if let Some(value) = library.method(self, class, receiver, name, args.clone(), span) {
                // The library may call a hook at any time.
                if name.as_str().contains("hook") && value.is_unknown() {
                    self.hook_args(&args);
                    self.havoc_args(&args);
                }
                if name.as_str() == "size" && value.is_unknown() && args.pos.is_empty() {
                    return super::attribute::unknown_shape(receiver.clone());
                }
                return value;
            }
        }
        self.havoc_args(&args);
        Value::Unknown
    }

    /// The library classes of a value, nearest first.
    pub(super) fn native_classes(&self, value: &Value) -> Vec<Sym> {
        if let Some(class) = self.library.class_of(self, value) {
            return vec![class];
        }
        self.mro_of(value)
            .iter()
            .filter_map(|c| match c {
                Value::Path(path) => Some(*path),
                _ => None,
            })
            .collect()
    }

    fn call_instance(&mut self, object: &Value, args: Args, span: Span) -> Value {
        let line = self.mro_of(object);
        let defines_call =
            |class: &Value| class.as_obj().is_some_and(|id| self.class_attr(id, sym("__call__")).is_some());
        let own_call = line.iter().rposition(defines_call);
        // Of the library's modules that can be called, only the base class defines `__call__`.
        let base = self.library.words().module;
        let family = base.rsplit_once('.').map_or(base, |(family, _)| family);
        let keeps_call = |path: Sym| path.as_str() != base && path.as_str().starts_with(family);
        for (at, class) in line.iter().cloned().enumerate() {
            match class {
                Value::Path(path) if own_call > Some(at) && keeps_call(path) => {}
                Value::Obj(class) => {
                    if let Some(method) = self.class_attr(class, sym("__call__")) {
                        return self.call(&method, args.prepend(Arg::new(object.clone(), span)), span);
                    }
                }
                Value::Path(path) if self.replaces_call(path) => break,
                Value::Path(path) => {
                    let library = self.library;
                    if let Some(value) = library.invoke(self, path, object, args.clone(), span) {
                        return value;
                    }
                }
                _ => {}
            }
        }
        if let Some(refused) = self.refuse_call_of_instance(object, span) {
            return refused;
        }
        // An unseen `__call__` may call the object's other methods.
        self.forget_assigned(object);
        self.havoc_args(&args);
        self.havoc_hooks(|_| true);
        Value::Unknown
    }

    /// Marks an instance as possibly having unknown attributes.
    pub(crate) fn open(&mut self, object: &Value) {
        if let Some(id) = object.as_obj()
            && let Some(instance) = self.heap.instance_mut(id)
        {
            instance.open = true;
        }
    }

    /// Forgets the values of all attributes of an instance.
    pub(super) fn forget_all(&mut self, object: &Value) {
        self.open(object);
        if let Some(instance) = object.as_obj().and_then(|id| self.heap.instance_mut(id)) {
            instance.attrs.values_mut().for_each(|value| *value = Value::Unknown);
        }
    }

    /// Forgets the values of the attributes that the methods of an object and of its parts assign. The elements
    /// of a collection, such as a `ModuleList`, are parts of its owner.
    pub(crate) fn forget_assigned(&mut self, object: &Value) {
        let mut seen: FxHashSet<ObjId> = object.as_obj().into_iter().collect();
        let mut level: Vec<ObjId> = seen.iter().copied().collect();
        for _ in 0..=MAX_PARTS {
            for id in &level {
                self.forget_own(*id);
            }
            let mut parts = Vec::new();
            for id in level {
                let mut add = |value: &Value| parts.extend(value.as_obj().filter(|part| seen.insert(*part)));
                match self.heap.get(id) {
                    Data::Instance(instance) => instance.attrs.values().for_each(&mut add),
                    Data::List(Items::Exact(items)) => items.iter().for_each(&mut add),
                    Data::List(Items::Many(element)) => add(element),
                    Data::Dict(dict) => dict.entries.values().chain(&dict.open).for_each(&mut add),
                    _ => {}
                }
            }
            level = parts;
        }
    }

    /// Forgets the values of the attributes that methods of an instance's class, other than the
    /// constructor, assign.
    pub(crate) fn forget_own(&mut self, id: ObjId) {
        let Some(class) = self.heap.instance_of(&Value::Obj(id)).and_then(|i| i.class.as_obj()) else { return };
        for name in self.attributes_set_later(class) {
            // `n = 0` in the class body is the first value of the attribute that `self.n += 1` sets.
            let of_class = || self.class_attr(class, name).is_some_and(|value| !self.is_callable(&value));
            if self.heap.attr(id, name.as_str()).is_some() || of_class() {
                self.heap.set_attr(id, name.as_str(), Value::Unknown);
            }
        }
    }

    /// Forgets the attributes of an instance that are `None`: a method of a subclass, which the program calls in
    /// place of an empty one, often sets them.
    fn fill_attributes(&mut self, object: Option<&Value>) {
        let Some(instance) = object.and_then(|object| self.heap.instance_of(object)) else { return };
        let empty: Vec<Sym> =
            instance.attrs.iter().filter(|(_, value)| value.is_none()).map(|(name, _)| *name).collect();
        if let Some(id) = object.and_then(Value::as_obj) {
            for name in empty {
                self.heap.set_attr(id, name.as_str(), Value::Unknown);
            }
        }
    }

    /// `object.name(…)`.
    pub(crate) fn call_method(&mut self, object: &Value, name: &str, args: Args, span: Span) -> Value {
        let method = self.getattr(object, sym(name), span);
        self.call(&method, args, span)
    }

    /// Applies the possible effects of a call of a program function whose body is not run.
    fn lose(&mut self, function: &Function, vars: &Attrs, first: Option<&Value>) {
        self.havoc_body(function, vars);
        for value in vars.values() {
            self.event(Event::Escaped { value });
            self.havoc(value);
            self.forget_assigned(value);
        }
        self.havoc_closure(function.scope);
        // Methods, especially constructors, set attributes of their object.
        if function.owner.is_some()
            && let Some(object) = first
        {
            self.forget_assigned(object);
            self.open(object);
        }
    }

    /// Havoc for a function that is not run: it may change the objects in the variables of its
    /// enclosing functions.
    fn havoc_closure(&mut self, scope: ObjId) {
        let mut at = Some(scope);
        while let Some(id) = at
            && let Data::Scope(names) = self.heap.get(id)
            && let Some(outer) = names.parent
        {
            let values: Vec<Value> = names.vars.values().cloned().collect();
            for value in values {
                self.havoc(&value);
            }
            at = Some(outer);
        }
    }

    /// Whether a call of a method probably runs the method of a subclass instead. This is so if the
    /// method is abstract. In a function that nothing calls, it is also so if the method is empty,
    /// or if a subclass in the program overrides it. Constructors are called as they are written.
    fn is_overridden(&self, function: &Function, body: Body<'p>) -> bool {
        let Body::Function(def) = body else { return false };
        let Some(owner) = function.owner else { return false };
        // Only the constructor of the object's own class or `super()` call a constructor.
        if def.name.as_str() == "__init__" {
            return false;
        }
        // If no other function is active, this function is run because nothing calls it.
        let is_called = self.frames.len() >= UNCALLED_DEPTH;
        function.attrs.contains_key(&sym(super::decorator::ABSTRACT))
            || self.context.speculative
                && (is_empty(&def.body) || is_called && self.is_overridden_in_subclass(owner, function.name))
    }

    // The program's own functions.

    /// Calls a function of the program, or takes the result from the function's cache.
    fn call_memoized(&mut self, id: ObjId, args: Args, span: Span) -> Value {
        let data = self.heap.share(id);
        let Data::Function(function) = &*data else { return Value::Unknown };
        match self.recall(function, &args) {
            None => self.call_user(id, args, span),
            Some(Recall::Known(value)) => value,
            Some(Recall::Fresh(memo, key)) => {
                let value = self.call_user(id, args, span);
                if !self.stopped {
                    self.remember_call(function, memo, key, &value);
                }
                value
            }
            Some(Recall::Perhaps(memo, any)) => {
                let value = self
                    .either(&mut [&mut |it| Some(it.call_user(id, args.clone(), span)), &mut |_| Some(any.clone())]);
                if !self.stopped {
                    self.remember_call(function, memo, None, &value);
                }
                value
            }
        }
    }

    /// Calls a function of the program.
    fn call_user(&mut self, id: ObjId, args: Args, span: Span) -> Value {
        let data = self.heap.share(id);
        let Data::Function(function) = &*data else { return Value::Unknown };
        let Some(code) = self.code.get(function.code.0 as usize).cloned() else { return Value::Unknown };
        if self.is_overridden(function, code.body) {
            self.havoc_args(&args);
            self.fill_attributes(args.pos.first().map(|object| &object.value));
            return Value::Unknown;
        }
        let first = args.pos.first().map(|a| a.value.clone());
        let parameters = match code.body {
            Body::Function(def) => Some(&*def.parameters),
            Body::Lambda(lambda) => lambda.parameters.as_deref(),
            Body::Class(_) | Body::Expression(_) => return Value::Unknown,
        };
        // A function whose arguments do not fit is not run. A constructor is run nevertheless: its
        // object already exists, and the constructor of a subclass may still use the object.
        if let Some(parameters) = parameters
            && function.name.as_str() != "__init__"
            && !parameters::fits(parameters, &function.defaults, &args)
        {
            self.havoc_args(&args);
            return Value::Unknown;
        }
        // Contracts of user rules may check functions of the program.
        self.announce_user(function, parameters, &args, span);
        let is_wrapped = function.attrs.contains_key(&sym(WRAPPED));
        let mut vars = match is_wrapped {
            // An unseen decorator may give the parameters other values: `@click.option("--env")`.
            true => {
                let unknown: Vec<_> = function.defaults.iter().map(|(name, _)| (*name, Value::Unknown)).collect();
                self.bind(parameters, &unknown, args)
            }
            false => self.bind(parameters, &function.defaults, args),
        };
        if let Body::Function(def) = code.body {
            parameters::convert_scripted(def, &mut vars);
            self.suppose_tensors(function.code, def, &mut vars);
        }
        if self.suspends(function.code) {
            return self.heap.suspend(Source::Call { function: id, vars, first, call: span });
        }
        let result = self.run_function(function, vars, first, span, None);
        if is_wrapped { Value::Unknown } else { result }
    }

    /// Whether Python accepts these arguments for a function of the program.
    pub(super) fn takes_arguments(&self, function: &Value, args: &Args) -> bool {
        let Some(Data::Function(function)) = function.as_obj().map(|id| self.heap.get(id)) else { return true };
        match self.code.get(function.code.0 as usize).map(|code| code.body) {
            Some(Body::Function(def)) => parameters::fits(&def.parameters, &function.defaults, args),
            _ => true,
        }
    }

    /// Runs a function's body with bound parameters and returns its result. If the function is a
    /// generator, the consumer gets its values.
    pub(super) fn run_function(
        &mut self,
        function: &Function,
        vars: Attrs,
        first: Option<Value>,
        span: Span,
        consumer: Option<Consumer<'p>>,
    ) -> Value {
        let Some(code) = self.code.get(function.code.0 as usize).cloned() else { return Value::Unknown };
        let active = self.active_calls(function);
        let abroad = match self.meter.is_abroad() {
            true => None,
            false if !self.demands.is_empty() => Some(Abroad::Import),
            false => self.foreign.contains(&code.file).then_some(Abroad::Visit),
        };
        if active > 0 && consumer.is_none() && self.never_returns(function.code, &vars) {
            // Whether an object has an attribute is less certain than what a function calls. A caller may
            // expect the failure.
            let tries = |frame: &Frame<'p>| frame.blocks.iter().any(|block| matches!(block.kind, BlockKind::Try(_)));
            let looks_up = |frame: &Frame<'p>| {
                self.definition(frame)
                    .is_some_and(|def| matches!(def.name.as_str(), "__getattr__" | "__getattribute__"))
            };
            if !self.frames.iter().any(|frame| tries(frame) || looks_up(frame)) {
                let message = format!("`{}` always calls itself, so it never returns", function.name);
                self.report_missing(RejectKind::Recursion, message, span);
            }
            return self.raise("RecursionError");
        }
        let inlined = self.context.speculative && self.frames.len() > 1;
        let deep = self.frames.len() + self.waiting.len() >= MAX_DEPTH || active >= MAX_RECURSION;
        if deep || !self.meter.may_call(function.code, abroad, inlined) {
            return self.unseen_body(function, &vars, first.as_ref(), consumer);
        }
        self.executed.insert(function.code);
        let before = self.before();
        // If a call that runs code of a lazily executed module exceeds its budget, its effects are
        // undone.
        let given = abroad.map(|kind| {
            self.meter.leave(kind);
            (vars.clone(), first.clone(), consumer.clone(), self.exits.len())
        });
        let scope = self.heap.alloc(Data::Scope(Scope { vars, parent: Some(function.scope) }));
        let mark = self.heap.mark();
        let outside = self.context;
        let mut frame = Frame::new(code.file, scope);
        frame.id = self.block_id();
        frame.code = Some(function.code);
        frame.call = Some(span);
        frame.decisions = self.decisions;
        frame.owner = function.owner.map(|owner| (owner, first));
        frame.mark = Some(mark);
        frame.consumer = consumer;
        if let Body::Function(def) = code.body
            && is_expected_to_fail(def)
        {
            frame.raising = 1;
        }
        self.frames.push(frame);
        let managers = self.decorating_managers(function);
        let flow = self.in_managers(&managers, code.body, span);
        if let Some((vars, first, consumer, exits)) = given
            && !self.meter.come_back(function.code)
        {
            // The effects of an unfinished call are discarded.
            self.frames.pop();
            self.heap.undo(mark);
            self.heap.release(mark);
            self.exits.truncate(exits);
            (self.context, self.stopped) = (outside, false);
            return self.unseen_body(function, &vars, first.as_ref(), consumer);
        }
        let value = self.finish_call(flow, mark, code.body);
        self.context = outside;
        if self.surely_rejected(before) {
            self.return_after_rejection(&value);
        } else if !self.stopped {
            self.pass(span);
        }
        value
    }

    /// The number of active calls of a function. Functions with the same body but different outer
    /// variables, such as those that a decorator returns, are different functions.
    fn active_calls(&self, function: &Function) -> usize {
        let is_same = |frame: &&Frame<'p>| {
            frame.code == Some(function.code)
                && matches!(self.heap.get(frame.home), Data::Scope(scope) if scope.parent == Some(function.scope))
        };
        self.frames.iter().chain(&self.waiting).filter(is_same).count()
    }

    /// Whether this call repeats an active call of the same function with the same arguments,
    /// without any condition or loop in between. Such a recursion has no end. Tensors and unknown
    /// values may differ, because they do not decide which function is called.
    fn never_returns(&self, code: CodeId, vars: &Attrs) -> bool {
        let Some(at) = self.frames.iter().rposition(|frame| frame.code == Some(code)) else { return false };
        let Some((frame, inner)) = self.frames.get(at..).and_then(<[_]>::split_first) else { return false };
        // A module that the call needs is executed only now. Python has executed it before.
        if inner.iter().any(|frame| frame.code.is_none() && frame.class_body.is_none()) {
            return false;
        }
        let Data::Scope(active) = self.heap.get(frame.home) else { return false };
        let is_data = |value: &Value| value.is_unknown() || self.heap.is_tensor(value);
        let same = |name: &Sym, value: &Value| match (active.vars.get(name), value) {
            (Some(old), value) if is_data(old) && is_data(value) => true,
            (Some(Value::Obj(a)), Value::Obj(b)) => a == b,
            (Some(Value::None), Value::None) => true,
            (Some(Value::Str(a)), Value::Str(b)) => a == b,
            (Some(Value::Bool(a)), Value::Bool(b)) => a == b,
            _ => false,
        };
        frame.decisions == self.decisions && vars.iter().all(|(name, value)| same(name, value))
    }

    /// Runs a body inside the context managers that decorate its function.
    fn in_managers(&mut self, managers: &[Value], body: Body<'p>, span: Span) -> Flow {
        let Some((manager, inner)) = managers.split_first() else {
            return match body {
                Body::Function(def) => self.exec_block(&def.body),
                Body::Lambda(lambda) => {
                    let value = self.eval(&lambda.body);
                    if std::mem::take(&mut self.stopped) { Flow::Stopped } else { self.leave(Leave::Return(value)) }
                }
                Body::Class(_) | Body::Expression(_) => Flow::Next,
            };
        };
        self.enter_manager(manager, span);
        self.managed(manager.clone(), true, &mut |it| it.in_managers(inner, body, span))
    }

    /// The result of a function whose body is not run.
    fn unseen_body(
        &mut self,
        function: &Function,
        vars: &Attrs,
        first: Option<&Value>,
        consumer: Option<Consumer<'p>>,
    ) -> Value {
        self.lose(function, vars, first);
        self.havoc_hooks(|_| true);
        self.note_unseen_calls(function);
        if let Some(consumer) = consumer {
            let any = Items::Many(Value::Unknown);
            if self.over_items(any, 0, &mut |it, value| consumer(it, value)) == Flow::Stopped {
                self.stopped = true;
            }
        }
        Value::Unknown
    }

    /// Tells observers that a function whose body is not run may train: of the names that they observe, it
    /// has or calls these.
    fn note_unseen_calls(&mut self, function: &Function) {
        let Some(Body::Function(def)) = self.code.get(function.code.0 as usize).map(|code| code.body) else { return };
        let span = self.span(def);
        for name in ["backward", "step", "zero_grad"] {
            if def.name.as_str() == name || calls_any(&def.body, &[name]) {
                self.event(Event::Unseen { name: sym(name), span });
            }
        }
    }

    /// Joins the paths on which a call returns, and returns the join of their values.
    fn finish_call(&mut self, flow: Flow, mark: crate::value::Mark, body: Body<'p>) -> Value {
        let Some(frame) = self.frames.pop() else { return Value::Unknown };
        let exits = self.take_exits(frame.id);
        // Perhaps statements with `return` did not run.
        let is_unfinished = self.meter.is_spent(!self.demands.is_empty());
        if exits.is_empty() {
            self.heap.release(mark);
            // If every path raises, the call does not return. But a function whose last statement
            // raises `NotImplementedError` is assumed to be a placeholder for the methods of
            // subclasses.
            if flow == Flow::Stopped && !is_stub(body) {
                self.stopped = true;
            }
            return if flow == Flow::Next && !is_unfinished { Value::None } else { Value::Unknown };
        }
        let recurs = exits.iter().all(|exit| exit.recurs);
        let (mut ends, mut values) = (Vec::new(), Vec::new());
        for exit in exits {
            if let Leave::Return(value) = exit.how {
                ends.push(exit.state);
                values.push(value);
            }
        }
        if flow == Flow::Next {
            ends.push(self.heap.delta(mark));
            values.push(if is_unfinished { Value::Unknown } else { Value::None });
        }
        self.heap.undo(mark);
        self.heap.join_taken(&ends, false, recurs);
        let value = self.join_values(values);
        self.heap.release(mark);
        value
    }

    fn announce_user(&mut self, function: &Function, parameters: Option<&'p Parameters>, args: &Args, span: Span) {
        if !self.observer.watches(function.path) {
            return;
        }
        let Some(parameters) = parameters else { return };
        let names = parameters.posonlyargs.iter().chain(&parameters.args).chain(&parameters.kwonlyargs);
        let params: Vec<super::Param> = names
            .map(|p| super::Param {
                name: sym(p.parameter.name.as_str()),
                default: p.default.as_ref().map(|_| super::Const::Other),
                keyword_only: false,
            })
            .collect();
        let sig = std::sync::Arc::new(super::Sig { params, star: None, double_star: true });
        if let Some(bound) = sig.bind(args) {
            self.announce(function.path, &bound, span);
        }
    }

    // Definitions.

    pub(super) fn define_function(&mut self, def: &'p StmtFunctionDef) {
        if self.sources.is_broken(self.span(def)) {
            return self.set_name(sym(def.name.as_str()), Value::Unknown);
        }
        let file = self.file();
        let address = std::ptr::from_ref(def) as usize;
        let code = self.code_of(address, || Code::new(file, Body::Function(def)));
        let name = sym(def.name.as_str());
        let mut value = self.make_function(code, name, Some(&def.parameters));
        // A function that is defined in an arm of an unknown condition, inside a function or loop,
        // is not run as an uncalled function: the variables that it reads may come from another
        // arm.
        if file == self.root
            && self.context.doubts == 0
            && let Some(id) = value.as_obj()
        {
            self.defined.push(id);
            if let Some(outer) = self.frames.last().and_then(|frame| frame.code) {
                self.outer.insert(id, outer);
            }
        }
        for decorator in def.decorator_list.iter().rev() {
            value = self.decorate(&decorator.expression, value);
        }
        self.set_name(name, value);
    }

    pub(super) fn make_function(&mut self, code: CodeId, name: Sym, parameters: Option<&'p Parameters>) -> Value {
        let mut defaults = Vec::new();
        if let Some(parameters) = parameters {
            for parameter in parameters.posonlyargs.iter().chain(&parameters.args).chain(&parameters.kwonlyargs) {
                if let Some(default) = &parameter.default {
                    let value = self.eval(default);
                    defaults.push((sym(parameter.parameter.name.as_str()), value));
                }
            }
        }
        let frame = self.frames.last();
        let owner = frame.and_then(|f| f.class_body);
        // The names in a method are looked up in the scope around the class, not in the class body.
        let scope = frame.map_or(self.state, |f| if f.class_body.is_some() { f.closure } else { f.scope });
        let prefix = match owner.map(|id| self.heap.get(id)) {
            Some(Data::Class(class)) => class.path,
            _ => self.module_name(),
        };
        let path = dotted(prefix, name);
        let function = Function { code, name, path, scope, defaults, owner, attrs: Attrs::default() };
        Value::Obj(self.heap.alloc(Data::Function(function)))
    }

    /// The `__name__` of the current module.
    pub(super) fn module_name(&mut self) -> Sym {
        let scope = self.module_scope();
        match self.scope_var(scope, sym("__name__")) {
            Some(Value::Str(name)) => sym(&name),
            _ => sym(""),
        }
    }

    /// The value of an uncalled function's parameter: unknown, except for what its annotation and
    /// the type of its default tell about it.
    pub(super) fn unknown_parameter(&mut self, parameter: &'p ast::ParameterWithDefault) -> Value {
        let name = sym(parameter.parameter.name.as_str());
        let span = self.span(&parameter.parameter);
        if let Some(annotation) = parameter.parameter.annotation.as_deref() {
            // With this import, Python does not evaluate annotations.
            let annotation = match self.mentions("from __future__ import annotations") {
                true => self.on_trial(Mode::Silent, |it, _| it.eval(annotation)),
                false => self.eval(annotation),
            };
            let library = self.library;
            let value = library.annotated(self, &annotation, name, span).unwrap_or(Value::Unknown);
            // `x: Tensor = None` and `rate: int = 0.5` are common, so an annotation that does not
            // fit the default is ignored.
            let fits = match parameter.default.as_deref() {
                Some(crate::syntax::Expr::BooleanLiteral(_)) => matches!(value, Value::Any(Type::Bool)),
                Some(crate::syntax::Expr::StringLiteral(_)) => matches!(value, Value::Any(Type::Str)),
                Some(crate::syntax::Expr::NumberLiteral(n)) => {
                    n.value.is_int() && matches!(value, Value::Any(Type::Int))
                }
                Some(crate::syntax::Expr::NoneLiteral(_)) => false,
                _ => true,
            };
            if !fits {
                return Value::Unknown;
            }
            if let Some(id) = value.as_obj() {
                self.heap.set_note(id, SUPPOSED, Value::Bool(true));
            }
            self.supposes_numbers |= value.number_type().is_some();
            return value;
        }
        match parameter.default.as_deref() {
            Some(crate::syntax::Expr::BooleanLiteral(_)) => Value::Any(Type::Bool),
            Some(crate::syntax::Expr::StringLiteral(_)) => Value::Any(Type::Str),
            _ => Value::Unknown,
        }
    }
}

/// Whether the last statement of a body raises `NotImplementedError`.
fn is_stub(body: Body<'_>) -> bool {
    let Body::Function(def) = body else { return false };
    let Some(ast::Stmt::Raise(raise)) = def.body.last() else { return false };
    let exception = match raise.exc.as_deref() {
        Some(crate::syntax::Expr::Call(call)) => Some(&*call.func),
        other => other,
    };
    matches!(exception, Some(crate::syntax::Expr::Name(name)) if name.id.as_str() == "NotImplementedError")
}

fn split_first(mut args: Args) -> Option<(Value, Args)> {
    if args.pos.is_empty() {
        return None;
    }
    let first = args.pos.remove(0).value;
    Some((first, args))
}
