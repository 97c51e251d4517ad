//! OmegaConf: configurations are modelled as dictionaries with their keys as attributes.

use super::document::{self, Dialect, Node};
use super::{files, value};
use crate::library::common::{any_bool, any_str, first, none, unknown};
use crate::library::{Cx, Table};
use crate::python::{Args, Bound};
use crate::value::{Data, Dict, Key, Type, Value};

/// The maximum length of a chain of interpolations, each of which refers to the next. It is also
/// the maximum depth of nested dictionaries.
const MOST_STEPS: usize = 16;

pub(crate) fn register(t: &mut Table) {
    t.class("omegaconf.OmegaConf", &[], "").keeps_arguments = false;
    t.alias("omegaconf.DictConfig", "builtins.dict");
    t.def("omegaconf.OmegaConf.load", "file_", load);
    t.def("omegaconf.OmegaConf.create", "obj=None, parent=None, flags=None", create);
    t.def("omegaconf.OmegaConf.structured", "obj, parent=None, flags=None", structured);
    t.def("omegaconf.OmegaConf.merge", "*configs", merge);
    t.alias("omegaconf.OmegaConf.unsafe_merge", "omegaconf.OmegaConf.merge");
    t.family("omegaconf.OmegaConf.", "to_container to_object", "cfg, **kwargs", first);
    t.def("omegaconf.OmegaConf.to_yaml", "cfg, **kwargs", any_str);
    // The default run has no command-line arguments.
    t.def("omegaconf.OmegaConf.from_cli", "args_list=None", |cx, _| cx.it.heap.dict(Dict::default()));
    t.def("omegaconf.OmegaConf.from_dotlist", "dotlist", |cx, _| {
        cx.it.heap.dict(Dict { open: Some(Value::Unknown), ..Dict::default() })
    });
    t.family(
        "omegaconf.OmegaConf.",
        "set_struct set_readonly resolve save register_new_resolver clear_resolvers",
        "*args, **kwargs",
        none,
    );
    t.family("omegaconf.OmegaConf.", "is_config is_dict is_list is_missing", "*args", any_bool);
    t.family("omegaconf.OmegaConf.", "select update masked_copy", "*args, **kwargs", unknown);
    t.family("omegaconf.", "open_dict read_write", "cfg", |_, _| Value::Unknown);
}

fn load(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let source = b.get("file_");
    let text =
        files::file_text(cx, &source).or_else(|| files::text_of(cx, &source).filter(|_| source.as_str().is_none()));
    match text.and_then(|text| document::yaml(&text, Dialect::OmegaConf)) {
        Some(tree) => resolved(cx, tree),
        None => Value::Unknown,
    }
}

/// A whole configuration as a value, with interpolations resolved.
pub(crate) fn resolved(cx: &mut Cx<'_, '_>, mut tree: Node) -> Value {
    let whole = tree.clone();
    resolve(&mut tree, &whole);
    value(cx, &tree)
}

/// Like [`resolved`], for a configuration whose numbers, flags and strings are unknown. The classes
/// that `_target_` names stay known.
pub(crate) fn with_unknown_entries(cx: &mut Cx<'_, '_>, mut tree: Node) -> Value {
    forget(&mut tree);
    value(cx, &tree)
}

fn forget(node: &mut Node) {
    match node {
        Node::List(items) => items.iter_mut().for_each(forget),
        Node::Map(entries) => {
            entries.iter_mut().filter(|(key, _)| key.text() != Some("_target_")).for_each(|(_, entry)| forget(entry));
        }
        other => *other = Node::Unknown,
    }
}

/// Resolves references to other entries: `${model.dim}`. A mandatory value (`???`) and the value of
/// a resolver are unknown.
fn resolve(node: &mut Node, whole: &Node) {
    match node {
        Node::Text(text) if text == "???" => *node = Node::Unknown,
        Node::Text(text) if text.contains("${") => *node = referred(text, whole).unwrap_or(Node::Unknown),
        Node::List(items) => items.iter_mut().for_each(|item| resolve(item, whole)),
        Node::Map(entries) => entries.iter_mut().for_each(|(_, entry)| resolve(entry, whole)),
        _ => {}
    }
}

