//! Decorators.

use super::Args;
use super::attribute::SETTER;
use super::interp::Interp;
use crate::syntax::{Expr, Span, Stmt, statements};
use crate::value::{Data, Function, Items, Type, Value, sym};

/// Marks an abstract method, which subclasses must define.
pub(super) const ABSTRACT: &str = "__abstract__";
/// Marks a function whose calls may have another result than its body gives.
pub(super) const WRAPPED: &str = "__wrapped__";
/// Packages whose decorators return what the function returns, as far as the program sees.
const TRANSPARENT: &[&str] = &[
    "abc",
    "accelerate",
    "beartype",
    "builtins",
    "cachetools",
    "click",
    "contextlib",
    "deprecated",
    "einops",
    "functools",
    "hydra",
    "jaxtyping",
    "lightning",
    "line_profiler",
    "memory_profiler",
    "numpy",
    "overrides",
    "pytest",
    "pytorch_lightning",
    "timm",
    "torch",
    "torchtyping",
    "torchvision",
    "tqdm",
    "transformers",
    "typeguard",
    "typing",
    "typing_extensions",
    "warnings",
];
/// Libraries whose decorators compile functions.
const COMPILERS: &[&str] = &["triton", "numba", "taichi", "cutlass", "tilelang", "warp"];

/// Whether a decorator compiles the function.
fn is_compiler(decorator: &Value) -> bool {
    decorator.as_path().and_then(|path| path.split('.').next()).is_some_and(|library| COMPILERS.contains(&library))
}

impl<'p> Interp<'p> {
    /// The value of a decorated function or class. An unknown decorator is assumed to return a function that
    /// calls it with the same arguments, but may have another result. A decorator of the program is assumed to
    /// return it unchanged, unless it defines a function: its result may call the decorated one with other
    /// arguments.
    pub(super) fn decorate(&mut self, decorator: &'p Expr, value: Value) -> Value {
        let span = self.span(decorator);
        // `@x.setter`, `@x.deleter` and `@x.getter` of a property: the result is a property, too.
        if let Expr::Attribute(a) = decorator
            && matches!(a.attr.as_str(), "setter" | "deleter" | "getter")
        {
            let property = self.eval(&a.value);
            if let Some(Data::Function(function)) = property.as_obj().map(|id| self.heap.get(id)) {
                // The property may belong to a base class, so a copy is changed.
                let copy = Value::Obj(self.heap.alloc(Data::Function(function.clone())));
                if a.attr.as_str() == "setter" {
                    self.mark(&copy, SETTER, value);
                }
                return copy;
            }
            return if property.is_unknown() { value } else { property };
        }
        // `@dataclass(frozen=True)`
        if let Expr::Call(call) = decorator
            && matches!(&*call.func, Expr::Name(_) | Expr::Attribute(_))
        {
            let called = self.eval(&call.func);
            if called.as_path() == Some("dataclasses.dataclass") {
                self.mark_dataclass(&value);
                return value;
            }
            if is_compiler(&called) {
                return self.compiled(&value);
            }
        }
        let decorator = self.eval(decorator);
        if is_compiler(&decorator) {
            return self.compiled(&value);
        }
        match &decorator {
            Value::Path(path) => match path.as_str() {
                "builtins.staticmethod" => self.mark_kind(&value, "static"),
                "builtins.classmethod" => self.mark_kind(&value, "class"),
                "builtins.property" | "abc.abstractproperty" => self.mark_kind(&value, "property"),
                "functools.cached_property" => self.mark_kind(&value, "cached"),
                // The function that is called depends on the type of an argument, so the result is unknown.
                "functools.singledispatch" | "functools.singledispatchmethod" => return Value::Unknown,
                "abc.abstractmethod" => self.mark(&value, ABSTRACT, Value::Bool(true)),
                "dataclasses.dataclass" => self.mark_dataclass(&value),
                // A context manager of a library as a decorator: `@torch.no_grad`.
                _ if self.library.bases(*path).is_some() => {
                    let manager = self.call(&decorator, Args::default(), span);
                    self.add_manager(&value, manager);
                }
                _ => {
                    let result = self.call(&decorator, Args::positional([value.clone()], span), span);
                    if self.is_callable(&result) {
                        return result;
                    }
                    let package = path.as_str().split('.').next().unwrap_or_default();
                    if !TRANSPARENT.contains(&package) {
                        self.mark(&value, WRAPPED, Value::Bool(true));
                    }
                }
            },
            Value::Obj(id) => match self.heap.get(*id) {
                Data::Function(_) | Data::Class(_) => return self.decorated(&decorator, &decorator, value, span),
                Data::Instance(instance)
                    if matches!(instance.class, Value::Path(_))
                        || self.is_instance(&decorator, "contextlib.ContextDecorator") =>
                {
                    self.add_manager(&value, decorator.clone());
                }
                Data::Instance(_) if let Some(method) = self.user_method(&decorator, "__call__") => {
                    return self.decorated(&decorator, &method, value, span);
                }
                _ => self.hook_args(&Args::positional([value.clone()], span)),
            },
            Value::Partial(partial) => return self.decorated(&decorator, &partial.func, value, span),
            Value::Bound(pair) => return self.decorated(&decorator, &pair.1, value, span),
            // The decorator may store the function, and unseen code may call it later.
            _ => {
                self.hook_args(&Args::positional([value.clone()], span));
                self.mark(&value, WRAPPED, Value::Bool(true));
            }
        }
        value
    }

