//! The objects on the heap, and their parts.

use std::rc::Rc;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::{Sym, Tensor, Value, sym};
use crate::syntax::{FileId, Span};

/// The identity of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ObjId(pub(super) u32);

impl ObjId {
    /// Whether the object was one of the first `n` objects.
    pub(crate) fn is_among_first(self, n: usize) -> bool {
        (self.0 as usize) < n
    }
}

/// A class that the program defines.
pub(crate) type ClassId = ObjId;

/// A function body, lambda, class body or generator expression, as an index into the interpreter's
/// code table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CodeId(pub u32);

pub(crate) type Attrs = IndexMap<Sym, Value, FxBuildHasher>;

/// Elements in order, or the join of all elements if their number is not known.
#[derive(Debug, Clone)]
pub(crate) enum Items {
    Exact(Vec<Value>),
    Many(Value),
}

/// A known key of a dictionary.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    None,
    Int(i64),
    Str(Rc<str>),
    Path(Sym),
    Obj(ObjId),
    Tuple(Vec<Key>),
}

impl Key {
    pub(crate) fn of(value: &Value) -> Option<Key> {
        Some(match value {
            Value::None => Key::None,
            Value::Int(n) => Key::Int(*n),
            Value::Bool(b) => Key::Int(i64::from(*b)),
            Value::Str(s) => Key::Str(s.clone()),
            Value::Path(p) => Key::Path(*p),
            Value::Dtype(d) => Key::Path(sym(d.name())),
            Value::Obj(id) => Key::Obj(*id),
            Value::Tuple(items) => Key::Tuple(items.iter().map(Key::of).collect::<Option<_>>()?),
            _ => return None,
        })
    }

    pub(crate) fn value(&self) -> Value {
        match self {
            Key::None => Value::None,
            Key::Int(n) => Value::Int(*n),
            Key::Str(s) => Value::Str(s.clone()),
            Key::Path(p) => Value::Path(*p),
            Key::Obj(id) => Value::Obj(*id),
            Key::Tuple(keys) => Value::tuple(keys.iter().map(Key::value).collect()),
        }
    }
}

/// A dictionary: the known entries, and the join of all other entries.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dict {
    pub entries: IndexMap<Key, Value, FxBuildHasher>,
    /// `Some` if there may be keys that are not listed.
    pub open: Option<Value>,
}

/// The names of a function call, a module or a class body.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    pub vars: Attrs,
    /// The enclosing scope, in which a name is looked up next.
    pub parent: Option<ObjId>,
}

/// A function or method of the program.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    pub code: CodeId,
    pub name: Sym,
    /// The dotted path: `model.Net.forward`.
    pub path: Sym,
    pub scope: ObjId,
    /// Defaults, evaluated when the function was defined.
    pub defaults: Vec<(Sym, Value)>,
    /// The class whose body contains it.
    pub owner: Option<ClassId>,
    pub attrs: Attrs,
}

/// A class that the program defines.
#[derive(Debug, Clone)]
pub(crate) struct UserClass {
    pub name: Sym,
    pub path: Sym,
    pub code: CodeId,
    pub bases: Vec<Value>,
    pub attrs: Attrs,
    /// The annotated names of the class body, in order; in a dataclass, they are the fields. `None`
    /// if paths differ.
    pub fields: Option<Vec<Sym>>,
    /// An unknown metaclass or base may have added members, or paths differ in the bases or fields.
    pub open: bool,
}

/// The attribute in which an instance of a container class stores its entries. Container classes
/// are `deque`, `Counter`, subclasses of `dict` and `list`, and similar classes.
pub(crate) const PAYLOAD: &str = "<items>";

/// An instance of a class of the program or of a library.
#[derive(Debug, Clone)]
pub(crate) struct Instance {
    /// A [`UserClass`] object, or the path of a library's class.
    pub class: Value,
    pub attrs: Attrs,
    /// Unseen code may have added or changed attributes.
    pub open: bool,
}

/// An iterator, with the elements that it yields.
#[derive(Debug, Clone)]
pub(crate) struct Iter {
    pub items: Items,
    /// Each element can be taken only once: true for `iter(…)`, false for `range(n)`.
    pub once: bool,
    /// The first of many elements, if it is known: 0 for `range(n)`.
    pub first: Option<Value>,
    /// The last of many elements, if it differs: a smaller batch.
    pub last: Option<Value>,
    /// Whether there is at least one element, if their number is not known.
    pub filled: bool,
    /// Code that runs when elements are requested; `items` is then unused.
    pub suspended: Option<Suspended>,
}

/// Code that runs when its elements or its result are requested: a generator, a coroutine, `map`.
#[derive(Debug, Clone)]
pub(crate) struct Suspended {
    pub source: Rc<Source>,
    pub progress: Progress,
}

/// How far suspended code has run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    Fresh,
    /// The code has run up to an unknown place.
    Started,
    Done,
}

/// The kind of suspended code.
#[derive(Debug)]
pub(crate) enum Source {
    /// The call of a generator function or of a coroutine function.
    Call {
        function: ObjId,
        vars: Attrs,
        first: Option<Value>,
        call: Span,
    },
    /// A generator expression: its place, and the iterable of its first loop.
    Expression {
        code: CodeId,
        scope: ObjId,
        iterable: Value,
        method: Option<(ClassId, Option<Value>)>,
    },
    Map {
        function: Value,
        over: Vec<Value>,
        call: Span,
    },
    Filter {
        function: Value,
        over: Value,
        call: Span,
    },
    Enumerate {
        over: Value,
        start: i64,
        call: Span,
    },
    /// The first argument that is suspended code runs step by step, as elements are requested; the
    /// other arguments run as a whole.
    Zip {
        over: Vec<Value>,
        call: Span,
    },
}

/// An object on the heap.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "most objects are tensors: boxing the largest kind costs allocations")]
pub(crate) enum Data {
    Scope(Scope),
    List(Items),
    Set(Items),
    Dict(Dict),
    Tensor(Tensor),
    Instance(Instance),
    Function(Function),
    Class(UserClass),
    Iter(Iter),
    /// A module of the project, with the scope of its globals.
    Module {
        file: FileId,
        scope: ObjId,
    },
}
