//! Abstract values: plain data with joins, independent of the syntax tree and of the models of
//! libraries.
//!
//! An unknown fact is `None`, `Unknown` or absent. A fact may have an [`Origin`], the place that
//! created it, for the labels of diagnostics.

#[macro_use]
mod kinds;

mod broadcast;
mod device;
mod dtype;
mod equal;
mod form;
mod heap;
mod join;
#[cfg(test)]
mod laws;
mod note;
mod object;
mod range;
mod render;
mod renew;
mod size;
mod symbol;
mod tensor;

use std::rc::Rc;

use crate::syntax::{FileId, Span};

pub(crate) use broadcast::{broadcast_dim, broadcast_ends, broadcast_pair, broadcastable, not_one};
pub(crate) use device::{Device, DeviceKind};
pub(crate) use dtype::{Dtype, Kind, promote};
pub(crate) use equal::same;
pub(crate) use form::{Form, InstanceForm, Length, TensorForm};
pub(crate) use heap::{Delta, Heap, Journal, Mark, Written, is_mark};
pub(crate) use join::{join, texts_of};
pub(crate) use note::{Note, State, Topic};
pub(crate) use object::{
    Attrs, ClassId, CodeId, Data, Dict, Function, Instance, Items, Iter, Key, ObjId, PAYLOAD, Progress, Scope, Source,
    Suspended, UserClass,
};
pub(crate) use range::{Met, Range, write_parts};
pub(crate) use render::{kind_text, origins, to_json, to_text};
pub(crate) use size::{Poly, Sign, Size, Symbol};
pub(crate) use symbol::{Sym, dotted, sym};
pub(crate) use tensor::{ArrayKind, Dim, Grad, Past, Picks, Role, Tensor, counted, dims_text};

/// The origin of a fact; `None` if there is no place to show.
pub(crate) type Origin = Option<Span>;

/// A known Python type, with nothing known about the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Type {
    Bool,
    Int,
    Float,
    Complex,
    Str,
    Bytes,
}

/// The abstract value of an expression.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    /// Nothing is known.
    Unknown,
    /// A value of unknown type whose tensors are on a known device.
    Open(Rc<Open>),
    None,
    Ellipsis,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Rc<str>),
    /// An integer that is a known expression of unknown symbols: `B`, `H*W`.
    Size(Rc<Poly>),
    /// A value of a known type.
    Any(Type),
    /// An integer with known possible values, such as a label.
    Ranged(Rc<Ranged>),
    /// A float with known possible values, such as a label that was converted.
    Floats(Rc<Ranged>),
    /// One of several known strings, such as the name of a label.
    Among(Rc<Among>),
    Tuple(Rc<[Value]>),
    /// `a:b:c` inside a subscript.
    Slice(Rc<[Value; 3]>),
    Dtype(Dtype),
    Device(Device),
    /// A member of a library, by its canonical dotted path: a module, function, class or enum
    /// member.
    Path(Sym),
    /// An object with identity, on the heap.
    Obj(ObjId),
    /// A function with its first argument already given: `obj.method`.
    Bound(Rc<(Value, Value)>),
    /// A method of a library's value, by name: `tensor.view`, `"abc".split`.
    Method(Rc<(Value, Sym)>),
    /// `super()` for a class, with the instance.
    Super(Rc<(ClassId, Value)>),
    /// A name of a lazily executed module: the statements that bind it run when it is first used.
    Lazy(Rc<Lazy>),
    /// `functools.partial` and similar: a callee with arguments already given.
    Partial(Rc<Partial>),
    /// The rule states of the paths that lead here. No expression of the program has this value.
    Fates(Rc<[State]>),
}

/// What is known about a value of unknown type: a tensor, a module, or an object that contains
/// tensors, such as the tuple or dictionary that a model returns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Open {
    /// The device of the tensors in the value.
    pub device: Device,
    pub device_at: Origin,
    /// How the tensors take part in autograd.
    pub grad: Grad,
}

impl Open {
    /// The value as a tensor.
    pub(crate) fn tensor(&self) -> Tensor {
        Tensor { grad: self.grad, ..Tensor::default() }.with_device(Some(self.device), self.device_at)
    }
}

/// `from module import name`, not yet executed; without a name, the module itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lazy {
    pub file: crate::syntax::FileId,
    pub module: Sym,
    pub name: Option<Sym>,
}

/// The possible values of a number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ranged {
    pub range: Range,
    /// Whether the number takes every value of the range, like an index. If false, it may take only
    /// some of the values, like a label. For a float: whether it cannot be NaN.
    pub dense: bool,
    /// For the end of a slice: its distance from the slice's start.
    pub span: Option<Size>,
    pub at: Origin,
}

/// The possible values of a string.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Among {
    pub texts: Vec<Rc<str>>,
    pub taken: Taken,
}

/// How certain it is that each possible value occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// Any of them may occur; some may never occur.
    Perhaps,
    /// Each occurs in some run: they are drawn at random.
    Drawn,
    /// Each occurs in every pass over the data.
    Each,
}

impl Taken {
    /// The weaker of the two.
    pub(crate) fn weaker(self, other: Taken) -> Taken {
        match (self, other) {
            (Taken::Each, Taken::Each) => Taken::Each,
            (Taken::Perhaps, _) | (_, Taken::Perhaps) => Taken::Perhaps,
            (Taken::Drawn | Taken::Each, Taken::Drawn) | (Taken::Drawn, Taken::Each) => Taken::Drawn,
        }
    }
}

/// A callee with arguments that precede those of the call.
#[derive(Debug, Clone)]
pub(crate) struct Partial {
    pub func: Value,
    pub args: Vec<Value>,
    pub kwargs: Vec<(Sym, Value)>,
}

