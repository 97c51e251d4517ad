//! Comparisons: `==`, `<`, `is` and `in` on Python's own values.

use super::attribute::owner_of_shape;
use super::interp::Interp;
use super::library::{BinOp, OfCall};
use super::operator::is_plain;
use super::types::Operation;
use crate::libraries;
use crate::syntax::ast::{self, CmpOp};
use crate::syntax::{Expr, Span, path_of};
use crate::value::{Data, DeviceKind, Key, Sym, Type, Value, sym};

impl<'p> Interp<'p> {
    pub(super) fn compare(&mut self, e: &'p ast::ExprCompare) -> Value {
        let mut left = self.eval(&e.left);
        let span = self.span(e);
        // The possible result of the chain if a comparison before the last one ends it.
        let mut earlier: Option<Value> = None;
        let last = e.ops.len().saturating_sub(1);
        let mut left_expr: &Expr = &e.left;
        for (i, (op, right_expr)) in e.ops.iter().zip(&*e.comparators).enumerate() {
            let class = match op {
                CmpOp::In | CmpOp::NotIn => self.class_as_text(right_expr),
                _ => None,
            };
            let right = match &class {
                Some(_) => Value::Any(Type::Str),
                None => self.eval(right_expr),
            };
            let found = class.and_then(|class| self.is_in_class_text(&class, &left));
            let place = match op {
                CmpOp::Eq | CmpOp::NotEq => Some(OfCall::Equality),
                CmpOp::Lt | CmpOp::LtE | CmpOp::Gt | CmpOp::GtE => Some(OfCall::Order),
                _ => None,
            };
            if let Some(place) = place {
                for (value, expr, other) in [(&left, left_expr, &right), (&right, right_expr, &left)] {
                    if is_plain(other) {
                        self.note_uncalled(value, expr, place);
                    }
                }
            }
            if matches!(op, CmpOp::Eq | CmpOp::NotEq) {
                let device = match (&left, &right) {
                    (Value::Device(device), _) if right_expr.is_string_literal_expr() => Some((device, left_expr)),
                    (_, Value::Device(device)) if left_expr.is_string_literal_expr() => Some((device, right_expr)),
                    _ => None,
                };
                let device = device.filter(|(_, expr)| !self.may_be_text(expr)).map(|(device, _)| device);
                // In these cases, only the name suggests that the value is a device.
                if device.is_some_and(|it| !matches!(it.kind, DeviceKind::Named(_) | DeviceKind::Module)) {
                    self.event(super::Event::DeviceAgainstText { equal: *op == CmpOp::Eq, span });
                }
            }
            left_expr = right_expr;
            let value = match found {
                Some(found) => Value::Bool(found == (*op == CmpOp::In)),
                None => self.compare_one(*op, &left, &right, span),
            };
            // As for `and`, the first false value is the result.
            if i == last || self.truth(&value) == Some(false) {
                return match earlier {
                    None => value,
                    Some(Value::Any(Type::Bool)) if matches!(value, Value::Bool(_) | Value::Any(Type::Bool)) => {
                        Value::Any(Type::Bool)
                    }
                    Some(_) => Value::Unknown,
                };
            }
            if self.truth(&value).is_none() {
                earlier = match (earlier, value) {
                    (None | Some(Value::Any(Type::Bool)), value @ Value::Any(Type::Bool)) => Some(value),
                    _ => Some(Value::Unknown),
                };
            }
            left = right;
        }
        Value::Unknown
    }

    /// Whether an expression is a parameter of the current function that other calls may give a text, as its default
    /// shows.
    fn may_be_text(&self, expr: &Expr) -> bool {
        let Some(name) = expr.as_name_expr() else { return false };
        let Some(def) = self.frames.last().and_then(|frame| self.definition(frame)) else { return false };
        let found = def.parameters.iter_non_variadic_params().find(|p| p.name().as_str() == name.id.as_str());
        found.and_then(|parameter| parameter.default.as_deref()).is_some_and(Expr::is_string_literal_expr)
    }

