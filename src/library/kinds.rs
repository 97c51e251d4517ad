//! Rejects calls with an argument of a kind that the function never accepts: `data/kinds.txt` lists
//! these kinds. `data/integers.txt` lists the parameters that must be integers.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::Cx;
use super::torch::nn::module::is_module;
use crate::python::{Bound, RejectKind};
use crate::value::{ArrayKind, Data, Items, ObjId, Sym, Type, Value, kind_text, sym};

/// The kinds of values that a parameter rejects, separated by spaces.
struct Kinds {
    parameter: &'static str,
    /// Those that the call rejects.
    now: &'static str,
    /// Those that the first use of the result rejects, such as the call of a layer.
    later: &'static str,
}

impl Kinds {
    fn rejects_now(&self, kind: &str) -> bool {
        self.now.split(' ').any(|one| one == kind)
    }

    fn rejects(&self, kind: &str) -> bool {
        self.rejects_now(kind) || self.later.split(' ').any(|one| one == kind)
    }
}

/// The kinds of values that each function or class rejects, by its path.
static KINDS: LazyLock<FxHashMap<Sym, Vec<Kinds>>> = LazyLock::new(|| {
    let mut all: FxHashMap<Sym, Vec<Kinds>> = FxHashMap::default();
    for line in include_str!("data/kinds.txt").lines().filter(|line| !line.starts_with('#')) {
        let Some(((path, parameter), kinds)) =
            line.split_once(':').and_then(|(of, kinds)| Some((of.split_once(' ')?, kinds)))
        else {
            continue;
        };
        let (now, later) = kinds.split_once('|').unwrap_or((kinds, ""));
        all.entry(sym(path)).or_default().push(Kinds { parameter, now, later });
    }
    all
});

/// The parameters of each function that must be integers, by its path.
static INTEGERS: LazyLock<FxHashMap<Sym, (&'static str, &'static str)>> = LazyLock::new(|| {
    let lines = include_str!("data/integers.txt").lines().filter(|line| !line.starts_with('#'));
    let split = |names: &'static str| names.split_once('|').unwrap_or((names, ""));
    lines.filter_map(|line| line.split_once(':')).map(|(path, names)| (sym(path), split(names))).collect()
});

/// The parameters of a function that must be integers: those that the call checks, and those that
/// a later use of its result checks.
pub(super) fn integers(path: Sym) -> Option<(&'static str, &'static str)> {
    INTEGERS.get(&path).copied()
}

/// Rejects the call if the first argument of a function, or any argument of a class, has a kind that
/// is never accepted; returns whether the call was rejected. A kind that only the first use of the
/// result rejects is reported as such. `object` is the one that a constructor initializes.
pub(super) fn refuse_kinds(cx: &mut Cx<'_, '_>, bound: &Bound, object: Option<ObjId>) -> bool {
    let Some(all) = KINDS.get(&cx.path) else { return false };
    // For a function, only the first parameter is listed: the other arguments depend on each other
    // (`movedim(x, 0, 1)`), so a test that replaces one of them shows little.
    let is_class = cx.name().starts_with(char::is_uppercase);
    let count = if is_class { usize::MAX } else { 1 };
    let given = bound.sig.params.iter().zip(&bound.values).take(count);
    let given = given.filter_map(|(param, arg)| Some((param.name, arg.as_ref()?)));
    // The variadic parameter of a class such as `nn.Sequential`.
    let star = bound.sig.star.filter(|_| is_class);
    let rest = star.into_iter().flat_map(|(_, name)| bound.rest.iter().map(move |arg| (name, arg)));
    for (name, arg) in given.chain(rest) {
        let Some(kinds) = all.iter().find(|kinds| kinds.parameter == name.as_str()) else { continue };
        // In a function that nothing calls, the number may be a tensor that has a wrong annotation.
        let is_exact = matches!(arg.value, Value::Int(_) | Value::Float(_) | Value::Bool(_));
        if !is_class && cx.it.speculative() && arg.value.number_type().is_some() && !is_exact {
            continue;
        }
        let Some(wanted) = kinds_of(cx, &arg.value) else { continue };
        if !wanted.iter().all(|kind| kinds.rejects(kind)) {
            continue;
        }
        let what = match wanted {
            MODULE | ["module"] => "a module".to_owned(),
            FUNCTION => "a function".to_owned(),
            _ => kind_text(&cx.it.heap, &arg.value).to_owned(),
        };
        let takes = taken(kinds);
        let message = match takes.is_empty() {
            true => format!("`{name}` cannot be {what}"),
            false => format!("`{name}` must be {takes}, but it is {what}"),
        };
        let reads = vec![(format!("`{name}` is given here"), Some(arg.span))];
        if wanted.iter().all(|kind| kinds.rejects_now(kind)) {
            cx.reject(RejectKind::Value, message, reads);
            return true;
        }
        // The `forward` of a class of the program may not use the argument.
        let has_own = object.is_some_and(|object| cx.it.user_method(&Value::Obj(object), "forward").is_some());
        if !has_own {
            cx.reject_if("when the result is used", RejectKind::Value, message, reads);
        }
    }
    false
}

