//! Calls of Python's standard library: `data/standard.txt`, which `tests/conformance/standard.py` writes from the
//! type stubs of typeshed, lists its functions, classes and methods, with the kinds of values that they take.

use std::sync::{Arc, LazyLock, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::python::{
    Args, Interp, RejectKind, Rejection, Sig, WrongArguments, lacks_positions, missing_argument, surplus_arguments,
    unknown_argument,
};
use crate::syntax::Span;
use crate::value::{ArrayKind, Data, Sym, Type, Value, counted, kind_text};

/// One way to call a function.
struct Overload {
    sig: Arc<Sig>,
    /// For each parameter, and last for `*args`, the kinds that it takes; empty if this is not known.
    kinds: Vec<Vec<&'static str>>,
}

/// The ways to call a function, which are read when they are first needed.
#[derive(Default)]
struct Overloads {
    lines: Vec<&'static str>,
    parsed: OnceLock<Vec<Overload>>,
}

impl Overloads {
    fn get(&self) -> &[Overload] {
        self.parsed.get_or_init(|| self.lines.iter().map(|line| parse(line)).collect())
    }
}

/// The overloads by path.
static ALL: LazyLock<FxHashMap<&str, Overloads>> = LazyLock::new(|| {
    let mut all: FxHashMap<&str, Overloads> = FxHashMap::default();
    for line in include_str!("data/standard.txt").lines().filter(|line| !line.starts_with('#')) {
        let Some((path, rest)) = line.split_once('(') else { continue };
        all.entry(path).or_default().lines.extend(rest.strip_suffix(')'));
    }
    all
});

/// Reads the parameters of a line: `fp: reader, *, cls=..., object_hook: callable|none=...`.
fn parse(text: &'static str) -> Overload {
    let taken = |part: &'static str| {
        let kinds = part.trim_end_matches("=...").split_once(": ").map_or("", |(_, kinds)| kinds);
        kinds.split('|').filter(|kind| !kind.is_empty()).collect()
    };
    let named = text.split(", ").filter(|part| !matches!(*part, "" | "*") && !part.starts_with("**"));
    let (star, params): (Vec<_>, Vec<_>) = named.partition(|part| part.starts_with('*'));
    let of_star = star.first().map_or_else(Vec::new, |part| taken(part));
    let kinds = params.into_iter().map(taken).chain([of_star]).collect();
    Overload { sig: Arc::new(Sig::parse(text)), kinds }
}

/// A reason why an overload does not accept a call.
struct Wrong {
    /// The name of the parameter, or its number if it has no name.
    parameter: String,
    kinds: Vec<&'static str>,
    value: Value,
    span: Span,
}

/// The modules of the standard library that the file lists.
static MODULES: LazyLock<FxHashSet<&str>> = LazyLock::new(|| {
    let modules = ALL.keys().filter_map(|path| Some(path.rsplit_once('.')?.0));
    modules.filter(|module| !ALL.contains_key(module) && *module != "builtins").collect()
});

/// Whether a path is that of a module of the standard library.
pub(super) fn is_module(path: &str) -> bool {
    MODULES.contains(path)
}

/// The names that `from module import *` binds in some version of Python.
pub(crate) fn starred(module: &str) -> Option<impl Iterator<Item = &'static str> + use<>> {
    let lines = include_str!("data/standard.txt").lines().rev();
    let mut listed = lines.map_while(|line| line.strip_prefix('*')?.split_once(": "));
    listed.find(|(listed, _)| *listed == module).map(|(_, names)| names.split(' '))
}

/// Whether the file lists a name of a module.
pub(super) fn has(module: &str, name: &str) -> bool {
    ALL.contains_key(format!("{module}.{name}").as_str())
}

/// The function of a module in this one, or the method of its class of the same name, that has this name:
/// `os.path.exists` for `os.exists`, `datetime.datetime.now` for `datetime.now`.
pub(super) fn inner(module: &str, name: &str) -> Option<String> {
    let inside = match module {
        "os" => "os.path",
        "datetime" => "datetime.datetime",
        _ => return None,
    };
    has(inside, name).then(|| format!("{inside}.{name}"))
}

/// Whether a path is that of a method. Called through its class, it may get its object as the first argument.
pub(super) fn is_method(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(class, _)| ALL.contains_key(class))
}