    /// Rejects `left in right` for a value without elements, and for a text that cannot contain the other value.
    fn refuse_contained(&mut self, left: &Value, right: &Value, span: Span) -> bool {
        if self.refuse_unsupported(Operation::Contain, right, span).is_some() {
            return true;
        }
        let is_part = !matches!(left, Value::None | Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Tuple(_));
        if is_part || !right.is_text() {
            return false;
        }
        let message = format!("`in` does not accept {} and a string", self.named(left));
        self.refuse_operation(&[left, right], message, span);
        true
    }

    fn compare_one(&mut self, op: CmpOp, left: &Value, right: &Value, span: Span) -> Value {
        let tri = |t: Option<bool>| t.map_or(Value::Any(Type::Bool), Value::Bool);
        match op {
            CmpOp::Is => tri(self.is_same(left, right)),
            CmpOp::IsNot => tri(self.is_same(left, right).map(|t| !t)),
            CmpOp::In | CmpOp::NotIn if self.refuse_contained(left, right, span) => Value::Unknown,
            CmpOp::In => tri(self.contains(right, left, span)),
            CmpOp::NotIn => tri(self.contains(right, left, span).map(|t| !t)),
            CmpOp::Eq | CmpOp::NotEq | CmpOp::Lt | CmpOp::LtE | CmpOp::Gt | CmpOp::GtE => {
                let bin = match op {
                    CmpOp::Eq => BinOp::Eq,
                    CmpOp::NotEq => BinOp::Ne,
                    CmpOp::Lt => BinOp::Lt,
                    CmpOp::LtE => BinOp::Le,
                    CmpOp::Gt => BinOp::Gt,
                    _ => BinOp::Ge,
                };
                // A `torch.Size` has no order with a number: `groups.size() > 1` is about an object of another library.
                if [left, right].into_iter().any(|value| owner_of_shape(value).is_some()) {
                    return Value::Unknown;
                }
                if let Some(refused) = self.refuse_builtin_operand(bin, [left, right], span) {
                    return refused;
                }
                if let Some(value) = self.compared(bin, left, right, span) {
                    return value;
                }
                let library = self.library;
                if let Some(value) = library.binary(self, bin, left, right, span) {
                    return value;
                }
                if !matches!(bin, BinOp::Eq | BinOp::Ne) && self.is_unordered(left, right) {
                    return self.refuse_operator(bin, left, right, span);
                }
                // An unknown operand may be an array, and so may an instance of a class of the program: their
                // comparisons give arrays.
                let may_be_array =
                    |value: &Value| value.is_unknown() || self.is_instance(value, self.library.words().tensor);
                let is_open = may_be_array(left) || may_be_array(right);
                let tri = |t: Option<bool>| match t {
                    None if is_open => Value::Unknown,
                    t => tri(t),
                };
                match bin {
                    BinOp::Eq => tri(self.equals(left, right)),
                    BinOp::Ne => tri(self.equals(left, right).map(|t| !t)),
                    BinOp::Lt => tri(less(left, right)),
                    BinOp::Gt => tri(less(right, left)),
                    BinOp::Le => tri(less(right, left).map(|t| !t)),
                    _ => tri(less(left, right).map(|t| !t)),
                }
            }
        }
    }

    /// Tells observers that the program tests or compares a function, perhaps because the parentheses
    /// of a call are missing. A name counts only if the module binds it once: otherwise, it may be bound to
    /// any object.
    pub(super) fn note_uncalled(&mut self, value: &Value, expr: &Expr, in_place: OfCall) {
        let name = match expr {
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            Expr::Name(name) if in_place == OfCall::Test && self.is_bound_once(expr, name.id.as_str()) => {
                name.id.as_str()
            }
            _ => return,
        };
        // An optional function that an object was given: `if config.hook:`.
        if value.as_obj().is_some() && expr.as_attribute_expr().is_some_and(|read| !self.names_module(&read.value)) {
            return;
        }
        // Another name, as in `function = functions.get(kind)`, may also get `None`.
        let is_other = match value.as_obj().map(|id| self.heap.get(id)) {
            Some(Data::Function(function)) => function.name.as_str() != name,
            _ => false,
        };
        if is_other && expr.is_name_expr() {
            return;
        }
        let is_replaced = || self.sources.assigns(self.root, name);
        let is_of_self = path_of(expr).first() == Some(&"self");
        let may_change = match value {
            // `self.activation` may have been given `torch.tanh`.
            Value::Path(path) => path.as_str().rsplit('.').next() != Some(name),
            value => matches!(value, Value::Bound(_)) || is_of_self && value.as_obj().is_some(),
        };
        // A subclass may have a flag of this name.
        let is_overridden = || match value {
            Value::Bound(pair) => self
                .own_class(&pair.0)
                .is_some_and(|class| self.sources.overrides(self.root, class.name.as_str(), name)),
            _ => false,
        };
        if self.is_sure_function(value) && !(may_change && is_replaced()) && !is_overridden() {
            let span = self.span(expr);
            self.event(super::Event::Uncalled { in_place, span });
        }
    }

