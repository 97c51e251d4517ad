//! The run of a file: first the program, then the functions of the file that the program never
//! called.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::flags::ON_CPU;
use super::interp::{Body, Code, Interp};
use super::parameters::is_shown_by_uses;
use super::protocol::calls_any;
use super::stmt::Flow;
use super::{Arg, Args, Event};
use crate::syntax::ast::{ParameterWithDefault, StmtFunctionDef};
use crate::syntax::{Expr, Ranged, Span, Stmt, expressions, path_of, statements};
use crate::value::{CodeId, Data, Function, Items, ObjId, Sym, Value, sym};

/// A function that nothing called, and the receiver if it is a method.
struct Uncalled<'p> {
    id: ObjId,
    function: Function,
    def: &'p StmtFunctionDef,
    receiver: Option<Value>,
    span: Span,
}

/// Whether the last statement of a script is `raise` or a call such as `sys.exit(main())`, perhaps under
/// `if`. Such a script always ends early.
fn exits_at_end(body: &[Stmt]) -> bool {
    match body.last() {
        Some(Stmt::If(last)) => exits_at_end(&last.body),
        Some(Stmt::Expr(last)) => {
            let call = last.value.as_call_expr();
            call.is_some_and(|call| matches!(path_of(&call.func).last(), Some(&("exit" | "_exit" | "quit"))))
        }
        Some(Stmt::Raise(_)) => true,
        _ => false,
    }
}

impl<'p> Interp<'p> {
    /// Runs the root file as a program, then the functions that nothing called, with unknown
    /// arguments or with their defaults.
    pub(crate) fn run(&mut self) {
        // The note begins as false, so that it becomes unknown after a condition if only one arm sets it.
        self.remember(ON_CPU, Value::Bool(false));
        let (scope, flow) = self.run_main();
        self.record_called();
        self.ended_early = flow == Flow::Stopped && !exits_at_end(&self.sources.module(self.root).body);
        let library = self.library;
        library.ended(self);
        self.context.speculative = true;
        self.forget_global_contents();
        self.forget_global_attributes();
        self.forget_replaced_functions(scope);
        // These functions run only once, not in every possible call context, so their budget is
        // smaller.
        self.meter.begin_uncalled();
        let mut instances: FxHashMap<ObjId, Value> = FxHashMap::default();
        let mut test_mode = Vec::new();
        let mut at = 0;
        // A function may define further functions.
        while let Some(id) = self.defined.get(at).copied() {
            at += 1;
            let Data::Function(function) = self.heap.get(id) else { continue };
            if !self.is_uncalled(function) || self.is_redefined(id, function) {
                continue;
            }
            let function = function.clone();
            self.forget_rebound(id, &function);
            self.frames.push(super::interp::Frame::new(self.root, scope));
            test_mode.extend(self.run_uncalled(id, function, &mut instances));
            self.frames.pop();
        }
        // A method that tests `self.training` runs other code in evaluation mode. It may call
        // methods that are better analysed on their own, so it runs after them.
        for uncalled in test_mode {
            self.frames.push(super::interp::Frame::new(self.root, scope));
            self.run_in_evaluation_mode(uncalled);
            self.frames.pop();
        }
    }

    /// Whether a function runs as if nothing called it.
    fn is_uncalled(&self, function: &Function) -> bool {
        let code = function.code;
        let also = || match self.code.get(code.0 as usize).map(|code| code.body) {
            Some(Body::Function(def)) => self.also_uncalled.contains(&def.name.range()),
            _ => false,
        };
        !self.executed.contains(&code) || !self.also_uncalled.is_empty() && also()
    }

