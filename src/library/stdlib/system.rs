//! `os`, `sys`, `time`, `typing` and other small modules.

use crate::library::common::{any_bool, any_float, any_int, any_str, first, list_of_str, none, open_attrs};
use crate::library::table::Constant;
use crate::library::{Cx, Table};
use crate::python::{Bound, Event};
use crate::value::{Data, Key, Topic, Type, Value, sym};

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
    t.family("uuid.", "uuid1 uuid4", "*args", crate::library::common::unknown);
    t.family("gc.", "collect", "generation=2", any_int);
    t.family("gc.", "enable disable freeze", "", none);
    let namespace = t.class("types.SimpleNamespace", &[], "**kwargs");
    namespace.keeps_arguments = false;
    namespace.init = Some(open_attrs);
}

/// The environment is unknown, but rules read what the script writes to it.
fn environ(t: &mut Table) {
    t.def("os.getenv", "key, default=None", getenv);
    t.def("os.environ.get", "key, default=None", getenv);
    t.def("os.environ.__getitem__", "key", any_str);
    t.def("os.environ.__contains__", "key", any_bool);
    t.def("os.environ.pop", "key, default=None", getenv);
    t.def("os.environ.__setitem__", "key, value", set_one);
    t.def("os.putenv", "key, value", set_one);
    t.def("os.environ.setdefault", "key, value=None", |cx, b| {
        set_one(cx, b);
        Value::Any(Type::Str)
    });
    t.def("os.environ.update", "other=None, **kwargs", set_many);
    t.family("os.environ.", "keys values", "", list_of_str);
    t.family("os.environ.", "copy items", "", crate::library::common::unknown);
}

/// Prefixes of variables that shells, launchers and job schedulers set.
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

/// The value of a variable in a default run: the value that the script wrote, or, if there is none,
/// the default of the call. The value of a variable that launchers usually set is unknown.
fn getenv(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (key, default) = (b.get("key"), b.get("default"));
    if let Some(name) = key.as_str() {
        if let Some(written) = cx.it.remembered(ENV.of(sym(name))) {
            return written;
        }
        if !default.is_none() && !USUALLY_SET.iter().any(|prefix| name.starts_with(prefix)) {
            return default;
        }
    }
    // Without a default, the result may also be None.
    match default {
        Value::Str(_) | Value::Any(Type::Str) => Value::Any(Type::Str),
        _ => Value::Unknown,
    }
}

/// The note of an environment variable: the value that the script wrote to it.
const ENV: Topic = Topic::new("environment");

fn set_one(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if let Value::Str(name) = b.get("key") {
        let (value, span) = (b.get("value"), cx.span);
        let written = if value.is_text() { value.clone() } else { Value::Any(Type::Str) };
        cx.it.remember(ENV.of(sym(&name)), written);
        cx.it.event(Event::SetEnv { name: &name, value: &value, span });
    }
    Value::None
}

fn set_many(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let mut given: Vec<(String, Value)> = match b.get("other").as_obj().map(|id| cx.it.heap.get(id)) {
        Some(Data::Dict(dict)) => dict
            .entries
            .iter()
            .filter_map(|(key, value)| match key {
                Key::Str(name) => Some((name.to_string(), value.clone())),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    given.extend(b.extra.iter().map(|(name, arg)| (name.as_str().to_owned(), arg.value.clone())));
    let span = cx.span;
    for (name, value) in &given {
        cx.it.event(Event::SetEnv { name, value, span });
    }
    Value::None
}

fn two_strs(_cx: &mut Cx<'_, '_>, _b: &Bound) -> Value {
    Value::tuple(vec![Value::Any(Type::Str), Value::Any(Type::Str)])
}
