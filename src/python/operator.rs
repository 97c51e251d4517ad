//! Operators on Python's own values.

use super::interp::Interp;
use super::library::{BinOp, UnaryOp};
use super::overload::is_not_implemented;
use crate::libraries;
use crate::syntax::Expr;
use crate::syntax::Span;
use crate::syntax::ast::{self, CmpOp, Operator};
use crate::value::{Data, Heap, Items, Key, Range, Sign, Size, Type, Value, sym};

pub(super) fn binop(op: Operator) -> BinOp {
    match op {
        Operator::Add => BinOp::Add,
        Operator::Sub => BinOp::Sub,
        Operator::Mult => BinOp::Mul,
        Operator::MatMult => BinOp::MatMul,
        Operator::Div => BinOp::Div,
        Operator::FloorDiv => BinOp::FloorDiv,
        Operator::Mod => BinOp::Mod,
        Operator::Pow => BinOp::Pow,
        Operator::LShift => BinOp::LShift,
        Operator::RShift => BinOp::RShift,
        Operator::BitAnd => BinOp::BitAnd,
        Operator::BitOr => BinOp::BitOr,
        Operator::BitXor => BinOp::BitXor,
    }
}

/// The method by which a class overloads an operator, and its reflected counterpart.
pub(super) fn dunder(op: BinOp) -> (&'static str, &'static str) {
    match op {
        BinOp::Add => ("__add__", "__radd__"),
        BinOp::Sub => ("__sub__", "__rsub__"),
        BinOp::Mul => ("__mul__", "__rmul__"),
        BinOp::MatMul => ("__matmul__", "__rmatmul__"),
        BinOp::Div => ("__truediv__", "__rtruediv__"),
        BinOp::FloorDiv => ("__floordiv__", "__rfloordiv__"),
        BinOp::Mod => ("__mod__", "__rmod__"),
        BinOp::Pow => ("__pow__", "__rpow__"),
        BinOp::LShift => ("__lshift__", "__rlshift__"),
        BinOp::RShift => ("__rshift__", "__rrshift__"),
        BinOp::BitAnd => ("__and__", "__rand__"),
        BinOp::BitOr => ("__or__", "__ror__"),
        BinOp::BitXor => ("__xor__", "__rxor__"),
        BinOp::Eq => ("__eq__", "__eq__"),
        BinOp::Ne => ("__ne__", "__ne__"),
        BinOp::Lt => ("__lt__", "__gt__"),
        BinOp::Le => ("__le__", "__ge__"),
        BinOp::Gt => ("__gt__", "__lt__"),
        BinOp::Ge => ("__ge__", "__le__"),
    }
}

impl<'p> Interp<'p> {
    pub(crate) fn binary(&mut self, op: BinOp, left: &Value, right: &Value, span: Span) -> Value {
        let library = self.library;
        if let Some(value) = library.binary(self, op, left, right, span) {
            return value;
        }
        if matches!(op, BinOp::Div | BinOp::FloorDiv | BinOp::Mod) && is_zero(right) && left.number_type().is_some() {
            return self.raise("ZeroDivisionError");
        }
        if let Some(value) = numbers(op, left, right, &mut self.heap) {
            // A tensor in a later round may not do.
            if self.in_loop() {
                self.pass(span);
            }
            return value;
        }
        match (op, left, right) {
            (BinOp::Add, Value::Str(a), Value::Str(b)) if a.len() + b.len() <= super::text::LONGEST => {
                return Value::str(&format!("{a}{b}"));
            }
            (BinOp::Add, a, b) if is_str(a) && is_str(b) => return Value::Any(Type::Str),
            (BinOp::Mod, Value::Str(a), b) => {
                let values = match b {
                    Value::Tuple(values) => values.to_vec(),
                    one => vec![one.clone()],
                };
                return super::text::percent(a, &values).map_or(Value::Any(Type::Str), |t| Value::str(&t));
            }
            (BinOp::Mod, a, _) if is_str(a) => return Value::Any(Type::Str),
            (BinOp::Add, Value::Tuple(a), Value::Tuple(b)) => {
                return Value::tuple(a.iter().chain(b.iter()).cloned().collect());
            }
            (BinOp::Mul, Value::Tuple(a), Value::Int(n)) | (BinOp::Mul, Value::Int(n), Value::Tuple(a)) => {
                if let Some(items) = repeat(a, *n) {
                    return Value::tuple(items);
                }
                return Value::Unknown;
            }
            (BinOp::Mul, Value::Str(a), Value::Int(n)) | (BinOp::Mul, Value::Int(n), Value::Str(a)) => {
                let times = usize::try_from((*n).max(0)).unwrap_or(usize::MAX);
                let short = a.len().checked_mul(times).is_some_and(|n| n <= super::text::LONGEST);
                return if short { Value::str(&a.repeat(times)) } else { Value::Any(Type::Str) };
            }
            (BinOp::Mul, a, b) if is_str(a) || is_str(b) => return Value::Any(Type::Str),
            (BinOp::Add | BinOp::Mul, Value::Any(Type::Bytes), _) | (BinOp::Mul, _, Value::Any(Type::Bytes)) => {
                return Value::Any(Type::Bytes);
            }
            _ => {}
        }
        if let Some(value) = self.sequences(op, left, right) {
            return value;
        }
        for (object, other, name) in self.sides(left, right, dunder(op)) {
            if self.heap.instance_of(&object).is_some()
                && let Some(method) = self.try_getattr(&object, sym(name), span)
            {
                let value = self.call(&method, super::Args::positional([other], span), span);
                if !is_not_implemented(&value) {
                    return value;
                }
            }
        }
        Value::Unknown
    }