    /// Makes unknown the global names that the file first defines or imports, and to which it later assigns
    /// another value. A function that nothing calls may run before that.
    fn forget_replaced_functions(&mut self, scope: ObjId) {
        let body = &self.sources.module(self.root).body;
        let defined: FxHashSet<&str> = (body.iter())
            .flat_map(|stmt| match stmt {
                Stmt::FunctionDef(def) => vec![def.name.as_str()],
                Stmt::ClassDef(def) => vec![def.name.as_str()],
                Stmt::ImportFrom(import) => {
                    import.names.iter().map(|alias| alias.asname.as_ref().unwrap_or(&alias.name).as_str()).collect()
                }
                _ => Vec::new(),
            })
            .collect();
        let assigned = statements(body, false).into_iter().filter_map(Stmt::as_assign_stmt);
        let targets = assigned.flat_map(|assign| &assign.targets).filter_map(Expr::as_name_expr);
        for name in targets.filter(|name| defined.contains(name.id.as_str())) {
            self.heap.bind(scope, sym(name.id.as_str()), Some(Value::Unknown));
        }
    }

    /// Makes unknown the variables of a function around this one to which it assigns both before and after the
    /// definition of this one, which may have run in between.
    fn forget_rebound(&mut self, id: ObjId, function: &Function) {
        let body = |code: &CodeId| match self.code.get(code.0 as usize).map(|code| code.body) {
            Some(Body::Function(def)) => Some(def),
            _ => None,
        };
        let outer = self.outer.get(&id).filter(|outer| self.executed.contains(outer)).and_then(body);
        let (Some(outer), Some(inner)) = (outer, body(&function.code)) else { return };
        let (mut before, mut after) = (FxHashSet::default(), Vec::new());
        before.extend(outer.parameters.iter().map(|parameter| parameter.name().as_str()));
        for assign in statements(&outer.body, false).into_iter().filter_map(Stmt::as_assign_stmt) {
            let names = assign.targets.iter().filter_map(Expr::as_name_expr).map(|name| name.id.as_str());
            match assign.start() < inner.start() {
                true => before.extend(names),
                false => after.extend(names),
            }
        }
        for name in after.into_iter().filter(|name| before.contains(name)).map(sym) {
            if matches!(self.heap.get(function.scope), Data::Scope(scope) if scope.vars.contains_key(&name)) {
                self.heap.bind(function.scope, name, Some(Value::Unknown));
            }
        }
    }

    /// Makes unknown the contents of the global lists, sets and dictionaries that uncalled
    /// functions fill, because such a function may run before the function that is analysed.
    fn forget_global_contents(&mut self) {
        for id in self.defined.clone() {
            let Data::Function(function) = self.heap.get(id) else { continue };
            let (code, scope) = (function.code, function.scope);
            if !self.executed.contains(&code) {
                self.forget_filled(code, scope);
            }
        }
    }

    /// Makes unknown the constants in attributes of global objects that other code of the program assigns, because
    /// this code may run before the function that is analysed.
    fn forget_global_attributes(&mut self) {
        for scope in self.module_scopes() {
            self.forget_constants_in(scope);
        }
        self.forget_global_registries();
    }

    /// The scopes of the modules that were imported.
    pub(super) fn module_scopes(&self) -> Vec<ObjId> {
        let scope = |module: &ObjId| match self.heap.get(*module) {
            Data::Module { scope, .. } => Some(*scope),
            _ => None,
        };
        self.modules.values().filter_map(scope).collect()
    }

    /// [`Interp::forget_constants`] for the objects that the variables of a scope hold.
    pub(super) fn forget_constants_in(&mut self, scope: ObjId) {
        for (_, value) in self.data_variables(scope) {
            self.forget_constants(&value);
        }
    }

    /// Makes unknown the attributes of an object that are constants, such as `None`, or empty collections, and that
    /// methods or other code of the program assign or fill.
    pub(super) fn forget_constants(&mut self, object: &Value) {
        let Some(instance) = self.heap.instance_of(object) else { return };
        let Some(class) = instance.class.as_obj() else { return };
        let is_first = |value: &Value| value.is_constant() || self.is_empty_collection(value);
        let constants: Vec<Sym> =
            instance.attrs.iter().filter(|(_, value)| is_first(value)).map(|(name, _)| *name).collect();
        if constants.is_empty() {
            return;
        }
        let later = self.attributes_set_later(class);
        for name in constants {
            let is_set = later.contains(&name) || self.sources.assigns_from_outside(self.root, name.as_str());
            if let Some(id) = object.as_obj().filter(|_| is_set) {
                self.heap.set_attr(id, name.as_str(), Value::Unknown);
            }
        }
    }

