//! Operators on Python's own values.

use super::arithmetic::{is_zero, numbers};
use super::interp::Interp;
use super::library::{BinOp, RejectKind, UnaryOp};
use super::overload::is_not_implemented;
use super::protocol::is_left_to_subclasses;
use crate::syntax::Span;
use crate::syntax::ast::{self, Operator};
use crate::value::{ArrayKind, Data, Items, Size, Type, Value, sym};

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

/// The arithmetic and bitwise operators.
const OPERATORS: &[BinOp] = &[
    BinOp::Add,
    BinOp::Sub,
    BinOp::Mul,
    BinOp::MatMul,
    BinOp::Div,
    BinOp::FloorDiv,
    BinOp::Mod,
    BinOp::Pow,
    BinOp::LShift,
    BinOp::RShift,
    BinOp::BitAnd,
    BinOp::BitOr,
    BinOp::BitXor,
];

impl Interp<'_> {
    pub(crate) fn binary(&mut self, op: BinOp, left: &Value, right: &Value, span: Span) -> Value {
        let library = self.library;
        if let Some(refused) = self.refuse_builtin_operand(op, [left, right], span) {
            return refused;
        }
        if let Some(value) = library.binary(self, op, left, right, span) {
            return value;
        }
        if matches!(op, BinOp::Div | BinOp::FloorDiv | BinOp::Mod) && is_zero(right) && left.number_type().is_some() {
            return self.raise("ZeroDivisionError");
        }
        if let Some(value) = numbers(op, left, right, &mut self.heap) {
            // The operation succeeds for numbers, but a later round may use it on a tensor and
            // fail.
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
            (BinOp::Mod, Value::Str(a), b) if self.refuse_percent(a, b, span) => return Value::Any(Type::Str),
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
            (op, left, right) if self.lacks_operator(op, left, right) => {
                return self.refuse_operator(op, left, right, span);
            }
            (op, left, right)
                if self.is_unsupported(op, left, right) || self.lacks_operator_of_types(op, left, right) =>
            {
                return self.refuse_operator(op, left, right, span);
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

    /// Whether Python certainly does not support the operator because one value is a function, or a module
    /// without operators. The other value must be of the same kind, a number, a string or `None`.
    fn lacks_operator(&self, op: BinOp, left: &Value, right: &Value) -> bool {
        let lacks = |value: &Value| self.is_sure_function(value) || self.has_no_operators(value);
        let (of_left, of_right) = (lacks(left), lacks(right));
        // `torch.layout | None` is a type.
        op != BinOp::BitOr
            && (of_left || of_right)
            && (of_left || is_plain(left))
            && (of_right || is_plain(right))
            && !(is_str(left) && op == BinOp::Mod)
    }

    /// Rejects an operator that Python does not support for these two values.
    pub(super) fn refuse_operator(&mut self, op: BinOp, left: &Value, right: &Value, span: Span) -> Value {
        // In a function that nothing calls, other code may have replaced the text by a path.
        if op == BinOp::Div && is_str(left) && is_str(right) && self.context.speculative {
            return self.raise("TypeError");
        }
        let described = |value: &Value| match self.heap.instance_of(value) {
            Some(_) => "a module".to_owned(),
            None => self.named(value),
        };
        let message = format!("`{}` does not accept {} and {}", sign(op), described(left), described(right));
        self.refuse_operation(&[left, right], message, span)
    }

    /// Rejects an operation that Python does not support for values of these types.
    pub(crate) fn refuse_operation(&mut self, values: &[&Value], message: String, span: Span) -> Value {
        // After an exception, the value is not the one that the program has. Programs find out the type of a
        // value by a `try` around the operation, or around the call of a function with it.
        let is_tried = || self.frames.iter().rev().take(2).any(|frame| frame.handling > 0);
        let is_annotated = || values.iter().any(|value| self.may_be_annotated(value));
        // The operation succeeded in the first round of a loop that may have no second one.
        if !self.stopped && !self.context.in_doubt && !is_tried() && !is_annotated() {
            self.report_missing(RejectKind::Operation, message, span);
        }
        self.raise("TypeError")
    }

    /// Whether the type of a value is perhaps known only from an annotation, which may be wrong.
    pub(crate) fn may_be_annotated(&self, value: &Value) -> bool {
        self.context.speculative
            && match value {
                Value::Any(Type::Int | Type::Float) => self.supposes_numbers,
                Value::Any(_) | Value::Among(_) => true,
                _ => false,
            }
    }

    /// Whether Python certainly does not support the operator for these two values. False if
    /// neither is a string, a number or `None`.
    fn is_unsupported(&self, op: BinOp, left: &Value, right: &Value) -> bool {
        let (collection, other) = if is_plain(left) { (right, left) } else { (left, right) };
        if is_plain(collection) || !is_plain(other) || is_str(left) && op == BinOp::Mod {
            return is_unsupported_plain(op, left, right);
        }
        let is_sequence = match collection {
            Value::Tuple(_) => true,
            Value::Obj(id) => match self.heap.get(*id) {
                Data::List(_) => true,
                Data::Dict(_) | Data::Set(_) => return true,
                _ => return false,
            },
            _ => return false,
        };
        // A number without an exact value may be a NumPy scalar. If one operand is a NumPy scalar, NumPy
        // converts the other operand, a sequence, to an array.
        is_sequence
            && match other {
                Value::Int(_) | Value::Bool(_) | Value::Size(_) => op != BinOp::Mul,
                other => !matches!(other, Value::Any(_) | Value::Ranged(_) | Value::Floats(_)),
            }
    }

    /// Whether a value is certainly a function or a method.
    pub(super) fn is_sure_function(&self, value: &Value) -> bool {
        match value {
            Value::Bound(pair) => match pair.1.as_obj().map(|id| self.heap.get(id)) {
                // A subclass may have a property of this name.
                Some(Data::Function(function)) => {
                    self.is_undecorated(function) && !self.def_of(value).is_some_and(is_left_to_subclasses)
                }
                _ => false,
            },
            Value::Obj(id) if let Data::Function(function) = self.heap.get(*id) => {
                function.owner.is_none() && self.is_undecorated(function)
            }
            value => self.library.is_method(&self.heap, value),
        }
    }

    /// Whether a value is a module whose class certainly has no arithmetic or bitwise operators.
    fn has_no_operators(&self, value: &Value) -> bool {
        let (words, line) = (self.library.words(), self.mro_of(value));
        self.is_instance(value, words.module)
            && line.iter().all(|class| match class {
                Value::Path(path) => !words.modules_with_operators.contains(&path.as_str()),
                Value::Obj(id) => match self.heap.get(*id) {
                    Data::Class(class) => !class.open && !class.attrs.keys().any(|name| is_operator(name.as_str())),
                    _ => false,
                },
                _ => false,
            })
    }

    /// An operator on lists, sets or dicts.
    fn sequences(&mut self, op: BinOp, left: &Value, right: &Value) -> Option<Value> {
        let data = |it: &Self, v: &Value| v.as_obj().map(|id| it.heap.get(id).clone());
        match (op, data(self, left), data(self, right)) {
            (BinOp::Add, Some(Data::List(a)), Some(Data::List(b))) => {
                let items = a.followed_by(b, &mut self.heap);
                Some(Value::Obj(self.heap.alloc(Data::List(items))))
            }
            (BinOp::Mul, Some(Data::List(a)), _) if may_repeat(&a, right) => Some(self.repeat_list(a, right)),
            (BinOp::Mul, _, Some(Data::List(b))) if may_repeat(&b, left) => Some(self.repeat_list(b, left)),
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
            _ => match items.element(&mut self.heap) {
                // The elements of `[None] * n` are places for other values.
                Value::None => Items::Many(Value::Unknown),
                element => Items::Many(element),
            },
        }
    }

    /// `list *= n`, `set |= other` and similar statements, which change the left operand. Returns
    /// false for other operands.
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
            // NumPy adds the elements: the result is an array.
            && self.heap.tensor_ref(right).is_none_or(|t| t.array != ArrayKind::Numpy)
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

    /// Whether a value is a list, a tuple or a known string. For such a value, `-x`, `+x` and `~x`
    /// raise a `TypeError`, and so does `x[i]` if `i` is a string, a tuple, a float or `None`.
    pub(super) fn is_plain_sequence(&self, value: &Value) -> bool {
        match value {
            Value::Tuple(_) | Value::Str(_) => true,
            Value::Obj(id) => matches!(self.heap.get(*id), Data::List(_)),
            _ => false,
        }
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
                    None if self.is_plain_sequence(operand) || operand.is_none() => {
                        let message = format!("the sign of {} cannot change", self.named(operand));
                        self.refuse_operation(&[operand], message, span)
                    }
                    None => Value::Unknown,
                }
            }
        }
    }
}