/// What a parameter takes, according to the kinds that it does not reject. Empty if there are none,
/// or too many to list in a message.
fn taken(kinds: &Kinds) -> String {
    let accepts = |kind: &str| !kinds.rejects(kind);
    let number = match (accepts("int"), accepts("float")) {
        (true, true) => Some("a number"),
        (true, false) => Some("an integer"),
        (false, true) => Some("a float"),
        (false, false) => accepts("bool").then_some("a bool"),
    };
    let sequence = match (accepts("list"), accepts("tuple"), accepts("tensors"), accepts("modules")) {
        (true, ..) => Some("a list or tuple"),
        (_, true, ..) => Some("a tuple"),
        (_, _, true, _) => Some("a list or tuple of tensors"),
        (_, _, _, true) => Some("a list or tuple of modules"),
        _ => None,
    };
    let named = |kind: &str, text: &'static str| accepts(kind).then_some(text);
    let all = [
        named("tensor", "a tensor"),
        number,
        named("text", "a string"),
        sequence,
        named("module", "a module"),
        named("function", "a function"),
        named("dtype", "a dtype"),
        named("device", "a device"),
        named("dict", "a dictionary"),
    ];
    let texts: Vec<&str> = all.into_iter().flatten().collect();
    // A parameter that accepts every iterable rejects few kinds.
    if texts.len() > 3 { String::new() } else { listed(&texts) }
}

/// `a`, `a or b`, `a, b or c`.
fn listed(texts: &[&str]) -> String {
    match texts {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [before @ .., last] => format!("{} or {last}", before.join(", ")),
    }
}

/// A container of modules can be iterated over, so functions that reject other modules may accept it.
const MODULE: &[&str] = &["module", "container"];
/// Modules that can be iterated over.
const CONTAINERS: &[&str] = &[
    "torch.nn.ModuleDict",
    "torch.nn.ModuleList",
    "torch.nn.ParameterDict",
    "torch.nn.ParameterList",
    "torch.nn.Sequential",
];
const FUNCTION: &[&str] = &["function"];

/// The kinds to which a value may belong; `None` if its type is not certain. Python's `None` has no
/// kind here: it is often a placeholder, which unseen code replaces.
fn kinds_of(cx: &Cx<'_, '_>, value: &Value) -> Option<&'static [&'static str]> {
    Some(match value {
        Value::Bool(_) | Value::Any(Type::Bool) => &["bool"],
        Value::Int(_) | Value::Size(_) | Value::Ranged(_) | Value::Any(Type::Int) => &["int"],
        Value::Float(_) | Value::Floats(_) | Value::Any(Type::Float) => &["float"],
        // `Value::Any(Type::Str)` has no kind: the type often comes from an annotation, which may be wrong.
        Value::Str(_) | Value::Among(_) => &["text"],
        Value::Dtype(_) => &["dtype"],
        Value::Device(_) => &["device"],
        Value::Tuple(parts) => sequence(cx, parts, &["tuple"]).unwrap_or(&["tuple", "tensors", "modules"]),
        Value::Obj(id) => match cx.it.heap.get(*id) {
            Data::Tensor(tensor) if tensor.array == ArrayKind::Torch => &["tensor"],
            // A NumPy scalar has none of these kinds: a function may accept it as a Python number.
            Data::Tensor(tensor) if tensor.rank().is_some_and(|rank| rank > 0) && tensor.wrapper.is_none() => {
                &["array"]
            }
            Data::List(Items::Exact(parts)) => {
                sequence(cx, parts, &["list"]).unwrap_or(&["list", "tensors", "modules"])
            }
            Data::List(_) => &["list", "tensors", "modules"],
            Data::Dict(_) => &["dict"],
            Data::Set(_) => &["set"],
            Data::Iter(iter) if iter.once || iter.suspended.is_some() => &["iterator"],
            Data::Instance(instance) if is_module(cx.it, value) => match instance.class.as_path() {
                Some(class) if !CONTAINERS.contains(&class) => &["module"],
                _ => MODULE,
            },
            Data::Function(_) => FUNCTION,
            _ => return None,
        },
        _ => return None,
    })
}

/// The kinds of a list or tuple with known elements; `None` if the elements do not decide its kind.
fn sequence(cx: &Cx<'_, '_>, parts: &[Value], plain: &'static [&'static str]) -> Option<&'static [&'static str]> {
    let is_plain = |part: &Value| part.number_type().is_some() || part.as_str().is_some();
    let tensor = |part: &Value| cx.it.heap.tensor_ref(part);
    let all = |is: &dyn Fn(&Value) -> bool| !parts.is_empty() && parts.iter().all(is);
    if all(&is_plain) {
        Some(plain)
    } else if all(&|part| tensor(part).and_then(|tensor| tensor.rank()).is_some_and(|rank| rank > 0)) {
        Some(&["tensors"])
    } else if all(&|part| is_module(cx.it, part)) {
        Some(&["modules"])
    } else {
        // A 0-d tensor may be accepted as a number.
        parts.iter().any(|part| tensor(part).is_some()).then_some(&["list", "tuple", "tensors", "modules"])
    }
}