    /// Whether the module defines a function again, or the body of a class a method, so that nothing can
    /// call the first one. False for a function with decorators, because a decorator may have stored it.
    fn is_redefined(&self, id: ObjId, function: &Function) -> bool {
        let names = match self.heap.get(function.owner.unwrap_or(function.scope)) {
            Data::Class(class) => &class.attrs,
            Data::Scope(scope) => &scope.vars,
            _ => return false,
        };
        let now = names.get(&function.name).and_then(Value::as_obj).filter(|now| *now != id);
        self.is_undecorated(function)
            && now.is_some_and(|now| {
                matches!(self.heap.get(now), Data::Function(now) if now.name == function.name && now.owner == function.owner)
            })
    }

    /// Runs a function that nothing called. Returns it if it tests whether its module is in
    /// training mode.
    fn run_uncalled(
        &mut self,
        id: ObjId,
        function: Function,
        instances: &mut FxHashMap<ObjId, Value>,
    ) -> Option<Uncalled<'p>> {
        let code = self.code.get(function.code.0 as usize)?;
        let Body::Function(def) = code.body else { return None };
        let span = Span { file: code.file, start: def.name.range.start().to_u32(), end: def.name.range.end().to_u32() };
        // If another decorator wraps the function, the wrapper has the mark instead.
        let has_decorator = |name: &str| def.decorator_list.iter().any(|one| path_of(&one.expression) == [name]);
        let kind = match function.attrs.get(&sym("__kind__")).and_then(Value::as_str) {
            None if has_decorator("classmethod") => Some("class"),
            None if has_decorator("staticmethod") => Some("static"),
            kind => kind,
        };
        let is_static = kind == Some("static");
        let receiver = match function.owner {
            Some(class) if kind == Some("class") => Some(Value::Obj(class)),
            // A function whose first parameter is not named like a receiver is assumed to be called
            // through the class, or decorated after the class definition, so its first argument is
            // unknown.
            Some(_) if !is_static && !takes_receiver(def) => Some(Value::Unknown),
            Some(class) if !is_static && def.name.as_str() != "__init__" && def.name.as_str() != "__new__" => {
                Some(self.receiver(class, instances, span))
            }
            Some(class) if !is_static => {
                // Creating an instance runs the constructor. The instance is the receiver of the
                // other methods.
                self.receiver(class, instances, span);
                if self.executed.contains(&function.code) {
                    return None;
                }
                Some(Value::Unknown)
            }
            _ => None,
        };
        if !self.is_uncalled(&function) {
            return None;
        }
        // The defaults may select another method: `self._impl = self._impl_1x1 if size == 1 else …`.
        let is_selected = || [" ", "\n"].map(|end| format!("= self.{}{end}", function.name));
        if self.with_defaults && is_selected().iter().any(|text| self.mentions(sym(text).as_str())) {
            return None;
        }
        let uncalled = Uncalled { id, function, def, receiver, span };
        let may_skip = uncalled.receiver.as_ref().is_some_and(|receiver| self.may_be_skipped(receiver));
        self.guessing(may_skip, |it| it.run_once(&uncalled));
        let receiver = uncalled.receiver.as_ref()?;
        (self.is_in_training(receiver) && super::narrow::tests(&def.body, "training")).then_some(uncalled)
    }

    /// Whether the methods of an object are tests that `setUp` may skip, for example if a path is not set.
    fn may_be_skipped(&self, object: &Value) -> bool {
        let prepares = ["setUp", "setUpClass", "setup_method", "setup_class"];
        let definitions = prepares.iter().filter_map(|name| self.method_def(object, name));
        definitions.into_iter().any(|def| calls_any(&def.body, &["skipTest", "SkipTest", "skip"]))
    }

    fn run_in_evaluation_mode(&mut self, uncalled: Uncalled<'p>) {
        let Some(receiver) = uncalled.receiver.clone() else { return };
        let mark = self.heap.mark();
        let library = self.library;
        let eval = format!("{}.eval", library.words().module);
        library.call(self, sym(&eval), Args::positional([receiver], uncalled.span), uncalled.span);
        self.run_once(&uncalled);
        self.heap.undo(mark);
        self.heap.release(mark);
    }

    fn is_in_training(&self, object: &Value) -> bool {
        object.as_obj().and_then(|id| self.heap.attr(id, "training")).and_then(|mode| mode.as_bool()) == Some(true)
    }

    /// Runs a function with unknown arguments, and then undoes its effects.
    fn run_once(&mut self, uncalled: &Uncalled<'p>) {
        let Uncalled { id, function, def, receiver, span } = uncalled;
        let (id, span) = (*id, *span);
        let mark = self.heap.mark();
        let defined = self.defined.len();
        if let Some(receiver) = receiver {
            let library = self.library;
            library.uncalled(self, receiver, def.name.as_str());
        }
        let args = self.unknown_args(def, receiver.clone(), span);
        self.context.excluded = self.calls_name(sym(def.name.as_str()));
        self.context.has_callers = self.context.excluded || self.is_forward_of_instance(function);
        let mut value = self.call(&Value::Obj(id), args, span);
        self.context.excluded = false;
        self.context.has_callers = false;
        if self.heap.suspended(&value).is_some() {
            let coroutine = self.awaited(&value);
            // The consumer, such as a test with this fixture, may change what it gets.
            let give = |it: &mut Self, given: Value| {
                it.event(Event::Escaped { value: &given });
                it.havoc(&given);
                given.parts().iter().for_each(|part| it.forget_constants(part));
                Flow::Next
            };
            self.drive(&value, span, Rc::new(give));
            value = coroutine;
        }
        self.stopped = false;
        self.event(Event::Escaped { value: &value });
        self.heap.undo(mark);
        self.heap.release(mark);
        self.forget_locals(function, defined);
    }

    /// Whether a function is the `forward` of a module that the program creates.
    fn is_forward_of_instance(&self, function: &Function) -> bool {
        let class = function.owner.and_then(|owner| match self.heap.get(owner) {
            Data::Class(class) => Some(class.name),
            _ => None,
        });
        function.name.as_str() == "forward" && class.is_some_and(|class| self.calls_name(class))
    }

    /// Sets the local variables of `outer`, whose run was undone, to unknown values, so that the
    /// functions that this run has defined can read them. These functions are the ones after
    /// `from`.
    fn forget_locals(&mut self, outer: &Function, from: usize) {
        let Some(writes) = self.writes(outer.code) else { return };
        // A parameter that the function binds again no longer has the value of the argument.
        let parameters = self.parameters(outer).into_iter().flat_map(|all| all.iter());
        let parameters: Vec<Sym> = parameters.map(|parameter| sym(parameter.name().as_str())).collect();
        for id in self.defined.get(from..).unwrap_or_default().to_vec() {
            let Data::Function(inner) = self.heap.get(id) else { continue };
            let mut scope = inner.scope;
            while scope != outer.scope
                && let Data::Scope(names) = self.heap.get(scope)
                && let Some(parent) = names.parent
            {
                // `own` has each parameter, and a name for each statement that binds it.
                let is_bound_again =
                    |name: &Sym| parameters.contains(name) && writes.own.iter().filter(|n| *n == name).count() > 1;
                let is_lost = |name: &Sym| !names.vars.contains_key(name) || is_bound_again(name);
                let lost: Vec<Sym> = writes.own.iter().copied().filter(is_lost).collect();
                if let Data::Scope(names) = self.heap.get_mut(scope) {
                    names.vars.extend(lost.into_iter().map(|name| (name, Value::Unknown)));
                }
                scope = parent;
            }
        }
    }

    /// Arguments for an uncalled function. Nothing is known about them except what annotations, the
    /// types of defaults and the uses of the parameters show.
    fn unknown_args(&mut self, def: &'p StmtFunctionDef, receiver: Option<Value>, span: Span) -> Args {
        let mut args = Args::default();
        let mut positional = def.parameters.posonlyargs.iter().chain(&def.parameters.args);
        if let Some(receiver) = receiver {
            positional.next();
            args.pos.push(Arg::new(receiver, span));
        }
        let positional: Vec<&'p ParameterWithDefault> = positional.collect();
        let receiver = args.pos.first().map(|receiver| receiver.value.clone());
        // Python does not check annotations: the callers decide what the function gets.
        let is_called = self.calls_name(sym(def.name.as_str()));
        let mut by_name = false;
        for parameter in positional {
            let name = parameter.parameter.name.as_str();
            // After a parameter that gets its default, the others are given by name. Positional-only ones get
            // their defaults, too.
            let is_positional = || def.parameters.posonlyargs.iter().any(|other| other.parameter.name.as_str() == name);
            if self.takes_default(parameter) || by_name && is_positional() {
                by_name = true;
                continue;
            }
            let mut value = self.unknown_parameter(parameter);
            let is_mapping = || super::uses::is_mapping(&def.body, parameter.parameter.name.as_str());
            if self.heap.is_tensor(&value) && is_mapping()
                || is_called && self.says_only_tensor(&value)
                || value.number_type().is_some() && super::uses::is_called(&def.body, parameter.parameter.name.as_str())
            {
                value = Value::Unknown;
            }
            if value.is_unknown() && is_shown_by_uses(def, parameter) {
                let uses = super::uses::uses(&def.body, parameter.parameter.name.as_str());
                let library = self.library;
                value = library.used(self, &uses, receiver.as_ref(), def.name.as_str()).unwrap_or(Value::Unknown);
                if value.is_unknown()
                    && def.name.as_str() == "forward"
                    && let Some(receiver) = &receiver
                    && self.holds_tensors(parameter, def, receiver)
                {
                    value = library.forward_argument(self, receiver).unwrap_or(Value::Unknown);
                }
            }
            if let Some(width) = self.width(def, parameter, &value) {
                value = width;
            }
            self.library.place_argument(self, &value, name, def.name.as_str());
            let argument = Arg::new(value, span);
            match by_name {
                true => args.kw.push((sym(parameter.parameter.name.as_str()), argument)),
                false => args.pos.push(argument),
            }
        }
        for parameter in &def.parameters.kwonlyargs {
            if self.takes_default(parameter) {
                continue;
            }
            let value = self.unknown_parameter(parameter);
            let value = self.width(def, parameter, &value).unwrap_or(value);
            args.kw.push((sym(parameter.parameter.name.as_str()), Arg::new(value, span)));
        }
        if def.parameters.vararg.is_some() {
            args.more_pos = true;
        }
        args.more_kw = def.parameters.kwarg.is_some();
        args
    }

    /// Whether a parameter of an uncalled function gets its default. Defaults such as `None`, 0, and empty
    /// values are not used, because they often mean that the caller must give a value.
    fn takes_default(&mut self, parameter: &ParameterWithDefault) -> bool {
        let says_more = match parameter.default.as_deref() {
            None | Some(Expr::NoneLiteral(_)) => false,
            Some(Expr::NumberLiteral(number)) => number.value.as_int().is_none_or(|n| n.as_i64() != Some(0)),
            Some(Expr::StringLiteral(text)) => !text.value.is_empty(),
            Some(Expr::Tuple(tuple)) => !tuple.elts.is_empty(),
            Some(Expr::List(list)) => !list.elts.is_empty(),
            Some(Expr::Dict(dict)) => !dict.items.is_empty(),
            // `-1` often means that the caller must give a value.
            Some(Expr::UnaryOp(_)) => false,
            Some(_) => true,
        };
        self.has_defaults |= says_more;
        says_more && self.with_defaults
    }

    /// Whether a value is known to be a tensor, but neither its shape nor its dtype is known.
    fn says_only_tensor(&self, value: &Value) -> bool {
        let Some(Data::Tensor(tensor)) = value.as_obj().map(|id| self.heap.get(id)) else { return false };
        tensor.shape.is_none() && tensor.dtype.is_none()
    }

    /// Makes the content of the empty lists and dictionaries of an instance unknown: other code fills them.
    fn fill_collections(&mut self, object: ObjId) {
        let Some(instance) = self.heap.instance_of(&Value::Obj(object)) else { return };
        let empty: Vec<Value> =
            instance.attrs.values().filter(|value| self.is_empty_collection(value)).cloned().collect();
        for collection in empty {
            let Some(id) = collection.as_obj() else { continue };
            if let Data::Dict(dict) = self.heap.get_mut(id) {
                dict.open = Some(Value::Unknown);
            } else {
                *self.heap.get_mut(id) = Data::List(Items::Many(Value::Unknown));
                self.heap.note_perhaps_empty(&collection);
            }
        }
    }

    /// The receiver for uncalled methods of a class: constructed with unknown arguments, and with
    /// unknown values of the attributes that other methods set.
    fn receiver(&mut self, class: ObjId, instances: &mut FxHashMap<ObjId, Value>, span: Span) -> Value {
        if let Some(value) = instances.get(&class) {
            return value.clone();
        }
        instances.insert(class, Value::Unknown);
        let init = self.own_init(&self.mro(class)).map(|id| self.heap.get(id).clone());
        // If the program has run the constructor, it has also decided the device of its instances,
        // so `Library::moved` is not called for the receiver.
        let constructed = matches!(&init, Some(Data::Function(init)) if self.executed.contains(&init.code));
        let args = match init {
            Some(Data::Function(function)) => match self.code.get(function.code.0 as usize).map(|c| c.body) {
                Some(Body::Function(def)) => {
                    let mut args = self.unknown_args(def, Some(Value::Unknown), span);
                    args.pos.remove(0);
                    args
                }
                _ => Args { more_pos: true, more_kw: true, ..Args::default() },
            },
            _ => Args { more_pos: true, more_kw: true, ..Args::default() },
        };
        let mut value = self.instantiate(class, args, span);
        if std::mem::take(&mut self.stopped) {
            // The constructor always raises.
            value = Value::Unknown;
        }
        if !constructed {
            self.event(Event::Supposed { object: &value });
        }
        if let Some(id) = value.as_obj() {
            // An attribute `None` is often a placeholder that other code fills.
            if let Some(instance) = self.heap.instance_mut(id) {
                instance.attrs.values_mut().filter(|v| v.is_none()).for_each(|v| *v = Value::Unknown);
            }
            for name in self.attributes_set_later(class) {
                let stored = self.heap.attr(id, name.as_str());
                match stored.is_none().then(|| self.user_method(&value, name.as_str())) {
                    Some(None) => self.heap.may_have(id, name),
                    Some(Some(member)) if self.is_callable(&member) => {}
                    _ => self.heap.set_attr(id, name.as_str(), Value::Unknown),
                }
            }
            self.forget_set_in_subclasses(id, class);
            self.fill_collections(id);
            // Methods of the parts of the instance may have run, too.
            self.forget_assigned(&value);
            // The program may do anything to the instance.
            let library = self.library;
            library.escaped(self, &value);
            if !constructed {
                library.moved(self, &value);
            }
        }
        instances.insert(class, value.clone());
        value
    }

    /// Makes unknown what subclasses set to other values, if the program creates no instance of the class itself.
    fn forget_set_in_subclasses(&mut self, object: ObjId, class: ObjId) {
        let Data::Class(data) = self.heap.get(class) else { return };
        let name = data.name;
        let Some(instance) = self.heap.instance_of(&Value::Obj(object)).filter(|_| !self.calls_name(name)) else {
            return;
        };
        let is_set = |attr: &&Sym| self.sources.sets_in_subclass(self.root, name.as_str(), attr.as_str());
        let set: Vec<Sym> = instance.attrs.keys().filter(is_set).copied().collect();
        for attr in set {
            self.heap.set_attr(object, attr.as_str(), Value::Unknown);
        }
    }

    /// Whether an active constructor of this object contains an assignment to this attribute.
    pub(super) fn constructor_sets(&self, object: ObjId, name: Sym) -> bool {
        self.constructors(object).any(|def| {
            let mut names = Vec::new();
            stored_attributes(&def.body, &mut names);
            names.contains(&name)
        })
    }

    /// Whether the constructor of this object that runs now has not used the object yet, but calls the
    /// constructor of its base class below this place.
    pub(super) fn is_before_base(&self, object: ObjId, span: Span) -> bool {
        // A function that the constructor calls may run after the base's constructor.
        let current = self.frames.last().and_then(|frame| self.definition(frame));
        let is_current = |def: &&StmtFunctionDef| current.is_some_and(|current| std::ptr::eq(current, *def));
        self.constructors(object).last().filter(is_current).is_some_and(|def| {
            let receiver = def.parameters.iter_non_variadic_params().next().map(|first| first.parameter.name.as_str());
            let all: Vec<&Expr> = def.body.iter().flat_map(expressions).collect();
            let uses_before = |expr: &&Expr| {
                let is_receiver = expr.as_name_expr().is_some_and(|name| Some(name.id.as_str()) == receiver);
                let is_super = expr.as_call_expr().is_some_and(|call| path_of(&call.func) == ["super"]);
                (is_receiver || is_super) && expr.start().to_u32() < span.start
            };
            let calls_base = |expr: &&Expr| {
                let method = expr.as_call_expr().and_then(|call| call.func.as_attribute_expr());
                method.is_some_and(|method| method.attr.as_str() == "__init__") && expr.start().to_u32() > span.start
            };
            !all.iter().any(uses_before) && all.iter().any(calls_base)
        })
    }

    /// The attributes of `self` that methods other than the constructor assign.
    pub(super) fn attributes_set_later(&mut self, class: ObjId) -> Vec<Sym> {
        let mut names = Vec::new();
        let mut seen = FxHashSet::default();
        for ancestor in self.mro(class).iter().filter_map(Value::as_obj) {
            let own = self.attributes_set_by(ancestor);
            names.extend(own.iter().filter(|name| seen.insert(**name)));
        }
        names
    }

    /// The attributes of `self` that the methods of one class, except the constructor, assign.
    pub(super) fn attributes_set_by(&mut self, class: ObjId) -> Rc<[Sym]> {
        if let Some(names) = self.stored.get(&class) {
            return names.clone();
        }
        let mut names = Vec::new();
        if let Data::Class(data) = self.heap.get(class) {
            // A decorator may have replaced the methods in the class, so both the source of the
            // class and the current methods are searched.
            if let Some(Code { body: Body::Class(Some(def)), .. }) = self.code.get(data.code.0 as usize) {
                stored_by_methods(&def.body, &mut names);
            }
            for (name, value) in &data.attrs {
                if name.as_str() != "__init__"
                    && let Some(id) = value.as_obj()
                    && let Data::Function(function) = self.heap.get(id)
                    && let Some(code) = self.code.get(function.code.0 as usize)
                    && let Body::Function(def) = code.body
                {
                    stored_attributes(&def.body, &mut names);
                }
            }
        }
        let names: Rc<[Sym]> = Rc::from(names);
        self.stored.insert(class, names.clone());
        names
    }
}