    /// Lists, sets and dicts.
    fn sequences(&mut self, op: BinOp, left: &Value, right: &Value) -> Option<Value> {
        let data = |it: &Self, v: &Value| v.as_obj().map(|id| it.heap.get(id).clone());
        match (op, data(self, left), data(self, right)) {
            (BinOp::Add, Some(Data::List(a)), Some(Data::List(b))) => {
                let items = a.followed_by(b, &mut self.heap);
                Some(Value::Obj(self.heap.alloc(Data::List(items))))
            }
            (BinOp::Mul, Some(Data::List(a)), _) => Some(self.repeat_list(a, right)),
            (BinOp::Mul, _, Some(Data::List(b))) => Some(self.repeat_list(b, left)),
            (BinOp::BitOr, Some(Data::Dict(mut a)), Some(Data::Dict(b))) => {
                a.entries.extend(b.entries);
                a.open = a.open.or(b.open);
                Some(self.heap.dict(a))
            }
            (BinOp::BitOr | BinOp::BitAnd | BinOp::Sub, Some(Data::Set(a)), Some(Data::Set(_))) => {
                let element = a.element(&mut self.heap);
                let items = Items::Many(if op == BinOp::BitOr { Value::Unknown } else { element });
                Some(Value::Obj(self.heap.alloc(Data::Set(items))))
            }
            _ => None,
        }
    }

    fn repeat_list(&mut self, items: Items, times: &Value) -> Value {
        let items = self.repeated(items, times);
        Value::Obj(self.heap.alloc(Data::List(items)))
    }

    fn repeated(&mut self, items: Items, times: &Value) -> Items {
        match (&items, times.as_int()) {
            (Items::Exact(values), Some(n)) => match repeat(values, n) {
                Some(all) => Items::Exact(all),
                None => Items::Many(items.element(&mut self.heap)),
            },
            _ => Items::Many(items.element(&mut self.heap)),
        }
    }

    /// `list *= n`, `set |= other` and the like, which change what stands on the left; false for all
    /// else.
    fn changes_in_place(&mut self, op: BinOp, left: &Value, right: &Value, span: Span) -> bool {
        let Value::Obj(id) = left else { return false };
        let method = match (op, self.heap.get(*id)) {
            (BinOp::Mul, Data::List(items)) if right.number_type().is_some() => {
                let items = items.clone();
                let repeated = self.repeated(items, right);
                *self.heap.get_mut(*id) = Data::List(repeated);
                return true;
            }
            (BinOp::BitOr, Data::Set(_) | Data::Dict(_)) => "update",
            (BinOp::BitAnd, Data::Set(_)) => "intersection_update",
            (BinOp::Sub, Data::Set(_)) => "difference_update",
            (BinOp::BitXor, Data::Set(_)) => "symmetric_difference_update",
            _ => return false,
        };
        self.call_method(left, method, super::Args::positional([right.clone()], span), span);
        true
    }

