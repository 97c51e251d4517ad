//! Which operations Python's own types support.

use super::Args;
use super::interp::{Body, Interp};
use super::library::{BinOp, RejectKind, Rejection};
use super::operator::{is_plain, sign};
use crate::syntax::Span;
use crate::value::{Data, Dict, Function, Items, Key, Source, Sym, Type, Value, kind_text, sym};

/// An operation that some of Python's own types do not support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Call,
    Index,
    Length,
    Iterate,
    Contain,
}

impl Operation {
    /// What a value cannot do.
    fn text(self) -> &'static str {
        match self {
            Operation::Call => "cannot be called",
            Operation::Index => "cannot be indexed",
            Operation::Length => "has no length",
            Operation::Iterate => "cannot be iterated over",
            Operation::Contain => "has no elements: `in` does not accept it",
        }
    }

    /// Whether a type other than `None` and numbers does not support the operation. Calls of lists, dictionaries and
    /// sets are rejected elsewhere.
    fn lacks(self, class: &str) -> bool {
        let is_function = matches!(class, "builtin" | "function");
        match self {
            Operation::Call => is_one_pass(class) || is_view(class) || matches!(class, "range" | "tensor"),
            Operation::Index => {
                is_function
                    || lacks_positions(class) && class != "dict"
                    || matches!(class, "iterator" | "loader_iterator")
            }
            // The iterators of loaders have a length.
            Operation::Length => is_function || is_one_pass(class),
            Operation::Iterate | Operation::Contain => is_function,
        }
    }
}

/// Whether objects of this type of Python yield each element once.
fn is_one_pass(class: &str) -> bool {
    matches!(class, "enumerate" | "filter" | "generator" | "map" | "zip")
}

/// Whether a type is that of a view of a dictionary.
fn is_view(class: &str) -> bool {
    matches!(class, "dict_items" | "dict_keys" | "dict_values")
}

/// Whether the elements of a collection of this type of Python have no positions.
pub(crate) fn lacks_positions(class: &str) -> bool {
    is_one_pass(class) || is_view(class) || matches!(class, "dict" | "set")
}

/// Python's builtin functions that programs use by mistake in place of a variable that has another name. None of
/// them is a class.
#[rustfmt::skip]
pub(crate) const FUNCTIONS: &[&str] = &[
    "abs", "all", "any", "callable", "dir", "divmod", "eval", "format", "getattr", "hash", "id", "input",
    "isinstance", "iter", "len", "max", "min", "next", "open", "ord", "pow", "print", "repr", "round", "sorted",
    "sum", "vars",
];

/// Texts of programs that read the keys of dictionaries as attributes. The dictionaries that such a program gives to a
/// class with this ability are modelled as the result.
#[rustfmt::skip]
const KEYS_AS_ATTRIBUTES: &[&str] = &[
    "__getattr__", "__dict__", "edict", "easydict", "EasyDict", "AttrDict", "attrdict", "Attrdict", "addict", "munch",
    "Munch", "Box", "Bunch", "omegaconf", "hydra", "yacs", "ml_collections", "ConfigDict", "mmcv", "mmengine", "DotDict",
    "dotdict", "Dotdict", "dot_dict", "DotMap", "dotmap", "Namespace", "RecursiveNamespace", "sacred",
];

/// The class whose methods those of a dictionary are checked against. An `OrderedDict` has the same model as a plain
/// dictionary, and its methods take more arguments.
const DICT: &str = "collections.OrderedDict";

