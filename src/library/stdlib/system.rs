//! `os`, `sys`, `time`, `typing` and other small modules.

use crate::library::common::{any_bool, any_float, any_int, any_str, first, list_of_str, none, open_attrs};
use crate::library::table::Constant;
use crate::library::{Cx, Table};
use crate::python::{Bound, Event, meant, nearest};
use crate::value::{Data, Key, Note, Sym, Topic, Type, Value, sym};

pub(crate) fn register(t: &mut Table) {
    environ(t);
    t.family("os.path.", "expandvars relpath normcase", "*args, **kwargs", any_str);
    t.alias("posixpath", "os.path");
    t.family("os.path.", "exists isfile isdir islink isabs samefile", "*args", any_bool);
    t.family("os.path.", "getsize", "filename", any_int);
    t.family("os.path.", "getmtime getctime getatime", "filename", any_float);
    t.family("os.path.", "split splitext", "p", two_strs);
    t.family("os.", "listdir", "path='.'", list_of_str);
    t.family("os.", "getcwd", "", any_str);
    t.family("os.", "getpid getppid", "", any_int);
    t.family("os.", "cpu_count process_cpu_count", "", any_int);
    t.family("os.", "makedirs mkdir remove chdir rename rmdir unlink", "*args, **kwargs", none);
    t.def("importlib.import_module", "name, package=None", |cx, b| {
        let (name, span) = (b.get("name"), cx.span);
        name.as_str().map_or(Value::Unknown, |name| cx.it.import_named(name, span))
    });
    t.constant("os.sep", Constant::Str("/"));
    t.constant("os.linesep", Constant::Any(Type::Str));
    t.constant("os.name", Constant::Any(Type::Str));
    t.family("glob.", "glob", "*args, **kwargs", list_of_str);

    let (lower, upper) = ("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (name, text) in [
        ("ascii_lowercase", lower),
        ("ascii_uppercase", upper),
        ("ascii_letters", letters),
        ("digits", "0123456789"),
        ("hexdigits", "0123456789abcdefABCDEF"),
        ("punctuation", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
        ("whitespace", " \t\n\r\x0b\x0c"),
    ] {
        t.constant(&format!("string.{name}"), Constant::Str(text));
    }

    t.constant("sys.maxsize", Constant::Int(i64::MAX));
    for name in ["platform", "version", "executable", "byteorder"] {
        t.constant(&format!("sys.{name}"), Constant::Any(Type::Str));
    }
    for name in ["argv", "version_info", "modules", "path", "stdout", "stderr", "stdin"] {
        t.constant(&format!("sys.{name}"), Constant::Unknown);
    }

    t.family("time.", "time perf_counter monotonic process_time thread_time", "", any_float);
    t.family("time.", "time_ns perf_counter_ns monotonic_ns process_time_ns", "", any_int);
    t.family("time.", "strftime ctime asctime", "*args", any_str);
    t.family("time.", "sleep", "secs", none);
    t.family("timeit.", "default_timer", "", any_float);

    t.family("warnings.", "warn filterwarnings simplefilter resetwarnings", "*args, **kwargs", none);
    t.family(
        "logging.",
        "basicConfig info debug warning error critical exception log disable",
        "*args, **kwargs",
        none,
    );

    t.def("typing.cast", "typ, val", |_, b| b.get("val"));
    t.constant("typing.TYPE_CHECKING", Constant::Bool(false));
    t.family("typing.", "overload final no_type_check runtime_checkable", "f", first);
    t.family("typing_extensions.", "overload final override", "f", first);
    t.def("abc.abstractmethod", "f", first);
    for base in ["abc.ABC", "typing.Generic", "typing.Protocol", "typing_extensions.Protocol"] {
        t.class(base, &[], "").keeps_arguments = false;
    }
    t.family("uuid.", "uuid1 uuid4", "*args", crate::library::common::unknown);
    t.family("gc.", "collect", "generation=2", any_int);
    t.family("gc.", "enable disable freeze", "", none);
    let namespace = t.class("types.SimpleNamespace", &[], "**kwargs");
    namespace.keeps_arguments = false;
    namespace.init = Some(open_attrs);
    namespace.attribute = Some(missing_field);
}

/// Reports an attribute that a `SimpleNamespace` does not have.
fn missing_field(cx: &mut Cx<'_, '_>, object: &Value, name: Sym) -> Option<Value> {
    let instance = cx.it.heap.instance_of(object)?;
    if instance.open || instance.attrs.is_empty() || name.as_str().starts_with('_') {
        return None;
    }
    // The program may ask first: `hasattr(self, "name")`, `getattr(self, "name", None)`.
    let quoted = ["\"", "'"].map(|quote| format!(", {quote}{name}{quote}"));
    let mut asked = quoted.iter().flat_map(|start| [")", ","].map(|end| format!("{start}{end}")));
    if asked.any(|text| cx.it.mentions(sym(&text).as_str())) {
        return None;
    }
    let near = meant(nearest(name.as_str(), instance.attrs.keys().map(|field| field.as_str())));
    let message = format!("the `SimpleNamespace` has no attribute `{name}`{near}");
    let span = cx.span;
    cx.it.lacks_field(message, span)
}

/// The environment of the script. For a variable that the script has neither written nor deleted,
/// the value is unknown, because the user may set it: an unknown string if the call has a string as
/// default. The value of `os.environ[…]` is always an unknown string.
fn environ(t: &mut Table) {
    t.def("os.getenv", "key, default=None", getenv);
    t.def("os.environ.get", "key, default=None", getenv);
    t.def("os.environ.__getitem__", "key", any_str);
    t.def("os.environ.__contains__", "key", any_bool);
    t.def("os.environ.pop", "key, default=None", |cx, b| {
        let value = getenv(cx, b);
        delete(cx, b);
        value
    });
    t.def("os.environ.__delitem__", "key", delete);
    t.def("os.environ.__setitem__", "key, value", |cx, b| {
        write(cx, &b.get("key"), &b.get("value"));
        Value::None
    });
    t.def("os.environ.setdefault", "key, value=None", setdefault);
    t.def("os.environ.update", "other=None, **kwargs", update);
    t.def("os.environ.__ior__", "other", |cx, b| {
        update(cx, b);
        Value::path("os.environ")
    });
    for name in ["clear", "popitem"] {
        t.def(&format!("os.environ.{name}"), "", |cx, _| {
            lose(cx);
            Value::Unknown
        });
    }
    // Child processes inherit the variable, but `os.environ` does not change.
    t.def("os.putenv", "key, value", |cx, b| {
        tell(cx, &b.get("key"), &b.get("value"));
        Value::None
    });
    t.family("os.environ.", "keys values", "", list_of_str);
    t.family("os.environ.", "copy items", "", crate::library::common::unknown);
}

/// Prefixes of the names of variables that shells, launchers and job schedulers set.
const USUALLY_SET: &[&str] = &[
    "AMLT",
    "AZ",
    "COLAB",
    "CONDA",
    "CUDA",
    "GROUP_",
    "HOME",
    "HOST",
    "JPY",
    "KAGGLE",
    "LANG",
    "LOCAL_",
    "LOGNAME",
    "MASTER_",
    "MPI",
    "NCCL",
    "NODE_",
    "NVIDIA",
    "OMPI",
    "PATH",
    "PMI",
    "PWD",
    "RANK",
    "SHELL",
    "SLURM",
    "SM_",
    "TEMP",
    "TERM",
    "TMP",
    "TORCHELASTIC",
    "USER",
    "VIRTUAL_ENV",
    "WORLD_SIZE",
    "XDG",
];

/// Whether shells, launchers or job schedulers usually set a variable.
fn is_usually_set(name: &str) -> bool {
    USUALLY_SET.iter().any(|prefix| name.starts_with(prefix))
}

/// The note that some unknown variable was written or deleted, so that none is known any more.
const LOST: Topic = Topic::new("environment lost");

/// The note of an environment variable: the string that the script wrote to it, None if the script
/// has not written it on this path, or False if the script has deleted it.
const ENV: Topic = Topic::new("environment");

/// What is known about a variable.
enum Known {
    /// A string that the script wrote, known or not.
    Text(Value),
    NotWritten,
    Deleted,
    Nothing,
}

fn known(cx: &Cx<'_, '_>, key: &Value) -> Known {
    let lost = cx.it.remembered(LOST).is_some_and(|lost| lost.as_bool() != Some(false));
    let Some(name) = key.as_str().filter(|_| !lost) else { return Known::Nothing };
    match cx.it.remembered(ENV.of(sym(name))) {
        None | Some(Value::None) => Known::NotWritten,
        Some(Value::Bool(false)) => Known::Deleted,
        Some(text) if text.is_text() => Known::Text(text),
        Some(_) => Known::Nothing,
    }
}

/// The text that the script itself has written to a variable of the environment.
pub(crate) fn written(cx: &Cx<'_, '_>, name: &str) -> Option<Value> {
    match known(cx, &Value::str(name)) {
        Known::Text(text) => Some(text),
        _ => None,
    }
}

/// The value of a variable in a default run: the string that the script wrote, or the default of
/// the call. If the script neither wrote nor deleted the variable, the value is unknown if the call
/// has no default, or if launchers or shells usually set the variable.
fn getenv(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (key, default) = (b.get("key"), b.get("default"));
    match known(cx, &key) {
        Known::Text(text) => return text,
        Known::Deleted => return default,
        Known::NotWritten | Known::Nothing => {}
    }
    // The user may set the variable. Without a default, the result may also be None.
    match default {
        Value::Str(_) | Value::Any(Type::Str) => Value::Any(Type::Str),
        _ => Value::Unknown,
    }
}

/// Stores a note on the run. On the other paths of a branch, the value of the note is `before`.
fn note(cx: &mut Cx<'_, '_>, note: Note, before: Value, now: Value) {
    if cx.it.remembered(note).is_none() {
        let state = cx.it.state;
        cx.it.heap.settle_note(state, note, before);
    }
    cx.it.remember(note, now);
}

fn lose(cx: &mut Cx<'_, '_>) {
    note(cx, LOST.into(), Value::Bool(false), Value::Bool(true));
}

/// `os.environ[key] = value`. Rules see only writes that may change the value.
fn write(cx: &mut Cx<'_, '_>, key: &Value, value: &Value) {
    let text = value.as_str();
    let same = text.is_some() && matches!(known(cx, key), Known::Text(earlier) if earlier.as_str() == text);
    match key.as_str() {
        Some(name) => {
            let text = if value.is_text() { value.clone() } else { Value::Any(Type::Str) };
            note(cx, ENV.of(sym(name)), Value::None, text);
        }
        None => lose(cx),
    }
    if !same {
        tell(cx, key, value);
    }
}

/// Notifies the rules of a write.
fn tell(cx: &mut Cx<'_, '_>, key: &Value, value: &Value) {
    if let Some(name) = key.as_str() {
        let span = cx.span;
        cx.it.event(Event::SetEnv { name, value, span });
    }
}

fn delete(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    match b.get("key").as_str() {
        Some(name) => note(cx, ENV.of(sym(name)), Value::None, Value::Bool(false)),
        None => lose(cx),
    }
    Value::None
}

fn setdefault(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (key, value) = (b.get("key"), b.get("value"));
    let usually_set = key.as_str().is_none_or(is_usually_set);
    match known(cx, &key) {
        Known::Text(text) => return text,
        Known::NotWritten if usually_set => {}
        Known::NotWritten | Known::Deleted => {
            write(cx, &key, &value);
            return if value.is_text() { value } else { Value::Any(Type::Str) };
        }
        Known::Nothing => {}
    }
    // The variable then has either its old value or the new one.
    write(cx, &key, &Value::Any(Type::Str));
    Value::Any(Type::Str)
}

fn update(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let other = b.get("other");
    let dict = other.as_obj().and_then(|id| match cx.it.heap.get(id) {
        Data::Dict(dict) => Some(dict.clone()),
        _ => None,
    });
    if b.open || dict.as_ref().map_or(!other.is_none(), |dict| dict.open.is_some()) {
        lose(cx);
    }
    for (key, value) in dict.iter().flat_map(|dict| &dict.entries) {
        match key {
            Key::Str(name) => write(cx, &Value::Str(name.clone()), value),
            _ => lose(cx),
        }
    }
    for (name, arg) in &b.extra {
        write(cx, &Value::str(name.as_str()), &arg.value);
    }
    Value::None
}

fn two_strs(_cx: &mut Cx<'_, '_>, _b: &Bound) -> Value {
    Value::tuple(vec![Value::Any(Type::Str), Value::Any(Type::Str)])
}
