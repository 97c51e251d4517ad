//! `open`, `pathlib.Path` and `os.path`, as far as they are needed to find settings files.

use std::rc::Rc;

use crate::library::common::{any_bool, any_int, instance, itself, none, unknown};
use crate::library::{Cx, Table};
use crate::python::{Args, Bound, RejectKind};
use crate::value::{Sym, Topic, Type, Value, sym};

const FILE: &str = "io.TextIOWrapper";
const PATH: &str = "pathlib.Path";
const TEXT: &str = "text";
/// A note for a path: the script may have opened the file for writing.
const WRITTEN: Topic = Topic::new("written file");

pub(crate) fn register(t: &mut Table) {
    t.class(FILE, &[], "").keeps_arguments = false;
    t.def(
        "io.open",
        "file, mode='r', buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None",
        open,
    );
    t.family("io.TextIOWrapper.", "__enter__", "self", itself);
    t.def("io.TextIOWrapper.readlines", "self, hint=-1", lines);
    t.def("io.TextIOWrapper.__iter__", "self", lines);
    t.def("io.TextIOWrapper.readline", "self, size=-1", |cx, b| line(cx, &b.get("self")));
    t.family("io.TextIOWrapper.", "write tell seek", "self, *args", any_int);
    t.family("io.TextIOWrapper.", "close flush writelines", "self, *args", none);
    t.def("io.TextIOWrapper.read", "self, size=-1", |cx, b| read(cx, &b.get("self"), Type::Str));

    let class = t.class(PATH, &[], "*parts");
    class.keeps_arguments = false;
    class.make = Some(|cx, b| {
        let parts: Vec<Value> = b.rest.iter().map(|a| a.value.clone()).collect();
        join(cx, &parts)
    });
    class.attribute = Some(path_attribute);
    t.def("pathlib.Path.__truediv__", "self, other", |cx, b| join(cx, &[b.get("self"), b.get("other")]));
    t.def("pathlib.Path.__rtruediv__", "self, other", |cx, b| join(cx, &[b.get("other"), b.get("self")]));
    t.family("pathlib.Path.", "__add__ __radd__", "self, other", |cx, b| {
        if matches!(b.get("other"), Value::Str(_) | Value::Among(_) | Value::Any(Type::Str)) {
            let message = "a path and a string cannot be added: use `/`, or `str(path)`";
            cx.reject(RejectKind::Value, message, Vec::new());
        }
        Value::Unknown
    });
    t.def("pathlib.Path.joinpath", "self, *others", |cx, b| {
        let parts: Vec<Value> = std::iter::once(b.get("self")).chain(b.rest.iter().map(|a| a.value.clone())).collect();
        join(cx, &parts)
    });
    t.family("pathlib.Path.", "resolve absolute expanduser", "self, **kwargs", itself);
    t.family("pathlib.Path.", "exists is_file is_dir", "self, **kwargs", any_bool);
    t.family("pathlib.Path.", "mkdir unlink touch rmdir write_text write_bytes", "self, *args, **kwargs", none);
    t.family("pathlib.Path.", "with_suffix with_name with_stem relative_to", "self, *args", |cx, _| {
        join(cx, &[Value::Unknown])
    });
    t.family("pathlib.Path.", "glob rglob iterdir", "self, *args", |cx, _| {
        let one = join(cx, &[Value::Unknown]);
        cx.list_of(one)
    });
    t.family("pathlib.Path.", "as_posix __str__ __fspath__", "self", |cx, b| text_or_any(cx, &b.get("self")));
    t.def("pathlib.Path.read_text", "self, encoding=None, errors=None", |cx, b| {
        file_text(cx, &b.get("self")).map_or(Value::Any(Type::Str), Value::Str)
    });
    t.def("pathlib.Path.read_bytes", "self", unknown);
    t.def("pathlib.Path.open", "self, mode='r', **kwargs", |cx, b| {
        let args = Args::positional([b.get("self"), b.get("mode")], cx.span);
        cx.call(&Value::path("io.open"), args)
    });
    t.family("pathlib.Path.", "cwd home", "", |cx, _| join(cx, &[Value::Unknown]));
    for name in ["pathlib.PurePath", "pathlib.PosixPath", "pathlib.PurePosixPath"] {
        t.alias(name, PATH);
    }
    t.def("os.path.join", "*parts", |cx, b| {
        let parts: Vec<Value> = b.rest.iter().map(|a| a.value.clone()).collect();
        joined(cx, &parts).map_or(Value::Any(Type::Str), |text| Value::str(&text))
    });
    // The paths of project files are relative to the root of the project; folders above the root do
    // not matter.
    t.family("os.path.", "abspath realpath normpath expanduser", "path, **kwargs", |_, b| {
        b.values
            .first()
            .and_then(|a| a.as_ref())
            .map(|a| a.value.clone())
            .filter(Value::is_text)
            .unwrap_or(Value::Any(Type::Str))
    });
    t.def("os.path.dirname", "p", |_, b| b.get("p").as_str().map_or(Value::Any(Type::Str), |p| Value::str(parent(p))));
    t.def("os.path.basename", "p", |_, b| {
        let name = |p: &str| Value::str(p.rsplit('/').next().unwrap_or(p));
        b.get("p").as_str().map_or(Value::Any(Type::Str), name)
    });
}