fn stored_by_methods(class_body: &[Stmt], names: &mut Vec<Sym>) {
    for stmt in class_body {
        match stmt {
            Stmt::FunctionDef(def) if def.name.as_str() != "__init__" => stored_attributes(&def.body, names),
            stmt => blocks(stmt).into_iter().for_each(|inner| stored_by_methods(inner, names)),
        }
    }
}

pub(super) fn stored_attributes(body: &[Stmt], names: &mut Vec<Sym>) {
    let mut set_by_name = Vec::new();
    let mut inner: Vec<&[Stmt]> = Vec::new();
    let mut target = |expr: &Expr| collect_target(expr, names);
    for stmt in body {
        match stmt {
            Stmt::Assign(s) => s.targets.iter().for_each(&mut target),
            Stmt::AugAssign(s) => target(&s.target),
            Stmt::AnnAssign(s) => target(&s.target),
            // `self.buffer.append(x)`
            Stmt::Expr(s) => {
                if let Expr::Call(call) = &*s.value
                    && let Expr::Attribute(method) = &*call.func
                {
                    target(&method.value);
                    // `self.register("name", x)`: it may set the attribute of that name.
                    if let (Expr::Name(object), Some(Expr::StringLiteral(name))) =
                        (&*method.value, call.arguments.args.first())
                        && object.id.as_str() == "self"
                    {
                        set_by_name.push(sym(name.value.to_str()));
                    }
                }
            }
            // A function inside a method may be called later, such as a hook.
            Stmt::FunctionDef(def) => inner.push(&def.body),
            _ => {}
        }
    }
    names.extend(set_by_name);
    for body in inner {
        stored_attributes(body, names);
    }
    for inner in body.iter().flat_map(blocks) {
        stored_attributes(inner, names);
    }
}