impl Value {
    pub(crate) fn str(text: &str) -> Value {
        Value::Str(Rc::from(text))
    }

    /// A place in the program that libraries and rules store as a value.
    pub(crate) fn place(span: Span) -> Value {
        Value::tuple([span.file.0, span.start, span.end].map(|n| Value::Int(n.into())).to_vec())
    }

    pub(crate) fn as_place(&self) -> Option<Span> {
        let Value::Tuple(parts) = self else { return None };
        let [file, start, end] = &**parts else { return None };
        let part = |value: &Value| u32::try_from(value.as_int()?).ok();
        Some(Span { file: FileId(part(file)?), start: part(start)?, end: part(end)? })
    }

    pub(crate) fn path(path: &str) -> Value {
        Value::Path(sym(path))
    }

    pub(crate) fn tuple(items: Vec<Value>) -> Value {
        Value::Tuple(Rc::from(items))
    }

    pub(crate) fn size(size: &Size) -> Value {
        match size {
            Size::Int(n) => Value::Int(*n),
            Size::Expr(poly) => Value::Size(poly.clone()),
            Size::Unknown => Value::Any(Type::Int),
        }
    }

    /// An integer with this range; a range of one value gives a known integer.
    pub(crate) fn ranged(range: Range, dense: bool, at: Origin) -> Value {
        #[expect(clippy::cast_possible_truncation, reason = "the bound is checked")]
        if range.lo() == range.hi() && range.lo().abs() < 9e15 && range.lo().fract() == 0.0 {
            return Value::Int(range.lo() as i64);
        }
        Value::Ranged(Rc::new(Ranged { range, dense, span: None, at }))
    }

    /// Whether the value is an index with which a loader requests a sample: in a pass over the
    /// data, it takes every value.
    pub(crate) fn is_sample_index(&self) -> bool {
        matches!(self, Value::Ranged(ranged) if ranged.dense && ranged.range.epoch)
    }

    /// A float with this range; a range of one value gives a known float.
    pub(crate) fn floats(range: Range, at: Origin) -> Value {
        if range.lo() == range.hi() {
            return Value::Float(range.lo());
        }
        Value::Floats(Rc::new(Ranged { range, dense: false, span: None, at }))
    }

    /// The range of a number and its origin, if known.
    pub(crate) fn range(&self) -> Option<(Range, Origin)> {
        match self {
            Value::Floats(floats) => Some((floats.range.clone(), floats.at)),
            Value::Float(x) => Some((Range::of_values(&[*x])?, None)),
            Value::Any(Type::Bool) => Some((Range::bounds(0.0, 1.0), None)),
            other => other.int_range(),
        }
    }

    /// The range of an integer and its origin, if known.
    pub(crate) fn int_range(&self) -> Option<(Range, Origin)> {
        match self {
            Value::Ranged(ranged) => Some((ranged.range.clone(), ranged.at)),
            Value::Int(_) | Value::Bool(_) => Some((Range::of_values(&[self.as_f64()?])?, None)),
            _ => None,
        }
    }

    /// Whether it is a string, known or not.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self, Value::Str(_) | Value::Among(_) | Value::Any(Type::Str))
    }

    /// Whether the type of the value is unknown.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self, Value::Unknown | Value::Open(_))
    }

    /// The elements of a tuple; of another value, the value itself.
    pub(crate) fn parts(&self) -> &[Value] {
        match self {
            Value::Tuple(parts) => parts,
            one => std::slice::from_ref(one),
        }
    }

    /// Whether it is a known constant: `None`, a number, or a string.
    pub(crate) fn is_constant(&self) -> bool {
        matches!(self, Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_))
    }

    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Value::None)
    }

    /// The integer, if known; `True` is 1, as in Python.
    pub(crate) fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(n) => Some(*n),
            Value::Bool(b) => Some(i64::from(*b)),
            _ => None,
        }
    }

    /// The value as the size of a dimension: an integer, an expression, or unknown. `None` if it
    /// cannot be an integer.
    pub(crate) fn as_size(&self) -> Option<Size> {
        match self {
            Value::Int(n) => Some(Size::Int(*n)),
            Value::Bool(b) => Some(Size::Int(i64::from(*b))),
            Value::Size(poly) => Some(Size::Expr(poly.clone())),
            Value::Unknown | Value::Open(_) | Value::Ranged(_) | Value::Any(Type::Int | Type::Bool) => {
                Some(Size::Unknown)
            }
            _ => None,
        }
    }

    pub(crate) fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Float(x) => Some(*x),
            #[expect(clippy::cast_precision_loss, reason = "only a bound of a range")]
            other => other.as_int().map(|n| n as f64),
        }
    }

    pub(crate) fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(b) => Some(*b),
            _ => None,
        }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(s) => Some(s),
            _ => None,
        }
    }

    pub(crate) fn as_obj(&self) -> Option<ObjId> {
        match self {
            Value::Obj(id) => Some(*id),
            _ => None,
        }
    }

    pub(crate) fn as_path(&self) -> Option<&'static str> {
        match self {
            Value::Path(path) => Some(path.as_str()),
            _ => None,
        }
    }

    /// The type of a number, known or not: integer, float, bool or complex. `None` for other
    /// values.
    pub(crate) fn number_type(&self) -> Option<Type> {
        match self {
            Value::Bool(_) | Value::Any(Type::Bool) => Some(Type::Bool),
            Value::Int(_) | Value::Size(_) | Value::Ranged(_) | Value::Any(Type::Int) => Some(Type::Int),
            Value::Float(_) | Value::Floats(_) | Value::Any(Type::Float) => Some(Type::Float),
            Value::Any(Type::Complex) => Some(Type::Complex),
            _ => None,
        }
    }
}
