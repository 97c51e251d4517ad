//! Python's builtin functions.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::Args;
use super::interp::Interp;
use super::library::{Event, RejectKind};
use crate::syntax::Span;
use crate::value::{ArrayKind, Data, Dict, Items, Range, Size, Sym, Type, Value, sym};

const NAMES: &[&str] = &[
    "abs",
    "all",
    "any",
    "bin",
    "bool",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "classmethod",
    "complex",
    "delattr",
    "dict",
    "dir",
    "divmod",
    "enumerate",
    "eval",
    "exec",
    "filter",
    "float",
    "format",
    "frozenset",
    "getattr",
    "globals",
    "hasattr",
    "hash",
    "hex",
    "id",
    "input",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "locals",
    "map",
    "max",
    "memoryview",
    "min",
    "next",
    "object",
    "oct",
    "open",
    "ord",
    "pow",
    "print",
    "property",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "setattr",
    "slice",
    "sorted",
    "staticmethod",
    "str",
    "sum",
    "super",
    "tuple",
    "type",
    "vars",
    "zip",
    "Exception",
    "BaseException",
    "ValueError",
    "TypeError",
    "RuntimeError",
    "KeyError",
    "IndexError",
    "AttributeError",
    "NotImplementedError",
    "StopIteration",
    "ImportError",
    "ModuleNotFoundError",
    "FileNotFoundError",
    "OSError",
    "IOError",
    "AssertionError",
    "KeyboardInterrupt",
    "ZeroDivisionError",
    "OverflowError",
    "MemoryError",
    "NameError",
    "UnboundLocalError",
    "Warning",
    "UserWarning",
    "DeprecationWarning",
    "FutureWarning",
    "SystemExit",
    "GeneratorExit",
    "ArithmeticError",
    "LookupError",
    "UnicodeDecodeError",
    "NotImplemented",
    "exit",
    "quit",
];

/// The paths of the builtins, by name.
static PATHS: LazyLock<FxHashMap<Sym, Sym>> =
    LazyLock::new(|| NAMES.iter().map(|name| (sym(name), sym(&format!("builtins.{name}")))).collect());

pub(super) fn lookup(name: Sym) -> Value {
    PATHS.get(&name).map_or(Value::Unknown, |path| Value::Path(*path))
}

/// The classes of `typing` and `collections.abc` of which all collections are instances.
const OF_COLLECTIONS: &[&str] = &["Iterable", "Collection", "Sized", "Container"];

/// Other such classes, and the types of which they are.
const OF_TYPES: &[(&str, &[&str])] = &[
    ("list", &["Sequence", "MutableSequence", "Reversible", "List"]),
    ("tuple", &["Sequence", "Reversible", "Hashable", "Tuple"]),
    ("str", &["Sequence", "Reversible", "Hashable"]),
    ("dict", &["Mapping", "MutableMapping", "Reversible", "Dict"]),
    ("set", &["AbstractSet"]),
];

/// Whether the values of a builtin type of collections are instances of a class of `typing` or
/// `collections.abc`. `None` for other classes.
fn is_abstract(own: &str, class: &str) -> Option<bool> {
    let name = class.strip_prefix("typing.").or_else(|| class.strip_prefix("collections.abc."))?;
    if OF_COLLECTIONS.contains(&name) {
        return Some(true);
    }
    let mut of_types = OF_TYPES.iter().filter(|(_, classes)| classes.contains(&name)).peekable();
    of_types.peek()?;
    Some(of_types.any(|(of, _)| *of == own))
}

/// Abstract classes of collections, in `collections.abc` and `typing`.
const COLLECTIONS: &[&str] = &["Iterable", "Iterator", "Sequence", "Sized", "Container", "Collection", "Mapping"];