    /// Whether an expression is the name of a module of the program.
    fn names_module(&mut self, expr: &Expr) -> bool {
        let module = expr.as_name_expr().and_then(|name| self.name(sym(name.id.as_str())).as_obj());
        module.is_some_and(|id| matches!(self.heap.get(id), Data::Module { .. }))
    }

    /// Whether a name refers to a global variable that one statement of the current file binds.
    fn is_bound_once(&self, expr: &Expr, name: &str) -> bool {
        let bindings = self.sources.bindings(self.file());
        self.is_global(expr) && bindings.of_name(name).len() == 1 && !bindings.globals.contains(name)
    }

    /// Whether Python certainly has no order for these two values. False if the type of one of them
    /// is not known.
    fn is_unordered(&self, left: &Value, right: &Value) -> bool {
        /// The kind of a value. Except for `None`, dictionaries and functions, values of one kind may
        /// have an order. A number that is not `exact` may be a NumPy scalar, which NumPy compares with
        /// each element of a list.
        #[derive(PartialEq)]
        enum Kind {
            None,
            Text,
            Number { exact: bool },
            Tuple,
            List,
            Set,
            Dict,
            Function,
        }
        let kind = |v: &Value| match v {
            v if self.is_sure_function(v) => Some(Kind::Function),
            Value::None => Some(Kind::None),
            Value::Tuple(_) => Some(Kind::Tuple),
            v if v.is_text() => Some(Kind::Text),
            v if v.number_type().is_some() => {
                Some(Kind::Number { exact: matches!(v, Value::Int(_) | Value::Bool(_) | Value::Size(_)) })
            }
            _ => match self.heap.get(v.as_obj()?) {
                Data::List(_) => Some(Kind::List),
                Data::Set(_) => Some(Kind::Set),
                Data::Dict(_) => Some(Kind::Dict),
                _ => None,
            },
        };
        match (kind(left), kind(right)) {
            (Some(Kind::Number { .. }), Some(Kind::Number { .. })) => false,
            (Some(Kind::Number { exact }), Some(Kind::Tuple | Kind::List))
            | (Some(Kind::Tuple | Kind::List), Some(Kind::Number { exact })) => exact,
            (Some(left), Some(right)) => left != right || matches!(left, Kind::None | Kind::Dict | Kind::Function),
            _ => false,
        }
    }

    /// The value of `type(x)` or `x.__class__` in `str(type(x))`, `repr(x.__class__)` and similar
    /// calls.
    fn class_as_text(&mut self, expr: &'p Expr) -> Option<Value> {
        let Expr::Call(call) = expr else { return None };
        let ([argument], [], Expr::Name(name)) = (&*call.arguments.args, &*call.arguments.keywords, &*call.func) else {
            return None;
        };
        let is_type = match argument {
            Expr::Call(inner) => matches!(&*inner.func, Expr::Name(name) if name.id.as_str() == "type"),
            Expr::Attribute(attribute) => attribute.attr.as_str() == "__class__",
            _ => false,
        };
        let text = matches!(name.id.as_str(), "str" | "repr");
        let builtin =
            || matches!(self.name(sym(name.id.as_str())), Value::Path(p) if p.as_str().starts_with("builtins."));
        let mut builtin = builtin;
        (is_type && text && builtin()).then(|| self.eval(argument))
    }