fn referred(text: &str, whole: &Node) -> Option<Node> {
    let mut text = text.to_owned();
    for _ in 0..MOST_STEPS {
        let path = text.strip_prefix("${")?.strip_suffix('}')?;
        if path.contains(['$', '{', ':']) || path.starts_with('.') {
            return None;
        }
        let found = path.split('.').try_fold(whole, Node::get)?;
        match found {
            Node::Text(next) if next.contains("${") => text.clone_from(next),
            Node::List(_) | Node::Map(_) => return None,
            found => return Some(found.clone()),
        }
    }
    None
}

fn create(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    match b.get("obj") {
        Value::None => cx.it.heap.dict(Dict::default()),
        Value::Str(text) => match document::yaml(&text, Dialect::OmegaConf) {
            Some(tree) => resolved(cx, tree),
            None => Value::Unknown,
        },
        given => settled(cx, &given, 0),
    }
}

/// A copy of a configuration that the program wrote as a dictionary. Texts with interpolations
/// become unknown.
fn settled(cx: &mut Cx<'_, '_>, given: &Value, depth: usize) -> Value {
    if depth > MOST_STEPS {
        return Value::Unknown;
    }
    match given {
        Value::Str(text) if text.contains("${") || &**text == "???" => Value::Unknown,
        Value::Obj(id) => match cx.it.heap.get(*id).clone() {
            Data::Dict(mut dict) => {
                for entry in dict.entries.values_mut() {
                    *entry = settled(cx, entry, depth + 1);
                }
                cx.it.heap.dict(dict)
            }
            _ => given.clone(),
        },
        given => given.clone(),
    }
}

/// A configuration with the fields of a dataclass, or of an instance of one.
fn structured(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let given = b.get("obj");
    match given.as_obj().map(|id| cx.it.heap.get(id)) {
        Some(Data::Class(_)) => cx.call(&given, Args::default()),
        // The configuration of an object can be iterated over, and its fields are also keys.
        Some(Data::Instance(_)) => Value::Unknown,
        _ => given,
    }
}

fn merge(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    if b.open {
        return Value::Unknown;
    }
    let mut merged = Value::Unknown;
    for (at, config) in b.rest.iter().enumerate() {
        merged = if at == 0 { settled(cx, &config.value, 0) } else { laid_over(cx, &merged, &config.value, 0) };
    }
    merged
}

/// Merges one configuration over another: dictionaries key by key; other values are replaced.
fn laid_over(cx: &mut Cx<'_, '_>, below: &Value, over: &Value, depth: usize) -> Value {
    let (low, high) = (fields(cx, below), fields(cx, over));
    match (low, high) {
        (Some(mut low), Some(high)) if depth <= MOST_STEPS => {
            for (key, value) in high.entries {
                let merged = match low.entries.get(&key).cloned() {
                    Some(have) => laid_over(cx, &have, &value, depth + 1),
                    None => value,
                };
                low.entries.insert(key, merged);
            }
            if high.open.is_some() {
                // Any entry may have been replaced.
                low.entries.values_mut().for_each(|entry| *entry = Value::Unknown);
                low.open = Some(Value::Unknown);
            }
            cx.it.heap.dict(low)
        }
        (None, Some(mut high)) if below.is_unknown() => {
            high.open = Some(Value::Unknown);
            cx.it.heap.dict(high)
        }
        (Some(_), None) if over.is_unknown() || matches!(over, Value::Any(Type::Str)) => Value::Unknown,
        _ => over.clone(),
    }
}

fn fields(cx: &Cx<'_, '_>, config: &Value) -> Option<Dict> {
    if let Some(dict) = cx.it.heap.dict_of(config) {
        return Some(dict.clone());
    }
    let instance = cx.it.heap.instance_of(config)?;
    let entries = instance.attrs.iter().map(|(name, value)| (Key::Str(name.as_str().into()), value.clone()));
    Some(Dict { entries: entries.collect(), open: instance.open.then_some(Value::Unknown) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolations_are_followed_to_plain_values() {
        let text = "a: 3\nb: ${a}\nc:\n  d: ${b}\ne: ${c.d}\nf: m${a}\ng: ${oc.env:X}\nh: ???\ni: ${i}\n";
        let mut tree = document::yaml(text, Dialect::OmegaConf).unwrap();
        let whole = tree.clone();
        resolve(&mut tree, &whole);
        for (key, expected) in [
            ("b", Node::Int(3)),
            ("e", Node::Int(3)),
            ("f", Node::Unknown),
            ("g", Node::Unknown),
            ("h", Node::Unknown),
            ("i", Node::Unknown),
        ] {
            assert_eq!(tree.get(key), Some(&expected), "{key}");
        }
    }
}