    /// The result of a decorator that calls this function of the program. If it is not known, the decorator is assumed
    /// to return what it gets, unless it defines another function.
    fn decorated(&mut self, decorator: &Value, function: &Value, value: Value, span: Span) -> Value {
        let result = self.call(decorator, Args::positional([value.clone()], span), span);
        let is_kept = (result.is_unknown() || result.is_none()) && !self.defines_function(function);
        if is_kept { value } else { result }
    }

    /// Whether the body of a function of the program defines another function.
    fn defines_function(&self, function: &Value) -> bool {
        self.def_of(function)
            .is_some_and(|def| statements(&def.body, false).into_iter().any(Stmt::is_function_def_stmt))
    }

    /// A function that a library compiles. Python never runs its body, in which names may have
    /// other meanings. For example, `range` in a Triton kernel yields tensors.
    fn compiled(&mut self, function: &Value) -> Value {
        if let Some(Data::Function(function)) = function.as_obj().map(|id| self.heap.get(id)) {
            self.executed.insert(function.code);
        }
        Value::Unknown
    }

    pub(crate) fn is_callable(&self, value: &Value) -> bool {
        match value {
            Value::Obj(id) => matches!(self.heap.get(*id), Data::Function(_) | Data::Class(_)),
            Value::Partial(_) | Value::Bound(_) => true,
            _ => false,
        }
    }

    /// `callable(value)`.
    pub(super) fn callable(&self, value: &Value) -> Value {
        let is_callable = match value {
            _ if self.is_callable(value) => Some(true),
            Value::None | Value::Tuple(_) | Value::Str(_) | Value::Int(_) | Value::Float(_) | Value::Bool(_) => {
                Some(false)
            }
            Value::Obj(id) => match self.heap.get(*id) {
                Data::List(_) | Data::Dict(_) | Data::Set(_) | Data::Tensor(_) => Some(false),
                _ => None,
            },
            _ => None,
        };
        is_callable.map_or(Value::Any(Type::Bool), Value::Bool)
    }

    fn mark_kind(&mut self, value: &Value, kind: &str) {
        self.mark(value, "__kind__", Value::str(kind));
    }

    /// `property(getter, setter)`, called as a function.
    pub(super) fn as_property(&mut self, getter: &Value, setter: Option<&Value>) -> Value {
        let property = self.as_method(getter, "property");
        if let Some(setter) = setter.filter(|_| !property.is_unknown()) {
            self.mark(&property, SETTER, setter.clone());
        }
        property
    }

    /// `staticmethod(function)` and `classmethod(function)`, called as functions. The function itself stays as it is.
    pub(super) fn as_method(&mut self, function: &Value, kind: &str) -> Value {
        let Some(Data::Function(data)) = function.as_obj().map(|id| self.heap.get(id)) else { return Value::Unknown };
        let method = Value::Obj(self.heap.alloc(Data::Function(data.clone())));
        self.mark_kind(&method, kind.trim_end_matches("method"));
        method
    }

    /// Sets an attribute of a function.
    fn mark(&mut self, function: &Value, name: &str, value: Value) {
        if let Some(id) = function.as_obj()
            && matches!(self.heap.get(id), Data::Function(_))
            && let Data::Function(function) = self.heap.get_mut(id)
        {
            function.attrs.insert(sym(name), value);
        }
    }

    fn mark_dataclass(&mut self, value: &Value) {
        if let Value::Obj(id) = value
            && matches!(self.heap.get(*id), Data::Class(_))
            && let Data::Class(class) = self.heap.get_mut(*id)
        {
            class.attrs.insert(sym("__dataclass__"), Value::Bool(true));
        }
    }

    /// Makes every call of the function run inside a context manager.
    fn add_manager(&mut self, value: &Value, manager: Value) {
        let Value::Obj(id) = value else { return };
        let Data::Function(function) = self.heap.get(*id) else { return };
        let mut managers = self.decorating_managers(&function.clone());
        managers.push(manager);
        let list = self.heap.list(managers);
        if let Data::Function(function) = self.heap.get_mut(*id) {
            function.attrs.insert(sym("__managers__"), list);
        }
    }

    pub(super) fn decorating_managers(&self, function: &Function) -> Vec<Value> {
        match function.attrs.get(&sym("__managers__")).and_then(Value::as_obj).map(|id| self.heap.get(id)) {
            Some(Data::List(Items::Exact(managers))) => managers.clone(),
            _ => Vec::new(),
        }
    }
}
