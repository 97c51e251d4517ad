//! Rejects calls whose first argument has a kind that the function never accepts: `data/kinds.txt`
//! lists these kinds. `data/integers.txt` lists the parameters that must be integers.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::Cx;
use super::torch::nn::module::is_module;
use crate::python::{Bound, RejectKind};
use crate::value::{ArrayKind, Data, Sym, Value, kind_text, sym};

/// The kinds of values that each function rejects, by the path of the function.
static KINDS: LazyLock<FxHashMap<Sym, Vec<&'static str>>> = LazyLock::new(|| {
    let lines = include_str!("data/kinds.txt").lines();
    lines
        .filter_map(|line| line.split_once(": "))
        .map(|(path, kinds)| (sym(path), kinds.split(' ').collect()))
        .collect()
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

/// Rejects the call if its first argument has a kind that the function never accepts; returns
/// whether the call was rejected.
pub(super) fn refuse_kind(cx: &mut Cx<'_, '_>, bound: &Bound) -> bool {
    let Some(param) = bound.sig.params.first() else { return false };
    let Some(given) = bound.values.first().and_then(Option::as_ref) else { return false };
    let Some(kinds) = KINDS.get(&cx.path) else { return false };
    let Some(wanted) = kinds_of(cx, &given.value) else { return false };
    if !wanted.iter().all(|kind| kinds.contains(kind)) {
        return false;
    }
    let name = param.name.as_str();
    // What the function takes follows from the kinds that it does not reject.
    let accepts = |kind: &str| !kinds.contains(&kind);
    let takes = match (accepts("tensors"), accepts("tuple"), accepts("number")) {
        (true, ..) => "a list or tuple of tensors",
        (_, true, true) => "an integer, or a list or tuple of integers",
        (_, true, false) => "a list or tuple of integers",
        (_, _, true) if matches!(name, "input" | "x") => "a tensor or a number",
        (_, _, true) => "a number",
        _ => "a tensor",
    };
    let what = if wanted == MODULE { "a module" } else { kind_text(&cx.it.heap, &given.value) };
    let message = format!("`{name}` must be {takes}, but it is {what}");
    cx.reject(RejectKind::Value, message, vec![(format!("`{name}` is given here"), Some(given.span))]);
    true
}

/// The kinds of a module.
const MODULE: &[&str] = &["module"];

/// The kinds to which a value may belong; `None` if its type is not certain. Python's `None` has no
/// kind here: it is often a placeholder, which unseen code replaces.
fn kinds_of(cx: &Cx<'_, '_>, value: &Value) -> Option<&'static [&'static str]> {
    const SEQUENCE: &[&str] = &["list", "tuple", "tensors"];
    Some(match value {
        Value::Int(_) | Value::Size(_) | Value::Ranged(_) | Value::Float(_) | Value::Floats(_) | Value::Bool(_) => {
            &["number"]
        }
        Value::Str(_) => &["text"],
        Value::Tuple(_) => SEQUENCE,
        Value::Obj(id) => match cx.it.heap.get(*id) {
            Data::Tensor(tensor) if tensor.array == ArrayKind::Torch => return None,
            // A NumPy scalar has none of these kinds: a function may accept it as a Python number.
            Data::Tensor(tensor) if tensor.rank().is_some_and(|rank| rank > 0) && tensor.wrapper.is_none() => {
                &["array"]
            }
            Data::List(_) => SEQUENCE,
            Data::Dict(_) => &["dict"],
            Data::Set(_) => &["set"],
            Data::Iter(iter) if iter.once || iter.suspended.is_some() => &["iterator"],
            Data::Instance(_) if is_module(cx.it, value) => MODULE,
            _ => return None,
        },
        _ => return None,
    })
}
