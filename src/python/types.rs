//! Which operations Python's own types support.

use super::interp::{Body, Interp};
use super::library::{BinOp, RejectKind, Rejection};
use super::operator::is_plain;
use crate::syntax::Span;
use crate::value::{Data, Function, Items, Key, Source, Sym, Type, Value, kind_text, sym};

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

    /// The types, besides numbers and `None`, that do not support the operation.
    fn unsupported(self) -> &'static [&'static str] {
        match self {
            Operation::Call => &[
                "dict",
                "dict_items",
                "dict_keys",
                "dict_values",
                "enumerate",
                "filter",
                "generator",
                "list",
                "map",
                "range",
                "set",
                "tensor",
                "zip",
            ],
            Operation::Index => &[
                "builtin",
                "dict_items",
                "dict_keys",
                "dict_values",
                "enumerate",
                "filter",
                "function",
                "generator",
                "iterator",
                "loader_iterator",
                "map",
                "set",
                "zip",
            ],
            // The iterators of loaders have a length.
            Operation::Length => &["builtin", "enumerate", "filter", "function", "generator", "map", "zip"],
            Operation::Iterate | Operation::Contain => &["builtin", "function"],
        }
    }
}

/// Python's builtin functions that programs use by mistake in place of a variable that has another name. None of
/// them is a class.
#[rustfmt::skip]
const FUNCTIONS: &[&str] = &[
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

impl Interp<'_> {
    /// The name of the type of a value that is certainly one of Python's own iterators, views, collections or
    /// functions; `tensor` for an array or tensor.
    pub(crate) fn own_type(&self, value: &Value) -> Option<&'static str> {
        if let Value::Path(path) = value {
            let name = path.as_str().strip_prefix("builtins.")?;
            // An `import *` may bind the name of the builtin.
            let bindings = self.sources.bindings(self.file());
            let is_sure = bindings.stars.is_empty() && !bindings.has_inner_star;
            return (is_sure && FUNCTIONS.contains(&name)).then_some("builtin");
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
    pub(super) fn standard_class(&self, value: &Value) -> Option<&'static str> {
        match value {
            Value::Str(_) | Value::Among(_) | Value::Any(Type::Str) => Some("builtins.str"),
            Value::Any(Type::Bytes) => Some("builtins.bytes"),
            Value::Obj(id) => match self.heap.get(*id) {
                Data::List(_) | Data::Dict(_) | Data::Set(_) => match self.heap.type_of(*id)? {
                    "list" => Some("builtins.list"),
                    // An `OrderedDict` has the same model, and its methods take more arguments.
                    "dict" => Some("collections.OrderedDict"),
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

    /// How messages name a value.
    pub(super) fn named(&self, value: &Value) -> String {
        match (self.own_type(value), value) {
            (Some("builtin"), Value::Path(path)) => {
                let name = path.as_str().trim_start_matches("builtins.");
                format!("Python's builtin function `{name}`")
            }
            (Some("function"), Value::Obj(_)) => "a function".to_owned(),
            (Some("iterator" | "loader_iterator"), _) => "an iterator".to_owned(),
            (Some("list" | "set" | "dict" | "tensor" | "function") | None, _) => {
                kind_text(&self.heap, value).to_owned()
            }
            (Some(class), _) => format!("a `{class}` object"),
        }
    }

    /// Rejects an operation that the type of a value does not support.
    pub(super) fn refuse_unsupported(&mut self, operation: Operation, value: &Value, span: Span) -> Option<Value> {
        let is_number = value.number_type().is_some();
        let own = self.own_type(value);
        let unsupported = match operation {
            Operation::Call => own.is_some_and(|own| operation.unsupported().contains(&own)) || value.is_none(),
            // Another rule finds the most frequent cause, a function without a result.
            Operation::Iterate if value.is_none() => false,
            _ => value.is_none() || is_number || own.is_some_and(|own| operation.unsupported().contains(&own)),
        };
        if !unsupported {
            return None;
        }
        let hint =
            match own {
                Some("builtin") => ": no variable of this name is set",
                Some(
                    "dict_keys" | "dict_values" | "dict_items" | "zip" | "map" | "filter" | "enumerate" | "generator",
                ) if matches!(operation, Operation::Index | Operation::Length) => ": use `list(…)`",
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
        let is_view = |class| matches!(class, "dict_keys" | "dict_items");
        let is_set = |class| class == "set";
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
                BinOp::Sub | BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => !(is_set(a) && is_set(b)),
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
            || self.own_type(value).is_some_and(|own| {
                matches!(own, "dict" | "dict_items" | "dict_keys" | "dict_values" | "list" | "range" | "set")
            });
        let loader = self.library.words().loader;
        let is_loader = self.heap.instance_of(value).is_some_and(|it| it.class.as_path() == Some(loader));
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

    /// Rejects the use of a builtin function as an operand: the name was meant for a variable.
    pub(super) fn refuse_builtin_operand(&mut self, sign: &str, value: &Value, span: Span) -> Option<Value> {
        if self.own_type(value) != Some("builtin") {
            return None;
        }
        let message = format!("`{sign}` does not accept {}: no variable of this name is set", self.named(value));
        Some(self.refuse_operation(&[value], message, span))
    }

    /// The message for an attribute that a plain dictionary, set or function does not have.
    pub(super) fn attribute_of_own_type(&self, value: &Value, name: Sym) -> Option<String> {
        let text = name.as_str();
        if text.starts_with('_') {
            return None;
        }
        let class = self.own_type(value)?;
        let library = self.library;
        match class {
            "dict" if KEYS_AS_ATTRIBUTES.iter().any(|text| self.mentions(text)) => None,
            "dict" => {
                // A key read as an attribute.
                let is_key =
                    self.heap.dict_of(value).is_some_and(|dict| dict.entries.contains_key(&Key::Str(text.into())));
                let hint = if is_key { format!(": use `[\"{text}\"]`") } else { String::new() };
                library
                    .missing_name(sym("builtins.dict"), name)
                    .is_some()
                    .then(|| format!("a dictionary has no attribute `{text}`{hint}"))
            }
            "set" => library
                .missing_name(sym("builtins.set"), name)
                .is_some()
                .then(|| format!("a set has no attribute `{text}`")),
            "function" if matches!(value, Value::Obj(_)) && !self.sources.assigns(self.root, text) => {
                Some(format!("a function has no attribute `{text}`: is it called somewhere?"))
            }
            "list" if library.missing_name(sym("builtins.list"), name).is_some() => {
                let typed = value.as_obj().is_some_and(|id| self.heap.type_of(id) == Some("list"));
                let near = library.missing_attribute(&self.heap, value, name, false);
                typed.then(|| near.unwrap_or_else(|| format!("a list has no attribute `{text}`")))
            }
            "range" | "zip" | "map" | "filter" | "enumerate" | "generator" | "dict_keys" | "dict_values"
            | "dict_items" => {
                let path = sym(&format!("builtins.{class}"));
                library
                    .missing_name(path, name)
                    .is_some()
                    .then(|| format!("a `{class}` object has no attribute `{text}`"))
            }
            _ => None,
        }
    }

    /// The type of `iter(over)`, if it is an iterator of Python or of a loader.
    pub(super) fn iterator_type(&self, over: &Value) -> Option<&'static str> {
        let is_loader = |value: &Value| {
            self.heap.instance_of(value).is_some_and(|it| it.class.as_path() == Some(self.library.words().loader))
        };
        match over {
            over if is_loader(over) => Some("loader_iterator"),
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
            self.suspect(Rejection { kind: RejectKind::Name, message, reads: Vec::new(), span, assumed });
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

    /// A new set of these elements.
    pub(super) fn new_set(&mut self, items: Items, span: Span) -> Value {
        let element = match &items {
            Items::Exact(items) => items.iter().find(|item| self.is_unhashable(item)).cloned(),
            Items::Many(element) => Some(element.clone()),
        };
        if let Some(element) = element {
            self.refuse_unhashable(&element, span);
        }
        let items = self.distinct(items);
        let set = Value::Obj(self.heap.alloc(Data::Set(items)));
        self.of_type(set, "set")
    }
}