fn collect_target(expr: &Expr, names: &mut Vec<Sym>) {
    match expr {
        Expr::Attribute(a) if matches!(&*a.value, Expr::Name(n) if matches!(n.id.as_str(), "self" | "cls")) => {
            names.push(sym(a.attr.as_str()));
        }
        // `self.cache[key] = x`
        Expr::Subscript(s) => collect_target(&s.value, names),
        Expr::Tuple(t) => t.elts.iter().for_each(|e| collect_target(e, names)),
        _ => {}
    }
}

/// The blocks directly inside a statement, except those of functions and classes.
pub(super) fn blocks(stmt: &Stmt) -> Vec<&[Stmt]> {
    match stmt {
        Stmt::If(s) => {
            let mut all: Vec<&[Stmt]> = vec![&s.body];
            all.extend(s.elif_else_clauses.iter().map(|c| &c.body[..]));
            all
        }
        Stmt::For(s) => vec![&s.body, &s.orelse],
        Stmt::While(s) => vec![&s.body, &s.orelse],
        Stmt::With(s) => vec![&s.body],
        Stmt::Try(s) => {
            let mut all: Vec<&[Stmt]> = vec![&s.body, &s.orelse, &s.finalbody];
            for handler in &s.handlers {
                let crate::syntax::ast::ExceptHandler::ExceptHandler(handler) = handler;
                all.push(&handler.body);
            }
            all
        }
        Stmt::Match(s) => s.cases.iter().map(|c| &c.body[..]).collect(),
        _ => Vec::new(),
    }
}

