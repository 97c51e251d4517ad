//! Special methods of libraries that the interpreter does not find as attributes: those of an
//! object inside a module (`os.environ[…] = …`), and those for iteration over an instance of a
//! class.

use super::table::Tables;
use crate::python::{Args, Interp};
use crate::syntax::Span;
use crate::value::{Items, Type, Value, dotted, sym};

/// Calls a special method of an object that a library's module contains, such as `os.environ`.
pub(super) fn call(it: &mut Interp<'_>, object: &Value, name: &str, args: &[Value], span: Span) -> Option<Value> {
    let Value::Path(path) = object else { return None };
    let args = Args::positional(args.iter().cloned(), span);
    it.call_function(dotted(*path, sym(name)).as_str(), &args, span)
}

/// The elements of a loop over an instance of a library class. They come from the iterator that
/// `__iter__` returns. If the class has no `__iter__`, they come from calls of `__getitem__`.
/// Methods of the program take precedence; the interpreter handles them.
pub(super) fn iterate(tables: &Tables, it: &mut Interp<'_>, object: &Value, span: Span) -> Option<Items> {
    if goes_through(tables, it, object, "__iter__") {
        let inner = it.call_method(object, "__iter__", Args::default(), span);
        return (inner.as_obj() != object.as_obj()).then(|| it.iterate(&inner, span));
    }
    if goes_through(tables, it, object, "__getitem__") {
        let args = Args::positional([Value::Any(Type::Int)], span);
        return Some(Items::Many(it.call_method(object, "__getitem__", args, span)));
    }
    None
}

/// The element in the last iteration of a loop over an instance of a library class.
pub(super) fn last(tables: &Tables, it: &mut Interp<'_>, object: &Value, span: Span) -> Option<Value> {
    if !goes_through(tables, it, object, "__iter__") {
        return None;
    }
    let inner = it.call_method(object, "__iter__", Args::default(), span);
    if inner.as_obj() == object.as_obj() { None } else { it.last_of(&inner, span) }
}

/// Whether a loop over an instance calls this method of a library class. This is so if a library
/// class has the method, and no class of the program defines `__iter__` or the method.
fn goes_through(tables: &Tables, it: &Interp<'_>, object: &Value, method: &str) -> bool {
    it.heap.instance_of(object).is_some()
        && it.user_method(object, "__iter__").is_none()
        && it.user_method(object, method).is_none()
        && it
            .mro_of(object)
            .iter()
            .any(|class| matches!(class, Value::Path(path) if tables.method(*path, sym(method)).is_some()))
}