/// Whether Python certainly does not support the operator for these two values. False if an operand
/// is not a string, a number or `None`.
fn is_unsupported_plain(op: BinOp, left: &Value, right: &Value) -> bool {
    if !is_plain(left) || !is_plain(right) {
        return false;
    }
    // A string can be repeated by an integer.
    let counts = |v: &Value| !matches!(v, Value::Float(_)) && v.number_type().is_some();
    match op {
        _ if left.is_none() || right.is_none() => !(op == BinOp::Mod && is_str(left)),
        BinOp::Add => is_str(left) != is_str(right),
        BinOp::Mod => is_str(right) && !is_str(left),
        BinOp::Mul => is_str(left) && !counts(right) || is_str(right) && !counts(left),
        _ => is_str(left) || is_str(right),
    }
}

/// Whether a value is certainly `None`, a string or a number.
pub(super) fn is_plain(value: &Value) -> bool {
    value.is_none() || is_str(value) || value.number_type().is_some()
}

/// Whether a method of this name overloads an operator.
fn is_operator(name: &str) -> bool {
    OPERATORS.iter().any(|op| {
        let (own, reflected) = dunder(*op);
        name == own || name == reflected
    })
}

/// The operator as Python writes it.
pub(crate) fn sign(op: BinOp) -> &'static str {
    match op {
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::Mul => "*",
        BinOp::MatMul => "@",
        BinOp::Div => "/",
        BinOp::FloorDiv => "//",
        BinOp::Mod => "%",
        BinOp::Pow => "**",
        BinOp::LShift => "<<",
        BinOp::RShift => ">>",
        BinOp::BitAnd => "&",
        BinOp::BitOr => "|",
        BinOp::BitXor => "^",
        BinOp::Eq => "==",
        BinOp::Ne => "!=",
        BinOp::Lt => "<",
        BinOp::Le => "<=",
        BinOp::Gt => ">",
        BinOp::Ge => ">=",
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

/// Whether `list * times` repeats the list. If `times` is unknown, it may also be an array, by
/// which NumPy multiplies the elements; then only a list of one element is assumed to be repeated.
fn may_repeat(list: &Items, times: &Value) -> bool {
    !times.is_unknown() || matches!(list, Items::Exact(items) if items.len() == 1)
}