    /// `left op= right`, on Python's own values: lists grow in place.
    pub(super) fn augmented(&mut self, op: BinOp, left: &Value, right: &Value, span: Span) -> Value {
        if op == BinOp::Add
            && self
                .payload(left)
                .is_some_and(|payload| matches!(payload, Value::Obj(id) if matches!(self.heap.get(id), Data::List(_))))
            && self.user_method(left, "__iadd__").is_none()
        {
            self.call_method(left, "extend", super::Args::positional([right.clone()], span), span);
            return left.clone();
        }
        if op == BinOp::Add
            && let Value::Obj(id) = left
            && matches!(self.heap.get(*id), Data::List(_))
        {
            let items = self.iterate(right, span);
            self.extend_list(*id, items);
            return left.clone();
        }
        if self.changes_in_place(op, left, right, span) {
            return left.clone();
        }
        let name = dunder(op).0.replacen("__", "__i", 1);
        if let Some(method) = self.user_method(left, &name) {
            let value = self.call(&method, super::Args::positional([left.clone(), right.clone()], span), span);
            if self.stopped || !is_not_implemented(&value) {
                return value;
            }
        }
        self.binary(op, left, right, span)
    }

    pub(super) fn unary(&mut self, op: ast::UnaryOp, operand: &Value, span: Span) -> Value {
        let op = match op {
            ast::UnaryOp::Not => {
                return self.truth(operand).map_or(Value::Any(Type::Bool), |t| Value::Bool(!t));
            }
            ast::UnaryOp::USub => UnaryOp::Neg,
            ast::UnaryOp::UAdd => UnaryOp::Pos,
            ast::UnaryOp::Invert => UnaryOp::Invert,
        };
        let library = self.library;
        if let Some(value) = library.unary(self, op, operand, span) {
            return value;
        }
        match (op, operand) {
            (UnaryOp::Neg, Value::Int(n)) => n.checked_neg().map_or(Value::Any(Type::Int), Value::Int),
            (UnaryOp::Neg, Value::Bool(b)) => Value::Int(-i64::from(*b)),
            (UnaryOp::Neg, Value::Float(x)) => Value::Float(-x),
            (UnaryOp::Neg, Value::Size(poly)) => Value::size(&Size::Int(0).sub(&Size::Expr(poly.clone()))),
            (UnaryOp::Neg, Value::Any(t)) => Value::Any(*t),
            (UnaryOp::Pos, v) if v.number_type().is_some() => v.clone(),
            (UnaryOp::Invert, Value::Int(n)) => Value::Int(!n),
            (op, operand) => {
                let name = match op {
                    UnaryOp::Neg => "__neg__",
                    UnaryOp::Pos => "__pos__",
                    UnaryOp::Invert => "__invert__",
                };
                match self.user_method(operand, name) {
                    Some(method) => self.call(&method, super::Args::positional([operand.clone()], span), span),
                    None => Value::Unknown,
                }
            }
        }
    }

    pub(super) fn compare(&mut self, e: &'p ast::ExprCompare) -> Value {
        let mut left = self.eval(&e.left);
        let span = self.span(e);
        let mut result: Option<Value> = None;
        for (op, right) in e.ops.iter().zip(&*e.comparators) {
            let class = match op {
                CmpOp::In | CmpOp::NotIn => self.class_as_text(right),
                _ => None,
            };
            let right = match &class {
                Some(_) => Value::Any(Type::Str),
                None => self.eval(right),
            };
            let found = class.and_then(|class| self.is_in_class_text(&class, &left));
            let value = match found {
                Some(found) => Value::Bool(found == (*op == CmpOp::In)),
                None => self.compare_one(*op, &left, &right, span),
            };
            if e.ops.len() == 1 {
                return value;
            }
            match self.truth(&value) {
                Some(false) => return Value::Bool(false),
                Some(true) => {
                    result.get_or_insert(Value::Bool(true));
                }
                // Of tensors the result is a tensor.
                None if self.heap.is_tensor(&value) => result = Some(Value::Unknown),
                None => result = Some(Value::Any(Type::Bool)),
            }
            left = right;
        }
        result.unwrap_or(Value::Any(Type::Bool))
    }