/// Whether a function with this body is a generator.
pub(super) fn has_yield(body: &[Stmt]) -> bool {
    fn in_expr(expr: &Expr) -> bool {
        match expr {
            Expr::Yield(_) | Expr::YieldFrom(_) => true,
            Expr::Await(e) => in_expr(&e.value),
            Expr::Named(e) => in_expr(&e.value),
            Expr::Tuple(t) => t.elts.iter().any(in_expr),
            Expr::Call(c) => c.arguments.args.iter().any(in_expr),
            _ => false,
        }
    }
    body.iter().any(|stmt| {
        let own = match stmt {
            Stmt::Expr(s) => in_expr(&s.value),
            Stmt::Assign(s) => in_expr(&s.value),
            Stmt::AugAssign(s) => in_expr(&s.value),
            Stmt::AnnAssign(s) => s.value.as_deref().is_some_and(in_expr),
            Stmt::Return(s) => s.value.as_deref().is_some_and(in_expr),
            _ => false,
        };
        own || blocks(stmt).into_iter().any(has_yield)
    })
}

/// Whether the first parameter of a method is named like a receiver. True if there is no parameter.
fn takes_receiver(def: &StmtFunctionDef) -> bool {
    let first = def.parameters.iter_non_variadic_params().next();
    first.is_none_or(|first| {
        let name = first.parameter.name.as_str().trim_matches('_');
        name.is_empty() || name.starts_with("self") || matches!(name, "cls" | "mcs" | "this" | "klass" | "s")
    })
}
