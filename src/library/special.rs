//! Special methods that are in the table, where the interpreter does not find them as
//! attributes: of what a library holds itself (`os.environ[…] = …`), and loops.

use super::Libraries;
use super::dispatch::join;
use crate::python::{Args, Interp};
use crate::syntax::Span;
use crate::value::{Items, Type, Value, sym};

/// Calls a special method of something that a library holds itself.
pub fn call(
    lib: &Libraries,
    it: &mut Interp<'_>,
    object: &Value,
    name: &str,
    args: &[Value],
    span: Span,
) -> Option<Value> {
    let Value::Path(path) = object else { return None };
    let args = Args::positional(args.iter().cloned(), span);
    lib.call_function(it, join(*path, sym(name)).as_str(), &args, span)
}

/// What a loop over an instance of a library's class yields: what `__iter__` gives, or any
/// item. Methods of the program come first, which is the interpreter's to do.
pub fn iterate(lib: &Libraries, it: &mut Interp<'_>, object: &Value, span: Span) -> Option<Items> {
    it.heap.instance_of(object)?;
    if it.user_method(object, "__iter__").is_some() || it.user_method(object, "__getitem__").is_some() {
        return None;
    }
    let classes = it.mro_of(object);
    let has = |name: &str| {
        classes.iter().any(|c| matches!(c, Value::Path(path) if lib.find_method(*path, sym(name)).is_some()))
    };
    if has("__iter__") {
        let inner = it.call_method(object, "__iter__", Args::default(), span);
        return (inner.as_obj() != object.as_obj()).then(|| it.iterate(&inner, span));
    }
    if has("__getitem__") {
        let args = Args::positional([Value::Any(Type::Int)], span);
        return Some(Items::Many(it.call_method(object, "__getitem__", args, span)));
    }
    None
}