/// Rejects a call of a function or class of the standard library, or of a method of an object, that fits none of its
/// overloads; returns whether it did.
pub(super) fn refuse(it: &mut Interp<'_>, path: &str, args: &Args, span: Span) -> bool {
    // The classes of `types` take other arguments in each version of Python.
    if path.starts_with("types.") {
        return false;
    }
    let Some(overloads) = ALL.get(path).filter(|_| !args.is_open() && !it.may_be_fallback()) else { return false };
    if refuse_unordered(it, path, args) {
        return true;
    }
    let overloads = overloads.get();
    let mut wrong: Vec<Wrong> = Vec::new();
    for overload in overloads {
        match judge(it, path, overload, args) {
            Some(Ok(())) => return false,
            Some(Err(one)) => wrong.push(one),
            None => {}
        }
    }
    if may_be_starred(it, path) {
        return false;
    }
    let name = shown(path);
    let Some(first) = wrong.first() else {
        let Some(wrong) = mismatch(&name, overloads, args) else { return false };
        it.report_wrong(wrong, span);
        it.fail("TypeError");
        return true;
    };
    let same = wrong.iter().filter(|one| one.span == first.span);
    let mut kinds: Vec<&str> = same.flat_map(|one| one.kinds.iter().copied()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let parameter = &first.parameter;
    let what = kind_text(&it.heap, &first.value);
    let message = format!("{parameter} of `{name}` must be {}, but it is {what}", listed(&kinds));
    let (value, at) = (first.value.clone(), first.span);
    it.refuse_operation(&[&value], message, at);
    true
}

/// Whether a builtin function may be another one, which an `import *` binds.
fn may_be_starred(it: &Interp<'_>, path: &str) -> bool {
    path.strip_prefix("builtins.").is_some_and(|name| !name.contains('.')) && it.has_unseen_star()
}

/// Whether an overload accepts a call; `None` if the arguments do not fit its parameters.
fn judge(it: &Interp<'_>, path: &str, overload: &Overload, args: &Args) -> Option<Result<(), Wrong>> {
    let bound = overload.sig.bind(args)?;
    let (of_star, kinds) = overload.kinds.split_last()?;
    // The functions of `itertools` fail only when their elements are requested, and parsers when they are used.
    if path.starts_with("itertools.") || path.starts_with("argparse.") {
        return Some(Ok(()));
    }
    let by_name = bound.sig.params.iter().zip(kinds).zip(&bound.values);
    let by_name = by_name.filter_map(|((param, kinds), arg)| Some((param.name, kinds, arg.as_ref()?)));
    let star = bound.sig.star.map(|(_, name)| name);
    let rest = bound.rest.iter().filter_map(|arg| Some((star?, of_star, arg)));
    let wrong = by_name.chain(rest).find(|(_, kinds, arg)| !kinds.is_empty() && rejects(it, kinds, &arg.value));
    Some(match wrong {
        Some((name, kinds, arg)) => {
            let position = args.pos.iter().position(|one| one.span == arg.span);
            let parameter = match position.filter(|_| name.as_str().starts_with("__")) {
                Some(at) => format!("argument {}", at + 1),
                None => format!("`{name}`"),
            };
            Err(Wrong { parameter, kinds: kinds.clone(), value: arg.value.clone(), span: arg.span })
        }
        None => Ok(()),
    })
}

/// Functions that take the elements of their first argument by position.
const BY_POSITION: &[&str] = &["random.choice", "random.sample", "random.shuffle"];

/// Rejects a call of a function that needs a sequence, but gets a set, a dictionary or an iterator.
fn refuse_unordered(it: &mut Interp<'_>, path: &str, args: &Args) -> bool {
    let Some(arg) = args.pos.first().filter(|_| BY_POSITION.contains(&path)) else { return false };
    let Some(own) = it.own_type(&arg.value).filter(|own| lacks_positions(own)) else { return false };
    if may_be_starred(it, path) {
        return false;
    }
    let message = format!("`{path}` needs a sequence, but gets a `{own}` object: use `list(…)`");
    // Older versions of Python sample from sets.
    if path == "random.sample" && matches!(own, "set" | "frozenset") {
        if it.excludes("python", "3.11") {
            return false;
        }
        it.suspect(Rejection {
            kind: RejectKind::Operation,
            message,
            reads: Vec::new(),
            span: arg.span,
            assumed: Some("with Python 3.11 or newer"),
            of_python: true,
        });
        return false;
    }
    it.refuse_operation(&[&arg.value], message, arg.span);
    true
}

/// Whether a parameter that takes these kinds certainly rejects a value.
fn rejects(it: &Interp<'_>, kinds: &[&str], value: &Value) -> bool {
    let Some(own) = kinds_of(it, value) else { return false };
    !own.iter().any(|kind| kinds.contains(kind))
}

/// The kinds as which a value of a certain type is accepted; `None` if the type is not certain.
fn kinds_of(it: &Interp<'_>, value: &Value) -> Option<&'static [&'static str]> {
    Some(match value {
        Value::None => &["none"],
        Value::Str(_) | Value::Among(_) | Value::Any(Type::Str) => &["str", "path", "iterable"],
        Value::Any(Type::Bytes) => &["bytes", "path", "iterable"],
        Value::Float(x) if x.fract() == 0.0 => &["int", "float"],
        Value::Float(_) | Value::Floats(_) => &["float"],
        // A float of unknown origin may be a NumPy scalar.
        Value::Any(Type::Float) => &["int", "float"],
        Value::Tuple(_) => &["iterable"],
        value if value.number_type().is_some() => &["int", "float"],
        value if it.own_type(value) == Some("function") => &["callable"],
        Value::Obj(id) => match it.heap.get(*id) {
            Data::Tensor(tensor) if tensor.wrapper.is_none() && tensor.array == ArrayKind::Torch => {
                &["int", "float", "iterable"]
            }
            Data::Instance(instance) if !instance.open && instance.class.as_path() == Some("pathlib.Path") => &["path"],
            Data::Instance(instance) if instance.class.as_path() == Some("io.TextIOWrapper") => {
                &["reader", "writer", "iterable"]
            }
            _ if it.heap.type_of(*id).is_some() => &["iterable"],
            _ => return None,
        },
        _ => return None,
    })
}

/// The name of a function as messages show it: without `builtins`, and a method with the name of its class.
fn shown(path: &str) -> String {
    let path = path.strip_prefix("builtins.").unwrap_or(path);
    match path.strip_prefix("collections.OrderedDict.") {
        Some(method) => format!("dict.{method}"),
        None => path.to_owned(),
    }
}

/// What is wrong with the names or the number of the arguments of a call that fits no overload.
fn mismatch(name: &str, overloads: &[Overload], args: &Args) -> Option<WrongArguments> {
    let params = || overloads.iter().flat_map(|one| &one.sig.params);
    let takes = |name: Sym| overloads.iter().any(|one| one.sig.double_star) || params().any(|p| p.name == name);
    if let Some((unknown, _)) = args.kw.iter().find(|(name, _)| !takes(*name)) {
        let known = params().map(|p| p.name.as_str()).filter(|name| !name.starts_with("__"));
        return Some(unknown_argument(name, unknown.as_str(), known).0);
    }
    let most = |one: &Overload| one.sig.params.iter().filter(|p| !p.keyword_only).count();
    let is_open = overloads.iter().any(|one| one.sig.star.is_some());
    let most = overloads.iter().map(most).max()?;
    if !is_open && args.pos.len() > most {
        return Some(surplus_arguments(name, most, args.pos.len()));
    }
    let [one] = overloads else {
        let least = |one: &Overload| one.sig.params.iter().filter(|p| p.default.is_none() && !p.keyword_only).count();
        let least = overloads.iter().map(least).min()?;
        let given = args.pos.len();
        return (args.kw.is_empty() && given < least)
            .then(|| format!("`{name}` takes at least {}, but gets {given}", counted(least, "argument")).into());
    };
    let is_given = |name: Sym| args.kw.iter().any(|(have, _)| *have == name);
    let mut needed = one.sig.params.iter().skip(args.pos.len()).filter(|p| p.default.is_none());
    let missing = needed.find(|p| !is_given(p.name))?;
    Some(missing_argument(name, missing.name.as_str().trim_start_matches('_')))
}

/// The kinds in words.
fn listed(kinds: &[&str]) -> String {
    let text = |kind: &&str| match *kind {
        "int" => "an integer",
        "float" => "a number",
        "str" => "a string",
        "bytes" => "bytes",
        "path" => "a path",
        "iterable" => "a collection",
        "callable" => "a function",
        "reader" => "a file open for reading",
        "writer" => "a file open for writing",
        _ => "None",
    };
    // Every integer is a number.
    let has_number = kinds.contains(&"float");
    let words: Vec<_> = kinds.iter().filter(|kind| !(has_number && **kind == "int")).map(text).collect();
    match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, before)) => format!("{} or {last}", before.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let dump = ALL.get("json.dump").and_then(|all| all.get().first());
        let names = |sig: &Sig| sig.params.iter().take(3).map(|p| p.name.as_str()).collect::<Vec<_>>();
        assert!(dump.is_some_and(|one| names(&one.sig) == ["obj", "fp", "skipkeys"] && one.kinds[1] == ["writer"]));
        let join = ALL.get("os.path.join").and_then(|all| all.get().get(1));
        assert!(join.is_some_and(|one| one.sig.star.is_some() && one.kinds == [["path"], ["path"]]));
    }
}
