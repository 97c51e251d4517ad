//! Special methods that are in the table: `__getitem__`, `__len__`, `__iter__`, `__enter__`.

use super::Libraries;
use super::dispatch::join;
use super::table::table;
use crate::python::{Arg, Args, Interp};
use crate::syntax::Span;
use crate::value::{Items, Value, sym};

/// Calls a special method of an instance of a library's class, or of something that a
/// library holds itself (`os.environ`).
pub fn call(
    lib: &Libraries,
    it: &mut Interp<'_>,
    object: &Value,
    name: &str,
    args: &[Value],
    span: Span,
) -> Option<Value> {
    let args = Args::positional(args.iter().cloned(), span);
    if let Value::Path(path) = object {
        let path = join(*path, sym(name));
        table().functions.get(&path)?;
        return lib.call_function(it, path.as_str(), &args, span);
    }
    // An instance of the program's own class is asked for its library bases only where the
    // interpreter found no method of the program's.
    let class = it.mro_of(object).iter().find_map(|c| match c {
        Value::Path(path) => lib.find_method(*path, sym(name)).map(|found| found.0),
        _ => None,
    })?;
    let args = args.prepend(Arg::new(object.clone(), span));
    lib.call_function(it, class.as_str(), &args, span)
}

pub fn iterate(lib: &Libraries, it: &mut Interp<'_>, object: &Value, span: Span) -> Option<Items> {
    let inner = call(lib, it, object, "__iter__", &[], span)?;
    if inner.as_obj().is_some() && inner.as_obj() == object.as_obj() {
        return None;
    }
    Some(it.iterate(&inner, span))
}
