//! The interpreter's state, and what libraries may ask of it.

use super::{Args, Bound, Event, Library, Observer, Rejection};
use crate::syntax::Span;
use crate::value::{Data, Heap, Items, ObjId, Sym, Value, sym};

/// One abstract execution of a program.
pub struct Interp<'p> {
    pub heap: Heap,
    pub(super) library: &'p dyn Library,
    pub(super) observer: &'p dyn Observer,
    /// An object for what a library must remember (default dtype and device, modes): on the
    /// heap, so that branches undo and join it.
    pub state: ObjId,
}

impl<'p> Interp<'p> {
    pub fn new(library: &'p dyn Library, observer: &'p dyn Observer) -> Interp<'p> {
        let mut heap = Heap::new();
        let state = heap.instance(Value::path("torchvet.state"));
        Interp { heap, library, observer, state }
    }

    /// Calls anything that can be called.
    pub fn call(&mut self, callee: &Value, args: Args, span: Span) -> Value {
        match callee {
            Value::Path(path) => self.library.call(self, *path, args, span),
            _ => Value::Unknown,
        }
    }

    /// `object.name(…)`.
    pub fn call_method(&mut self, object: &Value, name: &str, args: Args, span: Span) -> Value {
        let method = self.getattr(object, sym(name), span);
        self.call(&method, args, span)
    }

    /// `object.name`; unknown where it is not known to exist.
    pub fn getattr(&mut self, _object: &Value, _name: Sym, _span: Span) -> Value {
        Value::Unknown
    }

    /// `object.name`, or `None` where it is not known to exist.
    pub fn try_getattr(&mut self, _object: &Value, _name: Sym, _span: Span) -> Option<Value> {
        None
    }

    pub fn setattr(&mut self, _object: &Value, _name: Sym, _value: Value, _span: Span) {}

    /// `object[index]`.
    pub fn subscript(&mut self, _object: &Value, _index: &Value, _span: Span) -> Value {
        Value::Unknown
    }

    /// What a loop over the value yields.
    pub fn iterate(&mut self, _object: &Value, _span: Span) -> Items {
        Items::Many(Value::Unknown)
    }

    /// `len(object)`.
    pub fn length(&mut self, _object: &Value, _span: Span) -> Value {
        Value::Unknown
    }

    /// Whether the value is true; `None` where that is not known.
    pub fn truth(&mut self, _value: &Value) -> Option<bool> {
        None
    }

    /// The classes of an instance, nearest first: classes of the program as [`Value::Obj`],
    /// of libraries as [`Value::Path`]. Empty for what is no instance.
    pub fn mro_of(&self, _object: &Value) -> Vec<Value> {
        Vec::new()
    }

    /// Whether a value is an instance of the library's class or of a subclass of it.
    pub fn is_instance(&self, object: &Value, class: &str) -> bool {
        self.mro_of(object).iter().any(|c| c.as_path() == Some(class))
    }

    /// Makes an object forget what an unseen function may have changed in it: the contents
    /// of lists and dicts.
    pub fn havoc(&mut self, _value: &Value) {}

    /// Tells the observer of a library function's call.
    pub fn announce(&mut self, path: Sym, bound: &Bound, span: Span) {
        let observer = self.observer;
        observer.call(self, path, bound, span);
    }

    /// Tells the observer that a library refuses a call.
    pub fn reject(&mut self, rejection: Rejection) {
        let observer = self.observer;
        observer.rejected(self, rejection);
    }

    pub fn event(&mut self, event: Event<'_>) {
        let observer = self.observer;
        observer.event(self, event);
    }

    /// What a library remembered under a name.
    pub fn remembered(&self, name: &str) -> Option<Value> {
        self.heap.attr(self.state, name)
    }

    pub fn remember(&mut self, name: &str, value: Value) {
        let state = self.state;
        self.heap.set_attr(state, name, value);
    }

    pub fn is_callable_object(&self, value: &Value) -> bool {
        matches!(value.as_obj().map(|id| self.heap.get(id)), Some(Data::Function(_) | Data::Class(_)))
    }
}