    fn compare_one(&mut self, op: CmpOp, left: &Value, right: &Value, span: Span) -> Value {
        let tri = |t: Option<bool>| t.map_or(Value::Any(Type::Bool), Value::Bool);
        match op {
            CmpOp::Is => tri(self.is_same(left, right)),
            CmpOp::IsNot => tri(self.is_same(left, right).map(|t| !t)),
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
                if let Some(value) = self.compared(bin, left, right, span) {
                    return value;
                }
                let library = self.library;
                if let Some(value) = library.binary(self, bin, left, right, span) {
                    return value;
                }
                // What is not known may be an array, whose comparison is an array too.
                let tri = |t: Option<bool>| match t {
                    None if left.is_unknown() || right.is_unknown() => Value::Unknown,
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

    /// The class in `str(type(x))`: the beginning and the end of this string are known.
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

    /// Whether the string of a class contains another string.
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
        // The modules between the two have no names of other libraries.
        (libraries::find(part).is_some_and(|library| library.is_distinct) && !path.contains(part)).then_some(false)
    }

    /// `a is b`.
    pub(super) fn is_same(&self, a: &Value, b: &Value) -> Option<bool> {
        match (a, b) {
            (Value::Unknown, _) | (_, Value::Unknown) => None,
            (Value::None, Value::None) | (Value::Ellipsis, Value::Ellipsis) => Some(true),
            (Value::Bool(x), Value::Bool(y)) => Some(x == y),
            (Value::Obj(x), Value::Obj(y)) if x == y => Some(true),
            (Value::Obj(_), Value::Obj(_)) => self.are_members_apart(a, b).then_some(false),
            (Value::Path(x), Value::Path(y)) => (x == y).then_some(true),
            (Value::Dtype(x), Value::Dtype(y)) => Some(x == y),
            // An opaque value of a library may be None as well.
            (Value::Path(_), Value::None) | (Value::None, Value::Path(_)) => Some(false),
            (Value::None, _) | (_, Value::None) => Some(false),
            _ => None,
        }
    }

    /// `a == b` on Python's own values.
    fn is_plain_class(&self, id: crate::value::ObjId) -> bool {
        matches!(self.heap.get(id), Data::Class(class) if !class.open)
    }

    pub(super) fn equals(&self, a: &Value, b: &Value) -> Option<bool> {
        match (a, b) {
            (Value::Unknown | Value::Any(_), _) | (_, Value::Unknown | Value::Any(_)) => None,
            (Value::Str(x), Value::Str(y)) => Some(x == y),
            (Value::None, Value::None) => Some(true),
            (Value::None, other) | (other, Value::None) => match other {
                Value::Obj(id) => match self.heap.get(*id) {
                    Data::Instance(_) => None,
                    _ => Some(false),
                },
                _ => Some(false),
            },
            // Two classes, unless their metaclass compares them.
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
                // Two members of one enumeration, told by their capitals.
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
                // A list is equal to lists only, a tuple to tuples.
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
                // A number and a text, …
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

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Int(n) => *n == 0,
        Value::Bool(b) => !b,
        Value::Float(x) => *x == 0.0,
        _ => false,
    }
}

fn is_str(value: &Value) -> bool {
    value.is_text()
}

fn repeat(items: &[Value], times: i64) -> Option<Vec<Value>> {
    let times = usize::try_from(times.max(0)).ok()?;
    if items.len().checked_mul(times)? > 4096 {
        return None;
    }
    Some(items.iter().cycle().take(items.len() * times).cloned().collect())
}

fn less(a: &Value, b: &Value) -> Option<bool> {
    // Of a float, only where it cannot be NaN.
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

/// Arithmetic on integers, if the range of at least one is known.
fn ranged(op: BinOp, left: &Value, right: &Value) -> Option<Value> {
    let (x, y) = match (left, right) {
        (Value::Ranged(x), other) => (&x.range, other.int_range()?.0),
        (_, Value::Ranged(y)) => {
            let x = left.int_range()?.0;
            // `10 - label`
            return Some(match (op, left.as_f64()) {
                (BinOp::Add, Some(k)) => Value::ranged(y.range.map(|v| v + k), y.dense, y.at),
                (BinOp::Sub, Some(k)) => Value::ranged(y.range.map(|v| k - v), y.dense, y.at),
                (BinOp::Mul, Some(k)) => Value::ranged(y.range.map(|v| v * k), false, y.at),
                _ => Value::ranged(between(op, &x, &y.range)?, false, y.at),
            });
        }
        _ => return None,
    };
    let Value::Ranged(left) = left else { return None };
    let Some(k) = right.as_f64() else { return Some(Value::ranged(between(op, x, &y)?, false, left.at)) };
    Some(match op {
        BinOp::Add => Value::ranged(x.map(|v| v + k), left.dense, left.at),
        BinOp::Sub => Value::ranged(x.map(|v| v - k), left.dense, left.at),
        BinOp::Mul => Value::ranged(x.map(|v| v * k), false, left.at),
        BinOp::FloorDiv if k > 0.0 => Value::ranged(x.map(|v| (v / k).floor()), left.dense, left.at),
        BinOp::Mod if k > 0.0 => {
            let (first, last) = ((x.lo() / k).floor(), (x.hi() / k).floor());
            if x.parts().len() == 1 && first == last {
                // It never wraps around.
                Value::ranged(x.map(|v| v - k * first), left.dense, left.at)
            } else if left.dense && x.parts().len() == 1 && x.hi() - x.lo() + 1.0 >= k {
                Value::ranged(x.map(|v| if v == x.lo() { 0.0 } else { k - 1.0 }), true, left.at)
            } else {
                Value::ranged(Range::bounds(0.0, k - 1.0), false, left.at)
            }
        }
        _ => return None,
    })
}

/// Arithmetic of a number with a known range and a known number; the result is a float.
fn scaled(op: BinOp, left: &Value, right: &Value) -> Option<Value> {
    let ((x, at), (y, _)) = (left.range()?, right.range()?);
    let range = match (op, left.as_f64(), right.as_f64()) {
        (BinOp::Add, _, Some(k)) => x.map(|v| v + k),
        (BinOp::Sub, _, Some(k)) => x.map(|v| v - k),
        (BinOp::Mul, _, Some(k)) => x.map(|v| v * k),
        (BinOp::Div, _, Some(k)) if k != 0.0 => x.map(|v| v / k),
        (BinOp::Add, Some(k), _) => y.map(|v| v + k),
        (BinOp::Sub, Some(k), _) => y.map(|v| k - v),
        (BinOp::Mul, Some(k), _) => y.map(|v| v * k),
        _ => return None,
    };
    let known = !range.lo().is_nan() && !range.hi().is_nan();
    known.then(|| Value::floats(range, at))
}

/// The result for two integers of these ranges.
fn between(op: BinOp, x: &Range, y: &Range) -> Option<Range> {
    let (lo, hi) = match op {
        BinOp::Add => (x.lo() + y.lo(), x.hi() + y.hi()),
        BinOp::Sub => (x.lo() - y.hi(), x.hi() - y.lo()),
        BinOp::Mul if x.lo() >= 0.0 && y.lo() >= 0.0 => (x.lo() * y.lo(), x.hi() * y.hi()),
        _ => return None,
    };
    (!lo.is_nan() && !hi.is_nan()).then(|| Range::bounds(lo, hi))
}

/// Arithmetic on numbers, known or not.
fn numbers(op: BinOp, left: &Value, right: &Value, heap: &mut Heap) -> Option<Value> {
    let (lt, rt) = (left.number_type()?, right.number_type()?);
    if lt == Type::Complex || rt == Type::Complex {
        return Some(Value::Any(Type::Complex));
    }
    let float = lt == Type::Float || rt == Type::Float || op == BinOp::Div;
    if float {
        let known = match (left.as_f64(), right.as_f64()) {
            (Some(a), Some(b)) => match op {
                BinOp::Add => Some(a + b),
                BinOp::Sub => Some(a - b),
                BinOp::Mul => Some(a * b),
                BinOp::Div => (b != 0.0).then(|| a / b),
                BinOp::FloorDiv => (b != 0.0).then(|| (a / b).floor()),
                BinOp::Mod => (b != 0.0).then(|| a.rem_euclid(b)).filter(|_| b > 0.0),
                BinOp::Pow => Some(a.powf(b)),
                _ => return None,
            },
            _ => None,
        };
        return Some(known.map(Value::Float).or_else(|| scaled(op, left, right)).unwrap_or(Value::Any(Type::Float)));
    }
    if let Some(value) = ranged(op, left, right) {
        return Some(value);
    }
    let (a, b) = (left.as_size()?, right.as_size()?);
    Some(match op {
        BinOp::Add => Value::size(&a.add(&b)),
        BinOp::Sub => Value::size(&a.sub(&b)),
        BinOp::Mul => Value::size(&a.mul(&b)),
        BinOp::FloorDiv => match (&a, &b) {
            (Size::Int(_), Size::Int(0)) => return None,
            // Rounded down, as Euclid's is for what is divided by a positive number.
            (Size::Int(x), Size::Int(y)) => {
                let positive = if *y < 0 { x.checked_neg().zip(y.checked_neg()) } else { Some((*x, *y)) };
                let quotient = positive.and_then(|(x, y)| x.checked_div_euclid(y));
                quotient.map_or_else(|| Value::Any(Type::Int), Value::Int)
            }
            _ => match a.div_exact(&b) {
                Some(exact) => Value::size(&exact),
                None => {
                    let sign = match (a.at_least(), b.at_least(), b.known()) {
                        (Some(least), _, Some(by @ 1..)) if least >= by => Sign::Positive,
                        (Some(0..), Some(1..), _) => Sign::NotNegative,
                        _ => Sign::Any,
                    };
                    Value::size(&heap.derived("//", &[&a, &b], sign))
                }
            },
        },
        BinOp::Mod => match (&a, &b) {
            (Size::Int(_), Size::Int(0)) => return None,
            (Size::Int(x), Size::Int(y)) if *y > 0 => Value::Int(x.rem_euclid(*y)),
            (Size::Int(x), Size::Int(y)) => {
                let rest = x.checked_neg().zip(y.checked_neg()).and_then(|(x, y)| x.checked_rem_euclid(y));
                rest.map_or(Value::Any(Type::Int), |rest| Value::Int(-rest))
            }
            _ if a.div_exact(&b).is_some() => Value::Int(0),
            #[expect(clippy::cast_precision_loss, reason = "bounds of a range")]
            (_, Size::Int(y @ 1..)) => Value::ranged(Range::bounds(0.0, *y as f64 - 1.0), false, None),
            _ => Value::Any(Type::Int),
        },
        BinOp::Pow => match (&a, &b) {
            (Size::Int(x), Size::Int(y)) => match u32::try_from(*y) {
                Ok(y) => x.checked_pow(y).map_or(Value::Any(Type::Int), Value::Int),
                #[expect(clippy::cast_precision_loss, reason = "Python's own conversion")]
                Err(_) => Value::Float((*x as f64).powf(*y as f64)),
            },
            (_, Size::Int(y)) => Value::Any(if *y < 0 { Type::Float } else { Type::Int }),
            // A negative exponent makes it a float.
            _ => match right {
                Value::Size(_) | Value::Bool(_) | Value::Any(Type::Bool) => Value::Any(Type::Int),
                Value::Ranged(ranged) if ranged.range.lo() >= 0.0 => Value::Any(Type::Int),
                _ => Value::Unknown,
            },
        },
        BinOp::LShift | BinOp::RShift | BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => match (&a, &b) {
            (Size::Int(x), Size::Int(y)) => {
                let bools = lt == Type::Bool && rt == Type::Bool;
                let shift = || u32::try_from(*y).ok();
                let value = match op {
                    BinOp::BitAnd => Some(x & y),
                    BinOp::BitOr => Some(x | y),
                    BinOp::BitXor => Some(x ^ y),
                    BinOp::LShift => shift().filter(|s| *s < 62).and_then(|s| x.checked_mul(1 << s)),
                    _ => shift().filter(|s| *s < 63).map(|s| x >> s),
                };
                match value {
                    Some(n) if bools => Value::Bool(n != 0),
                    Some(n) => Value::Int(n),
                    None => Value::Any(Type::Int),
                }
            }
            _ if lt == Type::Bool && rt == Type::Bool => Value::Any(Type::Bool),
            _ => Value::Any(Type::Int),
        },
        _ => return None,
    })
}