    /// Whether `str` of a class contains another string; `None` if that is not known.
    fn is_in_class_text(&self, class: &Value, part: &Value) -> Option<bool> {
        let part = part.as_str()?;
        let path = match class {
            Value::Path(path) => path.as_str(),
            Value::Obj(id) => match self.heap.get(*id) {
                Data::Class(class) => class.path.as_str(),
                _ => return None,
            },
            _ => return None,
        };
        let (root, last) = (path.split('.').next()?, path.rsplit('.').next()?);
        if root.contains(part) || last.contains(part) {
            return Some(true);
        }
        // If the name of a library is distinct (see `libraries::Library::is_distinct`), no class of
        // another library has this name in its path.
        (libraries::find(part).is_some_and(|library| library.is_distinct) && !path.contains(part)).then_some(false)
    }

    /// `a is b`.
    pub(super) fn is_same(&self, a: &Value, b: &Value) -> Option<bool> {
        match (a, b) {
            (Value::Unknown | Value::Open(_), _) | (_, Value::Unknown | Value::Open(_)) => None,
            (Value::None, Value::None) | (Value::Ellipsis, Value::Ellipsis) => Some(true),
            (Value::Bool(x), Value::Bool(y)) => Some(x == y),
            (Value::Obj(x), Value::Obj(y)) if x == y => Some(true),
            (Value::Obj(_), Value::Obj(_)) => self.are_members_apart(a, b).then_some(false),
            (Value::Path(x), Value::Path(y)) if x == y => Some(true),
            // Different names in `torch` itself are different functions. A function of another module may
            // have several names.
            (Value::Path(x), Value::Path(y)) => {
                let module = |path: &Sym| path.as_str().rsplit_once('.').map(|(module, _)| module);
                (module(x) == module(y) && module(x) == Some("torch")).then_some(false)
            }
            (Value::Dtype(x), Value::Dtype(y)) => Some(x == y),
            // A class of the program is not one of a library.
            (Value::Obj(id), Value::Path(_)) | (Value::Path(_), Value::Obj(id))
                if matches!(self.heap.get(*id), Data::Class(_)) =>
            {
                Some(false)
            }
            // A value that is known by its path in a library is assumed not to be None.
            (Value::Path(_), Value::None) | (Value::None, Value::Path(_)) => Some(false),
            (Value::None, _) | (_, Value::None) => Some(false),
            _ => None,
        }
    }

    fn is_plain_class(&self, id: crate::value::ObjId) -> bool {
        matches!(self.heap.get(id), Data::Class(class) if !class.open)
    }