impl Interp<'_> {
    pub(super) fn call_builtin(&mut self, name: &str, args: Args, span: Span) -> Value {
        let values = Self::values(&args);
        let first = values.first().cloned().unwrap_or(Value::Unknown);
        if args.more_pos {
            return self.call_open_builtin(name, &args);
        }
        let library = self.library;
        // `str.join(separator, parts)` gets its object as the first argument. Exceptions are also placeholders of
        // classes that subclasses replace.
        let is_judged = !name.contains('.') && !name.starts_with(|c: char| c.is_ascii_uppercase());
        if is_judged && library.refuse_standard(self, &format!("builtins.{name}"), &args, span) {
            return Value::Unknown;
        }
        match name {
            "len" => self.length(&first, span),
            "open" => {
                let library = self.library;
                library.call(self, sym("io.open"), args, span)
            }
            "range" => {
                let numbers = self.range(&values);
                self.of_type(numbers, "range")
            }
            "print" => {
                for arg in &args.pos {
                    if !self.heap.is_tensor(&arg.value) {
                        continue;
                    }
                    self.event(Event::Read { value: &arg.value, how: "`print`", span });
                }
                Value::None
            }
            "delattr" => {
                match values.get(1).and_then(Value::as_str) {
                    Some(name) => self.delattr(&first, sym(name), span),
                    // Any attribute may be deleted, and then set again.
                    None => self.forget_all(&first),
                }
                Value::None
            }
            "int" | "float" if values.len() == 1 && self.refuse_conversion(name, &first, span) => {
                Value::Any(if name == "int" { Type::Int } else { Type::Float })
            }
            "int" | "float" | "bool" | "str" | "complex" => self.convert(name, &values, span),
            "isinstance" => self.isinstance(&first, values.get(1)).map_or(Value::Any(Type::Bool), Value::Bool),
            "issubclass" => Value::Any(Type::Bool),
            "callable" => self.callable(&first),
            "hasattr" => self.hasattr(&first, values.get(1), span),
            "getattr" => self.getattr_call(&first, values.get(1), values.get(2), span),
            "setattr" => {
                if let (Some(name), Some(value)) = (values.get(1).and_then(Value::as_str), values.get(2)) {
                    self.setattr(&first, sym(name), value.clone(), span);
                } else {
                    let (name, value) = (values.get(1).cloned(), values.get(2).cloned());
                    self.set_any(&first, &name.unwrap_or(Value::Unknown), &value.unwrap_or(Value::Unknown));
                }
                Value::None
            }
            "list" | "tuple" | "set" | "frozenset" | "sorted" | "reversed" | "iter" => {
                self.collect(name, &values, &args, span)
            }
            "dict" => {
                let dict = self.dict_call(&args, span);
                self.of_type(dict, "dict")
            }
            "zip" => {
                let rows = self.zip(&values, span);
                self.of_type(rows, "zip")
            }
            "enumerate" => {
                let pairs = self.enumerate(&first, args.get(1, "start"), span);
                self.of_type(pairs, "enumerate")
            }
            "map" => self.map(&values, span),
            "filter" => self.filter(&values, span),
            "next" if self.refuse_next(&first, span) => Value::Unknown,
            "next" => self.next(&first, values.get(1), span),
            "sum" | "min" | "max" => self.fold(name, &values, &args, span),
            "abs" | "round" if self.refuse_conversion(name, &first, span) => Value::Unknown,
            "abs" | "round" | "pow" | "divmod" => {
                // In another round, the value may be a tensor.
                if first.number_type().is_some() {
                    self.pass(span);
                }
                self.arithmetic(name, &values, span)
            }
            "all" | "any" => {
                let iterator = self.iterator_of(&first, span);
                self.any_given(&iterator, name == "any", span)
            }
            "type" => match first.as_obj().map(|id| self.heap.get(id)) {
                Some(Data::Instance(instance)) => instance.class.clone(),
                Some(Data::List(_)) => Value::path("builtins.list"),
                _ => match self.library.class_of(self, &first) {
                    Some(class) => Value::Path(class),
                    None => Value::Unknown,
                },
            },
            "globals" => match self.modules.get(&self.file()).copied() {
                Some(module) => self.getattr(&Value::Obj(module), sym("__dict__"), span),
                None => Value::Unknown,
            },
            "vars" if self.is_namespace(&first) => self.getattr(&first, sym("__dict__"), span),
            "vars" => {
                let attributes = self.attributes(&first);
                // Attributes that only some paths set may be missing.
                if let Some(Data::Dict(dict)) = attributes.as_obj().map(|id| self.heap.get_mut(id)) {
                    dict.open = Some(Value::Unknown);
                }
                attributes
            }
            "ord" if let Some(code) = first.as_str().and_then(|s| s.chars().next()) => {
                Value::Int(i64::from(u32::from(code)))
            }
            "chr" if let Some(c) = first.as_int().and_then(|n| char::from_u32(u32::try_from(n).ok()?)) => {
                Value::str(&c.to_string())
            }
            "ord" | "hash" | "id" => Value::Any(Type::Int),
            "repr" if let Some(text) = super::text::repr_of(&first) => Value::str(&text),
            "repr" | "chr" | "hex" | "bin" | "oct" | "format" | "input" => Value::Any(Type::Str),
            "bytes" => Value::Any(Type::Bytes),
            "slice" => {
                let parts = match values.as_slice() {
                    [stop] => [Value::None, stop.clone(), Value::None],
                    [start, stop] => [start.clone(), stop.clone(), Value::None],
                    [start, stop, step] => [start.clone(), stop.clone(), step.clone()],
                    _ => return Value::Unknown,
                };
                Value::Slice(std::rc::Rc::new(parts))
            }
            "exec" => {
                let has_namespace = values.get(1).and_then(Value::as_obj);
                if !has_namespace.is_some_and(|id| matches!(self.heap.get(id), Data::Dict(_))) {
                    self.havoc_scope();
                }
                self.havoc_args(&args);
                Value::None
            }
            "object" => Value::Obj(self.heap.instance(Value::path("builtins.object"))),
            "staticmethod" | "classmethod" => self.as_method(&first, name),
            "property" => self.as_property(&first, values.get(1)),
            "dict.fromkeys" => {
                let value = values.get(1).cloned().unwrap_or(Value::None);
                let mut dict = Dict::default();
                match self.iterate(&first, span) {
                    Items::Exact(keys) => {
                        for key in keys {
                            self.dict_insert(&mut dict, &key, value.clone());
                        }
                    }
                    Items::Many(_) => dict.open = Some(value),
                }
                self.heap.dict(dict)
            }
            _ => Value::Unknown,
        }
    }

    /// A builtin called with `*args` of unknown length.
    fn call_open_builtin(&mut self, name: &str, args: &Args) -> Value {
        match (name, &args.star) {
            // `zip(*batch)` turns a list of rows into its columns.
            ("zip", Some(Value::Tuple(row))) if args.pos.is_empty() => {
                let columns = row.iter().map(|v| self.heap.iter(Items::Many(v.clone()))).collect();
                self.heap.iter(Items::Exact(columns))
            }
            ("zip" | "map", _) => self.heap.iter(Items::Many(Value::Unknown)),
            ("print", _) => Value::None,
            _ => Value::Unknown,
        }
    }

    fn convert(&mut self, name: &str, values: &[Value], span: Span) -> Value {
        let Some(value) = values.first() else {
            return match name {
                "int" => Value::Int(0),
                "float" => Value::Float(0.0),
                "bool" => Value::Bool(false),
                "str" => Value::str(""),
                _ => Value::Any(Type::Complex),
            };
        };
        // The library models the conversion of a tensor or array with one element.
        if self.heap.is_tensor(value) && matches!(name, "int" | "float" | "bool") {
            let item = self.call_method(value, "item", Args::default(), span);
            if item.number_type().is_some() {
                return self.convert(name, &[item], span);
            }
        } else if value.number_type().is_some() {
            // In another round, the value may be a tensor that cannot be converted.
            self.pass(span);
        }
        // `int("0101", 2)`, `str(data, "utf-8")`
        if let Some(base) = values.get(1) {
            let number = match (name, value, base) {
                ("int", Value::Str(digits), Value::Int(base)) => u32::try_from(*base)
                    .ok()
                    .filter(|base| (2..=36).contains(base))
                    .and_then(|base| i64::from_str_radix(digits.trim(), base).ok()),
                _ => None,
            };
            return match name {
                "int" => number.map_or(Value::Any(Type::Int), Value::Int),
                "str" => Value::Any(Type::Str),
                _ => Value::Any(Type::Complex),
            };
        }
        match name {
            "int" => match value {
                Value::Int(_) | Value::Size(_) | Value::Ranged(_) => value.clone(),
                Value::Bool(b) => Value::Int(i64::from(*b)),
                #[expect(clippy::cast_possible_truncation, reason = "Python truncates too, and the bound is checked")]
                Value::Float(x) if x.abs() < 1e15 => Value::Int(x.trunc() as i64),
                Value::Str(_) | Value::Among(_) => self
                    .of_texts(value, |_, text| text.trim().parse().ok().map(Value::Int))
                    .unwrap_or(Value::Any(Type::Int)),
                Value::Any(Type::Bool) => Value::ranged(Range::bounds(0.0, 1.0), false, None),
                _ => Value::Any(Type::Int),
            },
            "float" => match value {
                Value::Str(s) => s.trim().parse().map_or(Value::Any(Type::Float), Value::Float),
                other => other.range().map_or(Value::Any(Type::Float), |(range, at)| Value::floats(range, at)),
            },
            "bool" => self.truth(value).map_or(Value::Any(Type::Bool), Value::Bool),
            "str" => {
                if self.heap.instance_of(value).is_some()
                    && let Some(method) = self.try_getattr(value, sym("__str__"), span)
                {
                    return self.call(&method, Args::default(), span);
                }
                // `str` of an exception with one argument is the `str` of this argument.
                if let Some(Value::Tuple(said)) = value.as_obj().and_then(|id| self.heap.attr(id, "args"))
                    && let [said] = &said[..]
                {
                    return self.convert(name, std::slice::from_ref(said), span);
                }
                super::text::str_of(value).map_or(Value::Any(Type::Str), |s| Value::str(&s))
            }
            _ => Value::Any(Type::Complex),
        }
    }

    /// `isinstance(value, classes)`, if it is known.
    pub(super) fn isinstance(&mut self, value: &Value, classes: Option<&Value>) -> Option<bool> {
        let classes = classes?;
        if let Some(all) = self.heap.exact_items(classes) {
            let mut result = Some(false);
            for class in all {
                match self.isinstance(value, Some(&class)) {
                    Some(true) => return Some(true),
                    None => result = None,
                    Some(false) => {}
                }
            }
            return result;
        }
        // `six` names the types of Python 2 and 3.
        match classes.as_path().and_then(|path| path.strip_prefix("six.")) {
            Some("string_types" | "text_type") => return self.isinstance(value, Some(&Value::path("builtins.str"))),
            Some("integer_types") => return self.isinstance(value, Some(&Value::path("builtins.int"))),
            Some(_) => return None,
            None => {}
        }
        // Numbers and `None` have none of these methods.
        let is_collection = |path: &str| {
            COLLECTIONS.iter().any(|name| {
                path.strip_suffix(name)
                    .is_some_and(|module| matches!(module, "typing." | "collections." | "collections.abc."))
            })
        };
        if (value.is_none() || value.number_type().is_some()) && classes.as_path().is_some_and(is_collection) {
            return Some(false);
        }
        let builtin = |names: &[&str]| match classes.as_path() {
            Some(path) => match path.strip_prefix("builtins.") {
                Some(name) => Some(names.contains(&name)),
                // `typing.List`, `collections.abc.Collection`: their instances are of other classes.
                None if ["typing.", "collections.", "numbers."].iter().any(|module| path.starts_with(module)) => None,
                None => Some(false),
            },
            None if classes.is_unknown() => None,
            None => Some(false),
        };
        let of_abstract = |own: &str| is_abstract(own, classes.as_path()?);
        match value {
            Value::Path(path) if classes.as_path() == Some("types.ModuleType") => {
                self.library.is_module(*path).then_some(true)
            }
            Value::Unknown | Value::Open(_) | Value::Path(_) => None,
            Value::None => builtin(&[]),
            Value::Bool(_) | Value::Any(Type::Bool) => builtin(&["bool", "int", "object"]),
            Value::Int(_) | Value::Size(_) | Value::Ranged(_) | Value::Any(Type::Int) => match classes.as_path() {
                Some("numbers.Number" | "numbers.Integral" | "numbers.Real") => Some(true),
                _ => builtin(&["int", "object"]),
            },
            Value::Float(_) | Value::Floats(_) | Value::Any(Type::Float) => match classes.as_path() {
                Some("numbers.Number" | "numbers.Real") => Some(true),
                _ => builtin(&["float", "object"]),
            },
            Value::Str(_) | Value::Among(_) | Value::Any(Type::Str) => {
                of_abstract("str").or_else(|| builtin(&["str", "object"]))
            }
            Value::Device(device) if device.is_concrete() => match classes.as_path() {
                Some(path) if path.starts_with("builtins.") => builtin(&["object"]),
                _ => None,
            },
            Value::Tuple(_) => match classes.as_path() {
                Some(path) if path.starts_with("builtins.") => builtin(&["tuple", "object"]),
                // `torch.Size`, named tuples and others.
                _ => of_abstract("tuple"),
            },
            Value::Obj(id) => {
                let id = *id;
                match self.heap.get(id) {
                    Data::List(_) => of_abstract("list").or_else(|| builtin(&["list", "object"])),
                    Data::Dict(_) => match classes.as_path() {
                        Some(path) if path.starts_with("builtins.") => builtin(&["dict", "object"]),
                        _ => of_abstract("dict"),
                    },
                    Data::Set(_) => of_abstract("set").or_else(|| builtin(&["set", "frozenset", "object"])),
                    Data::Tensor(_) => match classes {
                        Value::Path(class) => self.library.is_instance(self, value, *class),
                        _ => None,
                    },
                    Data::Instance(instance) => {
                        let open = instance.open;
                        let line = self.mro_of(value);
                        let named = || line.iter().any(|c| c.as_path() == Some("typing.NamedTuple"));
                        if line.iter().any(|c| self.is_same(c, classes) == Some(true))
                            || classes.as_path() == Some("builtins.tuple") && named()
                        {
                            return Some(true);
                        }
                        let known = match classes {
                            Value::Obj(_) => true,
                            Value::Path(path) => {
                                self.library.bases(*path).is_some() || path.as_str().starts_with("builtins.")
                            }
                            _ => false,
                        };
                        // The value may be an instance of a subclass of the library class.
                        let exact = line.first().is_some_and(|c| c.as_obj().is_some()) || {
                            matches!(classes, Value::Path(p) if p.as_str().starts_with("builtins."))
                        };
                        (known && exact && !open).then_some(false)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn hasattr(&mut self, object: &Value, name: Option<&Value>, span: Span) -> Value {
        let Some(name) = name.and_then(Value::as_str) else { return Value::Any(Type::Bool) };
        let name = sym(name);
        if let Value::Path(module) = object {
            self.tested_modules.insert(*module);
        }
        // A property of the program is not read, because reading it would run its code.
        let known = match object {
            Value::Obj(id) => match self.heap.get(*id) {
                Data::Instance(instance) if instance.attrs.contains_key(&name) => {
                    (!self.heap.may_lack(*id, name)).then_some(true)
                }
                Data::Instance(instance) => {
                    let open = instance.open
                        || matches!(instance.class, Value::Path(_))
                        // A class that the program does not construct may be a base of one with the attribute.
                        || self.context.speculative && !self.is_constructed(object)
                        || self.user_method(object, "__getattr__").is_some()
                        // A method that was called earlier may have set the attribute.
                        || self.context.speculative && self.classes_call(object, &["setattr"]);
                    let line = self.mro_of(object);
                    let in_class = line.iter().filter_map(Value::as_obj).any(|c| self.class_attr(c, name).is_some());
                    let native = line.iter().any(|c| matches!(c, Value::Path(_)));
                    match (in_class, open, native) {
                        // A property may raise an `AttributeError`.
                        (true, ..) => self.property(object, name).is_none().then_some(true),
                        (false, false, false) => Some(false),
                        (false, false, true) => {
                            // The program's own classes do not have the attribute, but a library's
                            // base class may have it.
                            match self.try_getattr(object, name, span) {
                                Some(_) => None,
                                None => Some(false),
                            }
                        }
                        _ => None,
                    }
                }
                _ => None,
            },
            _ => None,
        };
        known.map_or(Value::Any(Type::Bool), Value::Bool)
    }

    /// `getattr(object, name, default)`. If `name` has several possible values, joins the
    /// attributes with these names.
    pub(super) fn getattr_call(
        &mut self,
        object: &Value,
        name: Option<&Value>,
        default: Option<&Value>,
        span: Span,
    ) -> Value {
        if let Some(Value::Among(among)) = name {
            let texts = among.texts.iter().map(|text| Value::Str(text.clone()));
            let texts: Vec<Value> = texts.collect();
            let found: Vec<Value> = texts.iter().map(|n| self.getattr_call(object, Some(n), default, span)).collect();
            return self.any_one(&found, among.taken);
        }
        let Some(name) = name.and_then(Value::as_str) else { return Value::Unknown };
        // With a default, an attribute that is missing is no mistake.
        let in_handler = self.context.in_handler;
        self.context.in_handler |= default.is_some();
        let value = self.try_getattr(object, sym(name), span);
        self.context.in_handler = in_handler;
        match (value, default) {
            (Some(value), Some(default)) if object.as_obj().is_some_and(|id| self.heap.may_lack(id, sym(name))) => {
                crate::value::join(&mut self.heap, &value, default, false)
            }
            (Some(value), _) => value,
            (None, Some(default)) => {
                let exists = self.hasattr(object, Some(&Value::str(name)), span);
                if exists.as_bool() == Some(false) { default.clone() } else { Value::Unknown }
            }
            (None, None) => Value::Unknown,
        }
    }

    fn arithmetic(&mut self, name: &str, values: &[Value], span: Span) -> Value {
        match (name, values) {
            ("abs", [value]) => match value {
                Value::Int(n) => n.checked_abs().map_or(Value::Any(Type::Int), Value::Int),
                Value::Float(x) => Value::Float(x.abs()),
                Value::Size(poly) => Value::size(&Size::Expr(poly.clone())),
                Value::Any(t) => Value::Any(*t),
                object if self.heap.instance_of(object).is_some_and(|it| it.class.as_obj().is_some()) => {
                    match self.user_method(object, "__abs__") {
                        Some(method) => self.call(&method, Args::positional([object.clone()], span), span),
                        None => Value::Unknown,
                    }
                }
                tensor => self.call_method(tensor, "abs", Args::default(), span),
            },
            ("round", [value]) => match value {
                Value::Int(_) | Value::Size(_) => value.clone(),
                #[expect(clippy::cast_possible_truncation, reason = "the bound is checked")]
                Value::Float(x) if x.abs() < 1e15 => Value::Int(x.round_ties_even() as i64),
                tensor if self.heap.is_tensor(tensor) => self.round_tensor(tensor, span),
                _ => Value::Any(Type::Int),
            },
            ("round", [tensor, _]) if self.heap.is_tensor(tensor) => self.round_tensor(tensor, span),
            ("round", [value, _]) => match value.number_type() {
                Some(ty) => Value::Any(ty),
                None => Value::Unknown,
            },
            ("pow", [a, b]) => self.binary(super::BinOp::Pow, a, b, span),
            ("divmod", [a, b]) => {
                let quotient = self.binary(super::BinOp::FloorDiv, a, b, span);
                let rest = self.binary(super::BinOp::Mod, a, b, span);
                Value::tuple(vec![quotient, rest])
            }
            _ => Value::Unknown,
        }
    }

    /// `round(tensor)`. Tensors have no `__round__`. NumPy's scalars, which are modelled as arrays, have one.
    fn round_tensor(&mut self, tensor: &Value, span: Span) -> Value {
        if self.heap.tensor_ref(tensor).is_none_or(|tensor| tensor.array != ArrayKind::Torch) {
            return self.call_method(tensor, "round", Args::default(), span);
        }
        let message = "`round` does not accept a tensor: use `torch.round(x, decimals=…)`, or `round(x.item(), …)`";
        self.in_arm_of(tensor, |it| it.report_missing(RejectKind::Value, message.to_owned(), span));
        self.raise("TypeError")
    }
}