impl Interp<'_> {
    /// The name of the type of a value that is certainly one of Python's own iterators, views, collections or
    /// functions; `tensor` for an array or tensor.
    pub(crate) fn own_type(&self, value: &Value) -> Option<&'static str> {
        if let Value::Path(path) = value {
            let name = path.as_str().strip_prefix("builtins.")?;
            return (FUNCTIONS.contains(&name) && !self.may_bind_builtin(name)).then_some("builtin");
        }
        if self.is_sure_function(value) {
            return Some("function");
        }
        let id = value.as_obj()?;
        match self.heap.get(id) {
            Data::Tensor(tensor) => {
                let is_sure = tensor.wrapper.is_none() && (tensor.shape.is_some() || tensor.dtype.is_some());
                is_sure.then_some("tensor")
            }
            Data::Iter(iter) => match iter.suspended.as_ref().map(|suspended| &*suspended.source) {
                None => self.heap.type_of(id),
                Some(Source::Expression { .. }) => Some("generator"),
                Some(Source::Map { .. }) => Some("map"),
                Some(Source::Filter { .. }) => Some("filter"),
                Some(Source::Enumerate { .. }) => Some("enumerate"),
                Some(Source::Zip { .. }) => Some("zip"),
                Some(Source::Call { function, .. }) => match self.heap.get(*function) {
                    Data::Function(function) => self.is_generator(function).then_some("generator"),
                    _ => None,
                },
            },
            _ => self.heap.type_of(id),
        }
    }

    /// Whether a function without decorators is a generator function, not a coroutine function.
    fn is_generator(&self, function: &Function) -> bool {
        let body = self.code.get(function.code.0 as usize).map(|code| code.body);
        matches!(body, Some(Body::Function(def)) if def.decorator_list.is_empty() && !def.is_async)
    }

    /// The path of the class of a value that is certainly an instance of a class of the standard library.
    fn standard_class(&self, value: &Value) -> Option<&'static str> {
        match value {
            Value::Str(_) | Value::Among(_) | Value::Any(Type::Str) => Some("builtins.str"),
            Value::Any(Type::Bytes) => Some("builtins.bytes"),
            Value::Obj(id) => match self.heap.get(*id) {
                Data::List(_) | Data::Dict(_) | Data::Set(_) => match self.heap.type_of(*id)? {
                    "list" => Some("builtins.list"),
                    "dict" => Some(DICT),
                    "set" => Some("builtins.set"),
                    _ => None,
                },
                // A file that is open for bytes has the same model.
                Data::Instance(_) if self.heap.attr(*id, "binary").is_some_and(|it| it.as_bool() != Some(false)) => {
                    None
                }
                Data::Instance(instance) => instance.class.as_path().filter(|path| !path.starts_with("torch")),
                _ => None,
            },
            _ => None,
        }
    }

    /// Rejects a call of a method of Python's own types or of the standard library that never accepts these
    /// arguments; returns whether it did.
    pub(super) fn refuse_method_call(&mut self, receiver: &Value, name: Sym, args: &Args, span: Span) -> bool {
        let Some(class) = self.standard_class(receiver) else { return false };
        let library = self.library;
        if library.refuse_standard(self, &format!("{class}.{name}"), args, span) {
            return true;
        }
        let first = args.pos.first();
        match (class, name.as_str()) {
            ("builtins.set", "add" | "discard" | "remove") | (DICT, "get" | "setdefault" | "pop") => {
                first.is_some_and(|key| self.refuse_unhashable(&key.value, span))
            }
            ("builtins.str", "format") => {
                if let Value::Str(text) = receiver {
                    self.refuse_format_call(text, args, span);
                }
                false
            }
            ("builtins.str", "join") => {
                if let Some(parts) = first {
                    self.refuse_joined(&parts.value, parts.span);
                }
                false
            }
            _ => false,
        }
    }

    /// How messages name a value.
    pub(crate) fn named(&self, value: &Value) -> String {
        match (self.own_type(value), value) {
            (Some("builtin"), Value::Path(path)) => {
                let name = path.as_str().trim_start_matches("builtins.");
                format!("Python's builtin function `{name}`")
            }
            (Some("iterator" | "loader_iterator"), _) => "an iterator".to_owned(),
            (Some("list" | "set" | "dict" | "tensor" | "function") | None, _) => {
                kind_text(&self.heap, value).to_owned()
            }
            (Some(class), _) => format!("a `{class}` object"),
        }
    }

    /// Rejects an operation that the type of a value does not support.
    pub(super) fn refuse_unsupported(&mut self, operation: Operation, value: &Value, span: Span) -> Option<Value> {
        let own = self.own_type(value);
        let lacks = own.is_some_and(|own| operation.lacks(own));
        let unsupported = match operation {
            Operation::Call => lacks || value.is_none(),
            // Another rule finds the most frequent cause, a function without a result.
            Operation::Iterate if value.is_none() => false,
            _ => lacks || value.is_none() || value.number_type().is_some(),
        };
        // A class with `__torch_function__` decides what functions of PyTorch return for its objects.
        if !unsupported || own == Some("tensor") && self.mentions("__torch_function__") {
            return None;
        }
        let has_elements = own.is_some_and(|own| is_one_pass(own) || is_view(own));
        let hint = match own {
            Some("builtin") => ": no variable of this name is set",
            _ if has_elements && matches!(operation, Operation::Index | Operation::Length) => ": use `list(…)`",
            _ => "",
        };
        let message = format!("{} {}{hint}", self.named(value), operation.text());
        Some(self.refuse_operation(&[value], message, span))
    }

    /// Whether Python certainly does not support an operator for two values of which one is a collection of its own.
    pub(super) fn lacks_operator_of_types(&self, op: BinOp, left: &Value, right: &Value) -> bool {
        let class = |value: &Value| match value {
            Value::Tuple(_) => Some("tuple"),
            value if is_plain(value) => Some("plain"),
            value => value
                .as_obj()
                .and_then(|_| self.own_type(value))
                .filter(|class| !matches!(*class, "tensor" | "function")),
        };
        // The view of the values has no operators.
        let is_view = |class| is_view(class) && class != "dict_values";
        match (class(left), class(right)) {
            (Some("plain"), Some("plain")) | (None, _) | (_, None) => false,
            // Sequences with a number or a text are judged elsewhere: the number may be a NumPy scalar.
            (Some("plain"), Some("list" | "tuple" | "set" | "dict"))
            | (Some("list" | "tuple" | "set" | "dict"), Some("plain")) => false,
            (Some("plain"), _) if left.is_text() && op == BinOp::Mod => false,
            (Some(a), Some(b)) => match op {
                BinOp::Add => !(a == b && matches!(a, "list" | "tuple")),
                BinOp::BitOr if a == "dict" && b == "dict" => false,
                // Views accept any collection.
                BinOp::Sub | BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor if is_view(a) || is_view(b) => false,
                BinOp::Sub | BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => !(a == "set" && b == "set"),
                BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => false,
                _ => true,
            },
        }
    }

    /// Rejects the conversion of a value to a number by `int`, `float`, `abs` or `round`.
    pub(super) fn refuse_conversion(&mut self, function: &str, value: &Value, span: Span) -> bool {
        let is_converter = matches!(function, "int" | "float");
        let own = self.own_type(value);
        let is_collection = own.is_some_and(|own| own != "tensor") || matches!(value, Value::Tuple(_));
        if value.is_none() || is_collection || !is_converter && value.is_text() {
            let message = format!("`{function}` does not accept {}", self.named(value));
            self.refuse_operation(&[value], message, span);
            return true;
        }
        false
    }

    /// Rejects `next(x)` for a collection, which is not an iterator.
    pub(super) fn refuse_next(&mut self, value: &Value, span: Span) -> bool {
        let is_collection = matches!(value, Value::Tuple(_))
            || value.is_text()
            || value.is_none()
            || value.number_type().is_some()
            || self.own_type(value).is_some_and(|own| is_view(own) || matches!(own, "dict" | "list" | "range" | "set"));
        let is_loader = self.is_loader(value);
        if is_collection || is_loader {
            let what = if is_loader { "a loader".to_owned() } else { self.named(value) };
            let message = format!("{what} is not an iterator: use `next(iter(…))`");
            self.refuse_operation(&[value], message, span);
        }
        is_collection || is_loader
    }

    /// Rejects a key of a dictionary or an element of a set that has no hash.
    pub(super) fn refuse_unhashable(&mut self, key: &Value, span: Span) -> bool {
        let unhashable = match key {
            Value::Tuple(parts) => parts.iter().find(|part| self.is_unhashable(part)),
            key => Some(key).filter(|key| self.is_unhashable(key)),
        };
        let Some(part) = unhashable.cloned() else { return false };
        let message = format!("{} has no hash: it cannot be a key or an element of a set", self.named(&part));
        self.refuse_operation(&[&part], message, span);
        true
    }

    /// Whether a value is certainly a plain list, dictionary or set.
    fn is_unhashable(&self, value: &Value) -> bool {
        matches!(value.as_obj().and_then(|id| self.heap.type_of(id)), Some("list" | "dict" | "set"))
    }

    /// Rejects an operator with a builtin function as an operand: the name was meant for a variable.
    pub(super) fn refuse_builtin_operand(&mut self, op: BinOp, operands: [&Value; 2], span: Span) -> Option<Value> {
        let is_builtin =
            |it: &Self, value: &Value| matches!(value, Value::Path(_)) && it.own_type(value) == Some("builtin");
        let value = operands.into_iter().find(|value| is_builtin(self, value))?;
        // The other operand may be an object of the program that accepts functions.
        if operands.into_iter().any(|value| self.heap.instance_of(value).is_some()) {
            return None;
        }
        // A text may be formatted with a function, `int | None` is a type, and everything can be compared with `==`.
        let is_text = matches!(operands, [left, _] if left.is_text());
        if matches!(op, BinOp::Eq | BinOp::Ne | BinOp::BitOr) || op == BinOp::Mod && is_text {
            return None;
        }
        let message = format!("`{}` does not accept {}: no variable of this name is set", sign(op), self.named(value));
        Some(self.refuse_operation(&[value], message, span))
    }

    /// The message for an attribute that a plain dictionary, set or function does not have.
    pub(super) fn attribute_of_own_type(&self, value: &Value, name: Sym) -> Option<String> {
        let text = name.as_str();
        if text.starts_with('_') {
            return None;
        }
        let class = self.own_type(value)?;
        let lacks = |path: &str| self.library.missing_name(sym(path), name).is_some();
        match class {
            "dict" if KEYS_AS_ATTRIBUTES.iter().any(|text| self.mentions(text)) => None,
            "dict" => {
                // A key read as an attribute.
                let is_key =
                    self.heap.dict_of(value).is_some_and(|dict| dict.entries.contains_key(&Key::Str(text.into())));
                let hint = if is_key { format!(": use `[\"{text}\"]`") } else { String::new() };
                lacks("builtins.dict").then(|| format!("a dictionary has no attribute `{text}`{hint}"))
            }
            "set" => lacks("builtins.set").then(|| format!("a set has no attribute `{text}`")),
            "list" => lacks("builtins.list").then(|| {
                let near = self.library.missing_attribute(&self.heap, value, name, false);
                near.unwrap_or_else(|| format!("a list has no attribute `{text}`"))
            }),
            // `f = functools.cache(f)` is modelled as the function.
            "function" if matches!(text, "cache_clear" | "cache_info" | "cache_parameters") => None,
            "function" => {
                let has_own = |id| matches!(self.heap.get(id), Data::Function(own) if own.attrs.contains_key(&name));
                let is_lacking =
                    value.as_obj().is_some_and(|id| !has_own(id)) && !self.sources.assigns(self.root, text);
                is_lacking.then(|| format!("a function has no attribute `{text}`: is it called somewhere?"))
            }
            class if class == "range" || is_one_pass(class) || is_view(class) => {
                lacks(&format!("builtins.{class}")).then(|| format!("a `{class}` object has no attribute `{text}`"))
            }
            _ => None,
        }
    }

    /// Whether a value is a loader of the library itself, not of a subclass.
    fn is_loader(&self, value: &Value) -> bool {
        let loader = self.library.words().loader;
        self.heap.instance_of(value).is_some_and(|instance| instance.class.as_path() == Some(loader))
    }

    /// The type of `iter(over)`, if it is an iterator of Python or of a loader.
    pub(super) fn iterator_type(&self, over: &Value) -> Option<&'static str> {
        match over {
            over if self.is_loader(over) => Some("loader_iterator"),
            Value::Tuple(_) | Value::Str(_) => Some("iterator"),
            over => {
                self.own_type(over).filter(|own| !matches!(*own, "tensor" | "function" | "builtin")).map(|_| "iterator")
            }
        }
    }

    /// Reports `iterator.next()`, which Python 2 and the loaders of PyTorch before 1.13 had.
    pub(super) fn lacks_next(&mut self, value: &Value, name: Sym, span: Span) -> bool {
        let Some(Data::Iter(_)) = value.as_obj().map(|id| self.heap.get(id)).filter(|_| name.as_str() == "next") else {
            return false;
        };
        let Some(class) = self.own_type(value).filter(|_| !self.is_in_try()) else { return false };
        let message = "an iterator has no method `next`: use `next(iterator)`".to_owned();
        if class != "loader_iterator" {
            self.report_missing(RejectKind::Name, message, span);
        } else if !self.excludes("torch", "1.13") {
            let assumed = Some("with PyTorch 1.13 or newer");
            self.suspect(Rejection {
                kind: RejectKind::Name,
                message,
                reads: Vec::new(),
                span,
                assumed,
                of_python: true,
            });
        }
        true
    }

    /// Rejects a call of an instance whose class does not define `__call__`.
    pub(super) fn refuse_call_of_instance(&mut self, object: &Value, span: Span) -> Option<Value> {
        if !self.lacks_method(object, &["__call__", "forward"]) {
            return None;
        }
        Some(self.refuse_protocol(object, "cannot be called", "__call__", span))
    }

    /// Whether a value is a list or dictionary that is known to be empty.
    pub(super) fn is_empty_collection(&self, value: &Value) -> bool {
        match value.as_obj().map(|id| self.heap.get(id)) {
            Some(Data::List(Items::Exact(items))) => items.is_empty(),
            Some(Data::Dict(dict)) => dict.entries.is_empty() && dict.open.is_none(),
            _ => false,
        }
    }

    /// Records the type of a new value.
    pub(super) fn of_type(&mut self, value: Value, name: &'static str) -> Value {
        self.heap.note_type(&value, name);
        value
    }

    /// A new list of these elements.
    pub(super) fn new_list(&mut self, items: Items) -> Value {
        let list = Value::Obj(self.heap.alloc(Data::List(items)));
        self.of_type(list, "list")
    }

    /// A new dictionary.
    pub(super) fn new_dict(&mut self, dict: Dict) -> Value {
        let dict = self.heap.dict(dict);
        self.of_type(dict, "dict")
    }

    /// A new set of these elements.
    pub(super) fn new_set(&mut self, items: Items, span: Span) -> Value {
        // A collection of unknown length may be empty.
        if let Items::Exact(items) = &items
            && let Some(element) = items.iter().find(|item| self.is_unhashable(item)).cloned()
        {
            self.refuse_unhashable(&element, span);
        }
        let items = self.distinct(items);
        let set = Value::Obj(self.heap.alloc(Data::Set(items)));
        self.of_type(set, "set")
    }
}