fn open(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (name, mode) = (b.get("file"), b.get("mode"));
    let writes = mode.as_str().is_none_or(|mode| mode.contains(['w', 'a', 'x', '+']));
    if let Some(path) = path_text(cx, &name).filter(|_| writes) {
        cx.it.remember(WRITTEN.of(sym(&path)), Value::Bool(true));
    }
    let binary = mode.as_str().map_or(Value::Any(Type::Bool), |mode| Value::Bool(mode.contains('b')));
    instance(cx, FILE, vec![("name", name), ("binary", binary)])
}

/// The text of a path, if it is known.
fn path_text(cx: &Cx<'_, '_>, path: &Value) -> Option<String> {
    match path {
        Value::Str(text) => Some(text.to_string()),
        path => cx.attr(path, TEXT).as_str().map(str::to_owned).filter(|_| cx.it.is_instance(path, PATH)),
    }
}

fn text_or_any(cx: &mut Cx<'_, '_>, path: &Value) -> Value {
    path_text(cx, path).map_or(Value::Any(Type::Str), |text| Value::str(&text))
}

fn path_attribute(cx: &mut Cx<'_, '_>, path: &Value, name: Sym) -> Option<Value> {
    let text = path_text(cx, path);
    let last = text.as_deref().map(|text| text.rsplit('/').next().unwrap_or(text));
    let known = |text: Option<&str>| text.map_or(Value::Any(Type::Str), Value::str);
    Some(match name.as_str() {
        "parent" => {
            let parent = text.as_deref().map_or(Value::Unknown, |text| Value::str(parent(text)));
            join(cx, &[parent])
        }
        "name" => known(last),
        "stem" => known(last.map(|last| last.rsplit_once('.').map_or(last, |(stem, _)| stem))),
        "suffix" => Value::Any(Type::Str),
        "parts" => cx.list_of(Value::Any(Type::Str)),
        "parents" => {
            let one = join(cx, &[Value::Unknown]);
            cx.list_of(one)
        }
        _ => return None,
    })
}

/// The text that a reader gets: the argument itself, or the content of an open file.
pub(crate) fn text_of(cx: &mut Cx<'_, '_>, source: &Value) -> Option<Rc<str>> {
    if let Value::Str(text) = source {
        return Some(text.clone());
    }
    let name = cx.it.is_instance(source, FILE).then(|| cx.attr(source, "name"))?;
    file_text(cx, &name)
}

/// The content of a project file, by its path.
pub(crate) fn file_text(cx: &mut Cx<'_, '_>, path: &Value) -> Option<Rc<str>> {
    let path = path_text(cx, path)?;
    let path = path.as_str();
    if cx.it.remembered(WRITTEN.of(sym(path))).is_some() {
        return None;
    }
    cx.it.data_file(path).map(Rc::from)
}

fn read(cx: &mut Cx<'_, '_>, file: &Value, otherwise: Type) -> Value {
    if cx.attr(file, "binary").as_bool() != Some(false) {
        return Value::Unknown;
    }
    text_of(cx, file).map_or(Value::Any(otherwise), Value::Str)
}

/// A line of a file.
fn line(cx: &Cx<'_, '_>, file: &Value) -> Value {
    match cx.attr(file, "binary").as_bool() {
        Some(false) => Value::Any(Type::Str),
        Some(true) => Value::Any(Type::Bytes),
        None => Value::Unknown,
    }
}

fn lines(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let line = line(cx, &b.get("self"));
    cx.list_of(line)
}

fn join(cx: &mut Cx<'_, '_>, parts: &[Value]) -> Value {
    let text = joined(cx, parts).map_or(Value::Any(Type::Str), |text| Value::str(&text));
    instance(cx, PATH, vec![(TEXT, text)])
}

fn joined(cx: &Cx<'_, '_>, parts: &[Value]) -> Option<String> {
    let parts: Option<Vec<String>> = parts.iter().map(|part| path_text(cx, part)).collect();
    Some(joined_texts(&parts?))
}

fn joined_texts(parts: &[String]) -> String {
    let mut out = String::new();
    for part in parts {
        if part.starts_with('/') {
            out.clear();
        } else if !out.is_empty() && !out.ends_with('/') {
            out.push('/');
        }
        out.push_str(part);
    }
    out
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_as_python_joins_them() {
        let of = |parts: &[&str]| joined_texts(&parts.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["a", "b.yaml"]), "a/b.yaml");
        assert_eq!(of(&["", "b.yaml"]), "b.yaml");
        assert_eq!(of(&["a/", "/b"]), "/b");
        assert_eq!(parent("a/b/c.py"), "a/b");
        assert_eq!(parent("c.py"), "");
    }
}