    /// `a == b` on Python's own values.
    pub(super) fn equals(&self, a: &Value, b: &Value) -> Option<bool> {
        match (a, b) {
            (Value::Unknown | Value::Open(_) | Value::Any(_), _)
            | (_, Value::Unknown | Value::Open(_) | Value::Any(_)) => None,
            (Value::Str(x), Value::Str(y)) => Some(x == y),
            (Value::None, Value::None) => Some(true),
            (Value::None, other) | (other, Value::None) => match other {
                Value::Obj(id) => match self.heap.get(*id) {
                    Data::Instance(_) => None,
                    _ => Some(false),
                },
                _ => Some(false),
            },
            // Two classes without a metaclass that defines their equality.
            (Value::Obj(x), Value::Obj(y)) if self.is_plain_class(*x) && self.is_plain_class(*y) => Some(x == y),
            (Value::Dtype(x), Value::Dtype(y)) => Some(x == y),
            (Value::Device(x), Value::Device(y)) => match (x.index, y.index) {
                _ if x.kind != y.kind => x.same(*y),
                (None, Some(_)) | (Some(_), None) => None,
                (i, j) => Some(i == j),
            },
            (Value::Path(x), Value::Path(y)) => {
                if x == y {
                    return Some(true);
                }
                // Two different names in capitals in one module or class are assumed to be two
                // members of an enumeration, which are not equal.
                let (a, b) = (x.as_str().rsplit_once('.')?, y.as_str().rsplit_once('.')?);
                let member = |n: &str| n.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
                (a.0 == b.0 && member(a.1) && member(b.1)).then_some(false)
            }
            (Value::Tuple(x), Value::Tuple(y)) => {
                if x.len() != y.len() {
                    return Some(false);
                }
                let mut all = Some(true);
                for (p, q) in x.iter().zip(y.iter()) {
                    match self.equals(p, q) {
                        Some(false) => return Some(false),
                        None => all = None,
                        Some(true) => {}
                    }
                }
                all
            }
            (Value::Obj(x), Value::Obj(y)) if x == y => Some(true),
            (Value::Obj(_), Value::Obj(_)) if self.are_members_apart(a, b) => Some(false),
            (Value::Obj(_), _) | (_, Value::Obj(_)) => {
                // A list is equal only to a list, and a tuple only to a tuple.
                let kind = |v: &Value| match v {
                    Value::Tuple(_) => Some(0),
                    Value::Str(_) | Value::Int(_) | Value::Float(_) | Value::Bool(_) => Some(1),
                    _ => match self.heap.get(v.as_obj()?) {
                        Data::List(_) => Some(2),
                        Data::Set(_) => Some(3),
                        Data::Dict(_) => Some(4),
                        _ => None,
                    },
                };
                let (x, y) = (kind(a)?, kind(b)?);
                if x != y {
                    return Some(false);
                }
                if x > 2 {
                    return None;
                }
                let (x, y) = (self.heap.exact_items(a)?, self.heap.exact_items(b)?);
                self.equals(&Value::tuple(x), &Value::tuple(y))
            }
            _ => {
                if let (Some(x), Some(y)) = (a.as_size(), b.as_size()) {
                    return x.equals(&y);
                }
                if let (Some(x), Some(y)) = (a.as_f64(), b.as_f64()) {
                    return Some(x == y);
                }
                // Values of different types, such as a number and a string, are not equal.
                let kind = |v: &Value| match v {
                    Value::Str(_) => 1,
                    Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Size(_) => 2,
                    Value::Tuple(_) => 3,
                    _ => 0,
                };
                let (x, y) = (kind(a), kind(b));
                (x != 0 && y != 0 && x != y).then_some(false)
            }
        }
    }

    /// `item in container`.
    fn contains(&mut self, container: &Value, item: &Value, span: Span) -> Option<bool> {
        if let Some(method) = self.user_method(container, "__contains__") {
            let value = self.call(&method, super::Args::positional([container.clone(), item.clone()], span), span);
            return self.truth(&value);
        }
        if let (Value::Str(text), Value::Str(part)) = (container, item) {
            return Some(text.contains(&**part));
        }
        if let Some(payload) = self.payload(container).filter(|p| self.heap.dict_of(p).is_none()) {
            return self.contains(&payload, item, span);
        }
        if let Some(dict) = self.heap.dict_of(container) {
            let key = Key::of(item)?;
            return match (dict.entries.contains_key(&key), &dict.open) {
                (true, _) => Some(true),
                (false, None) => Some(false),
                _ => None,
            };
        }
        let items = self.heap.exact_items(container)?;
        if let Some(id) = container.as_obj().filter(|id| matches!(self.heap.get(*id), Data::Iter(iter) if iter.once)) {
            self.taken_from(id);
        }
        let mut unknown = false;
        for have in items {
            match self.equals(&have, item) {
                Some(true) => return Some(true),
                None => unknown = true,
                Some(false) => {}
            }
        }
        if unknown { None } else { Some(false) }
    }
}

fn less(a: &Value, b: &Value) -> Option<bool> {
    // The range of a float is used only if the float cannot be NaN.
    let bounds = |v: &Value| match v {
        Value::Ranged(ranged) => Some(ranged.range.clone()),
        Value::Floats(floats) if floats.dense => Some(floats.range.clone()),
        Value::Int(_) | Value::Float(_) => v.range().map(|(range, _)| range),
        _ => None,
    };
    if let (Some(x), Some(y)) = (bounds(a), bounds(b)) {
        if x.hi() < y.lo() {
            return Some(true);
        }
        if x.lo() >= y.hi() {
            return Some(false);
        }
        return None.or_else(|| a.as_size()?.less(&b.as_size()?));
    }
    if let (Some(x), Some(y)) = (a.as_f64(), b.as_f64()) {
        return Some(x < y);
    }
    if let (Value::Str(x), Value::Str(y)) = (a, b) {
        return Some(x < y);
    }
    a.as_size()?.less(&b.as_size()?)
}
